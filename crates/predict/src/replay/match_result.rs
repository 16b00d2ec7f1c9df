//! Determines how many of the pending keys the newest screen shows.

use rove_terminal::{InputNum, Key, Screen};

use crate::replay::class::{Effect, is_enter};
use crate::replay::history_cursor::Line;
use crate::replay::latency::Latency;
use crate::replay::log::Event;
use crate::replay::pending_keys::PendingKeys;
use crate::replay::simulate::Simulation;
use crate::replay::timeline::{Proven, Timeline};

/// The pending keys that a screen shows, and the first key of unknown effect.
#[derive(Clone, Debug)]
pub(super) struct MatchResult {
    /// The keys whose effects the screen shows. `None` if the screen agrees with no number of keys, not even 0.
    pub(super) shown: Option<Proven>,
    pub(super) barrier: Option<Barrier>,
}

/// The first key of unknown effect that has reached the host.
#[derive(Clone, Debug)]
pub(super) struct Barrier {
    pub(super) index: usize,
    pub(super) key: Key,
    /// The number of the first input that contains the key.
    pub(super) input: InputNum,
    /// Whether the screen shows everything that the earlier keys draw. False without an earlier key.
    pub(super) is_reached: bool,
    /// Whether the cursor is also where the earlier keys put it, so that this key has not moved it.
    pub(super) is_still: bool,
    pub(super) before: Proven,
    /// Whether the input is empty after the earlier keys.
    pub(super) is_empty: bool,
    /// The line that the key ends, if it ends one, and the text of its row with the prompt. `None` for several rows.
    pub(super) line: Option<(Line, Option<Line>)>,
}

impl MatchResult {
    /// Simulates the keys on the base in order, and finds the largest number of keys that explains the screen.
    pub(super) fn of(pending: &PendingKeys<'_>, latency: &Latency, screen: &Screen) -> Self {
        let PendingKeys { base, log, .. } = *pending;
        let cursor = screen.cursor().position();
        let due = log.due();
        let mut timeline = Timeline { steps: Vec::new(), end: pending.start() };
        let start = timeline.end.canvas.cursor;
        let is_moved = start.row != cursor.row
            && start.column == cursor.column
            && timeline.end.agrees_elsewhere(screen, cursor.row);
        let may_stay = timeline.end.is_at(cursor) || is_moved;
        let mut shown = may_stay.then(|| (0, timeline.end.clone()));
        let is_unchanged = !base.has_moved(screen);
        let mut has_line = None;
        // Keys that have not reached the host cannot have had an effect.
        let arrived = log.arrived(pending.arrived).max(due);
        let mut barrier = None;
        for (count, event) in (1..).zip(log.iter().take(arrived)) {
            if timeline.play(event) == Effect::Unknown {
                barrier = Some(event);
                break;
            }
            let simulation = &timeline.end;
            let canvas = &simulation.canvas;
            let agrees = if canvas.cursor.row == cursor.row {
                simulation.is_at(cursor)
                    && canvas.agrees(screen)
                    && (canvas.is_written()
                        || *has_line.get_or_insert_with(|| base.has_line(screen)))
            } else if simulation.motions.has_climbed() {
                false
            } else {
                // The row may have scrolled, or moved down because text is printed above it.
                canvas.cursor.column == cursor.column
                    && simulation.agrees_elsewhere(screen, cursor.row)
            };
            // A screen cannot show a key that reached the host after the screen was sent.
            if !agrees || event.input > pending.arrived {
                continue;
            }
            // Text that was typed and erased again leaves the screen as before. Until its echo is due, or if the screen
            // comes too soon, the screen counts as older, unless it has text that only more keys explain.
            let is_second = shown.as_ref().is_some_and(|(count, fewer)| {
                (is_unchanged || *count > 0) && !canvas.explains_more(&fewer.canvas, screen)
            });
            let is_too_soon = || latency.is_too_soon(latency.age_when_heard(event.at));
            if !is_second || count <= due && !is_too_soon() {
                shown = Some((count, simulation.clone()));
            }
        }
        let Timeline { steps, end } = timeline;
        if barrier.is_some() && end.canvas.cursor.row == cursor.row {
            // The key of unknown effect has moved the cursor back over the text of the earlier keys.
            shown = shown.filter(|(_, fewer)| !end.canvas.explains_more(&fewer.canvas, screen));
        }
        let prove =
            |count: usize, end: &Simulation<'_>| Proven::of(&steps[..count], end, base, screen);
        let is_reached = !steps.is_empty() && end.canvas.agrees(screen);
        let barrier = barrier.map(|&Event { key, input, .. }| Barrier {
            index: steps.len(),
            key,
            input,
            is_reached,
            is_still: is_reached && end.is_at(cursor),
            is_empty: end.bounds.is_empty(),
            line: is_enter(key).then(|| (Line::new(&end.text().line()), end.text().row())),
            before: prove(steps.len(), &end),
        });
        Self { shown: shown.map(|(count, end)| prove(count, &end)), barrier }
    }
}
