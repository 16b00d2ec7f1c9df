//! The command lines of `rove list` and `rove kill`.

use std::ffi::OsString;
use std::fmt::Display;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use rove_bootstrap::{LabelError, SessionLabel, SessionRef};
use rove_cli_docs::{Manual, Words};
use rove_units::Duration;

use crate::cli::config::{Config, ConfigError};
use crate::cli::login::{self, Instead, Login};
use crate::program::ROVE;
use crate::sessions::{Choice, Place};

pub(crate) static LIST: Manual = Manual {
    word: "list",
    definition: || login::definition(ListArgs::command()),
    words: Words::Host,
    text: include_str!("../../manuals/list.toml"),
    ..Manual::of(&ROVE)
};

pub(crate) static KILL: Manual = Manual {
    word: "kill",
    definition: || login::definition(KillArgs::command()),
    words: Words::HostThenSessions,
    text: include_str!("../../manuals/kill.toml"),
    ..Manual::of(&ROVE)
};

/// Lists your sessions on this computer or another, oldest first
#[derive(Debug, Parser)]
#[command(name = "rove list", version, override_usage = "rove list [options] [[user@]host]")]
struct ListArgs {
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
    #[arg(hide = true)]
    host: Option<OsString>,
}

/// Ends sessions of yours on this computer or another
#[derive(Debug, Parser)]
#[command(
    name = "rove kill",
    version,
    override_usage = "rove kill [options] [[user@]host] NAME|PID|PORT...\n       \
                      rove kill [options] [[user@]host] --all\n       \
                      rove kill [options] [[user@]host] --detached [--older-than TIME]"
)]
struct KillArgs {
    /// Sessions, by the server's process or its UDP port; in front of them the host, if it is another
    #[arg(value_name = "NAME|PID|PORT")]
    words: Vec<OsString>,
    /// A session by its name; behind a host its name alone will do
    #[arg(long, value_name = "NAME")]
    session: Vec<SessionLabel>,
    /// End all sessions, the one this is called in last
    #[arg(long, conflicts_with_all = ["detached", "older_than"])]
    all: bool,
    /// End the sessions whose client has missed three heartbeats
    #[arg(long)]
    detached: bool,
    /// Only those whose client has not been heard for so long: 90s, 30min, 12h, 2d, 1w
    #[arg(long, value_name = "TIME", requires = "detached", value_parser = parse_span)]
    older_than: Option<Duration>,
}

/// Reads the words after `list`; `load` reads the user's configuration, if a host is named. Returns whether to print
/// JSON, and whose sessions.
///
/// # Errors
///
/// Returns a fault of the command line or the configuration, or a request for something else, such as `--help`.
pub(crate) fn parse_list(
    args: Vec<OsString>,
    load: impl FnOnce() -> Result<Config, ConfigError>,
) -> Result<(bool, Place), Instead> {
    let (args, login) = login::read::<ListArgs>(&LIST, args)?;
    Ok((args.json, place(&LIST, args.host, login, load)?))
}

/// Reads the words after `kill`; `load` reads the user's configuration, if a host is named.
///
/// # Errors
///
/// Returns a fault of the command line or the configuration, or a request for something else, such as `--help`.
pub(crate) fn parse_kill(
    args: Vec<OsString>,
    load: impl FnOnce() -> Result<Config, ConfigError>,
) -> Result<(Choice, Place), Instead> {
    let (args, login) = login::read::<KillArgs>(&KILL, args)?;
    let KillArgs { mut words, session, all, detached, older_than } = args;
    let number = |word: &OsString| word.to_str()?.parse::<u32>().ok();
    let has_host = words.first().is_some_and(|word| number(word).is_none());
    let host = has_host.then(|| words.remove(0));
    let mut these: Vec<SessionRef> = words
        .iter()
        .map(|word| {
            if let Some(number) = number(word) {
                return Ok(SessionRef::Number(number));
            }
            let shown = word.to_string_lossy();
            if has_host {
                return shown.parse().map_err(wrong::<LabelError>);
            }
            let shown = shown.escape_debug();
            let advice = "a host stands in front of the numbers";
            Err(wrong(format!("\"{shown}\" is no process number and no port; {advice}")))
        })
        .collect::<Result<_, _>>()?;
    these.extend(session.into_iter().map(SessionRef::Named));
    let of = host.as_ref().map_or(String::new(), |host| format!(" {}", host.display()));
    // The host is read first, because a line with `-G` (print ssh's configuration) need not name sessions.
    let place = place(&KILL, host, login, load)?;
    let choice = match (all, detached, these.is_empty()) {
        (true, _, true) => Choice::All,
        (_, true, true) => Choice::Detached { silent_for: older_than.unwrap_or(Duration::ZERO) },
        (false, false, false) => Choice::These(these),
        (false, false, true) => {
            return Err(wrong(format!(
                "say which sessions to end: rove list{of} shows their numbers, --all means all of them"
            )));
        }
        (true, _, false) | (_, true, false) => {
            return Err(wrong("either numbers or --all or --detached, not several of them"));
        }
    };
    Ok((choice, place))
}

