//! The status that programs report: working directory (OSC 7) and progress (OSC 9;4).

use crate::screen::Screen;
use crate::screen::decoration::URI_BYTES_MAX;
use crate::screen::progress::Progress;

/// The URI schemes that a working directory may have. Source: terminals document `file`, which shells write; the other
/// scheme is kitty's.
const DIRECTORY_SCHEMES: [&str; 2] = ["file://", "kitty-shell-cwd://"];

/// Sets the URI of the working directory (OSC 7). An empty URI means an unknown directory. Ignores an invalid URI.
pub(crate) fn set_directory(screen: &mut Screen, uri: &str) {
    let is_directory = uri.len() <= URI_BYTES_MAX
        && uri.bytes().all(|byte| byte.is_ascii_graphic())
        && DIRECTORY_SCHEMES.iter().any(|scheme| uri.starts_with(scheme));
    if (uri.is_empty() || is_directory) && *screen.directory != *uri {
        screen.directory = uri.into();
    }
}

/// Sets the progress bar (OSC 9;4). Ignores malformed text.
pub(crate) fn set_progress(screen: &mut Screen, text: &str) {
    if let Some(progress) = Progress::after(screen.progress, text) {
        screen.progress = progress;
    }
}
