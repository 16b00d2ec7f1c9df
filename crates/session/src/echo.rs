//! The echo ack: the input that has had time to take effect.

use std::collections::VecDeque;

use rove_ssp::StateNum;
use rove_units::{Duration, Instant};

/// How long a program gets to answer a key before the screen counts as showing its effect, until it is
/// known how fast it is, and at least for a client that takes an early ack for a proof.
/// Source: Mosh 1.4.0 as observed, docs/wire.md; the Mosh paper (USENIX ATC 2012), section 3.2.
pub(crate) const ECHO_DELAY: Duration = Duration::from_millis(50);

/// Shortest time that a program gets. Chosen: the collection interval of a frame, so that an echo and its ack travel in
/// one frame.
const DELAY_MIN: Duration = Duration::from_millis(8);
/// Longest time that a program gets. Chosen: a client learns of slower programs by itself, and should not wait for ever
/// to learn that nothing was echoed.
const DELAY_MAX: Duration = Duration::from_millis(400);
/// The time that an echo gets, in usual echo latencies. Chosen: docs/timing.md, "Echo ack".
const LATENCIES: u32 = 4;
/// The longest time that an echo gets because echoes are usually slow. Chosen: a slower program is known well enough.
const USUAL_MAX: Duration = Duration::from_millis(250);
const _: () = assert!(USUAL_MAX.as_nanos() < DELAY_MAX.as_nanos());
const _: () = assert!(DELAY_MIN.as_nanos() < ECHO_DELAY.as_nanos());
const _: () = assert!(ECHO_DELAY.as_nanos() < DELAY_MAX.as_nanos());

/// Echo latencies remembered, the newest. Chosen: a few words' worth, so that another program on the same
/// terminal is soon known.
const SAMPLES_MAX: usize = 16;
/// With fewer samples the delay is the fixed one. Chosen: a word.
const SAMPLES_MIN: usize = 8;
/// Output that comes later than this is no echo. Chosen: twice the longest delay.
const LATENCY_MAX: Duration = Duration::from_secs(1);
/// How long a program must have been silent before a key for its next output to count as an echo. Chosen: longer than a
/// program that writes all the time pauses.
const SILENCE: Duration = Duration::from_millis(50);
/// Pause before a key after which the next output counts as the echo of this key, and not of the key before, while no
/// latency is known. Chosen: a pause in typing is soon this long.
const PAUSE: Duration = Duration::from_millis(500);

/// Most deliveries remembered. Chosen: three times what a client's frame interval lets through in
/// [`DELAY_MAX`]; beyond it the newest two become one, which only acknowledges later.
const HISTORY_MAX: usize = 64;

/// The client's states whose input was handed to the program, until the program had time to echo.
#[derive(Clone, Debug, Default)]
pub(crate) struct EchoHistory {
    /// Deliveries not yet acknowledged, oldest first.
    deliveries: VecDeque<(StateNum, Instant)>,
    acknowledged: StateNum,
    latency: EchoLatency,
    wait: EchoWait,
}

/// How long an echo ack waits for the echo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EchoWait {
    /// [`ECHO_DELAY`], as in stock.
    #[default]
    Fixed,
    /// As long as programs take, but no less than that: the client takes an early ack for a proof.
    Patient,
    /// As long as programs take.
    Adaptive,
}

/// How long programs take to answer a key.
#[derive(Clone, Debug, Default)]
struct EchoLatency {
    /// The newest samples, oldest first.
    samples: VecDeque<Duration>,
    /// When the last key came, and the last key without an answer.
    delivered_at: Option<Instant>,
    waiting_since: Option<Instant>,
    /// When a program last wrote something.
    written_at: Option<Instant>,
}

impl EchoHistory {
    /// Notes that all input up to the client's state `num` has been delivered.
    pub(crate) fn delivered(&mut self, num: StateNum, now: Instant) {
        if self.deliveries.len() == HISTORY_MAX {
            self.deliveries.pop_back();
        }
        self.deliveries.push_back((num, now));
        debug_assert!(self.deliveries.len() <= HISTORY_MAX);
        debug_assert!(self.deliveries.iter().is_sorted(), "states are delivered in order");
        self.latency.delivered(now);
    }

    /// Notes that a program has written something.
    pub(crate) fn handle_output(&mut self, now: Instant) {
        self.latency.handle_output(now);
    }

    /// Sets how long acks wait from now on.
    pub(crate) fn set_wait(&mut self, wait: EchoWait) {
        self.wait = wait;
    }

    /// Moves the echo ack forward to the newest input that has had its time; returns whether it moved.
    pub(crate) fn advance(&mut self, now: Instant) -> bool {
        let (before, delay) = (self.acknowledged, self.delay());
        while let Some((num, _)) = self.deliveries.pop_front_if(|(_, at)| *at + delay <= now) {
            self.acknowledged = self.acknowledged.max(num);
        }
        self.acknowledged != before
    }

    /// Returns the newest state of the client's whose input has had its time.
    pub(crate) const fn acknowledged(&self) -> StateNum {
        self.acknowledged
    }

    /// Returns when [`EchoHistory::advance`] next moves the echo ack.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.deliveries.front().map(|(_, at)| *at + self.delay())
    }

    fn delay(&self) -> Duration {
        match self.wait {
            EchoWait::Fixed => ECHO_DELAY,
            EchoWait::Patient => self.latency.delay().max(ECHO_DELAY),
            EchoWait::Adaptive => self.latency.delay(),
        }
    }
}

impl EchoLatency {
    fn delivered(&mut self, now: Instant) {
        let is_past =
            |at: Option<Instant>, span| at.is_none_or(|at| now.saturating_since(at) >= span);
        let pause = self.longest().map_or(PAUSE, |longest| (longest * 2 + SILENCE).min(PAUSE));
        if is_past(self.written_at, SILENCE) && is_past(self.delivered_at, pause) {
            self.waiting_since = Some(now);
        }
        self.delivered_at = Some(now);
    }

    fn longest(&self) -> Option<Duration> {
        self.samples.iter().max().copied()
    }

    fn handle_output(&mut self, now: Instant) {
        self.written_at = Some(now);
        let Some(latency) = self.waiting_since.take().map(|at| now.saturating_since(at)) else {
            return;
        };
        if latency <= LATENCY_MAX {
            if self.samples.len() == SAMPLES_MAX {
                self.samples.pop_front();
            }
            self.samples.push_back(latency);
            debug_assert!(self.samples.len() <= SAMPLES_MAX);
        }
    }

    /// Returns how long programs get: a multiple of the usual latency, and at least the longest recent one.
    fn delay(&self) -> Duration {
        let Some(longest) = self.longest().filter(|_| self.samples.len() >= SAMPLES_MIN) else {
            return ECHO_DELAY;
        };
        let mut sorted: Vec<_> = self.samples.iter().copied().collect();
        sorted.sort_unstable();
        let median = sorted[sorted.len() / 2];
        // An ack right before the echo would hold that back for a frame interval.
        (median * LATENCIES).min(USUAL_MAX).max(longest + DELAY_MIN).min(DELAY_MAX)
    }
}

#[cfg(test)]
mod tests;
