//! Finds the number of colours of the user's terminal in its terminfo entry.

use std::env;

use crate::terminfo;

/// Number of colours of a terminal without a terminfo entry. Each terminal like xterm has at least as many.
const XTERM_COLORS: i32 = 8;

/// Why the number of colours is unknown. Source of the texts: Mosh 1.4.0 as observed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TerminalNameError {
    #[error("TERM environment variable not set.")]
    Unset,
    #[error("'{}': unknown terminal type.", .0.escape_debug())]
    Unknown(String),
}

/// Returns the number of colours of the terminal that `TERM` names; -1 if its terminfo entry has no number.
pub(crate) fn of_terminal() -> Result<i32, TerminalNameError> {
    let term = env::var("TERM").ok().filter(|term| !term.is_empty());
    let term = term.ok_or(TerminalNameError::Unset)?;
    let colors = terminfo::look_up(&term, |info| info.numbers.get("colors").copied());
    colors.map(|it| it.unwrap_or(-1)).map_err(|_| TerminalNameError::Unknown(term))
}

/// Returns the terminfo entry's number of colours (0 if it has none), or else a guess from `TERM` and `COLORTERM`.
pub(crate) fn of_terminal_or_guess() -> u32 {
    let colors = of_terminal().unwrap_or_else(|_| {
        let rich = env::var("TERM").is_ok_and(|term| term.contains("256color"))
            || env::var_os("COLORTERM").is_some();
        if rich { 256 } else { XTERM_COLORS }
    });
    u32::try_from(colors).unwrap_or(0)
}
