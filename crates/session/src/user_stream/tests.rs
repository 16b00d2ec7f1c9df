use proptest::prelude::*;

use super::*;

fn typed(bytes: &[u8]) -> UserStream {
    let mut stream = UserStream::new();
    stream.push_bytes(bytes);
    stream
}

fn resize(columns: u16, rows: u16) -> UserEvent {
    UserEvent::Resize(Size::new(columns, rows).unwrap())
}

fn diff(to: &UserStream, from: &UserStream) -> Vec<u8> {
    to.diff_from(from, Capabilities::empty())
}

fn events(stream: &UserStream) -> Vec<UserEvent> {
    stream.events_from(0).collect()
}

#[test]
fn a_diff_is_the_bytes_stock_writes() {
    let empty = UserStream::new();
    assert_eq!(diff(&typed(b"e"), &empty), b"\x0a\x05\x12\x03\x22\x01\x65");
    assert_eq!(diff(&empty, &empty), b"");
    let mut resized = UserStream::new();
    resized.push(resize(80, 24));
    assert_eq!(diff(&resized, &empty), b"\x0a\x06\x1a\x04\x28\x50\x30\x18");
}

#[test]
fn a_state_known_to_be_far_has_a_diff_over_the_limit() {
    let empty = UserStream::new();
    for (len, far) in [(0, false), (1, false), (DIFF_MAX, false), (DIFF_MAX + 1, true)] {
        let stream = typed(&vec![b'a'; len]);
        assert_eq!(stream.is_far_from(&empty), far, "{len} events");
        assert!(!far || diff(&stream, &empty).len() > DIFF_MAX);
        assert!(!empty.is_far_from(&stream));
    }
}

#[test]
fn bytes_run_together_and_a_resize_parts_them() {
    let mut stream = typed(b"ab");
    stream.push(resize(80, 24));
    stream.push_bytes(b"c");
    let wanted: &[u8] =
        b"\x0a\x06\x12\x04\x22\x02ab\x0a\x06\x1a\x04\x28\x50\x30\x18\x0a\x05\x12\x03\x22\x01c";
    assert_eq!(diff(&stream, &UserStream::new()), wanted);
}

#[test]
fn sizes_from_the_wire_do_no_harm() {
    let table: [(&[u8], Vec<UserEvent>); 4] = [
        (b"\x0a\x06\x1a\x04\x28\x00\x30\x18", vec![]),
        (b"\x0a\x04\x1a\x02\x28\x50", vec![]),
        (b"\x0a\x0f\x1a\x0d\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x30\x18", vec![]),
        (b"\x0a\x08\x1a\x06\x28\xf0\xa2\x04\x30\x02", vec![resize(4096, 2)]),
    ];
    for (bytes, wanted) in table {
        let mut stream = UserStream::new();
        stream.apply(bytes).unwrap();
        assert_eq!(events(&stream), wanted, "{bytes:?}");
    }
}

#[test]
fn only_a_state_that_begins_with_the_newest_follows_it() {
    let newest = typed(b"abc");
    for (bytes, follows) in [("abc", true), ("abcd", true), ("ab", false), ("abX", false)] {
        assert_eq!(typed(bytes.as_bytes()).follows(&newest), follows, "{bytes}");
    }
    let mut resized = typed(b"ab");
    resized.push(resize(1, 1));
    assert!(!resized.follows(&newest));
}

#[test]
fn positions_stay_when_the_front_is_forgotten() {
    let mut stream = typed(&[b'x'; 5000]);
    let known = stream.prefix(4500);
    let newest = stream.clone();
    stream.drop_prefix(&known);
    assert_eq!(stream.end(), 5000);
    assert_eq!(stream.events_from(0).count(), 500);
    assert_eq!(stream.events_from(4900).count(), 100);
    assert_eq!(stream.events_from(5000).count(), 0);
    assert!(stream.same_as(&newest) && newest.same_as(&stream));
    stream.push_bytes(b"y");
    assert!(stream.follows(&newest));
    assert_eq!(diff(&stream, &newest), b"\x0a\x05\x12\x03\x22\x01y");
}

