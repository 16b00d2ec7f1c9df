//! Loss and duplication: decides by a packet's number whether the packet passes, is doubled or is lost.

use rove_units::Stream;

use crate::config::LinkConfig;
use crate::gilbert_elliott::Channel;
use crate::item::{DropCause, Fate};

/// Decides which packets are lost and which are duplicated.
#[derive(Clone, Debug)]
pub(crate) struct Loss {
    loss: Stream,
    duplicate: Stream,
    channel: Channel,
    /// Number of packets that are still to be lost because of `drop_next`.
    doomed: u64,
}

impl Loss {
    pub(crate) fn new(loss: Stream, duplicate: Stream, channel: Stream) -> Self {
        Self { loss, duplicate, channel: Channel::new(channel), doomed: 0 }
    }

    /// Drops the next `count` packets, whatever the random draws say.
    pub(crate) fn drop_next(&mut self, count: u64) {
        self.doomed = count;
    }

    /// Returns whether packet `number` passes, is doubled or is lost. Call this once for each packet, in order.
    pub(crate) fn fate(&mut self, config: &LinkConfig, number: u64) -> Fate {
        // The Gilbert-Elliott channel changes its state at every packet, even at a packet lost for another reason.
        let bursts = config.drops.gilbert_elliott.as_ref();
        let is_in_burst = bursts.is_some_and(|model| self.channel.loses(model, number));
        if self.doomed > 0 {
            self.doomed -= 1;
            return Fate::Lost(DropCause::Loss);
        }
        if config.loss > 0.0 && self.loss.at(number).chance(config.loss) {
            return Fate::Lost(DropCause::Loss);
        }
        if is_in_burst {
            return Fate::Lost(DropCause::BurstLoss);
        }
        if config.duplicate > 0.0 && self.duplicate.at(number).chance(config.duplicate) {
            return Fate::Doubled;
        }
        Fate::Passes
    }
}

#[cfg(test)]
mod tests {
    use rove_units::Seed;

    use super::*;

    fn loss() -> Loss {
        let chance = Seed::new(6).stream("loss");
        Loss::new(chance.fork(0), chance.fork(1), chance.fork(2))
    }

    fn lost(config: &LinkConfig, count: u64) -> Vec<bool> {
        let mut loss = loss();
        (0..count).map(|number| matches!(loss.fate(config, number), Fate::Lost(_))).collect()
    }

    #[test]
    fn independent_losses_are_within_the_binomial_interval_and_come_in_random_runs() {
        let probability = 0.29;
        let config = LinkConfig { loss: probability, ..LinkConfig::default() };
        let lost = lost(&config, 1_000_000);
        let count = f64::from(lost.iter().map(|lost| u32::from(*lost)).sum::<u32>());
        let deviation = (1e6 * probability * (1.0 - probability)).sqrt();
        assert!((count - 1e6 * probability).abs() < 3.3 * deviation, "{count} lost");
        // The runs test of Wald and Wolfowitz.
        let changes = lost.windows(2).map(|pair| u32::from(pair[0] != pair[1])).sum::<u32>();
        let runs = f64::from(changes) + 1.0;
        let both = 2.0 * count * (1e6 - count);
        let expected = both / 1e6 + 1.0;
        let variance = both * (both - 1e6) / (1e12 * (1e6 - 1.0));
        assert!(
            (runs - expected).abs() < 3.3 * variance.sqrt(),
            "{runs} runs, {expected} expected"
        );
    }

    #[test]
    fn nothing_is_lost_at_zero_and_everything_at_one() {
        let wire = LinkConfig::default();
        assert!(lost(&wire, 10_000).iter().all(|lost| !lost));
        assert!(lost(&LinkConfig::outage(), 10_000).iter().all(|lost| *lost));
    }

    #[test]
    fn packets_lost_on_request_change_nothing_for_those_after_them() {
        let config = LinkConfig { loss: 0.3, duplicate: 0.3, ..LinkConfig::default() };
        let (mut plain, mut doomed) = (loss(), loss());
        doomed.drop_next(5);
        for number in 0..200 {
            let fate = doomed.fate(&config, number);
            let expected = plain.fate(&config, number);
            assert_eq!(fate, if number < 5 { Fate::Lost(DropCause::Loss) } else { expected });
        }
    }
}
