use proptest::prelude::*;

use super::*;

fn text(len: usize) -> String {
    (0_u8..26).map(|at| char::from(b'A' + at)).cycle().take(len).collect()
}

fn copied(len: usize) -> Copied {
    Copied::new("pc", &text(len)).unwrap()
}

/// Publishes the whole of a copied text of `len` bytes. Returns the published part.
fn published(outbox: &mut Outbox, len: usize) -> Clipboard {
    outbox.push(&copied(len));
    outbox.newest.held = len;
    outbox.newest().clone()
}

fn piece<'a>(
    number: u64,
    head: Option<(&'a str, u64)>,
    offset: u64,
    text: &'a str,
) -> CopyPiece<'a> {
    CopyPiece { number, head, offset, text: text.as_bytes() }
}

#[test]
fn a_copy_arrives_whole_in_pieces_that_keep_to_the_window() {
    for total in [4, PIECE_MAX, PIECE_MAX + 4, WINDOW_MAX + 4, COPY_CHARS_MAX] {
        let mut outbox = Outbox::default();
        outbox.push(&copied(total));
        let (mut known, mut client) = (Clipboard::default(), Clipboard::default());
        let mut sent = 0;
        while client.whole().is_none() {
            let mut in_flight = 0;
            // Nothing is acknowledged until the window is full.
            while outbox.flush(&known, StateNum::new(sent), false) {
                assert!(!outbox.flush(&known, StateNum::new(sent), false), "one piece a frame");
                sent += 1;
                let piece = outbox.newest().piece_after(&client).unwrap();
                assert!(piece.text.len() <= PIECE_MAX);
                in_flight += piece.text.len();
                client.take(&piece).unwrap();
            }
            assert!((1..=WINDOW_MAX).contains(&in_flight), "{total}");
            known = outbox.newest().clone();
        }
        assert_eq!(client.whole(), Some(copied(total)));
        assert!(client.same_as(outbox.newest()));
        assert!(!outbox.flush(&known, StateNum::new(sent), false));
        assert_eq!(outbox.newest().bytes_beyond(None), 0, "the text is freed once acknowledged");
        client.drop_known(&client.clone());
        assert_eq!((client.whole(), client.bytes_beyond(None)), (None, 0));
        assert_eq!(outbox.newest().piece_after(&client), None);
    }
}

#[test]
fn the_same_text_twice_is_two_copies_and_of_several_the_newest_counts() {
    let mut outbox = Outbox::default();
    let mut client = Clipboard::default();
    for number in 1..=2 {
        let state = published(&mut outbox, 40);
        client.take(&state.piece_after(&client).unwrap()).unwrap();
        assert_eq!((client.number(), client.whole()), (number, Some(copied(40))));
    }
    published(&mut outbox, 8);
    let state = published(&mut outbox, 12);
    client.take(&state.piece_after(&client).unwrap()).unwrap();
    assert_eq!((client.number(), client.whole()), (4, Some(copied(12))));
}

#[test]
fn a_million_copies_take_no_more_than_one() {
    let mut outbox = Outbox::default();
    let copied = copied(16);
    for _ in 0..1_000_000 {
        outbox.push(&copied);
    }
    assert_eq!(outbox.newest().number(), 1_000_000);
    assert_eq!(outbox.newest().bytes_beyond(None), 16);
}

#[test]
fn pieces_that_break_a_rule_are_refused() {
    let total = u64::try_from(COPY_CHARS_MAX).unwrap();
    let mut begun = Clipboard::default();
    begun.take(&piece(7, Some(("c", 8)), 0, "AAAA")).unwrap();
    for (given, is_refused) in [
        (piece(7, None, 4, "AAAA"), false),
        (piece(7, None, 4, "AA=="), false),
        (piece(7, None, 4, ""), false),
        (piece(7, Some(("p", 4)), 4, "AAAA"), false),
        (piece(7, None, 4, "AAAAA"), true),
        (piece(7, None, 3, "AAAAA"), false),
        (piece(7, None, 3, "AAAAAA"), true),
        (piece(7, None, 0, ""), false),
        (piece(7, None, 5, ""), true),
        (piece(7, None, u64::MAX, "AAAA"), true),
        (piece(7, None, 4, "AA?A"), true),
        (piece(7, None, 4, "A\x07AA"), true),
        (piece(6, Some(("c", 4)), 0, "AAAA"), true),
        (piece(0, Some(("c", 4)), 0, "AAAA"), true),
        (piece(8, None, 0, "AAAA"), true),
        (piece(8, Some(("c", 4)), 4, ""), true),
        (piece(8, Some(("c", 0)), 0, ""), true),
        (piece(8, Some(("c", 4)), 0, "AAAA"), false),
        (piece(8, Some(("cpqs01234567", total)), 0, ""), false),
        (piece(8, Some(("cpqs012345678", 4)), 0, ""), true),
        (piece(8, Some(("c", total + 1)), 0, "AAAA"), true),
        (piece(u64::MAX, Some(("c", u64::MAX)), 0, "AAAA"), true),
        (piece(u64::MAX, Some(("c", 4)), 0, "AAAA"), false),
    ] {
        assert_eq!(begun.clone().take(&given).is_err(), is_refused, "{given:?}");
    }
}

