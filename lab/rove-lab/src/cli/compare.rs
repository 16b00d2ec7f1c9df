//! The command line of `rove-lab compare`.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Command, ValueHint};
use rove_cli_docs::Manual;
use rove_flows::path::Path;
use rove_replay::replay::Pace;
use rove_session::Preference;
use rove_units::{Bytes, Duration, ParseUnitError, parse_duration};

use crate::cli::program::LABORATORY;
use crate::compare::bulk::{BulkOptions, CongestionControl};
use crate::compare::peer::{Peer, rove_beside};
use crate::compare::{CompareOptions, Work};

/// The manual of `rove-lab compare`.
pub(crate) static MANUAL: Manual = Manual {
    word: "compare",
    definition: || {
        CompareArgs::augment_args(Command::new("rove-lab compare"))
            .override_usage(
            "rove-lab compare [options] RECORDING...\n       rove-lab compare [options] --flood SIZE\n       \
             rove-lab compare [options] --interrupt",
        )
    },
    notes: &[
        "Recorded keys are typed at real clients, and each is timed until its answer is on the client's screen. Every \
         system runs on a testbed of its own (rove-lab emulate), one after another: at once they would take the \
         processor from each other. The link has its delay, but loses nothing, until six echoed keys have settled the \
         session; the same seed then loses the packets of the same numbers.",
        "ssh runs with an sshd, a configuration and keys of its own; stock Mosh and rove run without ssh, as their \
         servers announce themselves. Shares, classes of keys and wrong drawings are those of rove-lab replay, as far as a \
         client can be judged from outside. docs/lab.md describes all of it.",
        "It needs what rove-lab emulate needs: root, or user namespaces.",
    ],
    examples: &[
        (
            "rove-lab compare session.jsonl --link rtt=500ms",
            "ssh, stock Mosh and rove over half a second",
        ),
        ("rove-lab compare --flood 50M --link rtt=20ms", "50 MB of output"),
        (
            "rove-lab compare --interrupt --link rtt=100ms,rate=1Mbit,queue=1M",
            "Ctrl-C under a flood",
        ),
    ],
    environment: &[("ROVE", "The rove that is compared, where --rove names none.")],
    exit_status: &[
        ("0", "Everything was compared."),
        (
            "1",
            "A program, a recording or a right was missing, a run failed, or the user interrupted; finished runs are \
             printed.",
        ),
        ("2", "The command line is wrong."),
    ],
    ..Manual::of(&LABORATORY)
};

/// Types recorded keys at ssh, stock Mosh and rove over the same emulated link in real time, and compares the answers
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Recorded sessions (rove-lab record)
    #[arg(value_name = "RECORDING", required_unless_present_any = ["flood", "interrupt"], value_hint = ValueHint::FilePath)]
    recordings: Vec<PathBuf>,
    /// In place of recordings: the time until so many bytes of output, such as 50M, are shown to the end
    #[arg(long, value_name = "SIZE", value_parser = parse_flood, conflicts_with_all = ["recordings", "interrupt", "keys", "bulk"])]
    flood: Option<usize>,
    /// In place of recordings: the times from Ctrl-C under the program yes to the prompt, so many of them [default: 5]
    #[arg(long, value_name = "COUNT", num_args = 0..=1, require_equals = true, default_missing_value = "5", value_parser = clap::value_parser!(u64).range(1..=1_000), conflicts_with_all = ["recordings", "keys", "bulk"])]
    interrupt: Option<u64>,
    /// The path, in the parts that rove-lab emulate --help lists
    #[arg(long, value_name = "LINK", default_value = "rtt=500ms")]
    link: Path,
    /// A system; may be given several times [default: ssh, mosh, rove]
    #[arg(long = "system", value_name = "SYSTEM")]
    systems: Vec<Peer>,
    /// Switch predictions off
    #[arg(long)]
    no_prediction: bool,
    /// Event that the user waits for before typing on
    #[arg(long, value_name = "PACE", default_value = "look")]
    pace: Pace,
    /// Type only so many keys of each recording
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    keys: Option<u32>,
    /// How many runs of each, with seeds that follow --seed
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    repeat: u64,
    /// Number that decides which packets are lost and how late the others are
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// So many TCP downloads over the same link
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=64))]
    bulk: Option<u16>,
    /// Congestion control of the downloads
    #[arg(long, value_name = "NAME", default_value = "cubic")]
    bulk_cc: CongestionControl,
    /// How long a far side may make no progress before it counts as hung
    #[arg(long, value_name = "TIME", default_value = "2min", value_parser = parse_timeout)]
    timeout: Duration,
    /// The rove to compare [default: the one beside rove-lab]
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::ExecutablePath)]
    rove: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

/// The files that are written.
#[derive(Debug, Args)]
struct OutputArgs {
    /// Write figures as JSON to a file; - for standard output, in place of the table
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    json: Option<PathBuf>,
    /// Write a moving picture (SVG) of the first run of each system to a file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["flood", "interrupt"])]
    film: Option<PathBuf>,
}

impl CompareArgs {
    /// Returns what is asked for.
    ///
    /// # Errors
    ///
    /// Returns an error if this program does not know where it lies itself.
    pub(crate) fn options(self) -> Result<CompareOptions> {
        let peers = match self.systems.as_slice() {
            [] => vec![Peer::Ssh, Peer::Mosh, Peer::Rove],
            systems => systems.to_vec(),
        };
        let congestion_control = self.bulk_cc;
        Ok(CompareOptions {
            work: match (self.flood, self.interrupt) {
                (Some(bytes), _) => Work::Flood(bytes),
                (None, Some(count)) => Work::Interrupt(count),
                (None, None) => Work::Recordings(self.recordings),
            },
            path: self.link,
            peers,
            preference: if self.no_prediction { Preference::Never } else { Preference::Adaptive },
            pace: self.pace,
            keys: self.keys.and_then(|keys| usize::try_from(keys).ok()),
            repeat: self.repeat,
            seed: self.seed,
            bulk: self.bulk.map(|count| BulkOptions { count, congestion_control }),
            timeout: self.timeout,
            rove: rove_beside(self.rove)?,
            json: self.output.json,
            film: self.output.film,
        })
    }
}

/// Least time-out. Chosen: a retransmission of TCP over a long path is no hang.
const TIMEOUT_MIN: Duration = Duration::from_secs(5);

/// Most bytes of a flood. Chosen: minutes of work for the slowest, and a file that a temporary folder takes.
const FLOOD_MAX: u64 = 1_000_000_000;

fn parse_flood(text: &str) -> Result<usize, String> {
    let size: Bytes = text.parse().map_err(|error: ParseUnitError| error.to_string())?;
    let size = usize::try_from(size.get()).ok().filter(|_| (1..=FLOOD_MAX).contains(&size.get()));
    size.ok_or_else(|| "a flood has between 1 byte and 1000 MB".to_owned())
}

fn parse_timeout(text: &str) -> Result<Duration, String> {
    let timeout = parse_duration(text).map_err(|error| error.to_string())?;
    let is_long = timeout >= TIMEOUT_MIN;
    is_long.then_some(timeout).ok_or_else(|| "a time-out is at least 5 s".to_owned())
}
