//! The state behind the picture, and the movements everything else is made of.

mod charset;
mod checksum;
mod control_mode;
mod decset;
mod device;
mod dispatch;
mod edit;
mod effort;
mod hexadecimal;
mod keyboard;
mod level;
mod modes;
mod noted_colors;
mod noted_modes;
mod osc;
mod print;
mod protection;
mod recolor;
mod rectangle;
mod region;
mod reply;
mod resize;
mod reverse_wrap;
mod saved_cursor;
mod saved_modes;
mod settings;
mod sgr;
mod status;
mod tabs;
mod terminfo;
mod window;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use self::charset::Charsets;
use self::checksum::ChecksumExtension;
use self::effort::Effort;
use self::keyboard::KeyboardStack;
use self::level::Level;
use self::modes::Modes;
use self::noted_colors::NotedColors;
use self::protection::Protection;
use self::region::Region;
use self::saved_cursor::SavedCursor;
use self::saved_modes::SavedModes;
use self::tabs::TabStops;
use crate::clipboard::Copied;
use crate::notification::Notification;
use crate::screen::cell::{Color, Pen, Underline};
use crate::screen::decoration::Decoration;
use crate::screen::mode::CURSOR_STYLE_MAX;
use crate::screen::row::Row;
use crate::screen::{Position, Screen, Size};
use crate::scrollback::Scrollback;
use crate::user_terminal::UserTerminal;

/// How many rows of cells a reset (RIS) costs. Chosen: as measured.
const RESET_ROWS: usize = 4;

/// Whose bytes drive the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Programs on a pty: questions are answered, halves of wide characters repaired.
    Host,
    /// The far end's diffs: done to the letter, since the far end believes in the result.
    Replica,
}

/// The state of a terminal between two sequences.
#[derive(Clone, Debug)]
pub(crate) struct Emulator {
    pub(crate) role: Role,
    pub(crate) screen: Screen,
    pub(crate) region: Region,
    pub(crate) modes: Modes,
    /// Private modes as programs saved them.
    pub(crate) saved_modes: SavedModes,
    pub(crate) noted_colors: NotedColors,
    pub(crate) protection: Protection,
    pub(crate) level: Level,
    pub(crate) checksum_extension: ChecksumExtension,
    pub(crate) charsets: Charsets,
    pub(crate) tabs: TabStops,
    /// The last column was written: the next character wraps first.
    pub(crate) pending_wrap: bool,
    /// The cell last printed; `None` after a movement, which makes it the cell under the cursor.
    pub(crate) combining_target: Option<Position>,
    /// What REP repeats.
    pub(crate) last_printed: Option<char>,
    /// Of the screen that is shown.
    pub(crate) saved_cursor: SavedCursor,
    /// What was pushed on the screen that is shown.
    pub(crate) keyboard: KeyboardStack,
    /// The screen that is not shown, once there was an alternate one.
    pub(crate) hidden: Option<HiddenScreen>,
    /// Pairs of icon name and title, oldest first.
    pub(crate) title_stack: Vec<(Arc<str>, Arc<str>)>,
    pub(crate) replies: Vec<u8>,
    /// What a program copied last, until somebody takes it.
    pub(crate) copied: Option<Copied>,
    /// The last text that a program copied to the clipboard, where programs may ask for it and an answer has room for it.
    pub(crate) readable_copy: Option<Arc<str>>,
    /// What programs notified of, oldest first, until somebody takes it.
    pub(crate) notifications: VecDeque<Notification>,
    pub(crate) user_terminal: UserTerminal,
    /// Lines that scrolled off, where somebody wants them.
    pub(crate) scrollback: Option<Box<Scrollback>>,
    /// What [`crate::Terminal::effort`] returns.
    pub(crate) effort: Effort,
    /// Above which effort no further sequence is performed.
    pub(crate) effort_max: u64,
    /// An empty row in the current background, shared by all that are.
    blank: Arc<Row>,
}

/// What is kept of the screen that is not shown.
#[derive(Clone, Debug)]
pub(crate) struct HiddenScreen {
    pub(crate) rows: Vec<Arc<Row>>,
    pub(crate) saved_cursor: SavedCursor,
    /// The flags of its keyboard, and what was pushed.
    pub(crate) kitty_keyboard: u8,
    pub(crate) keyboard: KeyboardStack,
}

