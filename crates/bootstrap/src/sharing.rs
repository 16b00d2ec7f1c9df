//! Whether a new ssh may use an open connection of another ssh (`ControlMaster`), and the ssh options for each case.

use std::path::{Path, PathBuf};

/// The options with which ssh shares no connection. They come last, because ssh uses the last `-S` on its command line.
pub const OWN_CONNECTION: [&str; 2] = ["-S", "none"];

/// Whether a new ssh may use an open connection of another ssh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// ssh's configuration could not be read.
    #[default]
    Unknown,
    /// The configuration does not share connections.
    Unconfigured,
    /// The control socket is at a path that only the user controls.
    Trusted {
        /// Whether the control socket exists.
        is_open: bool,
    },
    /// Another user controls the control socket, or could control it. The text is a warning for the user.
    Refused(String),
}

impl Sharing {
    /// Returns whether a new ssh shares an open connection, if there is one.
    pub const fn is_configured(&self) -> bool {
        matches!(self, Self::Trusted { .. })
    }

    /// Returns whether there is an open connection that a new ssh may use.
    pub const fn has_master(&self) -> bool {
        matches!(self, Self::Trusted { is_open: true })
    }

    /// Returns the options for a new ssh, to be put after all of the user's options.
    pub fn words(&self) -> &'static [&'static str] {
        match self {
            Self::Unconfigured | Self::Trusted { .. } => &[],
            Self::Unknown | Self::Refused(_) => &OWN_CONNECTION,
        }
    }

    /// Returns why ssh shares no connection, as a warning for the user. `None` except for [`Self::Refused`].
    pub fn note(&self) -> Option<&str> {
        match self {
            Self::Refused(sentence) => Some(sentence),
            _ => None,
        }
    }
}

/// How a new ssh opens or shares a connection of this run of rove.
#[derive(Clone, Debug)]
pub struct Shared {
    /// The path of the control socket.
    pub path: PathBuf,
    /// Whether the connection is open already. If not, the new ssh opens it.
    pub is_open: bool,
}

impl Shared {
    /// Returns the options for a new ssh, to be put before all of the user's options.
    pub fn first_words(&self) -> Vec<&'static str> {
        match self.is_open {
            // If the open connection has ended, this ssh makes a new connection, which it does not share.
            true => vec!["-o", "ControlMaster=no"],
            // Without `ControlPersist=no`, a configured master could go to the background, and would never end.
            false => vec!["-o", "ControlMaster=yes", "-o", "ControlPersist=no"],
        }
    }

    /// Returns the options for a new ssh, to be put after all of the user's options.
    pub fn last_words(&self) -> [&Path; 2] {
        [Path::new("-S"), &self.path]
    }
}
