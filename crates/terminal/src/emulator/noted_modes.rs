//! Modes that this emulator only stores, without effect. Programs can set, reset, save, restore and query them
//! (DECRQM).
//!
//! xterm has modes for its keyboard, mouse, window, printer and scrolling. All these belong to the user's own terminal,
//! or do not exist here.

/// A mode of the terminal, by its kind and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    /// A mode that SM sets and RM resets.
    Ansi(u16),
    /// A private mode, which DECSET sets and DECRST resets.
    Private(u16),
}

use Mode::{Ansi, Private};

/// The stored private modes, grouped by the device that they control. Source: xterm's ctlseqs, "DEC Private Mode Set".
const KEPT_PRIVATE: [&[u16]; 9] = [
    // 4 (DECSCLM): smooth scroll. 12: a blinking cursor, which DECSCUSR sets here.
    &[4, 12],
    // DECPFF, DECPEX: the printer.
    &[18, 19],
    // The scrollbar, font sizes by keys, national character sets, the bell at the margin.
    &[30, 35, 42, 44],
    // DECBKM: the byte that the backspace key sends.
    &[67],
    // Whether output and keys scroll the history to its end, and whether scrolling is fast.
    &[1010, 1011, 1014],
    // The bytes that keys send with Meta, Alt and Delete.
    &[1034, 1035, 1036, 1037, 1039],
    // Selections, and the window's reaction to a bell.
    &[1040, 1041, 1042, 1043, 1044],
    // Keyboards of other terminals.
    &[1050, 1051, 1052, 1053, 1060, 1061],
    // The mouse in a command line, and the form of pasted text.
    &[2001, 2002, 2003, 2005, 2006],
];

/// The stored ANSI modes: KAM and SRM, which control the user's keyboard.
const KEPT_ANSI: [u16; 2] = [2, 12];

/// The stored modes that are set initially. Source: xterm 379 as observed.
const SET_AT_START: [Mode; 6] =
    [Ansi(12), Private(35), Private(1010), Private(1034), Private(1035), Private(1040)];

/// The modes that programs cannot change. They are two lists of modes that are always reset, and a list of modes that
/// are always set. Source: xterm 379 as observed for the ANSI modes, 8, 14 and 46. The others follow from the emulator.
/// It has no toolbar (10), no Tektronix window (38), no graphics printer (43), no images (80, 1070, 8452) and no menu
/// for the blinking cursor (13). Programs can always use the alternate screen (1046).
const FIXED_ANSI: [u16; 13] = [1, 3, 5, 7, 10, 11, 13, 14, 15, 16, 17, 18, 19];
const FIXED_PRIVATE: [u16; 8] = [8, 10, 13, 38, 43, 46, 80, 8452];
const FIXED_PRIVATE_SET: [u16; 3] = [14, 1046, 1070];

/// The values of the stored modes, a bit for each mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotedModes(u64);

impl Default for NotedModes {
    fn default() -> Self {
        Self(SET_AT_START.into_iter().filter_map(bit).sum())
    }
}

impl NotedModes {
    /// Returns whether a stored mode is set. `None` if the mode is not stored.
    pub(crate) fn get(self, mode: Mode) -> Option<bool> {
        Some(self.0 & bit(mode)? != 0)
    }

    /// Sets or resets a mode. Ignores modes that are not stored.
    pub(crate) fn set(&mut self, mode: Mode, set: bool) {
        if let Some(bit) = bit(mode) {
            self.0 = if set { self.0 | bit } else { self.0 & !bit };
        }
    }

    /// Resets the stored modes that DECSTR affects. Source: xterm 379 as observed.
    pub(crate) fn soft_reset(&mut self) {
        self.set(Ansi(2), false);
        self.set(Private(12), false);
    }
}

/// Returns the value of a mode that programs cannot change. `None` for a mode that they can change or that is unknown.
pub(crate) fn fixed(mode: Mode) -> Option<bool> {
    match mode {
        Ansi(number) => FIXED_ANSI.contains(&number).then_some(false),
        Private(number) if FIXED_PRIVATE_SET.contains(&number) => Some(true),
        Private(number) => FIXED_PRIVATE.contains(&number).then_some(false),
    }
}

/// Returns the stored modes in the order of their bits.
fn kept() -> impl Iterator<Item = Mode> {
    let private = KEPT_PRIVATE.iter().copied().flatten();
    KEPT_ANSI.into_iter().map(Ansi).chain(private.map(|number| Private(*number)))
}

fn bit(mode: Mode) -> Option<u64> {
    Some(1 << kept().position(|kept| kept == mode)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_fixed() -> impl Iterator<Item = Mode> {
        let private = FIXED_PRIVATE.into_iter().chain(FIXED_PRIVATE_SET);
        FIXED_ANSI.into_iter().map(Ansi).chain(private.map(Private))
    }

    #[test]
    fn a_mode_is_kept_or_fixed_and_listed_once() {
        let all: Vec<Mode> = kept().chain(all_fixed()).collect();
        let mut distinct = all.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(all.len(), distinct.len());
    }

    #[test]
    fn each_kept_mode_is_set_and_reset_alone() {
        for mode in kept() {
            let at_start = SET_AT_START.contains(&mode);
            let mut modes = NotedModes::default();
            assert_eq!(modes.get(mode), Some(at_start), "{mode:?}");
            modes.set(mode, !at_start);
            for other in kept() {
                let at_start = SET_AT_START.contains(&other);
                assert_eq!(
                    modes.get(other),
                    Some(at_start != (mode == other)),
                    "{mode:?} {other:?}"
                );
            }
            modes.set(mode, at_start);
            assert_eq!(modes, NotedModes::default());
            assert_eq!(fixed(mode), None);
        }
        for mode in all_fixed() {
            let mut modes = NotedModes::default();
            modes.set(mode, true);
            assert_eq!((modes, modes.get(mode)), (NotedModes::default(), None));
        }
    }
}
