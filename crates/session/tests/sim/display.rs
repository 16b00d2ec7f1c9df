//! A program's bytes at the server, and the picture at the client. However the bytes are cut, and whatever the path
//! loses, the user sees the picture that a terminal beside the program would show.

use rove_link::LinkConfig;
use rove_session::ClientEvent;
use rove_ssp::Config;
use rove_terminal::{Screen, Terminal};
use rove_units::Duration;

use crate::common::*;

/// The time between two pieces of output. It is longer than a send interval, so most pieces make a separate frame.
const PAUSE: Duration = Duration::from_millis(30);

/// Inputs, each of which begins on a cleared screen.
fn inputs() -> Vec<String> {
    let full = "E".repeat(80);
    let ten = "l1\r\nl2\r\nl3\r\nl4\r\nl5\r\nl6\r\nl7\r\nl8\r\nl9\r\nl10";
    let lines: String = (1..=24).map(|n| format!("\n\rtext {n}")).collect();
    let mut inputs: Vec<String> = [
        // These write at the right margin.
        "{full}\x08x",
        "{full}\x1b[Bx",
        "{full}\x1b[1mx",
        "{full}\tx",
        "{full}\x1b[Kx",
        "{full}{full}ww\x1b[A\x1b[80Gy",
        "\x1b[?7lab{full}XYZ",
        "\x1b[99;99HX",
        "{full}\r\n{full}\r\n{full}",
        // These move, scroll and edit.
        "\x1b[3;3H\x1b[9AX\x1b[9DY",
        "\x1b[10GA\x1b[5dB\x1b[20`C",
        "{lines}\x1b[4S\x1b[2T\rBad line\x1b[24;1HLast line\x1b[HFirst line\r\n",
        "{ten}\x1b[3;6r\x1b[2S",
        "{ten}\x1b[3;6r\x1b[4;2H\x1b[LX\x1b[8;1H\x1b[LY",
        "{ten}\x1b[3;6r\x1b[4;2H\x1b[2MX",
        "{ten}\x1b[2;4r\x1b[4;1H\nX",
        "{ten}\x1b[2;4r\x1b[2;1H\x1bMX",
        "one\r\ntwo\x1b[1;3H\x1bMX",
        "\x1b[5;10r\x1b[?6h\x1b[1;1HA\x1b[20;1HB\x1b[?6lC",
        "abcdef\x1b[1;3H\x1b[2@XY\r\nabcdef\x1b[2;3H\x1b[2PX\r\nabcdef\x1b[3;3H\x1b[2XX",
        "abcdef\x1b[1;3H\x1b[4hXY\x1b[4lZ",
        "abcdef\x1b[1;3H\x1b[1K\r\nabcdef\x1b[2;3H\x1b[2KX\r\nabcdef\x1b[3;3H\x1b[K",
        "hello, wurld\x1b[Zo\r\nhello, wurld\x1b[99Z9\r\nhello\x1b[It\x1b[99I#",
        "\x1b[3g\x1b[5G\x1bH\x1b[1GA\tB\tC",
        "\x1b[3;4H\x1b#8\x1b[1;1Hx",
        "\x1b[5;10H\x1b[1;31m\x1b7\x1b[m\x1b[1;1Hq\x1b8X",
        "ab\x1bDcd\x1bEef\u{85}gh\u{84}ij\x0bkl",
        "a\x1b[5bX\x1b[2Eb\x1b[1Fc\x1b[5ad\x1b[2ee",
        "main\x1b[?1049hALT\x1b[?1049lX",
        "abc\x1b[31m\x1b[?25l\x1bcX",
        // These set colours.
        "\x1b[1;3;4;5;7;8mA\x1b[22mB\x1b[23mC\x1b[24mD\x1b[25mE\x1b[27mF\x1b[28mG",
        "\x1b[31;42mA\x1b[39mB\x1b[49mC\x1b[94;103mD\x1b[38;5;200mE\x1b[48;2;1;2;3mF",
        "\x1b[48;2;255;0;255m\x1b[H\x1b[JTrue\r\n\x1b[48;5;32m\x1b[J256\r\n\x1b[42m\x1b[J16\r\n\x1b[0mdone\r\n",
        "abc\x1b[1;1H\x1b[41m\x1b[2@\x1b[m\x1b[24;1H\x1b[42m\nq\x1b[m",
        "\x1b[?5habc",
        // These write text of several widths.
        "e\u{301}x\r\n\u{302}x\r\nabc\x1b[3;1H\u{302}",
        "{full}\x1b[1;80H一x\r\n一b\x1b[3;2Hx",
        "一二三\x1b[1;1H\x1b[P\r\n一二三\x1b[2;2H\x1b[X\r\n一二三\x1b[3;2H\x1b[4hX",
        "\u{1f468}\u{200d}\u{1f469}x\u{2764}\u{fe0f}y\u{1f1e9}\u{1f1ea}z",
        "\x1b(0lqk\x1b(B\x0eabc\x0fdef",
        "\x1bP#0;2~\x1b\\x\x1b_hidden\x1b\\y\x1b]2;abc\x18def",
    ]
    .iter()
    .map(|input| {
        input.replace("{full}", &full).replace("{ten}", ten).replace("{lines}", &lines)
    })
    .collect();
    inputs.push(format!("{full}\r\n").repeat(25));
    inputs
}

/// A path that loses and doubles datagrams and brings them out of order.
fn lossy() -> LinkConfig {
    LinkConfig {
        delay: ms(20),
        jitter: ms(10),
        reorder: true,
        loss: 0.3,
        duplicate: 0.02,
        ..LinkConfig::default()
    }
}

