//! The session key and its text form.

use zeroize::{ZeroizeOnDrop, Zeroizing};

/// Why a text is not a session key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not 22 characters.
    #[error("a key is 22 characters long, this text has {0}")]
    Length(usize),
    /// A character outside the standard base64 alphabet.
    #[error("the key holds a character outside the base64 alphabet")]
    Alphabet,
    /// Bits set in the last character that no 128-bit key has.
    #[error("the key's last character has bits that belong to no 128-bit key")]
    TrailingBits,
}

/// The 128-bit key of one session, shared by both directions; wiped on drop.
#[derive(Clone, ZeroizeOnDrop)]
pub struct Key([u8; 16]);

impl Key {
    /// Creates a key from random bytes that the caller drew from the operating system.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Reads the 22-character text form.
    ///
    /// # Errors
    ///
    /// Returns [`KeyError`] for a text of another length, of other characters, or with stray bits.
    pub fn from_text(text: &str) -> Result<Self, KeyError> {
        let _ = text;
        todo!()
    }

    /// Returns the 22-character text form.
    pub fn to_text(&self) -> Zeroizing<String> {
        todo!()
    }

    pub(crate) const fn bytes(&self) -> &[u8; 16] {
        &self.0
    }
}
