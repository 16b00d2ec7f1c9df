//! Lines, and how far an editor was taken back through them.

use zeroize::Zeroize;

use crate::keystroke::Key;

/// Most characters of a line that is remembered. Chosen: few lines that are called back are longer.
pub(super) const CHARACTERS_MAX: usize = 256;

/// Words of lines behind which another program may ask that looks the same. Chosen: shells, and what starts or
/// leaves one, here or elsewhere.
#[rustfmt::skip]
const PASSAGES: [&str; 26] = [
    "bash", "sh", "zsh", "fish", "ksh", "dash", "tcsh", "su", "sudo", "doas", "login", "newgrp", "exec", "exit",
    "logout", "bye", "ssh", "mosh", "rove", "screen", "tmux", "docker", "podman", "kubectl", "chroot", "nsenter",
];

/// A text that is wiped when it is forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line(String);

/// The knowledge of a line that was entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entered {
    Line(Line),
    /// It may be kept or not, and in another form.
    Unclear,
    /// Nobody knows what was entered here, or whether anything was, or another program may have asked before.
    Gap,
}

/// Which way a key goes through the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) is_back: bool,
    /// Whether it is a letter with Ctrl, of which some programs make something else.
    pub(super) is_control: bool,
}

/// How far a line editor was taken back through its lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Walk {
    pub(super) depth: u16,
    /// The text that stood there before.
    pub(super) begun: Line,
    /// Whether what was given back was changed since.
    pub(super) is_edited: bool,
    pub(super) is_lost: bool,
    /// The last step, if it was not compared yet with what is expected.
    pub(super) open: Option<Way>,
}

/// The line editor that asks, as far as its prompt tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) prompt: u64,
    /// Editors of different kinds have nothing in common.
    pub(super) kind: u64,
}

/// Knowledge of the lines that editors give back.
pub(super) trait Lines: core::fmt::Debug {
    /// Returns the line that a step has led to, where the editor has shown that it gives back what is expected.
    fn recall<'a>(&'a self, name: Name, walk: &'a Walk, way: Way) -> Option<&'a str>;

    /// Returns the line that a step has led to, if all views of what the editor keeps agree.
    fn expect<'a>(&'a self, name: Name, walk: &'a Walk) -> Option<&'a str>;
}

/// The lines that one editor is believed to give back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recall<'a> {
    pub(super) lines: &'a dyn Lines,
    pub(super) name: Name,
    /// Whether they are tried, and not to be seen.
    pub(super) is_trial: bool,
}

impl Recall<'_> {
    /// Returns the line that a step has led to.
    pub(super) fn line<'b>(&'b self, walk: &'b Walk, way: Way) -> Option<&'b str> {
        if self.is_trial {
            self.lines.expect(self.name, walk)
        } else {
            self.lines.recall(self.name, walk, way)
        }
    }
}

impl Way {
    pub(super) const fn of(key: Key) -> Option<Self> {
        let (is_back, is_control) = match key {
            Key::Up => (true, false),
            Key::ControlP => (true, true),
            Key::Down => (false, false),
            Key::ControlN => (false, true),
            _ => return None,
        };
        Some(Self { is_back, is_control })
    }
}

impl Walk {
    /// Goes one step on from a line that reads `line`. Returns whether it is known to where.
    pub(super) fn step(&mut self, way: Way, line: impl FnOnce() -> String) -> bool {
        self.is_lost |= self.is_edited || !way.is_back && self.depth == 0;
        if self.is_lost {
            return false;
        }
        if self.depth == 0 {
            self.begun = Line(line());
        }
        self.depth = if way.is_back { self.depth.saturating_add(1) } else { self.depth - 1 };
        true
    }

    /// Called when the text was changed.
    pub(super) const fn edit(&mut self) {
        self.is_edited |= self.depth > 0;
        self.open = None;
    }

    /// Called when nobody knows how far it was.
    pub(super) const fn lose(&mut self) {
        self.is_lost = true;
        self.open = None;
    }
}

impl Entered {
    /// Returns what is known of a line that was entered as this text.
    pub(super) fn of(text: &str) -> Self {
        // A line behind a blank may not be kept, a blank at the end may be cut, and some signs are replaced.
        let is_cut = text.starts_with(' ') || text.ends_with([' ', '\\']);
        let follows = |c: char| c.is_alphanumeric() || "!$*?-#\"".contains(c);
        let is_expanded = text.starts_with('^')
            || text.match_indices('!').any(|(at, _)| text[at + 1..].starts_with(follows));
        if is_cut || is_expanded || text.chars().count() > CHARACTERS_MAX {
            Self::Unclear
        } else {
            Self::Line(Line::new(text))
        }
    }
}

impl Line {
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn is_passage(&self) -> bool {
        self.0.split_whitespace().any(|word| PASSAGES.contains(&word))
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}
