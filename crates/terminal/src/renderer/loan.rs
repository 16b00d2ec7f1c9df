//! The colours, working directory and progress bar that the renderer sets in the user's terminal. It resets them at the
//! session's end.

use std::sync::Arc;

use super::capabilities::TerminalCapabilities;
use crate::display::{colors, directory, progress, reset_colors};
use crate::screen::Screen;
use crate::screen::palette::Colors;
use crate::screen::progress::Progress;

/// The colours, working directory and progress bar that the renderer has set in the user's terminal.
#[derive(Clone, Debug, Default)]
pub(super) struct Loan {
    colors: Arc<Colors>,
    directory: Arc<str>,
    progress: Option<Progress>,
}

impl Loan {
    /// Writes colours, directory and progress of `frame`, as far as supported, if they have changed or on a repaint.
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
        if capabilities.osc.window {
            colors(out, &self.colors, &frame.colors);
            self.colors = Arc::clone(&frame.colors);
        }
        if capabilities.osc.window {
            directory(out, &self.directory, &frame.directory);
            self.directory = Arc::clone(&frame.directory);
        }
        if capabilities.osc.progress {
            progress(out, self.progress, frame.progress);
            self.progress = frame.progress;
        }
    }

    /// Forgets the terminal's state, so that all of `frame` is written. Resets colours that `frame` does not set.
    fn forget(&mut self, out: &mut Vec<u8>, frame: &Screen) {
        reset_colors(out, &self.colors, &frame.colors);
        self.colors = Arc::default();
        if !frame.directory.is_empty() {
            self.directory = Arc::default();
        }
        if frame.progress.is_some() {
            self.progress = None;
        }
    }

    /// Writes the bytes that reset the colours, the working directory and the progress bar.
    pub(super) fn give_back(&mut self, out: &mut Vec<u8>) {
        let none = Self::default();
        colors(out, &self.colors, &none.colors);
        directory(out, &self.directory, &none.directory);
        progress(out, self.progress, none.progress);
        *self = none;
    }
}
