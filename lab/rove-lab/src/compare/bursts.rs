//! Figures of floods, for people and for programs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rove_replay::replay::figures::millis;
use rove_runs::report::{heading, line};
use rove_runs::statistics::Times;
use serde::Serialize;
use serde_json::{Value, json};

use crate::compare::burst::Burst;
use crate::compare::cost::MeanSpent;
use crate::compare::{CompareOptions, Done, Work, invalid, write_faults};

/// The columns.
const LAYOUT: &str = "system<10=system times>6=times | median>9=latency_ms.p50:1 mean>9=mean_ms:1 p90>9=latency_ms.p90:1 \
    longest>9=latency_ms.p100:1 | up_kB>10=uplink.bytes:1k packets>8=uplink.packets:0 \
    down_kB>10=downlink.bytes:1k packets>8=downlink.packets:0 | \
    client_s>8=client.processor_seconds:2 server_s>8=server.processor_seconds:2";

/// The row of a system over all seeds.
#[derive(Serialize)]
struct Row {
    system: &'static str,
    times: u64,
    mean_ms: Option<f64>,
    latency_ms: BTreeMap<String, Option<f64>>,
    #[serde(flatten)]
    spent: MeanSpent,
}

/// The row of a run.
#[derive(Serialize)]
struct Run<'a> {
    system: &'static str,
    seed: u64,
    times_ms: Vec<f64>,
    #[serde(flatten)]
    spent: MeanSpent,
    invalid: &'a [String],
}

impl Work {
    /// Returns what is timed.
    fn title(&self) -> String {
        match self {
            Self::Recordings(_) => "answers of keys".to_owned(),
            Self::Flood(bytes) => format!("{bytes} bytes of output, until the end is shown"),
            Self::Interrupt(count) => {
                format!("Ctrl-C under yes, {count} times each, until the prompt is shown")
            }
        }
    }
}

/// Writes a line for each system, over all seeds, and below them what has failed.
///
/// # Errors
///
/// Returns the refusal of the output.
pub(super) fn write(
    output: &mut impl Write,
    options: &CompareOptions,
    done: &[Done<Burst>],
) -> io::Result<()> {
    let link = &options.path.text;
    writeln!(
        output,
        "{}; link {link}; one system after another; times in ms",
        options.work.title()
    )?;
    writeln!(output, "{}", heading(LAYOUT))?;
    for row in rows(options, done) {
        writeln!(output, "{}", line(LAYOUT, &row))?;
    }
    write_faults(output, done, |burst| invalid(&burst.invalid).collect())
}

/// Returns everything as JSON.
pub(super) fn to_json(options: &CompareOptions, done: &[Done<Burst>]) -> Value {
    let run = |done: &Done<Burst>| {
        let (system, seed) = (done.peer.name(), done.seed);
        match &done.result {
            Ok(burst) => {
                let times_ms = burst.times.iter().copied().map(millis).collect();
                json!(Run {
                    system,
                    seed,
                    times_ms,
                    spent: spent(&[burst]),
                    invalid: &burst.invalid
                })
            }
            Err(sentence) => json!({ "system": system, "seed": seed, "error": sentence }),
        }
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "work": options.work.title(),
        "link": options.path.text,
        "runs": done.iter().map(run).collect::<Vec<_>>(),
        "pooled": rows(options, done).collect::<Vec<_>>(),
    })
}

fn rows(options: &CompareOptions, done: &[Done<Burst>]) -> impl Iterator<Item = Row> {
    options.peers.iter().filter_map(|peer| {
        let of_peer = done.iter().filter(|done| done.peer == *peer);
        let bursts: Vec<&Burst> = of_peer.filter_map(|done| done.result.as_ref().ok()).collect();
        let times = bursts.iter().flat_map(|burst| burst.times.iter().copied());
        let times = Times::new(times.map(millis).collect(), 0);
        (!bursts.is_empty()).then(|| Row {
            system: peer.name(),
            times: times.count(),
            mean_ms: times.mean(),
            latency_ms: times.quantiles(&[50, 90, 100]),
            spent: spent(&bursts),
        })
    })
}

fn spent(bursts: &[&Burst]) -> MeanSpent {
    let runs: Vec<_> = bursts.iter().map(|burst| (burst.offered, burst.costs)).collect();
    MeanSpent::of(&runs)
}
