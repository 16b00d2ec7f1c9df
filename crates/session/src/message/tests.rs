//! Encodes both messages and reads them back, and checks the bounds on messages of a hostile peer.

use proptest::prelude::*;
use rove_ssp::Object;

use super::*;
use crate::{HostScreen, UserStream};

fn size(columns: u16, rows: u16) -> Size {
    Size::new(columns, rows).unwrap()
}

#[test]
fn a_resize_is_the_bytes_stock_writes() {
    let mut message = Vec::new();
    put_resize(&mut message, size(80, 24));
    assert_eq!(message, b"\x0a\x06\x1a\x04\x28\x50\x30\x18");
}

#[test]
fn unknown_members_are_skipped() {
    // The fields are number 9 (bytes), a known one, an unknown fixed32 and an unknown fixed64.
    let mixed =
        b"\x0a\x02\x4a\x00\x0a\x05\x12\x03\x22\x01\x65\x7d1234\x79\x31\x32\x33\x34\x35\x36\x37\x38";
    let bodies: Vec<&[u8]> = instructions(mixed).collect::<Result<_, _>>().unwrap();
    assert_eq!(bodies.len(), 2);
    assert_eq!(member(bodies[0], |number| number == 2), Ok(None));
    assert_eq!(member(bodies[1], |number| number == 2), Ok(Some((2, &b"\x22\x01\x65"[..]))));
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
        assert!(UserStream::new().apply(bytes).is_err(), "{bytes:?}");
        assert!(HostScreen::replica(Size::DEFAULT).apply(bytes).is_err(), "{bytes:?}");
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
        // A negative int32 travels as ten bytes.
        let [width, height] = [(5, width), (6, height)].map(|(field, cells): (u32, i32)| {
            varint_field(field, i64::from(cells).cast_unsigned())
        });
        assert_eq!(read_resize(&[width, height].concat()), Ok(wanted), "{wanted:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = UserStream::new().apply(&bytes);
        let _ = HostScreen::replica(Size::DEFAULT).apply(&bytes);
    }
}
