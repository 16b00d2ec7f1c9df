//! The user's agent that a session lends to its host: ssh's `-A` and `ForwardAgent`, as `ssh -G` prints them.

use serde::{Deserialize, Serialize};

/// Where the agent is that is lent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LentAgent {
    /// The agent is where ssh looks for it.
    Usual,
    /// The agent is at this path, or at the one in the variable of this name after `$`.
    At(String),
}

/// How the user learns of the agent's use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgentUse {
    /// The notice bar tells of each use.
    #[default]
    Notify,
    /// The user allows each use.
    Confirm,
}

impl AgentUse {
    /// The values of the setting.
    pub const NAMES: &'static [&'static str] = &["notify", "confirm"];

    /// Returns the use of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Notify, Self::Confirm];
        Self::NAMES.iter().zip(all).find(|(known, _)| **known == name).map(|(_, found)| found)
    }
}

impl LentAgent {
    /// Reads the values of `ForwardAgent` and `IdentityAgent`, which is where ssh looks. `None` if no agent is lent.
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
