//! Resolves a host's addresses, and orders them by the address family that the user prefers.

use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

use nix::net::if_::if_nametoindex;
use rove_platform::termux;

use crate::getent;

/// The file that names the DNS servers which musl's resolver asks. Source: resolv.conf(5).
const NAME_SERVERS: &str = "/etc/resolv.conf";

/// Time after which the system's resolver asks its next server. Source: `timeout` in resolv.conf(5).
const RESOLVER_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest wait for a host's addresses by a command that also works without them. Chosen: [`RESOLVER_TIMEOUT`] for a
/// silent first server, and 1 s for the answer of the next server.
pub(crate) const RESOLVER_PATIENCE: Duration = Duration::from_secs(6);
const _: () = assert!(RESOLVER_TIMEOUT.as_secs() < RESOLVER_PATIENCE.as_secs());

#[derive(Debug, thiserror::Error)]
pub(crate) enum AddressError {
    #[error("cannot find the address of {}: {error}", host.escape_debug())]
    Unknown { host: String, error: io::Error },
    /// The host has no address of this family.
    #[error("{} has no address of the family {family}", host.escape_debug())]
    NoneLeft { host: String, family: String },
    /// The host has addresses of both families, and the user chose neither.
    #[error(
        "{} has IPv4 and IPv6 addresses: choose with --family=inet or --family=inet6",
        host.escape_debug()
    )]
    Ambiguous { host: String },
}

/// Returns at least one address of `host`, in the order to try.
///
/// # Errors
///
/// Returns [`AddressError`] if there is no address to try, or the user must choose a family.
pub(crate) fn resolve(
    host: &str,
    port: u16,
    family: &str,
) -> Result<Vec<SocketAddr>, AddressError> {
    let found: Vec<SocketAddr> = match (host, port).to_socket_addrs() {
        Ok(found) => found.collect(),
        Err(error) => {
            let found = if getent::IS_NEEDED { getent::addresses(host) } else { Vec::new() };
            if found.is_empty() {
                return Err(AddressError::Unknown { host: host.to_owned(), error });
            }
            found.into_iter().map(|address| SocketAddr::new(address, port)).collect()
        }
    };
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in found {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    in_order(addresses, host, family)
}

/// Returns the addresses of a name in the order to try, or an empty list. A name that [cannot be resolved
/// here](is_found_here) is not looked up, because musl would wait for DNS servers that do not exist.
pub(crate) fn of_name(name: &str, port: u16, family: &str) -> Vec<SocketAddr> {
    let is_found = is_found_here(name);
    is_found.then(|| resolve(name, port, family)).and_then(Result::ok).unwrap_or_default()
}

/// Returns whether the system's files let this program resolve the name. A numeric address needs no resolver.
pub(crate) fn is_found_here(name: &str) -> bool {
    let is_in_termux = termux::prefix().is_some();
    can_find(name, getent::IS_NEEDED, is_in_termux, Path::new(NAME_SERVERS))
}

/// Returns whether a program can resolve `name`. A static program reads `/etc/hosts`, runs `getent`, or asks the DNS
/// servers that the file `servers` names. Termux may lack all three, because its programs ask Android.
fn can_find(name: &str, is_static: bool, is_in_termux: bool, servers: &Path) -> bool {
    from_numeric(name, 0).is_some() || !is_static || !is_in_termux || servers.exists()
}

/// Parses an address written by [`rove_bootstrap::numeric`] and adds `port`. The zone after `%` may also be an
/// interface's name. `None` if the text is not an address.
pub(crate) fn from_numeric(address: &str, port: u16) -> Option<SocketAddr> {
    match address.split_once('%') {
        None => Some(SocketAddr::new(address.parse::<IpAddr>().ok()?, port)),
        Some((address, zone)) => {
            let zone = zone.parse().ok().or_else(|| if_nametoindex(zone).ok())?;
            Some(SocketAddrV6::new(address.parse().ok()?, port, 0, zone).into())
        }
    }
}

fn in_order(
    mut addresses: Vec<SocketAddr>,
    host: &str,
    family: &str,
) -> Result<Vec<SocketAddr>, AddressError> {
    match family {
        "inet" => addresses.retain(SocketAddr::is_ipv4),
        "inet6" => addresses.retain(SocketAddr::is_ipv6),
        // The sorts are stable, so the resolver's order is kept within a family.
        "prefer-inet" => addresses.sort_by_key(SocketAddr::is_ipv6),
        "prefer-inet6" => addresses.sort_by_key(SocketAddr::is_ipv4),
        "all" => {}
        // This arm is for `auto` and, under the name `mosh`, any unknown word.
        _ => {
            if addresses.iter().any(SocketAddr::is_ipv4)
                && addresses.iter().any(SocketAddr::is_ipv6)
            {
                return Err(AddressError::Ambiguous { host: host.to_owned() });
            }
        }
    }
    if addresses.is_empty() {
        let (host, family) = (host.to_owned(), family.to_owned());
        return Err(AddressError::NoneLeft { host, family });
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_filters_and_orders() {
        const BOTH: &str = "4a 6a 4b 6b";
        for (family, found, ordered) in [
            ("inet", BOTH, "4a 4b"),
            ("inet6", BOTH, "6a 6b"),
            ("prefer-inet", BOTH, "4a 4b 6a 6b"),
            ("prefer-inet6", BOTH, "6a 6b 4a 4b"),
            ("prefer-inet", "6a", "6a"),
            ("all", BOTH, BOTH),
            ("auto", "6b 6a", "6b 6a"),
            ("auto", BOTH, "both"),
            ("nonsense", BOTH, "both"),
            ("inet", "6a", "none"),
            ("all", "", "none"),
        ] {
            let address = |name: &str| -> SocketAddr {
                let text = match name.split_at(1) {
                    ("4", "a") => "192.0.2.1:22",
                    ("4", _) => "192.0.2.2:22",
                    (_, "a") => "[2001:db8::1]:22",
                    _ => "[2001:db8::2]:22",
                };
                text.parse().unwrap()
            };
            let addresses = |names: &str| names.split_whitespace().map(address).collect::<Vec<_>>();
            match in_order(addresses(found), "host", family) {
                Ok(order) => assert_eq!(order, addresses(ordered), "{family} {found}"),
                Err(AddressError::Ambiguous { .. }) => assert_eq!(ordered, "both", "{family}"),
                Err(AddressError::NoneLeft { .. }) => assert_eq!(ordered, "none", "{family}"),
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn only_a_static_program_in_termux_may_find_no_names() {
        let (there, missing) = (Path::new("/"), Path::new("/no/such/file"));
        for (name, is_static, is_in_termux, servers, finds) in [
            ("far", true, true, missing, false),
            ("far", true, true, there, true),
            ("far", true, false, missing, true),
            ("far", false, true, missing, true),
            ("192.0.2.7", true, true, missing, true),
            ("2001:db8::7", true, true, missing, true),
            ("", true, true, missing, false),
        ] {
            let found = can_find(name, is_static, is_in_termux, servers);
            assert_eq!(found, finds, "{name} {is_static} {is_in_termux} {servers:?}");
        }
    }

    #[test]
    fn numbers_resolve_without_a_name_server_and_keep_their_zone() {
        for (host, text) in [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("fe80::1%7", "fe80::1%7")]
        {
            let addresses = resolve(host, 22, "all").unwrap();
            assert_eq!(rove_bootstrap::numeric(addresses[0]), text);
        }
    }
}
