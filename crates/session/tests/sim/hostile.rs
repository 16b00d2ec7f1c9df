//! A hostile peer that has the key: whatever it sends, no end panics.
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

use proptest::prelude::*;
use rove_link::LinkConfig;
use rove_link::net::{LEFT_ADDRESS, RIGHT_ADDRESS};
use rove_ssp::wire::Instruction;
use rove_ssp::{Config, Direction, Ecn, StateNum};
use rove_units::{Duration, Instant};

use crate::common::forger::{Forger, event, host_bytes, member, varint};
use crate::common::*;

/// The bound on bytes that wait for the pty. A single client message or answer may exceed it.
const HOST_INPUT_MAX: usize = 1_048_576;

/// A client whose server sends whatever a test wants.
struct Victim {
    forger: Forger,
    end: ClientEnd,
    /// All that was written to the user's terminal.
    output: Vec<u8>,
    num: u64,
    now: Instant,
}

impl Victim {
    fn new() -> Self {
        let forger = Forger::new(Direction::ToClient);
        let end = near_of(rove(Config::client()));
        Self { forger, end, output: Vec::new(), num: 0, now: Instant::ZERO }
    }

    /// Receives a state that differs from the last by these host bytes.
    fn receive(&mut self, bytes: &[u8]) {
        self.receive_diff(host_bytes(bytes));
    }

    fn receive_diff(&mut self, diff: Vec<u8>) {
        let [old_num, new_num] = [self.num, self.num + 1].map(StateNum::new);
        let instruction = Instruction { old_num, new_num, diff, ..Instruction::default() };
        for datagram in self.forger.datagrams(&instruction) {
            let client = &mut self.end.client;
            if client.handle_datagram(self.now, RIGHT_ADDRESS, Ecn::Capable, &datagram).is_ok() {
                self.num += 1;
            }
        }
        self.now += Duration::from_millis(250);
        let client = &mut self.end.client;
        client.handle_timeout(self.now);
        while client.poll_transmit(self.now).is_some() {}
        if let Some(output) = client.poll_output(self.now) {
            self.end.terminal.write(&output);
            self.output.extend(output);
        }
    }

    /// Returns what the user sees in a row.
    fn row(&self, row: u16) -> String {
        self.end.terminal.screen().row_text(row)
    }
}

/// Returns a small number, a number near 2^64 or any number.
fn any_num() -> impl Strategy<Value = StateNum> {
    prop_oneof![8 => 0..8_u64, 1 => u64::MAX - 1..=u64::MAX, 1 => any::<u64>()]
        .prop_map(StateNum::new)
}

fn any_size() -> impl Strategy<Value = Vec<u8>> {
    let dimension = || prop_oneof![8 => 0..40_u32, 1 => any::<u32>().prop_map(|n| n | 1 << 31)];
    (dimension(), dimension())
        .prop_map(|(width, height)| member(3, &[varint(5, width), varint(6, height)].concat()))
}

fn any_text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..40),
        "(\x1b\\[[0-9;?]{0,6}[@-~]|[ -~广é\u{301}\r\n\x08]){0,9}".prop_map(String::into_bytes),
    ]
    .prop_map(|mut text| {
        text.truncate(100);
        text
    })
}

/// Returns a diff for either end: valid instructions, instructions for the other end, and noise.
fn any_diff() -> impl Strategy<Value = Vec<u8>> {
    let body = prop_oneof![
        4 => any_text().prop_map(|text| member(2, &member(4, &text))),
        2 => any_size(),
        2 => (0..9_u32).prop_map(|num| member(7, &varint(8, num))),
        1 => proptest::collection::vec(any::<u8>(), 0..30),
    ];
    let messages = proptest::collection::vec(body.prop_map(|body| member(1, &body)), 0..6);
    prop_oneof![
        8 => messages.prop_map(|messages| messages.concat()),
        1 => proptest::collection::vec(any::<u8>(), 0..60),
    ]
}

fn any_instruction() -> impl Strategy<Value = Instruction> {
    (any_num(), any_num(), any_num(), any_num(), any_diff()).prop_map(
        |(old_num, new_num, ack_num, throwaway_num, diff)| Instruction {
            old_num,
            new_num,
            ack_num,
            throwaway_num: if throwaway_num > old_num { old_num } else { throwaway_num },
            diff,
            ..Instruction::default()
        },
    )
}

