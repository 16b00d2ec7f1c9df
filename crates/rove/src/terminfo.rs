//! Finds and reads terminfo entries.

use std::fs::File;
use std::path::PathBuf;

use rove_platform::termux;
use terminfo_lean::locate::search_directories;
use terminfo_lean::parse::{Terminfo, parse};

use crate::bounded;

/// Most bytes of a terminfo entry that are read. Source: term(5).
const ENTRY_MAX: u64 = 32_768;

/// Length of a terminfo entry's header, in bytes. Source: term(5).
const HEADER_LEN: usize = 12;

/// Why a terminfo entry cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EntryError {
    /// No entry has this name, or the bytes are no entry.
    #[error("there is no such entry")]
    Unknown,
    /// The entry begins as entries do, but is malformed.
    #[error("the entry is damaged")]
    Damaged,
}

/// Reads the entry of this name, and returns the result of `look` for it.
///
/// # Errors
///
/// Returns [`EntryError`]: that no entry has this name, or that the entry is damaged.
pub(crate) fn look_up<T>(
    name: &str,
    look: impl FnOnce(&Terminfo<'_>) -> T,
) -> Result<T, EntryError> {
    let file = find(name).and_then(|it| File::open(it).ok()).ok_or(EntryError::Unknown)?;
    let entry = bounded::read(file, ENTRY_MAX).map_err(|_| EntryError::Unknown)?;
    read(&entry, look)
}

/// Returns the file of an entry, if there is one. Its folder is named by the first letter of the entry's name, or by
/// that letter's hexadecimal code.
fn find(name: &str) -> Option<PathBuf> {
    // The name becomes part of a path, and with a slash it could lead to any file.
    let first = *name.as_bytes().first().filter(|_| !name.contains('/'))?;
    let mut folders = search_directories();
    folders.extend(termux::prefix().map(|it| it.join("share/terminfo")));
    let letters = [char::from(first).to_string(), format!("{first:02x}")];
    let files =
        folders.iter().flat_map(|it| letters.each_ref().map(|letter| it.join(letter).join(name)));
    files.into_iter().find(|it| it.is_file())
}

/// Reads a compiled entry, and returns the result of `look` for it.
///
/// # Errors
///
/// Returns [`EntryError`]: that the bytes are no entry, or a damaged entry.
pub(crate) fn read<T>(
    entry: &[u8],
    look: impl FnOnce(&Terminfo<'_>) -> T,
) -> Result<T, EntryError> {
    match parse(entry) {
        Ok(info) => Ok(look(&info)),
        Err(terminfo_lean::parse::Error::BadMagic) => Err(EntryError::Unknown),
        Err(_) if entry.len() < HEADER_LEN => Err(EntryError::Unknown),
        Err(_) => Err(EntryError::Damaged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry with nothing but extended strings. `values` are their offsets in a table that begins with "a" and "b".
    /// `names` are the offsets of their names, which follow the values.
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
        let styles = |info: &Terminfo<'_>| info.strings.contains_key("Ss");
        for (entry, found) in [
            (entry(&[0, 2], &[0, 3]), Ok(true)),
            // More names than strings: the table begins within the names.
            (entry(&[2], &[0, 5, 3]), Ok(false)),
            // Fewer names than strings, a string and a name outside the table.
            (entry(&[0, 2], &[0]), Err(EntryError::Damaged)),
            (entry(&[0, 12], &[0, 3]), Err(EntryError::Damaged)),
            (entry(&[0, 2], &[0, 9]), Err(EntryError::Damaged)),
        ] {
            assert_eq!(read(&entry, styles), found, "{entry:?}");
        }
        assert_eq!(read(b"", styles), Err(EntryError::Unknown));
        assert_eq!(look_up("../x", styles), Err(EntryError::Unknown));
        assert_eq!(look_up("no-such-terminal", styles), Err(EntryError::Unknown));
    }
}
