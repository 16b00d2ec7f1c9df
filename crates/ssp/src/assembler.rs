//! Joins the fragments of one instruction at a time, within limits of memory.

use std::collections::BTreeMap;

use crate::compress::COMPRESSED_LEN_MAX;
use crate::error::ReceiveError;
use crate::fragment::{FRAGMENTS_MAX, Fragment};

/// Collects the fragments of one instruction at a time.
///
/// A fragment of a newer instruction replaces the fragments that are held. While fragments are held, a fragment of an
/// older instruction discards nothing, and is used only if it is the whole instruction. A fragment that contradicts
/// another one with the same id is refused and changes nothing. The assembler keeps at most [`COMPRESSED_LEN_MAX`]
/// bytes in at most [`FRAGMENTS_MAX`] pieces, and allocates memory only for fragments that have arrived.
#[derive(Debug, Default)]
pub struct Assembler {
    /// The id of the instruction whose fragments are held or were held last. `None` before the first fragment.
    id: Option<u64>,
    /// Contents of the fragments that arrived, by fragment number.
    slices: BTreeMap<u16, Box<[u8]>>,
    /// The number of the instruction's last fragment. `None` until that fragment has arrived.
    last: Option<u16>,
    /// Sum of the lengths in `slices`, in bytes.
    bytes_held: usize,
}

impl Assembler {
    /// Adds a fragment; returns the compressed instruction when this fragment completes one.
    ///
    /// # Errors
    ///
    /// Returns [`ReceiveError`] for a fragment that contradicts the held ones or exceeds a limit.
    pub fn handle_fragment(&mut self, fragment: Fragment) -> Result<Option<Vec<u8>>, ReceiveError> {
        if fragment.number >= FRAGMENTS_MAX {
            return Err(ReceiveError::FragmentNumber { number: fragment.number });
        }
        if self.holds_newer_than(fragment.id) {
            let is_all = fragment.number == 0 && fragment.last;
            return match fragment.contents.len() {
                ..=COMPRESSED_LEN_MAX => Ok(is_all.then_some(fragment.contents)),
                _ => Err(ReceiveError::AssemblyTooLarge { max: COMPRESSED_LEN_MAX }),
            };
        }
        if self.id != Some(fragment.id) {
            self.discard();
            self.id = Some(fragment.id);
        }
        if let Some(held) = self.slices.get(&fragment.number) {
            let same = **held == *fragment.contents
                && fragment.last == (self.last == Some(fragment.number));
            let contradiction = ReceiveError::FragmentContradiction { number: fragment.number };
            return if same { Ok(None) } else { Err(contradiction) };
        }
        self.check_place(&fragment)?;
        if self.bytes_held + fragment.contents.len() > COMPRESSED_LEN_MAX {
            // An instruction of this length is refused in any case, so its other fragments are of no use.
            self.discard();
            return Err(ReceiveError::AssemblyTooLarge { max: COMPRESSED_LEN_MAX });
        }
        if fragment.last {
            self.last = Some(fragment.number);
        }
        self.bytes_held += fragment.contents.len();
        self.slices.insert(fragment.number, fragment.contents.into_boxed_slice());
        Ok(self.complete())
    }

    /// Returns how many bytes of fragment contents are held.
    pub fn bytes_held(&self) -> usize {
        self.bytes_held
    }

    /// Returns whether fragments of an instruction newer than instruction `id` are held. A sender's ids increase.
    fn holds_newer_than(&self, id: u64) -> bool {
        !self.slices.is_empty() && self.id > Some(id)
    }

    /// Returns an error for a fragment numbered above the last one, and for a last one numbered below a held one.
    fn check_place(&self, fragment: &Fragment) -> Result<(), ReceiveError> {
        let number = fragment.number;
        if let Some(last) = self.last
            && number > last
        {
            return Err(ReceiveError::FragmentBeyondLast { number, last });
        }
        if fragment.last
            && let Some((&held, _)) = self.slices.last_key_value()
            && held > number
        {
            return Err(ReceiveError::LastFragmentBelowHeld { number, held });
        }
        Ok(())
    }

    /// Returns the compressed instruction if all of its fragments are held, or else `None`. A complete instruction's
    /// fragments are dropped, and its id is kept.
    fn complete(&mut self) -> Option<Vec<u8>> {
        // No number exceeds the last fragment's number, so the count shows whether a fragment is missing.
        if self.slices.len() != usize::from(self.last?) + 1 {
            return None;
        }
        let slices: Vec<_> = self.slices.values().map(|slice| &**slice).collect();
        let compressed = slices.concat();
        self.discard();
        Some(compressed)
    }

    fn discard(&mut self) {
        self.slices.clear();
        self.last = None;
        self.bytes_held = 0;
    }
}

#[cfg(test)]
mod tests;
