use proptest::prelude::*;

use super::*;
use crate::fragment::split;

fn fragment(id: u64, number: u16, last: bool, contents: &[u8]) -> Fragment {
    Fragment { id, number, last, contents: contents.to_vec() }
}

/// Hands fragments over, and asserts that each is accepted and completes no instruction.
fn hold(assembler: &mut Assembler, fragments: &[Fragment]) {
    for fragment in fragments {
        assert_eq!(assembler.handle_fragment(fragment.clone()), Ok(None));
    }
}

fn complete(contents: &[u8]) -> Result<Option<Vec<u8>>, ReceiveError> {
    Ok(Some(contents.to_vec()))
}

#[test]
fn single_fragment_completes_and_completes_again() {
    let mut assembler = Assembler::default();
    for id in [1, 1, u64::MAX, 0] {
        assert_eq!(assembler.handle_fragment(fragment(id, 0, true, b"abc")), complete(b"abc"));
        assert_eq!(assembler.bytes_held(), 0);
    }
}

#[test]
fn same_id_may_come_again_with_other_bytes() {
    let mut assembler = Assembler::default();
    hold(&mut assembler, &[fragment(1, 1, true, b"b")]);
    assert_eq!(assembler.handle_fragment(fragment(1, 0, false, b"a")), complete(b"ab"));
    assert_eq!(assembler.handle_fragment(fragment(1, 0, true, b"other")), complete(b"other"));
}

#[test]
fn a_newer_id_takes_the_place_of_what_is_held() {
    for newer in [6, 7, u64::MAX] {
        let mut assembler = Assembler::default();
        hold(&mut assembler, &[fragment(5, 0, false, b"old"), fragment(newer, 1, true, b"b")]);
        assert_eq!(assembler.bytes_held(), 1);
        // The fragments of instruction 5 were dropped. Later fragments of instruction 5 do not start it again.
        hold(&mut assembler, &[fragment(5, 1, true, b"half"), fragment(5, 0, false, b"old")]);
        assert_eq!(assembler.handle_fragment(fragment(newer, 0, false, b"a")), complete(b"ab"));
    }
}

#[test]
fn an_older_id_discards_nothing_and_counts_if_it_is_complete() {
    for older in [0, 1, 4] {
        for (late, outcome) in [
            (fragment(older, 0, false, b"x"), Ok(None)),
            (fragment(older, 1, true, b"x"), Ok(None)),
            (fragment(older, 0, true, b"whole"), complete(b"whole")),
            (fragment(older, 0, true, b""), complete(b"")),
        ] {
            let mut assembler = Assembler::default();
            hold(&mut assembler, &[fragment(5, 0, false, b"a"), fragment(5, 2, true, b"c")]);
            for _ in 0..3 {
                assert_eq!(assembler.handle_fragment(late.clone()), outcome);
                assert_eq!(assembler.bytes_held(), 2);
            }
            assert_eq!(assembler.handle_fragment(fragment(5, 1, false, b"b")), complete(b"abc"));
        }
    }
}

#[test]
fn an_older_instruction_is_collected_when_no_newer_one_is_in_progress() {
    let mut assembler = Assembler::default();
    assert_eq!(assembler.handle_fragment(fragment(5, 0, true, b"newer")), complete(b"newer"));
    hold(&mut assembler, &[fragment(4, 1, true, b"b")]);
    assert_eq!(assembler.handle_fragment(fragment(4, 0, false, b"a")), complete(b"ab"));
}

#[test]
fn an_older_fragment_over_the_limit_is_refused_and_discards_nothing() {
    let mut assembler = Assembler::default();
    hold(&mut assembler, &[fragment(5, 0, false, b"a")]);
    for (len, is_taken) in [(COMPRESSED_LEN_MAX, true), (COMPRESSED_LEN_MAX + 1, false)] {
        let outcome = assembler.handle_fragment(fragment(4, 0, true, &vec![7; len]));
        assert_eq!(outcome.is_ok(), is_taken, "{len} bytes");
    }
    assert_eq!(assembler.handle_fragment(fragment(5, 1, true, b"b")), complete(b"ab"));
}

