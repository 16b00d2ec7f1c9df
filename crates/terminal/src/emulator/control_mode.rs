//! tmux's control mode (`tmux -CC`), which the user is told to run over ssh.
//!
//! In it tmux draws nothing: it expects a terminal that opens windows of its own, and reads all it says as commands for that.
//! The far end gets pictures and no such commands. So a user would see nothing from then on, and is told why and what
//! leaves it. Nothing is typed on the user's behalf: any file that is shown can begin the mode.

use crate::emulator::charset::Charsets;
use crate::emulator::grid::Grid;
use crate::emulator::print::Printer;
use crate::parse::Sequence;
use crate::screen::cell::Pen;
use crate::screen::decoration::Decoration;

/// The number in the head of the string that control mode is in.
/// Source: tmux 3.3a as observed: `ESC P 1000 p`; an empty line ends it.
const CONTROL_MODE: u16 = 1000;

const REFUSAL: &[u8] =
    b"tmux -CC cannot run in rove: press Enter to leave it, and start it over ssh.";

/// Called when the head of a device control string is complete. A replica's far end has said it already.
pub(crate) fn refuse(grid: &mut Grid, printer: &mut Printer, sequence: &Sequence<'_>) {
    let head = (sequence.private, sequence.intermediates, sequence.last);
    let begins = head == (0, b"", b'p') && sequence.parameters.value(0) == CONTROL_MODE;
    if !grid.is_host() || !begins {
        return;
    }
    let (pen, decoration) = (grid.screen.pen, grid.screen.decoration.clone());
    let (modes, charsets) = (grid.modes, printer.charsets);
    (grid.screen.pen, grid.screen.decoration) = (Pen::default(), Decoration::default());
    (grid.modes.insert, grid.modes.autowrap) = (false, true);
    printer.charsets = Charsets::default();
    start_line(grid);
    printer.print_ascii_text(grid, REFUSAL);
    start_line(grid);
    (grid.screen.pen, grid.screen.decoration) = (pen, decoration);
    (grid.modes, printer.charsets) = (modes, charsets);
}

/// Goes to the beginning of a line, which is the next one unless the cursor is there.
fn start_line(grid: &mut Grid) {
    if grid.screen.cursor.column > 0 {
        grid.index();
        grid.carriage_return();
    }
}
