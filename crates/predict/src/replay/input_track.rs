//! Facts about an input that follow from its keys, and that no screen shows.

use rove_terminal::Position;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InputTrack {
    /// Whether a key was typed in the input, so that its start is known.
    pub(super) is_used: bool,
    /// The column after the typed text. A screen does not show this column if the text ends in blanks.
    pub(super) reach: u16,
    /// Whether the cursor waits on the last character of a full row until the next character.
    pub(super) waits: bool,
    /// The bracket to which the cursor has jumped for a moment, and the input column where the next key is typed.
    pub(super) flash: Option<(Position, u16)>,
}

impl InputTrack {
    /// Returns whether the typed text reaches this input column.
    pub(super) const fn covers(&self, place: u16) -> bool {
        place <= self.reach
    }

    /// Forgets the jump to a bracket, unless the cursor is still on the bracket.
    pub(super) fn look_for_flash(&mut self, cursor: Position) {
        self.flash = self.flash.filter(|(shown, _)| *shown == cursor);
    }

    /// Forgets how far the typed text reaches.
    pub(super) const fn forget_reach(&mut self) {
        (self.reach, self.waits) = (0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flash_lasts_as_long_as_the_cursor_stands_on_its_bracket() {
        let [bracket, elsewhere] = [4, 5].map(|column| Position { row: 1, column });
        let mut track = InputTrack { flash: Some((bracket, 9)), reach: 9, ..InputTrack::default() };
        track.look_for_flash(bracket);
        assert_eq!(track.flash, Some((bracket, 9)));
        track.look_for_flash(elsewhere);
        assert_eq!((track.flash, track.covers(9), track.covers(10)), (None, true, false));
        track.forget_reach();
        assert!(!track.covers(1));
    }
}
