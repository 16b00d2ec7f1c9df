//! Modes that have no effect here, but are kept for whoever asks, saves and restores them.
//!
//! xterm has modes that steer its keyboard, its mouse, its window, its printer or how it moves text on the glass. These belong to
//! the user's own terminal, or there is nothing like them here. A program may set and reset them, and reads back
//! what it set (DECRQM).

/// A mode by its kind and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    /// A mode of SM and RM.
    Ansi(u16),
    /// A mode of DECSET and DECRST.
    Private(u16),
}

use Mode::{Ansi, Private};

/// The private modes that are kept, by what they steer.
/// Source: xterm's ctlseqs, "DEC Private Mode Set".
const KEPT_PRIVATE: [&[u16]; 9] = [
    // DECSCLM: smooth scroll. 12: a cursor that blinks; DECSCUSR does that.
    &[4, 12],
    // DECPFF, DECPEX: the printer.
    &[18, 19],
    // The scrollbar, font sizes by keys, national character sets, the bell at the margin.
    &[30, 35, 42, 44],
    // DECBKM: what the key for backspace sends.
    &[67],
    // Where the terminal's own history stands after output and keys, and how fast it scrolls.
    &[1010, 1011, 1014],
    // Bytes that keys send with Meta, Alt and Delete.
    &[1034, 1035, 1036, 1037, 1039],
    // Selections, and what a bell does to the window.
    &[1040, 1041, 1042, 1043, 1044],
    // Keyboards of other terminals.
    &[1050, 1051, 1052, 1053, 1060, 1061],
    // The mouse in an input line, and how text is pasted into it.
    &[2001, 2002, 2003, 2005, 2006],
];

/// The ANSI modes that are kept: KAM and SRM, the user's keyboard.
const KEPT_ANSI: [u16; 2] = [2, 12];

/// The kept modes that are set at the start, as xterm 379 tells it.
const SET_AT_START: [Mode; 6] =
    [Ansi(12), Private(35), Private(1010), Private(1034), Private(1035), Private(1040)];

/// The modes that cannot be changed: all reset but the last three.
/// Source: xterm 379 as observed for the ANSI modes, 8, 14 and 46. Of the others rove has one state only: there is no toolbar (10), no Tektronix (38), no printer of graphics (43) and no image (80, 1070, 8452),
/// what makes the cursor blink is not left to a menu (13), and the alternate screen can always be shown (1046).
const FIXED_ANSI: [u16; 13] = [1, 3, 5, 7, 10, 11, 13, 14, 15, 16, 17, 18, 19];
const FIXED_PRIVATE: [u16; 8] = [8, 10, 13, 38, 43, 46, 80, 8452];
const FIXED_PRIVATE_SET: [u16; 3] = [14, 1046, 1070];

/// Which of the modes without an effect are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotedModes(u64);

impl Default for NotedModes {
    fn default() -> Self {
        Self(SET_AT_START.into_iter().filter_map(bit).sum())
    }
}

impl NotedModes {
    /// Returns whether a mode is set; `None` if it is none of these.
    pub(crate) fn get(self, mode: Mode) -> Option<bool> {
        Some(self.0 & bit(mode)? != 0)
    }

    /// Sets or resets a mode, if it is one of these.
    pub(crate) fn set(&mut self, mode: Mode, set: bool) {
        if let Some(bit) = bit(mode) {
            self.0 = if set { self.0 | bit } else { self.0 & !bit };
        }
    }

    /// Does what DECSTR does to them. Source: xterm 379 as observed.
    pub(crate) fn soft_reset(&mut self) {
        self.set(Ansi(2), false);
        self.set(Private(12), false);
    }
}

/// Returns whether a mode that nothing changes is set; `None` if it is none of these.
pub(crate) fn fixed(mode: Mode) -> Option<bool> {
    match mode {
        Ansi(number) => FIXED_ANSI.contains(&number).then_some(false),
        Private(number) if FIXED_PRIVATE_SET.contains(&number) => Some(true),
        Private(number) => FIXED_PRIVATE.contains(&number).then_some(false),
    }
}

/// Returns the modes that are kept, each of which has a bit.
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
