//! `rove-lab compare`: recorded keys typed at real clients of ssh, stock Mosh and rove, over the same emulated link in real
//! time, side by side in one run.
//!
//! [`peer`] are the systems, [`observed_client`] is the user's side of a session, and [`replayed_program`] runs at its far end. [`mod@run`]
//! plays a recording once, beside [`bulk`] downloads; [`burst`] is a flood of output, or Ctrl-C under one; [`controlled`] and [`kernel`] are flows. [`cost`] is what
//! the processes have used. [`film`] is a moving picture of the runs. [`table`] and [`bursts`] say what came of all runs. [`rights`] is how any user may do this.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use rove_flows::path::Path;
use rove_replay::replay::figures::Figures;
use rove_replay::replay::script::{Repertoire, Script};
use rove_replay::replay::{Pace, read};
use rove_runs::report;
use rove_runs::shown;
use rove_session::Preference;
use rove_units::Duration;
use serde_json::{Value, json};

use self::bulk::BulkOptions;
use self::observed_client::{Interrupt, Interrupted};
use self::peer::Peer;
use self::run::{Played, RunOptions};
use self::table::Tally;

pub(crate) mod bulk;
pub(crate) mod burst;
mod bursts;
pub(crate) mod controlled;
mod cost;
mod film;
pub(crate) mod kernel;
pub(crate) mod observed_client;
pub(crate) mod peer;
mod replayed_program;
pub(crate) mod rights;
pub(crate) mod run;
mod table;

/// Stands for standard output in place of a file's name.
const STDOUT: &str = "-";

/// The work that systems are given.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// The keys of these recordings.
    Recordings(Vec<PathBuf>),
    /// So many bytes of output.
    Flood(usize),
    /// So many times Ctrl-C under a flood without an end.
    Interrupt(u64),
}

/// The work to compare, the systems, and their conditions.
#[derive(Clone, Debug)]
pub(crate) struct CompareOptions {
    pub(crate) work: Work,
    pub(crate) path: Path,
    pub(crate) peers: Vec<Peer>,
    pub(crate) preference: Preference,
    pub(crate) pace: Pace,
    /// Only so many keys of each recording.
    pub(crate) keys: Option<usize>,
    pub(crate) repeat: u64,
    /// The first seed.
    pub(crate) seed: u64,
    pub(crate) bulk: Option<BulkOptions>,
    /// How long a far side may make no progress before it counts as hung.
    pub(crate) timeout: Duration,
    /// Where rove is.
    pub(crate) rove: PathBuf,
    /// Where figures go as JSON; `-` for standard output, in place of the table.
    pub(crate) json: Option<PathBuf>,
    /// Where a moving picture of the first run of each system goes.
    pub(crate) film: Option<PathBuf>,
}

/// A recording, made ready for both kinds of emulators at the far side.
struct Recording {
    whole: Script,
    one_screen: Script,
}

/// A run and its result.
#[derive(Debug)]
struct Done<T> {
    /// The recording's name; empty for a flood.
    recording: String,
    peer: Peer,
    seed: u64,
    /// Its figures, or a sentence in place of those of a run that failed.
    result: Result<T, String>,
}

type OfRecording = (Figures, Played);

/// A program at a far end, which takes the words of its command line.
type FarProgram = fn(&[OsString]) -> Result<()>;

/// Returns the program at a far end that a word calls.
pub(crate) fn far_program(word: &OsStr) -> Option<FarProgram> {
    (word == replayed_program::WORD).then_some(replayed_program::play)
}

