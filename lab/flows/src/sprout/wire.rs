//! Sprout in real time: moves datagrams between sockets and a session.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use anyhow::{Context, Result, ensure};
use rove_congestion::sprout::tunnel::FLOWS_MAX;
use rove_link::net::End;
use rove_platform::clock::Clock;
use rove_ssp::Key;
use rove_ssp::wire::DATAGRAM_LEN_MAX;
use rove_units::{Duration, Instant};
use serde::Serialize;

use crate::pump::{BATCH, SIGNALS, alone, any, bound, own_address, pump};
use crate::sprout::bulk::Bulk;
use crate::sprout::session::{Session, Traffic};
use crate::sprout::tunnel::Tunnel;

/// How long the peer of a server with `once` may be silent until the server stops. Chosen: a hundred heartbeats.
const DONE_AFTER: Duration = Duration::from_secs(5);

/// The job of an end.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Sends endless data for some time.
    Send {
        /// The address of the other end.
        peer: SocketAddr,
        /// How long to send.
        length: Duration,
    },
    /// Receives until a signal comes. With `once`, this end also stops when its first peer has gone.
    Serve {
        /// The local address to receive at.
        listen: SocketAddr,
        /// Whether the end stops after its first peer was silent for 5 s.
        once: bool,
    },
    /// Carries packets of local programs, sent to `listen`, through a tunnel to the peer, until a signal comes.
    Enter {
        /// The address of the other end.
        peer: SocketAddr,
        /// The local address that programs send to.
        listen: SocketAddr,
    },
    /// Carries packets out of a tunnel to `target`, and the answers back, until a signal comes.
    Leave {
        /// The local address to receive at.
        listen: SocketAddr,
        /// The address that packets out of the tunnel are sent to.
        target: SocketAddr,
    },
}

/// A side of a tunnel: the sockets between it and the programs that use it.
trait Side {
    /// Returns the descriptors that may have something to read.
    fn descriptors(&self) -> Vec<BorrowedFd<'_>>;

    /// Moves waiting packets between these sockets and the session.
    fn exchange(&mut self, session: &mut Session<Tunnel>);
}

struct Mouth<S> {
    session: Session<Tunnel>,
    side: S,
}

impl<S: Side> End for Mouth<S> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        self.session.handle_datagram(now, source, payload);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.side.exchange(&mut self.session);
        self.session.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        self.session.poll_transmit(now)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.session.poll_timeout()
    }
}

/// The side of a tunnel that local programs send to. Each program's address is a flow.
struct Entrance {
    socket: UdpSocket,
    flows: BTreeMap<SocketAddr, u16>,
}

impl Side for Entrance {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.socket.as_fd()]
    }

    fn exchange(&mut self, session: &mut Session<Tunnel>) {
        let mut buffer = [0; DATAGRAM_LEN_MAX];
        for _ in 0..BATCH {
            let Ok((len, source)) = self.socket.recv_from(&mut buffer) else { break };
            let next = u16::try_from(self.flows.len()).unwrap_or(u16::MAX);
            if self.flows.len() >= FLOWS_MAX && !self.flows.contains_key(&source) {
                continue;
            }
            let flow = *self.flows.entry(source).or_insert(next);
            push(session, flow, &buffer[..len]);
        }
        while let Some((flow, packet)) = session.application.pop() {
            let program = self.flows.iter().find(|(_, number)| **number == flow);
            // A packet to a program that has ended may be lost.
            if let Some((program, _)) = program {
                let _ = self.socket.send_to(&packet, program);
            }
        }
    }
}

/// The side of a tunnel that sends its packets on. Each flow has a socket of its own.
struct Exit {
    target: SocketAddr,
    sockets: BTreeMap<u16, UdpSocket>,
}

