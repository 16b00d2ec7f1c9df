//! Whether a typed character may be shown before the host has echoed it. Nothing else decides that.
//!
//! A program that asks for a secret looks like any other until it fails to echo. So a character is shown ahead of its echo only
//!
//! - where text was echoed in this very input line since it began ([`Line`]); or
//! - in an editor that has drawn a mode line by which characters are text (`-- INSERT --`), after an echo in that mode
//!   ([`Insertion`]); or
//! - at a prompt that ends in the sign of a shell, after [`LINES_MIN`] lines were typed and echoed there in this session
//!   or an earlier one, where a second fact says that a line editor asks (see [`Spot::is_vouched`]); or
//! - where the server states that the session's own shell, or a program of it, waits at its own prompt, after a line was
//!   echoed there ([`Statement`]).
//!
//! A prompt at which a line was answered by masking characters, or by nothing, is never known again in this session,
//! nor is any that ends alike. After a key of unknown effect that has changed nothing, nothing is permitted until
//! something is echoed: another program may read the keys and leave the prompt on the screen. Words that ask for
//! secrets only ever take a permission away. An echo mode of the host's kernel is no permission: programs turn the echo
//! off long after they have asked, and the server's word is as old as the path is long.

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

/// Lines that must have been typed and echoed at the prompt of a shell before the first characters of the next line are
/// shown. Chosen: two lines may come from a script that imitates the prompt.
const LINES_MIN: u16 = 3;

/// Most prompts that are remembered; the one that took input least recently is dropped. Chosen: a session has a
/// handful.
const PLACES_MAX: usize = 64;

/// Most names of refused prompts. With more, no prompt is known for the rest of the session.
const REFUSED_MAX: usize = 512;

/// The names that a prompt is known by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// The name of the prompt without its numbers and its path. `end` is the name of the prompt's end.
    pub(crate) whole: u64,
    pub(crate) end: u64,
    /// The name of the prompt's text alone, without modes and position. A refusal uses this name and `end`.
    pub(crate) text: u64,
    pub(crate) sort: Sort,
}

/// How much a prompt tells of the program that asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sort {
    /// An editor's mode in which characters are text.
    Mode,
    /// A prompt that ends in the sign of a shell.
    Shell,
    #[default]
    Other,
}

impl Sort {
    /// Returns the permission that a prompt of this sort may have.
    pub(crate) const fn mechanism(self) -> Mechanism {
        match self {
            Self::Mode => Mechanism::EditorModes,
            Self::Shell => Mechanism::ShellPrompts,
            Self::Other => Mechanism::Statements,
        }
    }
}

/// Where a character is about to be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<'a> {
    /// The echo since the last key of unknown effect.
    pub(crate) line: Line,
    /// The prompt there. `None`, or a prompt without a name, where nothing tells it from others.
    pub(crate) prompt: Option<Prompt>,
    /// Whether the cursor is only predicted to be in this row.
    pub(crate) is_ahead: bool,
    /// Whether a fact beside the prompt's text says that a line editor asks: pastes are bracketed, or the prompt names what the
    /// window's title names.
    pub(crate) is_vouched: bool,
    pub(crate) screen: &'a Screen,
}

/// The prompts at which lines were echoed, and those at which they were not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrecy {
    /// The prompts at which keys were typed. The last one took input most recently.
    places: Vec<Place>,
    refused: Vec<u64>,
    /// The pane that the cursor is in.
    pane: Option<Pane>,
    insertion: Insertion,
    statement: Statement,
    /// The echo since another program may have begun to read. `None` if none may have.
    doubt: Option<Line>,
    /// The row of the newest question for a secret at which a line was entered.
    answered: Option<String>,
    /// The prompts of earlier sessions and of this one. `None` if they are not kept.
    prompts: Option<PromptMemory>,
    /// Whether all lines are taken for echoed: for tests of what is predicted, shown or not.
    #[cfg(test)]
    assumes_echo: bool,
}

/// A prompt, and what has become of the lines typed at it.
#[derive(Clone, Copy, Debug)]
struct Place {
    prompt: Prompt,
    /// How many lines were echoed, key by key, while a second fact held.
    lines: u16,
    /// The line that is being typed. Unlike [`Spot::line`] it goes on after keys of unknown effect, until it is entered.
    line: Line,
    /// Whether a second fact held when the newest character was echoed; `is_stated`: whether the fact was a server's
    /// statement.
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

    /// Treats all lines as echoed from now on.
    #[cfg(test)]
    pub(crate) const fn assume_echo(&mut self) {
        self.assumes_echo = true;
    }

    /// Loads the prompts that earlier sessions knew.
    pub(crate) fn set_memory(&mut self, memory: PromptMemory) {
        self.prompts = Some(memory);
    }

    /// Returns the prompts that this session and earlier ones knew.
    pub(crate) const fn memory(&self) -> Option<&PromptMemory> {
        self.prompts.as_ref()
    }

