//! The lines that were entered at each kind of prompt, which its line editor gives back.
//!
//! Only what has stood on the screen is remembered. Editors differ in which lines they keep, and nothing tells
//! whether two prompts belong to one of them: so each view that has not been ruled out is tried, and a line is
//! only expected where all of them agree. What an editor really gives back is learned from.

mod editor;

use std::collections::VecDeque;

use self::editor::{DOUBLES, Doubles, Editor, SEARCHES, Search};
use crate::replay::walk::{CHARACTERS_MAX, Entered, Line, Lines, Name, Walk, Way};

/// Most lines that are remembered; the oldest goes. Chosen: few go back further with a cursor key.
const LINES_MAX: usize = 64;

/// Most line editors that are told apart; the one that was used least recently goes. Chosen: the shells,
/// interpreters and clients of a long session.
const EDITORS_MAX: usize = 24;

/// Whose lines may be any editor's.
const ANYONE: u32 = 0;

/// All lines, the newest last, and those who keep them, the most recently used last.
#[derive(Clone, Debug, Default)]
pub(super) struct Histories {
    lines: VecDeque<(u32, Entered)>,
    editors: Vec<Editor>,
    /// How many editors there were.
    count: u32,
}

/// The line at one depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found<'a> {
    Line(&'a str),
    /// A line of which the text is not known, in this place; whether it is as deep as that.
    Unclear(usize, bool),
    /// Lines of an editor of which it is not known whether it is the same.
    Stranger(u32),
    /// None; whether it would be the next.
    None(bool),
}

/// Whether the lines of another editor count, for a try.
type Assumed = Option<(u32, bool)>;

impl Lines for Histories {
    fn recall<'a>(&'a self, name: Name, walk: &'a Walk, way: Way) -> Option<&'a str> {
        let editor = self.find_editor(name)?;
        editor.proof(walk, way).is_enough().then(|| self.expect(name, walk)).flatten()
    }

    fn expect<'a>(&'a self, name: Name, walk: &'a Walk) -> Option<&'a str> {
        if walk.is_lost {
            return None;
        }
        if walk.depth == 0 {
            return Some(walk.begun.text());
        }
        let editor = self.find_editor(name)?;
        let mut found = None;
        for (doubles, search) in editor.views(walk) {
            match self.find(editor, walk, doubles, search, None) {
                Found::Line(line) if found.is_none_or(|found| found == line) => found = Some(line),
                _ => return None,
            }
        }
        found
    }
}

impl Histories {
    /// Records a line that was entered.
    pub(super) fn enter(&mut self, name: Name, entered: Entered) {
        let is_passage = match &entered {
            Entered::Line(line) => line.is_passage(),
            Entered::Unclear | Entered::Seam | Entered::Gap => false,
        };
        let id = self.editor(name).id;
        self.push(id, entered);
        if is_passage {
            self.push(id, Entered::Seam);
        }
    }

    /// Called when lines may have been entered somewhere.
    pub(super) fn miss_lines(&mut self) {
        if !matches!(self.lines.back(), Some((_, Entered::Gap))) {
            self.push(ANYONE, Entered::Gap);
        }
    }

    /// Returns whether lines of it are remembered.
    pub(super) fn knows(&self, name: Name) -> bool {
        self.find_editor(name).is_some()
    }

    /// Returns whether lines of any editor of a kind are.
    pub(super) fn has_kind(&self, kind: u64) -> bool {
        self.editors.iter().any(|editor| editor.kind == kind)
    }

    /// Called when a step has led to what was expected.
    pub(super) fn hit(&mut self, name: Name, walk: &Walk, way: Way) {
        if let Some(editor) = self.editors.iter_mut().find(|editor| editor.has(name)) {
            // That what was begun comes back says nothing of the lines.
            if walk.depth > 0 {
                editor.proof_mut(walk, way).confirm();
            }
        }
    }

    /// Called when it has not, and whether that was seen.
    pub(super) fn miss(&mut self, name: Name, walk: &Walk, way: Way, was_shown: bool) {
        if let Some(editor) = self.editors.iter_mut().find(|editor| editor.has(name)) {
            editor.proof_mut(walk, way).refute(was_shown);
        }
    }

