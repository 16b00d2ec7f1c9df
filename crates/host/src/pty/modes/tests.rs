//! Tests that set the modes of a pseudo-terminal, and read them.

use rove_terminal::Size;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use super::*;
use crate::pty::Pty;

#[test]
fn modes_that_programs_set_are_told_apart() {
    type Change = fn(&mut Termios);
    let table: [(Change, TtyModes); 14] = [
        (|_| {}, TtyModes::empty()),
        (|t| t.local_modes.remove(LocalModes::ECHO), TtyModes::ECHO),
        (|t| t.local_modes.remove(LocalModes::ICANON), TtyModes::CANONICAL),
        (|t| t.local_modes.remove(LocalModes::ECHOCTL), TtyModes::ECHO_CONTROL),
        (|t| t.local_modes.remove(LocalModes::ECHOE), TtyModes::ECHO_ERASE),
        (|t| t.local_modes.remove(LocalModes::ECHOK), TtyModes::ECHO_KILL),
        (|t| t.local_modes.remove(LocalModes::ECHOKE), TtyModes::ECHO_KILL_ERASE),
        (|t| t.local_modes.remove(LocalModes::ISIG), TtyModes::SIGNALS),
        (|t| t.local_modes.remove(LocalModes::IEXTEN), TtyModes::EXTENDED),
        (|t| t.input_modes.remove(InputModes::IXON), TtyModes::FLOW_CONTROL),
        (|t| t.input_modes.remove(InputModes::IUTF8), TtyModes::UTF8),
        (|t| t.input_modes.remove(InputModes::ICRNL), TtyModes::RETURN_IS_NEW_LINE),
        (|t| t.output_modes.remove(OutputModes::OPOST), TtyModes::NEW_LINE_RETURNS),
        (|t| t.local_modes.insert(LocalModes::ECHOPRT), TtyModes::ORDINARY),
    ];
    let (master, terminal) = Pty::open(Size::DEFAULT).unwrap().into_sides();
    let usual = tcgetattr(&terminal).unwrap();
    for (change, missing) in table {
        let mut changed = usual.clone();
        change(&mut changed);
        tcsetattr(&terminal, OptionalActions::Now, &changed).unwrap();
        let found = master.modes().unwrap();
        assert_eq!(found.modes, TtyModes::USUAL.difference(missing), "without {missing:?}");
        assert_eq!(found.characters, TtyCharacters::USUAL);
    }
    let mut erasing = usual;
    erasing.special_codes[SpecialCodeIndex::VERASE] = 8;
    erasing.special_codes[SpecialCodeIndex::VSTOP] = 0;
    let mut characters = TtyCharacters::USUAL;
    (characters.0[0], characters.0[12]) = (8, 0);
    assert_eq!(tty(&erasing), Tty { characters, ..Tty::USUAL });
}
