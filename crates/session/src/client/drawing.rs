//! The pictures on the user's terminal, and the lines that scroll off above them.

use std::sync::Arc;

use rove_terminal::{Renderer, Screen, ScrollbackLine, Size, TerminalCapabilities};

use crate::parts::scrollback::{Inbox, Scrolled};

/// Draws on the user's terminal, with the lines that wait for its history.
#[derive(Debug)]
pub(super) struct Drawing {
    pub(super) renderer: Renderer,
    lines: Inbox,
}

impl Drawing {
    /// Creates the drawing on a terminal that shows nothing of the session yet.
    pub(super) fn new(capabilities: TerminalCapabilities) -> Self {
        Self { renderer: Renderer::new(capabilities), lines: Inbox::default() }
    }

    /// Returns the lines of the server's newest state that the user has not got.
    pub(super) fn look(&mut self, state: &Scrolled) {
        self.lines.look(state);
    }

    /// Keeps the rows above the cursor that a lower window cuts off `shown`, where the terminal does not: on its alternate
    /// screen.
    pub(super) fn keep_cut_rows(&mut self, shown: &Screen, window: Size) {
        let cut = (shown.cursor().row + 1).saturating_sub(window.rows());
        if self.renderer.capabilities().init
            && self.renderer.takes_lines(shown)
            && !self.lines.is_due()
        {
            let rows = (0..cut).filter_map(|row| shown.row(row));
            rows.for_each(|row| self.lines.push(Arc::new(ScrollbackLine::new(row))));
        }
    }

    /// Returns how many lines the user does not get to see: not kept on the way, or still waiting.
    pub(super) fn missing_lines(&self) -> u64 {
        self.lines.missing()
    }

    /// Returns the bytes that show `frame` with some of the lines above it, and whether there is more to draw. If the
    /// frame comes in stages, the next stage replaces it.
    pub(super) fn draw(&mut self, frame: &mut Screen) -> (Vec<u8>, bool) {
        let mut out = self.make_room(frame);
        let (lines, is_more) = match self.renderer.stage(frame) {
            Some(stage) => {
                *frame = stage;
                (Vec::new(), true)
            }
            None => self.take_lines(frame),
        };
        out.extend(self.renderer.frame_below(&lines, frame));
        (out, is_more)
    }

    /// Returns the bytes that show the last frame with all lines above it.
    pub(super) fn finish(&mut self, frame: &Screen) -> Vec<u8> {
        let mut out = self.make_room(frame);
        let mut lines = Vec::new();
        loop {
            let (some, is_more) = self.take_lines(frame);
            lines.extend(some);
            if !is_more {
                break;
            }
        }
        out.extend(self.renderer.frame_below(&lines, frame));
        out
    }

    /// Returns the bytes that take the session to where the lines that wait can go.
    fn make_room(&mut self, frame: &Screen) -> Vec<u8> {
        if self.lines.is_due() && self.renderer.takes_lines(frame) {
            self.renderer.move_to_history()
        } else {
            Vec::new()
        }
    }

    /// Moves lines into a frame, and returns whether more are waiting.
    fn take_lines(&mut self, frame: &Screen) -> (Vec<ScrollbackLine>, bool) {
        if !self.lines.is_due() || !self.renderer.takes_lines(frame) {
            return (Vec::new(), false);
        }
        (self.lines.take(frame.size().columns()), self.lines.is_due())
    }
}
