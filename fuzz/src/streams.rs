//! The layer of streams: its frames, its messages, and an end that is handed any packets.

use arbitrary::Unstructured;
use rove_congestion::new_reno::NewReno;
use rove_streams::{
    Answer, Event, Frame, FrameError, Frames, Mux, PacketNum, Reception, Side, Target,
};
use rove_units::{Bytes, Duration, Instant};

/// Most bytes of a packet's payload.
const PACKET: usize = 1_176;

/// Most bytes that an end keeps for a peer. Each stream has a first credit, and all share the pool.
const HELD_MAX: u64 = 257 * 16 * 1024 + 4 * 1024 * 1024;

/// Any bytes as frames, and as packets for an end that stays within its bounds.
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

/// Frames that are read and written again are read alike.
fn frames_read_back(data: &[u8]) {
    let frames: Result<Vec<Frame<'_>>, FrameError> = Frames::of(data).collect();
    let Ok(frames) = frames else { return };
    let mut again = Vec::new();
    frames.iter().for_each(|it| it.encode(&mut again));
    assert_eq!(Frames::of(&again).collect::<Result<Vec<_>, _>>(), Ok(frames));
}

/// A place within the bounds has a message that names it.
fn messages_read_back(data: &[u8]) {
    let _ = Answer::decode(data);
    let Ok(target) = Target::decode(data) else { return };
    let message = target.encode();
    let fields = message.iter().position(|byte| byte & 0x80 == 0).map(|end| &message[end + 1..]);
    assert_eq!(Target::decode(fields.expect("a length")), Ok(target));
}

/// Lets the owner of an end answer, and the end send.
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