    /// Handles the line that a step has led to.
    pub(super) fn observe(&mut self, name: Name, walk: &Walk, way: Way, line: &str) {
        if walk.is_lost || line.chars().count() > CHARACTERS_MAX {
            return;
        }
        let editor = self.editor(name).clone();
        if walk.depth == 0 {
            if walk.begun.text() == line {
                self.hit(name, walk, way);
            } else {
                self.miss(name, walk, way, false);
            }
            return;
        }
        let views: Vec<_> = editor.views(walk).collect();
        let found: Vec<_> = views
            .iter()
            .map(|(doubles, search)| self.find(&editor, walk, *doubles, *search, None))
            .collect();
        let is_right = |found: &Found<'_>| *found == Found::Line(line);
        if found.iter().any(is_right) {
            let right: Vec<_> =
                views.iter().zip(&found).filter(|(_, found)| is_right(found)).collect();
            let doubles = DOUBLES.map(|one| right.iter().any(|((doubles, _), _)| *doubles == one));
            let searches = SEARCHES.map(|one| right.iter().any(|((_, search), _)| *search == one));
            let editor = self.editor(name);
            editor.doubles = doubles;
            if !walk.begun.is_empty() {
                editor.searches = searches;
            }
            self.hit(name, walk, way);
        } else if !walk.begun.is_empty() {
            self.miss(name, walk, way, false);
            self.editor(name).searches = [true; SEARCHES.len()];
        } else if !line.is_empty() {
            let first = found.first().copied();
            let is_same = found.iter().all(|found| Some(*found) == first);
            let step = first.filter(|_| is_same).map(Step::of);
            self.learn(name, walk, way, line, step);
        }
    }

    /// Learns from a line that was not expected where the views see this.
    fn learn(&mut self, name: Name, walk: &Walk, way: Way, line: &str, step: Option<Step>) {
        let editor = self.editor(name).clone();
        match step {
            Some(Step::Stranger(other)) => {
                self.meet(name, walk, way, line, &editor, other);
            }
            Some(Step::Unclear(index, true)) => self.clear_up(&editor, walk, index, line),
            Some(Step::None(true)) => {
                // At its first line an editor stays where it is.
                let mut before = walk.clone();
                before.depth -= 1;
                let is_same = self.expect(name, &before) == Some(line);
                if !is_same && self.lines.len() < LINES_MAX {
                    self.lines.push_front((editor.id, Entered::Line(Line::new(line))));
                }
            }
            Some(Step::Unclear(_, false) | Step::None(false)) => {}
            Some(Step::Line) | None => {
                self.lines.retain(|(id, _)| *id != editor.id);
                self.miss(name, walk, way, false);
                self.editor(name).doubles = [true; DOUBLES.len()];
                if walk.depth == 1 {
                    self.push(editor.id, Entered::Line(Line::new(line)));
                }
            }
        }
    }

    /// Learns whether another editor is the same, from a line that one of them has given back.
    fn meet(&mut self, name: Name, walk: &Walk, way: Way, line: &str, editor: &Editor, other: u32) {
        let with = self.find_assuming(editor, walk, Some((other, true)));
        let without = self.find_assuming(editor, walk, Some((other, false)));
        let is_seam = |found| match found {
            Found::Unclear(index, _) => self.lines[index].1 == Entered::Seam,
            _ => false,
        };
        let has_other = matches!(with, Found::Line(_)) || is_seam(with);
        match (with == Found::Line(line), without == Found::Line(line)) {
            (true, false) => {
                self.merge(editor.id, other);
                self.hit(name, walk, way);
            }
            (false, true) if has_other => {
                self.part(editor.id, other);
                self.hit(name, walk, way);
            }
            (false, false) if has_other => {
                let next = Step::of(without);
                self.part(editor.id, other);
                self.learn(name, walk, way, line, Some(next));
            }
            // It may be either.
            _ => {}
        }
    }

    /// Records the text of a line that was not known.
    fn clear_up(&mut self, editor: &Editor, walk: &Walk, index: usize, line: &str) {
        let Some((owner, entered)) = self.lines.remove(index) else { return };
        if self.find_assuming(editor, walk, None) == Found::Line(line) {
            // It was not kept, or it is the same as the one before.
            let is_same = |(id, known): &(u32, Entered)| {
                *id == editor.id && matches!(known, Entered::Line(known) if known.text() == line)
            };
            let before = self.lines.iter().take(index).rposition(is_same);
            if let Some(before) = before.filter(|_| entered != Entered::Seam) {
                self.lines.insert(before, (owner, entered));
            }
            return;
        }
        let known = (editor.id, Entered::Line(Line::new(line)));
        match entered {
            Entered::Gap => {
                self.lines.insert(index, known);
                self.lines.insert(index, (owner, entered));
            }
            Entered::Seam => {
                self.lines.insert(index, known);
                // Older lines were another program's.
                let mut number = 0;
                self.lines.retain(|(id, _)| {
                    number += 1;
                    number > index || *id != editor.id
                });
            }
            Entered::Line(_) | Entered::Unclear => self.lines.insert(index, known),
        }
        if self.lines.len() > LINES_MAX {
            self.lines.pop_front();
        }
    }

