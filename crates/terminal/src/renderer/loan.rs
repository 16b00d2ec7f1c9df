//! What the user's terminal is lent beside the picture, and gives back in the end: colours, the working
//! directory, a bar of progress.

use std::sync::Arc;

use super::capabilities::TerminalCapabilities;
use crate::display::{colors, directory, progress, reset_colors};
use crate::screen::Screen;
use crate::screen::palette::Colors;
use crate::screen::progress::Progress;

/// What the terminal has that is not its own.
#[derive(Clone, Debug)]
pub(super) struct Loan {
    colors: Arc<Colors>,
    directory: Arc<str>,
    progress: Option<Progress>,
}

impl Default for Loan {
    fn default() -> Self {
        Self { colors: Arc::default(), directory: "".into(), progress: None }
    }
}

impl Loan {
    /// Writes what differs in `frame`; in a repaint, everything.
    pub(super) fn follow(
        &mut self,
        out: &mut Vec<u8>,
        capabilities: &TerminalCapabilities,
        frame: &Screen,
        repaint: bool,
    ) {
        if repaint {
            self.forget(out, frame);
        }
        if capabilities.colors {
            colors(out, &self.colors, &frame.colors);
            self.colors = Arc::clone(&frame.colors);
        }
        if capabilities.directories {
            directory(out, &self.directory, &frame.directory);
            self.directory = Arc::clone(&frame.directory);
        }
        if capabilities.progress {
            progress(out, self.progress, frame.progress);
            self.progress = frame.progress;
        }
    }

    /// Takes back what `frame` does not have. For all that it has, the terminal may have something else.
    fn forget(&mut self, out: &mut Vec<u8>, frame: &Screen) {
        reset_colors(out, &self.colors, &frame.colors);
        self.colors = Arc::default();
        if !frame.directory.is_empty() {
            self.directory = "".into();
        }
        if frame.progress.is_some() {
            self.progress = None;
        }
    }

    /// Writes what leaves the terminal with nothing that is not its own.
    pub(super) fn give_back(&mut self, out: &mut Vec<u8>) {
        let none = Self::default();
        colors(out, &self.colors, &none.colors);
        directory(out, &self.directory, &none.directory);
        progress(out, self.progress, none.progress);
        *self = none;
    }
}
