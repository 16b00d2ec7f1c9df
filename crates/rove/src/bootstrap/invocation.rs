//! How the program was called, and how it finds itself and others.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use rove_bootstrap::ProgramName;

/// How the program was called: what shows up in process lists, and how it finds itself again.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    pub(crate) name: ProgramName,
    /// The word it was called by.
    pub(crate) program: OsString,
    /// The words behind that.
    pub(crate) args: Vec<OsString>,
}

impl Invocation {
    /// Returns a path that starts this program again, under the same name if that is possible.
    pub(crate) fn own_path(&self) -> OsString {
        if self.program.as_encoded_bytes().contains(&b'/') {
            return self.program.clone();
        }
        let found = find_in_path(&self.program);
        found.or_else(|| env::current_exe().ok()).map_or_else(|| self.program.clone(), Into::into)
    }

    /// Returns the name under which the program speaks to the user; stock's is its path.
    pub(crate) fn speaker(&self) -> String {
        match self.name {
            ProgramName::Rove => "rove".to_owned(),
            ProgramName::Mosh => self.own_path().to_string_lossy().into_owned(),
        }
    }

    /// Returns the argument by which process lists, and programs that read them, tell where a
    /// session goes.
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

/// Returns the first file of this name in the folders of `PATH`.
pub(crate) fn find_in_path(program: &OsStr) -> Option<PathBuf> {
    let search_path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&search_path)
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file())
}
