//! The folders of Termux, an app whose programs are all under `$PREFIX`, because Android lets it write nowhere else.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The end of `$PREFIX` in Termux. Other systems use this variable for other things.
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
