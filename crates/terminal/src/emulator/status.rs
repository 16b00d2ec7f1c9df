//! What programs say of themselves: where they are (OSC 7), how far they have come (OSC 9;4).

use crate::screen::Screen;
use crate::screen::decoration::URI_BYTES_MAX;
use crate::screen::progress::Progress;

/// Beginnings of the addresses that a working directory may have.
/// Source: what shells write by the terminals' documentation; the second is kitty's.
const DIRECTORY_SCHEMES: [&str; 2] = ["file://", "kitty-shell-cwd://"];

/// OSC 7: the address of the working directory; empty where it is not known any more.
pub(crate) fn set_directory(screen: &mut Screen, uri: &str) {
    let is_directory = uri.len() <= URI_BYTES_MAX
        && uri.bytes().all(|byte| byte.is_ascii_graphic())
        && DIRECTORY_SCHEMES.iter().any(|scheme| uri.starts_with(scheme));
    if (uri.is_empty() || is_directory) && *screen.directory != *uri {
        screen.directory = uri.into();
    }
}

/// OSC 9;4.
pub(crate) fn set_progress(screen: &mut Screen, text: &str) {
    if let Some(progress) = Progress::after(screen.progress, text) {
        screen.progress = progress;
    }
}
