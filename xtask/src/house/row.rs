//! A row of the tables: all figures of a part of the workspace, of a crate, or of the documents.

use std::collections::BTreeMap;

use super::circles::Modules;
use super::items::{fields, items};
use super::methods::{scattered, string_errors};
use super::prose::{is_banned, sentences};
use super::source::{Source, identifiers};
use super::words::{Word, hits};

/// Totals of product, laboratory, xtask and fuzz, each with an advice for a figure beyond its limit.
pub(super) const TOTALS: [(&str, &str); 8] = [
    ("code", "remove some, or raise the limit in the commit of a feature"),
    ("docs", "shorten comments, or raise the limit in the commit of a feature"),
    ("tests", "share test code, or raise the limit in the commit of a feature"),
    ("functions", "remove some, or raise the limit in the commit of a feature"),
    ("p50", "split functions"),
    ("p90", "split functions"),
    ("p99", "split functions"),
    ("asserts", "assert more of what must hold"),
];

/// Figures that count flaws of a crate, each with an advice.
pub(super) const FLAWS: [(&str, &str); 9] = [
    ("long_functions", "split functions over 70 lines"),
    ("long_files", "split files over 500 lines"),
    ("large_structs", "split structs over 15 fields by their jobs"),
    ("scattered_types", "make a type of the mechanism in the fourth file"),
    ("circle", "move what two modules share below both"),
    ("parent_circle", "move what children share with their parent below both"),
    ("string_errors", "make the error a type"),
    ("unsafe_sites", "call something safe"),
    ("private_words", "use the field's words, as docs/words.txt has them"),
];

/// Figures of the prose in comments and documents, each with an advice.
pub(super) const PROSE: [(&str, &str); 4] = [
    ("beginnings", "begin sentences with a concrete noun"),
    ("sentence_words", "shorten sentences"),
    ("long_sentences", "split sentences over 30 words"),
    ("words", "shorten pages, or raise the limit in the commit of a feature"),
];

/// The figures of each printed table.
pub(super) const TABLES: [&[(&str, &str)]; 3] = [&TOTALS, &FLAWS, &PROSE];

/// Most lines of a function that is not long.
const FUNCTION_LINES_MAX: usize = 70;

/// Most lines, without tests, of a file that is not long.
const FILE_LINES_MAX: usize = 500;

/// Most named fields of a struct that is not large.
const FIELDS_MAX: usize = 15;

/// Most words of a sentence that is not long.
const SENTENCE_WORDS_MAX: usize = 30;

/// Macros that assert something. Their forms with `debug_` count as well.
const ASSERTS: [&str; 3] = ["assert", "assert_eq", "assert_ne"];

/// The figures of a row by their names, and the places of the flaws that figures count.
#[derive(Default)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) figures: BTreeMap<&'static str, f64>,
    pub(super) places: BTreeMap<&'static str, Vec<String>>,
}

impl Row {
    /// Measures crates, each with its name.
    pub(super) fn of_crates(name: &str, crates: &[(&str, &[Source])], words: &[Word]) -> Self {
        let mut row = Self { name: name.to_owned(), ..Self::default() };
        for (name, sources) in crates {
            row.note_modules(sources);
            for source in *sources {
                row.note_flaws(source);
                let words = words.iter().filter(|[place, ..]| place == "*" || place == name);
                words.for_each(|word| row.note("private_words", hits(word, source)));
            }
        }
        let count = |flaw| row.places.get(flaw).map_or(0, Vec::len);
        row.figures.extend(FLAWS.map(|(flaw, _)| (flaw, ratio(count(flaw), 1))));
        let sources: Vec<&Source> = crates.iter().flat_map(|(_, sources)| *sources).collect();
        row.figures.extend(totals(&sources));
        row.figures.extend(prose(sources.iter().map(|source| source.comments.as_str())));
        row
    }

    /// Measures the texts of documents.
    pub(super) fn of_documents(texts: &[&str]) -> Self {
        let words = texts.iter().map(|text| text.split_whitespace().count()).sum();
        let prose = prose(texts.iter().copied()).into_iter();
        let figures = prose.chain([("words", ratio(words, 1))]).collect();
        Self { name: "documents".to_owned(), figures, ..Self::default() }
    }

