//! Finds out, from the terminal and the clock, whether ssh has asked the user anything during a login.
//!
//! ssh asks on the terminal and reports that nowhere else. During a login only ssh reads from the terminal, and it
//! reads only answers. The kernel records the time of the last read as the terminal's access time. This module sets
//! that time back before the login, because Linux updates it only in steps of 8 s.
//!
//! The access time of another user's terminal cannot be set. Linux before 6.5 may not update it for a reader of
//! `/dev/tty`. In these cases a switched-off echo reveals that ssh asks for a secret.
//!
//! In a pipeline, the terminal may be only standard output or standard error, so this module examines all three
//! streams. Without any terminal, as under cron, ssh asks nothing unless it can open a window.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rove_platform::clock::unix_seconds;
use rove_units::{Duration, Instant};
use rustix::fs::{Timespec, Timestamps, UTIME_OMIT, fstat, futimens};
use rustix::termios::{LocalModes, tcgetattr, tcgetsid};

/// Time between two checks of the terminal's echo. Chosen: no user answers faster, and a login has some thirty checks.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Time after which a login counts as a login with a question, such as for the touch of a security key. Chosen: a login
/// without questions should not take longer.
const SLOW: Duration = Duration::from_secs(5);
/// How far before the present the terminal's access time is set, in seconds. Source: Linux counts that time in steps of
/// 8 s (drivers/tty/tty_io.c).
const PUT_BACK_SECONDS: u64 = 16;

/// A watch for questions that ssh asks the user during a login.
pub(super) struct Questions {
    started_at: Instant,
    /// The terminal at which ssh asks, if a standard stream is that terminal.
    terminal: Option<OwnedFd>,
    /// Whether the terminal echoed when the watch began.
    echoed: bool,
    /// The terminal's access time before the watch, and the time that the watch has set instead, in seconds since 1970.
    /// `None` if there is no terminal, or its access time cannot be set.
    read_at: Option<[i64; 2]>,
    have_come: bool,
}

impl Questions {
    /// Begins to watch a login by the command `ssh`. Call this before that command is started.
    pub(super) fn watch(ssh: &[String], now: Instant) -> Self {
        let terminal = terminal();
        let askpass_require = env::var_os("SSH_ASKPASS_REQUIRE");
        // Under `sshpass`, `/dev/tty` is a terminal that no standard stream leads to, so rove cannot watch it.
        let is_seen = terminal.is_some()
            || File::open("/dev/tty").is_err()
                && !asks_in_window(askpass_require.as_deref(), has_display());
        Self {
            started_at: now,
            echoed: echoes(terminal.as_ref()),
            read_at: terminal.as_ref().and_then(put_back),
            terminal,
            have_come: !asks_here(ssh, askpass_require) || !is_seen,
        }
    }

    /// Begins to watch an ssh that has already logged in. `asks_nothing` is the result of watching that login.
    pub(super) fn after(asks_nothing: bool, ssh: &[String], now: Instant) -> Self {
        let watch = Self::watch(ssh, now);
        Self { have_come: !asks_nothing || watch.have_come, ..watch }
    }

    /// Checks the terminal's echo. Returns the time of the next check.
    pub(super) fn look(&mut self, now: Instant) -> Instant {
        self.have_come |= self.echoed && !echoes(self.terminal.as_ref());
        now + LOOK_EVERY
    }

    /// Returns whether ssh has asked the user, or may still ask.
    pub(super) const fn may_come(&self) -> bool {
        self.have_come || self.terminal.is_some()
    }

    /// Ends the watch of a login that ended at `now`. Returns whether ssh may have asked something.
    pub(super) fn have_come(self, now: Instant) -> bool {
        let watched = self.terminal.zip(self.read_at);
        let is_read = watched.is_some_and(|(terminal, read_at)| is_read(terminal, read_at));
        is_read || self.have_come || now.saturating_since(self.started_at) >= SLOW
    }
}

/// Returns whether the login command asks only at this process's terminal. A wrapper around ssh may give ssh another
/// terminal, and `SSH_ASKPASS` may open a window.
fn asks_here(ssh: &[String], askpass_require: Option<OsString>) -> bool {
    let program = ssh.first().and_then(|word| Path::new(word).file_name());
    program == Some(OsStr::new("ssh")) && askpass_require.is_none_or(|it| it == "never")
}

/// Returns whether ssh asks in a window if it has no terminal. Source: ssh(1), `SSH_ASKPASS`.
fn asks_in_window(askpass_require: Option<&OsStr>, has_display: bool) -> bool {
    has_display && askpass_require.is_none_or(|it| it != "never")
}