#[test]
fn a_question_for_the_users_clipboard_is_never_passed_on() {
    let questions = [
        "\x1b]52;c;?\x07",
        "\x1b]52;c;?\x1b\\",
        "\x1b]52;c;?\u{9c}",
        "\u{9d}52;c;?\x07",
        "\x1b]52;;?\x07",
        "\x1b]52;cps01234567;?\x07",
        "\x1b]52;c;?aGk=\x07",
        "\x1b]52;c;aGk=?\x07",
        "\x1b]52;c;\x00?\x07",
        "\x1b]2;\x1b]52;c;?\x07",
        "\x1b]2;a\u{9d}52;c;?\x07",
        "\x1b]0;]52;c;?\x07",
        "]52;c;?\x07",
    ];
    let mut victim = Victim::new();
    victim.receive(b"\x1b]52;c;aGVsbG8=\x07\x1b]52;c;?\x07first");
    for question in questions {
        victim.receive(question.as_bytes());
        // The question is cut between two diffs.
        victim.receive(&question.as_bytes()[..question.len() / 2]);
        victim.receive(&question.as_bytes()[question.len() / 2..]);
    }
    victim.output.extend(victim.end.client.close_terminal());
    let sent = String::from_utf8_lossy(&victim.output);
    for (at, _) in sent.match_indices("\x1b]52;") {
        assert!(sent[at..].starts_with("\x1b]52;c;aGVsbG8=\x07"), "{}", sent.escape_debug());
    }
    assert!(!sent.contains('\u{9d}'));
}

/// Returns a message with two pieces of a copied text: `text` as the first piece of `length` bytes, and then `rest`.
fn copy(number: u32, selections: &[u8], length: u32, text: &[u8], rest: &[u8]) -> Vec<u8> {
    let offset = u32::try_from(text.len()).unwrap();
    let head = [member(4, selections), varint(5, length)].concat();
    let first = [varint(1, number), varint(2, 0), member(3, text), head].concat();
    let second = [varint(1, number), varint(2, offset), member(3, rest)].concat();
    [member(1, &event(17, &first)), member(1, &event(17, &second))].concat()
}

#[test]
fn no_copy_and_no_notification_of_a_hostile_server_asks_or_breaks_out() {
    let mut victim = Victim::new();
    victim.receive(b"first");
    victim.receive_diff(copy(1, b"pc", 8, b"aGVs", b"bG8="));
    for (selections, length, text, rest) in [
        (&b"c"[..], 1, &b"?"[..], &b""[..]),
        (b"c", 4, b"aGk", b"?"),
        (b"c", 4, b"a\x07\x1b", b"]"),
        (b"?", 4, b"aGk=", b""),
        (b"c;?\x07\x1b]52", 4, b"aGk=", b""),
        (b"\xff", 4, b"aGk=", b""),
        (b"c", 4, b"aGk=", b"aGk="),
        (b"c", 4, b"a===", b""),
        (b"c", 0x0010_0001, b"aGk=", b""),
        (b"c", u32::MAX, b"aGk=", b""),
        (b"c", 9, b"aGk=", b""),
    ] {
        for number in [2, 3, u32::MAX] {
            victim.receive_diff(copy(number, selections, length, text, rest));
        }
    }
    for command in ["99;i=1:p=?;", "9;a\x1bc", "9;4;1", "52;c;?", "777;notify;\u{9b}6n", "9;\x07"] {
        let newest = [varint(1, 9), member(2, command.as_bytes())].concat();
        victim.receive_diff(member(1, &event(19, &newest)));
    }
    victim.receive_diff(member(1, &event(18, &varint(1, u32::MAX))));
    victim.output.extend(victim.end.client.close_terminal());
    let sent = String::from_utf8_lossy(&victim.output);
    let commands: Vec<&str> = sent.match_indices("\x1b]").map(|(at, _)| &sent[at..]).collect();
    assert_eq!(commands.len(), 1, "{}", sent.escape_debug());
    assert!(commands[0].starts_with("\x1b]52;pc;aGVsbG8=\x07"));
    assert_eq!(victim.end.client.screen().row_text(0), "first");
}

