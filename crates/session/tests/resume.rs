//! A client that is killed goes on in another process: no nonce twice, every key once and in order, the same screen.

mod common;

use core::net::SocketAddr;
use std::collections::BTreeSet;

use common::*;
use rove_link::LinkConfig;
use rove_link::net::{End, Net};
use rove_session::{
    Client, ClientConfig, EngineKind, Prediction, Preference, Record, ResumeError, Server,
};
use rove_ssp::Config;
use rove_units::{Draw, Instant, Seed};

/// A client whose records survive it.
struct Mortal {
    end: Option<ClientEnd>,
    /// The records that were written, as files hold them.
    written: Vec<u8>,
    /// Keys in them, or sent without.
    accepted: Vec<u8>,
    /// Keys that the client has, and that have not left it.
    pending: Vec<u8>,
    nonces: BTreeSet<[u8; 8]>,
    /// In how many records the client is killed, and whether that one is written.
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
        }
        self.written.extend(bytes);
        self.accepted.append(&mut self.pending);
    }

    /// Writes what is owed; returns whether the client lives.
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
        // Before there is a record, keys leave as they always did.
        self.accepted.append(&mut self.pending);
        let nonce = *payload.first_chunk().expect("a datagram has a number");
        assert!(self.nonces.insert(nonce), "a nonce is used twice: {nonce:?}");
        Some((destination, payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.end.as_ref()?.poll_timeout()
    }
}

/// A shell that echoes, and sometimes a program that floods the screen.
fn shell_turn(server: &mut Server, typed: &mut Vec<u8>, now: Instant) {
    let read = server.host_input().to_vec();
    server.consume_host_input(read.len());
    for &byte in &read {
        typed.push(byte);
        match byte {
            b'\r' => server.handle_host_output(now, b"\r\n\x1b[?2004h\x1b[1mann\x1b[m:~$ "),
            // A flood.
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
    let prediction = Prediction {
        preference: Preference::Always,
        engine: EngineKind::Replay,
        ..Prediction::default()
    };
    let chaff = Seed::new(seed).stream("client.chaff");
    ClientConfig { prediction, chaff, ..client_config(rove(Config::client())) }
}

fn run(seed: u64, link: &LinkConfig) -> Run {
    let mut far = far(stock(Config::server()));
    // The shell reads in its place.
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

/// Starts a client from what the last one has written.
fn come_back(run: &mut Run, seed: u64, jump: u64) -> Result<(), ResumeError> {
    let config = config(seed);
    let (now, size) = (run.now(), config.size);
    let mut client = Client::resume(config, &run.left.written, jump, now)?;
    client.recording().start();
    let terminal = rove_terminal::Terminal::host(size);
    let (user, traffic) = (Typist::default(), rove_headless::Traffic::default());
    run.left.end = Some(ClientEnd { client, terminal, user, traffic });
    Ok(())
}

fn is_settled(run: &Run) -> bool {
    run.left
        .end
        .as_ref()
        .is_some_and(|end| end.client.pending_input() == 0 && in_sync(end, &run.right))
}

/// A session whose client is killed some times. Returns how often it was, and whether it ended because keys that may have been a
/// secret were on their way.
fn session(seed: u64) -> (u32, bool) {
    let draws = Seed::new(seed).stream("test.resume");
    let draw = |number: u64| -> Draw { draws.at(number) };
    let loss = [0.0, 0.1, 0.29][usize::try_from(draw(0).below(3)).expect("small")];
    let link = LinkConfig { loss, ..LinkConfig::lossless(ms(5 + draw(1).below(150))) };
    let mut run = run(seed, &link);
    step(&mut run, 3000);
    let mut kills = 0;
    for round in 0..40 {
        let draw = |number: u64| draw(1000 + round * 100 + number);
        // Keys of the second kind are never secrets.
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
            // The session had not begun.
            return (kills, true);
        }
        if run.left.end.is_none() {
            kills += 1;
            step(&mut run, draw(6).below(3000));
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
    (kills, false)
}

#[test]
fn keys_that_may_be_a_secret_are_in_no_record() {
    let mut run = run(1, &LinkConfig::lossless(ms(50)));
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
}

#[test]
fn a_client_killed_at_any_point_uses_no_nonce_twice_and_loses_no_key() {
    let runs = std::env::var("ROVE_RESUME_RUNS").ok().and_then(|it| it.parse().ok()).unwrap_or(100);
    let (mut kills, mut concealed) = (0, 0);
    for seed in 0..runs {
        let (killed, is_concealed) = session(seed);
        kills += killed;
        concealed += u32::from(is_concealed);
    }
    println!("{kills} kills in {runs} runs; {concealed} runs ended in keys that were not written");
    assert!(u64::from(kills) > runs && u64::from(concealed) <= runs / 2);
}
