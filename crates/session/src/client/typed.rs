//! The keys of a client that a rove server may not have taken, and how the next client sends them.
//!
//! Positions count the bytes of keys, over all clients that have continued each other's keys without a gap. A record
//! holds the keys from the first unacknowledged one on, without possible secrets. The server tells the next client how
//! many keys it has taken. That client first sends the keys that the server lacks, up to the first possible secret.

use std::collections::VecDeque;

use super::record::{Record, ResumeError, VERSION, damaged, error, field};
use crate::former::{ClientId, Former};
use crate::message::{
    Fields, Value, bytes_field, number, put_bytes_field, put_varint_field, string,
};

/// Maximum growth of a record of typed keys, in bytes, before it is written again without the keys that have arrived. A
/// longer record may grow by its own length. Chosen: a page of memory.
const APPENDED_MAX: usize = 4096;

/// Maximum number of typed keys in a client's record. Chosen: twice as many as a client keeps unacknowledged.
const KEYS_MAX: usize = 2 * 1024 * 1024;

/// The typed keys that the server has not acknowledged, and how many of them the record contains.
#[derive(Debug, Default)]
pub(super) struct TypedKeys {
    /// The position of the first held key.
    start: u64,
    /// The held keys, with `None` in place of a key that may be a secret.
    keys: VecDeque<Option<u8>>,
    /// For each group of keys that were sent together, its end as a position in the user stream and among the keys.
    runs: VecDeque<(u64, u64)>,
    /// Keys up to this position are in the record.
    written_to: u64,
    /// The position up to which keys have arrived, as the written record says.
    arrived_written: u64,
    /// Whether there is a record.
    pub(super) is_begun: bool,
    /// Length of the last whole record, and (`appended_len`) of all that was appended to it since, in bytes.
    whole_len: usize,
    appended_len: usize,
}

impl TypedKeys {
    /// Creates the state of a client that continues another client's keys at this position.
    pub(super) fn begin_at(position: u64) -> Self {
        Self { start: position, written_to: position, ..Self::default() }
    }

    fn end(&self) -> u64 {
        self.start + u64::try_from(self.keys.len()).expect("a length fits 64 bits")
    }

    /// Adds keys that were sent. The user stream then ends at `stream_end`.
    pub(super) fn push(&mut self, keys: &[u8], may_be_secret: bool, stream_end: u64) {
        self.keys.extend(keys.iter().map(|key| (!may_be_secret).then_some(*key)));
        self.runs.push_back((stream_end, self.end()));
    }

    /// Drops the keys that the server has acknowledged, up to the position `stream_known` in the user stream.
    pub(super) fn acknowledge(&mut self, stream_known: u64) {
        while let Some(&(stream_end, end)) = self.runs.front() {
            // Keys that were sent together follow each other directly in the stream.
            let known = end.saturating_sub(stream_end.saturating_sub(stream_known)).max(self.start);
            self.keys.drain(..count(known - self.start));
            self.start = known;
            if stream_end > stream_known {
                break;
            }
            self.runs.pop_front();
        }
        debug_assert!(self.runs.back().is_none_or(|(_, end)| *end == self.end()));
    }

    /// Returns whether the driver has to write a record before the next datagram.
    pub(super) fn is_owed(&self) -> bool {
        let all_arrived = self.keys.is_empty() && self.arrived_written < self.start;
        !self.is_begun || all_arrived || self.written_to < self.end()
    }

    /// Returns the bytes to append to the record, or a whole record: at first, and after many appended bytes.
    pub(super) fn record(&mut self) -> Record {
        let is_whole = !self.is_begun || self.appended_len >= APPENDED_MAX.max(self.whole_len);
        let mut out = Vec::new();
        if is_whole {
            put_varint_field(&mut out, field::VERSION, VERSION);
            (self.is_begun, self.written_to) = (true, self.start);
        }
        self.written_to = self.written_to.max(self.start);
        put_varint_field(&mut out, field::ARRIVED, self.start);
        self.arrived_written = self.start;
        let mut at = self.written_to;
        let rest = self.keys.range(count(self.written_to - self.start)..).copied();
        for run in rest.collect::<Vec<_>>().chunk_by(|one, next| one.is_some() == next.is_some()) {
            put_run(&mut out, at, run);
            at += u64::try_from(run.len()).expect("a length fits 64 bits");
        }
        self.written_to = at;
        match is_whole {
            true => (self.whole_len, self.appended_len) = (out.len(), 0),
            false => self.appended_len += out.len(),
        }
        debug_assert!(!self.is_owed(), "all is written");
        Record { bytes: out, is_whole }
    }
}

