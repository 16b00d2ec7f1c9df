//! The signal settings that a program inherits when it starts.

use crate::sys;

/// Undoes settings that a program may inherit: blocked signals, an ignored SIGCHLD, with which no child can be waited
/// for, and ignored SIGTTIN and SIGTTOU, with which no child stops that asks on the terminal. `main` calls this first, before it starts threads or installs handlers. Other ignored signals stay
/// ignored, as `nohup` needs it.
pub fn accept_all() {
    sys::accept_all_signals();
}
