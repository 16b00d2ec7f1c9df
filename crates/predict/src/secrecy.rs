//! Decides whether a typed character may be shown before the host has echoed it. No other module decides that.
//!
//! A program that asks for a secret looks like any other until it fails to echo. So a character is shown before its
//! echo only
//!
//! - if text was echoed in the current input line ([`Line`]); or
//! - in an editor that has drawn a mode line of an insert mode (`-- INSERT --`), after an echo in that mode
//!   ([`Insertion`]); or
//! - at a prompt that ends like a shell's, after [`LINES_MIN`] echoed lines there in this session or an earlier one. A
//!   second fact must show that a line editor asks ([`Spot::is_vouched`]); or
//! - if the server states that the session's own shell, or a program of it, waits at its own prompt. A line must have
//!   been echoed under such a statement ([`Statement`]).
//!
//! A line may be answered by masking characters or by nothing. Its prompt, and any that ends like it, is then refused
//! for the rest of the session. If prompts are remembered, later sessions refuse it too. After a key of unknown effect
//! that has changed nothing, no prompt permits characters until something is echoed. Another program may read the keys
//! and leave the prompt on the screen. Words that ask for secrets can only remove a permission. An echo mode of the
//! host's kernel is no permission. A program may turn echo off after its question, and the server's report of that
//! takes time.

mod insertion;
mod line;
mod statement;

use rove_terminal::{InputNum, Screen};

use self::insertion::Insertion;
pub(crate) use self::insertion::Window;
pub(crate) use self::line::Line;
use self::statement::Statement;
use crate::mechanism::Mechanism;
use crate::prompt_memory::PromptMemory;
use crate::scene::{self, Pane};

/// Number of lines that must be typed and echoed at a shell's prompt. Only then are the next line's first characters
/// shown. Chosen: two lines may come from a script that imitates the prompt.
const LINES_MIN: u16 = 3;

/// Most prompts for which echoed lines are counted, the last used. Chosen: a session has a handful.
const PLACES_MAX: usize = 64;

/// Most hashes of a session's refused prompts. With more, all prompts are refused for the rest of the session.
const REFUSED_MAX: usize = 512;

/// The hashes by which a prompt is recognised. A hash of 0 identifies no prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// A hash of the prompt without numbers and path, and of the terminal's modes. `end` has only the prompt's end.
    pub(crate) whole: u64,
    pub(crate) end: u64,
    /// A hash of the prompt's text alone, without the terminal's modes. Refusals use this hash and `end`.
    pub(crate) text: u64,
    pub(crate) sort: Sort,
}

/// The kind of program that a prompt reveals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sort {
    /// An editor whose mode line states that typed characters are inserted or replace others.
    Mode,
    /// A program whose prompt ends like a shell's.
    Shell,
    #[default]
    Other,
}

impl Sort {
    /// Returns the mechanism that can permit characters at a prompt of this sort.
    pub(crate) const fn mechanism(self) -> Mechanism {
        match self {
            Self::Mode => Mechanism::EditorModes,
            Self::Shell => Mechanism::ShellPrompts,
            Self::Other => Mechanism::Statements,
        }
    }
}

/// The place at which a character would be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<'a> {
    /// The echo of the characters typed since the last key of unknown effect.
    pub(crate) line: Line,
    /// The prompt at this place. `None`, or a prompt with hashes of 0, if nothing distinguishes it from others.
    pub(crate) prompt: Option<Prompt>,
    /// Whether this row is one that the cursor is only predicted to reach.
    pub(crate) is_ahead: bool,
    /// Whether a second fact shows that a line editor asks. Bracketed paste is on, or the prompt contains names that
    /// are also in the window's title.
    pub(crate) is_vouched: bool,
    pub(crate) screen: &'a Screen,
}

/// The prompts at which lines were echoed, and the refused ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrecy {
    /// The prompts at which keys were typed. The last one took input most recently.
    places: Vec<Place>,
    refused: Vec<u64>,
    /// The pane that contains the cursor.
    pane: Option<Pane>,
    insertion: Insertion,
    statement: Statement,
    /// Echo since an event after which another program may read, until text is echoed. `None` without such an event.
    doubt: Option<Line>,
    /// The text of the row with the newest question for a secret that was answered by a line.
    answered: Option<String>,
    /// The prompts known or refused in earlier sessions and this one. `None` if they are not stored.
    prompts: Option<PromptMemory>,
    /// Whether all lines are treated as echoed, for tests of predictions that would be hidden otherwise.
    #[cfg(test)]
    assumes_echo: bool,
}

/// A prompt, and how many of the lines typed at it were echoed.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    prompt: Prompt,
    /// How many lines were echoed, key by key, while [`Spot::is_vouched`] or a server's statement held.
    lines: u16,
    /// The line that is being typed. Unlike [`Spot::line`], it goes on after keys of unknown effect until Enter.
    line: Line,
    /// Whether a second fact held when the newest character was echoed, and (`is_stated`) whether that fact was a
    /// server's statement.
    is_vouched: bool,
    is_stated: bool,
}