fn put_run(out: &mut Vec<u8>, position: u64, run: &[Option<u8>]) {
    let keys: Vec<u8> = run.iter().flatten().copied().collect();
    let mut body = if keys.is_empty() { Vec::new() } else { bytes_field(field::BYTES, &keys) };
    put_varint_field(&mut body, field::NUM, position);
    put_varint_field(&mut body, field::COUNT, u64::try_from(run.len()).expect("it fits 64 bits"));
    put_bytes_field(out, field::TYPED, &body);
}

/// The keys in the record of a client whose process is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftKeys {
    start: u64,
    keys: VecDeque<Option<u8>>,
}

impl LeftKeys {
    /// Reads a record.
    ///
    /// # Errors
    ///
    /// Returns an error if the record is damaged, or of another version.
    pub fn read(records: &[u8]) -> Result<Self, ResumeError> {
        let mut left = Self::default();
        let mut has_version = false;
        for entry in Fields::of_message(records) {
            match entry.map_err(error)? {
                (field::VERSION, Value::Varint(VERSION)) => has_version = true,
                (field::ARRIVED, Value::Varint(start)) => left.drop_to(start),
                (field::TYPED, Value::Bytes(body)) => left.extend(body)?,
                _ => return Err(damaged("an entry")),
            }
            if !has_version {
                return Err(damaged("its version"));
            }
        }
        Ok(left)
    }

    fn drop_to(&mut self, start: u64) {
        let dropped = usize::try_from(start.saturating_sub(self.start)).unwrap_or(usize::MAX);
        self.keys.drain(..dropped.min(self.keys.len()));
        self.start = start.max(self.start);
    }

    fn extend(&mut self, body: &[u8]) -> Result<(), ResumeError> {
        let get = |wanted| number(body, wanted).map_err(error);
        let keys = string(body, field::BYTES).map_err(error)?;
        let len = usize::try_from(get(field::COUNT)?).unwrap_or(usize::MAX);
        let is_whole = keys.is_empty() || keys.len() == len;
        if get(field::NUM)? != self.end() || !is_whole || len > KEYS_MAX - self.keys.len() {
            return Err(damaged("the position of keys"));
        }
        self.keys.extend((0..len).map(|index| keys.get(index).copied()));
        Ok(())
    }

    fn end(&self) -> u64 {
        self.start + u64::try_from(self.keys.len()).expect("a length fits 64 bits")
    }

    /// Returns the data about this record's client that the next client sends to the server.
    pub fn former(&self, client: ClientId) -> Former {
        let hidden = self.keys.iter().rposition(Option::is_none);
        let whole_from =
            hidden.map_or(0, |index| self.start + 1 + u64::try_from(index).expect("it fits"));
        Former { client, whole_from }
    }

    /// Returns the keys after the first `taken`, up to the first possible secret. All keys are missing if `taken` lies
    /// before the record's first key. They are missing, too, if the server does not know how many it has: `taken` is
    /// `None` or after the last key.
    pub fn after(&self, taken: Option<u64>) -> NextKeys {
        let taken = taken.filter(|taken| *taken <= self.end());
        let Some(index) = taken.and_then(|taken| taken.checked_sub(self.start)) else {
            let missing = self.keys.len();
            return NextKeys { missing, is_known: taken.is_some(), ..NextKeys::default() };
        };
        let rest = self.keys.range(count(index)..);
        let keys: Vec<u8> = rest.clone().map_while(|key| *key).collect();
        let missing = rest.len() - keys.len();
        // After a loss of keys, the server counts the new client's keys from 0.
        let position = taken.filter(|_| missing == 0).unwrap_or(0);
        NextKeys { position, keys, missing, is_known: true }
    }
}

/// The keys that a resumed client sends on behalf of the former client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NextKeys {
    /// The position of the first of the keys; 0 if any are missing.
    pub(super) position: u64,
    pub(super) keys: Vec<u8>,
    /// How many further keys the server may not have taken. The client does not send them, because the first may be a
    /// secret, or the server's count does not fit the record.
    missing: usize,
    /// Whether the server knows how many keys it has taken.
    is_known: bool,
}

impl NextKeys {
    /// Returns whether no key is missing, so that this client continues under the former client's name.
    pub const fn go_on(&self) -> bool {
        self.is_known && self.missing == 0
    }

