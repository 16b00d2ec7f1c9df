//! A pass over the keys on their way: the effect of each, and the proof that a run of them gives.

use rove_terminal::{Position, Screen};

use crate::keystroke::Key;
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

/// The effects of keys, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Timeline<'a> {
    pub(super) steps: Vec<Step>,
    /// How the screen is after all of them.
    pub(super) end: Simulation<'a>,
}

/// A key, and where it was typed.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) event: Event,
    pub(super) class: Class,
    /// The place of the cursor, and where that was.
    place: u16,
    pub(super) at: Position,
    pub(super) effect: Effect,
    /// The motion on the whole screen that it was, if it was one.
    pub(super) motion: Option<Motion>,
}

/// The proof that the first keys give where a screen shows what they do.
#[derive(Clone, Debug)]
pub(super) struct Proven {
    /// How many they are.
    pub(super) count: usize,
    /// The row in which they leave the cursor on the base; on the screen it may be another that the text has moved to.
    pub(super) row: u16,
    /// The keys that have left a trace.
    pub(super) steps: Vec<Step>,
    /// The last of them and where it was typed, if it is a character that the screen has there and all have drawn something.
    pub(super) typed: Option<(char, Position)>,
    /// The cursor's way, if all were motions.
    pub(super) probe: Option<CursorProbe>,
    /// The class of a key after which a suggestion goes or stays.
    pub(super) lost: Option<Class>,
    /// How far its line editor was taken back through its lines.
    pub(super) history_cursor: HistoryCursor,
    /// Where the input ends by now.
    pub(super) layout: Layout,
    pub(super) end: u16,
    pub(super) waits: bool,
    /// The bracket on which the cursor may stand for a moment, and the place of the input at which the next key is typed.
    pub(super) flash: Option<(Position, u16)>,
    /// The traces of the edge of a row, if the keys went over it.
    pub(super) crossing: Option<Crossing>,
}

impl Timeline<'_> {
    /// Plays a key. A key of unknown effect changes nothing and is not kept.
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
    /// Returns the proof that keys give which were played on a base, where the screen shows the end.
    pub(super) fn of(steps: &[Step], end: &Simulation<'_>, base: &Base, screen: &Screen) -> Self {
        // Characters that have left no trace, such as one that was taken back, prove nothing, and neither does a star: it
        // may stand for any other character.
        let (canvas, layout) = (&end.canvas, end.bounds.layout);
        let has_changed =
            canvas.cursor != Canvas::new(&base.screen).cursor || !canvas.agrees(&base.screen);
        // The row may have moved, by as much as the cursor has.
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

/// Returns the last key and where it was typed, if it is a character, all keys have drawn something, and the screen has the
/// character there.
fn last_typed(steps: &[Step], screen: &Screen) -> Option<(char, Position)> {
    let last = steps.last()?;
    let Key::Text(base) = last.event.key else { return None };
    let is_drawn = steps.iter().all(|step| step.effect == Effect::Drawn);
    let is_shown =
        last.at.row == screen.cursor().row && Text::of(screen, last.at) == Text::plain(base);
    (is_drawn && is_shown).then_some((base, last.at))
}
