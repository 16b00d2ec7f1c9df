//! A source whose window a congestion controller sets.

use rove_congestion::Controller;
use rove_units::{Bytes, Duration, Instant};

use crate::flow::source::{FULL, Source};

/// The receiver's window, which bounds the bytes in flight. Source: the largest that Linux gives by default
/// (`net.ipv4.tcp_rmem`, tcp(7)). It bounds the published delays of TCP over queues that never drop.
pub const RECEIVE_WINDOW: Bytes = Bytes::mib(6);

/// Sends full packets as a controller allows it.
#[derive(Debug)]
pub struct Controlled {
    controller: Box<dyn Controller>,
    /// The payload of a full packet.
    packet: Bytes,
    is_started: bool,
    sent_at: Option<Instant>,
    /// Whether the window has room, but the controller's spacing forbids to send yet.
    is_spaced: bool,
}

impl Controlled {
    /// Creates a source that always has data to send.
    pub const fn new(controller: Box<dyn Controller>) -> Self {
        Self { controller, packet: FULL, is_started: false, sent_at: None, is_spaced: false }
    }

    /// Sets the payload of a full packet.
    #[must_use]
    pub fn in_packets_of(mut self, packet: Bytes) -> Self {
        self.packet = packet;
        self
    }

    /// Returns when the controller's spacing allows the next packet.
    fn next_slot(&self) -> Instant {
        self.sent_at.map_or(Instant::ZERO, |sent| sent + self.controller.spacing())
    }
}

impl Source for Controlled {
    fn start(&mut self, now: Instant) {
        self.is_started = true;
        self.controller.on_start(now);
    }

    fn poll_send(&mut self, now: Instant, in_flight: Bytes) -> Option<Bytes> {
        let has_room = self.is_started && in_flight + self.packet <= self.window();
        self.is_spaced = has_room && self.next_slot() > now;
        if !has_room || self.is_spaced {
            return None;
        }
        self.sent_at = Some(now);
        Some(self.packet)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let slot = self.is_spaced.then(|| self.next_slot());
        [slot, self.controller.poll_timeout()].into_iter().flatten().min()
    }

    fn controller(&mut self) -> Option<&mut dyn Controller> {
        Some(&mut *self.controller)
    }

    fn window(&self) -> Bytes {
        self.controller.window().min(RECEIVE_WINDOW).max(self.packet)
    }

    fn is_controlled(&self) -> bool {
        true
    }

    fn heartbeat(&self) -> Option<Duration> {
        self.controller.heartbeat()
    }
}
