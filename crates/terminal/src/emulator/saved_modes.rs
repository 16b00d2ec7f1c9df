//! The values of private modes that XTSAVE saves and XTRESTORE restores.

use crate::emulator::noted_modes::NotedModes;
use crate::screen::mode::{MouseEncoding, MouseReporting};

/// The numbers of the saved modes that are on or off. 47 also stands for 1047 and 1049.
const SWITCHES: [u16; 19] =
    [1, 3, 5, 6, 7, 25, 40, 41, 45, 47, 66, 69, 95, 1004, 1045, 2004, 2026, 2031, 2048];

/// The modes among [`SWITCHES`] that are on initially.
const ON_AT_START: [u16; 2] = [7, 25];

const _: () = assert!(SWITCHES.len() <= u32::BITS as usize);

/// The value of each private mode when it was last saved. A mode that was never saved has its initial value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SavedModes {
    /// The saved value of each mode in [`SWITCHES`], as a bit.
    switches: u32,
    pub(crate) noted: NotedModes,
    /// The saved mouse mode. At most one reporting mode is set at a time, so one value is enough.
    pub(crate) mouse_reporting: MouseReporting,
    pub(crate) mouse_encoding: MouseEncoding,
    pub(crate) alternate_scroll: Option<bool>,
}

impl Default for SavedModes {
    fn default() -> Self {
        Self {
            switches: ON_AT_START.into_iter().filter_map(bit).sum(),
            noted: NotedModes::default(),
            mouse_reporting: MouseReporting::Off,
            mouse_encoding: MouseEncoding::Default,
            alternate_scroll: None,
        }
    }
}

impl SavedModes {
    /// Saves whether a mode is on. Ignores modes outside of [`SWITCHES`].
    pub(crate) fn save(&mut self, mode: u16, set: bool) {
        if let Some(bit) = bit(mode) {
            self.switches = if set { self.switches | bit } else { self.switches & !bit };
        }
    }

    /// Returns whether a mode was on when it was last saved. `None` if it is not among [`SWITCHES`].
    pub(crate) fn saved(&self, mode: u16) -> Option<bool> {
        Some(self.switches & bit(mode)? != 0)
    }
}

fn bit(mode: u16) -> Option<u32> {
    let mode = if matches!(mode, 1047 | 1049) { 47 } else { mode };
    Some(1 << SWITCHES.iter().position(|switch| *switch == mode)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_switch_is_saved_alone() {
        for mode in SWITCHES {
            let mut saved = SavedModes::default();
            saved.save(mode, !ON_AT_START.contains(&mode));
            for other in SWITCHES {
                let at_start = ON_AT_START.contains(&other);
                assert_eq!(saved.saved(other), Some(at_start != (mode == other)), "{mode} {other}");
            }
        }
        assert_eq!(SavedModes::default().saved(1000), None);
    }

    #[test]
    fn the_alternate_screen_is_saved_once_under_its_three_numbers() {
        let mut saved = SavedModes::default();
        saved.save(1049, true);
        assert_eq!([47, 1047, 1049].map(|mode| saved.saved(mode)), [Some(true); 3]);
    }
}