    fn find_assuming(&self, editor: &Editor, walk: &Walk, assumed: Assumed) -> Found<'_> {
        let (doubles, search) = editor.views(walk).next().unwrap_or((Doubles::Keeps, Search::Any));
        self.find(editor, walk, doubles, search, assumed)
    }

    /// Returns what stands in the depth of a walk.
    fn find(
        &self,
        editor: &Editor,
        walk: &Walk,
        doubles: Doubles,
        search: Search,
        assumed: Assumed,
    ) -> Found<'_> {
        let mut passed: Vec<&str> = Vec::new();
        let mut newer = None;
        for (index, (id, entered)) in self.lines.iter().enumerate().rev() {
            let assumed = assumed.filter(|(other, _)| other == id).map(|(_, is_same)| is_same);
            let is_next = passed.len() + 1 == usize::from(walk.depth);
            match assumed.or_else(|| self.is_same(editor, *id)) {
                None => return Found::Stranger(*id),
                Some(false) => continue,
                Some(true) => {}
            }
            let Entered::Line(line) = entered else { return Found::Unclear(index, is_next) };
            let line = line.text();
            let is_left_out = match doubles {
                Doubles::Keeps => false,
                Doubles::DropsNext => newer == Some(line),
                Doubles::DropsAll => passed.contains(&line),
            };
            newer = Some(line);
            if is_left_out || !search.finds(line, walk.begun.text()) {
                continue;
            }
            if is_next {
                return Found::Line(line);
            }
            passed.push(line);
        }
        Found::None(passed.len() + 1 == usize::from(walk.depth))
    }

    /// Returns whether another editor is the same; `None` if nobody knows.
    fn is_same(&self, editor: &Editor, other: u32) -> Option<bool> {
        if editor.id == other || other == ANYONE {
            return Some(true);
        }
        let known = self.editors.iter().find(|known| known.id == other);
        let is_stranger = editor.strangers.contains(&other)
            || known.is_none_or(|known| known.kind != editor.kind);
        is_stranger.then_some(false)
    }

    fn merge(&mut self, id: u32, other: u32) {
        let Some(index) = self.editors.iter().position(|editor| editor.id == other) else { return };
        let merged = self.editors.remove(index);
        for (owner, _) in self.lines.iter_mut().filter(|(owner, _)| *owner == other) {
            *owner = id;
        }
        if let Some(editor) = self.editors.iter_mut().find(|editor| editor.id == id) {
            editor.strangers.extend(merged.strangers);
            for prompt in merged.prompts {
                editor.add_prompt(prompt);
            }
            let proofs = editor.proofs.iter_mut().flatten();
            for (proof, other) in proofs.zip(merged.proofs.iter().flatten()) {
                proof.merge(*other);
            }
        }
        for editor in &mut self.editors {
            editor.strangers.iter_mut().filter(|id| **id == other).for_each(|other| *other = id);
            editor.strangers.sort_unstable();
            editor.strangers.dedup();
        }
    }

    fn part(&mut self, id: u32, other: u32) {
        for editor in &mut self.editors {
            if editor.id == id {
                editor.strangers.push(other);
            } else if editor.id == other {
                editor.strangers.push(id);
            }
        }
    }

    fn push(&mut self, id: u32, entered: Entered) {
        if self.lines.len() >= LINES_MAX {
            self.lines.pop_front();
        }
        self.lines.push_back((id, entered));
    }

    fn find_editor(&self, name: Name) -> Option<&Editor> {
        self.editors.iter().find(|editor| editor.has(name))
    }

    fn editor(&mut self, name: Name) -> &mut Editor {
        let editor = match self.editors.iter().position(|editor| editor.has(name)) {
            Some(index) => self.editors.remove(index),
            None => {
                self.count = self.count.wrapping_add(1);
                Editor::new(self.count, name)
            }
        };
        if self.editors.len() >= EDITORS_MAX {
            let gone = self.editors.remove(0).id;
            self.lines.retain(|(id, _)| *id != gone);
            self.editors.iter_mut().for_each(|editor| editor.strangers.retain(|id| *id != gone));
        }
        self.editors.push(editor);
        let last = self.editors.len() - 1;
        &mut self.editors[last]
    }
}

/// The kind of find, without the text.
#[derive(Clone, Copy, Debug)]
enum Step {
    Line,
    Unclear(usize, bool),
    Stranger(u32),
    None(bool),
}

impl Step {
    const fn of(found: Found<'_>) -> Self {
        match found {
            Found::Line(_) => Self::Line,
            Found::Unclear(index, is_next) => Self::Unclear(index, is_next),
            Found::Stranger(id) => Self::Stranger(id),
            Found::None(is_next) => Self::None(is_next),
        }
    }
}

#[cfg(test)]
mod tests;
