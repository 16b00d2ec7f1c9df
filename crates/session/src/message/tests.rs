//! Both messages, there and back, and what a stranger may make of them.

use proptest::prelude::*;
use rove_ssp::StateNum;
use rove_terminal::{ClusterWidths, NewerChar};

use super::user::TERMINAL;
use super::*;
use crate::parts::exit_status::{ExitStatus, Outside};
use crate::report::TerminalReport;
use crate::user_stream::UserEvent;

fn size(columns: u16, rows: u16) -> Size {
    Size::new(columns, rows).unwrap()
}

fn user(diff: &[u8]) -> Result<Vec<UserInstruction<'_>>, ApplyError> {
    user_instructions(diff).collect()
}

fn host(diff: &[u8]) -> Result<Vec<HostInstruction<'_>>, ApplyError> {
    host_instructions(diff).collect()
}

#[test]
fn messages_are_the_bytes_stock_writes() {
    type Write = fn(&mut MessageWriter);
    let table: [(Write, &[u8]); 4] = [
        (|m| m.keys(b"e"), b"\x0a\x05\x12\x03\x22\x01\x65"),
        (|m| m.resize(size(80, 24)), b"\x0a\x06\x1a\x04\x28\x50\x30\x18"),
        (|m| m.echo_ack(StateNum::new(3)), b"\x0a\x04\x3a\x02\x40\x03"),
        (|m| m.host_bytes(b"e"), b"\x0a\x05\x12\x03\x22\x01\x65"),
    ];
    for (write, bytes) in table {
        let mut message = MessageWriter::default();
        write(&mut message);
        assert_eq!(message.finish(), bytes);
    }
}

#[test]
fn unknown_members_are_skipped() {
    // Member 9 (bytes), then a known member, then a fixed32 and a fixed64 nobody knows.
    let mixed =
        b"\x0a\x02\x4a\x00\x0a\x05\x12\x03\x22\x01\x65\x7d1234\x79\x31\x32\x33\x34\x35\x36\x37\x38";
    assert_eq!(user(mixed), Ok(vec![UserInstruction::Unknown, UserInstruction::Keys(b"e")]));
    assert_eq!(host(mixed), Ok(vec![HostInstruction::Unknown, HostInstruction::Bytes(b"e")]));
}

#[test]
fn a_keystroke_wins_over_a_resize_beside_it() {
    let both = b"\x0a\x0b\x1a\x04\x28\x50\x30\x18\x12\x03\x22\x01\x65";
    assert_eq!(user(both), Ok(vec![UserInstruction::Keys(b"e")]));
}

#[test]
fn malformed_messages_are_errors() {
    let table: [&[u8]; 7] = [
        b"\x0a",                                         // no length
        b"\x0a\x05\x12",                                 // a length past the end
        b"\x0a\x02\x12\x7f",                             // the same, nested
        b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", // a varint of eleven bytes
        b"\x00\x00",                                     // field 0
        b"\x0b",                                         // a group
        b"\xff",                                         // a varint cut short
    ];
    for bytes in table {
        assert!(user(bytes).is_err(), "{bytes:?}");
        assert!(host(bytes).is_err(), "{bytes:?}");
    }
}

#[test]
fn sizes_no_window_has_are_refused_and_huge_ones_cut() {
    let table = [
        ((80, 24), Some((80, 24))),
        ((1, 1), Some((1, 1))),
        ((0, 24), None),
        ((80, 0), None),
        ((-1, 24), None),
        ((80, i32::MIN), None),
        ((4096, 2048), Some((4096, 2048))),
        ((4097, 2049), Some((4096, 2048))),
        ((i32::MAX, i32::MAX), Some((4096, 2048))),
    ];
    for ((width, height), wanted) in table {
        let wanted = wanted.map(|(columns, rows)| size(columns, rows));
        assert_eq!(WireSize { width, height }.to_size(), wanted, "{width}x{height}");
    }
    // A negative int32 travels as ten bytes.
    let negative = b"\x0a\x0f\x1a\x0d\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x30\x18";
    let resize = UserInstruction::Resize(WireSize { width: -1, height: 24 });
    assert_eq!(user(negative), Ok(vec![resize]));
}

