//! Finding out what keys do to the cursor of programs that draw on the whole screen.

use rove_terminal::{Position, Screen};
use rove_units::Instant;

use crate::keystroke::Key;
use crate::replay::Replay;
use crate::replay::canvas::Text;
use crate::replay::class::Class;
use crate::replay::field::Field;
use crate::replay::navigation::{Motion, Stride};
use crate::replay::ruler::{self, Step, characters};
use crate::replay::simulate::{Effect, Habits};

/// What the cursor did on the way through some keys.
#[derive(Clone, Debug)]
pub(super) struct Trip {
    /// Each key, what it was, and how often.
    motions: Vec<(Key, Motion)>,
    step: Step,
    stride: Stride,
}

/// How many keys have done that, and whether the cursor was seen to stop on the last character of a line.
type Found = (usize, Trip, Option<bool>);

impl Replay {
    /// Returns what the first keys did to the cursor, if all of them are known to be motions.
    pub(super) fn trip(&self, count: usize, takes_commands: bool) -> Option<Trip> {
        let habits = Habits { takes_commands, ..self.habits() };
        let mut simulation = self.simulation_with(habits);
        let from = simulation.canvas.cursor;
        let mut motions = Vec::new();
        for event in self.log.iter().take(count) {
            let motion = simulation.motion(event.key)?;
            if simulation.apply(event.key) != Effect::Drawn || !simulation.stride.is_roaming {
                return None;
            }
            motions.push((event.key, motion));
        }
        let step = simulation.step_from(from);
        (count > 0).then_some(Trip { motions, step, stride: simulation.stride })
    }

    /// Takes that the cursor has arrived by motions, which are settled.
    pub(super) fn arrive(&mut self, now: Instant, screen: &Screen, trip: &Trip) {
        let (from, to) = (trip.step.from, trip.step.to);
        let pane = self.field.pane;
        let navigation = self.navigations.entry(self.field.place);
        for (key, motion) in &trip.motions {
            navigation.hit(*key, *motion, 1);
        }
        navigation.ruler.learn(&self.ground, screen, trip.step);
        navigation.has_tabs = navigation.has_tabs.or(has_no_tabs(screen, &trip.step));
        navigation.visit(screen, &pane, [from.row, to.row]);
        self.stride = trip.stride;
        for (key, _) in &trip.motions {
            self.note_passage(*key, screen);
        }
        if from.row != to.row {
            // What is asked for there may be something else.
            self.field = Field::default();
        }
        // Text that was typed here still ends where it did.
        if self.field.confirmed == 0 {
            self.field.reach = 0;
            if !self.field.has_name() {
                self.field = Field::default();
            }
        }
        self.take_ground(now, screen);
    }

    /// Looks whether keys of unknown effect have moved the cursor as motions do, and learns from it; returns
    /// whether there were any.
    pub(super) fn explore(&mut self, now: Instant, screen: &Screen) -> bool {
        if self.field.is_line() || self.field.is_secret || self.is_searching {
            return false;
        }
        let arrived = self.log.arrived(self.network.arrived);
        let keys = self.log.iter().take(arrived).map(|event| event.key);
        let motions: Vec<(Key, Motion)> =
            keys.map_while(|key| Motion::of(key).map(|motion| (key, motion))).collect();
        let found = match self.log.front().map(|event| event.key) {
            _ if !motions.is_empty() => {
                let mut counts = (1..=motions.len()).rev();
                counts.find_map(|count| self.recognize(screen, &motions[..count]))
            }
            Some(key @ Key::Text(_)) if self.field.confirmed == 0 => {
                let keys = self.log.iter().take(arrived);
                let run = keys.take_while(|event| event.key == key).count();
                // With others behind it, it may be one of them that has moved the cursor.
                if run == arrived { self.recognize_command(screen, key, run) } else { None }
            }
            _ => None,
        };
        let Some((count, trip, stops_on_last)) = found else { return false };
        if trip.motions.iter().any(|(key, _)| matches!(key, Key::Text(_))) {
            self.contexts.learn(self.field.context, Class::Text, false);
        }
        self.settle(count);
        let navigation = self.navigations.entry(self.field.place);
        navigation.stops_on_last = stops_on_last.or(navigation.stops_on_last);
        self.arrive(now, screen, &trip);
        true
    }

    /// Returns which motion of a letter has brought the cursor to where it is, if that is all it has done.
    fn recognize_command(&self, screen: &Screen, key: Key, run: usize) -> Option<Found> {
        let is_changed = |row: &u16| !characters(&self.ground, *row).eq(characters(screen, *row));
        let rows = [self.ground.cursor().row, screen.cursor().row];
        if rows.iter().any(is_changed) {
            return None;
        }
        let mut tries = (1..=run).rev().flat_map(|count| Motion::ALL.map(|motion| (count, motion)));
        let found = tries
            .find_map(|(count, motion)| self.recognize(screen, &vec![(key, motion); count]))?;
        ruler::is_all(&self.ground, screen, found.1.step).then_some(found)
    }

    /// Returns how motions have brought the cursor to where it is, if they have. Some may have done nothing, at an
    /// edge of the text.
    fn recognize(&self, screen: &Screen, keys: &[(Key, Motion)]) -> Option<Found> {
        let cursor = screen.cursor();
        let cursor = Position { row: cursor.row, column: cursor.column };
        // Most motions are the same in all editors.
        let habits = [None, Some(false), Some(true)].into_iter();
        let tries =
            habits.flat_map(|stops_on_last| [(stops_on_last, true), (stops_on_last, false)]);
        for (stops_on_last, is_bold) in tries {
            let mut simulation = self.simulation().trying(stops_on_last, is_bold);
            let from = simulation.canvas.cursor;
            let mut motions = keys.to_vec();
            motions.retain(|(_, motion)| simulation.navigate(*motion) == Effect::Drawn);
            let to = simulation.canvas.cursor;
            if to == cursor && to != from {
                let stride = Stride { is_roaming: true, ..simulation.stride };
                let trip = Trip { motions, step: simulation.step_from(from), stride };
                return Some((keys.len(), trip, stops_on_last));
            }
        }
        None
    }

    /// Takes that a key was answered, and not by the motion that it was believed to be.
    pub(super) fn note_failed_motion(&mut self, index: usize, was_shown: bool) {
        let Some(key) = self.log.iter().nth(index).map(|event| event.key) else { return };
        if self.navigations.of(self.field.place).is_some() {
            self.navigations.entry(self.field.place).miss(key, was_shown);
        }
    }
}

/// Returns whether blanks are no tabs, where the cursor stands among them.
fn has_no_tabs(screen: &Screen, step: &Step) -> Option<bool> {
    let to = step.to;
    let is_blank = |column| Text::of(screen, Position { column, ..to }).is_blank();
    let is_among = to.column > 0 && is_blank(to.column) && is_blank(to.column - 1);
    let has_text = (to.column..screen.size().columns()).any(|column| !is_blank(column));
    (is_among && has_text).then_some(false)
}
