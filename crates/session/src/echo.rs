//! Decides on the echo ack: the number of the newest input that programs have had time to answer on the screen.

use std::collections::VecDeque;

use rove_ssp::StateNum;
use rove_units::{Duration, Instant, push_newest};

/// How long a program has to answer a key until the screen counts as showing the key's effect. The server uses this
/// fixed time with `--strict`, and until the programs' speed is known. For [`EchoWait::Patient`] it is the shortest
/// wait. Source: Mosh 1.4.0 as observed, docs/wire.md; Mosh paper (USENIX ATC 2012), section 3.2.
pub(crate) const ECHO_DELAY: Duration = Duration::from_millis(50);

/// Shortest time that the server gives a program to answer a key before its echo ack. Chosen: the collection interval
/// of a frame (a sent diff), so that an echo and its ack share a frame.
const DELAY_MIN: Duration = Duration::from_millis(8);
/// Longest time that the server gives a program to answer a key before its echo ack. Chosen: a client detects slower
/// programs by itself, and must learn soon that a key was not echoed.
const DELAY_MAX: Duration = Duration::from_millis(400);
/// The time that a program gets to answer a key, as a multiple of its median echo latency. Chosen: docs/timing.md,
/// "Echo ack".
const LATENCIES: u32 = 4;
/// Longest delay of an echo ack that the median echo latency can cause. Only a recent slow echo makes the delay longer,
/// up to [`DELAY_MAX`]. Chosen: a client detects the pace of a slower program by itself.
const USUAL_MAX: Duration = Duration::from_millis(250);
const _: () = assert!(USUAL_MAX.as_nanos() < DELAY_MAX.as_nanos());
const _: () = assert!(DELAY_MIN.as_nanos() < ECHO_DELAY.as_nanos());
const _: () = assert!(ECHO_DELAY.as_nanos() < DELAY_MAX.as_nanos());

/// Number of newest echo latencies that are kept. Chosen: the letters of a few words, so that the speed of another
/// program on the same terminal is soon known.
const SAMPLES_MAX: usize = 16;
/// Number of samples below which the fixed [`ECHO_DELAY`] is used. Chosen: about the letters of one word.
const SAMPLES_MIN: usize = 8;
/// Longest time from a key to the output that counts as its echo. Chosen: more than twice [`DELAY_MAX`].
const LATENCY_MAX: Duration = Duration::from_secs(1);
/// How long a program must have been silent before a key, so that its next output counts as an echo. Chosen: longer
/// than the pauses of a program that writes all the time.
const SILENCE: Duration = Duration::from_millis(50);
/// Pause between two keys after which the next output counts as the echo of the second key, not of the first. With
/// known latencies, a shorter pause may suffice. Chosen: users often pause this long.
const PAUSE: Duration = Duration::from_millis(500);

/// Maximum number of deliveries of client states that wait for their echo ack. A further delivery replaces the newest,
/// which only delays the ack. Chosen: three times the states that a client can send in [`DELAY_MAX`].
const HISTORY_MAX: usize = 64;

/// The echo ack, and later client states whose input the program has received but may not have answered yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct EchoHistory {
    /// Client states that the echo ack has not reached, and when the program received their input, oldest first.
    deliveries: VecDeque<(StateNum, Instant)>,
    acknowledged: StateNum,
    latency: EchoLatency,
    wait: EchoWait,
}

/// The rule for how long the echo ack of a key is delayed, so that the key's echo can come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EchoWait {
    /// The echo ack waits for the fixed [`ECHO_DELAY`], as in Mosh 1.4.0.
    #[default]
    Fixed,
    /// The echo ack waits as for `Adaptive`, but at least [`ECHO_DELAY`]. The client takes an ack without an echo as
    /// proof that the terminal does not echo.
    Patient,
    /// The echo ack waits for a time derived from the programs' measured echo latency.
    Adaptive,
    /// The echo ack does not wait. Only the laboratory uses it, to measure the effect of a wait.
    Nothing,
}

/// The measured time that programs take to answer a key.
#[derive(Clone, Debug, Default)]
struct EchoLatency {
    /// The newest echo latencies, oldest first.
    samples: VecDeque<Duration>,
    /// When the last input was delivered, and (`waiting_since`) a key whose echo has not come. `None` if none was.
    delivered_at: Option<Instant>,
    waiting_since: Option<Instant>,
    /// When a program last wrote output. `None` before the first output.
    written_at: Option<Instant>,
}

impl EchoHistory {
    /// Records that all input up to the client state `num` has been delivered to the program.
    pub(crate) fn delivered(&mut self, num: StateNum, now: Instant) {
        if self.deliveries.len() == HISTORY_MAX {
            self.deliveries.pop_back();
        }
        self.deliveries.push_back((num, now));
        debug_assert!(self.deliveries.len() <= HISTORY_MAX);
        debug_assert!(self.deliveries.iter().is_sorted(), "states are delivered in order");
        self.latency.delivered(now);
    }

    /// Records that a program has written output, which may be an echo.
    pub(crate) fn handle_output(&mut self, now: Instant) {
        self.latency.handle_output(now);
    }

    /// Sets the rule how long echo acks wait.
    pub(crate) fn set_wait(&mut self, wait: EchoWait) {
        self.wait = wait;
    }

    /// Advances the echo ack to the newest input whose time to be echoed is over, and returns whether it moved.
    pub(crate) fn advance(&mut self, now: Instant) -> bool {
        let (before, delay) = (self.acknowledged, self.delay());
        while let Some((num, _)) = self.deliveries.pop_front_if(|(_, at)| *at + delay <= now) {
            self.acknowledged = self.acknowledged.max(num);
        }
        self.acknowledged != before
    }

    /// Returns the echo ack: the newest client state whose input has had time to be echoed.
    pub(crate) const fn acknowledged(&self) -> StateNum {
        self.acknowledged
    }

    /// Returns when [`EchoHistory::advance`] next moves the echo ack. `None` if all input is acknowledged.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.deliveries.front().map(|(_, at)| *at + self.delay())
    }

    fn delay(&self) -> Duration {
        match self.wait {
            EchoWait::Fixed => ECHO_DELAY,
            EchoWait::Patient => self.latency.delay().max(ECHO_DELAY),
            EchoWait::Adaptive => self.latency.delay(),
            EchoWait::Nothing => Duration::ZERO,
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
            push_newest(&mut self.samples, latency, SAMPLES_MAX);
            debug_assert!(self.samples.len() <= SAMPLES_MAX);
        }
    }

    /// Returns how long a program has to answer a key. The time is a multiple of the median latency, at least a little
    /// more than the longest recent one, and at most [`DELAY_MAX`]. [`ECHO_DELAY`] until enough latencies are known.
    fn delay(&self) -> Duration {
        let Some(longest) = self.longest().filter(|_| self.samples.len() >= SAMPLES_MIN) else {
            return ECHO_DELAY;
        };
        let mut sorted: Vec<_> = self.samples.iter().copied().collect();
        sorted.sort_unstable();
        let median = sorted[sorted.len() / 2];
        // If an ack left just ahead of the echo, the echo would have to wait for the next frame.
        (median * LATENCIES).min(USUAL_MAX).max(longest + DELAY_MIN).min(DELAY_MAX)
    }
}

#[cfg(test)]
mod tests;
