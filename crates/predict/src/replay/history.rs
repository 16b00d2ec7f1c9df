//! The lines that were entered at each kind of prompt, which its line editor gives back.
//!
//! Only what has stood on the screen is remembered. Editors differ in which lines they keep, and nothing tells
//! whether two prompts belong to one of them: so each [`View`] of its lines that has not been ruled out is tried, and a
//! line is only expected where all of them agree. What an editor really gives back is learned from.

use std::collections::VecDeque;

use crate::replay::evidence::Evidence;
use crate::replay::memory::Memory;
use crate::replay::walk::{CHARACTERS_MAX, Entered, Line, Lines, Name, Walk, Way};

/// Most lines that are remembered; the oldest goes. Chosen: few go back further with a cursor key.
const LINES_MAX: usize = 64;

/// Most line editors that are told apart; the one that was used least recently goes. Chosen: the shells,
/// interpreters and clients of a long session.
const EDITORS_MAX: usize = 24;

/// How often in a row an editor must have given back what was expected before it is believed.
/// Source: docs/prediction.md.
const HITS_NEEDED: u16 = 2;

/// All lines, the newest last, each with the editor that took it, if one is known, and what is known of the editors.
#[derive(Clone, Debug, Default)]
pub(super) struct Histories {
    lines: VecDeque<(Option<Name>, Entered)>,
    editors: Memory<Name, Editor, EDITORS_MAX>,
}

/// The knowledge of one line editor.
#[derive(Clone, Debug)]
struct Editor {
    /// The views that have not been ruled out.
    views: Vec<View>,
    /// For keys without and with Ctrl, on an empty line and on one that was begun: see [`proof`].
    proofs: [Evidence; 4],
}

/// A way to see the lines of an editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct View {
    doubles: Doubles,
    search: Search,
    /// Whether it has the lines of all prompts of its kind, and not of this one only.
    is_shared: bool,
}

/// The treatment of lines that an editor has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubles {
    Keeps,
    /// Lines that equal the one before are left out.
    DropsNext,
    /// Each is there once.
    DropsAll,
}

/// The search for lines where a line was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    Any,
    Beginning,
    Containing,
}

/// The line at one depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found<'a> {
    Line(&'a str),
    /// A line of which the text is not known, in this place; whether it is as deep as that.
    Unclear(usize, bool),
    /// None; whether it would be the next.
    None(bool),
}

impl Lines for Histories {
    fn recall<'a>(&'a self, name: Name, walk: &'a Walk, way: Way) -> Option<&'a str> {
        let editor = self.editors.find(&name)?;
        editor.proofs[proof(walk, way)].is_enough().then(|| self.expect(name, walk)).flatten()
    }

    fn expect<'a>(&'a self, name: Name, walk: &'a Walk) -> Option<&'a str> {
        if walk.is_lost || walk.depth == 0 {
            return (!walk.is_lost).then(|| walk.begun.text());
        }
        let views = &self.editors.find(&name)?.views;
        let first = self.find(name, walk, *views.first()?).line()?;
        let is_same = |view: &View| self.find(name, walk, *view) == Found::Line(first);
        views.iter().all(is_same).then_some(first)
    }
}

impl Histories {
    /// Records a line that was entered.
    pub(super) fn enter(&mut self, name: Name, entered: Entered) {
        let is_passage = matches!(&entered, Entered::Line(line) if line.is_passage());
        self.editors.entry(name);
        self.push(Some(name), entered);
        if is_passage {
            // Another program may ask at the same prompt from now on.
            self.push(Some(name), Entered::Gap);
        }
    }

    /// Called when lines may have been entered somewhere.
    pub(super) fn miss_lines(&mut self) {
        if !matches!(self.lines.back(), Some((None, Entered::Gap))) {
            self.push(None, Entered::Gap);
        }
    }

    /// Returns whether lines of it are remembered.
    pub(super) fn knows(&self, name: Name) -> bool {
        self.editors.find(&name).is_some()
    }

    /// Returns whether lines of any editor of a kind are.
    pub(super) fn has_kind(&self, kind: u64) -> bool {
        self.lines.iter().any(|(owner, _)| owner.is_some_and(|owner| owner.kind == kind))
    }

    /// Called when a step has led to what was expected.
    pub(super) fn hit(&mut self, name: Name, walk: &Walk, way: Way) {
        // That what was begun comes back says nothing of the lines.
        if let Some(editor) = self.editors.find_mut(&name).filter(|_| walk.depth > 0) {
            editor.proofs[proof(walk, way)].confirm();
        }
    }

    /// Called when it has not, and whether that was seen.
    pub(super) fn miss(&mut self, name: Name, walk: &Walk, way: Way, was_shown: bool) {
        if let Some(editor) = self.editors.find_mut(&name) {
            editor.proofs[proof(walk, way)].refute(was_shown);
        }
    }

