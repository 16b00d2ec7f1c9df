//! Response time: from a key to its answer on the user's screen, as `rove-lab replay` judges it.

use anyhow::Result;
use rove_replay::replay::script::Script;
use rove_replay::replay::{Played, Run};

use crate::experiment::conditions::{Conditions, Samples, nanos};

pub(super) fn run(conditions: &Conditions<'_>) -> Result<Samples> {
    let (script, run) = play(conditions)?;
    let times = run.response_times(&script);
    let known: Vec<u64> = times.iter().flatten().copied().map(nanos).collect();
    let missing = u64::try_from(times.len() - known.len())?;
    Ok(Samples { times: known, missing, ..Samples::default() })
}

/// Plays the recording of the conditions.
pub(super) fn play(conditions: &Conditions<'_>) -> Result<(Script, Run)> {
    let (recording, system) = (conditions.recording(), conditions.system());
    rove_replay::replay::play(
        &recording.name,
        recording.trace.clone(),
        Played {
            prediction: system.prediction(),
            ends: system.ends(),
            awaits_echo: system.awaits_echo(),
            pace: conditions.pace,
            path: conditions.path(),
            seed: conditions.seed,
        },
    )
}
