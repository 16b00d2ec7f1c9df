//! Learning which lines a line editor gives back, from those that were entered and from what it does.

use rove_terminal::{Position, Screen};
use rove_units::Instant;

use crate::engine::InputNum;
use crate::keystroke::Key;
use crate::mechanism::Mechanism;
use crate::replay::Replay;
use crate::replay::canvas::mix;
use crate::replay::class::Class;
use crate::replay::field::Kind;
use crate::replay::log::Event;
use crate::replay::simulate::{DrawnLine, Effect, Habits};
use crate::replay::walk::{Entered, Line, Name, Recall, Walk, Way};

/// The knowledge of the line that is being entered.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    sheet: Option<Sheet>,
    pub(super) pasted: Pasted,
}

/// A line that is being entered.
#[derive(Clone, Debug)]
struct Sheet {
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

/// A step through the lines that the screen shows.
#[derive(Clone, Debug)]
pub(super) struct Step {
    walk: Walk,
    way: Way,
    /// Whether it has led to where it was expected to.
    is_right: bool,
}

impl Replay {
    /// Returns which lines the editor gives back.
    pub(super) fn recall(&self) -> Option<Recall<'_>> {
        let name = self.editor_name().filter(|_| !self.base.is_searching)?;
        Some(Recall { lines: &self.learned.histories, name, is_trial: false })
    }

    /// Returns which line editor asks, if it may be one that keeps lines.
    fn editor_name(&self) -> Option<Name> {
        let field = &self.base.field;
        let prompt = match field.kind {
            Kind::Line | Kind::Unknown => field.context.strong.number(),
            // A pane, or a row at the end of the screen.
            Kind::Full if field.is_last => {
                let (strong, pane) = (field.context.strong.number(), field.pane);
                mix([strong, pane.left.into(), pane.right.into(), pane.top.into()])
            }
            _ => return None,
        };
        let has_prompt = field.has_name() && !field.begins_behind_word();
        let has_prompt = has_prompt && self.has(Mechanism::History);
        let may_keep = has_prompt && !field.is_secret && !self.hides_input();
        let name = Name { prompt, kind: field.kind as u64 };
        (may_keep && (!field.is_foggy || self.learned.histories.knows(name))).then_some(name)
    }

    /// Called when a key is answered that was sent with this input, which may have ended a line.
    pub(super) fn note_entered(&mut self, key: Key, input: InputNum, screen: &Screen) {
        match key {
            Key::Enter | Key::LineFeed => self.note_end(input, screen),
            // It may have ended the program.
            Key::ControlD => {
                if let Some(name) = self.editor_name() {
                    self.learned.histories.enter(name, Entered::Seam);
                }
            }
            _ => {}
        }
    }

    /// Called when the line is entered that the key ends which was sent with this input.
    fn note_end(&mut self, input: InputNum, screen: &Screen) {
        let sheet = self.entry.sheet.take().filter(|sheet| sheet.input == input);
        let may_keep = match self.base.field.kind {
            Kind::Kernel => true,
            Kind::Line | Kind::Unknown => !self.base.field.is_secret,
            kind => kind == Kind::Full && self.learned.histories.has_kind(kind as u64),
        };
        match (sheet, self.editor_name()) {
            (Some(sheet), _) => {
                let name = sheet.name;
                if let Some(entered) = self.entered(sheet, screen) {
                    self.learned.histories.enter(name, entered);
                }
            }
            (None, Some(name)) if self.mask().is_none() => {
                self.learned.histories.enter(name, Entered::Unclear);
            }
            (None, _) if may_keep => self.learned.histories.miss_lines(),
            _ => {}
        }
    }

    /// Records the line that is about to be entered from the last screen on which nothing can stand that was typed
    /// behind it.
    pub(super) fn note_line(&mut self) {
        let is_end = |event: &Event| matches!(event.key, Key::Enter | Key::LineFeed);
        let mut events = self.log.iter();
        let Some(index) = events.position(is_end) else { return };
        let Some(input) = self.log.iter().nth(index).map(|event| event.input) else { return };
        let has_arrived = input <= self.network.arrived;
        let is_known = self.entry.sheet.as_ref().is_some_and(|sheet| sheet.input == input);
        let Some(name) = self.editor_name().filter(|_| has_arrived && !is_known) else { return };
        if self.mask().is_some() {
            return;
        }
        // A line that begins behind another one is empty at first, whatever the screen shows by now.
        let is_pure = self.base.arrived < input;
        let mut simulation = self.simulation();
        if !is_pure && (!self.base.is_fresh || simulation.end() != simulation.start()) {
            return;
        }
        let is_drawn =
            self.log.iter().take(index).all(|event| simulation.apply(event.key) != Effect::Unknown);
        let is_answered = self.base.unsure <= self.base.acked && !self.habits().suggests;
        let was_seen = index == 0 && (self.base.is_fresh || is_answered);
        if is_drawn {
            let text = Line::new(&simulation.line());
            self.entry.sheet =
                Some(Sheet { input, name, text, drawn: simulation.drawn_line(), was_seen });
        }
    }

    /// Returns the line that was about to be entered, as far as it was seen.
    fn entered(&self, sheet: Sheet, screen: &Screen) -> Option<Entered> {
        let is_known = sheet.was_seen || sheet.drawn.stands_on(screen);
        let is_hidden = self.base.is_searching || self.silence.is_silent();
        if !is_known || is_hidden || self.entry.pasted.holds(sheet.input) {
            return Some(Entered::Unclear);
        }
        let line = sheet.text.text();
        (!line.trim().is_empty()).then(|| Entered::of(line))
    }

