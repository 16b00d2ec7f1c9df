//! Calls the function for each control sequence: the tables of docs/terminal.md as code.

use std::sync::Arc;

use rove_units::push_newest;

use crate::clipboard::Copied;
use crate::cluster_widths::ClusterWidths;
use crate::display::CLIPBOARD_CHARS_MAX;
use crate::emulator::charset::Charset;
use crate::emulator::checksum::ChecksumExtension;
use crate::emulator::grid::Grid;
use crate::emulator::level::Level;
use crate::emulator::noted_modes::Mode;
use crate::emulator::protection::Erasing;
use crate::emulator::recolor::Recolor;
use crate::emulator::reply::{PRIMARY_ATTRIBUTES, TERTIARY_ATTRIBUTES, VERSION};
use crate::emulator::{Emulator, control_mode, rectangle, reply, sgr, status, titles, window};
use crate::notification::{NOTIFICATIONS_MAX, Notification};
use crate::parse::{Perform, Sequence, Terminator};
use crate::screen::Screen;
use crate::screen::decoration::Hyperlink;

impl Perform for Emulator {
    fn print_ascii(&mut self, text: &[u8]) {
        self.printer.print_ascii_text(&mut self.grid, text);
    }

    fn print(&mut self, text: &str) {
        self.printer.print_text(&mut self.grid, text);
    }

    fn execute(&mut self, control: char) {
        let grid = &mut self.grid;
        match control {
            '\x07' => grid.screen.bells = grid.screen.bells.wrapping_add(1),
            '\x08' => grid.backspace(),
            '\x09' => grid.tab_forward(1),
            '\x0a'..='\x0c' => grid.line_feed(),
            '\x0d' => grid.carriage_return(),
            '\x0e' => self.printer.charsets.lock(1),
            '\x0f' => self.printer.charsets.lock(0),
            '\u{84}' => grid.index(),
            '\u{85}' => {
                grid.index();
                grid.carriage_return();
            }
            '\u{88}' => grid.tabs.set(grid.screen.cursor.column, true),
            '\u{8d}' => grid.reverse_index(),
            '\u{8e}' => self.printer.charsets.shift_once(2),
            '\u{8f}' => self.printer.charsets.shift_once(3),
            '\u{96}' | '\u{97}' if grid.is_host() => {
                let Grid { protection, screen, .. } = grid;
                protection.guard(&mut screen.pen.attributes, control == '\u{96}');
            }
            '\u{9a}' => self.answers.push(PRIMARY_ATTRIBUTES),
            _ => {}
        }
    }

    fn escape(&mut self, intermediates: &[u8], last: u8) {
        match (intermediates, last) {
            (b"", b'7') => self.save_cursor(),
            (b"", b'8') => self.restore_cursor(),
            (b"", b'=') => self.grid.screen.rich.application_keypad = true,
            (b"", b'>') => self.grid.screen.rich.application_keypad = false,
            (b"", b'6') if self.level >= Level::VT400 => self.grid.back_index(),
            (b"", b'9') if self.level >= Level::VT400 => self.grid.forward_index(),
            (b"", b'c') => self.reset(),
            (b"", b'n') => self.printer.charsets.lock(2),
            (b"", b'o') => self.printer.charsets.lock(3),
            (b"#", b'8') => self.grid.fill_with_e(),
            (b"(", _) => self.printer.charsets.designate(0, Charset::designated(last)),
            (b")", _) => self.printer.charsets.designate(1, Charset::designated(last)),
            (b"*", _) => self.printer.charsets.designate(2, Charset::designated(last)),
            (b"+", _) => self.printer.charsets.designate(3, Charset::designated(last)),
            _ => {}
        }
    }

