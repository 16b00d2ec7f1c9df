//! The command lines of `rove list` and `rove kill`.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser};
use rove_manual::{Manual, Words};
use rove_units::Duration;

use crate::cli::BOOK;
use crate::sessions::{Choice, ListOptions};

/// Where both commands look.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("ROVE_RUNTIME_DIR", "Directory of the control sockets, in place of the usual ones."),
    ("XDG_RUNTIME_DIR", "Where the usual one is."),
];
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
    ],
    lists: &[],
    examples: &[
        ("rove list", "your sessions on this computer"),
        ("ssh host rove list", "those on another"),
        ("rove list --json | jq '.sessions[].pid'", "for a script"),
    ],
    environment: ENVIRONMENT,
    files: FILES,
    exit_status: &[
        ("0", "All sessions are listed, though there be none."),
        ("1", "A server does not answer, or a directory is not to be trusted."),
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
    ],
    lists: &[],
    examples: &[
        ("rove kill 60001", "the session at this port"),
        ("rove kill --detached --older-than 2d", "those whose client is two days away"),
    ],
    environment: ENVIRONMENT,
    files: FILES,
    exit_status: &[
        ("0", "All sessions meant have ended; --all and --detached may mean none."),
        ("1", "One is not there, or has not ended."),
        ("255", "The command line is wrong."),
    ],
};

/// Lists your sessions on this computer, oldest first
#[derive(Debug, Parser)]
#[command(name = "rove list", version, override_usage = "rove list [options]")]
struct ListArgs {
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
    /// Name stock mosh-servers as well
    #[arg(long)]
    all: bool,
}

/// Ends sessions of yours on this computer
#[derive(Debug, Parser)]
#[command(
    name = "rove kill",
    version,
    override_usage = "rove kill PID|PORT...\n       rove kill --all\n       rove kill --detached \
                      [--older-than TIME]"
)]
struct KillArgs {
    /// Sessions, by the server's process or its UDP port
    #[arg(value_name = "PID|PORT", required_unless_present_any = ["all", "detached"])]
    numbers: Vec<u32>,
    /// End all sessions, the one this is called in last
    #[arg(long, conflicts_with_all = ["numbers", "detached", "older_than"])]
    all: bool,
    /// End the sessions whose client has not been heard for 30 s
    #[arg(long, conflicts_with = "numbers")]
    detached: bool,
    /// Only those whose client has not been heard for so long: 90s, 30min, 12h, 2d, 1w
    #[arg(long, value_name = "TIME", requires = "detached", value_parser = parse_span)]
    older_than: Option<Duration>,
}

/// Reads the words behind `list`.
///
/// # Errors
///
/// Returns clap's error, which may be a request for help.
pub(crate) fn parse_list(args: Vec<OsString>) -> Result<ListOptions, clap::Error> {
    let args = ListArgs::from_arg_matches(&rove_manual::matches(&LIST, args)?)?;
    Ok(ListOptions { json: args.json, all: args.all })
}

/// Reads the words behind `kill`.
///
/// # Errors
///
/// Returns clap's error, which may be a request for help.
pub(crate) fn parse_kill(args: Vec<OsString>) -> Result<Choice, clap::Error> {
    let args = KillArgs::from_arg_matches(&rove_manual::matches(&KILL, args)?)?;
    Ok(match args {
        KillArgs { all: true, .. } => Choice::All,
        KillArgs { detached: true, older_than, .. } => {
            Choice::Detached { silent_for: older_than.unwrap_or(Duration::ZERO) }
        }
        KillArgs { numbers, .. } => Choice::Numbers(numbers),
    })
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

    #[test]
    fn a_list_is_for_people_or_for_programs() {
        for (line, json, all) in
            [("", false, false), ("--json", true, false), ("--all --json", true, true)]
        {
            assert_eq!(parse_list(words(line)).unwrap(), ListOptions { json, all }, "{line}");
        }
        assert!(parse_list(words("host")).is_err());
    }

    #[test]
    fn sessions_to_end_are_named_or_described() {
        let detached = |seconds| Choice::Detached { silent_for: Duration::from_secs(seconds) };
        for (line, choice) in [
            ("17", Choice::Numbers(vec![17])),
            ("17 60001", Choice::Numbers(vec![17, 60_001])),
            ("--all", Choice::All),
            ("--detached", detached(0)),
            ("--detached --older-than 2d", detached(172_800)),
            ("--older-than=1w --detached", detached(604_800)),
        ] {
            assert_eq!(parse_kill(words(line)).unwrap(), choice, "{line}");
        }
    }

    #[test]
    fn an_order_to_kill_is_not_guessed() {
        for line in [
            "",
            "host",
            "-9 17",
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
            assert!(parse_kill(words(line)).is_err(), "{line}");
        }
    }
}
