//! A client's memory stays within its bound, whatever a server sends. The tests send the worst states that we know,
//! each to a new client and all of them to one client. They count every byte that the client allocates.
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write as _;

use common::forger::{Forger, event, host_bytes, member, state, varint};
use common::*;
use rove_link::net::RIGHT_ADDRESS;
use rove_session::{Client, MEMORY_MAX_80X24, MEMORY_MAX_500X200};
use rove_ssp::wire::{Fragment, Instruction};
use rove_ssp::{Direction, Ecn};
use rove_terminal::Size;
use rove_units::{Bytes, Duration, Instant};

/// Memory of the program besides its client, in bytes. Chosen: an idle process takes 5 MB in all, and an allocator may
/// waste as much between its pieces.
const PROGRAM: u64 = 8 << 20;

thread_local! {
    /// Whether the present allocations are the client's.
    static COUNTS: Cell<bool> = const { Cell::new(false) };
    static NOW: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// Counts what is allocated while a client is at work.
struct Counting;

impl Counting {
    fn add(bytes: isize) {
        if COUNTS.try_with(Cell::get).unwrap_or(false) {
            NOW.set(NOW.get() + bytes);
            PEAK.set(PEAK.get().max(NOW.get()));
        }
    }
}

fn signed(bytes: usize) -> isize {
    isize::try_from(bytes).unwrap()
}

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::add(signed(layout.size()));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        Self::add(-signed(layout.size()));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::add(signed(size) - signed(layout.size()));
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn counted<T>(work: impl FnOnce() -> T) -> T {
    COUNTS.set(true);
    let result = work();
    COUNTS.set(false);
    result
}

/// A client and a hostile server.
struct Victim {
    forger: Forger,
    client: Client,
    size: Size,
    now: Instant,
    /// The number of the newest state that the client has taken.
    num: u64,
    /// The number of the state from which an attack begins.
    base: u64,
}

impl Victim {
    fn new(size: Size) -> Self {
        NOW.set(0);
        PEAK.set(0);
        let config = busiest_client(size);
        let client = counted(|| Client::new(config, Instant::ZERO));
        let forger = Forger::new(Direction::ToClient);
        let mut victim = Self { forger, client, size, now: Instant::ZERO, num: 0, base: 0 };
        victim.begin();
        victim
    }

    /// Sends the state from which an attack begins, made from the newest state that the client has. The client drops
    /// all states below that base.
    fn begin(&mut self) {
        let is_taken = (0..=self.num).rev().any(|old| self.state(old, old, host_bytes(b"$ ")));
        assert!(is_taken, "the client has no state that another can be made from");
        self.base = self.num;
    }

    /// Sends a state made from `old`, and tells the client to drop all states below `kept`. Returns whether the client
    /// took the state. Its number follows that of the newest state taken, so that none is missing.
    fn state(&mut self, old: u64, kept: u64, diff: Vec<u8>) -> bool {
        let new = self.num + 1;
        let is_taken = self.instruction(old, new, kept, diff, Vec::new());
        self.num += u64::from(is_taken);
        is_taken
    }

    /// Sends an instruction. Returns whether the client has refused none of its datagrams.
    fn instruction(
        &mut self,
        old: u64,
        new: u64,
        kept: u64,
        diff: Vec<u8>,
        chaff: Vec<u8>,
    ) -> bool {
        let instruction = Instruction { chaff, ..state(old, new, kept, diff) };
        let datagrams = self.forger.datagrams(&instruction);
        datagrams.iter().all(|datagram| self.deliver(datagram))
    }

    /// Lets the client take a datagram, work and draw, as a driver does. Returns whether the client took the datagram.
    fn deliver(&mut self, datagram: &[u8]) -> bool {
        self.now += Duration::from_micros(100);
        let (client, now) = (&mut self.client, self.now);
        counted(|| {
            let taken = client.handle_datagram(now, RIGHT_ADDRESS, Ecn::Capable, datagram);
            loop {
                client.handle_timeout(now);
                while client.poll_transmit(now).is_some() {}
                drop(client.poll_output(now));
                if !client.has_work() {
                    break;
                }
            }
            taken.is_ok()
        })
    }

    /// Lets the client draw everything.
    fn settle(&mut self) {
        self.now += Duration::from_millis(300);
        let (client, now) = (&mut self.client, self.now);
        counted(|| while client.poll_output(now).is_some() {});
    }
}

/// Returns a page of cells. `cell` returns the bytes that draw the cell with a given number.
fn page(size: Size, seed: usize, cell: impl Fn(usize) -> String) -> Vec<u8> {
    let mut text = String::from("\x1b[H");
    for n in 0..usize::from(size.columns()) * usize::from(size.rows()) {
        text.push_str(&cell(seed * 7919 + n));
        // An instruction of the transport cannot hold more text.
        if text.len() > 4_190_000 {
            break;
        }
    }
    text.truncate(
        text.char_indices().map(|(at, _)| at).take_while(|at| *at < 4_190_000).last().unwrap(),
    );
    host_bytes(text.as_bytes())
}

fn link(n: usize, len: usize) -> String {
    format!("\x1b]8;;http:{n:x}{}\x07x", "y".repeat(len))
}

fn marked(n: usize) -> String {
    let c = char::from(b'a' + u8::try_from(n % 26).unwrap());
    format!("{c}{}", "\u{e0100}".repeat(8))
}

fn curl(n: usize) -> String {
    format!("\x1b[4:3;58:2::{}:{}:{}mx", n % 251, n % 241, n % 239)
}

fn all(n: usize) -> String {
    format!("\x1b[4;58:5:{}m\x1b]8;;http:{n:x}\x07x{}", n % 256, "\u{e0100}".repeat(8))
}

/// Sends at most `many` states, all of which the client keeps. Each draws all cells again.
fn flood_of_pages(victim: &mut Victim, many: usize, cell: impl Fn(usize) -> String) {
    let base = victim.num;
    for seed in 0..many {
        victim.state(base, 0, page(victim.size, seed, &cell));
    }
    victim.settle();
    // From here on each state replaces the state before it, which the client drops.
    for seed in 0..4 {
        let old = victim.num;
        victim.state(old, old, page(victim.size, 100 + seed, &cell));
        victim.settle();
    }
}

fn lines(first: u64, count: u32, columns: u32, row: u32, text: &[u8]) -> Vec<u8> {
    let first = u32::try_from(first).unwrap();
    let fields = [varint(1, first), varint(2, count), varint(3, columns), varint(5, row)].concat();
    member(1, &event(21, &[fields, member(4, text)].concat()))
}

type Attack = (&'static str, fn(&mut Victim));

const ATTACKS: [Attack; 17] = [
    ("a huge screen with a link in each cell", |victim| {
        let size = member(3, &[varint(5, 4096), varint(6, 2048)].concat());
        let huge = Size::clamped(4096, 2048);
        for seed in 0..2 {
            let diff = [member(1, &size), page(huge, seed, |n| link(n, 0))].concat();
            victim.state(victim.num, 0, diff);
        }
    }),
    ("short links", |victim| flood_of_pages(victim, 16, |n| link(n, 0))),
    ("links of a hundred bytes", |victim| flood_of_pages(victim, 16, |n| link(n, 100))),
    ("long links", |victim| flood_of_pages(victim, 16, |n| link(n, 2000))),
    ("one link cut in pieces", |victim| {
        flood_of_pages(victim, 16, |n| {
            if n % 2 == 0 { link(0, 900) } else { "\x1b]8;;\x07y".to_owned() }
        });
    }),
    ("combining characters", |victim| flood_of_pages(victim, 16, marked)),
    ("colours of underlines", |victim| flood_of_pages(victim, 16, curl)),
    ("all of it", |victim| flood_of_pages(victim, 16, all)),
    ("strings without an end", |victim| {
        let copy = [b"\x1b]52;c;".to_vec(), vec![b'A'; 1 << 20]].concat();
        for _ in 0..100 {
            victim.state(victim.num, 0, host_bytes(&copy));
        }
    }),
    ("titles, colours, directories and copies", |victim| {
        for n in 0..600 {
            let mut text = String::new();
            for m in 0..10 {
                let title = format!("{n}.{m}{}", "\u{1f600}".repeat(240));
                write!(text, "\x1b]0;{title}\x07\x1b[22t").unwrap();
            }
            let copy = "QUJD".repeat(4000);
            write!(
                text,
                "\x1b]4;{};#{n:06x}\x07\x1b]7;file:///{n}{}\x07",
                n % 256,
                "d".repeat(4000)
            )
            .unwrap();
            write!(text, "\x1b]52;c;{copy}\x07\x1b]52;c;{copy}\x07").unwrap();
            victim.state(victim.base, 0, host_bytes(text.as_bytes()));
        }
    }),
    ("many states", |victim| {
        for n in 0..2500 {
            let text = format!("\x1b[{};{}H{n}", 1 + n % 24, 1 + n % 80);
            victim.state(victim.num, 0, host_bytes(text.as_bytes()));
        }
    }),
    ("copies in pieces", |victim| {
        for number in 1..40 {
            for piece in 0..32 {
                let head = [member(4, b"c"), varint(5, 1 << 20)].concat();
                let head = if piece == 0 { head } else { Vec::new() };
                let text = member(3, &b"AbCd".repeat(8192));
                let copy = [varint(1, number), varint(2, piece << 15), text, head].concat();
                let old = victim.num;
                victim.state(old, 0, member(1, &event(17, &copy)));
            }
        }
    }),
    ("notifications", |victim| {
        for number in 1..500 {
            let told = member(2, format!("9;{number}{}", "n".repeat(1000)).as_bytes());
            let told = [varint(1, number * 8), told.repeat(8)].concat();
            victim.state(victim.base, 0, member(1, &event(19, &told)));
        }
    }),
    ("lines of one column", |victim| {
        for _ in 0..40 {
            let mut first = 0;
            let mut diff = Vec::new();
            for _ in 0..1500 {
                diff.extend(lines(first, 128, 1, 0, b""));
                first += 128;
            }
            victim.state(victim.base, 0, diff);
            victim.state(victim.base, 0, lines(0, 128, 1, 0, b"x"));
        }
    }),
    ("lines off the screen and of their own", |victim| {
        victim.state(victim.num, 0, page(victim.size, 3, all));
        let base = victim.num;
        for n in 0..60 {
            let mut diff = Vec::new();
            for at in 0..2 + n % 30 {
                diff.extend(lines(at * 20, 20, 0, 1, b""));
            }
            let text: String = (0..400).map(|n| link(n, 500)).collect();
            diff.extend(lines(2000, 100, 200, 0, text.as_bytes()));
            victim.state(base, 0, diff);
        }
        victim.settle();
    }),
    ("lines with gaps, and wide ones, that wait behind the alternate screen", |victim| {
        victim.state(victim.num, 0, host_bytes(b"\x1b[?1049h"));
        let mut first = 0;
        for columns in [80, 4096] {
            for _ in 0..150 {
                let mut diff = Vec::new();
                for _ in 0..1000 / (1 + columns / 100) {
                    first += 2;
                    diff.extend(lines(first, 1, columns, 0, &vec![b'x'; columns as usize]));
                }
                victim.state(victim.num, victim.num, diff);
            }
        }
        victim.settle();
    }),
    ("instructions that inflate and fragments without an end", |victim| {
        for n in 0..3 {
            let [old, inflated, drawn] = [victim.base, 900_000 + n, 900_010 + n];
            victim.instruction(old, inflated, 0, Vec::new(), vec![b'c'; 4_194_000]);
            victim.instruction(old, drawn, 0, host_bytes(&vec![b'd'; 4_194_000]), Vec::new());
        }
        for (id, pieces, len) in [(1 << 40, 32_000_u16, 1), (2 << 40, 3300, 1200)] {
            for number in 0..pieces {
                let fragment = Fragment { id, number, last: false, contents: vec![b'f'; len] };
                let datagram = victim.forger.seal(fragment.encode());
                victim.deliver(&datagram);
            }
        }
    }),
];

fn assert_bounded(size: Size, most: Bytes, name: &str) {
    let peak = u64::try_from(PEAK.get()).unwrap();
    println!("{:4}x{:<4} {name:56} {:6.1} MB", size.columns(), size.rows(), peak as f64 / 1e6);
    assert!(peak + PROGRAM <= most.get(), "{name}: {peak} bytes");
}

fn attack(size: Size, most: Bytes) {
    for (name, attack) in ATTACKS {
        let mut victim = Victim::new(size);
        attack(&mut victim);
        assert_bounded(size, most, name);
    }
    let mut victim = Victim::new(size);
    for (_, attack) in &ATTACKS {
        victim.begin();
        attack(&mut victim);
    }
    assert_bounded(size, most, "all of them to one client");
}

#[test]
fn a_small_window_keeps_a_client_small() {
    attack(Size::DEFAULT, MEMORY_MAX_80X24);
}

#[test]
fn a_large_window_keeps_a_client_within_its_bound() {
    attack(Size::clamped(500, 200), MEMORY_MAX_500X200);
}
