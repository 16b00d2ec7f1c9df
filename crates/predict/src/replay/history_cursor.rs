//! The position of a line editor in its history: how many lines it has gone back.

use rove_terminal::Key;
use zeroize::Zeroize;

use crate::replay::class::{Class, Edit};

/// Most characters of an entered line that is remembered for Up. After a longer line, all remembered lines are
/// forgotten. Chosen: users seldom recall longer lines.
pub(super) const CHARACTERS_MAX: usize = 256;

/// Words in an entered line after which another program may show the same prompt. Chosen: shells, and programs that
/// start or leave a shell, on this host or another.
#[rustfmt::skip]
const PASSAGES: [&str; 26] = [
    "bash", "sh", "zsh", "fish", "ksh", "dash", "tcsh", "su", "sudo", "doas", "login", "newgrp", "exec", "exit",
    "logout", "bye", "ssh", "mosh", "rove", "screen", "tmux", "docker", "podman", "kubectl", "chroot", "nsenter",
];

/// The text of a line. It is wiped from memory when it is dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line(String);

/// A line that a line editor can recall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Past {
    pub(super) line: Line,
    /// Whether the editor is known to have kept the line. An editor may drop the older of two equal lines.
    pub(super) is_kept: bool,
}

/// The position of a line editor in its history, as the number of lines that it has gone back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HistoryCursor {
    pub(super) depth: u16,
    /// Whether the position is unknown: a first recall has replaced typed text, or a recalled line was edited.
    pub(super) is_lost: bool,
    /// Whether the recalled line on the screen has not been compared with the remembered line yet.
    pub(super) is_open: bool,
}

impl HistoryCursor {
    /// Returns the position after one more step. `is_empty` is true if the input was empty before the step.
    pub(super) const fn step(self, is_back: bool, is_empty: bool) -> Self {
        let is_lost = self.is_lost || self.depth == 0 && !(is_back && is_empty);
        let depth =
            if is_back { self.depth.saturating_add(1) } else { self.depth.saturating_sub(1) };
        Self { depth, is_lost, is_open: false }
    }

    /// Returns the position after a key of unknown effect. `keeps_lines` is true if the editor's lines are remembered,
    /// and `is_empty` if the input was empty.
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

    /// Records that the text of the input was changed.
    pub(super) const fn edit(&mut self) {
        self.is_lost |= self.depth > 0;
        self.is_open = false;
    }

    /// Returns the line at this position. It is empty before the first step back. `None` if it is unknown. `lines`
    /// are the editor's lines, the newest last.
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

    /// Returns whether every editor stores this line exactly as it was typed.
    pub(super) fn is_plain(&self) -> bool {
        // Editors may not store lines that begin with a blank, cut blanks at the end, or expand certain characters.
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
