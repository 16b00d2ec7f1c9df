//! Why a session cannot be resumed, or its record cannot be written.

use std::io;

use rove_control::DirectoryError;

use crate::messages::reason;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ResumeFileError {
    #[error("neither XDG_DATA_HOME nor HOME names a folder for the key of its record")]
    NoPlace,
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    #[error("another client has it")]
    Busy,
    #[error("its record is cut short")]
    Truncated,
    #[error("its record is not one of rove's, or belongs to another session")]
    Foreign,
    #[error("its record is older than what was sent since: it was restored from a copy")]
    Old,
    #[error("its record was copied; only the original is taken")]
    Copied,
    #[error("its record is of another computer")]
    OtherComputer,
    #[error(
        "the computer has been started again since (`resume = \"reboot\"` keeps records over that)"
    )]
    OtherBoot,
    #[error("its record: {0}")]
    Io(#[from] io::Error),
}

impl ResumeFileError {
    /// Returns whether the user has prevented records on purpose, because the environment names no folder for records,
    /// or something other than a folder.
    pub(crate) fn is_wanted(&self) -> bool {
        match self {
            Self::NoPlace | Self::Directory(DirectoryError::NotDirectory(_)) => true,
            _ => self.system().is_some_and(|error| error.kind() == io::ErrorKind::NotADirectory),
        }
    }

    /// Returns why there is no record, if possible only in the system's words, to fit into a screen's line.
    pub(crate) fn in_short(&self) -> String {
        reason(&self.system().map_or_else(|| self.to_string(), io::Error::to_string))
    }

    const fn system(&self) -> Option<&io::Error> {
        match self {
            Self::Io(error) | Self::Directory(DirectoryError::Io(_, error)) => Some(error),
            _ => None,
        }
    }
}
