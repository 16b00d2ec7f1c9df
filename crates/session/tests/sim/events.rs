//! Effects that happen once on the user's terminal, in virtual time: copies to the clipboard (OSC 52) and bells.

use rove_link::LinkConfig;
use rove_ssp::Config;
use rove_terminal::{COPY_CHARS_MAX, Copied, TerminalCapabilities};
use rove_units::{BitRate, Duration};

use crate::common::*;

/// Returns the bytes that a program writes to copy `text` to the clipboard.
fn copy(selections: &str, text: &str) -> Vec<u8> {
    format!("\x1b]52;{selections};{text}\x07").into_bytes()
}

/// Returns base64 text of random bytes, which compression shortens only to the size of the bytes.
fn text(len: usize) -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = 1_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(alphabet[usize::try_from(state >> 58).expect("six bits")])
    };
    (0..len).map(|_| next()).collect()
}

fn copied(selections: &str, text: &str) -> Copied {
    Copied::new(selections, text).expect("base64")
}

#[test]
fn every_copy_is_performed_once_with_its_selections() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(1));
    let mut wanted = Vec::new();
    for (selections, text) in
        [("c", "aGk="), ("c", "aGk="), ("p", "aGk="), ("", "YQ"), ("s0", "YQ=="), ("pc", "aGk=")]
    {
        print(&mut pair, &copy(selections, text));
        pair.run_for(secs(1));
        wanted.push(copied(selections, text));
        assert_eq!(pair.left.user.copied, wanted);
    }
    for refused in ["\x1b]52;c;?\x07", "\x1b]52;c;\x07", "\x1b]52;c;n o\x07", "\x1b]52;x;aGk=\x07"]
    {
        print(&mut pair, refused.as_bytes());
        pair.run_for(secs(1));
    }
    assert_eq!(pair.left.user.copied, wanted);
}

#[test]
fn the_newest_of_several_copies_between_two_frames_is_performed() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(1));
    for text in ["YQ==", "Yg==", "Yw=="] {
        print(&mut pair, &copy("c", text));
    }
    pair.run_for(secs(1));
    assert_eq!(pair.left.user.copied, [copied("c", "Yw==")]);
}

#[test]
fn neither_a_repaint_nor_a_resume_nor_a_silence_repeats_a_copy_or_a_bell() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(1));
    print(&mut pair, &[&copy("c", "aGk=")[..], b"\x07"].concat());
    pair.run_for(secs(1));
    let (copies, bells) = (pair.left.user.copied.clone(), pair.left.terminal.screen().bells());
    assert_eq!((copies.len(), bells), (1, 1));
    type_text(&mut pair, b"\x0c");
    pair.run_for(secs(1));
    let now = pair.now();
    pair.left.client.close_terminal();
    pair.left.client.handle_resume(now);
    pair.run_for(secs(1));
    pair.left.client.handle_resize(now, size(100, 30));
    pair.run_for(secs(1));
    pair.stop_left(true);
    pair.run_for(secs(60));
    pair.stop_left(false);
    print(&mut pair, b"$ ");
    pair.run_for(secs(10));
    assert_eq!(
        (pair.left.user.copied.clone(), pair.left.terminal.screen().bells()),
        (copies, bells)
    );
}

#[test]
fn a_copy_made_while_the_terminal_was_given_back_is_performed_when_it_is_taken() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(1));
    pair.left.client.close_terminal();
    print(&mut pair, &[&copy("c", "aGk=")[..], b"\x07"].concat());
    pair.run_for(secs(1));
    assert_eq!((pair.left.user.copied.len(), pair.left.terminal.screen().bells()), (0, 0));
    let now = pair.now();
    pair.left.client.handle_resume(now);
    pair.run_for(secs(1));
    assert_eq!((pair.left.user.copied.len(), pair.left.terminal.screen().bells()), (1, 1));
}

#[test]
fn the_last_copy_of_a_program_that_ends_arrives() {
    for len in [4, 32 * 1024] {
        let mut pair = pair(&LinkConfig::lossless(ms(50)));
        pair.run_for(secs(1));
        let text = text(len);
        print(&mut pair, &copy("c", &text));
        let now = pair.now();
        pair.right.server.handle_host_closed(now, None);
        run_to_end(&mut pair);
        assert_eq!(pair.left.user.copied, [copied("c", &text)], "{len}");
    }
}

