//! Whether a typed character may be shown before the host has echoed it. Nothing else decides that.
//!
//! A program that asks for a secret looks like any other until it fails to echo. So a character is shown ahead of its
//! echo only
//!
//! - where text was echoed in this very input line since it began ([`Line`]); or
//! - in an editor that names the mode in which it takes characters for text (`-- INSERT --`); or
//! - at a prompt that ends in the sign of a shell, as questions do not, after [`LINES_MIN`] lines were typed and
//!   echoed there; or
//! - at any other prompt after [`QUESTIONS_MIN`] such lines, if no other prompt took input since the last of them.
//!
//! A prompt at which a line was answered by masking characters, or by nothing, is never known again in this
//! session, nor is any that ends alike. Words that ask for secrets only ever take a permission away. That the kernel
//! of the host echoes is no permission: programs turn the echo off long after they have asked, and the server's word is
//! as old as the path is long.

use rove_terminal::Screen;

use crate::mechanism::Mechanism;
use crate::scene;

/// Lines that must have been typed and echoed at the prompt of a shell before the first characters of the next line are
/// shown. Chosen: two lines may come from a script that imitates the prompt; docs/prediction.md has the cost.
const LINES_MIN: u16 = 3;

/// The same at other prompts. Chosen: twice as many as the questions with one prompt that any script was met with
/// before it asked for a secret with that prompt.
const QUESTIONS_MIN: u16 = 8;

/// Letters and digits that programs show in place of others.
const MASK_LETTERS: [char; 6] = ['x', 'X', 'o', 'O', '0', '8'];

/// Most places that are remembered; the one that took input least recently goes. Chosen: a session has a handful.
const PLACES_MAX: usize = 64;

/// Most names of refused prompts. With more, no prompt is known for the rest of the session.
const REFUSED_MAX: usize = 512;

/// The echo that one input line has shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    has_echoed: bool,
    /// The first character that stood where it was typed, and may be a mask of all others.
    first: Option<char>,
    /// Whether a key was answered otherwise than by its echo, or not in time.
    is_spoilt: bool,
}

impl Line {
    /// Returns whether the next character of this line may be shown: text was echoed in it since it began.
    pub(crate) const fn may_show(self) -> bool {
        self.has_echoed
    }

    /// Called when a character stands where it was typed. It is an echo if it is a letter or digit that no program masks
    /// others with, or the second one that differs: a mask is always the same.
    pub(crate) fn note_echo(&mut self, c: char) {
        if scene::is_mask(c) || c.is_whitespace() {
            return;
        }
        let may_mask = !c.is_alphanumeric() || MASK_LETTERS.contains(&c);
        let differs = self.first.is_some_and(|first| first != c);
        self.has_echoed |= !may_mask || differs;
        self.first.get_or_insert(c);
    }

    /// Called when a key has been answered otherwise than by its echo.
    pub(crate) const fn spoil(&mut self) {
        *self = Self { has_echoed: false, first: None, is_spoilt: true };
    }

    /// Called when another line may have begun.
    pub(crate) const fn end(&mut self) {
        (self.has_echoed, self.first) = (false, None);
    }
}

/// The names that a prompt is known by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// The name of all of it but its numbers and its path, and of its end.
    pub(crate) whole: u64,
    pub(crate) end: u64,
    pub(crate) sort: Sort,
}

/// How much a prompt says of who asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sort {
    /// The mode of an editor in which characters are text.
    Mode,
    /// The sign of a shell at its end.
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
            Self::Other => Mechanism::Questions,
        }
    }
}

/// Where a character is about to be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<'a> {
    /// The echo since the last key of unknown effect.
    pub(crate) line: Line,
    /// `None` where nothing tells this place from others.
    pub(crate) prompt: Option<Prompt>,
    /// Whether rows were begun, ahead of the screen, on the way to it.
    pub(crate) is_ahead: bool,
    pub(crate) screen: &'a Screen,
}

/// The prompts at which lines were echoed, and those at which they were not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrecy {
    /// The place that took input last at the end.
    places: Vec<Place>,
    refused: Vec<u64>,
    /// Whether all lines are taken for echoed: for tests of what is predicted, shown or not.
    #[cfg(test)]
    assumes_echo: bool,
}

