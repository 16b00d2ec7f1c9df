//! tmux's control mode (`tmux -CC`), which the user is told to run over ssh.
//!
//! In it tmux draws nothing: it expects a terminal that opens windows of its own, and reads all it says as commands for that.
//! The far end gets pictures and no such commands. So a user would see nothing from then on, and is told why and what
//! leaves it. Nothing is typed on the user's behalf: any file that is shown can begin the mode.

use crate::emulator::Emulator;
use crate::emulator::charset::Charsets;
use crate::parse::Sequence;
use crate::screen::cell::Pen;
use crate::screen::decoration::Decoration;

/// The number in the head of the string that control mode is in.
/// Source: tmux 3.3a as observed: `ESC P 1000 p`; an empty line ends it.
const CONTROL_MODE: u16 = 1000;

const REFUSAL: &[u8] =
    b"tmux -CC cannot run in rove: press Enter to leave it, and start it over ssh.";

impl Emulator {
    /// Called when the head of a device control string is complete. A replica's far end has said it already.
    pub(crate) fn refuse_control_mode(&mut self, sequence: &Sequence<'_>) {
        let head = (sequence.private, sequence.intermediates, sequence.last);
        if self.is_host() && head == (0, b"", b'p') && sequence.parameters.value(0) == CONTROL_MODE
        {
            let (pen, decoration) = (self.screen.pen, self.screen.decoration.clone());
            let (modes, charsets) = (self.modes, self.charsets);
            (self.screen.pen, self.screen.decoration) = (Pen::default(), Decoration::default());
            (self.modes.insert, self.modes.autowrap) = (false, true);
            self.charsets = Charsets::default();
            self.start_line();
            self.print_ascii_text(REFUSAL);
            self.start_line();
            (self.screen.pen, self.screen.decoration) = (pen, decoration);
            (self.modes, self.charsets) = (modes, charsets);
        }
    }

    /// Goes to the beginning of a line, which is the next one unless the cursor is there.
    fn start_line(&mut self) {
        if self.screen.cursor.column > 0 {
            self.index();
            self.carriage_return();
        }
    }
}
