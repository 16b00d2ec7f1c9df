//! Sprout in its forms: details that the paper leaves open, or that paper and published program have in different ways.

use std::sync::LazyLock;

use rove_congestion::sprout::{Bayesian, Config, Counting, Drain, MovingAverage};
use serde::Deserialize;

use crate::flow::sprout::PACKET;
use crate::flow::{self, FlowOptions, FlowReport, Saturation};

/// The confidence of Sprout's forecast, in percent. Source: Sprout paper, section 3.3.
const CONFIDENCE: f64 = 95.0;

/// The texts of each option, in order: as scenario files append it to the name, and as figures do.
const OPTIONS: [(&str, &str); 4] = [
    ("-ewma", "-EWMA"),
    ("-one-way", ", one way"),
    ("-published", ", as published"),
    ("-datagrams", ", headers counted"),
];

/// The names of all forms in figures. The index is the form's number, whose bits are the options.
static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let name = |bits: usize| {
        let options = OPTIONS.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
        options.fold("Sprout".to_owned(), |name, (_, (_, shown))| name + shown)
    };
    (0..SproutForm::COUNT).map(name).collect()
});

/// A form of Sprout, made of four options.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub struct SproutForm {
    /// Whether a moving average of the rate takes the place of the inference and its cautious forecast.
    pub is_ewma: bool,
    /// The directions in which there is always data.
    pub saturation: Saturation,
    /// The rule for forecasts that have grown old.
    pub drain: Drain,
    /// The bytes of a packet that count, in a tick of the receiver and in the sender's estimate of the queue.
    pub counting: Counting,
}

impl SproutForm {
    /// The form of the published program, which the paper measured.
    pub const PUBLISHED: Self = Self {
        is_ewma: false,
        saturation: Saturation::Both,
        drain: Drain::Cumulative,
        counting: Counting::Payload,
    };

    /// The number of forms.
    pub const COUNT: usize = 1 << OPTIONS.len();

    /// Returns the form's name for people.
    pub fn name(self) -> &'static str {
        &NAMES[self.number()]
    }

    /// Returns the form's number, below [`Self::COUNT`].
    pub fn number(self) -> usize {
        let options = [
            self.is_ewma,
            self.saturation == Saturation::One,
            self.drain == Drain::Cumulative,
            self.counting == Counting::Datagrams,
        ];
        let bits = options.iter().enumerate().map(|(bit, is_set)| usize::from(*is_set) << bit);
        bits.sum()
    }

    /// Runs a flow; `setting` is the confidence of the forecast or the gain of the average, in percent.
    pub fn run(self, setting: Option<f64>, options: FlowOptions) -> FlowReport {
        let config = Config { drain: self.drain, counting: self.counting, ..Config::new(PACKET) };
        if self.is_ewma {
            let gain = setting.map_or(MovingAverage::GAIN, |percent| percent / 100.0);
            let end = || MovingAverage::new(gain);
            return flow::run_sprout(config, [end(), end()], self.saturation, options).0;
        }
        let quantile = 1.0 - setting.unwrap_or(CONFIDENCE) / 100.0;
        let end = || Bayesian::with_quantile(quantile.clamp(0.0, 1.0));
        flow::run_sprout(config, [end(), end()], self.saturation, options).0
    }
}

/// A text that is no form of Sprout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no form of sprout")]
pub struct NoSuchForm(String);

impl TryFrom<String> for SproutForm {
    type Error = NoSuchForm;

    /// Reads `sprout` with options after it, such as `sprout-ewma-published`.
    fn try_from(text: String) -> Result<Self, NoSuchForm> {
        let none = || NoSuchForm(text.clone());
        let mut rest = text.strip_prefix("sprout").ok_or_else(none)?;
        let is_set = OPTIONS.map(|(option, _)| {
            let after = rest.strip_prefix(option);
            rest = after.unwrap_or(rest);
            after.is_some()
        });
        let [is_ewma, is_one_way, is_published, counts_datagrams] = is_set;
        if !rest.is_empty() {
            return Err(none());
        }
        Ok(Self {
            is_ewma,
            saturation: if is_one_way { Saturation::One } else { Saturation::Both },
            drain: if is_published { Drain::Cumulative } else { Drain::ByTick },
            counting: if counts_datagrams { Counting::Datagrams } else { Counting::Payload },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_follow_the_name_in_their_order() {
        let form = |text: &str| SproutForm::try_from(text.to_owned());
        for (text, name) in [
            ("sprout", "Sprout"),
            ("sprout-published", "Sprout, as published"),
            ("sprout-ewma-one-way", "Sprout-EWMA, one way"),
            ("sprout-published-datagrams", "Sprout, as published, headers counted"),
        ] {
            assert_eq!(form(text).map(SproutForm::name), Ok(name));
        }
        assert_eq!(form("sprout-published"), Ok(SproutForm::PUBLISHED));
        for text in ["sprout-", "sprout-ack", "sprout-published-ewma", "spr", ""] {
            assert!(form(text).is_err(), "{text}");
        }
    }
}
