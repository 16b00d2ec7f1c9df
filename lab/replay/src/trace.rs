//! Recorded terminal sessions ("key traces"): what a user typed and what the host's terminal wrote, with times.
//!
//! A trace is JSON lines, described in `docs/lab.md`. [`Trace::read`] reads a trace. [`TraceWriter`] writes a trace
//! record by record. Other modules play traces.

use std::io::{self, BufRead, Read, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rove_runs::statistics::whole;
use rove_terminal::Size;
use rove_units::Instant;
use serde::{Deserialize, Serialize};

/// Longest line of a trace, in bytes. Chosen: a pty hands over at most some thousand bytes at once.
pub const LINE_BYTES_MAX: usize = 1 << 20;
/// Largest trace that is read, in bytes. Chosen: a day of busy work, and memory that any computer has.
pub const TRACE_BYTES_MAX: u64 = 128 << 20;
/// Latest time of a record, in seconds. Chosen: a year; a later time is a mistake.
const LATEST_SECONDS: f64 = 366.0 * 86_400.0;

/// A recorded session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The terminal's size at the start.
    pub size: Size,
    /// The events after the start, in order of time.
    pub records: Vec<Record>,
}

/// Something that happened in a recorded session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// When the event happened, from the start of the recording.
    pub at: Instant,
    /// The event.
    pub event: Event,
}

/// An event of a recorded session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The window got another size.
    Size(Size),
    /// The user's terminal sent these bytes: normally one key.
    User(Vec<u8>),
    /// The host's terminal wrote these bytes, after output processing.
    Host(Vec<u8>),
    /// The host's terminal changed its settings for keys, such as the echo.
    Tty(TtyModes),
}

/// The settings of the host's terminal for keys. A trace without such an event does not state them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TtyModes {
    /// Whether the terminal echoes keys (ECHO).
    pub echo: bool,
    /// Whether the terminal gathers lines and lets the user edit them (ICANON).
    pub icanon: bool,
    /// Whether a shell waits at its own prompt and has read all keys so far. The shell is the recorded program, or was
    /// started by it. The next key ends this.
    pub prompt: bool,
}

/// The fault of a trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The input could not be read.
    #[error("cannot read the trace: {0}")]
    Read(#[from] io::Error),
    /// The trace is larger than [`TRACE_BYTES_MAX`].
    #[error("the trace is longer than {TRACE_BYTES_MAX} bytes")]
    TooLong,
    /// A line is longer than [`LINE_BYTES_MAX`].
    #[error("line {line} of the trace is longer than {LINE_BYTES_MAX} bytes")]
    LineTooLong {
        /// The number of the line, from 1.
        line: usize,
    },
    /// A line is no record.
    #[error("line {line} of the trace is no record: {reason}")]
    NoRecord {
        /// The number of the line, from 1.
        line: usize,
        /// The fault of the line.
        reason: String,
    },
    /// The trace has no size of the terminal, or another record comes before it.
    #[error("a trace begins with the terminal's size, and this one does not")]
    NoSize,
}

/// A line as it is written.
#[derive(Deserialize, Serialize)]
struct Line {
    /// When the record happened, in seconds from the start.
    t: f64,
    #[serde(flatten)]
    body: Body,
}

#[derive(Deserialize, Serialize)]
#[serde(tag = "dir", rename_all = "lowercase")]
enum Body {
    Size {
        cols: i64,
        rows: i64,
    },
    User {
        data: String,
    },
    Host {
        data: String,
    },
    Tty {
        echo: bool,
        icanon: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        prompt: bool,
    },
    /// A kind of record that only a later version knows.
    #[serde(other)]
    Unknown,
}