    /// Returns whether characters are known to be echoed at a prompt, or in the mode of an editor.
    fn knows(&self, prompt: Prompt, spot: &Spot<'_>) -> bool {
        let lines = || self.place(prompt).map_or(0, |place| place.lines);
        let is_known = match prompt.sort {
            // A text in an editor may be about passwords.
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

    /// Returns whether lines may begin at a prompt though fewer than three were entered at it in this session. That is so
    /// where an earlier session knew this prompt of a shell, or the server states that the shell or its program waits.
    /// The server may take a question of a program for its prompt by chance. So a prompt without a shell's sign needs
    /// a line at this very prompt.
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

    /// Called with the input up to which the session's own shell waits at its prompt, by the server's statement, or
    /// `None`.
    pub(crate) const fn handle_statement(&mut self, until: Option<InputNum>) {
        self.statement.handle(until);
    }

    /// Called when a character has been echoed, with whether a second fact spoke for the prompt.
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

    /// Called when a key of unknown effect was answered, with the number of its input: what the server stated before is
    /// about another line.
    pub(crate) const fn note_barrier(&mut self, input: InputNum) {
        self.statement.note_barrier(input);
    }

    /// Called when any other key than the end of a line has been answered.
    pub(crate) fn note_key(&mut self, prompt: Option<Prompt>) {
        self.visit(prompt);
    }

    /// Called when a key that is no character has been answered by a screen on which nothing has changed around the
    /// cursor, or the window has another size: another program may have begun to read.
    pub(crate) fn note_nothing(&mut self) {
        self.doubt = Some(Line::default());
        self.insertion.close();
    }

    /// Called when a key was answered that line editors and editors have no common use for.
    pub(crate) fn note_command(&mut self) {
        self.doubt = Some(Line::default());
        self.insertion.note_miss();
    }

    /// Called when the terminal reports something that is no key, such as the mouse.
    pub(crate) fn note_report(&mut self) {
        self.doubt = Some(Line::default());
    }

    /// Called for each screen with the cursor's pane and the window around the cursor, which the primary screen does not
    /// have. Another pane raises doubt, because another program reads what is typed there.
    pub(crate) fn observe(&mut self, pane: Pane, window: Option<Window>) {
        if self.pane.replace(pane).is_some_and(|before| before != pane) {
            self.doubt = Some(Line::default());
        }
        self.insertion.observe(window);
    }

    /// Called when a line was entered. It belongs to the place that has echoed text since its last line, if there is
    /// one: programs change their modes, by which a prompt is known, before they answer.
    pub(crate) fn note_enter(&mut self, prompt: Option<Prompt>) {
        self.insertion.note_enter();
        let is_typed = |place: &&mut Place| place.line != Line::default();
        let Some(place) = self.places.last_mut().filter(is_typed) else {
            // Its last keys may have been answered together with the next prompt.
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
            // Shells answer some keys late or otherwise, in lines that echo. Questions do not.
            (true, true) if place.prompt.sort == Sort::Shell => {}
            (true, true) => place.lines = 0,
            (false, true) => {
                let prompt = place.prompt;
                self.refuse(prompt);
            }
            (false, false) => {}
        }
    }

    /// Called with the text of a row that asked for a secret, when a line was entered there. From then on, a row above the
    /// cursor with this text does not count as a mention of a secret.
    pub(crate) fn note_answer(&mut self, question: String) {
        self.answered = Some(question);
    }

    /// Called when a line was given up (Ctrl-C), or another one may have begun.
    pub(crate) fn note_end(&mut self) {
        if let Some(place) = self.places.last_mut() {
            place.line = Line::default();
        }
    }

    /// Called when a character was answered otherwise than by its echo, or not in time.
    pub(crate) fn note_miss(&mut self, prompt: Option<Prompt>) {
        let is_stated = self.statement.holds();
        let place = self.visit(prompt);
        place.line.spoil();
        place.is_stated = is_stated;
        self.insertion.note_miss();
    }

    /// Called when keys were answered by masking characters: this prompt is never known again.
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
            self.prompts.iter_mut().for_each(|it| it.refuse(name));
        }
    }

    /// Moves the place with this prompt, or a new one, to the end of the list, as it took input last, and returns it.
    fn visit(&mut self, prompt: Option<Prompt>) -> &mut Place {
        let prompt = prompt.unwrap_or_default();
        let place = match self.places.iter().position(|place| place.prompt == prompt) {
            Some(index) => self.places.remove(index),
            None => Place {
                prompt,
                lines: 0,
                line: Line::default(),
                is_vouched: false,
                is_stated: false,
            },
        };
        if self.places.len() >= PLACES_MAX {
            self.places.remove(0);
        }
        self.places.push(place);
        self.places.last_mut().expect("a place was added")
    }
}

#[cfg(test)]
mod tests;
