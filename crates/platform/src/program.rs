//! A program that is to be executed on a pseudo-terminal.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::process::Rlimit;

/// The search path when the environment has none.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A program ready to be executed: everything that needs memory is prepared before the fork.
pub struct Program {
    /// The paths at which it may be, in the order to be tried.
    pub candidates: Vec<CString>,
    /// Its arguments, its own name first.
    pub arguments: Vec<CString>,
    /// Its environment, as `NAME=VALUE`.
    pub environment: Vec<CString>,
    /// The directory it starts in; where it cannot be entered, the current one.
    pub directory: CString,
    /// Text that the terminal shows before it starts.
    pub greeting: Vec<u8>,
    /// Text that the terminal shows when there is no such program.
    pub not_found: Vec<u8>,
    /// Text that the terminal shows when the program is there but cannot be started.
    pub not_executable: Vec<u8>,
    /// The limit on core dumps it gets back.
    pub core_limit: Rlimit,
}

/// The end of a child that cannot become its program, after it has said so on the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It ends at once, as its reader keeps its message.
    Ends,
    /// It waits first, as the terminal is cleared when it has ended.
    Waits,
}

impl Failure {
    /// Returns the byte that tells the child.
    pub(crate) const fn as_byte(self) -> u8 {
        match self {
            Self::Ends => b'e',
            Self::Waits => b'w',
        }
    }
}

/// Returns the path of this process's own program, as it was when first asked for.
///
/// The kernel tells the path from the mount that the program was started from. A process that leaves its mount namespace as
/// the last one in it has that mount detached, and the path then begins there: `/rove` in place of `/tmp/rove`.
/// [`cover_file`](crate::namespace::cover_file) asks before it leaves.
///
/// # Errors
///
/// Returns the system's refusal, such as where `/proc` is not mounted.
pub fn own_file() -> io::Result<&'static Path> {
    static OWN: OnceLock<PathBuf> = OnceLock::new();
    match OWN.get() {
        Some(path) => Ok(path),
        None => std::env::current_exe().map(|path| OWN.get_or_init(|| path).as_path()),
    }
}

/// Returns where the program called `name` may be, in the order of the search path.
pub fn candidates(name: &OsStr, path: Option<&OsString>) -> Vec<CString> {
    if name.as_bytes().contains(&b'/') {
        return c_string(name.to_owned()).into_iter().collect();
    }
    let path = path.cloned().unwrap_or_else(|| DEFAULT_PATH.into());
    std::env::split_paths(&path)
        .filter_map(|directory| c_string(directory.join(name).into_os_string()))
        .collect()
}

/// Joins `NAME=VALUE`; `None` where a null byte makes it unusable.
pub fn assignment(name: &OsStr, value: &OsStr) -> Option<CString> {
    let mut joined = name.to_owned();
    joined.push("=");
    joined.push(value);
    c_string(joined)
}

/// Returns text as system calls want it; `None` where a null byte makes it unusable.
pub fn c_string(text: OsString) -> Option<CString> {
    CString::new(text.into_vec()).ok()
}
