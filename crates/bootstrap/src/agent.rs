//! The ssh agent that a session forwards to its host (ssh's `-A`, `ForwardAgent`), read from the output of `ssh -G`.

use serde::{Deserialize, Serialize};

/// The location of the ssh agent that the session forwards to the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LentAgent {
    /// The session forwards the agent that ssh uses by default (`SSH_AUTH_SOCK`).
    Usual,
    /// The agent's socket is at this path. `~/` is the home directory, and `$` begins the name of a variable with the
    /// path.
    At(String),
}

/// How the user controls the use of the forwarded agent (the setting `agent`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgentUse {
    /// A notice reports each use.
    #[default]
    Notify,
    /// Each use needs the user's consent.
    Confirm,
}

named!(AgentUse: "notify" => Notify, "confirm" => Confirm);

impl LentAgent {
    /// Parses `ForwardAgent` and `IdentityAgent` (the path of ssh's agent). `None` if ssh forwards no agent.
    pub(crate) fn read(forward: &str, identity: &str) -> Option<Self> {
        let is_path =
            |text: &str| text.starts_with(['/', '~', '$']) && !text.contains(char::is_control);
        match forward {
            "yes" if identity == "none" => None,
            "yes" if is_path(identity) => Some(Self::At(identity.to_owned())),
            "yes" => Some(Self::Usual),
            path if is_path(path) => Some(Self::At(path.to_owned())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_is_where_ssh_would_take_it_from() {
        let at = |path: &str| Some(LentAgent::At(path.to_owned()));
        for (forward, identity, lent) in [
            ("no", "", None),
            ("", "", None),
            ("yes", "", Some(LentAgent::Usual)),
            ("yes", "SSH_AUTH_SOCK", Some(LentAgent::Usual)),
            ("yes", "none", None),
            ("yes", "~/.1password/agent.sock", at("~/.1password/agent.sock")),
            ("yes", "$MY_AGENT", at("$MY_AGENT")),
            ("/run/agent", "~/other", at("/run/agent")),
            ("$SOCK", "", at("$SOCK")),
            ("no", "/run/agent", None),
            ("/run/\x1bagent", "", None),
        ] {
            assert_eq!(LentAgent::read(forward, identity), lent, "{forward:?} {identity:?}");
        }
    }

    #[test]
    fn a_use_has_its_name() {
        assert_eq!(AgentUse::from_name("notify"), Some(AgentUse::Notify));
        assert_eq!(AgentUse::from_name("confirm"), Some(AgentUse::Confirm));
        assert_eq!(AgentUse::from_name("never"), None);
    }
}
