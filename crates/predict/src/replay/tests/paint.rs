//! Programs that colour typed text.

use rove_terminal::{Cell, Pen};

use super::rig::{Program, Rig};

/// A shell that colours its first word red until it is a command, and then green. Strings are yellow.
#[derive(Default)]
struct Highlighter {
    line: String,
}

impl Program for Highlighter {
    fn start(&mut self) -> Vec<u8> {
        b"\x1b[?2004h> ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        if key == b'\r' {
            self.line.clear();
            return (0, b"\r\n> ".to_vec());
        }
        self.line.push(char::from(key));
        let (command, rest) = self.line.split_at(self.line.find(' ').unwrap_or(self.line.len()));
        let color = if matches!(command, "ls" | "cat") { 32 } else { 31 };
        let rest = rest.replacen('"', "\x1b[33m\"", 1);
        (0, format!("\r\x1b[K> \x1b[{color}m{command}\x1b[m{rest}\x1b[m").into_bytes())
    }
}

impl Rig {
    /// Returns the palette number of the colour in which the user sees the character left of the cursor.
    fn color(&self) -> Option<u8> {
        let cursor = self.frame.cursor();
        let row = self.frame.row(cursor.row).unwrap();
        let Cell { pen: Pen { foreground, .. }, .. } = row.cells()[usize::from(cursor.column) - 1];
        foreground.palette_index()
    }
}

#[test]
fn text_typed_before_is_painted_as_it_was() {
    let mut rig = Rig::new(Highlighter::default());
    for line in ["ls a \"b c", "cat d"] {
        for key in line.chars() {
            rig.type_keys(&key.to_string());
            rig.run_until_idle();
        }
        rig.type_keys("\r");
        rig.run_until_idle();
    }
    let steps = [
        ("l", Some(1)),
        ("s", Some(2)),
        (" ", None),
        ("x", None),
        (" ", None),
        ("\"", Some(3)),
        ("y", Some(3)),
    ];
    for (key, color) in steps {
        rig.type_keys(key);
        let seen = rig.color().filter(|_| key != " ");
        assert_eq!(seen, color, "{key:?} in {:?}", rig.row());
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}
