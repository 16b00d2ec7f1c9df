//! Figures of floods, for people and for programs.

use std::collections::BTreeMap;

use rove_replay::replay::figures::millis;
use rove_runs::statistics::Times;
use serde::Serialize;

use crate::compare::burst::Burst;
use crate::compare::cost::MeanSpent;
use crate::compare::{Outcome, Work, invalid};

/// The row of a system over all seeds.
#[derive(Serialize)]
pub(super) struct Row {
    times: u64,
    mean_ms: Option<f64>,
    latency_ms: BTreeMap<String, Option<f64>>,
    #[serde(flatten)]
    spent: MeanSpent,
}

/// The row of a run.
#[derive(Serialize)]
pub(super) struct Run {
    times_ms: Vec<f64>,
    #[serde(flatten)]
    spent: MeanSpent,
    invalid: Vec<String>,
}

impl Work {
    /// Returns the work in words: the first part of a run's description.
    pub(super) fn title(self) -> String {
        match self {
            Self::Recordings => "answers of keys".to_owned(),
            Self::Flood(bytes) => format!("{bytes} bytes of output, until the end is shown"),
            Self::Interrupt(count) => {
                format!("Ctrl-C under yes, {count} times each, until the prompt is shown")
            }
        }
    }
}

impl Outcome for Burst {
    const LAYOUT: &str = "system<10=system times>6=times | median>9=latency_ms.p50:1 mean>9=mean_ms:1 p90>9=latency_ms.p90:1 \
    longest>9=latency_ms.p100:1 | up_kB>10=uplink.bytes:1k packets>8=uplink.packets:0 \
    down_kB>10=downlink.bytes:1k packets>8=downlink.packets:0 | \
    client_s>8=client.processor_seconds:2 server_s>8=server.processor_seconds:2";
    type Row = Row;
    type Run = Run;

    fn row(runs: &[&Self], _: usize) -> Option<Row> {
        let times = runs.iter().flat_map(|burst| burst.times.iter().copied());
        let times = Times::new(times.map(millis).collect(), 0);
        (!runs.is_empty()).then(|| Row {
            times: times.count(),
            mean_ms: times.mean(),
            latency_ms: times.quantiles(&[50, 90, 100]),
            spent: spent(runs),
        })
    }

    fn run(&self) -> Run {
        let times_ms = self.times.iter().copied().map(millis).collect();
        Run { times_ms, spent: spent(&[self]), invalid: self.invalid.clone() }
    }

    fn faults(&self) -> Vec<String> {
        invalid(&self.invalid).collect()
    }
}

fn spent(bursts: &[&Burst]) -> MeanSpent {
    let runs: Vec<_> = bursts.iter().map(|burst| (burst.offered, burst.costs)).collect();
    MeanSpent::of(&runs)
}
