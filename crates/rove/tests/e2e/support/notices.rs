//! The notices in the top row of a client's screen. A test can also find a notice that has disappeared.

/// The byte that begins an escape sequence.
const ESCAPE: u8 = 0x1b;

/// All texts that the top row has had. The oldest comes first.
#[derive(Default)]
pub(super) struct Notices {
    rows: Vec<String>,
    /// Number of texts at the start of `rows` that are taken or forgotten.
    taken: usize,
}

impl Notices {
    /// Draws `output`. Keeps the top row before each escape sequence, because the output may contain several frames.
    pub(super) fn draw(&mut self, parser: &mut vt100::Parser, output: &[u8]) {
        for piece in output.chunk_by(|_, next| *next != ESCAPE) {
            parser.process(piece);
            let screen = parser.screen();
            let row = screen.rows(0, screen.size().1.get()).next().unwrap_or_default();
            if self.rows.last() != Some(&row) {
                self.rows.push(row);
            }
        }
    }

    /// Returns the first value that `find` returns for a text. That text and all before it then count as taken.
    pub(super) fn take<T>(&mut self, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        let found = |(at, row): (usize, &String)| Some((at, find(row)?));
        let (at, found) = self.rows.iter().enumerate().skip(self.taken).find_map(found)?;
        self.taken = at + 1;
        Some(found)
    }

    /// Marks all texts so far as taken.
    pub(super) fn forget(&mut self) {
        self.taken = self.rows.len();
    }
}

/// Returns the number between `before` and `after`. While a number is being drawn, `after` is not there yet.
pub(super) fn number_between(text: &str, before: &str, after: &str) -> Option<u16> {
    text.match_indices(before).find_map(|(at, _)| {
        let rest = &text[at + before.len()..];
        let len = rest.find(|c: char| !c.is_ascii_digit())?;
        rest[len..].starts_with(after).then(|| rest[..len].parse().ok())?
    })
}

#[test]
fn a_notice_is_found_though_another_has_taken_its_place_at_once() {
    let mut parser = super::emulator(3, 20);
    let mut notices = Notices::default();
    notices.draw(&mut parser, b"\x1b[Hport 12 for x\x1b[1;1H\x1b[Kgone\x1b[H\x1b[Kport 3");
    let port = |notices: &mut Notices| notices.take(|row| number_between(row, "port ", " for"));
    assert_eq!(port(&mut notices), Some(12));
    assert_eq!(port(&mut notices), None, "half of it is drawn");
    notices.draw(&mut parser, b"4 for x");
    assert_eq!(port(&mut notices), Some(34));
    notices.forget();
    assert_eq!(notices.take(|row| row.contains("port").then_some(())), None);
}
