//! Line editors whose cursor jumps for a moment to the bracket that a typed bracket closes, as in readline with
//! `blink-matching-paren`.

use super::rig::{Program, Rig};

/// A line editor whose cursor stays on the opening bracket until the next key.
#[derive(Default)]
struct Flasher(Vec<u8>);

impl Program for Flasher {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?2004h> ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        let Self(line) = self;
        match key {
            b'\r' => {
                line.clear();
                return (0, b"\r\n> ".to_vec());
            }
            0x7f => {
                line.pop();
            }
            _ => line.push(key),
        }
        let mut depth = 0;
        let opener = line.iter().rposition(|c| {
            depth += i32::from(*c == b')') - i32::from(*c == b'(');
            depth == 0
        });
        let place = opener.filter(|_| key == b')').unwrap_or(line.len());
        let text = String::from_utf8_lossy(line);
        (0, format!("\r\x1b[K> {text}\x1b[{}G", 3 + place).into_bytes())
    }
}

/// Returns a session in which the user has closed one bracket, so that the engine knows the jump.
fn taught() -> Rig {
    let mut rig = Rig::new(Flasher::default());
    rig.prove("f(a");
    rig.prove(")");
    assert_eq!((rig.row().as_str(), rig.column()), ("> f(a)", 3), "the host's picture");
    rig
}

#[test]
fn text_goes_on_behind_a_bracket_though_the_cursor_stands_on_its_opener() {
    let mut rig = taught();
    rig.type_keys(";");
    assert_eq!((rig.row().as_str(), rig.column()), ("> f(a);", 7));
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_cursor_that_goes_to_the_opener_is_expected_there_the_next_time() {
    let mut rig = taught();
    rig.prove("\rg((b");
    for (keys, row, column) in [(")", "> g((b)", 4), (")", "> g((b))", 3), ("\x7f", "> g((b)", 7)] {
        rig.type_keys(keys);
        assert_eq!((rig.row().as_str(), rig.column()), (row, column), "{keys:?}");
    }
    rig.type_keys("]");
    assert_eq!((rig.row().as_str(), rig.column()), ("> g((b)]", 8), "it closes nothing");
    rig.prove("\rh(c");
    rig.type_keys(")\r");
    assert_eq!((rig.row().as_str(), rig.column()), ("> h(c)", 3), "nobody knows what Enter does");
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_cursor_that_has_come_back_leaves_the_line_as_it_was() {
    let mut rig = taught();
    rig.print(b"\x1b[7G");
    rig.run_until_idle();
    assert_eq!(rig.column(), 6);
    rig.type_keys("b");
    assert_eq!((rig.row().as_str(), rig.column()), ("> f(a)b", 7));
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn keys_on_their_way_are_played_on_a_screen_with_the_cursor_back_from_its_opener() {
    let mut rig = taught();
    rig.print(b"\x1b[7G");
    rig.type_keys("xy");
    rig.run(Rig::ONE_WAY + 20);
    assert_eq!((rig.row().as_str(), rig.column()), ("> f(a)xy", 8));
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}
