//! Sprout-ACK: Sprout's forecast where only acknowledgments are seen, as by a QUIC sender.
//!
//! The acknowledgments are the link's deliveries, a return path later. The sender knows what is on its way and since when, which
//! tells a link that stands still from a flow that has nothing to send. The window is what the link acknowledges within a
//! round trip and a little more with a probability of 95 %. Losses do not shrink it: lost packets are never acknowledged, and that is seen.

use std::collections::VecDeque;
use std::sync::Arc;

use rove_units::{Bytes, Duration, Instant};

use crate::base_rtt::BaseRtt;
use crate::controller::{Ack, Controller, Loss};
use crate::sprout::belief::{Belief, Count};
use crate::sprout::endpoint::HEARTBEAT;
use crate::sprout::model::Model;
use crate::sprout::receiver::ticks;
use crate::sprout::{QUANTILE, Scale, TICK};

/// The time beyond a round trip within which a packet shall be acknowledged, on Sprout's grid. Chosen: Sprout has no more on its way than
/// goes through in 100 ms, counting what is not known to have arrived; over the 40 ms of its paper that is the same. docs/lab.md has figures.
const LOOK_AHEAD: Duration = Duration::from_millis(60);

/// The same on the wide grid, whose forecast is more cautious. Source: Sprout paper, section 3.4.
const LOOK_AHEAD_WIDE: Duration = Duration::from_millis(100);

/// Least window, in packets. Source: RFC 9002, section 7.2.
const WINDOW_PACKETS_MIN: u64 = 2;

/// The bytes that a window has room for beyond its whole packets: four heartbeats of 40 bytes, which take the place of no packet.
/// Chosen: without them a window of two packets lets one go while a heartbeat is on its way, and a link that stands still every moment
/// carries a quarter less (docs/lab.md); with two of them EVDO's downlink is not within 15 % of Sprout's.
const HEARTBEAT_ROOM: u64 = 160;

/// The round-trip time before any is known. Source: RFC 9002, section 6.2.2.
const INITIAL_RTT: Duration = Duration::from_millis(333);

/// Ticks that are followed one by one after a silence. Chosen: 20 s, after which nothing is left of what was believed.
const SILENT_TICKS_MAX: u64 = 1_000;

/// Most milliseconds in which packets were sent that are told apart. Chosen: 16 s of a round trip; those beyond it count as sent later.
const SENT_MAX: usize = 16_384;

/// Controls a flow by a forecast of its acknowledgments.
#[derive(Clone, Debug)]
pub struct SproutAck {
    packet: Bytes,
    /// How long a receiver may hold an acknowledgment.
    ack_delay: Duration,
    model: Arc<Model>,
    belief: Belief,
    base: BaseRtt,
    /// The beginning of the current tick; `None` before the first packet.
    tick: Option<Instant>,
    /// Bytes acknowledged in the current tick, with what no whole packet was made of before.
    acked: u64,
    /// Whether something was acknowledged in the current tick.
    is_acked: bool,
    sent: Outstanding,
    window: Bytes,
    /// The time beyond a round trip within which a packet shall be acknowledged.
    look_ahead: Duration,
}

/// The bytes that are neither acknowledged nor lost, by the millisecond in which they were sent.
#[derive(Clone, Debug, Default)]
struct Outstanding {
    bins: VecDeque<(u64, u64)>,
}

impl SproutAck {
    /// Creates a controller for full packets of this size, whose receiver holds acknowledgments for `ack_delay` at most.
    pub fn new(scale: Scale, packet: Bytes, ack_delay: Duration) -> Self {
        let model = Model::shared(scale);
        let look_ahead = match scale {
            Scale::Linear => LOOK_AHEAD,
            Scale::Wide => LOOK_AHEAD_WIDE,
        };
        let mut controller = Self {
            packet,
            ack_delay,
            belief: Belief::new(Arc::clone(&model)),
            model,
            base: BaseRtt::default(),
            tick: None,
            acked: 0,
            is_acked: false,
            sent: Outstanding::default(),
            window: Bytes::ZERO,
            look_ahead,
        };
        controller.set_window();
        controller
    }

    /// Returns how long an acknowledgment takes at least, and with the receiver's delay at most, over an empty queue.
    fn round_trip(&self) -> Duration {
        self.base.least().unwrap_or(INITIAL_RTT) + self.ack_delay
    }

    /// Lets all ticks that have ended by `now` go by.
    fn advance(&mut self, now: Instant) {
        let Some(mut tick) = self.tick else { return };
        let ended = now.saturating_since(tick).as_nanos() / TICK.as_nanos();
        if ended == 0 {
            return;
        }
        let ended = u64::try_from(ended).unwrap_or(u64::MAX);
        let followed = ended.min(SILENT_TICKS_MAX);
        for _ in 0..followed {
            tick += TICK;
            self.end_tick(tick);
        }
        self.tick = Some(tick + ticks(ended - followed));
        self.set_window();
    }

    fn end_tick(&mut self, end: Instant) {
        let packet = self.packet.get().max(1);
        let packets = u32::try_from(self.acked / packet).unwrap_or(u32::MAX);
        let is_acked = core::mem::take(&mut self.is_acked);
        let is_busy = self.sent.has_before(end - self.round_trip());
        self.acked %= packet;
        self.belief.tick(if is_busy {
            Some(Count::Exactly(packets))
        } else {
            // Every byte that could have come has come: the link may be faster.
            is_acked.then_some(Count::AtLeast(packets))
        });
    }

