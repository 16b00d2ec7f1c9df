//! Checks of every program's manuals, for the tests of the programs.

use std::ffi::OsString;

use crate::completions::{Names, answer};
use crate::man;
use crate::manual::{Book, HELP_COLUMNS, Manual};

/// Panics if a command of `book` lacks a description or exit codes, or its help has a line over 80 columns after the
/// options. Panics, too, if its help, manual page or completions lack an option, or the program's page a command.
pub fn assert_integrity(book: &Book) {
    let manuals = (book.manuals)();
    assert!(manuals[0].word.is_empty(), "the first manual is the program's own");
    for manual in &manuals {
        assert_explains_itself(book, manual);
        assert_page_is_whole(book, manual);
        assert_is_completed(book, manual);
    }
}

fn assert_explains_itself(book: &Book, manual: &Manual) {
    let called = manual.called();
    book.command(manual).debug_assert();
    assert!(!manual.about().is_empty(), "{called}");
    assert!(manual.usage().starts_with(&called), "{called}: {}", manual.usage());
    assert!(!manual.texts().exit_status.is_empty(), "{called}");
    let (command, help) = (book.command(manual), book.help(manual));
    let after_help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    for line in after_help.lines() {
        assert!(line.chars().count() <= HELP_COLUMNS, "{called}: {line}");
    }
    for option in manual.options() {
        assert!(!option.help.is_empty(), "{called} {option:?}");
        for spelling in option.spellings() {
            assert!(help.contains(&spelling), "{called} {spelling}");
        }
    }
}

fn assert_page_is_whole(book: &Book, manual: &Manual) {
    let (page, called) = (man::page(book, manual), manual.called());
    assert!(page.is_ascii(), "{called}");
    for option in manual.options() {
        for spelling in option.spellings() {
            assert!(page.contains(&man::bold(&spelling)), "{called} {spelling}");
        }
    }
    let about = manual.program.about;
    assert!(about.starts_with(&format!("{} is ", manual.program.name)), "{about}");
    let first = about.split_inclusive(". ").next().unwrap_or_default().trim_end();
    assert!(page.contains(&format!(".SH DESCRIPTION\n{first}")), "{called}");
    if manual.word.is_empty() {
        let synopsis =
            page.split(".SH ").nth(2).unwrap_or_default().replace("\\ ", " ").replace("\\-", "-");
        for command in book.commands() {
            assert!(synopsis.contains(&format!("\n{}", command.called())), "{synopsis}");
        }
    }
    for section in ["NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"] {
        assert!(page.contains(&format!(".SH {section}\n")), "{called} {section}");
    }
}

fn assert_is_completed(book: &Book, manual: &Manual) {
    let offers = |word: &str| {
        let words = ["--", manual.word, word].into_iter().filter(|word| !word.is_empty());
        let answer = answer(book, &Names::NONE, &words.map(OsString::from).collect::<Vec<_>>());
        answer.lines().any(|line| line.split(['=', '\t']).next() == Some(word))
    };
    for spelling in manual.options().iter().flat_map(|option| option.spellings()) {
        assert!(offers(&spelling), "{} {spelling}", manual.called());
    }
}
