//! The lines that were entered at the current prompt, which its line editor can recall.
//!
//! The engine remembers only text that was on the screen. It forgets all lines if the text of an entered line is
//! unknown. It also does so after a line at another prompt. It also learns from the lines that the editor recalls.

use rove_terminal::{InputNum, Screen};

use crate::replay::base::Base;
use crate::replay::class::is_end;
use crate::replay::field::Kind;
use crate::replay::history_cursor::{Line, Past};
use crate::replay::id::PromptId;
use crate::replay::match_result::Barrier;
use crate::replay::pending_keys::PendingKeys;
use crate::scene::text::characters;

/// Most entered lines that are remembered for Up, the newest ones. Chosen: few users go back further by cursor key.
const LINES_MAX: usize = 64;

/// Fewest blank columns between the input and text that is not input. Chosen: equal to `scene`'s `GAP_COLUMNS_MIN`.
const GAP_COLUMNS: usize = 2;

/// The lines that were entered at one prompt, and the line that is about to be entered.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// The editor in which the lines were entered or recalled. `None` if there was no line.
    owner: Option<Name>,
    /// The lines entered since the last line of unknown text, the newest last.
    pub(super) lines: Vec<Past>,
    /// The line that is about to be entered. `None` if there is no such line.
    pub(super) sheet: Option<Sheet>,
    /// Whether the current line may contain a paste. Enter does not end the line within a paste.
    is_pasted: bool,
}

/// Identifies a line editor by its prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    prompt: PromptId,
    kind: Kind,
}

/// A line that is about to be entered.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    /// The input number of the key that ends the line.
    input: InputNum,
    name: Name,
    text: Line,
    /// The text of the line's row, including the prompt. `None` if the line continues in another row.
    row: Option<Line>,
    left: u16,
    /// Whether the line was on the screen while no other key was pending.
    was_seen: bool,
}

impl Sheet {
    /// Returns the line that `barrier`, a key of unknown effect, is about to end. `None` if it does not end a line or
    /// has not reached the host, or if the base may show text typed later.
    fn new(pending: &PendingKeys<'_>, barrier: &Barrier, name: Name) -> Option<Self> {
        let base = pending.base;
        let (text, row) = barrier.line.clone()?;
        let input = barrier.input;
        // A new line is empty at first, although the screen may still show the previous line's text.
        let start = pending.start();
        let is_begun = !base.is_new_line || !start.bounds.is_empty();
        let is_over = input > pending.arrived || base.arrived >= input && is_begun;
        if is_over || !is_end(barrier.key) {
            return None;
        }
        let is_answered = base.unsure <= base.acked && base.field.suggested.is_none();
        let was_seen = barrier.index == 0 && (base.is_new_line || is_answered);
        Some(Self { input, name, text, row, left: base.field.bounds.pane.left, was_seen })
    }

    /// Returns whether a screen shows the line in a row above the cursor, followed by a gap or by nothing.
    fn stands_on(&self, screen: &Screen) -> bool {
        let Some(row) = &self.row else { return false };
        let stands_in = |index| {
            let mut shown = characters(screen, index).skip(self.left.into());
            row.text().chars().all(|c| shown.next() == Some(c))
                && shown.take(GAP_COLUMNS).all(|c| c == ' ')
        };
        (0..screen.cursor().row).rev().any(stands_in)
    }
}

impl History {
    /// Returns the identity of the editor in the base's field. `None` if its lines are not remembered.
    pub(super) fn name(&self, base: &Base) -> Option<Name> {
        let field = &base.field;
        let strong = field.context.strong;
        let prompt = match field.kind {
            Kind::Line | Kind::Unknown => strong,
            // No text is below the input in its pane. The pane then identifies the program, too.
            Kind::Full if field.bounds.is_last => {
                let pane = [field.bounds.pane.left, field.bounds.pane.right, field.bounds.pane.top];
                PromptId::of([strong.number()].into_iter().chain(pane.map(u64::from)))
            }
            _ => return None,
        };
        let name = Name { prompt, kind: field.kind };
        let has_prompt =
            field.has_name() && !field.prompt.ends_in_word() && !field.prompt.is_secret;
        (has_prompt && (!field.prompt.may_be_typed || self.knows(name))).then_some(name)
    }

