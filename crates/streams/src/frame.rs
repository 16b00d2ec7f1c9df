//! The frames of a packet: encoding, and decoding within limits.
//!
//! A frame begins with its kind. All numbers are varints in their shortest form, so each frame has a single encoding.

use crate::id::StreamId;
use crate::varint::{len, put, take, unzigzag, zigzag};

/// Maximum number of ranges of packet numbers in an acknowledgment. Source: the wire contract, docs/wire.md.
pub(crate) const ACK_RANGES_MAX: usize = 64;

/// Maximum number of arrival times of packets in an acknowledgment. Source: the wire contract, docs/wire.md.
pub(crate) const ACK_TIMES_MAX: usize = 32;

/// Longest text of the frame that closes the stream layer, in bytes. Source: the wire contract, docs/wire.md.
pub(crate) const CLOSE_TEXT_MAX: usize = 128;

/// Maximum number of frames of a stream packet, without padding. Source: the wire contract, docs/wire.md.
const FRAMES_MAX: usize = 256;

const PAD: u64 = 0;
const PING: u64 = 1;
const ACK: u64 = 2;
const DATA: u64 = 3;
const CREDIT: u64 = 4;
const RESET: u64 = 5;
const STOP: u64 = 6;
const CLOSE: u64 = 7;

/// The flag of a data frame whose bytes end the stream.
const FLAG_END: u64 = 1;

/// The reason why bytes are not valid frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A number is cut short, too large or not in its shortest form.
    #[error("a frame holds a malformed number")]
    Number,
    /// A length reaches past the end of the packet, or a length or count exceeds its own limit.
    #[error("a frame holds a length past its limit")]
    Length,
    /// The frame's kind is unknown.
    #[error("frame kind {0} is unknown")]
    Kind(u64),
    /// A flag of a data frame is unknown.
    #[error("the flags {0} of a data frame are unknown")]
    Flags(u64),
    /// An acknowledgment's ranges are missing, empty, adjacent, reach below 0, or do not begin at its largest number.
    #[error("an acknowledgment contradicts itself")]
    Ack,
    /// The packet has too many frames.
    #[error("a packet holds more than {FRAMES_MAX} frames")]
    TooMany,
}

/// A part of a stream packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// Asks for an acknowledgment.
    Ping,
    /// Tells which packets have arrived.
    Ack(AckFrame),
    /// Carries bytes of a stream.
    Data {
        /// The number of the stream.
        id: StreamId,
        /// How many bytes of the stream precede these.
        offset: u64,
        /// Whether the stream ends with these bytes.
        is_end: bool,
        /// The stream's bytes from `offset` on.
        bytes: &'a [u8],
    },
    /// Permits the receiver of the frame to send more bytes of a stream.
    Credit {
        /// The number of the stream.
        id: StreamId,
        /// The stream's offset below which bytes may be sent.
        limit: u64,
    },
    /// Ends the stream's direction from the frame's sender at once, without its unsent bytes.
    Reset {
        /// The number of the stream.
        id: StreamId,
        /// The reason, as a code of the frame's sender.
        code: u64,
        /// How many bytes of the stream may have been sent before the reset.
        end: u64,
    },
    /// Asks the receiver of the frame to reset a stream that has no reader.
    Stop {
        /// The number of the stream.
        id: StreamId,
        /// The reason, as a code of the frame's sender.
        code: u64,
    },
    /// Closes the stream layer with all streams.
    Close {
        /// The reason, as a code of the frame's sender.
        code: u64,
        /// An explanation of at most 128 bytes, which need not be UTF-8.
        text: &'a [u8],
    },
}

/// The packets that have arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AckFrame {
    /// The highest packet number that arrived.
    pub largest: u64,
    /// How many microseconds after the arrival of packet `largest` the acknowledgment was sent.
    pub delay_micros: u64,
    /// Two counts for each range of arrived numbers, from the highest range downwards: the missing numbers above it,
    /// and its own numbers. The first range ends with `largest`, and no number is missing above it.
    pub ranges: Vec<(u64, u64)>,
    /// Microseconds between the arrivals of neighbouring packets, the two highest numbers first. A value is negative if
    /// the packet with the lower number arrived later.
    pub differences_micros: Vec<i64>,
}

impl Frame<'_> {
    /// Returns whether the receiver of the frame must acknowledge the packet that carries it.
    pub const fn asks_for_ack(&self) -> bool {
        !matches!(self, Self::Ack(_) | Self::Close { .. })
    }

    /// Appends the frame to a packet.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Ping => put(out, PING),
            Self::Ack(ack) => ack.encode(out),
            Self::Data { id, offset, is_end, bytes } => {
                put_all(out, [DATA, id.get(), *offset, if *is_end { FLAG_END } else { 0 }]);
                put_bytes(out, bytes);
            }
            Self::Credit { id, limit } => put_all(out, [CREDIT, id.get(), *limit]),
            Self::Reset { id, code, end } => put_all(out, [RESET, id.get(), *code, *end]),
            Self::Stop { id, code } => put_all(out, [STOP, id.get(), *code]),
            Self::Close { code, text } => {
                put_all(out, [CLOSE, *code]);
                put_bytes(out, text);
            }
        }
    }
}

