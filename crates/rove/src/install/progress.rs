//! A progress bar on the user's terminal for the copy of a program or file.

use std::io::{self, IsTerminal, Write};

use rove_units::Duration;

use crate::install::build::megabytes;

/// Width of the bar between the brackets, in columns. Chosen: the line fits 80 columns with a host's name of 24.
const BAR_COLUMNS: usize = 20;

/// A progress bar, on standard error.
pub(crate) struct Progress {
    /// The text before the bar. `None` draws nothing.
    title: Option<String>,
    is_drawn: bool,
}

impl Progress {
    /// Creates a bar, which is drawn only on a terminal, and not if `quiet` is true.
    pub(crate) fn new(title: String, quiet: bool) -> Self {
        let title = (!quiet && io::stderr().is_terminal()).then_some(title);
        Self { title, is_drawn: false }
    }

    /// Draws the bar for `done` of `all` bytes, and the text `more` after the bar.
    pub(crate) fn draw(&mut self, done: usize, all: usize, more: &str) {
        let Some(title) = &self.title else { return };
        self.is_drawn = true;
        // The cursor returns to the start of the line, because ssh may print a message next.
        write(&format!("\r{title} {}{more}\x1b[K\r", bar(done, all)));
    }

    /// Removes the bar, so that other text can be shown.
    pub(crate) fn clear(&mut self) {
        if core::mem::take(&mut self.is_drawn) {
            write("\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Writes to standard error. A failure is ignored, because the copy also works without a bar.
fn write(text: &str) {
    let mut stderr = io::stderr();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

fn bar(done: usize, all: usize) -> String {
    let done = done.min(all);
    let full = (done * BAR_COLUMNS).checked_div(all).unwrap_or(BAR_COLUMNS);
    let (full, empty) = ("#".repeat(full), ".".repeat(BAR_COLUMNS - full));
    format!("[{full}{empty}] {} of {}", megabytes(done), megabytes(all))
}

/// Returns the mean rate of `done` bytes in the time `since`, as text for [`Progress::draw`], such as `, 1.5 MB/s`.
pub(crate) fn rate(done: usize, since: Duration) -> String {
    let millis = usize::try_from(since.as_millis()).unwrap_or(usize::MAX).max(1);
    format!(", {}/s", megabytes(done.saturating_mul(1000) / millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_and_never_overflows() {
        const ALL: usize = 4_000_000;
        for (done, shown) in [
            (0, "[....................] 0.0 MB of 4.0 MB"),
            (1_000_000, "[#####...............] 1.0 MB of 4.0 MB"),
            (ALL, "[####################] 4.0 MB of 4.0 MB"),
            (usize::MAX, "[####################] 4.0 MB of 4.0 MB"),
        ] {
            assert_eq!(bar(done, ALL), shown);
        }
        assert_eq!(rate(3_000_000, Duration::from_millis(1500)), ", 2.0 MB/s");
        assert_eq!(rate(0, Duration::ZERO), ", 0.0 MB/s");
        assert_eq!(bar(0, 0), "[####################] 0.0 MB of 0.0 MB");
    }
}
