//! Decides when a client opens a new local port, and when it closes the older ones.
//!
//! A NAT or firewall may have forgotten the flow, or block it. A new port makes a new flow. The older ports stay open
//! for a while, because answers may still arrive at them.

use rove_units::Instant;

use crate::config::{OPEN_PORTS_MAX, PathConfig};

/// The number of a client's open ports, and when it last changed its port. The driver holds the sockets.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortHop {
    hopped_at: Instant,
    roundtrip_at: Option<Instant>,
    /// When the client last began to send datagrams that the server answers, after a time in which the client only
    /// answered heartbeats. `None` if there was no such time.
    asked_at: Option<Instant>,
    /// Whether the newest datagram was only an answer to a heartbeat, to which the server does not reply.
    is_resting: bool,
    open: usize,
    hops: u64,
}

impl PortHop {
    /// Starts with one port, which the driver has opened.
    pub(crate) fn new(now: Instant) -> Self {
        Self { hopped_at: now, open: 1, ..Self::default() }
    }

    /// Records that the datagram sent at `sent_at` has been answered.
    pub(crate) fn handle_roundtrip(&mut self, sent_at: Instant) {
        self.roundtrip_at = self.roundtrip_at.max(Some(sent_at));
    }

    /// Returns whether to open a new port, because nothing was answered for a time. Call this after each datagram sent.
    /// `is_answer` tells whether the datagram was only an answer to a heartbeat, to which the server does not reply.
    pub(crate) fn hops(&mut self, now: Instant, is_answer: bool, config: &PathConfig) -> bool {
        let was_resting = core::mem::replace(&mut self.is_resting, is_answer);
        if is_answer {
            return false;
        }
        if was_resting {
            self.asked_at = Some(now);
        }
        let is_long_ago = |at| now.saturating_since(at) > config.hop_interval;
        let hops = is_long_ago(self.hopped_at)
            && self.roundtrip_at.is_none_or(is_long_ago)
            && self.asked_at.is_none_or(is_long_ago);
        if hops {
            self.hopped_at = now;
            self.open += 1;
            self.hops += 1;
        }
        hops
    }

    /// Returns how many times the client has changed its local port.
    pub(crate) const fn count(&self) -> u64 {
        self.hops
    }

    /// Returns how many ports to keep open, or `None` if all may stay. Call this after each new port, and after each
    /// authentic datagram that arrives.
    pub(crate) fn prune(&mut self, now: Instant, config: &PathConfig) -> Option<usize> {
        let outlived = now.saturating_since(self.hopped_at) > config.old_ports_kept;
        let keep = if outlived { 1 } else { OPEN_PORTS_MAX };
        if self.open <= keep {
            return None;
        }
        self.open = keep;
        Some(keep)
    }
}

#[cfg(test)]
mod tests {
    use rove_units::Duration;

    use super::*;
    use crate::config::Config;

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn a_hop_needs_both_the_port_and_the_last_round_trip_to_be_old() {
        let config = Config::client().path;
        for (roundtrip, now, hops) in [
            (None, 10_000, false),
            (None, 10_001, true),
            (Some(1), 10_001, false),
            (Some(1), 10_002, true),
            (Some(50_000), 60_000, false),
        ] {
            let mut ports = PortHop::new(at(0));
            roundtrip.into_iter().for_each(|sent| ports.handle_roundtrip(at(sent)));
            assert_eq!(ports.hops(at(now), false, &config), hops, "{roundtrip:?} {now}");
            assert!(!ports.hops(at(now), false, &config), "it never hops twice at once");
        }
    }

    #[test]
    fn answers_open_no_port_and_a_question_after_them_has_its_time() {
        let config = Config::client().path;
        let mut ports = PortHop::new(at(0));
        ports.handle_roundtrip(at(1_000));
        for second in 2..100 {
            assert!(!ports.hops(at(1_000 * second), true, &config), "{second}");
        }
        for (now, hops) in [(100_000, false), (103_000, false), (110_000, false), (110_001, true)] {
            assert_eq!(ports.hops(at(now), false, &config), hops, "{now}");
        }
    }

    #[test]
    fn ten_ports_stay_open_and_the_eleventh_closes_the_oldest() {
        let config = Config::client().path;
        let mut ports = PortHop::new(at(0));
        for hop in 1..=20 {
            let now = at(hop * 12_000);
            assert!(ports.hops(now, false, &config));
            let open = usize::try_from(hop).expect("small") + 1;
            let expected = (open > OPEN_PORTS_MAX).then_some(OPEN_PORTS_MAX);
            assert_eq!(ports.prune(now, &config), expected, "hop {hop}");
        }
    }

    #[test]
    fn old_ports_close_once_the_newest_is_over_a_minute_old() {
        let config = Config::client().path;
        let mut ports = PortHop::new(at(0));
        assert!(ports.hops(at(12_000), false, &config));
        let minute_later = at(12_000) + Duration::from_secs(60);
        assert_eq!(ports.prune(minute_later, &config), None);
        assert_eq!(ports.prune(minute_later + Duration::from_millis(1), &config), Some(1));
        assert_eq!(ports.prune(minute_later + Duration::from_secs(9), &config), None);
    }
}
