//! How many steps a line editor has gone back through its lines.

use rove_terminal::Key;
use zeroize::Zeroize;

use crate::replay::class::{Class, Edit};

/// Most characters of a line that is remembered. Chosen: few lines that are recalled are longer.
pub(super) const CHARACTERS_MAX: usize = 256;

/// Words of lines after which another program may show the same prompt. Chosen: shells, and what starts or leaves one,
/// here or elsewhere.
#[rustfmt::skip]
const PASSAGES: [&str; 26] = [
    "bash", "sh", "zsh", "fish", "ksh", "dash", "tcsh", "su", "sudo", "doas", "login", "newgrp", "exec", "exit",
    "logout", "bye", "ssh", "mosh", "rove", "screen", "tmux", "docker", "podman", "kubectl", "chroot", "nsenter",
];

/// The text of a line, wiped when it is forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line(String);

/// A line that a line editor can recall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Past {
    pub(super) line: Line,
    /// Whether the editor is known to keep the line. An editor may drop the older of two equal lines.
    pub(super) is_kept: bool,
}

/// How many steps a line editor has gone back through its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HistoryCursor {
    pub(super) depth: u16,
    /// Whether the number of steps is unknown: a line was already begun, or one of the recalled lines was changed.
    pub(super) is_lost: bool,
    /// Whether the recalled line is still to be compared with the remembered one.
    pub(super) is_open: bool,
}

impl HistoryCursor {
    /// Returns the cursor after one more step; `is_empty` tells whether the input was empty before the step.
    pub(super) const fn step(self, is_back: bool, is_empty: bool) -> Self {
        let is_lost = self.is_lost || self.depth == 0 && !(is_back && is_empty);
        let depth =
            if is_back { self.depth.saturating_add(1) } else { self.depth.saturating_sub(1) };
        Self { depth, is_lost, is_open: false }
    }

    /// Returns the cursor after a key with an unknown effect. `keeps_lines` tells whether the editor may keep lines,
    /// and `is_empty` whether the input was empty.
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

    /// Called when the text of the input was changed.
    pub(super) const fn edit(&mut self) {
        self.is_lost |= self.depth > 0;
        self.is_open = false;
    }

    /// Returns the line that the cursor is at. `None` if it is unknown. `lines` are the editor's, the newest last.
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

    /// Returns whether every editor keeps this line, exactly as it was typed.
    pub(super) fn is_plain(&self) -> bool {
        // A line that begins with a blank may not be kept, a blank at the end may be cut, and some signs are replaced.
        let text = self.text();
        let is_cut = text.starts_with(' ') || text.ends_with([' ', '\\']);
        let follows = |c: char| c.is_alphanumeric() || "!$*?-#\"".contains(c);
        let is_expanded = text.starts_with('^')
            || text.match_indices('!').any(|(at, _)| text[at + 1..].starts_with(follows));
        !is_cut && !is_expanded && text.chars().count() <= CHARACTERS_MAX
    }

    /// Returns whether another program may show the same prompt after this line.
    pub(super) fn is_passage(&self) -> bool {
        self.0.split_whitespace().any(|word| PASSAGES.contains(&word))
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}
