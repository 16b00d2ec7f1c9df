//! Parts that the measurements with a large window share.

use rove_terminal::{Size, Terminal};

/// Columns and rows of a large window.
pub(crate) const COLUMNS: u16 = 200;
pub(crate) const ROWS: u16 = 60;

/// Returns the number of rounds in the command line, or 1.
pub(crate) fn rounds() -> usize {
    std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(1)
}

/// Prints the microseconds of each round as JSON.
pub(crate) fn print(kind: &str, rounds: &[f64]) {
    println!("{{\"kind\":\"{kind}\",\"microseconds\":{rounds:?}}}");
}

/// Returns a terminal full of text in some colours.
pub(crate) fn full_terminal() -> Terminal {
    let size = Size::new(COLUMNS, ROWS).expect("a screen may have this size");
    let mut terminal = Terminal::host(size);
    for row in 0..ROWS {
        let color = 31 + row % 7;
        let line = format!("\x1b[{color}mline {row}\x1b[m {}\r\n", "of some text ".repeat(14));
        terminal.write(line.as_bytes());
    }
    terminal
}

/// Does some work. Returns its result and the microseconds that it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
    let start = std::time::Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64() * 1e6)
}

pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
