//! Lines that scroll off the host's screen, in virtual time, and the history of the user's terminal.

use rove_link::LinkConfig;
use rove_link::net::Net;
use rove_session::{ClientConfig, ClientOutcome, MissingLines, Running, ServerOutcome};
use rove_ssp::Config;
use rove_terminal::{
    AlternateScreen, ExitStatus, Outside, SCROLLBACK_LINES_MAX, Screen, ScrollbackLine, Size,
    Terminal, TerminalCapabilities,
};
use rove_units::{BitRate, Bytes, Duration, Seed};

use crate::common::*;

/// Two ends whose client wants the lines, and a reference terminal that gets the program's output without a network.
struct Scrolling {
    pair: Pair,
    reference: Terminal,
}

fn wanting() -> TerminalCapabilities {
    TerminalCapabilities {
        alternate_screen: AlternateScreen::xterm(),
        scrollback: true,
        ..TerminalCapabilities::default()
    }
}

fn keeping() -> Terminal {
    let mut terminal = Terminal::host(Size::DEFAULT);
    terminal.keep_scrollback();
    terminal
}

impl Scrolling {
    fn new(link: &LinkConfig, seed: u64) -> Self {
        let client = client_with_capabilities(rove(Config::client()), wanting());
        Self::with(client, link, seed)
    }

    fn with(mut client: ClientEnd, link: &LinkConfig, seed: u64) -> Self {
        client.terminal = keeping();
        let server = far(rove(Config::server()));
        let pair = Net::new(client, server, link.clone(), link.clone(), Seed::new(seed));
        let mut scrolling = Self { pair, reference: keeping() };
        scrolling.pair.run_until(secs(20), |client, _| client.client.srtt().is_some());
        scrolling.pair.run_for(secs(1));
        scrolling
    }

    fn print(&mut self, text: &str) {
        self.reference.write(text.as_bytes());
        print(&mut self.pair, text.as_bytes());
    }

    fn delivered(&mut self) -> Vec<String> {
        texts(&mut self.pair.left.terminal)
    }

    fn wanted(&mut self) -> Vec<String> {
        texts(&mut self.reference)
    }
}

#[test]
fn the_newest_lines_arrive_again_at_a_client_that_takes_the_session_over() {
    use crate::common::clients::{come, invite, program, session};
    for (count, link) in [
        (300, LinkConfig::lossless(ms(50))),
        (300, LinkConfig { loss: 0.1, ..LinkConfig::lossless(ms(50)) }),
        (12_000, LinkConfig::lossless(ms(5))),
    ] {
        let wanting =
            || ClientConfig { terminal: wanting(), ..client_config(rove(Config::client())) };
        let mut trio = session(wanting(), &link, Seed::new(1));
        program(&mut trio, numbers(0..count).as_bytes());
        trio.run_for(secs(if count > 1_000 { 120 } else { 60 }));
        // More lines wait at the server, because the client is gone.
        trio.left.0[0] =
            near(ClientConfig { key: rove_ssp::Key::from_bytes([99; 16]), ..wanting() });
        program(&mut trio, numbers(count..count + 50).as_bytes());
        trio.run_for(secs(1));
        let config = invite(&mut trio, wanting());
        come(&mut trio, config);
        trio.left.0[1].terminal = keeping();
        trio.run_for(secs(240));
        let mut lines = texts(&mut trio.left.0[1].terminal);
        lines.retain(|line| !line.contains("not kept"));
        let end = count + 50 - 23;
        let start = end.saturating_sub(u32::try_from(SCROLLBACK_LINES_MAX).unwrap());
        assert!(lines.into_iter().eq((start..end).map(|at| at.to_string())), "{count}");
    }
}

fn texts(terminal: &mut Terminal) -> Vec<String> {
    let text = |line: ScrollbackLine| {
        let screen = Screen::of_lines(line.columns(), [&line].into_iter()).expect("one line");
        screen.row_text(0)
    };
    core::iter::from_fn(|| terminal.take_scrollback_line()).map(|(_, line)| text(line)).collect()
}

