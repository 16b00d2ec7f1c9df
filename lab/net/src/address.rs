//! Chooses the addresses of the two sides: an unused block, with room for an emulator inside this one.

use std::net::Ipv4Addr;

use crate::netlink::InterfaceAddress;
use anyhow::{Result, bail};

/// The space of the blocks, which local networks do not use. Source: RFC 6598, for networks inside providers;
/// Mahimahi's shells use them too.
const SPACE: InterfaceAddress =
    InterfaceAddress { address: Ipv4Addr::new(100, 64, 0, 0), prefix: 10 };

/// Prefix lengths of the blocks, from the outermost emulator to the innermost one. Chosen: four nested emulators, and
/// sixteen beside each other.
const PREFIXES: [u8; 4] = [16, 20, 24, 28];

/// The prefix of a block around an address that the user named: two addresses (RFC 3021).
const PAIR_PREFIX: u8 = 31;

/// The addresses of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Address of the side at which the command runs.
    pub near: Ipv4Addr,
    /// Address of the side that the command speaks to.
    pub far: Ipv4Addr,
    /// Leading bits that both addresses share. All addresses of the near side begin with them.
    pub prefix: u8,
}

impl Addresses {
    /// Chooses a free block, given the addresses in the namespace. `None` if no block is free. Inside another emulator,
    /// the block is a part of that emulator's block, so that its far side has a route to the new block.
    pub(super) fn choose(taken: &[InterfaceAddress]) -> Option<Self> {
        let parent = taken.iter().rev().find(|address| is_near(address)).copied();
        let (within, prefix) = match parent {
            Some(parent) => {
                let level = PREFIXES.iter().position(|prefix| *prefix == parent.prefix)?;
                (parent, *PREFIXES.get(level + 1)?)
            }
            None => (SPACE, PREFIXES[0]),
        };
        let first = network(within.address, within.prefix);
        // The first block of a parent holds the parent's own addresses.
        let start = u32::from(parent.is_some());
        (start..1 << (prefix - within.prefix)).find_map(|block| {
            let network = first | block << (32 - prefix);
            let block = InterfaceAddress { address: network.into(), prefix };
            let is_free =
                |taken: &InterfaceAddress| parent == Some(*taken) || !overlap(block, *taken);
            let pair = Self { far: (network | 1).into(), near: (network | 2).into(), prefix };
            taken.iter().all(is_free).then_some(pair)
        })
    }

    /// Returns whether these addresses are in the block of another emulator, whose far side can be reached from here.
    pub(super) fn is_nested(&self) -> bool {
        PREFIXES[1..].contains(&self.prefix)
    }

    /// Returns a pair of addresses with `far` as the far side's address.
    ///
    /// # Errors
    ///
    /// Returns an error if `far` is no address of a host, or is in use already.
    pub(super) fn with_far(far: Ipv4Addr, taken: &[InterfaceAddress]) -> Result<Self> {
        let is_host = !(far.is_unspecified()
            || far.is_loopback()
            || far.is_multicast()
            || far.octets()[0] == 0
            || far.octets()[0] >= 240);
        if !is_host {
            bail!("{far} is no address that a host may have");
        }
        let near = Ipv4Addr::from(u32::from(far) ^ 1);
        let block = InterfaceAddress { address: far, prefix: PAIR_PREFIX };
        if let Some(other) = taken.iter().find(|taken| overlap(block, **taken)) {
            let network = Ipv4Addr::from(network(other.address, other.prefix));
            bail!("{far} is in the network {network}/{}, which is in use here", other.prefix);
        }
        Ok(Self { near, far, prefix: PAIR_PREFIX })
    }
}

/// Returns whether an address belongs to the near side of an emulator.
fn is_near(address: &InterfaceAddress) -> bool {
    PREFIXES.contains(&address.prefix)
        && overlap(*address, SPACE)
        && u32::from(address.address) & !mask(address.prefix) == 2
}

/// Returns whether the networks of two addresses have an address in common.
fn overlap(one: InterfaceAddress, other: InterfaceAddress) -> bool {
    let prefix = one.prefix.min(other.prefix);
    network(one.address, prefix) == network(other.address, prefix)
}

fn network(address: Ipv4Addr, prefix: u8) -> u32 {
    u32::from(address) & mask(prefix)
}

fn mask(prefix: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> InterfaceAddress {
        let (address, prefix) = text.split_once('/').unwrap();
        InterfaceAddress { address: address.parse().unwrap(), prefix: prefix.parse().unwrap() }
    }

    fn chosen(taken: &[&str]) -> Option<String> {
        let taken: Vec<_> = taken.iter().map(|text| at(text)).collect();
        let pair = Addresses::choose(&taken)?;
        Some(format!("{}>{}/{}", pair.near, pair.far, pair.prefix))
    }

    #[test]
    fn emulators_beside_each_other_have_blocks_of_their_own() {
        assert_eq!(chosen(&[]).unwrap(), "100.64.0.2>100.64.0.1/16");
        let home = ["127.0.0.1/8", "192.168.1.7/24"];
        assert_eq!(chosen(&home).unwrap(), "100.64.0.2>100.64.0.1/16");
        let first = ["192.168.1.7/24", "100.64.0.1/16"];
        assert_eq!(chosen(&first).unwrap(), "100.65.0.2>100.65.0.1/16");
        assert_eq!(chosen(&["100.64.9.9/32"]).unwrap(), "100.65.0.2>100.65.0.1/16");
        assert_eq!(chosen(&["100.99.0.1/10"]), None, "the network has all of the space");
    }

    #[test]
    fn an_emulator_in_another_takes_a_part_of_its_block() {
        assert_eq!(chosen(&["100.65.0.2/16"]).unwrap(), "100.65.16.2>100.65.16.1/20");
        assert!(Addresses::choose(&[at("100.65.0.2/16")]).unwrap().is_nested());
        assert!(!Addresses::choose(&[]).unwrap().is_nested());
        let two = ["100.65.0.2/16", "100.65.16.1/20"];
        assert_eq!(chosen(&two).unwrap(), "100.65.32.2>100.65.32.1/20");
        assert_eq!(chosen(&["100.65.16.2/20"]).unwrap(), "100.65.17.2>100.65.17.1/24");
        assert_eq!(chosen(&["100.65.17.2/24"]).unwrap(), "100.65.17.18>100.65.17.17/28");
        assert_eq!(chosen(&["100.65.17.18/28"]), None, "four emulators are in each other already");
    }

    #[test]
    fn a_named_far_side_has_its_neighbour_as_the_near_one() {
        let pair = Addresses::with_far(Ipv4Addr::new(203, 0, 113, 5), &[]).unwrap();
        assert_eq!((pair.near, pair.prefix), (Ipv4Addr::new(203, 0, 113, 4), 31));
        for wrong in ["0.0.0.0", "127.0.0.1", "224.0.0.1", "255.255.255.255", "0.1.2.3"] {
            assert!(Addresses::with_far(wrong.parse().unwrap(), &[]).is_err(), "{wrong}");
        }
        let taken = [at("192.168.1.7/24")];
        let error = Addresses::with_far(Ipv4Addr::new(192, 168, 1, 9), &taken).unwrap_err();
        assert_eq!(
            error.to_string(),
            "192.168.1.9 is in the network 192.168.1.0/24, which is in use here"
        );
    }
}
