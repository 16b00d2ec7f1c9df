use core::array;

use ocb3::Ocb3;
use ocb3::aead::AeadInOut;
use ocb3::aead::inout::InOutBuf;
use proptest::prelude::*;
use serde::Deserialize;

use super::*;

/// The vectors of RFC 7253 in `tests/vectors/ocb.json`. `tests/vectors.rs` opens this protocol's messages in that file.
#[derive(Deserialize)]
struct Vectors {
    key: String,
    rfc7253_appendix_a: Vec<Vector>,
    rfc7253_iterated: Iterated,
    negative: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    nonce: String,
    associated_data: String,
    #[serde(default)]
    plaintext: String,
    ciphertext_and_tag: String,
}

#[derive(Deserialize)]
struct Iterated {
    key: String,
    #[serde(rename = "len_C")]
    ciphertext_len: usize,
    result: String,
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("../../tests/vectors/ocb.json")).unwrap()
}

fn unhex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2));
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

fn array<const N: usize>(text: &str) -> [u8; N] {
    unhex(text).try_into().unwrap()
}

/// Computes HASH (RFC 7253, section 4.1) of the associated data, which is XORed into the tag. Only the RFC's samples
/// have associated data; the protocol has none.
fn hash(ocb: &Ocb, associated_data: &[u8]) -> u128 {
    let (blocks, rest) = associated_data.as_chunks();
    let (mut offset, mut sum) = (0, 0);
    for (index, block) in (1_usize..).zip(blocks) {
        let mut l = ocb.l[0];
        for _ in 0..index.trailing_zeros() {
            l = double(l);
        }
        offset ^= l;
        sum ^= ocb.encrypt(u128::from_be_bytes(*block) ^ offset);
    }
    if !rest.is_empty() {
        sum ^= ocb.encrypt(padded(rest) ^ offset ^ ocb.l_star);
    }
    sum
}

fn seal_with(ocb: &mut Ocb, nonce: [u8; 12], associated_data: &[u8], plaintext: &[u8]) -> Vec<u8> {
    let mut sealed = plaintext.to_vec();
    let tag = u128::from_be_bytes(ocb.seal(nonce, &mut sealed)) ^ hash(ocb, associated_data);
    sealed.extend(tag.to_be_bytes());
    sealed
}

fn open_with(
    ocb: &mut Ocb,
    nonce: [u8; 12],
    associated_data: &[u8],
    sealed: &[u8],
) -> Option<Vec<u8>> {
    let (message, tag) = sealed.split_last_chunk()?;
    let tag = u128::from_be_bytes(*tag) ^ hash(ocb, associated_data);
    let mut message = message.to_vec();
    ocb.open(nonce, &mut message, &tag.to_be_bytes()).then_some(message)
}

fn oracle_seal(key: &[u8; 16], nonce: &[u8; 12], message: &mut [u8]) -> [u8; TAG_LEN] {
    <Ocb3<Aes128> as KeyInit>::new(key.into())
        .encrypt_inout_detached(nonce.into(), &[], InOutBuf::from(message))
        .unwrap()
        .into()
}

#[test]
fn rfc_7253_samples_seal_and_open() {
    let vectors = vectors();
    let mut ocb = Ocb::new(&array(&vectors.key));
    assert_eq!(vectors.rfc7253_appendix_a.len(), 16);
    for vector in &vectors.rfc7253_appendix_a {
        let nonce = array(&vector.nonce);
        let associated_data = unhex(&vector.associated_data);
        let (plaintext, sealed) = (unhex(&vector.plaintext), unhex(&vector.ciphertext_and_tag));
        assert_eq!(seal_with(&mut ocb, nonce, &associated_data, &plaintext), sealed);
        assert_eq!(open_with(&mut ocb, nonce, &associated_data, &sealed), Some(plaintext));
    }
}

#[test]
fn rfc_7253_iterated_check_gives_the_published_result() {
    let expected = vectors().rfc7253_iterated;
    let mut ocb = Ocb::new(&array(&expected.key));
    let nonce = |number: u32| {
        let mut nonce = [0; 12];
        nonce[8..].copy_from_slice(&number.to_be_bytes());
        nonce
    };
    let mut ciphertext = Vec::new();
    for i in 0..128_u32 {
        let zeros = vec![0; i as usize];
        ciphertext.extend(seal_with(&mut ocb, nonce(3 * i + 1), &zeros, &zeros));
        ciphertext.extend(seal_with(&mut ocb, nonce(3 * i + 2), &[], &zeros));
        ciphertext.extend(seal_with(&mut ocb, nonce(3 * i + 3), &zeros, &[]));
    }
    assert_eq!(ciphertext.len(), expected.ciphertext_len);
    assert_eq!(seal_with(&mut ocb, nonce(385), &ciphertext, &[]), unhex(&expected.result));
}

