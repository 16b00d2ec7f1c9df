use proptest::prelude::*;

use super::Key::*;
use super::*;

/// Returns all keys in bytes that arrive in a single read.
fn keys(bytes: &[u8]) -> Vec<Key> {
    let mut keystrokes = Keystrokes::default();
    read_all(&mut keystrokes, bytes)
}

fn read_all(keystrokes: &mut Keystrokes, bytes: &[u8]) -> Vec<Key> {
    let mut read: Vec<_> = bytes.iter().filter_map(|byte| keystrokes.push(*byte)).collect();
    read.extend(keystrokes.flush());
    read.iter().map(|keystroke| keystroke.key).collect()
}

fn assert_keys(table: &[(&[u8], &[Key])]) {
    for (bytes, expected) in table {
        assert_eq!(keys(bytes), *expected, "{}", bytes.escape_ascii());
    }
}

#[test]
fn bytes_are_the_keys_of_line_editors() {
    assert_keys(&[
        (b"a ~", &[Text('a'), Text(' '), Text('~')]),
        (b"\x01\x02\x04\x05\x06", &[ControlA, ControlB, ControlD, ControlE, ControlF]),
        (b"\x7f\x08\t\r\n", &[Backspace, ControlH, Tab, Enter, LineFeed]),
        (b"\x0b\x15\x17", &[KillToEnd, KillLine, KillWord]),
        (b"\x03\x12\x13\x10\x0e", &[Interrupt, Search, Search, ControlP, ControlN]),
        (b"\x0c", &[ControlL]),
        (b"\x00\x07\x18\x1a\x1f", &[Other, Other, Other, Other, Other]),
    ]);
}

#[test]
fn characters_are_read_as_utf_8() {
    assert_keys(&[
        (
            "\u{e9}\u{4e2d}\u{1f600}".as_bytes(),
            &[Text('\u{e9}'), Text('\u{4e2d}'), Text('\u{1f600}')],
        ),
        ("e\u{301}".as_bytes(), &[Text('e'), Text('\u{301}')]),
        // Malformed UTF-8 includes the byte that shows the fault, unless this byte begins a key.
        (b"\xc3ab", &[Other, Text('b')]),
        (b"\xc3\xc3\xa9", &[Other, Text('\u{e9}')]),
        (b"\xc3\x1b[C", &[Other, Right]),
        (b"\x80\xff", &[Other, Other]),
        (b"\xe0\x80\x80", &[Other]),
        (b"\xed\xa0\x80", &[Other]),
        // C1 controls are no text.
        (b"\xc2\x9b", &[Other]),
        (b"\xc3", &[]),
    ]);
}

#[test]
fn cursor_keys_have_many_spellings() {
    assert_keys(&[
        (b"\x1b[A\x1b[B\x1b[C\x1b[D", &[Up, Down, Right, Left]),
        (b"\x1bOA\x1bOB\x1bOC\x1bOD", &[Up, Down, Right, Left]),
        (b"\x1b[H\x1b[F\x1bOH\x1bOF", &[Home, End, Home, End]),
        (b"\x1b[1~\x1b[4~\x1b[7~\x1b[8~", &[Home, End, Home, End]),
        (b"\x1b[2~\x1b[3~", &[Insert, Delete]),
        (b"\x1b[1;1C\x1b[1C\x1b[1;129D", &[Right, Right, Left]),
        // Motions by a word: xterm, rxvt with Ctrl and with Alt, old versions of xterm.
        (b"\x1b[1;5C\x1b[1;3D", &[WordRight, WordLeft]),
        (b"\x1bOc\x1bOd\x1b\x1b[C\x1b\x1bOD", &[WordRight, WordLeft, WordRight, WordLeft]),
        (b"\x1bO5C\x1bO1;5D", &[WordRight, WordLeft]),
        // Keys without a binding in line editors, or with different bindings in different editors.
        (b"\x1b[1;2C\x1b[d\x1b[1;6D\x1b[1;5A\x1b[1;5H", &[Other, Other, Other, Other, Other]),
    ]);
}

#[test]
fn editing_and_function_keys_are_told_apart() {
    assert_keys(&[
        (b"\x1b[3;5~\x1b[3;3~\x1b[3^", &[KillWordRight, KillWordRight, KillWordRight]),
        (b"\x1b[3;2~\x1b[3$", &[Other, Other]),
        (b"\x1b[5~\x1b[6~\x1b[15~\x1b[24;2~", &[Other, Other, Other, Other]),
        (b"\x1bOP\x1b[[Ax\x1b[1;5P\x1b[Z", &[Other, Other, Text('x'), Other, Other]),
        (b"\x1bOM\x1bOp", &[Enter, Other]),
        (b"\x1b[200~a\x1b[201~", &[PasteStart, Text('a'), PasteEnd]),
    ]);
}

