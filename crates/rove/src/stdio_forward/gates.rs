//! Detects a gate (the host of `rove -W`) that ssh's configuration reaches by `rove -W` through itself. The environment
//! lists the gates whose ssh runs this process as its ProxyCommand.

use std::ffi::OsStr;

use rove_bootstrap::{HostOptions, WantedSession};

/// The environment variable with the gates, one gate in a line. Only `rove -W`, `exec` and `put` set it.
const VARIABLE: &str = "ROVE_GATES";
/// Most gates (hosts of nested `rove -W`) on the way to a host. Chosen: more than anybody uses. A loop may spell its
/// gates differently each time, so only the limit stops it.
const GATES_MAX: usize = 16;

/// The reason why a gate is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GateError {
    #[error(
        "ssh reaches {0} by `rove -W` through {0} itself: exclude it from the section of ssh's configuration that says \
         so, as in `Host * !{0}`"
    )]
    Itself(String),
    #[error("ssh reaches {0} through more than {GATES_MAX} gates, each by `rove -W`")]
    Many(String),
}

/// Returns the value of [`VARIABLE`] for the ssh that logs in to `gate`: this process's gates and `gate`. Fails if
/// `gate` is already among them, or if there are too many.
pub(crate) fn entering(gate: &OsStr) -> Result<String, GateError> {
    with(std::env::var(VARIABLE).unwrap_or_default(), gate)
}

fn with(mut gates: String, gate: &OsStr) -> Result<String, GateError> {
    let gate = gate.to_string_lossy().escape_debug().to_string();
    debug_assert!(!gate.contains('\n'), "a gate is one line");
    if gates.lines().any(|before| before == gate) {
        return Err(GateError::Itself(gate));
    }
    if gates.lines().count() == GATES_MAX {
        return Err(GateError::Many(gate));
    }
    gates.push_str(&gate);
    gates.push('\n');
    Ok(gates)
}

/// Returns the variable with the gates, and its value, for the ssh of `rove -W`, `exec` or `put`. `None` for others.
pub(crate) fn variable(options: &HostOptions) -> Option<(&'static str, &str)> {
    match &options.session {
        WantedSession::Streams(passage) => Some((VARIABLE, &passage.gates)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_is_not_reached_through_itself() {
        let with = |gates: String, gate: &str| with(gates, OsStr::new(gate));
        let gates = with(with(String::new(), "outer").unwrap(), "me@inner").unwrap();
        assert_eq!(gates, "outer\nme@inner\n");
        for gate in ["outer", "me@inner"] {
            assert_eq!(with(gates.clone(), gate), Err(GateError::Itself(gate.to_owned())));
        }
        // A name that contains a line break is one name.
        let odd = with(gates.clone(), "x\nouter").unwrap();
        assert!(with(odd, "x").is_ok() && with(gates, "inner").is_ok());
    }

    #[test]
    fn a_configuration_that_makes_new_names_comes_to_an_end() {
        let mut gates = String::new();
        for number in 0..GATES_MAX {
            gates = with(gates, OsStr::new(&number.to_string())).unwrap();
        }
        assert_eq!(with(gates, OsStr::new("x")), Err(GateError::Many("x".to_owned())));
    }
}
