//! All streams of an end: their table, the memory that they share, and their order of sending.

use std::collections::BTreeSet;

use rove_units::{Duration, Instant};

use crate::credit::{FIRST_CREDIT, Pool, share};
use crate::error::{PacketError, STOPPED, StreamError, Violation};
use crate::event::{Event, Events};
use crate::frame::{Frame, data_overhead};
use crate::id::{Side, StreamId};
use crate::receive_half::Read;
use crate::recovery::Carried;
use crate::scheduler::Scheduler;
use crate::stream::Stream;
use crate::table::Table;
use crate::writer::Writer;

/// Minimum number of stream bytes that are worth a frame beside others. Chosen: a frame's header takes about ten bytes.
const DATA_MIN: usize = 32;

/// The streams of an end.
#[derive(Debug)]
pub(crate) struct Streams {
    side: Side,
    pub(crate) table: Table,
    scheduler: Scheduler,
    /// Streams that have frames other than data to send.
    control: BTreeSet<StreamId>,
    /// Streams whose owner waits until they have room for more bytes.
    waiting: BTreeSet<StreamId>,
    receive_pool: Pool,
    send_pool: Pool,
}

impl Streams {
    pub(crate) fn new(side: Side, now: Instant) -> Self {
        Self {
            side,
            table: Table::new(side, now),
            scheduler: Scheduler::default(),
            control: BTreeSet::new(),
            waiting: BTreeSet::new(),
            receive_pool: Pool::new(),
            send_pool: Pool::new(),
        }
    }

    pub(crate) fn clear(&mut self, now: Instant) {
        *self = Self::new(self.side, now);
    }

    /// Returns whether any stream has data or control frames to send.
    pub(crate) fn has_work(&self) -> bool {
        !self.scheduler.is_empty() || !self.control.is_empty() || self.table.owes_refusal()
    }

    /// Returns how many bytes are kept: written ones that are not acknowledged, and received ones that are not read.
    pub(crate) fn held(&self) -> u64 {
        self.table.iter().map(|it| it.send.held() + it.receive.held()).sum()
    }

    /// Returns how many bytes may be written, or why none ever may. At 0, [`Event::Writable`] tells when there is room.
    pub(crate) fn wait_for_room(&mut self, id: StreamId) -> Result<usize, StreamError> {
        let room = self.room(id)?;
        if room == 0 {
            self.waiting.insert(id);
        }
        Ok(usize::try_from(room).unwrap_or(usize::MAX))
    }

    pub(crate) fn write(&mut self, id: StreamId, bytes: &[u8]) -> Result<usize, StreamError> {
        let room = self.room(id)?;
        let len = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        let (taken, rest) = bytes.split_at_checked(len).unwrap_or((bytes, &[]));
        self.change_sending(id, |stream| stream.send.write(taken));
        if !rest.is_empty() {
            self.waiting.insert(id);
        }
        Ok(taken.len())
    }

    pub(crate) fn read(
        &mut self,
        now: Instant,
        id: StreamId,
        buffer: &mut [u8],
        srtt: Duration,
    ) -> Result<Read, StreamError> {
        let stream = self.table.stream_mut(id).ok_or(StreamError::Unknown)?;
        let read = stream.receive.read(buffer);
        if stream.receive.is_done() {
            stream.credit.release(&mut self.receive_pool);
        }
        let read = read?;
        let bytes = stream.receive.read_bytes();
        if stream.receive.wants_credit()
            && stream.credit.handle_read(now, bytes, srtt, &mut self.receive_pool)
        {
            stream.owes_credit = true;
            self.control.insert(id);
        }
        Ok(read)
    }

    pub(crate) fn finish(&mut self, id: StreamId) -> Result<(), StreamError> {
        self.check_ends(id)?;
        self.change_sending(id, |stream| stream.send.finish());
        Ok(())
    }

    pub(crate) fn reset(&mut self, id: StreamId, code: u64) -> Result<(), StreamError> {
        self.check_ends(id)?;
        self.change_sending(id, |stream| stream.send.reset(code));
        Ok(())
    }

    pub(crate) fn stop(&mut self, id: StreamId, code: u64) -> Result<(), StreamError> {
        self.check_ends(id)?;
        let stream = self.table.stream_mut(id).ok_or(StreamError::Unknown)?;
        if stream.receive.stop() {
            (stream.stop_due, stream.stop_code) = (Some(code), code);
            self.control.insert(id);
        }
        stream.credit.release(&mut self.receive_pool);
        Ok(())
    }

