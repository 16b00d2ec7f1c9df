//! Draws frames on the user's real terminal, and leaves it as it was found.

mod loan;

use crate::display::{Dialect, MODES_OFF, Repertoire, clipboard, modes, picture, titles};
use crate::screen::{Screen, Size};
use loan::Loan;

/// What the user's terminal can do, read from terminfo and the environment by the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outer {
    /// `ech`: erasing characters without moving.
    pub erase_characters: bool,
    /// `bce`: erasing paints the current background.
    pub background_color_erase: bool,
    /// The graphic renditions it knows.
    pub repertoire: Repertoire,
    /// Whether it takes operating system commands: copied text is passed on only then.
    pub operating_system_commands: bool,
    /// Whether titles may be set (by the terminal's name).
    pub titles: bool,
    /// Whether colours may be set (by the terminal's name).
    pub colors: bool,
    /// Whether a working directory may be told (OSC 7).
    pub directories: bool,
    /// Whether it shows a bar of progress (OSC 9;4), which others take for a notification.
    pub progress: bool,
    /// Put in front of window titles, such as `[rove] `.
    pub title_prefix: String,
    /// Whether a frame is bracketed by mode 2026, so that it appears at once.
    pub synchronized_output: bool,
    /// `smcup`: sent first; empty to stay on the normal screen.
    pub enter: Vec<u8>,
    /// `rmcup`: sent last.
    pub leave: Vec<u8>,
    /// Whether it speaks the keyboard protocol of kitty.
    pub kitty_keyboard: bool,
    /// Its own setting of alternate scroll (mode 1007); unknown, it is taken for set.
    pub alternate_scroll: Option<bool>,
}

/// Draws frames on the user's real terminal.
///
/// The terminal is expected to be as large as the frames; a frame of another size than the last
/// repaints everything.
#[derive(Clone, Debug)]
pub struct Renderer {
    outer: Outer,
    /// The last frame; kept through [`Self::close`], so that no bell or copied text is repeated.
    shown: Option<Screen>,
    loan: Loan,
    /// Whether the terminal may show something else.
    stale: bool,
    open: bool,
}

impl Renderer {
    /// Creates a renderer for this terminal; nothing is known to be on it.
    pub fn new(outer: Outer) -> Self {
        Self { outer, shown: None, loan: Loan::default(), stale: true, open: false }
    }

    /// Takes note of what has become known of the terminal: the next frame makes use of it.
    pub fn learn(&mut self, learn: impl FnOnce(&mut Outer)) {
        let repertoire = self.outer.repertoire;
        learn(&mut self.outer);
        self.stale |= self.outer.repertoire != repertoire;
    }

    /// Returns the bytes that take the terminal over. The next frame repaints everything.
    pub fn open(&mut self) -> Vec<u8> {
        self.stale = true;
        self.open = true;
        let mut out = self.outer.enter.clone();
        out.extend(b"\x1b[?1h");
        out
    }

    /// Returns the bytes that make the terminal show `frame`, given what it shows now.
    ///
    /// A repaint draws all cells, modes and titles, but never repeats a bell or copied text.
    pub fn frame(&mut self, frame: &Screen) -> Vec<u8> {
        let first = Screen::blank(Size::clamped(1, 1));
        let shown = self.shown.as_ref().unwrap_or(&first);
        let repaint = self.stale || self.shown.is_none() || shown.size() != frame.size();
        let base = Some(shown).filter(|_| !repaint);
        let mut out = Vec::new();
        if self.shown.is_some() && shown.bells != frame.bells {
            out.push(b'\x07');
        }
        if self.outer.titles {
            titles(&mut out, base, frame, &self.outer.title_prefix);
        }
        // Copying nothing is no reason to take the user's own clipboard away.
        if self.outer.operating_system_commands
            && self.shown.is_some()
            && shown.clipboard != frame.clipboard
            && !frame.clipboard.is_empty()
        {
            clipboard(&mut out, &frame.clipboard);
        }
        self.loan.follow(&mut out, &self.outer, frame, repaint);
        modes(&mut out, base, frame);
        let dialect = Dialect {
            replica: false,
            erase_characters: self.outer.erase_characters,
            background_color_erase: self.outer.background_color_erase,
            repertoire: self.outer.repertoire,
        };
        let mut out = picture(out, shown, frame, repaint, dialect);
        if self.outer.synchronized_output && !out.is_empty() {
            out.splice(0..0, *b"\x1b[?2026h");
            out.extend(b"\x1b[?2026l");
        }
        self.shown = Some(frame.clone());
        self.stale = false;
        out
    }

    /// Forgets what is on the terminal: the next frame repaints everything.
    pub fn invalidate(&mut self) {
        self.stale = true;
    }

    /// Returns the bytes that give the terminal back with every mode as it was found; none if it was
    /// given back already.
    pub fn close(&mut self) -> Vec<u8> {
        if !core::mem::take(&mut self.open) {
            return Vec::new();
        }
        self.stale = true;
        let mut out = Vec::new();
        if self.outer.synchronized_output {
            out.extend(b"\x1b[?2026l");
        }
        if self.outer.titles
            && !self.outer.title_prefix.is_empty()
            && let Some(shown) = &self.shown
        {
            titles(&mut out, None, shown, "");
        }
        self.loan.give_back(&mut out);
        out.extend(b"\x1b[?1l\x1b[m\x1b[?25h");
        out.extend(MODES_OFF);
        // Frames leave the margins full; one cut short may not have. Setting them moves the cursor.
        out.extend(b"\x1b[r");
        if let Some(shown) = &self.shown {
            let cursor = shown.cursor();
            out.extend(format!("\x1b[{};{}H", cursor.row + 1, cursor.column + 1).as_bytes());
        }
        out.extend(&self.outer.leave);
        out
    }
}

#[cfg(test)]
mod tests;
