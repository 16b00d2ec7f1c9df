//! The sending half of a Sprout end: estimates the queue before the link, and how many more bytes may be sent.

use std::collections::VecDeque;

use rove_units::{Bytes, Duration, Instant};

use crate::sprout::config::{Config, Drain};
use crate::sprout::packet::{Feedback, SEQUENCE_OVERHEAD};
use crate::sprout::terms::{FORECAST_TICKS, Forecast, LOOK_AHEAD_TICKS, TICK};

/// Two packets sent at least this long apart are assumed to arrive in order. Source: Sprout paper, section 3.4.
const REORDERING: Duration = Duration::from_millis(10);

/// Most sent packets whose times are kept. With more, the throwaway window is too short. Chosen: 10 ms of 5 Gbit/s.
const RECENT_MAX: usize = 4_096;

/// The sending half of a Sprout end, which decides how much is sent.
#[derive(Clone, Debug)]
pub struct Sender {
    config: Config,
    /// The sequence number of the next byte.
    sequence: u64,
    /// Sequence number and send time of the packets of the last 10 ms, oldest first.
    recent: VecDeque<(u64, Instant)>,
    forecast: Forecast,
    forecast_at: Instant,
    /// The tick of the newest report of the receiver. `None` before the first.
    newest: Option<u64>,
    /// Number of ticks of the forecast whose deliveries were subtracted from `queue`.
    drained: usize,
    /// The bytes that wait before the link, as far as the sender knows.
    queue: u64,
}

impl Sender {
    /// Creates a sender that begins with `forecast`.
    pub const fn new(config: Config, forecast: Forecast, now: Instant) -> Self {
        Self {
            config,
            sequence: 0,
            recent: VecDeque::new(),
            forecast,
            forecast_at: now,
            newest: None,
            drained: 0,
            queue: 0,
        }
    }

    /// Adopts the forecast of a report. A report that is not new, or counts bytes that were never sent, is ignored.
    pub fn handle_feedback(&mut self, now: Instant, feedback: &Feedback) {
        let is_old = self.newest.is_some_and(|newest| feedback.tick <= newest);
        if is_old || feedback.received_or_lost > self.sequence {
            return;
        }
        self.newest = Some(feedback.tick);
        self.forecast = feedback.forecast;
        self.forecast_at = now;
        self.drained = 0;
        self.queue = self.sequence - feedback.received_or_lost;
    }

    /// Counts a packet that is sent now. Returns its sequence number and its throwaway window, in bytes.
    pub fn handle_sent(&mut self, now: Instant, size: Bytes) -> (u64, u32) {
        let sequence = self.sequence;
        self.sequence += size.get() + SEQUENCE_OVERHEAD;
        self.queue += size.get();
        while self.recent.front().is_some_and(|(_, at)| now.saturating_since(*at) > REORDERING)
            || self.recent.len() >= RECENT_MAX
        {
            self.recent.pop_front();
        }
        self.recent.push_back((sequence, now));
        let oldest = self.recent.front().map_or(sequence, |(oldest, _)| *oldest);
        (sequence, u32::try_from(sequence - oldest).unwrap_or(u32::MAX))
    }

    /// Returns the window: how many bytes may be sent now.
    pub fn window(&mut self, now: Instant) -> Bytes {
        let ticks = now.saturating_since(self.forecast_at).as_nanos() / TICK.as_nanos();
        let last = FORECAST_TICKS - 1;
        let current = usize::try_from(ticks).unwrap_or(last).min(last);
        while self.drained < current {
            let before = match (self.config.drain, self.drained.checked_sub(1)) {
                (Drain::ByTick, Some(before)) => self.forecast.bytes[before],
                _ => 0,
            };
            let carried = self.forecast.bytes[self.drained].saturating_sub(before);
            self.queue = self.queue.saturating_sub(carried);
            self.drained += 1;
        }
        let ahead = self.forecast.bytes[(current + LOOK_AHEAD_TICKS).min(last)];
        let carried = ahead.saturating_sub(self.forecast.bytes[current]);
        Bytes::new(carried.saturating_sub(self.queue))
    }

    /// Returns the next time after `now` at which the window changes by itself. `None` if the forecast has ended.
    pub fn next_change(&self, now: Instant) -> Option<Instant> {
        let ticks = now.saturating_since(self.forecast_at).as_nanos() / TICK.as_nanos();
        let next = u32::try_from(ticks + 1).ok()?;
        (next < 8).then(|| self.forecast_at + TICK * next)
    }

    /// Returns how many bytes the link will carry within the whole time of the forecast. More bytes need not be queued.
    pub fn deliverable(&self) -> Bytes {
        Bytes::new(self.forecast.bytes[FORECAST_TICKS - 1])
    }

    /// Returns the bytes that wait before the link, as far as the sender knows.
    pub const fn queue(&self) -> Bytes {
        Bytes::new(self.queue)
    }
}
