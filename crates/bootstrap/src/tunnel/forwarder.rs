//! The forwarder on a jump host, sans I/O: relays datagrams between one client and one server.
//!
//! The client draws a key for the forwarder, and sends the key and the server's address through ssh. The client seals
//! each of its datagrams once more, under this key and an ascending number. The forwarder ignores datagrams that do not
//! open, or whose number has arrived earlier. It learns the client's address from the newest datagram, as a server
//! does. It sends the server's datagrams unchanged, and only to that address. For each datagram that arrives, the
//! forwarder sends at most one datagram, which is not longer. It has no queue, timer or second server.

use core::fmt;
use core::net::{IpAddr, Ipv6Addr, SocketAddr};

use rove_ssp::wire::{DATAGRAM_LEN_MAX, SeqNum, Window};
use rove_ssp::{Ecn, Key, RecordCipher};

/// Bytes of the number that precedes a sealed datagram.
const NUMBER_LEN: usize = 8;

/// The client's end of a forwarder: seals the client's datagrams for it.
pub struct Wrapper {
    cipher: RecordCipher,
    next: u64,
}

impl Wrapper {
    /// Creates the client's end. The client must have drawn this key for this forwarder alone.
    pub fn new(key: &Key) -> Self {
        Self { cipher: RecordCipher::new(key), next: 0 }
    }

    /// Returns a datagram sealed under the next number, as the forwarder expects it.
    pub fn wrap(&mut self, datagram: &[u8]) -> Vec<u8> {
        let mut sealed = datagram.to_vec();
        self.cipher.seal(self.next, &mut sealed);
        let wrapped = [&self.next.to_be_bytes(), sealed.as_slice()].concat();
        self.next += 1;
        wrapped
    }
}

impl fmt::Debug for Wrapper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wrapper").field("next", &self.next).finish_non_exhaustive()
    }
}

/// A client's address, and the address of the jump host at which its datagram arrived, if known.
pub type End = (SocketAddr, Option<Ipv6Addr>);

/// The state machine of a forwarder. It knows the client's address after the client's first datagram.
pub struct Forwarder {
    cipher: RecordCipher,
    window: Window,
    client: Option<End>,
}

impl Forwarder {
    /// Creates the forwarder's end with the key that the client has sent.
    pub fn new(key: &Key) -> Self {
        Self { cipher: RecordCipher::new(key), window: Window::new(), client: None }
    }

    /// Unwraps the client's datagram, which arrived by `end`, for the server. `None` if it is repeated or forged.
    ///
    /// The forwarder cannot pass on a congestion mark, so it drops a marked datagram. Source: RFC 6040, section 4.2.
    pub fn handle_client(&mut self, end: End, ecn: Ecn, bytes: &[u8]) -> Option<Vec<u8>> {
        let (number, sealed) = bytes.split_first_chunk::<NUMBER_LEN>()?;
        let number = u64::from_be_bytes(*number);
        let seq = SeqNum::new(number);
        if seq.get() != number || !self.window.takes(seq) {
            return None;
        }
        let mut datagram = sealed.to_vec();
        if !self.cipher.open(number, &mut datagram) {
            return None;
        }
        if self.window.record(seq) {
            self.client = Some(end);
        }
        debug_assert!(datagram.len() < bytes.len(), "the server gets less than has arrived");
        (ecn != Ecn::CongestionExperienced).then_some(datagram)
    }

    /// Returns where to send the server's datagram of `len` bytes. `None` if no client is known. Also `None` if the
    /// datagram is longer than any of a session, or has a congestion mark.
    pub fn handle_server(&self, ecn: Ecn, len: usize) -> Option<End> {
        let passes = ecn != Ecn::CongestionExperienced && len <= DATAGRAM_LEN_MAX;
        self.client.filter(|_| passes)
    }
}

/// A client's order to a forwarder: the only server to which the forwarder may send, and the key.
pub struct Order {
    /// The address and UDP port of the session's server.
    pub server: SocketAddr,
    /// The key under which the client seals its datagrams.
    pub key: Key,
}