impl Emulator {
    pub(crate) fn new(size: Size, role: Role) -> Self {
        let screen = Screen::blank(size);
        let blank = Arc::clone(&screen.rows[0]);
        Self {
            role,
            screen,
            region: Region::full(size),
            modes: Modes::default(),
            saved_modes: SavedModes::default(),
            noted_colors: NotedColors::default(),
            protection: Protection::Off,
            level: Level::default(),
            checksum_extension: ChecksumExtension::default(),
            charsets: Charsets::default(),
            tabs: TabStops::new(size.columns()),
            pending_wrap: false,
            combining_target: None,
            last_printed: None,
            saved_cursor: SavedCursor::default(),
            keyboard: KeyboardStack::default(),
            hidden: None,
            title_stack: Vec::new(),
            replies: Vec::new(),
            copied: None,
            readable_copy: None,
            notifications: VecDeque::new(),
            user_terminal: UserTerminal::default(),
            scrollback: None,
            effort: Effort::default(),
            effort_max: u64::MAX,
            blank,
        }
    }

    pub(crate) const fn is_host(&self) -> bool {
        matches!(self.role, Role::Host)
    }

    pub(crate) const fn columns(&self) -> u16 {
        self.screen.size.columns()
    }

    /// Returns the row that addresses count from.
    pub(crate) const fn origin_row(&self) -> u16 {
        if self.modes.origin { self.region.top } else { 0 }
    }

    /// Returns the column that addresses count from.
    pub(crate) const fn origin_column(&self) -> u16 {
        if self.modes.origin { self.region.left } else { 0 }
    }

    /// Returns an empty row in the current background.
    pub(crate) fn blank_row(&mut self) -> Arc<Row> {
        self.refresh_blank();
        Arc::clone(&self.blank)
    }

    fn refresh_blank(&mut self) {
        let erased = self.screen.pen.erased();
        if self.blank.cells[0].pen != erased || self.blank.columns() != self.columns() {
            self.effort.touch(usize::from(self.columns()));
            self.blank = Arc::new(Row::erased(self.columns(), erased));
        }
    }

    /// Returns a row for writing; it is copied first if a snapshot shares it.
    pub(crate) fn row_mut(&mut self, row: u16) -> &mut Row {
        let slot = &mut self.screen.rows[usize::from(row)];
        if Arc::strong_count(slot) > 1 {
            self.effort.copy_row(slot);
        }
        Arc::make_mut(slot)
    }

    /// Returns a row for writing at and behind `column`; a wide character cut there is blanked.
    pub(crate) fn row_mut_at(&mut self, row: u16, column: u16) -> &mut Row {
        let host = self.is_host();
        self.effort.move_behind(&self.screen.rows[usize::from(row)], column);
        let row = self.row_mut(row);
        if host {
            row.split_wide(column);
        }
        row
    }

    /// Gives the cells just written what the next character gets beside its pen, if anything: an
    /// underline's colour only where there is an underline.
    pub(crate) fn decorate(&mut self, row: u16, columns: Range<u16>) {
        let mut decoration = self.screen.decoration.clone();
        if self.screen.pen.attributes.underline() == Underline::None {
            decoration.underline_color = Color::Default;
        }
        let link_bytes_max = self.row_link_bytes_max();
        self.effort.move_behind(&self.screen.rows[usize::from(row)], columns.start);
        self.row_mut(row).decorate(columns, &decoration, link_bytes_max);
    }

    /// Puts the cursor somewhere on the screen.
    pub(crate) fn set_cursor(&mut self, row: u16, column: u16) {
        self.screen.cursor.row = row.min(self.screen.size.rows() - 1);
        self.screen.cursor.column = column.min(self.columns() - 1);
        self.pending_wrap = false;
        self.combining_target = None;
    }

    /// Addresses the cursor: in origin mode relative to the margins and held within them.
    pub(crate) fn move_to(&mut self, row: u16, column: u16) {
        self.move_to_row(row);
        self.move_to_column(column);
    }

    /// VPA.
    pub(crate) fn move_to_row(&mut self, row: u16) {
        let row = row.saturating_add(self.origin_row());
        let last = if self.modes.origin { self.region.bottom } else { self.screen.size.rows() - 1 };
        self.set_cursor(row.min(last), self.screen.cursor.column);
    }

    /// CHA and HPA.
    pub(crate) fn move_to_column(&mut self, column: u16) {
        let column = column.saturating_add(self.origin_column());
        let last = if self.modes.origin { self.region.right } else { self.columns() - 1 };
        self.set_cursor(self.screen.cursor.row, column.min(last));
    }

