//! The figures of runs: latencies and shares.

use std::collections::BTreeMap;

use rove_headless::Traffic;
use rove_runs::statistics::{Times, percent};
use rove_units::{Duration, Instant};
use serde::Serialize;

use crate::replay::flicker::Tally;
use crate::replay::judge::Flicker;
use crate::replay::run::Run;
use crate::replay::script::{Class, Script};

/// An answer is instant if it comes sooner than this.
pub(crate) const INSTANT: Duration = Duration::from_millis(5);

/// The points of the distribution that the JSON has, in percent.
const QUANTILES: [u64; 13] = [5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 99];

/// The figures of one or more runs.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub(crate) runs: usize,
    /// All keys, including those without a response.
    pub keys: usize,
    pub(crate) by_class: [Times; Class::ALL.len()],
    /// Keys after which the client's own drawing had wrong text left of the cursor.
    pub wrong: usize,
    pub(crate) wrong_any: usize,
    pub(crate) wrong_paint: usize,
    /// Keys after which an arriving datagram made the client show a wrong prediction.
    pub(crate) revealed: usize,
    pub(crate) revealed_any: usize,
    /// For each mistake, how long it took until the screen was a recorded one again.
    pub(crate) corrected: Times,
    /// For each mistake, how long it took until all text and the cursor on the screen were right.
    pub(crate) gone: Times,
    /// Mistakes that were gone more than 100 ms after the host's own answer.
    pub(crate) late: usize,
    /// The flicker on the user's screen, and the part of it that the client alone made.
    pub(crate) flicker: Tally,
    pub(crate) own_flicker: Tally,
    /// The flicker of the recorded screens at their recorded times.
    pub(crate) local_flicker: Tally,
    pub(crate) uplink: Traffic,
    pub(crate) downlink: Traffic,
    /// How many runs ended with the last recorded screen on the user's screen.
    pub true_ends: usize,
    /// Bytes from the user that differ from the recorded byte at the same place.
    pub unexpected: usize,
    /// Keys typed while the host's terminal hid them.
    pub(crate) secrets: usize,
    /// How many of these keys had something drawn that did not come from the host.
    pub(crate) secrets_shown: usize,
}

/// The row of figures, which tables and JSON show.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The number of runs that the figures come from.
    pub runs: usize,
    keys: usize,
    all: Answers,
    typing: Answers,
    classes: BTreeMap<&'static str, Answers>,
    #[serde(flatten)]
    faults: Faults,
    /// How often cells and the cursor flickered: by the client alone, altogether, and in the recording itself.
    flicker: BTreeMap<&'static str, usize>,
    cursor_blinks: BTreeMap<&'static str, usize>,
    /// How many runs ended with the last recorded screen on the user's screen.
    pub true_ends: usize,
    /// Bytes from the user that differ from the recorded byte at the same place.
    pub unexpected_bytes: usize,
    /// Figures that exist only for a client inside this process, not for a program of others.
    #[serde(flatten)]
    pub inside: Option<Inside>,
}

/// Wrong predictions: the keys with each kind of fault, and how long faults stayed.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Faults {
    wrong: Share,
    wrong_any: Share,
    wrong_color: Share,
    revealed_wrong: Share,
    revealed_wrong_any: Share,
    mistakes: u64,
    mistakes_never_corrected: u64,
    corrected_ms: BTreeMap<String, Option<f64>>,
    gone_ms: BTreeMap<String, Option<f64>>,
}

/// Figures that exist only for a client inside this process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inside {
    uplink: Sent,
    downlink: Sent,
    mistakes_gone_late: usize,
    pub(super) secrets: usize,
    pub(super) secrets_shown: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Answers {
    keys: u64,
    instant: usize,
    instant_percent: f64,
    never_seen: u64,
    mean_ms: Option<f64>,
    latency_ms: BTreeMap<String, Option<f64>>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Share {
    keys: usize,
    percent: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Sent {
    datagrams: u64,
    bytes: u64,
    bytes_of_run: u64,
}

impl Figures {
    /// Returns the figures of one run.
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
                judged.map(|(_, it)| it.latency().map(millis)).collect()
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

    /// Returns how long mistakes stayed, and the counts `wrong`, `wrong_any`, `wrong_paint`, `revealed_any` and `late`.
    pub const fn mistakes(&self) -> (&Times, [usize; 5]) {
        let of_keys = [self.wrong, self.wrong_any, self.wrong_paint, self.revealed_any];
        let [wrong, any, paint, revealed] = of_keys;
        (&self.gone, [wrong, any, paint, revealed, self.late])
    }

    /// Returns how many cells the client alone made flicker, and how many datagrams the server sent.
    pub const fn flicker_and_datagrams(&self) -> [u64; 2] {
        [self.own_flicker.cells as u64, self.downlink.datagrams]
    }

    /// Adds the figures of other runs.
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

    /// Returns the row of these figures.
    pub fn row(&self) -> Row {
        let classes = Class::ALL.into_iter();
        let share = |keys: usize| Share { keys, percent: percent(keys, self.keys) };
        let flickers = |count: fn(Tally) -> usize| {
            let counts = [self.own_flicker, self.flicker, self.local_flicker].map(count);
            ["own", "all", "local"].into_iter().zip(counts).collect()
        };
        let sent = |traffic: Traffic| {
            let (datagrams, bytes) = (traffic.datagrams, traffic.bytes().get());
            Sent { datagrams, bytes, bytes_of_run: bytes / self.runs.max(1) as u64 }
        };
        Row {
            runs: self.runs,
            keys: self.keys,
            all: Answers::of(&self.latencies(|_| true)),
            typing: Answers::of(&self.latencies(Class::is_typing)),
            classes: classes
                .map(|it| (it.name(), Answers::of(&self.by_class[it as usize])))
                .collect(),
            faults: Faults {
                wrong: share(self.wrong),
                wrong_any: share(self.wrong_any),
                wrong_color: share(self.wrong_paint),
                revealed_wrong: share(self.revealed),
                revealed_wrong_any: share(self.revealed_any),
                mistakes: self.corrected.count(),
                mistakes_never_corrected: self.corrected.missing(),
                corrected_ms: self.corrected.quantiles(&[50, 100]),
                gone_ms: self.gone.quantiles(&[50, 100]),
            },
            flicker: flickers(|it| it.cells),
            cursor_blinks: flickers(|it| it.blinks),
            true_ends: self.true_ends,
            unexpected_bytes: self.unexpected,
            inside: Some(Inside {
                uplink: sent(self.uplink),
                downlink: sent(self.downlink),
                mistakes_gone_late: self.late,
                secrets: self.secrets,
                secrets_shown: self.secrets_shown,
            }),
        }
    }
}

impl Answers {
    fn of(times: &Times) -> Self {
        Self {
            keys: times.count(),
            instant: times.instant(),
            instant_percent: times.instant_percent(),
            never_seen: times.missing(),
            mean_ms: times.mean(),
            latency_ms: times.quantiles(&QUANTILES),
        }
    }
}

/// Returns the time from `since` to `until` in ms. `None` without `until`.
pub(crate) fn elapsed(since: Instant, until: Option<Instant>) -> Option<f64> {
    until.map(|until| millis(until.saturating_since(since)))
}

/// Counts the flickers of a run for which `counted` holds.
fn flicker(run: &Run, counted: impl Fn(&Flicker) -> bool) -> Tally {
    let flickers = run.flickers.iter().filter(|flicker| counted(flicker));
    Tally::of(flickers.map(|flicker| &flicker.change))
}

/// Returns a time in milliseconds.
pub fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
