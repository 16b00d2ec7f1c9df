//! Several sessions over one slow link with a deep queue, each with a program that writes without end.

use core::net::SocketAddr;

use rove_headless::{Act, ClientEnd, Program, ServerEnd, User, client_config, rove, server_config};
use rove_link::LinkConfig;
use rove_link::net::{End, Net};
use rove_session::{Client, Server};
use rove_ssp::Config;
use rove_terminal::Terminal;
use rove_units::{BitRate, Bytes, Duration, Instant, Seed, Stream};

use crate::common::ms;

const SESSIONS: u64 = 8;

/// How often a program writes, and (`BEFORE`) how long it does so until the user types Ctrl-C.
const WRITE_INTERVAL: Duration = Duration::from_millis(5);
const BEFORE: Duration = Duration::from_secs(20);

const PROMPT: &str = "$";

/// The ends of several sessions on one computer. The first byte of each datagram acts as the end's port.
struct Computer<E> {
    ends: Vec<E>,
    /// The index of the end that sends next: the ends take turns.
    next: usize,
}

impl<E: End> End for Computer<E> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        let (port, payload) = payload.split_first().expect("the other computer put it there");
        self.ends[usize::from(*port)].handle_datagram(now, source, payload);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.ends.iter_mut().for_each(|end| end.handle_timeout(now));
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        for _ in 0..self.ends.len() {
            let index = self.next;
            self.next = (index + 1) % self.ends.len();
            if let Some((destination, payload)) = self.ends[index].poll_transmit(now) {
                let port = u8::try_from(index).expect("few sessions");
                return Some((destination, [&[port], &payload[..]].concat()));
            }
        }
        None
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.ends.iter().filter_map(End::poll_timeout).min()
    }
}

/// A user who types Ctrl-C and waits for the prompt.
struct Typist {
    typed_at: Instant,
    has_typed: bool,
    frames: u32,
    seen_at: Option<Instant>,
}

impl User for Typist {
    fn next_act(&mut self, now: Instant, _: &Client, _: &Terminal) -> Option<Act> {
        (!self.has_typed && self.typed_at <= now).then(|| {
            self.has_typed = true;
            Act::Type(vec![0x03])
        })
    }

    fn poll_timeout(&self, _: &Client) -> Option<Instant> {
        (!self.has_typed).then_some(self.typed_at)
    }

    fn handle_frame(&mut self, now: Instant, _: &Client, terminal: &mut Terminal) {
        self.frames += 1;
        let screen = terminal.screen();
        if screen.row_text(screen.cursor().row) == PROMPT {
            self.seen_at.get_or_insert(now);
        }
    }
}

/// The output of a program that writes without end.
#[derive(Clone, Copy, Debug)]
enum Output {
    /// The program writes the same line again and again.
    Yes,
    /// The program counts, with a number on each line.
    Seq,
    /// The program writes lines that do not compress.
    Noise,
}

/// A program that writes until it reads Ctrl-C.
struct Flood {
    output: Output,
    next: Option<Instant>,
    lines: u64,
    noise: Stream,
}

impl Flood {
    fn line(&mut self) -> String {
        self.lines += 1;
        match self.output {
            Output::Yes => "y\r\n".to_owned(),
            Output::Seq => format!("{}\r\n", self.lines),
            Output::Noise => {
                let letter = |at| {
                    let code = self.noise.fork(self.lines).at(at).below(94);
                    char::from(b'!' + u8::try_from(code).expect("below 94"))
                };
                (0..79).map(letter).chain("\r\n".chars()).collect()
            }
        }
    }
}

impl Program for Flood {
    fn turn(&mut self, now: Instant, server: &mut Server) {
        let is_interrupted = server.host_input().contains(&0x03);
        server.consume_host_input(server.host_input().len());
        if is_interrupted {
            self.next = None;
            server.handle_host_output(now, format!("\r\n{PROMPT} ").as_bytes());
        }
        while self.next.is_some_and(|next| next <= now) {
            let lines: String = (0..24).map(|_| self.line()).collect();
            server.handle_host_output(now, lines.as_bytes());
            self.next = self.next.map(|next| next + WRITE_INTERVAL);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.next
    }
}

/// A link of 256 kbit/s with a queue of two seconds.
fn slow_link() -> LinkConfig {
    LinkConfig {
        rate: BitRate::from_bits_per_second(256_000),
        queue_max: Bytes::kib(64),
        overhead: Bytes::new(28),
        ..LinkConfig::lossless(ms(25))
    }
}

/// Returns for each session the time from Ctrl-C to its prompt, and how many new pictures its user saw in that time.
fn interrupted(
    output: Output,
    [client, server]: [Config; 2],
    link: &LinkConfig,
) -> Vec<(Option<Duration>, u32)> {
    let typed_at = |index| Instant::ZERO + BEFORE + ms(500 * index);
    let near = |index| {
        let typist =
            Typist { typed_at: typed_at(index), has_typed: false, frames: 0, seen_at: None };
        ClientEnd::new(client_config(client.clone(), Seed::new(index)), typist, Instant::ZERO)
    };
    let far = |index| {
        let noise = Seed::new(index).stream("noise");
        let next = Some(Instant::ZERO + ms(1_000 + index));
        let flood = Flood { output, next, lines: 0, noise };
        ServerEnd::new(server_config(server.clone(), Seed::new(index)), flood, Instant::ZERO)
    };
    let left = Computer { ends: (0..SESSIONS).map(near).collect(), next: 0 };
    let right = Computer { ends: (0..SESSIONS).map(far).collect(), next: 0 };
    let mut net = Net::new(left, right, link.clone(), link.clone(), Seed::new(1));
    net.run_for(BEFORE);
    let frames: Vec<u32> = net.left.ends.iter().map(|end| end.user.frames).collect();
    net.run_for(ms(60_000));
    let waits = (0..)
        .zip(&net.left.ends)
        .map(|(index, end)| end.user.seen_at.map(|at| at.saturating_since(typed_at(index))));
    waits.zip(frames).collect()
}

#[test]
fn each_of_eight_sessions_is_interrupted_soon_and_none_starves() {
    for (output, frames_min) in [(Output::Yes, 1), (Output::Seq, 300)] {
        let ends = [rove(Config::client()), rove(Config::server())];
        for (wait, frames) in interrupted(output, ends, &slow_link()) {
            let wait = wait.expect("the prompt comes");
            assert!(wait < ms(2_000), "{output:?}: {wait:?}");
            assert!(frames >= frames_min, "{output:?}: {frames} frames in 20 s");
        }
    }
}

#[test]
fn eight_sessions_that_ask_for_more_than_the_link_has_all_come_through() {
    let ends = [rove(Config::client()), rove(Config::server())];
    for (wait, frames) in interrupted(Output::Noise, ends, &slow_link()) {
        let wait = wait.expect("the prompt comes");
        // A datagram waits two seconds in the full queue.
        assert!(wait < ms(10_000) && frames > 0, "{wait:?}, {frames} frames");
    }
}
