//! What is expected of a key of unknown effect: the screen that it led to before. Where it is believed it is seen at
//! once, and what is typed behind it is tried on a screen that is not there yet.
//!
//! A key may be a part of a command, and then does something else than by itself. So what it does is learned and
//! believed behind the same keys without an effect only: mostly none.

use rove_terminal::{Pen, Position, Screen};
use rove_units::Instant;

use crate::keystroke::Key;
use crate::mechanism::Mechanism;
use crate::overlay::{self, Content};
use crate::replay::Replay;

use crate::replay::answer::{self, Answer, Place, Target};
use crate::replay::answers::Question;
use crate::replay::canvas::{Canvas, Text, Tile, is_changed, is_same_row, mix};
use crate::replay::class::Class;
use crate::replay::field::{Field, Kind};
use crate::replay::log::Event;
use crate::replay::navigation::Stride;
use crate::replay::ruler::Step;
use crate::replay::simulate::Effect;

/// Most characters that may have been typed behind a key by when its answer is seen. Chosen: more than are typed between
/// two screens.
const TYPED_MAX: usize = 16;

/// A screen that is expected: what the first keys will make of the ground, and the answer to the next.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    /// Which key that is.
    pub(super) index: usize,
    /// When it was typed.
    pub(super) at: Instant,
    pub(super) question: Question,
    answer: Answer,
    screen: Screen,
    /// The same with the numbers that follow the cursor.
    with_ruler: Screen,
    field: Field,
}

/// A key whose answer is being looked at.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    question: Question,
    kind: Kind,
    is_text: bool,
    /// How many keys were typed before it.
    number: u64,
    before: Screen,
    place: Place,
    /// What was typed behind it, if that is nothing but text.
    typed: Option<Vec<char>>,
    was_shown: bool,
}

impl Watch {
    fn note_typed(&mut self, key: Key) {
        let typed = self.typed.take();
        self.typed = match (key, typed) {
            (Key::Text(c), Some(mut typed)) if typed.len() < TYPED_MAX => {
                typed.push(c);
                Some(typed)
            }
            _ => None,
        };
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.typed.iter_mut().flatten().for_each(|c| *c = '\0');
        core::hint::black_box(&self.typed);
    }
}

impl Expected {
    /// Returns the row in which text is typed then, if it opens a line.
    fn line_row(&self) -> Option<u16> {
        self.answer.opens_line().then(|| self.screen.cursor().row)
    }

    /// Lays what differs from the ground over a frame.
    pub(super) fn draw(&self, ground: &Screen, frame: &mut Screen, underlines: bool) {
        let screen = &self.with_ruler;
        for row in (0..screen.size().rows()).filter(|row| !is_same_row(ground, screen, *row)) {
            for at in (0..ground.size().columns()).map(|column| Position { row, column }) {
                let glyph =
                    screen.glyph(at).filter(|glyph| Some(glyph) != ground.glyph(at).as_ref());
                if let Some(glyph) = glyph {
                    overlay::lay(frame, at, &Content { is_unknown: false, glyph }, underlines);
                }
            }
            frame.mend_row(row);
        }
        frame.place_cursor(position(screen));
        frame.show_cursor(true);
    }
}

impl Replay {
    /// Notes what has become of keys, and whether a line of input has opened, on a screen that is to be the ground.
    pub(super) fn note_ground(&mut self, screen: &Screen) {
        let row = screen.cursor().row;
        self.line_row = self.line_row.filter(|line_row| *line_row == row);
        let is_same_place = position(&self.ground) == position(screen);
        let is_same_row = !is_changed(&self.ground, screen, row);
        if is_same_place && is_same_row || self.ground.size() != screen.size() {
            return;
        }
        self.moved_input = self.network.arrived;
        self.prefix = 0;
        if !is_same_row && !self.field.is_line() && answer::opens_line(&self.ground, screen) {
            self.line_row = Some(row);
        }
    }

