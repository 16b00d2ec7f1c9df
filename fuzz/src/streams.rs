//! The layer of streams: its frames, its messages, and an end that receives any packets.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use arbitrary::{Result as Drawn, Unstructured};
use rove_congestion::new_reno::NewReno;
use rove_streams::{
    Answer, Event, Frame, FrameError, Frames, Mux, Packet, PacketNum, Read, Reception, Side,
    StreamId, Target,
};
use rove_units::{Bytes, Duration, Instant};

/// Most bytes of a packet's payload in these runs.
const PACKET: usize = 1_176;

/// Most bytes that an end stores for its peer: the first credit of each stream, and the pool that all streams share.
const HELD_MAX: u64 = 257 * 16 * 1024 + 4 * 1024 * 1024;

/// Most events of two ends in a run.
const STEPS_MAX: usize = 400;

/// Most turns of both ends until everything has arrived, after the network works again. A lost packet is sent again
/// after at most 15 s.
const TURNS_MAX: usize = 4_000;

/// Reads any bytes as frames and messages, and gives them as packets to an end, which must stay within its bounds.
pub fn streams_take_anything(data: &[u8]) {
    frames_read_back(data);
    messages_read_back(data);
    let side = if data.len().is_multiple_of(2) { Side::Client } else { Side::Server };
    let controller = NewReno::new(Bytes::from(PACKET));
    let mut mux = Mux::new(side, Box::new(controller), PACKET, Instant::ZERO);
    let own = mux.open(Instant::ZERO).expect("the first");
    let _ = mux.write(own, &[1; 5_000]);
    let mut input = Unstructured::new(data);
    let mut reception = Reception::default();
    let mut now = Instant::ZERO;
    for number in 0.. {
        let (false, Ok(len)) = (input.is_empty(), input.arbitrary::<u8>()) else { break };
        let payload = input.bytes(usize::from(len).min(input.len())).unwrap_or_default();
        now += Duration::from_millis(len.into());
        let number = PacketNum::new(number).expect("few packets");
        let _ = mux.handle_packet(now, number, &[&[0; 4], payload].concat());
        answer(&mut mux, &mut reception, now, payload);
    }
}

/// Two ends of streams on a network that drops, repeats and reorders packets. Each byte must arrive once and in order.
pub fn streams_keep_order(data: &[u8]) {
    let mut pair = Pair::new();
    let _ = pair.run(&mut Unstructured::new(data));
    pair.heal();
}

/// An end of streams, with a record of the bytes that it has written and read.
struct Writer {
    mux: Mux,
    written: BTreeMap<StreamId, usize>,
    /// The streams whose direction from this end is over: finished (`true`) or reset (`false`).
    finished: BTreeMap<StreamId, bool>,
    /// For each stream, the number of bytes that this end has read, and whether it has read the end.
    read: BTreeMap<StreamId, (usize, bool)>,
    /// The streams that this end does not read at present, and the streams that it has stopped.
    paused: BTreeSet<StreamId>,
    stopped: BTreeSet<StreamId>,
    /// Packets on their way to this end.
    arriving: VecDeque<Packet>,
}

struct Pair {
    now: Instant,
    ends: [Writer; 2],
}

/// Returns the byte at an offset of a stream. It is the same in both directions.
fn byte_at(id: StreamId, offset: usize) -> u8 {
    let offset = u64::try_from(offset).expect("streams here are short");
    let [.., byte] = (id.get() * 31 + offset * 7 + offset / 251).to_be_bytes();
    byte
}

impl Pair {
    fn new() -> Self {
        let now = Instant::ZERO;
        let ends = [Side::Client, Side::Server].map(|side| Writer {
            mux: Mux::new(side, Box::new(NewReno::new(Bytes::from(PACKET))), PACKET, now),
            written: BTreeMap::new(),
            finished: BTreeMap::new(),
            read: BTreeMap::new(),
            paused: BTreeSet::new(),
            stopped: BTreeSet::new(),
            arriving: VecDeque::new(),
        });
        Self { now, ends }
    }

