//! The client's loop: gives keys and datagrams to the session's state machine, and writes its frames and datagrams.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use rove_platform::event_loop::{EventLoop, Interest};
use rove_platform::tty::Tty;
use rove_session::{Client, ClientEvent, ClientOutcome, Turn};
use rove_ssp::Transmit;
use rove_udp::{DualStackSockets, Inbox, Received, Refusal, SendFailure, send};
use rove_units::Instant;

/// The notice after a key command that needs a feature that rove lacks on Windows.
const NOT_HERE: &str = "rove cannot do this on Windows.";

/// The byte that the key Ctrl-C types.
const CTRL_C: &[u8] = b"\x03";

/// The outcome of a session.
pub(crate) struct End {
    pub(crate) outcome: ClientOutcome,
    /// Why drawing on the console failed. `None` if it has not failed.
    pub(crate) output_error: Option<String>,
}

/// The loop of a session, with the sockets and the console between which it moves bytes.
pub(crate) struct Pump {
    events: EventLoop,
    session: Client,
    sockets: DualStackSockets,
    inbox: Inbox,
    terminal: Tty,
    output_error: Option<String>,
    keys: Vec<u8>,
}

impl Pump {
    pub(crate) fn new(
        events: EventLoop,
        session: Client,
        sockets: DualStackSockets,
        terminal: Tty,
    ) -> Self {
        let (inbox, output_error, keys) = (Inbox::default(), None, Vec::new());
        Self { events, session, sockets, inbox, terminal, output_error, keys }
    }

    /// Runs the loop until the session is over, and then restores the console's former state.
    ///
    /// # Errors
    ///
    /// Returns the error if the system cannot wait for the sockets and the console.
    pub(crate) fn run(mut self) -> io::Result<End> {
        let mut now = self.events.now();
        self.name_port();
        let outcome = loop {
            self.session.handle_timeout(now);
            self.send_datagrams(now);
            self.obey_events(now);
            self.draw(now);
            if let Some(outcome) = self.session.outcome() {
                break outcome;
            }
            now = self.wait_and_read(now)?;
        };
        self.terminal.leave(&self.session.close_terminal());
        Ok(End { outcome, output_error: self.output_error })
    }

    /// Waits for the next event, unless the session has work left. Then gives the session the keys, and after them the
    /// datagrams. Returns the time after the wait.
    fn wait_and_read(&mut self, now: Instant) -> io::Result<Instant> {
        let deadline = self.session.poll_timeout();
        let mut interests: Vec<Interest<'_>> =
            self.sockets.iter().map(Interest::datagrams).collect();
        if self.session.wants_input() {
            interests.push(Interest::keys(&self.terminal));
        }
        let sockets = self.sockets.iter().count();
        let has_output = self.output_error.is_none() && self.session.has_output(now);
        if self.session.has_work() || !self.inbox.is_empty() || has_output {
            self.events.look(&mut interests)?;
        } else {
            self.events.wait(&mut interests, deadline)?;
        }
        let has_keys = interests[sockets..].iter().any(Interest::is_readable);
        let waiting: Vec<bool> = interests[..sockets].iter().map(Interest::is_readable).collect();
        let now = self.events.now();
        if self.events.take_end() {
            self.session.shutdown(now, "The console is closed, shutting down...");
        }
        self.session.handle_resize(now, self.terminal.size());
        // While the session takes no input, the Ctrl-C waits for a later turn.
        if self.session.wants_input() && self.events.take_interruption() {
            self.session.handle_input(now, CTRL_C);
        }
        if has_keys {
            self.read_keys(now);
        }
        self.receive(now, &waiting);
        Ok(now)
    }

    fn read_keys(&mut self, now: Instant) {
        self.keys.clear();
        match self.terminal.read(&mut self.keys) {
            Ok(()) if self.keys.is_empty() => {}
            Ok(()) => self.session.handle_input(now, &self.keys),
            Err(error) => {
                tracing::debug!(%error, "console gone");
                self.session.handle_input_closed(now);
            }
        }
    }

