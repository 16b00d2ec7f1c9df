//! The folders of Termux, which has none of the usual ones: Android forbids programs to make them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The end of the folder's path. Other systems use the variable `PREFIX` for other things.
/// Source: Termux, "Termux file system layout".
const FOLDER: &str = "com.termux/files/usr";

/// Returns Termux's folder of programs, `$PREFIX`. `None` outside Termux.
pub fn prefix() -> Option<PathBuf> {
    chosen(std::env::var_os("PREFIX").as_deref())
}

/// Returns the path of a POSIX shell.
pub fn shell() -> PathBuf {
    prefix().map_or_else(|| "/bin/sh".into(), |prefix| prefix.join("bin/sh"))
}

fn chosen(variable: Option<&OsStr>) -> Option<PathBuf> {
    let path = Path::new(variable?);
    (path.is_absolute() && path.ends_with(FOLDER)).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_termuxs_own_folder_counts() {
        for (variable, is_termux) in [
            ("/data/data/com.termux/files/usr", true),
            ("/data/user/10/com.termux/files/usr/", true),
            ("/opt/conda", false),
            ("/usr", false),
            ("", false),
            ("data/data/com.termux/files/usr", false),
            ("/data/data/my.com.termux/files/usr", false),
        ] {
            let found = chosen(Some(OsStr::new(variable)));
            assert_eq!(found.is_some(), is_termux, "{variable:?}");
        }
        assert_eq!(chosen(None), None);
    }
}
