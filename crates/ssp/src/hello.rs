//! The handshake by which two roves recognise each other. Mosh 1.4.0 peers (stock) ignore it.
//!
//! Field 100 of the transport instruction contains bytes: a version (varint), a capability bit set (varint), then
//! whatever a later version adds. An end puts the hello into every instruction until the peer has acknowledged one of
//! the end's states. A peer that acknowledges a state has thus received the hello, and is stock if it has sent none.

use bitflags::bitflags;
use prost::encoding::{decode_varint, encode_varint};

use crate::num::StateNum;

bitflags! {
    /// A set of extensions of the Mosh 1.4.0 protocol, a bit for each.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Capabilities: u64 {
        /// The remote command's exit status travels with the screen.
        const EXIT_STATUS = 1;
        /// The screen and its diff may hold more than a Mosh 1.4.0 client understands.
        const RICH_SCREEN = 1 << 1;
        /// The user stream may hold reports of what the client has learned of the user's terminal.
        const TERMINAL_REPORT = 1 << 2;
        /// The remote programs' terminal modes (tty) travel with the screen. A key's echo ack may come before its echo.
        const TTY = 1 << 3;
        /// The lines that scroll off the host's screen travel to the client.
        const SCROLLBACK = 1 << 4;
        /// An instruction may report how many of the datagrams that its receiver has sent were lost.
        const LOSS_REPORT = 1 << 5;
        /// A server's heartbeat may announce the time of the next one. The client answers such a heartbeat.
        const ANNOUNCED_HEARTBEAT = 1 << 6;
        /// Acknowledgments may wait for [`AckConfig::delay_late`](crate::AckConfig::delay_late), and the end that waits
        /// for them expects that. Changes that are not urgent to the client
        /// ([`Object::is_urgent_to`](crate::Object::is_urgent_to)) wait for the next instruction.
        const LATE_ACK = 1 << 7;
        /// Stream packets may be exchanged beside the session's datagrams.
        const STREAMS = 1 << 8;
        /// Columns may be counted by grapheme clusters, as the user's terminal does.
        const CLUSTERS = 1 << 9;
        /// The clients that have joined a session travel with the screen. The session's own client decides who may join.
        const JOINED = 1 << 10;
    }
}

/// The extensions that an end offers to its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The version of the extensions that the end speaks.
    pub version: u64,
    /// The extensions that the end understands.
    pub capabilities: Capabilities,
}

impl Hello {
    /// The version of the extensions that this crate speaks.
    pub const VERSION: u64 = 1;

    /// Creates the hello of an end that understands `capabilities`.
    pub const fn new(capabilities: Capabilities) -> Self {
        Self { version: Self::VERSION, capabilities }
    }

    /// Encodes the contents of the instruction's hello field.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode_varint(self.version, &mut bytes);
        encode_varint(self.capabilities.bits(), &mut bytes);
        bytes
    }

    /// Decodes the contents of the instruction's hello field. Later versions may add bytes after the capabilities.
    /// Returns `None` for a hello that is cut short, which counts as no hello.
    pub fn decode(mut bytes: &[u8]) -> Option<Self> {
        let version = decode_varint(&mut bytes).ok()?;
        let capabilities = Capabilities::from_bits_retain(decode_varint(&mut bytes).ok()?);
        Some(Self { version, capabilities })
    }
}

/// Whether the peer is Mosh 1.4.0 (stock) or rove, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Peer {
    /// The peer is not known yet, so only the protocol of Mosh 1.4.0 may be used.
    #[default]
    Unknown,
    /// The peer acknowledged this end's hello and sent none.
    Stock,
    /// The peer is rove and sent this hello.
    Rove(Hello),
}

impl Peer {
    /// Learns from an instruction whether the peer is rove, unless that is known. Rove sends its hello in every
    /// instruction until this end has acknowledged one of its states. So the first instruction from rove has a hello.
    /// The peer counts as stock only after it has acknowledged a state, and so has received this end's hello.
    pub(crate) fn learn(&mut self, hello: Option<Hello>, ack_num: StateNum) {
        *self = match (*self, hello) {
            (Self::Unknown, Some(hello)) => Self::Rove(hello),
            (Self::Unknown, None) if ack_num != StateNum::INITIAL => Self::Stock,
            _ => return,
        };
        tracing::info!(peer = ?self, "peer recognised");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYTHING: Capabilities = Capabilities::from_bits_retain(u64::MAX);

    #[test]
    fn hello_has_these_bytes() {
        for (hello, bytes) in [
            (Hello::new(Capabilities::empty()), vec![1, 0]),
            (Hello::new(Capabilities::EXIT_STATUS), vec![1, 1]),
            (
                Hello { version: 300, capabilities: Capabilities::from_bits_retain(128) },
                vec![0xac, 2, 0x80, 1],
            ),
        ] {
            assert_eq!(hello.encode(), bytes);
            assert_eq!(Hello::decode(&bytes), Some(hello));
        }
    }

    #[test]
    fn additions_of_a_later_version_are_ignored() {
        let hello = Hello { version: 2, capabilities: EVERYTHING };
        let mut bytes = hello.encode();
        bytes.extend([0xff; 100]);
        assert_eq!(Hello::decode(&bytes), Some(hello));
    }

    #[test]
    fn hello_cut_short_or_overlong_counts_as_none() {
        let whole = Hello { version: u64::MAX, capabilities: EVERYTHING }.encode();
        assert_eq!(whole.len(), 20);
        for len in 0..whole.len() {
            assert_eq!(Hello::decode(&whole[..len]), None, "{len} bytes");
        }
        assert_eq!(Hello::decode(&[0xff; 20]), None);
    }

    #[test]
    fn capability_sets_are_sets() {
        let (a, b) = (Capabilities::from_bits_retain(0b011), Capabilities::from_bits_retain(0b110));
        assert_eq!(a.intersection(b).bits(), 0b010);
        assert_eq!(a.union(b).bits(), 0b111);
        assert!(a.contains(a.intersection(b)) && a.contains(Capabilities::empty()));
        assert!(!a.contains(b));
    }
}
