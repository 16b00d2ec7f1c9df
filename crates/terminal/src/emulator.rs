//! The whole state of a terminal (grid, modes, stacks and answers), and the functions that need several parts of it.

mod charset;
mod checksum;
mod control_mode;
mod copies;
mod decset;
mod device;
mod dispatch;
mod edit;
mod effort;
mod grid;
mod hexadecimal;
mod keyboard;
mod level;
mod modes;
mod motion;
mod noted_colors;
mod noted_modes;
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
mod titles;
mod window;

use std::collections::VecDeque;
use std::sync::Arc;

pub(crate) use self::grid::Role;

use self::charset::Charsets;
use self::checksum::ChecksumExtension;
use self::copies::Copies;
use self::grid::Grid;
use self::keyboard::KeyboardStack;
use self::level::Level;
use self::modes::Modes;
use self::noted_colors::NotedColors;
use self::print::Printer;
use self::protection::Protection;
use self::region::Region;
use self::reply::Answers;
use self::resize::resize_rows;
use self::saved_cursor::SavedCursor;
use self::saved_modes::SavedModes;
use self::titles::TitleStack;
use crate::notification::Notification;
use crate::screen::cell::Pen;
use crate::screen::decoration::Decoration;
use crate::screen::mode::CURSOR_STYLE_MAX;
use crate::screen::row::Row;
use crate::screen::{Screen, Size};
use crate::user_terminal::UserTerminal;

/// The effort of a reset (RIS), as a number of rows of cells. Chosen: writing four rows takes about as long as a reset.
const RESET_ROWS: usize = 4;

/// The state of a terminal between two sequences.
#[derive(Clone, Debug)]
pub(crate) struct Emulator {
    pub(crate) grid: Grid,
    pub(crate) printer: Printer,
    pub(crate) modes: Modes,
    /// The values of private modes that XTSAVE has saved.
    pub(crate) saved_modes: SavedModes,
    pub(crate) noted_colors: NotedColors,
    pub(crate) level: Level,
    pub(crate) checksum_extension: ChecksumExtension,
    /// The saved cursor and keyboard flags of the displayed screen, primary or alternate.
    pub(crate) shown: ScreenState,
    /// The screen that is not displayed, primary or alternate. `None` until a program first uses the alternate screen.
    pub(crate) hidden: Option<HiddenScreen>,
    pub(crate) title_stack: TitleStack,
    pub(crate) answers: Answers,
    pub(crate) copies: Copies,
    /// Notifications that the caller has not taken yet, oldest first.
    pub(crate) notifications: VecDeque<Notification>,
    pub(crate) user_terminal: UserTerminal,
    /// The effort ([`crate::Terminal::effort`]) above which the parser stops.
    pub(crate) effort_max: u64,
}

/// The state, besides the cells, that the primary and the alternate screen do not share.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScreenState {
    pub(crate) saved_cursor: SavedCursor,
    pub(crate) keyboard: KeyboardStack,
}

/// The rows and the state of the screen that is not displayed, primary or alternate.
#[derive(Clone, Debug)]
pub(crate) struct HiddenScreen {
    pub(crate) rows: Vec<Arc<Row>>,
    /// The flags of kitty's keyboard protocol that apply when this screen is displayed.
    pub(crate) kitty_keyboard: u8,
    pub(crate) state: ScreenState,
}

impl Emulator {
    pub(crate) fn new(size: Size, role: Role) -> Self {
        Self {
            grid: Grid::new(size, role),
            printer: Printer::default(),
            modes: Modes::default(),
            saved_modes: SavedModes::default(),
            noted_colors: NotedColors::default(),
            level: Level::default(),
            checksum_extension: ChecksumExtension::default(),
            shown: ScreenState::default(),
            hidden: None,
            title_stack: TitleStack::default(),
            answers: Answers::new(role),
            copies: Copies::default(),
            notifications: VecDeque::new(),
            user_terminal: UserTerminal::default(),
            effort_max: u64::MAX,
        }
    }

