//! The signals that a program finds when it starts.

use crate::sys;

/// Makes this process hear what its parent may have left it deaf to: blocked signals, and the end of its
/// children, which nobody can wait for while SIGCHLD is ignored. To be called first of all, before there
/// are threads or handlers. What else is ignored stays so: that is the user's word, as with `nohup`.
pub fn hear() {
    sys::hear_signals();
}
