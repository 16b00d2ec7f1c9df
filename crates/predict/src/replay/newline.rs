//! Enter in a text on the whole screen: it parts the row at the cursor, and the rows below make room. How the
//! new row begins is learned for each window, by what the old one ends in, from the screens that show it;
//! unseen, until it was foretold often enough.

use rove_terminal::{Position, Screen};

use crate::keystroke::Key;
use crate::mechanism::Mechanism;
use crate::replay::Replay;
use crate::replay::canvas::{Text, is_same_row, mix};
use crate::replay::class::Class;
use crate::replay::field::{Field, Kind};
use crate::replay::ruler::{Step, characters};
use crate::replay::simulate::{Break, Effect, Habits, Simulation};

/// Most windows that are remembered; the one that was used least recently goes. Chosen: those of some editors.
const WINDOWS_MAX: usize = 16;

/// Most rows between a text and the lower edge of its pane, but for one. Source: nano has three, for messages and
/// help.
pub(super) const MARGINS: u16 = 4;

/// Most keys among which it is looked for. Chosen: more are not typed in a round trip.
const KEYS_MAX: usize = 64;

/// Rows above the lower edge of a text that moves up before its last row is reached. Source: vim's own defaults
/// (`scrolloff`).
const SCROLL_ROWS: u16 = 5;

/// How often a window must have done as foretold before it is believed, and once more for each kind of row.
/// Chosen: one may be chance, as nothing else moves the rows below and leaves those above.
const NEEDED: u16 = 2;
/// How often more after each error.
const NEEDED_FACTOR: u16 = 4;
/// Most proofs that are needed.
const PROOFS_MAX: u16 = 256;

/// What the old row is like, which editors look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ending {
    /// Like most.
    #[default]
    Plain,
    /// There is nothing but blanks left of the cursor.
    Blank,
    /// A line of a program behind which a block begins, or something in brackets goes on.
    Colon,
    Brace,
    Bracket,
    /// It closes one.
    Close,
    /// One that leaves a block, such as `return`.
    Leave,
    /// It begins with a sign, as comments and lists do.
    Sign,
}

/// How many kinds there are.
const ENDINGS: usize = Ending::Sign as usize + 1;

/// Words with which lines begin that end a block. Source: Python's and C's, as vim and Emacs indent them.
const LEAVING: [&str; 6] = ["return", "pass", "break", "continue", "raise", "yield"];

impl Ending {
    /// Returns the kind of row that has this text left of the cursor.
    pub(super) fn of(text: &str) -> Self {
        let is_indented = !text.is_empty();
        let text = text.trim();
        let word = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let count = |signs: [char; 3]| text.matches(signs).count();
        let (opened, closed) = (count(['(', '[', '{']), count([')', ']', '}']));
        match (text.chars().next(), text.chars().last()) {
            (None, _) | (_, None) if is_indented => Self::Blank,
            (None, _) | (_, None) => Self::Plain,
            (_, Some(':')) => Self::Colon,
            (_, Some('{')) => Self::Brace,
            (_, Some('\\')) => Self::Bracket,
            _ if opened > closed => Self::Bracket,
            _ if opened < closed => Self::Close,
            _ if LEAVING.contains(&word) => Self::Leave,
            (Some('#' | '/' | '*' | '-' | '"' | ';' | '%' | '>' | '+'), _) => Self::Sign,
            _ => Self::Plain,
        }
    }
}

/// How a new row is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trial {
    pub(super) lead: Lead,
    /// The rows between the text and the lower edge of its pane.
    pub(super) margin: u16,
    /// Whether the rows above move up instead of those below down.
    pub(super) scrolls: bool,
}

/// Where the text of a new row begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// At the left edge.
    Edge,
    /// As far in as the old one, and so many columns more.
    Indent(i16),
    /// In this column.
    Column(u16),
    /// Behind the same sign as that of the old one.
    Sign,
}

/// What is known of one kind of row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Rule {
    /// Whether it may be the left edge, and what the indentation may be.
    is_edge: bool,
    indent: Option<i16>,
    /// Whether the sign is there again.
    has_sign: bool,
    /// How often in a row that was foretold, and how often more than usual is enough.
    streak: u16,
    needed: u16,
}

impl Rule {
    const fn is_known(&self) -> bool {
        self.is_edge || self.indent.is_some() || self.has_sign
    }

