//! Keys typed right after a key that turns out to have no visible effect.

use super::Modal;
use super::rig::{Program, Rig, Shell};

/// A shell that beeps at Tab, because it finds nothing to complete.
struct Completer(Shell);

impl Program for Completer {
    fn start(&mut self) -> Vec<u8> {
        self.0.start()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        if key == b'\t' { (0, b"\x07".to_vec()) } else { self.0.answer(key) }
    }
}

/// The first screen after Tab already shows the effects of later keys.
#[test]
fn a_key_typed_after_an_idle_tab_is_seen_once_only() {
    for (keys, shortest, leftmost) in [
        ("\t\x7f", "$ abcd", 6),
        ("\t\x7f\x7f", "$ abc", 5),
        ("\t\t\x7f", "$ abcd", 6),
        ("\t\x1b[D", "$ abcde", 6),
        ("\t\x1b[D\x1b[D", "$ abcde", 5),
        ("\t\x7fx", "$ abcd", 6),
    ] {
        let mut rig = Rig::new(Completer(Shell::new("\x1b[?2004h$ ")));
        rig.prove("ls\r");
        rig.prove("abcde");
        rig.type_keys(keys);
        for _ in 0..1500 {
            let (row, column) = (rig.row(), rig.column());
            assert!(row.starts_with(shortest) && column >= leftmost, "{keys:?}: {row:?}, {column}");
            rig.run(1);
        }
        rig.assert_converges();
        assert_eq!(rig.errors, 0, "{keys:?}");
    }
}

/// The first screen after Tab already shows the next key's effect. Later screens without a change refute nothing.
#[test]
fn a_key_whose_effect_came_with_another_answer_counts_as_neither_right_nor_wrong() {
    let mut rig = Rig::new(Completer(Shell::new("\x1b[?2004h$ ")));
    rig.prove("ls\r");
    rig.prove("abcde");
    for row in ["$ abcde", "$ abcd", "$ abc"] {
        assert_eq!(rig.row(), row);
        rig.prove("\t\x7f");
    }
    for (key, row) in [("x", "$ abx"), ("y", "$ abxy"), ("\x7f", "$ abx")] {
        rig.type_keys(key);
        assert_eq!(rig.row(), row);
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn an_escape_that_moves_the_cursor_back_over_text_does_not_repeat_it() {
    for (proof, keys) in [("", "win\x1b"), ("x", "win\x1b"), ("x", "wwww\x1bx"), ("x", "a\x1b")] {
        let start = "\x1b[?2004h$ ";
        let mut rig = Rig::new(Modal { start, takes_commands: false, takes_command: false });
        rig.prove(proof);
        rig.batch = 2;
        rig.type_keys(keys);
        rig.run(2 * Rig::ONE_WAY);
        assert_eq!(rig.wrong_millis(), 0, "{proof:?} {keys:?}");
    }
}
