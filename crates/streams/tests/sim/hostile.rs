//! A peer that has the key and breaks every rule. The end neither panics nor grows, and names the broken rule.

use proptest::prelude::*;
use rove_congestion::new_reno::NewReno;
use rove_streams::{
    AckFrame, Event, Frame, Mux, PACKET_MIN, PROTOCOL, PacketError, PacketNum, Side, StreamId,
    Violation,
};
use rove_units::{Bytes, Instant};

fn mux(side: Side) -> Mux {
    Mux::new(side, Box::new(NewReno::new(Bytes::new(1_176))), 1_176, Instant::ZERO)
}

/// Hands frames to an end as one packet.
fn give(mux: &mut Mux, number: u64, frames: &[Frame<'_>]) -> Result<(), PacketError> {
    let mut payload = vec![0; 4];
    frames.iter().for_each(|it| it.encode(&mut payload));
    mux.handle_packet(Instant::from_millis(number), PacketNum::new(number).expect("few"), &payload)
}

fn data(id: u64, offset: u64, bytes: &[u8], is_end: bool) -> Frame<'_> {
    Frame::Data { id: StreamId::new(id), offset, is_end, bytes }
}

#[test]
fn each_broken_rule_closes_the_layer_and_says_which() {
    let ack = AckFrame { largest: 5, ranges: vec![(0, 1)], ..AckFrame::default() };
    let long = vec![0; 16 * 1024 + 1];
    let id = StreamId::new;
    let cases = [
        (vec![Frame::Ack(ack)], Violation::AckOfUnsent),
        (vec![data(2, u64::MAX, b"x", false)], Violation::BeyondCredit),
        (vec![data(2, 0, &long, false)], Violation::BeyondCredit),
        (vec![data(2, 0, b"abc", true), data(2, 3, b"d", false)], Violation::BeyondEnd),
        (vec![data(2, 0, b"abc", true), data(2, 3, b"d", true)], Violation::TwoEnds),
        (
            vec![data(2, 0, b"abc", true), Frame::Reset { id: id(2), code: 0, end: 4 }],
            Violation::TwoEnds,
        ),
        (vec![data(1, 0, b"x", false)], Violation::NotOpened),
        (vec![Frame::Credit { id: id(7), limit: 9 }], Violation::NotOpened),
        (vec![data(u64::MAX - 1, 0, b"x", false)], Violation::FarAhead),
        (vec![data(0, 0, b"x", true)], Violation::ControlEnded),
        (vec![Frame::Reset { id: id(0), code: 1, end: 0 }], Violation::ControlEnded),
        (vec![Frame::Stop { id: id(0), code: 1 }], Violation::ControlEnded),
    ];
    for (frames, violation) in cases {
        let mut mux = mux(Side::Server);
        assert_eq!(
            give(&mut mux, 0, &frames),
            Err(PacketError::Violation(violation)),
            "{frames:?}"
        );
        let closed = mux.closed().expect("closed").clone();
        assert_eq!(
            (closed.is_by_peer, closed.code, closed.text),
            (false, PROTOCOL, violation.to_string())
        );
        assert_eq!(
            (mux.poll_event(), mux.held(), mux.poll_timeout()),
            (Some(Event::Closed), 0, None)
        );
        assert!(
            mux.poll_transmit(Instant::ZERO).is_some()
                && mux.poll_transmit(Instant::ZERO).is_none()
        );
        assert_eq!(give(&mut mux, 1, &frames), Err(PacketError::Closed));
    }
    let mut mux = mux(Side::Server);
    assert_eq!(
        mux.handle_packet(Instant::ZERO, PacketNum::default(), &[1, 2, 3]),
        Err(Violation::NoTime.into())
    );
}

#[test]
fn what_is_odd_but_harmless_changes_nothing() {
    let mut mux = mux(Side::Server);
    let id = StreamId::new(2);
    give(&mut mux, 0, &[data(2, 0, b"abc", false), data(2, 0, b"xyz", false)]).unwrap();
    give(&mut mux, 1, &[Frame::Credit { id, limit: 20_000 }, Frame::Credit { id, limit: 1 }])
        .unwrap();
    assert_eq!(mux.write(id, &[0; 40_000]), Ok(20_000 + 16_384), "credit never goes back");
    let mut buffer = [0; 9];
    assert_eq!(mux.read(Instant::ZERO, id, &mut buffer), Ok(rove_streams::Read::Bytes(3)));
    assert_eq!(buffer[..3], *b"abc", "the first bytes of an offset count");
    // A million empty frames are a few thousand packets that each draw at most an acknowledgment.
    let pings = vec![Frame::Ping; 256];
    for number in 2..4_000 {
        give(&mut mux, number, &pings).unwrap();
        while mux.poll_transmit(Instant::from_millis(number)).is_some() {}
    }
    assert!(mux.held() <= 20_000 + 16_384 && mux.closed().is_none());
}