/// Returns the computer whose sessions the command is about: a host with the options for its login, or this one.
/// Refuses login options without a host.
fn place(
    manual: &Manual,
    host: Option<OsString>,
    login: Login,
    load: impl FnOnce() -> Result<Config, ConfigError>,
) -> Result<Place, Instead> {
    let Some(host) = host else {
        login.nowhere(manual)?;
        return Ok(Place::Here);
    };
    Ok(Place::Far(Box::new(login.options(host, load)?)))
}

fn wrong<T: Display>(message: T) -> Instead {
    clap::Error::raw(ErrorKind::ValueValidation, format!("{message}\n")).into()
}

/// Reads a time span, such as `2d`: a whole number and its unit, from seconds to weeks. The error is for the user.
fn parse_span(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, u64); 6] =
        [("s", 1), ("min", 60), ("m", 60), ("h", 3600), ("d", 86_400), ("w", 604_800)];
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = UNITS.iter().find(|(name, _)| *name == unit.trim_start());
    let seconds = unit.and_then(|(_, length)| number.parse::<u64>().ok()?.checked_mul(*length));
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| "a span of time is a number and s, min, h, d or w, such as 2d".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn list(line: &str) -> Result<(bool, Place), Instead> {
        parse_list(words(line), || Ok(Config::default()))
    }

    fn kill(line: &str) -> Result<(Choice, Place), Instead> {
        parse_kill(words(line), || Ok(Config::default()))
    }

    /// Returns the host and its ssh command as text; empty for this computer.
    fn name(place: &Place) -> String {
        match place {
            Place::Here => String::new(),
            Place::Far(options) => {
                format!("{} by {}", options.host.display(), options.ssh.join(" "))
            }
        }
    }

    #[test]
    fn a_list_is_for_people_or_for_programs_and_of_here_or_there() {
        for (line, json, place) in [
            ("", false, ""),
            ("--json", true, ""),
            ("me@host --json", true, "me@host by ssh"),
            ("--ssh=/bin/ssh host", false, "host by /bin/ssh"),
            ("-i key -l me host --json", true, "host by ssh -i key -l me"),
        ] {
            let (is_json, found) = list(line).unwrap();
            assert_eq!((is_json, name(&found)), (json, place.to_owned()), "{line}");
        }
        for line in ["a b", "-- -oProxyCommand=x", "--ssh=ssh", "--all"] {
            assert!(list(line).is_err(), "{line}");
        }
        let text = b"[host.\"h*\"]\nssh = \"ssh -p 22\"\n";
        let settings = || Ok(Config::parse(text).unwrap());
        let (_, found) = parse_list(words("host"), settings).unwrap();
        assert_eq!(name(&found), "host by ssh -p 22");
    }

    #[test]
    fn sessions_to_end_are_named_or_described() {
        let detached = |seconds| Choice::Detached { silent_for: Duration::from_secs(seconds) };
        let these = |words: &str| {
            Choice::These(words.split(' ').map(|word| word.parse().unwrap()).collect())
        };
        for (line, choice, place) in [
            ("17", these("17"), ""),
            ("17 60001", these("17 60001"), ""),
            ("--session work 17", these("17 work"), ""),
            ("me@host work 60001", these("work 60001"), "me@host by ssh"),
            ("--all", Choice::All, ""),
            ("--detached", detached(0), ""),
            ("--detached --older-than 2d", detached(172_800), ""),
            ("--older-than=1w --detached", detached(604_800), ""),
            ("me@host 17 18", these("17 18"), "me@host by ssh"),
            ("--all host", Choice::All, "host by ssh"),
            ("host --detached", detached(0), "host by ssh"),
            ("-J jump host 17 -vF file", these("17"), "host by ssh -J jump -v -F file"),
        ] {
            let (found, there) = kill(line).unwrap();
            assert_eq!((found, name(&there)), (choice, place.to_owned()), "{line}");
        }
    }

    #[test]
    fn ssh_is_asked_without_a_session() {
        for asked in [list("-G host").err(), kill("-G host").err(), kill("-G host 17").err()] {
            assert!(matches!(asked, Some(Instead::AskSsh { .. })), "{asked:?}");
        }
    }

    #[test]
    fn an_order_to_kill_is_not_guessed() {
        for line in [
            "",
            "host",
            "-9 17",
            "-i key 17",
            "--ssh=ssh --all",
            "17 host",
            "host 17 X",
            "host X",
            "--session 17",
            "-- -x 17",
            "17 --all",
            "17 --detached",
            "--all --detached",
            "--older-than 2d",
            "--all --older-than 2d",
            "--detached --older-than 2",
            "--detached --older-than d",
            "--detached --older-than 99999999999999999999d",
            "--detached --older-than 2y",
        ] {
            assert!(kill(line).is_err(), "{line}");
        }
    }
}
