//! Prompts that draw a star for each key.

use rove_terminal::{Tty, TtyModes};

use super::rig::{Program, Rig};

/// A program that asks for a password again and again, and shows `glyph` for each key.
struct Vault {
    glyph: &'static str,
    len: usize,
}

impl Program for Vault {
    fn start(&mut self) -> Vec<u8> {
        b"Password: ".to_vec()
    }

    fn answer(&mut self, key: u8) -> (u64, Vec<u8>) {
        let output = match key {
            b'\r' => {
                self.len = 0;
                "\r\nPassword: ".into()
            }
            0x7f if self.len > 0 => {
                self.len -= 1;
                "\x08 \x08".repeat(usize::from(!self.glyph.is_empty()))
            }
            0x7f => String::new(),
            _ => {
                self.len += 1;
                self.glyph.to_owned()
            }
        };
        (0, output.into_bytes())
    }
}

/// The modes while a program reads single keys.
const RAW: Tty = Tty {
    modes: TtyModes::USUAL.difference(TtyModes::ECHO).difference(TtyModes::CANONICAL),
    ..Tty::USUAL
};

/// The modes while a program reads lines, and the kernel echoes nothing.
const SILENT: Tty = Tty { modes: TtyModes::USUAL.difference(TtyModes::ECHO), ..Tty::USUAL };

const SECRET: &str = "s3*ret";

fn vault(glyph: &'static str, tty: Option<Tty>) -> Rig {
    let mut rig = Rig::new(Vault { glyph, len: 0 });
    if let Some(tty) = tty {
        rig.tell(tty);
    }
    rig
}

/// Types the secret, and asserts that no letter of it is shown. Returns how many stars the user sees after each key.
fn type_secret(rig: &mut Rig) -> Vec<usize> {
    let stars = SECRET.chars().map(|key| {
        rig.type_keys(&key.to_string());
        let stars = rig.row().matches(['*', '\u{2022}']).count();
        for _ in 0..5 {
            let typed = rig.row().replace("Password:", "");
            assert!(!typed.contains(|c: char| c.is_alphanumeric()), "{typed:?}");
            rig.run(10);
        }
        stars
    });
    stars.collect()
}

#[test]
fn no_star_is_seen_before_it_is_drawn() {
    for (glyph, tty) in [
        ("*", Some(RAW)),
        ("\u{2022}", Some(RAW)),
        ("*", None),
        ("*", Some(SILENT)),
        ("", Some(RAW)),
    ] {
        let mut rig = vault(glyph, tty);
        for _ in 0..3 {
            let shown = type_secret(&mut rig);
            assert!(shown.iter().all(|stars| *stars == 0), "{glyph:?}, {tty:?}: {shown:?}");
            rig.type_keys("\x7f\x7f");
            rig.assert_converges();
            rig.type_keys("\r");
            rig.run_until_idle();
        }
        assert_eq!(rig.errors, 0);
    }
}