impl Secrecy {
    /// Returns whether a character may be shown before its echo.
    pub(crate) fn may_show(&self, spot: &Spot<'_>) -> bool {
        #[cfg(test)]
        if self.assumes_echo {
            return true;
        }
        if spot.is_ahead || spot.line.is_spoilt() {
            return false;
        }
        spot.line.may_show() || spot.prompt.is_some_and(|prompt| self.knows(prompt, spot))
    }

    /// Treats all lines as echoed from this call on.
    #[cfg(test)]
    pub(crate) const fn assume_echo(&mut self) {
        self.assumes_echo = true;
    }

    /// Stores the prompts that earlier sessions knew or refused.
    pub(crate) fn set_memory(&mut self, memory: PromptMemory) {
        self.prompts = Some(memory);
    }

    pub(crate) const fn memory(&self) -> Option<&PromptMemory> {
        self.prompts.as_ref()
    }

    /// Returns whether characters are known to be echoed at this prompt, or in this editor's mode.
    fn knows(&self, prompt: Prompt, spot: &Spot<'_>) -> bool {
        let lines = || self.place(prompt).map_or(0, |place| place.lines);
        let is_known = match prompt.sort {
            // Words about secrets count only outside of editors, because any text may contain them.
            Sort::Mode => return self.insertion.permits(),
            _ if self.begins(prompt) => true,
            Sort::Shell => lines() >= LINES_MIN,
            Sort::Other => false,
        };
        is_known
            && (spot.is_vouched || self.statement.holds())
            && self.doubt.is_none()
            && !self.is_refused(prompt)
            && !scene::mentions_secret(spot.screen, self.answered.as_deref())
    }

    /// Returns whether fewer than three lines, entered in this session, suffice at a prompt. Either an earlier session
    /// knew this shell's prompt. Or the server states that the shell or its program waits, and an earlier statement was
    /// right. The server may by chance mistake a program's question for the shell's prompt. So a prompt that does not
    /// end like a shell's also needs a line that was echoed at this very prompt.
    pub(crate) fn begins(&self, prompt: Prompt) -> bool {
        let is_known = |memory: &PromptMemory| memory.knows(prompt.whole);
        let is_remembered = || self.prompts.as_ref().is_some_and(is_known);
        let has_line = || self.place(prompt).is_some_and(|place| place.lines > 0);
        let is_own = prompt.sort == Sort::Shell || has_line();
        let is_stated = self.statement.permits() && prompt.whole != 0 && is_own;
        is_stated || prompt.sort == Sort::Shell && is_remembered()
    }

    fn place(&self, prompt: Prompt) -> Option<&Place> {
        self.places.iter().find(|place| place.prompt == prompt)
    }

    fn is_refused(&self, prompt: Prompt) -> bool {
        let was_refused = |name| self.prompts.as_ref().is_some_and(|it| it.is_refused(name));
        let is_refused = |name| self.refused.contains(&name) || was_refused(name);
        self.refused.len() > REFUSED_MAX || is_refused(prompt.text) || is_refused(prompt.end)
    }

    /// Handles a statement of the server: the newest input that the session's own shell had read when it waited at its
    /// prompt. `None` if it does not wait.
    pub(crate) const fn handle_statement(&mut self, until: Option<InputNum>) {
        self.statement.handle(until);
    }

    /// Records that a character was echoed. `is_vouched` is true if a second fact shows that a line editor asks.
    pub(crate) fn note_echo(&mut self, prompt: Option<Prompt>, c: char, is_vouched: bool) {
        let is_stated = self.statement.holds();
        let place = self.visit(prompt);
        place.line.note_echo(c);
        (place.is_vouched, place.is_stated) = (is_vouched || is_stated, is_stated);
        self.insertion.note_echo(c);
        if let Some(doubt) = &mut self.doubt {
            doubt.note_echo(c);
        }
        self.doubt = self.doubt.filter(|doubt| !doubt.may_show());
    }

    /// Records a dropped key, or an answered key other than text, Backspace, Left and Right. It was sent with `input`.
    /// A server's statement then counts only if the shell had read that input.
    pub(crate) const fn note_barrier(&mut self, input: InputNum) {
        self.statement.note_barrier(input);
    }

    /// Records that a key other than Enter was answered: this prompt took input last.
    pub(crate) fn note_key(&mut self, prompt: Option<Prompt>) {
        self.visit(prompt);
    }

    /// Records an event after which another program may read. Such an event is a key (no character) that changed
    /// nothing around the cursor. So are keys of another client and a new size of the window.
    pub(crate) fn note_nothing(&mut self) {
        self.doubt = Some(Line::default());
        self.insertion.close();
    }

