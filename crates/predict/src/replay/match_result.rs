//! How many of the pending keys the newest screen shows.

use rove_terminal::{InputNum, Key, Screen};

use crate::replay::class::{Effect, is_enter};
use crate::replay::history_cursor::Line;
use crate::replay::latency::Latency;
use crate::replay::log::Event;
use crate::replay::pending_keys::PendingKeys;
use crate::replay::simulate::Simulation;
use crate::replay::timeline::{Proven, Timeline};

/// How many of the pending keys a screen shows.
#[derive(Clone, Debug)]
pub(super) struct MatchResult {
    /// The keys whose effects the screen shows. `None` if it agrees with no number of keys, not even 0.
    pub(super) shown: Option<Proven>,
    pub(super) barrier: Option<Barrier>,
}

/// The first arrived key of unknown effect.
#[derive(Clone, Debug)]
pub(super) struct Barrier {
    pub(super) index: usize,
    pub(super) key: Key,
    /// The input that contains the key.
    pub(super) input: InputNum,
    /// Whether the screen has everything that the keys before this one draw.
    pub(super) is_reached: bool,
    /// Whether the screen also has the cursor where the earlier keys put it, so that this key has not moved it.
    pub(super) is_still: bool,
    pub(super) before: Proven,
    /// Whether the earlier keys leave the input empty.
    pub(super) is_empty: bool,
    /// The line that the key ends, if it ends one, and its row's text with the prompt, if the line has only one row.
    pub(super) line: Option<(Line, Option<Line>)>,
}

impl MatchResult {
    /// Simulates the keys on the base, one after the other, and finds the largest number of keys that explains the
    /// screen.
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
        // If text has appeared or disappeared, the screen is not unchanged.
        let is_unchanged = shown.is_some() && !base.has_moved(screen);
        let (mut due_cursor, mut due_agrees) = (start, is_unchanged);
        let mut has_line = None;
        // Keys that have not arrived cannot have had an effect.
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
                // The row may have scrolled, or moved for text that is printed above.
                canvas.cursor.column == cursor.column
                    && simulation.agrees_elsewhere(screen, cursor.row)
            };
            if count <= due {
                (due_cursor, due_agrees) = (canvas.cursor, agrees);
            }
            // A screen shows nothing of a key that had not arrived when it was sent. A key that is not acknowledged
            // must have moved the cursor to count as shown.
            let may_show = event.input <= pending.arrived;
            // The screen is the same before text was typed and after the text was erased. The second is unlikely while
            // the host may still have to echo the text, and where it would come too soon.
            let is_second = is_unchanged || shown.as_ref().is_some_and(|(count, _)| *count > 0);
            let age = latency.age_when_heard(event.at);
            let is_early = is_second && (count > due || latency.is_too_soon(age));
            let is_news = count <= due || canvas.cursor != due_cursor || !due_agrees;
            if agrees && may_show && is_news && !is_early {
                shown = Some((count, simulation.clone()));
            }
        }
        let Timeline { steps, end } = timeline;
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
