//! Which control function does what: the tables of docs/terminal.md as code.

use crate::emulator::Emulator;
use crate::emulator::charset::Charset;
use crate::emulator::checksum::ChecksumExtension;
use crate::emulator::level::Level;
use crate::emulator::noted_modes::Mode;
use crate::emulator::protection::Erasing;
use crate::emulator::{control_mode, sgr};
use crate::parse::{Perform, Sequence, Terminator};
use crate::screen::Screen;

impl Perform for Emulator {
    fn print_ascii(&mut self, text: &[u8]) {
        self.print_ascii_text(text);
    }

    fn print(&mut self, text: &str) {
        self.print_text(text);
    }

    fn execute(&mut self, control: char) {
        match control {
            '\x07' => self.screen.bells = self.screen.bells.wrapping_add(1),
            '\x08' => self.backspace(),
            '\x09' => self.tab_forward(1),
            '\x0a'..='\x0c' => self.line_feed(),
            '\x0d' => self.carriage_return(),
            '\x0e' => self.charsets.lock(1),
            '\x0f' => self.charsets.lock(0),
            '\u{84}' => self.index(),
            '\u{85}' => {
                self.index();
                self.carriage_return();
            }
            '\u{88}' => self.tabs.set(self.screen.cursor.column, true),
            '\u{8d}' => self.reverse_index(),
            '\u{8e}' => self.charsets.shift_once(2),
            '\u{8f}' => self.charsets.shift_once(3),
            '\u{96}' => self.guard(true),
            '\u{97}' => self.guard(false),
            '\u{9a}' => self.report_primary_attributes(),
            _ => {}
        }
    }

    fn escape(&mut self, intermediates: &[u8], last: u8) {
        match (intermediates, last) {
            (b"", b'7') => self.save_cursor(),
            (b"", b'8') => self.restore_cursor(),
            (b"", b'=') => self.screen.rich.application_keypad = true,
            (b"", b'>') => self.screen.rich.application_keypad = false,
            (b"", b'6') if self.level >= Level::VT400 => self.back_index(),
            (b"", b'9') if self.level >= Level::VT400 => self.forward_index(),
            (b"", b'c') => self.reset(),
            (b"", b'n') => self.charsets.lock(2),
            (b"", b'o') => self.charsets.lock(3),
            (b"#", b'8') => self.fill_with_e(),
            (b"(", _) => self.charsets.designate(0, Charset::designated(last)),
            (b")", _) => self.charsets.designate(1, Charset::designated(last)),
            (b"*", _) => self.charsets.designate(2, Charset::designated(last)),
            (b"+", _) => self.charsets.designate(3, Charset::designated(last)),
            _ => {}
        }
    }

    fn csi(&mut self, sequence: &Sequence<'_>) {
        let parameters = sequence.parameters;
        let key = (sequence.private, sequence.intermediates, sequence.last);
        // Only SGR knows sub-parameters; elsewhere a colon belongs to a function of another terminal.
        if parameters.has_colons() && key != (0, b"", b'm') {
            return;
        }
        match key {
            (0, b"", last) => self.plain_csi(last, sequence),
            (b'?', b"", b'h' | b'l') => {
                for &mode in parameters.values() {
                    self.set_private_mode(mode, sequence.last == b'h');
                }
            }
            (b'?', b"", b'n') => {
                self.report_private_status(parameters.value(0), parameters.value(1));
            }
            (b'?', b"", b'J') => self.erase_display(parameters.value(0), Erasing::Selective),
            (b'?', b"", b'K') => self.erase_line(parameters.value(0), Erasing::Selective),
            (b'>', b"", b'c') if parameters.value(0) == 0 => self.report_secondary_attributes(),
            (b'=', b"", b'c') if parameters.value(0) == 0 && self.level >= Level::VT400 => {
                self.report_tertiary_attributes();
            }
            (b'=', b"", b'w') => self.count_as_told(parameters.value(0)),
            (b'>', b"", b'q') if parameters.value(0) == 0 => self.report_version(),
            (0, b"!", b'p') => self.soft_reset(),
            (0, b" ", b'q') => self.set_cursor_style(parameters.value(0)),
            (0, b" ", b'@') if self.is_cursor_in_region() => {
                self.delete_columns(self.region.left, parameters.count(0));
            }
            (0, b" ", b'A') if self.is_cursor_in_region() => {
                self.insert_columns(self.region.left, parameters.count(0));
            }
            (0, b"$", b'v' | b'x' | b'z' | b'{')
            | (0, b"'", b'}' | b'~')
            | (0, b"*" | b"#", b'y')
                if self.level >= Level::VT400 =>
            {
                self.vt400_csi(sequence);
            }
            (0, b"\"", b'q') => self.set_character_protection(parameters.value(0)),
            (0, b"$", b'p') => self.report_mode(Mode::Ansi(parameters.value(0))),
            (b'?', b"$", b'p') => self.report_mode(Mode::Private(parameters.value(0))),
            (0, b"\"", b'p') => self.set_level(parameters.value(0)),
            (b'>', b"", b't' | b'T') if parameters.given() => {
                let set = sequence.last == b't';
                parameters.values().iter().for_each(|&mode| self.set_title_mode(mode, set));
            }
            (b'?' | b'<' | b'=' | b'>', b"", b'm' | b'n' | b'u') => self.keyboard_csi(sequence),
            (b'?', b"", b'r') => {
                parameters.values().iter().for_each(|&mode| self.restore_private_mode(mode));
            }
            (b'?', b"", b's') => {
                parameters.values().iter().for_each(|&mode| self.save_private_mode(mode));
            }
            _ => {}
        }
    }