impl Trace {
    /// Reads a trace to its end. Omits empty lines, and records of kinds that this version does not know.
    ///
    /// # Errors
    ///
    /// Returns the first fault of the trace, with the number of its line.
    pub fn read(input: impl BufRead) -> Result<Self, TraceError> {
        let mut input = input.take(TRACE_BYTES_MAX + 1);
        let mut size = None;
        let mut records: Vec<Record> = Vec::new();
        let mut text = Vec::new();
        for line in 1.. {
            text.clear();
            let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX) + 1;
            if (&mut input).take(limit).read_until(b'\n', &mut text)? == 0 {
                break;
            }
            if input.limit() == 0 {
                return Err(TraceError::TooLong);
            }
            if text.len() > LINE_BYTES_MAX {
                return Err(TraceError::LineTooLong { line });
            }
            if text.trim_ascii().is_empty() {
                continue;
            }
            let record = record(&text).map_err(|reason| TraceError::NoRecord { line, reason })?;
            let Some(record) = record else { continue };
            match (size, record.event) {
                (None, Event::Size(first)) => size = Some(first),
                (None, _) => return Err(TraceError::NoSize),
                (Some(_), event) => {
                    let at = record.at;
                    if records.last().is_some_and(|last| last.at > at) {
                        let reason = "its time is before that of the line above".to_owned();
                        return Err(TraceError::NoRecord { line, reason });
                    }
                    records.push(Record { at, event });
                }
            }
        }
        Ok(Self { size: size.ok_or(TraceError::NoSize)?, records })
    }
}

/// Reads a line of a trace. `None` for a kind of record that this version does not know.
fn record(text: &[u8]) -> Result<Option<Record>, String> {
    let line: Line = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if !(0.0..=LATEST_SECONDS).contains(&line.t) {
        return Err(format!("{} is no time from 0 to {LATEST_SECONDS} seconds", line.t));
    }
    let bytes =
        |data: String| STANDARD.decode(data).map_err(|error| format!("data is no base64: {error}"));
    let event = match line.body {
        Body::Size { cols, rows } => {
            Event::Size(Size::new(cols, rows).map_err(|error| error.to_string())?)
        }
        Body::User { data } => Event::User(bytes(data)?),
        Body::Host { data } => Event::Host(bytes(data)?),
        Body::Tty { echo, icanon, prompt } => Event::Tty(TtyModes { echo, icanon, prompt }),
        Body::Unknown => return Ok(None),
    };
    Ok(Some(Record { at: instant(line.t), event }))
}

/// Returns the instant `seconds` after the start, to the microsecond that traces are written in.
fn instant(seconds: f64) -> Instant {
    Instant::from_nanos(whole(seconds * 1e6) * 1_000)
}

/// Returns the seconds of `instant`, to the microsecond.
#[expect(clippy::cast_precision_loss, reason = "exact up to 285 years")]
fn seconds(instant: Instant) -> f64 {
    (instant.as_nanos() / 1_000) as f64 / 1e6
}

/// Writes a trace, record by record.
#[derive(Debug)]
pub struct TraceWriter<W> {
    output: W,
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace of a terminal that has this size at first.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of `output`.
    pub fn new(output: W, size: Size) -> io::Result<Self> {
        let mut writer = Self { output };
        writer.write(&Record { at: Instant::ZERO, event: Event::Size(size) })?;
        Ok(writer)
    }

    /// Writes the next record.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of the output.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        let body = match &record.event {
            Event::Size(size) => {
                Body::Size { cols: size.columns().into(), rows: size.rows().into() }
            }
            Event::User(bytes) => Body::User { data: STANDARD.encode(bytes) },
            Event::Host(bytes) => Body::Host { data: STANDARD.encode(bytes) },
            &Event::Tty(TtyModes { echo, icanon, prompt }) => Body::Tty { echo, icanon, prompt },
        };
        serde_json::to_writer(&mut self.output, &Line { t: seconds(record.at), body })?;
        self.output.write_all(b"\n")
    }

    /// Flushes the output, and returns it.
    ///
    /// # Errors
    ///
    /// Returns the I/O error of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }
}

#[cfg(test)]
mod tests;