#[test]
fn alt_is_esc_in_the_same_read() {
    assert_keys(&[
        (b"\x1bb\x1bf\x1bd", &[WordLeft, WordRight, KillWordRight]),
        (b"\x1b\x7f\x1b\x08", &[KillWordLeft, KillWordLeft]),
        (b"\x1b.\x1b\r\x1b1", &[Other, Other, Other]),
        (b"\x1b\xc3\xa9x", &[Other, Text('x')]),
        (b"\x1b\xc3x", &[Other]),
        (b"\x1bO", &[]),
        (b"\x1b[", &[]),
        (b"\x1b]", &[Other]),
        (b"\x1b_", &[Other]),
    ]);
}

#[test]
fn esc_is_the_key_when_a_read_ends_with_it() {
    assert_keys(&[
        (b"\x1b", &[Escape]),
        (b"a\x1b", &[Text('a'), Escape]),
        (b"\x1b\x1b", &[Other]),
        (b"\x1b\x1b\x1b", &[Escape, Other]),
        (b"\x1b\x1bx", &[Other]),
    ]);
    for (rest, expected) in [
        (&b"j"[..], &[Text('j')][..]),
        // After the Escape key, an `O` is text: in vi it opens a line.
        (b"Oab", &[Text('O'), Text('a'), Text('b')]),
        (b"\x1b[C", &[Right]),
        (b"[C", &[Right]),
        ("\u{e9}".as_bytes(), &[Text('\u{e9}')]),
        (b"\x1b", &[Escape]),
    ] {
        let mut keystrokes = Keystrokes::default();
        assert_eq!(keystrokes.push(ESC), None);
        assert!(keystrokes.is_within_key());
        let told = Some(Keystroke { key: Escape, len: 1 });
        assert_eq!((keystrokes.flush(), keystrokes.flush()), (told, None));
        assert!(!keystrokes.is_within_key());
        assert_eq!(read_all(&mut keystrokes, rest), expected, "{}", rest.escape_ascii());
    }
}

#[test]
fn keyboard_protocols_spell_the_same_keys() {
    assert_keys(&[
        (b"\x1b[97u\x1b[97;2u\x1b[233u", &[Text('a'), Text('A'), Text('\u{e9}')]),
        (b"\x1b[97;5u\x1b[107;5u\x1b[119;5u", &[ControlA, KillToEnd, KillWord]),
        (b"\x1b[98;3u\x1b[102;3u\x1b[100;3u", &[WordLeft, WordRight, KillWordRight]),
        (b"\x1b[127u\x1b[127;5u\x1b[127;3u", &[Backspace, KillWordLeft, KillWordLeft]),
        (b"\x1b[13u\x1b[9u\x1b[27u", &[Enter, Tab, Escape]),
        (b"\x1b[57417u\x1b[57418;5u\x1b[57414u", &[Left, WordRight, Enter]),
        (b"\x1b[57423u\x1b[57424u\x1b[57425u\x1b[57426u", &[Home, End, Insert, Delete]),
        (b"\x1b[27;5;107~\x1b[27;2;65~\x1b[27;3;98~", &[KillToEnd, Text('A'), WordLeft]),
        (b"\x1b[97;9u\x1b[97;7u\x1b[57376u", &[Other, Other, Other]),
        // A repeated key counts as pressed. A released key does not, and neither does a modifier by itself.
        (b"\x1b[97;1:2u\x1b[1;1:2D\x1b[3;1:2~", &[Text('a'), Left, Delete]),
        (b"\x1b[97;1:3u\x1b[1;1:3D\x1b[3;1:3~\x1b[57441u", &[Neutral, Neutral, Neutral, Neutral]),
        (b"\x1b[15;1:3~\x1b[1;5:3P", &[Neutral, Neutral]),
    ]);
}