#[test]
fn reports_are_these_bytes_and_come_back() {
    let table: [(TerminalReport, &[u8]); 10] = [
        (TerminalReport::KittyKeyboard, b"\x0a\x05\x82\x01\x02\x08\x01"),
        (TerminalReport::PixelMouse, b"\x0a\x05\x82\x01\x02\x38\x01"),
        (TerminalReport::ClusterWidths(ClusterWidths::ALL), b"\x0a\x05\x82\x01\x02\x48\x3f"),
        (
            TerminalReport::NewerWide(NewerChar::new('\u{1faed}').unwrap()),
            b"\x0a\x07\x82\x01\x04\x58\xed\xf5\x07",
        ),
        (
            // Whether the tables know it or not: both ends count events alike.
            TerminalReport::NewerWide(NewerChar::new('\u{1f600}').unwrap()),
            b"\x0a\x07\x82\x01\x04\x58\x80\xec\x07",
        ),
        (TerminalReport::ReadCopied, b"\x0a\x05\x82\x01\x02\x50\x01"),
        (TerminalReport::Foreground((255, 128, 1)), b"\x0a\x08\x82\x01\x05\x10\x81\x80\xfe\x07"),
        (TerminalReport::Background((0, 0, 0)), b"\x0a\x05\x82\x01\x02\x18\x00"),
        (TerminalReport::Cursor((0, 1, 0)), b"\x0a\x06\x82\x01\x03\x20\x80\x02"),
        (
            TerminalReport::CellPixels { width: 9, height: 20 },
            b"\x0a\x07\x82\x01\x04\x28\x09\x30\x14",
        ),
    ];
    for (report, bytes) in table {
        let mut message = MessageWriter::default();
        message.user_event(UserEvent::Terminal(report));
        assert_eq!(message.finish(), bytes, "{report:?}");
        assert_eq!(user(bytes), Ok(vec![UserInstruction::Terminal(report)]));
    }
}

#[test]
fn reports_of_unknown_kinds_and_values_are_passed_over() {
    let table: [&[u8]; 9] = [
        b"",                         // nothing
        b"\x08\x02",                 // another keyboard
        b"\x10\x80\x80\x80\x08",     // a colour of 25 bits
        b"\x28\x09",                 // a width alone
        b"\x28\x80\x80\x04\x30\x14", // a width of 17 bits
        b"\x38\x02",                 // another mouse
        b"\x58\x01",                 // a character of another plane
        b"\x60\x01",                 // field 12
        b"\x12\x01x",                // a colour as text
    ];
    for body in table {
        let mut message = MessageWriter::default();
        message.instruction(TERMINAL, body);
        assert_eq!(user(&message.finish()), Ok(vec![UserInstruction::Unknown]), "{body:?}");
    }
}

#[test]
fn every_exit_status_comes_back() {
    for value in 0..=255 {
        let outside = ExitStatus::Outside;
        for status in [
            ExitStatus::Code(value),
            ExitStatus::Signal(value),
            outside(Outside::Signal(value)),
            outside(Outside::Kill),
            outside(Outside::Silence),
        ] {
            let mut message = MessageWriter::default();
            message.exit_status(status);
            let bytes = message.finish();
            assert_eq!(host(&bytes), Ok(vec![HostInstruction::ExitStatus(status)]));
        }
    }
}

#[test]
fn an_end_from_outside_is_a_signal_to_who_knows_no_more() {
    let mut message = MessageWriter::default();
    message.exit_status(ExitStatus::Outside(Outside::Kill));
    assert_eq!(message.finish(), b"\x0a\x07\x82\x01\x04\x10\x0f\x18\x01");
    // A reason of a later version.
    let mut message = MessageWriter::default();
    message.instruction(16, b"\x10\x0f\x18\x09");
    let status = ExitStatus::Signal(15);
    assert_eq!(host(&message.finish()), Ok(vec![HostInstruction::ExitStatus(status)]));
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = (user(&bytes), host(&bytes));
    }

    #[test]
    fn keys_and_numbers_come_back(keys in proptest::collection::vec(any::<u8>(), 0..300), num: u64) {
        let mut message = MessageWriter::default();
        message.keys(&keys);
        let bytes = message.finish();
        prop_assert_eq!(user(&bytes), Ok(vec![UserInstruction::Keys(&keys)]));
        let mut message = MessageWriter::default();
        message.echo_ack(StateNum::new(num));
        let bytes = message.finish();
        prop_assert_eq!(host(&bytes), Ok(vec![HostInstruction::EchoAck(StateNum::new(num))]));
    }
}
