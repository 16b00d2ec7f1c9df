//! Response time: from a key to its answer on the user's screen, as `rove-lab replay` judges it.

use anyhow::Result;
use rove_replay::replay::script::Script;
use rove_replay::replay::{Run, RunOptions};

use crate::experiment::conditions::{Conditions, Samples};

pub(super) fn run(conditions: &Conditions<'_>) -> Result<Samples> {
    let (script, run) = play(conditions)?;
    Ok(Samples::of_responses(&run.response_times(&script)))
}

/// Plays the recording of the conditions.
pub(super) fn play(conditions: &Conditions<'_>) -> Result<(Script, Run)> {
    let (recording, system) = (conditions.recording(), conditions.system());
    let path = conditions.path().clone();
    let options = RunOptions {
        pace: conditions.pace,
        seed: conditions.seed,
        awaits_echo: system.awaits_echo(),
        ..RunOptions::new(system.prediction(), system.ends(), path)
    };
    rove_replay::replay::play(&recording.name, recording.trace.clone(), &options)
}
