//! An end of the streams layer, and an owner that writes and checks bytes by a plan.

use core::net::SocketAddr;
use std::collections::BTreeMap;

use rove_congestion::Controller;
use rove_congestion::cubic::Cubic;
use rove_link::net::{End, LEFT_ADDRESS, RIGHT_ADDRESS};
use rove_streams::{Event, Mux, PacketNum, Read, Side, StreamError, StreamId};
use rove_units::{Bytes, Instant};

/// Bytes that sealing adds: header and tag.
pub(crate) const SEAL: usize = 24;

/// Bytes of the payload of a full packet, which is sent in a datagram of 1,200 bytes.
pub(crate) const PACKET: usize = 1_200 - SEAL;

/// The plan of an end for a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// How many bytes the end writes.
    pub(crate) writes: u64,
    /// After how many written bytes the end resets its sending direction.
    pub(crate) resets_at: Option<u64>,
    /// After how many bytes the end stops reading, and whether it tells the peer so.
    pub(crate) reads: Option<(u64, bool)>,
}

/// The progress of a stream at one end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) plan: Plan,
    pub(crate) written: u64,
    pub(crate) read: u64,
    /// Whether this end has read all that the peer writes, and the end of the stream.
    pub(crate) is_ended: bool,
    /// Whether the peer has reset its direction.
    pub(crate) is_reset: bool,
    /// Whether this end has finished or reset its direction.
    pub(crate) is_finished: bool,
    /// When the last byte was read.
    pub(crate) read_at: Instant,
}

/// An end of the streams layer, and its owner.
pub(crate) struct Host {
    pub(crate) mux: Mux,
    pub(crate) jobs: BTreeMap<StreamId, Job>,
    /// The plan of a stream that the peer opens.
    answer: fn(StreamId) -> Plan,
    peer: SocketAddr,
    pub(crate) held_most: u64,
    pub(crate) sent: u64,
}

/// Returns a stream's byte at an offset.
pub(crate) fn byte(id: StreamId, from: Side, offset: u64) -> u8 {
    let salt = id.get() * 5 + u64::from(from == Side::Server);
    let [byte, ..] = (offset.wrapping_mul(31) ^ (offset >> 7) ^ salt).to_le_bytes();
    byte
}

impl Host {
    pub(crate) fn new(side: Side, answer: fn(StreamId) -> Plan) -> Self {
        Self::with(side, answer, Box::new(Cubic::new(Bytes::from(PACKET))))
    }

    pub(crate) fn with(
        side: Side,
        answer: fn(StreamId) -> Plan,
        controller: Box<dyn Controller>,
    ) -> Self {
        let peer = if side == Side::Client { RIGHT_ADDRESS } else { LEFT_ADDRESS };
        let mux = Mux::new(side, controller, PACKET, Instant::ZERO);
        Self { mux, jobs: BTreeMap::new(), answer, peer, held_most: 0, sent: 0 }
    }

    /// Opens a stream with a plan.
    pub(crate) fn open(&mut self, now: Instant, plan: Plan) -> StreamId {
        let id = self.mux.open(now).expect("few streams");
        self.begin(now, id, plan);
        id
    }

    fn side(&self) -> Side {
        if self.peer == RIGHT_ADDRESS { Side::Client } else { Side::Server }
    }

    fn begin(&mut self, now: Instant, id: StreamId, plan: Plan) {
        self.jobs.insert(id, Job { plan, ..Job::default() });
        self.write(id);
        self.read(now, id);
    }

    fn write(&mut self, id: StreamId) {
        let side = self.side();
        let job = self.jobs.get_mut(&id).expect("a known stream");
        while !job.is_finished {
            let end = job.plan.resets_at.unwrap_or(job.plan.writes);
            if job.written == end {
                job.is_finished = true;
                let done = if job.plan.resets_at.is_some() {
                    self.mux.reset(id, 9)
                } else {
                    self.mux.finish(id)
                };
                assert!(done.is_ok() || self.mux.closed().is_some(), "{done:?}");
                return;
            }
            let chunk = (end - job.written).min(10_000);
            let bytes: Vec<u8> = (0..chunk).map(|it| byte(id, side, job.written + it)).collect();
            match self.mux.write(id, &bytes) {
                Ok(0) => return,
                Ok(taken) => job.written += taken as u64,
                Err(StreamError::Stopped(_) | StreamError::Closed) => job.is_finished = true,
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn read(&mut self, now: Instant, id: StreamId) {
        let writer = if self.side() == Side::Client { Side::Server } else { Side::Client };
        let job = self.jobs.get_mut(&id).expect("a known stream");
        let mut buffer = [0; 5_000];
        while !job.is_ended && !job.is_reset {
            let left = job.plan.reads.map_or(u64::MAX, |(most, _)| most - job.read);
            if left == 0 {
                if job.plan.reads.is_some_and(|(_, says_so)| says_so) {
                    // The call fails if the layer has already removed the stream.
                    let _ = self.mux.stop(id, 5);
                    job.is_reset = true;
                }
                return;
            }
            let max = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            match self.mux.read(now, id, &mut buffer[..max]) {
                Ok(Read::Bytes(count)) => {
                    for found in &buffer[..count] {
                        assert_eq!(
                            *found,
                            byte(id, writer, job.read),
                            "stream {id} at {}",
                            job.read
                        );
                        job.read += 1;
                    }
                    job.read_at = now;
                }
                Ok(Read::Blocked) | Err(StreamError::Closed) => return,
                Ok(Read::End) => job.is_ended = true,
                Err(StreamError::Reset(code)) => {
                    assert!([9, rove_streams::STOPPED, rove_streams::REFUSED].contains(&code));
                    job.is_reset = true;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn turn(&mut self, now: Instant) {
        while let Some(event) = self.mux.poll_event() {
            match event {
                Event::Incoming => {
                    while let Some(id) = self.mux.accept() {
                        self.begin(now, id, (self.answer)(id));
                    }
                }
                Event::Readable(id) => self.read(now, id),
                Event::Writable(id) => self.write(id),
                Event::Stopped(id) => {
                    self.jobs.get_mut(&id).expect("a known stream").is_finished = true
                }
                Event::Finished(_) | Event::Closed => {}
            }
        }
    }
}

impl End for Host {
    fn handle_datagram(&mut self, now: Instant, _: SocketAddr, payload: &[u8]) {
        let (number, rest) = payload.split_first_chunk().expect("a packet's number");
        let number = PacketNum::new(u64::from_be_bytes(*number)).expect("small");
        let payload = &rest[..rest.len() - (SEAL - 8)];
        let _ = self.mux.handle_packet(now, number, payload);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.mux.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        self.turn(now);
        self.held_most = self.held_most.max(self.mux.held());
        let packet = self.mux.poll_transmit(now)?;
        assert!(packet.payload.len() <= PACKET);
        let mut datagram = packet.number.get().to_be_bytes().to_vec();
        datagram.extend(packet.payload);
        datagram.extend([0; SEAL - 8]);
        self.sent += datagram.len() as u64;
        Some((self.peer, datagram))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.mux.poll_timeout()
    }
}
