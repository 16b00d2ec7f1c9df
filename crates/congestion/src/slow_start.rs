//! Slow start, and HyStart++, which ends slow start before a queue has grown (RFC 9406).

use rove_units::{Bytes, Duration, Instant};

use crate::controller::Ack;
use crate::packet_window::{INITIAL, PacketWindow};
use crate::rounds::{Round, Rounds};

/// Least and greatest value of the growth of the round-trip time that shows a queue. Source: RFC 9406, section 4.3.
const GROWTH: [Duration; 2] = [Duration::from_millis(4), Duration::from_millis(16)];

/// Divisor of the RTT: growth by the quotient shows a queue, within [`GROWTH`]. Source: RFC 9406, `MIN_RTT_DIVISOR`.
const RTT_DIVISOR: u32 = 8;

/// Least number of samples of a round trip from which its delay can show a queue. Source: RFC 9406, `N_RTT_SAMPLE`.
const SAMPLES: u32 = 8;

/// Divisor of the window's growth during conservative slow start (CSS). Source: RFC 9406, `CSS_GROWTH_DIVISOR`.
const CONSERVATIVE_DIVISOR: u64 = 4;

/// Round trips of conservative slow start (CSS), after which slow start ends. Source: RFC 9406, `CSS_ROUNDS`.
const CONSERVATIVE_ROUNDS: u32 = 5;

/// How a flow begins: the size of its first window, and the rule of its slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    /// The first window, in packets.
    pub packets: u32,
    /// Whether HyStart++ may end slow start; otherwise only a loss does.
    pub has_hystart: bool,
}

impl Begin {
    /// A first window of ten packets (RFC 6928), and HyStart++.
    pub const MODERN: Self = Self { packets: INITIAL, has_hystart: true };

    /// A first window of two packets, and slow start until a loss (RFC 2581; ns-2 in publications up to 2014).
    pub const CLASSIC: Self = Self { packets: 2, has_hystart: false };
}

impl Default for Begin {
    fn default() -> Self {
        Self::MODERN
    }
}

/// The slow start of a flow, which grows its window by the acknowledged bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlowStart {
    begin: Begin,
    rounds: Rounds,
    last_rtt: Option<Duration>,
    conservative: Option<Conservative>,
}

/// Conservative slow start: round trips of slow growth that confirm whether the queue grows.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// The round-trip time when conservative slow start began. A lower sample shows that there is no queue.
    baseline: Duration,
    rounds: u32,
}

impl SlowStart {
    pub(crate) fn new(begin: Begin) -> Self {
        Self { begin, ..Self::default() }
    }

    pub(crate) const fn begin(&self) -> Begin {
        self.begin
    }

    /// Begins slow start again, after persistent congestion.
    pub(crate) fn restart(&mut self) {
        *self = Self::new(self.begin);
    }

    /// Grows the window by an acknowledgment. Returns whether the acknowledgment ends slow start.
    pub(crate) fn grow(&mut self, now: Instant, ack: &Ack, window: &mut PacketWindow) -> bool {
        let is_over = self.begin.has_hystart && self.follow(now, ack);
        let divisor = if self.conservative.is_some() { CONSERVATIVE_DIVISOR } else { 1 };
        window.packets += window.packets_in(Bytes::new(ack.size.get() / divisor));
        if is_over {
            window.end_slow_start();
        }
        is_over
    }

    /// Counts the acknowledgment's sample. Returns whether the queue has grown for so long that slow start must end.
    fn follow(&mut self, now: Instant, ack: &Ack) -> bool {
        let mut is_over = false;
        if let Some(Round { rtt, .. }) = self.rounds.update(now, ack.sent, ack.rtt) {
            self.last_rtt = rtt;
            if let Some(conservative) = &mut self.conservative {
                conservative.rounds += 1;
                is_over = conservative.rounds >= CONSERVATIVE_ROUNDS;
            }
        }
        let current = self.rounds.current();
        if let (Some(rtt), true) = (current.rtt, current.samples >= SAMPLES) {
            self.judge(rtt);
        }
        is_over
    }

    fn judge(&mut self, rtt: Duration) {
        match (self.conservative, self.last_rtt) {
            (Some(conservative), _) if rtt < conservative.baseline => self.conservative = None,
            (None, Some(last)) => {
                let growth = (last / RTT_DIVISOR).clamp(GROWTH[0], GROWTH[1]);
                if rtt >= last + growth {
                    self.conservative = Some(Conservative { baseline: rtt, rounds: 0 });
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::new_reno::NewReno;
    use crate::tests::{PACKET, Path};

    #[test]
    fn slow_start_ends_when_the_round_trip_time_grows_although_nothing_is_lost() {
        // The path carries 100 packets in a round trip of 100 ms. The window of 160 is the first to queue.
        let mut path = Path::with_rate(NewReno::new(PACKET), 100, 1_000);
        let windows = path.windows(30);
        assert_eq!(windows[..5], [10, 20, 40, 80, 160]);
        assert!(windows[29] < 700 && windows[29] == windows[28] + 1, "{windows:?}");
        let mut free = Path::new(NewReno::new(PACKET), 100);
        assert_eq!(free.windows(12)[11], 10 << 11, "without a queue it does not");
        let mut classic = Path::with_rate(NewReno::with_begin(PACKET, Begin::CLASSIC), 100, 1_000);
        assert_eq!(classic.windows(12)[11], 2 << 11, "only a loss ends the older one");
        classic.lose();
        assert_eq!(classic.windows(2), [2 << 11, (2 << 11) + 1]);
    }
}