    /// Sets the known facts about the user's terminal. Reports changed colours to a program in mode 2031, and a changed
    /// cell size in pixels in mode 2048. Resets kitty's keyboard flags if the terminal lacks that protocol.
    pub(crate) fn set_user_terminal(&mut self, user_terminal: UserTerminal) {
        let old = core::mem::replace(&mut self.user_terminal, user_terminal);
        self.grid.screen.cluster_widths = user_terminal.cluster_widths;
        self.printer.learn(&user_terminal);
        if !self.has_kitty_keyboard() {
            self.reset_keyboard();
        }
        let colors = |user: &UserTerminal| (user.foreground, user.background, user.cursor);
        if colors(&old) != colors(&user_terminal) && self.modes.color_scheme_updates {
            self.answers.extend(window::color_scheme(&user_terminal));
        }
        if old.cell_pixels != user_terminal.cell_pixels {
            self.announce_size();
        }
    }

    /// Reports the size in cells and pixels, if mode 2048 is set. Call this when the mode is set and at every change of
    /// the size.
    pub(crate) fn announce_size(&mut self) {
        if self.modes.size_announcements {
            let size = self.grid.screen.size;
            self.answers.extend(window::announcement(&self.user_terminal, size));
        }
    }

    /// Changes the size of both screens. Cuts and adds rows at the bottom, without rewrapping lines. A host terminal
    /// whose cursor row would be cut drops rows at the top instead.
    pub(crate) fn resize(&mut self, size: Size) {
        let Grid { screen, effort, role, .. } = &mut self.grid;
        if size == screen.size {
            return;
        }
        effort.move_rows(usize::from(size.rows()));
        if size.columns() != screen.size.columns() {
            let hidden = self.hidden.iter().flat_map(|hidden| &hidden.rows);
            for row in screen.rows.iter().chain(hidden) {
                effort.copy_row(row);
                effort.touch(usize::from(size.columns()));
            }
        }
        let (last, room) =
            (screen.size.rows() - 1, if *role == Role::Host { size.rows() } else { u16::MAX });
        // A saved cursor may be on a row outside of the screen.
        let dropped = |row: u16| (row.min(last) + 1).saturating_sub(room);
        let above = dropped(screen.cursor.row);
        self.shown.saved_cursor.lift(above);
        if let Some(HiddenScreen { rows, state, .. }) = &mut self.hidden {
            let above = dropped(state.saved_cursor.row);
            resize_rows(rows, size, above, Pen::default());
            state.saved_cursor.lift(above);
        }
        self.grid.resize(size, above);
        self.announce_size();
    }

    /// Saves the cursor with its pending wrap, pen, origin mode and character sets (DECSC).
    pub(crate) fn save_cursor(&mut self) {
        let Grid { screen, pending_wrap, modes, .. } = &self.grid;
        self.shown.saved_cursor = SavedCursor {
            row: screen.cursor.row,
            column: screen.cursor.column,
            pending_wrap: *pending_wrap,
            pen: screen.pen,
            underline_color: screen.decoration.underline_color,
            origin: modes.origin,
            charsets: self.printer.charsets,
        };
    }

    /// Restores the saved cursor with its pending wrap, pen, origin mode and character sets (DECRC).
    pub(crate) fn restore_cursor(&mut self) {
        let (saved, grid) = (self.shown.saved_cursor, &mut self.grid);
        grid.modes.origin = saved.origin;
        grid.screen.pen = saved.pen;
        grid.screen.decoration.underline_color = saved.underline_color;
        self.printer.charsets = saved.charsets;
        grid.set_cursor(saved.row, saved.column);
        grid.pending_wrap = saved.pending_wrap && grid.screen.cursor.column == grid.line_end();
    }

    /// Sets the style of the cursor (DECSCUSR). Ignores an unknown style.
    pub(crate) fn set_cursor_style(&mut self, style: u16) {
        if style <= CURSOR_STYLE_MAX {
            self.grid.screen.rich.cursor_style = u8::try_from(style).expect("at most 6");
        }
    }

