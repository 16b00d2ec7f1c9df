//! How a session closes at this end, and how long a server lingers after that.
//!
//! An end that has acknowledged its peer's shutdown has nothing left to do. But the peer needs that acknowledgment to
//! know that the session is over. If this datagram is lost and this end is gone, the peer repeats its announcement, and
//! must finally assume that the session still runs. A server therefore lingers, as TCP does in TIME-WAIT (RFC 9293,
//! section 3.3.2). It acknowledges repeated announcements, because no user waits for a server to exit. A client exits
//! at once, because its user waits for the shell's prompt. Its server may then get no answer, but no user sees that. If
//! the path loses datagrams, each end sends its acknowledgment twice.

use rove_units::{Duration, Instant};

use crate::send_timing::SendTiming;
use crate::sender::ANNOUNCED_FOR;

/// How long a server still acknowledges its client's shutdown after the first acknowledgment. Chosen: a client of Mosh
/// 1.4.0 or rove announces its shutdown for at most 4.3 s. The announcements may be late.
const LINGER: Duration = Duration::from_secs(5);
const _: () = assert!(LINGER.as_millis() > ANNOUNCED_FOR.as_millis());

/// Highest loss on the way to the peer (a share from 0 to 1) at which one acknowledgment of the peer's shutdown is
/// enough. At more loss, this end acknowledges twice, and again for each later announcement. At less, it ignores the
/// announcements that were sent before the acknowledgment could arrive. Chosen: docs/timing.md, "The answer to the
/// announcement"; on a path that loses nothing, no extra datagram is sent.
const TRUSTED_LOSS: f64 = 0.01;

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// The peer acknowledged this end's shutdown.
    Acknowledged,
    /// The peer announced its shutdown, and this end has acknowledged it.
    ByPeer,
    /// The peer did not acknowledge this end's shutdown in time.
    Unacknowledged,
    /// This end has sealed as many blocks with the key as it may (2^47). It can send nothing more.
    KeyExhausted,
}

/// Whether and how the session has ended at this end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closing {
    is_server: bool,
    closed: Option<Closed>,
    linger: Option<Linger>,
    /// Whether this end has to acknowledge the peer's shutdown once more.
    is_owed: bool,
}

/// The time during which a server still acknowledges its client's shutdown.
#[derive(Clone, Copy, Debug)]
struct Linger {
    until: Instant,
    /// When the client's shutdown was last acknowledged.
    answered_at: Instant,
}

impl Closing {
    pub(crate) const fn new(is_server: bool) -> Self {
        Self { is_server, closed: None, linger: None, is_owed: false }
    }

    /// Records how the session has ended; only the first call counts.
    pub(crate) fn close(&mut self, closed: Closed) {
        if self.closed.is_none() {
            tracing::info!(?closed, "session closed");
            self.closed = Some(closed);
        }
    }

    /// Returns how the session has ended. `None` while it runs.
    pub(crate) const fn closed(&self) -> Option<Closed> {
        self.closed
    }

    /// Returns when a server stops acknowledging repeated shutdowns. `None` if this end does not linger.
    pub(crate) fn lingers_until(&self) -> Option<Instant> {
        self.linger.map(|linger| linger.until)
    }

    /// Called when this end has acknowledged the peer's shutdown, which ends the session.
    pub(crate) fn handle_acknowledged(&mut self, now: Instant, timing: &SendTiming) {
        if let Some(linger) = &mut self.linger {
            linger.answered_at = now;
        }
        if self.closed.is_none() && timing.config.acks.lingers {
            self.is_owed = !is_trusted(timing);
            let linger = Linger { until: now + LINGER, answered_at: now };
            self.linger = self.is_server.then_some(linger);
        }
        self.close(Closed::ByPeer);
    }

    /// Called for each announcement of the peer's shutdown. A lingering server answers if its last answer may be lost.
    pub(crate) fn handle_announced(&mut self, now: Instant, timing: &SendTiming) {
        let Some(linger) = self.linger else { return };
        self.is_owed |= !is_trusted(timing) || linger.answered_at + timing.rto <= now;
    }

    /// Stops acknowledging a client's shutdown once [`LINGER`] is over.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.linger = self.linger.filter(|linger| now < linger.until);
    }

    /// Returns whether to acknowledge the peer's shutdown one more time. The next call returns false.
    pub(crate) fn poll_answer(&mut self) -> bool {
        core::mem::take(&mut self.is_owed)
    }
}

