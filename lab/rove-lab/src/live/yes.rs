//! Ctrl-C under `yes`: how long until the prompt is there again.

use anyhow::Result;
use rove_terminal::Screen;
use rove_units::{Duration, Instant, Seed};

use crate::live::clock;
use crate::live::session::PROMPT;
use crate::live::window::{Window, shows_prompt};

/// Least and most milliseconds that `yes` runs before an interruption. Chosen: the widest frame
/// interval fits in between.
const RUN_MILLIS: [u64; 2] = [300, 550];

/// A terminal with a picture, for somebody who types and looks.
pub trait Sight {
    /// Types.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal.
    fn type_keys(&mut self, keys: &[u8]) -> Result<()>;

    /// Looks on until `deadline`.
    ///
    /// # Errors
    ///
    /// Returns what the system says.
    fn watch(&mut self, deadline: Instant) -> Result<()>;

    /// Looks on until the picture is as `wanted`.
    ///
    /// # Errors
    ///
    /// Returns an error with the picture when it never is.
    fn look_for(&mut self, what: &str, wanted: &dyn Fn(&Screen) -> bool) -> Result<()>;
}

impl Sight for Window {
    fn type_keys(&mut self, keys: &[u8]) -> Result<()> {
        self.terminal.send(keys)
    }

    fn watch(&mut self, deadline: Instant) -> Result<()> {
        Self::watch(self, deadline)
    }

    fn look_for(&mut self, what: &str, wanted: &dyn Fn(&Screen) -> bool) -> Result<()> {
        self.wait_for(what, wanted)
    }
}

/// Starts `yes` and waits until the screen is full of it.
///
/// # Errors
///
/// As [`Sight::look_for`].
pub fn start_yes(sight: &mut impl Sight) -> Result<()> {
    sight.type_keys(b"yes\r")?;
    sight.look_for("a screen full of y", &is_full_of_y)
}

/// Types Ctrl-C; returns how long it took until the prompt.
///
/// # Errors
///
/// As [`Sight::look_for`].
pub fn stop_yes(sight: &mut impl Sight) -> Result<Duration> {
    let start = clock::now();
    sight.type_keys(b"\x03")?;
    wait_for_prompt(sight)?;
    Ok(clock::now().saturating_since(start))
}

/// Waits for the shell's prompt.
///
/// # Errors
///
/// As [`Sight::look_for`].
pub fn wait_for_prompt(sight: &mut impl Sight) -> Result<()> {
    sight.look_for("the prompt", &|screen| shows_prompt(screen, PROMPT))
}

/// Interrupts `yes` so often, each time at its own moment between two frames; returns how long each prompt took.
///
/// # Errors
///
/// As [`Sight::look_for`].
pub fn interrupt(sight: &mut impl Sight, count: u64) -> Result<Vec<Duration>> {
    let chance = Seed::new(1).stream("interruptions");
    let [least, most] = RUN_MILLIS;
    let mut waits = Vec::new();
    for number in 0..count {
        start_yes(sight)?;
        let run = Duration::from_millis(least + chance.at(number).below(most - least));
        sight.watch(clock::now() + run)?;
        waits.push(stop_yes(sight)?);
    }
    Ok(waits)
}

/// Returns whether `yes` is all that is shown. What an earlier one has left above the prompt does not
/// count: a shell that is about to start a program may miss a Ctrl-C.
fn is_full_of_y(screen: &Screen) -> bool {
    let last = screen.size().rows() - 1;
    (0..last).all(|row| screen.row_text(row) == "y")
        && matches!(screen.row_text(last).as_str(), "" | "y")
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Size, Terminal};

    use super::*;

    #[test]
    fn only_a_running_yes_fills_the_screen() {
        let screenful = "y\r\n".repeat(30);
        for (output, full) in [
            (screenful.clone(), true),
            (screenful.clone() + "y", true),
            (screenful.clone() + "bench$ ", false),
            (screenful.clone() + "bench$ yes", false),
            (screenful + "bench$ yes\r\ny\r\n", false),
            ("y\r\n".repeat(5), false),
        ] {
            let mut terminal = Terminal::host(Size::DEFAULT);
            terminal.write(output.as_bytes());
            assert_eq!(is_full_of_y(terminal.screen()), full, "{output:?}");
        }
    }
}
