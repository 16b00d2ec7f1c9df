//! How certain it is that characters typed in a field are inserted as text, judged by their earlier effects.

/// The evidence that characters typed in this field are inserted as text, and the doubt about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Certainty {
    /// How many typed characters screens have shown as predicted since the last error, Escape or change of text.
    confirmed: u32,
    doubt: Doubt,
}

/// The strongest reason to doubt that typed characters are inserted. Within a field, doubt only grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    #[default]
    None,
    /// A key had another effect than predicted, or none.
    Missed,
    /// The user pressed Escape or a command prefix, after which characters may be commands.
    Escaped,
}

impl Certainty {
    pub(super) const fn confirmed(self) -> u32 {
        self.confirmed
    }

    /// Returns whether any character was confirmed since the last wrong prediction, Escape or change of text.
    pub(super) const fn is_confirmed(self) -> bool {
        self.confirmed > 0
    }

    pub(super) fn has_doubt(self) -> bool {
        self.doubt != Doubt::None
    }

    /// Returns whether typed characters may be commands to the program.
    pub(super) fn may_be_command(self) -> bool {
        self.doubt == Doubt::Escaped
    }

    /// Records that the screen has shown a typed character as predicted.
    pub(super) const fn confirm(&mut self) {
        self.confirmed += 1;
    }

    /// Forgets the confirmed characters: other text has replaced them, or a key has raised doubt.
    pub(super) const fn lose(&mut self) {
        self.confirmed = 0;
    }

    /// Records that a key had another effect than predicted, or none.
    pub(super) fn miss(&mut self) {
        self.lose();
        self.doubt = self.doubt.max(Doubt::Missed);
    }

    /// Records a key after which characters may be commands.
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
