//! Prior: assumptions about the networks for which a search grows a table, and the settings of the search.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use rove_runs::statistics::whole;
use rove_units::Seed;
use serde::Deserialize;

use crate::action_range::ActionRanges;
use crate::training_network::{TrainingNetwork, Typing};

/// Most networks of a prior. Chosen: ten times as many as in the publications.
const NETWORKS_MAX: usize = 1_000;

/// Most senders in a network. Chosen: four times as many as in the paper's datacenter.
const SENDERS_MAX: usize = 256;

/// Fastest link in packets per ms. Chosen: 10 Gbit/s.
const FASTEST_LINK: f64 = 1_000.0;

/// Longest round trip, and longest mean time on or off, in ms. Chosen: an hour, and no run needs more.
const LONGEST_MS: f64 = 3_600_000.0;

/// Longest run of a network, in s. Chosen: ten times the 10^4 s of the published evaluations.
const LONGEST_RUN_S: f64 = 100_000.0;

/// A prior as in its file. Each quantity is a number, a grid `[low, high, step]`, or `[low, high]` to draw from.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Prior {
    /// A description for people.
    #[serde(default)]
    pub(crate) about: String,
    /// The rate of the link.
    link_packets_per_ms: Quantity,
    /// The propagation delay of a round trip.
    rtt_ms: Quantity,
    /// The number of senders that share the link.
    senders: Quantity,
    /// The mean time for which a sender has data, in ms. The times are distributed exponentially.
    mean_on_ms: Quantity,
    /// The mean time for which a sender has no data, in ms. The times are distributed exponentially.
    mean_off_ms: Quantity,
    /// Most packets that wait for the link. If missing, the queue has no limit.
    #[serde(default)]
    buffer_packets: Option<Quantity>,
    /// The share of packets that is lost after the link.
    #[serde(default)]
    loss: Quantity,
    /// A session next to the senders. If missing, there is none.
    #[serde(default)]
    typing: Option<Typing>,
    /// The number of networks to draw. If missing, every combination of the values is a network.
    #[serde(default)]
    draws: Option<usize>,
    /// The simulated time of each network, in s.
    pub(crate) length_s: f64,
    /// The settings of the search.
    #[serde(default)]
    pub(crate) search: Settings,
}

/// The settings of a search.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    /// How often every rule is improved before the most used rule is split. If missing, 5.
    pub(crate) generations: u32,
    /// The number of signals by which rules are split. If missing, 4.
    pub(crate) signals: usize,
    /// Whether each step draws its own networks. If missing, all steps have the same.
    pub(crate) redraws: bool,
    /// Whether an improvement must also hold in a longer run. If missing, it need not.
    pub(crate) check_each: bool,
    /// The actions that the search tries for a rule.
    pub(crate) actions: ActionRanges,
}

impl Default for Settings {
    /// Returns the settings of the published search, as observed.
    fn default() -> Self {
        Self {
            generations: 5,
            signals: 4,
            redraws: false,
            check_each: false,
            actions: ActionRanges::default(),
        }
    }
}

/// The values of a property of the networks.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
enum Quantity {
    One(f64),
    Range([f64; 2]),
    Grid([f64; 3]),
}

impl Default for Quantity {
    fn default() -> Self {
        Self::One(0.0)
    }
}

impl Quantity {
    fn bounds(self) -> [f64; 2] {
        match self {
            Self::One(value) => [value; 2],
            Self::Range(bounds) => bounds,
            Self::Grid([low, high, _]) => [low, high],
        }
    }

    /// Returns all values of a grid. `None` for a range without steps, or if the values are more than [`NETWORKS_MAX`].
    fn values(self) -> Option<Vec<f64>> {
        match self {
            Self::One(value) => Some(vec![value]),
            Self::Range([low, high]) if low == high => Some(vec![low]),
            Self::Range(_) => None,
            Self::Grid([low, high, step]) if low == high || step == 0.0 => Some(vec![low]),
            Self::Grid([low, high, step]) => {
                // A rounding error may put the last value above the end of the range, where it still counts.
                let values = (0_u32..).map(|number| f64::from(number).mul_add(step, low));
                let values: Vec<f64> = values
                    .take_while(|it| *it <= high + step * 1e-9)
                    .take(NETWORKS_MAX + 1)
                    .collect();
                (values.len() <= NETWORKS_MAX).then_some(values)
            }
        }
    }

    /// Returns a value of a grid or of a range, chosen by a random number from 0 to 1.
    fn draw(self, unit: f64) -> f64 {
        let [low, high] = self.bounds();
        match self {
            Self::Grid([.., step]) if step > 0.0 => {
                let values = ((high - low) / step + 1e-9).floor() + 1.0;
                (values * unit).floor().mul_add(step, low)
            }
            _ => low + (high - low) * unit,
        }
    }
}

