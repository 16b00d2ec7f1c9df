//! The notices of a client, in the top row of its screen. A test may look for a notice only after it has disappeared.

/// The byte that begins an escape sequence.
const ESCAPE: u8 = 0x1b;

/// Every text that the top row has had, from the oldest on.
#[derive(Default)]
pub(super) struct Notices {
    rows: Vec<String>,
    /// How many of the texts come before the next one that is looked for.
    taken: usize,
}

impl Notices {
    /// Draws output, and keeps the top row before each escape sequence, because two frames may have come at once.
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

    /// Returns the first value that `find` returns for a text. Removes that text, and all before it.
    pub(super) fn take<T>(&mut self, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        let found = |(at, row): (usize, &String)| Some((at, find(row)?));
        let (at, found) = self.rows.iter().enumerate().skip(self.taken).find_map(found)?;
        self.taken = at + 1;
        Some(found)
    }

    /// Removes all texts so far.
    pub(super) fn forget(&mut self) {
        self.taken = self.rows.len();
    }
}

/// Returns the number between these words. A number that is being drawn has nothing after it yet.
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
