//! An end of a Sprout flow, which sends packets and reports arrivals to its peer.

use rove_units::{Bytes, Duration, Instant};

use crate::sprout::config::Config;
use crate::sprout::estimator::Estimator;
use crate::sprout::packet::Packet;
use crate::sprout::receiver::Receiver;
use crate::sprout::sender::Sender;

/// Longest silence of an end: each packet promises the next one within this time. Source: the published program.
pub const HEARTBEAT: Duration = Duration::from_millis(50);

/// An end of a Sprout flow, without the bytes that the flow carries.
#[derive(Clone, Debug)]
pub struct Endpoint<E> {
    config: Config,
    receiver: Receiver<E>,
    sender: Sender,
    /// When the last packet was sent. `None` before the first.
    sent_at: Option<Instant>,
    /// Whether the last packet ended a flight (packets sent at once). The next packet may then carry a forecast.
    has_landed: bool,
    /// The tick of the forecast that was sent last. `None` before the first.
    told: Option<u64>,
    /// Whether data has arrived since the last forecast was sent.
    has_news: bool,
}

/// Application data that waits to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// No data waits to be sent.
    Nothing,
    /// This many bytes of a stream wait. The stream may be cut anywhere.
    Stream(Bytes),
    /// Packets wait that must not be cut. The fields are the sizes of the first and, if any, of the second.
    Packets(Bytes, Option<Bytes>),
}

impl<E: Estimator> Endpoint<E> {
    /// Creates an end that has received nothing. Its sender begins with the forecast of this end's own receiver.
    pub fn new(config: Config, estimator: E, now: Instant) -> Self {
        let receiver = Receiver::new(estimator, config);
        let sender = Sender::new(config, receiver.forecast(), now);
        Self {
            config,
            receiver,
            sender,
            sent_at: None,
            has_landed: true,
            told: None,
            has_news: false,
        }
    }

    /// Returns the most application data of a packet, which leaves room for a forecast.
    pub fn payload_max(&self) -> Bytes {
        self.config.payload_max()
    }

    /// Counts a packet of the peer, and passes the packet's forecast to the sender.
    pub fn handle_packet(&mut self, now: Instant, packet: &Packet) {
        self.receiver.handle_packet(now, packet);
        self.has_news |= !packet.is_empty();
        if let Some(feedback) = &packet.feedback {
            self.sender.handle_feedback(now, feedback);
        }
    }

    /// Returns the window: how many bytes of packets may be sent now.
    pub fn window(&mut self, now: Instant) -> Bytes {
        self.sender.window(now)
    }

    /// Returns how many bytes the link to the peer will carry within the whole time of the peer's newest forecast.
    pub fn deliverable(&self) -> Bytes {
        self.sender.deliverable()
    }

    /// Returns the packet to send now. It has the first piece of waiting data if the window has room for it. Otherwise
    /// it is an empty heartbeat or report, if one is due. `None` if no packet is due.
    pub fn poll_send(&mut self, now: Instant, waiting: Waiting) -> Option<Packet> {
        let window = self.window(now);
        if let Some((piece, is_last)) = self.next_piece(window, waiting) {
            let time_to_next = if is_last { HEARTBEAT } else { Duration::ZERO };
            return Some(self.packet(now, piece, time_to_next));
        }
        let is_due = self.next_heartbeat().is_none_or(|due| due <= now);
        is_due.then(|| self.packet(now, Bytes::ZERO, HEARTBEAT))
    }

    /// Returns the bytes of data in the next packet, and whether the packet ends a flight. `None` if no data waits, or
    /// if the data does not fit `window`.
    fn next_piece(&self, window: Bytes, waiting: Waiting) -> Option<(Bytes, bool)> {
        let fields = self.config.fields();
        let room = window - fields;
        match waiting {
            Waiting::Nothing => None,
            Waiting::Stream(bytes) => {
                let piece = bytes.min(room).min(self.payload_max());
                let is_last = piece == bytes || room <= piece + fields;
                (piece > Bytes::ZERO).then_some((piece, is_last))
            }
            Waiting::Packets(first, second) => {
                let left = (room - first) - fields;
                let is_last = second.is_none_or(|second| second > left);
                (first <= room && window > fields).then_some((first, is_last))
            }
        }
    }

    /// Returns when to call [`Self::poll_send`] if no packet arrives earlier; never `None`. `is_waiting` says whether
    /// data waits.
    pub fn poll_timeout(&self, now: Instant, is_waiting: bool) -> Option<Instant> {
        let Some(heartbeat) = self.next_heartbeat() else { return Some(now) };
        let change = self.sender.next_change(now).filter(|_| is_waiting);
        Some(change.map_or(heartbeat, |change| change.min(heartbeat)))
    }

    /// Returns when a packet is due even without data. An end without data to send still reports each tick in which
    /// data arrived, because the peer's window needs the report. `None` before the first packet, which is due at once.
    fn next_heartbeat(&self) -> Option<Instant> {
        let heartbeat = self.sent_at? + HEARTBEAT;
        let news = self.receiver.tick_ends().filter(|_| self.has_news);
        // The arrivals of a tick are reported after its end.
        Some(news.map_or(heartbeat, |news| news.min(heartbeat)))
    }

    fn packet(&mut self, now: Instant, payload: Bytes, time_to_next: Duration) -> Packet {
        self.receiver.advance(now);
        let is_new = self.receiver.current_tick() != self.told;
        let feedback = if self.has_landed && is_new { self.receiver.feedback() } else { None };
        if let Some(feedback) = &feedback {
            self.told = Some(feedback.tick);
            self.has_news = false;
        }
        let mut packet = Packet { sequence: 0, throwaway: 0, time_to_next, feedback, payload };
        (packet.sequence, packet.throwaway) =
            self.sender.handle_sent(now, self.config.counted(&packet));
        self.sent_at = Some(now);
        self.has_landed = time_to_next > Duration::ZERO;
        packet
    }
}
