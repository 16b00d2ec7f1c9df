//! Finds and reads the user's configuration file, and refuses a file that another user can change.
//!
//! A setting may be a command (`ssh`), so whoever can write the file can run commands as the user. [`exposure`] checks
//! the file, the folders on the way to it, and every symbolic link.

use std::env;
use std::ffi::OsString;
use std::fmt::{self, Display};
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use crate::bounded;
use crate::exposure::{self, Exposure};
use crate::own_file;
use crate::xdg::Folder;

/// The variable that names another configuration file; an empty value means that no file is read.
const FILE_VARIABLE: &str = "ROVE_CONFIG";
/// The file's path below the folder for configuration.
const FILE_NAME: &str = "rove/config.toml";
/// Size of the largest configuration file that is read, in bytes. Chosen: a thousand hosts with ten settings each.
pub(super) const FILE_BYTES_MAX: usize = 1_048_576;

/// Why the configuration file is not used.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The file cannot be read.
    Unreadable { path: PathBuf, error: io::Error },
    /// Another user can change the file, or a folder on the way to it.
    Exposed { path: PathBuf, exposure: Exposure },
    /// The home directory belongs to another user, as after sudo.
    Homeless(Exposure),
}

impl Refusal {
    /// Returns a sentence on how to repair the problem. `None` if there is no such advice.
    pub(super) fn repair(&self) -> Option<String> {
        match self {
            Self::Unreadable { .. } => None,
            Self::Exposed { exposure, .. } => {
                exposure.repair().map(|command| format!("to repair it: {command}"))
            }
            Self::Homeless(_) => Some("to go on: sudo -H, or ROVE_CONFIG= for no file".to_owned()),
        }
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, error } => {
                write!(f, "cannot read the configuration {}: {error}", path.display())
            }
            Self::Exposed { path, exposure } => {
                write!(f, "the configuration {} is not obeyed, as {exposure}", path.display())
            }
            Self::Homeless(exposure) => {
                write!(f, "no configuration is looked for in HOME, as {exposure}")
            }
        }
    }
}

/// Returns the path of the configuration file. `None` if `ROVE_CONFIG` is empty or no folder for it is known.
pub(crate) fn path() -> Option<PathBuf> {
    path_from(|name| env::var_os(name))
}

pub(super) fn path_from(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(path) = variable(FILE_VARIABLE) {
        return (!path.is_empty()).then(|| path.into());
    }
    Some(Folder::Configuration.path(variable)?.join(FILE_NAME))
}

/// Returns the bytes of a file that no other user can change. `None` if there is no file.
///
/// # Errors
///
/// Returns why the file is not used. A file of more than [`FILE_BYTES_MAX`] is unreadable.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, Refusal> {
    let unreadable = |error| Refusal::Unreadable { path: path.to_owned(), error };
    let exposed = |exposure| match exposure {
        Exposure::Io { error, .. } => Refusal::Unreadable { path: path.to_owned(), error },
        exposure => Refusal::Exposed { path: path.to_owned(), exposure },
    };
    let home = match exposure::home() {
        Ok(home) => home,
        // The other user who owns the home directory may create the file, so even a missing file is refused.
        Err(exposure) if path.starts_with(exposure.path()) => {
            return Err(Refusal::Homeless(exposure));
        }
        Err(_) => None,
    };
    match path.metadata().map_err(|error| (error.kind(), error)) {
        Err((io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, _)) => return Ok(None),
        found => found.map_err(|(_, error)| unreadable(error))?,
    };
    let end = exposure::way(path, home.as_deref()).map_err(exposed)?;
    // The call does not follow a link that was created since the check.
    let file = own_file::open(&end, OpenOptions::new().read(true)).map_err(unreadable)?;
    exposure::file(&end, &file.metadata().map_err(unreadable)?).map_err(exposed)?;
    bounded::read_whole(file, FILE_BYTES_MAX as u64).map(Some).map_err(unreadable)
}
