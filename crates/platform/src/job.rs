//! A child process in the background of the terminal until it wants to use the terminal.
//!
//! The system stops a background process that reads from the terminal or changes its modes. A program that asks its user does
//! both (readpassphrase(3)). So the stop shows each question, however soon it is answered. The child then gets the terminal
//! and goes on.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpgrp, kill_current_process_group, kill_process_group,
    waitid,
};
use rustix::termios::{tcgetpgrp, tcsetpgrp};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::sys;

/// Signals that end this process. The child gets them too, as the terminal sends them to the foreground only.
const DEADLY_SIGNALS: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// The process group of the child; 0 for none.
static GROUP: AtomicI32 = AtomicI32::new(0);

/// A child in a process group of its own, and the terminal.
#[derive(Debug)]
pub struct Job {
    terminal: File,
    group: Option<Pid>,
    has_terminal: bool,
    has_asked: bool,
}

impl Job {
    /// Has `command` start in the background. Returns `None`, and changes nothing, if this process is not in the
    /// foreground of a terminal.
    pub fn prepare(command: &mut Command) -> Option<Self> {
        let terminal = File::open("/dev/tty").ok()?;
        let job = Self { terminal, group: None, has_terminal: false, has_asked: false };
        if !job.is_ours() {
            return None;
        }
        for signal in DEADLY_SIGNALS {
            sys::before_death_by(signal, end_group).ok()?;
        }
        command.process_group(0);
        Some(job)
    }

    /// Notes the number of the child that has started.
    pub fn handle_start(&mut self, pid: u32) {
        self.group = i32::try_from(pid).ok().and_then(Pid::from_raw);
        GROUP.store(self.group.map_or(0, Pid::as_raw_pid), Ordering::SeqCst);
    }

    /// Lets a child that was stopped go on. If the user has stopped it at the terminal (Ctrl-Z), this process stops too.
    pub fn look(&mut self) {
        let Some(group) = self.group else { return };
        let stopped = waitid(WaitId::Pid(group), WaitIdOptions::STOPPED | WaitIdOptions::NOHANG);
        let signal = stopped.ok().flatten().and_then(|it| it.stopping_signal());
        let signal = signal.and_then(Signal::from_named_raw);
        let wants_terminal = matches!(signal, Some(Signal::TTIN | Signal::TTOU));
        self.has_asked |= wants_terminal;
        match signal {
            _ if wants_terminal && self.is_ours() => self.give(group),
            Some(signal @ (Signal::TSTP | Signal::TTIN | Signal::TTOU)) => {
                self.take_back();
                // The next line returns when the user's shell lets this process go on.
                let _ = kill_current_process_group(signal);
                if self.has_asked && self.is_ours() {
                    self.give(group);
                }
            }
            _ => return,
        }
        let _ = kill_process_group(group, Signal::CONT);
    }

    /// Returns whether the child has wanted to use the terminal.
    pub const fn has_asked(&self) -> bool {
        self.has_asked
    }

    /// Ends this process too if the user has ended the child at the terminal.
    pub fn handle_end(&mut self, status: ExitStatus) {
        let had_terminal = self.has_terminal;
        self.take_back();
        self.group = None;
        let signal = status.signal().filter(|it| had_terminal && [SIGINT, SIGQUIT].contains(it));
        if let Some(signal) = signal.and_then(Signal::from_named_raw) {
            let _ = kill_current_process_group(signal);
        }
    }

    /// Returns whether this process is in the foreground.
    fn is_ours(&self) -> bool {
        tcgetpgrp(&self.terminal).is_ok_and(|group| group == getpgrp())
    }

    fn give(&mut self, group: Pid) {
        self.has_terminal = tcsetpgrp(&self.terminal, group).is_ok();
    }

    fn take_back(&mut self) {
        if core::mem::take(&mut self.has_terminal) {
            // A background process that does this is stopped unless it blocks the signal.
            sys::with_blocked(Signal::TTOU.as_raw(), || {
                let _ = tcsetpgrp(&self.terminal, getpgrp());
            });
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.take_back();
        GROUP.store(0, Ordering::SeqCst);
    }
}

/// Ends the child's group. Async-signal-safe: two system calls.
fn end_group() {
    if let Some(group) = Pid::from_raw(GROUP.load(Ordering::SeqCst)) {
        let _ = kill_process_group(group, Signal::TERM);
        let _ = kill_process_group(group, Signal::CONT);
    }
}
