//! An example: each of two users writes a note and reads the other user's note, over UDP.
//!
//! ```text
//! cargo run -p rove-ssp --example note -- listen 127.0.0.1:0
//! cargo run -p rove-ssp --example note -- join 127.0.0.1:PORT KEY
//! ```
//!
//! Typed lines are appended to this end's note. The end of input ends the session. The example shows all that a program
//! needs: an [`Object`], and a loop that feeds a [`Transport`] and sends its datagrams.
#![allow(missing_docs, reason = "an example, not an interface")]

use std::io::{BufRead, ErrorKind, Read};
use std::net::{SocketAddr, UdpSocket};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use rove_ssp::wire::DATAGRAM_LEN_MAX;
use rove_ssp::{
    ApplyError, Capabilities, Config, Ecn, Event, Key, Object, Role, Transmit, Transport,
};
use rove_units::{Bytes, Duration, Instant, Seed};

/// Longest note that this end accepts from the peer, so that a peer cannot fill this end's memory.
const NOTE_LEN_MAX: usize = 1 << 20;

/// Longest wait for a datagram before the program checks the keyboard.
const KEYBOARD_WAIT: Duration = Duration::from_millis(50);

/// A text that one end writes and the other end receives.
#[derive(Clone, Debug, Default)]
struct Note(String);

impl Object for Note {
    /// Returns a byte and a text: `+` and the appended text, or `=` and the whole text.
    fn diff_from(&self, base: &Self, _peer: Capabilities) -> Vec<u8> {
        match self.0.strip_prefix(base.0.as_str()) {
            Some("") => Vec::new(),
            Some(more) => format!("+{more}").into_bytes(),
            None => format!("={}", self.0).into_bytes(),
        }
    }

    fn apply(&mut self, diff: &[u8]) -> Result<(), ApplyError> {
        let refuse = |reason: &str| ApplyError { reason: reason.to_owned() };
        let diff = std::str::from_utf8(diff).map_err(|_| refuse("it is not UTF-8"))?;
        match diff.split_at_checked(1) {
            Some(("+", more)) => self.0.push_str(more),
            Some(("=", whole)) => self.0 = whole.to_owned(),
            _ => return Err(refuse("it starts with neither + nor =")),
        }
        if self.0.len() > NOTE_LEN_MAX { Err(refuse("the note is too long")) } else { Ok(()) }
    }

    fn same_as(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn bytes_beyond(&self, _neighbour: Option<&Self>) -> Bytes {
        Bytes::from(self.0.len())
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["listen"] => listen("127.0.0.1:0"),
        ["listen", address] => listen(address),
        ["join", address, key] => join(address, key),
        _ => Err("usage: note listen [ADDRESS:PORT] | note join ADDRESS:PORT KEY".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("note: {error}");
            ExitCode::FAILURE
        }
    }
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn listen(address: &str) -> Outcome {
    let socket = UdpSocket::bind(address)?;
    let key = Key::from_bytes(random()?);
    let local = socket.local_addr()?;
    println!("join with: cargo run -p rove-ssp --example note -- join {local} {}", *key.to_text());
    run(socket, Role::Server { ipv6: local.is_ipv6() }, &key, Config::server())
}

fn join(address: &str, key: &str) -> Outcome {
    let server: SocketAddr = address.parse()?;
    let key = Key::from_text(key)?;
    run(open_port(server)?, Role::Client { server }, &key, Config::client())
}

/// Runs one end in a loop: publishes typed lines, sends due datagrams, shows events, and waits for a datagram.
fn run(mut socket: UdpSocket, role: Role, key: &Key, config: Config) -> Outcome {
    let clock = Clock::start();
    let chaff = Seed::new(u64::from_ne_bytes(random()?)).stream("chaff");
    let mut transport =
        Transport::new(role, key, config, Note::default(), Note::default(), chaff, clock.now());
    let typed = keyboard();
    let mut shown = 0;
    let mut buffer = [0; DATAGRAM_LEN_MAX + 1];
    loop {
        let now = clock.now();
        match typed.try_recv() {
            Ok(line) => transport.publish(Note(format!("{}{line}\n", transport.local().0))),
            Err(TryRecvError::Disconnected) => transport.start_shutdown(now),
            Err(TryRecvError::Empty) => {}
        }
        transport.handle_timeout(now);
        while let Some(Transmit { destination, payload, .. }) = transport.poll_transmit(now) {
            // A datagram that cannot be sent counts as lost, so the protocol sends its contents again.
            let _ = socket.send_to(&payload, destination);
        }
        while let Some(event) = transport.poll_event() {
            match event {
                Event::OpenPort => socket = open_port(socket.local_addr()?)?,
                Event::ClosePorts { .. } => {} // Only the newest is open here.
                Event::PeerMoved(address) => eprintln!("[{address} is here]"),
                Event::PeerLost => eprintln!("[nobody is here]"),
            }
        }
        if let Some(closed) = transport.closed() {
            eprintln!("[session ended: {closed:?}]");
            return Ok(());
        }

        let wait = transport.poll_timeout().map_or(KEYBOARD_WAIT, |at| at.saturating_since(now));
        socket.set_read_timeout(Some(wait.clamp(Duration::from_millis(1), KEYBOARD_WAIT)))?;
        match socket.recv_from(&mut buffer) {
            Ok((len, source)) => {
                let datagram = &buffer[..len];
                if let Err(error) =
                    transport.handle_datagram(clock.now(), source, Ecn::NotCapable, datagram)
                {
                    eprintln!("[{error}]");
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => eprintln!("[{error}]"),
        }
        let text = &transport.remote().0;
        print!("{}", text.get(shown..).unwrap_or(text));
        shown = text.len();
    }
}

/// Opens a UDP socket on a free port, for the address family (IPv4 or IPv6) of `like`.
fn open_port(like: SocketAddr) -> std::io::Result<UdpSocket> {
    UdpSocket::bind(if like.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" })
}

/// Reads lines in a separate thread, because std cannot wait for a socket and a keyboard at the same time.
fn keyboard() -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Draws random bytes from the operating system.
fn random<const LEN: usize>() -> std::io::Result<[u8; LEN]> {
    let mut bytes = [0; LEN];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Reads the system's clock. All other code of this example gets the time as an argument.
struct Clock(std::time::Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "a program has a clock; the library has none")]
    fn start() -> Self {
        Self(std::time::Instant::now())
    }

    fn now(&self) -> Instant {
        Instant::ZERO + self.0.elapsed()
    }
}
