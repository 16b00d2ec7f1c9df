//! Ctrl-C under `yes`: how long until the prompt is on the screen again.

use anyhow::Result;
use rove_terminal::Screen;
use rove_units::{Duration, Seed};

use crate::clock;
use crate::session::PROMPT;
use crate::window::{Observed, shows_prompt};

/// Least and most milliseconds that `yes` runs before an interruption. Chosen: the widest frame
/// interval fits in between.
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

/// Types Ctrl-C, and returns how long it took until the prompt.
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

/// Waits for the shell's prompt.
///
/// # Errors
///
/// Returns an error as [`Observed::wait_for`] does.
pub fn wait_for_prompt(terminal: &mut impl Observed) -> Result<()> {
    terminal.wait_for("the prompt", |screen| shows_prompt(screen, PROMPT))
}

/// Interrupts `yes` `count` times, each at another moment between two frames. Returns how long each prompt took.
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

/// Returns whether the screen shows nothing but lines of `yes`. The output of an earlier `yes` has a prompt below it.
/// It does not count, because a shell that is just starting a program may miss a Ctrl-C.
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
