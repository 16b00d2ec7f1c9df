//! The terminal that the host's programs run on, in a `HostMessage`. Between two roves only.

use rove_predict::{InputNum, Tty, TtyCharacters, TtyModes};
use rove_ssp::ApplyError;

use super::protobuf::{number, put_bytes_field, put_varint_field, string};

const MODES: u32 = 1;
const CHARACTERS: u32 = 2;
const PROMPT: u32 = 3;

/// What a diff says of the terminal that the programs run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WireTty {
    modes: TtyModes,
    /// Its special characters, where they are not those of the old state.
    characters: Option<TtyCharacters>,
    /// Up to which input the session's own shell waits at its own prompt.
    prompt: Option<InputNum>,
}

impl WireTty {
    /// Returns what leads from `old` to `new`. What nothing was said of had the usual characters.
    pub(crate) fn between(old: Option<Tty>, new: Tty) -> Self {
        let is_same = old.unwrap_or(Tty::USUAL).characters == new.characters;
        let characters = (!is_same).then_some(new.characters);
        Self { modes: new.modes, characters, prompt: new.prompt }
    }

    /// Returns the terminal that this leads to from `old`.
    pub(crate) fn after(self, old: Option<Tty>) -> Tty {
        let characters = self.characters.unwrap_or(old.unwrap_or(Tty::USUAL).characters);
        Tty { modes: self.modes, characters, prompt: self.prompt }
    }

    /// Reads the body of the member. Characters beyond those that this version knows are passed over,
    /// and so are modes.
    pub(super) fn read(body: &[u8]) -> Result<Self, ApplyError> {
        let known = u64::from(TtyModes::USUAL.bits());
        let modes =
            u32::try_from(number(body, MODES)? & known).map_or(TtyModes::NONE, TtyModes::from_bits);
        let list = string(body, CHARACTERS)?;
        let characters = match list.first_chunk() {
            Some(bytes) => Some(TtyCharacters::from_bytes(*bytes)),
            None if list.is_empty() => None,
            None => {
                let reason = "special characters that are cut short".to_owned();
                return Err(ApplyError { reason });
            }
        };
        // No statement is about the time before any input: an absent field reads as 0.
        let prompt = Some(number(body, PROMPT)?).filter(|num| *num > 0).map(InputNum::new);
        Ok(Self { modes, characters, prompt })
    }

    pub(super) fn body(self) -> Vec<u8> {
        let mut body = Vec::with_capacity(32);
        put_varint_field(&mut body, MODES, u64::from(self.modes.bits()));
        if let Some(characters) = self.characters {
            put_bytes_field(&mut body, CHARACTERS, &characters.to_bytes());
        }
        if let Some(prompt) = self.prompt {
            put_varint_field(&mut body, PROMPT, prompt.get());
        }
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{HostInstruction, MessageWriter, host_instructions};

    fn host(diff: &[u8]) -> Result<Vec<HostInstruction<'_>>, ApplyError> {
        host_instructions(diff).collect()
    }

    fn secret() -> Tty {
        Tty { modes: TtyModes::USUAL.without(TtyModes::ECHO), ..Tty::USUAL }
    }

    fn at_prompt(num: u64) -> Tty {
        Tty { prompt: Some(InputNum::new(num)), ..Tty::USUAL }
    }

    fn with_erase(erase: u8) -> Tty {
        Tty { characters: TtyCharacters { erase, ..TtyCharacters::USUAL }, ..Tty::USUAL }
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
            let told = WireTty::between(old, new);
            let mut message = MessageWriter::default();
            message.tty(told);
            assert_eq!(message.finish(), bytes, "{old:?} to {new:?}");
            assert_eq!(host(bytes), Ok(vec![HostInstruction::Tty(told)]));
            assert_eq!(told.after(old), new);
        }
    }

    #[test]
    fn what_a_later_version_adds_is_passed_over_and_what_is_cut_short_refused() {
        let mut body = Vec::new();
        put_varint_field(&mut body, MODES, u64::MAX);
        put_bytes_field(&mut body, CHARACTERS, &[7; TtyCharacters::COUNT + 1]);
        put_varint_field(&mut body, 4, 1);
        let later = WireTty::read(&body).unwrap();
        let characters = TtyCharacters::from_bytes([7; TtyCharacters::COUNT]);
        assert_eq!(later.after(None), Tty { characters, ..Tty::USUAL });
        assert_eq!(WireTty::read(b"").unwrap().after(None).modes, TtyModes::NONE);
        let mut body = Vec::new();
        put_bytes_field(&mut body, CHARACTERS, &[7; TtyCharacters::COUNT - 1]);
        assert!(WireTty::read(&body).is_err());
    }
}
