//! Answers to DECDSR, which asks for the devices around a DEC terminal; none of them is there.

use crate::emulator::level::Level;

/// Returns the answer to `CSI ? what ; request n` at this level; `None` for what it does not know.
/// Source: xterm's ctlseqs; the levels as xterm 379 has them.
pub(crate) fn report(what: u16, request: u16, level: Level) -> Option<String> {
    let (least, answer) = match what {
        // No printer.
        15 => (Level::VT200, "\x1b[?13n"),
        // User-defined keys are not locked, but there is no way to define any.
        25 => (Level::VT200, "\x1b[?20n"),
        26 => (Level::VT200, keyboard(level)),
        // No locator, so none of a known type.
        53 | 55 => (Level::VT300, "\x1b[?50n"),
        56 => (Level::VT300, "\x1b[?57;0n"),
        // No room for macros.
        62 => (Level::VT400, "\x1b[0000*{"),
        // Nothing that has a checksum.
        63 => return (level >= Level::VT400).then(|| format!("\x1bP{request}!~0000\x1b\\")),
        // No errors on the line; one session.
        75 => (Level::VT400, "\x1b[?70n"),
        85 => (Level::VT400, "\x1b[?83n"),
        _ => return None,
    };
    (level >= least).then(|| answer.to_owned())
}

/// North American; a VT300 adds that it is ready, a VT400 of which make it is.
fn keyboard(level: Level) -> &'static str {
    if level >= Level::VT400 {
        "\x1b[?27;1;0;0n"
    } else if level >= Level::VT300 {
        "\x1b[?27;1;0n"
    } else {
        "\x1b[?27;1n"
    }
}
