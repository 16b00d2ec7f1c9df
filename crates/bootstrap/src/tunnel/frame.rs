//! The format of a tunnel's stream: each frame has a byte for its kind, two for its length (big-endian), and contents.
//!
//! | kind | contents |
//! |---|---|
//! | 0 | a datagram |
//! | 1 | credit: how many bytes of datagram frames have arrived since the last credit, 4 bytes big-endian |
//! | 2 | to the client: no program listens at the session's port on the host |
//! | 3 | UTF-8 text between a client and a [`forwarder`](super::forwarder), or to the host about a forwarder |
//!
//! Receivers skip frames of other kinds, because later versions may have more.

use rove_ssp::wire::DATAGRAM_LEN_MAX;

/// Bytes of a frame's header, before the contents.
pub const HEADER_LEN: usize = 3;

const DATAGRAM: u8 = 0;
const CREDIT: u8 = 1;
const REFUSED: u8 = 2;
const WORDS: u8 = 3;

/// A frame of the tunnel's stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A datagram of the session.
    Datagram(Vec<u8>),
    /// This many bytes of datagram frames have arrived since the last credit.
    Credit(u32),
    /// No program listens at the session's port on the host.
    Refused,
    /// Text from, to or about a forwarder.
    Words(String),
}

/// Why bytes are not a stream of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each sentence names its fields")]
pub enum FrameError {
    /// A frame is longer than any datagram.
    #[error("a frame of {len} bytes is longer than any datagram")]
    TooLong { len: usize },
    /// A frame has the wrong length for its kind.
    #[error("a frame of kind {kind} cannot have these {len} bytes")]
    WrongLength { kind: u8, len: usize },
}

impl Frame {
    /// Appends the frame to `out`. Leaves out a frame that is too long for the other end, as a network would.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let (kind, contents) = match self {
            Self::Datagram(datagram) => (DATAGRAM, datagram.as_slice()),
            Self::Credit(bytes) => (CREDIT, &bytes.to_be_bytes()[..]),
            Self::Refused => (REFUSED, &[][..]),
            Self::Words(text) => (WORDS, text.as_bytes()),
        };
        let Some(len) = u16::try_from(contents.len()).ok().filter(|_| fits(contents.len())) else {
            return;
        };
        out.push(kind);
        out.extend(len.to_be_bytes());
        out.extend(contents);
    }
}

/// Returns whether a datagram of `len` bytes may be sent through a tunnel.
pub const fn fits(len: usize) -> bool {
    len <= DATAGRAM_LEN_MAX
}

/// Splits a stream of bytes into frames. It buffers less than one frame.
#[derive(Debug, Default)]
pub struct Decoder {
    partial: Vec<u8>,
}

