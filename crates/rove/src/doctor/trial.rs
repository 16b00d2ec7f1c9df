//! Holds a short session with a running server. The session shows whether the server answers, how large datagrams may
//! be, and whether the server follows its client to another local port.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::AsFd;

use rove_platform::event_loop::{EventLoop, Interest};
use rove_session::{Client, ClientConfig, ClientOutcome};
use rove_ssp::{Config, Mechanism, ReceiveError, Transmit};
use rove_terminal::Size;
use rove_udp::{ClientSockets, DualStackSockets, PortRange, Refusal, ServerSocket, send};
use rove_units::{Duration, Instant, Seed};

use crate::bootstrap::address;
use crate::bootstrap::command::{self, Stop};
use crate::client::wire::Wire;
use crate::doctor::facts::{Large, Path};
use crate::doctor::login::Opening;
use crate::entropy;
use crate::terminal_type::{self, RenderOptions};
use crate::tunnel::inherited::JumpCall;
use crate::tunnel::jump::Line;

/// Time for which only the server's first address is tried. Chosen: three seconds contain five tries on any usable
/// path. Linux takes three seconds to report that no computer has the address; half a second is for the report.
const FIRST_ALONE: Duration = Duration::from_millis(3_500);
/// Time for which all addresses are tried after [`FIRST_ALONE`]. Chosen: as long as for the first address, with a
/// margin for a slow path.
const OTHERS_PATIENCE: Duration = Duration::from_secs(5);
/// Longest time of each step after the server's first answer, unless [`STEP_ROUND_TRIPS`] round trips take longer.
/// Chosen: about as long as the first contact.
const STEP_PATIENCE: Duration = Duration::from_secs(4);
const STEP_ROUND_TRIPS: u32 = 16;
/// Longest wait for a datagram that this computer sends to itself. Chosen: ten thousand times the usual time.
const LOOPBACK_PATIENCE: Duration = Duration::from_secs(1);

/// Number of lines that the trial types to make datagrams large, each of `LINE_LEN` characters. Together they fill a
/// datagram even when compressed. No line exceeds what a terminal's line discipline accepts (255 in POSIX).
const LINES: u64 = 16;
const LINE_LEN: u64 = 160;
/// The characters of the lines that make datagrams large. Chosen: with 64, compression removes only a quarter.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Width of the trial session's screen, in columns. All lines of the trial fit on the screen.
const COLUMNS: u16 = 200;
const ROWS: u16 = 50;
const _: () = assert!(LINES * LINE_LEN < 200 * 40);

/// Smallest UDP payload that counts as large, in bytes. Chosen: between 500 and 1200 bytes. A path starts with 1200
/// bytes, and an end falls back to 500 if larger datagrams are lost.
const LARGE_LEN: usize = 1000;

/// Size of a rove server's large datagrams on a path of unknown size, in bytes of UDP payload: docs/wire.md, section 2.
const SERVER_LEN: usize = 1200;

/// Returns whether this computer receives a UDP datagram that it sends to itself, or the error of a socket.
pub(crate) fn loopback(events: &mut EventLoop) -> io::Result<bool> {
    let server =
        ServerSocket::bind(IpAddr::V4(Ipv4Addr::LOCALHOST), PortRange { low: 0, high: 0 })?;
    let client = ClientSockets::open(server.local_addr())?;
    let transmit =
        Transmit { destination: server.local_addr(), payload: vec![0], tries_size: false };
    if send(client.newest(), &transmit).is_err() {
        return Ok(false);
    }
    let deadline = events.now() + LOOPBACK_PATIENCE;
    loop {
        let mut interests = [Interest::new(server.get().as_fd(), true, false)];
        events.wait(&mut interests, Some(deadline))?;
        if interests[0].is_readable() {
            return Ok(true);
        }
        if deadline <= events.now() {
            return Ok(false);
        }
    }
}

/// A trial session with a running server.
pub(crate) struct Trial {
    client: Client,
    wire: Wire,
    /// The results of the trial's datagrams so far.
    pub(crate) path: Path,
    /// The length of the largest datagram sent since this field was last set to 0, in bytes.
    sent_max: usize,
    received_max: usize,
    /// Whether a datagram has arrived at the client's newest local port since that port was opened.
    newest_heard: bool,
}