fn numbers(range: core::ops::Range<u32>) -> String {
    range.map(|number| format!("{number}\r\n")).collect()
}

#[test]
fn a_burst_reaches_the_history_whole() {
    let mut scrolling = Scrolling::new(&LinkConfig::lossless(ms(50)), 1);
    scrolling.print(&numbers(1..501));
    scrolling.pair.run_for(secs(3));
    assert!(in_sync(&scrolling.pair.left, &scrolling.pair.right));
    let wanted = scrolling.wanted();
    assert_eq!(wanted.len(), 477);
    assert_eq!(scrolling.delivered(), wanted);
}

#[test]
fn lines_that_were_seen_cost_next_to_nothing() {
    let cost = |capabilities: TerminalCapabilities| {
        let client = client_with_capabilities(rove(Config::client()), capabilities);
        let mut scrolling = Scrolling::with(client, &LinkConfig::lossless(ms(50)), 1);
        let before = scrolling.pair.right.traffic.payload.get();
        for number in 0..300_u64 {
            // The text hardly compresses.
            let word = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            scrolling.print(&format!("{number} {word:x}\r\n"));
            scrolling.pair.run_for(ms(70));
        }
        scrolling.pair.run_for(secs(3));
        let bytes = scrolling.pair.right.traffic.payload.get() - before;
        (bytes, scrolling.delivered(), scrolling.wanted())
    };
    let (with, delivered, wanted) = cost(wanting());
    assert_eq!(delivered, wanted);
    let (without, _, _) = cost(TerminalCapabilities { scrollback: false, ..wanting() });
    assert!(with < without * 13 / 10, "{with} bytes, without {without}");
}

#[test]
fn a_client_that_wants_no_lines_costs_nothing() {
    let bytes = |capabilities: TerminalCapabilities, server: Config| {
        let client = client_with_capabilities(rove(Config::client()), capabilities);
        let right = far(server);
        let link = LinkConfig::lossless(ms(50));
        let mut pair = join(client, right, &link);
        pair.run_for(secs(1));
        print(&mut pair, numbers(1..501).as_bytes());
        pair.run_for(secs(3));
        pair.right.traffic.payload.get()
    };
    let none = TerminalCapabilities { scrollback: false, ..wanting() };
    let deaf = rove_session::CAPABILITIES.difference(rove_ssp::Capabilities::SCROLLBACK);
    let old = Config { capabilities: Some(deaf), ..Config::server() };
    let base = bytes(none.clone(), old.clone());
    assert_eq!(bytes(none, rove(Config::server())), base);
    assert_eq!(bytes(wanting(), old), base);
    assert!(bytes(wanting(), rove(Config::server())) > base);
}

#[test]
fn the_lines_of_a_flood_are_bounded_and_the_lost_ones_counted() {
    let mut scrolling = Scrolling::new(&LinkConfig::lossless(ms(50)), 1);
    let max = u32::try_from(SCROLLBACK_LINES_MAX).expect("it fits");
    // The program prints faster than any path carries the lines.
    for chunk in 0..300 {
        scrolling.print(&numbers(chunk * 100..chunk * 100 + 100));
        scrolling.pair.run_for(ms(1));
    }
    let during = scrolling.pair.right.traffic.payload.get();
    assert!(during < 40_000, "{during}");
    let mut delivered = scrolling.delivered();
    assert!(delivered.len() < 200, "{}", delivered.len());
    for _ in 0..60 {
        scrolling.pair.run_for(secs(1));
        delivered.extend(scrolling.delivered());
    }
    let kept: Vec<String> = scrolling.wanted();
    assert_eq!(delivered[delivered.len() - kept.len()..], kept);
    let notices = delivered.iter().filter(|line| line.starts_with("[… ")).count();
    assert_eq!(notices, 1, "{:?}", &delivered[..5]);
    let missing = delivered[delivered.len() - kept.len() - 1].clone();
    assert!(missing.ends_with(" rows not kept]"), "{missing}");
    let after = scrolling.pair.right.traffic.payload.get() - during;
    assert!(after < 20 * u64::from(max), "{after}");
}

