//! Records how rove was called, and finds rove's own and other programs.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rove_bootstrap::ProgramName;
use rustix::fs::{Access, access};

/// Under this name, a link to rove acts as `rove exec`, for programs that accept only one word as their ssh command.
pub(crate) const EXEC_NAME: &str = "rove-exec";

/// The command line that rove was called with. It is shown in process lists and used to start rove again.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    pub(crate) name: ProgramName,
    /// The first word of the command line (`argv[0]`).
    pub(crate) program: OsString,
    /// The words after the program's name.
    pub(crate) args: Vec<OsString>,
}

impl Invocation {
    /// Returns a path that starts this program again: rove's own file or, for `mosh`, the path by which it was called.
    pub(crate) fn own_path(&self) -> OsString {
        let called = Path::new(&self.program).file_name();
        if (called == Some(OsStr::new(EXEC_NAME)) || self.name == ProgramName::Rove)
            && let Ok(own) = env::current_exe()
        {
            // `argv[0]` may name another program. It may also name the link `rove-exec`, under which every word is an
            // argument of `rove exec`. On macOS, `current_exe` returns the link, which must be resolved.
            return own.canonicalize().unwrap_or(own).into();
        }
        if self.program.as_encoded_bytes().contains(&b'/') {
            return self.program.clone();
        }
        let found = find_in_path(&self.program);
        found.or_else(|| env::current_exe().ok()).map_or_else(|| self.program.clone(), Into::into)
    }

    /// Returns the name that starts each message to the user. Stock `mosh` uses the path by which it was called.
    pub(crate) fn speaker(&self) -> String {
        match self.name {
            ProgramName::Rove => "rove".to_owned(),
            ProgramName::Mosh => self.own_path().to_string_lossy().into_owned(),
        }
    }

    /// Returns the client's argument that shows in process lists which command started the session.
    pub(crate) fn tag(&self) -> OsString {
        let mut tag = OsString::from("-#");
        for arg in &self.args {
            tag.push(" ");
            tag.push(arg);
        }
        tag.push(" |");
        tag
    }
}

/// Returns the first program named `program` in the folders of `PATH`. `None` if no folder has it.
pub(crate) fn find_in_path(program: &OsStr) -> Option<PathBuf> {
    let search_path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&search_path)
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file() && access(candidate, Access::EXEC_OK).is_ok())
}