#[test]
fn changed_messages_do_not_open() {
    let vectors = vectors();
    let mut ocb = Ocb::new(&array(&vectors.key));
    assert_eq!(vectors.negative.len(), 5);
    for vector in &vectors.negative {
        let associated_data = unhex(&vector.associated_data);
        let sealed = unhex(&vector.ciphertext_and_tag);
        assert_eq!(open_with(&mut ocb, array(&vector.nonce), &associated_data, &sealed), None);
    }
}

#[test]
fn nothing_is_left_of_a_message_that_does_not_open() {
    for len in [1, 15, 16, 17, 128, 129, 1214] {
        let mut ocb = Ocb::new(&[7; 16]);
        let mut message = vec![0x55; len];
        let mut tag = ocb.seal([1; 12], &mut message);
        tag[0] ^= 1;
        assert!(!ocb.open([1; 12], &mut message, &tag));
        assert_eq!(message, vec![0; len]);
    }
}

#[test]
fn everything_derived_from_the_key_is_wiped_on_drop() {
    fn wiped<T: ZeroizeOnDrop>() {}
    // For the block cipher this holds only with its feature `zeroize`.
    wiped::<Aes128>();
    wiped::<Ktop>();
    wiped::<Pass>();
    wiped::<Ocb>();
}

#[test]
fn doubling_matches_the_field() {
    for (block, doubled) in [(0, 0), (1, 2), (1 << 126, 1 << 127), (1 << 127, 0x87)] {
        assert_eq!(double(block), doubled);
    }
}

#[test]
fn cached_ktop_gives_the_same_offsets_as_a_fresh_one() {
    let nonces = [0, 1, 63, 64, 65, 127, 128, 63, 0, u64::MAX, 1 << 63];
    let mut ocb = Ocb::new(&[9; 16]);
    for nonce in nonces {
        let mut bytes = [0; 12];
        bytes[4..].copy_from_slice(&nonce.to_be_bytes());
        let fresh = Ktop::default().offset(&ocb.aes, bytes);
        let Ocb { aes, sealing, .. } = &mut *ocb;
        assert_eq!(sealing.offset(aes, bytes), fresh, "nonce {nonce}");
    }
}

#[test]
fn longest_message_has_an_offset_for_every_block() {
    let mut ocb = Ocb::new(&[3; 16]);
    let mut message = vec![0xa5; MESSAGE_LEN_MAX];
    let mut expected = message.clone();
    let tag = ocb.seal([5; 12], &mut message);
    assert_eq!(tag, oracle_seal(&[3; 16], &[5; 12], &mut expected));
    assert_eq!(message, expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn mode_agrees_with_the_oracle(
        key: [u8; 16],
        nonce: [u8; 12],
        plaintext in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let mut ocb = Ocb::new(&key);
        let (mut ours, mut theirs) = (plaintext.clone(), plaintext.clone());
        let tag = ocb.seal(nonce, &mut ours);
        prop_assert_eq!(tag, oracle_seal(&key, &nonce, &mut theirs));
        prop_assert_eq!(&ours, &theirs);
        prop_assert!(ocb.open(nonce, &mut ours, &tag));
        prop_assert_eq!(ours, plaintext);
    }

    #[test]
    fn one_changed_bit_anywhere_does_not_open(
        nonce: [u8; 12],
        plaintext in prop::collection::vec(any::<u8>(), 0..200),
        bit: prop::sample::Index,
    ) {
        let mut ocb = Ocb::new(&array::from_fn(|at| u8::try_from(at).unwrap()));
        let mut sealed = seal_with(&mut ocb, nonce, &[], &plaintext);
        let bit = bit.index(sealed.len() * 8);
        sealed[bit / 8] ^= 1 << (bit % 8);
        prop_assert_eq!(open_with(&mut ocb, nonce, &[], &sealed), None);
    }
}
