//! Why a session cannot be resumed, or not be written.

use std::io;

use rove_control::DirectoryError;

/// Why a session cannot be resumed, or not be written.
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
