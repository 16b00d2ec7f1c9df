//! A killed client continues in another process: with no nonce used twice, each key once and in order, the same screen.

use core::net::SocketAddr;
use std::collections::BTreeSet;

use rove_link::LinkConfig;
use rove_link::net::{End, Net, RIGHT_ADDRESS};
use rove_session::{
    Client, ClientConfig, ClientId, ClientOutcome, LeftKeys, Prediction, Preference, PromptMemory,
    Record, ResumeError, Server,
};
use rove_ssp::wire::Instruction;
use rove_ssp::{Config, Direction, Key, StateNum};
use rove_units::{Draw, Instant, Seed};

use crate::common::forger::Forger;
use crate::common::*;

/// A client that a test may kill, and its records, which stay.
struct Mortal {
    end: Option<ClientEnd>,
    /// The records that were written, as files hold them.
    written: Vec<u8>,
    /// The keys that are in the records, or that the client has sent without a record.
    accepted: Vec<u8>,
    /// Keys that the user has typed, but that the client has not sent.
    pending: Vec<u8>,
    /// The number of the client's key. `id` is the client's name, and `written_id` the name in the record.
    key: u8,
    id: ClientId,
    written_id: ClientId,
    /// How many of the newest keys are lost, because the next client cannot send them.
    missing: usize,
    nonces: BTreeSet<(u8, [u8; 8])>,
    /// How many records the client outlives, and whether it still writes the record at which it dies.
    dies: Option<(u32, bool)>,
}

impl Mortal {
    fn new(config: ClientConfig) -> Self {
        let mut end = near(config);
        end.client.recording().start();
        Self {
            end: Some(end),
            written: Vec::new(),
            accepted: Vec::new(),
            pending: Vec::new(),
            key: 0,
            id: ClientId::of(&key()),
            written_id: ClientId::of(&key()),
            missing: 0,
            nonces: BTreeSet::new(),
            dies: None,
        }
    }

    fn types(&mut self, now: Instant, keys: &[u8]) {
        if let Some(end) = self.end.as_mut().filter(|end| end.client.wants_input()) {
            end.client.handle_input(now, keys);
            self.pending.extend(keys);
        }
    }

    fn kill(&mut self) {
        self.end = None;
        self.pending.clear();
    }

    fn write(&mut self, Record { bytes, is_whole }: Record) {
        if is_whole {
            self.written.clear();
            self.written_id = self.id;
            self.accepted.truncate(self.accepted.len() - core::mem::take(&mut self.missing));
        }
        self.written.extend(bytes);
        self.accepted.append(&mut self.pending);
    }

    /// Writes the records that are due. Returns whether the client lives.
    fn record(&mut self) -> bool {
        while let Some(end) = &mut self.end
            && let Some(record) = end.client.recording().poll()
        {
            if let Some((records, is_written)) = &mut self.dies {
                match records.checked_sub(1) {
                    Some(left) => *records = left,
                    None => {
                        if *is_written {
                            self.write(record);
                        }
                        self.dies = None;
                        self.kill();
                        break;
                    }
                }
            }
            self.write(record);
            let Some(end) = &mut self.end else { break };
            end.client.recording().handle_written();
        }
        self.end.is_some()
    }
}

