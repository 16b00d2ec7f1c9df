//! Reads short options as getopt does. Options may be bundled (`-vv`), and mixed with other words. A value is attached
//! (`-p60001`) or follows as the next word. The word `--` ends the options.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use clap::Command;
use rove_bootstrap::ProgramName;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// An option that takes no value.
    Flag(char),
    /// An option and its value.
    Value(char, OsString),
    Word(OsString),
    /// A fault in a word, in words for the user. The other items are still valid.
    Complaint(String),
}

/// The parsed command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// The items before `--`, in the order of the command line.
    pub(crate) items: Vec<Item>,
    /// The words after `--`.
    pub(crate) rest: Vec<OsString>,
}

/// Parses `args` (without the program's name). The letters of the options are those of `definition`. A complaint about
/// an unknown option suggests a similar one, except under Mosh's names: stock Mosh does not.
pub(crate) fn read(name: ProgramName, definition: &Command, args: Vec<OsString>) -> Line {
    let (flags, values) = rove_cli_docs::getopt_letters(definition);
    let unknown = |option: &str| match name {
        ProgramName::Mosh => Item::Complaint(rove_cli_docs::unknown_option(option, None)),
        ProgramName::Rove => {
            let option = option.split('=').next().unwrap_or_default();
            let near = rove_cli_docs::near_option(definition, option);
            Item::Complaint(rove_cli_docs::unknown_option(option, near.as_deref()))
        }
    };
    let mut line = Line::default();
    let mut args = args.into_iter();
    while let Some(word) = args.next() {
        if word == "--" {
            line.rest = args.collect();
            break;
        }
        let letters = match word.as_bytes() {
            [b'-', b'-', ..] => {
                line.items.push(unknown(&word.to_string_lossy()));
                continue;
            }
            [b'-', letters @ ..] if !letters.is_empty() => letters,
            _ => {
                line.items.push(Item::Word(word));
                continue;
            }
        };
        for (at, &byte) in letters.iter().enumerate() {
            let letter = char::from(byte);
            if flags.contains(letter) {
                line.items.push(Item::Flag(letter));
            } else if values.contains(letter) {
                let attached = Some(&letters[at + 1..]).filter(|it| !it.is_empty());
                let value = attached.map(|it| OsString::from_vec(it.to_vec()));
                line.items.push(match value.or_else(|| args.next()) {
                    Some(value) => Item::Value(letter, value),
                    None => Item::Complaint(format!("option -{letter} needs a value")),
                });
                break;
            } else {
                line.items.push(unknown(&format!("-{letter}")));
            }
        }
    }
    line
}

/// Returns the first word before `--` that is one of `wanted`, or `None` if no word is.
pub(crate) fn first_of<'a>(args: &[OsString], wanted: &[&'a str]) -> Option<&'a str> {
    let mut words = args.iter().take_while(|word| *word != "--");
    words.find_map(|word| wanted.iter().find(|wanted| word == OsStr::new(wanted)).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_getopt_reads_them() {
        let value = |letter, text: &str| Item::Value(letter, text.into());
        let word = |text: &str| Item::Word(text.into());
        let unknown = |text: &str| Item::Complaint(rove_cli_docs::unknown_option(text, None));
        let definition = crate::cli::server::MANUAL.command();
        for (line, items, rest) in [
            ("-vv -v", vec![Item::Flag('v'), Item::Flag('v'), Item::Flag('v')], ""),
            ("-p60001 -p 5:6", vec![value('p', "60001"), value('p', "5:6")], ""),
            ("-vp5 x -s", vec![Item::Flag('v'), value('p', "5"), word("x"), Item::Flag('s')], ""),
            ("-p -- -v", vec![value('p', "--"), Item::Flag('v')], ""),
            ("-s -- -v x", vec![Item::Flag('s')], "-v x"),
            ("-zs", vec![unknown("-z"), Item::Flag('s')], ""),
            ("--bogus -", vec![unknown("--bogus"), word("-")], ""),
            ("-p", vec![Item::Complaint("option -p needs a value".to_owned())], ""),
        ] {
            let split = |text: &str| text.split_whitespace().map(OsString::from).collect();
            let expected = Line { items, rest: split(rest) };
            assert_eq!(read(ProgramName::Mosh, &definition, split(line)), expected, "{line}");
        }
    }
}