/// Compares, and writes what came of it to `output`.
///
/// # Errors
///
/// Returns an error if a recording cannot be read, a program or a right is missing, a run fails or the user interrupts; in
/// the last two cases after what was measured is written.
pub(crate) fn run(options: &CompareOptions, mut output: impl Write) -> Result<()> {
    let mut path = options.path.clone().of_whole_packets();
    path.load()?;
    if path.download.is_some() {
        bail!("download= in --link is for virtual time; --bulk COUNT brings downloads here");
    }
    let options = CompareOptions { path, ..options.clone() };
    options.peers.iter().try_for_each(|peer| peer.require(&options.rove))?;
    if let Some(bulk) = options.bulk {
        bulk::require(bulk.congestion_control)?;
    }
    let recordings = recordings(&options)?;
    // A file that cannot be written is told of before the work, not after it.
    let file = options.json.as_ref().filter(|file| file.as_os_str() != STDOUT);
    let create = |file: &PathBuf| {
        File::create(file).with_context(|| format!("cannot write {}", file.display()))
    };
    let file = file.map(create).transpose()?;
    let film = options.film.as_ref().map(create).transpose()?;
    rights::acquire()?;
    let interrupt = Interrupt::listen()?;
    let (mut done, mut bursts) = (Vec::new(), Vec::new());
    let flood = [(String::new(), ())];
    let ended = match options.work {
        Work::Recordings(_) => {
            let play = |recording: &Recording, how: RunOptions<'_>| {
                let script = recording.script(how.peer);
                let played = run::play(script, how, &interrupt)?;
                Ok((Figures::of(script, &played.run), played))
            };
            in_turn(&options, &recordings, play, &mut done)
        }
        Work::Flood(bytes) => {
            let pour = |(): &(), how: RunOptions<'_>| burst::flood(bytes, how, &interrupt);
            in_turn(&options, &flood, pour, &mut bursts)
        }
        Work::Interrupt(count) => {
            let stop = |(): &(), how: RunOptions<'_>| burst::interrupts(count, how, &interrupt);
            in_turn(&options, &flood, stop, &mut bursts)
        }
    };
    if let Some(mut film) = film {
        film.write_all(moving_picture(&done).as_bytes()).context("cannot write the picture")?;
    }
    let mut text = Vec::new();
    let (json, shown) = match options.work {
        Work::Recordings(_) => (to_json(&options, &done), write_table(&mut text, &options, &done)),
        Work::Flood(_) | Work::Interrupt(_) => {
            (bursts::to_json(&options, &bursts), bursts::write(&mut text, &options, &bursts))
        }
    };
    shown.context("cannot write a table")?;
    match (&options.json, file) {
        (Some(_), Some(mut file)) => {
            writeln!(file, "{json:#}").context("cannot write the figures")?;
            shown::written(output.write_all(&text))?;
        }
        (Some(_), None) => shown::written(writeln!(output, "{json:#}"))?,
        (None, _) => shown::written(output.write_all(&text))?,
    }
    ended?;
    let failed = done.iter().filter(|it| it.result.is_err()).count()
        + bursts.iter().filter(|it| it.result.is_err()).count();
    if failed > 0 {
        bail!("{failed} of {} runs failed", done.len() + bursts.len());
    }
    Ok(())
}

