//! A filter of the server's socket that keeps a flood of other senders' datagrams from filling the receive buffer.
//!
//! While other senders send more than a server can read, Linux passes one in 2, 4, 8 and so on, up to 256, of their
//! datagrams. Other systems pass all. All datagrams from the client's address pass, whoever sent them. A client that
//! moves to another address counts as another sender until one of its datagrams has passed.

use std::net::SocketAddr;

use rove_units::{Duration, Instant};

use crate::socket::ServerSocket;

/// Time over which other senders' datagrams are counted. Chosen: a few frame intervals.
const WINDOW: Duration = Duration::from_millis(50);
/// Most datagrams of other senders in a [`WINDOW`] that do not tighten the filter: 5000 in a second. Chosen: half as
/// many as the smallest receive buffer of Linux holds. A process that pauses for a window then loses nothing.
const STRANGERS_MAX: u32 = 250;
/// Fewest datagrams of other senders in a [`WINDOW`] that keep the filter from being relaxed. Chosen: a relaxed filter
/// may let twice as many pass, which is still well below [`STRANGERS_MAX`].
const STRANGERS_MIN: u32 = STRANGERS_MAX / 4;
/// Most halvings of the share of other senders' datagrams that passes. Chosen: of a million a second, 4000 pass.
const HALVINGS_MAX: u32 = 8;

/// Counts datagrams of other senders than the client, and decides which share of them passes. At first all pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sieve {
    counted_since: Instant,
    strangers: u32,
    filter: Filter,
}

/// The rule by which the system passes datagrams to the socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Filter {
    /// The client's address, from which all datagrams pass. `None`: every datagram passes, from any address.
    client: Option<SocketAddr>,
    /// How often the share of other senders' datagrams that pass has been halved.
    halvings: u32,
}

impl Sieve {
    /// Counts a datagram of another sender, or a repeated datagram of the client. Call this for each such datagram.
    pub const fn handle_stranger(&mut self) {
        self.strangers = self.strangers.saturating_add(1);
    }

    /// Returns when to call [`Sieve::handle_timeout`] even without a datagram. `None` if all datagrams pass.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.filter.client.map(|_| self.counted_since + WINDOW)
    }

    /// Adapts the socket's filter to the number of datagrams counted in this `WINDOW`. Without a client, all pass.
    pub fn handle_timeout(
        &mut self,
        now: Instant,
        client: Option<SocketAddr>,
        socket: &ServerSocket,
    ) {
        let filter = self.next_filter(now, client);
        if filter != self.filter {
            tracing::debug!(?filter, "flood");
            self.filter = filter;
            if let Err(error) = filter.apply(socket) {
                tracing::debug!(%error, "the flood comes through");
            }
        }
    }

    fn next_filter(&mut self, now: Instant, client: Option<SocketAddr>) -> Filter {
        let mut halvings = self.filter.halvings;
        let is_over = self.counted_since + WINDOW <= now;
        // A flood pushes the client's datagrams out of the buffer, so the filter tightens before the window ends.
        let is_flooded = self.strangers > STRANGERS_MAX && client.is_some();
        if is_flooded {
            halvings = HALVINGS_MAX.min(halvings + 1);
        } else if is_over && self.strangers < STRANGERS_MIN {
            halvings = halvings.saturating_sub(1);
        }
        if is_flooded || is_over {
            (self.counted_since, self.strangers) = (now, 0);
        }
        Filter { client: client.filter(|_| halvings > 0), halvings }
    }
}

#[cfg(all(target_os = "linux", not(rove_portable)))]
impl Filter {
    fn apply(self, socket: &ServerSocket) -> std::io::Result<()> {
        let socket = socket2::SockRef::from(socket.get());
        match self.client {
            Some(client) => socket.attach_filter(&program(client, self.halvings)),
            None => socket.detach_filter(),
        }
    }
}

#[cfg(any(rove_portable, not(target_os = "linux")))]
impl Filter {
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as on Linux")]
    fn apply(self, _socket: &ServerSocket) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the filter as a BPF program (Linux, `Documentation/networking/filter.rst`). It compares IP version, source
/// address and source port with the client's. Other senders' datagrams pass with a probability of 1 in 2^`halvings`.
#[cfg(all(target_os = "linux", not(rove_portable)))]
fn program(client: SocketAddr, halvings: u32) -> Vec<socket2::SockFilter> {
    use libc::{
        BPF_ABS, BPF_ALU, BPF_AND, BPF_B, BPF_H, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W,
    };

    const ALL_BYTES: u32 = u32::MAX;
    // Offsets count from the UDP header. The IP header and a random number have special offsets.
    let ip = libc::SKF_NET_OFF.cast_unsigned();
    let random = (libc::SKF_AD_OFF + libc::SKF_AD_RANDOM).cast_unsigned();
    let step = |code: u32, then: usize, otherwise: usize, operand: u32| {
        let code = u16::try_from(code).expect("codes have 16 bits");
        let [then, otherwise] =
            [then, otherwise].map(|it| u8::try_from(it).expect("a short program"));
        socket2::SockFilter::new(code, then, otherwise, operand)
    };
    let (version, first, address) = match client.ip().to_canonical() {
        std::net::IpAddr::V4(ip) => (0x40, 12, ip.octets().to_vec()),
        std::net::IpAddr::V6(ip) => (0x60, 8, ip.octets().to_vec()),
    };
    let mut facts = vec![(BPF_B, ip, 0xf0, version)];
    for (word, at) in address.chunks(4).zip((first..).step_by(4)) {
        let word = u32::from_be_bytes(word.try_into().expect("addresses are whole words"));
        facts.push((BPF_W, ip.wrapping_add(at), u32::MAX, word));
    }
    facts.push((BPF_H, 0, u32::MAX, client.port().into()));
    let mut program = Vec::new();
    for (left, (size, offset, mask, value)) in (0..facts.len()).rev().zip(facts) {
        program.push(step(BPF_LD | size | BPF_ABS, 0, 0, offset));
        program.push(step(BPF_ALU | BPF_AND | BPF_K, 0, 0, mask));
        // On a difference, jumps over the remaining comparisons of three steps each, and over the step that accepts.
        program.push(step(BPF_JMP | BPF_JEQ | BPF_K, 0, 3 * left + 1, value));
    }
    program.push(step(BPF_RET | BPF_K, 0, 0, ALL_BYTES));
    program.push(step(BPF_LD | BPF_W | BPF_ABS, 0, 0, random));
    program.push(step(BPF_ALU | BPF_AND | BPF_K, 0, 0, (1 << halvings) - 1));
    program.push(step(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0));
    program.push(step(BPF_RET | BPF_K, 0, 0, ALL_BYTES));
    program.push(step(BPF_RET | BPF_K, 0, 0, 0));
    program
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const CLIENT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 1);

