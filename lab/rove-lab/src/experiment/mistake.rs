//! Mistakes in the text of a scenario: finds their line, and the name that the author probably meant.

use rove_cli_docs::nearest;

/// Adds to a message on an unknown name the known name that was probably meant. Serde's messages list known names.
pub(super) fn advised(message: &str) -> String {
    let mut names = message.split('`').skip(1).step_by(2);
    let near = names.next().and_then(|unknown| nearest(unknown, names));
    let near = near.filter(|_| message.starts_with("unknown "));
    near.map_or_else(|| message.to_owned(), |near| format!("did you mean `{near}`? {message}"))
}

/// Returns the number, from 1, of the line with the byte `at`.
pub(super) fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}
