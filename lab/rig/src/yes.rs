//! Ctrl-C during the output of `yes`: the time until the prompt is on the screen again.

use anyhow::Result;
use rove_terminal::Screen;
use rove_units::{Duration, Seed};

use crate::clock;
use crate::session::PROMPT;
use crate::window::{Observed, shows_prompt};

/// Least and most milliseconds that `yes` runs before Ctrl-C. Chosen: they differ by the longest frame interval.
const RUN_MILLIS: [u64; 2] = [300, 550];

/// Starts `yes` and waits until the screen is full of its lines.
///
/// # Errors
///
/// Returns an error as [`Observed::wait_for`] does.
pub fn start_yes(terminal: &mut impl Observed) -> Result<()> {
    terminal.send(b"yes\r")?;
    terminal.wait_for("a screen full of y", is_full_of_y)
}

/// Types Ctrl-C. Returns the time until the prompt.
///
/// # Errors
///
/// Returns an error as [`Observed::wait_for`] does.
pub fn stop_yes(terminal: &mut impl Observed) -> Result<Duration> {
    let start = clock::now();
    terminal.send(b"\x03")?;
    wait_for_prompt(terminal)?;
    Ok(clock::now().saturating_since(start))
}

/// Waits until the cursor is at the shell's prompt.
///
/// # Errors
///
/// Returns an error as [`Observed::wait_for`] does.
pub fn wait_for_prompt(terminal: &mut impl Observed) -> Result<()> {
    terminal.wait_for("the prompt", |screen| shows_prompt(screen, PROMPT))
}

/// Interrupts `yes` `count` times, each at another time between two frames. Returns the time until each prompt.
///
/// # Errors
///
/// Returns an error as [`Observed::wait_for`] does.
pub fn interrupt(terminal: &mut impl Observed, count: u64) -> Result<Vec<Duration>> {
    let chance = Seed::new(1).stream("interruptions");
    let [least, most] = RUN_MILLIS;
    let mut waits = Vec::new();
    for number in 0..count {
        start_yes(terminal)?;
        let run = Duration::from_millis(least + chance.at(number).below(most - least));
        terminal.watch(clock::now() + run)?;
        waits.push(stop_yes(terminal)?);
    }
    Ok(waits)
}

/// Returns whether the screen shows only lines of the running `yes`. Below the output of an earlier `yes` is a prompt.
/// Such a screen does not count, because a shell that is about to start a program may miss a Ctrl-C.
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
