//! A source file, split into code without comments and strings, tests, and comments.

/// The lines with which the tests in a source file begin.
const TESTS: &str = "#[cfg(test)]\nmod tests {";

/// A Rust file of the workspace.
pub(super) struct Source {
    /// The path from the root of the workspace.
    pub(super) path: String,
    /// The text with a space for each character of a comment, and `"` for each character of a string.
    pub(super) masked: String,
    /// The masked text in front of the tests. It is empty for a file of tests.
    pub(super) code: String,
    /// The text of all comments that fill their lines, with a blank line for every other line.
    pub(super) comments: String,
    /// The number of lines of code, of comments and of tests, without blank lines.
    pub(super) lines: [usize; 3],
}

impl Source {
    /// Reads a file's text.
    pub(super) fn new(path: &str, text: &str) -> Self {
        let masked = mask(text);
        let is_test = |part| matches!(part, "tests" | "tests.rs" | "properties.rs");
        let code_len = if path.split('/').any(is_test) { Some(0) } else { masked.find(TESTS) };
        let code = masked[..code_len.unwrap_or(masked.len())].to_owned();
        let code_lines = code.lines().count();
        let (mut comments, mut lines) = (String::new(), [0; 3]);
        for (at, (text, masked)) in text.lines().map(str::trim).zip(masked.lines()).enumerate() {
            let is_masked = masked.trim().is_empty();
            let kind = if at < code_lines { usize::from(is_masked) } else { 2 };
            lines[kind] += usize::from(!text.is_empty());
            comments += if is_masked { text.trim_start_matches(['/', '!']) } else { "" };
            comments.push('\n');
        }
        Self { path: path.to_owned(), masked, code, comments, lines }
    }
}

/// Masks comments and the contents of strings.
fn mask(text: &str) -> String {
    let text = text.replace("'\"'", "' '");
    let (mut masked, mut rest) = (String::with_capacity(text.len()), text.as_str());
    while let Some(at) = rest.find(['/', '"']) {
        masked += &rest[..at];
        rest = &rest[at..];
        let (len, mask) = match rest.strip_prefix('"') {
            Some(inside) => (string_len(&masked, inside), '"'),
            None if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), ' '),
            None => (1, '/'),
        };
        masked.extend(rest[..len].chars().map(|c| if c == '\n' { c } else { mask }));
        rest = &rest[len..];
    }
    masked + rest
}

/// Returns the length of a string literal with its quotes. The code `before` the literal shows whether it is raw.
fn string_len(before: &str, inside: &str) -> usize {
    let prefix = before.trim_end_matches('#');
    let is_raw = prefix.rsplit(|c| !is_identifier(c)).next().is_some_and(|it| it.ends_with('r'));
    let end = "\"".to_owned() + if is_raw { &before[prefix.len()..] } else { "" };
    let backslashes = |at: usize| at - inside[..at].trim_end_matches('\\').len();
    let is_end = |(at, _): &(usize, &str)| is_raw || backslashes(*at).is_multiple_of(2);
    1 + inside.match_indices(&end).find(is_end).map_or(inside.len(), |it| it.0 + it.1.len())
}

/// Returns whether a character may be part of an identifier.
pub(super) fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the identifiers in a text, keywords and numbers included.
pub(super) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_identifier(c)).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_masked_and_lifetimes_are_not() {
        for (text, masked) in [
            ("a // b\nc", "a     \nc"),
            ("a(\"// \\\" x\") // b", "a(\"\"\"\"\"\"\"\"\")     "),
            ("r#\"a\" // b\"# c", "r#\"\"\"\"\"\"\"\"\"\" c"),
            ("br\"\\\" c", "br\"\"\" c"),
            ("'\"', b'\"' 'a / b", "' ', b' ' 'a / b"),
        ] {
            assert_eq!(mask(text), masked, "{text}");
        }
    }

    #[test]
    fn each_line_is_code_or_docs_or_test() {
        let text = "//! Job.\n\nfn a() {\n    // Why.\n    b(\"\n// text\");\n}\n\n#[cfg(test)]\nmod tests {\n    // c\n\n}\n";
        for (path, lines) in [
            ("crates/x/src/a.rs", [4, 2, 4]),
            ("crates/x/src/a/tests.rs", [0, 0, 10]),
            ("crates/x/tests/a.rs", [0, 0, 10]),
            ("crates/x/src/properties.rs", [0, 0, 10]),
        ] {
            assert_eq!(Source::new(path, text).lines, lines, "{path}");
        }
    }

    #[test]
    fn comments_lose_their_markers_and_code_becomes_blank_lines() {
        let text = "//! A\n//! b.\n/// C.\nfn a() {} // d\n    // E.\nlet f = \"\n// g\";\n";
        let source = Source::new("a.rs", text);
        assert_eq!(source.comments.trim(), "A\n b.\n C.\n\n E.");
    }
}
