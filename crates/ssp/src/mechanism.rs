//! The mechanisms that make an end faster than stock Mosh. Contents are an instruction's diff. An experiment may switch
//! each of them off to measure its worth.

use core::str::FromStr;

use crate::config::Config;

/// A part of the sender that can be switched off by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mechanism {
    /// Small contents are sent several times on a path that loses datagrams.
    Repetition,
    /// Contents that arrive again are acknowledged again.
    SecondAck,
    /// Acknowledgments wait longer for something to travel with on a path that loses little.
    LateAck,
    /// First contents are sent again soon while the peer has acknowledged nothing.
    FirstContact,
    /// New contents wait less for the frame interval.
    News,
    /// The frames of steady output follow each other sooner on a path that loses datagrams.
    Steady,
    /// New contents are collected for a shorter time when no further change comes.
    Collection,
    /// Heartbeats become rare while there is nothing to send.
    Quiet,
    /// Round trips of more than a second are measured and waited for.
    FarPath,
    /// The size of datagrams is adapted to the path.
    PathSize,
    /// The peer's shutdown is acknowledged again where the acknowledgment may be lost.
    Linger,
}

/// The error of a text that names no mechanism.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no mechanism {0:?} of the sender")]
pub struct UnknownMechanism(String);

/// Each mechanism with its name and description, in the order of [`Mechanism`].
#[rustfmt::skip]
const TABLE: [(Mechanism, &str, &str); 11] = [
    (Mechanism::Repetition, "repetition", "small contents sent several times on a path that loses datagrams"),
    (Mechanism::SecondAck, "second-ack", "contents that arrive again acknowledged again"),
    (Mechanism::LateAck, "late-ack", "acknowledgments that wait longer for company where little is lost"),
    (Mechanism::FirstContact, "first-contact", "first contents sent again soon until something is acknowledged"),
    (Mechanism::News, "news", "new contents that wait less for the frame before"),
    (Mechanism::Steady, "steady", "steady output that comes sooner on a far path that loses datagrams"),
    (Mechanism::Collection, "collection", "new contents that wait less for company where no more comes"),
    (Mechanism::Quiet, "quiet", "heartbeats that become rare while there is nothing to say"),
    (Mechanism::FarPath, "far-path", "round trips of more than a second measured and waited for"),
    (Mechanism::PathSize, "path-size", "datagrams as large as the path takes"),
    (Mechanism::Linger, "linger", "the end of a session acknowledged again where that may be lost"),
];

impl Mechanism {
    /// Returns all mechanisms, in the order of tables.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(mechanism, ..)| *mechanism)
    }

    /// Returns the mechanism's name in command lines.
    pub const fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Returns a phrase that says what the mechanism does, for help texts.
    pub const fn description(self) -> &'static str {
        TABLE[self as usize].2
    }
}

impl FromStr for Mechanism {
    type Err = UnknownMechanism;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::all().find(|mechanism| mechanism.name() == name);
        found.ok_or_else(|| UnknownMechanism(name.to_owned()))
    }
}

impl Config {
    /// Returns this configuration with the timing of Mosh 1.4.0 and without a hello.
    #[must_use]
    pub fn stock(self) -> Self {
        let bare = Mechanism::all().fold(self, Self::without);
        Self { capabilities: None, ..bare }
    }

    /// Returns this configuration with `mechanism` switched off: its numbers are those of Mosh 1.4.0.
    #[must_use]
    pub const fn without(mut self, mechanism: Mechanism) -> Self {
        let stock = Self::STOCK_SERVER;
        match mechanism {
            Mechanism::Repetition => self.repetition.repeats = stock.repetition.repeats,
            Mechanism::SecondAck => self.acks.acknowledges_again = stock.acks.acknowledges_again,
            Mechanism::LateAck => {
                self.acks.delay_late = stock.acks.delay_late;
                self.acks.grace_late = stock.acks.grace_late;
            }
            Mechanism::FirstContact => {
                self.repetition.says_again_at_first = stock.repetition.says_again_at_first;
            }
            Mechanism::News => {
                self.frames.news_interval_max = stock.frames.news_interval_max;
                self.frames.held_interval_max = stock.frames.held_interval_max;
                self.frames.answer_frames = stock.frames.answer_frames;
            }
            Mechanism::Steady => self.frames.steady_interval_max = stock.frames.steady_interval_max,
            Mechanism::Collection => self.frames.quiet_delay = stock.frames.quiet_delay,
            Mechanism::Quiet => self.heartbeat.interval_max = stock.heartbeat.interval_max,
            Mechanism::FarPath => {
                self.heartbeat.interval_far_max = stock.heartbeat.interval_far_max;
                self.rtt.rto_far_max = stock.rtt.rto_far_max;
                self.rtt.rtt_max = stock.rtt.rtt_max;
            }
            Mechanism::PathSize => self.path.tries_sizes = stock.path.tries_sizes,
            Mechanism::Linger => self.acks.lingers = stock.acks.lingers,
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_without_any_mechanism_has_the_pace_of_stock() {
        for config in [Config::client(), Config::server()] {
            let bare = Mechanism::all().fold(config.clone(), Config::without);
            // The first is stock's own, and the others count between two roves only.
            let mut stock = Config {
                loss_report_interval: config.loss_report_interval,
                ..Config::STOCK_SERVER
            };
            stock.frames.collection_delay = config.frames.collection_delay;
            stock.frames.news_interval_late = config.frames.news_interval_late;
            assert_eq!(bare, stock);
        }
    }

    #[test]
    fn each_mechanism_has_a_name_of_its_own() {
        for mechanism in Mechanism::all() {
            assert_eq!(mechanism.name().parse(), Ok(mechanism));
        }
        assert!("nothing".parse::<Mechanism>().is_err());
    }
}
