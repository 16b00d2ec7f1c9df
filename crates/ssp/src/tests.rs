//! An object for unit tests that claims to need a given amount of memory.

use rove_units::Bytes;

use crate::hello::Capabilities;
use crate::object::{ApplyError, Object};

/// A text and the memory that this object claims to need. Each diff replaces the whole text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Blob {
    pub(crate) text: String,
    pub(crate) bytes: Bytes,
}

impl Blob {
    pub(crate) fn new(text: impl Into<String>, bytes: Bytes) -> Self {
        Self { text: text.into(), bytes }
    }
}

impl Object for Blob {
    fn diff_from(&self, base: &Self, _peer: Capabilities) -> Vec<u8> {
        if self.text == base.text { Vec::new() } else { self.text.clone().into_bytes() }
    }

    /// Replaces the text by `diff`. The claimed memory becomes the number in `diff`, or 0 if `diff` is no number.
    fn apply(&mut self, diff: &[u8]) -> Result<(), ApplyError> {
        let text = String::from_utf8_lossy(diff).into_owned();
        let bytes = text.parse().unwrap_or_default();
        *self = Self { text, bytes: Bytes::new(bytes) };
        Ok(())
    }

    fn same_as(&self, other: &Self) -> bool {
        self == other
    }

    /// Compares the texts up to a number sign (`#`). The text after it plays changes that no person sees.
    fn shows_same(&self, other: &Self) -> bool {
        let awaited = |blob: &Self| blob.text.split('#').next().map(str::to_owned);
        awaited(self) == awaited(other)
    }

    fn bytes_beyond(&self, _neighbour: Option<&Self>) -> Bytes {
        self.bytes
    }
}
