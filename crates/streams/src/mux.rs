//! An end of the stream layer, through which the owner opens, writes and reads streams.

use rove_congestion::Controller;
use rove_units::Instant;

use crate::arrivals::Arrivals;
use crate::closing::{Closed, Closing};
use crate::error::{PROTOCOL, PacketError, REFUSED, StreamError, Violation};
use crate::event::{Event, Events};
use crate::flight::Permit;
use crate::frame::{Frame, Frames};
use crate::id::{PacketNum, Side, StreamId};
use crate::packet::{PACKET_MIN, Packet, PeerClock};
use crate::receive_half::Read;
use crate::recovery::{Carried, Fates, Recovery};
use crate::streams::Streams;
use crate::writer::Writer;

/// Bytes that must be free in a packet for the control frames of a stream: its credit, its reset and its stop.
const CONTROL_ROOM: usize = 100;

/// An end of the stream layer, which carries streams of bytes to the other end.
///
/// The owner calls [`Mux::handle_packet`] for packets that it has decrypted. After that, and after any other call, it
/// calls [`Mux::poll_transmit`] until that returns `None`, seals each packet and sends it. If the owner has to stop
/// earlier, it calls [`Mux::handle_blocked`]. It then waits until [`Mux::poll_timeout`]. No call reads a clock.
#[derive(Debug)]
pub struct Mux {
    streams: Streams,
    recovery: Recovery,
    arrivals: Arrivals,
    peer_clock: PeerClock,
    events: Events,
    closing: Closing,
    packet_max: usize,
    /// When the next packet may be sent, if only the pacer or a blocked owner delays it. `None` otherwise.
    paced_until: Option<Instant>,
}

impl Mux {
    /// Creates an end whose packets' payloads have at most `packet_max` bytes, or [`PACKET_MIN`] if that is more.
    pub fn new(
        side: Side,
        controller: Box<dyn Controller>,
        packet_max: usize,
        now: Instant,
    ) -> Self {
        let packet_max = packet_max.max(PACKET_MIN);
        Self {
            streams: Streams::new(side, now),
            recovery: Recovery::new(controller, packet_max, now),
            arrivals: Arrivals::default(),
            peer_clock: PeerClock::default(),
            events: Events::default(),
            closing: Closing::default(),
            packet_max,
            paced_until: None,
        }
    }

    /// Opens a stream.
    ///
    /// # Errors
    ///
    /// Returns an error if too many streams are open, or the layer has closed.
    pub fn open(&mut self, now: Instant) -> Result<StreamId, StreamError> {
        self.check_open()?;
        self.streams.table.open(now)
    }

    /// Returns the next stream that the peer has opened. `None` if all were returned.
    pub fn accept(&mut self) -> Option<StreamId> {
        self.streams.table.accept()
    }

    /// Returns how many bytes a write would accept. If it is 0, [`Event::Writable`] tells when there is room.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Mux::write`].
    pub fn room(&mut self, id: StreamId) -> Result<usize, StreamError> {
        self.check_open()?;
        self.streams.wait_for_room(id)
    }

    /// Adds as many of `bytes` as there is room for, and returns their number. If not all of them fit,
    /// [`Event::Writable`] tells when there is room again.
    ///
    /// # Errors
    ///
    /// Returns an error if the layer has closed, the sending direction has ended, or the peer has stopped reading.
    pub fn write(&mut self, id: StreamId, bytes: &[u8]) -> Result<usize, StreamError> {
        self.check_open()?;
        self.streams.write(id, bytes)
    }

    /// Reads arrived bytes into `buffer`. Returns their number, that none has come yet, or that the stream has ended.
    ///
    /// # Errors
    ///
    /// Returns [`StreamError::Reset`] from the first call after the peer has reset the stream. After that call, or
    /// after the end of the stream, returns [`StreamError::Unknown`].
    pub fn read(
        &mut self,
        now: Instant,
        id: StreamId,
        buffer: &mut [u8],
    ) -> Result<Read, StreamError> {
        self.check_open()?;
        let read = self.streams.read(now, id, buffer, self.recovery.rtt().smoothed());
        self.retire(id);
        read
    }

