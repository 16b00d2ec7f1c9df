//! Puts fragments together again: one instruction in progress, bounded.

use crate::error::ReceiveError;
use crate::fragment::Fragment;

/// Collects the fragments of one instruction at a time.
#[derive(Debug, Default)]
pub struct Assembler {
    _stub: (),
}

impl Assembler {
    /// Takes a fragment; returns the compressed instruction when it completes one.
    ///
    /// # Errors
    ///
    /// Returns [`ReceiveError`] for a fragment that contradicts what is held or goes over a limit.
    pub fn handle_fragment(&mut self, fragment: Fragment) -> Result<Option<Vec<u8>>, ReceiveError> {
        let _ = fragment;
        todo!()
    }
}