impl AckFrame {
    /// Returns the first and last number of each range, highest first. `None` if a range is empty or reaches below 0.
    pub fn numbers(&self) -> Option<Vec<(u64, u64)>> {
        let mut top = self.largest;
        let mut found = Vec::with_capacity(self.ranges.len());
        for (index, &(gap, count)) in self.ranges.iter().enumerate() {
            if index > 0 {
                top = top.checked_sub(gap)?;
            }
            let low = top.checked_sub(count.checked_sub(1)?)?;
            found.push((low, top));
            top = low.wrapping_sub(1);
            if low == 0 && index + 1 < self.ranges.len() {
                return None;
            }
        }
        Some(found)
    }

    /// Returns the length of the encoded frame, in bytes.
    pub(crate) fn len(&self) -> usize {
        let mut encoded = Vec::new();
        self.encode(&mut encoded);
        encoded.len()
    }

    fn encode(&self, out: &mut Vec<u8>) {
        debug_assert!(self.ranges.len() <= ACK_RANGES_MAX);
        debug_assert!(self.differences_micros.len() <= ACK_TIMES_MAX);
        put_all(out, [ACK, self.largest, self.delay_micros, self.ranges.len() as u64]);
        self.ranges.iter().for_each(|&(gap, count)| put_all(out, [gap, count]));
        put(out, self.differences_micros.len() as u64);
        self.differences_micros.iter().for_each(|it| put(out, zigzag(*it)));
    }

    fn decode(bytes: &mut &[u8]) -> Result<Self, FrameError> {
        let (largest, delay_micros) = (number(bytes)?, number(bytes)?);
        let count = count_of(bytes, ACK_RANGES_MAX)?;
        let ranges: Result<Vec<_>, _> =
            (0..count).map(|_| Ok((number(bytes)?, number(bytes)?))).collect();
        let ranges = ranges?;
        let count = count_of(bytes, ACK_TIMES_MAX)?;
        let differences: Result<Vec<_>, _> =
            (0..count).map(|_| number(bytes).map(unzigzag)).collect();
        let has_gaps = ranges.iter().skip(1).all(|(gap, _)| *gap > 0);
        let begins = ranges.first().is_some_and(|(gap, _)| *gap == 0);
        let ack = Self { largest, delay_micros, ranges, differences_micros: differences? };
        if begins && has_gaps && ack.numbers().is_some() { Ok(ack) } else { Err(FrameError::Ack) }
    }
}

/// Returns the maximum number of bytes that a data frame adds to at most `bytes` bytes of the stream.
pub(crate) const fn data_overhead(id: StreamId, offset: u64, bytes: usize) -> usize {
    2 + len(id.get()) + len(offset) + len(bytes as u64)
}

/// Iterates over the frames of a packet, except padding. The iteration ends after the first error.
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    rest: &'a [u8],
    left: usize,
}

impl<'a> Frames<'a> {
    /// Iterates over the frames in `bytes`.
    pub const fn of(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, left: FRAMES_MAX }
    }

    fn frame(&mut self) -> Result<Frame<'a>, FrameError> {
        self.left = self.left.checked_sub(1).ok_or(FrameError::TooMany)?;
        let rest = &mut self.rest;
        match number(rest)? {
            PING => Ok(Frame::Ping),
            ACK => AckFrame::decode(rest).map(Frame::Ack),
            DATA => data(rest),
            CREDIT => Ok(Frame::Credit { id: stream(rest)?, limit: number(rest)? }),
            RESET => {
                Ok(Frame::Reset { id: stream(rest)?, code: number(rest)?, end: number(rest)? })
            }
            STOP => Ok(Frame::Stop { id: stream(rest)?, code: number(rest)? }),
            CLOSE => Ok(Frame::Close { code: number(rest)?, text: slice(rest, CLOSE_TEXT_MAX)? }),
            kind => Err(FrameError::Kind(kind)),
        }
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>, FrameError>;

    fn next(&mut self) -> Option<Self::Item> {
        let padding = self.rest.iter().take_while(|byte| u64::from(**byte) == PAD).count();
        self.rest = self.rest.get(padding..).unwrap_or_default();
        if self.rest.is_empty() {
            return None;
        }
        let frame = self.frame();
        if frame.is_err() {
            self.rest = &[];
        }
        Some(frame)
    }
}

fn data<'a>(bytes: &mut &'a [u8]) -> Result<Frame<'a>, FrameError> {
    let (id, offset, flags) = (stream(bytes)?, number(bytes)?, number(bytes)?);
    if flags & !FLAG_END != 0 {
        return Err(FrameError::Flags(flags));
    }
    Ok(Frame::Data { id, offset, is_end: flags == FLAG_END, bytes: slice(bytes, usize::MAX)? })
}

fn number(bytes: &mut &[u8]) -> Result<u64, FrameError> {
    take(bytes).ok_or(FrameError::Number)
}

fn stream(bytes: &mut &[u8]) -> Result<StreamId, FrameError> {
    number(bytes).map(StreamId::new)
}

fn count_of(bytes: &mut &[u8], max: usize) -> Result<usize, FrameError> {
    let count = usize::try_from(number(bytes)?).map_err(|_| FrameError::Length)?;
    if count <= max { Ok(count) } else { Err(FrameError::Length) }
}

fn slice<'a>(bytes: &mut &'a [u8], max: usize) -> Result<&'a [u8], FrameError> {
    let len = count_of(bytes, max)?;
    let (taken, rest) = bytes.split_at_checked(len).ok_or(FrameError::Length)?;
    *bytes = rest;
    Ok(taken)
}

fn put_all<const N: usize>(out: &mut Vec<u8>, values: [u64; N]) {
    values.into_iter().for_each(|it| put(out, it));
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests;
