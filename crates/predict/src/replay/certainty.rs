//! How certain it is that a field takes characters for text, by the effects that they had in it.

/// The evidence that a field takes characters for text, and the doubt about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Certainty {
    /// How many typed characters the screen has shown as predicted since the last miss, Escape or change of the text.
    confirmed: u32,
    doubt: Doubt,
}

/// The strongest reason to doubt that characters are text. A stronger one replaces a weaker one, in the same field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    #[default]
    None,
    /// A key did something else than predicted.
    Missed,
    /// A key was pressed after which characters may be commands: Escape, or a prefix of commands.
    Escaped,
}

impl Certainty {
    pub(super) const fn confirmed(self) -> u32 {
        self.confirmed
    }

    /// Returns whether any character was confirmed since the last miss, Escape or change of the text.
    pub(super) const fn is_confirmed(self) -> bool {
        self.confirmed > 0
    }

    pub(super) fn has_doubt(self) -> bool {
        self.doubt != Doubt::None
    }

    /// Returns whether characters may be commands to the program.
    pub(super) fn may_be_command(self) -> bool {
        self.doubt == Doubt::Escaped
    }

    /// Called when the screen has shown a typed character as predicted.
    pub(super) const fn confirm(&mut self) {
        self.confirmed += 1;
    }

    /// Forgets the confirmed characters, as other text has replaced them.
    pub(super) const fn lose(&mut self) {
        self.confirmed = 0;
    }

    /// Called when a key did something else than predicted, or nothing.
    pub(super) fn miss(&mut self) {
        self.lose();
        self.doubt = self.doubt.max(Doubt::Missed);
    }

    /// Called when a key was pressed after which characters may be commands.
    pub(super) const fn escape(&mut self) {
        self.lose();
        self.doubt = Doubt::Escaped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proofs_end_with_a_doubt_and_the_doubt_outlasts_later_proofs() {
        let mut certainty = Certainty::default();
        certainty.confirm();
        assert!(certainty.is_confirmed() && !certainty.has_doubt());
        certainty.lose();
        assert_eq!(certainty, Certainty::default());
        certainty.confirm();
        certainty.miss();
        assert!(!certainty.is_confirmed() && certainty.has_doubt() && !certainty.may_be_command());
        certainty.confirm();
        assert_eq!((certainty.confirmed(), certainty.has_doubt()), (1, true));
    }

    #[test]
    fn a_key_that_fails_does_not_make_commands_less_likely() {
        let mut certainty = Certainty::default();
        certainty.escape();
        certainty.miss();
        assert!(certainty.may_be_command() && certainty.has_doubt());
    }
}
