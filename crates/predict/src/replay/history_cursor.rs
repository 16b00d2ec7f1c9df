//! Lines that were entered, and how far an editor was taken back through them.

use zeroize::Zeroize;

use crate::keystroke::Key;
use crate::replay::class::{Class, Edit};

/// Most characters of a line that is remembered. Chosen: few lines that are called back are longer.
pub(super) const CHARACTERS_MAX: usize = 256;

/// Words of lines after which another program may ask that looks the same. Chosen: shells, and what starts or
/// leaves one, here or elsewhere.
#[rustfmt::skip]
const PASSAGES: [&str; 26] = [
    "bash", "sh", "zsh", "fish", "ksh", "dash", "tcsh", "su", "sudo", "doas", "login", "newgrp", "exec", "exit",
    "logout", "bye", "ssh", "mosh", "rove", "screen", "tmux", "docker", "podman", "kubectl", "chroot", "nsenter",
];

/// A text that is wiped when it is forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line(String);

/// A line that a line editor has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Past {
    pub(super) line: Line,
    /// Whether the editor is known to keep it. An editor may drop the older of two equal lines.
    pub(super) is_kept: bool,
}

/// How far a line editor was taken back through its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HistoryCursor {
    pub(super) depth: u16,
    /// Whether nobody knows how far it was, or what the editor looks for: a line was begun, or one of its lines changed.
    pub(super) is_lost: bool,
    /// Whether the line that the last step has led to was not compared yet with what is remembered.
    pub(super) is_open: bool,
}

impl HistoryCursor {
    /// Returns it one step further; `is_empty` tells whether the line is empty from which the step leads.
    pub(super) const fn step(self, is_back: bool, is_empty: bool) -> Self {
        let is_lost = self.is_lost || self.depth == 0 && !(is_back && is_empty);
        let depth =
            if is_back { self.depth.saturating_add(1) } else { self.depth.saturating_sub(1) };
        Self { depth, is_lost, is_open: false }
    }

    /// Returns it after a key that was answered in an unknown way; `keeps_lines` tells whether the editor may keep lines, and
    /// `is_empty` whether the input was empty.
    pub(super) fn answered(mut self, key: Key, keeps_lines: bool, is_empty: bool) -> Self {
        match Class::of(key).edit(key) {
            Some(Edit::Recall { is_back }) if keeps_lines => {
                return Self { is_open: true, ..self.step(is_back, is_empty) };
            }
            _ if matches!(key, Key::Search | Key::Escape) => self.is_lost = true,
            _ => self.edit(),
        }
        self
    }

    /// Called when the text was changed.
    pub(super) const fn edit(&mut self) {
        self.is_lost |= self.depth > 0;
        self.is_open = false;
    }

    /// Returns the line that it has led to, if it is known; `lines` are those of the editor, the newest last.
    pub(super) fn line(self, lines: &[Past]) -> Option<&str> {
        if self.is_lost || self.depth == 0 {
            return (!self.is_lost).then_some("");
        }
        let past = lines.iter().rev().nth(usize::from(self.depth) - 1)?;
        past.is_kept.then(|| past.line.text())
    }
}

impl Line {
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Returns whether every editor keeps it, and as it was typed.
    pub(super) fn is_plain(&self) -> bool {
        // A line after a blank may not be kept, a blank at the end may be cut, and some signs are replaced.
        let text = self.text();
        let is_cut = text.starts_with(' ') || text.ends_with([' ', '\\']);
        let follows = |c: char| c.is_alphanumeric() || "!$*?-#\"".contains(c);
        let is_expanded = text.starts_with('^')
            || text.match_indices('!').any(|(at, _)| text[at + 1..].starts_with(follows));
        !is_cut && !is_expanded && text.chars().count() <= CHARACTERS_MAX
    }

    /// Returns whether another program may ask at the same prompt after it.
    pub(super) fn is_passage(&self) -> bool {
        self.0.split_whitespace().any(|word| PASSAGES.contains(&word))
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}
