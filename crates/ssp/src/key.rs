//! The session key and its text form.

use core::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::ocb::Ocb;
use crate::wiping::wiping;

/// Characters of a key's text form: 128 bits at 6 per character, unpadded. Source: Mosh 1.4.0 as observed, docs/wire.md.
const TEXT_LEN: usize = 22;

/// Bytes of a key.
const KEY_LEN: usize = 16;

/// The info input of the key derivation (HKDF), which names the use of the derived key. Source: docs/wire.md.
const STREAMS_INFO: &[u8] = b"rove streams 1";

/// Size in bytes of the buffer that the base64 decoder demands before it has read the text. It wants three bytes for
/// each group of up to four characters.
const DECODE_LEN: usize = TEXT_LEN.div_ceil(4) * 3;

/// The reason why a text is not a session key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The text has this many characters instead of 22.
    #[error("a key is 22 characters long, this text has {0}")]
    Length(usize),
    /// The text has a character outside the standard base64 alphabet.
    #[error("the key holds a character outside the base64 alphabet")]
    Alphabet,
    /// The last character has bits set that no 128-bit key has.
    #[error("the key's last character has bits that belong to no 128-bit key")]
    TrailingBits,
}

/// The 128-bit key of one session, shared by both directions; wiped on drop. The key stays in one place of the heap, so
/// that moving it leaves no copy.
#[derive(Clone)]
pub struct Key(Box<[u8; KEY_LEN]>);

impl Key {
    /// Creates a key from bytes. The caller has to wipe its own copies of them.
    pub fn from_bytes(bytes: [u8; KEY_LEN]) -> Self {
        Self(Box::new(bytes))
    }

    /// Creates a key whose bytes `draw` fills in, from the operating system's randomness.
    ///
    /// # Errors
    ///
    /// Returns the error of `draw`.
    pub fn draw<E>(draw: impl FnOnce(&mut [u8; KEY_LEN]) -> Result<(), E>) -> Result<Self, E> {
        let mut key = Self(Box::new([0; KEY_LEN]));
        wiping(|| draw(&mut key.0))?;
        Ok(key)
    }

    /// Reads the 22-character text form.
    ///
    /// # Errors
    ///
    /// Returns [`KeyError`] for a text of another length, of other characters, or with stray bits.
    pub fn from_text(text: &str) -> Result<Self, KeyError> {
        let len = text.chars().count();
        if len != TEXT_LEN {
            return Err(KeyError::Length(len));
        }
        if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/') {
            return Err(KeyError::Alphabet);
        }
        let mut key = Self(Box::new([0; KEY_LEN]));
        wiping(|| {
            let mut decoded = Zeroizing::new([0; DECODE_LEN]);
            // For a text of this length and alphabet, the strict decoder fails only if a bit after the 128th is set.
            let decoded_len = STANDARD_NO_PAD
                .decode_slice(text, decoded.as_mut_slice())
                .map_err(|_| KeyError::TrailingBits)?;
            assert_eq!(decoded_len, KEY_LEN, "22 characters hold 16 bytes");
            key.0.copy_from_slice(&decoded[..KEY_LEN]);
            Ok(())
        })?;
        Ok(key)
    }

    /// Returns a number by which both ends can name the key without revealing it: half the tag of an empty message. No
    /// datagram uses this message's nonce, all ones.
    pub fn name(&self) -> u64 {
        let tag = wiping(|| Ocb::new(&self.0).seal([0xFF; 12], &mut []));
        u64::from_be_bytes(*tag.first_chunk().expect("a tag has 16 bytes"))
    }

    /// Derives the key that seals the stream packets (RFC 5869, without a salt).
    pub(crate) fn for_streams(&self) -> Self {
        let mut key = Self(Box::new([0; KEY_LEN]));
        let derived = wiping(|| {
            Hkdf::<Sha256>::new(None, self.bytes()).expand(STREAMS_INFO, key.0.as_mut_slice())
        });
        derived.expect("a key is shorter than the most that can be derived");
        key
    }

    /// Returns the 22-character text form.
    pub fn to_text(&self) -> Zeroizing<String> {
        // The capacity is reserved at once, because a string that grows would leave an unwiped copy.
        let mut text = Zeroizing::new(String::with_capacity(TEXT_LEN));
        wiping(|| STANDARD_NO_PAD.encode_string(*self.0, &mut text));
        text
    }

    pub(crate) const fn bytes(&self) -> &[u8; KEY_LEN] {
        &self.0
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for Key {}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_key_reads_back() {
        for bytes in [[0; 16], [0xff; 16], *b"0123456789abcdef"] {
            let text = Key::from_bytes(bytes).to_text();
            assert_eq!(text.len(), TEXT_LEN);
            assert_eq!(Key::from_text(&text).unwrap().bytes(), &bytes);
        }
    }

    #[test]
    fn other_texts_are_refused_for_the_right_reason() {
        for (text, error) in [
            ("", KeyError::Length(0)),
            ("AAECAwQFBgcICQoLDA0OD", KeyError::Length(21)),
            ("AAECAwQFBgcICQoLDA0ODw=", KeyError::Length(23)),
            ("AAECAwQFBgcICQoLDA0ODw==", KeyError::Length(24)),
            ("AAECAwQFBgcICQoLDA0O-w", KeyError::Alphabet),
            ("AAECAwQFBgcICQoLDA0O_w", KeyError::Alphabet),
            ("AAECAwQFBgcICQoLDA0OD=", KeyError::Alphabet),
            ("AAECAwQFBgcICQoLDA0 Dw", KeyError::Alphabet),
            ("AAECAwQFBgcICQoLDA0\u{e4}Dw", KeyError::Alphabet),
            ("AAECAwQFBgcICQoLDA0ODx", KeyError::TrailingBits),
            ("++++++++++++++++++++++", KeyError::TrailingBits),
        ] {
            assert_eq!(Key::from_text(text).err(), Some(error), "{text:?}");
        }
    }

    #[test]
    fn last_character_has_four_values() {
        let last = |c: char| Key::from_text(&format!("AAECAwQFBgcICQoLDA0OD{c}")).is_ok();
        let accepted: String = ('!'..='~').filter(|c| last(*c)).collect();
        assert_eq!(accepted, "AQgw");
    }

    /// The expected bytes were computed with Python's `hmac`.
    #[test]
    fn the_key_of_streams_is_derived_by_hkdf() {
        let key = Key::from_bytes(*b"0123456789abcdef").for_streams();
        let expected = 0x0f97_de07_3dc2_f231_de85_f902_fce0_da2c_u128;
        assert_eq!(key.bytes(), &expected.to_be_bytes());
    }

    #[test]
    fn debug_form_does_not_show_the_key() {
        assert_eq!(format!("{:?}", Key::from_bytes([7; 16])), "Key(..)");
    }
}