    /// Returns a sentence for the user about keys that are lost. `None` if no key is lost.
    pub fn sentence(&self) -> Option<String> {
        let keys = match self.missing {
            0 => return None,
            1 => "The last key".to_owned(),
            count => format!("The last {count} keys"),
        };
        Some(match (self.is_known, self.missing) {
            (true, 1) => format!("{keys} was lost: it may be secret."),
            (true, _) => format!("{keys} were lost: they may be secret."),
            (false, _) => format!("{keys} may be lost: look at the screen."),
        })
    }
}

/// Converts a number of keys in memory to an index.
fn count(keys: u64) -> usize {
    usize::try_from(keys).expect("keys in memory are fewer than addresses")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the due record to `file` as the driver does: a whole record replaces the file, any other is appended.
    fn write(file: &mut Vec<u8>, typed: &mut TypedKeys) {
        let Record { bytes, is_whole } = typed.record();
        if is_whole {
            file.clear();
        }
        file.extend(bytes);
    }

    #[test]
    fn the_keys_after_those_that_were_taken_go_on_and_none_behind_a_secret() {
        let mut typed = TypedKeys::begin_at(10);
        let mut file = Vec::new();
        write(&mut file, &mut typed);
        for (keys, may_be_secret, stream_end) in
            [(&b"abc"[..], false, 4), (b"de", false, 6), (b"secret", true, 13), (b"fg", false, 15)]
        {
            typed.push(keys, may_be_secret, stream_end);
            assert!(typed.is_owed());
            write(&mut file, &mut typed);
        }
        assert!(!file.windows(6).any(|window| window == b"secret"));
        // The user stream also contains the window's size, between two groups of keys.
        typed.acknowledge(5);
        assert_eq!(typed.start, 14);
        write(&mut file, &mut typed);
        let left = LeftKeys::read(&file).unwrap();
        assert_eq!(left.start, 14);
        assert_eq!(left.former(ClientId::of(&rove_ssp::Key::from_bytes([1; 16]))).whole_from, 21);
        for (taken, position, keys, missing) in [
            (Some(14), 0, &b"e"[..], 8),
            (Some(15), 0, b"", 8),
            (Some(20), 0, b"", 3),
            (Some(21), 21, b"fg", 0),
            (Some(22), 22, b"g", 0),
            (Some(23), 23, b"", 0),
            (Some(24), 0, b"", 9),
            (Some(u64::MAX), 0, b"", 9),
            (Some(3), 0, b"", 9),
            (None, 0, b"", 9),
        ] {
            let next = left.after(taken);
            assert_eq!((next.position, &next.keys[..], next.missing), (position, keys, missing));
            assert_eq!(next.go_on(), taken.is_some() && missing == 0);
            assert_eq!(next.sentence().is_some(), missing > 0);
        }
    }

    #[test]
    fn a_record_stays_short_and_is_read_as_it_was_written() {
        let (mut typed, mut file, mut wholes) = (TypedKeys::default(), Vec::new(), 0);
        for number in 0..20_000_u64 {
            typed.push(b"x", false, number + 1);
            let Record { bytes, is_whole } = typed.record();
            wholes += u32::from(is_whole);
            if is_whole {
                file.clear();
            }
            file.extend(bytes);
            typed.acknowledge(number.saturating_sub(50));
            assert!(file.len() < APPENDED_MAX + 128, "{} bytes", file.len());
        }
        assert!((2..200).contains(&wholes), "{wholes}");
        assert_eq!(LeftKeys::read(&file).unwrap().end(), 20_000);
    }

    #[test]
    fn a_damaged_record_is_refused() {
        let mut typed = TypedKeys::default();
        typed.push(b"abc", false, 3);
        let good = typed.record().bytes;
        assert!(LeftKeys::read(&good).is_ok());
        assert_eq!(LeftKeys::read(&[]), Ok(LeftKeys::default()));
        for len in 1..good.len() {
            let _ = LeftKeys::read(&good[..len]);
        }
        assert!(LeftKeys::read(&good[2..]).is_err(), "no version");
        assert!(LeftKeys::read(&[&good[..], &good].concat()).is_err(), "the same position twice");
        let mut huge = Vec::new();
        put_varint_field(&mut huge, field::NUM, 3);
        put_varint_field(&mut huge, field::COUNT, u64::MAX);
        let huge = [&good[..], &bytes_field(field::TYPED, &huge)].concat();
        assert!(LeftKeys::read(&huge).is_err(), "too many keys");
    }
}