    /// Sends `coming` datagrams of strangers in each window. Returns the number of halvings after each window.
    fn halvings(
        sieve: &mut Sieve,
        client: Option<SocketAddr>,
        coming: u32,
        windows: u64,
    ) -> Vec<u32> {
        let windows = (0..windows).map(|_| {
            sieve.strangers = coming >> sieve.filter.halvings;
            sieve.filter = sieve.next_filter(sieve.counted_since + WINDOW, client);
            sieve.filter.halvings
        });
        windows.collect()
    }

    #[test]
    fn a_flood_is_thinned_out_to_what_is_bearable_and_no_longer_than_it_lasts() {
        let mut sieve = Sieve::default();
        assert_eq!(halvings(&mut sieve, Some(CLIENT), STRANGERS_MAX, 3), [0, 0, 0]);
        assert_eq!(halvings(&mut sieve, Some(CLIENT), STRANGERS_MAX + 1, 3), [1, 1, 1]);
        assert_eq!(halvings(&mut sieve, Some(CLIENT), 5_000, 6), [2, 3, 4, 5, 5, 5]);
        assert_eq!(halvings(&mut sieve, Some(CLIENT), 10_000_000, 4), [6, 7, 8, 8]);
        assert!(sieve.poll_timeout().is_some());
        assert_eq!(halvings(&mut sieve, Some(CLIENT), 0, 9), [7, 6, 5, 4, 3, 2, 1, 0, 0]);
        assert_eq!((sieve.filter.client, sieve.poll_timeout()), (None, None));
    }

    #[test]
    fn a_server_that_knows_no_client_lets_everything_through() {
        assert_eq!(halvings(&mut Sieve::default(), None, 10_000, 3), [0, 0, 0]);
    }

    #[test]
    fn within_a_window_a_client_that_moves_changes_the_filter_and_a_flood_at_once() {
        let mut sieve = Sieve::default();
        halvings(&mut sieve, Some(CLIENT), 10_000, 2);
        sieve.strangers = STRANGERS_MAX;
        let now = sieve.counted_since;
        assert_eq!(sieve.next_filter(now, Some(CLIENT)), sieve.filter);
        let moved = SocketAddr::from((Ipv4Addr::LOCALHOST, 2));
        let filter = sieve.next_filter(now, Some(moved));
        assert_eq!(filter, Filter { client: Some(moved), halvings: 2 });
        sieve.strangers = STRANGERS_MAX + 1;
        assert_eq!(sieve.next_filter(now, Some(moved)), Filter { halvings: 3, ..filter });
    }

    #[cfg(all(target_os = "linux", not(rove_portable)))]
    #[test]
    fn all_of_the_clients_datagrams_come_through_and_a_share_of_the_others() {
        use std::net::{IpAddr, Ipv6Addr, UdpSocket};

        use crate::socket::{PortRange, receive_waiting};

        let [v4, v6] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        for (at, from) in [
            (v4, v4),
            (v6, v6),
            (Ipv6Addr::UNSPECIFIED.into(), v4),
            (Ipv6Addr::UNSPECIFIED.into(), v6),
        ] {
            let Ok(server) = ServerSocket::bind(at, PortRange { low: 0, high: 0 }) else {
                continue; // a computer without IPv6
            };
            let target = (from, server.local_addr().port());
            let [client, stranger] = [(); 2].map(|()| UdpSocket::bind((from, 0)).unwrap());
            let mut heard = [0, 0];
            let mut send = |sockets: [&UdpSocket; 2]| {
                for socket in sockets {
                    socket.send_to(b"x", target).unwrap();
                }
                receive_waiting(server.get(), |received, _| {
                    heard[usize::from(
                        received.source.port() != client.local_addr().unwrap().port(),
                    )] += 1;
                })
                .unwrap();
            };
            let filter = Filter { client: client.local_addr().ok(), halvings: 5 };
            filter.apply(&server).unwrap();
            (0..2_000).for_each(|_| send([&client, &stranger]));
            Filter::default().apply(&server).unwrap();
            (0..1_000).for_each(|_| send([&client, &stranger]));
            // About 63 of 2000 strangers' datagrams pass, and all 1000 of the client's.
            assert_eq!(heard[0], 3_000, "{at} {from}");
            assert!((1_010..1_200).contains(&heard[1]), "{at} {from}: {heard:?}");
        }
    }
}