    fn csi(&mut self, sequence: &Sequence<'_>) {
        let parameters = sequence.parameters;
        let key = (sequence.private, sequence.intermediates, sequence.last);
        // Only SGR has sub-parameters. Other sequences with a colon have a meaning only in other terminals.
        if parameters.has_colons() && key != (0, b"", b'm') {
            return;
        }
        match key {
            (0, b"", last) => self.plain_csi(last, sequence),
            (b'?', b"", last @ (b'h' | b'l' | b'r' | b's')) => {
                parameters.values().iter().for_each(|&mode| match last {
                    b'r' => self.restore_private_mode(mode),
                    b's' => self.save_private_mode(mode),
                    _ => self.set_private_mode(mode, last == b'h'),
                });
            }
            (b'?', b"", b'n') => {
                let Self { grid, level, user_terminal, .. } = self;
                let answer = reply::private_status(grid, *level, user_terminal, parameters);
                self.answers.extend(answer);
            }
            (b'?', b"", b'J') => self.grid.erase_display(parameters.value(0), Erasing::Selective),
            (b'?', b"", b'K') => self.grid.erase_line(parameters.value(0), Erasing::Selective),
            (b'>', b"", b'c') if parameters.value(0) == 0 => {
                self.answers.push(reply::secondary_attributes(&self.user_terminal));
            }
            (b'=', b"", b'c') if parameters.value(0) == 0 && self.level >= Level::VT400 => {
                self.answers.push(TERTIARY_ATTRIBUTES);
            }
            (b'=', b"", b'w') if !self.grid.is_host() => {
                let [bits, _] = parameters.value(0).to_le_bytes();
                self.grid.screen.cluster_widths = ClusterWidths::from_bits_retain(bits);
            }
            (b'>', b"", b'q') if parameters.value(0) == 0 => self.answers.push(VERSION),
            (0, b"!", b'p') => self.soft_reset(),
            (0, b" ", b'q') => self.set_cursor_style(parameters.value(0)),
            (0, b" ", b'@') if self.grid.is_cursor_in_region() => {
                self.grid.delete_columns(self.grid.region.left, parameters.count(0));
            }
            (0, b" ", b'A') if self.grid.is_cursor_in_region() => {
                self.grid.insert_columns(self.grid.region.left, parameters.count(0));
            }
            (0, b"$", b'p') => self.report_mode(Mode::Ansi(parameters.value(0))),
            (0, b"$" | b"'" | b"*" | b"#", _) if self.level >= Level::VT400 => {
                self.vt400_csi(sequence);
            }
            (0, b"\"", b'q') if self.grid.is_host() => {
                let Grid { protection, screen, .. } = &mut self.grid;
                protection.protect(&mut screen.pen.attributes, parameters.value(0));
            }
            (b'?', b"$", b'p') => self.report_mode(Mode::Private(parameters.value(0))),
            (0, b"\"", b'p') => self.set_level(parameters.value(0)),
            // XTSMTITLE and XTRMTITLE. In mode 0, programs set titles in hexadecimal digits. The other modes choose the
            // format of reported titles, but the emulator reports no title.
            (b'>', b"", b't' | b'T')
                if parameters.given()
                    && self.grid.is_host()
                    && parameters.values().contains(&0) =>
            {
                self.modes.hexadecimal_titles = sequence.last == b't';
            }
            (b'?' | b'<' | b'=' | b'>', b"", b'm' | b'n' | b'u') => {
                let has_kitty_keyboard = self.has_kitty_keyboard();
                let (keyboard, rich) = (&mut self.shown.keyboard, &mut self.grid.screen.rich);
                self.answers.extend(keyboard.perform(rich, has_kitty_keyboard, sequence));
            }
            _ => {}
        }
    }

    #[inline]
    fn is_spent(&self) -> bool {
        self.grid.effort.cells() > self.effort_max
    }

    fn osc(&mut self, text: &str, cut: bool, terminator: Terminator) {
        let Some((number, rest)) = text.split_once(';') else {
            return self.recolor(terminator).perform(text, "");
        };
        match number {
            "" | "0" | "1" | "2" => {
                let (which, titles) =
                    ([number != "2", number != "1"], &mut self.grid.screen.titles);
                titles::set_titles(titles, which, rest, self.modes.hexadecimal_titles);
            }
            // A text whose end is missing is useful only as a title.
            _ if cut => {}
            "7" => status::set_directory(&mut self.grid.screen, rest),
            "9" => match rest.strip_prefix("4;") {
                Some(progress) => status::set_progress(&mut self.grid.screen, progress),
                None => self.notify(text),
            },
            "8" => self.grid.screen.decoration.link = Hyperlink::parse(rest).map(Arc::new),
            "52" => match rest.strip_suffix(";?") {
                Some(selections) => {
                    let answer = self.copies.answer(selections, terminator);
                    self.answers.extend(answer.filter(|_| self.user_terminal.read_copied));
                }
                None => self.copy(rest),
            },
            "66" => self.printer.print_sized(&mut self.grid, rest),
            "99" | "777" => self.notify(text),
            _ => self.recolor(terminator).perform(number, rest),
        }
    }

    fn dcs_head(&mut self, sequence: &Sequence<'_>) {
        control_mode::refuse(&mut self.grid, &mut self.printer, sequence);
    }

    fn dcs(&mut self, sequence: &Sequence<'_>, text: &str) {
        let Self { answers, grid, level, .. } = self;
        reply::device_control(answers, grid, *level, sequence, text);
    }
}

impl Emulator {
    /// Performs a control sequence of VT400: on rectangles, on columns, or for checksums.
    fn vt400_csi(&mut self, sequence: &Sequence<'_>) {
        let parameters = sequence.parameters;
        let grid = &mut self.grid;
        match (sequence.intermediates, sequence.last) {
            (b"$", b'v') => rectangle::copy(grid, parameters),
            (b"$", b'x') => rectangle::fill(grid, parameters),
            (b"$", b'z') => rectangle::erase(grid, parameters),
            (b"$", b'{') => rectangle::erase_selectively(grid, parameters),
            (b"'", b'}') if grid.is_cursor_in_region() => {
                grid.insert_columns(grid.screen.cursor.column, parameters.count(0));
            }
            (b"'", b'~') if grid.is_cursor_in_region() => {
                grid.delete_columns(grid.screen.cursor.column, parameters.count(0));
            }
            (b"*", b'y') if self.user_terminal.screen_checksums => {
                let extension = self.checksum_extension;
                self.answers.push(&reply::checksum(grid, extension, parameters));
            }
            (b"#", b'y') => self.checksum_extension = ChecksumExtension::new(parameters.value(0)),
            _ => {}
        }
    }

