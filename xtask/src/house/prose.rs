//! Sentences of comments and documents.

/// Words that must not begin a sentence, because then no thing with a name is its subject.
const BANNED: [&str; 10] =
    ["What", "Who", "Those", "One", "Some", "None", "Of", "Takes", "Whoever", "Whatever"];

/// Returns the words of each sentence of a Markdown text. Comments are Markdown as well.
///
/// Code, tables and headings are no sentences. A sentence ends at a stop, unless a lower-case letter follows.
pub(super) fn sentences(text: &str) -> Vec<Vec<&str>> {
    let mut sentences = vec![Vec::new()];
    let (mut is_code, mut is_over) = (false, false);
    for line in text.lines().map(str::trim) {
        is_code ^= line.starts_with("```");
        let is_left_out = is_code || line.starts_with(['#', '|']);
        let is_break = is_left_out || line.is_empty() || line.starts_with("- ");
        sentences.extend(is_break.then(Vec::new));
        for word in line.split_whitespace().filter(|_| !is_left_out) {
            let is_first = is_over && !word.starts_with(char::is_lowercase);
            sentences.extend(is_first.then(Vec::new));
            let is_word = word.contains(char::is_alphanumeric);
            sentences.last_mut().into_iter().for_each(|it| it.extend(is_word.then_some(word)));
            is_over = word.trim_end_matches([')', '"', '*', '_', '`']).ends_with(['.', '?', '!']);
        }
    }
    sentences.retain(|words| !words.is_empty());
    sentences
}

/// Returns whether no sentence may begin with a word.
pub(super) fn is_banned(word: &str) -> bool {
    let word = word.trim_start_matches(['(', '[', '"', '*', '_']);
    BANNED.contains(&word.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_the_next_begins() {
        for (text, found) in [
            ("A path has two ends. They\nare `a.b`, e.g. here.", &[5, 5][..]),
            ("- What is sent\n- Takes `x`! (Some of it.) - Whose?", &[3, 2, 3, 1]),
            ("# What\n\n| Who |\n```\nThose. One.\n```\nNot\n## Some\nor None.", &[1, 2]),
            ("`None` is no word. Nonetheless \"it begins.\" 5 are 1.5 times 3 - 0", &[4, 3, 6]),
            ("- \n\n...\n", &[]),
        ] {
            let sentences = sentences(text);
            let counts: Vec<usize> = sentences.iter().map(Vec::len).collect();
            assert_eq!(counts, found, "{sentences:?}");
        }
    }

    #[test]
    fn a_sentence_without_a_named_subject_is_found() {
        for word in BANNED {
            assert!(is_banned(&format!("(**{word}**,")), "{word}");
            assert!(!is_banned(&format!("{word}ly")) && !is_banned(&format!("`{word}`")), "{word}");
        }
    }
}