    fn run(&mut self, input: &mut Unstructured<'_>) -> Drawn<()> {
        for _ in 0..STEPS_MAX {
            if input.is_empty() {
                break;
            }
            let [step, choice] = input.arbitrary::<[u8; 2]>()?;
            let now = self.now;
            let pause = Duration::from_millis(choice.into());
            let (side, choice) = (usize::from(step & 1), usize::from(choice));
            let end = &mut self.ends[side];
            let chosen = end.written.keys().nth(choice % end.written.len().max(1)).copied();
            match (step >> 1 & 7, chosen) {
                (0, _) => {
                    if let Ok(id) = end.mux.open(now) {
                        end.written.insert(id, 0);
                    }
                }
                (1, Some(id)) => end.write(id, choice * 61),
                (2, Some(id)) => {
                    if end.mux.finish(id).is_ok() {
                        end.finished.entry(id).or_insert(true);
                    }
                }
                (3, Some(id)) => match choice & 7 {
                    0 if end.mux.reset(id, 9).is_ok() => drop(end.finished.insert(id, false)),
                    1 if end.mux.stop(id, 9).is_ok() => drop(end.stopped.insert(id)),
                    2 | 3 => drop(end.paused.insert(id)),
                    4 | 5 => drop(end.read(now, id, choice)),
                    6 => end.go_on(now, id),
                    _ => self.now += pause,
                },
                (4, _) => drop(end.arriving.pop_front()),
                (5, _) => {
                    let again = end.arriving.front().map(|it| (it.number, it.payload.clone()));
                    end.arriving.extend(again.map(|(number, payload)| Packet { number, payload }));
                }
                (6, _) if !end.arriving.is_empty() => {
                    let len = end.arriving.len();
                    end.arriving.swap(0, choice % len);
                }
                _ => self.now += pause,
            }
            self.turn(choice % 5);
        }
        Ok(())
    }

    /// Lets both ends send. Then up to `count` packets arrive at each end.
    fn turn(&mut self, count: usize) {
        for side in [0, 1] {
            self.ends[side].mux.handle_timeout(self.now);
            while let Some(packet) = self.ends[side].mux.poll_transmit(self.now) {
                assert!(packet.payload.len() <= PACKET);
                self.ends[1 - side].arriving.push_back(packet);
            }
        }
        for end in &mut self.ends {
            for _ in 0..count {
                let Some(packet) = end.arriving.pop_front() else { break };
                let _ = end.mux.handle_packet(self.now, packet.number, &packet.payload);
            }
            end.take(self.now);
            assert!(end.mux.closed().is_none(), "both keep the rules: {:?}", end.mux.closed());
            assert!(end.mux.held() <= 2 * HELD_MAX);
        }
    }

    /// Lets everything arrive and be read. Asserts that it was read.
    fn heal(&mut self) {
        for end in &mut self.ends {
            for id in end.paused.clone() {
                end.go_on(self.now, id);
            }
        }
        for _ in 0..TURNS_MAX {
            self.now += Duration::from_millis(20);
            self.turn(usize::MAX);
            let is_quiet = |end: &Writer| end.arriving.is_empty() && end.mux.in_flight() == 0;
            if self.ends.iter().all(is_quiet) && self.is_whole() {
                return;
            }
        }
        let state = self.ends.each_ref().map(|end| {
            (&end.written, &end.finished, &end.read, end.mux.in_flight(), end.arriving.len())
        });
        panic!("something is missing: {state:?}");
    }

    /// Returns whether every stream that was neither reset nor stopped has arrived completely.
    fn is_whole(&self) -> bool {
        [0, 1].into_iter().all(|side| {
            let (from, to) = (&self.ends[side], &self.ends[1 - side]);
            from.written.iter().all(|(id, len)| match from.finished.get(id) {
                Some(false) => true,
                _ if to.stopped.contains(id) => true,
                end => {
                    let (read, has_ended) = to.read.get(id).copied().unwrap_or_default();
                    // An end that has reset its own direction of a stream may have lost the other direction, too.
                    to.finished.get(id) == Some(&false)
                        || read == *len && (end.is_none() || has_ended)
                }
            })
        })
    }
}