fn has_display() -> bool {
    let names = ["DISPLAY", "WAYLAND_DISPLAY"];
    names.into_iter().any(|name| env::var_os(name).is_some_and(|it| !it.is_empty()))
}

/// Returns the first standard stream that is the terminal of this process's session. `None` if no stream is.
fn terminal() -> Option<OwnedFd> {
    let (input, error, output) = (io::stdin(), io::stderr(), io::stdout());
    let streams = [input.as_fd(), error.as_fd(), output.as_fd()];
    let terminal = streams.into_iter().find(|it| tcgetsid(it).is_ok())?;
    terminal.try_clone_to_owned().ok()
}

/// Sets a terminal's access time to [`PUT_BACK_SECONDS`] ago. Returns the former and the new time. `None` on failure.
fn put_back(terminal: impl AsFd) -> Option<[i64; 2]> {
    let former = last_read(&terminal)?;
    let present = i64::try_from(unix_seconds().saturating_sub(PUT_BACK_SECONDS)).ok()?;
    set_last_read(&terminal, present).then_some([former, present])
}

/// Returns whether a terminal was read since [`put_back`]. If it was not, restores the former access time.
fn is_read(terminal: impl AsFd, [former, put_back]: [i64; 2]) -> bool {
    let is_read = last_read(&terminal) != Some(put_back);
    if !is_read {
        set_last_read(&terminal, former);
    }
    is_read
}

fn last_read(terminal: impl AsFd) -> Option<i64> {
    fstat(terminal).ok().map(|it| it.st_atime)
}

fn set_last_read(terminal: impl AsFd, seconds: i64) -> bool {
    let last_access = Timespec { tv_sec: seconds, tv_nsec: 0 };
    let last_modification = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    futimens(terminal, &Timestamps { last_access, last_modification }).is_ok()
}

fn echoes(terminal: Option<&OwnedFd>) -> bool {
    let modes = terminal.and_then(|it| tcgetattr(it).ok());
    modes.is_some_and(|modes| modes.local_modes.contains(LocalModes::ECHO))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::*;

    #[test]
    fn an_answer_is_seen_however_fast_it_comes_and_a_login_without_one_leaves_no_trace() {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let mut options = std::fs::OpenOptions::new();
        let open = std::os::unix::fs::OpenOptionsExt::custom_flags(
            options.read(true).write(true),
            libc::O_NOCTTY,
        );
        let (mut terminal, mut ssh) = (open.open(&name).unwrap(), open.open(&name).unwrap());
        let mut user = std::fs::File::from(master);
        let former = last_read(&terminal).unwrap();
        let questions = Questions {
            started_at: Instant::ZERO,
            terminal: Some(terminal.try_clone().unwrap().into()),
            echoed: true,
            read_at: None,
            have_come: false,
        };
        assert!(questions.may_come(), "ssh has a terminal to ask at");
        assert!(!Questions { terminal: None, ..questions }.may_come(), "it has none");
        for answers in [false, true, true] {
            let times = put_back(&terminal).unwrap();
            ssh.write_all(b"yes or no? ").unwrap();
            if answers {
                user.write_all(b"yes\n").unwrap();
                assert_eq!(ssh.read(&mut [0; 64]).unwrap(), 4);
            }
            assert_eq!(is_read(&mut terminal, times), answers);
            assert!(answers || last_read(&terminal) == Some(former));
        }
    }

    #[test]
    fn an_ssh_whose_questions_are_not_seen_counts_as_one_that_asks() {
        for (ssh, askpass_require, asks_here) in [
            ("ssh -p 22", None, true),
            ("/usr/bin/ssh", Some("never"), true),
            ("ssh", Some("force"), false),
            ("ssh", Some("prefer"), false),
            ("sshpass -p x ssh", None, false),
            ("/usr/bin/myssh", None, false),
            ("", None, false),
        ] {
            let words: Vec<String> = ssh.split_whitespace().map(str::to_owned).collect();
            let found = super::asks_here(&words, askpass_require.map(OsString::from));
            assert_eq!(found, asks_here, "{ssh} {askpass_require:?}");
        }
        for (askpass_require, has_display, asks) in
            [(None, true, true), (Some("never"), true, false), (None, false, false)]
        {
            let found = asks_in_window(askpass_require.map(OsStr::new), has_display);
            assert_eq!(found, asks, "{askpass_require:?} {has_display}");
        }
    }
}