    /// Returns what will be seen behind the first key whose answer is believed, if those before it are known.
    pub(super) fn expected(&self) -> Option<Expected> {
        let is_asked = |event: &Event| self.answers.knows(event.spelling);
        if !self.log.iter().any(is_asked) || self.hides_input() || self.field.is_secret {
            return None;
        }
        let mut simulation = self.simulation();
        for (index, event) in self.log.iter().enumerate() {
            // The screen may show its answer already, whatever that was.
            if event.input <= self.moved_input {
                return None;
            }
            let question = self.question(event, index);
            let answer = self
                .answers
                .believed(question, is_text(event.key))
                .filter(|_| self.may_answer(event, index));
            let Some(answer) = answer else {
                if simulation.apply(event.key) != Effect::Drawn || simulation.has_climbed {
                    return None;
                }
                continue;
            };
            let place = Place { pane: self.field.pane, left: self.field.left };
            answer.apply(&mut simulation.canvas, place)?;
            let mut screen = self.ground.clone();
            simulation.canvas.draw(&mut screen, false);
            screen.show_cursor(true);
            let before = Field::default();
            let mut field = Field::read(event.at, &screen, self.reader(), &before);
            if !changes(answer, self.field.kind, field.kind) {
                return None;
            }
            field.is_used = true;
            let answer = answer.clone();
            let with_ruler = if index == 0 {
                self.with_ruler(&screen, &answer, field.place)
            } else {
                // What numbers say is not known behind keys that are on their way.
                screen.clone()
            };
            let at = event.at;
            return Some(Expected { index, at, question, answer, screen, with_ruler, field });
        }
        None
    }

    /// Returns what is expected with the numbers that say where the cursor is, where an answer only moves it.
    fn with_ruler(&self, screen: &Screen, answer: &Answer, place: u64) -> Screen {
        let mut with_ruler = screen.clone();
        if answer.opens_line() {
            return with_ruler;
        }
        let places = [self.field.place, place].into_iter();
        let mut known = places.filter_map(|place| self.navigations.of(place));
        if let Some(navigation) = known.find(|navigation| navigation.ruler.is_known()) {
            let (from, to) = (position(&self.ground), position(screen));
            let mut canvas = Canvas::new(screen);
            navigation.ruler.draw(&mut canvas, Step { from, to, is_to_empty: false });
            canvas.draw(&mut with_ruler, false);
        }
        with_ruler
    }

    /// Does something as if what is expected had come.
    pub(super) fn suppose<T>(&mut self, expected: Expected, act: impl FnOnce(&mut Self) -> T) -> T {
        let line_row = expected.line_row();
        let Expected { index, with_ruler: screen, field, .. } = expected;
        let key = self.log.iter().nth(index).map(|event| event.key);
        let stride = Stride { goal: None, is_roaming: key == Some(Key::Escape) };
        let tail = self.log.split_off(index + 1);
        let head = core::mem::replace(&mut self.log, tail);
        let ground = core::mem::replace(&mut self.ground, screen);
        let field = core::mem::replace(&mut self.field, field);
        let stride = core::mem::replace(&mut self.stride, stride);
        let prefix = core::mem::take(&mut self.prefix);
        let line_row = core::mem::replace(&mut self.line_row, line_row);
        let result = act(self);
        self.line_row = line_row;
        self.prefix = prefix;
        self.stride = stride;
        self.field = field;
        self.ground = ground;
        let tail = core::mem::replace(&mut self.log, head);
        self.log.append(tail);
        result
    }

    /// Settles what is expected, if the screen shows it; returns whether it does.
    pub(super) fn take_expected(&mut self, now: Instant, screen: &Screen) -> bool {
        self.watch();
        let Some(expected) = self.expected() else { return false };
        let index = expected.index;
        let is_arrived =
            self.log.iter().nth(index).is_some_and(|event| event.input <= self.network.arrived);
        if !is_arrived {
            return false;
        }
        let ground = self.ground.clone();
        let survey = self.suppose(expected.clone(), |replay| replay.survey(screen));
        let Some(count) = survey.settled else { return false };
        if !is_shown_on(screen, &ground, &expected.screen, count > 0) {
            return false;
        }
        self.credit(now, index, false);
        let line_row = expected.line_row();
        self.answers.hit(expected.question, expected.answer);
        self.watch = None;
        self.settle(index + 1);
        self.prefix = 0;
        self.line_row = line_row;
        self.field = expected.field;
        self.ground = expected.with_ruler;
        self.unexplained_at = None;
        true
    }

    /// Begins to look at a key that has arrived, and learns from the one before.
    fn watch(&mut self) {
        let is_arrived = |event: &&Event| event.input <= self.network.arrived;
        if let Some(watch) = &mut self.watch {
            if let Some(index) = watch.number.checked_sub(self.log.settled()) {
                let index = usize::try_from(index).unwrap_or(usize::MAX);
                watch.was_shown |= self.log.iter().nth(index).is_some_and(|event| event.shown);
                return;
            }
            // Until another arrives, the answer may go on.
            if self.log.front().filter(is_arrived).is_none() {
                return;
            }
        }
        if let Some(watch) = self.watch.take() {
            self.learn_answer(watch);
        }
        self.watch = self.next_watch();
    }