impl Prior {
    /// Reads a prior from its file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, contains no prior, or assumes impossible networks.
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let shown = file.display();
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?;
        Self::parse(&text).map_err(|sentence| anyhow!("{shown}: {sentence}"))
    }

    /// Reads the text of a prior.
    ///
    /// # Errors
    ///
    /// Returns a sentence as the error if the text is no prior, or assumes impossible networks.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let prior: Self = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map_or(1, |before| before.matches('\n').count() + 1);
            format!("line {line}: {}", error.message())
        })?;
        prior.check()?;
        prior.networks(Seed::new(1))?;
        Ok(prior)
    }

    fn check(&self) -> Result<(), String> {
        let buffer = self.buffer_packets.unwrap_or_default();
        for (name, quantity, least, most) in [
            ("link_packets_per_ms", self.link_packets_per_ms, 1e-3, FASTEST_LINK),
            ("rtt_ms", self.rtt_ms, 0.0, LONGEST_MS),
            ("senders", self.senders, 1.0, SENDERS_MAX as f64),
            ("mean_on_ms", self.mean_on_ms, 1e-3, LONGEST_MS),
            ("mean_off_ms", self.mean_off_ms, 1e-3, LONGEST_MS),
            ("buffer_packets", buffer, 0.0, 1e9),
            ("loss", self.loss, 0.0, 0.99),
            ("length_s", Quantity::One(self.length_s), 1e-3, LONGEST_RUN_S),
        ] {
            let [low, high] = quantity.bounds();
            // If a number is NaN, every comparison is false, so this condition holds.
            if !(least <= low && low <= high && high <= most) {
                return Err(format!(
                    "{name} goes from {low} to {high}, and a prior has it from {least} to {most}, low end first"
                ));
            }
            if let Quantity::Grid([.., step]) = quantity
                && !(step >= 0.0 && step.is_finite())
            {
                return Err(format!("{name} has steps of {step}; a step is a number above zero"));
            }
        }
        if let Some(Typing { mean_gap_ms, size }) = self.typing
            && !((1.0..=LONGEST_MS).contains(&mean_gap_ms) && (1e-3..=1.0).contains(&size))
        {
            return Err(format!(
                "typing has a mean_gap_ms of {mean_gap_ms} and a size of {size}, and may have 1 to {LONGEST_MS} ms, and \
                 0.001 to 1 of a sender's packet"
            ));
        }
        if !(1..=4).contains(&self.search.signals) {
            let signals = self.search.signals;
            return Err(format!("search.signals is {signals}, and a table divides by 1 to 4"));
        }
        if !(1..=100).contains(&self.search.generations) {
            let generations = self.search.generations;
            return Err(format!("search.generations is {generations}, and may be 1 to 100"));
        }
        if self.search.redraws && self.draws.is_none() {
            return Err("search.redraws needs a number of draws".to_owned());
        }
        self.search.actions.check()
    }

    /// Returns the networks: all combinations of the grids, or as many random draws as the prior wants.
    ///
    /// # Errors
    ///
    /// Returns a sentence as the error if there is no network, or if there are too many.
    pub(crate) fn networks(&self, seed: Seed) -> Result<Vec<TrainingNetwork>, String> {
        let too_many =
            format!("the prior has more than {NETWORKS_MAX} specimens; use fewer, or draws");
        let quantities = [
            self.link_packets_per_ms,
            self.rtt_ms,
            self.senders,
            self.mean_on_ms,
            self.mean_off_ms,
            self.buffer_packets.unwrap_or_default(),
            self.loss,
        ];
        if let Some(draws) = self.draws {
            if !(1..=NETWORKS_MAX).contains(&draws) {
                return Err(format!("draws is {draws}, and a prior has 1 to {NETWORKS_MAX}"));
            }
            let chance = seed.stream("remy.prior");
            let networks = (0..draws).map(|draw| {
                let chance = chance.fork(draw as u64);
                let mut number = 0;
                self.network(quantities.map(|quantity| {
                    number += 1;
                    // Each whole number of senders is drawn with the same chance.
                    let unit = chance.at(number).unit();
                    match quantity {
                        Quantity::Range([low, high]) if number == 3 => {
                            (low + (high - low + 1.0) * unit).floor().min(high)
                        }
                        _ => quantity.draw(unit),
                    }
                }))
            });
            return Ok(networks.collect());
        }
        let mut combinations: Vec<Vec<f64>> = vec![Vec::new()];
        for quantity in quantities {
            let Some(values) = quantity.values() else {
                return Err(match quantity {
                    Quantity::Grid(_) => too_many,
                    _ => "a range without a step, [low, high], needs a number of draws".to_owned(),
                });
            };
            combinations = (combinations.iter())
                .flat_map(|begin| values.iter().map(|value| [begin.as_slice(), &[*value]].concat()))
                .take(NETWORKS_MAX + 1)
                .collect();
        }
        if combinations.len() > NETWORKS_MAX {
            return Err(too_many);
        }
        let networks = combinations.iter().filter_map(|values| values.as_slice().try_into().ok());
        Ok(networks.map(|values| self.network(values)).collect())
    }

    fn network(
        &self,
        [rate, rtt_ms, senders, mean_on_ms, mean_off_ms, buffer, loss]: [f64; 7],
    ) -> TrainingNetwork {
        let count = |number| usize::try_from(whole(number)).unwrap_or(usize::MAX);
        let [senders, buffer] = [senders, buffer].map(count);
        TrainingNetwork {
            packets_per_ms: rate,
            rtt_ms,
            senders,
            mean_on_ms,
            mean_off_ms,
            buffer_packets: self.buffer_packets.map(|_| buffer),
            loss,
            typing: self.typing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIOR: &str = "
        link_packets_per_ms = [1.0, 2.0, 0.5]
        rtt_ms = 150
        senders = [1, 2, 1]
        mean_on_ms = 1000
        mean_off_ms = 1000
        length_s = 100
    ";

    #[test]
    fn every_combination_is_a_network_and_what_is_drawn_stays_within_its_range() {
        let networks = Prior::parse(PRIOR).expect("a prior").networks(Seed::new(1)).expect("six");
        let got: Vec<(f64, usize)> =
            networks.iter().map(|it| (it.packets_per_ms, it.senders)).collect();
        assert_eq!(got, [(1.0, 1), (1.0, 2), (1.5, 1), (1.5, 2), (2.0, 1), (2.0, 2)]);
        assert!(networks.iter().all(|it| it.buffer_packets.is_none() && it.loss == 0.0));
        let drawn = PRIOR.replace("[1.0, 2.0, 0.5]", "[1.0, 2.0]").replace("[1, 2, 1]", "[1, 16]");
        let drawn =
            Prior::parse(&(drawn + "draws = 200\nbuffer_packets = 1000\n")).expect("a prior");
        let networks = drawn.networks(Seed::new(1)).expect("two hundred");
        assert_eq!(networks, drawn.networks(Seed::new(1)).expect("the same"));
        assert_ne!(networks, drawn.networks(Seed::new(2)).expect("others"));
        assert!(networks.iter().all(|it| (1.0..=2.0).contains(&it.packets_per_ms)));
        assert!((1..=16).all(|senders| networks.iter().any(|it| it.senders == senders)));
        assert!(networks.iter().all(|it| it.buffer_packets == Some(1_000)));
        let grid = Prior::parse(&format!("{PRIOR}draws = 200\n")).expect("a prior");
        let networks = grid.networks(Seed::new(1)).expect("two hundred");
        for rate in [1.0, 1.5, 2.0] {
            let count = networks.iter().filter(|it| it.packets_per_ms == rate).count();
            assert!((40..100).contains(&count), "{count} of 200 at {rate}");
        }
    }

    #[test]
    fn a_prior_that_cannot_be_is_refused_in_a_sentence() {
        for (right, wrong, told) in [
            ("senders = [1, 2, 1]", "senders = 0", "senders goes from 0 to 0"),
            ("senders = [1, 2, 1]", "senders = [0, 2, 1]", "senders goes from 0 to 2"),
            ("senders = [1, 2, 1]", "senders = 1000000", "senders goes"),
            ("[1.0, 2.0, 0.5]", "[2.0, 1.0, 0.5]", "low end first"),
            ("[1.0, 2.0, 0.5]", "[1.0, 2.0]", "needs a number of draws"),
            ("[1.0, 2.0, 0.5]", "[1.0, 2.0, -1.0]", "steps of -1"),
            ("[1.0, 2.0, 0.5]", "[1.0, 2.0, 1e-9]", "more than 1000 specimens"),
            ("[1.0, 2.0, 0.5]", "nan", "link_packets_per_ms goes from NaN"),
            ("[1.0, 2.0, 0.5]", "1e30", "link_packets_per_ms"),
            ("rtt_ms = 150", "rtt_ms = inf", "rtt_ms"),
            ("rtt_ms = 150", "rtt_ms = \"far\"", "line 3"),
            ("rtt_ms = 150", "", "rtt_ms"),
            ("length_s = 100", "length_s = 0", "length_s"),
            ("length_s = 100", "length_s = 100\ndraws = 0", "draws is 0"),
            ("length_s = 100", "length_s = 100\nspeed = 3", "speed"),
            ("length_s = 100", "length_s = 100\nloss = 1.5", "loss goes from 1.5"),
            (
                "length_s = 100",
                "length_s = 100\ntyping = { mean_gap_ms = 0, size = 0.1 }",
                "a mean_gap_ms of 0",
            ),
            (
                "length_s = 100",
                "length_s = 100\ntyping = { mean_gap_ms = 9, size = 2 }",
                "a size of 2,",
            ),
            ("length_s = 100", "length_s = 100\n[search]\nsignals = 9", "search.signals is 9"),
            ("length_s = 100", "length_s = 100\n[search]\nredraws = true", "number of draws"),
        ] {
            let text = PRIOR.replace(right, wrong);
            assert_ne!(text, PRIOR, "{right}");
            let sentence = Prior::parse(&text).expect_err(wrong);
            assert!(sentence.contains(told), "{sentence}");
        }
    }
}
