//! A server with the session's key that keeps its client busy. The client still obeys its user and signals.

#[path = "../../../session/tests/common/forger.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the tests of a session use more of it, from several files"
)]
mod forger;

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rove_ssp::wire::Instruction;
use rove_ssp::{Direction, Key, StateNum};
use rustix::process::Signal;

use crate::support::{Exit, HANG_GUARD, Maker, Terminal};
use forger::{Forger, member};

/// Rows and columns of the largest window for which rove guarantees response times.
const LARGE: (u16, u16) = (200, 500);

/// Escape sequences that change as many cells as possible for their length.
const HEAVY: [&str; 4] = ["\x1b[ A\x1b[65$x\x1b['}", "\x1b[1;1;200;500;2;1$v", "\x1bc", "e\u{301}"];

/// Bytes of one state. Chosen: near the most that a client decompresses. Without a bound on the client's turns, it
/// would work for seconds on one datagram.
const STATE_BYTES: usize = 4_000_000;

/// The key of all sessions in this file.
fn key() -> Key {
    Key::from_bytes(*b"sixteen bytes...")
}

/// A server that sends heavy states to its client, from the client's first datagram until this value is dropped.
struct HostileServer {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl HostileServer {
    fn start() -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        socket.set_read_timeout(Some(HANG_GUARD)).expect("a socket has a limit for waiting");
        let address = socket.local_addr().expect("a bound socket has an address");
        let is_over = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || flood(&socket, &flag));
        Self { address, is_over, thread: Some(thread) }
    }
}

impl Drop for HostileServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn flood(socket: &UdpSocket, is_over: &AtomicBool) {
    let (_, client) = socket.recv_from(&mut [0; 2048]).expect("the client says hello");
    let mut forger = Forger::new(Direction::ToClient);
    let mut send = |base: u64, num: u64, diff: &[u8]| {
        for datagram in forger.datagrams(&instruction(base, num, diff)) {
            // Sending fails after the client's end and while a buffer is full. The flood continues in both cases.
            let _ = socket.send_to(&datagram, client);
        }
    };
    send(0, 1, &host_bytes(b"ready"));
    let states =
        HEAVY.map(|sequence| host_bytes(sequence.repeat(STATE_BYTES / sequence.len()).as_bytes()));
    for (num, diff) in (2..).zip(states.iter().cycle()) {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        send(num - 1, num, diff);
        // Sends the same diff again, based on the first state, which the client always keeps.
        send(1, num + 1_000_000, diff);
    }
}

fn instruction(base: u64, num: u64, diff: &[u8]) -> Instruction {
    let [old_num, new_num] = [base, num].map(StateNum::new);
    Instruction { old_num, new_num, diff: diff.to_vec(), ..Instruction::default() }
}

fn host_bytes(bytes: &[u8]) -> Vec<u8> {
    member(1, &member(2, &member(4, bytes)))
}

/// Starts a client of the hostile server and lets `act` end the client during the flood.
fn ended_by(act: impl FnOnce(&Terminal)) -> Exit {
    let server = HostileServer::start();
    let mut terminal =
        Terminal::start(&Maker::Rove.client(server.address, &key().to_text()), LARGE);
    terminal.wait_for_text("ready");
    act(&terminal);
    terminal.wait_exit()
}

#[test]
fn the_escape_key_is_obeyed_while_a_server_sends_nothing_but_work() {
    ended_by(|terminal| terminal.send("\x1e.")).assert_restored(Maker::Rove);
}

#[test]
fn a_signal_is_obeyed_while_a_server_sends_nothing_but_work() {
    for signal in [Signal::TERM, Signal::HUP] {
        ended_by(|terminal| terminal.signal(signal)).assert_restored(Maker::Rove);
    }
}
