//! The command lines of `rove list` and `rove kill`.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, ValueHint};
use rove_manual::{Manual, Words};
use rove_units::Duration;

use crate::bootstrap::options::HostOptions;
use crate::cli::BOOK;
use crate::cli::config::Config;
use crate::cli::host::{self, HostCall};
use crate::program::ProgramName;
use crate::sessions::{Choice, ListOptions, Place};

/// Where both commands look.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("ROVE_RUNTIME_DIR", "Directory of the control sockets, in place of the usual ones."),
    ("XDG_RUNTIME_DIR", "Where the usual one is."),
];
/// How another computer is asked, for both commands.
const FAR: &str = "With a host the question goes there over ssh, to the rove that a session would find. The \
                   host's settings in the configuration count, as they do for a session.";
/// Source: as above.
const FILES: &[(&str, &str)] = &[
    ("$XDG_RUNTIME_DIR/rove", "Control sockets; nobody else may enter."),
    ("/run/user/UID/rove", "The same, where that variable is not set."),
    ("/tmp/rove-UID", "The same, where there is no such directory."),
];

/// What users are told of `rove list`.
pub(crate) static LIST: Manual = Manual {
    book: &BOOK,
    word: "list",
    definition: ListArgs::command,
    words: Words::Unknown,
    notes: &[
        "Shown are the server's process and UDP port; whether a client is attached (heard within 30 \
         s), detached, or still waited for; how long ago the session started, its client was heard \
         and a key was typed; the terminal's size; the client's address; the command, and the title \
         that it has given the window.",
        FAR,
    ],
    lists: &[],
    examples: &[
        ("rove list", "your sessions on this computer"),
        ("rove list me@example.org", "those on another"),
        ("rove list --json | jq '.sessions[].pid'", "for a script"),
    ],
    environment: ENVIRONMENT,
    files: FILES,
    exit_status: &[
        ("0", "All sessions are listed, though there be none."),
        ("1", "A server does not answer, or a directory is not to be trusted."),
        ("10", "The host could not be asked."),
        ("255", "The command line is wrong."),
    ],
};

/// What users are told of `rove kill`.
pub(crate) static KILL: Manual = Manual {
    book: &BOOK,
    word: "kill",
    definition: KillArgs::command,
    words: Words::Sessions,
    notes: &[
        "The client is told, the session's command gets SIGHUP, and the end is waited for.",
        "A stock mosh-server cannot be asked; the system's own kill ends it.",
        FAR,
    ],
    lists: &[],
    examples: &[
        ("rove kill 60001", "the session at this port"),
        ("rove kill --detached --older-than 2d", "those whose client is two days away"),
        ("rove kill me@example.org 60001", "a session on another computer"),
    ],
    environment: ENVIRONMENT,
    files: FILES,
    exit_status: &[
        ("0", "All sessions meant have ended; --all and --detached may mean none."),
        ("1", "One is not there, or has not ended."),
        ("10", "The host could not be asked."),
        ("255", "The command line is wrong."),
    ],
};

/// Lists your sessions on this computer or another, oldest first
#[derive(Debug, Parser)]
#[command(name = "rove list", version, override_usage = "rove list [options] [[user@]host]")]
struct ListArgs {
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
    /// Name stock mosh-servers as well
    #[arg(long)]
    all: bool,
    /// ssh to run for a host, with options: "ssh -p 2222" [default: ssh]
    #[arg(long, value_name = "COMMAND", value_hint = ValueHint::CommandString, requires = "host")]
    ssh: Option<String>,
    #[arg(hide = true)]
    host: Option<OsString>,
}

/// Ends sessions of yours on this computer or another
#[derive(Debug, Parser)]
#[command(
    name = "rove kill",
    version,
    override_usage = "rove kill [[user@]host] PID|PORT...\n       rove kill [[user@]host] --all\n       \
                      rove kill [[user@]host] --detached [--older-than TIME]"
)]
struct KillArgs {
    /// Sessions, by the server's process or its UDP port; in front of them the host, if it is another
    #[arg(value_name = "PID|PORT")]
    words: Vec<OsString>,
    /// End all sessions, the one this is called in last
    #[arg(long, conflicts_with_all = ["detached", "older_than"])]
    all: bool,
    /// End the sessions whose client has not been heard for 30 s
    #[arg(long)]
    detached: bool,
    /// Only those whose client has not been heard for so long: 90s, 30min, 12h, 2d, 1w
    #[arg(long, value_name = "TIME", requires = "detached", value_parser = parse_span)]
    older_than: Option<Duration>,
    /// ssh to run for a host, with options: "ssh -p 2222" [default: ssh]
    #[arg(long, value_name = "COMMAND", value_hint = ValueHint::CommandString)]
    ssh: Option<String>,
}

/// Reads the words behind `list`; `load` reads the user's configuration, for a host.
///
/// # Errors
///
/// Returns clap's error, which may be a request for help.
pub(crate) fn parse_list(
    args: Vec<OsString>,
    load: impl FnOnce() -> Result<Config, String>,
) -> Result<(ListOptions, Place), clap::Error> {
    let args = ListArgs::from_arg_matches(&rove_manual::matches(&LIST, args)?)?;
    let options = ListOptions { json: args.json, all: args.all };
    Ok((options, place(args.host, args.ssh, load)?))
}

