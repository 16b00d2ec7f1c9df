//! Error messages about a command line. Programs that parse their options without clap use the same messages.

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::manual::{Book, Manual};

/// Returns the message about an option that does not exist. `near` is an existing option with a similar name.
pub fn unknown_option(option: &str, near: Option<&str>) -> String {
    let option = option.escape_debug();
    match near {
        Some(near) => format!("unknown option {option}; did you mean {near}?"),
        None => format!("unknown option {option}"),
    }
}

/// Returns the existing option that is similar to the unknown `option`. Both begin with dashes. `None` if no option is
/// similar. For `-x` it is `-X`. For a long option, it may also be a short option whose clap id is similar.
pub fn near_option(command: &Command, option: &str) -> Option<String> {
    let mut command = command.clone();
    // The build adds --help and --version to a definition that leaves them to clap.
    command.build();
    let visible =
        || command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set());
    let letters = || visible().filter_map(|arg| Some((arg, arg.get_short()?)));
    let Some(name) = option.strip_prefix("--") else {
        let other = letters().map(|(_, letter)| format!("-{letter}"));
        return other.into_iter().find(|letter| letter.eq_ignore_ascii_case(option));
    };
    let longs =
        visible().filter_map(|arg| Some((arg.get_long()?, format!("--{}", arg.get_long()?))));
    let lone = letters().filter(|(arg, _)| arg.get_long().is_none());
    let named = lone.map(|(arg, letter)| (arg.get_id().as_str(), format!("-{letter}")));
    let known: Vec<(&str, String)> = longs.chain(named).collect();
    let near = nearest(name, known.iter().map(|(name, _)| *name))?;
    known.iter().find(|(name, _)| *name == near).map(|(_, spelling)| spelling.clone())
}

/// Returns the message about a command that does not exist. It names the most similar command, or else all commands.
pub fn unknown_command(book: &Book, word: &str) -> String {
    let words = book.command_words();
    let advice = match nearest(word, words.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("there are {}", words.join(", ")),
    };
    format!("there is no command \"{}\"; {advice}", word.escape_debug())
}

/// Returns the name most similar to `written`. `None` if no name is similar. A similar name differs only in case,
/// dashes and underscores, or by at most (length + 1) / 4 typing errors. A typing error is a missing, wrong or
/// additional character, or a pair of exchanged characters.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let fold = |text: &str| text.to_lowercase().replace(['-', '_'], "");
    let (folded, length) = (fold(written), written.chars().count());
    let slips_max = (length + 1) / 4;
    let rated = names.into_iter().filter_map(|name| {
        let is_long = name.chars().count().abs_diff(length) > slips_max;
        let slips = match fold(name) == folded {
            true => 0,
            false if is_long => return None,
            false => strsim::osa_distance(written, name),
        };
        (slips <= slips_max).then_some((slips, name))
    });
    rated.min_by_key(|(slips, _)| *slips).map(|(_, name)| name)
}

/// Returns the message with which a command refuses a command line: the command, the reason, and the usage. `None` if
/// the user asked for help or the version, which clap also returns as an error.
pub fn refusal(manual: &Manual, error: &Error) -> Option<String> {
    let said =
        || format!("{}: {}\n{}", manual.called(), sentence(manual, error), usage_hint(manual));
    error.use_stderr().then(said)
}

/// Returns the usage of a command, and a reference to its `--help`.
pub fn usage_hint(manual: &Manual) -> String {
    format!("Usage: {}\n{} --help explains the options.", manual.usage(), manual.called())
}

/// Returns the reason for which clap refuses a command line, as one sentence.
pub fn sentence(manual: &Manual, error: &Error) -> String {
    let argument = text(error, ContextKind::InvalidArg);
    let value = text(error, ContextKind::InvalidValue);
    let Some(argument) = argument else {
        // Errors without an argument carry a sentence of this program, or have a kind that this program never causes.
        let text = error.to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        return text.lines().next().unwrap_or_default().to_owned();
    };
    // clap names the argument in forms such as "--port <PORT>" and "<PORT>".
    let option = argument.split(' ').next().unwrap_or_default().trim_matches(['<', '>', '.']);
    match error.kind() {
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            let option = argument.split('=').next().unwrap_or_default();
            unknown_option(option, near_option(&(manual.definition)(), option).as_deref())
        }
        ErrorKind::UnknownArgument => {
            format!("there is no place for \"{}\"", argument.escape_debug())
        }
        ErrorKind::InvalidValue if value.as_deref().is_none_or(str::is_empty) => {
            format!("option {option} needs a value")
        }
        ErrorKind::InvalidValue => {
            let known = text(error, ContextKind::ValidValue).unwrap_or_default();
            let value = value.unwrap_or_default();
            format!("{option} is one of {known}, not \"{}\"", value.escape_debug())
        }
        ErrorKind::ValueValidation => {
            let reason =
                std::error::Error::source(error).map(|reason| in_words(&reason.to_string()));
            let value = value.unwrap_or_default();
            let reason = reason.unwrap_or_else(|| "this is not what belongs here".to_owned());
            format!("{option} \"{}\": {reason}", value.escape_debug())
        }
        ErrorKind::MissingRequiredArgument => format!("{option} is missing"),
        ErrorKind::ArgumentConflict => {
            let other = text(error, ContextKind::PriorArg).unwrap_or_default();
            let other = other.split(' ').next().unwrap_or_default().trim_matches(['<', '>', '.']);
            format!("{option} and {other} do not go together")
        }
        ErrorKind::TooManyValues => format!("option {option} takes no value"),
        _ => format!("{option}: this cannot be read"),
    }
}

