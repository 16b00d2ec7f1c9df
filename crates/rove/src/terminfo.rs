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
    /// No entry has this name, or the bytes are no entry.
    #[error("there is no such entry")]
    Unknown,
    /// An offset in the entry leads out of it.
    #[error("the entry is damaged")]
    Damaged,
}

/// Held while the panic hook, which the whole process shares, is replaced.
static HOOK: Mutex<()> = Mutex::new(());

/// Looks up the entry of this name and returns what `look` finds in it.
///
/// # Errors
///
/// Returns [`EntryError`]: that no entry has this name, or that the entry is damaged.
pub(crate) fn look_up<T>(name: &str, look: impl FnOnce(&TermInfo) -> T) -> Result<T, EntryError> {
    // The name becomes a path, and with a slash it could lead to any file.
    if name.contains('/') {
        return Err(EntryError::Unknown);
    }
    guarded(|| TermInfo::from_name(name).ok().map(|info| look(&info)))
}

/// Reads the bytes as a compiled entry and returns what `look` finds in it.
///
/// # Errors
///
/// Returns [`EntryError`]: that the bytes are no entry, or a damaged one.
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
    use super::*;

    /// An entry with nothing but extended strings: `values` are their offsets in a table that begins with "a" and "b",
    /// `names` the offsets of their names, which follow the values.
    fn entry(values: &[u16], names: &[u16]) -> Vec<u8> {
        let table = b"a\0b\0Su\0Ss\0";
        let len = |len: usize| u16::try_from(len).unwrap();
        let words = |words: &[u16]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let counts = [0, 0, len(values.len()), len(values.len() + names.len()), len(table.len())];
        let parts: [Vec<u8>; 6] = [
            words(&[0x011a, 2, 0, 0, 0, 0]),
            b"x\0".to_vec(),
            words(&counts),
            words(values),
            words(names),
            table.to_vec(),
        ];
        parts.concat()
    }

    #[test]
    fn an_entry_that_leads_out_of_itself_is_damaged() {
        let styles = |info: &TermInfo| info.extended_cap("Ss").is_some();
        for (entry, found) in [
            (entry(&[0, 2], &[0, 3]), Ok(true)),
            (entry(&[0, 2], &[0]), Ok(false)),
            // A name outside the table: the extended strings are passed over.
            (entry(&[0, 2], &[0, 9]), Ok(false)),
            // More names than strings: the third takes an offset of a name for its string.
            (entry(&[2], &[0, 5, 3]), Err(EntryError::Damaged)),
        ] {
            assert_eq!(read(&entry, styles), found, "{entry:?}");
        }
        assert_eq!(read(b"", styles), Err(EntryError::Unknown));
        assert_eq!(look_up("../x", styles), Err(EntryError::Unknown));
        assert_eq!(look_up("no-such-terminal", styles), Err(EntryError::Unknown));
    }
}
