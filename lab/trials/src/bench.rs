//! `cargo xtask bench`: the cost of rove, compared with stock Mosh, a bare pty and other emulators.
//!
//! In each round of a run, the compared programs take turns, so that a change of the computer's speed affects all
//! alike. The table prints targets with the figures. If a target is missed, the command still succeeds.

mod attach;
mod attack;
mod attacker;
mod beside;
mod copy;
mod echo;
mod emulator;
mod end;
mod flood;
mod frame;
mod idle;
mod idle_hour;
mod interrupt;
mod onset;
mod overhear;
mod pair;
mod path;
mod prediction;
mod programs;
mod report;
mod rules;
mod script;
mod sessions;
mod silence;
mod start;
mod turns;
mod wire;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use rove_host::program::candidates;
use rove_runs::files::{directory, named};
use rove_units::Bytes;
use rustix::fs::{Access, access};

use programs::{Programs, ROVE, Target};
use report::{Line, Report};
use turns::Bench;

/// A file's name that means standard output.
const STDOUT: &str = "-";

/// Programs that are compared with rove, each with its Debian package.
const STOCK: &[(&str, &str)] = &[("mosh-client", "mosh"), ("mosh-server", "mosh")];
const START: &[(&str, &str)] = &[
    ("mosh-client", "mosh"),
    ("mosh-server", "mosh"),
    ("mosh", "mosh"),
    ("ssh", "openssh-client"),
    ("sshd", "openssh-server"),
];
const SSH: &[(&str, &str)] =
    &[("ssh", "openssh-client"), ("sshd", "openssh-server"), ("mosh-server", "mosh")];
const COPY: &[(&str, &str)] =
    &[("scp", "openssh-client"), ("ssh", "openssh-client"), ("sshd", "openssh-server")];
const WIRE: &[(&str, &str)] =
    &[("mosh-client", "mosh"), ("mosh-server", "mosh"), ("vim", "vim"), ("htop", "htop")];

/// Options of `cargo xtask bench`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// What to measure [default: everything].
    #[arg(value_enum, value_name = "ROW")]
    rows: Vec<Row>,
    /// How often each compared program takes its turn.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// How much `copy` copies at a time, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u16).range(1..))]
    copy_size: u16,
    /// Directory of recorded delivery opportunities of links, for `beside`.
    #[arg(long, value_name = "DIR", env = "ROVE_TRACES", value_parser = directory())]
    traces: Option<PathBuf>,
    /// Write the figures as JSON, to standard output unless a file is named.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = STDOUT)]
    json: Option<PathBuf>,
    /// Measure this rove, such as a static one, instead of building one.
    #[arg(long, value_name = "PROGRAM")]
    program: Option<PathBuf>,
    /// Put another rove in the place of stock Mosh. The table then has no targets.
    #[arg(long, value_name = "PROGRAM")]
    beside: Option<PathBuf>,
}

/// A part of the table that can be measured on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Row {
    /// 50 MB of output through a session: processor time, time, memory.
    Flood,
    /// The parser and the screen alone, compared with two other emulators.
    Emulator,
    /// Ctrl-C under `yes` on a slow path: time until the prompt, and processor time.
    Interrupt,
    /// A snapshot of a large screen and the difference of two.
    Frame,
    /// The prediction of a key and the check of a screen, by either engine.
    Prediction,
    /// Bytes on the wire for a script of typing, ls, vim and htop.
    Wire,
    /// A server, a client, a login through sshd, and a session whose program ends at once: time until they are ready.
    Start,
    /// Logins over a path of 100 ms: after a killed client, and where UDP is dropped.
    Attach,
    /// A large file over loopback, by scp over ssh, `rove exec` and `rove -W`: speed.
    Copy,
    /// Keys beside a copy from the same host over four slow paths, by ssh and by rove: echoes, and the copy's speed.
    Beside,
    /// A key on loopback: time until its echo.
    Echo,
    /// A flood and keys, with and without the record for `rove resume`.
    Record,
    /// A key after a path begins to lose datagrams: time until its echo.
    Onset,
    /// A minute without a key: wake-ups and processor time.
    Idle,
    /// An hour without a key in virtual time, by rove's rules and by Mosh's: wake-ups, datagrams.
    IdleHour,
    /// The end of a session in virtual time: until the client has gone, and how often it is in doubt.
    End,
    /// Time without an answer in virtual time, after a change of address or an outage, while the user types.
    Roaming,
    /// The same time for a user who waits, and whose computer reports that its network is back.
    Return,
    /// 100 sessions in a row, 200 at once: time, memory.
    Sessions,
    /// A server to which strangers send datagrams: processor time, memory, and its user's echo.
    Attack,
}

