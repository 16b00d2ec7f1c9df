//! Learns which keys move the cursor in full-screen programs.

use rove_terminal::{Key, Position, Screen};

use crate::replay::base::Base;
use crate::replay::class::Effect;
use crate::replay::motion::{Motion, Step};
use crate::replay::navigation::Navigation;
use crate::replay::simulate::Simulation;

/// Most keys whose motions are inferred from a single screen. Chosen: two seconds of a key that is held down.
const KEYS_MAX: usize = 64;

/// The path on which consecutive motion keys have moved the cursor.
#[derive(Clone, Debug)]
pub(super) struct CursorProbe {
    /// The keys that moved the cursor, each with its motion.
    motions: Vec<(Key, Motion)>,
    step: Step,
    /// The column to which motions up and down return in a row that is long enough. `None` after another motion.
    pub(super) goal: Option<u16>,
    /// Whether the cursor was observed to stop on the last character of a line. `None` if that was not visible.
    stops_on_last: Option<bool>,
}

impl CursorProbe {
    /// Creates the path of a cursor that `motions` have moved from `from` to its position in the simulation `end`.
    pub(super) fn new(from: Position, motions: Vec<(Key, Motion)>, end: &Simulation<'_>) -> Self {
        let (step, goal) = (end.step_from(from), end.motions.goal());
        Self { motions, step, goal, stops_on_last: None }
    }

    /// Returns whether the cursor ended in another row than it began.
    pub(super) const fn has_climbed(&self) -> bool {
        self.step.from.row != self.step.to.row
    }

    /// Records the motions in a window's model and, if `rulers` is true, the numbers that show the cursor's position.
    pub(super) fn teach(
        &self,
        navigation: &mut Navigation,
        base: &Base,
        screen: &Screen,
        rulers: bool,
    ) {
        if rulers {
            navigation.ruler.learn(&base.screen, screen, self.step);
        }
        for (key, motion) in &self.motions {
            navigation.hit(*key, *motion);
        }
        navigation.stops_on_last = self.stops_on_last.or(navigation.stops_on_last);
        let rows = [self.step.from.row, self.step.to.row];
        navigation.visit(screen, &base.field.bounds.pane, rows);
    }
}

/// Returns how many of `keys` have moved the cursor to its place on `screen`, and the cursor's path. The keys' names
/// suggest the motions. All `keys` have reached the host, in this order. `None` if no number of keys fits.
pub(super) fn find(
    simulation: &Simulation<'_>,
    keys: &[Key],
    screen: &Screen,
) -> Option<(usize, CursorProbe)> {
    let motions = keys.iter().map_while(|key| Motion::of(*key).map(|motion| (*key, motion)));
    let motions: Vec<(Key, Motion)> = motions.take(KEYS_MAX).collect();
    if motions.is_empty() {
        return None;
    }
    // Three habits are tried. The cursor stops as already known, after the last character of a line, or on it.
    let habits = [None, Some(false), Some(true)].into_iter();
    let tries = habits.flat_map(|stops_on_last| [(stops_on_last, true), (stops_on_last, false)]);
    let mut found: Option<(usize, CursorProbe)> = None;
    for (stops_on_last, is_bold) in tries {
        let mut simulation = simulation.clone();
        simulation.motions = simulation.motions.trying(stops_on_last, is_bold);
        let Some((count, probe)) = follow(simulation, &motions, screen.cursor().position()) else {
            continue;
        };
        if found.as_ref().is_none_or(|(most, _)| count > *most) {
            found = Some((count, CursorProbe { stops_on_last, ..probe }));
        }
    }
    found
}

/// Returns how many of the first `keys` move the cursor to `place`, and the cursor's path. `None` if no number fits.
fn follow(
    mut simulation: Simulation<'_>,
    keys: &[(Key, Motion)],
    place: Position,
) -> Option<(usize, CursorProbe)> {
    let from = simulation.canvas.cursor;
    let mut motions = Vec::new();
    let mut found = None;
    let mut stuck = None;
    for (count, (key, motion)) in (1..).zip(keys) {
        // A motion without effect has no effect when repeated.
        if stuck != Some(motion) {
            let is_drawn = simulation.navigate(*motion) == Effect::Drawn;
            stuck = (!is_drawn).then_some(motion);
            motions.extend(is_drawn.then_some((*key, *motion)));
        }
        let to = simulation.canvas.cursor;
        if to == place && to != from {
            found =
                Some((count, motions.len(), simulation.step_from(from), simulation.motions.goal()));
        }
    }
    let (count, drawn, step, goal) = found?;
    motions.truncate(drawn);
    Some((count, CursorProbe { motions, step, goal, stops_on_last: None }))
}

#[cfg(test)]
mod tests {
    use rove_terminal::{InputNum, Size, Terminal};
    use rove_units::{Duration, Instant};

    use super::*;
    use crate::engine::Engine;
    use crate::network::Network;
    use crate::policy::Prediction;
    use crate::replay::Replay;

    #[test]
    fn no_more_motions_are_looked_for_in_one_screen_than_the_bound() {
        for (keys, count, is_found) in [("\x1b[C", KEYS_MAX, true), ("\x1b[C", KEYS_MAX + 1, false)]
        {
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
            replay.handle_network(Network {
                arrived,
                echo_ack: InputNum::new(0),
                send_interval,
                srtt: None,
            });
            replay.frame(at(1100), &host.snapshot());
            let is_known =
                replay.state.learned.navigations.find(&replay.state.base.field.place).is_some();
            assert_eq!(is_known, is_found, "{count} of {keys:?}");
        }
    }
}