impl Trial {
    /// Prepares a trial session with this server.
    ///
    /// # Errors
    ///
    /// Returns the system's error if it refuses a socket, or `AddrNotAvailable` if no address of the server is valid.
    pub(crate) fn new(opening: &Opening, events: &EventLoop) -> io::Result<Self> {
        let mut servers =
            opening.addresses.iter().filter_map(|it| address::from_numeric(it, opening.port));
        let (mut refusal, mut found) = (io::ErrorKind::AddrNotAvailable.into(), None);
        while found.is_none()
            && let Some(server) = servers.next()
        {
            match DualStackSockets::open(server) {
                Ok(sockets) => found = Some((server, sockets)),
                Err(error) => refusal = error,
            }
        }
        let Some((server, sockets)) = found else { return Err(refusal) };
        let now = events.now();
        let mut transport = Config {
            capabilities: Some(rove_session::CAPABILITIES),
            // The trial itself measures which sizes pass.
            ..Config::client().without(Mechanism::PathSize)
        };
        transport.path.first_alone = FIRST_ALONE;
        let chaff = entropy::seed().map_err(io::Error::other)?.stream("doctor.chaff");
        let config = ClientConfig {
            size: Size::new(COLUMNS, ROWS).expect("this is a window's size"),
            terminal: terminal_type::plain_capabilities(RenderOptions::default()),
            offers_status: false,
            ..ClientConfig::new(server, opening.key.clone(), transport, chaff)
        };
        let mut client = Client::new(config, now);
        servers.for_each(|other| client.candidates_mut().add(other));
        let path = Path { tried: client.candidates().iter().collect(), ..Path::default() };
        let wire = Wire::sockets(sockets, None);
        Ok(Self { client, wire, path, sent_max: 0, received_max: 0, newest_heard: false })
    }

    /// Holds the trial session. A server that does not answer is left running, to be examined.
    ///
    /// # Errors
    ///
    /// Returns [`Stop`], after telling the server that the client leaves.
    pub(crate) fn run(&mut self, events: &mut EventLoop) -> Result<(), Stop> {
        let result = self.hold(events);
        if result.is_err() {
            self.say_goodbye(events);
        }
        result
    }

    fn hold(&mut self, events: &mut EventLoop) -> Result<(), Stop> {
        let heard = |trial: &Self| trial.path.answered.is_some();
        let mut is_heard = self.turn_until(events, FIRST_ALONE, heard)?;
        // If the only address refuses the port, there is nothing more to wait for.
        let is_refused = self.path.refusal == Some(Refusal::Port) && self.path.tried.len() == 1;
        if !is_heard && !is_refused {
            is_heard = self.turn_until(events, OTHERS_PATIENCE, heard)?;
        }
        if !is_heard {
            return Ok(());
        }
        let patience = self.patience();
        let ready = self.turn_until(events, patience, |trial| trial.shows("READY"))?;
        self.path.round_trip = self.client.srtt();
        if ready {
            self.try_sizes(events)?;
            self.try_rebinding(events)?;
        }
        self.type_line(events, "end");
        let patience = self.patience();
        self.turn_until(events, patience, |trial| trial.client.outcome().is_some())?;
        self.path.forwards = self.client.server_offers_streams();
        if !matches!(self.client.outcome(), Some(ClientOutcome::Ended(_))) {
            self.say_goodbye(events);
        }
        Ok(())
    }

    /// Tries the session through a forwarder on the jump host, after no address of the server has answered. Sets
    /// `path.by_jump_host` if the server answers so.
    ///
    /// # Errors
    ///
    /// Returns [`Stop`] if the system fails or the user interrupts, without telling the server.
    pub(crate) fn run_by_jump(
        &mut self,
        call: &JumpCall,
        first_line: &str,
        events: &mut EventLoop,
    ) -> Result<(), Stop> {
        let (servers, check) = (&self.path.tried, command::check_signals);
        let Some(line) = Line::open(call, first_line, servers, events, check)? else {
            return Ok(());
        };
        self.client.handle_forwarder(events.now(), &line.ends);
        self.wire.wrap_for(line);
        self.turn_until(events, OTHERS_PATIENCE, |trial| {
            trial.path.answered.is_some() || trial.client.uses_forwarder()
        })?;
        self.path.by_jump_host = self.client.uses_forwarder();
        Ok(())
    }

    fn try_sizes(&mut self, events: &mut EventLoop) -> Result<(), Stop> {
        let is_quiet = self.shows("READY QUIET");
        (self.sent_max, self.received_max) = (0, 0);
        for line in 0..LINES {
            self.client.handle_input(events.now(), large_line(line).as_bytes());
        }
        let has_arrived = |trial: &Self| trial.client.pending_input() == 0;
        let patience = self.patience();
        let mut arrived = self.turn_until(events, patience, has_arrived)?;
        let full = self.sent_max;
        self.path.up = match arrived {
            true if full >= LARGE_LEN => Large::Pass(full),
            true => Large::Unknown,
            false => Large::Stuck(Some(full)),
        };
        // If the terminal echoes the input, the server's answers are large, too, so either direction may have failed.
        if !arrived && is_quiet {
            self.client.handle_message_too_long(events.now(), full);
            self.sent_max = 0;
            arrived = self.turn_until(events, patience, has_arrived)?;
            if arrived {
                self.path.up = Large::Only { refused: full, passed: self.sent_max };
            }
        }
        if !arrived {
            return Ok(());
        }
        let before = self.received_max;
        self.type_line(events, "show");
        let shown = self.turn_until(events, patience, |trial| trial.shows("SHOWN"))?;
        self.path.down = match (shown, self.received_max) {
            (true, len) if len >= LARGE_LEN => Large::Pass(len),
            // The output would have filled large datagrams, so the server has switched to smaller ones.
            (true, passed) => Large::Only { refused: SERVER_LEN, passed },
            (false, _) if before > 0 => Large::Stuck(None),
            (false, _) => Large::Unknown,
        };
        Ok(())
    }