/// A row's function, the target that cargo builds for it, and the programs that must be installed. Each of these has
/// the name of its Debian package.
type Plan =
    (fn(&Bench) -> Result<Vec<Line>>, Option<Target>, &'static [(&'static str, &'static str)]);

impl Row {
    const fn plan(self) -> Plan {
        match self {
            Self::Flood => (flood::measure, Some(ROVE), STOCK),
            Self::Emulator => {
                (emulator::measure, Some(["rove-oracle", "--example", "throughput"]), &[])
            }
            Self::Interrupt => (interrupt::measure, Some(ROVE), STOCK),
            Self::Frame => (frame::measure, Some(["rove-headless", "--example", "frame"]), &[]),
            Self::Prediction => {
                (prediction::measure, Some(["rove-headless", "--example", "prediction"]), &[])
            }
            Self::Wire => (wire::measure, Some(ROVE), WIRE),
            Self::Start => (start::measure, Some(ROVE), START),
            Self::Attach => (attach::measure, Some(ROVE), SSH),
            Self::Copy => (copy::measure, Some(ROVE), COPY),
            Self::Beside => (beside::measure, Some(ROVE), COPY),
            Self::Echo => (echo::measure, Some(ROVE), STOCK),
            Self::Record => (flood::measure_record, Some(ROVE), STOCK),
            Self::Onset => (onset::measure, Some(ROVE), STOCK),
            Self::Idle => (idle::measure, Some(ROVE), STOCK),
            Self::IdleHour => (idle_hour::measure, None, &[]),
            Self::End => (end::measure, None, &[]),
            Self::Roaming => (silence::measure_roaming, None, &[]),
            Self::Return => (silence::measure_return, None, &[]),
            Self::Sessions => (sessions::measure, Some(ROVE), STOCK),
            Self::Attack => (attack::measure, Some(ROVE), STOCK),
        }
    }
}

/// Measures the chosen rows and prints the table.
///
/// # Errors
///
/// Returns an error if a program is missing, does not start, or shows nothing for two minutes.
pub(crate) fn run(options: &Options) -> Result<()> {
    let rows = chosen(&options.rows);
    let programs: Vec<_> = rows.iter().flat_map(|row| row.plan().2).copied().collect();
    require(&programs)?;
    let targets = rows.iter().filter_map(|row| row.plan().1);
    let programs_run = Programs::build(targets, options.program.clone(), options.beside.clone())?;
    let copy_size = Bytes::new(u64::from(options.copy_size) << 20);
    let (rounds, traces) = (usize::from(options.rounds), named(options.traces.clone()));
    let bench = Bench { rounds, programs: programs_run, copy_size, traces };
    let has_stock = programs.iter().any(|(program, _)| *program == "mosh-server");
    let stock = has_stock.then(|| bench.programs.stock_version()).transpose()?;
    let mut report = Report::new(bench.rounds, stock);
    // If a row fails, the figures of the previous rows are still printed.
    let measured = rows.into_iter().try_for_each(|row| {
        let mut lines = row.plan().0(&bench)?;
        if options.beside.is_some() {
            lines.iter_mut().for_each(Line::put_beside_another_rove);
        }
        let value = row.to_possible_value().expect("no row is hidden");
        report.add(value.get_name(), lines);
        Ok(())
    });
    publish(&report, options.json.as_deref())?;
    measured
}

/// Checks that programs are installed, each with its Debian package. The search adds sshd's folders to PATH.
fn require(programs: &[(&'static str, &'static str)]) -> Result<()> {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":/usr/sbin:/usr/local/sbin:/sbin");
    let is_missing = |program: &str| {
        let candidates = candidates(program.as_ref(), Some(&path));
        !candidates.iter().any(|file| access(file.as_c_str(), Access::EXEC_OK).is_ok())
    };
    let missing = programs.iter().filter(|(program, _)| is_missing(program));
    let mut packages: Vec<_> = missing.map(|(_, package)| *package).collect();
    packages.sort_unstable();
    packages.dedup();
    ensure!(
        packages.is_empty(),
        "the measurement runs programs of Debian packages that are missing: apt-get install {}",
        packages.join(" ")
    );
    Ok(())
}

/// Returns the rows to measure, without repetitions and in the table's order.
fn chosen(named: &[Row]) -> Vec<Row> {
    let is_chosen = |row: &&Row| named.is_empty() || named.contains(*row);
    Row::value_variants().iter().filter(is_chosen).copied().collect()
}

/// Prints the table, and writes the JSON if the user asked for it.
fn publish(report: &Report, json: Option<&Path>) -> Result<()> {
    match json {
        None => print!("{}", report.table()),
        Some(file) if file == Path::new(STDOUT) => {
            eprint!("{}", report.table());
            print!("{}", report.json());
        }
        Some(file) => {
            print!("{}", report.table());
            fs::write(file, report.json())
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        options: Options,
    }

    fn parse(words: &[&str]) -> Option<Options> {
        let words = ["bench"].iter().chain(words);
        Cli::try_parse_from(words).ok().map(|cli| cli.options)
    }

    #[test]
    fn rows_are_measured_once_each_in_the_tables_order() {
        for (words, rows) in [
            (&[][..], Row::value_variants()),
            (&["wire", "flood", "wire"], &[Row::Flood, Row::Wire]),
            (&["frame"], &[Row::Frame]),
        ] {
            assert_eq!(chosen(&parse(words).unwrap().rows), rows, "{words:?}");
        }
    }

    #[test]
    fn json_takes_a_file_only_behind_an_equals_sign() {
        for (words, json, rows) in [
            (&[][..], None, 0),
            (&["--json"], Some("-"), 0),
            (&["--json", "flood"], Some("-"), 1),
            (&["--json=out.json", "flood"], Some("out.json"), 1),
        ] {
            let options = parse(words).unwrap();
            assert_eq!(options.json.as_deref(), json.map(Path::new), "{words:?}");
            assert_eq!(options.rows.len(), rows, "{words:?}");
        }
    }

    #[test]
    fn the_packages_of_missing_programs_are_named_once() {
        let error = require(&[("sh", "dash"), ("no-such-1", "none"), ("no-such-2", "none")]);
        let said = error.expect_err("there are no such programs").to_string();
        assert!(said.ends_with("that are missing: apt-get install none"), "{said}");
        require(&[("sh", "dash")]).expect("every system has a shell");
    }

    #[test]
    fn there_are_five_rounds_unless_another_number_is_given() {
        assert_eq!(parse(&[]).unwrap().rounds, 5);
        assert_eq!(parse(&["--rounds", "1"]).unwrap().rounds, 1);
        for words in [&["--rounds", "0"], &["--rounds", "x"], &["nonsense", "flood"]] {
            assert!(parse(words).is_none(), "{words:?}");
        }
    }
}
