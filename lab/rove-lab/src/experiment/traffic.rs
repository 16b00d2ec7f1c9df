//! The traffic of senders that share a path, as a scenario file describes it.

use rove_congestion::Begin;
use rove_units::{Duration, parse_duration};
use serde::Deserialize;

/// Most senders of a scenario. Chosen: as the evaluator's priors.
const SENDERS_MAX: usize = 256;

/// The data that the senders have to send.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Traffic {
    /// How many there are.
    pub(crate) senders: usize,
    /// The mean size of a flow in bytes; left out for the heavy tail of the paper.
    pub(crate) mean_flow_bytes: Option<u64>,
    /// The size of the largest flows in bytes; left out for any size.
    pub(crate) largest_flow_bytes: Option<u64>,
    /// The way in which flows of TCP begin.
    #[serde(default)]
    pub(crate) begin: TcpBegin,
    /// The mean pause between two flows.
    pub(crate) mean_pause: String,
    /// How long a run takes.
    pub(crate) length: String,
}

/// The way in which flows of TCP begin, as scenarios name it.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TcpBegin {
    /// Ten packets, and HyStart++.
    #[default]
    Modern,
    /// Two packets, and slow start until a loss.
    Classic,
}

impl From<TcpBegin> for Begin {
    fn from(begin: TcpBegin) -> Self {
        match begin {
            TcpBegin::Modern => Self::Modern,
            TcpBegin::Classic => Self::Classic,
        }
    }
}

impl Traffic {
    /// Returns a sentence if there can be no such traffic.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !(1..=SENDERS_MAX).contains(&self.senders) {
            return Err(format!("senders are from 1 to {SENDERS_MAX}"));
        }
        if self.mean_flow_bytes == Some(0) || self.largest_flow_bytes == Some(0) {
            return Err("mean-flow-bytes and largest-flow-bytes are above 0".to_owned());
        }
        for time in [&self.mean_pause, &self.length] {
            let duration = parse_duration(time).map_err(|error| error.to_string())?;
            if duration.is_zero() || duration > Duration::from_secs(3_600) {
                return Err(format!("{time:?} is no time up to an hour"));
            }
        }
        Ok(())
    }
}