    fn set_window(&mut self) {
        let look_ahead = if self.base.is_probing() { Duration::ZERO } else { self.look_ahead };
        let horizon = self.round_trip() + look_ahead;
        let ticks = horizon.as_nanos().div_ceil(TICK.as_nanos());
        let ticks = usize::try_from(ticks).unwrap_or(usize::MAX);
        let last = self.window.get() / self.packet.get().max(1);
        let packets = self.model.quantile(self.belief.shares(), ticks, QUANTILE, last);
        let packets = packets.max(WINDOW_PACKETS_MIN);
        let whole = packets.saturating_mul(self.packet.get());
        self.window = Bytes::new(whole.saturating_add(HEARTBEAT_ROOM));
    }
}

impl Controller for SproutAck {
    fn on_start(&mut self, now: Instant) {
        self.advance(now);
        self.tick.get_or_insert(now);
    }

    fn on_sent(&mut self, now: Instant, size: Bytes, _: Bytes) {
        self.advance(now);
        self.tick.get_or_insert(now);
        self.sent.add(now.as_millis(), size.get());
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        self.advance(now);
        self.base.update(now, ack.rtt);
        self.sent.remove(ack.sent.as_millis(), ack.size.get());
        self.acked = self.acked.saturating_add(ack.size.get());
        self.is_acked = true;
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) {
        self.advance(now);
        self.sent.lose(loss.sent.as_millis(), loss.size.get());
        if loss.is_persistent {
            self.belief.reset_to_outage();
            self.set_window();
        }
    }

    fn on_tick(&mut self, now: Instant) {
        self.advance(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        // With nothing on its way the belief only spreads: that can wait for the next packet.
        self.tick.filter(|_| !self.sent.bins.is_empty()).map(|tick| tick + TICK)
    }

    fn on_mtu_update(&mut self, packet: Bytes) {
        self.packet = packet;
        self.set_window();
    }

    fn window(&self) -> Bytes {
        self.window
    }

    fn heartbeat(&self) -> Option<Duration> {
        Some(HEARTBEAT)
    }
}

impl Outstanding {
    fn add(&mut self, millis: u64, size: u64) {
        let is_full = self.bins.len() >= SENT_MAX;
        match self.bins.back_mut() {
            Some((last, bytes)) if *last >= millis || is_full => {
                *bytes = bytes.saturating_add(size)
            }
            _ => self.bins.push_back((millis, size)),
        }
    }

    fn remove(&mut self, millis: u64, size: u64) {
        let after = self.bins.partition_point(|(at, _)| *at <= millis);
        if let Some((_, bytes)) = after.checked_sub(1).and_then(|place| self.bins.get_mut(place)) {
            *bytes = bytes.saturating_sub(size);
        }
        self.forget_empty();
    }

    /// Removes lost bytes from the oldest that were sent up to a time: losses are told together.
    fn lose(&mut self, millis: u64, mut size: u64) {
        for (_, bytes) in self.bins.iter_mut().take_while(|(at, _)| *at <= millis) {
            let taken = size.min(*bytes);
            *bytes -= taken;
            size -= taken;
        }
        self.forget_empty();
    }

    fn forget_empty(&mut self) {
        while self.bins.front().is_some_and(|(_, bytes)| *bytes == 0) {
            self.bins.pop_front();
        }
    }

    fn has_before(&self, time: Instant) -> bool {
        self.bins.front().is_some_and(|(at, _)| *at < time.as_millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes::new(1_400);

    fn ack(sent: u64, now: u64) -> Ack {
        let [sent, now] = [sent, now].map(Instant::from_millis);
        let rtt = now.saturating_since(sent);
        Ack {
            sent,
            received: now,
            size: PACKET,
            rtt,
            in_flight: Bytes::ZERO,
            is_app_limited: false,
        }
    }

    #[test]
    fn the_first_window_is_that_of_the_prior() {
        let ack_delay = Duration::ZERO;
        let window = |scale| SproutAck::new(scale, PACKET, ack_delay).window().get() / 1_400;
        // 433 ms of the prior: the linear grid has no rate below 4 packets/s but the outage.
        assert!((10..40).contains(&window(Scale::Linear)), "{}", window(Scale::Linear));
        assert_eq!(window(Scale::Wide), 2);
    }

    #[test]
    fn silence_with_packets_on_their_way_closes_the_window_and_without_any_leaves_it() {
        for (is_silent, expected) in [(true, 2), (false, 10)] {
            let mut controller = SproutAck::new(Scale::Linear, PACKET, Duration::ZERO);
            for number in 0..200 {
                controller.on_sent(Instant::from_millis(5 * number), PACKET, Bytes::ZERO);
                controller.on_ack(
                    Instant::from_millis(5 * number + 40),
                    &ack(5 * number, 5 * number + 40),
                );
            }
            let end = Instant::from_millis(1_100);
            if is_silent {
                controller.on_sent(end, PACKET, PACKET);
            }
            controller.on_tick(end + Duration::from_millis(400));
            let packets = controller.window().get() / 1_400;
            assert!(if is_silent { packets == expected } else { packets > expected }, "{packets}");
        }
    }

    #[test]
    fn lost_bytes_are_taken_off_those_sent_before() {
        let mut sent = Outstanding::default();
        for millis in [1, 1, 2, 5] {
            sent.add(millis, 100);
        }
        sent.remove(2, 100);
        sent.lose(1, 150);
        assert_eq!(sent.bins, [(1, 50), (2, 0), (5, 100)]);
        sent.lose(9, 1_000);
        assert_eq!(sent.bins, []);
        (0..40_000).for_each(|millis| sent.add(millis, 1));
        assert_eq!(sent.bins.len(), SENT_MAX);
        sent.remove(0, 1);
        assert!(
            !sent.has_before(Instant::from_millis(1)) && sent.has_before(Instant::from_millis(2))
        );
    }
}
