//! The client's end of a tunnel, if ssh is the only path: runs the session's ssh, and another if that ssh fails.
//!
//! Nothing here blocks, except a login by the user. Datagrams for which ssh has no room wait in a bounded queue.

use std::io;

use rove_bootstrap::tunnel::carrier::Arrival;
use rove_bootstrap::tunnel::retry::{End, Retry};
use rove_bootstrap::tunnel::standby::TOUCH;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_session::Trouble;
use rove_units::Instant;

use crate::ssh_reaper::SshReaper;
use crate::tunnel::inherited::{Again, Inherited};
use crate::tunnel::login::{self, Login};
use crate::tunnel::ssh::{Look, Ssh, release};

/// Most bytes read from ssh at once. Chosen: the size of a pipe's buffer on Linux.
pub(super) const READ_LEN: usize = 64 * 1024;

/// Parts of the reasons after which only the user can log in. Source: OpenSSH's messages, except for the last one.
const REFUSALS: [&str; 4] = [
    "Permission denied",
    "Host key verification failed",
    "Too many authentication failures",
    TOUCH,
];

#[derive(Debug)]
pub(crate) struct Tunnel {
    again: Again,
    retry: Retry,
    /// The ssh that carries datagrams, if there is one.
    line: Option<Ssh>,
    /// The ssh that is logging in, if there is one.
    next: Option<Ssh>,
    /// The ssh processes that are ending, seldom more than one.
    ending: Vec<SshReaper>,
    /// Why the newest ssh failed. `None` if none has failed since an ssh last began to carry datagrams.
    pub(crate) reason: Option<String>,
    buffer: Vec<u8>,
}

impl Tunnel {
    /// Creates a tunnel that uses the ssh of the bootstrap's login.
    ///
    /// # Errors
    ///
    /// Returns an error if ssh's process number or pipes are not valid.
    pub(crate) fn take(inherited: &Inherited, now: Instant) -> anyhow::Result<Self> {
        Ok(Self {
            again: inherited.again.clone(),
            retry: Retry::new(now, inherited.again.shares),
            line: None,
            next: Some(Ssh::new(inherited.take()?)),
            ending: Vec::new(),
            reason: None,
            buffer: vec![0; READ_LEN],
        })
    }

    pub(crate) fn send(&mut self, datagram: &[u8]) {
        if let Some(ssh) = self.line.as_mut().or(self.next.as_mut()) {
            ssh.send(datagram);
        }
    }

    /// Returns whether the tunnel can take a packet of streams and still has room for the session's datagrams.
    pub(crate) fn has_room(&self) -> bool {
        self.line.as_ref().is_some_and(Ssh::has_room)
    }

