//! A client soon looks at keys again, whatever a server sends. A state that needs much work for a good reason still
//! arrives. The tests count work in cells of the screen ([`Client::effort`]), never in time.
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

use rove_link::LinkConfig;
use rove_link::net::RIGHT_ADDRESS;
use rove_session::{Client, ClientConfig, Server, ServerConfig};
use rove_ssp::wire::Instruction;
use rove_ssp::{Config, Direction, Ecn, ReceiveError, StateNum};
use rove_terminal::{Cell, Color, Screen, Size, Terminal};
use rove_units::{Duration, Instant};

use crate::common::forger::{Forger, host_bytes, member, varint};
use crate::common::*;

/// Maximum work by which a turn's last sequence exceeds the turn's bound, in cells. Chosen: a copy of all cells of the
/// largest window here, with their marks and decorations.
const SEQUENCE_MAX: u64 = 16_000_000;

/// The largest window for which rove promises limits of memory and work.
const LARGE: (u16, u16) = (500, 200);

/// A client with a large window, and a hostile server.
struct Victim {
    forger: Forger,
    client: Client,
    now: Instant,
    num: u64,
}

impl Victim {
    fn new() -> Self {
        let size = size(LARGE.0, LARGE.1);
        let config = ClientConfig { size, ..client_config(rove(Config::client())) };
        let client = Client::new(config, Instant::ZERO);
        let mut victim =
            Self { forger: Forger::new(Direction::ToClient), client, now: Instant::ZERO, num: 0 };
        assert_eq!(victim.state(host_bytes(b"$ ")), Ok(()));
        victim.num = 1;
        victim
    }

    /// Sends the newest state, changed by this diff, and returns the result of its last datagram.
    fn state(&mut self, diff: Vec<u8>) -> Result<(), ReceiveError> {
        let [old_num, new_num] = [self.num, self.num + 1].map(StateNum::new);
        let instruction = Instruction { old_num, new_num, diff, ..Instruction::default() };
        let mut result = Ok(());
        for datagram in self.forger.datagrams(&instruction) {
            result = self.client.handle_datagram(self.now, RIGHT_ADDRESS, Ecn::Capable, &datagram);
        }
        result
    }

    /// Lets the client do the remaining work. Returns the maximum work in one turn, and how many turns there were.
    fn work(&mut self) -> (u64, usize) {
        let (mut most, mut turns) = (0, 0);
        while self.client.has_work() {
            assert_eq!(self.client.poll_timeout(), Some(Instant::ZERO), "work is due at once");
            let before = self.client.effort();
            self.now += Duration::from_millis(1);
            self.client.handle_timeout(self.now);
            most = most.max(self.client.effort() - before);
            turns += 1;
        }
        (most, turns)
    }
}

/// Returns diffs of 4 MB, each of a sequence that touches as many cells as possible.
fn heavy() -> Vec<Vec<u8>> {
    let sequences = [
        "\x1b[ A\x1b[65$x\x1b['}",
        "\x1b[1;1;200;500;2;1$v",
        "\x1b[65$x\x1b[$z",
        "\x1bc",
        "\x1b#8\x1b[H\x1b[L\x1b[M",
        "\x1b[3g\r\t",
        "\x1b[H\x1b[@",
        "e\u{301}",
    ];
    sequences
        .map(|sequence| host_bytes(sequence.repeat(4_000_000 / sequence.len()).as_bytes()))
        .to_vec()
}

#[test]
fn no_state_keeps_a_client_from_its_user_for_more_than_a_turn() {
    let turn = Config::client().work_per_turn;
    for diff in heavy() {
        let mut victim = Victim::new();
        let before = victim.client.effort();
        let result = victim.state(diff.clone());
        // The first turn also bears the cost of reading 4 MiB.
        let first = victim.client.effort() - before;
        assert!(first <= 5 * 4_200_000, "{first}");
        let (most, turns) = victim.work();
        assert!(most <= turn + SEQUENCE_MAX, "{most}");
        assert!(result.is_err() || turns > 0, "it is more than one turn");
        assert!(turns <= 1 + 160_000_000 / 4_000_000, "{turns}");
    }
}

#[test]
fn the_escape_key_is_obeyed_in_the_midst_of_a_heavy_state() {
    for diff in heavy() {
        let mut victim = Victim::new();
        assert_eq!(victim.state(diff), Ok(()));
        assert!(victim.client.has_work());
        let before = victim.client.effort();
        victim.client.handle_input(victim.now, b"\x1e.");
        assert!(!victim.client.wants_input(), "the session is ending");
        assert_eq!(victim.client.effort(), before, "nothing was waited for");
    }
}

#[test]
fn a_refused_state_is_not_applied_again() {
    let turn = Config::client().work_per_turn;
    let mut victim = Victim::new();
    let diff = heavy().remove(0);
    assert_eq!(victim.state(diff.clone()), Ok(()));
    victim.work();
    for _ in 0..5 {
        let before = victim.client.effort();
        assert_eq!(
            victim.state(diff.clone()),
            Err(ReceiveError::RefusedBefore { new_num: StateNum::new(2) })
        );
        let effort = victim.client.effort() - before;
        assert!(effort < 5 * 4_200_000 && !victim.client.has_work(), "{effort} and {turn}");
    }
    assert_eq!(victim.state(host_bytes(b"behind")), Ok(()));
    assert_eq!(victim.client.screen().row_text(0), "$ behind");
}