/// A prompt, and what has become of the lines typed at it.
#[derive(Clone, Copy, Debug)]
struct Place {
    prompt: Prompt,
    /// Lines echoed, none of them otherwise answered since.
    lines: u16,
    /// The line that is being typed. Unlike [`Spot::line`] it goes on after keys of unknown effect, until it is entered.
    line: Line,
}

impl Secrecy {
    /// Returns whether a character may be shown before its echo.
    pub(crate) fn may_show(&self, spot: &Spot<'_>) -> bool {
        #[cfg(test)]
        if self.assumes_echo {
            return true;
        }
        let is_mode = spot.prompt.is_some_and(|prompt| prompt.sort == Sort::Mode);
        if spot.is_ahead && !is_mode || spot.line.is_spoilt && !spot.line.has_echoed {
            return false;
        }
        spot.line.may_show() || spot.prompt.is_some_and(|prompt| self.knows(prompt, spot.screen))
    }

    /// Treats all lines as echoed from now on.
    #[cfg(test)]
    pub(crate) const fn assume_echo(&mut self) {
        self.assumes_echo = true;
    }

    /// Returns whether lines are known to be echoed at a prompt.
    fn knows(&self, prompt: Prompt, screen: &Screen) -> bool {
        let lines = || self.place(prompt).map_or(0, |place| place.lines);
        let is_last = || self.places.last().is_some_and(|last| last.prompt == prompt);
        let is_known = match prompt.sort {
            Sort::Mode => true,
            Sort::Shell => lines() >= LINES_MIN,
            Sort::Other => lines() >= QUESTIONS_MIN && is_last(),
        };
        // A text in an editor may be about passwords.
        let may_ask = || prompt.sort != Sort::Mode && scene::mentions_secret(screen);
        is_known && !self.is_refused(prompt) && !may_ask()
    }

    fn place(&self, prompt: Prompt) -> Option<&Place> {
        self.places.iter().find(|place| place.prompt == prompt)
    }

    fn is_refused(&self, prompt: Prompt) -> bool {
        let is_refused = |name| self.refused.contains(&name);
        self.refused.len() > REFUSED_MAX || is_refused(prompt.whole) || is_refused(prompt.end)
    }

    /// Called when a character has been echoed.
    pub(crate) fn note_echo(&mut self, prompt: Option<Prompt>, c: char) {
        self.visit(prompt).line.note_echo(c);
    }

    /// Called when any other key than the end of a line has been answered.
    pub(crate) fn note_key(&mut self, prompt: Option<Prompt>) {
        self.visit(prompt);
    }

    /// Called when a line was entered. It belongs to the place that has echoed text since its last line, if there is
    /// one: programs change their modes, by which a prompt is known, before they answer.
    pub(crate) fn note_enter(&mut self, prompt: Option<Prompt>) {
        let is_typed = |place: &&mut Place| place.line != Line::default();
        let Some(place) = self.places.last_mut().filter(is_typed) else {
            self.visit(prompt);
            return;
        };
        let line = core::mem::take(&mut place.line);
        match (line.has_echoed, line.is_spoilt) {
            (true, false) => place.lines = place.lines.saturating_add(1),
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

    /// Called when a line was given up (Ctrl-C), or another one may have begun.
    pub(crate) fn note_end(&mut self) {
        if let Some(place) = self.places.last_mut() {
            place.line = Line::default();
        }
    }

    /// Called when a character was answered otherwise than by its echo, or not in time.
    pub(crate) fn note_miss(&mut self, prompt: Option<Prompt>) {
        self.visit(prompt).line.spoil();
    }

    /// Called when keys were answered by masking characters: this prompt is never known again.
    pub(crate) fn note_mask(&mut self, prompt: Option<Prompt>) {
        if let Some(prompt) = prompt {
            self.refuse(prompt);
        }
        self.visit(prompt).line.spoil();
    }

    fn refuse(&mut self, prompt: Prompt) {
        for name in [prompt.whole, prompt.end] {
            if !self.refused.contains(&name) && self.refused.len() <= REFUSED_MAX {
                self.refused.push(name);
            }
        }
    }

    /// Makes a place the one that took input last, and returns it.
    fn visit(&mut self, prompt: Option<Prompt>) -> &mut Place {
        let prompt = prompt.unwrap_or_default();
        let place = match self.places.iter().position(|place| place.prompt == prompt) {
            Some(index) => self.places.remove(index),
            None => Place { prompt, lines: 0, line: Line::default() },
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
