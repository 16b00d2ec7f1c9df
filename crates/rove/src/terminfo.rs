//! A terminfo entry, looked at so that a damaged one is an error.
//!
//! The crate that reads entries follows the offsets that stand in them, and panics where one leads out of the entry.
//! Entries come from folders of the user's as well, and with a home folder from other computers.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;

use termini::TermInfo;

/// Why there is no description of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EntryError {
    /// No entry has this name, or the bytes are none.
    #[error("there is no such entry")]
    Unknown,
    /// An offset in the entry leads out of it.
    #[error("the entry is damaged")]
    Damaged,
}

/// Held while the panic hook is another, which the whole process has in common.
static HOOK: Mutex<()> = Mutex::new(());

/// Looks up the entry of this name and returns what `look` finds in it.
///
/// # Errors
///
/// Returns whether there is no such entry or a damaged one.
pub(crate) fn look_up<T>(name: &str, look: impl FnOnce(&TermInfo) -> T) -> Result<T, EntryError> {
    // A name is looked up as a file; one with a slash would be some file.
    if name.contains('/') {
        return Err(EntryError::Unknown);
    }
    guarded(|| TermInfo::from_name(name).ok().map(|info| look(&info)))
}

/// Reads the bytes as a compiled entry and returns what `look` finds in it.
///
/// # Errors
///
/// Returns whether the bytes are no entry or a damaged one.
pub(crate) fn read<T>(entry: &[u8], look: impl FnOnce(&TermInfo) -> T) -> Result<T, EntryError> {
    guarded(|| TermInfo::parse(entry).ok().map(|info| look(&info)))
}

fn guarded<T>(look: impl FnOnce() -> Option<T>) -> Result<T, EntryError> {
    let guard = HOOK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let report = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    // Nothing that `look` has changed outlives the panic.
    let result = panic::catch_unwind(AssertUnwindSafe(look));
    panic::set_hook(report);
    drop(guard);
    result.map_err(|_| EntryError::Damaged)?.ok_or(EntryError::Unknown)
}

#[cfg(test)]
mod tests {
    use termini::StringCapability;

    use super::*;

    /// An entry without a flag or a number, whose first strings stand at these offsets of a table.
    fn entry(offsets: &[u16], table: &[u8]) -> Vec<u8> {
        let len = |len: usize| u16::try_from(len).unwrap();
        let head = [0x011a, 2, 0, 0, len(offsets.len()), len(table.len())];
        let words = |words: &[u16]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let parts: [Vec<u8>; 4] = [words(&head), b"x\0".to_vec(), words(offsets), table.to_vec()];
        parts.concat()
    }

    #[test]
    fn an_entry_that_leads_out_of_itself_is_damaged() {
        let bell =
            |info: &TermInfo| info.raw_string_cap(StringCapability::Bell).map(<[u8]>::to_vec);
        for (offset, found) in [
            (0, Ok(Some(b"ab".to_vec()))),
            (1, Ok(Some(b"b".to_vec()))),
            (0xffff, Ok(None)),
            (4, Err(EntryError::Damaged)),
            (0x7fff, Err(EntryError::Damaged)),
        ] {
            assert_eq!(read(&entry(&[0, offset], b"ab\0"), bell), found, "{offset}");
        }
        assert_eq!(read(b"", bell), Err(EntryError::Unknown));
        assert_eq!(look_up("../x", bell), Err(EntryError::Unknown));
        assert_eq!(look_up("no-such-terminal", bell), Err(EntryError::Unknown));
    }
}
