//! Properties that hold for every input: bytes from programs may be anything.

use proptest::prelude::*;
use rove_terminal::{Screen, Size, Terminal, char_width};

/// Modes that change the effect of other sequences, and parameters of every form.
const MODES: &[&str] = &[
    "?1h",
    "?3h",
    "?5h",
    "?6h",
    "?6l",
    "?7l",
    "?7h",
    "?25l",
    "?47h",
    "?69h",
    "?69l",
    "3;9s",
    "2 @",
    " A",
    "'}",
    "2'~",
    "1;2;3;9;1;2;4;1$v",
    "88;1;2;3;9$x",
    "2;2;3;8$z",
    "?47l",
    "?1047h",
    "?1047l",
    "?1048h",
    "?1048l",
    "?1049h",
    "?1049l",
    "4h",
    "4l",
    "20h",
    "20l",
    "?1000h",
    "?2026h",
    "4:3m",
    "38:2::1:2:3m",
];

/// Escape sequences and strings, complete or cut.
const ESCAPES: &[&str] = &[
    "\x1b7",
    "\x1b8",
    "\x1bD",
    "\x1bE",
    "\x1bH",
    "\x1bM",
    "\x1bc",
    "\x1b#8",
    "\x1b(0",
    "\x1b(B",
    "\x1b)0",
    "\x0e",
    "\x0f",
    "\x1bN",
    "\x1b*0",
    "\x18",
    "\u{9b}",
    "\u{85}",
    "\x1b]2;t\x07",
    "\x1b]0;u\x1b\\",
    "\x1b]52;c;aGk=\x07",
    "\x1b]4;1;#123;2;?\x07",
    "\x1b]11;rgb:1/2/3\x1b\\",
    "\x1b]104\x07",
    "\x1b]7;file://h/a\x07",
    "\x1b]9;4;1;5\x07",
    "\x1bP+q5463\x1b\\",
    "\x1bP$qm\x1b\\",
    "\x1bPx",
    "\x1b_y",
    "\x1b\\",
    "\x1b",
    "\x1b[",
    "\x1b]52;",
];

/// Characters of every width and length in bytes.
const TEXTS: &[&str] = &["a", "b", " ", "一", "二", "\u{301}", "\u{200d}", "é", "\u{1f600}", "q"];

fn sequence() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![
        Just(String::new()),
        (0u32..12).prop_map(|n| n.to_string()),
        Just("70000".into())
    ];
    let numbers = proptest::collection::vec(number, 0..4).prop_map(|numbers| numbers.join(";"));
    let last = proptest::sample::select(b"@ABCDEFGHIJKLMPSTXZ`abcdefghilmnpqrstux".to_vec());
    (proptest::sample::select(vec!["", "", "", "?", ">", "!"]), numbers, last).prop_map(
        |(mark, numbers, last)| format!("\x1b[{mark}{numbers}{}", char::from(last)).into_bytes(),
    )
}

/// Pieces of input, chosen so that wide characters, edges and margins meet.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    use proptest::sample::select;
    let mode = select(MODES).prop_map(|mode| format!("\x1b[{mode}").into_bytes());
    let escape = select(ESCAPES).prop_map(|text| text.as_bytes().to_vec());
    let text = proptest::collection::vec(select(TEXTS), 1..12)
        .prop_map(|texts| texts.concat().into_bytes());
    let control = select(b"\x00\x07\x08\t\n\x0b\r\x7f".to_vec()).prop_map(|byte| vec![byte]);
    let anything = proptest::collection::vec(any::<u8>(), 1..6);
    prop_oneof![3 => sequence(), 2 => mode, 1 => escape, 5 => text, 3 => control, 1 => anything]
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(piece(), 0..60).prop_map(|pieces| pieces.concat())
}

fn size() -> impl Strategy<Value = Size> {
    prop_oneof![Just((1u16, 1u16)), Just((2, 1)), (1u16..12, 1u16..8), Just((80, 24)),]
        .prop_map(|(columns, rows)| Size::clamped(columns, rows))
}

