//! The values of private modes that XTSAVE saves and XTRESTORE restores.

use std::collections::BTreeMap;

use crate::emulator::noted_modes::{Mode, NotedModes};
use crate::screen::mode::{MouseEncoding, MouseReporting};

/// The modes that are initially on, besides stored modes ([`NotedModes`]): autowrap and a visible cursor.
const ON_AT_START: [u16; 2] = [7, 25];

/// The value of each private mode at its last XTSAVE. A mode that was never saved has its initial value.
#[derive(Clone, Debug, Default)]
pub(crate) struct SavedModes {
    /// The saved modes that are on or off. They are few, because only modes that the emulator knows are saved.
    switches: BTreeMap<u16, bool>,
    /// The saved mouse reporting mode. A single value is enough, because at most one such mode is set.
    pub(crate) mouse_reporting: MouseReporting,
    pub(crate) mouse_encoding: MouseEncoding,
    pub(crate) alternate_scroll: Option<bool>,
}

impl SavedModes {
    /// Saves whether a mode is on. The emulator must know the mode.
    pub(crate) fn save(&mut self, mode: u16, set: bool) {
        self.switches.insert(one_of_its_numbers(mode), set);
    }

    /// Returns whether a mode was on when it was last saved, or initially if it was never saved.
    pub(crate) fn saved(&self, mode: u16) -> bool {
        let is_on_at_start = || {
            let noted = NotedModes::default().get(Mode::Private(mode));
            noted.unwrap_or(ON_AT_START.contains(&mode))
        };
        self.switches.get(&one_of_its_numbers(mode)).copied().unwrap_or_else(is_on_at_start)
    }
}

/// Returns the number under which a mode is saved: 47 for 47, 1047 and 1049, because they select the same screen.
const fn one_of_its_numbers(mode: u16) -> u16 {
    if matches!(mode, 1047 | 1049) { 47 } else { mode }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_switch_is_saved_alone() {
        let switches = [
            1, 3, 5, 6, 7, 25, 35, 40, 41, 42, 45, 47, 66, 69, 95, 1004, 1045, 2004, 2026, 2031,
            2048,
        ];
        let at_start = |mode| [7, 25, 35].contains(&mode);
        for mode in switches {
            let mut saved = SavedModes::default();
            saved.save(mode, !at_start(mode));
            for other in switches {
                assert_eq!(
                    saved.saved(other),
                    at_start(other) != (mode == other),
                    "{mode} {other}"
                );
            }
            saved.save(mode, at_start(mode));
            assert_eq!(saved.saved(mode), at_start(mode), "{mode}");
        }
    }

    #[test]
    fn the_alternate_screen_is_saved_once_under_its_three_numbers() {
        let mut saved = SavedModes::default();
        saved.save(1049, true);
        assert_eq!([47, 1047, 1049].map(|mode| saved.saved(mode)), [true; 3]);
    }
}
