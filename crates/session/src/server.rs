//! The server: datagrams in, keys for the pty out; host output in, datagrams out.

mod host_input;
mod publisher;
mod succession;

use core::mem;
use core::net::{IpAddr, SocketAddr};
use core::ops::Range;
use std::collections::VecDeque;

use rove_predict::{InputNum, Tty};
use rove_ssp::{Capabilities, Closed, Config, Ecn, Event, Key, ReceiveError, StateNum, Transmit};
use rove_terminal::{Screen, Size, Terminal, UserTerminal};
use rove_units::{Duration, Instant, Stream};

use self::host_input::HostInput;
use self::publisher::Publisher;
use self::succession::{Newcomer, Succession};
use crate::keys::KeyTranslator;
use crate::parts::exit_status::{ExitStatus, Outside};
use crate::user_stream::UserEvent;

/// Most bytes that wait for the pty. Above this, the client keeps its input, so that a program that stopped reading
/// loses nothing and the server holds no more. A single client message may exceed this by its own length. Chosen: as
/// much as the client itself lets wait.
pub(crate) const HOST_INPUT_MAX: usize = 1_048_576;
/// Bytes below which the client may send again. Chosen: half, so that one read of the program does
/// not turn the hold on and off.
const HOST_INPUT_RESUME: usize = HOST_INPUT_MAX / 2;

/// How long to wait for a first client. Source: Mosh 1.4.0 as observed, docs/wire.md.
const NO_CLIENT_TIMEOUT: Duration = Duration::from_secs(60);

/// Fewest heartbeats of a client within the network timeout. Chosen: two may be lost.
const HEARTBEATS_IN_TIMEOUT: u32 = 3;

/// How late the network timeout's timer may be. Chosen: a running computer is never this late. A later computer has
/// slept and could hear nobody.
const TIMER_LATE_MAX: Duration = Duration::from_secs(5);

/// The configuration of a server.
pub struct ServerConfig {
    /// The session key.
    pub key: Key,
    /// Protocol policies and timings.
    pub transport: Config,
    /// Whether the bound socket is IPv6 (a dual-stack socket is).
    pub ipv6: bool,
    /// The pty's size before the client has spoken.
    pub size: Size,
    /// Ends the session when no client has been heard for this long (`MOSH_SERVER_NETWORK_TMOUT`).
    pub network_timeout: Option<Duration>,
    /// Randomness for padding, drawn by the caller.
    pub chaff: Stream,
}

/// Something the driver must do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEvent {
    /// The first client message has arrived: let the command run.
    Start,
    /// Set the pty's window size.
    Resize(Size),
    /// The client's address is new or has changed.
    ClientMoved(SocketAddr),
    /// The client has not been heard for the association timeout.
    ClientLost,
    /// Another client has taken the session over: the numbers of input begin again.
    ClientChanged,
}

/// How a session ended, seen from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerOutcome {
    /// Both ends know of the end.
    Ended,
    /// No client ever came within 60 s.
    NeverConnected,
    /// The client never acknowledged the end, or there was none to tell.
    Unacknowledged,
    /// The session key can seal no more.
    KeyExhausted,
}

/// The server end of a session.
pub struct Server {
    publisher: Publisher,
    /// The client that may come after this one, and the one before it.
    succession: Succession,
    terminal: Terminal,
    keys: KeyTranslator,
    host_input: HostInput,
    /// The client's newest state whose events were handed on, and where they ended.
    delivered_num: StateNum,
    delivered: u64,
    /// The newest of them that brought keys or a size.
    input_num: InputNum,
    /// When the last key came.
    key_arrived_at: Option<Instant>,
    start: Instant,
    /// Whether a client has come.
    has_started: bool,
    network_timeout: Option<Duration>,
    /// Since when the client could have been heard: the start, or the end of a sleep.
    awake_since: Instant,
    /// At most one of each kind.
    events: VecDeque<ServerEvent>,
    /// The outcome of a session that ended without telling a client.
    abandoned: Option<ServerOutcome>,
}

impl Server {
    /// Creates a server with a blank screen. It sends nothing until a client has spoken.
    pub fn new(config: ServerConfig, now: Instant) -> Self {
        let ServerConfig { key, mut transport, ipv6, size, network_timeout, chaff } = config;
        // A session with a short network timeout must not ask its client for a long silence.
        if let Some(timeout) = network_timeout {
            let heartbeat = &mut transport.heartbeat;
            heartbeat.interval_max = heartbeat.interval_max.min(timeout / HEARTBEATS_IN_TIMEOUT);
        }
        let succession = Succession::new(transport, ipv6);
        Self {
            publisher: succession.publisher(now, &key, chaff, size),
            succession,
            terminal: Terminal::host(size),
            keys: KeyTranslator::default(),
            host_input: HostInput::default(),
            delivered_num: StateNum::INITIAL,
            delivered: 0,
            input_num: InputNum::default(),
            key_arrived_at: None,
            start: now,
            has_started: false,
            network_timeout,
            awake_since: now,
            events: VecDeque::new(),
            abandoned: None,
        }
    }

