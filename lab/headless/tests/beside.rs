//! Keys beside a copy at full speed: the keys do not wait, and the copy gets the link.

use rove_congestion::Controller;
use rove_congestion::cubic::Cubic;
use rove_congestion::ledbat::Ledbat;
use rove_congestion::new_reno::NewReno;
use rove_congestion::sprout::Scale;
use rove_congestion::sprout_ack::SproutAck;
use rove_headless::{
    Act, Beside, ClientEnd, Owner, Program, ServerEnd, User, client_config, rove, server_config,
};
use rove_link::LinkConfig;
use rove_link::net::Net;
use rove_session::{Client, Server, Streams};
use rove_ssp::{Capabilities, Config};
use rove_streams::{Event, Mux, Read, Side};
use rove_terminal::Terminal;
use rove_units::{BitRate, Bytes, Duration, Instant, Seed};

/// The keys that are typed, a quarter of a second apart.
const KEYS: usize = 300;

/// The pause between two keys.
const PACE: Duration = Duration::from_millis(250);

/// The size of a full packet's payload, as the ends begin.
const PACKET: Bytes = Bytes::new(1_176);

/// A user who types letters, with Enter after each 60, and waits for none.
struct Typist {
    next: Instant,
    typed: Vec<Instant>,
    delays: Vec<Duration>,
}

impl Typist {
    const LINE: usize = 60;
}

impl User for Typist {
    fn next_act(&mut self, now: Instant, _: &Client, _: &Terminal) -> Option<Act> {
        if self.typed.len() == KEYS || now < self.next {
            return None;
        }
        self.next = now + PACE;
        self.typed.push(now);
        let ends_line = self.typed.len().is_multiple_of(Self::LINE);
        Some(Act::Type(if ends_line { b"a\r".to_vec() } else { b"a".to_vec() }))
    }

    fn poll_timeout(&self, _: &Client) -> Option<Instant> {
        (self.typed.len() < KEYS).then_some(self.next)
    }

    fn handle_frame(&mut self, now: Instant, _: &Client, terminal: &mut Terminal) {
        let rows = 0..terminal.screen().size().rows();
        let shown: usize =
            rows.map(|row| terminal.screen().row_text(row).matches('a').count()).sum();
        for typed in self.typed.iter().take(shown).skip(self.delays.len()) {
            self.delays.push(now.saturating_since(*typed));
        }
    }
}

/// A program that echoes.
struct Echo;

impl Program for Echo {
    fn turn(&mut self, now: Instant, server: &mut Server) {
        let typed = server.host_input().to_vec();
        server.consume_host_input(typed.len());
        let echo = String::from_utf8_lossy(&typed).replace('\r', "\r\n");
        if !typed.is_empty() {
            server.handle_host_output(now, echo.as_bytes());
        }
    }
}

/// Writes without an end, if asked to, and reads all that comes.
#[derive(Default)]
struct Copy {
    writes: bool,
    is_open: bool,
    read: u64,
}

impl Owner for Copy {
    fn turn(&mut self, now: Instant, mux: &mut Mux) {
        let is_first = self.writes && !self.is_open;
        if is_first {
            self.is_open = true;
            let id = mux.open(now).expect("the first");
            while mux.write(id, &[7; 65_536]) == Ok(65_536) {}
        }
        while let Some(event) = mux.poll_event() {
            match event {
                Event::Writable(id) => while mux.write(id, &[7; 65_536]) == Ok(65_536) {},
                Event::Readable(id) => {
                    let mut buffer = [0; 4_096];
                    while let Ok(Read::Bytes(count)) = mux.read(now, id, &mut buffer) {
                        self.read += count as u64;
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns the 95th percentile of the delays of keys in ms, and the copy's Mbit/s, and the packets of both ends.
fn run(
    link: &LinkConfig,
    copies: bool,
    controller: fn() -> Box<dyn Controller>,
) -> (f64, f64, u64) {
    let seed = Seed::new(11);
    let offered = |config| {
        let config = rove(config);
        let capabilities = config.capabilities.map(|it| it.union(Capabilities::STREAMS));
        Config { capabilities, ..config }
    };
    let typist =
        Typist { next: Instant::from_millis(5_000), typed: Vec::new(), delays: Vec::new() };
    let client =
        ClientEnd::new(client_config(offered(Config::client()), seed), typist, Instant::ZERO);
    let server =
        ServerEnd::new(server_config(offered(Config::server()), seed), Echo, Instant::ZERO);
    let streams = |side| Streams::controlled(side, controller(), Instant::ZERO);
    let left = Beside::new(client, Copy::default(), streams(Side::Client));
    let writer = Copy { writes: copies, ..Copy::default() };
    let right = Beside::new(server, writer, streams(Side::Server));
    let mut net = Net::new(left, right, link.clone(), link.clone(), seed);
    net.run_for(PACE * 300 + Duration::from_secs(15));
    let mut delays = net.left.end.user.delays.clone();
    assert_eq!(delays.len(), KEYS, "every key was echoed");
    delays.sort();
    #[expect(clippy::cast_precision_loss, reason = "some megabytes")]
    let rate = net.left.owner.read as f64 * 8.0
        / 1e6
        / net.now().saturating_since(Instant::ZERO).as_secs_f64();
    assert!(net.left.is_agreed() && net.right.is_agreed());
    (delays[KEYS * 95 / 100].as_secs_f64() * 1e3, rate, net.left.packets + net.right.packets)
}

fn link(kbit: u64, rtt: u64, queue_ms: u64, loss: f64) -> LinkConfig {
    LinkConfig {
        loss,
        delay: Duration::from_millis(rtt / 2),
        rate: BitRate::from_bits_per_second(kbit * 1_000),
        queue_max: Bytes::new(kbit * queue_ms / 8),
        overhead: Bytes::new(28),
        ..LinkConfig::default()
    }
}

#[test]
fn keys_beside_a_copy_wait_for_the_links_queue_alone() {
    type New = fn() -> Box<dyn Controller>;
    let controllers: [(&str, New); 4] = [
        ("NewReno", || Box::new(NewReno::new(PACKET))),
        ("CUBIC", || Box::new(Cubic::new(PACKET))),
        ("LEDBAT", || Box::new(Ledbat::new(PACKET))),
        ("Sprout-ACK", || Box::new(SproutAck::new(Scale::Wide, PACKET, Duration::from_millis(25)))),
    ];
    for (name, link, rate, queue) in [
        ("10 Mbit/s, 40 ms, queue of 100 ms", link(10_000, 40, 100, 0.0), 10.0, 100.0),
        ("1 Mbit/s, 40 ms, queue of 2 s", link(1_000, 40, 2_000, 0.0), 1.0, 2_000.0),
        ("10 Mbit/s, 100 ms, 29 % loss", link(10_000, 100, 100, 0.29), 10.0, 100.0),
    ] {
        let (alone, ..) = run(&link, false, controllers[0].1);
        println!("{name}: echo p95 alone {alone:.0} ms");
        for (controller, new) in controllers {
            let (beside, copied, _) = run(&link, true, new);
            println!(
                "    beside a copy by {controller}: {beside:.0} ms; the copy has {copied:.2} Mbit/s of {rate}"
            );
            assert!(beside <= alone + 1.25 * queue + 30.0, "{name}, {controller}: {beside} ms");
            assert!(copied > 0.0, "{name}, {controller}");
        }
    }
}

#[test]
fn a_session_whose_streams_are_idle_sends_no_packet() {
    let (.., packets) = run(&link(10_000, 40, 100, 0.0), false, || Box::new(Cubic::new(PACKET)));
    assert_eq!(packets, 0);
}
