use proptest::prelude::*;
use prost::Message as _;

use super::*;
use crate::hello::Capabilities;

/// The instruction as prost encodes and decodes it, for comparison with the hand-written code.
#[derive(Clone, PartialEq, prost::Message)]
struct Derived {
    #[prost(uint32, optional, tag = "1")]
    version: Option<u32>,
    #[prost(uint64, optional, tag = "2")]
    old_num: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    new_num: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    ack_num: Option<u64>,
    #[prost(uint64, optional, tag = "5")]
    throwaway_num: Option<u64>,
    #[prost(bytes = "vec", optional, tag = "6")]
    diff: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "7")]
    chaff: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "100")]
    hello: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "101")]
    loss_report: Option<Vec<u8>>,
    #[prost(uint64, optional, tag = "102")]
    next_heartbeat: Option<u64>,
}

impl From<&Instruction> for Derived {
    fn from(instruction: &Instruction) -> Self {
        Self {
            version: Some(2),
            old_num: Some(instruction.old_num.get()),
            new_num: Some(instruction.new_num.get()),
            ack_num: Some(instruction.ack_num.get()),
            throwaway_num: Some(instruction.throwaway_num.get()),
            diff: Some(instruction.diff.clone()),
            chaff: Some(instruction.chaff.clone()),
            hello: instruction.hello.map(|hello| hello.encode()),
            loss_report: instruction.loss_report.map(|loss| loss_report::encode(&loss)),
            next_heartbeat: instruction.next_heartbeat.map(|pause| {
                u64::try_from(pause.as_millis()).expect("made of as many milliseconds")
            }),
        }
    }
}

/// Returns an instruction's bytes: the version, and then `more`.
fn with(more: &[u8]) -> Vec<u8> {
    [&[0x08, 2], more].concat()
}

#[test]
fn every_stock_field_is_written_even_when_empty() {
    let bytes = [0x08, 2, 0x10, 0, 0x18, 0, 0x20, 0, 0x28, 0, 0x32, 0, 0x3a, 0];
    assert_eq!(Instruction::default().encode(), bytes);
    assert_eq!(Instruction::decode(&bytes), Ok(Instruction::default()));
}

#[test]
fn hello_follows_the_stock_fields() {
    let hello = Some(Hello::new(Capabilities::EXIT_STATUS));
    let bytes = Instruction { hello, ..Instruction::default() }.encode();
    assert_eq!(bytes[14..], [0xa2, 0x06, 2, 1, 1]);
    assert_eq!(Instruction::decode(&bytes).unwrap().hello, hello);
}

#[test]
fn an_announced_heartbeat_is_the_last_field() {
    let next_heartbeat = Some(Duration::from_secs(24));
    let bytes = Instruction { next_heartbeat, ..Instruction::default() }.encode();
    assert_eq!(bytes[14..], [0xb0, 0x06, 0xc0, 0xbb, 0x01]);
    assert_eq!(Instruction::decode(&bytes).unwrap().next_heartbeat, next_heartbeat);
}

#[test]
fn loss_report_follows_the_hello() {
    let loss_report = Some(Loss { sent: 9, missing: 2, recent_sent: 9, recent_missing: 2 });
    let hello = Some(Hello::new(Capabilities::empty()));
    let bytes = Instruction { hello, loss_report, ..Instruction::default() }.encode();
    assert_eq!(bytes[14..], [0xa2, 0x06, 2, 1, 0, 0xaa, 0x06, 4, 9, 2, 9, 2]);
    assert_eq!(Instruction::decode(&bytes).unwrap().loss_report, loss_report);
    // A loss report that is cut short counts as no report. The rest of the instruction is read.
    let short = with(&[0x18, 7, 0xaa, 0x06, 3, 9, 2, 9]);
    assert_eq!(
        Instruction::decode(&short),
        Ok(Instruction { new_num: StateNum::new(7), ..Instruction::default() })
    );
}

#[test]
fn room_for_the_largest_fields_is_reserved() {
    let num = StateNum::SHUTDOWN;
    let diff = vec![1; 300];
    let full = Instruction {
        old_num: num,
        new_num: num,
        ack_num: num,
        throwaway_num: num,
        diff,
        ..Instruction::default()
    };
    let bytes = full.encode();
    assert!(bytes.len() <= FIELDS_LEN_MAX + full.diff.len());
    assert_eq!(bytes.windows(10).filter(|field| field.ends_with(&[0xff, 1])).count(), 4);
    assert_eq!(Instruction::decode(&bytes), Ok(full));
}

