//! The handshake by which two roves recognise each other, ignored by peers that are stock Mosh.
//!
//! Field 100 of the transport instruction, bytes: a version (varint), a capability bit set (varint), then whatever a
//! later version adds. An end puts it into every instruction until the peer has acknowledged one of its states. As
//! every instruction so far carried it, a peer that acknowledges a state and has sent no hello is stock.

use prost::encoding::{decode_varint, encode_varint};

use crate::num::StateNum;

/// A set of extensions of the stock protocol, a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Capabilities(u64);

impl Capabilities {
    /// No extension: the stock protocol only.
    pub const NONE: Self = Self(0);
    /// The remote command's exit status travels with the screen.
    pub const EXIT_STATUS: Self = Self(1);
    /// The screen and its diff may hold more than a stock client understands.
    pub const RICH_SCREEN: Self = Self(1 << 1);
    /// The user stream may hold reports of what the client has learned of the user's terminal.
    pub const TERMINAL_REPORT: Self = Self(1 << 2);
    /// The remote programs' terminal modes (tty) travel with the screen, and an echo ack may come before its echo.
    pub const TTY: Self = Self(1 << 3);
    /// The lines that scroll off the host's screen travel to the client.
    pub const SCROLLBACK: Self = Self(1 << 4);
    /// An instruction may report how many of its receiver's datagrams were lost.
    pub const LOSS_REPORT: Self = Self(1 << 5);
    /// A server's heartbeat may announce when the next one follows; the client answers it.
    pub const ANNOUNCED_HEARTBEAT: Self = Self(1 << 6);
    /// Acknowledgments may wait for [`AckConfig::delay_late`](crate::AckConfig::delay_late), and are waited for as
    /// long. Changes that are not urgent to the client ([`Object::is_urgent_to`](crate::Object::is_urgent_to)) wait for
    /// the next instruction.
    pub const LATE_ACK: Self = Self(1 << 7);
    /// Columns may be counted by grapheme clusters, as the user's terminal does.
    pub const CLUSTERS: Self = Self(1 << 9);
    /// The clients that have joined a session travel with the screen, and its own client says whether they may.
    pub const JOINED: Self = Self(1 << 10);

    /// Creates a set from its bits.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Returns whether every capability in `other` is in this set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the capabilities that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the capabilities of this set that `other` lacks.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns the capabilities that are in at least one of the sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The extensions that an end offers, as it tells its peer.
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
        let capabilities = Capabilities::from_bits(decode_varint(&mut bytes).ok()?);
        Some(Self { version, capabilities })
    }
}

/// Whether the peer is stock or a rove, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Peer {
    /// Not known yet: only the stock protocol may be used.
    #[default]
    Unknown,
    /// The peer acknowledged our hello and sent none.
    Stock,
    /// The peer is a rove and sent this hello.
    Rove(Hello),
}

impl Peer {
    /// Learns from an instruction whether the peer is a rove, unless that is known. Until the peer had acknowledged a
    /// state, every instruction of ours carried our hello, and so does every instruction of a rove that has not been
    /// acknowledged: if this one carries none, no earlier one did.
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

    const EVERYTHING: Capabilities = Capabilities::from_bits(u64::MAX);

    #[test]
    fn hello_has_these_bytes() {
        for (hello, bytes) in [
            (Hello::new(Capabilities::NONE), vec![1, 0]),
            (Hello::new(Capabilities::EXIT_STATUS), vec![1, 1]),
            (
                Hello { version: 300, capabilities: Capabilities::from_bits(128) },
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
        let (a, b) = (Capabilities::from_bits(0b011), Capabilities::from_bits(0b110));
        assert_eq!(a.intersection(b).bits(), 0b010);
        assert_eq!(a.union(b).bits(), 0b111);
        assert!(a.contains(a.intersection(b)) && a.contains(Capabilities::NONE));
        assert!(!a.contains(b));
    }
}
