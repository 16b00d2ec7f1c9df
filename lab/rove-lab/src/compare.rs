//! `rove-lab compare`: recorded keys typed at real clients of ssh, stock Mosh and rove. All clients have the same
//! emulated link in real time. Their results are side by side.
//!
//! [`peer`] names the systems, [`observed_client`] is the user's side of a session, [`replayed_program`] runs at its
//! far end. [`mod@run`] plays a recording once, maybe beside [`bulk`] downloads. [`interrupts`] measures Ctrl-C under a
//! flood of output. [`controlled`] and [`kernel`] send flows. [`cost`] reads the processor time and memory of processes.
//! [`film`] draws a moving picture, [`table`] reports all runs, and [`rights`] lets any user do this.

use std::io::Write;
use std::path::{Path as FilePath, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueHint};
use rove_flows::path::Path;
use rove_replay::replay::figures::Figures;
use rove_replay::replay::script::{Repertoire, Script};
use rove_replay::replay::{Pace, read};
use rove_runs::files::{check_writable, write_whole};
use rove_runs::{FIRST_SEED_MAX, report, shown};
use rove_session::Preference;
use rove_units::{Duration, parse_duration};
use serde::Serialize;

use self::bulk::{BulkOptions, CongestionControl};
use self::observed_client::{Interrupt, Interrupted, RunOptions};
use self::peer::{Peer, rove_beside};
use self::run::Played;
use self::table::{LAYOUT, Row, RunRow, faults};

pub(crate) mod bulk;
pub(crate) mod controlled;
mod cost;
mod film;
pub(crate) mod interrupts;
pub(crate) mod kernel;
pub(crate) mod observed_client;
pub(crate) mod peer;
pub(crate) mod replayed_program;
pub(crate) mod rights;
pub(crate) mod run;
mod table;

/// Shortest `--timeout`. Chosen: a retransmission of TCP over a long path is no hang.
const TIMEOUT_MIN: Duration = Duration::from_secs(5);

/// The file name that means standard output.
const STDOUT: &str = "-";

/// Types recorded keys at ssh, stock Mosh and rove over the same emulated link in real time, and compares the answers
#[derive(Clone, Debug, Args)]
pub(crate) struct CompareOptions {
    /// Recorded sessions (rove-lab record)
    #[arg(value_name = "RECORDING", required = true, value_hint = ValueHint::FilePath)]
    recordings: Vec<PathBuf>,
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
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=FIRST_SEED_MAX))]
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
    output: OutputOptions,
}

/// The files that are written.
#[derive(Clone, Debug, Args)]
struct OutputOptions {
    /// Write figures as JSON to a file; - for standard output, in place of the table
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    json: Option<PathBuf>,
    /// Write a moving picture (SVG) of the first run of each system to a file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    film: Option<PathBuf>,
}

/// A recording in two forms. `one_screen` leaves out the alternate screen, which the emulator of Mosh's server lacks.
struct Recording {
    whole: Script,
    one_screen: Script,
}

/// A run and its result.
#[derive(Debug)]
struct Done {
    /// The recording's name.
    recording: String,
    peer: Peer,
    seed: u64,
    /// The figures of the run, or a sentence that explains its failure.
    result: Result<OfRecording, String>,
}

type OfRecording = (Figures, Played);

/// A row of the figures of one run, or of all runs of a system, with the names of recording and system.
#[derive(Serialize)]
struct Named<'a, R> {
    recording: &'a str,
    system: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// Why the run failed; such a run has no figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(flatten)]
    figures: Option<R>,
}

#[derive(Serialize)]
struct Comparison<'a> {
    version: &'static str,
    link: &'a str,
    pace: String,
    predict: &'static str,
    keys: Option<usize>,
    bulk: Option<BulkOptions>,
    runs: Vec<Named<'a, RunRow>>,
    pooled: Vec<Named<'a, Row>>,
}

