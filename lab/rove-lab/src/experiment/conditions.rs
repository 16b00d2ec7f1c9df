//! The conditions of a run and its result, which all measurements share.

use std::path::Path as FilePath;

use rove_congestion::sprout::FORECAST_TICKS;
use rove_flows::course::Slot;
use rove_flows::flow::program::Program;
use rove_flows::path::Path;
use rove_replay::replay::Pace;
use rove_replay::trace::Trace;
use rove_runs::statistics::to_float;
use rove_units::Duration;
use serde::{Deserialize, Serialize};

use crate::experiment::system::System;
use crate::experiment::traffic::Traffic;

/// A recorded session with its name.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    /// The file's name without its ending.
    pub(crate) name: String,
    /// The recording itself.
    pub(crate) trace: Trace,
}

/// A number that describes a run as a whole, beside its times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunFigure {
    /// The figure's name, with its unit unless the figure is a time in ms.
    pub(crate) name: &'static str,
    /// The factor that converts a run's integer to the unit in the name.
    pub(crate) scale: f64,
    /// Whether systems are compared with the baseline by this figure.
    pub(crate) is_compared: bool,
}

/// The conditions of a run. Each kind of measurement needs some of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions<'a> {
    pub(crate) system: Option<System>,
    pub(crate) path: Option<&'a Path>,
    pub(crate) recording: Option<&'a Recording>,
    /// The answers that the user waits for before typing on.
    pub(crate) pace: Pace,
    /// The value of the varied quantity in this run.
    pub(crate) value: Option<f64>,
    pub(crate) seed: u64,
    /// How many keys of the recording are typed, in real time. `None` for all keys.
    pub(crate) keys: Option<usize>,
    /// Downloads beside the session, in real time.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux runs programs"))]
    pub(crate) downloads: u16,
    /// The traffic of senders that share a path.
    pub(crate) traffic: Option<&'a Traffic>,
    /// The directory of congestion controllers that others have published.
    pub(crate) tables: Option<&'a FilePath>,
    /// How long a flow runs, at most as long as the recording of its link.
    pub(crate) length: Option<Duration>,
}

/// The result of a run.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Samples {
    /// Times in nanoseconds, in the order of measuring. Integers, because only these read back unchanged from a file.
    pub(crate) times: Vec<u64>,
    /// How many events that have a time, such as answers, never came.
    pub(crate) missing: u64,
    /// Whether the run cannot be done here: its table, its kernel control or its recorded link is not there.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub(crate) is_absent: bool,
    /// Figures of the whole run, as [`crate::experiment::measure::Measure::figures`] names them. Empty without samples.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) figures: Vec<u64>,
    /// Queueing delay in nanoseconds and throughput in bit/s of each sender that shares a path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) pairs: Vec<[u64; 2]>,
    /// The slots of a run, if it has a course.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) course: Vec<Slot>,
    /// The pictures of Sprout's belief, if it is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) film: Vec<Moment>,
    /// Why a controller's program failed, or a flow has no figures. Such a run is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<String>,
    /// Why a run in real time is invalid. Empty if it is valid. An invalid run is never kept.
    #[serde(skip)]
    pub(crate) invalid: Vec<String>,
}

/// Sprout's belief and forecast at the end of a tick, and what the link delivered afterwards.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Moment {
    /// The end of the tick, in nanoseconds.
    pub(crate) at: u64,
    /// The probabilities of an outage and of rates, in millionths.
    pub(crate) belief: Vec<u64>,
    /// The packets forecast within 1, 2, ... ticks.
    pub(crate) forecast: [u64; FORECAST_TICKS],
    /// The packets that the link carries within 1, 2, ... ticks.
    pub(crate) coming: [u64; FORECAST_TICKS],
}

impl RunFigure {
    /// Returns whether the figure is a share of the run's samples, in percent.
    pub(crate) fn is_share(&self) -> bool {
        self.name.ends_with("(%)")
    }

    /// Returns a figure that is a time: nanoseconds in a run, and ms as a figure.
    pub(crate) const fn of_time(name: &'static str) -> Self {
        Self { name, scale: 1e-6, is_compared: false }
    }
}

impl Samples {
    /// Returns the result of a run that cannot be made on this computer.
    pub(crate) fn absent() -> Self {
        Self { is_absent: true, ..Self::empty() }
    }

    /// Returns the result of a run in which the measured event never came.
    pub(crate) fn empty() -> Self {
        Self { missing: 1, ..Self::default() }
    }

    /// Returns the samples of keys' response times. An answer that never came is `None`.
    pub(crate) fn of_responses(times: &[Option<Duration>]) -> Self {
        let known: Vec<u64> = times.iter().flatten().copied().map(nanos).collect();
        Self { missing: (times.len() - known.len()) as u64, times: known, ..Self::default() }
    }

    /// Returns the result as it is, or an empty one with the fault of the controller's program if it has one.
    pub(crate) fn unless_faulty(self, program: Option<&Program>) -> Self {
        match program.and_then(Program::fault) {
            Some(fault) => {
                Self { fault: Some(fault.to_string()), invalid: self.invalid, ..Self::empty() }
            }
            None => self,
        }
    }

    /// Returns the times in ms.
    pub(crate) fn millis(&self) -> impl Iterator<Item = f64> + '_ {
        self.times.iter().map(|nanos| to_float(*nanos) / 1e6)
    }
}

impl Conditions<'_> {
    pub(crate) fn system(&self) -> System {
        self.system.expect("a checked scenario has systems")
    }

    pub(crate) fn path(&self) -> &Path {
        self.path.expect("a checked scenario has links")
    }

    pub(crate) fn recording(&self) -> &Recording {
        self.recording.expect("a checked scenario has recordings")
    }

    pub(crate) fn value(&self) -> f64 {
        self.value.expect("a checked scenario has values")
    }
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Conditions<'_> {
        /// No condition at all, for tests to begin with.
        pub(crate) const NONE: Conditions<'static> = Conditions {
            system: None,
            path: None,
            recording: None,
            pace: Pace::Open,
            value: None,
            seed: 1,
            keys: None,
            downloads: 0,
            traffic: None,
            tables: None,
            length: None,
        };
    }
}
