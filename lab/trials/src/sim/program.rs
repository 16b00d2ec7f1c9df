//! The output of the program on the server's pty.

use super::dice::Dice;

/// Complete control sequences and texts that a stock peer understands.
const STOCK: [&str; 26] = [
    "\r",
    "\n",
    "\x08",
    "\x07",
    "\x1bM",
    "\x1bD",
    "\x1bE",
    "\x1b7",
    "\x1b8",
    "\x1b[r",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[?25l",
    "\x1b[?25h",
    "\x1b[?5h",
    "\x1b[?5l",
    "\x1b[?2004h",
    "\x1b[?1000h",
    "\x1b[?1006h",
    "\x1b[?1000l",
    "\x1b[?7l",
    "\x1b[?7h",
    "\x1b[4h",
    "\x1b[4l",
    "\x1b[?2026hpart",
    "\x1b[?2026l",
];

/// Complete control sequences that are synchronised only between two rove ends.
const RICH: [&str; 26] = [
    "\x1b[4:3m",
    "\x1b[21;9;53m",
    "\x1b[58:2::10:20:30m",
    "\x1b[58:5:9m",
    "\x1b[59;24m",
    "\x1b]8;;\x1b\\",
    "\x1b]104\x07",
    "\x1b]110\x07",
    "\x1b]111\x07",
    "\x1b]7;file://far/tmp\x07",
    "\x1b]7;\x07",
    "\x1b]9;4;0\x07",
    "\x1b[?1h",
    "\x1b[?1l",
    "\x1b=",
    "\x1b>",
    "\x1b[>5u",
    "\x1b[<u",
    "\x1b[>4;2m",
    "\x1b[>4m",
    "\x1b[?1007h",
    "\x1b[?1007l",
    "\x1b[?69h",
    "\x1b[?69l",
    "\x1b[3 @",
    "\x1b[2'}",
];

/// Final bytes of control sequences with numbers.
const FINALS: &[u8] = b"HABCDGdJKXPLM@STmrIs";

/// Returns output of the program. It contains no question to the terminal, so that only keys reach the program.
pub(super) fn output(dice: &mut Dice) -> Vec<u8> {
    let pieces = match dice.below(20) {
        0 => dice.below(2_000),
        _ => dice.below(60),
    };
    let mut out = Vec::new();
    for _ in 0..pieces {
        if dice.chance(0.6) {
            out.extend(text(dice));
        } else {
            out.extend(control(dice).into_bytes());
        }
    }
    out
}

/// Returns a command that copies `number`, in base64. The number tells which of two copies is newer.
pub(super) fn copy(number: u64, len: usize) -> String {
    format!("\x1b]52;c;{number:0>len$}\x07")
}

/// Returns a notification that contains a number.
pub(super) fn notification(number: u64) -> String {
    format!("\x1b]9;told {number}\x07")
}

fn text(dice: &mut Dice) -> Vec<u8> {
    const WORDS: [&str; 8] =
        ["cargo test", "\r\n", "広い", "e\u{301}", "🦀", "-rw-r--r--", "é", "\t\u{ad}x"];
    match dice.below(8) {
        0 => vec![b'x'; dice.index(200)],
        // Half of a character, or an invalid byte. From 0xE0 on, a byte cannot be the second half of a C1 control.
        1 => vec![dice.byte() | 0xe0],
        _ => dice.pick(&WORDS).as_bytes().to_vec(),
    }
}

fn control(dice: &mut Dice) -> String {
    match dice.below(20) {
        0..7 => dice.pick(&STOCK).to_owned(),
        7..10 => dice.pick(&RICH).to_owned(),
        10 => numbered(dice),
        _ => {
            let last = char::from(dice.pick(FINALS));
            let (first, second) = (dice.below(60), dice.below(60));
            format!("\x1b[{first};{second}{last}")
        }
    }
}

/// Returns a control sequence with a random number.
fn numbered(dice: &mut Dice) -> String {
    let number = dice.below(9);
    match dice.below(11) {
        0 => format!("\x1b]2;title {number}\x07"),
        1 => format!("\x1b]8;id={number};https://example.org/{number}\x1b\\"),
        2 => format!("\x1b]4;{};rgb:{number}/0/f\x07", dice.byte()),
        3 => format!("\x1b]{};#12{number}\x07", 10 + dice.below(3)),
        4 => format!("\x1b]9;4;{};{}\x07", 1 + dice.below(4), dice.below(101)),
        5 => format!("\x1b[{number} q"),
        6 => {
            // Four digits of base64 are three bytes.
            let len = if dice.chance(0.05) { 4 * (2 + dice.index(10_000)) } else { 8 };
            copy(dice.serial(), len)
        }
        7 => notification(dice.serial()),
        // Selects an entry of the palette by its number. The first sixteen entries also have names.
        8 => format!("\x1b[{};5;{}m", dice.pick(&[38, 48]), dice.below(32)),
        9 => format!("\x1b[{};2;10;20;{}m", dice.pick(&[38, 48]), dice.byte()),
        _ => {
            let (a, b) = (dice.below(20), dice.below(60));
            format!("\x1b[{a};{b};{};{};1;2;3;1$v", a + dice.below(10), b + dice.below(40))
        }
    }
}
