//! Facts about an input that its keys have shown, and that no screen shows by itself.

use rove_terminal::Position;

/// The facts about an input that are known from its keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InputTrack {
    /// Whether a key was typed in it, so that its start is known.
    pub(super) is_used: bool,
    /// The end of the typed text, which blanks at its end do not show.
    pub(super) reach: u16,
    /// Whether the cursor waits on the last character of a full row until there is more.
    pub(super) waits: bool,
    /// The bracket on which the cursor stands for a moment, and the place of the input at which the next key is typed.
    pub(super) flash: Option<(Position, u16)>,
}

impl InputTrack {
    /// Returns whether keys were typed up to a place.
    pub(super) const fn covers(&self, place: u16) -> bool {
        place <= self.reach
    }

    /// Forgets the flash, unless the cursor still stands there.
    pub(super) fn look_for_flash(&mut self, cursor: Position) {
        self.flash = self.flash.filter(|(shown, _)| *shown == cursor);
    }

    /// Forgets how far the text reaches.
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
