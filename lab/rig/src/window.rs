//! The user's terminal with a screen, for scripts that wait until the screen shows something.

use anyhow::{Result, bail};
use rove_terminal::{Screen, Size, Terminal as Emulator};
use rove_units::{Duration, Instant};

use crate::clock;
use crate::guard::HANG_GUARD;
use crate::terminal::Terminal;

/// A terminal into which a script types, and whose screen the script reads.
pub trait Observed {
    /// Returns the user's screen.
    fn screen(&self) -> &Screen;

    /// Types `keys` into the terminal.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    fn send(&mut self, keys: &[u8]) -> Result<()>;

    /// Waits until new output is drawn, or until `deadline`.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    fn look(&mut self, deadline: Instant) -> Result<()>;

    /// Returns how long [`Observed::wait_for`] waits.
    fn patience(&self) -> Duration {
        HANG_GUARD
    }

    /// Draws all output until `deadline`.
    ///
    /// # Errors
    ///
    /// Returns an error as [`Observed::look`] does.
    fn watch(&mut self, deadline: Instant) -> Result<()> {
        while clock::now() < deadline {
            self.look(deadline)?;
        }
        Ok(())
    }

    /// Waits until `wanted` returns true for the screen.
    ///
    /// # Errors
    ///
    /// Returns an error as [`Observed::look`] does, or an error with the screen's last rows if the time is over.
    fn wait_for(&mut self, what: &str, wanted: impl Fn(&Screen) -> bool) -> Result<()> {
        let deadline = clock::now() + self.patience();
        while !wanted(self.screen()) {
            self.look(deadline)?;
            if clock::now() >= deadline {
                bail!(
                    "waited {:.0} s for {what}, and the terminal shows {}",
                    self.patience().as_secs_f64(),
                    last_words(self.screen())
                );
            }
        }
        Ok(())
    }
}

/// A terminal, and an emulator that draws the terminal's output.
#[derive(Debug)]
pub struct Window {
    /// The pty.
    pub terminal: Terminal,
    emulator: Emulator,
}

impl Window {
    /// Opens a terminal of this size, with an empty screen.
    ///
    /// # Errors
    ///
    /// Returns the system's error if it gives no pty.
    pub fn open(size: Size) -> Result<Self> {
        Ok(Self { terminal: Terminal::open(size)?, emulator: Emulator::host(size) })
    }

    /// Draws new output, and returns its time of arrival. Waits for output until `deadline`, and then returns `None`.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    pub fn read(&mut self, deadline: Instant) -> Result<Option<Instant>> {
        let Some(bytes) = self.terminal.read(deadline)? else { return Ok(None) };
        let now = clock::now();
        self.emulator.write(bytes);
        let replies = self.emulator.take_replies();
        self.terminal.send(&replies)?;
        Ok(Some(now))
    }
}

impl Observed for Window {
    fn screen(&self) -> &Screen {
        self.emulator.screen()
    }

    fn send(&mut self, keys: &[u8]) -> Result<()> {
        self.terminal.send(keys)
    }

    fn look(&mut self, deadline: Instant) -> Result<()> {
        self.read(deadline).map(|_| ())
    }
}

/// Returns the screen's text, row by row.
pub fn text(screen: &Screen) -> String {
    let rows: Vec<String> = (0..screen.size().rows()).map(|row| screen.row_text(row)).collect();
    rows.join("\n")
}

/// Returns the last three rows that have text, in one line.
pub fn last_words(screen: &Screen) -> String {
    let text = text(screen);
    let rows: Vec<&str> = text.lines().filter(|row| !row.is_empty()).collect();
    match rows[..] {
        [] => "nothing".to_owned(),
        _ => format!("{:?}", rows[rows.len().saturating_sub(3)..].join(" / ")),
    }
}

/// Returns whether the cursor's row contains only the prompt, because nothing has been typed.
pub fn shows_prompt(screen: &Screen, prompt: &str) -> bool {
    screen.row_text(screen.cursor().row) == prompt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_counts_where_the_cursor_is_and_nothing_is_typed() {
        for (output, shown) in
            [("$ ", true), ("$ ls\r\n$ ", true), ("$ ls", false), ("$ \r\nabc", false), ("", false)]
        {
            let mut emulator = Emulator::host(Size::DEFAULT);
            emulator.write(output.as_bytes());
            assert_eq!(shows_prompt(emulator.screen(), "$"), shown, "{output:?}");
        }
    }
}
