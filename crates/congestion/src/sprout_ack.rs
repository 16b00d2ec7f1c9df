//! Sprout-ACK: Sprout's forecast for a sender that observes only acknowledgments, such as a QUIC sender.
//!
//! The acknowledgments show the link's deliveries, later by the delay of the return path. The sender knows how many
//! bytes are in flight and since when. So it distinguishes a stalled link from a flow that has nothing to send. The
//! window is the number of bytes that are acknowledged, with a probability of 95 %, within a round trip and a little
//! more. A loss does not shrink the window by itself, but the forecast counts the missing acknowledgments.

mod backlog;

use std::sync::Arc;

use rove_units::{Bytes, Duration, Instant};

use crate::base_rtt::BaseRtt;
use crate::controller::{Ack, Controller, Loss};
use crate::sprout::Count;
use crate::sprout::Scale;
use crate::sprout::belief::Belief;
use crate::sprout::endpoint::HEARTBEAT;
use crate::sprout::model::Model;
use crate::sprout::receiver::ticks;
use crate::sprout::{QUANTILE, TICK};

use self::backlog::Backlog;

/// Time beyond a round trip within which the packets in flight should be acknowledged. Chosen: this project's limits
/// for each recorded link, compared with Sprout, are 15 % less throughput and 20 ms more self-inflicted delay. With 15
/// ms, EVDO down carries 17 % less. With 25 ms, Verizon LTE up has 21 ms more delay.
const LOOK_AHEAD: Duration = Duration::from_millis(20);

/// Delay beyond a round trip above which a packet must have waited in a queue. Chosen: cellular links often carry
/// nothing for some 10 ms, so a shorter delay may be the wait for the next delivery opportunity.
const QUEUE: Duration = Duration::from_millis(30);

/// Share of a tick for which packets must have queued. The tick's acknowledgments then count as all that the link could
/// carry. Chosen: nearly the whole tick. If the queue runs dry, the link may be faster.
const BUSY_SHARE: f64 = 0.9;

/// Time beyond a round trip after which an unacknowledged packet shrinks the window to its minimum, because the
/// forecast was wrong. Chosen: [`LOOK_AHEAD`], and a tick for the age of the forecast.
const LATE: Duration = Duration::from_millis(40);

/// Least window, in packets. Source: RFC 9002, section 7.2.
const WINDOW_PACKETS_MIN: u64 = 2;

/// Bytes of a window beyond its whole packets: two heartbeats of 40 bytes. Chosen: without this room, a window of two
/// packets sends only one while a heartbeat is in flight. Links that often stall then carry a sixth less, and EVDO's
/// links carry 26 and 25 % less than with Sprout.
const HEARTBEAT_ROOM: u64 = 80;

/// The round-trip time assumed before the first sample. Source: RFC 9002, section 6.2.2.
const INITIAL_RTT: Duration = Duration::from_millis(333);

/// Most ticks of a silence that update the belief. Chosen: 20 s, after which the belief depends on no older ticks.
const SILENT_TICKS_MAX: u64 = 1_000;

/// A congestion controller that forecasts the acknowledgments of its flow.
#[derive(Clone, Debug)]
pub struct SproutAck {
    packet: Bytes,
    /// The longest time for which the receiver holds an acknowledgment.
    ack_delay: Duration,
    model: Arc<Model>,
    belief: Belief,
    base: BaseRtt,
    /// The start of the current tick. `None` before the first packet.
    tick: Option<Instant>,
    /// Bytes acknowledged in the current tick, with the part of a packet that earlier ticks left over.
    acked: u64,
    /// Whether something was acknowledged in the current tick.
    is_acked: bool,
    sent: Backlog,
    window: Bytes,
}

impl SproutAck {
    /// Creates a controller for full packets of size `packet`. A receiver holds acknowledgments for at most
    /// `ack_delay`.
    pub fn new(scale: Scale, packet: Bytes, ack_delay: Duration) -> Self {
        let model = Model::shared(scale);
        let mut controller = Self {
            packet,
            ack_delay,
            belief: Belief::new(Arc::clone(&model)),
            model,
            base: BaseRtt::default(),
            tick: None,
            acked: 0,
            is_acked: false,
            sent: Backlog::default(),
            window: Bytes::ZERO,
        };
        controller.set_window(Instant::ZERO);
        controller
    }

    /// Returns the longest time to an acknowledgment without a queue. It includes the receiver's longest delay.
    fn round_trip(&self) -> Duration {
        self.base.least().unwrap_or(INITIAL_RTT) + self.ack_delay
    }