/// Returns whether the path loses so few datagrams that an acknowledgment counts as received after a round trip.
fn is_trusted(timing: &SendTiming) -> bool {
    timing.path.loss_out <= TRUSTED_LOSS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::hello::Capabilities;
    use crate::rtt::RttEstimator;
    use crate::send_timing::PathView;

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    /// Calls `act` with the timing of a path: its round trip in ms, and the share of this end's datagrams that it loses.
    fn paced<T>(rtt: u64, loss_out: f64, act: impl FnOnce(&SendTiming) -> T) -> T {
        let config = Config::server();
        let mut estimator = RttEstimator::new();
        estimator.handle_sample(Instant::ZERO, Duration::from_millis(rtt), &config.rtt);
        let path = PathView { rtt_min: None, loss_out, loss_in: 0.0, contents_max: 1214 };
        act(&SendTiming::new(&config, &estimator, path, Capabilities::empty()))
    }

    /// Returns the state of an end that acknowledged its peer's shutdown at 1 s.
    fn acknowledged(is_server: bool, rtt: u64, loss_out: f64) -> Closing {
        let mut closing = Closing::new(is_server);
        paced(rtt, loss_out, |timing| closing.handle_announced(at(1_000), timing));
        assert!(!closing.poll_answer(), "the sender gives the first answer");
        paced(rtt, loss_out, |timing| closing.handle_acknowledged(at(1_000), timing));
        assert_eq!(closing.closed(), Some(Closed::ByPeer));
        closing
    }

    #[test]
    fn a_server_lingers_for_five_seconds_whatever_comes_and_a_client_never() {
        for rtt in [2, 100, 2_000] {
            let mut closing = acknowledged(true, rtt, 0.0);
            for now in (1_000..6_000).step_by(100) {
                assert_eq!(closing.lingers_until(), Some(at(6_000)), "{rtt} ms, at {now}");
                paced(rtt, 0.0, |timing| closing.handle_announced(at(now), timing));
                closing.handle_timeout(at(now));
            }
            closing.handle_timeout(at(6_000));
            assert_eq!(closing.lingers_until(), None);
            assert_eq!(acknowledged(false, rtt, 0.0).lingers_until(), None);
        }
    }

    #[test]
    fn an_announcement_is_answered_that_the_acknowledgment_should_have_ended() {
        // At a round trip of 100 ms, RTO is 300 ms.
        let mut closing = acknowledged(true, 100, 0.0);
        for (announced_at, is_answered) in
            [(1_050, false), (1_299, false), (1_300, true), (1_350, false), (1_600, true)]
        {
            paced(100, 0.0, |timing| closing.handle_announced(at(announced_at), timing));
            assert_eq!(closing.poll_answer(), is_answered, "at {announced_at}");
            if is_answered {
                paced(100, 0.0, |timing| closing.handle_acknowledged(at(announced_at), timing));
            }
            assert!(!closing.poll_answer(), "once");
        }
    }

    #[test]
    fn where_datagrams_are_lost_the_acknowledgment_goes_twice_and_with_each_announcement() {
        for is_server in [true, false] {
            for (loss_out, is_twice) in [(0.0, false), (0.01, false), (0.02, true)] {
                let mut closing = acknowledged(is_server, 100, loss_out);
                assert_eq!(closing.poll_answer(), is_twice, "{loss_out}");
                paced(100, loss_out, |timing| closing.handle_acknowledged(at(1_000), timing));
                assert!(!closing.poll_answer(), "not a third time");
                paced(100, loss_out, |timing| closing.handle_announced(at(1_050), timing));
                assert_eq!(closing.poll_answer(), is_twice && is_server, "{loss_out}");
            }
        }
    }

    #[test]
    fn a_session_ends_once_and_lingers_only_after_its_peer() {
        let mut closing = Closing::new(true);
        closing.close(Closed::Acknowledged);
        closing.close(Closed::Unacknowledged);
        paced(100, 0.0, |timing| closing.handle_acknowledged(at(1_000), timing));
        assert_eq!(closing.closed(), Some(Closed::Acknowledged));
        assert_eq!(closing.lingers_until(), None);
    }
}
