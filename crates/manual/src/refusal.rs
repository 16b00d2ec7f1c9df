//! Sentences that say what is wrong with a command line: one form for refusals by our own readers and by clap.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::manual::Manual;

/// Returns the sentence about an option that there is not.
pub fn unknown_option(option: &str, near: Option<&str>) -> String {
    let option = option.escape_debug();
    match near {
        Some(near) => format!("unknown option {option}; did you mean {near}?"),
        None => format!("unknown option {option}"),
    }
}

/// Returns the name that was probably meant: it differs in case or dashes only, or by few slips of the finger. A slip
/// is a character too many, too few or wrong, or two that have changed places; a name may have one for each four
/// characters, or three.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let fold = |text: &str| text.to_lowercase().replace(['-', '_'], "");
    let (folded, length) = (fold(written), written.chars().count());
    let slips_max = (length + 1) / 4;
    let rated = names.into_iter().filter_map(|name| {
        let slips = if fold(name) == folded { 0 } else { slips(written, name, slips_max)? };
        Some((slips, name))
    });
    rated.min_by_key(|(slips, _)| *slips).map(|(_, name)| name)
}

/// Returns how many slips make one text of the other; `None` for more than `max`.
fn slips(from: &str, to: &str, max: usize) -> Option<usize> {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    if from.len().abs_diff(to.len()) > max {
        return None;
    }
    // The rows of the distances between beginnings (optimal string alignment): before the last, the last, this.
    let mut older: Vec<usize> = Vec::new();
    let mut old: Vec<usize> = (0..=to.len()).collect();
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let wrong = usize::from(from[i - 1] != to[j - 1]);
            let mut slips = (old[j] + 1).min(row[j - 1] + 1).min(old[j - 1] + wrong);
            let is_swap = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
            if is_swap {
                slips = slips.min(older[j - 2] + 1);
            }
            row.push(slips);
        }
        older = core::mem::replace(&mut old, row);
    }
    old.last().copied().filter(|slips| *slips <= max)
}

/// Returns why clap does not take a command line, and how the command is used.
pub fn refusal(manual: &Manual, error: &Error) -> String {
    format!("{}\n{}", sentence(manual, error), usage_hint(manual))
}

/// Returns how a command is used, and what says more.
pub fn usage_hint(manual: &Manual) -> String {
    format!("Usage: {}\n{} --help explains the options.", manual.usage(), manual.called())
}

/// Returns why clap does not take a command line, without more.
pub fn sentence(manual: &Manual, error: &Error) -> String {
    let argument = text(error, ContextKind::InvalidArg);
    let value = text(error, ContextKind::InvalidValue);
    let Some(argument) = argument else {
        // A sentence of ours, or of a kind that our definitions do not bring about.
        let text = error.to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        return text.lines().next().unwrap_or_default().to_owned();
    };
    // clap writes "--port <PORT>" and "<PORT>".
    let option = argument.split(' ').next().unwrap_or_default().trim_matches(['<', '>', '.']);
    match error.kind() {
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            let option = argument.split('=').next().unwrap_or_default();
            let spellings: Vec<String> =
                manual.options().iter().flat_map(crate::OptionEntry::spellings).collect();
            let longs = spellings.iter().filter_map(|spelling| spelling.strip_prefix("--"));
            let near = option.strip_prefix("--").and_then(|name| nearest(name, longs));
            unknown_option(option, near.map(|name| format!("--{name}")).as_deref())
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
            let reason = std::error::Error::source(error).map(ToString::to_string);
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

/// Returns what clap says of an error under this heading.
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
    use crate::manual::{Book, Words, matches};

    static BOOK: Book =
        Book { program: "test", about: "", version: "1", manuals: || vec![&MANUAL], see_also: &[] };

    static MANUAL: Manual = Manual {
        book: &BOOK,
        word: "",
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
        words: Words::Unknown,
        notes: &[],
        lists: &[],
        examples: &[],
        environment: &[],
        files: &[],
        exit_status: &[],
    };

    #[test]
    fn what_clap_refuses_is_said_in_our_words() {
        for (line, wanted) in [
            ("--al 1", "unknown option --al"),
            ("--detahced 1", "unknown option --detahced; did you mean --detached?"),
            ("--detahced=x 1", "unknown option --detahced; did you mean --detached?"),
            ("-z 1", "unknown option -z"),
            ("1 2", "there is no place for \"2\""),
            ("--mode", "option --mode needs a value"),
            ("--mode=quick 1", "--mode is one of fast, slow, not \"quick\""),
            ("x", "PORT \"x\": invalid digit found in string"),
            ("", "PORT is missing"),
            ("--all --detached 1", "--all and --detached do not go together"),
            ("--all=x 1", "option --all takes no value"),
        ] {
            let words = line.split_whitespace().map(Into::into).collect();
            let error = matches(&MANUAL, words).unwrap_err();
            assert_eq!(sentence(&MANUAL, &error), wanted, "{line}: {error}");
        }
        let error = Error::raw(ErrorKind::InvalidValue, "no such shell\n");
        let whole = "no such shell\nUsage: test [options] PORT\ntest --help explains the options.";
        assert_eq!(refusal(&MANUAL, &error), whole);
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
        // Nobody waits for what is long.
        assert_eq!(nearest(&"x".repeat(100_000), names), None);
    }
}
