//! Floods in real time: how long an output takes to its end, and how soon Ctrl-C stops an endless one.

use anyhow::Result;
use rove_terminal::Size;
use rove_units::Duration;

use crate::compare::cost::{self, Cost};
use crate::compare::observed_client::{Interrupt, ObservedClient, RunOptions};
use crate::compare::run::{begin_links, settling_testbed};
use rove_net::Offered;
use rove_rig::clock;
use rove_rig::load::{Flood, Load, OVER, READY};
use rove_rig::session::{PROMPT, SHELL};
use rove_rig::window::Observed;
use rove_rig::yes;

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Burst {
    /// How long each wait took: for the end of the output, or for the prompt after Ctrl-C.
    pub(crate) times: Vec<Duration>,
    /// Packets offered to the link during the waits: up, down.
    pub(crate) offered: [Offered; 2],
    /// The costs of the client's side and the server's side during the waits.
    pub(crate) costs: [Cost; 2],
    /// Why the run is invalid, as on a computer that was too busy. Empty if it is valid.
    pub(crate) invalid: Vec<String>,
}

/// Measures how long a session takes to show `bytes` bytes of output to their end.
///
/// # Errors
///
/// Returns an error if the session does not begin, its client ends, the user interrupts, or the link fails.
pub(crate) fn flood(bytes: usize, options: RunOptions<'_>, interrupt: &Interrupt) -> Result<Burst> {
    let flood = Flood::new(Load::Plain, bytes)?;
    let ready = |client: &mut ObservedClient| client.read_past(READY);
    measure(&flood.command(), options, interrupt, ready, |client| {
        // `ready` has read the marker with which the flood's program begins.
        let start = clock::now();
        client.send(b"\r")?;
        client.read_past(OVER)?;
        Ok(vec![clock::now().saturating_since(start)])
    })
}

/// Interrupts `yes` with Ctrl-C `count` times, and measures each time until the prompt is shown.
///
/// # Errors
///
/// Returns an error as [`flood`] does.
pub(crate) fn interrupts(
    count: u64,
    options: RunOptions<'_>,
    interrupt: &Interrupt,
) -> Result<Burst> {
    let prompt = format!("PS1={PROMPT} ");
    // sshd passes no environment on, so `env` sets the variable of our prompt. It must stand right before the shell.
    let (env, shell) = SHELL.split_at(2);
    let words = [env, &[prompt.as_str()], shell].concat();
    let ready = |client: &mut ObservedClient| yes::wait_for_prompt(client);
    measure(&words, options, interrupt, ready, |client| yes::interrupt(client, count))
}

/// Starts a session over the link, waits until it is ready, and measures what `work` does in it.
fn measure(
    command: &[&str],
    options: RunOptions<'_>,
    interrupt: &Interrupt,
    ready: impl FnOnce(&mut ObservedClient) -> Result<()>,
    work: impl FnOnce(&mut ObservedClient) -> Result<Vec<Duration>>,
) -> Result<Burst> {
    let testbed = settling_testbed(options.path, options.seed)?;
    let mut client = ObservedClient::open(&testbed, options, Size::DEFAULT, command, interrupt)?;
    ready(&mut client)?;
    begin_links(&testbed, options.path, options.seed)?;
    let before = cost::usages(&testbed)?;
    let offered = testbed.offered();
    let times = work(&mut client)?;
    let after = testbed.offered();
    let costs = cost::since(&testbed, &before)?;
    drop(client);
    let invalid = testbed.finish()?.invalid;
    let offered = [0, 1].map(|way| after[way].since(offered[way]));
    Ok(Burst { times, offered, costs, invalid })
}