    /// Returns the next key whose answer is to be looked at, if it has arrived, and what is before it is known.
    fn next_watch(&self) -> Option<Watch> {
        let is_hidden = self.field.is_secret || self.hides_input();
        if self.field.is_line() || is_hidden || !self.has(Mechanism::Answers) {
            return None;
        }
        let arrived = self.log.arrived(self.network.arrived);
        // With so many behind it, what it did cannot be told.
        if arrived > TYPED_MAX {
            return None;
        }
        let mut events = self.log.iter().take(arrived).enumerate();
        let (index, event) = events.find(|(index, event)| self.may_answer(event, *index))?;
        // The screen may show its answer already.
        if event.input <= self.ground_input {
            return None;
        }
        let mut simulation = self.simulation();
        let mut keys = self.log.iter().take(index);
        if !keys.all(|event| simulation.apply(event.key) == Effect::Drawn) {
            return None;
        }
        let mut before = self.ground.clone();
        simulation.canvas.draw(&mut before, false);
        Some(Watch {
            question: self.question(event, index),
            kind: self.field.kind,
            is_text: is_text(event.key),
            number: self.log.settled() + u64::try_from(index).unwrap_or(u64::MAX),
            before,
            place: Place { pane: self.field.pane, left: self.field.left },
            typed: Some(Vec::new()),
            was_shown: event.shown,
        })
    }

    /// Notes what is settled, before it is forgotten.
    pub(super) fn note_settled(&mut self, count: usize) {
        for (number, event) in (self.log.settled()..).zip(self.log.iter().take(count)) {
            if let Some(watch) = self.watch.as_mut().filter(|watch| number > watch.number) {
                watch.note_typed(event.key);
            }
            let is_enter = matches!(event.key, Key::Enter | Key::LineFeed);
            if is_enter && self.line_row.is_none() && !self.shows_mode() {
                self.answers.note_call();
            }
            // What others have begun ends with it, or with what is seen.
            let is_escape = event.key == Key::Escape;
            let is_end = is_escape || event.input <= self.moved_input;
            self.prefix = if is_end { 0 } else { mix([self.prefix, event.spelling]) };
            self.line_row = self.line_row.filter(|_| !is_escape && !is_enter);
        }
    }

    /// Learns what a key has done: what has made the ground of the screen before it.
    fn learn_answer(&mut self, mut watch: Watch) {
        // Behind it may stand what was typed next.
        for event in self.log.iter().take_while(|event| event.input <= self.ground_input) {
            watch.note_typed(event.key);
        }
        let Some(typed) = &watch.typed else { return };
        let (before, question) = (&watch.before, watch.question);
        if self.ground.size() != before.size() {
            return;
        }
        let Some(after) = without_typed(&self.ground, typed, &self.field) else { return };
        let seen = self.answers.seen(question);
        if let Some(found) = seen.and_then(|seen| seen.explains(before, &after, watch.place)) {
            self.answers.hit(question, found);
            return;
        }
        if watch.was_shown {
            self.answers.miss(question);
        }
        let answer = Answer::between(before, &after, watch.place, usual_target(question.key))
            .filter(|answer| changes(answer, watch.kind, self.field.kind));
        let is_known = answer.as_ref().is_some_and(|answer| self.is_foreseen(&watch, answer));
        self.answers.learn(question, answer, watch.is_text, is_known);
    }

    /// Returns whether an answer is what was thought of before it was seen: a line of input that begins with the
    /// key, or a mode that is known by its name and comes or goes.
    fn is_foreseen(&self, watch: &Watch, answer: &Answer) -> bool {
        if !answer.opens_line() {
            return true;
        }
        let mut prompt = answer.prompt().into_bytes().into_iter();
        let key = prompt.next().map(spelling);
        key == Some(watch.question.key) && prompt.next().is_none()
    }

    /// Returns whether a key is one that may open a line or change a mode here: no text, and no key that edits it.
    fn may_answer(&self, event: &Event, index: usize) -> bool {
        match event.key {
            Key::Text(_) => {
                let takes_text = self.line_row.is_some() || index > 0 || self.trusts(Class::Text);
                matches!(self.field.kind, Kind::Full | Kind::Command) && !takes_text
            }
            Key::Escape
            | Key::Other
            | Key::Search
            | Key::KillWord
            | Key::ControlF
            | Key::ControlB => !self.field.is_line(),
            _ => false,
        }
    }