    /// Records that Insert, a search key or an unknown key was answered. Another program may have begun to read.
    pub(crate) fn note_command(&mut self) {
        self.doubt = Some(Line::default());
        self.insertion.note_miss();
    }

    /// Records a message of the user's terminal that is no key, such as a mouse report. A click may start a program.
    pub(crate) fn note_report(&mut self) {
        self.doubt = Some(Line::default());
    }

    /// Handles the pane around a new screen's cursor, and the cursor's window (`None` on the primary screen). Another
    /// pane raises doubt, because another program reads the keys there.
    pub(crate) fn observe(&mut self, pane: Pane, window: Option<Window>) {
        if self.pane.replace(pane).is_some_and(|before| before != pane) {
            self.doubt = Some(Line::default());
        }
        self.insertion.observe(window);
    }

    /// Records that a line was entered at the prompt that took input last. `prompt` may differ, because programs change
    /// their modes, which identify a prompt, before they answer. Counts only a line with answered characters.
    pub(crate) fn note_enter(&mut self, prompt: Option<Prompt>) {
        self.insertion.note_enter();
        let is_typed = |place: &&mut Place| place.line != Line::default();
        let Some(place) = self.places.last_mut().filter(is_typed) else {
            // The screen that answers the last keys at the previous prompt may already show the newest prompt.
            let place = self.places.iter().rev().nth(1).copied();
            if let Some(place) = place.filter(|it| it.line.was_spoilt() && !it.line.may_show()) {
                self.refuse(place.prompt);
            }
            self.visit(prompt);
            return;
        };
        let line = core::mem::take(&mut place.line);
        if place.is_stated {
            self.statement.note_line(line.may_show());
        }
        match (line.may_show(), line.was_spoilt()) {
            (true, false) if !place.is_vouched => {}
            (true, false) => {
                place.lines = place.lines.saturating_add(1);
                if place.lines >= LINES_MIN && place.prompt.sort == Sort::Shell {
                    self.prompts.iter_mut().for_each(|it| it.keep(place.prompt.whole));
                }
            }
            // A shell may answer some keys of a line late or without echo. A question for a secret echoes no key.
            (true, true) if place.prompt.sort == Sort::Shell => {}
            (true, true) => place.lines = 0,
            (false, true) => {
                let prompt = place.prompt;
                self.refuse(prompt);
            }
            (false, false) => {}
        }
    }

    /// Records the text of a row that asked for a secret, when a line was entered there. From then on, a row above the
    /// cursor with this text does not count as a mention of a secret.
    pub(crate) fn note_answer(&mut self, question: String) {
        self.answered = Some(question);
    }

    /// Forgets the current line, because another one may have begun. Keeps a line in which a key was not echoed, until
    /// a later character is echoed.
    pub(crate) fn note_reset(&mut self) {
        if self.places.last().is_some_and(|place| !place.line.is_spoilt()) {
            self.note_end();
        }
    }

    /// Records that a line was cancelled (Ctrl-C).
    pub(crate) fn note_end(&mut self) {
        if let Some(place) = self.places.last_mut() {
            place.line = Line::default();
        }
    }

    /// Records that a character was answered otherwise than by its echo, or not in time.
    pub(crate) fn note_miss(&mut self, prompt: Option<Prompt>) {
        let is_stated = self.statement.holds();
        let place = self.visit(prompt);
        place.line.spoil();
        place.is_stated = is_stated;
        self.insertion.note_miss();
    }

    /// Records that keys were answered by masking characters, and refuses the prompt.
    pub(crate) fn note_mask(&mut self, prompt: Option<Prompt>) {
        if let Some(prompt) = prompt {
            self.refuse(prompt);
        }
        self.visit(prompt).line.spoil();
    }

    fn refuse(&mut self, prompt: Prompt) {
        for name in [prompt.text, prompt.end].into_iter().filter(|name| *name != 0) {
            if !self.refused.contains(&name) && self.refused.len() <= REFUSED_MAX {
                self.refused.push(name);
            }
            debug_assert!(self.refused.len() <= REFUSED_MAX + 1, "beyond the most, all is refused");
            self.prompts.iter_mut().for_each(|it| it.refuse(name));
        }
    }

    /// Moves this prompt's place, or a new one, to the end of the list, because it took input last. Returns the place.
    fn visit(&mut self, prompt: Option<Prompt>) -> &mut Place {
        let prompt = prompt.unwrap_or_default();
        let place = match self.places.iter().position(|place| place.prompt == prompt) {
            Some(index) => self.places.remove(index),
            None => Place { prompt, ..Place::default() },
        };
        if self.places.len() >= PLACES_MAX {
            self.places.remove(0);
        }
        self.places.push(place);
        debug_assert!(self.places.len() <= PLACES_MAX, "no more places are kept than the most");
        self.places.last_mut().expect("a place was added")
    }
}

#[cfg(test)]
mod tests;