#[test]
fn absent_fields_are_zero_or_empty() {
    let short =
        Instruction { new_num: StateNum::new(7), diff: b"d".to_vec(), ..Instruction::default() };
    assert_eq!(Instruction::decode(&with(&[0x18, 7, 0x32, 1, b'd'])), Ok(short));
    assert_eq!(Instruction::decode(&with(&[])), Ok(Instruction::default()));
}

#[test]
fn other_versions_are_told_from_malformed_messages() {
    for (bytes, version) in [
        (vec![], 0),
        (vec![0x18, 7], 0),
        (vec![0x08, 1], 1),
        (vec![0x08, 3, 0x18, 7], 3),
        (vec![0x08, 0xff, 0xff, 0xff, 0xff, 0x0f], u32::MAX),
        // A version with the wire type of bytes counts as an unknown field.
        (vec![0x0a, 1, 2], 0),
        (vec![0x08, 2, 0x08, 4], 4),
    ] {
        let mismatch = ReceiveError::VersionMismatch { version };
        assert_eq!(Instruction::decode(&bytes), Err(mismatch), "{bytes:?}");
    }
}

#[test]
fn unknown_fields_of_every_kind_are_skipped() {
    for (unknown, what) in [
        (vec![0x40, 0x80, 1], "field 8, a varint"),
        (vec![0x49, 1, 2, 3, 4, 5, 6, 7, 8], "field 9, eight bytes"),
        (vec![0xa2, 1, 3, 1, 2, 3], "field 20, bytes"),
        (vec![0xad, 1, 1, 2, 3, 4], "field 21, four bytes"),
        (vec![0xfb, 6, 0x08, 1, 0xfc, 6], "field 111, a group"),
        (vec![0xc0, 0x3e, 1], "field 1000, a varint"),
        (vec![0x12, 1, 9], "field 2, bytes where a number belongs"),
        (vec![0x30, 9], "field 6, a number where bytes belong"),
        (vec![0xa0, 6, 9], "field 100, a number where bytes belong"),
    ] {
        assert_eq!(Instruction::decode(&with(&unknown)), Ok(Instruction::default()), "{what}");
    }
}

#[test]
fn last_of_a_repeated_field_counts() {
    let bytes = with(&[0x18, 7, 0x32, 1, b'a', 0x18, 9, 0x32, 2, b'b', b'c']);
    let last =
        Instruction { new_num: StateNum::new(9), diff: b"bc".to_vec(), ..Instruction::default() };
    assert_eq!(Instruction::decode(&bytes), Ok(last));
}

