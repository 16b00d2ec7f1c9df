//! The verdict on an open connection of ssh's (`ControlMaster`), and the words that it means for a new ssh.

use std::path::{Path, PathBuf};

/// The option by which ssh makes a connection of its own. The last one on the command line counts.
const OWN_CONNECTION: [&str; 2] = ["-S", "none"];

/// The verdict on an open connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// Nobody could be asked.
    #[default]
    Unknown,
    /// ssh is not to share any.
    Unconfigured,
    /// A place of the user's own.
    Trusted {
        /// Whether a socket is there.
        is_open: bool,
    },
    /// A socket that somebody else controls, or could; a sentence says why.
    Refused(String),
}

impl Sharing {
    /// Returns whether there is a connection that an ssh may go through.
    pub const fn has_master(&self) -> bool {
        matches!(self, Self::Trusted { is_open: true })
    }

    /// Returns the options for an ssh, to stand after all of the user's.
    pub fn words(&self) -> &'static [&'static str] {
        match self {
            Self::Unconfigured | Self::Trusted { .. } => &[],
            Self::Unknown | Self::Refused(_) => &OWN_CONNECTION,
        }
    }

    /// Returns what the user should know, in one line.
    pub fn note(&self) -> Option<&str> {
        match self {
            Self::Refused(sentence) => Some(sentence),
            _ => None,
        }
    }
}

/// How an ssh shares the run's own connection.
#[derive(Clone, Debug)]
pub struct Shared {
    /// Its control socket.
    pub path: PathBuf,
    /// Whether it is open already.
    pub is_open: bool,
}

impl Shared {
    /// Returns the options to stand before all of the user's.
    pub fn first_words(&self) -> Vec<&'static str> {
        match self.is_open {
            // Should it be gone by now, this ssh is on its own.
            true => vec!["-o", "ControlMaster=no"],
            // Nobody would end one that goes to the background.
            false => vec!["-o", "ControlMaster=yes", "-o", "ControlPersist=no"],
        }
    }

    /// Returns the options to stand after all of the user's.
    pub fn last_words(&self) -> [&Path; 2] {
        [Path::new("-S"), &self.path]
    }
}