    /// Handles a datagram from the network.
    ///
    /// # Errors
    ///
    /// Returns why the datagram was of no use, for the log.
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        source: SocketAddr,
        ecn: Ecn,
        payload: &[u8],
    ) -> Result<(), ReceiveError> {
        let mut result = self.publisher.transport.handle_datagram(now, source, ecn, payload);
        if result.as_ref().is_err_and(|error| !error.is_from_peer()) {
            match self.succession.handle_datagram(now, source, ecn, payload) {
                Some(newcomer) => self.change_client(now, newcomer),
                None => return result,
            }
            result = Ok(());
        }
        if self.publisher.tells_scrollback() {
            self.terminal.keep_scrollback();
        }
        if self.publisher.transport.remote_num() != self.delivered_num {
            self.deliver(now);
        }
        self.publisher.advance_echo(now, &mut self.terminal);
        self.publisher.prepare(now, &mut self.terminal);
        self.note_transport_events();
        result
    }

    /// Lets another client take the session over with this key, which nobody else has. The present client stays until
    /// the other one speaks. An earlier invitation ends. `from` is the address from which the user asked.
    pub fn invite(&mut self, now: Instant, key: &Key, chaff: Stream, from: Option<IpAddr>) {
        let publisher = self.succession.publisher(now, key, chaff, self.terminal.screen().size());
        self.succession.invite(now, publisher, from);
    }

    /// Returns where the secrets of the invited client lie; see [`Server::key_memory`].
    pub fn invited_key_memory(&self) -> Option<Range<*const u8>> {
        self.succession.key_memory()
    }

    /// Handles bytes that programs wrote to the pty.
    pub fn handle_host_output(&mut self, now: Instant, bytes: &[u8]) {
        if self.publisher.transport.is_shutting_down() {
            return;
        }
        self.terminal.write(bytes);
        self.answer_programs();
        self.publisher.handle_output(now, &mut self.terminal);
        self.publisher.prepare(now, &mut self.terminal);
    }

    /// Returns the client's newest input (keys or a size) if all of it has been handed to the pty, nothing else waits for
    /// the pty, and the newest screen is published. `None` also stands for a client that is not told of
    /// the terminal.
    pub fn written_input(&self) -> Option<InputNum> {
        let is_written = self.host_input.waiting().is_empty()
            && self.keys.poll_timeout().is_none()
            && self.publisher.is_published();
        (is_written && self.publisher.tells_tty()).then_some(self.input_num)
    }

    /// Notes the state of the terminal that the programs run on. Its `prompt` is [`Server::written_input`] while the
    /// session's own shell waits at its own prompt. Read the state again before each call of [`Server::poll_transmit`],
    /// so that no screen is sent with an older one: a client that shows a prompt must know whether the answer is
    /// echoed.
    pub fn handle_tty(&mut self, tty: Tty) {
        // Numbers of a former client's input say nothing to this one.
        let prompt = tty.prompt.filter(|input| *input <= self.input_num);
        self.publisher.handle_tty(Tty { prompt, ..tty }, self.input_num);
    }

    /// Starts the orderly end, because the command has ended. Hand in everything that it wrote first.
    pub fn handle_host_closed(&mut self, now: Instant, status: Option<ExitStatus>) {
        self.finish(now, status);
    }

    /// Starts the orderly end and tells the client its cause. Without a client, or when called again, the session ends
    /// at once.
    pub fn shutdown(&mut self, now: Instant, by: Outside) {
        if self.publisher.transport.is_shutting_down()
            || self.publisher.transport.peer_address().is_none()
        {
            self.abandoned.get_or_insert(ServerOutcome::Unacknowledged);
        } else {
            self.finish(now, Some(ExitStatus::Outside(by)));
        }
    }

    fn finish(&mut self, now: Instant, status: Option<ExitStatus>) {
        self.publisher.handle_exit(status);
        self.publisher.publish_last(&mut self.terminal);
        self.publisher.transport.start_shutdown(now);
    }

    /// Falls back to smaller datagrams after the send of one of `len` bytes failed for its size.
    pub fn handle_message_too_long(&mut self, now: Instant, len: usize) {
        self.publisher.transport.handle_message_too_long(now, len);
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        self.publisher.transport.handle_timeout(now);
        self.succession.handle_timeout(now);
        if self.outcome().is_some() {
            return;
        }
        self.keys.handle_timeout(now, &mut self.host_input.bytes);
        self.publisher.handle_timeout(now, &mut self.terminal);
        if due(self.no_client_deadline()) {
            tracing::info!("no client came");
            self.abandoned = Some(ServerOutcome::NeverConnected);
        }
        if due(self.network_deadline().map(|at| at + TIMER_LATE_MAX)) {
            self.awake_since = now;
        }
        if due(self.network_deadline()) {
            let idle_seconds = self.client_heard_at().map(|at| now.saturating_since(at).as_secs());
            tracing::info!(idle_seconds, "the client has been silent for too long");
            self.shutdown(now, Outside::Silence);
        }
        self.publisher.prepare(now, &mut self.terminal);
        self.note_transport_events();
    }

    /// Returns the next datagram to send.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        if self.abandoned.is_some() {
            return None;
        }
        if let Some(transmit) = self.succession.poll_transmit(now) {
            return Some(transmit);
        }
        let transmit = self.publisher.transport.poll_transmit(now);
        if transmit.is_some() {
            self.publisher.prepare(now, &mut self.terminal);
        }
        // The transport finds out by sending that the client is lost.
        self.note_transport_events();
        transmit
    }

    /// Returns bytes waiting for the pty (keys, answers); empty for none. Report what was written
    /// with [`Server::consume_host_input`].
    pub fn host_input(&self) -> &[u8] {
        self.host_input.waiting()
    }

    /// Forgets the first `len` bytes of [`Server::host_input`]: the pty has taken them.
    pub fn consume_host_input(&mut self, len: usize) {
        self.host_input.consume(len);
        if self.host_input.waiting().len() <= HOST_INPUT_RESUME {
            self.publisher.transport.hold_remote(false);
        }
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// Returns when to call [`Server::handle_timeout`] if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.outcome().is_some() {
            return self.lingers_until();
        }
        [
            self.publisher.transport.poll_timeout(),
            self.succession.poll_timeout(),
            self.keys.poll_timeout(),
            self.no_client_deadline(),
            self.network_deadline(),
        ]
        .into_iter()
        .chain(self.publisher.poll_timeout())
        .flatten()
        .min()
    }

    /// Returns how the session ended, once it has.
    pub fn outcome(&self) -> Option<ServerOutcome> {
        self.abandoned.or_else(|| {
            Some(match self.publisher.transport.closed()? {
                Closed::Acknowledged | Closed::ByPeer => ServerOutcome::Ended,
                Closed::Unacknowledged => ServerOutcome::Unacknowledged,
                Closed::KeyExhausted => ServerOutcome::KeyExhausted,
            })
        })
    }

    /// Returns until when the server of a session ended by its client stays to acknowledge the end again
    /// ([`rove_ssp::Transport::lingers_until`]). The driver releases everything else meanwhile.
    pub fn lingers_until(&self) -> Option<Instant> {
        self.publisher.transport.lingers_until().filter(|_| self.abandoned.is_none())
    }

    /// Returns how many datagrams the client has sent, as far as is known. Each that is newer than all before lets
    /// it grow, and nothing else does.
    pub fn client_datagrams(&self) -> u64 {
        self.publisher.transport.peer_datagrams()
    }

    /// Returns when the client was last heard; `None` before its first message.
    pub fn client_heard_at(&self) -> Option<Instant> {
        self.publisher.transport.remote_arrived_at()
    }

    /// Returns since when the client is unexpectedly silent: when it was last heard, or when its announced silence
    /// ended. `None` before its first message.
    pub fn client_missed_since(&self) -> Option<Instant> {
        let heard_at = self.client_heard_at()?;
        Some(heard_at.max(self.publisher.transport.remote_excused_until().unwrap_or(heard_at)))
    }

    /// Returns when the user's last key came; `None` before the first.
    pub fn key_arrived_at(&self) -> Option<Instant> {
        self.key_arrived_at
    }

    /// Returns where the client was last heard from; `None` before its first datagram.
    pub fn client_address(&self) -> Option<SocketAddr> {
        self.publisher.transport.peer_address()
    }

    /// Returns whether the client, as far as it is known, understands how the program has ended.
    pub fn client_learns_exit_status(&self) -> bool {
        self.publisher.transport.capabilities().contains(Capabilities::EXIT_STATUS)
    }

    /// Returns where the session's secrets lie ([`rove_ssp::Transport::key_memory`]).
    pub fn key_memory(&self) -> Range<*const u8> {
        self.publisher.transport.key_memory()
    }

    /// Returns how often another client has taken the session over. The numbers of input begin again each time.
    pub const fn takeovers(&self) -> u32 {
        self.succession.takeovers
    }

    /// Returns the live screen.
    pub fn screen(&self) -> &Screen {
        self.terminal.screen()
    }

    /// Gives the session to another client. Nothing that was learned of the former client and its terminal stays; the keys it
    /// typed stay with the programs.
    fn change_client(&mut self, now: Instant, newcomer: Newcomer) {
        tracing::info!("another client has come");
        let ended = self.publisher.ended();
        self.succession.replace(now, &mut self.publisher, newcomer);
        let is_full = self.host_input.waiting().len() >= HOST_INPUT_MAX;
        self.publisher.transport.hold_remote(is_full);
        self.terminal.forget_events();
        self.terminal.set_user_terminal(UserTerminal::default());
        self.keys = KeyTranslator::default();
        (self.delivered_num, self.delivered) = (StateNum::INITIAL, 0);
        self.input_num = InputNum::default();
        self.note(ServerEvent::ClientChanged);
        if let Some(status) = ended {
            self.finish(now, status);
        }
    }

    /// Hands on the client's new events: keys to the pty, the window's size to the terminal and the driver.
    fn deliver(&mut self, now: Instant) {
        let remote = self.publisher.transport.remote();
        let mut size = None;
        let mut user_terminal = *self.terminal.user_terminal();
        let mut is_input = false;
        for event in remote.events_from(self.delivered) {
            match event {
                UserEvent::Byte(byte) => {
                    is_input = true;
                    self.key_arrived_at = Some(now);
                    let application = self.terminal.screen().application_cursor_keys();
                    self.keys.translate(now, byte, application, &mut self.host_input.bytes);
                }
                // If several sizes come at once, only the newest counts: no program could see the earlier ones, and
                // each would cost a new screen.
                UserEvent::Resize(newest) => (is_input, size) = (true, Some(newest)),
                UserEvent::Terminal(report) => report.add_to(&mut user_terminal),
            }
        }
        let first = self.delivered_num == StateNum::INITIAL;
        debug_assert!(self.delivered <= remote.end(), "a stream of input only grows");
        self.delivered = remote.end();
        self.delivered_num = self.publisher.transport.remote_num();
        self.terminal.set_user_terminal(user_terminal);
        if let Some(size) = size {
            self.terminal.resize(size);
            self.note(ServerEvent::Resize(size));
        }
        self.answer_programs();
        if first && !mem::replace(&mut self.has_started, true) {
            self.note(ServerEvent::Start);
        }
        // A report of the client causes no echo.
        if is_input {
            self.publisher.handle_input(now);
            self.input_num = InputNum::new(self.delivered_num.get());
        }
        if self.host_input.waiting().len() >= HOST_INPUT_MAX {
            tracing::debug!("the pty takes no more input, the client keeps its own");
            self.publisher.transport.hold_remote(true);
        }
        self.publisher.publish_when_drawn(now, &mut self.terminal);
    }

    /// Hands answers of the terminal to the pty.
    fn answer_programs(&mut self) {
        let replies = self.terminal.take_replies();
        // A program that asks and does not read goes without answers at some point.
        if self.host_input.waiting().len() < HOST_INPUT_MAX {
            self.host_input.bytes.extend(replies);
        }
    }

    fn note_transport_events(&mut self) {
        while let Some(event) = self.publisher.transport.poll_event() {
            match event {
                Event::PeerMoved(address) => self.note(ServerEvent::ClientMoved(address)),
                Event::PeerLost => self.note(ServerEvent::ClientLost),
                // Servers keep to their one port.
                Event::OpenPort | Event::ClosePorts { .. } => {}
            }
        }
    }

    /// Queues an event in place of an older one of its kind: only the newest size and address matter.
    fn note(&mut self, event: ServerEvent) {
        self.events.retain(|queued| mem::discriminant(queued) != mem::discriminant(&event));
        self.events.push_back(event);
    }

    /// Returns when to give up waiting for a first client.
    fn no_client_deadline(&self) -> Option<Instant> {
        (!self.has_started).then(|| self.start + NO_CLIENT_TIMEOUT)
    }

    /// Returns when the client will have been silent for too long.
    fn network_deadline(&self) -> Option<Instant> {
        if self.publisher.transport.is_shutting_down() {
            return None;
        }
        Some(self.client_heard_at()?.max(self.awake_since) + self.network_timeout?)
    }
}
