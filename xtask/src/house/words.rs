//! Private words in identifiers, by the list in `docs/words.txt`.

use anyhow::{Context, Result};

use super::source::{Source, identifiers};

/// A line of the list: the folder name of a crate or `*`, a private word, and the word to use instead.
pub(super) type Word = [String; 3];

/// Reads the list.
///
/// # Errors
///
/// Returns an error when a line lacks one of the three fields.
pub(super) fn read(text: &str) -> Result<Vec<Word>> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let read = |line: &str| {
        let mut fields = line.splitn(3, char::is_whitespace).map(|it| it.trim().to_owned());
        Some([fields.next()?, fields.next()?, fields.next().filter(|field| !field.is_empty())?])
    };
    lines.map(|line| read(line).with_context(|| format!("no field's word: {line}"))).collect()
}

/// Returns a line for each identifier in a file that is a private word, in any case and with any underscores.
///
/// The name of the file counts as an identifier.
pub(super) fn hits([_, private, field]: &Word, source: &Source) -> Vec<String> {
    let stem = source.path.rsplit('/').next().and_then(|name| name.strip_suffix(".rs"));
    let letters = |word: &str| word.replace('_', "").to_lowercase();
    let spelled = letters(private);
    let hits = identifiers(&source.masked).chain(stem).filter(|word| letters(word) == spelled);
    hits.map(|_| format!("{}: `{private}` is `{field}`", source.path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_a_crate_a_word_and_what_to_say() {
        let text = "# head\n\nssp\tBelief DeliveryEstimate\n* lots rng stream\n";
        let words = read(text).expect("well-formed");
        assert_eq!(words, [["ssp", "Belief", "DeliveryEstimate"], ["*", "lots", "rng stream"]]);
        assert!(read("ssp Belief\n").is_err());
    }

    #[test]
    fn a_word_hits_whole_identifiers_in_any_case() {
        let code = "let survey = Survey::new(LastSurvey, SURVEY_MAX); // survey";
        let source = Source::new("a/last_survey.rs", code);
        for (word, count) in [("Survey", 2), ("last_survey", 2), ("Last", 0)] {
            let hits = hits(&["a", word, "b c"].map(str::to_owned), &source);
            assert_eq!(hits, vec![format!("a/last_survey.rs: `{word}` is `b c`"); count]);
        }
    }
}
