//! XTSAVE and XTRESTORE: what private modes were, for whoever wants them so again.

use crate::emulator::noted_modes::NotedModes;
use crate::screen::mode::{MouseEncoding, MouseReporting};

/// The modes that are on or off, and whether they are on at the start. 47 stands for 1047 and 1049 too.
const SWITCHES: [(u16, bool); 19] = [
    (1, false),
    (3, false),
    (5, false),
    (6, false),
    (7, true),
    (25, true),
    (40, false),
    (41, false),
    (45, false),
    (47, false),
    (66, false),
    (69, false),
    (95, false),
    (1004, false),
    (1045, false),
    (2004, false),
    (2026, false),
    (2031, false),
    (2048, false),
];

const _: () = assert!(SWITCHES.len() <= u32::BITS as usize);

/// The value of each private mode when it was last saved; of a mode never saved, the value at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SavedModes {
    /// A bit for each of [`SWITCHES`].
    switches: u32,
    pub(crate) noted: NotedModes,
    /// The mouse modes exclude each other, so that of each kind one is saved and not all.
    pub(crate) mouse_reporting: MouseReporting,
    pub(crate) mouse_encoding: MouseEncoding,
    pub(crate) alternate_scroll: Option<bool>,
}

impl Default for SavedModes {
    fn default() -> Self {
        Self {
            switches: (0..SWITCHES.len()).filter(|&at| SWITCHES[at].1).map(|at| 1 << at).sum(),
            noted: NotedModes::default(),
            mouse_reporting: MouseReporting::Off,
            mouse_encoding: MouseEncoding::Default,
            alternate_scroll: None,
        }
    }
}

impl SavedModes {
    /// Saves whether a mode is on, if it is one that is on or off.
    pub(crate) fn save(&mut self, mode: u16, set: bool) {
        if let Some(bit) = bit(mode) {
            self.switches = if set { self.switches | bit } else { self.switches & !bit };
        }
    }

    /// Returns whether a mode was on; `None` if it is none that is on or off.
    pub(crate) fn saved(&self, mode: u16) -> Option<bool> {
        Some(self.switches & bit(mode)? != 0)
    }
}

fn bit(mode: u16) -> Option<u32> {
    let mode = if matches!(mode, 1047 | 1049) { 47 } else { mode };
    Some(1 << SWITCHES.iter().position(|(switch, _)| *switch == mode)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_switch_is_saved_alone() {
        for (mode, at_start) in SWITCHES {
            let mut saved = SavedModes::default();
            saved.save(mode, !at_start);
            for (other, at_start) in SWITCHES {
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