impl Side for Exit {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.sockets.values().map(AsFd::as_fd).collect()
    }

    fn exchange(&mut self, session: &mut Session<Tunnel>) {
        while let Some((flow, packet)) = session.application.pop() {
            if self.sockets.len() >= FLOWS_MAX && !self.sockets.contains_key(&flow) {
                continue;
            }
            if !self.sockets.contains_key(&flow)
                && let Ok(socket) = connected(self.target)
            {
                self.sockets.insert(flow, socket);
            }
            if let Some(socket) = self.sockets.get(&flow) {
                let _ = socket.send(&packet);
            }
        }
        let mut buffer = [0; DATAGRAM_LEN_MAX];
        for (flow, socket) in &self.sockets {
            for _ in 0..BATCH {
                let Ok(len) = socket.recv(&mut buffer) else { break };
                push(session, *flow, &buffer[..len]);
            }
        }
    }
}

/// Puts a packet into the tunnel. Packets that do not fit into a datagram are dropped, as by a link with a smaller MTU.
fn push(session: &mut Session<Tunnel>, flow: u16, packet: &[u8]) {
    let deliverable = session.deliverable();
    if session.payload_max().get() >= u64::try_from(packet.len()).unwrap_or(u64::MAX) + 2 {
        session.application.push(flow, packet.to_vec(), deliverable);
    }
}

/// Does a task, and writes its figures. [`Task::Send`] and [`Task::Enter`] number their datagrams from `first` on.
/// `ready` gets the address at which a server, or a tunnel's end, listens.
///
/// # Errors
///
/// Returns an error if a socket cannot be opened, the figures cannot be written, or nothing came from the peer.
pub fn run(
    task: Task,
    key: &Key,
    first: u64,
    json: bool,
    ready: impl FnOnce(SocketAddr) -> Result<()>,
    mut output: impl Write,
) -> Result<()> {
    let clock = Clock::start();
    let now = clock.now();
    let traffic = match task {
        Task::Send { peer, length } => {
            let mut session = Session::near(key, peer, Bulk::sending(), now).numbered_from(first);
            let (socket, end) = (bound(any(peer))?, Instant::ZERO + length);
            pump(&mut session, &socket, clock, end, &SIGNALS, alone, |_, _| Ok(false))?;
            session.traffic
        }
        Task::Serve { listen, once } => {
            let mut session = Session::far(key, Bulk::receiving(), now);
            let is_over = |session: &Session<Bulk>, now: Instant| {
                let last = session.traffic.last.filter(|_| once);
                Ok(last.is_some_and(|last| now.saturating_since(last) >= DONE_AFTER))
            };
            let socket = bound(listen)?;
            ready(own_address(&socket)?)?;
            let end = Instant::FAR_FUTURE;
            pump(&mut session, &socket, clock, end, &SIGNALS, alone, is_over)?;
            session.traffic
        }
        Task::Enter { peer, listen } => {
            let session = Session::near(key, peer, Tunnel::default(), now).numbered_from(first);
            let side = Entrance { socket: bound(listen)?, flows: BTreeMap::new() };
            ready(own_address(&side.socket)?)?;
            carry(Mouth { session, side }, &bound(any(peer))?, clock)?
        }
        Task::Leave { listen, target } => {
            let session = Session::far(key, Tunnel::default(), now);
            let side = Exit { target, sockets: BTreeMap::new() };
            let socket = bound(listen)?;
            ready(own_address(&socket)?)?;
            carry(Mouth { session, side }, &socket, clock)?
        }
    };
    let text = report(&traffic, json);
    output.write_all(text.as_bytes()).context("cannot write standard output")?;
    if let Task::Send { peer, .. } | Task::Enter { peer, .. } = task {
        let is_answered = traffic.received > 0;
        ensure!(
            is_answered,
            "nothing came from {peer}: `serve` must run there, and its key be new to `send`"
        );
    }
    Ok(())
}

/// Carries the packets of a tunnel until a signal comes, or until this end gives up a peer that never answered.
fn carry<S: Side>(mut mouth: Mouth<S>, socket: &UdpSocket, clock: Clock) -> Result<Traffic> {
    let end = Instant::FAR_FUTURE;
    let is_over = |mouth: &Mouth<S>, now| Ok(mouth.session.is_given_up(now));
    pump(&mut mouth, socket, clock, end, &SIGNALS, |mouth| mouth.side.descriptors(), is_over)?;
    Ok(mouth.session.traffic)
}

