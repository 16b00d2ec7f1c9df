//! Closed forms of the age of information under a choice of reference states.
//!
//! The model: a state is produced every period and sent at once in one datagram; datagrams and acknowledgments are lost
//! independently; whatever can be applied is acknowledged at once. All times are in milliseconds. Sources: renewal theory
//! (Yates and others, 2021) over the gaps between states that can be applied; derived in the notes on the study that
//! docs/lab.md describes.

/// Values of a share that a minimum is looked for at. Chosen: hundredths, which nobody could tell apart.
const SHARES: u8 = 101;

/// Steps of a fixed-point iteration. Chosen: each halves the distance; double precision needs some sixty.
const ITERATIONS: u32 = 500;

/// A path without queues, and a sender at a fixed pace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slotted {
    /// Delay in one direction, in ms.
    pub(crate) delay: f64,
    /// Time between two states in ms.
    pub(crate) period: f64,
    /// Probability that a datagram is lost, each way.
    pub(crate) loss: f64,
}

/// Time in slots after which a sender that assumes is no longer sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeout {
    /// Round trip in periods, rounded up.
    pub(crate) round_trip_slots: u32,
    /// Timeout in periods, rounded up.
    pub(crate) slots: u32,
}

/// The formula that a mean age comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AssumedAge {
    /// Each loss costs a timeout, and few meet: exact to the order of the loss.
    LowLoss(f64),
    /// Acknowledgments hardly ever come: mean field.
    HighLoss(f64),
    /// Neither holds; a simulation tells.
    Between,
}

impl Slotted {
    /// Returns the mean age where every diff starts from the acknowledged state.
    pub(crate) fn known_age(&self) -> f64 {
        self.delay + self.period * (1.0 + self.loss) / (2.0 * (1.0 - self.loss))
    }

    /// Returns the average peak age of the same.
    pub(crate) fn known_peak(&self) -> f64 {
        self.delay + self.period / (1.0 - self.loss)
    }

    /// Returns the catch-up of the same that a share of all states does not exceed.
    pub(crate) fn known_catch_up(&self, share: f64) -> f64 {
        if self.loss == 0.0 {
            return self.delay;
        }
        let tries = ((1.0 - share).ln() / self.loss.ln()).ceil().max(1.0);
        self.delay + self.period * (tries - 1.0)
    }

    /// Returns the mean age where each diff starts from the acknowledged state with a probability, and else from the
    /// state before it, whatever became of that: there is no timeout. Without bound for a share of 0.
    pub(crate) fn mixture_age(&self, known_share: f64) -> f64 {
        self.sized_mixture_age(known_share, [1, 1])
    }

    /// Returns the same for diffs of several datagrams: those from the state before, and those from the acknowledged one.
    pub(crate) fn sized_mixture_age(&self, known_share: f64, datagrams: [i32; 2]) -> f64 {
        let [arrives_assumed, arrives_known] = datagrams.map(|count| (1.0 - self.loss).powi(count));
        let any = known_share * arrives_known + (1.0 - known_share) * arrives_assumed;
        let (lost, renews) = (1.0 - any, known_share * arrives_known);
        let broken = if lost == 0.0 { 0.0 } else { lost / (renews * (renews + lost)) };
        self.delay + self.period / 2.0 + self.period * broken
    }

    /// Returns the mean age of a sender that starts from the newest state that has no reason to be lost yet.
    pub(crate) fn assumed_age(&self, timeout: Timeout) -> AssumedAge {
        if self.loss <= 0.1 {
            AssumedAge::LowLoss(self.assumed_age_low_loss(timeout))
        } else if self.loss >= 0.75 && timeout.window() <= 8 {
            AssumedAge::HighLoss(self.assumed_age_high_loss(timeout))
        } else {
            AssumedAge::Between
        }
    }

    /// A lost datagram makes everything useless that is sent until it expires.
    fn assumed_age_low_loss(&self, timeout: Timeout) -> f64 {
        let (loss, arrives) = (self.loss, 1.0 - self.loss);
        if loss == 0.0 {
            return self.known_age();
        }
        let blind = f64::from(timeout.slots);
        let before = timeout.round_trip_slots.saturating_sub(1);
        let gap_mean = blind + 1.0 / arrives;
        let gap_square = blind * blind + 2.0 * blind / arrives + (1.0 + loss) / (arrives * arrives);
        let failed = loss * (1.0 - loss.powi(exponent(before))) / arrives;
        let none_failed = if before == 0 { 1.0 } else { arrives };
        let good_run = none_failed * arrives / loss;
        let recovered: f64 = (1..=before)
            .map(|gap| {
                let rest = f64::from(before - gap);
                let gap_slots = f64::from(gap);
                gap_slots
                    * gap_slots
                    * loss.powi(exponent(gap - 1))
                    * arrives
                    * (1.0 + rest * arrives)
            })
            .sum();
        let mean = gap_mean + f64::from(before) - failed + good_run;
        self.delay + self.period * (gap_square + recovered + good_run) / (2.0 * mean)
    }

