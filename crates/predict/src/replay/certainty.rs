//! The certainty that characters are text in a field, by the effects that they had there.

/// The proofs that characters are text in a field, and the doubts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Certainty {
    /// How many characters have been seen to come true.
    confirmed: u32,
    doubt: Doubt,
}

/// The strongest reason to doubt it. A stronger one takes the place of a weaker one, and none goes as long as the field stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    #[default]
    None,
    /// A key did something else.
    Missed,
    /// A key was pressed after which characters may be commands: Escape, or a prefix.
    Escaped,
}

impl Certainty {
    /// Returns how many characters have come true since the last loss.
    pub(super) const fn confirmed(self) -> u32 {
        self.confirmed
    }

    /// Returns whether any character has come true since the last loss.
    pub(super) const fn is_confirmed(self) -> bool {
        self.confirmed > 0
    }

    pub(super) fn has_doubt(self) -> bool {
        self.doubt != Doubt::None
    }

    /// Returns whether characters may be commands.
    pub(super) fn may_be_command(self) -> bool {
        self.doubt == Doubt::Escaped
    }

    /// Called when a character came true.
    pub(super) const fn confirm(&mut self) {
        self.confirmed += 1;
    }

    /// Forgets confirmed predictions: something else stands there by now.
    pub(super) const fn lose(&mut self) {
        self.confirmed = 0;
    }

    /// Called when a key did something else, or nothing.
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
