//! The model of keys that move the cursor in full-screen programs.

use core::ops::Range;

use rove_terminal::{Key, Screen};

use crate::replay::canvas::{Canvas, mix};
use crate::replay::evidence::Evidence;
use crate::replay::id::PlaceId;
use crate::replay::memory::Memory;
use crate::replay::motion::{Guide, Motion, Step};
use crate::replay::ruler::Ruler;
use crate::scene::Pane;
use crate::scene::text::characters;

/// Most keys whose cursor motions are remembered for a window. Chosen: arrows, similar keys with Ctrl, some letters.
const KEYS_MAX: usize = 24;

/// Most windows of full-screen programs with remembered motions, the last used. Chosen: those of a few editors.
const PLACES_MAX: usize = 16;

/// How often in a row a key must cause the same motion before the engine predicts this motion.
const NEEDED: u16 = 1;
/// [`NEEDED`] for Ctrl-A and Ctrl-B. In screen and tmux, they begin commands, which may move the cursor by chance.
const NEEDED_OF_PREFIXES: u16 = 4;
/// The known motions of keys in a program's window.
#[derive(Clone, Debug, Default)]
pub(super) struct Navigation {
    habits: Memory<Key, Habit, KEYS_MAX>,
    pub(super) ruler: Ruler,
    /// Whether the cursor stops on the last character of a line, rather than after it. `None` if that is unknown.
    pub(super) stops_on_last: Option<bool>,
    /// The rows that the cursor has visited since the text of the window's first row last changed.
    visited: Range<u16>,
    first_row: u64,
}

/// The motion that a key has last caused.
#[derive(Clone, Copy, Debug)]
struct Habit {
    motion: Motion,
    /// How often in a row the key has caused this motion.
    evidence: Evidence,
}

impl Guide for Navigation {
    fn motion(&self, key: Key) -> Option<Motion> {
        let habit = self.habits.find(&key)?;
        habit.evidence.is_enough().then_some(habit.motion)
    }

    fn stops_on_last(&self) -> Option<bool> {
        self.stops_on_last
    }

    fn was_visited(&self, screen: &Screen, pane: &Pane, row: u16) -> bool {
        self.visited.contains(&row) && self.first_row == name_of_row(screen, pane.top)
    }

    fn draw_numbers(&self, canvas: &mut Canvas<'_>, step: Step) {
        if self.ruler.is_known() {
            self.ruler.draw(canvas, step);
        }
    }
}

impl Navigation {
    /// Records that a key has moved the cursor by this motion.
    pub(super) fn hit(&mut self, key: Key, motion: Motion) {
        let needed = match key {
            Key::ControlA | Key::ControlB => NEEDED_OF_PREFIXES,
            _ => NEEDED,
        };
        let new = || Habit { motion, evidence: Evidence::needing(needed) };
        let habit = self.habits.entry_or(key, new);
        if habit.motion != motion {
            habit.motion = motion;
            habit.evidence.restart();
        }
        habit.evidence.confirm();
    }

    /// Records that a key had another effect than its known motion. `was_shown`: the user saw the wrong prediction.
    pub(super) fn miss(&mut self, key: Key, was_shown: bool) {
        if let Some(habit) = self.habits.find_mut(&key) {
            habit.evidence.refute(was_shown);
        }
    }

    /// Adds `rows` to the rows in which the cursor was. Forgets earlier rows if the pane's first row has changed.
    pub(super) fn visit(&mut self, screen: &Screen, pane: &Pane, rows: [u16; 2]) {
        let first_row = name_of_row(screen, pane.top);
        if self.first_row != first_row {
            (self.first_row, self.visited) = (first_row, 0..0);
        }
        for row in rows {
            self.visited = if self.visited.is_empty() {
                row..row + 1
            } else {
                self.visited.start.min(row)..self.visited.end.max(row + 1)
            };
        }
        debug_assert!(rows.iter().all(|row| self.visited.contains(row)), "both rows were visited");
    }
}

/// The known motions of keys in all windows.
pub(super) type Navigations = Memory<PlaceId, Navigation, PLACES_MAX>;

fn name_of_row(screen: &Screen, row: u16) -> u64 {
    mix(characters(screen, row).map(u64::from))
}
