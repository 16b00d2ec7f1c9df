//! The option syntax of stock `mosh` that clap does not support: long names with one dash, unique prefixes and any
//! case. `--no-X`, `--noX` and options after the host name also belong to it. This syntax applies if rove is called as
//! `mosh`. The command lines of `rove` are read by [`own_line`](crate::cli::own_line).
//!
//! [`canonical`] rewrites such a command line into options in clap's spelling, a `--` and the positional words. The
//! names come from the clap definitions themselves. Source: Mosh 1.4.0 as observed.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use clap::Command;

use crate::cli::own_line::{is_optional, takes_value};

/// The place where options end, if the line has no `--`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permutation {
    /// Options end at the first positional word (`POSIXLY_CORRECT`).
    None,
    /// Options end at `--` only, as with stock `mosh`. Within the remote command only an option's full name counts, so
    /// that `mosh host ls -l` does not mean `--local`.
    Throughout,
}

/// Options that stock `mosh` does not have. They need their full name, because otherwise an abbreviation that works
/// with stock `mosh` could become ambiguous.
const OURS: [&str; 5] = ["escape-key", "strict", "no-strict", "quiet", "verbose"];

/// The option that must be written in full after the host name. In `mosh host -l me` the user means ssh's `-l`. So rove
/// refuses this `-l`, and does not read it as `--local`.
const NEVER_ABBREVIATED_BEHIND_HOST: &str = "local";

/// A way to write an option.
struct Name<'a> {
    spelling: String,
    option: Target<'a>,
}

/// An option in clap's spelling.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Target<'a> {
    /// The long name, or the letter of an option without a long name.
    name: &'a str,
    dashes: &'static str,
    takes_value: bool,
    /// Whether the value may be left out. If so, a value can only follow an equals sign.
    is_optional: bool,
}

/// The part of the command line that a word is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    BeforeHost,
    BehindHost,
    InCommand,
}

enum Word<'a> {
    Positional,
    /// An option, its name as the user wrote it but in lower case, and its value if the value is in the same word.
    Option(Target<'a>, String, Option<OsString>),
    Wrong(String),
}

/// The option that a word names, or the reason why it names none.
enum Found<'a> {
    Exactly(Target<'a>),
    ByPrefix(Target<'a>),
    Ambiguous(Vec<String>),
    Nothing,
}

/// Rewrites `args` (without the program's name) in clap's spelling.
///
/// # Errors
///
/// Returns a message for each word that is wrong.
pub(crate) fn canonical(
    command: &Command,
    args: Vec<OsString>,
    permutation: Permutation,
) -> Result<Vec<OsString>, Vec<String>> {
    let short_names = short_names(command);
    let names = names(command, &short_names);
    let mut options = Vec::new();
    let mut positionals: Vec<OsString> = Vec::new();
    let mut complaints = Vec::new();
    let mut args = args.into_iter();
    while let Some(word) = args.next() {
        let place = Place::behind(positionals.len());
        if permutation == Permutation::None && place != Place::BeforeHost {
            positionals.push(word);
            positionals.extend(args);
            break;
        }
        if word == "--" {
            positionals.extend(args);
            break;
        }
        match read(&names, &word, place) {
            Word::Positional => positionals.push(word),
            Word::Option(target, name, value) => {
                match complete(target, &name, value, || args.next()) {
                    Ok(option) => options.push(option),
                    Err(complaint) => complaints.push(complaint),
                }
            }
            Word::Wrong(complaint) => complaints.push(complaint),
        }
    }
    if !complaints.is_empty() {
        return Err(complaints);
    }
    options.push(OsString::from("--"));
    options.extend(positionals);
    Ok(options)
}

impl Place {
    const fn behind(positionals: usize) -> Self {
        match positionals {
            0 => Self::BeforeHost,
            1 => Self::BehindHost,
            _ => Self::InCommand,
        }
    }
}

/// Returns the kind of a word other than `--`.
fn read<'a>(names: &[Name<'a>], word: &OsStr, place: Place) -> Word<'a> {
    let Some((name, value)) = split(word) else { return Word::Positional };
    match find(names, &name) {
        Found::Exactly(target) => Word::Option(target, name, value),
        _ if place == Place::InCommand => Word::Positional,
        Found::ByPrefix(target)
            if target.name == NEVER_ABBREVIATED_BEHIND_HOST && place == Place::BehindHost =>
        {
            Word::Wrong(format!(
                "{} behind the host name is not taken for --local: write that out, or put -- in \
                 front of the remote command",
                word.display()
            ))
        }
        Found::ByPrefix(target) => Word::Option(target, name, value),
        Found::Ambiguous(candidates) => {
            Word::Wrong(format!("Option {name} is ambiguous ({})", candidates.join(", ")))
        }
        Found::Nothing => match attached_value(names, word) {
            Some((target, value)) => Word::Option(target, name, Some(value)),
            None => Word::Wrong(format!("Unknown option: {name}")),
        },
    }
}