    /// Passes the ticks that have ended by `now` to the belief, at most [`SILENT_TICKS_MAX`].
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
        self.set_window(now);
    }

    fn end_tick(&mut self, end: Instant) {
        let packet = self.packet.get().max(1);
        let packets = u32::try_from(self.acked / packet).unwrap_or(u32::MAX);
        let is_acked = core::mem::take(&mut self.is_acked);
        self.sent.watch(end, self.round_trip() + QUEUE);
        let is_busy = self.sent.take_late() >= TICK.mul_f64(BUSY_SHARE);
        self.acked %= packet;
        self.belief.tick(if is_busy {
            Some(Count::Exactly(packets))
        } else {
            // The queue was empty in a part of this tick, so the link may be faster.
            is_acked.then_some(Count::AtLeast(packets))
        });
    }

    fn set_window(&mut self, now: Instant) {
        let is_late = self.sent.has_older(now, self.round_trip() + LATE);
        let packets = if is_late { 0 } else { self.forecast() };
        let packets = packets.max(WINDOW_PACKETS_MIN);
        let whole = packets.saturating_mul(self.packet.get());
        self.window = Bytes::new(whole.saturating_add(HEARTBEAT_ROOM));
    }

    /// Returns how many packets are forecast to be acknowledged within a round trip and the look-ahead.
    fn forecast(&self) -> u64 {
        let look_ahead = if self.base.is_probing() { Duration::ZERO } else { LOOK_AHEAD };
        let time = self.round_trip() + look_ahead;
        let ticks = usize::try_from(time.as_nanos() / TICK.as_nanos()).unwrap_or(usize::MAX);
        let last = self.window.get() / self.packet.get().max(1);
        let within = |ticks| self.model.quantile(self.belief.shares(), ticks, QUANTILE, last);
        let [before, after] = [ticks, ticks.saturating_add(1)].map(within);
        // The time ends within a tick, so a part of this tick's packets counts.
        let part = u64::try_from(time.as_nanos() % TICK.as_nanos()).unwrap_or(0);
        let tick = u64::try_from(TICK.as_nanos()).unwrap_or(u64::MAX);
        before.saturating_add(after.saturating_sub(before).saturating_mul(part) / tick)
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
        self.sent.watch(now, self.round_trip() + QUEUE);
        self.sent.remove(ack.sent.as_millis(), ack.size.get());
        self.acked = self.acked.saturating_add(ack.size.get());
        self.is_acked = true;
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) {
        self.advance(now);
        self.sent.watch(now, self.round_trip() + QUEUE);
        self.sent.lose(loss.sent.as_millis(), loss.size.get());
        if loss.is_persistent {
            self.belief.reset_to_outage();
            self.set_window(now);
        }
    }

    fn on_tick(&mut self, now: Instant) {
        self.advance(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        // With nothing in flight the belief only spreads, which can be computed at the next packet.
        self.tick.filter(|_| !self.sent.is_empty()).map(|tick| tick + TICK)
    }

    fn on_mtu_update(&mut self, packet: Bytes) {
        self.packet = packet;
        self.set_window(self.tick.unwrap_or(Instant::ZERO));
    }

    fn window(&self) -> Bytes {
        self.window
    }

    fn heartbeat(&self) -> Option<Duration> {
        Some(HEARTBEAT)
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
        // The forecast is for 353 ms without observation. Only the wide grid has rates from 2 to 4 packets/s.
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

    /// Feeds a controller 500 packets a second, up to 2 s. Acknowledgments are `wait` ms late. The acknowledgment of
    /// the packet sent at `missing` ms is lost.
    fn fed(wait: u64, missing: u64) -> SproutAck {
        let mut controller = SproutAck::new(Scale::Linear, PACKET, Duration::ZERO);
        let mut calls: Vec<(u64, Option<u64>)> = vec![(0, None), (40, Some(0))];
        for sent in (100..2_000).step_by(2) {
            calls.extend([(sent, None), (sent + 40 + wait, Some(sent))]);
        }
        calls.retain(|(now, sent)| *now <= 2_000 && *sent != Some(missing));
        calls.sort_unstable();
        for (now, sent) in calls {
            match sent {
                None => controller.on_sent(Instant::from_millis(now), PACKET, Bytes::ZERO),
                Some(sent) => controller.on_ack(Instant::from_millis(now), &ack(sent, now)),
            }
        }
        controller
    }

    #[test]
    fn only_a_queue_that_stands_shows_what_the_link_carries_at_most() {
        let window = |wait| fed(wait, u64::MAX).window().get() / PACKET.get();
        let [short, standing] = [25, 35].map(window);
        assert!((15..=30).contains(&standing), "{standing} packets of ten a tick");
        assert!(short > standing + 3, "{short} packets where the link may be faster, {standing}");
    }

    #[test]
    fn an_acknowledgment_that_is_too_late_closes_the_window_until_it_comes() {
        let least = 2 * PACKET.get() + HEARTBEAT_ROOM;
        // `age` ends at the start of the last tick. The limit is a round trip, `LATE` and the millisecond of sending.
        for (age, is_late) in [(80, false), (82, true)] {
            let missing = 2_000 - age;
            let mut controller = fed(10, missing);
            assert_eq!(controller.window().get() == least, is_late, "{age} ms");
            controller.on_ack(Instant::from_millis(2_001), &ack(missing, 2_001));
            controller.on_tick(Instant::from_millis(2_020));
            assert!(controller.window().get() > least, "{age} ms: it has come");
        }
    }
}
