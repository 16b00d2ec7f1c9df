//! When a user types the next key: at the recorded times, or after the answers that a person would wait for.

use rove_units::{Duration, Instant};

use crate::replay::judge::Judge;
use crate::replay::script::{self, Key};

/// Shortest recorded pause that, at pace `look`, begins only with the answer. Chosen: a person reads in such a pause.
const PAUSE: Duration = Duration::from_millis(250);

/// How long a user waits for an answer before typing on, so that no replay waits forever. Chosen: far beyond any answer
/// on a path that lets anything through.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How long a user waits for the recorded screen after the host has answered, as a wrong prediction may cover it.
/// Chosen: the longest pause of a replay.
const DISBELIEF: Duration = script::GAP_MAX;

/// Answers that the user waits for before typing on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// Before a recorded pause of 250 ms or more, for the answer to the last key
    Look,
    /// For nothing: the recorded times
    Open,
    /// For the answer to each key
    Closed,
}

/// Says when each key of a recording is due.
#[derive(Clone, Debug)]
pub struct Pacer<'a> {
    keys: &'a [Key],
    pace: Pace,
    /// When the typing began.
    start: Option<Instant>,
}

impl Pace {
    /// Returns the pace's name in command lines.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

impl<'a> Pacer<'a> {
    /// Creates a pacer that has not started.
    pub const fn new(keys: &'a [Key], pace: Pace) -> Self {
        Self { keys, pace, start: None }
    }

    /// Begins to type the recording.
    pub fn start(&mut self, now: Instant) {
        self.start = Some(now);
    }

    /// Returns whether the typing has begun.
    pub(crate) const fn has_started(&self) -> bool {
        self.start.is_some()
    }

    /// Returns all keys.
    pub const fn keys(&self) -> &'a [Key] {
        self.keys
    }

    /// Returns when the next key is due. `None` before the start, and after the last key.
    pub fn due(&self, judge: &Judge<'_>) -> Option<Instant> {
        let (start, next) = (self.start?, judge.sent());
        let key = self.keys.get(next)?;
        let Some(last) = next.checked_sub(1) else { return Some(start + key.at) };
        let pause = key.at - self.keys[last].at;
        let waits = match self.pace {
            Pace::Open => return Some(start + key.at),
            Pace::Look => pause >= PAUSE,
            Pace::Closed => true,
        };
        let sent_at = judge.outcomes()[last].sent_at?;
        if !waits {
            return Some(sent_at + pause);
        }
        let given_up_at = || {
            let in_vain = judge.settled_at().map(|at| at + DISBELIEF);
            in_vain.unwrap_or(sent_at + PATIENCE).min(sent_at + PATIENCE)
        };
        let base = judge.answered_at().unwrap_or_else(given_up_at);
        Some(base + pause)
    }
}