#[test]
fn reports_and_answers_are_no_keys() {
    assert_keys(&[
        (b"\x1b[M !!x", &[Neutral, Text('x')]),
        (b"\x1b[M#\xff\xa1x", &[Neutral, Text('x')]),
        // Column 230, as reported to a program that wants UTF-8 and to a program that does not.
        (b"\x1b[M \xc4\x86!x", &[Neutral, Text('x')]),
        (b"\x1b[M \xc6!x", &[Neutral, Text('x')]),
        (b"\x1b[M\rx", &[Other, Text('x')]),
        (b"\x1b[M \x1b[C", &[Right]),
        (b"\x1b[<0;10;20M\x1b[<0;10;20m\x1b[32;10;20M", &[Neutral, Neutral, Neutral]),
        (b"\x1b[I\x1b[O", &[Neutral, Neutral]),
        (b"\x1b[?64;1;2c\x1b[>0;95;0c\x1b[0n\x1b[?997;1n", &[Neutral, Neutral, Neutral, Neutral]),
        (b"\x1b[12;40R\x1b[?12;40R\x1b[8;24;80t", &[Neutral, Neutral, Neutral]),
        (b"\x1b[?2026;2$y\x1b[4;2$y\x1b[?1u", &[Neutral, Neutral, Neutral]),
        (b"\x1b[1;2R", &[Other]),
        (b"\x1b]11;rgb:ffff/ffff/ffff\x07x", &[Neutral, Text('x')]),
        (b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\x", &[Neutral, Text('x')]),
        (b"\x1bP>|xterm(380)\x1b\\\x1b_Gi=1;OK\x1b\\x", &[Neutral, Neutral, Text('x')]),
        // A control string that cannot be an answer is read as typed keys.
        (b"\x1b]ls\rx", &[Other, Text('x')]),
        (b"\x1b]11;rgb\x1b[C", &[Right]),
    ]);
}

#[test]
fn nothing_is_read_as_a_string_or_sequence_without_end() {
    let (string_max, sequence_max) = (usize::try_from(STRING_BYTES_MAX).unwrap(), 128);
    let mut long = b"\x1b]".to_vec();
    long.resize(2 + string_max, b'a');
    assert_eq!(keys(&long), []);
    long.extend(b"bc");
    assert_eq!(keys(&long), [Other, Text('c')]);
    let mut long = b"\x1b[".to_vec();
    long.resize(2 + sequence_max, b'1');
    assert_eq!(keys(&long), []);
    long.extend(b"1c");
    assert_eq!(keys(&long), [Other, Text('c')]);
}

/// Keys and their bytes, which are not the beginning of longer keys.
const SPELLINGS: [(&[u8], Key); 19] = [
    (b"a", Text('a')),
    ("\u{1f600}".as_bytes(), Text('\u{1f600}')),
    (b"\x1b[[A", Other),
    (b"\x1b\x1b[A", Other),
    (b"\x1b[I", Neutral),
    (b"\x1b[1;1:3A", Neutral),
    (b"O", Text('O')),
    (b"[", Text('[')),
    ("\u{4e2d}".as_bytes(), Text('\u{4e2d}')),
    (b"\x7f", Backspace),
    (b"\r", Enter),
    (b"\x1bOC", Right),
    (b"\x1b[1;5D", WordLeft),
    (b"\x1b[3~", Delete),
    (b"\x1bb", WordLeft),
    (b"\x1b[M !!", Neutral),
    (b"\x1b[<0;1;1M", Neutral),
    (b"\x1b]11;rgb:0/0/0\x1b\\", Neutral),
    (b"\x1b[200~", PasteStart),
];

/// First bytes of keys that are incomplete.
const BEGINNINGS: [&[u8]; 6] = [b"\x1b", b"\x1b\x1b", b"\x1b[", b"\x1b]1", b"\xc3", b"\x1b[M"];

proptest! {
    #[test]
    fn keys_are_the_same_in_one_read_and_in_many(
        typed in prop::collection::vec((prop::sample::select(&SPELLINGS[..]), any::<bool>()), 0..20),
    ) {
        let (mut keystrokes, mut read) = (Keystrokes::default(), Vec::new());
        for ((spelling, _), ends_read) in &typed {
            read.extend(spelling.iter().filter_map(|byte| keystrokes.push(*byte)));
            prop_assert!(!keystrokes.is_within_key());
            read.extend(keystrokes.flush().filter(|_| *ends_read));
        }
        let expected: Vec<_> =
            typed.iter().map(|((bytes, key), _)| Keystroke { key: *key, len: bytes.len() }).collect();
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn each_byte_belongs_to_one_keystroke(
        pieces in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..4),
                prop::sample::select(&SPELLINGS[..]).prop_map(|(bytes, _)| bytes.to_vec()),
                prop::sample::select(&BEGINNINGS[..]).prop_map(<[u8]>::to_vec),
            ],
            0..12,
        ),
        cuts in any::<u16>(),
    ) {
        let (mut keystrokes, mut unread) = (Keystrokes::default(), 0);
        for (turn, piece) in pieces.iter().enumerate() {
            for byte in piece {
                unread += 1;
                if let Some(keystroke) = keystrokes.push(*byte) {
                    prop_assert!((1..=unread).contains(&keystroke.len));
                    unread -= keystroke.len;
                }
            }
            if cuts >> turn & 1 == 1 && let Some(keystroke) = keystrokes.flush() {
                prop_assert_eq!(keystroke.len, unread);
                unread = 0;
            }
            prop_assert!(unread == 0 || keystrokes.is_within_key(), "bytes without a key");
        }
    }
}
