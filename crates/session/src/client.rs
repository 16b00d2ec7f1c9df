//! The client end of a session: it handles keys and datagrams, and returns datagrams and bytes for the terminal.

mod company;
mod display;
mod driver;
mod end_request;
mod interface;
mod notice_bar;
mod record;
mod recorder;
mod resumption;
mod stock_facts;
mod typed;
mod uplink;
mod wishes;

use core::net::SocketAddr;
use core::ops::Range;

use rove_ssp::{
    Capabilities, Closed, Config, Ecn, Event, ReceiveError, Role, StateNum, Transmit, Transport,
};
use rove_terminal::Size;
use rove_units::{Bytes, Duration, Instant};

use self::company::Company;
use self::display::{Display, network};
use self::end_request::EndRequest;
pub use self::interface::{ClientConfig, ClientEvent, ClientOutcome};
use self::notice_bar::NoticeBar;
pub use self::record::{Record, ResumeError};
use self::recorder::Recorder;
pub use self::recorder::Recording;
pub use self::typed::{LeftKeys, NextKeys};
use self::uplink::{ClientTransport, Uplink, has_room};
use self::wishes::Wishes;
use crate::command_line::Purpose;
use crate::escape::EscapeKey;
use crate::host_screen::HostScreen;
use crate::last_screen::{Ending, MissingLines};
use crate::notice::Notices;
pub use crate::notice::Trouble;
use crate::report::TerminalReport;
use crate::user_stream::UserStream;
use crate::wish::Door;

/// How long the client waits for the server's first state. Source: Mosh 1.4.0 as observed, docs/wire.md.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// How long the client announces its end to a server that was never heard, or counts as gone. Chosen: about four
/// datagrams without a measured round-trip time. The server may have received datagrams although its answers were lost,
/// and should not wait for the client. The user should not wait long for a server that has ended.
const UNHEARD_FAREWELL: Duration = Duration::from_secs(1);

/// Memory limit of a client's process with a window of 80x24, whatever the server sends. Chosen: twice what the worst
/// server of `tests/memory.rs` makes it take.
pub const MEMORY_MAX_80X24: Bytes = Bytes::mib(64);

/// Memory limit of a client's process with a window of 500x200, whatever the server sends.
pub const MEMORY_MAX_500X200: Bytes = Bytes::mib(128);

/// The client end of a session.
pub struct Client {
    transport: ClientTransport,
    uplink: Uplink,
    display: Display,
    notice_bar: NoticeBar,
    escape: EscapeKey,
    wishes: Wishes,
    /// When to stop waiting for an unheard or gone server to confirm the end, if planned, and the outcome in that case.
    farewell: Option<(Instant, ClientOutcome)>,
    /// The outcome of a session that the client has left without the server's answer. `None` for any other session.
    given_up: Option<ClientOutcome>,
    end_request: EndRequest,
    recorder: Recorder,
    /// When the notices were last updated. [`Client::poll_timeout`] omits output that was due by then, because
    /// [`Client::has_output`] reports it.
    refreshed_at: Instant,
}

impl Client {
    /// Creates a client. Its first datagram, the window size, is ready at once.
    pub fn new(config: ClientConfig, now: Instant) -> Self {
        Self::silent(config, now).started(now)
    }

    fn silent(config: ClientConfig, now: Instant) -> Self {
        let engine = rove_predict::engine(config.prediction, config.size);
        let understood = config.understood(&*engine);
        let ClientConfig { server, key, transport, size, terminal, query, chaff, .. } = config;
        let transport = Config { capabilities: understood, ..transport };
        let escape = EscapeKey::new(config.escape_key, config.offers_status);
        let notices = Notices::new(config.program, escape.quit_hint(), config.offers_status);
        Self {
            transport: Transport::new(
                Role::Client { server },
                &key,
                transport,
                UserStream::new(),
                HostScreen::replica(size),
                chaff,
                now,
            ),
            uplink: Uplink::new(size),
            display: Display::new(terminal, query, engine, config.running, size),
            notice_bar: NoticeBar::new(notices, Company::new(escape.name()), now),
            escape,
            wishes: Wishes::default(),
            farewell: None,
            given_up: None,
            end_request: EndRequest::new(config.is_end_obeyed_twice),
            recorder: Recorder::default(),
            refreshed_at: now,
        }
    }

    /// Queues the first message, the window size.
    fn started(mut self, now: Instant) -> Self {
        self.uplink.flush(&mut self.transport);
        self.refresh(now);
        self
    }

