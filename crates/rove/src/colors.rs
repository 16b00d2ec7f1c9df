//! How many colours the user's terminal has, by its terminfo entry.

use std::env;

use termini::{NumberCapability, TermInfo};

/// Colours of a terminal that terminfo does not know: what every xterm-like one has at least.
const XTERM_COLORS: i32 = 8;

/// Returns the number of colours of the terminal `TERM` names, -1 for a terminal without any.
///
/// # Errors
///
/// Returns a sentence for the user if `TERM` is unset or names no known terminal.
pub(crate) fn of_terminal() -> Result<i32, String> {
    let term = env::var("TERM").ok().filter(|term| !term.is_empty());
    let term = term.ok_or("TERM environment variable not set.")?;
    // A name is looked up as a file: one with a slash would be some file.
    if term.contains('/') {
        return Err(format!("'{}': unknown terminal type.", term.escape_debug()));
    }
    match TermInfo::from_name(&term) {
        Ok(terminfo) => Ok(terminfo.number_cap(NumberCapability::MaxColors).unwrap_or(-1)),
        Err(_) => Err(format!("'{}': unknown terminal type.", term.escape_debug())),
    }
}

/// Returns the number of colours, guessed from the name where terminfo does not know the terminal.
pub(crate) fn of_terminal_or_guess() -> u32 {
    let colors = of_terminal().unwrap_or_else(|_| {
        let rich = env::var("TERM").is_ok_and(|term| term.contains("256color"))
            || env::var_os("COLORTERM").is_some();
        if rich { 256 } else { XTERM_COLORS }
    });
    u32::try_from(colors).unwrap_or(0)
}
