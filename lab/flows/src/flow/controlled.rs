//! A source whose window a congestion controller sets.

use rove_congestion::Controller;
use rove_units::{Bytes, Duration, Instant};

use crate::flow::source::{FULL, Source};

/// The receiver's window: no more is ever on its way. Source: the greatest that Linux gives by default (`net.ipv4.tcp_rmem`, tcp(7)),
/// which bounds the delay of the published figures of TCP over queues that never drop.
pub const RECEIVE_WINDOW: Bytes = Bytes::mib(6);

/// The data of a flow.
#[derive(Clone, Copy, Debug)]
pub enum Application {
    /// As much data as can be sent.
    Saturating,
    /// A full packet in each `gap` up to `until`, and as much data as can be sent from then on.
    SlowUntil {
        /// The time between two packets.
        gap: Duration,
        /// When the rest comes.
        until: Instant,
    },
}

/// Sends full packets as a controller allows it.
#[derive(Clone, Debug)]
pub struct Controlled<C> {
    controller: C,
    application: Application,
    /// The payload of a full packet.
    packet: Bytes,
    started_at: Option<Instant>,
    /// Packets that were sent.
    packets: u32,
    sent_at: Option<Instant>,
    /// Whether the window had room when there was nothing to send.
    is_app_limited: bool,
    /// Whether the window has room that only the spacing keeps from being used.
    is_spaced: bool,
}

impl<C: Controller> Controlled<C> {
    /// Creates a source with all the data of the world.
    pub const fn new(controller: C) -> Self {
        Self::with(controller, Application::Saturating)
    }

    /// Creates a source with this data.
    pub const fn with(controller: C, application: Application) -> Self {
        Self {
            controller,
            application,
            packet: FULL,
            started_at: None,
            packets: 0,
            sent_at: None,
            is_app_limited: false,
            is_spaced: false,
        }
    }

    /// Has packets with this payload.
    #[must_use]
    pub fn in_packets_of(mut self, packet: Bytes) -> Self {
        self.packet = packet;
        self
    }

    /// Returns when the application has the next packet.
    fn next_data(&self) -> Option<Instant> {
        let started = self.started_at?;
        Some(match self.application {
            Application::Saturating => started,
            Application::SlowUntil { gap, until } => {
                (started + gap.saturating_mul(self.packets)).min(until)
            }
        })
    }

    /// Returns when the controller lets the next packet go, as far as its spacing says.
    fn next_slot(&self) -> Instant {
        self.sent_at.map_or(Instant::ZERO, |sent| sent + self.controller.spacing())
    }
}

impl<C: Controller> Source for Controlled<C> {
    fn start(&mut self, now: Instant) {
        self.started_at = Some(now);
        self.controller.on_start(now);
    }

    fn poll_send(&mut self, now: Instant, in_flight: Bytes) -> Option<Bytes> {
        let has_room = in_flight + self.packet <= self.window();
        self.is_app_limited = has_room && self.next_data()? > now;
        self.is_spaced = has_room && !self.is_app_limited && self.next_slot() > now;
        if !has_room || self.is_app_limited || self.is_spaced {
            return None;
        }
        self.packets = self.packets.saturating_add(1);
        self.sent_at = Some(now);
        Some(self.packet)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let data = self.next_data().filter(|_| self.is_app_limited);
        let slot = self.is_spaced.then(|| self.next_slot());
        [data, slot, self.controller.poll_timeout()].into_iter().flatten().min()
    }

    fn controller(&mut self) -> Option<&mut dyn Controller> {
        Some(&mut self.controller)
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

    fn is_app_limited(&self) -> bool {
        self.is_app_limited
    }
}
