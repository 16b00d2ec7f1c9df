//! Draws frames on the user's real terminal, and restores the terminal at the end.

mod capabilities;
mod feed;
mod loan;
mod settings;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use self::capabilities::{AlternateScreen, OscSupport, TerminalCapabilities};
use self::feed::Feed;
use self::loan::Loan;
use self::settings::{OWN_CURSOR_STYLE, POP_KITTY_KEYBOARD, Settings};
use crate::display::{
    History, LINK_END, MODES_OFF, Vocabulary, lines, modes, picture, private_mode, titles,
};
use crate::screen::row::Row;
use crate::screen::{Screen, Size};
use crate::scrollback::ScrollbackLine;

/// Most cells that a frame changes. A single row may have more. Further changes need more frames. Chosen: screens up to
/// 300 columns and 80 rows at once. Drawing this many cells, all different, takes some milliseconds.
const FRAME_CELLS_MAX: usize = 24_000;

/// The sequences that push the user's own titles onto the terminal's title stack, and pop them (XTWINOPS).
const PUSH_TITLES: &[u8] = b"\x1b[22;0t";
const POP_TITLES: &[u8] = b"\x1b[23;0t";

/// Moves the cursor to an empty line below all text. CUP stops at the last row, so a line feed follows.
const BELOW_ALL: &[u8] = b"\x1b[9999;1H\r\n";

impl TerminalCapabilities {
    /// Returns the bytes that restore the terminal after an unexpected end, such as a panic, when no [`Renderer`] is
    /// available. They reset the pen, margins and modes that a session changes, but not titles, colours, directory and
    /// progress. The last frame may be incomplete.
    pub fn emergency_closing(&self) -> Vec<u8> {
        let has_own = self.init && !self.alternate_screen.leave.is_empty();
        let parts: [(bool, &[u8]); 10] = [
            (self.synchronized_output, b"\x1b[?2026l"),
            // The client may not know all capabilities yet. A terminal that supports titles ignores unknown sequences.
            (self.kitty_keyboard || self.osc.window, POP_KITTY_KEYBOARD),
            (self.modify_other_keys || self.osc.window, b"\x1b[>4m"),
            (self.cursor_styles, OWN_CURSOR_STYLE),
            (self.functions.application_keypad, b"\x1b>"),
            (self.repertoire.links, LINK_END),
            (true, b"\x1b[?1l\x1b[m\x1b[?25h"),
            (true, MODES_OFF),
            // Resetting margins moves the cursor. ESC 7 saves its place, but may overwrite the one for `rmcup`.
            (has_own, b"\x1b[r"),
            (!has_own, b"\x1b7\x1b[r\x1b8"),
        ];
        let sent = parts.iter().filter(|(is_sent, _)| *is_sent);
        let mut out: Vec<u8> = sent.flat_map(|(_, bytes)| *bytes).copied().collect();
        if self.init {
            private_mode(&mut out, 1007, self.has_alternate_scroll());
        }
        if self.init && !self.scrollback {
            out.extend(&self.alternate_screen.leave);
        } else if !self.alternate_screen.enter.is_empty() {
            // On the normal screen `CSI ? 1047 l` has no effect, but `rmcup` would restore a saved cursor.
            out.extend(b"\x1b[?1047l");
        }
        if self.init && self.scrollback {
            // The session may be on the normal screen, and the shell must not write over its text.
            out.extend(BELOW_ALL);
        }
        out
    }
}

/// Computes the bytes that draw frames on the user's real terminal.
///
/// The terminal must have the size of the frames. A frame of another size than the last repaints everything.
#[derive(Clone, Debug)]
pub struct Renderer {
    capabilities: TerminalCapabilities,
    /// The server's vocabulary, which decides which modes a frame can contain.
    vocabulary: Vocabulary,
    feed: Feed,
    settings: Settings,
    /// The last drawn frame, on which later bytes depend, even after [`Self::close`]. `None` if there was none.
    shown: Option<Screen>,
    loan: Loan,
    /// Whether the user's own titles are on the terminal's title stack.
    has_pushed_title: bool,
    /// Whether the terminal may display something else than `shown`. The next frame then repaints everything.
    stale: bool,
    open: bool,
}

