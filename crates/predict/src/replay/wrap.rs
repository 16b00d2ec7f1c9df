//! The ways of a program where its input has come to the edge of a row. No two kinds of program do the same,
//! so that nothing is seen beyond the edge before it was seen once, in each context.

use std::sync::Arc;

use rove_terminal::{Position, Screen};

use crate::keystroke::Key;
use crate::replay::base::Base;
use crate::replay::canvas::Text;
use crate::replay::evidence::Share;
use crate::replay::field::Kind;
use crate::replay::id::{ContextKey, NAMES_MAX, PromptId};
use crate::replay::layout::{Beyond, Lead, Proof, Wrap};
use crate::replay::memory::Memory;
use crate::replay::simulate::{Effect, Habits, Simulation};

/// The knowledge of a way.
#[derive(Clone, Debug)]
pub(super) struct Lesson {
    pub(super) wrap: Wrap,
    /// How often text was moved over the edge so, and how often the cursor went over it with the end.
    pub(super) text: Share,
    pub(super) end: Share,
    /// Whether it was seen to move all text up for a new row at the bottom.
    pub(super) scrolls: bool,
}

/// The ways in which inputs go on, by prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct Wraps {
    known: Memory<PromptId, Lesson, NAMES_MAX>,
}

impl Wraps {
    /// Returns how the input goes on over the edge of a row, as far as is known.
    pub(super) fn find(&self, key: ContextKey) -> Option<Lesson> {
        self.known.find(&key.strong).or_else(|| self.known.find(&key.weak)).cloned()
    }

    /// Called when the input went on in this way.
    pub(super) fn learn(&mut self, key: ContextKey, wrap: &Wrap, proof: Proof) {
        for name in key.names() {
            let lesson = self.known.entry_or(name, || Lesson::new(wrap));
            if lesson.wrap != *wrap {
                *lesson = Lesson::new(wrap);
            }
            if proof.has_text {
                lesson.text.add(true);
            }
            if proof.has_end {
                lesson.end.add(true);
            }
            lesson.scrolls |= proof.has_scrolled;
        }
    }

    /// Called when the input did not go on as it was thought to.
    pub(super) fn doubt(&mut self, key: ContextKey) {
        for name in key.names() {
            if let Some(lesson) = self.known.find_mut(&name) {
                lesson.text.add(false);
                lesson.end.add(false);
            }
        }
    }
}

/// The prior of a way that was seen once.
const SEEN: Share = Share { right: 10.0, wrong: 0.1 };

impl Lesson {
    pub(super) fn new(wrap: &Wrap) -> Self {
        Self { wrap: wrap.clone(), text: Share::default(), end: Share::default(), scrolls: false }
    }

    /// Returns what is to be shown of what goes on over the edge, if so large a share of it must have come true.
    pub(super) fn shown(&self, threshold: f32) -> Beyond {
        let is_trusted = |share: Share| share.right >= 1.0 && share.estimate(SEEN) >= threshold;
        match (is_trusted(self.end), is_trusted(self.text)) {
            (true, _) => Beyond::All,
            (false, true) => Beyond::Text,
            _ => Beyond::Nothing,
        }
    }
}

/// Returns whether a key at the edge may have been answered: its character stands there, and the cursor waits on it.
pub(super) fn waits_at_edge(base: &Base, screen: &Screen, key: Key) -> bool {
    let at = screen.cursor().position();
    let Key::Text(c) = key else { return false };
    at.column + 1 == base.field.pane.right
        && Text::of(screen, at) == Text::plain(c)
        && Text::of(&base.screen, at) != Text::plain(c)
}

/// Finds out in which way keys have gone on over the edge, where a screen shows that they did in a way that was not
/// known; `keys` are those that had arrived.
pub(super) fn discover(
    base: &Base,
    habits: Habits<'_>,
    keys: &[Key],
    screen: &Screen,
) -> Option<(Wrap, Proof)> {
    let known = base.field.lesson.as_ref().map(|lesson| lesson.wrap.clone());
    let other = known.clone().map(|wrap| Wrap { is_lazy: !wrap.is_lazy, ..wrap });
    let candidates = known.into_iter().chain(other).chain(wraps_to_try(base, screen));
    let goes_on = |wrap: Wrap| Some((goes_on_with(base, habits, keys, &wrap, screen)?, wrap));
    let (proof, mut wrap) = candidates.into_iter().find_map(goes_on)?;
    let cursor = screen.cursor();
    let left = usize::from(base.field.pane.left);
    let lead = left..left + usize::from(wrap.lead.columns);
    let row = screen.row(cursor.row).map(|row| row.cells());
    wrap.lead.cells = row.and_then(|cells| cells.get(lead)).unwrap_or_default().into();
    let is_known = |lesson: &Lesson| lesson.wrap == wrap && (lesson.scrolls || !proof.has_scrolled);
    let is_news = !base.field.lesson.as_ref().is_some_and(is_known);
    is_news.then_some((wrap, proof))
}

/// Returns what the screen proves, if keys have gone on over the edge in this way.
fn goes_on_with(
    base: &Base,
    habits: Habits<'_>,
    keys: &[Key],
    wrap: &Wrap,
    screen: &Screen,
) -> Option<Proof> {
    let habits = Habits {
        wrap: Some(wrap),
        beyond: Beyond::All,
        scrolls: true,
        takes_commands: false,
        ..habits
    };
    let cursor = screen.cursor().position();
    let mut simulation = Simulation::new(&base.screen, &base.field, habits);
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
        if simulation.crosses && is_news && canvas.cursor == cursor && canvas.agrees(screen) {
            let proof = simulation.proof();
            let has_end = proof.has_end && c != ' ';
            found = Some(Proof { has_end, ..proof });
        }
    }
    found
}

/// Returns the ways that are tried: the text goes on at the edge of the pane, below its start, or behind
/// line numbers; the last column may hold a mark; the cursor goes along at once or with the next character.
fn wraps_to_try(base: &Base, screen: &Screen) -> Vec<Wrap> {
    let field = &base.field;
    if field.is_bounded || matches!(field.kind, Kind::Kernel | Kind::Command) {
        return Vec::new();
    }
    let last = field.pane.right.checked_sub(1);
    let mark = last.and_then(|column| {
        let rows = [field.row, screen.cursor().row.saturating_sub(1)];
        let mark = |row| Text::of(screen, Position { row, column }).base;
        rows.into_iter().find_map(|row| mark(row).filter(|c| !c.is_alphanumeric()))
    });
    let mut columns = vec![0, field.start.saturating_sub(field.pane.left)];
    columns.push(field.left.saturating_sub(field.pane.left));
    // Another column may be the one that the cursor has come to, behind one character at most.
    let cursor = screen.cursor();
    let columns_here = cursor.column.saturating_sub(field.pane.left);
    if cursor.row != field.row {
        columns.extend([columns_here, columns_here.saturating_sub(1)]);
    }
    columns.retain(|column| *column < field.pane.right - field.pane.left);
    columns.sort_unstable();
    columns.dedup();
    let lead = |columns| Lead { columns, cells: Arc::default() };
    let marks = [None].into_iter().chain(mark.map(Some));
    marks
        .flat_map(|mark| columns.iter().map(move |columns| (mark, *columns)))
        .flat_map(|(mark, columns)| [(mark, columns, false), (mark, columns, true)])
        .map(|(mark, columns, is_lazy)| Wrap { mark, lead: lead(columns), is_lazy })
        .collect()
}
