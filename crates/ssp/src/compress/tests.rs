use proptest::prelude::*;

use super::*;

/// Bytes without any pattern that zlib finds (a 64-bit linear congruential generator).
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    (0..len).map(|_| next()).collect()
}

/// Compresses `plain` at any level, without the limits of an instruction.
fn compressed_at(level: u32, plain: &[u8]) -> Vec<u8> {
    let mut deflate = Compress::new(Compression::new(level), true);
    let mut out = Vec::with_capacity(plain.len() + plain.len() / 4 + 1024);
    let status = deflate.compress_vec(plain, &mut out, FlushCompress::Finish).unwrap();
    assert_eq!(status, Status::StreamEnd);
    out
}

#[test]
fn stream_is_zlib_at_the_default_level() {
    let compressed = Codec::new().compress(b"").unwrap();
    assert_eq!(compressed, [0x78, 0x9c, 3, 0, 0, 0, 0, 1]);
}

#[test]
fn instruction_of_the_limit_passes_and_one_byte_more_does_not() {
    let mut codec = Codec::new();
    let largest = vec![0; INSTRUCTION_LEN_MAX];
    let compressed = codec.compress(&largest).unwrap();
    let inflated = codec.inflate(&compressed).unwrap();
    assert!(inflated == largest);
    assert!(inflated.capacity() <= INSTRUCTION_LEN_MAX + 1);

    let larger = vec![0; INSTRUCTION_LEN_MAX + 1];
    let refused = SendError::TooLarge { len: larger.len() };
    assert_eq!(codec.compress(&larger), Err(refused));
    let too_large = ReceiveError::InstructionTooLarge { max: INSTRUCTION_LEN_MAX };
    assert_eq!(codec.inflate(&compressed_at(6, &larger)), Err(too_large));
}

#[test]
fn compressed_instruction_of_the_limit_passes_and_one_byte_more_does_not() {
    // Compressed noise is longer by a header, a trailer and a few bytes for each block. Two steps find the length that
    // compresses to the limit.
    let growth = |len| compressed_at(LEVEL, &noise(len)).len() - len;
    let near = COMPRESSED_LEN_MAX - growth(COMPRESSED_LEN_MAX);
    let mut codec = Codec::new();
    let largest = noise(COMPRESSED_LEN_MAX - growth(near));
    let compressed = codec.compress(&largest).unwrap();
    assert_eq!(compressed.len(), COMPRESSED_LEN_MAX);
    assert!(codec.inflate(&compressed).unwrap() == largest);

    let larger = noise(largest.len() + 1);
    let refused = SendError::TooLarge { len: COMPRESSED_LEN_MAX + 1 };
    assert_eq!(codec.compress(&larger), Err(refused));
}

#[test]
fn bomb_stops_at_the_limit() {
    let bomb = compressed_at(9, &vec![0; 64 << 20]);
    assert!(bomb.len() < 70_000);
    let mut codec = Codec::new();
    let too_large = ReceiveError::InstructionTooLarge { max: INSTRUCTION_LEN_MAX };
    assert_eq!(codec.inflate(&bomb), Err(too_large));
    assert!(codec.inflate.total_out() <= INSTRUCTION_LEN_MAX as u64 + 1);
}

#[test]
fn any_level_and_bytes_behind_the_stream_are_accepted() {
    let mut codec = Codec::new();
    let plain = [b"ls -l ".repeat(40), noise(300)].concat();
    for level in 0..=9 {
        let mut compressed = compressed_at(level, &plain);
        assert_eq!(codec.inflate(&compressed).unwrap(), plain);
        compressed.extend(noise(100));
        assert_eq!(codec.inflate(&compressed).unwrap(), plain);
    }
}

#[test]
fn stream_cut_anywhere_is_an_error_and_the_next_one_is_not() {
    let mut codec = Codec::new();
    let plain = [b"cd /usr/share ".repeat(20), noise(60)].concat();
    let compressed = codec.compress(&plain).unwrap();
    for len in 0..compressed.len() {
        assert_eq!(codec.inflate(&compressed[..len]), Err(ReceiveError::StreamTruncated), "{len}");
    }
    assert_eq!(codec.inflate(&compressed).unwrap(), plain);
}

#[test]
fn damaged_streams_are_errors() {
    let mut codec = Codec::new();
    let compressed = codec.compress(b"whoami; uname -a; uptime").unwrap();
    let changed = |at: usize| {
        let mut changed = compressed.clone();
        changed[at] ^= 0x40;
        changed
    };
    for (stream, what) in [
        (changed(0), "the header"),
        (changed(compressed.len() - 1), "the checksum"),
        (b"no stream at all".to_vec(), "text"),
        // This stream needs a preset dictionary, which no end has.
        (vec![0x78, 0xbb, 0, 0, 0, 1, 3, 0, 0, 0, 0, 1], "a dictionary"),
    ] {
        assert_eq!(codec.inflate(&stream), Err(ReceiveError::StreamBroken), "{what}");
    }
}

#[test]
fn sizes_around_each_step_of_room_inflate() {
    let mut codec = Codec::new();
    for step in [INFLATE_ROOM, 2 * INFLATE_ROOM, 4 * INFLATE_ROOM, 64 * INFLATE_ROOM] {
        for len in [step - 1, step, step + 1] {
            let compressed = codec.compress(&vec![1; len]).unwrap();
            assert_eq!(codec.inflate(&compressed).map(|plain| plain.len()), Ok(len));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn compressed_bytes_inflate(
        runs in prop::collection::vec((any::<u8>(), 0..300_usize), 0..40),
        tail in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut codec = Codec::new();
        let runs = runs.into_iter().flat_map(|(byte, len)| vec![byte; len]);
        let plain: Vec<u8> = runs.chain(tail).collect();
        let compressed = codec.compress(&plain).unwrap();
        prop_assert_eq!(codec.inflate(&compressed).unwrap(), plain);
    }

    #[test]
    fn arbitrary_bytes_inflate_or_do_not_but_end(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        header: bool,
    ) {
        let stream = if header { [vec![0x78, 0x9c], bytes].concat() } else { bytes };
        let _ = Codec::new().inflate(&stream);
    }
}
