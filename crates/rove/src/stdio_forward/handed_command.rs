//! Passes the command of `rove exec`, which may not be UTF-8, to the client over an exec, in a variable of its own.

use std::env;
use std::ffi::OsStr;

use rove_bootstrap::Joined;

/// The environment variable that holds the command.
pub(crate) const VARIABLE: &str = "ROVE_EXEC";

/// Returns the variable and the command, if `joined` is a program.
pub(crate) fn variable(joined: Option<&Joined>) -> Option<(&'static str, &OsStr)> {
    match joined {
        Some(Joined::Program { command, .. }) => Some((VARIABLE, command)),
        _ => None,
    }
}

/// Returns `joined`, with the command from the variable if `joined` is a program.
pub(crate) fn restore(joined: Joined) -> Joined {
    match joined {
        Joined::Program { is_subsystem, .. } => {
            let command = env::var_os(VARIABLE).unwrap_or_default();
            Joined::Program { command, is_subsystem }
        }
        other @ (Joined::Port(_) | Joined::Files { .. }) => other,
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rove_streams::COMMAND_MAX;

    use super::*;

    #[test]
    fn the_longest_command_fits_into_a_variable_and_on_linux_not_in_base64() {
        let starts = |len| Command::new("true").env(VARIABLE, "x".repeat(len)).status().is_ok();
        assert!(starts(COMMAND_MAX));
        assert_eq!(starts(COMMAND_MAX.div_ceil(3) * 4), !cfg!(target_os = "linux"));
    }
}
