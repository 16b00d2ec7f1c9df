//! The generation of DEC terminals that a program selects with DECSCL.

/// A conformance level: a generation of DEC's terminals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Level(u16);

impl Level {
    /// VT200 adds the reports about printer, user-defined keys and keyboard.
    pub(crate) const VT200: Self = Self(2);
    /// VT300 adds DECRQM for ANSI modes, the page in DECXCPR, and reports about the locator.
    pub(crate) const VT300: Self = Self(3);
    /// VT400 adds side margins, rectangles, column shifts, DA3 and all reports that lower levels lack.
    pub(crate) const VT400: Self = Self(4);
    /// VT500 adds DECNCSM.
    pub(crate) const VT500: Self = Self(5);

    /// Difference between the parameter of DECSCL and the number of the level.
    const BASE: u16 = 60;

    /// Returns the level for a parameter of DECSCL, 61 to 65. `None` for other parameters.
    pub(crate) fn from_parameter(parameter: u16) -> Option<Self> {
        parameter.checked_sub(Self::BASE).filter(|level| (1..=5).contains(level)).map(Self)
    }

    /// Returns the parameter of DECSCL that names this level, 61 to 65.
    pub(crate) const fn parameter(self) -> u16 {
        Self::BASE + self.0
    }
}

/// Until a program uses DECSCL, programs have the functions of a VT400, as in xterm.
impl Default for Level {
    fn default() -> Self {
        Self::VT400
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_levels_are_named() {
        for (parameter, level) in [
            (60, None),
            (61, Some(Level(1))),
            (62, Some(Level::VT200)),
            (65, Some(Level::VT500)),
            (66, None),
            (0, None),
            (4, None),
            (u16::MAX, None),
        ] {
            assert_eq!(Level::from_parameter(parameter), level);
            assert!(level.is_none_or(|level| level.parameter() == parameter));
        }
        assert!(Level::default() < Level::VT500 && Level::default() > Level::VT300);
    }
}
