//! The figures of runs: latencies and shares.

use rove_headless::Traffic;
use rove_runs::statistics::{Times, percent};
use rove_units::{Duration, Instant};
use serde_json::{Value, json};

use crate::replay::flicker::Tally;
use crate::replay::judge::Flicker;
use crate::replay::run::Run;
use crate::replay::script::{Class, Script};

/// An answer that comes sooner is instant.
pub(crate) const INSTANT: Duration = Duration::from_millis(5);

/// The points of the distribution that the JSON has, in percent.
const QUANTILES: [u64; 13] = [5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 99];

/// The figures of one or more runs.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub(crate) runs: usize,
    /// All keys, those without a response too.
    pub keys: usize,
    pub(crate) by_class: [Times; Class::ALL.len()],
    /// Keys after which the client drew something wrong of its own.
    pub wrong: usize,
    pub(crate) wrong_any: usize,
    pub(crate) wrong_paint: usize,
    /// Keys after which an arriving datagram made it show a wrong prediction.
    pub(crate) revealed: usize,
    pub(crate) revealed_any: usize,
    /// How long it took until the screen was a true one after each mistake.
    pub(crate) corrected: Times,
    /// How long anything wrong stayed.
    pub(crate) gone: Times,
    /// Mistakes gone later than the host's answer.
    pub(crate) late: usize,
    /// The flicker on the user's screen, and the part of it that the program's own screens do not have.
    pub(crate) flicker: Tally,
    pub(crate) own_flicker: Tally,
    /// The flicker of the same program without a path.
    pub(crate) local_flicker: Tally,
    pub(crate) uplink: Traffic,
    pub(crate) downlink: Traffic,
    /// Runs whose last screen was the true one.
    pub true_ends: usize,
    /// Bytes that the server ends got and the recordings do not have there.
    pub unexpected: usize,
    /// Keys typed while the host's terminal hid them.
    pub(crate) secrets: usize,
    /// How many of these keys had something drawn that did not come from the host.
    pub(crate) secrets_shown: usize,
}

impl Figures {
    /// Returns what one run comes to.
    pub fn of(script: &Script, run: &Run) -> Self {
        let mut figures = Self {
            runs: 1,
            keys: script.keys.len(),
            uplink: run.uplink,
            downlink: run.downlink,
            true_ends: usize::from(run.ends_true),
            unexpected: run.unexpected,
            flicker: flicker(run, |_| true),
            own_flicker: flicker(run, |flicker| flicker.is_ours),
            local_flicker: script.flicker,
            by_class: Class::ALL.map(|class| {
                let keys = script.keys.iter().zip(&run.outcomes);
                let judged = keys.filter(|(key, _)| key.class == class && key.after.is_some());
                judged.map(|(_, it)| elapsed(it.sent_at?, it.seen_at)).collect()
            }),
            corrected: run.mistakes.iter().map(|it| elapsed(it.since, it.corrected_at)).collect(),
            gone: run.mistakes.iter().map(|it| elapsed(it.since, it.gone_at)).collect(),
            ..Self::default()
        };
        for (key, outcome) in script.keys.iter().zip(&run.outcomes) {
            figures.wrong += usize::from(outcome.own.text);
            figures.wrong_any += usize::from(outcome.own.any);
            let paint = [outcome.own, outcome.revealed];
            figures.wrong_paint += usize::from(paint.iter().any(|it| it.paint && !it.any));
            figures.secrets += usize::from(key.is_secret);
            let is_shown = outcome.own.any || outcome.revealed.any;
            figures.secrets_shown += usize::from(key.is_secret && is_shown);
            figures.revealed += usize::from(outcome.revealed.text);
            figures.revealed_any += usize::from(outcome.revealed.any);
        }
        for mistake in &run.mistakes {
            let answered_at = run.outcomes[mistake.key].answered_at;
            figures.late += usize::from(mistake.is_late(answered_at));
        }
        figures
    }

    /// Returns how long anything wrong stayed, and counts. The keys are those with wrong text left of the cursor, with anything wrong, with
    /// wrong colours alone, and with an older prediction revealed. The last count is of late mistakes.
    pub const fn mistakes(&self) -> (&Times, [usize; 5]) {
        let of_keys = [self.wrong, self.wrong_any, self.wrong_paint, self.revealed_any];
        let [wrong, any, paint, revealed] = of_keys;
        (&self.gone, [wrong, any, paint, revealed, self.late])
    }

