//! Figures of a system with a recording, over some runs, for people and for programs.

use std::io::{self, Write};

use rove_replay::replay::figures::{Figures, Latencies, millis};
use rove_replay::replay::script::Class;
use rove_runs::report::line;
use rove_runs::statistics::percent;
use rove_units::Duration;
use serde_json::{Value, json};

use crate::compare::cost::Cost;
use crate::compare::run::Played;
use rove_net::Offered;

/// Figures over some runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    figures: Figures,
    runs: u32,
    failed: u32,
    hung: u32,
    invalid: u32,
    /// Sums over the runs: up, down.
    offered: [Offered; 2],
    /// Sums of processor times, and the largest memory: client, server.
    costs: [Cost; 2],
    /// The sum over the runs, where there were downloads.
    bulk_rate: Option<f64>,
    took: Duration,
}

impl Tally {
    /// Adds a run.
    pub(super) fn add(&mut self, figures: &Figures, played: &Played) {
        self.figures.merge(figures);
        self.runs += 1;
        self.hung += u32::from(played.hung_after.is_some());
        self.invalid += u32::from(!played.invalid.is_empty());
        for (sum, offered) in self.offered.iter_mut().zip(played.offered) {
            sum.packets += offered.packets;
            sum.bytes += offered.bytes;
        }
        for (sum, cost) in self.costs.iter_mut().zip(played.costs) {
            sum.processor_seconds += cost.processor_seconds;
            sum.peak_megabytes = sum.peak_megabytes.max(cost.peak_megabytes);
        }
        if let Some(rate) = played.bulk_rate {
            *self.bulk_rate.get_or_insert(0.0) += rate;
        }
        self.took += played.took;
    }

    /// Adds a run that failed.
    pub(super) const fn fail(&mut self) {
        self.failed += 1;
    }

    /// Returns the mean of a sum over the runs.
    fn mean(&self, sum: f64) -> f64 {
        sum / f64::from(self.runs.max(1))
    }

    /// Returns the means of kilobytes of a direction and of its packets.
    #[expect(clippy::cast_precision_loss, reason = "fewer bytes than 2^52")]
    fn traffic(&self, way: usize) -> [f64; 2] {
        let Offered { packets, bytes } = self.offered[way];
        [bytes.get() as f64 / 1e3, packets as f64].map(|sum| self.mean(sum))
    }

    /// Returns all of it as JSON: means over the runs, but peaks of memory.
    pub(super) fn to_json(&self) -> Value {
        let mut object = self.figures.to_json();
        let traffic = |way| {
            let [kilobytes, packets] = self.traffic(way);
            json!({ "bytes": (kilobytes * 1e3).round(), "packets": packets })
        };
        let cost = |side: usize| {
            json!({
                "processor_seconds": self.mean(self.costs[side].processor_seconds),
                "peak_megabytes": self.costs[side].peak_megabytes,
            })
        };
        object["uplink"] = traffic(0);
        object["downlink"] = traffic(1);
        object["client"] = cost(0);
        object["server"] = cost(1);
        object["runs_failed"] = json!(self.failed);
        object["runs_hung"] = json!(self.hung);
        object["runs_invalid"] = json!(self.invalid);
        object["bulk_bits_per_second"] = json!(self.bulk_rate.map(|rate| self.mean(rate).round()));
        object["seconds"] = json!(self.mean(self.took.as_secs_f64()));
        // The lines below are of what only a client that is known from inside can tell.
        if let Some(object) = object.as_object_mut() {
            for unknown in ["secrets", "secrets_shown", "mistakes_gone_late"] {
                object.remove(unknown);
            }
        }
        object
    }
}

/// The columns.
pub(super) const LAYOUT: &str = "recording<18 system<10 keys>5 never>5 | median>8 mean>8 p90>8 | instant>7 typing>7 wrong>6 | up_kB>8 \
                                 packets>7 down_kB>8 packets>7 | client_s>8 MB>6 server_s>8 MB>6";

/// Writes the figures of a system with a recording.
///
/// # Errors
///
/// Returns the refusal of the output.
pub(super) fn row(
    output: &mut impl Write,
    recording: &str,
    system: &str,
    tally: &Tally,
) -> io::Result<()> {
    let figures = &tally.figures;
    let all = figures.latencies(|_| true);
    let typing = figures.latencies(Class::is_typing);
    let [[up, up_packets], [down, down_packets]] = [0, 1].map(|way| tally.traffic(way));
    let [client, server] = tally.costs;
    let cells = [
        recording.to_owned(),
        system.to_owned(),
        all.count().to_string(),
        all.unseen().to_string(),
        time(all.quantile(50), &all),
        time(all.mean(), &all),
        time(all.quantile(90), &all),
        instant(&all),
        instant(&typing),
        format!("{:.2}%", percent(figures.wrong, figures.keys)),
        format!("{up:.1}"),
        format!("{up_packets:.0}"),
        format!("{down:.1}"),
        format!("{down_packets:.0}"),
        format!("{:.3}", tally.mean(client.processor_seconds)),
        format!("{:.1}", client.peak_megabytes),
        format!("{:.3}", tally.mean(server.processor_seconds)),
        format!("{:.1}", server.peak_megabytes),
    ];
    write!(output, "{}", line(LAYOUT, cells))?;
    if let Some(rate) = tally.bulk_rate {
        write!(output, "  downloads {:.2} Mbit/s", tally.mean(rate) / 1e6)?;
    }
    let runs = tally.runs;
    for (count, what) in [
        (runs.saturating_sub(u32::try_from(figures.true_ends).unwrap_or(u32::MAX)), "ended untrue"),
        (tally.hung, "HUNG"),
        (tally.invalid, "invalid"),
        (tally.failed, "FAILED"),
    ] {
        if count > 0 {
            write!(output, "  {count} of {} {what}", runs + tally.failed)?;
        }
    }
    if figures.unexpected > 0 {
        write!(output, "  {} bytes unexpected", figures.unexpected)?;
    }
    writeln!(output)
}

fn time(time: Option<Duration>, of: &Latencies) -> String {
    let none = if of.count() == 0 { "-" } else { "never" };
    time.map_or_else(|| none.to_owned(), |time| format!("{:.1}", millis(time)))
}

fn instant(latencies: &Latencies) -> String {
    match latencies.count() {
        0 => "-".to_owned(),
        count => format!("{:.1}%", percent(latencies.instant(), count)),
    }
}