    fn note(&mut self, flaw: &'static str, places: impl IntoIterator<Item = String>) {
        self.places.entry(flaw).or_default().extend(places);
    }

    /// Records the flaws that only several files of a crate show together.
    fn note_modules(&mut self, sources: &[Source]) {
        let modules = Modules::new(sources);
        for (flaw, with_parents) in [("circle", false), ("parent_circle", true)] {
            let circle = modules.largest(with_parents);
            if self.places.get(flaw).is_none_or(|largest| largest.len() < circle.len()) {
                self.places.insert(flaw, circle);
            }
        }
        self.note("scattered_types", scattered(sources));
    }

    /// Records the flaws of a single file.
    fn note_flaws(&mut self, source: &Source) {
        let (path, lines) = (&source.path, source.code.lines().collect::<Vec<_>>());
        let long = items(&lines, "fn ").filter(|(_, body)| body.len() > FUNCTION_LINES_MAX);
        self.note("long_functions", long.map(|(line, _)| format!("{path}:{line}")));
        let large = items(&lines, "struct ").filter(|(_, body)| fields(body) > FIELDS_MAX);
        self.note("large_structs", large.map(|(line, _)| format!("{path}:{line}")));
        let blocks = identifiers(&source.code).filter(|word| *word == "unsafe");
        self.note("unsafe_sites", blocks.map(|_| path.clone()));
        self.note("string_errors", vec![path.clone(); string_errors(&source.code)]);
        self.note("long_files", (lines.len() > FILE_LINES_MAX).then(|| path.clone()));
    }
}

/// Returns the totals of code.
fn totals(sources: &[&Source]) -> Vec<(&'static str, f64)> {
    let (mut sizes, mut asserts) = (Vec::new(), 0);
    for source in sources {
        let lines: Vec<&str> = source.code.lines().collect();
        sizes.extend(items(&lines, "fn ").map(|(_, body)| body.len()));
        let names = identifiers(&source.code).map(|name| name.trim_start_matches("debug_"));
        asserts += names.filter(|name| ASSERTS.contains(name)).count();
    }
    sizes.sort_unstable();
    let lines = [0, 1, 2].map(|kind| sources.iter().map(|source| source.lines[kind]).sum());
    let [p50, p90, p99] = [50, 90, 99].map(|percent| percentile(&sizes, percent));
    let counts = [("code", lines[0]), ("docs", lines[1]), ("tests", lines[2])].into_iter();
    let sizes = [("functions", sizes.len()), ("p50", p50), ("p90", p90), ("p99", p99)];
    let totals = counts.chain(sizes).map(|(name, count)| (name, ratio(count, 1)));
    totals.chain([("asserts", ratio(1000 * asserts, lines[0]))]).collect()
}