    /// Takes what was seen once.
    fn observe(&mut self, seen: Self) {
        let is_edge = self.is_edge && seen.is_edge;
        let indent = self.indent.filter(|indent| seen.indent == Some(*indent));
        let has_sign = self.has_sign && seen.has_sign;
        let both = Self { is_edge, indent, has_sign, ..*self };
        let needed = self.needed;
        *self = if both.is_known() { both } else { Self { needed, ..seen } };
    }
}

/// What is known of Enter in one window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Newline {
    name: u64,
    /// The margins that there may be, a bit for each.
    margins: u8,
    /// How far down in the window rows move down: with text below, and with none.
    reach: [Reach; 2],
    /// Whether they move up in the last row.
    scrolls: bool,
    rules: [Rule; ENDINGS],
    /// How often all was as foretold, and how often that moved text.
    right: u16,
    moved: u16,
}

/// From which rows the text below moves down, or that above up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reach {
    /// The last row from which the text was seen to move down.
    down_to: Option<u16>,
    /// The first from which it was seen to move up.
    up_from: Option<u16>,
}

impl Reach {
    fn observe(&mut self, row: u16, scrolls: bool) {
        if scrolls {
            self.up_from = Some(self.up_from.map_or(row, |from| from.min(row)));
            self.down_to = self.down_to.filter(|to| *to < row);
        } else {
            self.down_to = Some(self.down_to.map_or(row, |to| to.max(row)));
            self.up_from = self.up_from.filter(|from| *from > row);
        }
    }

    /// Returns whether it moves up from a row, in a text that ends before the row `end`.
    fn scrolls(self, row: u16, end: u16) -> Option<bool> {
        let is_down =
            self.down_to.is_some_and(|to| row <= to) || row.saturating_add(SCROLL_ROWS) < end;
        let is_up = self.up_from.is_some_and(|from| row >= from);
        (is_up || is_down).then_some(is_up)
    }
}

/// Where a row is parted, and what is there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spot {
    pub(super) row: u16,
    /// The row below the pane.
    pub(super) bottom: u16,
    pub(super) ending: Ending,
    /// The left edge of the text, and the first column of this row's.
    pub(super) left: u16,
    pub(super) indent: u16,
    /// The columns of the sign that it begins with.
    pub(super) sign_columns: u16,
    /// Whether its text may be a command that asks for a secret.
    pub(super) may_ask: bool,
}

impl Spot {
    pub(super) fn column(&self, lead: Lead) -> Option<u16> {
        match lead {
            Lead::Edge => Some(self.left),
            Lead::Indent(more) => {
                self.indent.checked_add_signed(more).filter(|it| *it >= self.left)
            }
            Lead::Column(column) => Some(column),
            Lead::Sign if self.sign_columns == 0 => None,
            Lead::Sign => self.indent.checked_add(self.sign_columns),
        }
    }
}

impl Newline {
    const fn new(name: u64) -> Self {
        const RULE: Rule =
            Rule { is_edge: false, indent: None, has_sign: false, streak: 0, needed: 0 };
        Self {
            name,
            margins: (1 << MARGINS) - 1,
            reach: [Reach { down_to: None, up_from: None }; 2],
            scrolls: false,
            rules: [RULE; ENDINGS],
            right: 0,
            moved: 0,
        }
    }

    /// Returns what Enter will do there; `is_even` tells of some rows whether they look alike.
    pub(super) fn foresee(&self, spot: &Spot, is_even: impl Fn(u16, u16) -> bool) -> Option<Trial> {
        let rule = &self.rules[spot.ending as usize];
        let margins = || (0..MARGINS).filter(|margin| self.margins & (1 << margin) != 0);
        let (least, most) = (margins().next()?, margins().next_back()?);
        let end = spot.bottom.checked_sub(most).filter(|end| spot.row < *end)?;
        let is_last = spot.row + 1 == end;
        let scrolls = if is_last {
            self.scrolls && least == most
        } else {
            let is_even = is_even(spot.row + 1, end);
            self.reach[usize::from(is_even)].scrolls(spot.row, end)?
        };
        // Where it is not known which rows make room, it must not matter.
        let is_sure = least == most || is_even(end - 1, spot.bottom - least);
        if !scrolls && (is_last || !is_sure) {
            return None;
        }
        let leads = [
            rule.is_edge.then_some(Lead::Edge),
            rule.indent.map(Lead::Indent),
            rule.has_sign.then_some(Lead::Sign),
        ];
        let columns = leads.into_iter().flatten().map(|lead| (spot.column(lead), lead));
        let (column, lead) = columns.clone().next()?;
        let is_sure = columns.into_iter().all(|(other, _)| other == column);
        is_sure.then_some(Trial { lead, margin: least, scrolls })
    }

