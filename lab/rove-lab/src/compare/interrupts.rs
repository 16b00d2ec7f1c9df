//! Ctrl-C under a flood of output in real time: how soon the prompt is shown.

use anyhow::Result;
use rove_terminal::Size;
use rove_units::Duration;

use crate::compare::observed_client::{Interrupt, ObservedClient, RunOptions};
use crate::compare::run::{begin_links, settling_testbed};
use rove_rig::session::{PROMPT, SHELL};
use rove_rig::yes;

/// Interrupts `yes` with Ctrl-C `count` times. Returns each time until the prompt, and why the run is invalid.
///
/// # Errors
///
/// Returns an error if the session does not begin, its client ends, the user interrupts, or the link fails.
pub(crate) fn run(
    count: u64,
    options: RunOptions<'_>,
    interrupt: &Interrupt,
) -> Result<(Vec<Duration>, Vec<String>)> {
    let prompt = format!("PS1={PROMPT} ");
    // sshd passes no environment on, so `env` sets the variable of our prompt. It must stand right before the shell.
    let (env, shell) = SHELL.split_at(2);
    let words = [env, &[prompt.as_str()], shell].concat();
    let testbed = settling_testbed(options.path, options.seed)?;
    let mut client = ObservedClient::open(&testbed, options, Size::DEFAULT, &words, interrupt)?;
    yes::wait_for_prompt(&mut client)?;
    begin_links(&testbed, options.path, options.seed)?;
    let times = yes::interrupt(&mut client, count)?;
    drop(client);
    Ok((times, testbed.finish()?.invalid))
}