    pub(crate) fn interests(&mut self) -> Vec<Interest<'_>> {
        let all = self.line.iter_mut().chain(&mut self.next);
        all.flat_map(Ssh::interests).collect()
    }

    /// Reads and writes without blocking, passes arrived datagrams to `take`, and starts or ends an ssh as needed.
    pub(crate) fn turn(&mut self, now: Instant, mut take: impl FnMut(Arrival)) {
        self.ending.retain_mut(|reaper| reaper.reap(now));
        if let Some(next) = &mut self.next {
            let look = next.look(&mut self.buffer, &mut take);
            let is_late = self.retry.give_up_at() <= now;
            match look {
                Look::Open if next.stands() => {
                    tracing::info!("tunnel stands");
                    self.retry.handle_arrival(now);
                    let former = core::mem::replace(&mut self.line, self.next.take());
                    release(&mut self.ending, now, former);
                    self.reason = None;
                }
                Look::Open if is_late => {
                    self.end(now, Some("ssh takes too long to log in".to_owned()), End::Late);
                }
                Look::Open => {}
                Look::Ended(reason) => self.end(now, reason, End::Failed),
            }
        }
        if let Some(line) = &mut self.line {
            let mut has_arrived = false;
            let look = line.look(&mut self.buffer, |arrival| {
                has_arrived = true;
                take(arrival);
            });
            line.write();
            if has_arrived {
                self.retry.handle_arrival(now);
                // The carrying ssh was only slow, so the other login is not needed.
                release(&mut self.ending, now, self.next.take());
            }
            if let Look::Ended(reason) = look {
                let line = self.line.take().expect("it was just looked at");
                self.note_end(now, line, reason, End::Failed);
            }
        }
        if self.next.is_none() && self.start_at().is_some_and(|at| at <= now) {
            self.start(now);
        }
    }

    /// Returns when to call [`Tunnel::turn`] if nothing else happens. `None` if no call is needed.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let at = if self.next.is_some() { Some(self.retry.give_up_at()) } else { self.start_at() };
        at.into_iter().chain(self.ending.iter().map(SshReaper::poll_timeout)).min()
    }

    /// Records that this computer's network has changed, so that another ssh may be started sooner.
    pub(crate) fn handle_network_change(&mut self, now: Instant) {
        self.retry.handle_network_change(now);
    }

    /// Returns the failure to show to the user. `None` while an ssh carries datagrams, and before the first failure.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        let reason = self.reason.as_ref().filter(|_| self.line.is_none())?;
        let needs_login = !self.again.words.is_empty() && is_refusal(reason);
        let outlook = match self.again.words.is_empty() {
            true => "cannot be started again without you",
            false if needs_login => "cannot log in again without a question",
            false => "is being started again",
        };
        let text = format!("The ssh tunnel has ended and {outlook}");
        Some(Trouble { text, reason: reason.clone(), needs_login })
    }

    /// Starts an ssh that may ask the user on the terminal. Waits until it carries datagrams, has ended, or the user
    /// interrupts it. Returns the signals that arrived meanwhile.
    pub(crate) fn log_in(&mut self, events: &mut EventLoop) -> io::Result<Vec<i32>> {
        // An automatic login would run in parallel with the user's.
        release(&mut self.ending, events.now(), self.next.take());
        let is_own = self.retry.handle_start(events.now(), self.line.is_some());
        let (words, first_line) = (self.again.call(is_own), &self.again.first_line);
        let Login { outcome, ending, signals } =
            login::run(&words, first_line, events, &mut self.buffer)?;
        self.ending.extend(ending);
        match outcome {
            Ok(ssh) => {
                self.retry.handle_arrival(events.now());
                release(&mut self.ending, events.now(), self.line.replace(ssh));
                self.reason = None;
            }
            Err(None) => self.retry.handle_end(events.now(), End::BrokenOff),
            Err(Some(reason)) => {
                tracing::info!(%reason, "no login for the tunnel");
                let end = if is_refusal(&reason) { End::Refused } else { End::Failed };
                self.retry.handle_end(events.now(), end);
                self.reason = Some(reason);
            }
        }
        Ok(signals)
    }

    fn start_at(&self) -> Option<Instant> {
        (!self.again.words.is_empty()).then(|| self.retry.start_at(self.line.is_some()))
    }

    fn start(&mut self, now: Instant) {
        tracing::info!("starting another ssh for the tunnel");
        let is_own = self.retry.handle_start(now, self.line.is_some());
        match Ssh::start(&self.again.call(is_own), &self.again.first_line, false) {
            Ok(ssh) => self.next = Some(ssh),
            Err(error) => {
                self.reason = Some(format!("cannot run {}: {error}", self.again.words[0]));
                self.retry.handle_end(now, End::Failed);
            }
        }
    }

    /// Ends the ssh that is logging in.
    fn end(&mut self, now: Instant, reason: Option<String>, end: End) {
        if let Some(next) = self.next.take() {
            self.note_end(now, next, reason, end);
        }
    }

    /// Records the end of an ssh, with its reason. A reason that only the user can resolve makes the end
    /// [`End::Refused`].
    fn note_end(&mut self, now: Instant, mut ssh: Ssh, reason: Option<String>, end: End) {
        let said = ssh.last_words();
        let reason = reason.or((!said.is_empty()).then_some(said));
        let reason = reason.unwrap_or_else(|| "ssh said nothing".to_owned());
        tracing::info!(%reason, "tunnel ended");
        let end = if is_refusal(&reason) { End::Refused } else { end };
        self.retry.handle_end(now, end);
        self.reason = Some(reason);
        release(&mut self.ending, now, Some(ssh));
    }
}

/// Returns whether ssh ended for a reason that only the user can resolve.
pub(super) fn is_refusal(reason: &str) -> bool {
    REFUSALS.iter().any(|refusal| reason.contains(refusal))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

    use super::*;

    fn tunnel(script: &str) -> Tunnel {
        let words = ["sh", "-c", script].map(str::to_owned).into();
        Tunnel {
            again: Again { words, ..Again::default() },
            retry: Retry::new(Instant::ZERO, false),
            line: None,
            next: None,
            ending: Vec::new(),
            reason: None,
            buffer: vec![0; READ_LEN],
        }
    }

    /// Waits for the end of a child of this process. A later wait can still return the child's status.
    fn await_end(child: Pid) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(child), options).unwrap();
    }

    #[test]
    fn another_part_of_the_process_finds_the_status_of_its_child() {
        let mut other = Command::new("sh").args(["-c", "exit 3"]).spawn().unwrap();
        await_end(Pid::from_child(&other));
        tunnel("exit 1").start(Instant::ZERO);
        assert_eq!(other.wait().unwrap().code(), Some(3));
    }

    #[test]
    fn an_ssh_that_takes_too_long_is_ended_and_waited_for() {
        let mut tunnel = tunnel("trap '' TERM; exec sleep 600");
        let mut now = Instant::ZERO;
        tunnel.start(now);
        tunnel.again.words.clear();
        now = tunnel.poll_timeout().unwrap();
        tunnel.turn(now, |_| ());
        assert!(tunnel.next.is_none());
        while let Some(at) = tunnel.poll_timeout() {
            now = at;
            tunnel.turn(now, |_| ());
        }
        assert!(tunnel.ending.is_empty());
    }
}