    fn question(&self, event: &Event, index: usize) -> Question {
        let prefix = if index == 0 { self.prefix } else { 0 };
        Question { scene: mix([self.field.place, prefix]), key: event.spelling }
    }
}

/// Returns whether an answer is of a kind that is learned: a line of input opens, or a mode comes or goes.
fn changes(answer: &Answer, before: Kind, after: Kind) -> bool {
    let is_mode = |kind| matches!(kind, Kind::Insert | Kind::Replace | Kind::Command);
    answer.opens_line() || before != after && (is_mode(before) || is_mode(after))
}

const fn is_text(key: Key) -> bool {
    matches!(key, Key::Text(_))
}

/// Returns where the cursor usually goes with a key that begins or ends a mode. Source: vi.
fn usual_target(key: u64) -> Option<Target> {
    let keys = [
        (b'i', Target::Stay),
        (b'a', Target::Right),
        (b'A', Target::End),
        (b'I', Target::Indent),
        (b'R', Target::Stay),
        (b'\x1b', Target::Left),
    ];
    keys.into_iter().find(|(byte, _)| spelling(*byte) == key).map(|(_, target)| target)
}

/// Returns the name of a key that is one byte.
fn spelling(byte: u8) -> u64 {
    mix([0, byte.into()])
}

fn position(screen: &Screen) -> Position {
    let cursor = screen.cursor();
    Position { row: cursor.row, column: cursor.column }
}

/// Returns a screen without what was typed behind a key where a line has opened, or text is inserted; `None` if
/// that is not where the cursor is.
fn without_typed(screen: &Screen, typed: &[char], field: &Field) -> Option<Screen> {
    let cursor = screen.cursor();
    let at = |column| Position { row: cursor.row, column };
    if typed.is_empty() {
        return Some(screen.clone());
    }
    let from = cursor.column.checked_sub(u16::try_from(typed.len()).ok()?)?;
    let is_same = |(column, c): (u16, &char)| Text::of(screen, at(column)) == Text::plain(*c);
    let is_typed = (from..).zip(typed).all(is_same);
    let is_inserted = field.kind == Kind::Insert
        || (cursor.column..field.pane.right).all(|column| Text::of(screen, at(column)).is_blank());
    let mut canvas = Canvas::new(screen);
    for column in from..field.pane.right {
        let source = column + (cursor.column - from);
        let tile = if source < field.pane.right {
            Tile::Ground(at(source))
        } else {
            Tile::Blank(Pen::default())
        };
        canvas.put(at(column), tile);
    }
    canvas.cursor = at(from);
    let mut without = screen.clone();
    canvas.draw(&mut without, false);
    (is_typed && is_inserted).then_some(without)
}

/// Returns whether a screen shows all that is expected to differ from the ground; behind the cursor it may show what
/// was typed there.
fn is_shown_on(screen: &Screen, ground: &Screen, expected: &Screen, is_typed: bool) -> bool {
    let cursor = expected.cursor();
    let columns = expected.size().columns();
    (0..expected.size().rows()).all(|row| {
        let is_changed = |column: &u16| {
            let at = Position { row, column: *column };
            Text::of(expected, at) != Text::of(ground, at)
        };
        let is_behind = |column: &u16| is_typed && row == cursor.row && *column >= cursor.column;
        is_same_row(ground, expected, row)
            || (0..columns).filter(|column| is_changed(column) && !is_behind(column)).all(
                |column| {
                    let at = Position { row, column };
                    Text::of(expected, at) == Text::of(screen, at)
                },
            )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_a_few_characters_are_kept() {
        let mut watch = Watch {
            question: Question { scene: 0, key: 0 },
            kind: Kind::Full,
            is_text: true,
            number: 0,
            before: Screen::blank(rove_terminal::Size::DEFAULT),
            place: Place { pane: Field::default().pane, left: 0 },
            typed: Some(Vec::new()),
            was_shown: false,
        };
        for _ in 0..TYPED_MAX {
            watch.note_typed(Key::Text('a'));
        }
        assert_eq!(watch.typed.as_ref().map(Vec::len), Some(TYPED_MAX));
        watch.note_typed(Key::Text('a'));
        assert_eq!(watch.typed, None);
    }
}
