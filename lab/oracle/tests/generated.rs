//! Random streams that programs could have sent. After every function, our emulator must show the same as the other
//! two, except for the differences in the table.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use rove_oracle::{Alacritty, Function, Oracle, Pair, Vt100};
use rove_terminal::Size;

/// Streams for each property. Chosen: both properties then take a fifth of a second. They also held for two hundred
/// thousand streams.
const CASES: u32 = 192;

fn text() -> impl Strategy<Value = Function> {
    let piece = prop_oneof![
        6 => "[a-z ]{1,4}",
        1 => prop::sample::select(vec!["é", "─", "e\u{301}", "~"]).prop_map(str::to_owned),
        2 => prop::sample::select(vec!["漢", "字\u{302}", "😀", "❤\u{fe0f}"]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 1..5).prop_map(|pieces| Function::Text(pieces.concat()))
}

fn sgr() -> impl Strategy<Value = Function> {
    prop::sample::select(vec![
        "",
        "0",
        "1",
        "3",
        "4",
        "5",
        "7",
        "8",
        "22",
        "23",
        "24",
        "27",
        "28",
        "31",
        "97",
        "39",
        "42",
        "103",
        "49",
        "38;5;200",
        "48;5;17",
        "38;2;1;2;3",
        "48;2;9;8;7",
        "1;4;35",
        "0;7;44",
        "38:5:9",
        "38:2:1:2:3",
        "48:2::3:2:1",
        "4:3",
        "4:0",
        "2",
        "9",
        "21",
        "53",
        "58:5:1",
        "58;5;1",
    ])
    .prop_map(|parameters| Function::Sgr(parameters.to_owned()))
}

fn csi() -> impl Strategy<Value = Function> {
    let count = || prop_oneof![4 => 0u16..4, 1 => 4u16..14];
    prop_oneof![
        4 => (1u16..8, 1u16..14).prop_map(|(row, column)| Function::Csi(b'H', row, column)),
        5 => (prop::sample::select(b"ABCDEFGde`a".to_vec()), count())
            .prop_map(|(last, count)| Function::Csi(last, count, 0)),
        3 => (prop::sample::select(b"JK".to_vec()), 0u16..3)
            .prop_map(|(last, what)| Function::Csi(last, what, 0)),
        5 => (prop::sample::select(b"X@PLMST".to_vec()), count())
            .prop_map(|(last, count)| Function::Csi(last, count, 0)),
        2 => (prop::sample::select(b"IZb".to_vec()), count())
            .prop_map(|(last, count)| Function::Csi(last, count, 0)),
        1 => prop::sample::select(vec![
            Function::Csi(b'g', 0, 0), Function::Csi(b'g', 3, 0),
            Function::Csi(b's', 0, 0), Function::Csi(b'u', 0, 0),
        ]),
    ]
}

fn function() -> impl Strategy<Value = Function> {
    prop_oneof![
        10 => text(),
        5 => sgr(),
        12 => csi(),
        5 => prop::sample::select(b"\x08\x09\x0a\x0b\x0d\x0d\x0e\x0f".to_vec())
            .prop_map(Function::Control),
        5 => prop::sample::select(vec!["7", "8", "7", "8", "D", "E", "M", "H", "(0", "(B", ")0", "c"])
            .prop_map(Function::Escape),
        2 => (1u16..8, 1u16..9).prop_map(|(top, bottom)| Function::Margins(top, bottom)),
        1 => any::<bool>().prop_map(Function::Origin),
        1 => any::<bool>().prop_map(Function::Autowrap),
        1 => any::<bool>().prop_map(Function::Insert),
        1 => any::<bool>().prop_map(Function::CursorVisible),
        1 => any::<bool>().prop_map(Function::Alternate),
    ]
}

fn compare<T: Oracle>(size: Size, stream: &[Function]) -> Result<(), TestCaseError> {
    let mut pair = Pair::<T>::blank(size);
    for function in stream {
        if let Err(mismatch) = pair.take(function) {
            return Err(TestCaseError::fail(format!("{mismatch:?}")));
        }
    }
    Ok(())
}

fn size() -> impl Strategy<Value = Size> {
    (4u16..12, 2u16..7).prop_map(|(columns, rows)| Size::clamped(columns, rows))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn alacritty_shows_the_same(size in size(), stream in prop::collection::vec(function(), 1..50)) {
        compare::<Alacritty>(size, &stream)?;
    }

    #[test]
    fn vt100_shows_the_same(size in size(), stream in prop::collection::vec(function(), 1..50)) {
        compare::<Vt100>(size, &stream)?;
    }
}

/// Returns the percentage of random functions that both emulators execute.
fn share_compared<T: Oracle>() -> usize {
    let mut runner = TestRunner::deterministic();
    let (mut drawn, mut taken) = (0, 0);
    for _ in 0..CASES {
        let stream = prop::collection::vec(function(), 50).new_tree(&mut runner);
        let mut pair = Pair::<T>::blank(Size::clamped(10, 6));
        for function in stream.expect("nothing is rejected").current() {
            drawn += 1;
            taken += usize::from(pair.take(&function).expect("they show the same"));
        }
    }
    taken * 100 / drawn
}

#[test]
fn the_differences_leave_most_functions_to_compare() {
    let shares = [share_compared::<Alacritty>(), share_compared::<Vt100>()];
    assert!(shares[0] >= 75 && shares[1] >= 50, "{shares:?} %");
}
