//! The receiving half: arrivals counted by ticks, what has come or is lost, and the forecast made of that.

use std::collections::BTreeMap;

use rove_units::{Bytes, Duration, Instant};

use crate::numbers::in_packets;
use crate::sprout::estimator::Estimator;
use crate::sprout::packet::{Feedback, Packet};
use crate::sprout::terms::{Forecast, TICK};

/// Ticks that are followed one by one after a silence; the estimator sees no more of a longer one.
/// Chosen: 20 s, after which nothing is left of what was believed.
const SILENT_TICKS_MAX: u64 = 1_000;

/// Most packets held above the throwaway mark; the lowest are written off beyond it. Chosen: 10 ms of 2 Gbit/s.
const HELD_MAX: usize = 2_048;

/// Counts what arrives.
#[derive(Clone, Debug)]
pub struct Receiver<E> {
    estimator: E,
    /// The size that counts as a packet.
    packet: Bytes,
    /// The beginning of the current tick; `None` before the first packet.
    tick: Option<Instant>,
    /// From when on a tick without arrivals says that the link stood still: the sender has broken its promise then.
    score_from: Instant,
    /// The packets that came in the current tick, with fractions.
    count: f64,
    /// The sequence number before which every byte has come or is lost.
    written_off: u64,
    /// Packets from there on, by their sequence number.
    held: BTreeMap<u64, Bytes>,
}

impl<E: Estimator> Receiver<E> {
    /// Creates a receiver that has heard nothing.
    pub const fn new(estimator: E, packet: Bytes) -> Self {
        Self {
            estimator,
            packet,
            tick: None,
            score_from: Instant::ZERO,
            count: 0.0,
            written_off: 0,
            held: BTreeMap::new(),
        }
    }

    /// Counts a packet. A copy, or a packet that is too late, counts as an arrival all the same: the link has carried it.
    pub fn handle_packet(&mut self, now: Instant, packet: &Packet) {
        self.advance(now);
        let tick = *self.tick.get_or_insert(now);
        self.count += in_packets(packet.len(), self.packet);
        self.score_from = self.score_from.max(tick + packet.time_to_next);
        if packet.sequence >= self.written_off {
            self.held.insert(packet.sequence, packet.len());
        }
        let mark = packet.sequence.saturating_sub(packet.throwaway.into());
        self.write_off(mark);
        while self.held.len() > HELD_MAX {
            let Some((&lowest, _)) = self.held.first_key_value() else { break };
            self.write_off(lowest.saturating_add(1));
        }
    }

    /// Lets all ticks that have ended go by.
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

    /// Returns the tick that a forecast would be made at, in ms.
    pub fn current_tick(&self) -> Option<u64> {
        self.tick.map(Instant::as_millis)
    }

    /// Returns when the current tick ends.
    pub fn tick_ends(&self) -> Option<Instant> {
        // Strictly after the end, as `advance` has it.
        self.tick.map(|tick| tick + TICK + Duration::from_nanos(1))
    }

    /// Returns the forecast.
    pub fn forecast(&self) -> Forecast {
        Forecast::of(self.estimator.forecast(), self.packet)
    }

    /// Returns what the peer is told; `None` before the first packet.
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

/// Returns how long so many ticks take.
pub(crate) fn ticks(count: u64) -> Duration {
    let tick = u64::try_from(TICK.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(tick.saturating_mul(count))
}