    #[inline]
    fn is_spent(&self) -> bool {
        self.effort.cells() > self.effort_max
    }

    fn osc(&mut self, text: &str, cut: bool, terminator: Terminator) {
        self.operating_system_command(text, cut, terminator);
    }

    fn dcs_head(&mut self, sequence: &Sequence<'_>) {
        control_mode::refuse(self, sequence);
    }

    fn dcs(&mut self, sequence: &Sequence<'_>, text: &str) {
        self.device_control(sequence, text);
    }
}

impl Emulator {
    /// Performs a control sequence on rectangles and columns.
    fn vt400_csi(&mut self, sequence: &Sequence<'_>) {
        let parameters = sequence.parameters;
        match (sequence.intermediates, sequence.last) {
            (b"$", b'v') => self.copy_rectangle(parameters),
            (b"$", b'x') => self.fill_rectangle(parameters),
            (b"$", b'z') => self.erase_rectangle(parameters),
            (b"$", b'{') => self.erase_rectangle_selectively(parameters),
            (b"'", b'}') if self.is_cursor_in_region() => {
                self.insert_columns(self.screen.cursor.column, parameters.count(0));
            }
            (b"'", b'~') if self.is_cursor_in_region() => {
                self.delete_columns(self.screen.cursor.column, parameters.count(0));
            }
            (b"*", b'y') => self.report_checksum(parameters),
            (b"#", b'y') => self.checksum_extension = ChecksumExtension::new(parameters.value(0)),
            _ => {}
        }
    }

    /// Performs a control sequence without private marker and intermediates.
    fn plain_csi(&mut self, last: u8, sequence: &Sequence<'_>) {
        let parameters = sequence.parameters;
        let count = parameters.count(0);
        let cursor = self.screen.cursor;
        match last {
            b'@' => self.insert_cells(count),
            b'A' => self.move_up(count),
            b'B' => self.move_down(count),
            b'C' => self.move_right(count),
            b'a' => {
                let column = cursor.column.saturating_sub(self.origin_column());
                self.move_to_column(column.saturating_add(count));
            }
            b'D' => self.move_back(count),
            b'E' => {
                self.move_down(count);
                self.carriage_return();
            }
            b'F' => {
                self.move_up(count);
                self.carriage_return();
            }
            b'G' | b'`' => self.move_to_column(count - 1),
            b'H' | b'f' => self.move_to(count - 1, parameters.count(1) - 1),
            b'I' => self.tab_forward(count),
            b'J' => {
                self.keep_before_clearing(parameters.value(0));
                self.erase_display(parameters.value(0), Erasing::Plain);
            }
            b'K' => self.erase_line(parameters.value(0), Erasing::Plain),
            b'L' => self.insert_lines(count),
            b'M' => self.delete_lines(count),
            b'P' => self.delete_cells(count),
            b'S' => self.scroll_off(count),
            // With more parameters it is the start of highlight mouse tracking.
            b'T' if parameters.values().len() == 1 => self.scroll_down(self.region.top, count),
            b'X' => self.erase_cells(count),
            b'Z' => self.tab_back(count),
            b'b' => self.repeat(count),
            b'c' if parameters.value(0) == 0 => self.report_primary_attributes(),
            b'd' => self.move_to_row(count - 1),
            b'e' => {
                let row = cursor.row.saturating_sub(self.origin_row());
                self.move_to_row(row.saturating_add(count));
            }
            b'g' => match parameters.value(0) {
                0 => self.tabs.set(cursor.column, false),
                3 => {
                    self.effort.touch(usize::from(self.columns()));
                    self.tabs.clear();
                }
                _ => {}
            },
            b'h' | b'l' => {
                for &mode in parameters.values() {
                    self.set_ansi_mode(mode, last == b'h');
                }
            }
            b'm' => {
                let Screen { pen, decoration, .. } = &mut self.screen;
                sgr::apply(pen, &mut decoration.underline_color, parameters);
            }
            b'n' => self.report_status(parameters.value(0)),
            b'r' => self.set_margins(count, parameters.value(1)),
            b's' if self.modes.side_margins => self.set_side_margins(count, parameters.value(1)),
            b's' if !parameters.given() => self.save_cursor(),
            b't' => self.window_operation(parameters.value(0), parameters.value(1)),
            b'x' => self.report_parameters(parameters.value(0)),
            b'u' if !parameters.given() => self.restore_cursor(),
            _ => {}
        }
    }
}