    /// Returns whether that is to be seen of such a row.
    fn is_proven(&self, ending: Ending) -> bool {
        let rule = &self.rules[ending as usize];
        self.right >= NEEDED && rule.streak > rule.needed
    }

    /// Takes what a screen has shown, with these margins.
    fn observe(&mut self, done: &Break, margins: u8) {
        let Break { spot, column, trial, .. } = *done;
        let below = 1_u8.checked_shl((spot.bottom - 1 - spot.row).into()).unwrap_or_default();
        if !trial.scrolls {
            let both = self.margins & margins;
            self.margins = if both == 0 { margins } else { both };
            self.reach[usize::from(done.is_above_even)].observe(spot.row, false);
        } else if self.margins & below != 0 {
            self.margins = below;
            self.scrolls = true;
        } else {
            self.reach[usize::from(done.is_above_even)].observe(spot.row, true);
        }
        let distance = i32::from(column) - i32::from(spot.indent);
        let seen = match trial.lead {
            Lead::Sign => Rule { has_sign: true, ..Rule::default() },
            _ => Rule {
                is_edge: column == spot.left,
                indent: i16::try_from(distance).ok(),
                ..Rule::default()
            },
        };
        self.rules[spot.ending as usize].observe(seen);
    }
}

/// What is known of all windows, the most recently used last.
#[derive(Clone, Debug, Default)]
pub(super) struct Newlines {
    known: Vec<Newline>,
}

impl Newlines {
    fn of(&self, name: u64) -> Option<&Newline> {
        self.known.iter().find(|known| known.name == name)
    }

    /// Returns what is known of a window, to be added to.
    fn entry(&mut self, name: u64) -> &mut Newline {
        let newline = match self.known.iter().position(|known| known.name == name) {
            Some(index) => self.known.remove(index),
            None => Newline::new(name),
        };
        if self.known.len() >= WINDOWS_MAX {
            self.known.remove(0);
        }
        self.known.push(newline);
        let last = self.known.len() - 1;
        &mut self.known[last]
    }
}

impl Replay {
    /// Returns what is known of Enter here.
    pub(super) fn newline(&self) -> Option<&Newline> {
        self.window().and_then(|name| self.newlines.of(name))
    }

    /// Returns the name of the window that keys go to, if it may hold a text.
    fn window(&self) -> Option<u64> {
        let field = &self.field;
        let is_text = matches!(field.kind, Kind::Full | Kind::Insert | Kind::Replace)
            && !field.is_secret
            && !self.is_searching;
        let pane = field.pane;
        let is_text = is_text && self.has(Mechanism::Newlines);
        is_text.then(|| mix([field.place, pane.top.into(), pane.bottom.into()]))
    }

    /// Returns whether what Enter will do is to be seen.
    pub(super) fn trusts_newline(&self, simulation: &Simulation<'_>) -> bool {
        let Some(newline) = self.newline() else { return false };
        let is_text = self.shows_mode() || newline.moved > 0;
        let is_believed = is_text && (self.trusts(Class::Text) || !self.is_wary());
        is_believed && simulation.spot().is_some_and(|spot| newline.is_proven(spot.ending))
    }

    /// Returns whether characters are to be seen behind rows that Enter has parted on the way. Where it parts rows,
    /// keys are taken for text.
    pub(super) fn trusts_behind(&self, simulation: &Simulation<'_>) -> bool {
        let may_ask = simulation.breaks.iter().any(|done| done.spot.may_ask);
        !may_ask && (self.trusts(Class::Text) || !self.is_wary())
    }

    /// Returns whether Enter, one of the first keys, has parted a row on the way to what the screen shows or may
    /// have done that.
    pub(super) fn waits_for_newline(&self, screen: &Screen, settled: Option<usize>) -> bool {
        let arrived = self.log.arrived(self.network.arrived);
        let enter = self.log.iter().take(arrived).position(|event| event.key == Key::Enter);
        enter.is_some_and(|enter| settled.is_none_or(|count| count <= enter))
            && self.has_moved(screen)
    }

