//! The command line of `rove-lab replay`: the recordings, and how they are played.

use core::fmt;
use std::fs;
use std::path::{Path as FilePath, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum, ValueHint};
use rove_flows::path::Path;
use rove_runs::FIRST_SEED_MAX;
use rove_session::{Mechanism, Mechanisms, Prediction, Preference};
use rove_ssp::ReferencePolicy;
use rove_units::{Duration, parse_duration};

use crate::replay::mechanisms;
use crate::replay::pace::Pace;
use crate::replay::run::Ends;

/// Longest time that the program on the far side takes to read a key. Chosen: as long as a user waits.
const HOST_DELAY_MAX: Duration = Duration::from_secs(30);

/// Types recorded keys once more, over an emulated link in virtual time, and judges how soon and how truly
/// they are answered
#[derive(Debug, Args)]
pub struct ReplayOptions {
    /// Recordings: files, or names of files in the --traces directory, with or without .jsonl
    #[arg(value_name = "TRACE", required_unless_present = "traces")]
    recordings: Vec<PathBuf>,
    /// Directory of recordings; without TRACE, all of its .jsonl files that can be played
    #[arg(long, value_name = "DIR", value_hint = ValueHint::AnyPath)]
    traces: Option<PathBuf>,
    /// Engine that predicts the echo of keys
    #[arg(long, value_name = "ENGINE", default_value_t)]
    pub(crate) engine: EngineName,
    /// When predictions are shown: adaptive, always, never, experimental
    #[arg(long, value_name = "WHEN", default_value = "adaptive", value_parser = parse_preference)]
    predict: Preference,
    /// Without this mechanism of the replay engine; may be given several times
    #[arg(long, value_name = "MECHANISM", value_parser = mechanisms::parser(&mechanisms::PREDICTION))]
    without: Vec<Mechanism>,
    /// Play everything again without each mechanism of the replay engine in turn, and write what that changes
    #[arg(long, conflicts_with = "explain")]
    pub(crate) ablate: bool,
    /// Event that the user waits for before typing on
    #[arg(long, value_name = "PACE", default_value = "look")]
    pub(crate) pace: Pace,
    /// The path: rtt=TIME, jitter=TIME (around half of rtt each way, order kept), loss=SHARE (each way),
    /// rate=RATE, queue=SIZE, uplink=FILE, downlink=FILE (recorded delivery opportunities), with commas in
    /// between; may be given several times
    #[arg(long = "link", value_name = "LINK", default_value = "rtt=500ms,jitter=30ms")]
    pub(crate) links: Vec<Path>,
    /// Number that decides which datagrams are lost and how late the others are
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=FIRST_SEED_MAX))]
    pub(crate) seed: u64,
    /// How many runs of each recording, with seeds that follow --seed
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) seeds: u64,
    /// Replay only so many keys of each recording
    #[arg(long, value_name = "KEYS", value_parser = clap::value_parser!(u32).range(1..))]
    first: Option<u32>,
    /// How late the program on the far side reads each key
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = parse_host_delay)]
    pub(crate) host_delay: Duration,
    /// Program whose wire and pace both ends have; without it, stock for the engine of this name and else rove
    #[arg(long, value_name = "WHOSE")]
    ends: Option<Ends>,
    /// Play each recording twice in a row, the second time with the prompts that the first one knew at its end, and
    /// report the second
    #[arg(long)]
    pub(crate) prompt_memory: bool,
    /// The state that diffs of both ends start from; without it Mosh's rule
    #[arg(long, value_name = "POLICY", value_parser = mechanisms::parser(&mechanisms::REFERENCE))]
    pub(crate) reference: Option<ReferencePolicy>,
    /// Without this mechanism of the sender, at both ends; may be given several times
    #[arg(long, value_name = "MECHANISM", value_parser = mechanisms::parser(&mechanisms::SENDER))]
    pub(crate) sender_without: Vec<rove_ssp::Mechanism>,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// List every typing key that was not instant and every wrong drawing; with the number of a key, say why each model
    /// of the replay engine would show that key or not
    #[arg(long, value_name = "KEY", num_args = 0..=1, require_equals = true, conflicts_with = "json")]
    pub(crate) explain: Option<Option<u32>>,
}

