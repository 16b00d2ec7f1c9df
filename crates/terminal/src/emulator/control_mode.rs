//! tmux's control mode (`tmux -CC`), which rove refuses with a notice that tells the user to run tmux over ssh.
//!
//! In control mode, tmux draws nothing. It expects a terminal that opens its own windows and interprets tmux's output
//! as commands. A rove client receives screens and no commands, so the user would see nothing. The notice states this,
//! and the key that ends the mode. The emulator does not send that key to tmux itself, because any file that a program
//! prints can begin the mode.

use crate::emulator::charset::Charsets;
use crate::emulator::grid::Grid;
use crate::emulator::print::Printer;
use crate::parse::Sequence;
use crate::screen::cell::Pen;
use crate::screen::decoration::Decoration;

/// The number at the head of the device control string in which tmux's control mode runs.
/// Source: tmux 3.3a as observed: `ESC P 1000 p`; an empty line ends it.
const CONTROL_MODE: u16 = 1000;

const REFUSAL: &[u8] =
    b"tmux -CC cannot run in rove: press Enter to leave it, and start it over ssh.";

/// Prints the notice if this head of a device control string begins tmux's control mode. A replica prints no notice,
/// because the host has already printed it.
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

/// Moves the cursor to the start of the next line, unless it is in the first column.
fn start_line(grid: &mut Grid) {
    if grid.screen.cursor.column > 0 {
        grid.index();
        grid.carriage_return();
    }
}
