//! Objective: computes the score of a sender's throughput and delay.

use core::fmt;
use core::str::FromStr;

use crate::network::{Keys, Outcome};

/// Utility of a sender that was on, but of which no packet was received. Source: the published evaluator, as observed.
const STARVED: f64 = -2_147_483_647.0;

/// The unit of delays, in ms. Source: the published evaluator, as observed.
const DELAY_UNIT_MS: f64 = 100.0;

/// Milliseconds that a lost key adds to the sum of delays. Source: Mosh's longest retransmission timeout (the fact
/// sheet about Mosh's timing).
const LOST_KEY_MS: f64 = 1_000.0;

/// The time by which a sender's packets are divided, which gives its throughput.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Normalisation {
    /// The time that the sender was on, where each moment is divided by the number of senders on. An equal share of a
    /// full link then equals the link's rate (the published evaluator).
    #[default]
    Share,
    /// The time that the sender was on (the paper).
    OnTime,
}

/// An objective: `U_alpha(throughput) - delta * U_beta(delay)`, where `U_a(x)` is `x^(1 - a) / (1 - a)`, or the binary
/// logarithm for `a` = 1. Throughput is in packets per ms, and delay in units of 100 ms. If the network has a session,
/// `keys * U_beta(delay of a key)` is subtracted, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Objective {
    /// The exponent `a` of the throughput's utility. A larger value gives more weight to fairness.
    pub(crate) alpha: f64,
    /// The exponent `a` of the delay's utility.
    pub(crate) beta: f64,
    /// The weight of delay.
    pub(crate) delta: f64,
    /// The weight of the delay of a session's keys.
    pub(crate) keys: f64,
    /// The time by which packets are divided.
    pub(crate) normalisation: Normalisation,
}

impl Objective {
    /// The objective of the published evaluator.
    pub(crate) const DEFAULT: Self =
        Self { alpha: 1.0, beta: 1.0, delta: 1.0, keys: 0.0, normalisation: Normalisation::Share };
}

impl Outcome {
    /// Returns the packets per ms of the sender's time. `None` if the sender was never on.
    pub(crate) fn throughput(&self, normalisation: Normalisation) -> Option<f64> {
        let time = match normalisation {
            Normalisation::Share => self.share_ms,
            Normalisation::OnTime => self.on_ms,
        };
        (time > 0.0).then(|| self.received as f64 / time)
    }

    /// Returns the mean delay of a packet in ms. `None` if no packet was received.
    pub(crate) fn delay_ms(&self) -> Option<f64> {
        (self.received > 0).then(|| self.delay_nanos as f64 * 1e-6 / self.received as f64)
    }
}

impl Keys {
    /// Returns the mean delay of a key in ms, where lost keys count with [`LOST_KEY_MS`]. `None` if there were no keys.
    pub(crate) fn delay_ms(&self) -> Option<f64> {
        let keys = self.received + self.lost;
        let sum = self.delay_nanos as f64 * 1e-6 + self.lost as f64 * LOST_KEY_MS;
        (keys > 0).then(|| sum / keys as f64)
    }
}

impl Objective {
    /// Returns the utility of a sender.
    pub(crate) fn utility(&self, outcome: &Outcome) -> f64 {
        let Some(throughput) = outcome.throughput(self.normalisation) else { return 0.0 };
        let Some(delay_ms) = outcome.delay_ms() else { return STARVED };
        fair(throughput, self.alpha) - self.delta * fair(delay_ms / DELAY_UNIT_MS, self.beta)
    }

    /// Returns the score of a network: the mean of the senders' utilities, minus the cost of the keys' delay.
    pub(crate) fn score(&self, outcomes: &[Outcome], keys: &Keys) -> f64 {
        let sum: f64 = outcomes.iter().map(|outcome| self.utility(outcome)).sum();
        let cost = keys.delay_ms().filter(|_| self.keys > 0.0);
        let cost = cost.map_or(0.0, |delay| self.keys * fair(delay / DELAY_UNIT_MS, self.beta));
        sum / outcomes.len() as f64 - cost
    }
}

/// Returns `U_a(x)` as [`Objective`] defines it.
fn fair(x: f64, a: f64) -> f64 {
    if a == 1.0 { x.log2() } else { x.powf(1.0 - a) / (1.0 - a) }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { alpha, beta, delta, keys, normalisation } = self;
        let throughput = match normalisation {
            Normalisation::Share => "share",
            Normalisation::OnTime => "on-time",
        };
        write!(f, "alpha={alpha},beta={beta},delta={delta},throughput={throughput}")?;
        // Without `keys`, the text equals that of earlier versions, because checkpoints are compared by this text.
        if *keys > 0.0 { write!(f, ",keys={keys}") } else { Ok(()) }
    }
}