    /// Ends the sending direction of a stream after all written bytes. Does nothing if that direction has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such stream, or the layer has closed.
    pub fn finish(&mut self, id: StreamId) -> Result<(), StreamError> {
        self.check_open()?;
        self.streams.finish(id)
    }

    /// Ends the sending direction of a stream at once, and drops bytes that the peer has not acknowledged.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such stream, or the layer has closed.
    pub fn reset(&mut self, id: StreamId, code: u64) -> Result<(), StreamError> {
        self.check_open()?;
        self.streams.reset(id, code)?;
        self.retire(id);
        Ok(())
    }

    /// Ends the receiving direction of a stream: drops bytes that the peer has sent, and asks it to send no more.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such stream, or the layer has closed.
    pub fn stop(&mut self, id: StreamId, code: u64) -> Result<(), StreamError> {
        self.check_open()?;
        self.streams.stop(id, code)?;
        self.retire(id);
        Ok(())
    }

    /// Ends both directions of a stream at once, by [`Mux::reset`] and [`Mux::stop`]. A direction that has ended stays so.
    pub fn reset_and_stop(&mut self, id: StreamId, code: u64) {
        let _ = self.reset(id, code);
        let _ = self.stop(id, code);
    }

    /// Ends a stream that the owner has served: its sending direction after all bytes that were written, and its
    /// receiving direction at once.
    pub fn finish_and_stop(&mut self, id: StreamId, code: u64) {
        let _ = self.finish(id);
        let _ = self.stop(id, code);
    }

    /// Closes the stream layer with all streams, and tells the peer why. The peer gets the first 128 bytes of `text`.
    pub fn close(&mut self, now: Instant, code: u64, text: &str) {
        self.end(now, Closed { is_by_peer: false, code, text: text.to_owned() });
    }

    /// Returns why the layer has closed. `None` while it is open.
    pub fn closed(&self) -> Option<&Closed> {
        self.closing.closed()
    }

    /// Handles an authentic packet that has not arrived before. The call does the work of [`Mux::handle_heard`].
    ///
    /// # Errors
    ///
    /// Returns why all or a part of the packet had no effect. After a [`Violation`] the stream layer has closed.
    pub fn handle_packet(
        &mut self,
        now: Instant,
        number: PacketNum,
        payload: &[u8],
    ) -> Result<(), PacketError> {
        if self.closing.closed().is_some() {
            self.closing.handle_packet();
            return Err(PacketError::Closed);
        }
        self.note_heard(now, true);
        if payload.len() >= PACKET_MIN {
            // The peer sends bulk data. If both ends send bulk data, each queue delays the acknowledgments of the other
            // direction. With long queues, both congestion windows would oscillate.
            self.recovery.handle_interaction(now);
        }
        let result = self.handle_frames(now, number, payload);
        if let Err(PacketError::Violation(violation)) = result {
            let text = violation.to_string();
            self.end(now, Closed { is_by_peer: false, code: PROTOCOL, text });
        }
        self.streams.wake_writers(&mut self.events);
        result
    }

    /// Called when an authentic datagram of the peer has come, of streams or of the session. The call soon ends a
    /// silence, in which this end sends only rare probes.
    pub fn handle_heard(&mut self, now: Instant) {
        self.note_heard(now, false);
    }

    /// Called when packets may take another path. This end at once repeats its newest acknowledgment and the oldest
    /// packets in flight. If `is_elsewhere`, the peer has another address. Then all packets in flight are repeated,
    /// except those of the last quarter of a round trip.
    pub fn handle_path_change(&mut self, now: Instant, is_elsewhere: bool) {
        if self.closing.closed().is_none() {
            self.arrivals.repeat(now);
            let fates = self.recovery.handle_path_change(now, is_elsewhere);
            self.handle_fates(fates);
        }
    }

    /// Replaces the congestion controller, which decides how many bytes may be in flight.
    pub fn follow(&mut self, now: Instant, controller: Box<dyn Controller>) {
        self.recovery.follow(now, controller);
    }