impl Decoder {
    /// Consumes bytes from the front of `bytes`, up to the end of the next frame. `None` if the frame is not complete.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream is malformed. Its later frames cannot be read.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<Frame>, FrameError> {
        loop {
            self.fill(bytes, HEADER_LEN);
            let Some((&[kind, high, low], _)) = self.partial.split_first_chunk() else {
                return Ok(None);
            };
            let len = usize::from(u16::from_be_bytes([high, low]));
            if !fits(len) {
                return Err(FrameError::TooLong { len });
            }
            self.fill(bytes, HEADER_LEN + len);
            if self.partial.len() < HEADER_LEN + len {
                return Ok(None);
            }
            let contents = self.partial.split_off(HEADER_LEN);
            self.partial.clear();
            let wrong = FrameError::WrongLength { kind, len };
            return Ok(Some(match kind {
                DATAGRAM => Frame::Datagram(contents),
                CREDIT => {
                    Frame::Credit(u32::from_be_bytes(contents.try_into().map_err(|_| wrong)?))
                }
                REFUSED if contents.is_empty() => Frame::Refused,
                REFUSED => return Err(wrong),
                WORDS => Frame::Words(String::from_utf8(contents).map_err(|_| wrong)?),
                _ => continue,
            }));
        }
    }

    /// Moves bytes from the front of `bytes` to the buffer until the buffer has `len` bytes, or `bytes` is empty.
    fn fill(&mut self, bytes: &mut &[u8], len: usize) {
        let wanted = len.saturating_sub(self.partial.len()).min(bytes.len());
        let (taken, rest) = bytes.split_at(wanted);
        self.partial.extend(taken);
        *bytes = rest;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(decoder: &mut Decoder, mut bytes: &[u8]) -> Result<Vec<Frame>, FrameError> {
        let mut frames = Vec::new();
        while let Some(frame) = decoder.next(&mut bytes)? {
            frames.push(frame);
        }
        assert!(bytes.is_empty(), "all bytes are taken");
        Ok(frames)
    }

    fn frame() -> impl Strategy<Value = Frame> {
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..=40).prop_map(Frame::Datagram),
            any::<u32>().prop_map(Frame::Credit),
            Just(Frame::Refused),
            ".{0,20}".prop_map(Frame::Words),
        ]
    }

    proptest! {
        #[test]
        fn frames_come_out_as_they_went_in_however_the_stream_is_cut(
            frames in prop::collection::vec(frame(), 0..12),
            cut in 1_usize..50,
        ) {
            let mut bytes = Vec::new();
            frames.iter().for_each(|frame| frame.encode(&mut bytes));
            let mut decoder = Decoder::default();
            let mut found = Vec::new();
            for piece in bytes.chunks(cut) {
                found.extend(decode(&mut decoder, piece).unwrap());
            }
            prop_assert_eq!(found, frames);
        }

        #[test]
        fn no_bytes_at_all_make_it_hold_more_than_a_frame(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..20),
        ) {
            let mut decoder = Decoder::default();
            for piece in pieces {
                if decode_any(&mut decoder, &piece).is_err() {
                    break;
                }
                prop_assert!(decoder.partial.len() < HEADER_LEN + DATAGRAM_LEN_MAX);
            }
        }
    }

    fn decode_any(decoder: &mut Decoder, mut bytes: &[u8]) -> Result<(), FrameError> {
        while decoder.next(&mut bytes)?.is_some() {}
        Ok(())
    }

    #[test]
    fn a_frame_may_be_as_long_as_a_datagram_and_no_longer() {
        let mut bytes = Vec::new();
        Frame::Datagram(vec![7; DATAGRAM_LEN_MAX]).encode(&mut bytes);
        let frames = decode(&mut Decoder::default(), &bytes).unwrap();
        assert_eq!(frames, [Frame::Datagram(vec![7; DATAGRAM_LEN_MAX])]);

        let mut nothing = Vec::new();
        Frame::Datagram(vec![7; DATAGRAM_LEN_MAX + 1]).encode(&mut nothing);
        assert!(nothing.is_empty(), "it is dropped");
        let len = u16::try_from(DATAGRAM_LEN_MAX + 1).unwrap();
        let header = [&[DATAGRAM][..], &len.to_be_bytes()].concat();
        let error = decode(&mut Decoder::default(), &header).unwrap_err();
        assert_eq!(error, FrameError::TooLong { len: DATAGRAM_LEN_MAX + 1 });
    }

    #[test]
    fn a_frame_of_a_kind_to_come_is_passed_over_and_a_malformed_one_ends_the_stream() {
        let mut bytes = vec![9, 0, 2, 1, 1];
        Frame::Refused.encode(&mut bytes);
        assert_eq!(decode(&mut Decoder::default(), &bytes).unwrap(), [Frame::Refused]);
        for (kind, len) in [(CREDIT, 3), (CREDIT, 5), (REFUSED, 1)] {
            let bytes = [&[kind, 0, len][..], &vec![0; usize::from(len)]].concat();
            let error = decode(&mut Decoder::default(), &bytes).unwrap_err();
            assert_eq!(error, FrameError::WrongLength { kind, len: len.into() });
        }
    }
}