    /// Moves up, stopping at the top margin if it is passed on the way.
    pub(crate) fn move_up(&mut self, count: u16) {
        let cursor = self.screen.cursor;
        let stop = if cursor.row >= self.region.top { self.region.top } else { 0 };
        self.set_cursor(cursor.row.saturating_sub(count).max(stop), cursor.column);
    }

    /// Moves down, stopping at the bottom margin if it is passed on the way.
    pub(crate) fn move_down(&mut self, count: u16) {
        let cursor = self.screen.cursor;
        let last = self.screen.size.rows() - 1;
        let stop = if cursor.row <= self.region.bottom { self.region.bottom } else { last };
        self.set_cursor(cursor.row.saturating_add(count).min(stop), cursor.column);
    }

    /// Moves left, stopping at the left margin if it is passed on the way.
    pub(crate) fn move_left(&mut self, count: u16) {
        let (cursor, start) = (self.screen.cursor, self.line_start());
        self.set_cursor(cursor.row, cursor.column.saturating_sub(count).max(start));
    }

    /// Moves right, stopping at the right margin if it is passed on the way.
    pub(crate) fn move_right(&mut self, count: u16) {
        let (cursor, end) = (self.screen.cursor, self.line_end());
        self.set_cursor(cursor.row, cursor.column.saturating_add(count).min(end));
    }

    /// BS and CUB, which in reverse wraparound do not end at the left margin. Then a pending wrap counts
    /// as a place behind the last column.
    pub(crate) fn move_back(&mut self, count: u16) {
        let Some(mode) = self.modes.reverse_wrap() else { return self.move_left(count) };
        let count = count - u16::from(self.pending_wrap);
        let Screen { cursor, size, ref rows, .. } = self.screen;
        let goes_on = |row| rows[usize::from(row)].wrapped;
        let (to, passed) = mode.step_back(cursor.position(), count, self.region, size, goes_on);
        self.effort.touch(passed);
        self.set_cursor(to.row, to.column);
    }

    /// BS. A diff of stock Mosh counts back from the column behind the last one, so in a replica
    /// the first one only takes the pending wrap back.
    pub(crate) fn backspace(&mut self) {
        if self.pending_wrap && !self.is_host() {
            self.pending_wrap = false;
            self.combining_target = None;
        } else {
            self.move_back(1);
        }
    }

    /// HT and CHT: leave a pending wrap alone, or in mode 41 wrap and go to the first stop.
    pub(crate) fn tab_forward(&mut self, count: u16) {
        let wraps = self.modes.tab_wraps && self.modes.autowrap && self.pending_wrap;
        if wraps {
            self.index();
            self.screen.cursor.column = 0;
        }
        let count = if wraps { 1 } else { count };
        let stop = self.tabs.next(self.screen.cursor.column, count);
        self.effort.touch(usize::from(stop.abs_diff(self.screen.cursor.column)));
        self.screen.cursor.column = stop.min(self.line_end());
        self.combining_target = None;
    }

    /// CBT: in origin mode no further than to the left margin.
    pub(crate) fn tab_back(&mut self, count: u16) {
        let column = self.tabs.previous(self.screen.cursor.column, count);
        self.effort.touch(usize::from(column.abs_diff(self.screen.cursor.column)));
        self.set_cursor(self.screen.cursor.row, column.max(self.origin_column()));
    }

    /// CR: to the left margin, or to the edge from beyond it.
    pub(crate) fn carriage_return(&mut self) {
        self.screen.cursor.column = self.line_start().max(self.origin_column());
        self.pending_wrap = false;
        self.combining_target = None;
    }

    /// LF, VT and FF.
    pub(crate) fn line_feed(&mut self) {
        self.index();
        if self.modes.newline {
            self.carriage_return();
        }
    }

    /// IND: down one row, scrolling at the bottom margin.
    pub(crate) fn index(&mut self) {
        let cursor = self.screen.cursor;
        if cursor.row == self.region.bottom && self.region.contains_column(cursor.column) {
            self.scroll_off(1);
            self.pending_wrap = false;
            self.combining_target = None;
        } else {
            self.move_down(1);
        }
    }

    /// RI: up one row, scrolling at the top margin.
    pub(crate) fn reverse_index(&mut self) {
        if self.screen.cursor.row == self.region.top && self.is_cursor_in_region() {
            self.scroll_down(self.region.top, 1);
            self.set_cursor(self.screen.cursor.row, self.screen.cursor.column);
        } else {
            self.move_up(1);
        }
    }

