//! Answers to the program on the pty.

use crate::emulator::checksum::Checksum;
use crate::emulator::level::Level;
use crate::emulator::noted_modes::{Mode, fixed};
use crate::emulator::{Emulator, device, settings, terminfo};
use crate::parse::Sequence;
use crate::parse::parameters::Parameters;

/// Most bytes of answers that wait to be taken; a question beyond goes unanswered.
/// Chosen: what a Linux pty takes as one line of input, so a flood of questions cannot pile up.
pub(crate) const REPLIES_BYTES_MAX: usize = 4096;

/// DA1: the attributes of a VT420. Source: xterm 379 as observed.
const PRIMARY_ATTRIBUTES: &str = "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c";
/// DA2: VT420, and the xterm whose functions these are. Source: xterm 379 as observed.
const XTERM_ATTRIBUTES: &str = "\x1b[>41;379;0c";
/// DA2: VT220, firmware 10, no cartridge. Source: Mosh 1.4.0 as observed, docs/terminal.md.
const SECONDARY_ATTRIBUTES: &str = "\x1b[>1;10;0c";
/// DA3: a unit number of zeros, as xterm has.
const TERTIARY_ATTRIBUTES: &str = "\x1bP!|00000000\x1b\\";
/// XTVERSION.
const VERSION: &str = concat!("\x1bP>|rove(", env!("CARGO_PKG_VERSION"), ")\x1b\\");

/// The private mode in which clusters are counted as one. The user's terminal decides; programs cannot.
/// Source: the "terminal unicode core" proposal that Contour, Ghostty and others follow.
const CLUSTERS: u16 = 2027;

impl Emulator {
    /// Queues an answer; a replica has nobody to answer.
    pub(crate) fn reply(&mut self, text: &str) {
        if self.is_host() && self.replies.len() + text.len() <= REPLIES_BYTES_MAX {
            self.replies.extend_from_slice(text.as_bytes());
        }
    }

    /// DA1 and DECID.
    pub(crate) fn report_primary_attributes(&mut self) {
        self.reply(PRIMARY_ATTRIBUTES);
    }

    /// DA2. Emacs takes an xterm from 242 on for one that tells its background, and waits two seconds for that. So the
    /// terminal passes for one only if it knows the background.
    pub(crate) fn report_secondary_attributes(&mut self) {
        let tells_background = self.user_terminal.background.is_some();
        self.reply(if tells_background { XTERM_ATTRIBUTES } else { SECONDARY_ATTRIBUTES });
    }

    /// DA3.
    pub(crate) fn report_tertiary_attributes(&mut self) {
        self.reply(TERTIARY_ATTRIBUTES);
    }

    /// XTVERSION.
    pub(crate) fn report_version(&mut self) {
        self.reply(VERSION);
    }

    /// DSR: 5 the state of the device, 6 the place of the cursor.
    pub(crate) fn report_status(&mut self, what: u16) {
        match what {
            5 => self.reply("\x1b[0n"),
            6 => self.report_cursor("", ""),
            _ => {}
        }
    }

    /// DSR of DEC terminals: 6 the place of the cursor, 996 whether colours are to be dark or light, and the devices.
    pub(crate) fn report_private_status(&mut self, what: u16, request: u16) {
        match what {
            5 => self.reply("\x1b[?0n"),
            // There is one page.
            6 if self.level >= Level::VT300 => self.report_cursor("?", ";1"),
            6 => self.report_cursor("?", ""),
            996 => self.report_color_scheme(),
            _ => {
                if let Some(answer) = device::report(what, request, self.level) {
                    self.reply(&answer);
                }
            }
        }
    }

    fn report_cursor(&mut self, mark: &str, page: &str) {
        let cursor = self.screen.cursor;
        let row = cursor.row.saturating_sub(self.origin_row());
        let column = cursor.column.saturating_sub(self.origin_column());
        self.reply(&format!("\x1b[{mark}{};{}{page}R", row + 1, column + 1));
    }

    /// DECREQTPARM: no parity, eight bits, 38400 baud both ways, as xterm says.
    pub(crate) fn report_parameters(&mut self, what: u16) {
        if what <= 1 {
            self.reply(&format!("\x1b[{};1;1;128;128;1;0x", what + 2));
        }
    }

    /// DECRQM: 0 unknown, 1 set, 2 reset, 3 always set, 4 never.
    pub(crate) fn report_mode(&mut self, mode: Mode) {
        let (mark, number, state) = match mode {
            Mode::Private(number) => ("?", number, self.private_mode(number)),
            Mode::Ansi(_) if self.level < Level::VT300 => return,
            Mode::Ansi(number) => ("", number, self.ansi_mode(number)),
        };
        let fixed = match mode {
            Mode::Private(CLUSTERS) => Some(self.counting().has_mode()),
            mode => fixed(mode),
        };
        let value = match (state, fixed) {
            (Some(true), _) => 1,
            (Some(false), _) => 2,
            (None, Some(true)) => 3,
            (None, Some(false)) => 4,
            (None, None) => 0,
        };
        self.reply(&format!("\x1b[{mark}{number};{value}$y"));
    }

    /// DECRQCRA, where a recording is played: number of the question, page, rectangle.
    pub(crate) fn report_checksum(&mut self, parameters: &Parameters) {
        if !self.user_terminal.screen_checksums {
            return;
        }
        let mut checksum = Checksum::new(self.checksum_extension);
        if let Some((rows, columns)) = self.rectangle(parameters, 2) {
            for row in rows {
                self.effort.touch(columns.len());
                let cells = &self.screen.rows[usize::from(row)].cells;
                for column in columns.clone() {
                    let at = usize::from(column);
                    checksum.add(at.checked_sub(1).map(|left| cells[left]), cells[at]);
                }
            }
        }
        let (number, value) = (parameters.value(0), checksum.value());
        self.reply(&format!("\x1bP{number}!~{value:04X}\x1b\\"));
    }

    /// Device control strings: DECRQSS and XTGETTCAP.
    pub(crate) fn device_control(&mut self, sequence: &Sequence<'_>, text: &str) {
        match (sequence.private, sequence.intermediates, sequence.last) {
            (0, b"$", b'q') => {
                let setting = settings::setting(self, text);
                let answer = setting.map_or("0$r".to_owned(), |setting| format!("1$r{setting}"));
                self.reply(&format!("\x1bP{answer}\x1b\\"));
            }
            (0, b"+", b'q') => {
                for name in text.split(';').filter(|name| !name.is_empty()) {
                    self.reply(&terminfo::answer(name));
                }
            }
            _ => {}
        }
    }
}