    /// Performs a control sequence that has no private marker and no intermediate bytes.
    fn plain_csi(&mut self, last: u8, sequence: &Sequence<'_>) {
        let parameters = sequence.parameters;
        let count = parameters.count(0);
        let grid = &mut self.grid;
        let cursor = grid.screen.cursor;
        match last {
            b'@' => grid.insert_cells(count),
            b'A' => grid.move_up(count),
            b'B' => grid.move_down(count),
            b'C' => grid.move_right(count),
            b'a' => {
                let column = cursor.column.saturating_sub(grid.origin_column());
                grid.move_to_column(column.saturating_add(count));
            }
            b'D' => grid.move_back(count),
            b'E' | b'F' => {
                if last == b'E' {
                    grid.move_down(count)
                } else {
                    grid.move_up(count)
                }
                grid.carriage_return();
            }
            b'G' | b'`' => grid.move_to_column(count - 1),
            b'H' | b'f' => grid.move_to(count - 1, parameters.count(1) - 1),
            b'I' => grid.tab_forward(count),
            b'J' => {
                grid.keep_before_clearing(parameters.value(0));
                grid.erase_display(parameters.value(0), Erasing::Plain);
            }
            b'K' => grid.erase_line(parameters.value(0), Erasing::Plain),
            b'L' => grid.insert_lines(count),
            b'M' => grid.delete_lines(count),
            b'P' => grid.delete_cells(count),
            b'S' => grid.scroll_off(count),
            // With more parameters, `CSI T` starts highlight mouse tracking.
            b'T' if parameters.values().len() == 1 => grid.scroll_down(grid.region.top, count),
            b'X' => grid.erase_cells(count),
            b'Z' => grid.tab_back(count),
            b'b' => self.printer.repeat(grid, count),
            b'c' if parameters.value(0) == 0 => self.answers.push(PRIMARY_ATTRIBUTES),
            b'd' => grid.move_to_row(count - 1),
            b'e' => {
                let row = cursor.row.saturating_sub(grid.origin_row());
                grid.move_to_row(row.saturating_add(count));
            }
            b'g' if parameters.value(0) == 0 => grid.tabs.set(cursor.column, false),
            b'g' if parameters.value(0) == 3 => {
                grid.effort.touch(usize::from(grid.columns()));
                grid.tabs.clear();
            }
            b'h' | b'l' => {
                let set = last == b'h';
                parameters.values().iter().for_each(|&mode| self.set_ansi_mode(mode, set));
            }
            b'm' => {
                let Screen { pen, decoration, .. } = &mut grid.screen;
                sgr::apply(pen, &mut decoration.underline_color, parameters);
            }
            b'n' => self.answers.extend(reply::status(grid, parameters.value(0))),
            b'r' => grid.set_margins(count, parameters.value(1)),
            b's' if grid.modes.side_margins => grid.set_side_margins(count, parameters.value(1)),
            b's' if !parameters.given() => self.save_cursor(),
            b't' => self.window_operation(parameters.value(0), parameters.value(1)),
            b'x' => self.answers.extend(reply::parameters(parameters.value(0))),
            b'u' if !parameters.given() => self.restore_cursor(),
            _ => {}
        }
    }

    /// Reports sizes, and pushes or pops titles (XTWINOPS). Does not answer queries for a title. The shell would read
    /// the answer as typed, and any file that a program prints can set the title.
    fn window_operation(&mut self, operation: u16, what: u16) {
        let screen = &mut self.grid.screen;
        self.answers.extend(window::report(operation, &self.user_terminal, screen.size));
        self.title_stack.perform(operation, what, &mut screen.titles);
    }

    fn recolor(&mut self, terminator: Terminator) -> Recolor<'_> {
        Recolor {
            shown: &mut self.grid.screen.colors,
            noted: &mut self.noted_colors,
            user: &self.user_terminal,
            answers: &mut self.answers,
            terminator,
        }
    }

    /// Queues a notification (OSC 9, 99, 777) in a host terminal. If the queue is full, drops the oldest.
    fn notify(&mut self, command: &str) {
        let Some(notification) = Notification::new(command).filter(|_| self.grid.is_host()) else {
            return;
        };
        push_newest(&mut self.notifications, notification, NOTIFICATIONS_MAX);
        debug_assert!(self.notifications.len() <= NOTIFICATIONS_MAX);
    }

    /// Copies text (OSC 52). The screen stores the text if it is short enough for a stock client, and not empty. An
    /// empty text would make such a client empty the user's clipboard. `copies` keeps the text for the caller.
    fn copy(&mut self, text: &str) {
        let parts = text.split_once(';');
        let Some(copied) = parts.and_then(|(to, text)| Copied::new(to, text)) else { return };
        if copied.is_for_clipboard() && (1..=CLIPBOARD_CHARS_MAX).contains(&copied.text().len()) {
            self.grid.screen.clipboard = Arc::clone(copied.text());
        }
        self.copies.keep(copied, self.user_terminal.read_copied, self.grid.is_host());
    }
}