    /// A state is sent from the acknowledged one if no acknowledgment came in the window; a fixed point says how often.
    fn assumed_age_high_loss(&self, timeout: Timeout) -> f64 {
        let arrives = 1.0 - self.loss;
        let mut useful = arrives;
        for _ in 0..ITERATIONS {
            let is_silent = (1.0 - useful * arrives).powi(exponent(timeout.window()));
            useful = (useful + arrives * is_silent) / 2.0;
        }
        self.delay + self.period * (2.0 - useful) / (2.0 * useful)
    }
}

impl Timeout {
    /// Returns the timeout of a sender that waits so long, in ms, on a path of this round trip, in ms.
    pub(crate) fn new(round_trip: f64, timeout: f64, period: f64) -> Self {
        let slots = |time: f64| {
            let whole = (time / period).ceil().clamp(1.0, 1e6);
            (1..=1_000_000).find(|slots| f64::from(*slots) >= whole).unwrap_or(1_000_000)
        };
        Self { round_trip_slots: slots(round_trip), slots: slots(timeout) }
    }

    /// Returns over how many states an acknowledgment keeps the sender assuming.
    const fn window(self) -> u32 {
        (self.slots + 1).saturating_sub(self.round_trip_slots)
    }
}

/// A path whose rate the diffs have to share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limited {
    /// The path and the pace.
    pub(crate) slotted: Slotted,
    /// Its rate in bytes per ms.
    pub(crate) rate: f64,
    /// Bytes of a diff from the state before, and from the acknowledged one.
    pub(crate) bytes: [f64; 2],
    /// The datagrams of each.
    pub(crate) datagrams: [i32; 2],
}

impl Limited {
    /// Returns the mean age with this share of diffs from the acknowledged state, serialisation included.
    pub(crate) fn age(&self, known_share: f64) -> f64 {
        let [assumed, known] = self.bytes;
        let serialised = (known_share * known + (1.0 - known_share) * assumed) / self.rate;
        let period = self.slotted.period.max(serialised);
        Slotted { period, ..self.slotted }.sized_mixture_age(known_share, self.datagrams)
            + serialised
    }

    /// Returns the share, in hundredths, with the least age.
    pub(crate) fn best_share(&self) -> f64 {
        let share = |hundredths: u8| f64::from(hundredths) / 100.0;
        let shares = (1..SHARES).map(share);
        shares.min_by(|a, b| self.age(*a).total_cmp(&self.age(*b))).unwrap_or(1.0)
    }

    /// Returns what the cube-root law says of the same: for few losses, diffs of one datagram, and a link that they do not
    /// fill.
    pub(crate) fn cube_root_share(&self) -> f64 {
        let [assumed, known] = self.bytes;
        let Slotted { period, loss, .. } = self.slotted;
        (2.0 * loss * self.rate * period / (known - assumed)).cbrt().min(1.0)
    }
}