    /// Handles a frame of a stream. A frame of a stream that has ended or was refused has no effect.
    pub(crate) fn handle_frame(
        &mut self,
        id: StreamId,
        frame: &Frame<'_>,
        events: &mut Events,
    ) -> Result<(), PacketError> {
        let ends = match frame {
            Frame::Data { is_end, .. } => *is_end,
            Frame::Reset { .. } | Frame::Stop { .. } => true,
            _ => false,
        };
        if ends && id == StreamId::CONTROL {
            return Err(Violation::ControlEnded.into());
        }
        let Some(stream) = self.table.stream_mut(id) else { return Ok(()) };
        let limit = stream.credit.limit();
        match *frame {
            Frame::Data { offset, is_end, bytes, .. } => {
                stream.receive.handle_data(offset, bytes, is_end, limit)?;
            }
            Frame::Reset { code, end, .. } => stream.receive.handle_reset(code, end, limit)?,
            Frame::Credit { limit, .. } => {
                self.change_sending(id, |stream| stream.send.handle_credit(limit));
                return Ok(());
            }
            Frame::Stop { code, .. } => {
                self.handle_stop(id, code, events);
                return Ok(());
            }
            Frame::Ping | Frame::Ack(_) | Frame::Close { .. } => {}
        }
        if stream.receive.is_readable() {
            events.push(Event::Readable(id));
        }
        Ok(())
    }

    /// Handles the acknowledgment of a part of a packet. Returns the stream, if any, that may thus be fully sent.
    pub(crate) fn handle_acked(
        &mut self,
        carried: &Carried,
        events: &mut Events,
    ) -> Option<StreamId> {
        match carried {
            Carried::Data { id, range, is_end } => {
                self.change_sending(*id, |stream| stream.send.handle_acked(range.clone(), *is_end));
                if self.table.stream(*id).is_some_and(|it| it.send.is_finished()) {
                    events.push(Event::Finished(*id));
                }
                Some(*id)
            }
            Carried::Reset(id) => {
                self.table.stream_mut(*id)?.send.handle_reset_acked();
                Some(*id)
            }
            Carried::Refusal(id) => {
                self.table.handle_refusal(*id, true);
                None
            }
            Carried::Ack { .. } | Carried::Credit(_) | Carried::Stop(_) => None,
        }
    }

    /// Called when a part of a packet may be lost. The part is then sent again, if the peer still needs it.
    pub(crate) fn handle_lost(&mut self, carried: &Carried) {
        match carried {
            Carried::Data { id, range, is_end } => {
                self.change_sending(*id, |stream| stream.send.handle_lost(range.clone(), *is_end));
            }
            Carried::Credit(id) => self.owe(*id, |it| it.owes_credit = it.receive.wants_credit()),
            Carried::Reset(id) => self.owe(*id, |it| it.send.handle_reset_lost()),
            Carried::Stop(id) => {
                self.owe(*id, |it| {
                    it.stop_due = Some(it.stop_code).filter(|_| !it.receive.is_done())
                });
            }
            Carried::Refusal(id) => self.table.handle_refusal(*id, false),
            Carried::Ack { .. } => {}
        }
    }

    /// Queues [`Event::Writable`] for streams that waited for room and have some.
    pub(crate) fn wake_writers(&mut self, events: &mut Events) {
        for id in core::mem::take(&mut self.waiting) {
            match self.room(id) {
                Ok(0) => drop(self.waiting.insert(id)),
                Ok(_) => events.push(Event::Writable(id)),
                Err(_) => {}
            }
        }
    }

    /// Appends the frames other than data of the next stream. Returns false if no stream has any.
    pub(crate) fn fill_control(&mut self, writer: &mut Writer) -> bool {
        let Some(id) = self.control.pop_first() else { return false };
        let Some(stream) = self.table.stream_mut(id) else { return true };
        if core::mem::take(&mut stream.owes_credit) {
            let limit = stream.credit.limit();
            writer.push(&Frame::Credit { id, limit }, Some(Carried::Credit(id)));
        }
        if let Some((code, end)) = stream.send.reset_due() {
            stream.send.handle_reset_sent();
            writer.push(&Frame::Reset { id, code, end }, Some(Carried::Reset(id)));
        }
        if let Some(code) = stream.stop_due.take() {
            writer.push(&Frame::Stop { id, code }, Some(Carried::Stop(id)));
        }
        true
    }

