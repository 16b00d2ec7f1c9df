//! The pace of steady output on a far path that loses datagrams.
//!
//! Output that no recent key asked for, such as a log or a monitor, is not repeated, because the next frame contains
//! it. By the rules of Mosh 1.4.0 (stock), frames (sent diffs) are half a round trip apart. After a lost frame the peer
//! keeps an old screen for another half round trip, or until a timeout if the next frame starts from the lost one. On a
//! path that loses datagrams, the next frame is sent sooner, within a budget of bytes. It starts from the state whose
//! diff is worth most ([`ReferencePolicy::Bayesian`]). This is mostly the known receiver state. A lost frame then does
//! not affect others. Keys and their answers keep their own pace, and so do paths without loss or with a queue.
//!
//! [`ReferencePolicy::Bayesian`]: crate::ReferencePolicy::Bayesian

use rove_units::{Duration, Instant};

use super::budget::{Budget, on_the_path};
use crate::send_timing::SendTiming;

/// How long after the peer's last contents its user waits for an answer. Chosen: later output mostly has other causes.
const ANSWERED_AFTER: Duration = Duration::from_secs(1);

/// Highest loss, as a share from 0 to 1, at which steady output keeps the frame interval of Mosh. Chosen:
/// docs/timing.md, "Steady output". With 0.04, the 95th percentile of the time until a change shows is 0.62 of Mosh's
/// at 10 % loss, in place of 0.59.
const LOSS_MIN: f64 = 0.02;

/// Minimum excess of SRTT over the shortest round trip that shows a queue, which more frames would lengthen. Chosen:
/// docs/timing.md, "Steady output". For pages over 128 kbit/s and 500 ms at 5 % loss, the 95th percentile (see
/// [`LOSS_MIN`]) is 0.81 of Mosh's. It is 1.29 if only half of a round trip counts as a queue.
const QUEUE_MIN: Duration = Duration::from_millis(50);

/// The shortest round trip divided by this replaces [`QUEUE_MIN`] if the quotient is longer.
const QUEUE_DIVISOR: u32 = 8;

/// The frames of steady output, and the byte budget for frames that are sent sooner than Mosh would send them.
#[derive(Clone, Debug)]
pub(super) struct SteadyOutput {
    budget: Budget,
    /// Whether output is sent at the pace of steady output, as [`SteadyOutput::heed`] last decided.
    is_active: bool,
    /// Size of the newest frame with all its datagrams and their headers, in bytes.
    newest_len: u64,
    /// When the newest frame was sent.
    newest_at: Option<Instant>,
}

impl SteadyOutput {
    pub(super) const fn new(now: Instant) -> Self {
        Self { budget: Budget::new(now), is_active: false, newest_len: 0, newest_at: None }
    }

    /// Updates whether output is sent at the pace of steady output. The peer's last contents came at `heard_at`.
    pub(super) fn heed(&mut self, now: Instant, heard_at: Option<Instant>, timing: &SendTiming) {
        let is_awaited = heard_at.is_some_and(|at| now < at + ANSWERED_AFTER);
        self.is_active = timing.config.frames.steady_interval_max < timing.frame_interval
            && timing.path.loss_out > LOSS_MIN
            && !is_awaited
            && !timing.has_queue(QUEUE_MIN, QUEUE_DIVISOR);
    }

    pub(super) const fn is_active(&self) -> bool {
        self.is_active
    }

    /// Returns when the next frame of steady output may be sent before the frame interval ends. `None` if it may not.
    pub(super) fn next_frame(&self, timing: &SendTiming) -> Option<Instant> {
        let interval = timing.config.frames.steady_interval_max;
        let newest_at = self.newest_at.filter(|_| self.is_active)?;
        let extra = share(self.newest_len, interval, timing.frame_interval);
        Some((newest_at + interval).max(self.budget.affordable_at(extra)))
    }

    /// Called when a frame is sent in `datagrams` datagrams, with `contents` bytes in all.
    pub(super) fn handle_frame(
        &mut self,
        now: Instant,
        datagrams: usize,
        contents: usize,
        timing: &SendTiming,
    ) {
        let bytes = on_the_path(datagrams, contents);
        if let Some(before) = self.newest_at.replace(now).filter(|_| self.is_active) {
            let extra = share(bytes, now.saturating_since(before), timing.frame_interval);
            self.budget.spend(now, extra);
        }
        self.newest_len = bytes;
    }
}

