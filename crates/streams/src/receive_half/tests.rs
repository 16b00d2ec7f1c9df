//! Bytes that arrive in any order, and frames that break a rule and are refused.

use proptest::prelude::*;

use super::*;
use crate::error::PacketError::{TooManyGaps, Violation as Broken};

const LIMIT: u64 = 4_096;

fn read(half: &mut ReceiveHalf) -> Vec<u8> {
    let (mut all, mut buffer) = (Vec::new(), [0; 7]);
    while let Ok(Read::Bytes(len)) = half.read(&mut buffer) {
        all.extend(&buffer[..len]);
    }
    all
}

proptest! {
    #[test]
    fn bytes_in_any_order_and_any_pieces_are_the_stream(
        pieces in prop::collection::vec((0..200_usize, 0..60_usize, any::<bool>()), 1..80), len in 1..200_usize,
    ) {
        let stream: Vec<u8> = (0..len).map(|it| u8::try_from(it).unwrap()).collect();
        let (mut half, mut found) = (ReceiveHalf::new(), Vec::new());
        for (start, count, reads) in pieces.into_iter().chain([(0, len, true)]) {
            let (start, end) = (start.min(len), (start + count).min(len));
            half.handle_data(start as u64, &stream[start..end], end == len, LIMIT).unwrap();
            if reads {
                found.extend(read(&mut half));
            }
            prop_assert!(half.held() <= len as u64 && stream.starts_with(&found));
        }
        prop_assert_eq!(found, stream);
        prop_assert_eq!(half.read(&mut [0]), Err(StreamError::Unknown), "the end was read");
        prop_assert!(half.is_done() && half.held() == 0);
    }
}

#[test]
fn a_peer_that_contradicts_itself_is_found_out() {
    let known = || {
        let mut half = ReceiveHalf::new();
        half.handle_data(0, b"abc", false, LIMIT).unwrap();
        half.handle_data(5, b"fg", true, LIMIT).unwrap();
        half
    };
    for (offset, bytes, is_end, error) in [
        (u64::MAX, &b"x"[..], false, Violation::BeyondCredit),
        (LIMIT, b"x", false, Violation::BeyondCredit),
        (7, b"x", false, Violation::BeyondEnd),
        (7, b"x", true, Violation::TwoEnds),
        (0, b"a", true, Violation::TwoEnds),
    ] {
        assert_eq!(
            known().handle_data(offset, bytes, is_end, LIMIT),
            Err(Broken(error)),
            "{offset}"
        );
    }
    let mut open = ReceiveHalf::new();
    open.handle_data(0, b"abc", false, LIMIT).unwrap();
    assert_eq!(open.handle_data(0, b"ab", true, LIMIT), Err(Broken(Violation::BeyondEnd)));
    assert_eq!(open.handle_reset(1, 2, LIMIT), Err(Violation::BeyondEnd));
    assert_eq!(open.handle_reset(1, LIMIT + 1, LIMIT), Err(Violation::BeyondCredit));
    // Other bytes for the same offset change nothing.
    open.handle_data(0, b"xyzd", true, LIMIT).unwrap();
    assert_eq!(read(&mut open), b"abcd");
}

#[test]
fn pieces_are_bounded_and_the_next_bytes_are_always_taken() {
    let mut half = ReceiveHalf::new();
    let pieces = PIECES_MAX as u64;
    for piece in 1..=pieces {
        half.handle_data(2 * piece, b"x", false, LIMIT).unwrap();
    }
    assert_eq!(half.handle_data(2 * pieces + 2, b"x", false, LIMIT), Err(TooManyGaps));
    assert_eq!(half.handle_data(2 * pieces + 1, b"x", false, LIMIT), Ok(()), "it touches another");
    assert_eq!(half.handle_data(0, b"x", false, LIMIT), Ok(()));
    assert_eq!(half.handle_data(1, b"x", false, LIMIT), Ok(()));
    assert_eq!(read(&mut half), b"xxx");
}

#[test]
fn a_reset_is_told_once_unless_everything_has_arrived() {
    let mut half = ReceiveHalf::new();
    half.handle_data(0, b"ab", false, LIMIT).unwrap();
    half.handle_reset(7, 9, LIMIT).unwrap();
    half.handle_reset(7, 9, LIMIT).unwrap();
    assert!(half.is_readable() && half.held() == 0);
    assert_eq!(half.read(&mut [0]), Err(StreamError::Reset(7)));
    assert!(half.is_done() && !half.is_readable());
    let mut whole = ReceiveHalf::new();
    whole.handle_data(0, b"ab", true, LIMIT).unwrap();
    whole.handle_reset(7, 2, LIMIT).unwrap();
    assert_eq!(read(&mut whole), b"ab");
    assert!(whole.is_done());
    let mut stopped = ReceiveHalf::new();
    assert!(stopped.stop() && !stopped.stop() && !stopped.is_done());
    stopped.handle_data(0, b"ab", false, LIMIT).unwrap();
    assert_eq!((stopped.held(), stopped.is_readable()), (0, false));
    stopped.handle_reset(7, 2, LIMIT).unwrap();
    assert!(stopped.is_done());
}