/// Makes all runs, and writes their table or JSON to `output`.
///
/// # Errors
///
/// Returns an error if a recording cannot be read, a program or a right is missing, a run fails or the user interrupts.
/// In the last two cases it writes first what was measured.
pub(crate) fn run(options: &CompareOptions, mut output: impl Write) -> Result<()> {
    let mut link = options.link.clone().of_whole_packets();
    link.load()?;
    if link.download.is_some() {
        bail!("download= in --link is for virtual time; --bulk COUNT brings downloads here");
    }
    let options = CompareOptions { link, ..options.clone() };
    let rove = rove_beside(options.rove.clone())?;
    options.peers().iter().try_for_each(|peer| peer.require(&rove))?;
    if let Some(bulk) = options.bulk() {
        bulk::require(bulk.congestion_control)?;
    }
    let recordings = recordings(&options)?;
    // If the file cannot be written, the error comes before the runs, not after them.
    let json_file = options.output.json.as_ref().filter(|file| file.as_os_str() != STDOUT);
    let film = &options.output.film;
    json_file.into_iter().chain(film).try_for_each(|file| check_writable(file))?;
    rights::acquire()?;
    let interrupt = Interrupt::listen()?;
    let mut done = Vec::new();
    let ended = in_turn(&options, &rove, &recordings, &interrupt, &mut done);
    if let Some(film) = film {
        write_whole(film, &moving_picture(&done))?;
    }
    let (text, json) = reports(&options, &done);
    json_file.map_or(Ok(()), |file| write_whole(file, &json))?;
    let is_text = options.output.json.is_none() || json_file.is_some();
    shown::written(output.write_all(if is_text { text } else { json }.as_bytes()))?;
    ended?;
    let failed = done.iter().filter(|it| it.result.is_err()).count();
    if failed > 0 {
        bail!("{failed} of {} runs failed", done.len());
    }
    Ok(())
}

/// Returns a moving picture of the first run of each system.
fn moving_picture(done: &[Done]) -> String {
    let mut films: Vec<(&str, &film::Film)> = Vec::new();
    for done in done {
        let shown = done.result.as_ref().ok().and_then(|(_, played)| played.film.as_ref());
        let Some(film) = shown else { continue };
        if films.iter().all(|(name, _)| *name != done.peer.name()) {
            films.push((done.peer.name(), film));
        }
    }
    film::svg(&films)
}

/// Makes the runs of the systems in turn, so that a slow computer slows them all. Each recording has its name.
fn in_turn(
    options: &CompareOptions,
    rove: &FilePath,
    recordings: &[(String, Recording)],
    interrupt: &Interrupt,
    done: &mut Vec<Done>,
) -> Result<()> {
    let runs = usize::try_from(options.repeat)? * recordings.len() * options.peers().len();
    for seed in options.seed..options.seed.saturating_add(options.repeat) {
        for (name, recording) in recordings {
            for &peer in options.peers() {
                let number = done.len() + 1;
                // A closed standard error is no failure of the run.
                let tell = |text: &str| writeln!(shown::stderr(), "run {number} of {runs}{text}");
                let _ = tell(&format!(": {name} over {}", peer.name()));
                let script = recording.script(peer);
                let played = run::play(script, options.run_options(rove, peer, seed), interrupt);
                let result = match played {
                    Err(error) if error.is::<Interrupted>() => return Err(error),
                    // This line tells of the failure even if JSON replaces the table on standard output.
                    Err(error) => {
                        let sentence = format!("{error:#}");
                        let _ = tell(&format!(" failed: {sentence}"));
                        Err(sentence)
                    }
                    Ok(played) => Ok((Figures::of(script, &played.run), played)),
                };
                done.push(Done { recording: name.clone(), peer, seed, result });
            }
        }
    }
    Ok(())
}

impl CompareOptions {
    fn peers(&self) -> &[Peer] {
        match &self.systems[..] {
            [] => &[Peer::Ssh, Peer::Mosh, Peer::Rove],
            systems => systems,
        }
    }

    const fn preference(&self) -> Preference {
        if self.no_prediction { Preference::Never } else { Preference::Adaptive }
    }

    fn keys(&self) -> Option<usize> {
        self.keys.and_then(|keys| usize::try_from(keys).ok())
    }

    fn bulk(&self) -> Option<BulkOptions> {
        let congestion_control = self.bulk_cc;
        self.bulk.map(|count| BulkOptions { count, congestion_control })
    }

    fn run_options<'a>(&'a self, rove: &'a FilePath, peer: Peer, seed: u64) -> RunOptions<'a> {
        RunOptions {
            peer,
            ssh_control: None,
            rove,
            path: &self.link,
            seed,
            pace: self.pace,
            preference: self.preference(),
            timeout: self.timeout,
            bulk: self.bulk(),
            films: self.output.film.is_some(),
        }
    }