#[test]
fn exact_duplicate_changes_nothing() {
    let mut assembler = Assembler::default();
    let (first, last) = (fragment(1, 0, false, b"a"), fragment(1, 2, true, b"c"));
    hold(&mut assembler, &[first.clone(), last.clone(), first, last]);
    assert_eq!(assembler.bytes_held(), 2);
    assert_eq!(assembler.handle_fragment(fragment(1, 1, false, b"b")), complete(b"abc"));
}

#[test]
fn contradictions_are_refused_and_what_is_held_stays() {
    let duplicate = |number| ReceiveError::FragmentContradiction { number };
    for (contradiction, error) in [
        (fragment(1, 1, false, b"B"), duplicate(1)),
        (fragment(1, 1, false, b"bb"), duplicate(1)),
        (fragment(1, 1, true, b"b"), duplicate(1)),
        (fragment(1, 3, false, b"d"), duplicate(3)),
        (fragment(1, 0, true, b"a"), ReceiveError::LastFragmentBelowHeld { number: 0, held: 3 }),
        (fragment(1, 2, true, b"c"), ReceiveError::LastFragmentBelowHeld { number: 2, held: 3 }),
        (fragment(1, 4, false, b"e"), ReceiveError::FragmentBeyondLast { number: 4, last: 3 }),
        (fragment(1, 4, true, b"e"), ReceiveError::FragmentBeyondLast { number: 4, last: 3 }),
        (
            fragment(1, 32767, true, b"e"),
            ReceiveError::FragmentBeyondLast { number: 32767, last: 3 },
        ),
    ] {
        let mut assembler = Assembler::default();
        hold(&mut assembler, &[fragment(1, 1, false, b"b"), fragment(1, 3, true, b"d")]);
        assert_eq!(assembler.handle_fragment(contradiction), Err(error));
        assert_eq!(assembler.bytes_held(), 2);
        hold(&mut assembler, &[fragment(1, 2, false, b"c")]);
        assert_eq!(assembler.handle_fragment(fragment(1, 0, false, b"a")), complete(b"abcd"));
    }
}

#[test]
fn as_many_fragments_as_the_last_one_promises_are_not_enough_with_a_hole() {
    let mut assembler = Assembler::default();
    hold(&mut assembler, &[fragment(1, 1, true, b"b")]);
    assert!(assembler.handle_fragment(fragment(1, 2, false, b"c")).is_err());
    assert_eq!(assembler.handle_fragment(fragment(1, 0, false, b"a")), complete(b"ab"));
}

#[test]
fn as_many_fragments_as_there_are_numbers_are_taken() {
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(32768).collect();
    let mut fragments = split(1, &bytes, 1);
    let first = fragments.remove(0);
    let mut assembler = Assembler::default();
    fragments.reverse();
    hold(&mut assembler, &fragments);
    assert_eq!(assembler.bytes_held(), 32767);
    assert_eq!(assembler.handle_fragment(first), complete(&bytes));
}

#[test]
fn number_of_16_bits_is_refused() {
    let mut assembler = Assembler::default();
    hold(&mut assembler, &[fragment(1, 32767, false, b"x")]);
    let refused = assembler.handle_fragment(fragment(1, 32768, true, b"x"));
    assert_eq!(refused, Err(ReceiveError::FragmentNumber { number: 32768 }));
}

#[test]
fn memory_is_for_what_arrived_and_not_for_what_is_promised() {
    let mut assembler = Assembler::default();
    hold(&mut assembler, &[fragment(1, 32767, true, b"x")]);
    assert_eq!((assembler.slices.len(), assembler.bytes_held()), (1, 1));
}