/// Returns an option in clap's spelling. A needed value is `value`, or else the next word. The error is for the user.
fn complete(
    target: Target<'_>,
    name: &str,
    value: Option<OsString>,
    next: impl FnOnce() -> Option<OsString>,
) -> Result<OsString, String> {
    let mut option = OsString::from(format!("{}{}", target.dashes, target.name));
    if !target.takes_value {
        return match value {
            None => Ok(option),
            Some(_) => Err(format!("Option {name} does not take an argument")),
        };
    }
    let missing = || format!("Option {name} requires an argument");
    let value = match value {
        Some(value) if value.is_empty() => return Err(missing()),
        Some(value) => value,
        None if target.is_optional => return Ok(option),
        None => next().ok_or_else(missing)?,
    };
    option.push("=");
    option.push(value);
    Ok(option)
}

fn short_names(command: &Command) -> Vec<(String, String)> {
    command
        .get_arguments()
        .filter_map(|arg| Some((arg.get_id().to_string(), arg.get_short()?.to_string())))
        .collect()
}

fn names<'a>(command: &'a Command, short_names: &'a [(String, String)]) -> Vec<Name<'a>> {
    let mut names = Vec::new();
    for arg in command.get_arguments().filter(|arg| !arg.is_positional()) {
        let (takes_value, is_optional) = (takes_value(arg), is_optional(arg));
        let short = short_names.iter().find(|(id, _)| id == arg.get_id()).map(|(_, short)| short);
        let option = match (arg.get_long(), short) {
            (Some(name), _) => Target { name, dashes: "--", takes_value, is_optional },
            (None, Some(name)) => Target { name, dashes: "-", takes_value, is_optional },
            (None, None) => continue,
        };
        let mut spellings = vec![option.name.to_owned()];
        spellings.extend(short.cloned());
        if let Some(positive) = option.name.strip_prefix("no-") {
            spellings.push(format!("no{positive}"));
            let positive = command.get_arguments().find(|arg| arg.get_long() == Some(positive));
            let short = positive.and_then(clap::Arg::get_short);
            spellings.extend(
                short.iter().flat_map(|short| [format!("no-{short}"), format!("no{short}")]),
            );
        }
        names.extend(spellings.into_iter().map(|spelling| Name { spelling, option }));
    }
    names
}

/// Splits `--name` or `-name`, perhaps with `=value`, into the name in lower case and the value. `None` for others.
fn split(word: &OsStr) -> Option<(String, Option<OsString>)> {
    let bytes = word.as_bytes();
    let rest = bytes.strip_prefix(b"--").or_else(|| bytes.strip_prefix(b"-"))?;
    if rest.is_empty() {
        return None;
    }
    let (name, value) = match rest.iter().position(|&byte| byte == b'=') {
        Some(at) => (&rest[..at], Some(OsString::from_vec(rest[at + 1..].to_vec()))),
        None => (rest, None),
    };
    Some((String::from_utf8_lossy(name).to_lowercase(), value))
}

fn find<'a>(names: &[Name<'a>], wanted: &str) -> Found<'a> {
    if let Some(name) = names.iter().find(|name| name.spelling == wanted) {
        return Found::Exactly(name.option);
    }
    let candidates: Vec<&Name<'a>> = names
        .iter()
        .filter(|name| !wanted.is_empty() && name.spelling.starts_with(wanted))
        .filter(|name| !OURS.contains(&name.option.name))
        .collect();
    match candidates.split_first() {
        None => Found::Nothing,
        Some((first, others)) if others.iter().all(|other| other.option == first.option) => {
            Found::ByPrefix(first.option)
        }
        Some(_) => Found::Ambiguous(candidates.iter().map(|name| name.spelling.clone()).collect()),
    }
}

