//! State of the user's terminal beside the screen that the renderer sets, and resets at the end: colours, working
//! directory, progress bar.

use std::sync::Arc;

use super::capabilities::TerminalCapabilities;
use crate::display::{colors, directory, progress, reset_colors};
use crate::screen::Screen;
use crate::screen::palette::Colors;
use crate::screen::progress::Progress;

/// The colours, working directory and progress bar that the user's terminal has because the renderer set them.
#[derive(Clone, Debug, Default)]
pub(super) struct Loan {
    colors: Arc<Colors>,
    directory: Arc<str>,
    progress: Option<Progress>,
}

impl Loan {
    /// Writes the colours, directory and progress of `frame` that the terminal does not have. A repaint writes all.
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

    /// Forgets what the terminal has, so that `frame` is written as a whole. Colours that `frame` lacks are reset.
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
