//! The emulator: parser, modes and screen.

use crate::screen::{Screen, Size};

/// A terminal emulator.
///
/// A *host* terminal is driven by programs on a pty, answers their questions and repairs half
/// overwritten wide characters. A *replica* is driven by the far end's diffs: it changes what the
/// diff says and nothing more, and never answers.
#[derive(Clone, Debug)]
pub struct Terminal {
    _stub: (),
}

impl Terminal {
    /// Creates a blank terminal for programs on a pty.
    pub fn host(size: Size) -> Self {
        let _ = size;
        todo!()
    }

    /// Creates a blank terminal that follows a far end's diffs.
    pub fn replica(size: Size) -> Self {
        let _ = size;
        todo!()
    }

    /// Takes host bytes, cut anywhere.
    pub fn write(&mut self, bytes: &[u8]) {
        let _ = bytes;
        todo!()
    }

    /// Changes the size.
    pub fn resize(&mut self, size: Size) {
        let _ = size;
        todo!()
    }

    /// Returns and forgets the answers owed to the program on the pty. Bounded; a flood of
    /// questions beyond the bound goes unanswered.
    pub fn take_replies(&mut self) -> Vec<u8> {
        todo!()
    }

    /// Returns the picture; clone it for a snapshot.
    pub fn screen(&self) -> &Screen {
        todo!()
    }

    /// Returns whether cursor keys are to be sent in application form (DECCKM).
    pub fn application_cursor_keys(&self) -> bool {
        todo!()
    }
}
