//! The terminal's modes that concern typed keys.

use rove_terminal::{Tty, TtyCharacters, TtyModes};
use rustix::termios::{InputModes, LocalModes, OutputModes, SpecialCodeIndex, Termios};

/// Modes of input, output and echo that only Linux has: conversions of upper case, and delays of tabs.
#[cfg(any(target_os = "linux", target_os = "android"))]
const OF_LINUX: [libc::tcflag_t; 3] = [
    InputModes::IUCLC.bits(),
    OutputModes::OLCUC.union(OutputModes::TABDLY).bits(),
    LocalModes::XCASE.bits(),
];
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const OF_LINUX: [libc::tcflag_t; 3] = [0; 3];

/// Returns how a terminal with these settings treats typed keys.
pub(super) fn tty(found: &Termios) -> Tty {
    let (input, local) = (found.input_modes, found.local_modes);
    let returns = OutputModes::OPOST | OutputModes::ONLCR;
    let modes = [
        (local.contains(LocalModes::ECHO), TtyModes::ECHO),
        (local.contains(LocalModes::ICANON), TtyModes::CANONICAL),
        (local.contains(LocalModes::ECHOCTL), TtyModes::ECHO_CONTROL),
        (local.contains(LocalModes::ECHOE), TtyModes::ECHO_ERASE),
        (local.contains(LocalModes::ECHOK), TtyModes::ECHO_KILL),
        (local.contains(LocalModes::ECHOKE), TtyModes::ECHO_KILL_ERASE),
        (local.contains(LocalModes::ISIG), TtyModes::SIGNALS),
        (local.contains(LocalModes::IEXTEN), TtyModes::EXTENDED),
        (input.contains(InputModes::ICRNL), TtyModes::RETURN_IS_NEW_LINE),
        (found.output_modes.contains(returns), TtyModes::NEW_LINE_RETURNS),
        (input.contains(InputModes::IXON), TtyModes::FLOW_CONTROL),
        (takes_utf8(input), TtyModes::UTF8),
        (is_ordinary(found), TtyModes::ORDINARY),
    ];
    let modes = modes
        .into_iter()
        .filter_map(|(is_on, mode)| is_on.then_some(mode))
        .fold(TtyModes::empty(), TtyModes::union);
    Tty { modes, characters: characters(found), prompt: None }
}

fn characters(found: &Termios) -> TtyCharacters {
    let codes = [
        SpecialCodeIndex::VERASE,
        SpecialCodeIndex::VKILL,
        SpecialCodeIndex::VWERASE,
        SpecialCodeIndex::VLNEXT,
        SpecialCodeIndex::VREPRINT,
        SpecialCodeIndex::VEOF,
        SpecialCodeIndex::VEOL,
        SpecialCodeIndex::VEOL2,
        SpecialCodeIndex::VINTR,
        SpecialCodeIndex::VQUIT,
        SpecialCodeIndex::VSUSP,
        SpecialCodeIndex::VSTART,
        SpecialCodeIndex::VSTOP,
    ];
    let codes = codes.map(|index| found.special_codes[index]);
    TtyCharacters(codes.map(|code| if code == libc::_POSIX_VDISABLE { 0 } else { code }))
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
fn takes_utf8(input: InputModes) -> bool {
    input.contains(InputModes::IUTF8)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
fn takes_utf8(_: InputModes) -> bool {
    false
}

/// Returns whether the echo of text and of the erase key depends only on modes that [`tty`] reports. Under such modes,
/// Linux, macOS and FreeBSD echo the same bytes.
fn is_ordinary(found: &Termios) -> bool {
    let input = InputModes::ISTRIP | InputModes::INLCR | InputModes::IGNCR | InputModes::PARMRK;
    let output = OutputModes::OCRNL | OutputModes::ONOCR | OutputModes::ONLRET;
    // If a key has made the terminal discard output (FLUSHO), the terminal discards the echo, too. Linux never does.
    let local = LocalModes::ECHOPRT | LocalModes::EXTPROC | LocalModes::FLUSHO;
    let [more_input, more_output, more_local] = OF_LINUX;
    !found.input_modes.intersects(input | InputModes::from_bits_retain(more_input))
        && !found.output_modes.intersects(output | OutputModes::from_bits_retain(more_output))
        && !found.local_modes.intersects(local | LocalModes::from_bits_retain(more_local))
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