impl Order {
    /// Returns the order's text.
    pub fn to_text(&self) -> String {
        format!("{} {}", self.server, &*self.key.to_text())
    }

    /// Parses an order. `None` if it is malformed, or if the address cannot be a server's.
    pub fn from_text(text: &str) -> Option<Self> {
        let (server, key) = text.split_once(' ')?;
        let (server, key): (SocketAddr, _) = (server.parse().ok()?, Key::from_text(key).ok()?);
        let ip = server.ip().to_canonical();
        let is_usable = server.port() != 0 && !ip.is_multicast() && !ip.is_unspecified();
        let is_broadcast = matches!(ip, IpAddr::V4(ip) if ip.is_broadcast());
        (is_usable && !is_broadcast).then_some(Self { server, key })
    }
}

/// A forwarder's answer to its order: its two UDP addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The UDP port at which the client's datagrams arrive.
    pub port: u16,
    /// The address of the jump host at which its sshd was reached, if sshd stated it.
    pub address: Option<IpAddr>,
    /// The source address of the datagrams that the server receives.
    pub source: SocketAddr,
}

impl Ends {
    /// Returns the text of the answer.
    pub fn to_text(&self) -> String {
        let address = self.address.map_or("-".to_owned(), |address| address.to_string());
        format!("{} {address} {}", self.port, self.source)
    }

