//! The line that is being entered, and steps back to those that were.

use rove_terminal::Screen;

use crate::engine::InputNum;
use crate::keystroke::Key;
use crate::replay::base::Base;
use crate::replay::canvas::mix;
use crate::replay::field::Kind;
use crate::replay::history::Histories;
use crate::replay::outlook::Outlook;
use crate::replay::simulate::{DrawnLine, Effect, Habits};
use crate::replay::walk::{Entered, Line, Name, Recall, Walk, Way};

/// The knowledge of lines: those that were entered, and the one that is.
#[derive(Clone, Debug, Default)]
pub(super) struct Lore {
    pub(super) histories: Histories,
    /// The line that is being entered.
    pub(super) sheet: Option<Sheet>,
    pub(super) pasted: Pasted,
}

/// A line that is being entered.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    /// The input that ends it, and who takes it.
    input: InputNum,
    name: Name,
    text: Line,
    drawn: DrawnLine,
    /// Whether it was seen without any key that was on its way.
    was_seen: bool,
}

/// A paste that holds ends of lines, which end no line then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pasted {
    is_open: bool,
    has_lines: bool,
    /// The key that ends the line into which it was pasted.
    end: InputNum,
}

/// A step through the lines that the screen shows.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) walk: Walk,
    pub(super) way: Way,
    /// Whether it has led to where it was expected to.
    is_right: bool,
}

impl Pasted {
    /// Handles a key that is sent with this input.
    pub(super) fn handle_key(&mut self, key: Key, input: InputNum) {
        match key {
            Key::PasteStart => self.is_open = true,
            Key::PasteEnd => self.is_open = false,
            Key::Enter | Key::LineFeed if self.is_open => self.has_lines = true,
            Key::Enter | Key::LineFeed if self.has_lines => {
                self.has_lines = false;
                self.end = input;
            }
            _ => {}
        }
    }

    /// Returns whether the line that ends with this input may have been pasted.
    fn holds(self, input: InputNum) -> bool {
        self.has_lines || input <= self.end
    }
}

impl Lore {
    /// Returns which line editor asks on a base, if it may be one that keeps lines.
    pub(super) fn editor(&self, base: &Base) -> Option<Name> {
        let field = &base.field;
        let prompt = match field.kind {
            Kind::Line | Kind::Unknown => field.context.strong.number(),
            // A pane, or a row at the end of the screen.
            Kind::Full if field.is_last => {
                let (strong, pane) = (field.context.strong.number(), field.pane);
                mix([strong, pane.left.into(), pane.right.into(), pane.top.into()])
            }
            _ => return None,
        };
        let name = Name { prompt, kind: field.kind as u64 };
        let has_prompt = field.has_name() && !field.begins_behind_word() && !field.is_secret;
        (has_prompt && (!field.is_foggy || self.histories.knows(name))).then_some(name)
    }

    /// Returns the line that is about to be entered, on the last screen on which nothing can stand that was typed
    /// behind it; `None` where there is none, or it is known.
    pub(super) fn sheet(&self, outlook: &Outlook<'_>, name: Name) -> Option<Sheet> {
        let base = outlook.base;
        let index = outlook.log.iter().position(|event| is_end(event.key))?;
        let input = outlook.log.iter().nth(index)?.input;
        let is_known = self.sheet.as_ref().is_some_and(|sheet| sheet.input == input);
        if input > outlook.arrived || is_known {
            return None;
        }
        // A line that begins behind another one is empty at first, whatever the screen shows by now.
        let start = outlook.start();
        if base.arrived >= input && (!base.is_fresh || start.end() != start.start()) {
            return None;
        }
        let (simulation, is_known) = outlook.after(index);
        let is_answered = base.unsure <= base.acked && base.field.suggested.is_none();
        let was_seen = index == 0 && (base.is_fresh || is_answered);
        let text = Line::new(&simulation.line());
        let drawn = simulation.drawn_line();
        is_known.then_some(Sheet { input, name, text, drawn, was_seen })
    }

    /// Called when the line is entered that the key ends which was sent with this input. Returns whether it was known which
    /// line that is.
    pub(super) fn end_line(&mut self, input: InputNum, screen: &Screen, is_hidden: bool) -> bool {
        let Some(sheet) = self.sheet.take().filter(|sheet| sheet.input == input) else {
            return false;
        };
        let is_seen = sheet.was_seen || sheet.drawn.stands_on(screen);
        let line = sheet.text.text();
        if !is_seen || is_hidden || self.pasted.holds(input) {
            self.histories.enter(sheet.name, Entered::Unclear);
        } else if !line.trim().is_empty() {
            self.histories.enter(sheet.name, Entered::of(line));
        }
        true
    }

    /// Tries what the key behind the first `index` ones does, if it goes through the lines.
    pub(super) fn try_step(
        &self,
        outlook: &Outlook<'_>,
        name: Name,
        index: usize,
        screen: &Screen,
    ) -> Option<Step> {
        let key = outlook.log.iter().nth(index)?.key;
        let way = Way::of(key)?;
        let recall = Some(Recall { lines: &self.histories, name, is_trial: true });
        let (mut simulation, _) = outlook.with(Habits { recall, ..outlook.habits }).after(index);
        let mut walk = simulation.walk().clone();
        walk.step(way, || simulation.line());
        let is_drawn = simulation.apply(key) == Effect::Drawn;
        let is_there = simulation.canvas.cursor == screen.cursor().position();
        let is_right = is_drawn && is_there && simulation.canvas.agrees(screen);
        Some(Step { walk, way, is_right })
    }

    /// Called when a key was answered in an unknown way, which may have been a step through the lines. Returns how far the
    /// editor was taken back by then.
    pub(super) fn note_step(
        &mut self,
        name: Option<Name>,
        key: Key,
        step: Option<Step>,
        before: Walk,
    ) -> Walk {
        let mut walk = before;
        match (step, name) {
            (Some(step), Some(name)) => {
                walk = Walk { open: (!step.is_right).then_some(step.way), ..step.walk };
                if step.is_right {
                    self.histories.hit(name, &walk, step.way);
                }
            }
            _ if matches!(key, Key::Search | Key::Escape) => walk.lose(),
            _ => walk.edit(),
        }
        walk
    }
}

/// Returns whether a key ends a line that is kept.
pub(super) const fn is_end(key: Key) -> bool {
    matches!(key, Key::Enter | Key::LineFeed)
}
