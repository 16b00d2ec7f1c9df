//! Figures of a system with a recording, over some runs, for people and for programs.

use rove_replay::replay::figures::{self, Figures};
use rove_runs::statistics::mean;
use serde::Serialize;

use crate::compare::OfRecording;
use crate::compare::cost::MeanSpent;
use crate::compare::run::Played;

/// The row of several runs: the mean of each figure, but the largest peak of memory.
#[derive(Serialize)]
pub(super) struct Row {
    #[serde(flatten)]
    figures: figures::Row,
    #[serde(flatten)]
    spent: MeanSpent,
    runs_failed: usize,
    runs_hung: usize,
    runs_invalid: usize,
    bulk_bits_per_second: Option<f64>,
    seconds: f64,
}

/// The row of a single run.
#[derive(Serialize)]
pub(super) struct RunRow {
    #[serde(flatten)]
    row: Row,
    hung_after_key: Option<usize>,
    invalid: Vec<String>,
}

/// The columns of the table.
pub(super) const LAYOUT: &str = "recording<18=recording system<10=system keys>5=all.keys never>5=all.never_seen | \
    median>8=all.latency_ms.p50:1?all.keys mean>8=all.mean_ms:1?all.keys p90>8=all.latency_ms.p90:1?all.keys | \
    instant>7=all.instant_percent:1%?all.keys typing>7=typing.instant_percent:1%?typing.keys wrong>6=wrong.percent:2% | \
    up_kB>8=uplink.bytes:1k packets>7=uplink.packets:0 down_kB>8=downlink.bytes:1k packets>7=downlink.packets:0 | \
    client_s>8=client.processor_seconds:3 MB>6=client.peak_megabytes:1 \
    server_s>8=server.processor_seconds:3 MB>6=server.peak_megabytes:1";

impl Row {
    /// Returns the row of successful runs, given how many others failed.
    pub(super) fn of(runs: &[&OfRecording], failed: usize) -> Self {
        let mut figures = Figures::default();
        runs.iter().for_each(|(of_run, _)| figures.merge(of_run));
        let mut figures = figures.row();
        // These figures exist only for a client inside this process.
        figures.inside = None;
        let played = || runs.iter().map(|(_, played)| played);
        let spent: Vec<_> = played().map(|it| (it.offered, it.costs)).collect();
        let rates: Vec<f64> = played().filter_map(|it| it.bulk_rate).collect();
        let took: Vec<f64> = played().map(|it| it.took.as_secs_f64()).collect();
        Self {
            figures,
            spent: MeanSpent::of(&spent),
            runs_failed: failed,
            runs_hung: played().filter(|it| it.hung_after.is_some()).count(),
            runs_invalid: played().filter(|it| !it.invalid.is_empty()).count(),
            bulk_bits_per_second: mean(&rates).map(f64::round),
            seconds: mean(&took).unwrap_or_default(),
        }
    }

    /// Returns the text after the columns of a row.
    pub(super) fn note(&self) -> String {
        let mut text = String::new();
        if let Some(rate) = self.bulk_bits_per_second {
            text += &format!("  downloads {:.2} Mbit/s", rate / 1e6);
        }
        let figures::Row { runs, true_ends, unexpected_bytes, .. } = self.figures;
        let all = runs + self.runs_failed;
        for (found, what) in [
            (runs - true_ends, "ended untrue"),
            (self.runs_hung, "HUNG"),
            (self.runs_invalid, "invalid"),
            (self.runs_failed, "FAILED"),
        ] {
            if found > 0 {
                text += &format!("  {found} of {all} {what}");
            }
        }
        match unexpected_bytes {
            0 => text,
            bytes => text + &format!("  {bytes} bytes unexpected"),
        }
    }
}

impl RunRow {
    pub(super) fn of(run: &OfRecording) -> Self {
        let (_, Played { hung_after, invalid, .. }) = run;
        let row = Row::of(&[run], 0);
        Self { row, hung_after_key: *hung_after, invalid: invalid.clone() }
    }
}

/// Returns the faults of a run, in a sentence each.
pub(super) fn faults((_, Played { hung_after, invalid, .. }): &OfRecording) -> Vec<String> {
    let hung =
        hung_after.map(|keys| format!("hung after key {keys}; the others count as never answered"));
    let busy = invalid.iter().map(|it| format!("invalid, the machine was too busy: {it}"));
    hung.into_iter().chain(busy).collect()
}
