//! Decodes UTF-8 one byte at a time.

/// The first bytes of an incomplete UTF-8 character.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Partial {
    bytes: [u8; 4],
    len: usize,
    has_alt: bool,
}

/// The result of decoding one more byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    /// The character is incomplete.
    Incomplete,
    /// The byte completes this character.
    Character(char),
    /// The byte completes a character that was typed with Alt.
    AltCharacter,
    /// The bytes are not UTF-8. If the last byte may begin a character, `Partial` keeps it.
    Malformed,
}

impl Partial {
    /// Returns the empty beginning of a character that the user types with Alt.
    pub(super) fn held_with_alt() -> Self {
        Self { has_alt: true, ..Self::default() }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Decodes one more byte. An ASCII byte never continues a character.
    pub(super) fn push(&mut self, byte: u8) -> Decoded {
        let continues = self.len > 0 && matches!(byte, 0x80..=0xbf);
        if !continues {
            let begins = matches!(byte, 0xc2..=0xf4);
            let was_empty = self.is_empty();
            *self = Self { has_alt: self.has_alt && was_empty, ..Self::default() };
            self.bytes[0] = byte;
            self.len = usize::from(begins);
            let is_good = begins && was_empty;
            return if is_good { Decoded::Incomplete } else { Decoded::Malformed };
        }
        self.bytes[self.len] = byte;
        self.len += 1;
        if self.len < encoded_len(self.bytes[0]) {
            return Decoded::Incomplete;
        }
        let Self { bytes, len, has_alt } = core::mem::take(self);
        match str::from_utf8(&bytes[..len]).ok().and_then(|text| text.chars().next()) {
            Some(_) if has_alt => Decoded::AltCharacter,
            Some(c) => Decoded::Character(c),
            None => Decoded::Malformed,
        }
    }
}

/// Returns the length, in bytes, of a UTF-8 character whose first byte is `first`, which must be valid.
const fn encoded_len(first: u8) -> usize {
    match first {
        ..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    }
}
