//! Removes terminal queries from a recording, and the terminal's answers to them.
//!
//! The recording's terminal has answered already. In a replay another terminal would answer once more, and
//! the server end would take the answers for keys.

use core::ops::Range;

use crate::trace::{Event, Record};

/// Longest control sequence that can be a query or an answer, in bytes. Chosen: four times the longest answer seen.
const SEQUENCE_BYTES_MAX: usize = 4096;

/// The subject of a query and of its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// The terminal's attributes: DA1, DA2, DA3.
    Attributes,
    /// The terminal's status (DSR), or the position of the cursor.
    Status,
    /// The state of a mode (DECRQM).
    Mode,
    /// A colour or other value: OSC 4, 10 to 19 and others with a `?`.
    Osc,
    /// The terminal's name and version (XTVERSION).
    Version,
    /// A termcap capability (XTGETTCAP).
    Capability,
    /// A setting, such as the cursor's style (DECRQSS).
    Setting,
    /// The flags of kitty's keyboard protocol, and XTQMODKEYS.
    Keyboard,
    /// Sizes and places of the window.
    Window,
    /// The terminal's parameters (DECREQTPARM).
    Parameters,
}

/// A complete control sequence or control string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sequence<'a> {
    /// The bytes between `ESC [` and the final byte, and the final byte.
    Csi(&'a [u8], u8),
    /// The content of an operating system command.
    Osc(&'a [u8]),
    /// The content of a device control string.
    Dcs(&'a [u8]),
}

/// Removes all queries from the host's output. From the input of the user's terminal it removes as many answers of the
/// same kind. Records that become empty are left out.
pub(super) fn strip(records: Vec<Record>) -> Vec<Record> {
    let host = Direction::of(&records, |event| match event {
        Event::Host(bytes) => Some(bytes),
        _ => None,
    });
    let user = Direction::of(&records, |event| match event {
        Event::User(bytes) => Some(bytes),
        _ => None,
    });
    let questions = host.find(question);
    let mut open = questions.clone();
    let mut answers = user.find(answer);
    answers.retain(|answer| {
        // A key may look like an answer. It is an answer only if a query came before it.
        let question = open.iter().position(|open| open.2 == answer.2 && open.0 < answer.0);
        question.map(|at| open.remove(at)).is_some()
    });
    let mut records = records;
    host.cut(&questions, &mut records);
    user.cut(&answers, &mut records);
    records.retain(
        |record| !matches!(&record.event, Event::Host(bytes) | Event::User(bytes) if bytes.is_empty()),
    );
    records
}

/// A sequence that was found: its last record, its place among the bytes of its direction, and its kind.
type Found = (usize, Range<usize>, Kind);

/// All bytes of one direction in a row, because records may cut a sequence anywhere.
struct Direction {
    bytes: Vec<u8>,
    /// Where in `bytes` each record begins, with the record's number.
    starts: Vec<(usize, usize)>,
}

impl Direction {
    fn of(records: &[Record], bytes_of: impl Fn(&Event) -> Option<&Vec<u8>>) -> Self {
        let (mut bytes, mut starts) = (Vec::new(), Vec::new());
        for (number, record) in records.iter().enumerate() {
            if let Some(data) = bytes_of(&record.event) {
                starts.push((bytes.len(), number));
                bytes.extend_from_slice(data);
            }
        }
        Self { bytes, starts }
    }

    fn find(&self, kind: impl Fn(Sequence<'_>) -> Option<Kind>) -> Vec<Found> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(escape) = self.bytes[at..].iter().position(|byte| *byte == 0x1b) {
            let start = at + escape;
            let window = &self.bytes[start..self.bytes.len().min(start + SEQUENCE_BYTES_MAX)];
            let Some((sequence, len)) = sequence(window) else {
                at = start + 1;
                continue;
            };
            at = start + len;
            if let Some(kind) = kind(sequence) {
                found.push((self.record_at(at - 1), start..at, kind));
            }
        }
        found
    }

    /// Returns the number of the record with the byte `at`.
    fn record_at(&self, at: usize) -> usize {
        let behind = self.starts.partition_point(|(start, _)| *start <= at);
        self.starts[behind - 1].1
    }

    /// Removes the found sequences from the records.
    fn cut(&self, found: &[Found], records: &mut [Record]) {
        let mut ends = self.starts.iter().skip(1).map(|(start, _)| *start);
        let mut found = found.iter().map(|found| found.1.clone()).peekable();
        let mut removed_to = 0;
        for &(start, number) in &self.starts {
            let end = ends.next().unwrap_or(self.bytes.len());
            let (Event::Host(data) | Event::User(data)) = &mut records[number].event else {
                continue;
            };
            let mut kept = Vec::with_capacity(data.len());
            // The sequence may begin in an earlier record.
            let mut at = start.max(removed_to).min(end);
            while let Some(cut) = found.next_if(|cut| cut.start < end) {
                kept.extend_from_slice(&self.bytes[at..cut.start]);
                removed_to = cut.end;
                at = removed_to.min(end);
            }
            kept.extend_from_slice(&self.bytes[at..end]);
            *data = kept;
        }
    }
}

/// Reads the sequence at the beginning of `bytes`. Returns it and its length, or `None` if no complete one is there.
fn sequence(bytes: &[u8]) -> Option<(Sequence<'_>, usize)> {
    let body = bytes.get(2..)?;
    match bytes[1] {
        b'[' => {
            let len = body.iter().position(|byte| !(0x20..=0x3f).contains(byte))?;
            let last = body[len];
            (0x40..=0x7e).contains(&last).then(|| (Sequence::Csi(&body[..len], last), len + 3))
        }
        kind @ (b']' | b'P') => {
            let len = body.iter().position(|byte| matches!(byte, 0x07 | 0x1b))?;
            let terminator = match body[len..] {
                [0x07, ..] => 1,
                [0x1b, b'\\', ..] => 2,
                _ => return None,
            };
            let text = &body[..len];
            let sequence = if kind == b']' { Sequence::Osc(text) } else { Sequence::Dcs(text) };
            Some((sequence, 2 + len + terminator))
        }
        _ => None,
    }
}

/// Returns what a sequence of the host asks the terminal for.
fn question(sequence: Sequence<'_>) -> Option<Kind> {
    Some(match sequence {
        Sequence::Csi(body, b'c') if !body.starts_with(b"?") => Kind::Attributes,
        Sequence::Csi(body, b'n') if !body.starts_with(b">") => Kind::Status,
        Sequence::Csi(body, b'p') if body.ends_with(b"$") => Kind::Mode,
        Sequence::Csi(body, b'q') if body.starts_with(b">") => Kind::Version,
        Sequence::Csi(b"?", b'u') => Kind::Keyboard,
        Sequence::Csi([b'?', b'0'..=b'9', ..], b'm') => Kind::Keyboard,
        Sequence::Csi(b"" | b"0" | b"1", b'x') => Kind::Parameters,
        Sequence::Csi(
            b"11" | b"13" | b"14" | b"15" | b"16" | b"18" | b"19" | b"20" | b"21",
            b't',
        )
        | Sequence::Csi(b"13;2" | b"14;2" | b"15;2", b't') => Kind::Window,
        Sequence::Osc(body) if body.split(|byte| *byte == b';').any(|word| word == b"?") => {
            Kind::Osc
        }
        Sequence::Dcs(body) if body.starts_with(b"+q") => Kind::Capability,
        Sequence::Dcs(body) if body.starts_with(b"$q") => Kind::Setting,
        _ => return None,
    })
}

/// Returns what a sequence of the user's terminal answers, if it is no key.
fn answer(sequence: Sequence<'_>) -> Option<Kind> {
    Some(match sequence {
        Sequence::Csi(_, b'c') => Kind::Attributes,
        Sequence::Csi(body, b'R' | b'n') if !body.is_empty() => Kind::Status,
        Sequence::Csi(body, b'y') if body.ends_with(b"$") => Kind::Mode,
        Sequence::Csi(body, b'u') if body.starts_with(b"?") => Kind::Keyboard,
        Sequence::Csi(body, b'm') if body.starts_with(b">") => Kind::Keyboard,
        Sequence::Csi(body, b'x') if body.contains(&b';') => Kind::Parameters,
        Sequence::Csi(body, b't') if body.contains(&b';') => Kind::Window,
        Sequence::Osc(b"l" | b"L", ..) => Kind::Window,
        Sequence::Osc(_) => Kind::Osc,
        Sequence::Dcs(body) if body.starts_with(b">|") => Kind::Version,
        Sequence::Dcs(body) if body.starts_with(b"!|") => Kind::Attributes,
        Sequence::Dcs([b'0' | b'1', b'+', b'r', ..]) => Kind::Capability,
        Sequence::Dcs([b'0' | b'1', b'$', b'r', ..]) => Kind::Setting,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use rove_units::Instant;

    use super::*;

    fn host(bytes: &[u8]) -> Record {
        Record { at: Instant::ZERO, event: Event::Host(bytes.to_vec()) }
    }

    fn user(bytes: &[u8]) -> Record {
        Record { at: Instant::ZERO, event: Event::User(bytes.to_vec()) }
    }

    #[test]
    fn queries_go_and_what_only_looks_like_one_stays() {
        for (bytes, kept) in [
            (&b"a\x1b[cb"[..], &b"ab"[..]),
            (b"\x1b[>0c\x1b[>c\x1b[=c\x1b[6n\x1b[?6n\x1b[5n", b""),
            (b"\x1b[?2026$p\x1b[>q\x1b[?u\x1b[?4m\x1b[18t\x1b[x", b""),
            (b"\x1b]10;?\x07\x1b]4;1;?\x1b\\\x1bP+q544e\x1b\\\x1bP$qm\x1b\\", b""),
            (b"\x1b[?1c\x1b[>4n\x1b[2 q\x1b[22;0;0t", b"\x1b[?1c\x1b[>4n\x1b[2 q\x1b[22;0;0t"),
            (b"\x1b]2;why?\x07\x1b]10;red\x07", b"\x1b]2;why?\x07\x1b]10;red\x07"),
            (b"\x1b[6\x1b[6n", b"\x1b[6"),
            (b"\x1b]10;?", b"\x1b]10;?"),
        ] {
            let mut records = vec![host(bytes)];
            records.push(host(b"end"));
            let kept: &[&[u8]] = if kept.is_empty() { &[b"end"] } else { &[kept, b"end"] };
            let expected: Vec<Record> = kept.iter().map(|kept| host(kept)).collect();
            assert_eq!(strip(records), expected, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn a_query_may_be_cut_anywhere() {
        let whole = b"a\x1b[6nb\x1b]11;?\x1b\\c";
        for (first, second) in (0..whole.len()).zip(1..whole.len()) {
            let cut = [&whole[..first], &whole[first..second], &whole[second..]];
            let records = cut.iter().map(|part| host(part)).collect();
            let kept: Vec<u8> = strip(records)
                .iter()
                .flat_map(|record| match &record.event {
                    Event::Host(bytes) => bytes.clone(),
                    _ => Vec::new(),
                })
                .collect();
            assert_eq!(kept, b"abc", "{first}");
        }
    }

    #[test]
    fn an_answer_goes_with_its_question_and_a_key_stays() {
        let shift_f3 = b"\x1b[1;2R";
        let records = vec![
            user(shift_f3),
            host(b"\x1b[6n\x1b[>c"),
            user(b"\x1b[2;2R"),
            user(b"x\x1b[>0;95;0c"),
            user(shift_f3),
        ];
        assert_eq!(strip(records), [user(shift_f3), user(b"x"), user(shift_f3)]);
    }

    #[test]
    fn a_sequence_beyond_the_bound_is_no_query() {
        let query = |len: usize| [b"\x1b]4;", "1".repeat(len).as_bytes(), b";?\x07"].concat();
        let overhead = query(0).len();
        assert_eq!(strip(vec![host(&query(SEQUENCE_BYTES_MAX - overhead))]), []);
        let beyond = host(&query(SEQUENCE_BYTES_MAX - overhead + 1));
        assert_eq!(strip(vec![beyond.clone()]), [beyond]);
    }
}
