//! The modes and special characters of the pty on which the host's programs run, sent between two roves.

use rove_ssp::{ApplyError, Capabilities};
use rove_terminal::{InputNum, Tty, TtyCharacters, TtyModes};

use crate::message::{number, put_bytes_field, put_varint_field, refused, string};
use crate::part::{Part, Receiver, Replica};

const MODES: u32 = 1;
const CHARACTERS: u32 = 2;
const PROMPT: u32 = 3;

/// The pty's settings, read when the picture was taken or later. `None` if the server does not send them.
impl Part for Option<Tty> {
    const MEMBER: u32 = 20;
    const EXTENSION: Capabilities = Capabilities::TTY;

    /// Writes the special characters only if they differ from those of `base`. A `base` without settings counts as one
    /// with the usual characters.
    fn diff_from(&self, base: &Self, _: &Receiver<'_>) -> Vec<Vec<u8>> {
        let Some(tty) = self.filter(|_| self != base) else { return Vec::new() };
        let mut body = Vec::with_capacity(32);
        put_varint_field(&mut body, MODES, u64::from(tty.modes.bits()));
        if tty.characters != characters(*base) {
            put_bytes_field(&mut body, CHARACTERS, &tty.characters.0);
        }
        if let Some(prompt) = tty.prompt {
            put_varint_field(&mut body, PROMPT, prompt.get());
        }
        vec![body]
    }

    /// Reads the settings. Unknown characters and modes, as a later version may send, are skipped.
    fn apply(&mut self, body: &[u8], _: &mut Replica<'_>) -> Result<(), ApplyError> {
        let known = u64::from(TtyModes::USUAL.bits());
        let modes = u32::try_from(number(body, MODES)? & known)
            .map_or(TtyModes::empty(), TtyModes::from_bits_truncate);
        let list = string(body, CHARACTERS)?;
        let characters = match list.first_chunk() {
            Some(bytes) => TtyCharacters(*bytes),
            None if list.is_empty() => characters(*self),
            None => return Err(refused("special characters that are cut short")),
        };
        // Input numbers start at 1, so that 0 stands for an absent field.
        let prompt = Some(number(body, PROMPT)?).filter(|num| *num > 0).map(InputNum::new);
        *self = Some(Tty { modes, characters, prompt });
        Ok(())
    }

    fn same_as(&self, other: &Self) -> bool {
        self == other
    }

    /// Puts the new modes into the half-way state: the client must know that echo is off before it shows a secret's
    /// prompt. Omits a report of a prompt: the screen must show the prompt before the client learns of it.
    fn midpoint(&self, _: &Self) -> Self {
        self.map(|tty| Tty { prompt: None, ..tty })
    }
}

fn characters(tty: Option<Tty>) -> TtyCharacters {
    tty.unwrap_or(Tty::USUAL).characters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::tests::{applied, diff, member};

    fn secret() -> Tty {
        Tty { modes: TtyModes::USUAL.difference(TtyModes::ECHO), ..Tty::USUAL }
    }

    fn at_prompt(num: u64) -> Tty {
        Tty { prompt: Some(InputNum::new(num)), ..Tty::USUAL }
    }

    fn with_erase(erase: u8) -> Tty {
        let mut tty = Tty::USUAL;
        tty.characters.0[0] = erase;
        tty
    }

    #[test]
    fn a_terminal_is_these_bytes_and_comes_back() {
        let erase = b"\x0a\x15\xa2\x01\x12\x08\xff\x3f\x12\x0d\x08\x15\x17\x16\x12\x04\0\0\x03\x1c\x1a\x11\x13";
        let table: [(Option<Tty>, Tty, &[u8]); 6] = [
            (None, Tty::USUAL, b"\x0a\x06\xa2\x01\x03\x08\xff\x3f"),
            (Some(Tty::USUAL), secret(), b"\x0a\x06\xa2\x01\x03\x08\xfe\x3f"),
            (None, with_erase(8), erase),
            (Some(secret()), with_erase(8), erase),
            (Some(Tty::USUAL), at_prompt(300), b"\x0a\x09\xa2\x01\x06\x08\xff\x3f\x18\xac\x02"),
            (Some(at_prompt(300)), Tty::USUAL, b"\x0a\x06\xa2\x01\x03\x08\xff\x3f"),
        ];
        for (old, new, bytes) in table {
            assert_eq!(diff(&old, &Some(new)), bytes, "{old:?} to {new:?}");
            assert_eq!(applied(old, bytes), Ok(Some(new)));
        }
    }

    #[test]
    fn fields_of_a_later_version_are_passed_over_and_a_list_cut_short_refused() {
        let mut body = Vec::new();
        put_varint_field(&mut body, MODES, u64::MAX);
        put_bytes_field(&mut body, CHARACTERS, &[7; TtyCharacters::COUNT + 1]);
        put_varint_field(&mut body, 4, 1);
        let characters = TtyCharacters([7; TtyCharacters::COUNT]);
        assert_eq!(
            applied(None, &member::<Option<Tty>>(&body)),
            Ok(Some(Tty { characters, ..Tty::USUAL }))
        );
        assert_eq!(
            applied(None, &member::<Option<Tty>>(b"")),
            Ok(Some(Tty { modes: TtyModes::empty(), ..Tty::USUAL }))
        );
        let mut body = Vec::new();
        put_bytes_field(&mut body, CHARACTERS, &[7; TtyCharacters::COUNT - 1]);
        assert!(applied(None::<Tty>, &member::<Option<Tty>>(&body)).is_err());
    }
}