    /// Records that the session's user typed at this time. The controller may then keep the path's queue short.
    pub fn handle_key(&mut self, at: Instant) {
        self.recovery.handle_interaction(at);
    }

    /// Changes the maximum size of a packet's payload, in bytes. It is at least [`PACKET_MIN`].
    pub fn handle_packet_size(&mut self, packet_max: usize) {
        self.packet_max = packet_max.max(PACKET_MIN);
        self.recovery.handle_packet_size(self.packet_max);
    }

    /// Returns the size in bytes of payloads that do not arrive although smaller ones do. `None` while chance or an
    /// outage explains the losses, and after the size was returned.
    pub fn poll_black_hole(&mut self) -> Option<usize> {
        self.recovery.black_hole.poll()
    }

    /// Handles the timers that are due. A call before or after the due time does no harm.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.closing.closed().is_none() {
            let fates = self.recovery.handle_timeout(now);
            if !fates.lost.is_empty() && self.recovery.is_probing() {
                self.arrivals.repeat(now);
            }
            self.handle_fates(fates);
        }
    }

    /// Returns the next packet to seal and send. `None` if nothing is to be sent now.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        self.paced_until = None;
        self.handle_timeout(now);
        let number = self.recovery.next_number()?;
        let mut writer = Writer::new(now, self.recovery.packet_len(now));
        if self.closing.closed().is_some() {
            writer.push(&self.closing.take()?, None);
        } else {
            self.fill(now, &mut writer)?;
        }
        let asks = writer.asks();
        let (payload, carried) = writer.finish();
        self.recovery.handle_sent(now, payload.len(), asks, carried);
        Some(Packet { number, payload })
    }

    /// Called when the owner cannot send more packets at `now`. If a packet is permitted, [`Mux::poll_timeout`] then
    /// returns `now` or an earlier time. The owner decides when to call [`Mux::poll_transmit`] again.
    pub fn handle_blocked(&mut self, now: Instant) {
        let room = Writer::new(now, self.recovery.packet_len(now)).room();
        let has_work = self.streams.has_work() || self.recovery.owes_probe();
        self.paced_until = match self.recovery.permit(now, room) {
            _ if self.closing.is_due() => Some(now),
            Permit::Now if has_work => Some(now),
            Permit::At(at) if has_work => Some(at),
            _ => None,
        };
    }

    /// Returns when to call [`Mux::handle_timeout`] and [`Mux::poll_transmit`], unless a packet arrives first. `None`
    /// for an idle end, which has no timers.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.closing.closed().is_some() {
            return self.paced_until;
        }
        let times = [self.recovery.poll_timeout(), self.arrivals.due(), self.paced_until];
        times.into_iter().flatten().min()
    }

    /// Returns the next event. `None` if no event waits.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// Returns how many streams are open, without the control stream. An ended one counts until both ends know its end.
    pub fn open_streams(&self) -> usize {
        self.streams.table.len()
    }

    /// Returns how many bytes are in flight.
    pub const fn in_flight(&self) -> u64 {
        self.recovery.in_flight()
    }

    /// Returns how many bytes of all streams are kept: received bytes to be read, and written bytes not acknowledged.
    pub fn held(&self) -> u64 {
        self.streams.held()
    }

    fn note_heard(&mut self, now: Instant, is_packet: bool) {
        let fates = self.recovery.handle_heard(now, is_packet);
        if !fates.lost.is_empty() {
            self.arrivals.repeat(now);
        }
        self.handle_fates(fates);
    }

    fn check_open(&self) -> Result<(), StreamError> {
        if self.closing.closed().is_some() { Err(StreamError::Closed) } else { Ok(()) }
    }

    fn end(&mut self, now: Instant, closed: Closed) {
        if self.closing.close(closed) {
            self.streams.clear(now);
            self.events = Events::default();
            self.events.push(Event::Closed);
        }
    }

    fn handle_frames(
        &mut self,
        now: Instant,
        number: PacketNum,
        payload: &[u8],
    ) -> Result<(), PacketError> {
        let (time, frames) = payload.split_first_chunk().ok_or(Violation::NoTime)?;
        let peer_now = self.peer_clock.read(u32::from_be_bytes(*time));
        let (mut asks, mut outcome) = (false, Ok(()));
        for frame in Frames::of(frames) {
            let frame = frame.map_err(Violation::Frame)?;
            asks |= frame.asks_for_ack();
            match self.handle_frame(now, frame, peer_now) {
                Err(PacketError::TooManyGaps) => outcome = Err(PacketError::TooManyGaps),
                result => result?,
            }
        }
        if outcome.is_ok() {
            self.arrivals.handle_packet(now, number, asks, self.recovery.rtt().ack_delay());
        }
        outcome
    }

    fn handle_frame(
        &mut self,
        now: Instant,
        frame: Frame<'_>,
        peer_now: Instant,
    ) -> Result<(), PacketError> {
        let id = match &frame {
            Frame::Ping => return Ok(()),
            Frame::Ack(ack) => {
                let fates = self.recovery.handle_ack(now, ack, peer_now)?;
                self.handle_fates(fates);
                return Ok(());
            }
            Frame::Close { code, text } => {
                let text = String::from_utf8_lossy(text).into_owned();
                self.end(now, Closed { is_by_peer: true, code: *code, text });
                return Ok(());
            }
            Frame::Data { id, .. } | Frame::Credit { id, .. } => *id,
            Frame::Reset { id, .. } | Frame::Stop { id, .. } => *id,
        };
        if self.streams.table.heed(now, id)? {
            self.events.push(Event::Incoming);
        }
        let outcome = self.streams.handle_frame(id, &frame, &mut self.events);
        self.retire(id);
        outcome
    }

    fn handle_fates(&mut self, fates: Fates) {
        // If a loss and an acknowledgment concern the same bytes, the acknowledgment is newer, so it is handled last.
        for carried in fates.lost {
            self.streams.handle_lost(&carried);
        }
        for carried in fates.acked {
            if let Carried::Ack { largest } = carried {
                self.arrivals.handle_told(largest);
                continue;
            }
            if let Some(id) = self.streams.handle_acked(&carried, &mut self.events) {
                self.retire(id);
            }
        }
        self.streams.wake_writers(&mut self.events);
    }

    /// Fills a packet with the frames that are due. `None` if nothing is to be sent now.
    fn fill(&mut self, now: Instant, writer: &mut Writer) -> Option<()> {
        let permit = self.recovery.permit(now, writer.room());
        let has_work = self.streams.has_work() || self.recovery.owes_probe();
        self.recovery.note_app_limited(!has_work && permit == Permit::Now);
        let is_ack_due = self.arrivals.due().is_some_and(|at| at <= now);
        // While a probe is due, an acknowledgment gets a small separate packet. While the server does not answer, a
        // client repeats such a packet with each datagram of the session.
        let is_alone = is_ack_due && self.recovery.is_probing();
        let asks = has_work && permit == Permit::Now && !is_alone;
        if !asks && !is_ack_due {
            self.paced_until = match permit {
                Permit::At(at) if has_work => Some(at),
                _ => None,
            };
            return None;
        }
        if let Some(ack) = self.arrivals.take(now, writer.room()) {
            let largest = ack.largest;
            writer.push(&Frame::Ack(ack), Some(Carried::Ack { largest }));
        }
        if asks {
            self.fill_control(writer);
            if self.streams.fill_data(now, writer) {
                self.recovery.handle_interaction(now);
            }
            if self.recovery.owes_probe() && !writer.asks() {
                writer.push(&Frame::Ping, None);
            }
        }
        Some(())
    }

    fn fill_control(&mut self, writer: &mut Writer) {
        while writer.room() >= CONTROL_ROOM
            && let Some(id) = self.streams.table.take_refusal()
        {
            let code = REFUSED;
            writer.push(&Frame::Reset { id, code, end: 0 }, Some(Carried::Refusal(id)));
            writer.push(&Frame::Stop { id, code }, None);
        }
        while writer.room() >= CONTROL_ROOM && self.streams.fill_control(writer) {}
    }

    fn retire(&mut self, id: StreamId) {
        if self.streams.retire(id) {
            self.events.forget(id);
        }
    }
}