#[test]
fn copies_and_notifications_of_a_hostile_rove_stay_words() {
    let words: [&[u8]; 13] = [
        b"c;?\x07",
        b"c;?",
        b"?",
        b"c\x1b]52;c;?\x07",
        b"\x1b[6n",
        "\u{9b}6n".as_bytes(),
        b"9;done\x07\x1b]52;c;?\x07",
        b"777;notify;a\x1b\\\x1b[6n;b",
        b"99;a=report:c=1;x",
        b"52;c;?",
        b"4;1;?",
        b"9;\xff\xfe",
        "9;a\u{202e}b\u{2028}\u{e0041}".as_bytes(),
    ];
    let copy = |n: u32, selections: &[u8], text: &[u8]| {
        let length = u32::try_from(text.len()).unwrap();
        let head = [member(4, selections), varint(5, length)].concat();
        member(1, &member(17, &[varint(1, n), varint(2, 0), member(3, text), head].concat()))
    };
    let notification =
        |n: u32, words: &[u8]| member(1, &member(19, &[varint(1, n), member(2, words)].concat()));
    let mut victim = Victim::new();
    victim.receive(b"\r\nshown");
    for (n, words) in (1_u32..).zip(words) {
        victim.receive_diff(copy(n, words, b"aGk="));
        victim.receive_diff(copy(n, b"c", words));
        victim.receive_diff(copy(n, words, words));
        victim.receive_diff(member(1, &member(18, &varint(1, u32::MAX))));
        victim.receive_diff(notification(n, words));
        victim.now += Duration::from_secs(3);
        victim.receive(b"\rshown");
    }
    victim.receive("\x1b]2;\u{2028}\u{202e}t\u{e0041}itle\x07\rshown".as_bytes());
    // Copied text and notifications that break no rule reach the user's terminal.
    victim.receive_diff(copy(100, b"c", b"aGk="));
    victim.receive_diff(notification(100, b"9;done"));
    victim.output.extend(victim.end.client.close_terminal());
    let sent = String::from_utf8_lossy(&victim.output);
    assert!(victim.end.terminal.take_replies().is_empty(), "{}", sent.escape_debug());
    for question in [";?", "\x1b[6n", "\u{9b}", "report", "\u{202e}", "\u{2028}", "\u{e0041}"] {
        assert!(!sent.contains(question), "{question:?} in {}", sent.escape_debug());
    }
    assert!(victim.output.iter().filter(|byte| **byte == 0x07).count() < 200);
    assert!(sent.contains("\x1b]52;c;aGk=") && sent.contains("\x1b]9;done"));
    assert_eq!(victim.row(1), "shown");
}

#[test]
fn a_title_of_a_megabyte_reaches_the_user_as_one_that_can_be_read() {
    let mut victim = Victim::new();
    victim.receive(b"before");
    victim.receive(format!("\x1b]2;{}\x07", "t".repeat(1 << 20)).as_bytes());
    let len = victim.output.len();
    assert!(len < 4096, "{len} bytes");
    victim.receive(b"\rbehind");
    assert_eq!(victim.row(0), "behind");
}

#[test]
fn a_diff_that_breaks_a_rule_leaves_the_user_a_screen() {
    let broken: [&[u8]; 14] = [
        b"\x1b[2;3r\x1b[?6h",
        b"\x1b[4h\x1b[?7l\x1b[20h",
        b"\x1b[3g\x1b(0\x0e\x1bN",
        b"\x1b[?2026h",
        b"\x1b[?1049h\x1b7",
        b"\x1b[6n\x1b[c\x1b[>c\x1b[>q\x1b[?25$p\x1bP$qm\x1b\\\x05\x1bZ",
        b"\x1b]2;unfinished",
        b"\x1b[31",
        b"\xe4\xb8",
        b"\xff\xfe\xc0\x80",
        b"\x1b[9;9H\xe4\xb8\x80\x1b[9;10Hx\x1b[1;80H\xe4\xb8\x80",
        b"\x1b[65535;65535H\x1b[65535b\x1b[65535@\x1b[65535L",
        b"\x1b[1000000000;1000000000H\x1b[1000000000X",
        b"\x1bP\x1b]\x1b_\x1b^",
    ];
    for first in broken {
        for second in broken {
            let mut victim = Victim::new();
            for diff in [b"text\r\n", first, second, b"\x18\x1bcafter"] {
                victim.receive(diff);
                assert!(
                    victim.end.terminal.take_replies().is_empty(),
                    "nobody asks the user's terminal"
                );
                assert!(!victim.end.terminal.synchronized_output());
            }
            assert_eq!(victim.num, 4, "{} {}", first.escape_ascii(), second.escape_ascii());
            assert_eq!(victim.row(0), "after", "{}", second.escape_ascii());
            let close = victim.end.client.close_terminal();
            victim.end.terminal.write(&close);
            victim.end.terminal.write(b"\x1b[H\x1b[2Jprompt");
            assert_eq!(victim.row(0), "prompt");
            assert!(!victim.end.terminal.screen().rich_modes().application_cursor_keys);
        }
    }
}