    /// Displays the alternate screen (`show`) or the primary screen. The cursor does not move.
    pub(crate) fn show_alternate(&mut self, show: bool) {
        let screen = &mut self.grid.screen;
        if show == screen.rich.alternate_screen {
            return;
        }
        let hidden = self.hidden.get_or_insert_with(|| HiddenScreen {
            rows: Screen::blank(screen.size).rows,
            kitty_keyboard: 0,
            state: ScreenState::default(),
        });
        core::mem::swap(&mut hidden.rows, &mut screen.rows);
        core::mem::swap(&mut hidden.kitty_keyboard, &mut screen.rich.kitty_keyboard);
        core::mem::swap(&mut hidden.state, &mut self.shown);
        screen.rich.alternate_screen = show;
    }

    /// Resets the terminal (RIS). As in xterm, keeps titles, copied text, bells, saved modes and level. Keeps all that
    /// the caller has not taken.
    pub(crate) fn reset(&mut self) {
        let mut fresh = Self::new(self.grid.screen.size, self.grid.role);
        let (old, screen) = (&self.grid.screen, &mut fresh.grid.screen);
        screen.titles = old.titles.clone();
        screen.clipboard = Arc::clone(&old.clipboard);
        screen.bells = old.bells;
        screen.cluster_widths = old.cluster_widths;
        fresh.grid.scrollback = self.grid.scrollback.take();
        fresh.grid.effort = self.grid.effort;
        fresh.title_stack = core::mem::take(&mut self.title_stack);
        core::mem::swap(&mut fresh.answers, &mut self.answers);
        fresh.printer.learn(&self.user_terminal);
        fresh.user_terminal = self.user_terminal;
        fresh.saved_modes = core::mem::take(&mut self.saved_modes);
        fresh.level = self.level;
        fresh.copies = core::mem::take(&mut self.copies);
        fresh.notifications = core::mem::take(&mut self.notifications);
        fresh.effort_max = self.effort_max;
        // The effort of a reset: a blank row, the tab stops, and other memory that a reset allocates.
        (0..RESET_ROWS).for_each(|_| fresh.grid.effort.touch(usize::from(old.size.columns())));
        fresh.grid.effort.move_rows(usize::from(old.size.rows()));
        *self = fresh;
    }

    /// Resets margins, pen, saved cursor and many modes (DECSTR). Keeps the text and the cursor's position.
    pub(crate) fn soft_reset(&mut self) {
        let Grid { screen, modes, .. } = &mut self.grid;
        modes.insert = false;
        modes.origin = false;
        modes.reverse_wrap = false;
        modes.extended_reverse_wrap = false;
        modes.side_margins = false;
        screen.rich.application_cursor_keys = false;
        screen.rich.application_keypad = false;
        screen.rich.cursor_style = 0;
        screen.rich.modify_other_keys = 0;
        screen.cursor.visible = true;
        screen.pen = Pen::default();
        screen.decoration = Decoration::default();
        self.grid.region = Region::full(self.grid.screen.size);
        self.grid.protection = Protection::Off;
        self.grid.pending_wrap = false;
        self.modes.noted.soft_reset();
        self.reset_keyboard();
        self.checksum_extension = ChecksumExtension::default();
        self.printer.charsets = Charsets::default();
        self.shown.saved_cursor = SavedCursor::default();
    }

    /// Returns whether programs can use kitty's keyboard protocol. A host terminal requires that the user's terminal
    /// supports it. A replica always supports the protocol, because diffs state which flags are set.
    pub(crate) const fn has_kitty_keyboard(&self) -> bool {
        !self.grid.is_host() || self.user_terminal.kitty_keyboard
    }

    /// Resets the flags of kitty's keyboard protocol on both screens, including the pushed flags.
    pub(crate) fn reset_keyboard(&mut self) {
        self.grid.screen.rich.kitty_keyboard = 0;
        self.shown.keyboard = KeyboardStack::default();
        if let Some(hidden) = &mut self.hidden {
            hidden.kitty_keyboard = 0;
            hidden.state.keyboard = KeyboardStack::default();
        }
    }

    /// Performs a soft reset, then restricts programs to the functions of this level (DECSCL). Answers keep 7-bit
    /// controls, because 8-bit C1 controls are not valid UTF-8. Replicas ignore the sequence, as stock Mosh does.
    pub(crate) fn set_level(&mut self, parameter: u16) {
        if let Some(level) = Level::from_parameter(parameter).filter(|_| self.grid.is_host()) {
            self.soft_reset();
            self.level = level;
        }
    }
}