/// Returns how many of a frame's `bytes` are charged to the budget. All are charged if no time has `elapsed` since the
/// previous frame. After a frame interval, the charge is zero.
fn share(bytes: u64, elapsed: Duration, frame_interval: Duration) -> u64 {
    let early = frame_interval.saturating_sub(elapsed).as_nanos();
    let part = u128::from(bytes) * early / frame_interval.as_nanos().max(1);
    u64::try_from(part).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::hello::Capabilities;
    use crate::rtt::RttEstimator;
    use crate::send_timing::PathView;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Calls `look` with the timing on a path whose round trips take `rtt`, the shortest of them `rtt_min`.
    fn with_timing<T>(
        rtt: u64,
        rtt_min: u64,
        loss_out: f64,
        look: impl FnOnce(&SendTiming) -> T,
    ) -> T {
        let config = Config::server();
        let mut estimator = RttEstimator::new();
        estimator.handle_sample(Instant::ZERO, ms(rtt), &config.rtt);
        let path =
            PathView { rtt_min: Some(ms(rtt_min)), loss_out, loss_in: 0.0, contents_max: 1214 };
        look(&SendTiming::new(&config, &estimator, path, Capabilities::empty()))
    }

    /// Sends frames of `len` bytes for 20 s, each as soon as allowed. Returns their number.
    fn frames(rtt: u64, rtt_min: u64, loss: f64, heard_at: Option<Instant>, len: usize) -> usize {
        let mut steady = SteadyOutput::new(Instant::ZERO);
        with_timing(rtt, rtt_min, loss, |timing| {
            let (mut now, mut frames) = (Instant::ZERO, 0);
            while now < Instant::from_millis(20_000) {
                steady.heed(now, heard_at, timing);
                steady.handle_frame(now, 1, len, timing);
                frames += 1;
                let next = now + timing.frame_interval;
                now = steady.next_frame(timing).map_or(next, |sooner| sooner.min(next));
            }
            frames
        })
    }

    #[test]
    fn frames_are_closer_where_datagrams_get_lost_on_a_far_path() {
        for (rtt, rtt_min, loss, expected) in [
            (500, 500, 0.1, 250),
            (500, 500, 0.02, 80),
            (500, 500, 0.0, 80),
            (150, 150, 0.1, 267),
            (500, 430, 0.1, 80),
            (500, 440, 0.1, 80),
            (500, 450, 0.1, 250),
            (2_000, 1_800, 0.5, 250),
        ] {
            let name = format!("{rtt} ms, shortest {rtt_min} ms, loss {loss}");
            assert_eq!(frames(rtt, rtt_min, loss, None, 60), expected, "{name}");
        }
    }

    #[test]
    fn while_a_key_may_be_answered_the_pace_is_that_of_answers() {
        let mut steady = SteadyOutput::new(Instant::ZERO);
        with_timing(500, 500, 0.1, |timing| {
            for (now, is_active) in [(5_000, false), (5_999, false), (6_000, true)] {
                steady.heed(Instant::from_millis(now), Some(Instant::from_millis(5_000)), timing);
                assert_eq!(steady.is_active(), is_active, "{now}");
            }
        });
    }

    #[test]
    fn frames_that_come_sooner_cost_no_more_than_the_budget() {
        // The budget earns 64,000 bytes in 20 s and begins with 6,400. Headers add 66 bytes to each frame.
        for (len, beyond) in [(400, 70_400 / 466), (1_000, 70_400 / 1_066), (60_000, 1)] {
            let frames = frames(500, 500, 0.1, None, len);
            let most = 80 + beyond;
            assert!(
                frames <= most && frames + 3 > most.min(250),
                "{frames} of {most}, {len} bytes"
            );
        }
    }

    #[test]
    fn the_rules_of_stock_know_no_steady_output() {
        let config = Config::server().stock();
        let mut estimator = RttEstimator::new();
        estimator.handle_sample(Instant::ZERO, ms(500), &config.rtt);
        let path =
            PathView { rtt_min: Some(ms(500)), loss_out: 0.5, loss_in: 0.0, contents_max: 1214 };
        let timing = SendTiming::new(&config, &estimator, path, Capabilities::empty());
        let mut steady = SteadyOutput::new(Instant::ZERO);
        steady.heed(Instant::ZERO, None, &timing);
        assert!(!steady.is_active());
    }
}
