//! Losses in bursts by the two-state channel of Gilbert (1960) and Elliott (1963).

use rove_units::Stream;

/// A channel with a good and a bad state, each with its own probability of loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// Probability, at each packet, that a good channel turns bad.
    pub p_bad: f64,
    /// Probability, at each packet, that a bad channel turns good.
    pub p_good: f64,
    /// Probability that a packet is lost in the bad state.
    pub loss_bad: f64,
    /// Probability that a packet is lost in the good state.
    pub loss_good: f64,
}

/// The state of a Gilbert-Elliott channel.
///
/// The channel starts in the good state. At each packet that enters, lost or not, a random draw with the packet's
/// number decides whether the state changes. So the state at packet `n` depends only on draws 0 to `n`, not on times.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    transition: Stream,
    loss: Stream,
    is_bad: bool,
}

impl Channel {
    pub(crate) fn new(chance: Stream) -> Self {
        Self { transition: chance.fork(0), loss: chance.fork(1), is_bad: false }
    }

    /// Draws the change of state at packet `number`, and returns whether the packet is lost. Call this for all packets
    /// in order.
    pub(crate) fn loses(&mut self, model: &GilbertElliott, number: u64) -> bool {
        let change = if self.is_bad { model.p_good } else { model.p_bad };
        self.is_bad ^= self.transition.at(number).chance(change);
        let loss = if self.is_bad { model.loss_bad } else { model.loss_good };
        self.loss.at(number).chance(loss)
    }
}

#[cfg(test)]
mod tests {
    use rove_units::Seed;

    use super::*;

    const MODEL: GilbertElliott =
        GilbertElliott { p_bad: 0.01, p_good: 0.2, loss_bad: 0.5, loss_good: 0.001 };

    fn losses(model: &GilbertElliott, count: u64) -> Vec<bool> {
        let mut channel = Channel::new(Seed::new(4).stream("channel"));
        (0..count).map(|number| channel.loses(model, number)).collect()
    }

    #[test]
    fn losses_come_as_often_as_the_stationary_chain_says() {
        let lost: u32 = losses(&MODEL, 1_000_000).into_iter().map(u32::from).sum();
        let share = f64::from(lost) / 1e6;
        // The standard deviation of the share is 0.0005, the chain's correlation included.
        let bad = MODEL.p_bad / (MODEL.p_bad + MODEL.p_good);
        let mean = bad * MODEL.loss_bad + (1.0 - bad) * MODEL.loss_good;
        assert!((share - mean).abs() < 0.002, "{share} against {mean}");
    }

    #[test]
    fn bursts_are_as_long_as_the_bad_state_lasts() {
        let all = GilbertElliott { p_bad: 0.01, p_good: 0.25, loss_bad: 1.0, loss_good: 0.0 };
        let losses = losses(&all, 200_000);
        let lost = losses.iter().filter(|lost| **lost).count();
        let bursts = losses.windows(2).filter(|pair| pair == &[false, true]).count();
        let tenths = lost * 10 / bursts;
        assert!(
            (38..=42).contains(&tenths),
            "mean burst of {tenths} tenths of a packet, 40 expected"
        );
    }

    #[test]
    fn a_channel_that_never_turns_bad_loses_as_the_good_state_does() {
        let model = GilbertElliott { p_bad: 0.0, p_good: 0.0, loss_bad: 1.0, loss_good: 0.0 };
        assert!(losses(&model, 1_000).iter().all(|lost| !lost));
    }
}
