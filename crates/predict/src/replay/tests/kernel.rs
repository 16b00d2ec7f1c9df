//! Lines that the host's kernel echoes. Kernels agree on text and on the erase character, but on no other editing key.

use rove_terminal::{Tty, TtyCharacters, TtyModes};

use super::rig::{Program, Rig};

/// The line discipline of a new terminal of FreeBSD and macOS.
#[derive(Default)]
struct Bsd(String);

impl Bsd {
    fn erase(&mut self, count: usize) -> Vec<u8> {
        self.0.truncate(self.0.len() - count);
        b"\x08 \x08".repeat(count)
    }
}

impl Program for Bsd {
    fn start(&mut self) -> Vec<u8> {
        b"> ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        let output = match key {
            0x7f => self.erase(self.0.len().min(1)),
            // Ctrl-U and Ctrl-W: words end at blanks only. On Linux, they end at punctuation, too.
            0x15 => self.erase(self.0.len()),
            0x17 => self.erase(self.0.len() - self.0.rfind(' ').map_or(0, |blank| blank + 1)),
            // Ctrl-D leaves the cursor on the caret.
            0x04 => b"^D\x08\x08".to_vec(),
            // Ctrl-T prints the load, and Ctrl-R prints the line again.
            0x14 => b"load: 0.10 cmd: cat\r\n".to_vec(),
            0x12 => format!("^R\r\n{}", self.0).into_bytes(),
            ..0x20 => vec![b'^', key + b'@'],
            _ => {
                self.0.push(char::from(key));
                vec![key]
            }
        };
        (0, output)
    }
}

/// Returns the modes that a server on FreeBSD or macOS sends. A new terminal has neither ECHOK nor, on FreeBSD, IUTF8.
fn tty() -> Tty {
    let lacking = TtyModes::ECHO_KILL.union(TtyModes::UTF8);
    Tty { modes: TtyModes::USUAL.difference(lacking), ..Tty::USUAL }
}

#[test]
fn text_and_its_erasure_are_seen_at_once_and_every_other_key_waits_for_the_kernel() {
    // Tab and the keys that end a line do not edit the text before them.
    for key in (1..0x20).filter(|key| !b"\t\n\r".contains(key)) {
        let mut rig = Rig::new(Bsd::default());
        rig.tell(tty());
        rig.prove("a.b c");
        for (key, row) in [("d", "> a.b cd"), ("\x7f", "> a.b c"), ("e", "> a.b ce")] {
            rig.type_keys(key);
            assert_eq!(rig.row(), row);
        }
        rig.run_until_idle();
        let text = char::from(key).to_string();
        rig.type_keys(&text);
        assert_eq!(rig.row(), "> a.b ce", "{text:?}");
        rig.assert_converges();
        assert_eq!(rig.errors, 0, "{text:?}");
    }
}

/// The line discipline of Linux.
struct Linux {
    tty: Tty,
    /// The line's characters, and how many columns each occupies for the kernel.
    line: Vec<usize>,
    column: usize,
}

impl Linux {
    /// Begins a line after a prompt of six columns.
    const fn new(tty: Tty) -> Self {
        Self { tty, line: Vec::new(), column: 6 }
    }

    fn push(&mut self, columns: usize) {
        self.line.push(columns);
        self.column += columns;
    }
}

impl Program for Linux {
    fn start(&mut self) -> Vec<u8> {
        b"name> ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        let [erase, kill, ..] = self.tty.characters.0;
        let output = match key {
            _ if key == erase && self.tty.modes.contains(TtyModes::ECHO_ERASE) => {
                let columns = self.line.pop().unwrap_or_default();
                self.column -= columns;
                b"\x08 \x08".repeat(columns)
            }
            _ if key == kill => {
                self.line.clear();
                b"\x08 \x08".repeat(core::mem::replace(&mut self.column, 6) - 6)
            }
            b'\t' => {
                self.push(8 - self.column % 8);
                vec![key]
            }
            ..0x20 | 0x7f => {
                self.push(2);
                vec![b'^', key ^ b'@']
            }
            // The kernel counts the first byte of a UTF-8 character as one column, and the others as none.
            0x80..0xc0 => vec![key],
            _ => {
                self.push(1);
                vec![key]
            }
        };
        (0, output)
    }
}

#[test]
fn a_key_that_the_kernel_may_not_treat_as_one_column_of_text_waits_for_its_echo() {
    let with = |index: usize, character| {
        let mut characters = TtyCharacters::USUAL;
        characters.0[index] = character;
        Tty { characters, ..Tty::USUAL }
    };
    let no_erase = TtyModes::USUAL.difference(TtyModes::ECHO_ERASE);
    for (tty, before, key, row) in [
        (Tty::USUAL, "abc\u{6f22}", "\x7f", "name> abc"),
        (Tty::USUAL, "abc\x01", "\x7f", "name> abc"),
        (Tty::USUAL, "abc\x01d\x7f", "\x7f", "name> abc"),
        (Tty::USUAL, "abc\td\x7f", "\x7f", "name> abc"),
        (with(0, 8), "abc", "\x7f", "name> abc^?"),
        (Tty { modes: no_erase, ..Tty::USUAL }, "abc", "\x7f", "name> abc^?"),
        (with(1, b'@'), "abc", "@", "name>"),
    ] {
        let mut rig = Rig::new(Linux::new(tty));
        rig.tell(tty);
        for key in before.split_inclusive(['\x01', '\t']) {
            rig.prove(key);
        }
        let was = (rig.row(), rig.column());
        rig.type_keys(key);
        assert_eq!((rig.row(), rig.column()), was, "{before:?}, {key:?}");
        rig.assert_converges();
        assert_eq!((rig.row().as_str(), rig.errors), (row, 0), "{before:?}, {key:?}");
    }
}

#[test]
fn text_of_one_column_that_was_echoed_is_erased_at_once() {
    let mut rig = Rig::new(Linux::new(Tty::USUAL));
    rig.tell(Tty::USUAL);
    rig.prove("abc");
    for row in ["name> ab", "name> a", "name>"] {
        rig.type_keys("\x7f");
        assert_eq!(rig.row(), row);
    }
    rig.assert_converges();
    assert_eq!(rig.errors, 0);
}
