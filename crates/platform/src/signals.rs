//! The signals that a program finds when it starts.

use crate::sys;

/// Undoes two settings that a parent may leave: blocked signals, and an ignored SIGCHLD, under which no child can be
/// waited for. `main` calls this first, before it starts threads or installs handlers. Other ignored signals stay ignored, as
/// `nohup` asks.
pub fn accept_all() {
    sys::accept_all_signals();
}