impl Writer {
    fn write(&mut self, id: StreamId, len: usize) {
        if self.finished.contains_key(&id) {
            return;
        }
        let written = self.written.entry(id).or_default();
        let bytes: Vec<u8> = (*written..*written + len).map(|at| byte_at(id, at)).collect();
        *written += self.mux.write(id, &bytes).unwrap_or_default();
    }

    /// Handles the events of packets that have arrived.
    fn take(&mut self, now: Instant) {
        while let Some(event) = self.mux.poll_event() {
            match event {
                Event::Incoming => {
                    while let Some(id) = self.mux.accept() {
                        self.written.entry(id).or_default();
                        self.read_all(now, id);
                    }
                }
                Event::Readable(id) if !self.paused.contains(&id) => self.read_all(now, id),
                _ => {}
            }
        }
    }

    /// Continues to read a stream that this end has not read for a while.
    fn go_on(&mut self, now: Instant, id: StreamId) {
        self.paused.remove(&id);
        self.read_all(now, id);
    }

    fn read_all(&mut self, now: Instant, id: StreamId) {
        while self.read(now, id, 700) {}
    }

    /// Reads at most `len_max` bytes. Returns whether there may be more.
    fn read(&mut self, now: Instant, id: StreamId, len_max: usize) -> bool {
        let mut buffer = vec![0; len_max];
        let (read, has_ended) = self.read.entry(id).or_default();
        match self.mux.read(now, id, &mut buffer) {
            Ok(Read::Bytes(len)) => {
                for &byte in &buffer[..len] {
                    assert_eq!(byte, byte_at(id, *read), "{id:?} at {read}");
                    *read += 1;
                }
                len > 0
            }
            Ok(Read::End) => {
                assert!(!*has_ended, "it ends once");
                *has_ended = true;
                false
            }
            Ok(Read::Blocked) | Err(_) => false,
        }
    }
}

/// Frames that are written and read again must stay the same.
fn frames_read_back(data: &[u8]) {
    let frames: Result<Vec<Frame<'_>>, FrameError> = Frames::of(data).collect();
    let Ok(frames) = frames else { return };
    let mut again = Vec::new();
    frames.iter().for_each(|it| it.encode(&mut again));
    assert_eq!(Frames::of(&again).collect::<Result<Vec<_>, _>>(), Ok(frames));
}

/// A message that is written and read again must name the same target.
fn messages_read_back(data: &[u8]) {
    let _ = Answer::decode(data);
    let Ok(target) = Target::decode(data) else { return };
    let message = target.encode();
    let fields = message.iter().position(|byte| byte & 0x80 == 0).map(|end| &message[end + 1..]);
    assert_eq!(Target::decode(fields.expect("a length")), Ok(target));
}

/// Lets an end's owner answer incoming streams, and then lets the end send.
fn answer(mux: &mut Mux, reception: &mut Reception, now: Instant, bytes: &[u8]) {
    while let Some(event) = mux.poll_event() {
        match event {
            Event::Incoming => reception.handle_incoming(mux),
            Event::Readable(id) => {
                if reception.handle_readable(now, mux, id).is_some() {
                    let text = String::from_utf8_lossy(bytes).into_owned();
                    let is_open = bytes.len().is_multiple_of(2);
                    let refused = Answer::Refused { code: 3, text: text.clone() };
                    let opened = Answer::Opened { address: text };
                    reception.answer(mux, id, if is_open { &opened } else { &refused });
                }
                let _ = (mux.room(id), mux.write(id, bytes), mux.finish(id));
                let _ = mux.read(now, id, &mut [0; 64]);
            }
            Event::Stopped(id) => reception.give_up(mux, id),
            _ => {}
        }
    }
    while let Some(packet) = mux.poll_transmit(now) {
        assert!(packet.payload.len() <= PACKET);
    }
    assert!(mux.held() <= HELD_MAX);
}