#[test]
fn a_stock_end_is_told_of_the_clipboard_as_it_understands() {
    for (client, server) in [
        (stock(Config::client()), rove(Config::server())),
        (rove(Config::client()), stock(Config::server())),
    ] {
        let mut pair = pair_with(&LinkConfig::lossless(ms(20)), client, server);
        pair.run_for(secs(1));
        // A stock client sees only the last value. An equal text is no change, the primary selection is unknown, and a
        // text over the limit is left out.
        let long = text(16_380);
        for (selections, text) in [
            ("c", "aGk="),
            ("c", "aGk="),
            ("p", "cA=="),
            ("c", &long),
            ("", "YQ=="),
            ("s0", "Yg=="),
        ] {
            print(&mut pair, &copy(selections, text));
            pair.run_for(secs(1));
        }
        assert_eq!(pair.left.user.copied, ["aGk=", "YQ==", "Yg=="].map(|text| copied("c", text)));
    }
}

#[test]
fn a_flood_of_bells_rings_as_often_as_it_can_be_told_apart() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(1));
    for (bells, rung) in [(1, 1), (2, 2), (3, 3), (4, 3)] {
        let before = pair.left.terminal.screen().bells();
        print(&mut pair, &vec![7; bells]);
        pair.run_for(secs(1));
        assert_eq!(pair.left.terminal.screen().bells() - before, rung);
    }
    let before = pair.left.terminal.screen().bells();
    for _ in 0..100 {
        print(&mut pair, &[7; 10_000]);
        pair.run_for(ms(10));
    }
    pair.run_for(secs(1));
    let rung = pair.left.terminal.screen().bells() - before;
    assert!((20..=36).contains(&rung), "{rung} in a second");
}

#[test]
fn a_flood_of_copies_performs_some_and_the_newest() {
    for server in [rove(Config::server()), stock(Config::server())] {
        let mut pair = pair_with(&LinkConfig::lossless(ms(20)), rove(Config::client()), server);
        pair.run_for(secs(1));
        for number in 1000..2000 {
            print(&mut pair, &copy("c", &number.to_string()).repeat(10));
            pair.run_for(ms(10));
        }
        pair.run_for(secs(1));
        // The client performs two copies a second for eleven seconds, and the first copy at once.
        let performed = pair.left.user.copied.len();
        assert!((18..=23).contains(&performed), "{performed} in eleven seconds");
        assert_eq!(pair.left.user.copied.last(), Some(&copied("c", "1999")));
    }
}

#[test]
fn a_copy_is_performed_at_once_and_the_next_waits_for_its_time() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(1));
    print(&mut pair, &copy("c", "YQ=="));
    pair.run_for(ms(100));
    print(&mut pair, &copy("c", "Yg=="));
    pair.run_for(ms(100));
    assert_eq!(pair.left.user.copied, [copied("c", "YQ==")]);
    pair.run_for(ms(500));
    assert_eq!(pair.left.user.copied, [copied("c", "YQ=="), copied("c", "Yg==")]);
}

#[test]
fn the_longest_copy_is_performed_whole_and_a_longer_one_not_at_all() {
    let mut pair = pair(&LinkConfig::lossless(ms(5)));
    pair.run_for(secs(1));
    let longest = text(COPY_CHARS_MAX);
    for len in [COPY_CHARS_MAX, COPY_CHARS_MAX + 4] {
        print(&mut pair, &copy("c", &text(len)));
        pair.run_for(secs(60));
        assert!(pair.left.user.copied == [copied("c", &longest)], "{len}");
    }
}

#[test]
fn every_notification_is_passed_on_once() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(1));
    let forms = ["9;done", "9;done", "777;notify;title;body", "99;i=1:d=0;hello"];
    for form in forms {
        print(&mut pair, format!("\x1b]{form}\x07").as_bytes());
        pair.run_for(secs(3));
    }
    for refused in ["9;4;1;50", "9;12", "99;i=1:p=?;", "99;i=1:a=report;x", "777;other;x"] {
        print(&mut pair, format!("\x1b]{refused}\x1b\\").as_bytes());
        pair.run_for(secs(3));
    }
    assert_eq!(pair.left.user.notified, forms);
    type_text(&mut pair, b"\x0c");
    let now = pair.now();
    pair.left.client.close_terminal();
    pair.left.client.handle_resume(now);
    pair.run_for(secs(1));
    assert_eq!(pair.left.user.notified, forms, "a repaint repeats none");
}

#[test]
fn a_user_who_comes_back_is_told_of_new_events_and_not_of_old_ones() {
    for (minutes_later, told) in [(0, 1), (10, 0)] {
        let mut pair = pair(&LinkConfig::lossless(ms(20)));
        pair.run_for(secs(1));
        pair.stop_left(true);
        pair.run_for(secs(300));
        print(&mut pair, b"\x1b]9;done\x07");
        pair.run_for(secs(20 + 60 * minutes_later));
        pair.stop_left(false);
        type_text(&mut pair, b"x");
        pair.run_for(secs(10));
        print(&mut pair, b"$ ");
        pair.run_for(secs(10));
        assert!(in_sync(&pair.left, &pair.right));
        assert_eq!(pair.left.user.notified.len(), told, "{minutes_later}");
    }
}