#[derive(Serialize)]
struct Row {
    kbit_per_second: f64,
    queueing_ms: Queueing,
    received: u64,
    received_bytes: u64,
    refused: u64,
    rtt_ms: Option<u128>,
    seconds: f64,
    sent: u64,
}

/// Percentiles of the queueing delay in ms: a datagram's transit time less that of the fastest one.
#[derive(Serialize)]
struct Queueing {
    median: Option<u16>,
    p95: Option<u16>,
}

fn report(traffic: &Traffic, json: bool) -> String {
    let span = traffic.first.zip(traffic.last);
    let seconds = span.map_or(0.0, |(first, last)| last.saturating_since(first).as_secs_f64());
    let bits = Duration::from_nanos(traffic.received_bytes).as_secs_f64() * 8e9;
    let row = Row {
        kbit_per_second: if seconds > 0.0 { bits / seconds / 1e3 } else { 0.0 },
        queueing_ms: Queueing { median: traffic.queueing_at(50), p95: traffic.queueing_at(95) },
        received: traffic.received,
        received_bytes: traffic.received_bytes,
        refused: traffic.refused,
        rtt_ms: traffic.rtt.map(|rtt| rtt.as_millis()),
        seconds,
        sent: traffic.sent,
    };
    if json {
        return serde_json::to_string(&row).expect("a row is JSON") + "\n";
    }
    let queueing = match row.queueing_ms {
        Queueing { median: Some(median), p95: Some(high) } => {
            format!("; queueing {median} ms in the median, {high} ms at 95 %")
        }
        Queueing { .. } => String::new(),
    };
    let rtt = row.rtt_ms.map_or_else(String::new, |rtt| format!("; last round trip {rtt} ms"));
    format!(
        "sent {} datagrams; received {}, together {} bytes, in {seconds:.1} s, {:.0} kbit/s; refused {}{rtt}{queueing}\n",
        row.sent, row.received, row.received_bytes, row.kbit_per_second, row.refused
    )
}

fn connected(target: SocketAddr) -> Result<UdpSocket> {
    let socket = bound(any(target))?;
    socket.connect(target).with_context(|| format!("cannot send to {target}"))?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use serde_json::Value;

    use super::*;

    fn key() -> Key {
        Key::from_bytes([9; 16])
    }

    #[test]
    fn bulk_data_goes_from_one_end_to_the_other_in_real_time() {
        let (told, server_at) = mpsc::channel();
        let server = thread::spawn(move || {
            let task = Task::Serve { listen: ([127, 0, 0, 1], 0).into(), once: true };
            let mut output = Vec::new();
            let ready = |address| told.send(address).context("the test waits");
            run(task, &key(), 7, true, ready, &mut output).map(|()| output)
        });
        let peer = server_at.recv_timeout(Duration::from_secs(60)).expect("the server is ready");
        let task = Task::Send { peer, length: Duration::from_secs(8) };
        let mut output = Vec::new();
        run(task, &key(), 7, true, |_| Ok(()), &mut output).expect("sent");
        let sent: Value = serde_json::from_slice(&output).expect("JSON");
        let received = server.join().expect("no panic").expect("received");
        let received: Value = serde_json::from_slice(&received).expect("JSON");
        assert!(received["received"].as_u64() > Some(20), "{received}");
        assert!(sent["received"].as_u64() > Some(10) && sent["rtt_ms"].is_u64(), "{sent}");
        assert_eq!(received["refused"].as_u64(), Some(0));
    }

    #[test]
    fn an_address_that_is_not_ours_is_refused_in_a_sentence() {
        let listen = "192.0.2.1:1".parse().expect("an address");
        let task = Task::Serve { listen, once: true };
        let error = run(task, &key(), 7, false, |_| Ok(()), Vec::new()).expect_err("not ours");
        assert!(error.to_string().contains("cannot have the UDP address 192.0.2.1:1"), "{error}");
    }
}
