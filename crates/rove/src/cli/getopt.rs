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
    /// A fault in a word. The other items are still valid.
    Complaint(Complaint),
}

/// A fault of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Complaint {
    /// An unknown option, with its dashes.
    Unknown(String),
    /// The letter of an option whose value is missing.
    NoValue(char),
}

impl Complaint {
    /// Returns the fault as the end of a message. Under the name `rove`, the text suggests a similar option of
    /// `definition`, if any. Under Mosh's names, the text says only what stock Mosh says.
    pub(crate) fn sentence(&self, name: ProgramName, definition: &Command) -> String {
        match self {
            Self::Unknown(option) => {
                if name == ProgramName::Mosh {
                    return rove_cli_docs::unknown_option(option, None);
                }
                let option = option.split('=').next().unwrap_or_default();
                let near = rove_cli_docs::near_option(definition, option);
                rove_cli_docs::unknown_option(option, near.as_deref())
            }
            Self::NoValue(letter) => format!("option -{letter} needs a value"),
        }
    }
}

/// The parsed command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// The items before `--`, in the order of the command line.
    pub(crate) items: Vec<Item>,
    /// The words after `--`.
    pub(crate) rest: Vec<OsString>,
}

/// Parses `args` (without the program's name). Letters in `flags` take no value, and letters in `values` take a value.
pub(crate) fn read(flags: &str, values: &str, args: Vec<OsString>) -> Line {
    let mut line = Line::default();
    let mut args = args.into_iter();
    while let Some(word) = args.next() {
        if word == "--" {
            line.rest = args.collect();
            break;
        }
        let bytes = word.as_bytes();
        if bytes.starts_with(b"--") {
            let name = word.to_string_lossy().into_owned();
            line.items.push(Item::Complaint(Complaint::Unknown(name)));
            continue;
        }
        let [b'-', letters @ ..] = bytes else {
            line.items.push(Item::Word(word));
            continue;
        };
        if letters.is_empty() {
            line.items.push(Item::Word(word));
            continue;
        }
        for (at, &byte) in letters.iter().enumerate() {
            let letter = char::from(byte);
            if flags.contains(letter) {
                line.items.push(Item::Flag(letter));
            } else if values.contains(letter) {
                let attached = &letters[at + 1..];
                let value = if attached.is_empty() {
                    args.next()
                } else {
                    Some(OsString::from_vec(attached.to_vec()))
                };
                line.items.push(match value {
                    Some(value) => Item::Value(letter, value),
                    None => Item::Complaint(Complaint::NoValue(letter)),
                });
                break;
            } else {
                line.items.push(Item::Complaint(Complaint::Unknown(format!("-{letter}"))));
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
        let unknown = |text: &str| Item::Complaint(Complaint::Unknown(text.to_owned()));
        for (line, items, rest) in [
            ("-vv -v", vec![Item::Flag('v'), Item::Flag('v'), Item::Flag('v')], ""),
            ("-p60001 -p 5:6", vec![value('p', "60001"), value('p', "5:6")], ""),
            ("-vp5 x -s", vec![Item::Flag('v'), value('p', "5"), word("x"), Item::Flag('s')], ""),
            ("-p -- -v", vec![value('p', "--"), Item::Flag('v')], ""),
            ("-s -- -v x", vec![Item::Flag('s')], "-v x"),
            ("-zs", vec![unknown("-z"), Item::Flag('s')], ""),
            ("--bogus -", vec![unknown("--bogus"), word("-")], ""),
            ("-p", vec![Item::Complaint(Complaint::NoValue('p'))], ""),
        ] {
            let split = |text: &str| text.split_whitespace().map(OsString::from).collect();
            let expected = Line { items, rest: split(rest) };
            assert_eq!(read("sv", "p", split(line)), expected, "{line}");
        }
    }
}
