use proptest::prelude::*;

use super::*;
use crate::key::Key;

const KEY: [u8; 16] = *b"0123456789abcdef";

fn cipher() -> Cipher {
    Cipher::new(&Key::from_bytes(KEY))
}

fn datagram(direction: Direction, payload: Vec<u8>) -> Datagram {
    let timestamp = Timestamp16::new(46894);
    Datagram { direction, seq: SeqNum::new(0), timestamp, timestamp_reply: None, payload }
}

/// Seals any plaintext, even one that no end would send.
fn sealed(direction: Direction, plain: &[u8]) -> Vec<u8> {
    let mut message = plain.to_vec();
    let seq = SeqNum::new(9);
    let tag = cipher().seal(direction, seq, &mut message).unwrap();
    [direction.with_seq(seq).to_be_bytes().as_slice(), &message, &tag].concat()
}

fn refusal(bytes: &[u8]) -> Option<ReceiveError> {
    Datagram::open(&mut cipher(), Direction::ToServer, bytes).err()
}

#[test]
fn checks_come_in_this_order() {
    let to_server = |len| sealed(Direction::ToServer, &vec![0; len]);
    let to_client = |len| sealed(Direction::ToClient, &vec![0; len]);
    let forged = |mut bytes: Vec<u8>| {
        *bytes.last_mut().unwrap() ^= 1;
        bytes
    };
    for (bytes, expected) in [
        (to_server(4), None),
        (forged(to_client(2025)), Some(ReceiveError::TooLong { len: 2049 })),
        (vec![0; 23], Some(ReceiveError::Truncated { len: 23 })),
        (to_client(4), Some(ReceiveError::Reflected)),
        (forged(to_client(0)), Some(ReceiveError::Reflected)),
        (forged(to_server(0)), Some(ReceiveError::Forged)),
        (forged(to_server(100)), Some(ReceiveError::Forged)),
        (to_server(3), Some(ReceiveError::TimestampsTruncated { len: 3 })),
    ] {
        assert_eq!(refusal(&bytes), expected, "{} bytes", bytes.len());
    }
}

#[test]
fn lengths_are_refused_one_past_their_limits() {
    assert_eq!(refusal(&sealed(Direction::ToServer, &[0; 2024])), None);
    let too_long = ReceiveError::TooLong { len: 2049 };
    assert_eq!(refusal(&sealed(Direction::ToServer, &[0; 2025])), Some(too_long));
    for len in 0..24 {
        assert_eq!(refusal(&vec![0; len]), Some(ReceiveError::Truncated { len }));
    }
    for len in 0..4 {
        let truncated = ReceiveError::TimestampsTruncated { len };
        assert_eq!(refusal(&sealed(Direction::ToServer, &vec![0; len])), Some(truncated));
    }
}

#[test]
fn no_datagram_is_sealed_that_a_receiver_refuses() {
    let payload_max = DATAGRAM_LEN_MAX - DATAGRAM_OVERHEAD;
    let longest = datagram(Direction::ToServer, vec![1; payload_max]);
    let bytes = longest.seal(&mut cipher()).unwrap();
    assert_eq!(bytes.len(), DATAGRAM_LEN_MAX);
    assert_eq!(Datagram::open(&mut cipher(), Direction::ToServer, &bytes), Ok(longest));
    let longer = datagram(Direction::ToServer, vec![1; payload_max + 1]);
    let too_long = SendError::DatagramTooLong { len: DATAGRAM_LEN_MAX + 1 };
    assert_eq!(longer.seal(&mut cipher()), Err(too_long));
}

#[test]
fn another_key_opens_nothing() {
    let bytes = datagram(Direction::ToServer, vec![1; 50]).seal(&mut cipher()).unwrap();
    let mut other = Cipher::new(&Key::from_bytes([0; 16]));
    let opened = Datagram::open(&mut other, Direction::ToServer, &bytes);
    assert_eq!(opened, Err(ReceiveError::Forged));
}

#[test]
fn timestamps_never_show_the_bits_for_none() {
    for (millis, bits) in [
        (0, 0),
        (65_534, 65_534),
        (65_535, 0),
        (65_536, 0),
        (131_071, 0),
        (131_072, 0),
        (131_073, 1),
        (u64::MAX, 0),
        (u64::MAX - 1, 65_534),
    ] {
        assert_eq!(Timestamp16::from_millis(millis).get(), bits, "{millis}");
    }
    assert_eq!(Timestamp16::new(0xffff), None);
    assert_eq!(Timestamp16::new(0xfffe).map(Timestamp16::get), Some(0xfffe));
}

#[test]
fn timestamp_difference_survives_one_wrap() {
    let at = |bits| Timestamp16::new(bits).unwrap();
    for (later, earlier, millis) in [(5, 3, 2), (0, 65_534, 2), (7, 7, 0), (3, 5, 65_534)] {
        assert_eq!(at(later).millis_since(at(earlier)), millis);
    }
}

fn any_datagram() -> impl Strategy<Value = Datagram> {
    let payload = prop::collection::vec(any::<u8>(), 0..300);
    (any::<bool>(), any::<u64>(), any::<u16>(), any::<u16>(), payload).prop_map(
        |(to_client, seq, timestamp, timestamp_reply, payload)| Datagram {
            direction: if to_client { Direction::ToClient } else { Direction::ToServer },
            seq: SeqNum::new(seq),
            timestamp: Timestamp16::new(timestamp),
            timestamp_reply: Timestamp16::new(timestamp_reply),
            payload,
        },
    )
}

proptest! {
    #[test]
    fn a_sealed_datagram_opens(datagram in any_datagram()) {
        let bytes = datagram.seal(&mut cipher()).unwrap();
        prop_assert_eq!(bytes.len(), datagram.payload.len() + DATAGRAM_OVERHEAD);
        let opened = Datagram::open(&mut cipher(), datagram.direction, &bytes);
        prop_assert_eq!(opened, Ok(datagram));
    }

    #[test]
    fn any_changed_bit_is_a_forgery(datagram in any_datagram(), bit: prop::sample::Index) {
        let mut bytes = datagram.seal(&mut cipher()).unwrap();
        let bit = bit.index(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        // The tag covers the direction bit. If it is flipped, the other end opens the datagram, and the tag is wrong.
        let is_turned = bit == 7;
        let toward = if is_turned { datagram.direction.opposite() } else { datagram.direction };
        let opened = Datagram::open(&mut cipher(), toward, &bytes);
        prop_assert_eq!(opened, Err(ReceiveError::Forged));
    }

    #[test]
    fn arbitrary_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..2100)) {
        prop_assert!(refusal(&bytes).is_some());
    }
}