/// Splits a word like `-p60001` (ssh's form, which stock `mosh` refuses) into option and value. `None` for other words.
fn attached_value<'a>(names: &[Name<'a>], word: &OsStr) -> Option<(Target<'a>, OsString)> {
    let [b'-', short, value @ ..] = word.as_bytes() else { return None };
    let short = char::from(short.to_ascii_lowercase()).to_string();
    let name = names.iter().find(|name| name.spelling == short && name.option.takes_value)?;
    Some((name.option, OsString::from_vec(value.to_vec())))
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction};

    use super::*;

    fn command() -> Command {
        let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
        let value = |name: &'static str| Arg::new(name).long(name);
        Command::new("mosh")
            .args([
                value("client"),
                value("server"),
                value("ssh"),
                value("predict"),
                value("family"),
            ])
            .args([value("port").short('p'), value("escape-key"), value("experimental-remote-ip")])
            .args([flag("a").long(None).short('a'), flag("n").long(None).short('n')])
            .args([flag("predict-overwrite").short('o'), flag("no-predict-overwrite")])
            .args([flag("init"), flag("no-init"), flag("ssh-pty"), flag("no-ssh-pty")])
            .args([flag("local"), flag("help"), flag("version")])
    }

    fn rewrite(line: &str, permutation: Permutation) -> Result<String, Vec<String>> {
        let args = line.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect();
        canonical(&command(), args, permutation)
            .map(|words| words.join(OsStr::new(" ")).into_string().unwrap())
    }

    #[test]
    fn every_spelling_that_stock_takes_is_taken() {
        for (line, rewritten) in [
            ("--port=5 h", "--port=5 -- h"),
            ("--port 5 h", "--port=5 -- h"),
            ("-p 5 h", "--port=5 -- h"),
            ("-p=5 h", "--port=5 -- h"),
            ("-P 5 h", "--port=5 -- h"),
            ("-port 5 h", "--port=5 -- h"),
            ("--PORT=5:6 h", "--port=5:6 -- h"),
            ("--ssh=a=b h", "--ssh=a=b -- h"),
            ("-predict=always -no-init h", "--predict=always --no-init -- h"),
            ("--noinit --nossh-pty h", "--no-init --no-ssh-pty -- h"),
            ("--nopredict-overwrite h", "--no-predict-overwrite -- h"),
            ("--no-o --noo h", "--no-predict-overwrite --no-predict-overwrite -- h"),
            ("--no-i --predict-over h", "--no-init --predict-overwrite -- h"),
            ("--ver", "--version --"),
            ("-v -h -l -c x -i", "--version --help --local --client=x --init --"),
            ("-e local h", "--experimental-remote-ip=local -- h"),
            ("--escape-key x h", "--escape-key=x -- h"),
            ("-A -n -o h", "-a -n --predict-overwrite -- h"),
            ("h -p 5", "--port=5 -- h"),
            ("h -p 5 ls", "--port=5 -- h ls"),
            ("h -- ls -p 5", "-- h ls -p 5"),
            ("-- h ls -l", "-- h ls -l"),
            ("--family -- h", "--family=-- -- h"),
            ("- +5", "-- - +5"),
            ("-p60001 h", "--port=60001 -- h"),
        ] {
            assert_eq!(rewrite(line, Permutation::Throughout).as_deref(), Ok(rewritten), "{line}");
        }
    }

    #[test]
    fn each_wrong_word_gets_its_own_line() {
        for (line, complaints) in [
            ("-s h", "Option s is ambiguous (server, ssh, ssh-pty)"),
            ("--pred x h", "Option pred is ambiguous (predict, predict-overwrite)"),
            ("--esc x h", "Unknown option: esc"),
            ("-an h", "Unknown option: an"),
            ("--bogus --bogus2 h", "Unknown option: bogus|Unknown option: bogus2"),
            ("--port= h", "Option port requires an argument"),
            ("h --ssh", "Option ssh requires an argument"),
            ("--init=3 h", "Option init does not take an argument"),
            ("--=x h", "Unknown option: "),
        ] {
            let expected = complaints.split('|').map(str::to_owned).collect();
            assert_eq!(rewrite(line, Permutation::Throughout), Err(expected), "{line}");
        }
        let refused = rewrite("h -l me", Permutation::Throughout).unwrap_err();
        assert!(refused[0].starts_with("-l behind the host name is not taken for --local"));
    }

    #[test]
    fn options_end_where_the_reader_of_the_line_expects() {
        use Permutation::{None, Throughout};
        for (line, permutation, rewritten) in [
            ("h ls -l", Throughout, "-- h ls -l"),
            ("h ls -z --color", Throughout, "-- h ls -z --color"),
            ("h ls -p 5", Throughout, "--port=5 -- h ls"),
            ("h -p 5", None, "-- h -p 5"),
            ("-p 5 h -a", None, "--port=5 -- h -a"),
        ] {
            assert_eq!(rewrite(line, permutation).as_deref(), Ok(rewritten), "{line}");
        }
    }
}