#[test]
fn malformed_messages_are_refused() {
    for (bytes, what) in [
        (vec![0x08], "a key without a value"),
        (vec![0x08, 0x80], "half a varint"),
        (with(&[0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]), "65 bits"),
        (with(&[0x32, 2, 1]), "fewer bytes than promised"),
        (
            with(&[0x32, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
            "2^64 - 1 bytes",
        ),
        (with(&[0xa2, 0x06, 2, 1]), "a hello shorter than promised"),
        (with(&[0x00, 1]), "field 0"),
        (with(&[0x0e, 1]), "wire type 6"),
        (with(&[0x4c]), "the end of a group that never began"),
        (with(&[0x4b, 0x08, 1]), "a group that never ends"),
        (with(&[0x45, 1, 2, 3]), "three of four bytes"),
    ] {
        assert_eq!(Instruction::decode(&bytes), Err(ReceiveError::InstructionMalformed), "{what}");
    }
}

#[test]
fn nested_groups_end_the_message_and_not_the_stack() {
    let nested = |depth| with(&[[0x4b].repeat(depth), [0x4c].repeat(depth)].concat());
    assert_eq!(Instruction::decode(&nested(100)), Ok(Instruction::default()));
    for depth in [101, 1_000_000] {
        let decoded = Instruction::decode(&nested(depth));
        assert_eq!(decoded, Err(ReceiveError::InstructionMalformed), "{depth}");
    }
}

#[test]
fn malformed_hello_counts_as_none() {
    for hello in [vec![], vec![0x80], vec![1], vec![1, 0xff], vec![0xff; 30]] {
        let mut bytes = with(&[0x18, 7, 0xa2, 0x06, u8::try_from(hello.len()).unwrap()]);
        bytes.extend(hello);
        let expected = Instruction { new_num: StateNum::new(7), ..Instruction::default() };
        assert_eq!(Instruction::decode(&bytes), Ok(expected));
    }
}

#[test]
fn instruction_is_read_up_to_the_limit() {
    // The version, the key of the diff field and the diff's length of four bytes leave the rest for the diff.
    let diff_len = INSTRUCTION_LEN_MAX - 2 - 1 - 4;
    let mut bytes = with(&[]);
    put_bytes_field(&mut bytes, DIFF, &vec![5; diff_len]);
    assert_eq!(bytes.len(), INSTRUCTION_LEN_MAX);
    assert_eq!(Instruction::decode(&bytes).unwrap().diff.len(), diff_len);
    bytes.extend([0x18]);
    let too_large = ReceiveError::InstructionTooLarge { max: INSTRUCTION_LEN_MAX };
    assert_eq!(Instruction::decode(&bytes), Err(too_large));
}

prop_compose! {
    fn any_instruction()(
        nums: [u64; 4],
        diff in prop::collection::vec(any::<u8>(), 0..200),
        chaff in prop::collection::vec(any::<u8>(), 0..17),
        hello: Option<(u64, u64)>,
        loss_report: Option<(u64, u64, u32, u32)>,
        next_heartbeat: Option<u64>,
    ) -> Instruction {
        let [old_num, new_num, ack_num, throwaway_num] = nums.map(StateNum::new);
        let hello = hello.map(|(version, bits)| Hello {
            version,
            capabilities: Capabilities::from_bits_retain(bits),
        });
        let loss_report = loss_report.map(|(sent, missing, recent_sent, recent_missing)| {
            Loss { sent, missing, recent_sent, recent_missing }
        });
        let next_heartbeat = next_heartbeat.map(Duration::from_millis);
        Instruction {
            old_num,
            new_num,
            ack_num,
            throwaway_num,
            diff,
            chaff,
            hello,
            loss_report,
            next_heartbeat,
        }
    }
}

proptest! {
    #[test]
    fn an_encoded_instruction_decodes_and_equals_that_of_prost(instruction in any_instruction()) {
        let bytes = instruction.encode();
        prop_assert_eq!(&bytes, &Derived::from(&instruction).encode_to_vec());
        prop_assert_eq!(Instruction::decode(&bytes), Ok(instruction));
    }

    #[test]
    fn whatever_prost_reads_is_read_the_same(
        bytes in prop::collection::vec(prop_oneof![0..0x48_u8, any::<u8>()], 0..24),
    ) {
        let bytes = with(&bytes);
        if let Ok(derived) = Derived::decode(bytes.as_slice()) {
            let Ok(instruction) = Instruction::decode(&bytes) else {
                prop_assert_ne!(derived.version, Some(2));
                return Ok(());
            };
            prop_assert_eq!(instruction.new_num.get(), derived.new_num.unwrap_or_default());
            prop_assert_eq!(instruction.diff, derived.diff.unwrap_or_default());
            let hello = derived.hello.and_then(|hello| Hello::decode(&hello));
            prop_assert_eq!(instruction.hello, hello);
            let loss_report = derived.loss_report.and_then(|bytes| loss_report::decode(&bytes));
            prop_assert_eq!(instruction.loss_report, loss_report);
            let next_heartbeat = derived.next_heartbeat.map(Duration::from_millis);
            prop_assert_eq!(instruction.next_heartbeat, next_heartbeat);
        }
    }

    #[test]
    fn arbitrary_bytes_are_decoded_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Instruction::decode(&bytes);
    }
}

#[test]
fn an_instruction_has_so_many_fields_and_no_more() {
    // The function `with` writes the version field itself.
    let fields = |count: usize| with(&[0x18, 7].repeat(count - 1));
    assert!(Instruction::decode(&fields(FIELDS_MAX)).is_ok());
    assert_eq!(
        Instruction::decode(&fields(FIELDS_MAX + 1)),
        Err(ReceiveError::InstructionMalformed)
    );
}