#[test]
fn a_flood_of_notifications_shows_some() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.run_for(secs(1));
    for number in 0..1000 {
        print(&mut pair, format!("\x1b]9;done {number}th\x07").repeat(100).as_bytes());
        pair.run_for(ms(10));
    }
    pair.run_for(secs(10));
    let told = pair.left.user.notified.len();
    assert!((40..=56).contains(&told), "{told} in ten seconds");
    assert_eq!(pair.left.user.notified.last().map(String::as_str), Some("9;done 999th"));
}

#[test]
fn nothing_is_passed_on_to_a_terminal_without_commands_but_the_bell() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    pair.left = client_with_capabilities(rove(Config::client()), TerminalCapabilities::default());
    pair.run_for(secs(1));
    print(&mut pair, &[&copy("c", "aGk=")[..], b"\x1b]9;done\x07\x07"].concat());
    pair.run_for(secs(1));
    assert_eq!((pair.left.user.copied.len(), pair.left.user.notified.len()), (0, 0));
    assert_eq!(pair.left.terminal.screen().bells(), 1);
}

/// The delays for a user who types while copied text travels to the clipboard.
#[derive(Debug)]
struct Fare {
    /// The time until the copied text reached the clipboard of the user's terminal.
    copied_in: Duration,
    /// The times from each key to its echo on the user's terminal, sorted.
    echoes: Vec<Duration>,
}

impl Fare {
    fn echo_median(&self) -> Duration {
        self.echoes[self.echoes.len() / 2]
    }

    fn echo_max(&self) -> Duration {
        self.echoes[self.echoes.len() - 1]
    }
}

/// Types a key every 300 ms, which the program echoes, while a copied text of `len` characters travels to the client.
fn type_through_a_copy(link: &LinkConfig, len: usize) -> Fare {
    let mut pair = pair(link);
    pair.run_for(secs(3));
    let start = pair.now();
    let text = text(len);
    if len > 0 {
        print(&mut pair, &copy("c", &text));
    }
    let mut fare = Fare { copied_in: Duration::ZERO, echoes: Vec::new() };
    while (len > 0 && pair.left.user.copied.is_empty()) || fare.echoes.len() < 20 {
        let typed_at = pair.now();
        let keys = fare.echoes.len() + 1;
        type_text(&mut pair, b"k");
        let arrived = pair.run_until(secs(60), |_, server| server.program.typed.len() == keys);
        assert!(arrived, "the key arrives");
        print(&mut pair, format!("\r{keys}").as_bytes());
        let shown = format!("{keys}");
        assert!(pair.run_until(secs(60), |client, _| client.row_text(0) == shown), "and its echo");
        fare.echoes.push(pair.now().saturating_since(typed_at));
        let next = typed_at + ms(300);
        pair.run_for(next.saturating_since(pair.now()));
        if !pair.left.user.copied.is_empty() && fare.copied_in == Duration::ZERO {
            fare.copied_in = pair.now().saturating_since(start);
        }
    }
    fare.echoes.sort_unstable();
    assert!(pair.left.user.copied.len() <= 1);
    assert!(pair.left.user.copied.iter().all(|performed| **performed.text() == *text));
    fare
}

#[test]
fn a_copy_of_a_mebibyte_arrives_while_keys_are_echoed() {
    for (loss, seconds, median, max) in [(0.0, 13, 190, 250), (0.05, 50, 220, 1_100)] {
        let rate = BitRate::from_bits_per_second(1_000_000);
        let link = LinkConfig { rate, loss, ..LinkConfig::lossless(ms(50)) };
        let fare = type_through_a_copy(&link, COPY_CHARS_MAX);
        let (copied_in, echoes) = (fare.copied_in, [fare.echo_median(), fare.echo_max()]);
        println!("1 MiB at loss {loss}: {copied_in:?}, echo {echoes:?}");
        assert!(copied_in < secs(seconds), "{copied_in:?}");
        assert!(echoes[0] < ms(median) && echoes[1] < ms(max), "{echoes:?}");
    }
}

#[test]
fn a_copy_does_not_fill_the_queue_of_a_slow_line() {
    let rate = BitRate::from_bits_per_second(128_000);
    let link = LinkConfig { rate, ..LinkConfig::lossless(ms(50)) };
    let fare = type_through_a_copy(&link, 64 * 1024);
    let (copied_in, echo_max) = (fare.copied_in, fare.echo_max());
    println!("64 KiB at 128 kbit/s: {copied_in:?}, echo at most {echo_max:?}");
    assert!(copied_in < secs(5) && echo_max < ms(800), "{copied_in:?}, {echo_max:?}");
}