    /// Takes that a screen shows these parted rows, the cursor in the last of them, and so many characters that were
    /// typed there.
    pub(super) fn pass_newlines(&mut self, screen: &Screen, breaks: &[Break], typed: u32) {
        if breaks.is_empty() {
            return;
        }
        let (from, to) = (self.ground.cursor(), screen.cursor());
        let scrolled = breaks.iter().filter(|done| done.trial.scrolls).count();
        let scrolled = u16::try_from(scrolled).unwrap_or(u16::MAX);
        let margin = self.newline().map_or(0, |newline| newline.margins.trailing_zeros());
        let margin = u16::try_from(margin).unwrap_or(0);
        let pane = self.field.pane;
        if let Some(row) = from.row.checked_sub(scrolled) {
            let from = Position { row, column: from.column };
            let to = Position { row: to.row, column: to.column };
            let step = Step { from, to, is_to_empty: false };
            self.learn_ruler(screen, step, pane.top..pane.bottom.saturating_sub(margin));
        }
        let is_text = self.newline().is_some_and(|newline| {
            newline.right >= NEEDED && (self.shows_mode() || newline.moved > 0)
        });
        let may_ask = breaks.iter().any(|done| done.spot.may_ask);
        if !is_text || may_ask {
            if typed > 0 {
                self.field.confirmed = typed;
            } else {
                // Another program may ask there.
                self.field = Field::default();
            }
        } else if !self.is_wary() {
            self.field.confirmed = self.field.confirmed.max(1);
        }
    }

    /// Takes that rows were parted as foretold.
    pub(super) fn confirm_newlines(&mut self, breaks: &[Break]) {
        let Some(name) = self.window().filter(|_| !breaks.is_empty()) else { return };
        let newline = self.newlines.entry(name);
        for done in breaks {
            let rule = &mut newline.rules[done.spot.ending as usize];
            rule.streak = rule.streak.saturating_add(1);
            newline.right = newline.right.saturating_add(1);
            newline.moved = newline.moved.saturating_add(u16::from(done.moves_text));
            newline.observe(done, newline.margins);
        }
    }

    /// Takes that Enter, the first key that is left or one behind it, has not done as foretold. Returns whether
    /// anything was foretold of it.
    pub(super) fn refute_newline(&mut self) -> bool {
        let Some(name) = self.window() else { return false };
        let mut simulation = self.simulation();
        let mut found = None;
        for event in self.log.iter().take(self.log.arrived(self.network.arrived)) {
            if simulation.apply(event.key) == Effect::Unknown {
                break;
            }
            if let Some(done) = simulation.breaks.last() {
                found = Some((done.spot.ending, event.shown));
                break;
            }
        }
        let Some((ending, was_shown)) = found else { return false };
        let newline = self.newlines.entry(name);
        let rule = &mut newline.rules[ending as usize];
        let needed = if was_shown {
            (rule.needed + 1).saturating_mul(NEEDED_FACTOR).min(PROOFS_MAX)
        } else {
            rule.needed.max(1)
        };
        *rule = Rule { needed, ..Rule::default() };
        true
    }

    /// Finds out how the screen has parted rows, where it has and it was not known how. Returns whether that is
    /// known now.
    pub(super) fn discover_newline(&mut self, screen: &Screen) -> bool {
        let Some(name) = self.window() else { return false };
        let arrived = self.log.arrived(self.network.arrived);
        let keys: Vec<Key> = self.log.iter().take(arrived).map(|event| event.key).collect();
        if !keys.contains(&Key::Enter) || keys.len() > KEYS_MAX {
            return false;
        }
        let trials = self.newline_trials(screen, &keys);
        let found = trials.into_iter().find_map(|trial| {
            let breaks = self.parts_with(screen, &keys, trial)?;
            // What has not changed below may be no part of the text.
            let is_possible = |margin: &u16| {
                let bottom = self.field.pane.bottom;
                let mut rows = bottom - margin.min(&bottom)..bottom - trial.margin.min(bottom);
                *margin >= trial.margin && rows.all(|row| has_same_text(&self.ground, screen, row))
            };
            let is_possible = |margin: &u16| trial.scrolls || is_possible(margin);
            let margins = (0..MARGINS).filter(is_possible).fold(0, |set, margin| set | 1 << margin);
            Some((breaks, margins))
        });
        let Some((breaks, margins)) = found else { return false };
        let mut newline = self.newlines.of(name).cloned().unwrap_or(Newline::new(name));
        for done in &breaks {
            newline.observe(done, margins);
        }
        if self.newlines.of(name) == Some(&newline) {
            return false;
        }
        *self.newlines.entry(name) = newline;
        true
    }

