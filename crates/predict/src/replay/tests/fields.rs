//! Pages with fields in which text is typed.

use super::rig::{Program, Rig};

/// A page with two fields of underscores in one row. A field shows only the end of a text that is longer.
#[derive(Default)]
struct Page {
    texts: [String; 2],
    field: usize,
}

/// The first column and the width of each field.
const FIELDS: [(usize, usize); 2] = [(7, 8), (22, 5)];

impl Program for Page {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?1049h\x1b[2;1HName: ________ Flag: _____\r\n\nhelp\x1b[2;7H".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        let text = &mut self.texts[self.field];
        match key {
            b'\t' => self.field = 1 - self.field,
            0x7f => drop(text.pop()),
            _ => text.push(char::from(key)),
        }
        let (column, width) = FIELDS[self.field];
        let text = &self.texts[self.field];
        let shown = &text[text.len().saturating_sub(width - 1)..];
        let cursor = column + shown.len();
        (0, format!("\x1b[2;{column}H{shown:_<width$}\x1b[2;{cursor}H").into_bytes())
    }
}

#[test]
fn a_field_of_underscores_gets_one_for_each_character_that_is_taken_out() {
    let mut rig = Rig::new(Page::default());
    for key in ["a", "b", "c"] {
        rig.prove(key);
    }
    for row in ["Name: ab______ Flag: _____", "Name: a_______ Flag: _____"] {
        rig.type_keys("\x7f");
        assert_eq!(rig.row(), row);
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn a_field_beside_another_one_is_as_wide_as_it_is() {
    let mut rig = Rig::new(Page::default());
    for key in ["a", "b", "\t", "c"] {
        rig.prove(key);
    }
    for (key, row) in [("d", "cd___"), ("e", "cde__"), ("\x7f", "cd___"), ("\x7f", "c____")] {
        rig.type_keys(key);
        assert_eq!(rig.row(), format!("Name: ab______ Flag: {row}"), "{key:?}");
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}

#[test]
fn text_that_a_full_field_may_hold_left_of_what_it_shows_is_waited_for() {
    let mut rig = Rig::new(Page::default());
    for key in ["\t", "a", "b", "c", "d", "e", "f"] {
        rig.prove(key);
    }
    assert_eq!(rig.row(), "Name: ________ Flag: cdef_", "the host's picture");
    rig.type_keys("\x7f");
    assert_eq!(rig.row(), "Name: ________ Flag: cdef_");
    rig.run_until_idle();
    assert_eq!(rig.row(), "Name: ________ Flag: bcde_");
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}
