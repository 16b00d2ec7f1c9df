//! Programs that show the input's result in the row below it, as Node.js does.

use rove_terminal::Size;

use super::rig::{Program, Rig};
use crate::policy::Preference;

/// A program that shows a preview of a line with three characters or more.
#[derive(Default)]
struct Previewer(String);

impl Program for Previewer {
    fn start(&mut self) -> Vec<u8> {
        b"> ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        let Self(line) = self;
        if key == b'\r' {
            line.clear();
            return (0, b"\r\n\x1b[J> ".to_vec());
        }
        line.push(char::from(key));
        let column = 3 + line.len();
        let preview = if line.len() < 3 { "" } else { "\r\n\x1b[90m12\x1b[m\x1b[A" };
        (0, format!("\r\x1b[J> {line}{preview}\x1b[{column}G").into_bytes())
    }
}

fn rig(rows: u16) -> Rig {
    let mut rig =
        Rig::wary(Size::new(40, rows).unwrap(), Preference::Adaptive, Previewer::default());
    rig.prove("a");
    rig
}

#[test]
fn text_that_appears_below_a_prompt_makes_no_other_place_of_it() {
    let mut rig = rig(8);
    rig.prove("bc");
    assert_eq!(rig.rows(0..2), ["> abc", "12"]);
    rig.type_keys("def");
    assert_eq!(rig.row(), "> abcdef", "text was echoed in this line");
    rig.assert_converges();
}

#[test]
fn a_prompt_with_a_preview_is_expected_to_rise_before_it_does() {
    let mut rig = rig(5);
    rig.prove("bc");
    assert_eq!(rig.rows(0..2), ["> abc", "12"]);
    for line in ["\rd", "\re", "\rf", "\rg"] {
        rig.prove(line);
    }
    assert_eq!(rig.cursor().0, 4, "in the last row");
    rig.type_keys("h");
    assert_eq!(rig.row(), "> g");
    rig.prove("i");
    assert_eq!(rig.rows(3..5), ["> ghi", "12"]);
    rig.type_keys("j");
    assert_eq!(rig.row(), "> ghij");
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_prompt_that_rises_from_the_last_row_is_followed_and_expected_to_rise_again() {
    let mut rig = rig(3);
    rig.prove("\rd\rfg");
    assert_eq!(rig.cursor().0, 2, "in the last row");
    rig.type_keys("h");
    assert_eq!(rig.row(), "> fgh", "nothing has risen yet");
    rig.run_until_idle();
    assert_eq!(rig.rows(0..3), ["> d", "> fgh", "12"]);
    rig.type_keys("jk");
    assert_eq!(rig.rows(1..3), ["> fghjk", "12"]);
    rig.prove("\rlm");
    assert_eq!(rig.cursor().0, 2, "in the last row again");
    rig.type_keys("n");
    assert_eq!(rig.row(), "> lm", "it may rise by now");
    rig.run_until_idle();
    rig.type_keys("o");
    assert_eq!(rig.rows(1..3), ["> lmno", "12"]);
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}