impl Renderer {
    /// Creates a renderer for a terminal whose content is unknown.
    pub fn new(mut capabilities: TerminalCapabilities) -> Self {
        // Without an alternate screen, the client draws the session on the normal screen from the start.
        capabilities.init &=
            !(capabilities.scrollback && capabilities.alternate_screen.enter.is_empty());
        Self {
            capabilities,
            vocabulary: Vocabulary::Stock,
            feed: Feed::default(),
            settings: Settings::default(),
            shown: None,
            loan: Loan::default(),
            has_pushed_title: false,
            stale: true,
            open: false,
        }
    }

    /// Returns the known capabilities of the user's terminal.
    pub fn capabilities(&self) -> &TerminalCapabilities {
        &self.capabilities
    }

    /// Returns whether the renderer has changed the terminal's alternate scroll (mode 1007).
    pub const fn sets_alternate_scroll(&self) -> bool {
        self.settings.sets_alternate_scroll()
    }

    /// Changes the known capabilities. The next frame repaints everything if they change how screens are drawn.
    pub fn learn(&mut self, learn: impl FnOnce(&mut TerminalCapabilities)) {
        let old = self.capabilities.clone();
        learn(&mut self.capabilities);
        self.stale |= self.capabilities.draws_unlike(&old);
    }

    /// Sets which modes the server's later frames can contain. Initially, the renderer assumes a stock Mosh server.
    /// Frames of such a server lack the modes that rove adds, and cursor keys always send their application form.
    pub fn follow(&mut self, vocabulary: Vocabulary) {
        self.vocabulary = vocabulary;
    }

    /// Declares that the caller will pass the lines that scroll off at the host ([`Self::frame_below`]). With the
    /// capability `scrollback`, no other rows enter the terminal's history from then on.
    pub fn follow_scrollback(&mut self) {
        self.feed.follow();
    }

    /// Returns whether lines can enter the terminal's history together with `frame`. False before
    /// [`Self::follow_scrollback`], and for a frame that needs the terminal's alternate screen.
    pub fn takes_lines(&self, frame: &Screen) -> bool {
        self.feed.is_followed()
            && !settings::wants_alternate_screen(frame, &self.capabilities, self.vocabulary)
    }

    /// Returns the bytes that move the session from the alternate screen to the normal screen. Lines that scroll off
    /// there enter the terminal's history. Empty unless the whole session is on the alternate screen.
    pub fn move_to_history(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.capabilities.init {
            self.settings.leave_alternate_screen(&mut out, &self.capabilities);
            self.capabilities.init = false;
            self.stale = true;
        }
        out
    }

    /// Returns the bytes that begin a session on the user's terminal. The next frame repaints everything.
    pub fn open(&mut self) -> Vec<u8> {
        self.stale = true;
        self.open = true;
        self.feed.open();
        if self.capabilities.init {
            self.capabilities.alternate_screen.enter.clone()
        } else {
            Vec::new()
        }
    }

    /// Returns an intermediate frame to draw first. `None` unless `frame` changes more cells than may be drawn at once.
    pub fn stage(&self, frame: &Screen) -> Option<Screen> {
        let wanted = settings::wanted(frame, &self.capabilities, self.vocabulary);
        let is_same = !self.stale && wanted.alternate_screen == self.settings.alternate_screen();
        let blank = Screen::blank(frame.size());
        let shown = self.shown.as_ref().filter(|shown| is_same && shown.size() == frame.size());
        Screen::on_the_way(shown.unwrap_or(&blank), frame, FRAME_CELLS_MAX)
    }

    /// Returns the bytes that make the terminal display `frame`.
    ///
    /// The bytes contain no bell and no copied text, because the caller may draw a frame twice.
    pub fn frame(&mut self, frame: &Screen) -> Vec<u8> {
        self.frame_below(&[], frame)
    }

