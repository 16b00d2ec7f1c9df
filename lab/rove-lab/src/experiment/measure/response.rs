//! Response time: from a key to its answer on the user's screen, as `rove-lab replay` judges it.

use anyhow::Result;
use rove_replay::replay::response_times;

use crate::experiment::conditions::{Conditions, Samples, nanos};

pub(super) fn run(conditions: &Conditions<'_>) -> Result<Samples> {
    let (recording, system) = (conditions.recording(), conditions.system());
    let times = response_times(
        &recording.name,
        recording.trace.clone(),
        system.prediction(),
        system.ends(),
        conditions.pace,
        conditions.path(),
        conditions.seed,
    )?;
    let known: Vec<u64> = times.iter().flatten().copied().map(nanos).collect();
    let missing = u64::try_from(times.len() - known.len())?;
    Ok(Samples { times: known, missing, ..Samples::default() })
}
