use rove_terminal::{COLUMNS_MAX, ROWS_MAX};

use super::*;

const SIZE: &str = "{\"t\":0.0,\"dir\":\"size\",\"cols\":80,\"rows\":24}\n";

fn read(text: &str) -> Result<Trace, TraceError> {
    Trace::read(text.as_bytes())
}

/// Reads a size and then `lines`. Returns what is wrong with them.
fn complaint(lines: &str) -> String {
    read(&format!("{SIZE}{lines}")).expect_err(lines).to_string()
}

fn at(micros: u64, event: Event) -> Record {
    Record { at: Instant::from_nanos(micros * 1_000), event }
}

#[test]
fn what_was_written_is_read() {
    let trace = Trace {
        size: Size::clamped(100, 30),
        records: vec![
            at(0, Event::Tty(TtyModes { echo: true, icanon: true, prompt: false })),
            at(1, Event::Host(b"$ \x1b[m\xff\x00".to_vec())),
            at(1, Event::User(b"l".to_vec())),
            at(999_999, Event::Tty(TtyModes { echo: false, icanon: true, prompt: false })),
            at(999_999, Event::Tty(TtyModes { echo: false, icanon: false, prompt: true })),
            at(1_000_000, Event::Size(Size::clamped(COLUMNS_MAX, ROWS_MAX))),
            at(12_345_678_901, Event::User(Vec::new())),
        ],
    };
    let mut writer = TraceWriter::new(Vec::new(), trace.size).unwrap();
    for record in &trace.records {
        writer.write(record).unwrap();
    }
    let text = writer.finish().unwrap();
    assert_eq!(Trace::read(text.as_slice()).unwrap(), trace);
}

#[test]
fn the_form_is_that_of_older_traces() {
    let mut writer = TraceWriter::new(Vec::new(), Size::DEFAULT).unwrap();
    writer.write(&at(7_466, Event::User(b"l".to_vec()))).unwrap();
    writer
        .write(&at(2_055_028, Event::Tty(TtyModes { echo: true, icanon: false, prompt: false })))
        .unwrap();
    let text = String::from_utf8(writer.finish().unwrap()).unwrap();
    let lines = "{\"t\":0.007466,\"dir\":\"user\",\"data\":\"bA==\"}\n\
                 {\"t\":2.055028,\"dir\":\"tty\",\"echo\":true,\"icanon\":false}\n";
    assert_eq!(text, format!("{SIZE}{lines}"));
    assert_eq!(read(&text).unwrap().records.len(), 2);
}

#[test]
fn a_trace_begins_with_a_size() {
    for text in ["", "\n", "{\"t\":0,\"dir\":\"user\",\"data\":\"\"}\n"] {
        assert!(matches!(read(text), Err(TraceError::NoSize)), "{text}");
    }
    assert_eq!(read(SIZE).unwrap(), Trace { size: Size::DEFAULT, records: Vec::new() });
}

#[test]
fn what_is_wrong_with_a_line_is_said_with_its_number() {
    for (lines, words) in [
        ("{\"t\":1,\"dir\":\"user\"}\n", "line 2 of the trace is no record: missing field `data`"),
        ("\n{\"t\":1}\n", "line 3"),
        ("{\"dir\":\"user\",\"data\":\"\"}\n", "missing field `t`"),
        ("{\"t\":1,\"dir\":\"user\",\"data\":\"b\"}", "no base64"),
        ("{\"t\":1,\"dir\":\"user\",\"data\":\"b=a=\"}", "no base64"),
        ("{\"t\":1,\"dir\":\"user\",\"data\":7}", "no record"),
        ("{\"t\":1,\"dir\":\"tty\",\"echo\":1,\"icanon\":true}", "no record"),
        ("{\"t\":1,\"dir\":\"size\",\"cols\":0,\"rows\":24}", "no record"),
        ("{\"t\":1,\"dir\":\"size\",\"cols\":4097,\"rows\":24}", "no record"),
        ("{\"t\":-0.1,\"dir\":\"user\",\"data\":\"\"}", "no time"),
        ("{\"t\":1e300,\"dir\":\"user\",\"data\":\"\"}", "no time"),
        ("{\"t\":1e999,\"dir\":\"user\",\"data\":\"\"}", "no record"),
        ("{\"t\":\"1\",\"dir\":\"user\",\"data\":\"\"}", "no record"),
        ("{\"t\":1,\"dir\":\"us", "no record"),
        ("hello", "no record"),
        ("\u{fffd}", "no record"),
        (
            "{\"t\":2,\"dir\":\"user\",\"data\":\"\"}\n{\"t\":1.9,\"dir\":\"host\",\"data\":\"\"}",
            "line 3 of the trace is no record: its time is before",
        ),
    ] {
        let found = complaint(lines);
        assert!(found.contains(words), "{lines}: {found}");
    }
    assert!(Trace::read([SIZE.as_bytes(), b"\xff\n"].concat().as_slice()).is_err());
}

#[test]
fn kinds_and_fields_of_later_versions_are_left_out() {
    let text = format!(
        "{SIZE}{{\"t\":1,\"dir\":\"mark\",\"name\":\"x\"}}\n\n\
         {{\"t\":2,\"dir\":\"user\",\"data\":\"bA==\",\"note\":[1]}}"
    );
    assert_eq!(read(&text).unwrap().records, [at(2_000_000, Event::User(b"l".to_vec()))]);
}

#[test]
fn a_line_has_a_bound() {
    let user =
        |len: usize| format!("{{\"t\":1,\"dir\":\"user\",\"data\":\"{}\"}}", "A".repeat(len));
    let frame = user(0).len() + 1;
    let fits = format!("{SIZE}{}\n", user((LINE_BYTES_MAX - frame) / 4 * 4));
    assert_eq!(read(&fits).unwrap().records.len(), 1);
    let beyond = format!("{SIZE}{}\n", user(LINE_BYTES_MAX));
    assert!(matches!(read(&beyond), Err(TraceError::LineTooLong { line: 2 })));
}

#[test]
fn a_trace_has_a_bound() {
    let endless = SIZE.as_bytes().chain(io::BufReader::new(Blank(TRACE_BYTES_MAX)));
    assert!(matches!(Trace::read(endless), Err(TraceError::TooLong)));
    let long = SIZE.as_bytes().chain(io::BufReader::new(Blank(TRACE_BYTES_MAX - 1_000)));
    assert!(Trace::read(long).is_ok());
}

/// A reader of this many bytes of empty lines.
struct Blank(u64);

impl Read for Blank {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(usize::try_from(self.0).unwrap_or(usize::MAX));
        // Few long lines are read faster than many short ones.
        buffer[..len].fill(b' ');
        buffer[..len].iter_mut().step_by(4_096).for_each(|byte| *byte = b'\n');
        self.0 -= u64::try_from(len).unwrap();
        Ok(len)
    }
}
