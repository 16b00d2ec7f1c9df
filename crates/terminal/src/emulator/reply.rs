//! Answers to the program on the pty.

use crate::display::{Repertoire, write_from_scratch};
use crate::emulator::Emulator;
use crate::emulator::terminfo;
use crate::parse::Sequence;

/// Most bytes of answers that wait to be taken; a question beyond goes unanswered.
/// Chosen: what a Linux pty takes as one line of input, so a flood of questions cannot pile up.
pub(crate) const REPLIES_BYTES_MAX: usize = 4096;

/// DA1: a VT220 without options. Source: Mosh 1.4.0 as observed, docs/terminal.md.
const PRIMARY_ATTRIBUTES: &str = "\x1b[?62c";
/// DA2: VT220, firmware 10, no cartridge. Source: Mosh 1.4.0 as observed, docs/terminal.md.
const SECONDARY_ATTRIBUTES: &str = "\x1b[>1;10;0c";
/// DA3: a unit number of zeros, as xterm has.
const TERTIARY_ATTRIBUTES: &str = "\x1bP!|00000000\x1b\\";
/// XTVERSION.
const VERSION: &str = concat!("\x1bP>|rove(", env!("CARGO_PKG_VERSION"), ")\x1b\\");

impl Emulator {
    /// Queues an answer; a replica has nobody to answer.
    pub(crate) fn reply(&mut self, text: &str) {
        if self.is_host() && self.replies.len() + text.len() <= REPLIES_BYTES_MAX {
            self.replies.extend_from_slice(text.as_bytes());
        }
    }

    /// DA1.
    pub(crate) fn report_primary_attributes(&mut self) {
        self.reply(PRIMARY_ATTRIBUTES);
    }

    /// DA2.
    pub(crate) fn report_secondary_attributes(&mut self) {
        self.reply(SECONDARY_ATTRIBUTES);
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
            6 => self.report_cursor(""),
            _ => {}
        }
    }

    /// DSR of DEC terminals: 6 the place of the cursor, 996 whether colours are to be dark or light.
    pub(crate) fn report_private_status(&mut self, what: u16) {
        match what {
            6 => self.report_cursor("?"),
            996 => self.report_color_scheme(),
            _ => {}
        }
    }

    fn report_cursor(&mut self, mark: &str) {
        let cursor = self.screen.cursor;
        let row = cursor.row.saturating_sub(self.origin_row());
        let column = cursor.column.saturating_sub(self.origin_column());
        self.reply(&format!("\x1b[{mark}{};{}R", row + 1, column + 1));
    }

    /// DECREQTPARM: no parity, eight bits, 38400 baud both ways, as xterm says.
    pub(crate) fn report_parameters(&mut self, what: u16) {
        if what <= 1 {
            self.reply(&format!("\x1b[{};1;1;128;128;1;0x", what + 2));
        }
    }

    /// DECRQM: 0 unknown, 1 set, 2 reset.
    pub(crate) fn report_mode(&mut self, private: bool, mode: u16) {
        let (mark, state) =
            if private { ("?", self.private_mode(mode)) } else { ("", self.ansi_mode(mode)) };
        let value = state.map_or(0, |set| if set { 1 } else { 2 });
        self.reply(&format!("\x1b[{mark}{mode};{value}$y"));
    }

    /// Device control strings: DECRQSS and XTGETTCAP.
    pub(crate) fn device_control(&mut self, sequence: &Sequence<'_>, text: &str) {
        match (sequence.private, sequence.intermediates, sequence.last) {
            (0, b"$", b'q') => self.report_setting(text),
            (0, b"+", b'q') => {
                for name in text.split(';').filter(|name| !name.is_empty()) {
                    self.reply(&terminfo::answer(name));
                }
            }
            _ => {}
        }
    }

    /// DECRQSS: the pen, the margins, the cursor style and the level.
    fn report_setting(&mut self, text: &str) {
        let setting = match text {
            "m" => format!("{}m", self.rendition()),
            "r" => format!("{};{}r", self.region.top + 1, self.region.bottom + 1),
            " q" => format!("{} q", self.screen.rich.cursor_style),
            "s" => format!("{};{}s", self.region.left + 1, self.region.right + 1),
            "\"p" => "62;1\"p".to_owned(),
            _ => return self.reply("\x1bP0$r\x1b\\"),
        };
        self.reply(&format!("\x1bP1$r{setting}\x1b\\"));
    }

    /// Returns the SGR parameters that set what is set now.
    fn rendition(&self) -> String {
        let mut text = Vec::new();
        let rendition = Repertoire::FULL.rendition(self.screen.pen, &self.screen.decoration);
        write_from_scratch(&mut text, rendition);
        String::from_utf8(text).expect("numbers are ASCII")
    }
}