#[test]
fn a_credit_of_all_numbers_lets_no_more_be_written_than_the_memory_holds() {
    let mut mux = mux(Side::Server);
    let id = StreamId::new(2);
    give(&mut mux, 0, &[data(2, 0, b"", false), Frame::Credit { id, limit: u64::MAX }]).unwrap();
    let taken = mux.write(id, &vec![0; 16 * 1024 * 1024]).unwrap();
    assert!((16_384..8 * 1024 * 1024).contains(&taken), "{taken}");
}

#[test]
fn a_flood_of_opens_is_refused_within_bounds() {
    let mut client = mux(Side::Client);
    let mut refused = None;
    for number in 0..100_000 {
        let id = 2 * number + 1;
        // All packets arrive within a second, and nothing is ever acknowledged.
        let mut payload = vec![0; 4];
        data(id, 0, b"x", false).encode(&mut payload);
        if let Err(error) =
            client.handle_packet(Instant::ZERO, PacketNum::new(number).unwrap(), &payload)
        {
            refused = Some((number, error));
            break;
        }
        while client.poll_transmit(Instant::ZERO).is_some() {}
        assert!(client.held() <= 100);
    }
    assert_eq!(
        refused,
        Some((356, Violation::TooManyRefused.into())),
        "100 in a second, and 256 refusals"
    );
}

#[test]
fn a_stranger_to_its_own_packets_still_reads_the_largest_of_them() {
    let mut mux = Mux::new(Side::Client, Box::new(NewReno::new(Bytes::new(400))), 0, Instant::ZERO);
    for number in 0..200 {
        let _ = give(&mut mux, 3 * number, &[Frame::Ping]);
    }
    let packet =
        mux.poll_transmit(Instant::from_millis(u64::MAX / 2_000_000)).expect("an acknowledgment");
    assert!(packet.payload.len() <= PACKET_MIN, "{} bytes", packet.payload.len());
}

fn any_frame() -> impl Strategy<Value = (u8, u64, u64, u64, u16)> {
    let small = prop_oneof![0..12_u64, Just(u64::MAX), any::<u64>()];
    (
        0..8_u8,
        prop_oneof![0..8_u64, 0..600_u64],
        prop_oneof![0..20_u64, 16_000..17_000_u64, any::<u64>()],
        small,
        0..900_u16,
    )
}

proptest! {
    #[test]
    fn no_frames_of_a_peer_cause_a_panic_or_growth(frames in prop::collection::vec(any_frame(), 1..200), answers: bool) {
        let mut mux = mux(Side::Server);
        let bytes = vec![7; 900];
        for (number, (kind, id, offset, other, len)) in (0..).zip(frames) {
            let (id, text) = (StreamId::new(id), &bytes[..usize::from(len).min(128)]);
            let frame = match kind {
                0 => Frame::Ping,
                1 => Frame::Ack(AckFrame { largest: other, ranges: vec![(0, 1)], ..AckFrame::default() }),
                2 | 3 => Frame::Data { id, offset, is_end: other == 1, bytes: &bytes[..usize::from(len)] },
                4 => Frame::Credit { id, limit: offset },
                5 => Frame::Reset { id, code: other, end: offset },
                6 => Frame::Stop { id, code: other },
                _ if len == 0 => Frame::Close { code: other, text },
                _ => Frame::Ping,
            };
            let _ = give(&mut mux, number, &[frame]);
            let now = Instant::from_millis(number);
            while let Some(id) = mux.accept() {
                if answers {
                    let _ = (mux.write(id, &[1; 100]), mux.finish(id), mux.read(now, id, &mut [0; 50]));
                }
            }
            while mux.poll_transmit(now).is_some() {}
            while mux.poll_event().is_some() {}
            prop_assert!(mux.held() <= 257 * 2 * 16 * 1024);
        }
    }
}