    /// IND at the bottom margin, and SU: scrolls all between the margins up. What leaves the primary
    /// screen over its top edge is kept if somebody wants it.
    pub(crate) fn scroll_off(&mut self, count: u16) {
        if let Some(scrollback) = &mut self.scrollback
            && self.region.top == 0
            && !self.screen.rich.alternate_screen
            && self.region.columns().len() == usize::from(self.screen.size.columns())
        {
            let leaving = usize::from(count.min(self.region.bottom + 1));
            self.screen.rows[..leaving].iter().for_each(|row| scrollback.push(row));
        }
        self.scroll_up(self.region.top, count);
    }

    /// Called before ED: what the primary screen shows is kept, if somebody wants it, before all of it is
    /// erased. So the key of a shell that clears the screen loses nothing, as in tmux.
    pub(crate) fn keep_before_clearing(&mut self, what: u16) {
        let clears_all = match what {
            0 => self.screen.cursor.position() == Position { row: 0, column: 0 },
            2 => true,
            _ => false,
        };
        if let Some(scrollback) = &mut self.scrollback
            && clears_all
            && !self.screen.rich.alternate_screen
        {
            let looked_at = scrollback.push_screen(&self.screen.rows);
            self.effort.touch(looked_at * usize::from(self.screen.size.columns()));
        }
    }

    /// Moves the rows from `top` to the bottom margin up; empty rows follow.
    pub(crate) fn scroll_up(&mut self, top: u16, count: u16) {
        if !self.has_full_width() {
            return self.scroll_columns_up(top, count);
        }
        let region = usize::from(top)..=usize::from(self.region.bottom);
        let moved = usize::from(self.region.bottom - top + 1);
        let count = usize::from(count).min(moved);
        self.effort.move_rows(moved);
        if count == 1 {
            self.screen.rows[region].rotate_left(1);
            self.clear_row(self.region.bottom);
        } else {
            let blank = self.blank_row();
            let rows = &mut self.screen.rows[region];
            rows.rotate_left(count);
            rows[moved - count..].fill(blank);
        }
    }

    /// Empties a row in the current background. One that no snapshot shares is used again, since what
    /// is cleared is mostly written next.
    pub(crate) fn clear_row(&mut self, row: u16) {
        let (row, columns) = (usize::from(row), self.columns());
        if self.screen.rows[row].is_erased(0..columns, self.screen.pen) {
            return;
        }
        self.effort.touch(usize::from(columns));
        self.effort.copy_beside(&self.screen.rows[row]);
        self.refresh_blank();
        let slot = &mut self.screen.rows[row];
        match Arc::get_mut(slot) {
            Some(row) => row.copy_blank(&self.blank),
            None => *slot = Arc::clone(&self.blank),
        }
    }

    /// Moves the rows from `top` to the bottom margin down; empty rows come in at `top`.
    pub(crate) fn scroll_down(&mut self, top: u16, count: u16) {
        if !self.has_full_width() {
            return self.scroll_columns_down(top, count);
        }
        let blank = self.blank_row();
        let range = usize::from(top)..=usize::from(self.region.bottom);
        self.effort.move_rows(range.clone().count());
        let rows = &mut self.screen.rows[range];
        let count = usize::from(count).min(rows.len());
        rows.rotate_right(count);
        rows[..count].fill(blank);
    }

    /// DECSTBM; `bottom` 0 means the last row.
    pub(crate) fn set_margins(&mut self, top: u16, bottom: u16) {
        let rows = self.screen.size.rows();
        let bottom = if bottom == 0 { rows } else { bottom.min(rows) };
        if top < bottom {
            self.region = Region { top: top - 1, bottom: bottom - 1, ..self.region };
            self.move_to(0, 0);
        }
    }

    /// DECSC.
    pub(crate) fn save_cursor(&mut self) {
        self.saved_cursor = SavedCursor {
            row: self.screen.cursor.row,
            column: self.screen.cursor.column,
            pending_wrap: self.pending_wrap,
            pen: self.screen.pen,
            underline_color: self.screen.decoration.underline_color,
            origin: self.modes.origin,
            charsets: self.charsets,
        };
    }

    /// DECRC.
    pub(crate) fn restore_cursor(&mut self) {
        let saved = self.saved_cursor;
        self.modes.origin = saved.origin;
        self.screen.pen = saved.pen;
        self.screen.decoration.underline_color = saved.underline_color;
        self.charsets = saved.charsets;
        self.set_cursor(saved.row, saved.column);
        self.pending_wrap = saved.pending_wrap && self.screen.cursor.column == self.line_end();
    }

