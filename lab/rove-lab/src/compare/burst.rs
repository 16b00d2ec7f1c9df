//! Floods in real time: how long a given output takes to its end, and how soon Ctrl-C stops one without an end.

use std::fs;
use std::io::{Read, Write};

use anyhow::{Context, Result};
use rove_host::program::own_file;
use rove_terminal::Size;
use rove_units::Duration;
use rustix::stdio::stdin;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use std::ffi::OsString;

use crate::compare::cost::{self, Cost};
use crate::compare::observed_client::{Interrupt, ObservedClient, SessionOptions};
use crate::compare::run::{RunOptions, begin_links, settling_testbed};
use rove_net::Offered;
use rove_rig::clock;
use rove_rig::load::{Load, OVER, READY};
use rove_rig::scratch::Scratch;
use rove_rig::session::{PROMPT, SHELL};
use rove_rig::window::Observed;
use rove_rig::yes;

/// The word that calls the program at the far end.
pub(crate) const WORD: &str = "pour";

/// Bytes that the program writes at a time. Source: the buffer of coreutils' `cat`.
const WRITE: usize = 131_072;

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Burst {
    /// How long each wait took.
    pub(crate) times: Vec<Duration>,
    /// Packets in that time: up, down.
    pub(crate) offered: [Offered; 2],
    /// The costs of the client's side and the server's side in that time.
    pub(crate) costs: [Cost; 2],
    /// Why the link says nothing in this run; empty if it does.
    pub(crate) invalid: Vec<String>,
}

/// Pours so many bytes through a session.
///
/// # Errors
///
/// Returns an error if the session does not begin, its client ends, the user interrupts, or the link fails.
pub(crate) fn flood(bytes: usize, options: RunOptions<'_>, interrupt: &Interrupt) -> Result<Burst> {
    let scratch = Scratch::create()?;
    let file = scratch.keep("flood", &Load::Plain.bytes(bytes))?;
    let own = own_file().context("cannot tell where this program lies")?;
    let [own, file] = [own, &file].map(|path| path.to_str());
    let words = [own, Some(WORD), file];
    let words: Option<Vec<&str>> = words.into_iter().collect();
    let words = words.context("the temporary folder's name is no UTF-8")?;
    measure(&words, options, interrupt, |client| {
        // Its own marker of the beginning has been read by then.
        let start = clock::now();
        client.send(b"\r")?;
        client.read_past(OVER)?;
        Ok(vec![clock::now().saturating_since(start)])
    })
}

/// Interrupts `yes` so often.
///
/// # Errors
///
/// As [`flood`].
pub(crate) fn interrupts(
    count: u64,
    options: RunOptions<'_>,
    interrupt: &Interrupt,
) -> Result<Burst> {
    let prompt = format!("PS1={PROMPT} ");
    // Through sshd a shell has no prompt of ours unless it is told; a variable comes right before the program.
    let (env, shell) = SHELL.split_at(2);
    let words = [env, &[prompt.as_str()], shell].concat();
    measure(&words, options, interrupt, |client| yes::interrupt(client, count))
}

/// Starts a session over the link, and measures what `work` does in it.
fn measure(
    command: &[&str],
    options: RunOptions<'_>,
    interrupt: &Interrupt,
    work: impl FnOnce(&mut ObservedClient) -> Result<Vec<Duration>>,
) -> Result<Burst> {
    let testbed = settling_testbed(options.path, options.seed)?;
    let RunOptions { peer, ssh_control, rove, preference, timeout, .. } = options;
    let size = Size::DEFAULT;
    let session = SessionOptions { peer, ssh_control, rove, preference, size, timeout };
    let mut client = ObservedClient::open(&testbed, session, command, interrupt)?;
    if command.contains(&WORD) {
        client.read_past(READY)?;
    } else {
        yes::wait_for_prompt(&mut client)?;
    }
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

/// The program at the far end: pours a file onto its terminal when Return is typed, and stays until it is hung up.
///
/// # Errors
///
/// Returns an error if the file cannot be read, or there is no terminal.
pub(crate) fn pour(args: &[OsString]) -> Result<()> {
    let [file] = args else { anyhow::bail!("it is called by rove-lab compare, with a file") };
    let flood = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut modes = tcgetattr(stdin()).context("standard input is no terminal")?;
    modes.local_modes.remove(LocalModes::ECHO);
    tcsetattr(stdin(), OptionalActions::Now, &modes).context("cannot set the terminal's modes")?;
    let (mut input, mut output) = (std::io::stdin(), std::io::stdout());
    output.write_all(READY.as_bytes())?;
    output.flush()?;
    let mut typed = [0; 16];
    if input.read(&mut typed)? == 0 {
        return Ok(());
    }
    for part in flood.chunks(WRITE) {
        output.write_all(part)?;
    }
    output.write_all(b"\r\n")?;
    output.write_all(OVER.as_bytes())?;
    output.flush()?;
    while input.read(&mut typed)? > 0 {}
    Ok(())
}
