//! The signal settings that a program inherits when it starts.

use crate::sys;

/// Undoes two settings that a program may inherit: blocked signals, and an ignored SIGCHLD, with which no child can be
/// waited for. `main` calls this first, before it starts threads or installs handlers. Other ignored signals stay
/// ignored, as `nohup` needs it.
pub fn accept_all() {
    sys::accept_all_signals();
}

/// Unblocks all signals of this thread. This is async-signal-safe, for a child between fork and exec.
pub fn unblock_all() {
    sys::unblock_signals();
}
