//! The signal settings that a program inherits when it starts.

use std::io;

use libc::c_int;
use nix::sys::signal::SigSet;

use crate::sys;

/// Undoes two settings that a program may inherit: blocked signals, and an ignored SIGCHLD, with which no child can be
/// waited for. `main` calls this first, before it starts threads or installs handlers. Other ignored signals stay
/// ignored, as `nohup` needs it.
pub fn accept_all() {
    let _ = reset(libc::SIGCHLD);
    unblock_all();
}

/// Unblocks all signals of this thread. This is async-signal-safe, for a child between fork and exec.
pub fn unblock_all() {
    let _ = SigSet::empty().thread_set_mask();
}

/// Gives a signal its default effect. This is async-signal-safe.
///
/// # Errors
///
/// Returns the system's refusal, for a number that is no signal and for a signal that has only its default effect.
pub fn reset(signal: c_int) -> io::Result<()> {
    sys::set_ignored(signal, false)
}

/// Ignores a signal in this process and in the programs that it starts, except the session's program on the pty.
///
/// # Errors
///
/// Returns the system's refusal, for a number that is no signal and for a signal that cannot be ignored.
pub fn ignore(signal: c_int) -> io::Result<()> {
    sys::set_ignored(signal, true)
}
