//! The rules of every book, for the tests of the programs.

use crate::completions::{SHELLS, Shell};
use crate::man;
use crate::manual::{Book, HELP_COLUMNS, Manual};

/// Panics unless every command of `book` explains itself, and its help, its pages and the completions in
/// every shell tell of all options and commands.
pub fn assert_integrity(book: &Book) {
    let manuals = (book.manuals)();
    assert!(manuals[0].word.is_empty(), "the first manual is the program's own");
    for manual in &manuals {
        assert_explains_itself(book, manual);
        assert_page_is_whole(book, manual);
        for name in SHELLS {
            assert_is_completed(book, manual, name);
        }
    }
}

fn assert_explains_itself(book: &Book, manual: &Manual) {
    let called = manual.called();
    book.command(manual).debug_assert();
    assert!(!manual.about().is_empty(), "{called}");
    assert!(manual.usage().starts_with(&called), "{called}: {}", manual.usage());
    assert!(!manual.exit_status.is_empty(), "{called}");
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

fn assert_is_completed(book: &Book, manual: &Manual, name: &str) {
    let shell = Shell::from_name(name).expect("it is one of those that are known");
    let script = shell.script(book);
    assert!(script.contains(manual.word), "{shell:?} {}", manual.word);
    for option in manual.options() {
        for spelling in option.spellings() {
            let wanted = match (shell, spelling.strip_prefix("--")) {
                (Shell::Fish, Some(name)) => format!(" -l {name} "),
                (Shell::Fish, None) => format!(" -s {} ", &spelling[1..]),
                _ => spelling.clone(),
            };
            assert!(script.contains(&wanted), "{shell:?} {} {spelling}", manual.called());
        }
    }
}
