//! How long a hostile server keeps a client from looking at keys and signals. Printed are the longest turns of its loop,
//! at a window of 500x200, for the worst states that we can think of. They are in processor time, so that other programs
//! do not count.
//!
//!     cargo run --release -p rove-headless --example turns
#![allow(
    clippy::unwrap_used,
    clippy::too_many_lines,
    clippy::cast_possible_truncation,
    reason = "a benchmark is a table, and may panic"
)]

#[path = "../../../crates/session/tests/common/mod.rs"]
mod common;

use std::time::Duration as Time;

use common::forger::{Forger, event, member, state, varint};
use common::*;
use rove_link::net::RIGHT_ADDRESS;
use rove_session::Client;
use rove_ssp::{Direction, Ecn};
use rove_terminal::Size;
use rove_units::{Duration, Instant};
use rustix::time::{ClockId, clock_gettime};

/// Work after which the program's loop looks at keys and signals, as in `crates/rove/src/client/turn.rs`.
const TURN: u64 = 4_000_000;

/// Returns the processor time of this thread.
fn processor_time() -> Time {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Time::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

/// A client whose loop is timed.
struct Victim {
    forger: Forger,
    client: Client,
    now: Instant,
    num: u64,
    turns: Vec<Time>,
    work: Time,
    draw: Time,
    waiting: Vec<Vec<u8>>,
}

impl Victim {
    fn new(size: Size) -> Self {
        let client = Client::new(busiest_client(size), Instant::ZERO);
        let forger = Forger::new(Direction::ToClient);
        let (now, work, draw) = (Instant::ZERO, Time::ZERO, Time::ZERO);
        Self { forger, client, now, num: 0, turns: Vec::new(), work, draw, waiting: Vec::new() }
    }

    fn state(&mut self, old: u64, diff: Vec<u8>) {
        self.num += 1;
        let instruction = state(old, self.num, old, diff);
        self.waiting.extend(self.forger.datagrams(&instruction));
    }

    /// Prints a row: how many turns there were, and the longest of each kind.
    fn report(&self, name: &str) {
        let ms = |time: Time| time.as_secs_f64() * 1e3;
        let longest = self.turns.iter().max().copied().unwrap_or_default();
        println!(
            "{name:44} {:6} {:9.1} {:9.1} {:9.1}",
            self.turns.len(),
            ms(longest),
            ms(self.work),
            ms(self.draw),
        );
    }

    /// Turns the loop as the program does until all is done.
    fn run(&mut self) {
        self.waiting.reverse();
        while !self.waiting.is_empty() || self.client.has_work() || self.client.has_output(self.now)
        {
            self.now += Duration::from_millis(1);
            let now = self.now;
            let start = processor_time();
            self.client.handle_input(now, b"x");
            let before = self.client.effort();
            while !self.client.has_work()
                && self.client.effort() - before < TURN
                && let Some(datagram) = self.waiting.pop()
            {
                let _ = self.client.handle_datagram(now, RIGHT_ADDRESS, Ecn::Capable, &datagram);
            }
            self.client.handle_timeout(now);
            while self.client.poll_transmit(now).is_some() {}
            let middle = processor_time();
            drop(self.client.poll_output(now));
            self.work = self.work.max(middle - start);
            self.draw = self.draw.max(processor_time() - middle);
            self.turns.push(processor_time() - start);
        }
    }
}

fn host_bytes(bytes: &[u8]) -> Vec<u8> {
    member(1, &member(2, &member(4, bytes)))
}

fn page(seed: usize, cell: Cell) -> Vec<u8> {
    let mut text: String = "\x1b[H".to_owned();
    for n in 0..100_000 {
        text.push_str(&cell(seed * 31 + n));
        if text.len() > 4_190_000 {
            break;
        }
    }
    host_bytes(&text.as_bytes()[..text.len().min(4_190_000)])
}

/// A cell's text, by its number.
type Cell = fn(usize) -> String;

/// Cells that cost a client much, each kind with its name.
const CELLS: [(&str, Cell); 5] = [
    ("true colours", |n| {
        format!("\x1b[38;2;{};{};9;48;2;9;{};{}mx", n % 251, n % 241, n % 239, n % 7)
    }),
    ("emoji", |n| format!("\x1b[48;5;{}m\u{1f600}", n % 256)),
    ("combining characters", |n| {
        format!("{}{}", char::from(b'a' + (n % 26) as u8), "\u{e0100}".repeat(8))
    }),
    ("links", |n| format!("\x1b]8;;http:{n}\x07x")),
    ("all in each cell", all_in_one),
];

fn all_in_one(n: usize) -> String {
    format!("\x1b[4;58:5:{}m\x1b]8;;http:{n:x}\x07x\u{301}", n % 256)
}

/// Sequences that move or fill much of a screen for a few bytes.
const SEQUENCES: [&[u8]; 12] = [
    b"\x1b[1 A\x1b[1 @",
    b"\x1b['}",
    b"\x1b[65$x",
    b"\x1b[1;1;200;500;2;1$v",
    b"\x1b[$z\x1b[66$x",
    b"\x1bc\x1b#8",
    b"\x1b[3g\r\t",
    b"\x1b[4h\x1b[H\xc3\xa9",
    b"\x1b[H\x1b[@",
    b"\x1b[2J\x1b[S",
    b"\x1b[?69h\x1b[2;499s\x1b[H\x1b[S\x1b['}",
    b"x\n",
];

/// Full pages, and then sequences over them.
fn send_pages(name: &str, cell: Cell, size: Size) {
    let mut victim = Victim::new(size);
    for seed in 0..3 {
        victim.state(victim.num, page(seed, cell));
    }
    victim.run();
    victim.report(name);
    for sequence in SEQUENCES {
        for _ in 0..3 {
            victim.state(victim.num, page(7, cell));
            victim.state(victim.num, host_bytes(&sequence.repeat(1_000_000 / sequence.len())));
            // A refused state is none to start from.
            victim.num -= 1;
            let kept = victim.num;
            victim.num += 1;
            victim.state(kept, host_bytes(b"\x1b[H"));
        }
    }
    victim.run();
    victim.report(&format!("{name}, and sequences"));
}

fn send_noise(size: Size) {
    let mut victim = Victim::new(size);
    for n in 0..10_u64 {
        let noise: Vec<u8> = (0..4_000_000_u32)
            .map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8 & 15)
            .collect();
        let old = victim.num + n % 2 * 1000;
        victim.state(old, [b"\x7a".to_vec(), member(9, &noise)].concat());
    }
    victim.run();
    victim.report("instructions of 4 MiB of noise");
}

fn send_lines(size: Size) {
    let mut victim = Victim::new(size);
    victim.state(0, page(0, all_in_one));
    for n in 0..5 {
        let fields = [varint(1, n * 128), varint(2, 128), varint(5, 1)].concat();
        let lines = member(1, &event(21, &fields));
        victim.state(1, lines.repeat(4_000_000 / lines.len()));
        victim.state(1, member(1, &[]).repeat(2_000_000));
        victim.state(1, b"\x10\x01".repeat(2_000_000));
        victim.state(1, lines.repeat(8));
    }
    victim.run();
    victim.report("lines off the screen, and empty members");
}

fn main() {
    let size = Size::clamped(500, 200);
    println!("{:44} {:>6} {:>9} {:>9} {:>9}", "500x200, ms", "turns", "longest", "work", "drawing");
    for (name, cell) in CELLS {
        send_pages(name, cell, size);
    }
    send_noise(size);
    send_lines(size);
}
