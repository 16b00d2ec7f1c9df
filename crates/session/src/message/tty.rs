//! The terminal that the host's programs run on, in a `HostMessage`. Between two roves only.

use rove_predict::{Tty, TtyCharacters, TtyModes};
use rove_ssp::ApplyError;

use super::protobuf::{number, put_bytes_field, put_varint_field, string};

const MODES: u32 = 1;
const CHARACTERS: u32 = 2;

/// What a diff says of the terminal that the programs run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WireTty {
    modes: TtyModes,
    /// Its special characters, where they are not those of the old state.
    characters: Option<TtyCharacters>,
}

impl WireTty {
    /// Returns what leads from `old` to `new`. What nothing was said of had the usual characters.
    pub(crate) fn between(old: Option<Tty>, new: Tty) -> Self {
        let is_same = old.unwrap_or(Tty::USUAL).characters == new.characters;
        Self { modes: new.modes, characters: (!is_same).then_some(new.characters) }
    }

    /// Returns the terminal that this leads to from `old`.
    pub(crate) fn after(self, old: Option<Tty>) -> Tty {
        let characters = self.characters.unwrap_or(old.unwrap_or(Tty::USUAL).characters);
        Tty { modes: self.modes, characters }
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
        Ok(Self { modes, characters })
    }

    pub(super) fn body(self) -> Vec<u8> {
        let mut body = Vec::with_capacity(24);
        put_varint_field(&mut body, MODES, u64::from(self.modes.bits()));
        if let Some(characters) = self.characters {
            put_bytes_field(&mut body, CHARACTERS, &characters.to_bytes());
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

    fn with_erase(erase: u8) -> Tty {
        Tty { characters: TtyCharacters { erase, ..TtyCharacters::USUAL }, ..Tty::USUAL }
    }

    #[test]
    fn a_terminal_is_these_bytes_and_comes_back() {
        let erase = b"\x0a\x15\xa2\x01\x12\x08\xff\x3f\x12\x0d\x08\x15\x17\x16\x12\x04\0\0\x03\x1c\x1a\x11\x13";
        let table: [(Option<Tty>, Tty, &[u8]); 4] = [
            (None, Tty::USUAL, b"\x0a\x06\xa2\x01\x03\x08\xff\x3f"),
            (Some(Tty::USUAL), secret(), b"\x0a\x06\xa2\x01\x03\x08\xfe\x3f"),
            (None, with_erase(8), erase),
            (Some(secret()), with_erase(8), erase),
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
        put_varint_field(&mut body, 3, 1);
        let later = WireTty::read(&body).unwrap();
        let characters = TtyCharacters::from_bytes([7; TtyCharacters::COUNT]);
        assert_eq!(later.after(None), Tty { modes: TtyModes::USUAL, characters });
        assert_eq!(WireTty::read(b"").unwrap().after(None).modes, TtyModes::NONE);
        let mut body = Vec::new();
        put_bytes_field(&mut body, CHARACTERS, &[7; TtyCharacters::COUNT - 1]);
        assert!(WireTty::read(&body).is_err());
    }
}
