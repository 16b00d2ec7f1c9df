//! The announcement that a session ends. Every instruction carries it until the peer has acknowledged it or this end
//! gives up.
//!
//! An announcement is an instruction whose state has the last number, [`StateNum::SHUTDOWN`]. Mosh 1.4.0 (stock) sends
//! 16 of them, a frame interval apart. On a near path they are over in 0.33 s, and a busy computer may take longer to
//! answer. On a path that loses nothing, rove waits for longer, and sends only the first announcements at this
//! interval. On other paths the peer's only acknowledgment may have been lost, so announcements keep Mosh's interval.
//!
//! [`StateNum::SHUTDOWN`]: crate::num::StateNum::SHUTDOWN

use rove_units::{Duration, Instant};

use crate::send_timing::SendTiming;

/// Number of announcements of the shutdown before this end may close without an answer. Source: Mosh 1.4.0.
const TRIES_MAX: u32 = 16;

/// Shortest time from the shutdown's first announcement until this end closes without an answer, on a path that loses
/// nothing. Chosen: as long as [`TRIES_MAX`] announcements take on a path without a measured round trip.
pub(crate) const PATIENCE: Duration = Duration::from_secs(4);

/// On a path that loses nothing, this many announcements are each followed by another after a frame interval. Further
/// announcements are the largest frame interval apart. Chosen: a peer that has not answered five of them is busy.
const QUICK_TRIES: u32 = 4;

/// Highest loss of the peer's datagrams, as a share from 0 to 1, at which this end waits for a busy peer's
/// acknowledgment. Chosen: a lost acknowledgment costs a wait of 4 s, which is 40 ms in the mean at this loss.
const ANSWER_LOSS: f64 = 0.01;

/// The time when this end began to announce its shutdown, and the number of announcements.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shutdown {
    /// When this end began to shut down; `None` before that.
    since: Option<Instant>,
    tries: u32,
}

impl Shutdown {
    /// Starts the shutdown of this end. Later calls do nothing.
    pub(crate) fn start(&mut self, now: Instant) {
        self.since.get_or_insert(now);
    }

    pub(crate) const fn is_started(&self) -> bool {
        self.since.is_some()
    }

    pub(super) fn handle_announced(&mut self) {
        self.tries += 1;
    }

    /// Returns the time from the newest announcement to the next one.
    pub(super) fn interval(&self, timing: &SendTiming) -> Duration {
        // On a path that loses nothing, a peer that does not answer at once is busy, or is unreachable for a moment.
        let is_quick = self.tries <= QUICK_TRIES || !expects_answer(timing);
        if is_quick { timing.frame_interval } else { timing.config.frames.interval_max }
    }

    /// Returns when to close unacknowledged, if nothing is sent after `last_sent_at`. `None` without a shutdown.
    pub(super) fn gives_up_at(
        &self,
        last_sent_at: Instant,
        timing: &SendTiming,
    ) -> Option<Instant> {
        let since = self.since?;
        let timeout = since + timing.config.shutdown_timeout;
        // The peer gets the time to answer the last announcement, too.
        let tried_out = last_sent_at + self.interval(timing);
        let patience = if expects_answer(timing) { PATIENCE } else { Duration::ZERO };
        let tried_out = tried_out.max(since + patience);
        let has_tried = self.tries >= TRIES_MAX;
        Some(if has_tried { timeout.min(tried_out) } else { timeout })
    }
}

/// Returns whether the path loses so little that the acknowledgment, which Mosh sends only once, probably arrives.
fn expects_answer(timing: &SendTiming) -> bool {
    timing.path.loss_in <= ANSWER_LOSS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::hello::Capabilities;
    use crate::rtt::RttEstimator;
    use crate::send_timing::PathView;

    /// Announces the shutdown to a peer that never answers. Returns the times of the announcements in ms, and when this
    /// end gives up. The path has this round trip, and loses this share of the peer's datagrams.
    fn announce(rtt_ms: u64, loss_in: f64) -> (Vec<u64>, u64) {
        let config = Config::client();
        let mut rtt = RttEstimator::new();
        rtt.handle_sample(Instant::ZERO, Duration::from_millis(rtt_ms), &config.rtt);
        let path = PathView { rtt_min: None, loss_out: 0.0, loss_in, contents_max: 1214 };
        let timing = SendTiming::new(&config, &rtt, path, Capabilities::empty());
        let mut shutdown = Shutdown::default();
        shutdown.start(Instant::ZERO);
        let (mut now, mut times) = (Instant::ZERO, Vec::new());
        loop {
            times.push(now.as_millis());
            shutdown.handle_announced();
            let gives_up_at = shutdown.gives_up_at(now, &timing).expect("it has started");
            let next = now + shutdown.interval(&timing);
            if gives_up_at <= next {
                return (times, gives_up_at.as_millis());
            }
            now = next;
        }
    }

    #[test]
    fn where_much_is_lost_the_end_is_announced_sixteen_times_a_frame_interval_apart() {
        for (rtt_ms, interval) in [(2, 20), (100, 50), (800, 250)] {
            let times: Vec<u64> = (0..16).map(|at| at * interval).collect();
            assert_eq!(announce(rtt_ms, 0.05), (times, 16 * interval), "{rtt_ms} ms");
        }
    }

    #[test]
    fn a_peer_that_loses_nothing_has_four_seconds_however_near_it_is() {
        let (times, gives_up_at) = announce(2, 0.0);
        assert_eq!(times[..7], [0, 20, 40, 60, 80, 330, 580]);
        assert_eq!((times.len(), gives_up_at), (20, 4_080));
        let (times, gives_up_at) = announce(800, 0.01);
        assert_eq!((times.len(), gives_up_at), (16, 4_000));
    }

    #[test]
    fn an_end_that_cannot_be_announced_gives_up_after_ten_seconds() {
        let config = Config::client();
        let rtt = RttEstimator::new();
        let path = PathView { rtt_min: None, loss_out: 0.0, loss_in: 0.0, contents_max: 1214 };
        let timing = SendTiming::new(&config, &rtt, path, Capabilities::empty());
        let mut shutdown = Shutdown::default();
        assert_eq!(shutdown.gives_up_at(Instant::ZERO, &timing), None);
        shutdown.start(Instant::from_millis(500));
        shutdown.start(Instant::from_millis(900));
        assert!(shutdown.is_started());
        let gives_up_at = shutdown.gives_up_at(Instant::ZERO, &timing);
        assert_eq!(gives_up_at, Some(Instant::from_millis(10_500)));
    }
}