    /// Returns whether the remembered lines were entered in this editor.
    pub(super) fn knows(&self, name: Name) -> bool {
        self.owner == Some(name)
    }

    /// Returns whether the remembered lines were entered in a program of this kind.
    pub(super) fn has_kind(&self, kind: Kind) -> bool {
        self.owner.is_some_and(|owner| owner.kind == kind)
    }

    /// Returns the remembered lines of an editor, the newest last. Empty if there are none.
    pub(super) fn lines(&self, name: Name) -> &[Past] {
        if self.knows(name) { &self.lines } else { &[] }
    }

    /// Returns the line that is about to be entered. `None` without such a line, or if it is already recorded.
    pub(super) fn sheet(
        &self,
        pending: &PendingKeys<'_>,
        barrier: &Barrier,
        name: Name,
    ) -> Option<Sheet> {
        let is_news =
            |sheet: &Sheet| self.sheet.as_ref().is_none_or(|known| known.input != sheet.input);
        Sheet::new(pending, barrier, name).filter(is_news)
    }

    /// Records that a paste begins or ends, because it may contain line ends.
    pub(super) const fn note_paste(&mut self) {
        self.is_pasted = true;
    }

    /// Stores the line that the key sent with `input` ended. If its text is uncertain (`is_hidden`), forgets all lines.
    pub(super) fn end_line(&mut self, input: InputNum, screen: &Screen, is_hidden: bool) {
        let is_pasted = core::mem::take(&mut self.is_pasted);
        let sheet = self.sheet.take().filter(|sheet| sheet.input == input);
        let is_seen = |sheet: &Sheet| sheet.was_seen || sheet.stands_on(screen);
        let Some(sheet) = sheet.filter(|sheet| !is_hidden && !is_pasted && is_seen(sheet)) else {
            self.forget();
            return;
        };
        if !self.knows(sheet.name) {
            self.forget();
            self.owner = Some(sheet.name);
        }
        if sheet.text.text().trim().is_empty() {
            return;
        }
        if sheet.text.is_passage() || !sheet.text.is_plain() {
            // Another program may follow at the same prompt, or the editor may have stored a different line.
            self.forget();
        } else {
            self.push(sheet.text);
        }
    }

    /// Forgets all lines, because unknown lines may have been entered.
    pub(super) fn forget(&mut self) {
        self.lines.clear();
    }

    /// Compares the line that an editor has recalled after `depth` steps with the remembered lines, and corrects these.
    pub(super) fn observe(&mut self, name: Name, depth: u16, line: &str) {
        if !self.knows(name) {
            self.forget();
            self.owner = Some(name);
        }
        let past = || Past { line: Line::new(line), is_kept: true };
        let Some(depth) = usize::from(depth).checked_sub(1).filter(|_| !line.is_empty()) else {
            return;
        };
        let is_line = |past: Option<&Past>| past.is_some_and(|past| past.line.text() == line);
        let Some(index) = self.lines.len().checked_sub(depth + 1) else {
            // This line is older than all known lines, or the oldest again: an editor ignores steps beyond it.
            let is_next = depth == self.lines.len() && depth < LINES_MAX;
            if is_next && !is_line(self.lines.first()) {
                self.lines.insert(0, past());
            }
            debug_assert!(self.lines.len() <= LINES_MAX, "an older line has room");
            return;
        };
        let is_dropped = !self.lines[index].is_kept;
        if is_line(self.lines.get(index)) {
            self.lines[index].is_kept = true;
        } else if is_dropped && index > 0 && is_line(self.lines.get(index - 1)) {
            self.lines[index - 1].is_kept = true;
            self.lines.remove(index);
        } else {
            self.forget();
            if depth == 0 {
                self.lines.push(past());
            }
        }
    }

    fn push(&mut self, line: Line) {
        for past in self.lines.iter_mut().filter(|past| past.line == line) {
            past.is_kept = false;
        }
        self.lines.push(Past { line, is_kept: true });
        if self.lines.len() > LINES_MAX {
            self.lines.remove(0);
        }
        debug_assert!(self.lines.len() <= LINES_MAX, "no more lines are kept than the most");
    }
}

#[cfg(test)]
mod tests;