#[test]
fn a_size_that_the_window_never_had_is_refused() {
    for (width, height, taken) in [
        (0, 24, false),
        (80, 0, false),
        (u32::MAX, 24, false),
        (1, 1, true),
        (80, 24, true),
        (81, 24, false),
        (80, 25, false),
        (100_000, 2, false),
        (2, 100_000, false),
    ] {
        let mut victim = Victim::new();
        victim.receive(b"before");
        let size = member(3, &[varint(5, width), varint(6, height)].concat());
        victim.receive_diff(member(1, &size));
        assert_eq!(victim.num, if taken { 2 } else { 1 }, "{width}x{height}");
        let size = victim.end.client.screen().size();
        assert!(size.columns() <= 80 && size.rows() <= 24);
    }
}

#[test]
fn a_flood_of_questions_while_nobody_reads_holds_nobody_up() {
    let mut pair = pair(&LinkConfig::lossless(ms(5)));
    pair.run_for(secs(1));
    pair.right.program.stuck = true;
    let questions = b"\x1b[6n\x1b[c\x1b[?25$p".repeat(1000);
    let mut keys = Vec::new();
    for round in 0..300_u32 {
        print(&mut pair, &questions);
        if round % 10 == 0 {
            let key = [b'a' + u8::try_from(round / 10 % 26).unwrap()];
            type_text(&mut pair, &key);
            keys.extend(key);
            print(&mut pair, format!("\x1b[Hround {round}").as_bytes());
            pair.run_for(ms(50));
        }
    }
    let waiting = pair.right.server.host_input().len();
    assert!(waiting < HOST_INPUT_MAX + 65_536, "{waiting} bytes");
    // The screen is still updated: the user sees the newest text.
    assert!(pair.run_until(secs(5), same_picture));
    assert_eq!(pair.left.client.screen().row_text(0), "round 290");
    // Once the program reads again, every key arrives. Every answer that the server has queued is whole.
    pair.right.program.stuck = false;
    let letters = |typed: &[u8]| {
        let text = String::from_utf8(typed.to_vec()).unwrap();
        let text = ["\x1b[1;1R", "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c", "\x1b[?25;1$y"]
            .iter()
            .fold(text, |text, answer| text.replace(answer, ""));
        let place = |c: char| c.is_ascii_digit() || "\x1b[;R".contains(c);
        text.replace(place, "").into_bytes()
    };
    assert!(
        pair.run_until(secs(30), |_, server| letters(&server.program.typed).len() >= keys.len())
    );
    assert_eq!(letters(&pair.right.program.typed), keys);
    pair.right.program.typed.clear();
    print(&mut pair, b"\x1b[5n");
    pair.run_for(secs(1));
    assert_eq!(pair.right.program.typed, b"\x1b[0n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn no_instruction_harms_a_server(
        instructions in proptest::collection::vec(any_instruction(), 1..30),
        step in 0_u64..3000,
    ) {
        let mut forger = Forger::new(Direction::ToServer);
        let mut server = far(rove(Config::server())).server;
        let mut now = Instant::ZERO;
        for instruction in &instructions {
            for datagram in forger.datagrams(instruction) {
                let _ = server.handle_datagram(now, LEFT_ADDRESS, Ecn::Capable, &datagram);
            }
            server.handle_host_output(now, b"\x1b[6nx");
            while server.poll_transmit(now).is_some() {}
            while server.poll_event().is_some() {}
            server.consume_host_input(3);
            now += Duration::from_millis(step);
            server.handle_timeout(now);
        }
    }

    #[test]
    fn no_instruction_harms_a_client(
        instructions in proptest::collection::vec(any_instruction(), 1..30),
        step in 0_u64..3000,
    ) {
        let mut forger = Forger::new(Direction::ToClient);
        let mut client = near_of(rove(Config::client())).client;
        let mut now = Instant::ZERO;
        for instruction in &instructions {
            for datagram in forger.datagrams(instruction) {
                let _ = client.handle_datagram(now, RIGHT_ADDRESS, Ecn::Capable, &datagram);
            }
            client.handle_input(now, b"x");
            while client.poll_transmit(now).is_some() {}
            while client.poll_event().is_some() {}
            let _ = client.poll_output(now);
            now += Duration::from_millis(step);
            client.handle_timeout(now);
        }
        let _ = client.close_terminal();
    }

    #[test]
    fn no_sealed_bytes_harm_either_end(payload in proptest::collection::vec(any::<u8>(), 0..60)) {
        let mut server = far(Config::server()).server;
        let datagram = Forger::new(Direction::ToServer).seal(payload.clone());
        let _ = server.handle_datagram(Instant::ZERO, LEFT_ADDRESS, Ecn::Capable, &datagram);
        let mut client = near_of(Config::client()).client;
        let datagram = Forger::new(Direction::ToClient).seal(payload);
        let _ = client.handle_datagram(Instant::ZERO, RIGHT_ADDRESS, Ecn::Capable, &datagram);
    }
}