impl End for Mortal {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        if let Some(end) = &mut self.end {
            end.handle_datagram(now, source, payload);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if let Some(end) = &mut self.end {
            end.handle_timeout(now);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        if !self.record() {
            return None;
        }
        let (destination, payload) = self.end.as_mut()?.poll_transmit(now)?;
        // While the client keeps no record, it sends keys without one.
        self.accepted.append(&mut self.pending);
        let nonce = *payload.first_chunk().expect("a datagram has a number");
        assert!(self.nonces.insert((self.key, nonce)), "a nonce is used twice: {nonce:?}");
        Some((destination, payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.end.as_ref()?.poll_timeout()
    }
}

/// Acts as a shell that echoes keys, and sometimes as a program that floods the screen.
fn shell_turn(server: &mut Server, typed: &mut Vec<u8>, now: Instant) {
    let read = server.host_input().to_vec();
    server.consume_host_input(read.len());
    for &byte in &read {
        typed.push(byte);
        match byte {
            b'\r' => server.handle_host_output(now, b"\r\n\x1b[?2004h\x1b[1mann\x1b[m:~$ "),
            // These keys flood the screen.
            b'f' | 0x06 => (0..30_u8).for_each(|line| {
                let text = format!("\x1b[3{}mline {line} \u{4e16}\x1b[m\r\n", line % 8);
                server.handle_host_output(now, text.as_bytes());
            }),
            0..0x20 => server.handle_host_output(now, &[b'^', byte + 0x40, 0x1b, b'[', b'K']),
            _ => server.handle_host_output(now, &[byte]),
        }
    }
}

type Run = Net<Mortal, ServerEnd>;

fn config(seed: u64) -> ClientConfig {
    let prediction = Prediction { preference: Preference::Always, ..Prediction::default() };
    let chaff = Seed::new(seed).stream("client.chaff");
    ClientConfig { prediction, chaff, ..client_config(rove(Config::client())) }
}

fn run(seed: u64, link: &LinkConfig, server: fn(Config) -> Config) -> Run {
    let mut far = far(server(Config::server()));
    // The test reads the keys as the shell does, so the usual program must not read them.
    far.program.stuck = true;
    Net::new(Mortal::new(config(seed)), far, link.clone(), link.clone(), Seed::new(seed))
}

fn step(run: &mut Run, millis: u64) {
    let until = run.now() + ms(millis);
    while run.now() < until {
        run.run_for(ms(10));
        let now = run.now();
        let ServerEnd { server, program, .. } = &mut run.right;
        shell_turn(server, &mut program.typed, now);
    }
}

/// Starts a client from the records of the last client.
fn come_back(run: &mut Run, seed: u64, jump: u64) -> Result<(), ResumeError> {
    let config = config(seed);
    let (now, size) = (run.now(), config.size);
    let mut client = Client::resume(config, &run.left.written, jump, now)?;
    client.recording().start();
    take_up(run, client, size);
    Ok(())
}

fn take_up(run: &mut Run, client: Client, size: rove_terminal::Size) {
    let terminal = rove_terminal::Terminal::host(size);
    let (user, traffic) = (Typist::default(), rove_headless::Traffic::default());
    let received = rove_headless::Traffic::default();
    run.left.end = Some(ClientEnd { client, terminal, user, traffic, received });
}

/// Makes a rove server invite a new client, and starts this client `millis` later. Returns whether typed keys are lost,
/// as the client reports.
fn come_back_to_rove(run: &mut Run, seed: u64, millis: u64) -> bool {
    let left = LeftKeys::read(&run.left.written).expect("a record");
    run.left.key += 1;
    let key = || Key::from_bytes([run.left.key; 16]);
    let (now, chaff) = (run.now(), Seed::new(seed).stream("server.chaff"));
    let former = left.former(run.left.written_id);
    let taken = run.right.server.invite_after(now, &key(), chaff, None, Some(former));
    let next = left.after(taken);
    let config = ClientConfig { key: key(), ..config(seed) };
    run.left.id = if next.go_on() { former.client } else { ClientId::of(&key()) };
    step(run, millis);
    let (now, size) = (run.now(), config.size);
    let mut client = Client::new(config, now);
    client.go_on_after(&next, now);
    take_up(run, client, size);
    run.left.missing = next.sentence().map_or(0, |text| {
        let word = text.split(' ').nth(2).expect("a sentence");
        if word.starts_with("key") { 1 } else { word.parse().expect("a number") }
    });
    // Only keys that may be a secret are missing in the record.
    assert!(run.left.missing == 0 || former.whole_from > 0, "seed {seed}");
    run.left.missing > 0
}

fn is_settled(run: &Run) -> bool {
    run.left
        .end
        .as_ref()
        .is_some_and(|end| end.client.pending_input() == 0 && in_sync(end, &run.right))
}

/// Runs a session whose client is killed several times. Returns the number of kills, and whether the session ended
/// because unacknowledged keys may have been a secret.
fn session(seed: u64, is_rove: bool) -> (u32, bool) {
    let draws = Seed::new(seed).stream("test.resume");
    let draw = |number: u64| -> Draw { draws.at(number) };
    let loss = [0.0, 0.1, 0.29][usize::try_from(draw(0).below(3)).expect("small")];
    let link = LinkConfig { loss, ..LinkConfig::lossless(ms(5 + draw(1).below(150))) };
    let mut run = run(seed, &link, if is_rove { rove } else { stock });
    step(&mut run, 3000);
    let (mut kills, mut lost) = (0, false);
    for round in 0..40 {
        let draw = |number: u64| draw(1000 + round * 100 + number);
        // Control keys are no secrets, unless the screen shows something that the keys do not explain.
        let keys = [b"abcdefghij\r", b"\x01\x05\x02\x06\x0b\x10\x0e\x0c\x09\x15\r"];
        let key = keys[usize::try_from(seed % 2).expect("small")]
            [usize::try_from(draw(0).below(11)).expect("small")];
        let now = run.now();
        run.left.types(now, &[key]);
        if draw(1).chance(0.2) {
            run.left.dies =
                Some((u32::try_from(draw(2).below(4)).expect("small"), draw(3).chance(0.5)));
        }
        step(&mut run, draw(4).below(400));
        if draw(5).chance(0.1) {
            run.left.kill();
        }
        if run.left.end.is_none() && run.left.written.is_empty() {
            // The client died before its first record, so nothing can continue.
            return (kills, true);
        }
        if run.left.end.is_none() {
            kills += 1;
            step(&mut run, draw(6).below(3000));
            if is_rove {
                // A few clients come too late for their invitation.
                let millis = if draw(8).chance(0.05) { 61_000 } else { draw(8).below(1000) };
                lost |= come_back_to_rove(&mut run, seed * 100 + round, millis);
                if millis > 60_000 {
                    step(&mut run, 1000);
                    run.left.kill();
                    come_back_to_rove(&mut run, seed * 100 + round, 0);
                }
                continue;
            }
            let jump = (1 << 40) + draw(7).below((1 << 50) - (1 << 40));
            match come_back(&mut run, seed * 100 + round, jump) {
                Ok(()) => {}
                Err(ResumeError::Concealed) => {
                    let typed = &run.right.program.typed;
                    assert!(run.left.accepted.starts_with(typed), "seed {seed}");
                    return (kills, true);
                }
                Err(error) => panic!("seed {seed}, round {round}: {error}"),
            }
        }
    }
    run.left.dies = None;
    for _ in 0..120 {
        step(&mut run, 500);
        if is_settled(&run) {
            break;
        }
    }
    let typed = String::from_utf8_lossy(&run.right.program.typed).into_owned();
    assert_eq!(typed, String::from_utf8_lossy(&run.left.accepted), "seed {seed}");
    assert!(
        is_settled(&run),
        "seed {seed}: {:?}",
        run.left.end.as_ref().map(|end| end.row_text(0))
    );
    (kills, lost)
}

#[test]
fn keys_that_may_be_a_secret_are_in_no_record() {
    let mut run = run(1, &LinkConfig::lossless(ms(50)), stock);
    step(&mut run, 1000);
    let now = run.now();
    run.right.server.handle_host_output(now, b"Password: ");
    step(&mut run, 500);
    let secret = b"sQuXeZ";
    let now = run.now();
    run.left.types(now, secret);
    run.run_for(ms(20));
    assert_eq!(come_back(&mut run, 2, 1 << 40), Err(ResumeError::Concealed));
    run.run_for(ms(1000));
    assert_eq!(run.right.server.host_input(), secret);
    let holds = run.left.written.windows(secret.len()).any(|window| window == secret);
    assert!(!holds, "the secret is in the record");
    assert_eq!(come_back(&mut run, 3, 1 << 40), Ok(()), "the server has all of them");
    // The program stops echoing in the middle of a line.
    let mut run = self::run(1, &LinkConfig::lossless(ms(50)), rove);
    step(&mut run, 1000);
    for key in [&b"abcd"[..], secret].concat() {
        let now = run.now();
        run.left.types(now, &[key]);
        match key {
            b'a'..=b'c' => step(&mut run, 500),
            b'd' => run.run_for(ms(500)),
            _ => run.run_for(ms(20)),
        }
    }
    let is_written = |key| run.left.written.contains(key);
    assert!(is_written(&b'd') && !secret.iter().any(is_written), "the echo of d is late");
}

#[test]
fn a_secret_typed_after_an_enter_of_the_former_client_stays_unseen() {
    let mut run = run(1, &LinkConfig::lossless(ms(300)), stock);
    let memory = PromptMemory::new([1; 16], Vec::new(), Vec::new());
    run.left.end.as_mut().expect("a client").client.handle_prompt_memory(memory);
    step(&mut run, 1000);
    for key in b"\rl\rl\rl\r" {
        let now = run.now();
        run.left.types(now, &[*key]);
        step(&mut run, 2000);
    }
    let end = run.left.end.as_ref().expect("a client");
    let memory = end.client.prompt_memory().cloned().expect("a memory");
    assert_eq!(memory.known().len(), 1, "the prompt is known");
    for (keys, seen) in [(&b"su\r"[..], "ann:~$ su"), (b"Q", "ann:~$")] {
        let now = run.now();
        run.left.types(now, keys);
        run.run_for(ms(20));
        let end = run.left.end.as_mut().expect("a client");
        let row = end.terminal.screen().cursor().row;
        assert_eq!(end.terminal.screen().row_text(row), seen);
        if keys == b"su\r" {
            come_back(&mut run, 2, 1 << 40).expect("a record");
            let end = run.left.end.as_mut().expect("a client");
            end.client.handle_prompt_memory(memory.clone());
        }
    }
}

#[test]
fn a_living_client_waits_for_a_minute_however_often_another_asks() {
    let mut run = run(1, &LinkConfig::lossless(ms(50)), rove);
    step(&mut run, 1000);
    let former = LeftKeys::read(&run.left.written).unwrap().former(run.left.written_id);
    for number in 0..6 {
        let (now, chaff) = (run.now(), Seed::new(1).stream("server.chaff"));
        let key = Key::from_bytes([100 + number; 16]);
        assert!(run.right.server.invite_after(now, &key, chaff, None, Some(former)).is_some());
        run.left.types(now, b"x");
        step(&mut run, 9900);
        assert!(run.right.program.typed.is_empty());
    }
    step(&mut run, 5000);
    assert_eq!(run.right.program.typed, b"xxxxxx");
    // The present client has proved that it is alive, so its input waits for no further invitation.
    for number in 0..20 {
        let (now, chaff) = (run.now(), Seed::new(1).stream("server.chaff"));
        let key = Key::from_bytes([200 + number; 16]);
        assert!(run.right.server.invite_after(now, &key, chaff, None, Some(former)).is_none());
        run.left.types(now, b"y");
        step(&mut run, 7000);
        assert_eq!(run.right.program.typed.len(), 7 + usize::from(number));
    }
    // The user may resume the session once the client is gone.
    run.left.kill();
    step(&mut run, 40_000);
    assert!(!come_back_to_rove(&mut run, 1, 0));
    let now = run.now();
    run.left.types(now, b"z");
    step(&mut run, 1000);
    assert!(run.right.program.typed.ends_with(b"yz"));
}

#[test]
fn a_living_client_waits_no_longer_for_one_that_asks_in_turn_with_another() {
    let mut run = run(1, &LinkConfig::lossless(ms(50)), rove);
    step(&mut run, 1000);
    let former = LeftKeys::read(&run.left.written).unwrap().former(run.left.written_id);
    let ask = |run: &mut Run, number, former| {
        let (now, chaff) = (run.now(), Seed::new(1).stream("server.chaff"));
        let key = Key::from_bytes([number; 16]);
        let taken = run.right.server.invite_after(now, &key, chaff, None, former);
        run.left.types(now, b"x");
        step(run, 9900);
        taken.is_some()
    };
    let held = (0..20).filter(|number| {
        ask(&mut run, 100 + 2 * number, None);
        ask(&mut run, 101 + 2 * number, Some(former))
    });
    assert_eq!(held.count(), 4, "in the minute from the first");
    assert_eq!(run.right.program.typed.len(), 40);
}

#[test]
fn a_record_that_was_copied_and_is_resumed_twice_doubles_no_key() {
    let mut run = run(1, &LinkConfig::lossless(ms(50)), rove);
    step(&mut run, 1000);
    for key in b"abc" {
        let now = run.now();
        run.left.types(now, &[*key]);
        step(&mut run, if *key == b'a' { 500 } else { 10 });
    }
    let now = run.now();
    run.left.types(now, b"d");
    assert!(run.left.record());
    run.left.kill();
    let (copy, id) = (run.left.written.clone(), run.left.written_id);
    let copied = LeftKeys::read(&copy).unwrap();
    // The owners of both copies of the record ask for a key. The last one to ask becomes the next client.
    let ask = |run: &mut Run, key: u8| {
        let (now, chaff) = (run.now(), Seed::new(1).stream("server.chaff"));
        let (former, key) = (copied.former(id), Key::from_bytes([key; 16]));
        let taken = run.right.server.invite_after(now, &key, chaff, None, Some(former));
        copied.after(taken)
    };
    let first = ask(&mut run, 200);
    come_back_to_rove(&mut run, 1, 0);
    step(&mut run, 1000);
    assert_eq!(run.right.program.typed, b"abcd");
    let mut client =
        Client::new(ClientConfig { key: Key::from_bytes([200; 16]), ..config(1) }, run.now());
    client.go_on_after(&first, run.now());
    run.left.key = 200;
    let size = config(1).size;
    take_up(&mut run, client, size);
    step(&mut run, 1000);
    let second = ask(&mut run, 201);
    let mut client =
        Client::new(ClientConfig { key: Key::from_bytes([201; 16]), ..config(1) }, run.now());
    client.go_on_after(&second, run.now());
    (run.left.key, run.left.id) = (201, id);
    take_up(&mut run, client, size);
    step(&mut run, 1000);
    let now = run.now();
    run.left.types(now, b"e");
    step(&mut run, 1000);
    assert_eq!(run.right.program.typed, b"abcde");
}

#[test]
fn two_copies_of_a_computer_that_resume_one_session_use_no_nonce_twice() {
    let mut run = run(1, &LinkConfig::lossless(ms(50)), stock);
    step(&mut run, 3000);
    run.left.kill();
    let copy = run.left.written.clone();
    // The client asserts that no nonce is used twice. The client on the second computer knows nothing of the first.
    for (seed, jump, key) in [(2, 1 << 40, b"a"), (3, (1 << 49) + 7, b"b")] {
        run.left.written.clone_from(&copy);
        come_back(&mut run, seed, jump).expect("a record");
        let (now, before) = (run.now(), run.left.nonces.len());
        run.left.types(now, key);
        step(&mut run, 3000);
        assert!(run.left.nonces.len() > before, "it sends: {seed}");
        run.left.kill();
    }
    assert_eq!(run.right.server.outcome(), None);
}

#[test]
fn a_client_that_gives_up_connecting_ends_however_late_a_stock_server_acknowledges() {
    let [old_num, new_num] = [1, 5].map(StateNum::new);
    let no_state = Instruction { old_num, new_num, ack_num: old_num, ..Instruction::default() };
    for heard_at in [1_000, 15_100, 15_600] {
        let mut client = Mortal::new(config(1));
        for millis in 0..40_000 {
            let now = Instant::from_millis(millis);
            client.handle_timeout(now);
            if millis == heard_at {
                let datagrams = Forger::new(Direction::ToClient).datagrams(&no_state);
                datagrams.iter().for_each(|it| client.handle_datagram(now, RIGHT_ADDRESS, it));
            }
            while client.poll_transmit(now).is_some() {}
        }
        let outcome = client.end.expect("a client").client.outcome();
        assert_eq!(outcome, Some(ClientOutcome::NeverConnected), "heard at {heard_at} ms");
    }
}

/// Prints a line of docs/results/continuity.md.
#[test]
fn a_client_with_a_fresh_key_has_the_screen_after_a_round_trip() {
    let mut took = Vec::new();
    for seed in 0..100 {
        let mut run = run(seed, &LinkConfig::lossless(ms(50)), rove);
        step(&mut run, 1000 + 13 * seed);
        let now = run.now();
        run.left.types(now, b"f");
        step(&mut run, 400);
        run.left.kill();
        step(&mut run, 3000);
        come_back_to_rove(&mut run, seed, 0);
        let came_at = run.now();
        while !run.left.end.as_ref().is_some_and(|end| same_picture(end, &run.right)) {
            run.run_for(ms(1));
        }
        took.push(run.now().saturating_since(came_at).as_millis());
    }
    took.sort_unstable();
    println!("round trip 100 ms, the screen there after: {} ms, at most {} ms", took[50], took[99]);
    assert!(took[99] <= 150);
}

#[test]
fn a_client_killed_at_any_point_uses_no_nonce_twice_and_loses_no_key() {
    let runs = std::env::var("ROVE_RESUME_RUNS").ok().and_then(|it| it.parse().ok()).unwrap_or(100);
    for is_rove in [false, true] {
        let (mut kills, mut concealed, mut unexplained) = (0, 0, 0);
        for seed in 0..runs {
            let (killed, is_concealed) = session(seed, is_rove);
            kills += killed;
            concealed += u32::from(is_concealed);
            unexplained += u64::from(is_concealed && seed % 2 == 1);
        }
        println!(
            "rove {is_rove}: {kills} kills in {runs} runs, {concealed} with keys that were not written; \
             0 nonces used twice, 0 keys lost or doubled"
        );
        assert!(u64::from(kills) > runs && (is_rove || u64::from(concealed) <= runs / 2));
        assert!(!is_rove || unexplained <= runs / 100, "{unexplained}");
    }
}
