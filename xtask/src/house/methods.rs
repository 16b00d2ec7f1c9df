//! Types with methods in too many files, and results whose error is a `String`.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Source, identifiers};

/// Most files in which a type may have inherent methods.
const FILES_MAX: usize = 3;

/// Returns the types of a crate with inherent methods in more than [`FILES_MAX`] files, and in how many.
///
/// Files that each define a type of this name and its methods count as one file, because their types differ.
pub(super) fn scattered(sources: &[Source]) -> Vec<String> {
    let mut homes: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (file, source) in (1..).zip(sources) {
        let defined: BTreeSet<&str> = source.code.lines().filter_map(type_defined).collect();
        for name in source.code.lines().filter_map(type_of_methods) {
            let home = if defined.contains(name) { 0 } else { file };
            homes.entry(name).or_default().insert(home);
        }
    }
    let scattered = homes.iter().filter(|(_, files)| files.len() > FILES_MAX);
    scattered.map(|(name, files)| format!("{name} in {} files", files.len())).collect()
}

/// Returns the type whose inherent methods begin in this line. `None` for other lines.
fn type_of_methods(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl").filter(|rest| !rest.contains(" for "))?;
    let name = if rest.starts_with('<') { &rest[angles(rest)?.len()..] } else { rest };
    identifiers(name.trim_start_matches('>').strip_prefix(' ')?).next()
}

/// Returns the type that a line defines.
fn type_defined(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("struct ").or_else(|| line.split_once("enum "))?;
    identifiers(after).next().filter(|_| before.is_empty() || before.starts_with("pub"))
}

/// Counts the types `Result<_, String>`.
pub(super) fn string_errors(code: &str) -> usize {
    let results = code.match_indices("Result<").map(|(at, word)| &code[at + word.len() - 1..]);
    let held = results.filter_map(angles).map(|held| held.trim_end_matches([' ', '\n', ',']));
    // If `String` follows the last comma, it is the error's whole type.
    held.filter_map(|held| held.strip_suffix("String")?.trim_end().strip_suffix(',')).count()
}

/// Returns the contents of a pair of angle brackets at the start of `text`, with the opening bracket only.
fn angles(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let is_end = |(at, c): &(usize, char)| {
        depth += usize::from(*c == '<');
        depth -= usize::from(*c == '>' && !text[..*at].ends_with('-'));
        depth == 0
    };
    text.char_indices().find(is_end).map(|(at, _)| &text[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_in_too_many_files_are_found_and_namesakes_are_not() {
        let home = "pub(crate) struct Path<'a> {\nimpl<'a> Path<'a> {\nimpl Path<'_> {\n";
        let other = "impl<F: Fn(A) -> B> Path<F> {\nimpl Default for Path {\n";
        let namesake = "enum Path {\nimpl Path {\n";
        for (files, found) in [
            (vec![home, other, other], vec![]),
            (vec![home, other, other, other], vec!["Path in 4 files"]),
            (vec![home, namesake, namesake, namesake], vec![]),
            (vec!["impl Default for Path {\n"; 5], vec![]),
            (vec!["impl Path {\n"; 4], vec!["Path in 4 files"]),
        ] {
            let sources: Vec<_> = files.iter().map(|code| Source::new("a.rs", code)).collect();
            assert_eq!(scattered(&sources), found);
        }
    }

    #[test]
    fn angles_end_where_they_are_balanced() {
        assert_eq!(angles("<A<B>, fn() -> C> d"), Some("<A<B>, fn() -> C"));
        assert_eq!(angles("<A<B>"), None);
    }

    #[test]
    fn an_error_that_is_text_is_told_from_a_value_that_is() {
        for (code, count) in [
            ("fn a() -> Result<(), String> {", 1),
            ("Result<Vec<(u8, B<C>)>, String>; Result<\n    A,\n    String,\n>", 2),
            ("Result<String, Error>; Result<String>; Result<A, B<C, String>>", 0),
            ("Result<A, MyString>; result::Result<Option<String>, io::Error>", 0),
        ] {
            assert_eq!(string_errors(code), count, "{code}");
        }
    }
}
