//! `cargo xtask bench`: what rove costs, beside stock Mosh, a bare pty and other emulators.
//!
//! Everything compared runs in turn, round by round in one run, so that a change of the machine's speed
//! hits all alike. Targets are printed with the figures; a missed one is no failure of the command.

mod attack;
mod attacker;
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
use rove_platform::program::candidates;
use rustix::fs::{Access, access};

use programs::{Programs, ROVE, Target};
use report::{Line, Report};
use turns::Bench;

/// Stands for standard output in place of a file's name.
const STDOUT: &str = "-";

/// Stock Mosh, and the Debian package that brings it.
const STOCK_CLIENT: (&str, &str) = ("mosh-client", "mosh");
const STOCK_SERVER: (&str, &str) = ("mosh-server", "mosh");

/// Options of `cargo xtask bench`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// What to measure [default: everything].
    #[arg(value_enum, value_name = "ROW")]
    rows: Vec<Row>,
    /// How often each of the compared takes its turn.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Write the figures as JSON, to standard output unless a file is named.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = STDOUT)]
    json: Option<PathBuf>,
    /// Measure this rove, such as a static one, instead of building one.
    #[arg(long, value_name = "PROGRAM")]
    program: Option<PathBuf>,
    /// Put another rove in the place of stock Mosh. There are no targets then.
    #[arg(long, value_name = "PROGRAM")]
    beside: Option<PathBuf>,
}

/// A part of the table that can be measured on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
enum Row {
    /// 50 MB of output through a session: processor time, time, memory.
    Flood,
    /// The parser and the screen alone, beside two other emulators.
    Emulator,
    /// Ctrl-C under `yes` on a slow path: time until the prompt, and processor time.
    Interrupt,
    /// A snapshot of a large screen and the difference of two.
    Frame,
    /// A key predicted and a screen judged, by either engine.
    Prediction,
    /// Bytes on the wire for a script of typing, ls, vim and htop.
    Wire,
    /// A server, a client, a login through sshd, a session without contents: time until they stand.
    Start,
    /// A key on loopback: time until its echo.
    Echo,
    /// The record for `rove resume`: a flood and keys with and without one.
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
    /// The same of a user who waits, and whose computer says that its network is back.
    Return,
    /// 100 sessions in a row, 200 at once: time, memory.
    Sessions,
    /// A server that strangers send datagrams: processor time, memory, and its user's echo.
    Attack,
}

impl Row {
    const ALL: [Self; 17] = [
        Self::Flood,
        Self::Emulator,
        Self::Interrupt,
        Self::Frame,
        Self::Prediction,
        Self::Wire,
        Self::Start,
        Self::Echo,
        Self::Record,
        Self::Onset,
        Self::Idle,
        Self::IdleHour,
        Self::End,
        Self::Roaming,
        Self::Return,
        Self::Sessions,
        Self::Attack,
    ];

    fn measure(self, bench: &Bench) -> Result<Vec<Line>> {
        match self {
            Self::Flood => flood::measure(bench),
            Self::Emulator => emulator::measure(bench),
            Self::Interrupt => interrupt::measure(bench),
            Self::Frame => frame::measure(bench),
            Self::Prediction => prediction::measure(bench),
            Self::Wire => wire::measure(bench),
            Self::Start => start::measure(bench),
            Self::Echo => echo::measure(bench),
            Self::Record => flood::measure_record(bench),
            Self::Onset => onset::measure(bench),
            Self::Idle => idle::measure(bench),
            Self::IdleHour => idle_hour::measure(bench),
            Self::End => end::measure(bench),
            Self::Roaming => silence::measure_roaming(bench),
            Self::Return => silence::measure_return(bench),
            Self::Sessions => sessions::measure(bench),
            Self::Attack => attack::measure(bench),
        }
    }

    /// Returns what it runs of ours, built for release.
    const fn target(self) -> Option<Target> {
        Some(match self {
            Self::IdleHour | Self::End | Self::Roaming | Self::Return => return None,
            Self::Emulator => ["rove-oracle", "--example", "throughput"],
            Self::Frame => ["rove-headless", "--example", "frame"],
            Self::Prediction => ["rove-headless", "--example", "prediction"],
            _ => ROVE,
        })
    }

    /// Returns the programs it runs beside rove, and the Debian packages that bring them.
    const fn programs(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Emulator
            | Self::Frame
            | Self::Prediction
            | Self::IdleHour
            | Self::End
            | Self::Roaming
            | Self::Return => &[],
            Self::Flood
            | Self::Interrupt
            | Self::Echo
            | Self::Record
            | Self::Onset
            | Self::Idle
            | Self::Sessions
            | Self::Attack => &[STOCK_CLIENT, STOCK_SERVER],
            Self::Start => &[
                STOCK_CLIENT,
                STOCK_SERVER,
                ("mosh", "mosh"),
                ("ssh", "openssh-client"),
                ("sshd", "openssh-server"),
            ],
            Self::Wire => &[STOCK_CLIENT, STOCK_SERVER, ("vim", "vim"), ("htop", "htop")],
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Flood => "flood",
            Self::Emulator => "emulator",
            Self::Interrupt => "interrupt",
            Self::Frame => "frame",
            Self::Prediction => "prediction",
            Self::Wire => "wire",
            Self::Start => "start",
            Self::Echo => "echo",
            Self::Record => "record",
            Self::Onset => "onset",
            Self::Idle => "idle",
            Self::IdleHour => "idle-hour",
            Self::End => "end",
            Self::Roaming => "roaming",
            Self::Return => "return",
            Self::Sessions => "sessions",
            Self::Attack => "attack",
        }
    }
}

/// Measures what is asked for and prints the table.
///
/// # Errors
///
/// Returns an error when a program is missing, cannot be started, or shows nothing for two minutes.
pub(crate) fn run(options: &Options) -> Result<()> {
    let rows = chosen(&options.rows);
    let programs: Vec<_> = rows.iter().flat_map(|row| row.programs()).copied().collect();
    require(&programs)?;
    let targets = rows.iter().filter_map(|row| row.target());
    let programs_run = Programs::build(targets, options.program.clone(), options.beside.clone())?;
    let bench = Bench { rounds: usize::from(options.rounds), programs: programs_run };
    let stock = (!programs.is_empty()).then(|| bench.programs.stock_version()).transpose()?;
    let mut report = Report::new(bench.rounds, stock);
    // A row that fails takes nothing away from those before it.
    let measured = rows.into_iter().try_for_each(|row| {
        let mut lines = row.measure(&bench)?;
        if options.beside.is_some() {
            lines.iter_mut().for_each(Line::put_beside_another_rove);
        }
        report.add(row.name(), lines);
        Ok(())
    });
    publish(&report, options.json.as_deref())?;
    measured
}

/// Checks that programs are installed, each named with its Debian package. An ordinary user's PATH lacks that of sshd.
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

/// Returns the rows to measure, each once, in the table's order.
fn chosen(named: &[Row]) -> Vec<Row> {
    Row::ALL.into_iter().filter(|row| named.is_empty() || named.contains(row)).collect()
}

/// Prints the table, and the JSON where it is asked for.
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
            (&[][..], &Row::ALL[..]),
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

    #[test]
    fn a_row_is_chosen_by_its_name() {
        for row in Row::ALL {
            assert_eq!(parse(&[row.name()]).unwrap().rows, [row]);
        }
    }
}