#[test]
fn a_flood_that_looks_the_same_all_the_time_costs_nothing() {
    let flood = |capabilities: TerminalCapabilities| {
        let client = client_with_capabilities(rove(Config::client()), capabilities);
        let mut scrolling = Scrolling::with(client, &LinkConfig::lossless(ms(50)), 1);
        scrolling.print(&"y\r\n".repeat(1000));
        scrolling.pair.run_for(secs(5));
        scrolling.delivered();
        let before = scrolling.pair.right.traffic.datagrams;
        for _ in 0..3000 {
            scrolling.print(&"y\r\n".repeat(100));
            scrolling.pair.run_for(ms(1));
        }
        (scrolling.pair.right.traffic.datagrams - before, scrolling.delivered().len())
    };
    let (without, _) = flood(TerminalCapabilities { scrollback: false, ..wanting() });
    assert_eq!(flood(wanting()), (without, 0));
}

#[test]
fn a_key_waits_for_no_lines() {
    // On a slow line, the user would notice any bytes that are sent ahead of an echo.
    let slow = LinkConfig {
        rate: BitRate::from_bits_per_second(128_000),
        queue_max: Bytes::kib(64),
        ..LinkConfig::lossless(ms(50))
    };
    let slowest = |capabilities: TerminalCapabilities| {
        let client = client_with_capabilities(rove(Config::client()), capabilities);
        let mut scrolling = Scrolling::with(client, &slow, 1);
        let lines: String = (0..5000_u64)
            .map(|number| format!("{:x}\r\n", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            .collect();
        scrolling.print(&lines);
        scrolling.pair.run_for(secs(2));
        let mut slowest = Duration::ZERO;
        for key in (0..40).map(|key| b'a' + key % 26) {
            let typed = scrolling.pair.right.program.typed.len();
            let start = scrolling.pair.now();
            type_text(&mut scrolling.pair, &[key]);
            scrolling.pair.run_until(secs(5), |_, server| server.program.typed.len() > typed);
            scrolling.print(&char::from(key).to_string());
            assert!(scrolling.pair.run_until(secs(5), in_sync));
            slowest = slowest.max(scrolling.pair.now().saturating_since(start));
            scrolling.pair.run_for(ms(137));
        }
        scrolling.pair.run_for(secs(60));
        (slowest, scrolling.delivered(), scrolling.wanted())
    };
    let (without, _, _) = slowest(TerminalCapabilities { scrollback: false, ..wanting() });
    let (with, delivered, wanted) = slowest(wanting());
    assert_eq!(delivered, wanted);
    assert!(with < without + ms(250), "{with:?}, without {without:?}");
}

#[test]
fn the_last_lines_of_a_command_arrive_with_its_end() {
    let mut scrolling = Scrolling::new(&LinkConfig::lossless(ms(50)), 1);
    scrolling.print(&numbers(1..301));
    let now = scrolling.pair.now();
    scrolling.pair.right.server.handle_host_closed(now, None);
    run_to_end(&mut scrolling.pair);
    let close = scrolling.pair.left.client.close_terminal();
    scrolling.pair.left.terminal.write(&close);
    assert_eq!(scrolling.delivered(), scrolling.wanted());
    // These lines are more than the last state holds.
    let mut scrolling = Scrolling::new(&LinkConfig::lossless(ms(50)), 1);
    let lines: String = (0..9000).map(|number| format!("line number {number}\r\n")).collect();
    scrolling.print(&lines);
    let now = scrolling.pair.now();
    scrolling.pair.right.server.handle_host_closed(now, None);
    run_to_end(&mut scrolling.pair);
    let close = scrolling.pair.left.client.close_terminal();
    scrolling.pair.left.terminal.write(&close);
    assert_eq!(scrolling.delivered(), scrolling.wanted());
}

/// Returns lines of 80 characters that hardly compress.
fn noise(count: u64) -> String {
    let chance = Seed::new(3).stream("noise");
    let line = |number| {
        let line = chance.fork(number);
        let characters = (0..79).map(|at| 33 + u8::try_from(line.at(at).below(94)).expect("ASCII"));
        characters.map(char::from).collect::<String>() + "\r\n"
    };
    (0..count).map(line).collect()
}

#[test]
fn the_server_waits_only_so_long_for_the_lines_of_a_command_that_has_ended() {
    let rate = |bits, loss| LinkConfig {
        loss,
        rate: BitRate::from_bits_per_second(bits),
        queue_max: Bytes::kib(64),
        ..LinkConfig::lossless(ms(50))
    };
    let status = Some(ExitStatus::Code(3));
    // At 1 Mbit/s, all lines arrive. On a slow and lossy path, the newest do.
    for (link, seconds, is_whole) in
        [(rate(1_000_000, 0.0), 1..20, true), (rate(128_000, 0.05), 60..80, false)]
    {
        let mut pair = command(&link, rove(Config::server()));
        print(&mut pair, noise(10_000).as_bytes());
        let now = pair.now();
        pair.right.server.handle_host_closed(now, status);
        pair.run_until(secs(120), |client, server| {
            client.client.outcome().is_some() && server.server.outcome().is_some()
        });
        let taken = pair.now().saturating_since(now).as_secs();
        assert!(seconds.contains(&taken), "{taken} s");
        assert_eq!(pair.left.client.outcome(), Some(ClientOutcome::Ended(status)));
        pair.left.client.close_terminal();
        assert_eq!(pair.left.client.missing_lines().is_none(), is_whole);
    }
    // The link fails as the command ends.
    let mut pair = command(&rate(1_000_000, 0.0), rove(Config::server()));
    print(&mut pair, noise(10_000).as_bytes());
    let now = pair.now();
    pair.right.server.handle_host_closed(now, status);
    pair.reconfigure(LinkConfig::outage(), LinkConfig::outage());
    pair.run_until(secs(120), |_, server| server.server.outcome().is_some());
    assert_eq!(pair.right.server.outcome(), Some(ServerOutcome::Unacknowledged));
    assert!(pair.now().saturating_since(now) < secs(25));
}

#[test]
fn a_request_to_end_the_session_does_not_wait_for_the_lines_of_its_command() {
    let mut pair = command(&LinkConfig::lossless(ms(50)), rove(Config::server()));
    print(&mut pair, noise(10_000).as_bytes());
    let (now, status) = (pair.now(), Some(ExitStatus::Code(3)));
    pair.right.server.handle_host_closed(now, status);
    assert!(pair.right.server.is_ending());
    pair.right.server.shutdown(now, Outside::Kill);
    pair.run_for(secs(2));
    assert_eq!(pair.left.client.outcome(), Some(ClientOutcome::Ended(status)));
    assert!(pair.left.client.missing_lines().is_some());
}

#[test]
fn lines_wait_while_the_terminal_is_given_back_or_shows_another_screen() {
    let mut scrolling = Scrolling::new(&LinkConfig::lossless(ms(50)), 1);
    scrolling.print(&numbers(1..101));
    scrolling.print("\x1b[?1049h\x1b[Heditor");
    scrolling.pair.run_for(secs(3));
    assert!(in_sync(&scrolling.pair.left, &scrolling.pair.right));
    assert_eq!(scrolling.delivered(), [""; 0]);
    scrolling.print("\x1b[?1049l");
    scrolling.pair.run_for(secs(1));
    assert_eq!(scrolling.delivered(), scrolling.wanted());

    let close = scrolling.pair.left.client.close_terminal();
    scrolling.pair.left.terminal.write(&close);
    scrolling.print(&numbers(101..201));
    scrolling.pair.run_for(secs(3));
    assert_eq!(scrolling.delivered(), [""; 0]);
    let now = scrolling.pair.now();
    scrolling.pair.left.client.handle_resume(now);
    scrolling.pair.run_for(secs(1));
    let delivered = scrolling.delivered();
    // The screen that the client showed when it gave the terminal back enters the history too.
    let wanted = scrolling.wanted();
    assert_eq!(delivered[delivered.len() - wanted.len()..], wanted);
    assert_eq!(delivered.len(), wanted.len() + 23);
}

/// Runs a command whose output enters the history of a terminal that shows earlier text of the user's.
fn command(link: &LinkConfig, server: Config) -> Pair {
    let capabilities = TerminalCapabilities { init: true, ..wanting() };
    let running = Running::Command;
    let config =
        ClientConfig { terminal: capabilities, running, ..client_config(rove(Config::client())) };
    let mut client = near(config);
    client.terminal = keeping();
    client.terminal.write(b"before\r\n$ rove host -- command\r\n");
    let mut pair = Net::new(client, far(server), link.clone(), link.clone(), Seed::new(1));
    pair.run_until(secs(20), |client, _| client.client.srtt().is_some());
    pair
}

/// Ends the command. Returns all lines that the user can see then, from the oldest in the history on.
fn end(pair: &mut Pair) -> Vec<String> {
    let now = pair.now();
    pair.right.server.handle_host_closed(now, None);
    let mut lines = Vec::new();
    while pair.left.client.outcome().is_none() {
        pair.run_for(ms(100));
        // The terminal keeps no more lines than the host, so the test takes them early.
        lines.extend(texts(&mut pair.left.terminal));
    }
    let close = pair.left.client.close_terminal();
    let terminal = &mut pair.left.terminal;
    terminal.write(&close);
    assert!(!terminal.screen().rich_modes().alternate_screen);
    lines.extend(texts(terminal));
    let screen = terminal.screen();
    let written = screen.cursor().row;
    lines.extend((0..written).map(|row| screen.row_text(row)));
    assert_eq!(screen.row_text(written), "", "the cursor is below all that is shown");
    lines
}

fn with_what_was_before(lines: impl Iterator<Item = u32>) -> Vec<String> {
    let before = ["before", "$ rove host -- command"].map(str::to_owned);
    before.into_iter().chain(lines.map(|number| number.to_string())).collect()
}

#[test]
fn the_output_of_a_command_is_in_the_history_below_what_was_there() {
    let link = LinkConfig::lossless(ms(50));
    // The output comes at once, shorter or longer than a screen, or in steps that the client displays.
    for (lines, step) in [(5, 5), (300, 300), (300, 7), (30, 10)] {
        let mut pair = command(&link, rove(Config::server()));
        for start in (1..=lines).step_by(step) {
            let end = (start + u32::try_from(step).expect("it fits")).min(lines + 1);
            print(&mut pair, numbers(start..end).as_bytes());
            pair.run_for(if step == 300 { ms(0) } else { ms(300) });
        }
        assert_eq!(end(&mut pair), with_what_was_before(1..=lines), "{lines} in steps of {step}");
        assert_eq!(pair.left.client.missing_lines(), None);
    }
}

#[test]
fn a_program_on_the_alternate_screen_leaves_the_history_of_a_command_alone() {
    let link = LinkConfig::lossless(ms(50));
    let mut pair = command(&link, rove(Config::server()));
    print(&mut pair, b"\x1b[?1049h\x1b[H");
    print(&mut pair, numbers(1..100).as_bytes());
    pair.run_for(secs(1));
    assert!(in_sync(&pair.left, &pair.right));
    assert!(pair.left.terminal.screen().rich_modes().alternate_screen);
    print(&mut pair, b"\x1b[?1049l");
    assert_eq!(end(&mut pair), with_what_was_before(0..0));

    // This program runs after the session has moved to the normal screen.
    let mut pair = command(&link, rove(Config::server()));
    print(&mut pair, numbers(1..101).as_bytes());
    pair.run_for(secs(1));
    assert!(!pair.left.terminal.screen().rich_modes().alternate_screen);
    print(&mut pair, b"\x1b[?1049h\x1b[Heditor");
    pair.run_for(secs(1));
    assert!(in_sync(&pair.left, &pair.right));
    assert!(pair.left.terminal.screen().rich_modes().alternate_screen);
    print(&mut pair, b"\x1b[?1049l");
    assert_eq!(end(&mut pair), with_what_was_before(1..=100));
}

#[test]
fn lines_of_a_command_that_are_wider_than_the_window_are_whole() {
    let link = LinkConfig::lossless(ms(50));
    let mut pair = command(&link, rove(Config::server()));
    let line = |number: u32| format!("{number}{}.", "x".repeat(200));
    (10..50).for_each(|number| print(&mut pair, format!("{}\r\n", line(number)).as_bytes()));
    pair.run_for(secs(1));
    let wanted: String = (10..50).map(line).collect();
    assert!(end(&mut pair).concat().ends_with(&wanted));
}

#[test]
fn a_long_line_of_a_command_counts_as_the_rows_that_it_fills() {
    let mut pair = command(&LinkConfig::lossless(ms(50)), rove(Config::server()));
    // Each line fills two rows, so the server keeps the newest 5,000 lines and no row of the others.
    print(&mut pair, format!("{}\r\n", "x".repeat(90)).repeat(6_000).as_bytes());
    let lines = end(&mut pair);
    let wanted = format!("[… {} rows not kept]", 12_000 - SCROLLBACK_LINES_MAX - 23);
    assert!(lines.contains(&wanted), "{:?}", lines.iter().find(|line| line.contains("not kept")));
}

#[test]
fn a_window_that_changes_before_it_is_full_costs_no_line_of_a_command() {
    let link = LinkConfig::lossless(ms(50));
    for (columns, rows) in [(100, 30), (80, 10), (30, 24), (30, 5)] {
        let mut pair = command(&link, rove(Config::server()));
        print(&mut pair, numbers(1..20).as_bytes());
        pair.run_for(secs(1));
        let (now, other) = (pair.now(), size(columns, rows));
        pair.left.terminal.resize(other);
        pair.left.client.handle_resize(now, other);
        pair.run_for(secs(1));
        print(&mut pair, numbers(20..200).as_bytes());
        let lines: Vec<String> =
            end(&mut pair).into_iter().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines, with_what_was_before(1..200), "{columns} x {rows}");
    }
}

#[test]
fn a_window_that_becomes_lower_while_lines_scroll_keeps_each_line_once() {
    for seed in 0..60 {
        let chance = Seed::new(seed).stream("lower");
        let delay = ms(5 + chance.at(0).below(300));
        let link = LinkConfig::lossless(delay);
        // If two resizes are within a round trip, the second may cut rows while earlier cut rows are on their way.
        let is_apart = seed % 2 == 0;
        // A command's session starts on the alternate screen, a login's on the normal screen.
        let mut pair = if chance.at(1).below(2) == 0 {
            command(&link, rove(Config::server()))
        } else {
            Scrolling::new(&link, seed).pair
        };
        let (mut number, mut rows, mut resized_at) = (0, 24, pair.now());
        let mut lines = Vec::new();
        for step in 0..30 {
            let draw = chance.fork(step);
            let count = u32::try_from(draw.at(0).below(6)).expect("below 6");
            print(&mut pair, numbers(number..number + count).as_bytes());
            number += count;
            pair.run_for(ms(draw.at(1).below(300)));
            let now = pair.now();
            let may = !is_apart || now.saturating_since(resized_at) > 2 * delay + ms(300);
            if draw.at(2).below(4) == 0 && rows > 6 && may {
                rows -= u16::try_from(1 + draw.at(3).below(4)).expect("below 5");
                let lower = size(80, rows);
                resized_at = now;
                pair.left.terminal.resize(lower);
                pair.left.client.handle_resize(now, lower);
            }
            lines.extend(texts(&mut pair.left.terminal));
        }
        pair.run_for(secs(5));
        assert!(in_sync(&pair.left, &pair.right), "seed {seed}");
        lines.extend(texts(&mut pair.left.terminal));
        let screen = pair.left.terminal.screen();
        lines.extend((0..rows).map(|row| screen.row_text(row)));
        lines.retain(|line| !line.is_empty() && !line.contains("before") && !line.contains('$'));
        let mut lines: Vec<u32> =
            lines.iter().map(|line| line.parse().expect("a number")).collect();
        if !is_apart {
            lines.sort_unstable();
        }
        assert!(lines.iter().copied().eq(0..number), "seed {seed}: {lines:?} of {number}");
    }
}

#[test]
fn lines_of_a_command_that_are_not_kept_are_counted() {
    let link = LinkConfig::lossless(ms(50));
    let mut pair = command(&link, rove(Config::server()));
    print(&mut pair, numbers(0..30_000).as_bytes());
    let lines = end(&mut pair);
    let at = lines.iter().position(|line| line.ends_with(" rows not kept]"));
    let at = at.expect("a line that says so");
    let next: u64 = lines[at + 1].parse().expect("a number follows");
    assert_eq!(lines[at], format!("[… {next} rows not kept]"));
    assert_eq!(lines.last().expect("lines"), "29999");
    assert!(next <= 30_000 - 10_000 - 23, "the newest 10,000 lines are there");
    assert_eq!(pair.left.client.missing_lines(), Some(MissingLines::Count(next)));
}

#[test]
fn a_stock_server_leaves_its_last_screen_and_is_known_to_send_no_more() {
    let link = LinkConfig::lossless(ms(50));
    let mut pair = command(&link, stock(Config::server()));
    print(&mut pair, numbers(1..301).as_bytes());
    pair.run_for(secs(1));
    assert!(pair.left.terminal.screen().rich_modes().alternate_screen);
    assert_eq!(end(&mut pair), with_what_was_before(278..=300));
    assert_eq!(pair.left.client.missing_lines(), Some(MissingLines::AboveLastScreen));
    // The command is an editor.
    let mut pair = command(&link, stock(Config::server()));
    print(&mut pair, b"text\x1b[24;1H:");
    pair.run_for(secs(1));
    type_text(&mut pair, b"q\r");
    pair.run_for(secs(1));
    assert_eq!(end(&mut pair), with_what_was_before(0..0));
    assert_eq!(pair.left.client.missing_lines(), None);
}

#[test]
fn after_the_network_heals_each_line_is_there_once() {
    for seed in 0..40 {
        let chance = Seed::new(seed).stream("scrollback");
        let bad = LinkConfig {
            jitter: ms(80),
            reorder: true,
            loss: chance.at(0).unit() * 0.4,
            duplicate: 0.1,
            ..LinkConfig::lossless(ms(20 + chance.at(1).below(100)))
        };
        let wire = LinkConfig::lossless(ms(20));
        let mut scrolling = Scrolling::new(&wire, seed);
        scrolling.pair.reconfigure(bad.clone(), bad.clone());
        let mut number = 0;
        for step in 0..60 {
            let draw = chance.fork(step);
            match draw.at(0).below(8) {
                0 => scrolling.pair.reconfigure(LinkConfig::outage(), LinkConfig::outage()),
                1 | 2 => scrolling.pair.reconfigure(bad.clone(), bad.clone()),
                3 if scrolling.pair.left.client.wants_input() => {
                    type_text(&mut scrolling.pair, b"x");
                }
                4 => scrolling.print("\x1b[31mred\x1b[m 一二\r\n"),
                5 => scrolling.print(&"wrapped ".repeat(25)),
                _ => {
                    let count = u32::try_from(draw.at(1).below(60)).expect("below 60");
                    scrolling.print(&numbers(number..number + count));
                    number += count;
                }
            }
            scrolling.pair.run_for(ms(draw.at(2).below(400)));
        }
        scrolling.pair.reconfigure(wire.clone(), wire);
        scrolling.pair.run_for(secs(30));
        assert!(in_sync(&scrolling.pair.left, &scrolling.pair.right), "seed {seed}");
        assert_eq!(scrolling.delivered(), scrolling.wanted(), "seed {seed}");
    }
}
