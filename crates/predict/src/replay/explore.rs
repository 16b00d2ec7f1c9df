//! Finding out what keys do to the cursor of programs that draw on the whole screen.

use core::ops::Range;

use rove_terminal::{Position, Screen};
use rove_units::Instant;

use crate::keystroke::Key;
use crate::mechanism::Mechanism;
use crate::replay::Replay;
use crate::replay::canvas::{Text, is_changed};
use crate::replay::class::Class;
use crate::replay::field::Field;
use crate::replay::navigation::{Motion, Stride};
use crate::replay::ruler::{self, Step};
use crate::replay::simulate::{Effect, Habits, Simulation};

/// Most keys of which one screen is thought to show all motions. Chosen: two seconds of a key that is held down.
const KEYS_MAX: usize = 64;

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
        if count == 0 {
            return None;
        }
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
        Some(Trip { motions, step, stride: simulation.stride })
    }

    /// Takes that the cursor has arrived by motions, which are settled.
    pub(super) fn arrive(&mut self, now: Instant, screen: &Screen, trip: &Trip) {
        let (from, to) = (trip.step.from, trip.step.to);
        let pane = self.field.pane;
        self.learn_ruler(screen, trip.step, 0..0);
        let navigation = self.navigations.entry(self.field.place);
        for (key, motion) in &trip.motions {
            navigation.hit(*key, *motion, 1);
        }
        navigation.has_tabs = navigation.has_tabs.or(has_no_tabs(screen, &trip.step));
        navigation.visit(screen, &pane, [from.row, to.row]);
        self.stride = trip.stride;
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

    /// Learns from a step of the cursor which numbers follow it outside of a text, which stands in these rows.
    pub(super) fn learn_ruler(&mut self, screen: &Screen, step: Step, text: Range<u16>) {
        if self.has(Mechanism::Rulers) {
            let ruler = &mut self.navigations.entry(self.field.place).ruler;
            ruler.learn(&self.ground, screen, step, text);
        }
    }

    /// Looks whether keys of unknown effect have moved the cursor as motions do, and learns from it; returns
    /// whether there were any.
    pub(super) fn explore(&mut self, now: Instant, screen: &Screen) -> bool {
        let may_roam = !self.field.is_line() && !self.field.is_secret && !self.is_searching;
        if !may_roam || !self.has(Mechanism::Motions) {
            return false;
        }
        let arrived = self.log.arrived(self.network.arrived);
        let keys = self.log.iter().take(arrived).map(|event| event.key);
        let motions = keys.map_while(|key| Motion::of(key).map(|motion| (key, motion)));
        let motions: Vec<(Key, Motion)> = motions.take(KEYS_MAX).collect();
        let found = match self.log.front().map(|event| event.key) {
            _ if !motions.is_empty() => self.recognize(screen, &motions),
            Some(key @ Key::Text(_)) if self.field.confirmed == 0 => {
                let keys = self.log.iter().take(arrived);
                let run = keys.take_while(|event| event.key == key).count();
                // With others behind it, it may be one of them that has moved the cursor.
                let is_alone = run == arrived && run <= KEYS_MAX;
                if is_alone { self.recognize_command(screen, key, run) } else { None }
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
        let rows = [self.ground.cursor().row, screen.cursor().row];
        if rows.into_iter().any(|row| is_changed(&self.ground, screen, row)) {
            return None;
        }
        let [from, to] = [&self.ground, screen].map(|screen| screen.cursor().position());
        let motions = Motion::ALL.into_iter().filter(|motion| motion.may_lead(from, to));
        let tries = motions.filter_map(|motion| self.recognize(screen, &vec![(key, motion); run]));
        // Of equals `max_by_key` returns the last.
        let found = tries.collect::<Vec<_>>().into_iter().rev().max_by_key(|(count, ..)| *count)?;
        ruler::is_all(&self.ground, screen, found.1.step).then_some(found)
    }

    /// Returns how motions have brought the cursor to where it is, the most of the first ones that may have. Some may
    /// have done nothing, at an edge of the text.
    fn recognize(&self, screen: &Screen, keys: &[(Key, Motion)]) -> Option<Found> {
        // Most motions are the same in all editors.
        let habits = [None, Some(false), Some(true)].into_iter();
        let tries =
            habits.flat_map(|stops_on_last| [(stops_on_last, true), (stops_on_last, false)]);
        let mut found: Option<Found> = None;
        for (stops_on_last, is_bold) in tries {
            let simulation = self.simulation().trying(stops_on_last, is_bold);
            let Some((count, trip)) = follow(simulation, keys, screen.cursor().position()) else {
                continue;
            };
            if found.as_ref().is_none_or(|(most, ..)| count > *most) {
                found = Some((count, trip, stops_on_last));
            }
        }
        found
    }

    /// Takes that a key was answered, and not by the motion that it was believed to be.
    pub(super) fn note_failed_motion(&mut self, index: usize, was_shown: bool) {
        let Some(key) = self.log.iter().nth(index).map(|event| event.key) else { return };
        if self.navigations.of(self.field.place).is_some() {
            self.navigations.entry(self.field.place).miss(key, was_shown);
        }
    }
}

/// Returns how many of the first motions lead to a place, the most of them, and how.
fn follow(
    mut simulation: Simulation<'_>,
    keys: &[(Key, Motion)],
    place: Position,
) -> Option<(usize, Trip)> {
    let from = simulation.canvas.cursor;
    let mut motions = Vec::new();
    let mut found = None;
    let mut stuck = None;
    for (count, (key, motion)) in (1..).zip(keys) {
        // What did nothing does nothing again.
        if stuck != Some(motion) {
            let is_drawn = simulation.navigate(*motion) == Effect::Drawn;
            stuck = (!is_drawn).then_some(motion);
            motions.extend(is_drawn.then_some((*key, *motion)));
        }
        let to = simulation.canvas.cursor;
        if to == place && to != from {
            let stride = Stride { is_roaming: true, ..simulation.stride };
            found = Some((count, motions.len(), simulation.step_from(from), stride));
        }
    }
    let (count, drawn, step, stride) = found?;
    motions.truncate(drawn);
    Some((count, Trip { motions, step, stride }))
}

/// Returns whether blanks are no tabs, where the cursor stands among them.
fn has_no_tabs(screen: &Screen, step: &Step) -> Option<bool> {
    let to = step.to;
    let is_blank = |column| Text::of(screen, Position { column, ..to }).is_blank();
    let is_among = to.column > 0 && is_blank(to.column) && is_blank(to.column - 1);
    let has_text = (to.column..screen.size().columns()).any(|column| !is_blank(column));
    (is_among && has_text).then_some(false)
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Size, Terminal};
    use rove_units::Duration;

    use super::*;
    use crate::engine::{InputNum, Network};
    use crate::policy::Prediction;

    #[test]
    fn no_more_motions_are_looked_for_in_one_screen_than_the_bound() {
        for (keys, count, is_found) in [
            ("\x1b[C", KEYS_MAX, true),
            ("\x1b[C", KEYS_MAX + 1, false),
            ("l", KEYS_MAX, true),
            ("l", KEYS_MAX + 1, false),
        ] {
            let size = Size::new(100, 24).unwrap();
            let mut host = Terminal::host(size);
            host.write(format!("\x1b[?1049h{}\x1b[1;1H", "some text ".repeat(9)).as_bytes());
            let mut replay = Replay::new(Prediction::default(), size);
            let at = Instant::from_millis;
            replay.frame(at(0), &host.snapshot());
            replay.handle_keys(at(1000), InputNum::new(0), keys.repeat(count).as_bytes());
            host.write("\x1b[C".repeat(count).as_bytes());
            let arrived = InputNum::new(1);
            let send_interval = Duration::from_millis(100);
            replay.handle_network(Network { arrived, echo_ack: InputNum::new(0), send_interval });
            replay.frame(at(1100), &host.snapshot());
            let is_known = replay.navigations.of(replay.field.place).is_some();
            assert_eq!(is_known, is_found, "{count} of {keys:?}");
        }
    }
}
