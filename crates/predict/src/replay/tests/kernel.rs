//! Lines that the host's kernel echoes. Kernels agree on text and on the erase character, but on no other editing key.

use rove_terminal::{Tty, TtyModes};

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
            // Ctrl-D, with the cursor on the caret.
            0x04 => b"^D\x08\x08".to_vec(),
            // Ctrl-T and Ctrl-R.
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

/// Returns the modes that a server on FreeBSD or macOS sends: a new terminal has neither ECHOK nor, on FreeBSD, IUTF8.
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
