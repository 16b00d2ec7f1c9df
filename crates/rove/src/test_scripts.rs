//! Scripts that the tests execute.

use std::path::Path;
use std::process::Command;

/// Writes an executable script.
///
/// Another process does it. A descriptor of ours, open for writing, would for a moment be in the
/// children that other tests fork just then, and a file that somebody may write cannot be executed.
pub(crate) fn install_script(path: &Path, text: &str) {
    let status = Command::new("/bin/sh")
        .args(["-c", "printf %s \"$1\" >\"$2\" && chmod 755 \"$2\"", "sh", text])
        .arg(path)
        .status()
        .expect("every system has a shell");
    assert!(status.success(), "{} can be written", path.display());
}
