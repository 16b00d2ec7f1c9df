//! The user's terminal with a picture, for a script that waits for what it shows.

use anyhow::{Result, bail};
use rove_terminal::{Screen, Size, Terminal as Emulator};
use rove_units::Instant;

use crate::clock;
use crate::guard::HANG_GUARD;
use crate::terminal::Terminal;

/// A terminal, and what is on it.
#[derive(Debug)]
pub struct Window {
    /// The pty.
    pub terminal: Terminal,
    emulator: Emulator,
}

impl Window {
    /// Opens a window of this size.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal of a pty.
    pub fn open(size: Size) -> Result<Self> {
        Ok(Self { terminal: Terminal::open(size)?, emulator: Emulator::host(size) })
    }

    /// Follows the output until `deadline`.
    ///
    /// # Errors
    ///
    /// Returns what the system says.
    pub fn watch(&mut self, deadline: Instant) -> Result<()> {
        while self.follow(deadline)? {}
        Ok(())
    }

    /// Follows the output until the picture is as `wanted`.
    ///
    /// # Errors
    ///
    /// Returns an error with the picture when it never is.
    pub fn wait_for(&mut self, what: &str, wanted: impl Fn(&Screen) -> bool) -> Result<()> {
        let deadline = clock::now() + HANG_GUARD;
        while !wanted(self.emulator.screen()) {
            if !self.follow(deadline)? && clock::now() >= deadline {
                bail!(
                    "waited {HANG_GUARD:?} for {what}, and saw\n{}",
                    text(self.emulator.screen())
                );
            }
        }
        Ok(())
    }

    /// Reads the next output; returns whether anything came before `deadline`.
    fn follow(&mut self, deadline: Instant) -> Result<bool> {
        let Some(bytes) = self.terminal.read(deadline)? else { return Ok(false) };
        self.emulator.write(bytes);
        let replies = self.emulator.take_replies();
        self.terminal.send(&replies)?;
        Ok(true)
    }
}

/// Returns what the screen shows, row by row.
pub fn text(screen: &Screen) -> String {
    let rows: Vec<String> = (0..screen.size().rows()).map(|row| screen.row_text(row)).collect();
    rows.join("\n")
}

/// Returns whether the cursor stands behind this prompt, with nothing typed yet.
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
