//! The user sees across a bad network the screen that a program's output makes on the host.

use std::net::{IpAddr, Ipv4Addr};

use crate::support::{Maker, Scratch, Session, draw, lines, lossy, same_picture, side_by_side};

/// A script that reads file names. For each name, it clears the screen and prints the file.
const SHOW: &str = r#"
stty -echo; cd "$1"; echo ready
while IFS= read -r name; do stty -opost; printf '\033c'; cat "$name"; stty opost; done
"#;

/// A program's output, and the screen of 24 rows and 80 columns that it leaves if it starts on a cleared screen.
#[derive(Clone)]
struct Case {
    input: String,
    /// The rows from the first one, without trailing blanks.
    rows: Vec<String>,
    /// The cursor's row and column, counted from 1.
    cursor: (u16, u16),
}

fn case(input: &str, rows: &str, cursor: (u16, u16)) -> Case {
    let rows = rows.split('|').map(str::to_owned).collect();
    Case { input: input.to_owned(), rows, cursor }
}

fn e(count: usize) -> String {
    "E".repeat(count)
}

/// Returns cases at the right margin, where a full line has not yet wrapped.
fn margin_cases() -> Vec<Case> {
    let full = e(80);
    vec![
        case(&format!("{full}\x08x"), &format!("{}xE", e(78)), (1, 80)),
        case(&format!("{full}\x1b[Bx"), &format!("{full}|{:79}x", ""), (2, 80)),
        case(&format!("{full}\x1b[1mx"), &format!("{full}|x"), (2, 2)),
        case(&format!("{full}\tx"), &format!("{full}|x"), (2, 2)),
        case(&format!("{full}\x1b[Kx"), &format!("{}x", e(79)), (1, 80)),
        case("\x1b[99;99HX", &format!("{}{:79}X", "|".repeat(23), ""), (24, 80)),
        case(
            &format!("\x1b[?7l{}XYZ", "abcdefghij".repeat(8)),
            &format!("{}abcdefghiZ", "abcdefghij".repeat(7)),
            (1, 80),
        ),
        case(&format!("{full}\r\n").repeat(25), &vec![full.as_str(); 23].join("|"), (24, 1)),
    ]
}

/// Returns cases of cursor motion, scrolling and editing.
fn motion_cases() -> Vec<Case> {
    let ten = "l1\r\nl2\r\nl3\r\nl4\r\nl5\r\nl6\r\nl7\r\nl8\r\nl9\r\nl10";
    vec![
        case("\x1b[3;3H\x1b[9AX\x1b[9DY", "Y X", (1, 2)),
        case("\x1b[10GA\x1b[5dB\x1b[20`C", "         A||||          B        C", (5, 21)),
        case(
            &format!("{ten}\x1b[3;6r\x1b[4;2H\x1b[LX\x1b[8;1H\x1b[LY"),
            "l1|l2|l3|X|l4|l5|l7|Y8|l9|l10",
            (8, 2),
        ),
        case(&format!("{ten}\x1b[3;6r\x1b[4;2H\x1b[2MX"), "l1|l2|l3|X6|||l7|l8|l9|l10", (4, 2)),
        case(&format!("{ten}\x1b[3;6r\x1b[2S"), "l1|l2|l5|l6|||l7|l8|l9|l10", (1, 1)),
        case("one\r\ntwo\x1b[1;3H\x1bMX", "  X|one|two", (1, 4)),
        case("\x1b[5;10r\x1b[?6h\x1b[1;1HA\x1b[20;1HB", "||||A|||||B", (10, 2)),
        case("abc\x1b[10;5rX\x1b[0;1rY", "abcXY", (1, 6)),
        case("abcdef\x1b[1;3H\x1b[2@XY", "abXYcdef", (1, 5)),
        case("abcdef\x1b[1;3H\x1b[2PX", "abXf", (1, 4)),
        case("abcdef\x1b[1;3H\x1b[2XX", "abX ef", (1, 4)),
        case("abcdef\x1b[1;3H\x1b[4hXY\x1b[4lZ", "abXYZdef", (1, 6)),
        case("abcdef\x1b[1;3H\x1b[1K", "   def", (1, 3)),
        case("abcdef\x1b[1;3H\x1b[K", "ab", (1, 3)),
        case("hello, wurld\x1b[2Zo", "oello, wurld", (1, 2)),
        case("\x1b[3g\x1b[5G\x1bH\x1b[1GA\tB\tC", &format!("A   B{:74}C", ""), (1, 80)),
        case("ab\x1bDcd\x1bEef", "ab|  cd|ef", (3, 3)),
        case("ab\x1b[2\nCX", "ab|    X", (2, 6)),
        case("main\x1b[?1049hALT\x1b[?1049lX", "mainX", (1, 6)),
        case("abc\x1b[31m\x1b[?25l\x1bcX", "X", (1, 2)),
        case("l1\r\nl2\r\nl3\r\nl4\x1b[2;3r\x1b[3;1H\nX", "l1|l3|X|l4", (3, 2)),
        case("l1\r\nl2\r\nl3\r\nl4\x1b[2;3r\x1b[2;1H\x1bMX", "l1|X|l2|l4", (2, 2)),
        case("\x1b[5;10r\x1b[?6h\x1b[1;1HA\x1b[20;1HB\x1b[?6lC", "C||||A|||||B", (1, 2)),
        case("abcdef\x1b[1;3H\x1b[999X", "ab", (1, 3)),
        case("abcdef\x1b[1;3H\x1b[2KX", "  X", (1, 4)),
        case("hello, wurld\x1b[Zo", "hello, world", (1, 10)),
        case("hello, wurld\x1b[99Z9\x1b[It\x1b[99I#", &format!("9ello, {:72}#", "wtrld"), (1, 80)),
        case("\x1b[9G\x1b[g\x1b[1GA\tB", "A               B", (1, 18)),
        case(
            "\x1b[3;4H\x1b#8\x1b[1;1Hx",
            &format!("x{}{}", e(79), format!("|{}", e(80)).repeat(23)),
            (1, 2),
        ),
        case("\x1b[5;10H\x1b[1;31m\x1b7\x1b[m\x1b[1;1Hq\x1b8X", "q||||         X", (5, 11)),
        case("\x1b[5;10r\x1b[?6h\x1b[2;2H\x1b7\x1b[?6l\x1b[1;1Hq\x1b8X", "q||||| X", (6, 3)),
        case("ab\u{85}cd\u{84}ef\x0bgh\x0cij", "ab|cd|  ef|    gh|      ij", (5, 9)),
        case(
            "a\x1b[5bX\x1b[2EY\x1b[1FZ\x1b[sab\x1b[uc\x1b[5ad\x1b[2ee",
            "aaaaaaX|Zcb    d|Y|        e",
            (4, 10),
        ),
        case("\x1b[?25l\x1b[4h\x1b[5;6r\x1b[2;3Habc\x1b[!pX", "|  abcX", (2, 7)),
    ]
}

