//! The mechanisms that Mosh 1.4.0 does not have. An experiment may switch each of them off to measure its worth.
//! Contents are an instruction's diff.

use crate::config::Config;

/// A mechanism of an end that can be switched off individually.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mechanism {
    /// Small contents (diffs) are sent several times on a path that loses datagrams.
    Repetition,
    /// Contents (diffs) that arrive again are acknowledged again.
    SecondAck,
    /// On a path that loses little, acknowledgments wait longer for another instruction to carry them.
    LateAck,
    /// A session's first contents (diffs) are soon sent again while the peer has acknowledged nothing.
    FirstContact,
    /// The frame interval delays new contents (diffs) less than in Mosh 1.4.0.
    News,
    /// The frames of steady output follow each other sooner on a path that loses datagrams.
    Steady,
    /// New contents are sent after a shorter collection time if no further change comes.
    Collection,
    /// Heartbeats become rare while there is nothing to send.
    Quiet,
    /// Round trips of more than 5 s are measured, and timeouts allow for round trips of more than a second.
    FarPath,
    /// The size of datagrams is adapted to the path.
    PathSize,
    /// The peer's shutdown is acknowledged again if the acknowledgment may be lost.
    Linger,
}

impl Mechanism {
    /// All mechanisms.
    pub const ALL: [Self; 11] = [
        Self::Repetition,
        Self::SecondAck,
        Self::LateAck,
        Self::FirstContact,
        Self::News,
        Self::Steady,
        Self::Collection,
        Self::Quiet,
        Self::FarPath,
        Self::PathSize,
        Self::Linger,
    ];
}

impl Config {
    /// Returns this configuration with the timing of Mosh 1.4.0 and without a hello.
    #[must_use]
    pub fn stock(self) -> Self {
        let bare = Mechanism::ALL.into_iter().fold(self, Self::without);
        Self { capabilities: None, ..bare }
    }

    /// Returns this configuration with `mechanism` switched off: its fields have the values of a Mosh 1.4.0 server.
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
            let bare = Mechanism::ALL.into_iter().fold(config.clone(), Config::without);
            // A stock end of this role has the same collection delay. The other two fields matter only between two
            // roves.
            let mut stock = Config {
                loss_report_interval: config.loss_report_interval,
                ..Config::STOCK_SERVER
            };
            stock.frames.collection_delay = config.frames.collection_delay;
            stock.frames.news_interval_late = config.frames.news_interval_late;
            assert_eq!(bare, stock);
        }
    }
}
