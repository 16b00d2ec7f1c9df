//! Puts fragments together again: one instruction in progress, bounded.

use std::collections::BTreeMap;

use crate::compress::COMPRESSED_LEN_MAX;
use crate::error::ReceiveError;
use crate::fragment::{FRAGMENTS_MAX, Fragment};

/// Collects the fragments of one instruction at a time.
///
/// A fragment of a newer instruction replaces the fragments that are held. A fragment of an older instruction discards nothing: it
/// is of use only if it is all of its instruction. A fragment that contradicts another of the same id is refused and changes
/// nothing. The assembler keeps at most [`COMPRESSED_LEN_MAX`] bytes in at most
/// [`FRAGMENTS_MAX`] pieces, and memory only for what arrived.
#[derive(Debug, Default)]
pub struct Assembler {
    /// The id of the instruction in progress, or of the last one completed.
    id: Option<u64>,
    /// The slices by number.
    slices: BTreeMap<u16, Box<[u8]>>,
    /// The number of the last fragment, once it has arrived.
    last: Option<u16>,
    /// Bytes in `slices`.
    bytes_held: usize,
}

impl Assembler {
    /// Adds a fragment; returns the compressed instruction when it completes one.
    ///
    /// # Errors
    ///
    /// Returns [`ReceiveError`] for a fragment that contradicts what is held or goes over a limit.
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
            // No receiver takes this instruction: there is no use in keeping the rest of it.
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

    /// Returns how many bytes of contents are held.
    pub fn bytes_held(&self) -> usize {
        self.bytes_held
    }

    /// Returns whether an instruction is in progress that is newer than the one with this id: its sender counts ids up.
    fn holds_newer_than(&self, id: u64) -> bool {
        !self.slices.is_empty() && self.id > Some(id)
    }

    /// Refuses a fragment behind the last one, and a last one in front of others.
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

    /// Returns the instruction if all of it is here. Its id stays, so that a late duplicate of one
    /// of its fragments does not look like the start of another instruction.
    fn complete(&mut self) -> Option<Vec<u8>> {
        // No slice is numbered above the last, so their count says whether one is missing.
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