    /// Parses the answer of a jump host. `None` if it is malformed.
    pub fn from_text(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let port = words.next()?.parse().ok().filter(|port| *port != 0)?;
        let address = words.next()?.parse().ok();
        let source = words.next()?.parse().ok()?;
        words.next().is_none().then_some(Self { port, address, source })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOT_MARKED: Ecn = Ecn::Capable;

    fn key(byte: u8) -> Key {
        Key::from_bytes([byte; 16])
    }

    fn address(last: u8) -> End {
        let local = Ipv6Addr::from_bits(last.into());
        (SocketAddr::from(([192, 0, 2, last], 4000)), Some(local))
    }

    #[test]
    fn only_the_client_gets_through_and_answers_go_to_its_newest_address() {
        let (mut client, mut forwarder) = (Wrapper::new(&key(1)), Forwarder::new(&key(1)));
        let mut pass = |from, bytes: &[u8]| {
            let passed = forwarder.handle_client(address(from), NOT_MARKED, bytes);
            (passed, forwarder.handle_server(NOT_MARKED, 9).map(|it| it == address(1)))
        };
        let wrapped: Vec<Vec<u8>> = [b"a", b"b", b"c", b"d"].map(|it| client.wrap(it)).into();
        let passed = |datagram: &[u8]| Some(datagram.to_vec());
        // The forwarder sends nothing before the client's first datagram.
        assert_eq!(pass(9, b"a"), (None, None));
        assert_eq!(pass(9, &Wrapper::new(&key(2)).wrap(b"a")), (None, None));
        assert_eq!(pass(1, &wrapped[1]), (passed(b"b"), Some(true)));
        // A repeated or overtaken datagram does not change the client's address.
        assert_eq!(pass(9, &wrapped[1]), (None, Some(true)));
        assert_eq!(pass(9, &wrapped[0]), (passed(b"a"), Some(true)));
        assert_eq!(pass(9, &wrapped[0]), (None, Some(true)));
        for at in 0..wrapped[2].len() {
            let mut changed = wrapped[2].clone();
            changed[at] ^= 0x80;
            assert_eq!(pass(9, &changed), (None, Some(true)), "byte {at}");
            assert_eq!(pass(9, &wrapped[2][..at]), (None, Some(true)));
        }
        assert_eq!(pass(2, &wrapped[2]), (passed(b"c"), Some(false)), "the client has moved");
        assert_eq!(pass(1, &wrapped[3]), (passed(b"d"), Some(true)));
    }

    #[test]
    fn a_marked_datagram_and_one_that_is_too_long_count_as_lost() {
        let (mut client, mut forwarder) = (Wrapper::new(&key(1)), Forwarder::new(&key(1)));
        let marked = Ecn::CongestionExperienced;
        let wrapped = client.wrap(b"x");
        assert_eq!(forwarder.handle_client(address(1), marked, &wrapped), None);
        for (ecn, len, passes) in [
            (NOT_MARKED, DATAGRAM_LEN_MAX, true),
            (NOT_MARKED, DATAGRAM_LEN_MAX + 1, false),
            (marked, 1, false),
        ] {
            assert_eq!(forwarder.handle_server(ecn, len).is_some(), passes, "{len}");
        }
        let longest = RecordCipher::PIECE_LEN_MAX;
        for (len, passes) in [(longest, true), (longest + 1, false)] {
            let mut bytes = 7_u64.to_be_bytes().to_vec();
            bytes.resize(NUMBER_LEN + len + RecordCipher::TAG_LEN, 0);
            if passes {
                let mut sealed = vec![0; len];
                RecordCipher::new(&key(1)).seal(7, &mut sealed);
                bytes = [&7_u64.to_be_bytes(), sealed.as_slice()].concat();
            }
            let found = forwarder.handle_client(address(1), NOT_MARKED, &bytes);
            assert_eq!(found.is_some(), passes, "{len}");
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_from_whomever_less_goes_out_and_to_the_client_alone(
            events in prop::collection::vec((0_u8..5, 0_usize..40, any::<bool>()), 0..60),
        ) {
            let (mut client, mut forwarder) = (Wrapper::new(&key(1)), Forwarder::new(&key(1)));
            let mut stranger = Wrapper::new(&key(2));
            let (mut sent, mut came, mut went) = (Vec::new(), 0, 0);
            let mut own: Vec<End> = Vec::new();
            for (kind, which, moves) in events {
                let (from, bytes) = match kind {
                    0 | 1 => {
                        let wrapped = client.wrap(&vec![kind; which]);
                        sent.push(wrapped.clone());
                        own.push(address(1 + u8::from(moves)));
                        (address(1 + u8::from(moves)), wrapped)
                    }
                    2 if !sent.is_empty() => (address(9), sent[which % sent.len()].clone()),
                    3 => (address(8), stranger.wrap(&vec![9; which])),
                    _ => {
                        came += which;
                        if let Some(to) = forwarder.handle_server(NOT_MARKED, which) {
                            prop_assert!(own.contains(&to));
                            went += which;
                        }
                        continue;
                    }
                };
                came += bytes.len();
                let passed = forwarder.handle_client(from, NOT_MARKED, &bytes);
                prop_assert_eq!(passed.is_some(), kind < 2, "each of the client's, once");
                went += passed.map_or(0, |passed| passed.len());
                prop_assert!(went <= came);
            }
        }

        #[test]
        fn any_text_is_an_order_or_an_answer_or_none(text in "[0-9a-zA-Z.:\\[\\] -]{0,60}") {
            if let Some(ends) = Ends::from_text(&text) {
                prop_assert_eq!(Ends::from_text(&ends.to_text()), Some(ends));
            }
            prop_assert!(Order::from_text(&text).is_none_or(|it| it.server.port() != 0));
        }
    }

    #[test]
    fn an_order_names_a_server_and_a_key_and_an_answer_where_the_forwarder_is() {
        for server in ["192.0.2.1:60001", "[2001:db8::1]:60001", "127.0.0.1:1"] {
            let order = Order { server: server.parse().unwrap(), key: key(7) };
            let found = Order::from_text(&order.to_text()).unwrap();
            assert_eq!(found.server, order.server);
            assert_eq!(*found.key.to_text(), *order.key.to_text());
        }
        for server in [
            "192.0.2.1:0",
            "0.0.0.0:9",
            "[::]:9",
            "224.0.0.1:9",
            "255.255.255.255:9",
            "[::ffff:224.0.0.1]:9",
            "[::ffff:255.255.255.255]:9",
            "x",
        ] {
            let text = format!("{server} {}", *key(7).to_text());
            assert!(Order::from_text(&text).is_none(), "{server}");
        }
        for address in [None, Some("2001:db8::7".parse().unwrap())] {
            let ends = Ends { port: 60_001, address, source: "10.0.0.1:9".parse().unwrap() };
            assert_eq!(Ends::from_text(&ends.to_text()), Some(ends));
        }
    }
}