fn exponent(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slotted(delay: f64, loss: f64) -> Slotted {
        Slotted { delay, period: 50.0, loss }
    }

    fn assert_near(got: f64, expected: f64, tolerance: f64, what: &str) {
        assert!((got - expected).abs() <= tolerance, "{what}: {got} is not {expected}");
    }

    /// Delay, loss, mean age from the acknowledged state and with a half mixture, low-loss age of the assumed state with
    /// a timeout of 210, 1150 or 2150 ms. Source: the table of section 2 of the notes on the study.
    const TABLE: [(f64, f64, f64, f64, Option<f64>); 14] = [
        (50.0, 0.01, 75.5, 77.0, Some(82.2)),
        (50.0, 0.05, 77.6, 85.0, Some(105.6)),
        (50.0, 0.10, 80.6, 95.2, Some(126.9)),
        (50.0, 0.25, 91.7, 128.0, None),
        (50.0, 0.50, 125.0, 208.0, None),
        (50.0, 0.75, 225.0, 418.0, Some(271.0)),
        (500.0, 0.01, 525.5, 527.0, Some(623.0)),
        (500.0, 0.10, 531.0, 545.0, Some(800.0)),
        (500.0, 0.50, 575.0, 658.0, None),
        (500.0, 0.75, 675.0, 868.0, Some(721.0)),
        (1000.0, 0.10, 1031.0, 1045.0, Some(1549.0)),
        (1000.0, 0.25, 1042.0, 1078.0, None),
        (1000.0, 0.50, 1075.0, 1158.0, None),
        (1000.0, 0.75, 1175.0, 1368.0, Some(1221.0)),
    ];

    #[test]
    fn ages_are_those_of_the_table() {
        for (delay, loss, known, half, assumed) in TABLE {
            let (path, what) = (slotted(delay, loss), format!("{delay} ms, {loss}"));
            assert_near(path.known_age(), known, 0.5, &what);
            assert_near(path.mixture_age(1.0), path.known_age(), 1e-9, &what);
            assert_near(path.mixture_age(0.5), half, 0.5, &what);
            let timeout = if delay < 100.0 { 210.0 } else { 2.0 * delay + 150.0 };
            let got = match path.assumed_age(Timeout::new(2.0 * delay, timeout, 50.0)) {
                AssumedAge::LowLoss(age) | AssumedAge::HighLoss(age) => Some(age),
                AssumedAge::Between => None,
            };
            assert_eq!(got.is_some(), assumed.is_some(), "{what}");
            if let Some((got, assumed)) = got.zip(assumed) {
                assert_near(got, assumed, 0.5, &what);
            }
        }
    }

    #[test]
    fn the_study_saw_the_catch_up_that_the_known_state_has() {
        let reported = slotted(1000.0, 0.75);
        assert_near(reported.known_catch_up(0.5), 1100.0, 1e-9, "median");
        assert_near(reported.known_catch_up(0.95), 1500.0, 1e-9, "95 %");
        assert_near(reported.known_age() - 25.0, 1150.0, 1e-9, "mean");
        assert_near(reported.known_peak(), 1200.0, 1e-9, "peak");
        assert_near(slotted(10.0, 0.0).known_catch_up(0.95), 10.0, 1e-9, "nothing is lost");
    }

    #[test]
    fn age_falls_with_the_share_of_the_acknowledged_state() {
        for loss in [0.01, 0.1, 0.5, 0.75] {
            let path = slotted(100.0, loss);
            let ages: Vec<f64> =
                (1..=100).map(|it| path.mixture_age(f64::from(it) / 100.0)).collect();
            assert!(ages.is_sorted_by(|a, b| a > b), "{loss}");
        }
    }

    /// Monte Carlo results in periods beyond the delay. Source: section 2 of the notes.
    #[test]
    fn a_mixture_knows_the_sizes_of_its_diffs() {
        for (loss, share, datagrams, expected) in
            [(0.05, 0.5, [1, 3], 0.928), (0.1, 0.3, [1, 2], 1.914), (0.25, 0.7, [2, 5], 5.341)]
        {
            let path = Slotted { delay: 0.0, period: 1.0, loss };
            let age = path.sized_mixture_age(share, datagrams);
            assert_near(age / expected, 1.0, 0.01, &format!("{loss} {share}"));
        }
    }

    /// Shares with the least age. Source: section 6 of the notes, which leave out the headers of datagrams.
    #[test]
    fn the_best_share_grows_with_the_cube_root_of_the_loss() {
        let losses = [0.01, 0.05, 0.10, 0.25];
        for (rate, bytes, datagrams, best) in [
            (12.0, [280.0, 970.0], [1, 1], [0.26, 0.43, 0.46, 0.58]),
            (64.0, [1070.0, 3710.0], [1, 4], [0.33, 0.63, 0.80, 0.91]),
        ] {
            for (loss, expected) in losses.into_iter().zip(best) {
                let limited = Limited { slotted: slotted(50.0, loss), rate, bytes, datagrams };
                assert_near(limited.best_share(), expected, 0.011, &format!("{rate} {loss}"));
            }
        }
        for (loss, expected) in losses.into_iter().zip([0.29, 0.50, 0.62, 0.85]) {
            let (bytes, datagrams) = ([1070.0, 3710.0], [1, 4]);
            let limited = Limited { slotted: slotted(50.0, loss), rate: 64.0, bytes, datagrams };
            assert_near(limited.cube_root_share(), expected, 0.006, &format!("law {loss}"));
        }
    }
}