/// Checks that no half of a wide character stands alone.
fn assert_whole(screen: &Screen) {
    for row in 0..screen.size().rows() {
        let cells = screen.row(row).expect("a row of the screen").cells();
        assert_eq!(cells.len(), usize::from(screen.size().columns()));
        for (column, cell) in cells.iter().enumerate() {
            if cell.wide {
                let right = cells.get(column + 1).expect("room for the right half");
                assert!(right.base.is_none() && !right.combined);
            }
            assert!(cell.base.is_none_or(|base| cell.width() == char_width(base)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_cutting_of_the_bytes_gives_the_same_screen(
        size in size(),
        bytes in prop_oneof![stream(), proptest::collection::vec(any::<u8>(), 0..200)],
        cuts in proptest::collection::vec(1usize..9, 1..20),
        replica in any::<bool>(),
    ) {
        let fresh = if replica { Terminal::replica(size) } else { Terminal::host(size) };
        let (mut whole, mut pieces) = (fresh.clone(), fresh);
        whole.write(&bytes);
        let mut rest = &bytes[..];
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, behind) = rest.split_at((*cut).min(rest.len()));
            pieces.write(piece);
            rest = behind;
        }
        // More text shows whether the hidden state agrees too.
        for terminal in [&mut whole, &mut pieces] {
            terminal.ground();
            terminal.write("x一\r\n\ty\x1b8z\x1b[6n".as_bytes());
        }
        prop_assert!(whole.screen() == pieces.screen());
        prop_assert_eq!(whole.take_replies(), pieces.take_replies());
    }

    #[test]
    fn wide_characters_stay_whole_through_anything(
        steps in proptest::collection::vec((stream(), size()), 1..5),
    ) {
        let mut terminal = Terminal::host(Size::DEFAULT);
        for (bytes, size) in steps {
            terminal.write(&bytes);
            assert_whole(terminal.screen());
            terminal.resize(size);
            assert_whole(terminal.screen());
        }
    }

    #[test]
    fn a_replica_takes_anything(steps in proptest::collection::vec((stream(), size()), 1..5)) {
        let mut terminal = Terminal::replica(Size::DEFAULT);
        for (bytes, size) in steps {
            terminal.write(&bytes);
            terminal.resize(size);
            prop_assert!(terminal.take_replies().is_empty());
            prop_assert!(terminal.screen().cursor().column < size.columns());
        }
    }

    #[test]
    fn a_snapshot_is_left_alone(before in stream(), after in stream()) {
        let mut terminal = Terminal::host(Size::new(12, 6).unwrap());
        terminal.write(&before);
        let snapshot = terminal.snapshot();
        let copy: Vec<String> = (0..6).map(|row| snapshot.row_text(row)).collect();
        terminal.write(&after);
        let later: Vec<String> = (0..6).map(|row| snapshot.row_text(row)).collect();
        prop_assert_eq!(copy, later);
    }

    #[test]
    fn midpoints_converge(before in stream(), after in stream(), sizes in (size(), size())) {
        let (mut old, mut new) = (Terminal::host(sizes.0), Terminal::host(sizes.1));
        old.write(&before);
        new.write(&after);
        let (mut base, target) = (old.snapshot(), new.screen());
        let mut steps = 0;
        while let Some(middle) = Screen::midpoint(&base, target) {
            assert_whole(&middle);
            base = middle;
            steps += 1;
            prop_assert!(steps <= 8, "at least a third of the rows each time");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn a_huge_screen_takes_anything(bytes in stream(), then in stream()) {
        let mut terminal = Terminal::host(Size::new(2000, 1000).unwrap());
        terminal.write(&bytes);
        assert_whole(terminal.screen());
        terminal.resize(Size::new(3, 2).unwrap());
        terminal.write(&then);
        assert_whole(terminal.screen());
    }
}
