//! The manual page of a command, in roff, made from its [`Manual`].

use std::ffi::OsString;
use std::fmt::Write;

use clap::Command;

use crate::manual::{Book, Manual, OptionEntry, matches};
use crate::refusal::unknown_command;
use crate::texts::List;

/// Reads the arguments of the `man` command. Returns the manual of the named command, or by default the program's own.
///
/// # Errors
///
/// Returns clap's error, which may be a request for help, or the error for an unknown command.
pub fn parse(
    book: &Book,
    own: &Manual,
    args: Vec<OsString>,
) -> Result<&'static Manual, clap::Error> {
    let matches = matches(own, args)?;
    let word = matches.get_one::<String>("command").map_or("", String::as_str);
    (book.manuals)().into_iter().find(|manual| manual.word == word).ok_or_else(|| {
        let message = unknown_command(book, word) + "\n";
        clap::Error::raw(clap::error::ErrorKind::InvalidValue, message)
    })
}

/// Returns the clap definition of the `man` command. `called` is its full name, such as `rove man`.
pub fn definition(called: &'static str, usage: &'static str) -> Command {
    Command::new(called)
        .about("Prints a command's manual page")
        .override_usage(usage)
        .arg(clap::Arg::new("command").hide(true))
}

/// Returns the manual page of a command, in roff.
pub fn page(book: &Book, manual: &Manual) -> String {
    let (name, texts) = (page_name(manual), manual.texts());
    let mut page = String::new();
    let _ = writeln!(
        page,
        ".TH {} 1 \"\" \"{} {}\" \"User Commands\"",
        literal(&name.to_uppercase()),
        literal(book.program.name),
        literal(book.program.version)
    );
    let _ = writeln!(page, ".SH NAME\n{} \\- {}", literal(&name), prose(&manual.about()));
    page.push_str(".SH SYNOPSIS\n");
    // The page of the program itself lists how each of its commands is called.
    let commands = if manual.word.is_empty() { book.commands() } else { Vec::new() };
    let usages: Vec<String> = [manual].into_iter().chain(commands).map(Manual::usage).collect();
    let mut separator = "";
    for line in usages.iter().flat_map(|usage| usage.lines()) {
        let _ = writeln!(page, "{separator}{}", literal(line.trim()));
        separator = ".br\n";
    }
    page.push_str(".SH DESCRIPTION\n");
    let introduction = introduction(manual);
    let paragraphs = [&introduction].into_iter().chain(&texts.notes);
    let paragraphs: Vec<String> = paragraphs.map(|text| prose(text)).collect();
    let _ = writeln!(page, "{}", paragraphs.join("\n.PP\n"));
    page.push_str(".SH OPTIONS\n");
    for option in manual.options() {
        entry(&mut page, &option_heading(&option), &option.help);
    }
    if manual.word.is_empty() {
        page.push_str(".SH COMMANDS\n");
        for manual in book.commands() {
            entry(&mut page, &bold(&manual.called()), &manual.about());
        }
    }
    list(&mut page, "EXAMPLES", &texts.examples);
    list(&mut page, "ENVIRONMENT", &texts.environment);
    list(&mut page, "FILES", &texts.files);
    list(&mut page, "EXIT STATUS", &texts.exit_status);
    for List { heading, entries } in &texts.lists {
        list(&mut page, &heading.to_uppercase(), entries);
    }
    let others: Vec<String> = (book.manuals)()
        .into_iter()
        .filter(|other| manual.word.is_empty() != other.word.is_empty())
        .map(|other| format!("{}(1)", bold(&page_name(other))))
        .chain(book.program.see_also.iter().map(|name| format!("{}(1)", bold(name))))
        .collect();
    let _ = writeln!(page, ".SH SEE ALSO\n{}", others.join(",\n"));
    page
}

/// Returns the first paragraph of a manual page. For the program it is the program's description. For a command, it is
/// the first sentence of that description and a sentence about the command.
fn introduction(manual: &Manual) -> String {
    let whole = manual.program.about;
    if manual.word.is_empty() {
        return whole.to_owned();
    }
    let first = whole.split_inclusive(". ").next().unwrap_or_default().trim_end();
    let about = manual.about();
    let mut rest = about.chars();
    let verb: String = rest.next().into_iter().flat_map(char::to_lowercase).collect();
    format!("{first} This command {verb}{}.", rest.as_str())
}

/// Returns the name of a command's manual page, such as `rove-attach`.
fn page_name(manual: &Manual) -> String {
    manual.called().replace(' ', "-")
}

fn list(page: &mut String, heading: &str, entries: &[(String, String)]) {
    if entries.is_empty() {
        return;
    }
    let _ = writeln!(page, ".SH {heading}");
    for (left, right) in entries {
        entry(page, &bold(left), right);
    }
}

/// Appends a paragraph with its heading beside or above it. `heading` is already in roff.
fn entry(page: &mut String, heading: &str, text: &str) {
    let _ = writeln!(page, ".TP\n{heading}\n{}", prose(text));
}

fn option_heading(option: &OptionEntry) -> String {
    let value = option.value.as_ref().map(|value| value.name.as_str());
    let has_long = option.long.is_some();
    let spellings: Vec<String> = option
        .spellings()
        .iter()
        .map(|spelling| {
            let is_long = spelling.starts_with("--");
            match value.filter(|_| is_long == has_long) {
                None => bold(spelling),
                Some(value) => {
                    let separator = if is_long { "=" } else { " " };
                    format!("{}{separator}\\fI{}\\fR", bold(spelling), literal(value))
                }
            }
        })
        .collect();
    spellings.join(", ")
}

pub(crate) fn bold(text: &str) -> String {
    format!("\\fB{}\\fR", literal(text))
}

/// Returns roff that shows `text` so that the reader can copy it: without typographic characters and line breaks.
fn literal(text: &str) -> String {
    escaped(text, |character| match character {
        '-' => Some("\\-"),
        '\'' => Some("\\(aq"),
        '`' => Some("\\(ga"),
        '^' => Some("\\(ha"),
        '~' => Some("\\(ti"),
        ' ' => Some("\\ "),
        _ => None,
    })
}

/// Returns roff for running text. Words with leading dashes are options to type, so they become [`literal`] text.
fn prose(text: &str) -> String {
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| {
            if word.trim_start_matches(['(', '"']).starts_with('-') {
                literal(word)
            } else {
                escaped(word, |character| match character {
                    '^' => Some("\\(ha"),
                    '~' => Some("\\(ti"),
                    _ => None,
                })
            }
        })
        .collect();
    words.join(" ")
}

/// Escapes backslashes, a first character that would begin a roff request, and the characters that `special` escapes.
fn escaped(text: &str, special: impl Fn(char) -> Option<&'static str>) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match special(character) {
            Some(name) => out.push_str(name),
            None if character == '\\' => out.push_str("\\e"),
            None if out.is_empty() && matches!(character, '.' | '\'') => {
                out.push_str("\\&");
                out.push(character);
            }
            None => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_roff_are_escaped() {
        for (text, roff) in [
            ("--port 5", "\\-\\-port\\ 5"),
            ("a'b^c~d`e", "a\\(aqb\\(hac\\(tid\\(gae"),
            (".x", "\\&.x"),
            ("a.b", "a.b"),
            ("a\\b", "a\\eb"),
        ] {
            assert_eq!(literal(text), roff, "{text}");
        }
        for (text, roff) in [
            ("see --port=5 for well-known ports", "see \\-\\-port=5 for well-known ports"),
            (".profile\n'x'", "\\&.profile \\&'x'"),
        ] {
            assert_eq!(prose(text), roff, "{text}");
        }
    }
}
