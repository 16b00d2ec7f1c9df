//! Identifies the login of a session (the gate), and finds the sockets of clients with the same gate.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::PathBuf;

use rove_bootstrap::ssh_config::{DETOUR_CHARS_MAX, SshConfig};
use rove_session::StreamController;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The beginning of the file names of the sockets at which clients serve `rove exec` and `rove -W`.
const PURPOSE: &str = "gate";

/// Bytes of a gate's hash in the name of its socket. Chosen: short for a path, and collisions are rare. A request
/// contains the whole gate.
const HASH_BYTES: usize = 8;

/// The account on a host and the way there, by ssh's configuration: the same parts as in ssh's `%C`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Gate(String);

impl Gate {
    /// Returns the gate of this destination. `None` if a part is missing in ssh's configuration, or is too long.
    pub(crate) fn of(destination: &OsStr, config: &SshConfig) -> Option<Self> {
        let account = config.account()?;
        let detour = config.detour.as_deref().unwrap_or_default();
        if detour.chars().count() >= DETOUR_CHARS_MAX {
            return None;
        }
        // A proxy command may depend on the name that the user wrote.
        let name = if detour.contains("%n") { destination.to_str()? } else { "" };
        Some(Self(format!("{account} {detour} {name}")))
    }

    /// Adds a congestion controller other than the default to the gate. A call then needs a session with the same one.
    pub(crate) fn following(self, controller: Option<&str>) -> Self {
        let usual = StreamController::NAMES.first().copied();
        match controller.filter(|name| Some(*name) != usual) {
            Some(name) => Self(format!("{} by {name}", self.0)),
            None => self,
        }
    }

    /// Returns the beginning of the names of this gate's sockets.
    pub(crate) fn purpose(&self) -> String {
        let mut purpose = format!("{PURPOSE}-");
        for byte in Sha256::digest(self.0.as_bytes()).iter().take(HASH_BYTES) {
            let _ = write!(purpose, "{byte:02x}");
        }
        purpose
    }

    /// Returns the sockets of this gate's clients, the newest first.
    pub(crate) fn sockets(&self) -> Vec<PathBuf> {
        rove_control::sockets_of(&self.purpose())
    }
}

#[cfg(test)]
mod tests {
    use rove_bootstrap::{Sharing, ssh_config};

    use super::*;

    fn gate(answer: &str, name: &str) -> Option<Gate> {
        Gate::of(OsStr::new(name), &ssh_config::parse(answer, |_| Sharing::Unknown))
    }

    #[test]
    fn a_gate_is_the_account_and_the_way_and_not_the_name_that_was_typed() {
        let far = "user me\nhostname a.example\nport 22\n";
        let plain = gate(far, "a").unwrap();
        assert_eq!(gate(far, "me@alias"), Some(plain.clone()));
        let jump = format!("{far}proxyjump bastion\n");
        let command = format!("{far}proxycommand nc %n 22\n");
        for (other, name) in [
            ("user you\nhostname a.example\nport 22\n", "a"),
            ("user me\nhostname b.example\nport 22\n", "a"),
            ("user me\nhostname a.example\nport 23\n", "a"),
            (&*jump, "a"),
            (&*command, "a"),
        ] {
            let other = gate(other, name).unwrap();
            assert_ne!(other, plain);
            assert_ne!(other.purpose(), plain.purpose());
        }
        assert_ne!(gate(&command, "a"), gate(&command, "b"));
        for unknown in ["", "user me\nport 22\n"] {
            assert_eq!(gate(unknown, "a"), None);
        }
        let by = |name| plain.clone().following(name);
        assert_eq!([by(None), by(Some("low-delay"))], [plain.clone(), plain.clone()]);
        assert!(
            by(Some("cubic")).purpose() != plain.purpose()
                && by(Some("cubic")) != by(Some("ledbat"))
        );
        // Only the beginning of such a long proxy command is known.
        let long = format!("{far}proxycommand {}\n", "x".repeat(DETOUR_CHARS_MAX));
        assert_eq!(gate(&long, "a"), None);
    }
}
