//! Spreads the packets of a window over a round trip (RFC 9002, section 7.7), or by the controller's own spacing.

use rove_congestion::Controller;
use rove_units::{Duration, Instant};

/// Time by which a flow may be ahead of its pace, so that it can send bursts. Chosen: the coarseness of an event loop's
/// timer. On a slow link, where each packet takes longer, packets go one by one. With bursts of three packets, keys
/// would wait 36 ms at 1 Mbit/s.
const AHEAD: Duration = Duration::from_millis(2);

/// The pace in windows per round trip, as numerator and denominator. It is above 1, so that a flow can use its whole
/// window. Source: RFC 9002, section 7.7.
const GAIN: (u32, u32) = (5, 4);

/// Decides when the next packet may be sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    /// When the next packet would be sent at a steady pace.
    next: Instant,
}

impl Pacer {
    /// Returns when the next packet may be sent: [`AHEAD`] before its time at a steady pace.
    pub(crate) fn next(&self) -> Instant {
        self.next - AHEAD
    }

    /// Records a sent packet, after which the pace demands a pause of `interval`.
    pub(crate) fn handle_sent(&mut self, now: Instant, interval: Duration) {
        self.next = self.next.max(now) + interval;
    }
}

/// Returns the time between full packets of `packet` bytes; zero if packets may follow each other at once.
pub(crate) fn interval(
    controller: &dyn Controller,
    packet: u64,
    srtt: Option<Duration>,
) -> Duration {
    let own = controller.spacing();
    let (false, Some(srtt)) = (own > Duration::ZERO, srtt) else { return own };
    let window = controller.window().get().max(packet);
    let nanos = srtt.as_nanos() * u128::from(packet) * u128::from(GAIN.1);
    let nanos = nanos / (u128::from(window) * u128::from(GAIN.0));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rove_congestion::new_reno::NewReno;
    use rove_units::Bytes;

    #[test]
    fn a_window_is_spread_over_a_little_less_than_the_round_trip() {
        let controller = NewReno::new(Bytes::new(1_000));
        let interval = |srtt| interval(&controller, 1_000, srtt);
        assert_eq!(interval(None), Duration::ZERO);
        let pace = interval(Some(Duration::from_millis(100)));
        assert_eq!(pace, Duration::from_millis(8), "ten packets in 80 ms");
        let (mut pacer, mut now) = (Pacer::default(), Instant::from_millis(1_000));
        let sends: Vec<u64> = (0..8)
            .map(|_| {
                now = now.max(pacer.next());
                pacer.handle_sent(now, pace);
                now.as_millis() - 1_000
            })
            .collect();
        assert_eq!(sends, [0, 6, 14, 22, 30, 38, 46, 54], "one by one");
        let (mut pacer, fast) = (Pacer::default(), pace / 16);
        let burst = (0..8).take_while(|_| {
            pacer.next() <= now && {
                pacer.handle_sent(now, fast);
                true
            }
        });
        assert_eq!(burst.count(), 5, "2 ms of half a millisecond each, and the one that is due");
    }
}