    /// Handles a datagram from the network.
    ///
    /// # Errors
    ///
    /// Returns the reason why the datagram was ignored, for the log. The client itself shows the user important errors.
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        source: SocketAddr,
        ecn: Ecn,
        payload: &[u8],
    ) -> Result<(), ReceiveError> {
        let before = self.before_work(now);
        let result = self.transport.handle_datagram(now, source, ecn, payload);
        self.after_work(now, before, result)
    }

    /// Returns whether a received diff is applied only in part, because it was too much work for one call. Until
    /// [`Client::handle_timeout`] has applied the rest, the driver handles keys and signals, but no datagram.
    pub fn has_work(&self) -> bool {
        self.transport.has_work()
    }

    /// Returns the processor work spent so far on applying the server's states, as a number of screen cells.
    pub fn effort(&self) -> u64 {
        self.transport.effort()
    }

    /// Returns the number of the server's newest state, and whether the server has been silent long enough for a
    /// notice. Call this before a datagram or the rest of a diff is handled.
    fn before_work(&self, now: Instant) -> (StateNum, bool) {
        (self.transport.remote_num(), self.is_server_late(now))
    }

    /// Updates the client after a datagram or a part of a diff. Shows important errors, and returns `result`.
    fn after_work(
        &mut self,
        now: Instant,
        (num, was_late): (StateNum, bool),
        result: Result<(), ReceiveError>,
    ) -> Result<(), ReceiveError> {
        match &result {
            Ok(()) => self.notice_bar.notices.heard(now),
            // An error that did not come from the server (a forged or damaged datagram) is not shown to the user.
            Err(error) if !error.is_from_peer() => return result,
            Err(error) => self.note_receive_error(now, error),
        }
        if self.transport.remote_num() != num {
            if self.notice_bar.meet(now, &self.transport.remote().parts().joined) {
                self.display.engine.handle_others_keys(now);
            }
            self.display.look(now, &self.transport);
            if was_late {
                self.notice_bar.regain(now);
            }
        }
        self.display.engine.handle_network(network(&self.transport));
        self.uplink.handle_datagram(&mut self.transport);
        if self.uplink.are_wishes_taken(&self.transport) {
            self.notice_bar.handle_wishes_taken(now);
        }
        self.recorder.handle_acknowledged(&self.transport);
        self.refresh(now);
        result
    }

    /// Handles bytes from the user's terminal: keys and the terminal's answers. Call it only while
    /// [`Client::wants_input`] holds. A client that may only view, or whose session is ending, drops keys.
    pub fn handle_input(&mut self, now: Instant, bytes: &[u8]) {
        let mut typed = Vec::with_capacity(bytes.len());
        self.display.probe.handle_input(now, bytes, &mut typed);
        while let Some(answer) = self.display.probe.poll_answer() {
            tracing::debug!(?answer, "the terminal says");
            self.uplink.report(self.display.learn(answer));
        }
        self.uplink.flush(&mut self.transport);
        self.handle_typed(now, &typed);
        self.refresh(now);
    }

    /// Returns whether the driver should read the user's terminal. It should not while a million input events wait for
    /// an acknowledgment. Even the escape key stays unread, because it comes after the other bytes. While the session
    /// ends, the driver should read only for the terminal's answers or a second request to end.
    pub fn wants_input(&self) -> bool {
        if self.is_ending() {
            return self.display.owes_answers() || self.end_request.wants_input();
        }
        has_room(&self.transport)
    }

    /// Starts the session's orderly end, because the user's input has ended (the terminal is gone).
    pub fn handle_input_closed(&mut self, now: Instant) {
        self.end_request.handle_input_closed();
        self.start_end(now, "Exiting...");
    }

    /// Handles the window's new size. Until the server sends the picture for that size, the client shows the known
    /// picture, cut or with empty space beside and below it.
    pub fn handle_resize(&mut self, now: Instant, size: Size) {
        if self.display.handle_resize(size) {
            self.uplink.handle_resize(size);
            self.uplink.flush(&mut self.transport);
            self.refresh(now);
        }
    }

    /// Starts the orderly end because of a signal or a request, and shows `reason`. A server that was never heard or
    /// counts as gone gets up to a second to answer. A second request ends the session at once, if so configured.
    pub fn shutdown(&mut self, now: Instant, reason: &str) {
        let is_second = self.end_request.handle(now);
        self.start_end(now, reason);
        if is_second && self.transport.closed().is_none() {
            let outcome =
                self.farewell.map_or(ClientOutcome::Unacknowledged, |(_, outcome)| outcome);
            self.given_up.get_or_insert(outcome);
        }
    }

    fn start_end(&mut self, now: Instant, reason: &str) {
        let outcome = if self.is_connecting() {
            Some(ClientOutcome::NeverConnected)
        } else {
            self.notice_bar
                .notices
                .is_gone(now, self.notice_bar.contact(&self.transport))
                .then_some(ClientOutcome::Gone)
        };
        if let Some(outcome) = outcome {
            self.farewell.get_or_insert((now + UNHEARD_FAREWELL, outcome));
        }
        self.notice_bar.notices.farewell(reason);
        self.recording().stop();
        self.transport.start_shutdown(now);
        self.refresh(now);
    }

    /// Continues after [`ClientEvent::Suspend`], [`ClientEvent::LogIn`] or a SIGCONT, and repaints the whole terminal.
    pub fn handle_resume(&mut self, now: Instant) {
        // A process that was stopped by SIGSTOP has not given the terminal back, but the user has not seen it since.
        self.notice_bar.notices.set_hidden(self.refreshed_at, true);
        self.display.take_over();
        self.refresh(now);
    }

    /// Returns the memory ranges that hold the session's secrets ([`Transport::key_memory`]).
    pub fn key_memory(&self) -> Vec<Range<*const u8>> {
        self.transport.key_memory()
    }

    /// Handles all timers that have expired, and applies the next part of a received diff.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.has_work() {
            let before = self.before_work(now);
            let result = self.transport.work(now);
            if let Err(error) = self.after_work(now, before, result) {
                tracing::debug!(%error, "state of no use");
            }
        }
        self.transport.handle_timeout(now);
        self.end_request.handle_timeout(now);
        let mut typed = Vec::new();
        self.display.probe.handle_timeout(now, &mut typed);
        self.handle_typed(now, &typed);
        self.uplink.flush(&mut self.transport);
        if self.connect_deadline().is_some_and(|deadline| deadline <= now) {
            tracing::info!("no answer from the server");
            self.notice_bar.notices.farewell("Timed out waiting for server...");
            self.transport.start_shutdown(now);
        }
        if let Some((_, outcome)) = self.pending_farewell().filter(|(due, _)| *due <= now) {
            self.given_up = Some(outcome);
        }
        self.refresh(now);
    }

    /// Returns the next datagram to send. `None` if none is due, or a record is to be written ([`Recording::poll`]).
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        if self.recorder.is_owed(&self.transport) {
            return None;
        }
        self.transport.poll_transmit(now)
    }

    /// Returns bytes for the user's terminal. `None` if it is up to date, or has been given back to the user's shell.
    ///
    /// Call this only when the terminal can take bytes, because they draw the newest picture, or a stage on the way to
    /// it. Older pictures are skipped. A picture of very many cells comes in stages, between which the driver may
    /// handle keys and datagrams.
    pub fn poll_output(&mut self, now: Instant) -> Option<Vec<u8>> {
        self.refresh(now);
        let out = self
            .has_output(now)
            .then(|| self.display.draw(now, &self.transport, self.notice_bar.overlay()));
        out.filter(|out| !out.is_empty())
    }

    /// Returns whether [`Client::poll_output`] may return bytes.
    pub fn has_output(&self, now: Instant) -> bool {
        self.display.has_output(now, &self.transport, self.notice_bar.overlay())
    }

    /// Returns the next event. `None` if no event waits.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        if let Some(wish) = self.wishes.poll(self.display.owes_answers()) {
            return Some(wish);
        }
        if let Some((purpose, line)) = self.escape.take_line() {
            return Some(match purpose {
                Purpose::Ports => ClientEvent::Forward(line),
                Purpose::Files => ClientEvent::Put(line),
            });
        }
        loop {
            return Some(match self.transport.poll_event()? {
                Event::OpenPort => ClientEvent::OpenPort,
                Event::ClosePorts { keep } => ClientEvent::ClosePorts { keep },
                // Only a server gets these events.
                Event::PeerMoved(_) | Event::PeerLost => continue,
            });
        }
    }

    /// Returns when to call [`Client::handle_timeout`] if nothing else happens first. `None` after the session.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.outcome().is_some() {
            return None;
        }
        if self.has_work() {
            return Some(Instant::ZERO);
        }
        let farewell = self.pending_farewell().map(|(due, _)| due);
        let output = self.display.poll_timeout();
        let output = output.into_iter().flatten().filter(|due| *due > self.refreshed_at);
        [
            self.transport.poll_timeout(),
            self.connect_deadline(),
            farewell,
            self.end_request.poll_timeout(),
            self.escape.poll_timeout().filter(|_| !self.is_ending()),
            self.display.probe.poll_timeout(),
        ]
        .into_iter()
        .chain(self.notice_bar.poll_timeout())
        .flatten()
        .chain(output)
        .min()
    }

    /// Returns the bytes that restore the terminal before the driver gives it back. They are empty if the client does
    /// not hold the terminal. The bytes first draw a last picture without notices and predictions.
    pub fn close_terminal(&mut self) -> Vec<u8> {
        let ending = self.ended().map(|_| self.ending());
        let closing = self.display.close(self.transport.remote().screen(), ending);
        self.refresh(self.refreshed_at);
        closing
    }

    /// Returns the part of a command's output that the user has not received. `None` if no part is known to be missing.
    /// Call this after the session is over and the terminal has been restored.
    pub fn missing_lines(&self) -> Option<MissingLines> {
        self.display.missing_lines(self.screen(), self.ending())
    }

    fn ending(&self) -> Ending {
        let capabilities = self.transport.capabilities();
        Ending {
            by_server: self.transport.closed() == Some(Closed::ByPeer),
            tells_screens: capabilities.contains(Capabilities::RICH_SCREEN),
            tells_lines: capabilities.contains(Capabilities::SCROLLBACK),
            exit_status: self.transport.remote().parts().exit_status,
        }
    }

    /// Returns how the session ended. `None` until it has ended.
    ///
    /// A session that ends before the terminal has answered all questions waits a little for the answers.
    pub fn outcome(&self) -> Option<ClientOutcome> {
        self.ended().filter(|_| !self.display.owes_answers())
    }

    fn ended(&self) -> Option<ClientOutcome> {
        if self.given_up.is_some() {
            return self.given_up;
        }
        Some(match self.transport.closed()? {
            Closed::KeyExhausted => ClientOutcome::KeyExhausted,
            _ if self.is_connecting() => ClientOutcome::NeverConnected,
            Closed::Acknowledged | Closed::ByPeer => {
                ClientOutcome::Ended(self.transport.remote().parts().exit_status)
            }
            Closed::Unacknowledged => self
                .pending_farewell()
                .map_or(ClientOutcome::Unacknowledged, |(_, outcome)| outcome),
        })
    }

    /// Handles typed bytes. With an empty slice, it only handles the timers of the escape key that have expired.
    fn handle_typed(&mut self, now: Instant, typed: &[u8]) {
        if self.is_ending() {
            // The server takes no more keys, but the user may ask for the end a second time.
            if self.escape.handle(now, typed, &mut Vec::new()).quit {
                self.shutdown(now, "Exiting on user request...");
            }
            return;
        }
        let mut keys = Vec::with_capacity(typed.len());
        let status = &mut self.notice_bar.status;
        if !status.is_shown() {
            self.escape.status_gone();
        }
        let mut requests = self.escape.handle(now, typed, &mut keys);
        requests.yes &= self.notice_bar.notices.is_question_whole(self.display.window);
        if requests.closes_status {
            status.close();
        }
        if requests.status {
            status.open(now);
        }
        self.wishes.note(requests);
        if requests.repaint {
            self.display.repaint();
        }
        let wishes = self.notice_bar.decide(now, requests, &self.transport);
        self.uplink.wish(wishes, &mut self.transport);
        if !keys.is_empty() && self.notice_bar.company.is_viewer() {
            self.notice_bar.notices.say(now, "You view this session; your keys do not go there.");
        } else if !keys.is_empty() {
            self.display.handle_keys(now, &keys, &self.transport);
            self.uplink.send_keys(&keys, &mut self.transport);
            self.uplink.typed_at = Some(now);
            self.recorder.handle_keys(&keys, !self.display.engine.has_no_secret(), &self.transport);
        }
        if requests.quit {
            self.shutdown(now, "Exiting on user request...");
        }
    }

    fn refresh(&mut self, now: Instant) {
        self.refreshed_at = now;
        self.notice_bar.refresh(now, &self.transport, &self.escape, self.display.is_returned());
    }

    /// Tells a rove server what the user permits programs, such as to read copied text. Call this before any input.
    pub fn allow(&mut self, permission: TerminalReport) {
        self.uplink.report([permission]);
    }

    /// Tells the server whether others may join the session, if the server is rove. Call this before any input.
    pub fn set_door(&mut self, door: Door) {
        let wish = self.notice_bar.company.set_usual(door);
        self.uplink.wish(Some(wish), &mut self.transport);
    }

    /// Shows the user an error in the server's messages, except stale references and full queues, which are no faults.
    fn note_receive_error(&mut self, now: Instant, error: &ReceiveError) {
        let expected =
            matches!(error, ReceiveError::StaleReference { .. } | ReceiveError::QueueFull);
        if !expected {
            self.notice_bar.notices.say(now, format!("Bad datagram: {error}."));
        }
    }

    /// Returns when to give up waiting for the server's first state. `None` after that state, or while the client ends.
    fn connect_deadline(&self) -> Option<Instant> {
        (self.is_connecting() && !self.is_ending()).then(|| self.notice_bar.start + CONNECT_TIMEOUT)
    }

    fn is_connecting(&self) -> bool {
        self.transport.remote_num() == StateNum::INITIAL
    }

    fn is_ending(&self) -> bool {
        self.transport.is_shutting_down()
            || self.transport.is_peer_shutting_down()
            || self.transport.closed().is_some()
    }
}