    /// DECSCUSR; a number without a style is ignored.
    pub(crate) fn set_cursor_style(&mut self, style: u16) {
        if style <= CURSOR_STYLE_MAX {
            self.screen.rich.cursor_style = u8::try_from(style).expect("at most 6");
        }
    }

    /// Shows the alternate screen or the primary one; the cursor stays where it is.
    pub(crate) fn show_alternate(&mut self, show: bool) {
        if show == self.screen.rich.alternate_screen {
            return;
        }
        let size = self.screen.size;
        let hidden = self.hidden.get_or_insert_with(|| HiddenScreen {
            rows: Screen::blank(size).rows,
            saved_cursor: SavedCursor::default(),
            kitty_keyboard: 0,
            keyboard: KeyboardStack::default(),
        });
        core::mem::swap(&mut hidden.rows, &mut self.screen.rows);
        core::mem::swap(&mut hidden.saved_cursor, &mut self.saved_cursor);
        core::mem::swap(&mut hidden.kitty_keyboard, &mut self.screen.rich.kitty_keyboard);
        core::mem::swap(&mut hidden.keyboard, &mut self.keyboard);
        self.screen.rich.alternate_screen = show;
    }

    /// RIS. Titles, clipboard and the count of bells stay, as in xterm.
    pub(crate) fn reset(&mut self) {
        let old = &self.screen;
        let mut fresh = Self::new(old.size, self.role);
        fresh.screen.titled = old.titled;
        fresh.screen.title = Arc::clone(&old.title);
        fresh.screen.icon_name = Arc::clone(&old.icon_name);
        fresh.screen.clipboard = Arc::clone(&old.clipboard);
        fresh.screen.bells = old.bells;
        fresh.screen.cluster_widths = old.cluster_widths;
        fresh.title_stack = core::mem::take(&mut self.title_stack);
        fresh.replies = core::mem::take(&mut self.replies);
        fresh.user_terminal = self.user_terminal;
        fresh.saved_modes = self.saved_modes;
        fresh.level = self.level;
        fresh.copied = self.copied.take();
        fresh.readable_copy = self.readable_copy.take();
        fresh.notifications = core::mem::take(&mut self.notifications);
        fresh.scrollback = self.scrollback.take();
        fresh.effort = self.effort;
        fresh.effort_max = self.effort_max;
        // A blank row, the tab stops, and what is allocated for all the rest.
        (0..RESET_ROWS).for_each(|_| fresh.effort.touch(usize::from(old.size.columns())));
        fresh.effort.move_rows(usize::from(old.size.rows()));
        *self = fresh;
    }

    /// DECSTR. The cursor does not move.
    pub(crate) fn soft_reset(&mut self) {
        self.modes.insert = false;
        self.modes.origin = false;
        self.modes.reverse_wrap = false;
        self.modes.extended_reverse_wrap = false;
        self.modes.noted.soft_reset();
        self.screen.rich.application_cursor_keys = false;
        self.screen.rich.application_keypad = false;
        self.screen.rich.cursor_style = 0;
        self.screen.rich.modify_other_keys = 0;
        self.reset_keyboard();
        self.screen.cursor.visible = true;
        self.screen.pen = Pen::default();
        self.protection = Protection::Off;
        self.checksum_extension = ChecksumExtension::default();
        self.screen.decoration = Decoration::default();
        self.region = Region::full(self.screen.size);
        self.modes.side_margins = false;
        self.charsets = Charsets::default();
        self.saved_cursor = SavedCursor::default();
        self.pending_wrap = false;
    }

    /// Returns the memory that the tab stops and the titles put aside take, beyond what is shared with a neighbour.
    pub(crate) fn unseen_bytes(&self, neighbour: Option<&Self>) -> usize {
        let theirs = neighbour.map_or(&[][..], |neighbour| &neighbour.title_stack);
        let titles = self.title_stack.iter().enumerate().map(|(at, (icon_name, title))| {
            let is_shared = theirs.get(at).is_some_and(|theirs| Arc::ptr_eq(title, &theirs.1));
            if is_shared { 0 } else { icon_name.len() + title.len() }
        });
        self.tabs.bytes()
            + self.title_stack.capacity() * size_of::<(Arc<str>, Arc<str>)>()
            + titles.sum::<usize>()
    }

    /// Panics if what must always hold does not.
    pub(crate) fn assert_integrity(&self) {
        assert!(self.region.top <= self.region.bottom);
        assert!(self.region.bottom < self.screen.size.rows());
        assert!(self.region.left <= self.region.right && self.region.right < self.columns());
        if self.is_host() {
            self.screen.assert_integrity();
        }
    }
}