/// Returns the picture of the first run of each system.
fn moving_picture(done: &[Done<OfRecording>]) -> String {
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

/// Does all runs in turn, so that a change of the machine's speed hits all systems alike. Works have their recordings' names.
fn in_turn<W, T>(
    options: &CompareOptions,
    works: &[(String, W)],
    play: impl Fn(&W, RunOptions<'_>) -> Result<T>,
    done: &mut Vec<Done<T>>,
) -> Result<()> {
    let runs = usize::try_from(options.repeat)? * works.len() * options.peers.len();
    for seed in options.seed..options.seed.saturating_add(options.repeat) {
        for (recording, work) in works {
            for &peer in &options.peers {
                let number = done.len() + 1;
                // A closed standard error is no failure of the run.
                let tell = |text: &str| writeln!(shown::stderr(), "run {number} of {runs}{text}");
                let _ = tell(&format!(": {}", title(recording, peer)));
                let result = match play(work, options.run_options(peer, seed)) {
                    Err(error) if error.is::<Interrupted>() => return Err(error),
                    // Figures as JSON leave no table for it.
                    Err(error) => {
                        let sentence = format!("{error:#}");
                        let _ = tell(&format!(" failed: {sentence}"));
                        Err(sentence)
                    }
                    Ok(played) => Ok(played),
                };
                done.push(Done { recording: recording.clone(), peer, seed, result });
            }
        }
    }
    Ok(())
}

/// Returns the name of runs of a system with a recording, or with a flood.
fn title(recording: &str, peer: Peer) -> String {
    let over = if recording.is_empty() { "" } else { " over " };
    format!("{recording}{over}{}", peer.name())
}

/// Writes what went wrong in runs, where `faults` are those of a run that did not fail.
fn write_faults<T>(
    output: &mut impl Write,
    done: &[Done<T>],
    faults: impl Fn(&T) -> Vec<String>,
) -> io::Result<()> {
    for Done { recording, peer, seed, result } in done {
        let faults = match result {
            Ok(played) => faults(played),
            Err(sentence) => vec![format!("failed: {sentence}")],
        };
        for fault in faults {
            writeln!(output, "{}, seed {seed}: {fault}", title(recording, *peer))?;
        }
    }
    Ok(())
}

/// Returns the faults of a run on a machine that was too busy.
fn invalid(reasons: &[String]) -> impl Iterator<Item = String> {
    reasons.iter().map(|reason| format!("invalid, the machine was too busy: {reason}"))
}

impl CompareOptions {
    fn run_options(&self, peer: Peer, seed: u64) -> RunOptions<'_> {
        RunOptions {
            peer,
            ssh_control: None,
            rove: &self.rove,
            path: &self.path,
            seed,
            pace: self.pace,
            preference: self.preference,
            timeout: self.timeout,
            bulk: self.bulk,
            films: self.film.is_some(),
        }
    }

    /// Returns a line that says how everything was done.
    fn description(&self) -> String {
        let bulk = self.bulk.map_or_else(String::new, |bulk| {
            format!(", {} downloads ({})", bulk.count, bulk.congestion_control.name())
        });
        let keys = self.keys.map_or_else(String::new, |keys| format!(", {keys} keys of each"));
        format!(
            "link {}{bulk}, pace {}, predict {}{keys}, seeds {} to {}; one system after another; times in ms",
            self.path.text,
            self.pace.name(),
            self.preference.name(),
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
            let script = Script::on(repertoire, name.clone(), trace.clone(), options.keys);
            script.with_context(|| format!("{} cannot be played", file.display()))
        };
        let recording =
            Recording { whole: on(Repertoire::Whole)?, one_screen: on(Repertoire::OneScreen)? };
        if options.peers.iter().any(|peer| *peer != Peer::Ssh) {
            run::check_escape(&recording.whole)?;
        }
        Ok((name, recording))
    };
    match &options.work {
        Work::Recordings(files) => files.iter().map(one).collect(),
        Work::Flood(_) | Work::Interrupt(_) => Ok(Vec::new()),
    }
}

/// Returns the figures of each system with each recording, over all seeds.
fn tallies(done: &[Done<OfRecording>]) -> Vec<(&str, Peer, Tally)> {
    let mut tallies: Vec<(&str, Peer, Tally)> = Vec::new();
    for done in done {
        let (recording, peer) = (done.recording.as_str(), done.peer);
        let known = tallies.iter().position(|it| (it.0, it.1) == (recording, peer));
        let index = known.unwrap_or_else(|| {
            tallies.push((recording, peer, Tally::default()));
            tallies.len() - 1
        });
        match &done.result {
            Ok((figures, played)) => tallies[index].2.add(figures, played),
            Err(_) => tallies[index].2.fail(),
        }
    }
    tallies
}

fn write_table(
    output: &mut impl Write,
    options: &CompareOptions,
    done: &[Done<OfRecording>],
) -> io::Result<()> {
    writeln!(output, "{}", options.description())?;
    writeln!(output, "{}", report::heading(table::LAYOUT))?;
    for (recording, peer, tally) in &tallies(done) {
        writeln!(output, "{}", table::text(&tally.row(recording, peer.name())))?;
    }
    write_faults(output, done, |(_, played)| {
        let hung = played
            .hung_after
            .map(|keys| format!("hung after key {keys}; the others count as never answered"));
        hung.into_iter().chain(invalid(&played.invalid)).collect()
    })
}

fn to_json(options: &CompareOptions, done: &[Done<OfRecording>]) -> Value {
    let of = |done: &Done<OfRecording>| {
        let (recording, system) = (&done.recording, done.peer.name());
        let mut row = match &done.result {
            Ok((figures, played)) => {
                let mut tally = Tally::default();
                tally.add(figures, played);
                let mut row = tally.row(recording, system);
                row["hung_after_key"] = played.hung_after.into();
                row["invalid"] = played.invalid.clone().into();
                row
            }
            Err(error) => json!({ "recording": recording, "system": system, "error": error }),
        };
        row["seed"] = done.seed.into();
        row
    };
    let tallies = tallies(done);
    let pooled = tallies.iter().map(|(recording, peer, tally)| tally.row(recording, peer.name()));
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "link": options.path.text,
        "pace": options.pace.name(),
        "predict": options.preference.name(),
        "keys": options.keys,
        "bulk": options.bulk.map(|bulk| json!({
            "count": bulk.count,
            "congestion_control": bulk.congestion_control.name(),
        })),
        "runs": done.iter().map(of).collect::<Vec<_>>(),
        "pooled": pooled.collect::<Vec<_>>(),
    })
}