/// Returns why clap refused a value, without the Rust notation that clap and the standard library use for numbers.
fn in_words(reason: &str) -> String {
    let range = reason.split_once(" is not in ").and_then(|(_, range)| range.split_once("..="));
    match range {
        Some((low, high)) => format!("this is not from {low} to {high}"),
        None if reason == "invalid digit found in string" => "this is no whole number".to_owned(),
        None => reason.to_owned(),
    }
}

/// Returns a text of clap's error by its kind, such as the refused value. `None` if the error has no such text.
fn text(error: &Error, kind: ContextKind) -> Option<String> {
    Some(match error.get(kind)? {
        ContextValue::String(text) => text.clone(),
        ContextValue::Strings(texts) => texts.join(", "),
        ContextValue::StyledStr(text) => StyledStr::to_string(text),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction, Command};

    use super::*;
    use crate::manual::{Program, matches};

    static PROGRAM: Program = Program { name: "test", about: "", version: "1", see_also: &[] };

    static MANUAL: Manual = Manual {
        definition: || {
            let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
            Command::new("test")
                .override_usage("test [options] PORT")
                .args([flag("all"), flag("detached").conflicts_with("all")])
                .arg(
                    Arg::new("mode").long("mode").value_name("MODE").value_parser(["fast", "slow"]),
                )
                .arg(
                    Arg::new("port")
                        .value_name("PORT")
                        .required(true)
                        .value_parser(clap::value_parser!(u16)),
                )
        },
        ..Manual::of(&PROGRAM)
    };

    #[test]
    fn errors_of_clap_are_said_in_our_words() {
        for (line, wanted) in [
            ("--al 1", "unknown option --al"),
            ("--detahced 1", "unknown option --detahced; did you mean --detached?"),
            ("--detahced=x 1", "unknown option --detahced; did you mean --detached?"),
            ("-z 1", "unknown option -z"),
            ("1 2", "there is no place for \"2\""),
            ("--mode", "option --mode needs a value"),
            ("--mode=quick 1", "--mode is one of fast, slow, not \"quick\""),
            ("x", "PORT \"x\": this is no whole number"),
            ("70000", "PORT \"70000\": this is not from 0 to 65535"),
            ("", "PORT is missing"),
            ("--all --detached 1", "--all and --detached do not go together"),
            ("--all=x 1", "option --all takes no value"),
        ] {
            let words = line.split_whitespace().map(Into::into).collect();
            let error = matches(&MANUAL, words).unwrap_err();
            assert_eq!(sentence(&MANUAL, &error), wanted, "{line}: {error}");
        }
        let error = Error::raw(ErrorKind::InvalidValue, "no such shell\n");
        let whole =
            "test: no such shell\nUsage: test [options] PORT\ntest --help explains the options.";
        assert_eq!(refusal(&MANUAL, &error).as_deref(), Some(whole));
        let help = matches(&MANUAL, vec!["--help".into()]).unwrap_err();
        assert_eq!(refusal(&MANUAL, &help), None);
    }

    #[test]
    fn a_letter_is_found_in_the_other_case_and_by_its_name() {
        let command = Command::new("test")
            .arg(Arg::new("port").short('p').value_name("PORT"))
            .arg(Arg::new("secret").short('s').hide(true))
            .arg(Arg::new("quiet").short('q').long("quiet").action(ArgAction::SetTrue));
        for (option, near) in [
            ("-P", Some("-p")),
            ("-H", Some("-h")),
            ("-S", None),
            ("-z", None),
            ("-Pq", None),
            ("--prot", Some("-p")),
            ("--quite", Some("--quiet")),
            ("--hepl", Some("--help")),
            ("--secret", None),
            ("--", None),
            ("", None),
        ] {
            assert_eq!(near_option(&command, option).as_deref(), near, "{option}");
        }
    }

    #[test]
    fn a_near_miss_is_a_slip_or_two_of_a_long_name() {
        let names = ["predict", "predict-overwrite", "port", "no-init", "ssh"];
        for (written, near) in [
            ("predcit", Some("predict")),
            ("perdict", Some("predict")),
            ("PORT", Some("port")),
            ("prt", Some("port")),
            ("prot", Some("port")),
            ("port", Some("port")),
            ("noinit", Some("no-init")),
            ("predict-overwrit", Some("predict-overwrite")),
            ("p", None),
            ("", None),
            ("sssh", Some("ssh")),
            ("frobnicate", None),
        ] {
            assert_eq!(nearest(written, names), near, "{written}");
        }
        // A very long name is rejected without a slow comparison.
        assert_eq!(nearest(&"x".repeat(100_000), names), None);
    }
}
