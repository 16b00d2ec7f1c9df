//! Prints sentences for the user. A stream that nobody reads is no fault.

use std::io::{self, Write};

/// Prints text that the user asked for.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stdout(), "{}", text.trim_end());
}

/// Prints a problem.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
