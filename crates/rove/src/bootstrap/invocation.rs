//! How rove was called, and how to find its own and other programs.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rove_bootstrap::ProgramName;

/// The name of a link by which rove is `rove exec`, for programs that name ssh by one word.
pub(crate) const EXEC_NAME: &str = "rove-exec";

/// The command line that rove was called with, for process lists and to start the same program again.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    pub(crate) name: ProgramName,
    /// The first word of the command line, by which rove was called.
    pub(crate) program: OsString,
    /// The words after the program's name.
    pub(crate) args: Vec<OsString>,
}

impl Invocation {
    /// Returns a path that starts this program again, under the same name if possible.
    pub(crate) fn own_path(&self) -> OsString {
        let called = Path::new(&self.program).file_name();
        if called == Some(OsStr::new(EXEC_NAME))
            && let Ok(own) = env::current_exe()
        {
            // By that name, all words are those of `rove exec`. macOS tells the link's.
            return own.canonicalize().unwrap_or(own).into();
        }
        if self.program.as_encoded_bytes().contains(&b'/') {
            return self.program.clone();
        }
        let found = find_in_path(&self.program);
        found.or_else(|| env::current_exe().ok()).map_or_else(|| self.program.clone(), Into::into)
    }

    /// Returns the name in front of messages to the user; stock Mosh uses the path it was called by.
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

/// Returns the first file named `program` in the folders of `PATH`. `None` if there is none.
pub(crate) fn find_in_path(program: &OsStr) -> Option<PathBuf> {
    let search_path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&search_path)
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file())
}