#[test]
fn text_that_is_no_copy_is_never_performed() {
    for (selections, text) in [("c", "A==="), ("c", "=AAA"), ("?", "AAAA"), ("c;", "AAAA")] {
        let mut clipboard = Clipboard::default();
        clipboard.take(&piece(1, Some((selections, 4)), 0, text)).unwrap();
        assert_eq!(clipboard.whole(), None, "{selections:?} {text:?}");
    }
}

#[test]
fn a_text_that_was_forgotten_cannot_be_gone_back_to() {
    let mut client = Clipboard::default();
    client.take(&piece(1, Some(("c", 8)), 0, "AAAABBBB")).unwrap();
    client.drop_known(&client.clone());
    assert!(client.clone().take(&piece(1, None, 8, "")).is_ok());
    assert!(client.clone().take(&piece(1, None, 4, "CCCC")).is_err());
    client.take(&piece(1, None, 0, "CCCCDDDD")).unwrap();
    assert_eq!(client.whole(), Copied::new("c", "CCCCDDDD"));
}

#[test]
fn states_that_add_a_piece_share_what_they_have() {
    let mut client = Clipboard::default();
    client.take(&piece(1, Some(("c", 600_000)), 0, &text(300_000))).unwrap();
    let before = client.clone();
    client.take(&piece(1, None, 300_000, "AAAA")).unwrap();
    let beyond = client.bytes_beyond(Some(&before));
    assert!(beyond <= 3 * CHUNK_BYTES, "{beyond}");
    assert!(client.bytes_beyond(None) >= 300_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_diff_leads_from_any_prefix_of_any_copy(
        copies in proptest::collection::vec((1_usize..50_000, 0.0..=1.0), 1..4),
        steps in proptest::collection::vec(0.0..=1.0, 1..4),
    ) {
        let mut outbox = Outbox::default();
        let mut base = Clipboard::default();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let part = |total: usize, share: f64| (total as f64 * share) as usize;
        for (total, held) in copies {
            let total = total / 4 * 4 + 4;
            let whole = published(&mut outbox, total);
            // An earlier state held the beginning of the text, and the next diff starts from that state.
            let beginning = Clipboard { held: part(total, held), ..whole.clone() };
            if let Some(piece) = beginning.piece_after(&base) {
                base.take(&piece).unwrap();
                prop_assert!(base.same_as(&beginning));
            }
            let mut client = base.clone();
            let mut at = beginning.held;
            for share in steps.iter().chain(&[1.0]) {
                at += part(total - at, *share);
                let next = Clipboard { held: at, ..whole.clone() };
                if let Some(piece) = next.piece_after(&client) {
                    client.take(&piece).unwrap();
                }
                // After a loss the next state may hold less.
                let back = Clipboard { held: part(at, *share).max(1), ..whole.clone() };
                if let Some(piece) = back.piece_after(&client) {
                    let mut client = client.clone();
                    client.take(&piece).unwrap();
                    prop_assert!(client.same_as(&back));
                    client.take(&whole.piece_after(&client).unwrap()).unwrap();
                    prop_assert_eq!(client.whole(), Some(copied(total)));
                }
            }
            prop_assert!(client.same_as(&whole));
            prop_assert_eq!(client.whole(), Some(copied(total)));
            prop_assert_eq!(whole.piece_after(&client), None);
            let at_once = whole.piece_after(&base).unwrap();
            let mut client = base.clone();
            client.take(&at_once).unwrap();
            prop_assert_eq!(client.whole(), Some(copied(total)));
        }
    }
}

#[test]
fn pieces_come_back() {
    for head in [None, Some(("", 1)), Some(("pc", u64::MAX))] {
        for text in ["", "aGk="] {
            let piece = piece(7, head, 1 << 40, text);
            assert_eq!(CopyPiece::read(&piece.body()), Ok(piece));
        }
    }
    // Selections that are not UTF-8 are read as `?`, which no terminal knows.
    let strange = CopyPiece { number: 0, head: Some(("?", 4)), offset: 0, text: b"" };
    assert_eq!(CopyPiece::read(b"\x22\x01\xff\x28\x04"), Ok(strange));
}
