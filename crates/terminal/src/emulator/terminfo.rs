//! Terminfo entries that programs query by name (XTGETTCAP).

use crate::emulator::hexadecimal::{decoded, encoded};

/// The known entries by name, with their values in terminfo's format. `None` for an entry that has no value.
///
/// Chosen: the entries that current programs query, with the values of xterm and kitty.
const CAPABILITIES: [(&str, Option<&str>); 11] = [
    ("TN", Some("xterm-256color")),
    ("Co", Some("256")),
    ("colors", Some("256")),
    ("RGB", Some("8/8/8")),
    ("Tc", None),
    ("Su", None),
    ("Smulx", Some("\x1b[4:%p1%dm")),
    ("Setulc", Some("\x1b[58:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d%;m")),
    ("Ms", Some("\x1b]52;%p1%s;%p2%s\x07")),
    ("Ss", Some("\x1b[%p1%d q")),
    ("Se", Some("\x1b[0 q")),
];

/// Returns the answer to one name of an XTGETTCAP request. The request and the answer use hexadecimal digits.
pub(crate) fn answer(name: &str) -> String {
    let Some(plain) = decoded(name) else { return "\x1bP0+r\x1b\\".to_owned() };
    match CAPABILITIES.iter().find(|(known, _)| known.as_bytes() == plain) {
        Some((_, Some(value))) => format!("\x1bP1+r{name}={}\x1b\\", encoded(value)),
        Some((_, None)) => format!("\x1bP1+r{name}\x1b\\"),
        None => format!("\x1bP0+r{name}\x1b\\"),
    }
}
