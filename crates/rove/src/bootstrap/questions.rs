//! Whether a login has asked the user anything, as far as the terminal and the clock tell.
//!
//! ssh asks on the terminal and says nothing of it elsewhere. So it begins in the background of the terminal, where the
//! system stops it when it asks ([`Job`]). A key agent is no child of ours, but turns the echo off while it asks.

use std::io::{self, IsTerminal};
use std::process::{Command, ExitStatus};

use rove_platform::job::Job;
use rove_units::{Duration, Instant};
use rustix::termios::{LocalModes, tcgetattr};

/// Time between two looks at the terminal. Chosen: a user does not see the wait, and a login has some thirty.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// A login that takes so long counts as one that has asked for the touch of a key, or in a window of its own. Chosen: the
/// time that a login by itself may take.
const SLOW: Duration = Duration::from_secs(5);

/// A watch over a login.
pub(super) struct Questions {
    started_at: Instant,
    job: Option<Job>,
    /// Whether the terminal echoed when the watch began. Nothing is asked where standard input is no terminal.
    echoed: bool,
    have_come: bool,
}

impl Questions {
    /// Begins the watch over the ssh that `command` starts. An ssh that cannot be watched counts as one that asks.
    pub(super) fn watch(command: &mut Command, now: Instant) -> Self {
        let job = Job::prepare(command);
        let have_come = job.is_none() && io::stdin().is_terminal();
        Self { started_at: now, job, echoed: echoes(), have_come }
    }

    /// Begins again for an ssh that has logged in and, as far as is known, `asks_nothing`.
    pub(super) fn after(asks_nothing: bool, now: Instant) -> Self {
        Self { started_at: now, job: None, echoed: echoes(), have_come: !asks_nothing }
    }

    /// Notes the process number of the ssh that has started.
    pub(super) fn handle_start(&mut self, pid: u32) {
        self.job.iter_mut().for_each(|job| job.handle_start(pid));
    }

    /// Looks at the terminal, and lets ssh ask there; returns when to do so again.
    pub(super) fn look(&mut self, now: Instant) -> Instant {
        if let Some(job) = &mut self.job {
            job.look();
            self.have_come |= job.has_asked();
        }
        self.have_come |= self.echoed && !echoes();
        now + LOOK_EVERY
    }

    /// Notes that ssh has ended.
    pub(super) fn handle_end(&mut self, status: ExitStatus) {
        self.job.iter_mut().for_each(|job| job.handle_end(status));
    }

    /// Returns whether something was asked, as far as is known, of a login that has ended now.
    pub(super) fn have_come(&self, now: Instant) -> bool {
        self.have_come || now.saturating_since(self.started_at) >= SLOW
    }
}

fn echoes() -> bool {
    tcgetattr(io::stdin()).is_ok_and(|modes| modes.local_modes.contains(LocalModes::ECHO))
}
