//! The receiving half of a Sprout end: counts arrivals by ticks and lost bytes, and makes a forecast.

use std::collections::BTreeMap;

use rove_units::{Bytes, Duration, Instant};

use crate::numbers::in_packets;
use crate::sprout::config::Config;
use crate::sprout::estimator::Estimator;
use crate::sprout::packet::{Feedback, Packet};
use crate::sprout::terms::{Forecast, TICK};

/// Most ticks of a silence that are passed to the estimator. Further ticks are skipped. Chosen: 20 s, after which the
/// estimate no longer depends on earlier arrivals.
const SILENT_TICKS_MAX: u64 = 1_000;

/// Most arrived packets that a receiver holds because bytes before them are missing. With more, the bytes missing
/// before the first of these packets count as lost. Chosen: 10 ms of 2 Gbit/s.
const HELD_MAX: usize = 2_048;

/// The receiving half of a Sprout end, which counts arrivals.
#[derive(Clone, Debug)]
pub struct Receiver<E> {
    estimator: E,
    config: Config,
    /// The start of the current tick. `None` before the first packet.
    tick: Option<Instant>,
    /// The time by which the sender has promised a packet. From then on, a tick without arrivals shows a stalled link.
    score_from: Instant,
    /// The packets that arrived in the current tick, with fractions.
    count: f64,
    /// The sequence number before which every byte has arrived or counts as lost.
    written_off: u64,
    /// The sizes of packets that arrived beyond `written_off`, by sequence number.
    held: BTreeMap<u64, Bytes>,
}

impl<E: Estimator> Receiver<E> {
    /// Creates a receiver that has received nothing.
    pub const fn new(estimator: E, config: Config) -> Self {
        Self {
            estimator,
            config,
            tick: None,
            score_from: Instant::ZERO,
            count: 0.0,
            written_off: 0,
            held: BTreeMap::new(),
        }
    }

    /// Counts a packet. A duplicated or late packet counts too, because the link has carried it.
    pub fn handle_packet(&mut self, now: Instant, packet: &Packet) {
        self.advance(now);
        let tick = *self.tick.get_or_insert(now);
        let counted = self.config.counted(packet);
        self.count += in_packets(counted, self.config.tick_packet());
        self.score_from = self.score_from.max(tick + packet.time_to_next);
        if packet.sequence >= self.written_off {
            self.held.insert(packet.sequence, counted);
        }
        let mark = packet.sequence.saturating_sub(packet.throwaway.into());
        self.write_off(mark);
        while self.held.len() > HELD_MAX {
            let Some((&lowest, _)) = self.held.first_key_value() else { break };
            self.write_off(lowest.saturating_add(1));
        }
        debug_assert!(self.held.len() <= HELD_MAX, "few packets are held");
    }

    /// Passes the ticks that have ended by `now` to the estimator, at most `SILENT_TICKS_MAX`.
    pub fn advance(&mut self, now: Instant) {
        let Some(mut tick) = self.tick else { return };
        let ended = now.saturating_since(tick).as_nanos() / TICK.as_nanos();
        let beyond = u64::try_from(ended).unwrap_or(u64::MAX).saturating_sub(SILENT_TICKS_MAX);
        let mut left_out = ticks(beyond);
        while tick + TICK < now {
            let is_scored = tick >= self.score_from || self.count > 0.0;
            self.estimator.tick(is_scored.then_some(self.count));
            self.count = 0.0;
            tick += TICK + left_out;
            left_out = Duration::ZERO;
        }
        self.tick = Some(tick);
    }

    /// Returns the start of the current tick, in ms of this end's clock. `None` before the first packet.
    pub fn current_tick(&self) -> Option<u64> {
        self.tick.map(Instant::as_millis)
    }

    /// Returns when the current tick ends. `None` before the first packet.
    pub fn tick_ends(&self) -> Option<Instant> {
        // The nanosecond is added because `advance` ends a tick only after the tick's last instant.
        self.tick.map(|tick| tick + TICK + Duration::from_nanos(1))
    }

    /// Returns the forecast of the bytes that arrive in the next ticks.
    pub fn forecast(&self) -> Forecast {
        Forecast::of(self.estimator.forecast(), self.config.forecast_packet())
    }

    /// Returns the report for the peer. `None` before the first packet.
    pub fn feedback(&self) -> Option<Feedback> {
        let tick = self.current_tick()?;
        let held: Bytes = self.held.values().copied().sum();
        let received_or_lost = self.written_off.saturating_add(held.get());
        Some(Feedback { received_or_lost, tick, forecast: self.forecast() })
    }

    fn write_off(&mut self, mark: u64) {
        if mark > self.written_off {
            self.written_off = mark;
            self.held = self.held.split_off(&mark);
        }
    }
}

pub(crate) fn ticks(count: u64) -> Duration {
    let tick = u64::try_from(TICK.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(tick.saturating_mul(count))
}
