//! Reads the fuzzer's bytes as choices, one after the other.

/// The fuzzer's bytes that have not been read.
pub(crate) struct Choices<'a>(pub(crate) &'a [u8]);

impl<'a> Choices<'a> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Reads up to 31 bytes, which are not interpreted.
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::from(self.byte()? % 32).min(self.0.len());
        let (bytes, rest) = self.0.split_at(len);
        self.0 = rest;
        Some(bytes)
    }
}