#[test]
fn neither_cuts_nor_losses_change_a_picture() {
    for theirs in [rove as fn(Config) -> Config, stock] {
        let mut pair = pair_with(&lossy(), theirs(Config::client()), theirs(Config::server()));
        pair.run_for(secs(5));
        for input in inputs() {
            print(&mut pair, b"\x1b[!p\x1b[?7h\x1bc");
            for byte in input.as_bytes().chunks(1) {
                print(&mut pair, byte);
                pair.run_for(PAUSE);
            }
            let mut beside = Terminal::host(size(80, 24));
            beside.write(input.as_bytes());
            let same = pair.run_until(secs(60), |client, server| {
                in_sync(client, server) && shows_the_same(&client.terminal, beside.screen())
            });
            assert!(same, "{input:?}\n{}", client_rows(&pair));
        }
    }
}

#[test]
fn attributes_and_links_reach_a_rove_and_their_text_a_stock_client() {
    let inputs = [
        "\x1b[2mA\x1b[22;9mB\x1b[29;53mC\x1b[55;21mD\x1b[24mE",
        "\x1b[4:1mA\x1b[4:2mB\x1b[4:3mC\x1b[4:4mD\x1b[4:5mE\x1b[4:0mF",
        "\x1b[4:3;58:2::255:0:9mcurly\x1b[58:5:200m red\x1b[59m plain\x1b[m",
        "\x1b]8;;http://example.com/\x1b\\link\x1b]8;;\x1b\\ x",
        "\x1b]8;id=foo;http://example.com\x07li\x1b[31mnk\x1b[m\r\nmore\x1b]8;;\x07!\x1b[1;3Hxx",
        "\x1b]8;;http://a/\x07{full}ww\x1b]8;;\x07\x1b[1;70H\x1b[5P\x1b[2S",
    ];
    for theirs in [rove as fn(Config) -> Config, stock] {
        let rich = theirs(Config::client()) == rove(Config::client());
        let mut pair = pair_with(&lossy(), theirs(Config::client()), rove(Config::server()));
        pair.run_for(secs(5));
        for input in inputs {
            let input = input.replace("{full}", &"E".repeat(80));
            print(&mut pair, b"\x1b]8;;\x07\x1bc");
            for byte in input.as_bytes().chunks(1) {
                print(&mut pair, byte);
                pair.run_for(PAUSE);
            }
            let same = pair.run_until(secs(60), |client, server| {
                (same_picture(client, server) || !rich)
                    && shows_the_same(&client.terminal, server.server.screen())
            });
            assert!(same, "{input:?}\n{}", client_rows(&pair));
            let screen = pair.left.client.screen();
            let row = screen.row(0).expect("a row of the screen");
            assert!(rich || (0..80).all(|column| row.decoration(column).is_none()), "{input:?}");
        }
    }
}

fn shows_the_same(user: &Terminal, beside: &Screen) -> bool {
    let user = user.screen();
    let place = |screen: &Screen| (screen.cursor().row, screen.cursor().column);
    place(user) == place(beside)
        && user.reverse_video() == beside.reverse_video()
        && (0..24).all(|row| user.row_text(row) == beside.row_text(row))
}

fn client_rows(pair: &Pair) -> String {
    let screen = pair.left.terminal.screen();
    (0..24).map(|row| screen.row_text(row) + "\n").collect()
}

#[test]
fn a_flood_is_seen_in_frames_and_stops_when_the_program_does() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(2));
    let frames = pair.left.user.frames;
    let mut letters = (b'a'..=b'z').cycle();
    // The program prints a line with one letter a hundred times every 10 ms, for ten seconds.
    for _ in 0..1000 {
        let lines: Vec<u8> =
            letters.by_ref().take(100).flat_map(|letter| [letter, b'\r', b'\n']).collect();
        print(&mut pair, &lines);
        pair.run_for(ms(10));
    }
    let seen = pair.left.user.frames - frames;
    assert!((50..=600).contains(&seen), "{seen} frames for 100 000 lines");
    print(&mut pair, b"=== normal exit ===\r\n");
    assert!(pair.run_until(ms(500), in_sync));
    assert_eq!(pair.left.terminal.screen().row_text(22), "=== normal exit ===");
    let still = pair.left.user.frames;
    pair.run_for(secs(10));
    assert_eq!(pair.left.user.frames, still, "nothing to draw");
}

#[test]
fn a_program_that_moves_back_and_forth_wakes_nobody_for_long() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(10));
    let mut turns = 0;
    for _ in 0..10 {
        print(&mut pair, b"x\x08");
        pair.run_until(secs(1), |_, _| {
            turns += 1;
            false
        });
    }
    assert!(turns < 200, "{turns} wake-ups in 10 s");
}

#[test]
fn a_yes_counts_only_while_the_window_shows_the_whole_question() {
    let question =
        "-A: the host wants to use the key root@vm for a login as ubash at host.example.";
    let mut pair = pair(&LinkConfig::lossless(ms(5)));
    pair.run_for(secs(1));
    for (columns, rows, is_whole) in
        [(200, 24, true), (80, 24, true), (40, 24, true), (40, 2, false), (9, 24, false)]
    {
        let now = pair.now();
        pair.left.terminal.resize(size(columns, rows));
        pair.left.client.handle_resize(now, size(columns, rows));
        pair.left.client.ask(now, Some(question.to_owned()));
        pair.run_for(secs(1));
        let shown: Vec<String> = (0..rows).map(|row| pair.left.row_text(row)).collect();
        let asked = format!("rove: {question} [To allow it: Ctrl-^ y]");
        assert_eq!(shown.join(" ").starts_with(&asked), is_whole, "{shown:?}");
        type_text(&mut pair, b"\x1ey");
        let yes = pair.left.client.poll_event();
        assert_eq!(yes, is_whole.then_some(ClientEvent::Yes), "{columns}x{rows}");
    }
}
