//! The figures of runs: latencies and shares.

use rove_headless::Traffic;
use rove_runs::statistics::{percent, rank};
use rove_units::{Duration, Instant};
use serde_json::{Value, json};

use crate::replay::flicker::Tally;
use crate::replay::judge::Flicker;
use crate::replay::run::Run;
use crate::replay::script::{Class, Script};

/// An answer that comes sooner is instant.
pub(crate) const INSTANT: Duration = Duration::from_millis(5);

/// The points of the distribution that the JSON has, in percent.
const QUANTILES: [u32; 13] = [5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 99];

/// The latencies of some keys. A key never seen is the slowest of all.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    seen: Vec<Duration>,
    unseen: usize,
}

impl Latencies {
    fn add(&mut self, latency: Option<Duration>) {
        match latency {
            Some(latency) => {
                let at = self.seen.partition_point(|other| *other <= latency);
                self.seen.insert(at, latency);
            }
            None => self.unseen += 1,
        }
    }

    fn merge(&mut self, other: &Self) {
        self.seen.extend_from_slice(&other.seen);
        self.seen.sort_unstable();
        self.unseen += other.unseen;
    }

    /// Returns how many keys there are.
    pub fn count(&self) -> usize {
        self.seen.len() + self.unseen
    }

    /// Returns how many were answered at once.
    pub fn instant(&self) -> usize {
        self.seen.partition_point(|latency| *latency < INSTANT)
    }

    /// Returns the latency that `percent` of the keys do not exceed; `None` if such a key was never seen,
    /// or there is none.
    pub fn quantile(&self, percent: u32) -> Option<Duration> {
        rank(&self.seen, u64::try_from(self.unseen).ok()?, u64::from(percent))
    }

    /// Returns those of keys that were seen, in ascending order.
    pub fn seen(&self) -> &[Duration] {
        &self.seen
    }

    /// Returns how many keys were never answered.
    pub const fn unseen(&self) -> usize {
        self.unseen
    }

    /// Returns the mean latency of those that were answered; `None` of none.
    pub fn mean(&self) -> Option<Duration> {
        let count = u32::try_from(self.seen.len()).ok().filter(|count| *count > 0)?;
        Some(self.seen.iter().copied().sum::<Duration>() / count)
    }

    fn to_json(&self) -> Value {
        let quantiles: serde_json::Map<String, Value> = QUANTILES
            .iter()
            .map(|percent| (format!("p{percent}"), json!(self.quantile(*percent).map(millis))))
            .collect();
        json!({
            "keys": self.count(),
            "instant": self.instant(),
            "instant_percent": percent(self.instant(), self.count()),
            "never_seen": self.unseen,
            "mean_ms": self.mean().map(millis),
            "latency_ms": quantiles,
        })
    }
}