    /// Handles the line that a step has led to.
    pub(super) fn observe(&mut self, name: Name, walk: &Walk, way: Way, line: &str) {
        if walk.is_lost || line.chars().count() > CHARACTERS_MAX {
            return;
        }
        if walk.depth == 0 {
            if walk.begun.text() != line {
                self.miss(name, walk, way, false);
            }
            return;
        }
        let views = self.editors.entry(name).views.clone();
        let seen = |view: &View| self.find(name, walk, *view);
        let right = views.iter().copied().filter(|view| seen(view) == Found::Line(line));
        let right: Vec<View> = right.collect();
        if !right.is_empty() {
            self.editors.entry(name).views = right;
            self.hit(name, walk, way);
            return;
        }
        // A view that sees no text there may be right.
        let possible = views.iter().copied().filter(|view| seen(view).line().is_none());
        let possible: Vec<View> = possible.collect();
        let found = possible.first().map(|view| seen(view).place());
        match found.filter(|_| walk.begun.is_empty()) {
            Some(_) if line.is_empty() => {}
            Some(place) => {
                self.learn(name, walk, possible[0], place, line);
                self.editors.entry(name).views = possible;
            }
            None => {
                self.miss(name, walk, way, false);
                self.editors.entry(name).views = View::all();
                if walk.begun.is_empty() {
                    self.lines.retain(|(owner, _)| *owner != Some(name));
                }
                if walk.begun.is_empty() && walk.depth == 1 {
                    self.push(Some(name), Entered::Line(Line::new(line)));
                }
            }
        }
    }

    /// Records a line where a view saw none, or one of which the text was not known, in this place.
    fn learn(
        &mut self,
        name: Name,
        walk: &Walk,
        view: View,
        (place, is_next): (Option<usize>, bool),
        line: &str,
    ) {
        if !is_next {
            return;
        }
        let known = (Some(name), Entered::Line(Line::new(line)));
        let Some(place) = place else {
            // At its first line an editor stays where it is.
            let before = Walk { depth: walk.depth - 1, ..walk.clone() };
            if self.find(name, &before, view) != Found::Line(line) && self.lines.len() < LINES_MAX {
                self.lines.push_front(known);
            }
            return;
        };
        let Some(unclear) = self.lines.remove(place) else { return };
        if self.find(name, walk, view) == Found::Line(line) {
            // It was not kept, or it is the same as the one before.
            let before = self.lines.iter().take(place).rposition(|other| *other == known);
            self.lines.insert(before.unwrap_or(place), unclear);
            return;
        }
        self.lines.insert(place, known);
        if unclear.1 == Entered::Gap {
            self.lines.insert(place, unclear);
        }
        self.forget_oldest();
    }

    /// Returns what stands in the depth of a walk.
    fn find(&self, name: Name, walk: &Walk, view: View) -> Found<'_> {
        let mut passed: Vec<&str> = Vec::new();
        let mut newer = None;
        for (index, (owner, entered)) in self.lines.iter().enumerate().rev() {
            let is_other =
                |owner: Name| owner != name && !(view.is_shared && owner.kind == name.kind);
            if owner.is_some_and(is_other) {
                continue;
            }
            let is_next = passed.len() + 1 == usize::from(walk.depth);
            let Entered::Line(line) = entered else { return Found::Unclear(index, is_next) };
            let line = line.text();
            let is_left_out = match view.doubles {
                Doubles::Keeps => false,
                Doubles::DropsNext => newer == Some(line),
                Doubles::DropsAll => passed.contains(&line),
            };
            let is_found = match view.search {
                Search::Any => true,
                Search::Beginning => line.starts_with(walk.begun.text()),
                Search::Containing => line.contains(walk.begun.text()),
            };
            newer = Some(line);
            if is_left_out || !is_found {
                continue;
            }
            if is_next {
                return Found::Line(line);
            }
            passed.push(line);
        }
        Found::None(passed.len() + 1 == usize::from(walk.depth))
    }

    fn push(&mut self, owner: Option<Name>, entered: Entered) {
        self.lines.push_back((owner, entered));
        self.forget_oldest();
    }

    fn forget_oldest(&mut self) {
        if self.lines.len() > LINES_MAX {
            self.lines.pop_front();
        }
    }
}

impl Default for Editor {
    fn default() -> Self {
        Self { views: View::all(), proofs: [Evidence::needing(HITS_NEEDED); 4] }
    }
}

impl View {
    fn all() -> Vec<Self> {
        let doubles = [Doubles::Keeps, Doubles::DropsNext, Doubles::DropsAll].into_iter();
        let searches = [Search::Any, Search::Beginning, Search::Containing];
        let pairs = doubles.flat_map(|doubles| searches.map(|search| (doubles, search)));
        let view =
            |(doubles, search)| [true, false].map(|is_shared| Self { doubles, search, is_shared });
        pairs.flat_map(view).collect()
    }
}

impl<'a> Found<'a> {
    fn line(self) -> Option<&'a str> {
        if let Self::Line(line) = self { Some(line) } else { None }
    }

    /// Returns where a line stands of which the text is not known, if one does, and whether it is the next.
    fn place(self) -> (Option<usize>, bool) {
        match self {
            Self::Unclear(place, is_next) => (Some(place), is_next),
            Self::None(is_next) => (None, is_next),
            Self::Line(_) => (None, false),
        }
    }
}

/// Returns which of the proofs is that of a step.
fn proof(walk: &Walk, way: Way) -> usize {
    2 * usize::from(way.is_control) + usize::from(!walk.begun.is_empty())
}

#[cfg(test)]
mod tests;
