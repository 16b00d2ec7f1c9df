//! Compares our emulator with two others. Output that a program can send must give the same picture in both.

use arbitrary::{Result, Unstructured};
use rove_oracle::{Alacritty, Function, Oracle, Pair, Vt100};
use rove_terminal::Size;

/// Pieces of text with narrow, wide and combined characters.
const TEXTS: [&str; 12] =
    ["a", "z ", "word", "é", "─", "e\u{301}", "~~", "漢", "字\u{302}", "😀", "❤\u{fe0f}", "x 漢y"];

/// C0 controls that have an effect.
const CONTROLS: [u8; 7] = *b"\x08\x09\x0a\x0b\x0d\x0e\x0f";

/// Escape sequences without numbers.
const ESCAPES: [&str; 9] = ["7", "8", "D", "E", "M", "H", "(0", "(B", "c"];

/// Final bytes of control sequences whose numbers are a count or a position.
const FINALS: [u8; 21] = *b"ABCDEFGHILMPSTXZ@`abd";

/// SGR parameters that all three emulators should know. Colours with random numbers are added.
const SGR: [&str; 24] = [
    "", "0", "1", "2", "3", "4", "5", "7", "8", "9", "21", "22", "23", "24", "27", "28", "29",
    "31", "39", "42", "49", "97", "103", "4:3",
];

/// Executes a stream of functions in our emulator and in each of the others.
pub fn emulators_agree(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let Ok((size, stream)) = stream(&mut input) else { return };
    compare::<Alacritty>(size, &stream);
    compare::<Vt100>(size, &stream);
}

fn compare<T: Oracle>(size: Size, stream: &[Function]) {
    let mut pair = Pair::<T>::blank(size);
    for function in stream {
        if let Err(mismatch) = pair.take(function) {
            panic!("{mismatch:?}");
        }
    }
}

fn stream(input: &mut Unstructured<'_>) -> Result<(Size, Vec<Function>)> {
    let size = Size::clamped(input.int_in_range(4..=20)?, input.int_in_range(2..=10)?);
    let mut stream = Vec::new();
    while !input.is_empty() && stream.len() < 200 {
        stream.push(function(input)?);
    }
    Ok((size, stream))
}

fn function(input: &mut Unstructured<'_>) -> Result<Function> {
    let number = |input: &mut Unstructured<'_>| input.int_in_range(0_u16..=24);
    Ok(match input.int_in_range(0..=12)? {
        0..=2 => Function::Text((*input.choose(&TEXTS)?).to_owned()),
        3..=5 => csi(input)?,
        6 => Function::Csi(b'H', number(input)?.max(1), number(input)?.max(1)),
        7 => sgr(input)?,
        8 => Function::Control(*input.choose(&CONTROLS)?),
        9 => Function::Escape(input.choose(&ESCAPES)?),
        10 => Function::Margins(number(input)?.max(1), number(input)?.max(1)),
        11 => Function::Alternate(input.arbitrary()?),
        _ => match input.int_in_range(0..=3)? {
            0 => Function::Origin(input.arbitrary()?),
            1 => Function::Autowrap(input.arbitrary()?),
            2 => Function::Insert(input.arbitrary()?),
            _ => Function::CursorVisible(input.arbitrary()?),
        },
    })
}

fn csi(input: &mut Unstructured<'_>) -> Result<Function> {
    let last = *input.choose(&FINALS)?;
    Ok(match input.int_in_range(0..=6)? {
        0 => Function::Csi(*input.choose(b"JK")?, input.int_in_range(0..=2)?, 0),
        1 => Function::Csi(b'g', *input.choose(&[0, 3])?, 0),
        2 => Function::Csi(*input.choose(b"su")?, 0, 0),
        _ => Function::Csi(last, input.int_in_range(0..=24)?, 0),
    })
}

fn sgr(input: &mut Unstructured<'_>) -> Result<Function> {
    let byte = |input: &mut Unstructured<'_>| input.arbitrary::<u8>();
    Ok(Function::Sgr(match input.int_in_range(0..=4)? {
        0 => format!("38;5;{}", byte(input)?),
        1 => format!("48;2;{};{};{}", byte(input)?, byte(input)?, byte(input)?),
        2 => format!("38:2:{}:{}:{}", byte(input)?, byte(input)?, byte(input)?),
        _ => (*input.choose(&SGR)?).to_owned(),
    }))
}