    /// Returns the bytes that scroll `lines` into the terminal's history, and then display `frame`. Pass lines only if
    /// [`Self::takes_lines`] is true.
    pub fn frame_below(&mut self, lines: &[ScrollbackLine], frame: &Screen) -> Vec<u8> {
        let mut out = Vec::new();
        let wanted = settings::wanted(frame, &self.capabilities, self.vocabulary);
        self.stale |= self.settings.change_screen(&mut out, wanted, &self.capabilities);
        let first = Screen::blank(Size::clamped(1, 1));
        let shown = self.shown.as_ref().unwrap_or(&first);
        let repaint = self.stale || self.shown.is_none() || shown.size() != frame.size();
        let base = Some(shown).filter(|_| !repaint);
        if self.capabilities.osc.window {
            let has_title = !(frame.titles.title.is_empty() && frame.titles.icon_name.is_empty());
            if has_title && !core::mem::replace(&mut self.has_pushed_title, true) {
                out.extend(PUSH_TITLES);
            }
            if has_title {
                titles(&mut out, base, frame, &self.capabilities.title_prefix);
            } else if core::mem::take(&mut self.has_pushed_title) {
                give_titles_back(&mut out, frame, &self.capabilities.title_prefix);
            }
        }
        self.loan.follow(&mut out, &self.capabilities, frame, repaint);
        modes(&mut out, base, frame, self.capabilities.pixel_mouse);
        self.settings.change(&mut out, wanted, &self.capabilities, repaint);
        let is_main = !self.capabilities.init && !wanted.alternate_screen;
        let history = self.feed.history(&self.capabilities, is_main);
        let dialect = self.capabilities.dialect(frame, history);
        let mut out = if self.capabilities.scrollback && is_main {
            self.feed.frame(out, lines, (shown, frame), repaint, dialect)
        } else {
            picture(out, shown, frame, repaint, dialect)
        };
        if self.capabilities.synchronized_output && !out.is_empty() {
            out.splice(0..0, *b"\x1b[?2026h");
            out.extend(b"\x1b[?2026l");
        }
        self.shown = Some(frame.clone());
        self.stale = false;
        out
    }

    /// Handles a new window size. If fewer rows cut off rows of the normal screen, the terminal moves them to its
    /// history. Returns these rows, but none before [`Self::follow_scrollback`]. The next frame repaints everything.
    pub fn handle_resize(&mut self, window: Size) -> Vec<Arc<Row>> {
        self.stale = true;
        let is_main = !self.capabilities.init && !self.settings.alternate_screen();
        let takes_lines = is_main && self.feed.is_followed();
        let Some(shown) = self.shown.as_mut().filter(|_| takes_lines) else { return Vec::new() };
        let cut = usize::from((shown.cursor.row + 1).saturating_sub(window.rows()));
        let cut_screen = shown.seen_through(window);
        core::mem::replace(shown, cut_screen).rows[..cut].to_vec()
    }

    /// Declares that the terminal's content is unknown. The next frame repaints everything.
    pub fn invalidate(&mut self) {
        self.stale = true;
    }

    /// Returns the bytes that end the session and restore every mode. Empty if no session is open.
    pub fn close(&mut self) -> Vec<u8> {
        if !core::mem::take(&mut self.open) {
            return Vec::new();
        }
        self.stale = true;
        let mut out = Vec::new();
        if self.capabilities.synchronized_output {
            out.extend(b"\x1b[?2026l");
        }
        if core::mem::take(&mut self.has_pushed_title)
            && let Some(shown) = &self.shown
        {
            give_titles_back(&mut out, shown, &self.capabilities.title_prefix);
        }
        self.loan.give_back(&mut out);
        self.settings.restore(&mut out, &self.capabilities);
        out.extend(b"\x1b[m\x1b[?25h");
        out.extend(MODES_OFF);
        // An incomplete frame may have left margins. Resetting them moves the cursor.
        out.extend(b"\x1b[r");
        if let Some(shown) = &self.shown {
            let cursor = shown.cursor();
            out.extend(format!("\x1b[{};{}H", cursor.row + 1, cursor.column + 1).as_bytes());
        }
        let is_main = !self.settings.alternate_screen();
        if self.capabilities.init || !is_main {
            out.extend(&self.capabilities.alternate_screen.leave);
        }
        if self.capabilities.scrollback
            && !self.capabilities.init
            && let Some(shown) = &self.shown
        {
            feed::go_below(&mut out, shown, is_main);
        }
        self.settings = Settings::default();
        out
    }

    /// Ends the session like [`Self::close`]. If the terminal then displays the user's own screen, the bytes also print
    /// `screen` like a command's output. Otherwise the session's text is already on the terminal.
    pub fn close_leaving(&mut self, screen: &Screen) -> Vec<u8> {
        let has_own = self.open
            && self.capabilities.init
            && !self.capabilities.alternate_screen.leave.is_empty();
        let mut out = self.close();
        if has_own {
            out.extend(lines(screen, self.capabilities.dialect(screen, History::Frames)));
        }
        out
    }
}

/// Restores the user's own titles. A terminal without a title stack keeps those of `screen`, without the prefix.
fn give_titles_back(out: &mut Vec<u8>, screen: &Screen, prefix: &str) {
    if !prefix.is_empty() {
        titles(out, None, screen, "");
    }
    out.extend(POP_TITLES);
}
