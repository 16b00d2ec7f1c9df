//! Figures of floods, for people and for programs.

use std::io::{self, Write};

use rove_replay::replay::figures::millis;
use rove_runs::report::{heading, line, number};
use rove_runs::statistics::Times;
use rove_units::Duration;
use serde_json::{Value, json};

use crate::compare::burst::Burst;
use crate::compare::peer::Peer;
use crate::compare::{CompareOptions, Work};

/// The columns.
const LAYOUT: &str = "system<10 times>6 | median>9 mean>9 p90>9 longest>9 | up_kB>10 packets>8 down_kB>10 packets>8 | client_s>8 \
                      server_s>8";

/// A run and its result.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) peer: Peer,
    pub(super) seed: u64,
    /// Its figures, or a sentence in place of those of a run that failed.
    pub(super) result: Result<Burst, String>,
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
    done: &[Done],
) -> io::Result<()> {
    let link = &options.path.text;
    writeln!(
        output,
        "{}; link {link}; one system after another; times in ms",
        options.work.title()
    )?;
    writeln!(output, "{}", heading(LAYOUT))?;
    for peer in &options.peers {
        let bursts: Vec<&Burst> = of(done, *peer).collect();
        if bursts.is_empty() {
            continue;
        }
        let times = times(&bursts);
        let traffic = |way: usize| {
            let bytes = mean(&bursts, |it| it.offered[way].bytes.get());
            let packets = mean(&bursts, |it| it.offered[way].packets);
            [format!("{:.1}", bytes / 1e3), format!("{packets:.0}")]
        };
        let [[up, up_packets], [down, down_packets]] = [traffic(0), traffic(1)];
        let cells = [
            peer.name().to_owned(),
            times.count().to_string(),
            number(times.quantile(50)),
            number(times.mean()),
            number(times.quantile(90)),
            number(times.quantile(100)),
            up,
            up_packets,
            down,
            down_packets,
            format!("{:.2}", seconds(&bursts, 0)),
            format!("{:.2}", seconds(&bursts, 1)),
        ];
        writeln!(output, "{}", line(LAYOUT, cells))?;
    }
    for done in done {
        let which = format!("{}, seed {}", done.peer.name(), done.seed);
        match &done.result {
            Ok(burst) => {
                for reason in &burst.invalid {
                    writeln!(output, "{which}: invalid, the machine was too busy: {reason}")?;
                }
            }
            Err(sentence) => writeln!(output, "{which}: failed: {sentence}")?,
        }
    }
    Ok(())
}

/// Returns everything as JSON.
pub(super) fn to_json(options: &CompareOptions, done: &[Done]) -> Value {
    let run = |done: &Done| match &done.result {
        Ok(burst) => json!({
            "system": done.peer.name(),
            "seed": done.seed,
            "times_ms": burst.times.iter().copied().map(millis).collect::<Vec<_>>(),
            "uplink": { "bytes": burst.offered[0].bytes.get(), "packets": burst.offered[0].packets },
            "downlink": { "bytes": burst.offered[1].bytes.get(), "packets": burst.offered[1].packets },
            "client": { "processor_seconds": burst.costs[0].processor_seconds, "peak_megabytes": burst.costs[0].peak_megabytes },
            "server": { "processor_seconds": burst.costs[1].processor_seconds, "peak_megabytes": burst.costs[1].peak_megabytes },
            "invalid": burst.invalid,
        }),
        Err(sentence) => {
            json!({ "system": done.peer.name(), "seed": done.seed, "error": sentence })
        }
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "work": options.work.title(),
        "link": options.path.text,
        "runs": done.iter().map(run).collect::<Vec<_>>(),
    })
}

fn of(done: &[Done], peer: Peer) -> impl Iterator<Item = &Burst> {
    done.iter().filter(move |done| done.peer == peer).filter_map(|done| done.result.as_ref().ok())
}

fn times(bursts: &[&Burst]) -> Times {
    let all = bursts.iter().flat_map(|burst| burst.times.iter().copied());
    Times::new(all.map(|time: Duration| millis(time)).collect(), 0)
}

#[expect(clippy::cast_precision_loss, reason = "fewer bytes than 2^52")]
fn mean(bursts: &[&Burst], figure: impl Fn(&Burst) -> u64) -> f64 {
    bursts.iter().map(|burst| figure(burst) as f64).sum::<f64>() / bursts.len() as f64
}

/// Returns the mean of a side's processor time.
#[expect(clippy::cast_precision_loss, reason = "a few runs")]
fn seconds(bursts: &[&Burst], side: usize) -> f64 {
    let sum: f64 = bursts.iter().map(|burst| burst.costs[side].processor_seconds).sum();
    sum / bursts.len() as f64
}
