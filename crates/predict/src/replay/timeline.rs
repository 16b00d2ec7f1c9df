//! A pass over keys that a screen shows: the effect of each, and the proof that all together give.

use rove_terminal::{Position, Screen};
use rove_units::Instant;

use crate::keystroke::Key;
use crate::replay::base::Base;
use crate::replay::canvas::Canvas;
use crate::replay::class::Class;
use crate::replay::layout::{Crossing, Layout};
use crate::replay::log::Event;
use crate::replay::motion::Motion;
use crate::replay::simulate::{Effect, Simulation};
use crate::replay::walk::Walk;
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
    pub(super) key: Key,
    pub(super) class: Class,
    /// The place of the cursor, and where that was.
    place: u16,
    pub(super) at: Position,
    pub(super) effect: Effect,
    /// The motion on the whole screen that it was, if it was one.
    pub(super) motion: Option<Motion>,
    pub(super) typed_at: Instant,
    pub(super) due_at: Option<Instant>,
    /// Whether a screen may have shown it before.
    pub(super) is_doubtful: bool,
}

/// The proof that keys give which have come true.
#[derive(Clone, Debug)]
pub(super) struct Proven {
    /// The keys that have left a trace.
    pub(super) steps: Vec<Step>,
    /// How far its line editor was taken back through its lines.
    pub(super) walk: Walk,
    /// Where the input ends by now.
    pub(super) layout: Layout,
    pub(super) end: u16,
    pub(super) waits: bool,
    /// The traces of the edge of a row, if the keys went over it.
    pub(super) crossing: Option<Crossing>,
}

impl<'a> Timeline<'a> {
    /// Plays keys.
    pub(super) fn of<'b>(
        mut simulation: Simulation<'a>,
        events: impl Iterator<Item = &'b Event>,
    ) -> Self {
        let steps = events.map(|event| {
            let (place, at) = (simulation.place(), simulation.canvas.cursor);
            let class = simulation.class_of(event.key);
            let motion = simulation.motion(event.key);
            let effect = simulation.apply(event.key);
            let motion = motion.filter(|_| effect == Effect::Drawn && simulation.stride.is_roaming);
            let Event { key, at: typed_at, due_at, is_doubtful, .. } = *event;
            Step { key, class, place, at, effect, motion, typed_at, due_at, is_doubtful }
        });
        let steps = steps.collect();
        Self { steps, end: simulation }
    }

    /// Returns the last key and where it was typed, if it is a character, all keys have drawn something, and the screen has
    /// the character there.
    pub(super) fn last_typed(&self, screen: &Screen) -> Option<(char, Position)> {
        let last = self.steps.last()?;
        let Key::Text(base) = last.key else { return None };
        let is_drawn = self.steps.iter().all(|step| step.effect == Effect::Drawn);
        let is_shown =
            last.at.row == screen.cursor().row && Text::of(screen, last.at) == Text::plain(base);
        (is_drawn && is_shown).then_some((base, last.at))
    }

    /// Returns what is proven where a screen shows the end.
    pub(super) fn proven(self, base: &Base) -> Proven {
        let Self { mut steps, end } = self;
        // Characters that have left no trace, such as one that was taken back, prove nothing, and neither does a star: it
        // may stand for any other character.
        let canvas = &end.canvas;
        let has_changed =
            canvas.cursor != Canvas::new(&base.screen).cursor || !canvas.agrees(&base.screen);
        let is_proof = |step: &Step| match step.key {
            Key::Text(c) => {
                let text = Text::plain(c);
                !is_mask(c)
                    && !text.is_blank()
                    && canvas.text(end.layout().at(step.place)) == text
                    && Text::of(&base.screen, step.at) != text
            }
            _ => has_changed,
        };
        steps.retain(|step| step.effect == Effect::Drawn && is_proof(step));
        Proven {
            steps,
            walk: end.walk(),
            layout: end.layout(),
            end: end.end(),
            waits: end.waits(),
            crossing: end.crosses.then(|| end.crossing()),
        }
    }
}
