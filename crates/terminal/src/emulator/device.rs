//! Answers to DECDSR, which queries the devices attached to a DEC terminal. The emulator has only a keyboard.

use crate::emulator::level::Level;

/// Returns the answer to `CSI ? what ; request n`. `None` for an unknown query, or one that `level` lacks. Source:
/// xterm's ctlseqs; xterm 379 as observed for the level of each query.
pub(crate) fn report(what: u16, request: u16, level: Level) -> Option<String> {
    let (least, answer) = match what {
        // There is no printer.
        15 => (Level::VT200, "\x1b[?13n"),
        // User-defined keys count as unlocked, although no sequence defines such keys.
        25 => (Level::VT200, "\x1b[?20n"),
        26 => (Level::VT200, keyboard(level)),
        // There is no locator, and so no type of locator.
        53 | 55 => (Level::VT300, "\x1b[?50n"),
        56 => (Level::VT300, "\x1b[?57;0n"),
        // There is no memory for macros.
        62 => (Level::VT400, "\x1b[0000*{"),
        // There is no memory to check, so the reported checksum is 0.
        63 => return (level >= Level::VT400).then(|| format!("\x1bP{request}!~0000\x1b\\")),
        // The line (75) has no errors. There is a single session (85).
        75 => (Level::VT400, "\x1b[?70n"),
        85 => (Level::VT400, "\x1b[?83n"),
        _ => return None,
    };
    (level >= least).then(|| answer.to_owned())
}

/// Returns the report of a North American keyboard. VT300 adds its state (ready), and VT400 its type.
fn keyboard(level: Level) -> &'static str {
    if level >= Level::VT400 {
        "\x1b[?27;1;0;0n"
    } else if level >= Level::VT300 {
        "\x1b[?27;1;0n"
    } else {
        "\x1b[?27;1n"
    }
}
