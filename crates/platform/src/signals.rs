//! The signal settings that a program inherits when it starts.

use nix::sys::signal::SigSet;

pub use crate::sys::set_ignored;

/// Undoes two settings that a program may inherit: blocked signals, and an ignored SIGCHLD, which would prevent waiting
/// for children. `main` calls this first, before it starts threads or installs handlers. Other ignored signals stay
/// ignored, because `nohup` depends on that.
pub fn accept_all() {
    let _ = set_ignored(libc::SIGCHLD, false);
    unblock_all();
}

/// Returns those of `signals` that this process does not ignore. The process must not have handlers for them yet.
pub fn heard(signals: &[i32]) -> Vec<i32> {
    signals.iter().copied().filter(|signal| !is_ignored(*signal)).collect()
}

fn is_ignored(signal: i32) -> bool {
    let was_ignored = set_ignored(signal, true).unwrap_or(false);
    let _ = set_ignored(signal, was_ignored);
    was_ignored
}

/// Unblocks all signals of this thread. This is async-signal-safe, for a child between fork and exec.
pub fn unblock_all() {
    let _ = SigSet::empty().thread_set_mask();
}