    fn try_rebinding(&mut self, events: &mut EventLoop) -> Result<(), Stop> {
        let is_stuck = |large| matches!(large, Large::Stuck(_));
        if is_stuck(self.path.up) || is_stuck(self.path.down) {
            return Ok(());
        }
        self.wire.open_port(self.client.server())?;
        self.newest_heard = false;
        self.type_line(events, "again");
        let follows = |trial: &Self| trial.newest_heard && trial.shows("AGAIN");
        let patience = self.patience();
        self.path.rebinding = Some(self.turn_until(events, patience, follows)?);
        Ok(())
    }

    fn type_line(&mut self, events: &EventLoop, line: &str) {
        self.client.handle_input(events.now(), format!("{line}\r").as_bytes());
    }

    /// Tells the server that the client leaves, and waits at most a second for the acknowledgment.
    pub(crate) fn say_goodbye(&mut self, events: &mut EventLoop) {
        self.client.shutdown(events.now(), "");
        let patience = Duration::from_secs(1);
        // A second interrupt has no effect here.
        let _ = self.turn_until(events, patience, |trial| trial.client.outcome().is_some());
    }

    fn patience(&self) -> Duration {
        let round_trip = self.client.srtt().unwrap_or(Duration::ZERO);
        STEP_PATIENCE.max(round_trip.saturating_mul(STEP_ROUND_TRIPS))
    }

    fn shows(&self, text: &str) -> bool {
        (0..ROWS).any(|row| self.client.screen().row_text(row).contains(text))
    }

    /// Runs the session until `done` holds, the session ends or `patience` is over. Returns whether `done` holds.
    fn turn_until(
        &mut self,
        events: &mut EventLoop,
        patience: Duration,
        done: impl Fn(&Self) -> bool,
    ) -> Result<bool, Stop> {
        let deadline = events.now() + patience;
        loop {
            let now = events.now();
            self.client.handle_timeout(now);
            let Self { client, wire, path, sent_max, .. } = self;
            let refusal = wire.send(now, client, |len| {
                path.sent += 1;
                *sent_max = len.max(*sent_max);
            });
            self.note_refusal(refusal);
            // The trial ignores the session's requests, because it opens ports by itself and has no terminal.
            while self.client.poll_event().is_some() {}
            if done(self) {
                return Ok(true);
            }
            if deadline <= now || self.client.outcome().is_some() {
                return Ok(false);
            }
            let due = self.client.poll_timeout().map_or(deadline, |due| due.min(deadline));
            self.wait_and_read(events, due)?;
        }
    }

    fn wait_and_read(&mut self, events: &mut EventLoop, deadline: Instant) -> Result<(), Stop> {
        let mut interests = self.wire.interests();
        events.wait(&mut interests, Some(deadline))?;
        let waiting: Vec<bool> = interests.iter().map(Interest::is_readable).collect();
        command::check_signals(events)?;
        let newest = self.wire.local_port(self.client.server());
        let Self { client, wire, path, received_max, newest_heard, .. } = self;
        let mut is_heard = false;
        let refusal = wire.receive(events.now(), &waiting, client, |socket, len, result| {
            is_heard |= result.is_ok();
            match result {
                Ok(()) => {
                    *received_max = len.max(*received_max);
                    let port = socket.local_addr().ok().map(|local| local.port());
                    *newest_heard |= port == newest;
                }
                Err(error) => path.foreign += usize::from(error == ReceiveError::Forged),
            }
        });
        if is_heard && path.answered.is_none() {
            path.answered = path.tried.iter().position(|tried| *tried == client.server());
        }
        self.note_refusal(refusal);
        Ok(())
    }

    /// Records an error about the first address, until it answers. Ignores errors of other addresses (guesses).
    fn note_refusal(&mut self, refusal: Option<Refusal>) {
        if self.path.answered.is_none() && !self.client.candidates().is_probing() {
            self.path.refusal = refusal.or(self.path.refusal.take());
        }
    }
}

fn large_line(line: u64) -> String {
    let letters = Seed::new(line).stream("doctor.text");
    let letter = |place| {
        let index = usize::try_from(letters.at(place).below(64)).expect("less than 64");
        char::from(LETTERS[index])
    };
    (0..LINE_LEN).map(letter).chain(['\r']).collect()
}
