//! What a program does where its input has come to the edge of a row. No two kinds of program do the same,
//! so that nothing is seen beyond the edge before it was seen once, in each context.

use std::sync::Arc;

use rove_terminal::{Cell, Position, Screen};

use crate::keystroke::Key;
use crate::mechanism::Mechanism;
use crate::replay::Replay;
use crate::replay::canvas::Text;
use crate::replay::context::Score;
use crate::replay::field::Kind;
use crate::replay::simulate::{Effect, Habits, Simulation};

/// How an input goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wrap {
    /// What stands in the last column of a row that goes on, where that is no text.
    pub(super) mark: Option<char>,
    /// What stands left of the text in the rows that go on.
    pub(super) lead: Lead,
    /// Whether the cursor stays where a row is full until there is more.
    pub(super) is_lazy: bool,
}

/// What stands at the left edge of the pane before the text goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lead {
    /// How many columns it takes.
    pub(super) columns: u16,
    /// What it is; nothing is known where there are no cells.
    pub(super) cells: Arc<[Cell]>,
}

/// What is known of that.
#[derive(Clone, Debug)]
pub(super) struct Lesson {
    pub(super) wrap: Wrap,
    /// How often text was moved over the edge so, and how often the cursor went over it with the end.
    pub(super) text: Score,
    pub(super) end: Score,
    /// Whether it was seen to move all text up for a new row at the bottom.
    pub(super) scrolls: bool,
}

/// How far keys are followed over the edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Beyond {
    /// Not at all.
    #[default]
    Nothing,
    /// As long as the cursor stays within the text.
    Text,
    /// To the end of the text.
    All,
}

/// What keys that came true have shown of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Proof {
    /// Whether text stood in the next row that was not there before.
    pub(super) has_text: bool,
    /// Whether the cursor was behind a full row, where programs differ.
    pub(super) has_end: bool,
    /// Whether all text moved up for that row.
    pub(super) has_scrolled: bool,
}

/// What is believed of a way that was seen once.
const SEEN: Score = Score { right: 10.0, wrong: 0.1 };

impl Lesson {
    pub(super) fn new(wrap: &Wrap) -> Self {
        Self { wrap: wrap.clone(), text: Score::default(), end: Score::default(), scrolls: false }
    }
}

impl Wrap {
    /// Returns the columns at the right edge that hold no text.
    pub(super) fn mark_columns(&self) -> u16 {
        u16::from(self.mark.is_some())
    }
}

impl Replay {
    /// Returns whether the key at the edge may have been answered: its character stands there, and the cursor
    /// waits on it.
    pub(super) fn waits_at_edge(&self, screen: &Screen, key: Key) -> bool {
        let at = screen.cursor().position();
        let Key::Text(c) = key else { return false };
        at.column + 1 == self.field.pane.right
            && Text::of(screen, at) == Text::plain(c)
            && Text::of(&self.ground, at) != Text::plain(c)
    }

    /// Returns what is to be seen of what goes on over the edge.
    pub(super) fn seen_beyond(&self) -> Beyond {
        let Some(lesson) = &self.field.lesson else { return Beyond::Nothing };
        let is_trusted =
            |score: Score| score.right >= 1.0 && score.estimate(SEEN) >= self.policy.threshold();
        match (is_trusted(lesson.end), is_trusted(lesson.text)) {
            (true, _) => Beyond::All,
            (false, true) => Beyond::Text,
            _ => Beyond::Nothing,
        }
    }

    /// Finds out in which way the keys have gone on over the edge, where the screen shows that they did in a
    /// way that was not known. Returns whether it does.
    pub(super) fn discover_wrap(&mut self, screen: &Screen) -> bool {
        if !self.has(Mechanism::Wraps) {
            return false;
        }
        let known = self.field.lesson.as_ref().map(|lesson| lesson.wrap.clone());
        let other = known.clone().map(|wrap| Wrap { is_lazy: !wrap.is_lazy, ..wrap });
        let candidates = known.into_iter().chain(other).chain(self.wraps_to_try(screen));
        let found =
            candidates.into_iter().find_map(|wrap| Some((self.goes_on_with(&wrap, screen)?, wrap)));
        let Some((proof, mut wrap)) = found else { return false };
        let cursor = screen.cursor();
        let left = usize::from(self.field.pane.left);
        let lead = left..left + usize::from(wrap.lead.columns);
        let row = screen.row(cursor.row).map(|row| row.cells());
        wrap.lead.cells = row.and_then(|cells| cells.get(lead)).unwrap_or_default().into();
        let is_known =
            self.field.lesson.as_ref().is_some_and(|lesson| {
                lesson.wrap == wrap && (lesson.scrolls || !proof.has_scrolled)
            });
        if is_known {
            return false;
        }
        self.contexts.learn_wrap(self.field.context, &wrap, proof);
        self.field.lesson = self.contexts.wrap(self.field.context);
        self.field.lay_out(&wrap);
        true
    }

    /// Returns what the screen proves, if keys have gone on over the edge in this way.
    fn goes_on_with(&self, wrap: &Wrap, screen: &Screen) -> Option<Proof> {
        let habits = Habits {
            wrap: Some(wrap),
            beyond: Beyond::All,
            scrolls: true,
            takes_commands: false,
            ..self.habits()
        };
        let cursor = screen.cursor().position();
        let mut simulation = Simulation::new(&self.ground, &self.field, habits);
        let mut found = None;
        for event in self.log.iter().take_while(|event| event.input <= self.network.arrived) {
            let at = simulation.layout().at(simulation.place());
            if simulation.apply(event.key) == Effect::Unknown {
                break;
            }
            // A character at the edge that was not there before is what tells, and a blank is as good as none.
            let Key::Text(c) = event.key else { continue };
            let is_news = c == ' ' || Text::of(&self.ground, at) != Text::plain(c);
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
    fn wraps_to_try(&self, screen: &Screen) -> Vec<Wrap> {
        let field = &self.field;
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
        // What else it may be is where the cursor has come to, behind one character at most.
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
}
