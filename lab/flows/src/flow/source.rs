//! Sources: when a flow's datagrams go, and how large they are.

use rove_congestion::Controller;
use rove_units::{Bytes, Duration, Instant, Stream};

/// The least payload: the mark of a flow, the datagram's number, and when it was sent.
pub const HEADER: Bytes = Bytes::new(24);

/// The payload of a full packet: 1500 bytes less the headers of IPv4 and UDP.
pub const FULL: Bytes = Bytes::new(1_472);

/// Decides when datagrams go. A sender asks a source after each event, and at [`Source::poll_timeout`].
pub trait Source {
    /// Begins to send. A sender calls this once.
    fn start(&mut self, now: Instant);

    /// Returns the payload size of a datagram to be sent now. `None` if no datagram is due while `in_flight` bytes are.
    fn poll_send(&mut self, now: Instant, in_flight: Bytes) -> Option<Bytes>;

    /// Returns when to ask again if nothing happens sooner.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Returns the controller that is told of acknowledgments and losses, if there is one.
    fn controller(&mut self) -> Option<&mut dyn Controller> {
        None
    }

    /// Returns the window in bytes; 0 if the source has no window.
    fn window(&self) -> Bytes {
        Bytes::ZERO
    }

    /// Returns whether there is a controller.
    fn is_controlled(&self) -> bool {
        false
    }

    /// Returns the longest silence while datagrams are in flight; a small datagram ends it. `None` for no limit.
    fn heartbeat(&self) -> Option<Duration> {
        None
    }

    /// Returns whether the source sent less than its window allows because it had no data.
    fn is_app_limited(&self) -> bool {
        false
    }
}

/// Sends full packets as long as they fit into the window: endless data of a TCP connection whose window has grown to
/// the receiver's. A source with a congestion controller is [`Controlled`](crate::flow::controlled::Controlled).
#[derive(Clone, Debug)]
pub struct Bulk {
    window: Bytes,
    is_started: bool,
}

impl Bulk {
    /// Creates a source with this window, in bytes of payload.
    pub const fn new(window: Bytes) -> Self {
        Self { window, is_started: false }
    }
}

impl Source for Bulk {
    fn start(&mut self, _: Instant) {
        self.is_started = true;
    }

    fn poll_send(&mut self, _: Instant, in_flight: Bytes) -> Option<Bytes> {
        (self.is_started && in_flight + FULL <= self.window()).then_some(FULL)
    }

    fn window(&self) -> Bytes {
        self.window.max(FULL)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

/// Sends a small datagram for each key of a person who types; pauses are distributed exponentially.
#[derive(Clone, Debug)]
pub struct Keystrokes {
    mean_pause: Duration,
    size: Bytes,
    chance: Stream,
    keys: u64,
    next: Option<Instant>,
}

impl Keystrokes {
    /// Creates a source of datagrams with `size` bytes of payload.
    pub const fn new(mean_pause: Duration, size: Bytes, chance: Stream) -> Self {
        Self { mean_pause, size, chance, keys: 0, next: None }
    }

    fn type_on(&mut self, from: Instant) {
        self.next = Some(from + exponential(self.mean_pause, self.chance.at(self.keys).unit()));
        self.keys += 1;
    }
}

impl Source for Keystrokes {
    fn start(&mut self, now: Instant) {
        self.type_on(now);
    }

    fn poll_send(&mut self, now: Instant, _: Bytes) -> Option<Bytes> {
        let next = self.next.filter(|next| *next <= now)?;
        self.type_on(next);
        Some(self.size.max(HEADER))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.next
    }
}

/// Returns an exponentially distributed time: the quantile of `unit` in `[0, 1)`.
pub(super) fn exponential(mean: Duration, unit: f64) -> Duration {
    // At least a nanosecond, so that time moves on.
    mean.mul_f64(-(1.0 - unit).ln()).max(Duration::from_nanos(1))
}
