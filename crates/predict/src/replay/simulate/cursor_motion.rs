//! The motions of a simulated cursor over the screen of a program.

use rove_terminal::{Key, Position};

use crate::replay::motion::{Guide, Motion};

/// The motions of a simulated cursor so far, and the known motions of the window.
#[derive(Clone, Copy, Debug)]
pub(in crate::replay) struct CursorMotion<'a> {
    /// The known motions of keys in this window. `None` if none are known.
    pub(super) guide: Option<&'a dyn Guide>,
    /// The column to which motions up and down return. `None` after another motion.
    goal: Option<u16>,
    /// Whether the last key was a motion.
    pub(in crate::replay) has_navigated: bool,
    /// Whether the cursor has moved to another row.
    has_climbed: bool,
    /// Whether the simulation tries uncertain motions, such as those over blanks, which may be tabs.
    pub(super) is_bold: bool,
    /// Whether the simulation assumes that the cursor stops on the last character of a line. `None`: `guide` decides.
    stops_on_last: Option<bool>,
    /// The cursor position that the numbers on the screen show.
    numbered: Position,
}

impl<'a> CursorMotion<'a> {
    /// Creates the motions of a cursor in a window without known motions.
    pub(super) const fn from(cursor: Position) -> Self {
        Self {
            guide: None,
            goal: None,
            has_navigated: false,
            has_climbed: false,
            is_bold: false,
            stops_on_last: None,
            numbered: cursor,
        }
    }

    /// Sets the known motions of the window (`guide`), and the column to which motions up and down return (`goal`).
    pub(super) fn guided(self, guide: Option<&'a dyn Guide>, goal: Option<u16>) -> Self {
        Self { guide, goal, ..self }
    }

    /// Returns these motions for a trial with an assumed `stops_on_last`. With `is_bold`, uncertain motions are tried.
    pub(in crate::replay) fn trying(self, stops_on_last: Option<bool>, is_bold: bool) -> Self {
        Self { is_bold, stops_on_last, ..self }
    }

    pub(in crate::replay) const fn goal(&self) -> Option<u16> {
        self.goal
    }

    pub(in crate::replay) const fn has_climbed(&self) -> bool {
        self.has_climbed
    }

    /// Returns the motion that a key is expected to cause. `None` if no motion is known.
    pub(super) fn motion(&self, key: Key) -> Option<Motion> {
        self.guide?.motion(key)
    }

    /// Returns whether the cursor stops on the last character of a line. `None` if that is neither assumed nor known.
    pub(super) fn stops_on_last(&self) -> Option<bool> {
        self.stops_on_last.or_else(|| self.guide.and_then(Guide::stops_on_last))
    }

    /// Records that the cursor leaves its row at `column`. Later motions up and down return there in rows long enough.
    pub(super) fn climb_from(&mut self, column: u16) {
        self.goal.get_or_insert(column);
        self.has_climbed = true;
    }

    /// Records a motion in another direction than up or down.
    pub(super) const fn forget_goal(&mut self) {
        self.goal = None;
    }

    /// Sets the position that the numbers on the screen show. Returns the position that they showed until then.
    pub(super) const fn number(&mut self, at: Position) -> Position {
        core::mem::replace(&mut self.numbered, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_goal_is_the_column_of_the_first_of_several_steps_up_or_down() {
        let mut cursor_motion = CursorMotion::from(Position { row: 3, column: 7 });
        assert!(!cursor_motion.has_climbed());
        cursor_motion.climb_from(7);
        cursor_motion.climb_from(2);
        assert_eq!((cursor_motion.goal(), cursor_motion.has_climbed()), (Some(7), true));
        cursor_motion.forget_goal();
        cursor_motion.climb_from(2);
        assert_eq!(cursor_motion.goal(), Some(2));
    }

    #[test]
    fn numbers_are_shown_of_the_last_position_that_was_given() {
        let [first, second] = [3, 4].map(|row| Position { row, column: 7 });
        let mut cursor_motion = CursorMotion::from(first);
        assert_eq!((cursor_motion.number(second), cursor_motion.number(first)), (first, second));
    }
}
