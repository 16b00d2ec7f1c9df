//! The user's folders for several kinds of files (XDG Base Directory Specification 0.8).

use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folder {
    /// Files that the user writes.
    Configuration,
    /// Files that a program needs, but that its user does not write.
    Data,
    /// Files that a program can do without.
    Cache,
    /// Files that programs remember from one run to the next.
    State,
}

impl Folder {
    /// Returns the user's folder of this kind, from the environment variables. `None` if they name no folder.
    pub(crate) fn path(self, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let (name, usual) = match self {
            Self::Configuration => ("XDG_CONFIG_HOME", ".config"),
            Self::Cache => ("XDG_CACHE_HOME", ".cache"),
            Self::Data => ("XDG_DATA_HOME", ".local/share"),
            Self::State => ("XDG_STATE_HOME", ".local/state"),
        };
        // By the specification, relative paths are ignored.
        let folder = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        folder(name).or_else(|| Some(folder("HOME")?.join(usual)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_folder_is_ignored() {
        for (variables, path) in [
            (vec![], None),
            (vec![("HOME", "h")], None),
            (vec![("HOME", "/h")], Some("/h/.local/state")),
            (vec![("HOME", "/h"), ("XDG_STATE_HOME", "s")], Some("/h/.local/state")),
            (vec![("HOME", "/h"), ("XDG_STATE_HOME", "")], Some("/h/.local/state")),
            (vec![("HOME", "/h"), ("XDG_STATE_HOME", "/s")], Some("/s")),
        ] {
            let variable = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, it)| OsString::from(it))
            };
            assert_eq!(Folder::State.path(variable), path.map(PathBuf::from), "{variables:?}");
        }
    }
}