/// Reads the words behind `kill`; `load` reads the user's configuration, for a host.
///
/// # Errors
///
/// Returns clap's error, which may be a request for help.
pub(crate) fn parse_kill(
    args: Vec<OsString>,
    load: impl FnOnce() -> Result<Config, String>,
) -> Result<(Choice, Place), clap::Error> {
    let KillArgs { mut words, all, detached, older_than, ssh } =
        KillArgs::from_arg_matches(&rove_manual::matches(&KILL, args)?)?;
    let number = |word: &OsString| word.to_str()?.parse::<u32>().ok();
    let has_host = words.first().is_some_and(|word| number(word).is_none());
    let host = has_host.then(|| words.remove(0));
    let numbers: Vec<u32> = words
        .iter()
        .map(|word| {
            let shown = word.to_string_lossy();
            let shown = shown.escape_debug();
            number(word)
                .ok_or_else(|| wrong(format!("\"{shown}\" is no process number and no port")))
        })
        .collect::<Result<_, _>>()?;
    let choice = match (all, detached, numbers.is_empty()) {
        (true, _, true) => Choice::All,
        (_, true, true) => Choice::Detached { silent_for: older_than.unwrap_or(Duration::ZERO) },
        (false, false, false) => Choice::Numbers(numbers),
        (false, false, true) => {
            let of = host.map_or(String::new(), |host| format!(" {}", host.display()));
            return Err(wrong(format!(
                "say which sessions to end: rove list{of} shows their numbers, --all means all of them"
            )));
        }
        (true, _, false) | (_, true, false) => {
            return Err(wrong(
                "either numbers or --all or --detached, not several of them".to_owned(),
            ));
        }
    };
    Ok((choice, place(host, ssh, load)?))
}

/// Returns where to look for sessions.
fn place(
    host: Option<OsString>,
    ssh: Option<String>,
    load: impl FnOnce() -> Result<Config, String>,
) -> Result<Place, clap::Error> {
    let Some(host) = host else { return Ok(Place::Here) };
    let options = far(host, ssh, load).map_err(wrong)?;
    Ok(Place::Far(Box::new(options)))
}

/// Returns the options with which a session would log in to a host.
///
/// # Errors
///
/// Returns what is wrong.
pub(crate) fn far(
    host: OsString,
    ssh: Option<String>,
    load: impl FnOnce() -> Result<Config, String>,
) -> Result<HostOptions, String> {
    let ssh = ssh.map(|ssh| format!("--ssh={ssh}").into());
    let words = ssh.into_iter().chain(["--".into(), host]).collect();
    match host::parse(ProgramName::Rove, words, load) {
        Ok(HostCall::Connect(options)) => Ok(*options),
        Ok(_) => Err("that is no host".to_owned()),
        Err(error) => Err(error.message),
    }
}

fn wrong(message: String) -> clap::Error {
    clap::Error::raw(ErrorKind::ValueValidation, message + "\n")
}

/// Reads a span of days rather than of milliseconds: a whole number and its unit.
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

    fn list(line: &str) -> Result<(ListOptions, Place), clap::Error> {
        parse_list(words(line), || Ok(Config::default()))
    }

    fn kill(line: &str) -> Result<(Choice, Place), clap::Error> {
        parse_kill(words(line), || Ok(Config::default()))
    }

    /// The host, and the ssh to reach it.
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
        for (line, json, all, place) in [
            ("", false, false, ""),
            ("--json", true, false, ""),
            ("--all --json", true, true, ""),
            ("me@host --json", true, false, "me@host by ssh"),
            ("--ssh=/bin/ssh host", false, false, "host by /bin/ssh"),
        ] {
            let (options, found) = list(line).unwrap();
            assert_eq!(
                (options, name(&found)),
                (ListOptions { json, all }, place.to_owned()),
                "{line}"
            );
        }
        for line in ["a b", "-- -oProxyCommand=x", "--ssh=ssh"] {
            assert!(list(line).is_err(), "{line}");
        }
        let text = b"[host.\"h*\"]\nssh = \"ssh -p 22\"\n";
        let settings = || Config::parse(text).map_err(|fault| format!("{fault:?}"));
        let (_, found) = parse_list(words("host"), settings).unwrap();
        assert_eq!(name(&found), "host by ssh -p 22");
    }

    #[test]
    fn sessions_to_end_are_named_or_described() {
        let detached = |seconds| Choice::Detached { silent_for: Duration::from_secs(seconds) };
        for (line, choice, place) in [
            ("17", Choice::Numbers(vec![17]), ""),
            ("17 60001", Choice::Numbers(vec![17, 60_001]), ""),
            ("--all", Choice::All, ""),
            ("--detached", detached(0), ""),
            ("--detached --older-than 2d", detached(172_800), ""),
            ("--older-than=1w --detached", detached(604_800), ""),
            ("me@host 17 18", Choice::Numbers(vec![17, 18]), "me@host by ssh"),
            ("--all host", Choice::All, "host by ssh"),
            ("host --detached", detached(0), "host by ssh"),
        ] {
            let (found, there) = kill(line).unwrap();
            assert_eq!((found, name(&there)), (choice, place.to_owned()), "{line}");
        }
    }

    #[test]
    fn an_order_to_kill_is_not_guessed() {
        for line in [
            "",
            "host",
            "-9 17",
            "17 host",
            "host 17 x",
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
