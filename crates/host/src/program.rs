//! A program that will be executed on a pseudo-terminal or on pipes.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::process::Rlimit;

/// The search path for programs if the environment has no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A program ready for exec. Everything that needs memory is prepared before the fork.
pub struct Program {
    /// The paths at which the program may be, in the order in which they are tried.
    pub candidates: Vec<CString>,
    /// The arguments, with the program's own name first.
    pub arguments: Vec<CString>,
    /// The environment variables, as `NAME=VALUE`.
    pub environment: Vec<CString>,
    /// The directory in which the program starts. If it cannot be entered, the program starts in the current directory.
    pub directory: CString,
    /// Text that the terminal shows before the program starts.
    pub greeting: Vec<u8>,
    /// Text that the terminal shows if no candidate exists.
    pub not_found: Vec<u8>,
    /// Text that the terminal shows if the program exists but cannot be started.
    pub not_executable: Vec<u8>,
    /// The program's limit on core dumps. The server lowers its own limit, to keep its memory out of dumps.
    pub core_limit: Rlimit,
}

/// How a child process ends after it could not execute its program and has written an error message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The child ends at once, because the message stays visible.
    Ends,
    /// The child waits first, because the terminal is cleared when the child ends.
    Waits,
}

impl Failure {
    /// Returns the byte that is sent to the child for this choice.
    pub(crate) const fn as_byte(self) -> u8 {
        match self {
            Self::Ends => b'e',
            Self::Waits => b'w',
        }
    }
}

/// Returns the path of this process's executable file, as it was at the first call.
///
/// The kernel gives the path from the mount of the executable. If the last process in a mount namespace leaves it, the
/// mount is detached. The path then begins at the mount: `/rove` in place of `/tmp/rove`. So the laboratory calls this
/// function before it leaves a mount namespace.
///
/// # Errors
///
/// Returns the error of the system call, for example if `/proc` is not mounted.
pub fn own_file() -> io::Result<&'static Path> {
    static OWN: OnceLock<PathBuf> = OnceLock::new();
    match OWN.get() {
        Some(path) => Ok(path),
        None => std::env::current_exe().map(|path| OWN.get_or_init(|| path).as_path()),
    }
}

/// Returns the paths to try for the program `name`: `name` itself if it has a slash, else along the search path.
pub fn candidates(name: &OsStr, path: Option<&OsString>) -> Vec<CString> {
    if name.as_bytes().contains(&b'/') {
        return c_string(name.to_owned()).into_iter().collect();
    }
    let path = path.cloned().unwrap_or_else(|| DEFAULT_PATH.into());
    std::env::split_paths(&path)
        .filter_map(|directory| c_string(directory.join(name).into_os_string()))
        .collect()
}

/// Returns the environment string `NAME=VALUE`. `None` if it would contain a null byte.
pub fn assignment(name: &OsStr, value: &OsStr) -> Option<CString> {
    let mut joined = name.to_owned();
    joined.push("=");
    joined.push(value);
    c_string(joined)
}

/// Returns text as a C string. `None` if it contains a null byte.
pub fn c_string(text: OsString) -> Option<CString> {
    CString::new(text.into_vec()).ok()
}