/// Returns the figures of texts.
fn prose<'a>(texts: impl Iterator<Item = &'a str>) -> [(&'static str, f64); 3] {
    let sentences: Vec<Vec<&str>> = texts.flat_map(sentences).collect();
    let banned = sentences.iter().filter(|words| is_banned(words[0])).count();
    let long = sentences.iter().filter(|words| words.len() > SENTENCE_WORDS_MAX).count();
    let words = sentences.iter().map(Vec::len).sum();
    [("beginnings", 100 * banned), ("sentence_words", words), ("long_sentences", 100 * long)]
        .map(|(name, part)| (name, ratio(part, sentences.len())))
}

/// Returns the size that `percent` of the sorted sizes do not exceed.
fn percentile(sizes: &[usize], percent: usize) -> usize {
    sizes.get((sizes.len() * percent).div_ceil(100).saturating_sub(1)).copied().unwrap_or_default()
}

/// Returns the ratio of two numbers, rounded to a tenth.
fn ratio(part: usize, whole: usize) -> f64 {
    let tenths = (10 * part + whole / 2).checked_div(whole).unwrap_or_default();
    u32::try_from(tenths).map_or(f64::INFINITY, f64::from) / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(files: &[(&str, &str)]) -> Row {
        let source = |(path, text): &(&str, &str)| Source::new(path, text);
        let sources: Vec<_> = files.iter().map(source).collect();
        Row::of_crates("x", &[("x", &sources)], &[])
    }

    #[test]
    fn each_figure_counts_its_own_things() {
        let long = format!("fn long() {{\n{}}}\n", "    go();\n".repeat(FUNCTION_LINES_MAX - 1));
        let short = long.replacen("    go();\n", "", 1);
        let large = format!("struct Large {{\n{}}}\n", "    a: u8,\n".repeat(FIELDS_MAX + 1));
        let small = large.replacen("    a: u8,\n", "", 1);
        let file = "use a;\n".repeat(FILE_LINES_MAX + 1);
        for (figure, text, value) in [
            ("code", "//! A.\nfn a() {}\n", 1.0),
            ("docs", "//! A.\nfn a() {}\n", 1.0),
            ("functions", "fn a() {}\nfn b() {}\n", 2.0),
            ("long_functions", &long, 1.0),
            ("long_functions", &short, 0.0),
            ("large_structs", &large, 1.0),
            ("large_structs", &small, 0.0),
            ("long_files", &file, 1.0),
            ("long_files", &file[7..], 0.0),
            ("string_errors", "fn a() -> Result<(), String> {}\n", 1.0),
            ("unsafe_sites", concat!("#![forbid(unsafe_code)]\nunsafe", " fn a() {}\n"), 1.0),
            ("asserts", "assert!(a);\ndebug_assert_ne!(a, b);\nprop_assert!(a);\nb();\n", 500.0),
            ("beginnings", "// Who? Me.\n", 50.0),
            ("sentence_words", "// One two. Three.\n", 1.5),
            ("long_sentences", "// A. B. C.\n", 0.0),
        ] {
            assert_eq!(measure(&[("crates/x/src/a.rs", text)]).figures[figure], value, "{figure}");
            let in_test = measure(&[("crates/x/tests/a.rs", text)]);
            let counts_tests = ["beginnings", "sentence_words"].contains(&figure);
            assert_eq!(in_test.figures[figure], if counts_tests { value } else { 0.0 }, "{figure}");
        }
    }

    #[test]
    fn parts_are_the_sums_of_crates_but_circles_are_the_largest() {
        let source = |path: &str, text: &str| Source::new(path, text);
        let own = "impl A {}\n".to_owned();
        let one = [
            source("crates/x/src/lib.rs", &own),
            source("crates/x/src/a.rs", &(own.clone() + "struct A;\nuse super::b;\n")),
            source("crates/x/src/b.rs", &(own.clone() + "use crate::a::A;\n")),
            source("crates/x/src/c.rs", &(own + "use crate::d;\n")),
        ];
        let other = [
            source("lab/y/src/main.rs", "use e::F;\nfn lots() {}\n"),
            source("lab/y/src/e.rs", "impl A {}\nuse super::lots;\n"),
            source("lab/y/src/e/f.rs", "use super::super::lots;\nuse super::lots;\n"),
        ];
        let word = |place: &str| [place, "Lots", "rng"].map(str::to_owned);
        let words = [word("y"), word("x")];
        let part = [("x", &one[..]), ("y", &other[..])];
        let both = Row::of_crates("x", &part, &words);
        assert_eq!(both.places["scattered_types"], ["A in 4 files"]);
        assert_eq!(both.places["circle"], ["a", "b"]);
        assert_eq!(both.places["private_words"].len(), 4);
        assert_eq!(both.places["private_words"][0], "lab/y/src/main.rs: `Lots` is `rng`");
        assert_eq!(both.figures["code"], 14.0);
        let other = Row::of_crates("x", &part[1..], &words[1..]);
        assert_eq!(other.places["parent_circle"], ["", "e"]);
        for figure in ["circle", "scattered_types", "private_words"] {
            assert_eq!(other.figures[figure], 0.0, "{figure}");
        }
    }

    #[test]
    fn percentiles_are_sizes_of_functions() {
        let sizes: Vec<usize> = (1..=200).collect();
        assert_eq!([50, 90, 99].map(|percent| percentile(&sizes, percent)), [100, 180, 198]);
        assert_eq!([percentile(&[], 50), percentile(&[7], 50)], [0, 7]);
    }

    #[test]
    fn words_of_documents_include_their_tables() {
        let found = Row::of_documents(&["# Two words\n\n| a |\n\nIt is.\n"]);
        assert_eq!((found.figures["words"], found.figures["sentence_words"]), (8.0, 2.0));
    }
}