    /// Returns a line that names the link and the options of the runs.
    fn description(&self) -> String {
        let bulk = self.bulk().map_or_else(String::new, |bulk| {
            format!(", {} downloads ({})", bulk.count, bulk.congestion_control.name())
        });
        let keys = self.keys.map_or_else(String::new, |keys| format!(", {keys} keys of each"));
        format!(
            "link {}{bulk}, pace {}, predict {}{keys}, seeds {} to {}; one system after another; times in ms",
            self.link.text,
            self.pace.name(),
            self.preference().name(),
            self.seed,
            self.seed.saturating_add(self.repeat - 1)
        )
    }
}

impl Recording {
    const fn script(&self, peer: Peer) -> &Script {
        match peer.repertoire() {
            Repertoire::Whole => &self.whole,
            Repertoire::OneScreen => &self.one_screen,
        }
    }
}

fn recordings(options: &CompareOptions) -> Result<Vec<(String, Recording)>> {
    let one = |file: &PathBuf| {
        let (name, trace) = read(file)?;
        let on = |repertoire| {
            let script = Script::on(repertoire, name.clone(), trace.clone(), options.keys());
            script.with_context(|| format!("{} cannot be played", file.display()))
        };
        let recording =
            Recording { whole: on(Repertoire::Whole)?, one_screen: on(Repertoire::OneScreen)? };
        if options.peers().iter().any(|peer| *peer != Peer::Ssh) {
            run::check_escape(&recording.whole)?;
        }
        Ok((name, recording))
    };
    options.recordings.iter().map(one).collect()
}

/// Returns a table, and everything as JSON. The table has a line for each system and recording, over all seeds, and
/// then a line for each fault.
fn reports(options: &CompareOptions, done: &[Done]) -> (String, String) {
    let pooled = pooled(done);
    let mut text = format!("{}\n{}\n", options.description(), report::heading(LAYOUT));
    for named in &pooled {
        let note = named.figures.as_ref().map(Row::note).unwrap_or_default();
        text += &format!("{}{note}\n", report::line(LAYOUT, named));
    }
    for Done { recording, peer, seed, result } in done {
        let faults = match result {
            Ok(run) => faults(run),
            Err(sentence) => vec![format!("failed: {sentence}")],
        };
        let title = format!("{recording} over {}", peer.name());
        text.extend(faults.iter().map(|fault| format!("{title}, seed {seed}: {fault}\n")));
    }
    let runs = done.iter().map(|done| Named {
        recording: &done.recording,
        system: done.peer.name(),
        seed: Some(done.seed),
        error: done.result.as_ref().err().map(String::as_str),
        figures: done.result.as_ref().ok().map(RunRow::of),
    });
    let all = Comparison {
        version: env!("CARGO_PKG_VERSION"),
        link: &options.link.text,
        pace: options.pace.name(),
        predict: options.preference().name(),
        keys: options.keys(),
        bulk: options.bulk(),
        runs: runs.collect(),
        pooled,
    };
    (text, report::json(&all))
}

/// Returns the row of each system with each recording, over all seeds.
fn pooled<'a>(done: &'a [Done]) -> Vec<Named<'a, Row>> {
    let mut groups: Vec<Vec<&'a Done>> = Vec::new();
    for done in done {
        let is_its = |it: &Done| (&it.recording, it.peer) == (&done.recording, done.peer);
        match groups.iter_mut().find(|group| is_its(group[0])) {
            Some(group) => group.push(done),
            None => groups.push(vec![done]),
        }
    }
    let row = |group: Vec<&'a Done>| {
        let Done { recording, peer, .. } = group[0];
        let runs: Vec<_> = group.iter().filter_map(|done| done.result.as_ref().ok()).collect();
        let figures = Some(Row::of(&runs, group.len() - runs.len()));
        Named { recording, system: peer.name(), seed: None, error: None, figures }
    };
    groups.into_iter().map(row).collect()
}

fn parse_timeout(text: &str) -> Result<Duration, String> {
    let timeout = parse_duration(text).map_err(|error| error.to_string())?;
    let is_long = timeout >= TIMEOUT_MIN;
    is_long.then_some(timeout).ok_or_else(|| "a time-out is at least 5 s".to_owned())
}