/// The figures of one or more runs.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub(crate) runs: usize,
    /// All keys, those without a response too.
    pub keys: usize,
    pub(crate) by_class: [Latencies; Class::ALL.len()],
    /// Keys after which the client drew something wrong of its own.
    pub wrong: usize,
    pub(crate) wrong_any: usize,
    pub(crate) wrong_paint: usize,
    /// Keys after which an arriving datagram made it show a wrong prediction.
    pub(crate) revealed: usize,
    pub(crate) revealed_any: usize,
    /// How long it took until the screen was a true one after each mistake.
    pub(crate) corrected: Latencies,
    /// How long anything wrong stayed.
    pub(crate) gone: Latencies,
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
    /// How many of them had something drawn that was none of the host's.
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
            ..Self::default()
        };
        for (key, outcome) in script.keys.iter().zip(&run.outcomes) {
            if key.after.is_some() {
                let seen = outcome.sent_at.zip(outcome.seen_at);
                let latency = seen.map(|(sent, seen)| seen.saturating_since(sent));
                figures.by_class[key.class as usize].add(latency);
            }
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
            let lasted =
                |until: Option<Instant>| until.map(|at| at.saturating_since(mistake.since));
            figures.corrected.add(lasted(mistake.corrected_at));
            figures.gone.add(lasted(mistake.gone_at));
            let answered_at = run.outcomes[mistake.key].answered_at;
            figures.late += usize::from(mistake.is_late(answered_at));
        }
        figures
    }

    /// Returns how long anything wrong stayed, and counts. The keys are those with wrong text left of the cursor, with anything wrong, with
    /// wrong colours alone, and with an older prediction revealed. The last count is of late mistakes.
    pub fn mistakes(&self) -> (&Latencies, [usize; 5]) {
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
    pub fn latencies(&self, includes: impl Fn(Class) -> bool) -> Latencies {
        let mut all = Latencies::default();
        for class in Class::ALL.into_iter().filter(|class| includes(*class)) {
            all.merge(&self.by_class[class as usize]);
        }
        all
    }

    /// Returns all of it as JSON.
    pub fn to_json(&self) -> Value {
        let classes: serde_json::Map<String, Value> = Class::ALL
            .into_iter()
            .map(|class| (class.name().to_owned(), self.by_class[class as usize].to_json()))
            .collect();
        let share = |count: usize| json!({ "keys": count, "percent": percent(count, self.keys) });
        let span = |times: &Latencies| json!({ "p50": times.quantile(50).map(millis), "p100": times.quantile(100).map(millis) });
        let traffic = |traffic: Traffic| json!({ "datagrams": traffic.datagrams, "bytes": traffic.bytes().get() });
        let flicker = |count: fn(Tally) -> usize| json!({ "own": count(self.own_flicker), "all": count(self.flicker), "local": count(self.local_flicker) });
        json!({
            "runs": self.runs,
            "keys": self.keys,
            "all": self.latencies(|_| true).to_json(),
            "typing": self.latencies(Class::is_typing).to_json(),
            "classes": classes,
            "wrong": share(self.wrong),
            "wrong_any": share(self.wrong_any),
            "wrong_color": share(self.wrong_paint),
            "revealed_wrong": share(self.revealed),
            "revealed_wrong_any": share(self.revealed_any),
            "mistakes": self.corrected.count(),
            "mistakes_never_corrected": self.corrected.unseen,
            "mistakes_gone_late": self.late,
            "corrected_ms": span(&self.corrected),
            "gone_ms": span(&self.gone),
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

/// Counts what flickered in a run, as far as it is `counted`.
fn flicker(run: &Run, counted: impl Fn(&Flicker) -> bool) -> Tally {
    let flickers = run.flickers.iter().filter(|flicker| counted(flicker));
    Tally::of(flickers.map(|flicker| &flicker.change))
}

/// Returns a time in milliseconds.
pub fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latencies(millis: &[u64], unseen: usize) -> Latencies {
        let mut latencies = Latencies::default();
        millis.iter().for_each(|ms| latencies.add(Some(Duration::from_millis(*ms))));
        (0..unseen).for_each(|_| latencies.add(None));
        latencies
    }

    #[test]
    fn instant_is_under_five_milliseconds() {
        assert_eq!(latencies(&[0, 5, 4, 6], 1).instant(), 2);
    }

    #[test]
    fn a_key_never_seen_is_the_slowest() {
        let some = latencies(&[30, 10, 20], 1);
        let quantile = |percent| some.quantile(percent).map(millis);
        for (percent, expected) in
            [(1, Some(10.0)), (25, Some(10.0)), (26, Some(20.0)), (75, Some(30.0)), (76, None)]
        {
            assert_eq!(quantile(percent), expected, "{percent}");
        }
        assert_eq!(latencies(&[], 0).quantile(50), None);
    }

    #[test]
    fn pooled_latencies_are_those_of_all_keys() {
        let mut pool = latencies(&[1, 9], 1);
        pool.merge(&latencies(&[3], 0));
        assert_eq!((pool.count(), pool.instant()), (4, 2));
        assert_eq!(pool.quantile(50), Some(Duration::from_millis(3)));
    }
}