    /// Returns how many cells flickered on the user's screen alone, and how many datagrams the server sent.
    pub const fn flicker_and_datagrams(&self) -> [u64; 2] {
        [self.own_flicker.cells as u64, self.downlink.datagrams]
    }

    /// Adds what other runs came to.
    pub fn merge(&mut self, other: &Self) {
        self.runs += other.runs;
        self.keys += other.keys;
        for (ours, theirs) in self.by_class.iter_mut().zip(&other.by_class) {
            ours.merge(theirs);
        }
        self.wrong += other.wrong;
        self.wrong_any += other.wrong_any;
        self.wrong_paint += other.wrong_paint;
        self.revealed += other.revealed;
        self.revealed_any += other.revealed_any;
        self.corrected.merge(&other.corrected);
        self.gone.merge(&other.gone);
        self.late += other.late;
        self.flicker = self.flicker.plus(other.flicker);
        self.own_flicker = self.own_flicker.plus(other.own_flicker);
        self.local_flicker = self.local_flicker.plus(other.local_flicker);
        self.uplink = self.uplink.plus(other.uplink);
        self.downlink = self.downlink.plus(other.downlink);
        self.true_ends += other.true_ends;
        self.unexpected += other.unexpected;
        self.secrets += other.secrets;
        self.secrets_shown += other.secrets_shown;
    }

    /// Returns the latencies of all keys for which `includes` holds.
    pub(crate) fn latencies(&self, includes: impl Fn(Class) -> bool) -> Times {
        let mut all = Times::default();
        for class in Class::ALL.into_iter().filter(|class| includes(*class)) {
            all.merge(&self.by_class[class as usize]);
        }
        all
    }

    /// Returns the row of all of it, which tables and JSON show.
    pub fn row(&self) -> Value {
        let classes: serde_json::Map<String, Value> = Class::ALL
            .into_iter()
            .map(|class| (class.name().to_owned(), answers(&self.by_class[class as usize])))
            .collect();
        let share = |count: usize| json!({ "keys": count, "percent": percent(count, self.keys) });
        let traffic = |traffic: Traffic| json!({ "datagrams": traffic.datagrams, "bytes": traffic.bytes().get(), "bytes_of_run": traffic.bytes().get() / self.runs.max(1) as u64 });
        let flicker = |count: fn(Tally) -> usize| json!({ "own": count(self.own_flicker), "all": count(self.flicker), "local": count(self.local_flicker) });
        json!({
            "runs": self.runs,
            "keys": self.keys,
            "all": answers(&self.latencies(|_| true)),
            "typing": answers(&self.latencies(Class::is_typing)),
            "classes": classes,
            "wrong": share(self.wrong),
            "wrong_any": share(self.wrong_any),
            "wrong_color": share(self.wrong_paint),
            "revealed_wrong": share(self.revealed),
            "revealed_wrong_any": share(self.revealed_any),
            "mistakes": self.corrected.count(),
            "mistakes_never_corrected": self.corrected.missing(),
            "mistakes_gone_late": self.late,
            "corrected_ms": self.corrected.quantiles(&[50, 100]),
            "gone_ms": self.gone.quantiles(&[50, 100]),
            "flicker": flicker(|it| it.cells),
            "cursor_blinks": flicker(|it| it.blinks),
            "uplink": traffic(self.uplink),
            "downlink": traffic(self.downlink),
            "true_ends": self.true_ends,
            "unexpected_bytes": self.unexpected,
            "secrets": self.secrets,
            "secrets_shown": self.secrets_shown,
        })
    }
}

/// Returns the row of the latencies of some keys.
fn answers(times: &Times) -> Value {
    json!({
        "keys": times.count(),
        "instant": times.instant(),
        "instant_percent": times.instant_percent(),
        "never_seen": times.missing(),
        "mean_ms": times.mean(),
        "latency_ms": times.quantiles(&QUANTILES),
    })
}

/// Returns the time until something happened, in ms, if it did.
fn elapsed(since: Instant, until: Option<Instant>) -> Option<f64> {
    until.map(|until| millis(until.saturating_since(since)))
}

/// Counts what flickered in a run, as far as it is `counted`.
fn flicker(run: &Run, counted: impl Fn(&Flicker) -> bool) -> Tally {
    let flickers = run.flickers.iter().filter(|flicker| counted(flicker));
    Tally::of(flickers.map(|flicker| &flicker.change))
}

/// Returns a time in milliseconds.
pub fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
