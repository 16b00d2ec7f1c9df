//! A link that changes with time: a list of configs with their durations.

use core::ops::Range;

use rove_units::{BitRate, Bytes, Duration, Instant};

use crate::config::{Distribution, Drops, LinkConfig, Order};

/// Bytes of the Ethernet header, which a token bucket counts with each IP packet. Source: tc-tbf(8) counts the bytes
/// that the device sends, and an Ethernet header has 14 bytes.
const ETHERNET_HEADER: Bytes = Bytes::new(14);

/// Most packets in netem's delay line. Source: tc-netem(8), `limit`.
const NETEM_PACKETS_MAX: usize = 1_000;

/// Smallest token bucket, in bytes. Chosen: a full packet with its header, and some room.
const BURST_MIN: Bytes = Bytes::new(1_600);

/// Size of the smallest token bucket, as a time at its rate. Chosen: a timer tick of the slowest kernels.
const BURST_TIME: Duration = Duration::from_millis(10);

/// Longest wait of a packet for tokens. The queue holds as many bytes as pass in this time. Chosen: the `latency` of
/// the examples in tc-tbf(8).
const QUEUE_LATENCY: Duration = Duration::from_millis(400);

/// The parameters of netem for one direction of the path, during one step of a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Netem {
    /// Mean delay of the direction.
    pub delay: Duration,
    /// Standard deviation of the delay.
    pub jitter: Duration,
    /// Probability that a packet is lost.
    pub loss: f64,
    /// Rate of the token bucket. `None`: no limit.
    pub rate: Option<BitRate>,
}

impl From<Netem> for LinkConfig {
    /// Returns a link that acts like Linux's netem followed by a token bucket (tbf). Losses are independent. Delays are
    /// normally distributed and reorder packets, in a line of at most 1000 packets. With a rate, a bucket for 10 ms (at
    /// least 1600 bytes) and a queue for 400 ms more follow. The queue counts 14 bytes of Ethernet header per packet.
    fn from(netem: Netem) -> Self {
        let bytes_in = |time: Duration| {
            let bits = netem.rate.map_or(0, BitRate::bits_per_second);
            let bytes = u128::from(bits) * time.as_nanos() / 8_000_000_000;
            Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX))
        };
        let burst = BURST_MIN.max(bytes_in(BURST_TIME));
        Self {
            order: Order::LossDelayQueue,
            delay: netem.delay,
            jitter: netem.jitter,
            jitter_distribution: Distribution::Normal,
            reorder: true,
            drops: Drops { line_packets_max: Some(NETEM_PACKETS_MAX), ..Drops::default() },
            loss: netem.loss,
            rate: netem.rate,
            burst: netem.rate.map(|_| burst),
            queue_max: netem.rate.map_or(Bytes::MAX, |_| bytes_in(QUEUE_LATENCY) + burst),
            overhead: ETHERNET_HEADER,
            ..Self::default()
        }
    }
}

/// A sequence of a link's configs, each with its duration. The last config applies for ever.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    first: LinkConfig,
    /// The configs after `first`, each with its start. The latest config comes first.
    later: Vec<(Instant, LinkConfig)>,
}

impl Steps {
    /// Creates a sequence from configs and their durations, from the start of the run on. `None` if there is no config.
    /// The duration of the last config is ignored.
    pub fn new(steps: impl IntoIterator<Item = (Duration, LinkConfig)>) -> Option<Self> {
        let mut steps = steps.into_iter();
        let (duration, first) = steps.next()?;
        let mut begin = Instant::ZERO + duration;
        let mut later = Vec::new();
        for (duration, config) in steps {
            later.push((begin, config));
            begin += duration;
        }
        later.reverse();
        Some(Self { first, later })
    }

    /// Applies a change to every config.
    #[must_use]
    pub fn map(self, mut change: impl FnMut(LinkConfig) -> LinkConfig) -> Self {
        let first = change(self.first);
        let later = self.later.into_iter().map(|(begin, config)| (begin, change(config))).collect();
        Self { first, later }
    }

    /// Returns the config at the start of the run.
    pub const fn first(&self) -> &LinkConfig {
        &self.first
    }

    /// Returns the configs between two times of the run, each with the part of this time in which it applies.
    pub fn between(
        &self,
        time: Range<Instant>,
    ) -> impl Iterator<Item = (Range<Instant>, &LinkConfig)> {
        let later = self.later.iter().rev().map(|(begin, config)| (*begin, config));
        let ends = later.clone().map(|(begin, _)| begin).chain([Instant::FAR_FUTURE]);
        let steps = core::iter::once((Instant::ZERO, &self.first)).chain(later).zip(ends);
        let parts = steps
            .map(move |((begin, config), end)| (begin.max(time.start)..end.min(time.end), config));
        parts.filter(|(part, _)| part.start < part.end)
    }

    /// Returns when the next step begins. `None` if the last step has begun.
    pub(crate) fn next_change(&self) -> Option<Instant> {
        self.later.last().map(|(begin, _)| *begin)
    }

    /// Removes and returns the next config, with its start, if it starts by `now`.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Instant, LinkConfig)> {
        self.later.pop_if(|(begin, _)| *begin <= now)
    }
}

impl From<LinkConfig> for Steps {
    /// Creates a link that never changes.
    fn from(config: LinkConfig) -> Self {
        Self { first: config, later: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_begin_when_those_before_them_are_over() {
        let step = |millis| {
            (Duration::from_millis(millis), LinkConfig::lossless(Duration::from_millis(millis)))
        };
        let mut steps = Steps::new([step(10), step(0), step(30), step(5)]).unwrap();
        assert_eq!(steps.first().delay, Duration::from_millis(10));
        let begins: Vec<_> = core::iter::from_fn(|| steps.pop(Instant::FAR_FUTURE))
            .map(|(begin, config)| (begin.as_millis(), config.delay.as_millis()))
            .collect();
        assert_eq!(begins, [(10, 0), (10, 30), (40, 5)]);
        let steps = Steps::new([step(10), step(0), step(30), step(5)]).unwrap();
        let parts = steps.between(Instant::from_millis(4)..Instant::from_millis(50));
        let parts: Vec<_> =
            parts.map(|(part, config)| (part.end.as_millis(), config.delay.as_millis())).collect();
        assert_eq!(parts, [(10, 10), (40, 30), (50, 5)]);
        assert_eq!(Steps::new([]), None);
    }

    #[test]
    fn a_netem_step_has_its_bucket_and_queue_from_the_rate() {
        let rate = BitRate::from_bits_per_second(8_000_000);
        let fast = LinkConfig::from(Netem { rate, ..Netem::default() });
        assert_eq!(fast.burst, Some(Bytes::new(10_000)));
        assert_eq!(fast.queue_max, Bytes::new(410_000));
        let rate = BitRate::from_bits_per_second(8_000);
        let slow = LinkConfig::from(Netem { rate, ..Netem::default() });
        assert_eq!((slow.burst, slow.queue_max), (Some(Bytes::new(1_600)), Bytes::new(2_000)));
        let free = LinkConfig::from(Netem::default());
        assert_eq!((free.burst, free.queue_max), (None, Bytes::MAX));
    }
}