    /// Returns how rows were parted, if the screen shows that they were in this way, by the most of the keys.
    fn parts_with(&self, screen: &Screen, keys: &[Key], trial: Trial) -> Option<Vec<Break>> {
        let habits =
            Habits { breaks: Breaks::Tried(trial), takes_commands: false, ..self.habits() };
        let cursor = screen.cursor();
        let cursor = Position { row: cursor.row, column: cursor.column };
        let mut simulation = Simulation::new(&self.ground, &self.field, habits);
        let mut found = None;
        for key in keys {
            if simulation.apply(*key) == Effect::Unknown {
                break;
            }
            let canvas = &simulation.canvas;
            let is_new = !simulation.breaks.is_empty() && canvas.cursor == cursor;
            if is_new && canvas.agrees(screen) && !canvas.agrees(&self.ground) {
                found = Some(simulation.breaks.clone());
            }
        }
        found
    }

    /// Returns the ways that are tried.
    fn newline_trials(&self, screen: &Screen, keys: &[Key]) -> Vec<Trial> {
        let (before, after) = (self.ground.cursor(), screen.cursor());
        let is_one = keys.iter().filter(|key| **key == Key::Enter).count() == 1;
        let may_scroll = !is_one || after.row == before.row;
        let may_move = !is_one || after.row == before.row.saturating_add(1);
        let is_blank = |column: &u16| {
            let at = Position { row: after.row, column: *column };
            Text::of(screen, at).is_blank()
        };
        let first = (self.field.left..after.column).find(|column| !is_blank(column));
        let column = first.unwrap_or(after.column);
        let leads = [Lead::Edge, Lead::Indent(0), Lead::Sign, Lead::Column(column)];
        let ways = [false, true].into_iter().filter(|scrolls| match scrolls {
            true => may_scroll,
            false => may_move,
        });
        ways.flat_map(|scrolls| {
            let margins = if scrolls { 0..1 } else { 0..MARGINS };
            margins.flat_map(move |margin| leads.map(|lead| Trial { lead, margin, scrolls }))
        })
        .collect()
    }
}

/// Returns whether a row has the same text on two screens.
fn has_same_text(one: &Screen, other: &Screen, row: u16) -> bool {
    is_same_row(one, other, row) || characters(one, row).eq(characters(other, row))
}

/// What is known of what Enter does.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Breaks<'a> {
    #[default]
    Unknown,
    /// This is tried.
    Tried(Trial),
    Known(&'a Newline),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_apart_by_what_editors_look_at() {
        for (text, ending) in [
            ("", Ending::Plain),
            ("    ", Ending::Blank),
            ("It rained, and", Ending::Plain),
            ("  if dry:", Ending::Colon),
            ("int main() {", Ending::Brace),
            ("water(plants,", Ending::Bracket),
            ("a + \\", Ending::Bracket),
            ("    })", Ending::Close),
            ("  return plants", Ending::Leave),
            ("returned it", Ending::Plain),
            ("# of them", Ending::Sign),
            ("- water", Ending::Sign),
        ] {
            assert_eq!(Ending::of(text), ending, "{text:?}");
        }
    }

    #[test]
    fn what_two_rows_have_in_common_is_believed() {
        let edge = |indent| Rule { is_edge: true, indent: Some(indent), ..Rule::default() };
        let indented = |indent| Rule { indent: Some(indent), ..Rule::default() };
        let mut rule = Rule::default();
        for (seen, expected) in [
            (edge(0), edge(0)),
            (indented(0), indented(0)),
            (indented(4), indented(4)),
            (edge(4), indented(4)),
            (edge(-8), edge(-8)),
        ] {
            rule.observe(seen);
            assert_eq!(rule, expected);
        }
    }

    #[test]
    fn no_more_windows_are_remembered_than_there_is_room_for() {
        let mut newlines = Newlines::default();
        for name in 0..=WINDOWS_MAX {
            newlines.entry(u64::try_from(name).unwrap());
            assert_eq!(newlines.known.len(), (name + 1).min(WINDOWS_MAX));
        }
        assert!(newlines.of(0).is_none() && newlines.of(1).is_some());
    }
}
