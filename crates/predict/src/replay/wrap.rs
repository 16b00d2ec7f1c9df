//! Input that goes on over the edge of its row as most line editors let it: in the first column of the pane's next row, to
//! which the cursor goes as soon as a row is full. Other programs do other things there, so that nothing is shown beyond
//! the edge before this was seen, at each kind of prompt.

use rove_terminal::{Position, Screen};

use crate::keystroke::Key;
use crate::replay::base::Base;
use crate::replay::evidence::Share;
use crate::replay::field::Field;
use crate::replay::id::{ContextKey, NAMES_MAX, PromptId};
use crate::replay::layout::Crossing;
use crate::replay::memory::Memory;
use crate::replay::simulate::{Effect, Habits, Simulation};
use crate::scene::text::Text;

/// The knowledge of one kind of prompt.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WrapBehaviour {
    /// How often the input went on so, and how often not.
    share: Share,
    /// Whether all text was seen to move up for a new row at the bottom.
    pub(super) scrolls: bool,
    /// Whether the cursor waits at the edge for the next character, as where the terminal alone goes on. Nothing is shown
    /// there, but known, so that what the screen shows already is not shown again.
    pub(super) is_lazy: bool,
}

/// The prompts at which input was seen to go on.
#[derive(Clone, Debug, Default)]
pub(super) struct Wraps {
    known: Memory<PromptId, WrapBehaviour, NAMES_MAX>,
    /// The columns up to which rows were filled before words were moved to the next one.
    widths: Memory<PromptId, u16, NAMES_MAX>,
}

impl Wraps {
    /// Returns what is known of a prompt, or of those that end alike.
    pub(super) fn find(&self, key: ContextKey) -> Option<WrapBehaviour> {
        self.known.find(&key.strong).or_else(|| self.known.find(&key.weak)).copied()
    }

    /// Called when the input went on.
    pub(super) fn learn(&mut self, key: ContextKey, crossing: Crossing) {
        for name in key.names() {
            let wrap = self.known.entry(name);
            if wrap.is_lazy != crossing.is_lazy {
                *wrap = WrapBehaviour { is_lazy: crossing.is_lazy, ..WrapBehaviour::default() };
            }
            if crossing.is_proof {
                wrap.share.add(true);
            }
            wrap.scrolls |= crossing.has_scrolled;
        }
    }

    /// Returns whether a character typed at a column may begin a row with its word.
    pub(super) fn may_break(&self, key: ContextKey, column: u16) -> bool {
        self.widths.find(&key.weak).is_some_and(|width| column >= *width)
    }

    /// Called when text stands up to a column, or was moved from there to the next row.
    pub(super) fn note_width(&mut self, key: ContextKey, column: u16, is_broken: bool) {
        if is_broken {
            *self.widths.entry(key.weak) = column;
        } else if let Some(width) = self.widths.find_mut(&key.weak) {
            *width = column.max(*width);
        }
    }

    /// Called when the input did not go on as it was thought to.
    pub(super) fn doubt(&mut self, key: ContextKey) {
        for name in key.names() {
            if let Some(wrap) = self.known.find_mut(&name) {
                wrap.share.add(false);
            }
        }
    }
}

/// The prior of what was seen once.
const SEEN: Share = Share { right: 10.0, wrong: 0.1 };

impl WrapBehaviour {
    /// Returns whether keys are shown beyond the edge, if so large a share of them must have come true.
    pub(super) fn is_shown(self, threshold: f32) -> bool {
        !self.is_lazy && self.share.right >= 1.0 && self.share.estimate(SEEN) >= threshold
    }
}

/// Returns whether a key at the edge may have been answered: its character stands there, and the cursor waits on it.
pub(super) fn waits_at_edge(base: &Base, screen: &Screen, key: Key) -> bool {
    let at = screen.cursor().position();
    let Key::Text(c) = key else { return false };
    at.column + 1 == base.field.bounds.pane.right
        && Text::of(screen, at) == Text::plain(c)
        && Text::of(&base.screen, at) != Text::plain(c)
}

/// Returns whether keys have gone on with a word that stands in a row of its own by now, below what stood before it.
pub(super) fn is_broken(base: &Base, keys: &[Key], screen: &Screen) -> bool {
    let text = |screen: &Screen, row, end| -> String {
        let columns = base.field.bounds.left..end;
        columns.filter_map(|column| Text::of(screen, Position { row, column }).base).collect()
    };
    let (from, to) = (base.screen.cursor(), screen.cursor());
    let above = text(screen, to.row.saturating_sub(1), base.field.bounds.pane.right);
    let below = text(screen, to.row, to.column);
    let mut typed = text(&base.screen, from.row, from.column);
    let is_text = |key: &&Key| matches!(key, Key::Text(_));
    let is_moved = |key: &Key| {
        typed.extend(if let Key::Text(c) = key { Text::plain(*c).base } else { None });
        typed.strip_prefix(above.as_str()) == Some(below.as_str())
    };
    let may_be = !base.field.is_line() && !above.is_empty() && !below.is_empty();
    may_be && keys.iter().take_while(is_text).any(is_moved)
}

/// Finds out whether keys have gone on over the edge in a way that was not known, and returns the field as it is then; `keys`
/// are those that had arrived.
pub(super) fn discover(
    base: &Base,
    habits: Habits<'_>,
    keys: &[Key],
    screen: &Screen,
) -> Option<(Field, Crossing)> {
    if base.field.bounds.is_bounded {
        return None;
    }
    let mut field = base.field.clone();
    field.lay_out();
    let known = base.field.wrap.map(|wrap| wrap.is_lazy);
    let first = known.unwrap_or_default();
    let crossing = [first, !first].into_iter().find_map(|is_lazy| {
        let habits =
            Habits { goes_on: true, is_lazy, scrolls: true, takes_commands: false, ..habits };
        goes_on(Simulation::new(&base.screen, &field, habits), base, keys, screen)
    })?;
    (known != Some(crossing.is_lazy)).then_some((field, crossing))
}

/// Returns what the screen shows of the edge, if keys have gone on over it in the way of a simulation.
fn goes_on(
    mut simulation: Simulation<'_>,
    base: &Base,
    keys: &[Key],
    screen: &Screen,
) -> Option<Crossing> {
    let mut found = None;
    for key in keys.iter().copied() {
        let at = simulation.layout().at(simulation.place());
        if simulation.apply(key) == Effect::Unknown {
            break;
        }
        // A character at the edge that was not there before is what tells, and a blank is as good as none.
        let Key::Text(c) = key else { continue };
        let is_news = c == ' ' || Text::of(&base.screen, at) != Text::plain(c);
        let canvas = &simulation.canvas;
        let is_there = canvas.cursor == screen.cursor().position();
        if simulation.crosses && is_news && is_there && canvas.agrees(screen) {
            found = Some(simulation.crossing());
        }
    }
    found
}
