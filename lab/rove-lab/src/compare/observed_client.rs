//! A real client in a session over a testbed, and the screen that its user sees.

use std::os::fd::BorrowedFd;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use rove_flows::path::Path;
use rove_replay::replay::Pace;
use rove_session::Preference;
use rove_terminal::{Screen, Size};
use rove_units::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::compare::bulk::{BulkOptions, CongestionControl};
use crate::compare::peer::Peer;
use rove_net::testbed::{End, Testbed};
use rove_rig::clock;
use rove_rig::place::Place;
use rove_rig::scratch::Scratch;
use rove_rig::session::{Client, Server, in_known_environment};
use rove_rig::sshd::Sshd;
use rove_rig::window::{Observed, Window, last_words};

/// Longest wait before a check whether the user has interrupted. Chosen: a person notices no such delay.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Whether the user has asked to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

/// The error of work that the user has stopped.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("interrupted")]
pub(crate) struct Interrupted;

impl Interrupt {
    /// Listens to Ctrl-C, SIGTERM and SIGHUP, which have no other effect after this call.
    ///
    /// # Errors
    ///
    /// Returns the I/O error if a signal's handler cannot be set.
    pub(crate) fn listen() -> Result<Self> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            flag::register(signal, Arc::clone(&interrupt.0)).context("cannot wait for signals")?;
        }
        Ok(interrupt)
    }

    /// Returns an error if the user has asked to stop.
    ///
    /// # Errors
    ///
    /// Returns [`Interrupted`].
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(Interrupted.into()) } else { Ok(()) }
    }
}

/// The options of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunOptions<'a> {
    pub(crate) peer: Peer,
    /// Congestion control of the TCP of ssh's server. `None`: the kernel's choice.
    pub(crate) ssh_control: Option<CongestionControl>,
    /// The path of the program rove.
    pub(crate) rove: &'a FilePath,
    pub(crate) path: &'a Path,
    pub(crate) seed: u64,
    pub(crate) pace: Pace,
    pub(crate) preference: Preference,
    /// Longest wait for an expected event, and longest time without progress before the far side counts as hung.
    pub(crate) timeout: Duration,
    pub(crate) bulk: Option<BulkOptions>,
    /// Whether a film of the client's screen is kept.
    pub(crate) films: bool,
}

/// A session over a testbed, from the user's side. All its processes end when it is dropped.
#[derive(Debug)]
pub(super) struct ObservedClient {
    window: Window,
    client: Client,
    _far: (Option<Server>, Option<Sshd>),
    _home: Scratch,
    interrupt: Interrupt,
    timeout: Duration,
}

impl ObservedClient {
    /// Starts a session that runs `command` at the far end.
    ///
    /// # Errors
    ///
    /// Returns the I/O error, or a text that the server wrote in place of its address.
    pub(super) fn open(
        testbed: &Testbed,
        options: RunOptions<'_>,
        size: Size,
        command: &[&str],
        interrupt: &Interrupt,
    ) -> Result<Self> {
        let [near, far] = [End::Near, End::Far].map(|end| Place::At(testbed, end));
        let home = Scratch::create()?;
        let window = Window::open(size)?;
        let terminal = &window.terminal;
        let (client, far) = match options.peer.system(options.rove) {
            Some(system) => {
                let server = Server::start_in(far, &system, home.folder(), command)?;
                let preference = options.preference;
                let client =
                    Client::start_in(near, &system, &server, preference, home.folder(), terminal)?;
                (client, (Some(server), None))
            }
            None => {
                let sshd = Sshd::start(far)?;
                if let Some(control) = options.ssh_control {
                    control.set(&sshd.listener)?;
                }
                let mut ssh = near.command("ssh")?;
                in_known_environment(&mut ssh, home.folder())
                    .arg("-F")
                    .arg(sshd.client_config())
                    .args(["-tt", "-e", "none", "far", "--", &for_shell(command)]);
                (Client::on(&mut ssh, terminal)?, (None, Some(sshd)))
            }
        };
        let (interrupt, timeout) = (interrupt.clone(), options.timeout);
        Ok(Self { window, client, _far: far, _home: home, interrupt, timeout })
    }

    /// Waits until the client has drawn something, `other` has something to read, or `deadline` is reached, but at most
    /// 200 ms. Returns when the client drew. `None` if it drew nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if the user has interrupted, the client has ended, or the wait fails.
    pub(super) fn wait(
        &mut self,
        deadline: Instant,
        other: Option<BorrowedFd<'_>>,
    ) -> Result<Option<Instant>> {
        self.interrupt.check()?;
        let left = deadline.saturating_since(clock::now()).min(LOOK_EVERY);
        let mut ready = vec![PollFd::new(self.window.terminal.output(), PollFlags::IN)];
        ready.extend(other.map(|other| PollFd::from_borrowed_fd(other, PollFlags::IN)));
        match poll(&mut ready, Some(&Timespec::try_from(left)?)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        if ready[0].revents().is_empty() {
            if self.client.has_ended()? {
                bail!("the client has ended, and its terminal shows {}", last_words(self.screen()));
            }
            return Ok(None);
        }
        self.window.read(Instant::ZERO)
    }
}

impl Observed for ObservedClient {
    fn screen(&self) -> &Screen {
        self.window.screen()
    }

    fn send(&mut self, keys: &[u8]) -> Result<()> {
        self.window.send(keys)
    }

    fn look(&mut self, deadline: Instant) -> Result<()> {
        self.wait(deadline, None).map(|_| ())
    }

    fn patience(&self) -> Duration {
        self.timeout
    }
}

/// Returns words quoted for a shell, in one line.
fn for_shell(words: &[&str]) -> String {
    let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''")));
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_words_that_were_meant() {
        let words = ["a b", "it's", "$x", ""];
        let line = format!("printf '<%s>' {}", for_shell(&words));
        let output = std::process::Command::new("sh").args(["-c", &line]).output().expect("sh");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "<a b><it's><$x><>");
    }
}