    /// Fills a packet with bytes of streams, in their order of sending. Returns whether the packet has all that an
    /// interactive stream had to send, such as a key typed into ssh.
    pub(crate) fn fill_data(&mut self, now: Instant, writer: &mut Writer) -> bool {
        let mut has_interaction = false;
        loop {
            let table = &self.table;
            let is_interactive =
                |id| table.stream(id).is_some_and(|it| it.meter.is_interactive(now));
            let Some(id) = self.scheduler.next(is_interactive) else { return has_interaction };
            let is_interactive = is_interactive(id);
            let overhead = data_overhead(id, u64::MAX, writer.room());
            let Some(room) = writer.room().checked_sub(overhead) else { return has_interaction };
            let Some(stream) = self.table.stream_mut(id).filter(|_| room >= DATA_MIN) else {
                return has_interaction;
            };
            if let Some(chunk) = stream.send.take(room) {
                let (range, is_end) = (chunk.range, chunk.is_end);
                let bytes = stream.send.copy(&range);
                let len = bytes.len() as u64;
                stream.meter.count(now, len);
                let frame = Frame::Data { id, offset: range.start, is_end, bytes: &bytes };
                writer.push(&frame, Some(Carried::Data { id, range, is_end }));
                self.scheduler.handle_sent(id, len, is_interactive);
            }
            if !stream.send.has_work() {
                has_interaction |= is_interactive && stream.meter.is_interactive(now);
                self.scheduler.remove(id);
            }
        }
    }

    /// Removes a stream if both directions are over. Returns whether it was removed.
    pub(crate) fn retire(&mut self, id: StreamId) -> bool {
        let is_done = self.table.stream(id).is_some_and(Stream::is_done);
        let Some(mut stream) = (if is_done { self.table.remove(id) } else { None }) else {
            return false;
        };
        stream.credit.release(&mut self.receive_pool);
        self.send_pool.exchange(share(stream.send.held()), 0);
        self.scheduler.remove(id);
        self.control.remove(&id);
        self.waiting.remove(&id);
        true
    }

    fn handle_stop(&mut self, id: StreamId, code: u64, events: &mut Events) {
        let Some(stream) = self.table.stream_mut(id).filter(|it| !it.send.is_done()) else {
            return;
        };
        if stream.stopped.is_none() {
            stream.stopped = Some(code);
            events.push(Event::Stopped(id));
            self.change_sending(id, |stream| stream.send.reset(STOPPED));
        }
    }

    /// Returns how many bytes may be written to a stream. A stream that takes no more bytes is an error.
    fn room(&self, id: StreamId) -> Result<u64, StreamError> {
        let stream = self.table.stream(id).ok_or(StreamError::Unknown)?;
        if let Some(code) = stream.stopped {
            return Err(StreamError::Stopped(code));
        }
        if !stream.send.is_open() {
            return Err(StreamError::Unknown);
        }
        let held = stream.send.held();
        let first = FIRST_CREDIT.saturating_sub(held);
        let room = stream.send.room();
        Ok(room.min(first + self.send_pool.offer(share(held), room)))
    }

    /// Calls `change` on a stream, and then updates the shared memory and the order of sending.
    fn change_sending(&mut self, id: StreamId, change: impl FnOnce(&mut Stream)) {
        let Some(stream) = self.table.stream_mut(id) else { return };
        let before = share(stream.send.held());
        change(stream);
        self.send_pool.exchange(before, share(stream.send.held()));
        if stream.send.has_work() {
            self.scheduler.add(id);
        } else {
            self.scheduler.remove(id);
        }
        if stream.owes_control() {
            self.control.insert(id);
        }
    }

    fn owe(&mut self, id: StreamId, change: impl FnOnce(&mut Stream)) {
        let Some(stream) = self.table.stream_mut(id) else { return };
        change(stream);
        if stream.owes_control() {
            self.control.insert(id);
        }
    }

    /// Returns an error for an unknown stream, and for the control stream, which never ends.
    fn check_ends(&self, id: StreamId) -> Result<(), StreamError> {
        let is_there = id != StreamId::CONTROL && self.table.stream(id).is_some();
        if is_there { Ok(()) } else { Err(StreamError::Unknown) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a packet at this time contains all waiting bytes of an interactive stream.
    fn sends_interaction(streams: &mut Streams, millis: u64) -> bool {
        let now = Instant::from_millis(millis);
        streams.fill_data(now, &mut Writer::new(now, 1_176))
    }

    #[test]
    fn a_lone_key_is_an_interaction_and_a_copy_is_none() {
        let mut streams = Streams::new(Side::Client, Instant::ZERO);
        let [key, copy] = [(); 2].map(|()| streams.table.open(Instant::ZERO).unwrap());
        assert_eq!(streams.write(copy, &[7; 10_000]), Ok(10_000));
        for millis in 2_000..2_005 {
            assert!(!sends_interaction(&mut streams, millis), "more is to be sent");
        }
        assert_eq!(streams.write(key, b"k"), Ok(1));
        assert!(sends_interaction(&mut streams, 2_010));
        for millis in (2_020..2_100).step_by(10) {
            assert!(!sends_interaction(&mut streams, millis), "the rest of the copy");
        }
        assert!(!streams.has_work());
    }
}
