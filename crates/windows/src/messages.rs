//! Prints sentences for the user. Errors are ignored, because a stream may have no reader.

use std::io::{self, Write};

/// Prints text that the user asked for.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stdout(), "{}", text.trim_end());
}

/// Prints a problem.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