impl FromStr for Objective {
    type Err = String;

    /// Reads a list such as `delta=0.1` or `alpha=2,delta=0,throughput=on-time`. A missing part has its default.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut objective = Self::DEFAULT;
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            if name == "throughput" {
                objective.normalisation = match value {
                    "share" => Normalisation::Share,
                    "on-time" => Normalisation::OnTime,
                    _ => return Err(format!("throughput is share or on-time, not {value:?}")),
                };
                continue;
            }
            let field = match name {
                "alpha" => &mut objective.alpha,
                "beta" => &mut objective.beta,
                "delta" => &mut objective.delta,
                "keys" => &mut objective.keys,
                _ => {
                    return Err(format!(
                        "an objective has alpha, beta, delta, keys and throughput, and no {name:?}; write it \
                         as in alpha=1,delta=0.1"
                    ));
                }
            };
            let number = value.parse().ok().filter(|number| (0.0..=100.0).contains(number));
            *field = number.ok_or_else(|| {
                format!("{name} is a number from 0 to 100, as in {name}=1, not {value:?}")
            })?;
        }
        Ok(objective)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets with 200 ms of delay each. There are two per ms of the sender's share, and one per ms of its time on.
    const OUTCOME: Outcome =
        Outcome { received: 2_000, delay_nanos: 2_000 * 200_000_000, share_ms: 1e3, on_ms: 2e3 };

    #[test]
    fn utilities_of_published_objectives() {
        for (text, utility) in [
            ("", 0.0),
            ("delta=0.1", 0.9),
            ("delta=10", -9.0),
            ("delta=1,throughput=on-time", -1.0),
            ("alpha=2,delta=0", -0.5),
            ("alpha=2,delta=0,throughput=on-time", -1.0),
            ("alpha=0,beta=0,delta=1", 0.0),
            ("keys=3", 0.0),
        ] {
            let objective: Objective = text.parse().expect(text);
            assert!((objective.utility(&OUTCOME) - utility).abs() < 1e-12, "{text}");
            assert_eq!(objective.to_string().parse(), Ok(objective), "{text}");
        }
    }

    #[test]
    fn a_sender_that_was_never_on_is_worth_nothing_and_one_without_packets_worse_than_any() {
        let objective = Objective::DEFAULT;
        assert_eq!(objective.utility(&Outcome::default()), 0.0);
        let starved = Outcome { share_ms: 1.0, on_ms: 1.0, ..Outcome::default() };
        assert_eq!(objective.utility(&starved), STARVED);
        assert_eq!(objective.score(&[OUTCOME, starved], &Keys::default()), STARVED / 2.0);
    }

    #[test]
    fn a_delay_of_keys_twice_as_long_costs_what_the_objective_says() {
        let keys = |delay_ms: u64, lost| Keys {
            received: 10,
            lost,
            delay_nanos: 10 * delay_ms * 1_000_000,
        };
        for (text, delay_ms, score) in [
            ("delta=0,keys=1", 100, 1.0),
            ("delta=0,keys=1", 200, 0.0),
            ("delta=0,keys=2", 200, -1.0),
            ("delta=1,keys=2", 400, -4.0),
            ("delta=0", 400, 1.0),
        ] {
            let objective: Objective = text.parse().expect(text);
            let got = objective.score(&[OUTCOME], &keys(delay_ms, 0));
            assert!((got - score).abs() < 1e-12, "{text}: {got}");
            assert_eq!(objective.score(&[OUTCOME], &Keys::default()), objective.utility(&OUTCOME));
        }
        assert_eq!(keys(100, 10).delay_ms(), Some(550.0), "a lost key took a second");
    }

    #[test]
    fn an_objective_that_cannot_be_is_refused_in_a_sentence() {
        for (text, told) in [
            ("gamma=1", "no \"gamma\""),
            ("delta=-1", "delta is a number from 0 to 100"),
            ("delta=nan", "delta is a number"),
            ("alpha", "alpha is a number"),
            ("throughput=mine", "share or on-time"),
        ] {
            let sentence = text.parse::<Objective>().expect_err(text);
            assert!(sentence.contains(told), "{sentence}");
        }
    }
}