    /// Gives the session the datagrams that have arrived, but only as many as a turn allows. `waiting` states for each
    /// socket whether datagrams wait there.
    fn receive(&mut self, now: Instant, waiting: &[bool]) {
        let Self { session, sockets, inbox, .. } = self;
        debug_assert_eq!(waiting.len(), sockets.iter().count());
        let turn = Turn::begin(session);
        let mut is_heard = false;
        let mut handle = |session: &mut Client, received: Received, payload: &[u8]| {
            let result = session.handle_datagram(now, received.source, received.ecn, payload);
            is_heard |= result.is_ok();
            turn.has_room(session)
        };
        inbox.hand_over(|received, payload| handle(session, received, payload));
        for (socket, _) in sockets.iter().zip(waiting).filter(|(_, waits)| **waits) {
            if turn.has_room(session) && inbox.is_empty() {
                let result =
                    inbox.receive(socket, |received, payload| handle(session, received, payload));
                if let Err(error) = result {
                    fail(now, &error, session);
                }
            }
        }
        if is_heard {
            sockets.probe.stop();
        }
    }

    fn send_datagrams(&mut self, now: Instant) {
        while let Some(transmit) = self.session.poll_transmit(now) {
            self.sockets.probe.ask();
            let (to, len) = (transmit.destination, transmit.payload.len());
            match self.sockets.newest_for(to).map_err(SendFailure::Other).and_then(by(&transmit)) {
                Ok(()) => {}
                Err(SendFailure::TooLong) => self.session.handle_message_too_long(now, len),
                // The client probes other addresses of the server, and a probe that cannot be sent needs no message.
                Err(_) if to != self.session.server() => {}
                Err(SendFailure::Other(error)) => self.handle_unreachable(now, to, &error),
            }
        }
    }

    fn handle_unreachable(&mut self, now: Instant, to: SocketAddr, error: &io::Error) {
        tracing::debug!(%error, "datagram not sent");
        self.session.candidates_mut().handle_unreachable(to);
        self.session.handle_network_error(now, &reason(error));
    }

    fn obey_events(&mut self, now: Instant) {
        while let Some(event) = self.session.poll_event() {
            match event {
                ClientEvent::OpenPort => {
                    let server = self.session.server();
                    self.sockets.probe.start(server);
                    if let Err(error) = self.sockets.open_port() {
                        self.session.handle_network_error(now, &reason(&error));
                    }
                    self.name_port();
                }
                ClientEvent::ClosePorts { keep } => self.sockets.close_ports(keep),
                ClientEvent::Suspend | ClientEvent::LogIn => {
                    self.session.answer(now, NOT_HERE.to_owned());
                    self.session.handle_resume(now);
                }
                ClientEvent::Yes
                | ClientEvent::Callback
                | ClientEvent::Put(_)
                | ClientEvent::Forward(_) => self.session.answer(now, NOT_HERE.to_owned()),
            }
        }
    }

    /// Tells the session the local port of the socket from which the session's datagrams are sent.
    fn name_port(&mut self) {
        if let Some(port) = self.sockets.local_port(self.session.server()) {
            self.session.handle_local_port(port);
        }
    }

    /// Writes the newest frame, or the next part of a large one. The console accepts all bytes or fails.
    fn draw(&mut self, now: Instant) {
        if self.output_error.is_none()
            && let Some(frame) = self.session.poll_output(now)
            && let Err(error) = self.terminal.write_all(&frame)
        {
            // The session must end, because the user would not see the effect of keys.
            self.output_error = Some(reason(&error));
            self.session.shutdown(now, "Cannot draw, shutting down...");
        }
    }
}

/// Returns a function that sends `transmit` from the socket in its argument.
fn by(transmit: &Transmit) -> impl FnOnce(&UdpSocket) -> Result<(), SendFailure> {
    move |socket| send(socket, transmit)
}

/// Tells the session of an error that a socket has reported.
fn fail(now: Instant, error: &io::Error, session: &mut Client) {
    tracing::debug!(%error, "receive failed");
    // The error may come from a probe of another address of the server, which is expected to fail.
    if session.candidates().is_probing() {
        return;
    }
    if Refusal::of(error) == Refusal::Port {
        session.handle_refusal(now);
    }
    let server = session.server();
    session.candidates_mut().handle_unreachable(server);
    session.handle_network_error(now, &reason(error));
}

/// Returns the system's text for an error, without the error's number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