#[test]
fn a_replica_is_as_large_as_the_window_was_until_the_server_has_followed() {
    let resize = |columns: u32, rows: u32| {
        member(1, &member(3, &[varint(5, columns), varint(6, rows)].concat()))
    };
    let mut victim = Victim::new();
    assert!(victim.state(resize(501, 200)).is_err());
    assert!(victim.state(resize(500, 201)).is_err());
    victim.client.handle_resize(victim.now, size(100, 300));
    // The client has had a window of 500x200 and one of 100x300, but none with 500 columns and 300 rows.
    assert!(victim.state(resize(500, 300)).is_err());
    assert_eq!(victim.state(resize(100, 300)), Ok(()));
    victim.num += 1;
    assert_eq!(victim.state(resize(500, 200)), Ok(()));
}

#[test]
fn no_output_keeps_a_server_from_its_user_for_more_than_a_turn() {
    // REP in insert mode prints as many characters as the screen has cells, and each moves the rest of its row.
    const SEQUENCE_MAX: u64 = 60_000_000;
    const TURN: u64 = 12_000_000;
    for (before, sequence) in [
        ("\x1b[4h\u{4e00}", "\x1b[65535b"),
        ("\x1b[4h\x1b]8;;http:x\x07\u{4e00}", "\x1b[9999b"),
        ("\x1b[65$x", "\x1b[ A"),
        ("e\u{301}\x1b[65$x", "\x1b[$v"),
        ("", "y\r\n"),
    ] {
        let size = size(LARGE.0, LARGE.1);
        let config = ServerConfig { size, ..server_config(rove(Config::server())) };
        let mut server = Server::new(config, Instant::ZERO);
        let mut mirror = Terminal::host(size);
        let mut whole = mirror.clone();
        let bytes = [before.as_bytes(), &sequence.as_bytes().repeat(20)].concat();
        whole.write(&bytes);
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let handled = server.handle_host_output_within(Instant::ZERO, rest, TURN);
            assert!(handled > 0, "{sequence:?} is handled");
            let effort = mirror.effort();
            mirror.write(&rest[..handled]);
            let effort = mirror.effort() - effort;
            assert!(effort <= TURN + SEQUENCE_MAX, "{sequence:?} costs {effort}");
            rest = &rest[handled..];
        }
        assert!(server.screen() == whole.screen(), "{sequence:?} is the same in pieces");
    }
}

/// Returns two ends with a large window.
fn large(client: Config, server: Config) -> Pair {
    let mut pair = pair_with(&LinkConfig::lossless(ms(20)), client, server);
    pair.run_for(secs(1));
    resize(&mut pair, size(LARGE.0, LARGE.1));
    assert!(pair.run_until(secs(10), same_cells));
    pair
}

/// Returns whether both ends have the same cells. Row continuations may differ: no diff can always state them.
fn same_cells(client: &ClientEnd, server: &ServerEnd) -> bool {
    let (ours, theirs) = (client.client.screen(), server.server.screen());
    ours.size() == theirs.size()
        && (0..ours.size().rows()).all(|row| {
            let cells = |screen: &Screen| -> Vec<Cell> {
                let cells = screen.row(row).expect("a row of the screen").cells();
                cells.iter().copied().map(as_stock_has_it).collect()
            };
            cells(ours) == cells(theirs) && ours.row_text(row) == theirs.row_text(row)
        })
}

/// Returns a cell with its colours by number, where it may have them by name.
fn as_stock_has_it(mut cell: Cell) -> Cell {
    for color in [&mut cell.pen.foreground, &mut cell.pen.background] {
        *color = color.palette_index().map_or(*color, Color::Indexed);
    }
    cell
}

fn resize(pair: &mut Pair, to: Size) {
    let now = pair.now();
    pair.left.client.handle_resize(now, to);
    pair.left.terminal.resize(to);
}

#[test]
fn a_state_that_is_much_work_for_good_reason_arrives() {
    let cells = usize::from(LARGE.0) * usize::from(LARGE.1);
    let page = |cell: &dyn Fn(usize) -> String| -> Vec<u8> {
        let text: String = (0..cells).map(cell).collect();
        format!("\x1b[H{text}").into_bytes()
    };
    let pages = [
        page(&|n| format!("\x1b[38;2;{};{};9;48;2;{};7;{}mx", n % 251, n % 241, n % 239, n % 233)),
        page(&|n| {
            if n % 2 == 0 { format!("\x1b[48;5;{}m\u{1f600}", n % 256) } else { String::new() }
        }),
        page(&|n| format!("{}\u{301}\u{302}", char::from(b'a' + u8::try_from(n % 26).unwrap()))),
        page(&|n| format!("\x1b[4;58:5:{}mx", n % 256)),
        [b"\x1b[m\x1b[H\x1b[2J".to_vec(), b"y\r\n".repeat(100_000)].concat(),
    ];
    for (client, server) in [
        (rove(Config::client()), rove(Config::server())),
        (stock(Config::client()), stock(Config::server())),
    ] {
        let mut pair = large(client, server);
        for (number, page) in pages.iter().enumerate() {
            print(&mut pair, page);
            assert!(pair.run_until(secs(60), same_cells), "page {number}");
        }
        // The user drags the edge of the window to and fro, while a program writes.
        for step in 0..80_u16 {
            resize(&mut pair, size(500 - 5 * (step % 60), 200 - 2 * (step % 60)));
            print(&mut pair, format!("step {step}\r\n").as_bytes());
            pair.run_for(ms(7));
        }
        assert!(pair.run_until(secs(60), same_cells), "after a storm of resizes");
        resize(&mut pair, size(LARGE.0, LARGE.1));
        print(&mut pair, &pages[0]);
        assert!(pair.run_until(secs(60), same_cells), "as large as before");
    }
}
