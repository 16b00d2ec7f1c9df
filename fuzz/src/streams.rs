//! The layer of streams: its frames, and an end that is handed any packets.

use arbitrary::Unstructured;
use rove_congestion::new_reno::NewReno;
use rove_streams::{Frame, FrameError, Frames, Mux, PacketNum, Side};
use rove_units::{Bytes, Duration, Instant};

/// Most bytes of a packet's payload.
const PACKET: usize = 1_176;

/// Most bytes that an end keeps for a peer. Each stream has a first credit, and all share the pool.
const HELD_MAX: u64 = 257 * 16 * 1024 + 4 * 1024 * 1024;

/// Any bytes as frames, and as packets for an end that stays within its bounds.
pub fn streams_take_anything(data: &[u8]) {
    frames_read_back(data);
    let side = if data.len().is_multiple_of(2) { Side::Client } else { Side::Server };
    let controller = NewReno::new(Bytes::from(PACKET));
    let mut mux = Mux::new(side, Box::new(controller), PACKET, Instant::ZERO);
    let own = mux.open(Instant::ZERO).expect("the first");
    let _ = mux.write(own, &[1; 5_000]);
    let mut input = Unstructured::new(data);
    let mut now = Instant::ZERO;
    for number in 0.. {
        let (false, Ok(len)) = (input.is_empty(), input.arbitrary::<u8>()) else { break };
        let payload = input.bytes(usize::from(len).min(input.len())).unwrap_or_default();
        now += Duration::from_millis(len.into());
        let number = PacketNum::new(number).expect("few packets");
        let _ = mux.handle_packet(now, number, &[&[0; 4], payload].concat());
        answer(&mut mux, now, payload);
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

/// Lets the owner of an end answer, and the end send.
fn answer(mux: &mut Mux, now: Instant, bytes: &[u8]) {
    while let Some(id) = mux.accept() {
        let _ = (mux.write(id, bytes), mux.finish(id));
        let _ = mux.read(now, id, &mut [0; 64]);
    }
    while let Some(packet) = mux.poll_transmit(now) {
        assert!(packet.payload.len() <= PACKET);
    }
    while mux.poll_event().is_some() {}
    assert!(mux.held() <= HELD_MAX);
}