/// Returns cases with characters of every width, and with bytes that form no character.
fn text_cases() -> Vec<Case> {
    vec![
        case("e\u{301}x", "e\u{301}x", (1, 3)),
        case("abc\x1b[1;1H\u{302}", "a\u{302}bc", (1, 1)),
        case("\u{302}x", "\u{a0}\u{302}x", (1, 3)),
        case("abc\r\n\u{302}\r\ndef", "abc|\u{a0}\u{302}|def", (3, 4)),
        case("0\x1b[1J\u{334}x", "\u{a0}\u{334} x", (1, 4)),
        case(
            &format!("{}\u{4e00}x", "a".repeat(78)),
            &format!("{}\u{4e00}|x", "a".repeat(78)),
            (2, 2),
        ),
        case("\u{9b}31mb\u{a1}", "b\u{a1}", (1, 3)),
        case(
            &format!("{}\u{4e00}x", "a".repeat(79)),
            &format!("{}|\u{4e00}x", "a".repeat(79)),
            (2, 4),
        ),
        case("\u{4e00}b\x1b[1;1Hx", "x b", (1, 2)),
        case("\u{4e00}b\x1b[1;2Hx", " xb", (1, 3)),
        case("a\x1b[bX", "aaX", (1, 4)),
        case("\x1b(0lqk\x1b(B\x0eabc\x0fdef", "┌─┐abcdef", (1, 10)),
        case("a\x00b\x7fc", "abc", (1, 4)),
        case("\x1bP#0;2~\x1b\\x\x1b_hidden\x1b\\y\x1b^pm\x1b\\z", "xyz", (1, 4)),
        case("\x1b]2;abc\x18def", "def", (1, 4)),
        case("\x1b]8;;http://example.com\x1b\\link\x1b]8;;\x1b\\ x", "link x", (1, 7)),
    ]
}

/// Output with colours and attributes. A second emulator determines the expected screen.
const COLOURS: [&str; 6] = [
    "\x1b[1mA\x1b[22;4mB\x1b[24;7mC\x1b[27;3mD\x1b[23mE",
    "\x1b[31;42mA\x1b[39mB\x1b[49mC\x1b[94;103mD\x1b[mE",
    "\x1b[38;5;200mA\x1b[48;5;17mB\x1b[38;2;1;2;3mC\x1b[48;2;255;0;7mD\x1b[mE",
    "\x1b[48;2;255;0;255m\x1b[H\x1b[JTrue\r\n\x1b[48;5;32m\x1b[J256\r\n\x1b[42m\x1b[J16\r\n\x1b[0mdone\r\n",
    "\x1b[41mred\x1b[K\x1b[m\r\n\x1b[44m\x1b[3Cblue\x1b[1K\x1b[m",
    "\x1b[7mall\x1b[m \x1b[1;31mof\x1b[m \x1b[4;38;5;9mit\x1b[m\x1b[10;20H\x1b[45m \x1b[m",
];

#[test]
fn a_lost_frame_changes_no_picture() {
    side_by_side([Maker::Rove, Maker::Stock], |client| {
        let scratch = Scratch::new();
        let folder = scratch.folder().to_str().expect("scratch paths are text");
        let command = ["sh", "-c", SHOW, "sh", folder];
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let session = Session::open(client, Maker::Rove, loopback, lossy(0.3), &command);
        session.terminal.wait_for_text("ready");
        let mut number = 0;
        let mut show = |input: &str| {
            number += 1;
            scratch.write(&format!("case-{number}"), input);
            session.terminal.send(format!("case-{number}\r"));
        };
        for case in [margin_cases(), motion_cases(), text_cases()].concat() {
            show(&case.input);
            let what = format!("{} client: {:?} gives {:?}", client.name(), case.input, case.rows);
            session.terminal.wait_for(&what, |screen| {
                let (row, column) = screen.cursor_position();
                // On a full line, stock clients show the cursor before the last cell (Mosh 1.4.0 as observed).
                let cursor = client == Maker::Stock || (row + 1, column + 1) == case.cursor;
                lines(screen) == case.rows && cursor
            });
        }
        for input in COLOURS {
            show(input);
            let expected = draw(24, 80, input.as_bytes());
            let what = format!("{} client: {input:?} in its colours", client.name());
            session.terminal.wait_for(&what, |screen| same_picture(screen, &expected));
        }
    });
}