    /// Forgets the oldest keys, without knowing what they did.
    pub(super) fn abandon(&mut self, count: usize) {
        self.miss_keys(count);
        self.settle(count);
    }

    /// Called when the oldest keys are settled, of which those behind the last step may have changed the line.
    pub(super) fn note_edits(&mut self, count: usize) {
        let keys = self.log.iter().take(count).map(|event| event.key);
        let mut behind = keys.rev().take_while(|key| Way::of(*key).is_none());
        if behind.any(|key| !Class::of(key).is_motion()) {
            self.base.field.walk.edit();
        }
    }

    /// Called when nobody knows what the oldest keys did.
    pub(super) fn miss_keys(&mut self, count: usize) {
        for event in self.log.iter().take(count) {
            match event.key {
                Key::Enter | Key::LineFeed => self.learned.histories.miss_lines(),
                key if Way::of(key).is_some() => self.base.field.walk.lose(),
                _ => {}
            }
        }
    }

    /// Records the lines that the oldest keys end, of which no more than the first was seen.
    pub(super) fn note_taken_lines(&mut self, count: usize, screen: &Screen) {
        let is_end = |event: &&Event| matches!(event.key, Key::Enter | Key::LineFeed);
        let ends: Vec<InputNum> =
            self.log.iter().take(count).filter(is_end).map(|event| event.input).collect();
        for input in ends {
            match self.entry.sheet.take().filter(|sheet| sheet.input == input) {
                Some(sheet) => {
                    let name = sheet.name;
                    if let Some(entered) = self.entered(sheet, screen) {
                        self.learned.histories.enter(name, entered);
                    }
                }
                None => self.learned.histories.miss_lines(),
            }
        }
    }

    /// Tries what the key behind the first `index` ones does, if it goes through the lines.
    pub(super) fn try_recall(&self, key: Key, index: usize, screen: &Screen) -> Option<Step> {
        let (way, name) = (Way::of(key)?, self.editor_name()?);
        let recall = Recall { lines: &self.learned.histories, name, is_trial: true };
        let habits = Habits { recall: Some(recall), ..self.habits() };
        let mut simulation = self.simulation_with(habits);
        for event in self.log.iter().take(index) {
            simulation.apply(event.key);
        }
        let mut walk = simulation.walk().clone();
        walk.step(way, || simulation.line());
        let is_drawn = simulation.apply(key) == Effect::Drawn;
        let cursor = screen.cursor();
        let cursor = Position { row: cursor.row, column: cursor.column };
        let is_right =
            is_drawn && simulation.canvas.cursor == cursor && simulation.canvas.agrees(screen);
        Some(Step { walk, way, is_right })
    }

    /// Called when a key was answered in an unknown way, which may have been a step through the lines.
    pub(super) fn note_step(&mut self, key: Key, step: Option<Step>) {
        match (step, self.editor_name()) {
            (Some(Step { mut walk, way, is_right }), Some(name)) => {
                walk.open = (!is_right).then_some(way);
                if is_right {
                    self.learned.histories.hit(name, &walk, way);
                }
                self.base.field.walk = walk;
            }
            _ if matches!(key, Key::Search | Key::Escape) => self.base.field.walk.lose(),
            _ => self.base.field.walk.edit(),
        }
    }

    /// Called when steps have led to where they were expected to.
    pub(super) fn note_steps(&mut self, steps: &[(Walk, Way)]) {
        if let Some(name) = self.editor_name().filter(|_| !steps.is_empty()) {
            steps.iter().for_each(|(walk, way)| self.learned.histories.hit(name, walk, *way));
        }
    }

    /// Handles the line that the last step has led to, which stands there since.
    pub(super) fn observe_recall(&mut self) {
        let Some(way) = self.base.field.walk.open.take() else { return };
        let Some(name) = self.editor_name() else { return };
        if self.base.field.kind == Kind::Full && !self.learned.histories.knows(name) {
            // Most of those are no line editors.
            return;
        }
        let simulation = self.simulation();
        if simulation.is_at_end() {
            let line = simulation.line();
            self.learned.histories.observe(name, &self.base.field.walk, way, &line);
        } else {
            self.base.field.walk.lose();
            self.learned.histories.miss(name, &self.base.field.walk, way, false);
        }
    }

    /// Called when the first key has led to another line than expected, if it has. Returns whether it has.
    pub(super) fn refute_recall(&mut self, now: Instant, screen: &Screen) -> bool {
        let Some(event) = self.log.front() else { return false };
        let (key, was_shown, is_due) = (event.key, event.shown, event.due_at.is_some());
        let is_answered = event.input <= self.network.arrived && self.base.has_moved(screen);
        if !is_answered || Way::of(key).is_none() || !(is_due || self.conflicts(screen)) {
            return false;
        }
        let Some(step) = self.try_recall(key, 0, screen) else { return false };
        if let Some(name) = self.editor_name() {
            self.learned.histories.miss(name, &step.walk, step.way, was_shown);
        }
        self.note_step(key, Some(step));
        self.settle(1);
        self.base.field.lose_track();
        self.take_ground(now, screen);
        self.log.doubt(self.log.arrived(self.network.arrived));
        true
    }

    /// Called when a key that went through the lines did not do what was expected.
    pub(super) fn note_failed_recall(&mut self, key: Key, was_shown: bool) {
        self.base.field.walk.open = None;
        if let (Some(way), Some(name)) = (Way::of(key), self.editor_name()) {
            self.learned.histories.miss(name, &self.base.field.walk, way, was_shown);
            self.base.field.walk.lose();
        }
    }
}
