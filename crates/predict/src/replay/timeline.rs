//! Simulates the pending keys in order: the effect of each key, and the proof that a run of keys gives.

use rove_terminal::{Key, Position, Screen};

use crate::replay::base::Base;
use crate::replay::canvas::Canvas;
use crate::replay::class::{Class, Effect};
use crate::replay::cursor_probe::CursorProbe;
use crate::replay::history_cursor::HistoryCursor;
use crate::replay::layout::{Crossing, Layout};
use crate::replay::log::Event;
use crate::replay::motion::Motion;
use crate::replay::simulate::Simulation;
use crate::scene::is_mask;
use crate::scene::text::Text;

/// The simulated effects of keys, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Timeline<'a> {
    pub(super) steps: Vec<Step>,
    /// The simulation after all of the keys.
    pub(super) end: Simulation<'a>,
}

/// A simulated key, and the position at which it was typed.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) event: Event,
    pub(super) class: Class,
    /// The input column of the cursor when the key was typed. `at` is the cursor's position on the screen.
    place: u16,
    pub(super) at: Position,
    pub(super) effect: Effect,
    /// The motion over the whole screen that the key caused. `None` if it caused none.
    pub(super) motion: Option<Motion>,
}

/// The facts that are proven if a screen shows the effects of the first keys.
#[derive(Clone, Debug)]
pub(super) struct Proven {
    /// How many keys the screen shows.
    pub(super) count: usize,
    /// The row of the cursor after the keys, on the base screen. The new screen may have the same text in another row.
    pub(super) row: u16,
    /// The keys whose effects are visible on the screen.
    pub(super) steps: Vec<Step>,
    /// The last key's character and its position, if the screen has the character there and every key has drawn
    /// something.
    pub(super) typed: Option<(char, Position)>,
    /// The path of the cursor. `None` unless all keys were motions.
    pub(super) probe: Option<CursorProbe>,
    /// The class of the key that made a suggestion unknown. `None` if there is no such key.
    pub(super) lost: Option<Class>,
    /// The position of the line editor in its history.
    pub(super) history_cursor: HistoryCursor,
    /// The rows that the input occupies after the keys.
    pub(super) layout: Layout,
    /// The input column after the text, and whether the cursor waits on the last character of a full row.
    pub(super) end: u16,
    pub(super) waits: bool,
    /// The bracket to which the cursor may jump for a moment, and the input column where the next key is typed.
    pub(super) flash: Option<(Position, u16)>,
    /// The signs that the input has continued in the next row. `None` if the keys have changed one row only.
    pub(super) crossing: Option<Crossing>,
}

impl Timeline<'_> {
    /// Simulates a key. A key of unknown effect changes nothing, and is not recorded.
    pub(super) fn play(&mut self, event: &Event) -> Effect {
        let simulation = &mut self.end;
        let (place, at) = (simulation.column(), simulation.canvas.cursor);
        let class = simulation.class_of(event.key);
        let motion = simulation.motion(event.key);
        let effect = simulation.apply(event.key);
        if effect != Effect::Unknown {
            let motion =
                motion.filter(|_| effect == Effect::Drawn && simulation.motions.has_navigated);
            self.steps.push(Step { event: event.clone(), class, place, at, effect, motion });
        }
        effect
    }
}

impl Proven {
    /// Returns what the keys `steps`, simulated on `base`, prove if `screen` shows their result, `end`.
    pub(super) fn of(steps: &[Step], end: &Simulation<'_>, base: &Base, screen: &Screen) -> Self {
        // Characters that are not on the screen, such as an erased one, prove nothing. Neither do masking characters.
        let (canvas, layout) = (&end.canvas, end.bounds.layout);
        let has_changed =
            canvas.cursor != Canvas::new(&base.screen).cursor || !canvas.agrees(&base.screen);
        // The row may have moved, by as many rows as the cursor.
        let (from, to) = (canvas.cursor.row, screen.cursor().row);
        let is_seen = |text: Text<'_>, at: Position| {
            let moved = Position { row: (at.row + to).saturating_sub(from), ..at };
            [at, moved].into_iter().any(|at| Text::of(screen, at) == text)
        };
        let is_proof = |step: &&Step| match step.event.key {
            _ if step.effect != Effect::Drawn => false,
            Key::Text(c) => {
                let text = Text::plain(c);
                !is_mask(c)
                    && !text.is_blank()
                    && canvas.text(layout.at(step.place)) == text
                    && is_seen(text, layout.at(step.place))
                    && Text::of(&base.screen, step.at) != text
            }
            _ => has_changed,
        };
        let motions = steps.iter().map(|step| Some((step.event.key, step.motion?)));
        let motions = motions.collect::<Option<_>>();
        Self {
            count: steps.len(),
            row: canvas.cursor.row,
            steps: steps.iter().filter(is_proof).cloned().collect(),
            typed: last_typed(steps, screen),
            probe: steps
                .first()
                .zip(motions)
                .map(|(it, motions)| CursorProbe::new(it.at, motions, end)),
            lost: end.suggestion.lost(),
            history_cursor: end.history_cursor,
            layout,
            end: end.bounds.end,
            waits: end.waits(),
            flash: end.flash.map(|at| (at, end.column())),
            crossing: end.crosses.then(|| end.crossing()),
        }
    }
}

/// Returns the value of [`Proven::typed`]: the last key's character and its position.
fn last_typed(steps: &[Step], screen: &Screen) -> Option<(char, Position)> {
    let last = steps.last()?;
    let Key::Text(base) = last.event.key else { return None };
    let is_drawn = steps.iter().all(|step| step.effect == Effect::Drawn);
    let is_shown =
        last.at.row == screen.cursor().row && Text::of(screen, last.at) == Text::plain(base);
    (is_drawn && is_shown).then_some((base, last.at))
}
