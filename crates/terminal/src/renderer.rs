//! Draws frames on the user's real terminal, and leaves it as it was found.

use crate::screen::Screen;

/// What the user's terminal can do, read from terminfo and the environment by the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outer {
    /// `ech`: erasing characters without moving.
    pub erase_characters: bool,
    /// `bce`: erasing paints the current background.
    pub background_color_erase: bool,
    /// Whether titles may be set (by the terminal's name).
    pub titles: bool,
    /// Put in front of window titles, such as `[rove] `.
    pub title_prefix: String,
    /// `smcup`: sent first; empty to stay on the normal screen.
    pub enter: Vec<u8>,
    /// `rmcup`: sent last.
    pub leave: Vec<u8>,
}

/// Draws frames on the user's real terminal.
#[derive(Clone, Debug)]
pub struct Renderer {
    _stub: (),
}

impl Renderer {
    /// Creates a renderer for this terminal; nothing is known to be on it.
    pub fn new(outer: Outer) -> Self {
        let _ = outer;
        todo!()
    }

    /// Returns the bytes that take the terminal over. The next frame repaints everything.
    pub fn open(&mut self) -> Vec<u8> {
        todo!()
    }

    /// Returns the bytes that make the terminal show `frame`, given what it shows now.
    pub fn frame(&mut self, frame: &Screen) -> Vec<u8> {
        let _ = frame;
        todo!()
    }

    /// Forgets what is on the terminal: the next frame repaints everything.
    pub fn invalidate(&mut self) {
        todo!()
    }

    /// Returns the bytes that give the terminal back with every mode as it was found.
    pub fn close(&mut self) -> Vec<u8> {
        todo!()
    }
}
