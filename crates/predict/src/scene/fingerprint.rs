//! Fingerprints, by which prompts are recognised.

use core::hash::{Hash, Hasher};
use core::ops::Range;
use std::hash::DefaultHasher;

use rove_terminal::{Cell, Pen, Screen};

use super::row::{cells, character, characters, is_blank, is_half};

/// The common parts of all prompts of one kind, as hashes of characters and colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fingerprint {
    /// A hash of the prompt, without its numbers and its path.
    pub(crate) strong: u64,
    /// A hash of the last character, such as `$`, and of the character before it, unless that may belong to a path.
    pub(crate) weak: u64,
}

/// The last characters of shells' prompts, with which questions do not end. Source: the defaults of sh, bash, zsh, fish
/// and csh for users and for root, of psql and of Python; the themes of starship, pure and oh-my-zsh.
const SHELL_SIGNS: [&str; 9] = ["$", "#", "%", ">>>", "❯", "➜", "λ", "»", "✗"];

/// Returns the fingerprint of the prompt in `columns` of a row, without final blanks. `None` if the columns are blank.
///
/// The fingerprint includes text and colours. All runs of digits count as equal. All paths count as equal too. The path
/// is the longest word that looks like one. So prompts that show the time, a counter or a directory keep their
/// fingerprint. A directory's name alone counts as a path only right after user and host: `[ann@host src]$`.
pub(crate) fn fingerprint(screen: &Screen, row: u16, columns: Range<u16>) -> Option<Fingerprint> {
    let row = cells(screen, row);
    let end = usize::from(columns.end).min(row.len());
    let start = usize::from(columns.start).min(end);
    let last = (start..end).rev().find(|column| !is_blank(row, *column))?;
    let prompt = &row[start..=last];
    Some(Fingerprint { strong: strong(prompt), weak: weak(prompt) })
}

/// Returns whether a prompt ends like a shell's or Python's prompt.
pub(crate) fn ends_as_shell(screen: &Screen, row: u16, columns: Range<u16>) -> bool {
    let row = cells(screen, row);
    let end = usize::from(columns.end).min(row.len());
    let start = usize::from(columns.start).min(end);
    let text: String = characters(&row[start..end]).collect();
    let text = text.trim_end();
    SHELL_SIGNS.iter().any(|sign| text.ends_with(sign))
}

fn strong(prompt: &[Cell]) -> u64 {
    let path = longest_path(prompt);
    let mut hasher = DefaultHasher::new();
    let mut column = 0;
    while let Some(cell) = prompt.get(column) {
        let c = character(cell);
        let is_digit = |cell: &Cell| character(cell).is_ascii_digit();
        if path.contains(&column) {
            ('/', cell.pen).hash(&mut hasher);
            column = path.end;
        } else if is_digit(cell) {
            ('0', cell.pen).hash(&mut hasher);
            column += prompt[column..].iter().take_while(|cell| is_digit(cell)).count();
        } else {
            hash_character(c, cell.pen, &mut hasher);
            column += 1;
        }
    }
    hasher.finish()
}

fn weak(prompt: &[Cell]) -> u64 {
    let mut hasher = DefaultHasher::new();
    let is_seen = |column: &usize| !is_blank(prompt, *column) && !is_half(prompt, *column);
    let mut seen = (0..prompt.len()).rev().filter(is_seen).map(|column| &prompt[column]);
    if let Some(sign) = seen.next() {
        (character(sign), sign.pen).hash(&mut hasher);
    }
    if let Some(before) = seen.next() {
        // The last character of a path or name varies, so all of them are treated as equal.
        let c = Some(character(before)).filter(|c| !is_of_path(*c));
        (c, before.pen).hash(&mut hasher);
    }
    hasher.finish()
}

/// Hashes a character and its colours. A blank has only a background.
fn hash_character(c: char, pen: Pen, hasher: &mut DefaultHasher) {
    match c {
        ' ' => (c, pen.erased()).hash(hasher),
        _ => (c, pen).hash(hasher),
    }
}

/// Returns the columns of the longest word that looks like a path. Empty without such a word.
fn longest_path(prompt: &[Cell]) -> Range<usize> {
    let (mut longest, mut start, mut is_named) = (0..0, 0, false);
    while start < prompt.len() {
        let is_part = |cell: &&Cell| is_of_path(character(cell));
        let end = start + prompt[start..].iter().take_while(is_part).count();
        let word = &prompt[start..end];
        let has = |word: &[Cell], c| word.iter().any(|cell| character(cell) == c);
        let is_path = is_named && !word.is_empty()
            || word.first().is_some_and(|first| character(first) == '~')
            || has(word, '/');
        is_named = matches!(word, [_, inner @ .., _] if has(inner, '@'));
        if is_path && end - start > longest.len() {
            longest = start..end;
        }
        start = end + 1;
    }
    longest
}

/// Returns whether a character may be part of a path in a prompt. The characters that separate the path from the rest,
/// as in `user@host:~/src$`, may not.
fn is_of_path(c: char) -> bool {
    c.is_alphanumeric() || "/~._-+@,\u{2026}".contains(c)
}
