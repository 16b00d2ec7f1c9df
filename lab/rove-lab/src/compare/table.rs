//! Figures of a system with a recording, over some runs, for people and for programs.

use rove_replay::replay::figures::Figures;
use rove_runs::report::line;
use serde_json::{Value, json};

use crate::compare::cost::{MeanSpent, Spent};
use crate::compare::run::Played;

/// Figures over some runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    figures: Figures,
    runs: u32,
    failed: u32,
    hung: u32,
    invalid: u32,
    spent: Vec<Spent>,
    /// The sum over the runs, where there were downloads.
    bulk_rate: Option<f64>,
    /// The sum over the runs, in seconds.
    took: f64,
}

impl Tally {
    /// Adds a run.
    pub(super) fn add(&mut self, figures: &Figures, played: &Played) {
        self.figures.merge(figures);
        self.runs += 1;
        self.hung += u32::from(played.hung_after.is_some());
        self.invalid += u32::from(!played.invalid.is_empty());
        self.spent.push((played.offered, played.costs));
        if let Some(rate) = played.bulk_rate {
            *self.bulk_rate.get_or_insert(0.0) += rate;
        }
        self.took += played.took.as_secs_f64();
    }

    /// Adds a run that failed.
    pub(super) const fn fail(&mut self) {
        self.failed += 1;
    }

    /// Returns the row of all of it, which tables and JSON show: means over the runs, but peaks of memory.
    pub(super) fn row(&self, recording: &str, system: &str) -> Value {
        let runs = f64::from(self.runs.max(1));
        let own = json!({
            "recording": recording,
            "system": system,
            "runs_failed": self.failed,
            "runs_hung": self.hung,
            "runs_invalid": self.invalid,
            "bulk_bits_per_second": self.bulk_rate.map(|rate| (rate / runs).round()),
            "seconds": self.took / runs,
        });
        let mut row = self.figures.row();
        let Some(object) = row.as_object_mut() else { return row };
        for mut part in [own, json!(MeanSpent::of(&self.spent))] {
            object.append(part.as_object_mut().expect("an object"));
        }
        // Only a client that is known from inside can tell these.
        for unknown in ["secrets", "secrets_shown", "mistakes_gone_late"] {
            object.remove(unknown);
        }
        row
    }
}

/// The columns.
pub(super) const LAYOUT: &str = "recording<18=recording system<10=system keys>5=all.keys never>5=all.never_seen | \
    median>8=all.latency_ms.p50:1?all.keys mean>8=all.mean_ms:1?all.keys p90>8=all.latency_ms.p90:1?all.keys | \
    instant>7=all.instant_percent:1%?all.keys typing>7=typing.instant_percent:1%?typing.keys wrong>6=wrong.percent:2% | \
    up_kB>8=uplink.bytes:1k packets>7=uplink.packets:0 down_kB>8=downlink.bytes:1k packets>7=downlink.packets:0 | \
    client_s>8=client.processor_seconds:3 MB>6=client.peak_megabytes:1 \
    server_s>8=server.processor_seconds:3 MB>6=server.peak_megabytes:1";

/// Returns the line of a system with a recording: its row, and after it what went wrong.
pub(super) fn text(row: &Value) -> String {
    let mut text = line(LAYOUT, row);
    if let Some(rate) = row["bulk_bits_per_second"].as_f64() {
        text += &format!("  downloads {:.2} Mbit/s", rate / 1e6);
    }
    let count = |name: &str| row[name].as_u64().unwrap_or_default();
    let runs = count("runs");
    for (found, what) in [
        (runs - count("true_ends"), "ended untrue"),
        (count("runs_hung"), "HUNG"),
        (count("runs_invalid"), "invalid"),
        (count("runs_failed"), "FAILED"),
    ] {
        if found > 0 {
            text += &format!("  {found} of {} {what}", runs + count("runs_failed"));
        }
    }
    match count("unexpected_bytes") {
        0 => text,
        bytes => text + &format!("  {bytes} bytes unexpected"),
    }
}