/// The engine that predicts the echo of keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    /// The rules of Mosh 1.4.0
    Stock,
    /// Simulation of the keys on their way, anew on each screen
    #[default]
    Replay,
    /// Nothing
    None,
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

impl ReplayOptions {
    /// Returns a sentence if options exclude each other.
    pub fn refusal(&self) -> Option<String> {
        let has_mechanisms = self.engine == EngineName::Replay
            && matches!(self.predict, Preference::Adaptive | Preference::Always);
        let asked = [
            ("--without", "mechanisms", !self.without.is_empty()),
            ("--ablate", "mechanisms", self.ablate),
            ("--prompt-memory", "memory of prompts", self.prompt_memory),
        ];
        let (option, about, _) =
            asked.into_iter().find(|(.., is_asked)| *is_asked && !has_mechanisms)?;
        Some(format!(
            "{option} is about the {about} of the replay engine, which --engine {} --predict {} does not use; \
             use --engine replay with --predict adaptive or always",
            self.engine,
            self.predict.name(),
        ))
    }

    /// Returns which predictions the client shows, and by which engine.
    pub(crate) fn prediction(&self) -> Prediction {
        let mechanisms = self.without.iter().copied().fold(Mechanisms::ALL, Mechanisms::without);
        let ours = Prediction { preference: self.predict, mechanisms, ..Prediction::default() };
        match self.engine {
            EngineName::None => Prediction { preference: Preference::Never, ..ours },
            EngineName::Stock => Prediction { engine: Some(rove_stock_predict::engine), ..ours },
            EngineName::Replay => ours,
        }
    }

    /// Returns whether both ends have rove's wire and timing or Mosh's.
    pub(crate) fn ends(&self) -> Ends {
        let is_stock = self.engine == EngineName::Stock;
        self.ends.unwrap_or(if is_stock { Ends::Stock } else { Ends::Rove })
    }

    /// Returns how many keys of each recording are played.
    pub(crate) fn first(&self) -> Option<usize> {
        self.first.and_then(|first| usize::try_from(first).ok())
    }

    /// Returns whether all recordings of a directory are played.
    pub(crate) fn is_directory(&self) -> bool {
        self.recordings.is_empty()
    }

    /// Returns the files of the recordings.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no recordings, or their directory cannot be read.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>> {
        let Some(directory) = &self.traces else { return Ok(self.recordings.clone()) };
        if !self.recordings.is_empty() {
            return Ok(self.recordings.iter().map(|name| find(directory, name)).collect());
        }
        let shown = directory.display();
        let entries = fs::read_dir(directory)
            .with_context(|| format!("cannot read the directory {shown}"))?;
        let mut files = Vec::new();
        for entry in entries {
            let path = entry.with_context(|| format!("cannot read the directory {shown}"))?.path();
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                files.push(path);
            }
        }
        if files.is_empty() {
            bail!("there is no recording (*.jsonl) in {shown}");
        }
        files.sort_unstable();
        Ok(files)
    }
}

/// Returns the file of the recording with this name.
fn find(directory: &FilePath, name: &FilePath) -> PathBuf {
    let inside = directory.join(name);
    let with_extension = directory.join(format!("{}.jsonl", name.display()));
    let candidates = [inside, with_extension];
    candidates.into_iter().find(|path| path.is_file()).unwrap_or_else(|| name.to_owned())
}

fn parse_host_delay(text: &str) -> Result<Duration, String> {
    let delay = parse_duration(text).map_err(|error| error.to_string())?;
    let is_possible = delay <= HOST_DELAY_MAX;
    is_possible.then_some(delay).ok_or_else(|| "a host delays at most 30 s".to_owned())
}

fn parse_preference(text: &str) -> Result<Preference, String> {
    Preference::from_name(text)
        .ok_or_else(|| "predictions are shown adaptive, always, never or experimental".to_owned())
}
