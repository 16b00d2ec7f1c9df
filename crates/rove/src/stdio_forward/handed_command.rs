//! The command of `rove exec` on its way from the login to the client, in a variable of its own.

use std::env;
use std::ffi::OsStr;

use rove_bootstrap::Joined;

/// The environment variable that holds the command.
pub(crate) const VARIABLE: &str = "ROVE_EXEC";

/// Returns the variable and the command for the client that this is for.
pub(crate) fn variable(joined: Option<&Joined>) -> Option<(&'static str, &OsStr)> {
    match joined {
        Some(Joined::Program { command, .. }) => Some((VARIABLE, command)),
        _ => None,
    }
}

/// Adds the command that [`variable`] has handed on.
pub(crate) fn restore(joined: Joined) -> Joined {
    match joined {
        Joined::Program { is_subsystem, .. } => {
            let command = env::var_os(VARIABLE).unwrap_or_default();
            Joined::Program { command, is_subsystem }
        }
        other @ (Joined::Port(_) | Joined::Files { .. }) => other,
    }
}