#[test]
fn clones_share_what_they_hold() {
    let stream = typed(&vec![b'x'; 1 << 20]);
    let mut longer = stream.clone();
    longer.push_bytes(b"y");
    let whole = stream.bytes_beyond(None).get();
    assert!(whole >= 1 << 20, "{whole}");
    // The longer stream has its own list of pointers, and its own copy of the chunk that was written to.
    let beyond = longer.bytes_beyond(Some(&stream)).get();
    assert!(beyond < 32 << 10, "{beyond}");
}

#[test]
fn a_midpoint_lies_between_until_one_event_is_left() {
    let base = typed(b"ab");
    let whole = typed(b"abcdefg");
    let middle = whole.midpoint(&base).unwrap();
    assert_eq!(events(&middle), events(&typed(b"abcd")));
    assert!(whole.follows(&middle) && middle.follows(&base));
    assert!(typed(b"abc").midpoint(&base).is_none());
    assert!(base.midpoint(&base).is_none());
    // Keys typed after the cut do not appear in the other stream that shares the chunk.
    let mut other = middle;
    other.push_bytes(b"Z");
    assert_eq!(events(&other), events(&typed(b"abcdZ")));
    assert_eq!(events(&whole), events(&typed(b"abcdefg")));
}

fn any_report() -> impl Strategy<Value = TerminalReport> {
    prop_oneof![
        Just(TerminalReport::KittyKeyboard),
        Just(TerminalReport::PixelMouse),
        any::<(u8, u8, u8)>().prop_map(TerminalReport::Foreground),
        any::<(u8, u8, u8)>().prop_map(TerminalReport::Background),
        any::<(u8, u8, u8)>().prop_map(TerminalReport::Cursor),
        any::<(u16, u16)>()
            .prop_map(|(width, height)| TerminalReport::CellPixels { width, height }),
    ]
}

fn any_event() -> impl Strategy<Value = UserEvent> {
    prop_oneof![
        8 => any::<u8>().prop_map(UserEvent::Byte),
        1 => (1_u16..300, 1_u16..300).prop_map(|(columns, rows)| resize(columns, rows)),
        1 => any_report().prop_map(UserEvent::Terminal),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_diff_leads_from_any_prefix_to_the_whole(
        all in proptest::collection::vec(any_event(), 0..200),
        runs in 0_usize..3,
        cut in any::<prop::sample::Index>(),
        forget in any::<prop::sample::Index>(),
    ) {
        let mut whole = typed(&vec![b'.'; runs * 2000]);
        for event in all {
            whole.push(event);
        }
        let end = index(whole.end());
        let cut = u64::try_from(cut.index(end + 1)).unwrap();
        let forget = u64::try_from(forget.index(end + 1)).unwrap().min(cut);
        let mut base = whole.prefix(cut);
        prop_assert!(whole.follows(&base));
        let known = whole.prefix(forget);
        base.drop_prefix(&known);
        let wire = diff(&whole, &base);
        base.apply(&wire).unwrap();
        prop_assert!(base.same_as(&whole));
        prop_assert!(base.events_from(0).eq(whole.events_from(forget)));
        whole.drop_prefix(&known);
        prop_assert!(base.same_as(&whole));
        prop_assert!(diff(&whole, &base).is_empty());
    }

    #[test]
    fn any_diff_is_applied_or_refused_without_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..64),
    ) {
        let _ = UserStream::new().apply(&bytes);
    }
}

#[test]
fn a_viewers_stream_counts_events_and_keeps_the_newest_size_alone() {
    let window = Size::clamped(100, 30);
    let mut sent = UserStream::new();
    sent.push(UserEvent::Resize(Size::DEFAULT));
    for _ in 0..10 {
        sent.push_bytes(&[b'x'; 3_000]);
    }
    sent.push(UserEvent::Resize(window));
    let diff = sent.diff_from(&UserStream::new(), Capabilities::empty());
    let mut viewer = UserStream::of_viewer();
    let before = viewer.bytes_beyond(None);
    viewer.apply(&diff).unwrap();
    assert_eq!((viewer.end(), viewer.viewer_window()), (sent.end(), Some(window)));
    assert_eq!(viewer.events_from(0).count(), 0);
    assert_eq!(viewer.bytes_beyond(None), before);
    assert!(viewer.follows(&UserStream::of_viewer()));
}
