//! Answers to the program on the pty.

use crate::emulator::checksum::{Checksum, ChecksumExtension};
use crate::emulator::grid::{Grid, Role};
use crate::emulator::level::Level;
use crate::emulator::{device, rectangle, settings, terminfo, window};
use crate::parse::Sequence;
use crate::parse::parameters::Parameters;
use crate::user_terminal::UserTerminal;

/// Most bytes of answers that wait for the program. Queries beyond this get no answer. Chosen: the longest line of
/// input that a Linux pty accepts, so that a flood of queries cannot pile up.
pub(crate) const REPLIES_BYTES_MAX: usize = 4096;

/// Answer to DA1: the attributes of a VT420. Source: xterm 379 as observed.
pub(crate) const PRIMARY_ATTRIBUTES: &str = "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c";
/// Answer to DA2: VT420, and the version of xterm that the emulator resembles. Source: xterm 379 as observed.
const XTERM_ATTRIBUTES: &str = "\x1b[>41;379;0c";
/// Answer to DA2: VT220, firmware 10, no cartridge. Source: Mosh 1.4.0 as observed, docs/terminal.md.
const SECONDARY_ATTRIBUTES: &str = "\x1b[>1;10;0c";
/// Answer to DA3: a unit number of zeros, as in xterm.
pub(crate) const TERTIARY_ATTRIBUTES: &str = "\x1bP!|00000000\x1b\\";
/// Answer to XTVERSION: the name and version of rove.
pub(crate) const VERSION: &str = concat!("\x1bP>|rove(", env!("CARGO_PKG_VERSION"), ")\x1b\\");

/// Answers to the program on the pty that the caller has not taken yet.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    role: Role,
    bytes: Vec<u8>,
}

impl Answers {
    pub(crate) const fn new(role: Role) -> Self {
        Self { role, bytes: Vec::new() }
    }

    /// Queues an answer. Drops the answer if the queue is full, or in a replica, because no program reads it there.
    pub(crate) fn push(&mut self, text: &str) {
        if self.role == Role::Host && self.bytes.len() + text.len() <= REPLIES_BYTES_MAX {
            self.bytes.extend_from_slice(text.as_bytes());
        }
        debug_assert!(self.bytes.len() <= REPLIES_BYTES_MAX);
    }

    pub(crate) fn extend(&mut self, answer: Option<String>) {
        answer.iter().for_each(|text| self.push(text));
    }

    pub(crate) fn take(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.bytes)
    }
}

/// Returns the answer to DA2. Emacs expects that xterm from version 242 on reports its background, and waits two
/// seconds for the report. So the answer names a newer version only if the background is known.
pub(crate) fn secondary_attributes(user: &UserTerminal) -> &'static str {
    if user.background.is_some() { XTERM_ATTRIBUTES } else { SECONDARY_ATTRIBUTES }
}

/// Returns the answer to DSR for 5 (the device's state) and 6 (the cursor's position). `None` for other queries.
pub(crate) fn status(grid: &Grid, what: u16) -> Option<String> {
    match what {
        5 => Some("\x1b[0n".to_owned()),
        6 => Some(cursor(grid, "", "")),
        _ => None,
    }
}

/// Returns the answer to DECDSR. The number 5 queries the terminal's state, 6 the cursor's position, 996 dark or light
/// colours, and other numbers query devices. `None` for an unknown query, or if the colours are unknown.
pub(crate) fn private_status(
    grid: &Grid,
    level: Level,
    user: &UserTerminal,
    parameters: &Parameters,
) -> Option<String> {
    match parameters.value(0) {
        5 => Some("\x1b[?0n".to_owned()),
        // From VT300 on, the answer includes the page number, which is always 1.
        6 if level >= Level::VT300 => Some(cursor(grid, "?", ";1")),
        6 => Some(cursor(grid, "?", "")),
        996 => window::color_scheme(user),
        what => device::report(what, parameters.value(1), level),
    }
}

fn cursor(grid: &Grid, mark: &str, page: &str) -> String {
    let cursor = grid.screen.cursor;
    let row = cursor.row.saturating_sub(grid.origin_row());
    let column = cursor.column.saturating_sub(grid.origin_column());
    format!("\x1b[{mark}{};{}{page}R", row + 1, column + 1)
}

/// Returns the answer to DECREQTPARM (`what` 0 or 1, else `None`): no parity, eight bits, 38400 baud, as in xterm.
pub(crate) fn parameters(what: u16) -> Option<String> {
    (what <= 1).then(|| format!("\x1b[{};1;1;128;128;1;0x", what + 2))
}

/// Returns the answer to DECRQCRA. The parameters are the number of the request, the page and the rectangle.
pub(crate) fn checksum(
    grid: &mut Grid,
    extension: ChecksumExtension,
    parameters: &Parameters,
) -> String {
    let mut checksum = Checksum::new(extension);
    if let Some((rows, columns)) = rectangle::rectangle(grid, parameters, 2) {
        for row in rows {
            grid.effort.touch(columns.len());
            let cells = &grid.screen.rows[usize::from(row)].cells;
            for column in columns.clone() {
                let at = usize::from(column);
                checksum.add(at.checked_sub(1).map(|left| cells[left]), cells[at]);
            }
        }
    }
    let (number, value) = (parameters.value(0), checksum.value());
    format!("\x1bP{number}!~{value:04X}\x1b\\")
}

/// Answers a device control string that is a query: DECRQSS or XTGETTCAP. Ignores other strings.
pub(crate) fn device_control(
    answers: &mut Answers,
    grid: &Grid,
    level: Level,
    sequence: &Sequence<'_>,
    text: &str,
) {
    match (sequence.private, sequence.intermediates, sequence.last) {
        (0, b"$", b'q') => {
            let setting = settings::setting(grid, level, text);
            let answer = setting.map_or("0$r".to_owned(), |setting| format!("1$r{setting}"));
            answers.push(&format!("\x1bP{answer}\x1b\\"));
        }
        (0, b"+", b'q') => {
            for name in text.split(';').filter(|name| !name.is_empty()) {
                answers.push(&terminfo::answer(name));
            }
        }
        _ => {}
    }
}
