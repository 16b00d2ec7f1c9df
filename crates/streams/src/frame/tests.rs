//! Encodes frames and reads them back, and refuses all other bytes.

use proptest::prelude::*;

use super::*;

fn ack(largest: u64, ranges: &[(u64, u64)]) -> AckFrame {
    AckFrame { largest, ranges: ranges.to_vec(), ..AckFrame::default() }
}

fn decode(bytes: &[u8]) -> Result<Vec<Frame<'_>>, FrameError> {
    Frames::of(bytes).collect()
}

#[test]
fn frames_have_these_bytes() {
    let id = StreamId::new(300);
    let times =
        AckFrame { delay_micros: 5, differences_micros: vec![1, -1], ..ack(9, &[(0, 2), (3, 1)]) };
    for (frame, bytes) in [
        (Frame::Ping, &[1][..]),
        (Frame::Ack(times), &[2, 9, 5, 2, 0, 2, 3, 1, 2, 2, 1][..]),
        (Frame::Data { id, offset: 1, is_end: true, bytes: b"ab" }, b"\x03\xAC\x02\x01\x01\x02ab"),
        (Frame::Credit { id, limit: 128 }, &[4, 0xAC, 2, 0x80, 1]),
        (Frame::Reset { id, code: 7, end: 2 }, &[5, 0xAC, 2, 7, 2]),
        (Frame::Stop { id, code: 7 }, &[6, 0xAC, 2, 7]),
        (Frame::Close { code: 1, text: b"why" }, b"\x07\x01\x03why"),
    ] {
        let mut out = vec![0, 0];
        frame.encode(&mut out);
        assert_eq!(&out[2..], bytes);
        assert_eq!(decode(&out), Ok(vec![frame]), "padding before it is nothing");
    }
}

#[test]
fn malformed_frames_are_refused_for_the_right_reason() {
    let pings = [1; FRAMES_MAX + 1];
    let text = |len: u8| [&[7, 0, len, 1][..], &[b'x'; 200]].concat();
    let times = |count| [&[2, 9, 0, 1, 0, 1, count][..], &[0; 40]].concat();
    for (bytes, error) in [
        (&[8][..], FrameError::Kind(8)),
        (&[0x81, 0], FrameError::Number),
        (&[3, 2, 0, 2, 0], FrameError::Flags(2)),
        (&[3, 2, 0, 0, 5, 1], FrameError::Length),
        (
            &[3, 2, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1],
            FrameError::Length,
        ),
        (&[4, 2], FrameError::Number),
        (&text(129), FrameError::Length),
        (&times(33), FrameError::Length),
        (&pings, FrameError::TooMany),
        (&[2, 9, 0, 65], FrameError::Length),
        (&[2, 9, 0, 0, 0], FrameError::Ack),
        (&[2, 9, 0, 1, 1, 1, 0], FrameError::Ack),
        (&[2, 9, 0, 1, 0, 0, 0], FrameError::Ack),
        (&[2, 9, 0, 1, 0, 11, 0], FrameError::Ack),
        (&[2, 9, 0, 2, 0, 2, 0, 1, 0], FrameError::Ack),
        (&[2, 9, 0, 2, 0, 10, 1, 1, 0], FrameError::Ack),
        (&[2, 9, 0, 2, 0, 2, 8, 1, 0], FrameError::Ack),
    ] {
        assert_eq!(decode(bytes).err(), Some(error), "{bytes:?}");
    }
    assert!(
        decode(&pings[1..]).is_ok()
            && decode(&times(32)).is_ok()
            && decode(&vec![0; 9_999]).is_ok()
    );
}

#[test]
fn an_acknowledgment_names_its_numbers() {
    assert_eq!(ack(9, &[(0, 2), (3, 1)]).numbers(), Some(vec![(8, 9), (4, 4)]));
    assert_eq!(ack(0, &[(0, 1)]).numbers(), Some(vec![(0, 0)]));
    assert_eq!(ack(9, &[(0, 2), (7, 1)]).numbers(), Some(vec![(8, 9), (0, 0)]));
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_harm_and_written_again_alike(bytes in prop::collection::vec(prop_oneof![0..9_u8, any::<u8>()], 0..300)) {
        if let Ok(frames) = decode(&bytes) {
            let mut out = Vec::new();
            frames.iter().for_each(|it| it.encode(&mut out));
            prop_assert_eq!(decode(&out), Ok(frames));
        }
    }

    #[test]
    fn the_overhead_of_data_is_what_it_adds(id: u64, offset: u64, len in 0..2_000_usize) {
        let (id, bytes) = (StreamId::new(id), vec![0; len]);
        let mut out = Vec::new();
        Frame::Data { id, offset, is_end: false, bytes: &bytes }.encode(&mut out);
        prop_assert_eq!(out.len(), len + data_overhead(id, offset, len));
    }
}