#[test]
fn compressed_instruction_is_taken_up_to_its_limit() {
    let half = vec![7; COMPRESSED_LEN_MAX / 2];
    let mut assembler = Assembler::default();
    hold(&mut assembler, &[fragment(1, 0, false, &half)]);
    let whole = assembler.handle_fragment(fragment(1, 1, true, &half)).unwrap().unwrap();
    assert_eq!(whole.len(), COMPRESSED_LEN_MAX);
}

#[test]
fn one_byte_more_throws_the_instruction_away() {
    let half = vec![7; COMPRESSED_LEN_MAX / 2];
    let mut assembler = Assembler::default();
    hold(&mut assembler, &[fragment(1, 0, false, &half), fragment(1, 1, false, &half)]);
    let too_large = ReceiveError::AssemblyTooLarge { max: COMPRESSED_LEN_MAX };
    assert_eq!(assembler.handle_fragment(fragment(1, 2, true, b"x")), Err(too_large));
    assert_eq!(assembler.bytes_held(), 0);
    assert_eq!(assembler.handle_fragment(fragment(2, 0, true, b"next")), complete(b"next"));
}

#[test]
fn flood_of_fragments_stays_under_the_limit() {
    let mut assembler = Assembler::default();
    for number in 0..FRAGMENTS_MAX {
        let _ = assembler.handle_fragment(fragment(1, number, false, &[0; 2010]));
        assert!(assembler.bytes_held() <= COMPRESSED_LEN_MAX);
    }
}

fn any_fragment() -> impl Strategy<Value = Fragment> {
    let number = prop_oneof![0..6_u16, any::<u16>()];
    let contents = prop::collection::vec(any::<u8>(), 0..3);
    (0..3_u64, number, any::<bool>(), contents).prop_map(|(id, number, last, contents)| Fragment {
        id,
        number,
        last,
        contents,
    })
}

proptest! {
    #[test]
    fn fragments_assemble_in_any_order_with_duplicates(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        contents_max in 1..40_usize,
        order: u64,
    ) {
        let fragments = split(3, &bytes, contents_max);
        // Every fragment arrives three times, in an order drawn from `order`.
        let mut arrivals: Vec<_> = fragments.iter().cycle().take(3 * fragments.len()).collect();
        let mut state = order;
        for at in (1..arrivals.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            arrivals.swap(at, usize::try_from(state >> 33).unwrap() % (at + 1));
        }
        let mut assembler = Assembler::default();
        let mut completed = 0;
        for fragment in arrivals {
            if let Some(whole) = assembler.handle_fragment(fragment.clone()).unwrap() {
                prop_assert_eq!(&whole, &bytes);
                completed += 1;
            }
        }
        prop_assert!((1..=3).contains(&completed));
    }

    #[test]
    fn no_older_fragments_keep_an_instruction_from_being_complete(
        bytes in prop::collection::vec(any::<u8>(), 1..200),
        contents_max in 1..40_usize,
        older in prop::collection::vec(any_fragment(), 1..40),
    ) {
        // The ids of `any_fragment` are below 3, so its fragments belong to older instructions.
        let mut assembler = Assembler::default();
        let mut older = older.into_iter().cycle();
        let mut whole = None;
        for fragment in split(3, &bytes, contents_max) {
            prop_assert_eq!(&whole, &None);
            whole = assembler.handle_fragment(fragment).unwrap();
            let _ = assembler.handle_fragment(older.next().expect("an endless row"));
        }
        prop_assert_eq!(whole, Some(bytes));
    }

    #[test]
    fn arbitrary_fragments_leave_the_assembler_whole(
        fragments in prop::collection::vec(any_fragment(), 0..60),
    ) {
        let mut assembler = Assembler::default();
        for fragment in fragments {
            let _ = assembler.handle_fragment(fragment);
            let bytes: usize = assembler.slices.values().map(|slice| slice.len()).sum();
            prop_assert_eq!(assembler.bytes_held(), bytes);
            let highest = assembler.slices.keys().next_back().copied();
            prop_assert!(assembler.last.is_none() || assembler.last == highest);
        }
    }
}
