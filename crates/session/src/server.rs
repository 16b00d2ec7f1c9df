//! The server end of a session, without I/O: datagrams and host output in, keys for the pty and datagrams out.

mod audience;
mod host_input;
mod input;
mod interface;
mod last_lines;
mod lead;
mod paste;
mod publisher;
mod succession;
mod view;

use core::iter;
use core::mem;
use core::net::{IpAddr, SocketAddr};
use core::ops::Range;
use std::collections::VecDeque;

use rove_ssp::{Carriage, Ecn, Event, Key, ReceiveError, Transmit};
use rove_terminal::{ExitStatus, InputNum, Outside, Terminal, Tty, UserTerminal};
use rove_units::{Duration, Instant, Stream};

use self::audience::Audience;
use self::host_input::HostInput;
use self::input::Input;
pub use self::interface::{ServerConfig, ServerEvent, ServerOutcome, Uninvited};
use self::last_lines::LastLines;
pub use self::paste::Untyped;
use self::publisher::Publisher;
use self::succession::{Newcomer, Succession};
use crate::former::{ClientId, Former};
use crate::parts::joined::JoinMode;
use crate::wish::Door;

/// Minimum number of heartbeats that a client sends within one network timeout. Chosen: two of them may be lost.
const HEARTBEATS_IN_TIMEOUT: u32 = 3;

/// Longest delay of the network timeout's timer on a computer that is awake. After a longer delay, the computer has
/// slept and could not receive datagrams. Chosen: a running computer is never this late.
const TIMER_LATE_MAX: Duration = Duration::from_secs(5);

/// The server end of a session: its screen, its own client, and clients that join or take the session over.
pub struct Server {
    publisher: Publisher,
    /// The client that is invited to take the session over, and the former client while it is told to end.
    succession: Succession,
    /// The clients that are invited or have joined beside the session's own client.
    audience: Audience,
    terminal: Terminal,
    host_input: HostInput,
    input: Input,
    /// When the newest key of any client arrived. `None` before the first key.
    key_arrived_at: Option<Instant>,
    start: Instant,
    /// Whether any client has connected.
    has_started: bool,
    network_timeout: Option<Duration>,
    /// The server's start or the computer's last wake-up. Only silence after this time counts for the network timeout.
    awake_since: Instant,
    /// Events for the driver, at most one of each kind.
    events: VecDeque<ServerEvent>,
    /// The wait for lines of the program that has ended. `None` while it runs, and in the shutdown.
    last_lines: Option<LastLines>,
    /// The outcome of a session that ends without waiting for its own client. `None` for other sessions.
    abandoned: Option<ServerOutcome>,
}

impl Server {
    /// Creates a server with a blank screen. It sends nothing until a client has sent a datagram.
    pub fn new(config: ServerConfig, now: Instant) -> Self {
        let ServerConfig { key, mut transport, ipv6, size, network_timeout, chaff, awaits_echo } =
            config;
        // A session with a short network timeout must not permit its client a long silence.
        if let Some(timeout) = network_timeout {
            let heartbeat = &mut transport.heartbeat;
            heartbeat.interval_max = heartbeat.interval_max.min(timeout / HEARTBEATS_IN_TIMEOUT);
        }
        let mut succession = Succession::new(transport, ipv6, awaits_echo, ClientId::of(&key));
        Self {
            publisher: succession.publisher(now, &key, chaff, size, None),
            succession,
            audience: Audience::default(),
            terminal: Terminal::host(size),
            host_input: HostInput::default(),
            input: Input::default(),
            key_arrived_at: None,
            start: now,
            has_started: false,
            network_timeout,
            awake_since: now,
            events: VecDeque::new(),
            last_lines: None,
            abandoned: None,
        }
    }

    /// Handles a datagram from the network, which may be of any client.
    ///
    /// # Errors
    ///
    /// Returns the reason why the datagram was rejected, for the log.
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        source: SocketAddr,
        ecn: Ecn,
        payload: &[u8],
    ) -> Result<(), ReceiveError> {
        let mut result = self.publisher.transport.handle_datagram(now, source, ecn, payload);
        let is_own = result.is_ok();
        if result.as_ref().is_err_and(|error| !error.is_from_peer()) {
            let Self { audience, terminal, .. } = self;
            if let Some(joined) = audience.handle_datagram(now, source, ecn, payload, terminal) {
                self.deliver_joined(now);
                result = joined;
            } else {
                let newcomer = self.succession.handle_datagram(now, source, ecn, payload);
                let Some(newcomer) = newcomer else { return result };
                self.change_client(now, newcomer);
                result = Ok(());
            }
        }
        if self.publisher.tells_scrollback() {
            self.terminal.keep_scrollback();
        }
        self.deliver(now);
        // While the session is locked, each datagram of its own client ends an open invitation to take over.
        if is_own && self.door() == Door::Locked {
            self.succession.withdraw();
            self.settle_hold();
        }
        self.settle_audience(now);
        self.each(|publisher, terminal| {
            publisher.advance_echo(now, terminal);
            publisher.prepare(now, terminal);
        });
        self.settle_last_lines(now);
        self.note_transport_events();
        result
    }

    /// Returns the interface for stream packets to the session's own client. `None` unless both ends offer streams.
    pub fn carriage(&mut self) -> Option<Carriage<'_>> {
        let typed_at = self.key_arrived_at;
        self.publisher.transport.carriage().map(|it| it.with_typed_at(typed_at))
    }

    /// Invites another client, with a new `key`, to join beside the session's own client. All clients show `who` as its
    /// description. Returns the memory ranges that hold its keys; see [`Server::key_memory`].
    ///
    /// # Errors
    ///
    /// Returns the reason why the client may not join.
    pub fn invite_to_join(
        &mut self,
        now: Instant,
        key: &Key,
        chaff: Stream,
        (way, who): (JoinMode, &str),
    ) -> Result<Vec<Range<*const u8>>, Uninvited> {
        let size = self.terminal.screen().size();
        let create = || self.succession.publisher(now, key, chaff, size, Some(way));
        self.audience.invite(now, &self.publisher, create, (way, who))
    }

    /// Lets another client take the session over with `key`, which must be new. The present client stays until the
    /// other has sent a datagram. An earlier invitation ends. `from` is the address from which the user asked.
    pub fn invite(&mut self, now: Instant, key: &Key, chaff: Stream, from: Option<IpAddr>) {
        self.invite_after(now, key, chaff, from, None);
    }

    /// Invites a client that continues from a `former` client whose process is gone, and otherwise as
    /// [`Server::invite`]. Returns how many keys of the former client the server has taken; `None` if the server cannot
    /// tell. If it can tell, the present client's input waits until the new one comes or the invitation ends.
    pub fn invite_after(
        &mut self,
        now: Instant,
        key: &Key,
        chaff: Stream,
        from: Option<IpAddr>,
        former: Option<Former>,
    ) -> Option<u64> {
        let (size, taken) = (self.terminal.screen().size(), self.input.keys_taken);
        let publisher = self.succession.publisher(now, key, chaff, size, None);
        let newcomer = (publisher, ClientId::of(key));
        let is_alive = self.is_client_alive(now);
        let taken = self.succession.invite(now, newcomer, from, (former, taken, is_alive));
        self.settle_hold();
        taken
    }

    /// Handles bytes that programs wrote to the pty.
    pub fn handle_host_output(&mut self, now: Instant, bytes: &[u8]) {
        self.handle_host_output_within(now, bytes, u64::MAX);
    }

    /// Handles bytes that programs wrote to the pty, for at most `effort` ([`Terminal::effort`]) and one more sequence.
    /// Returns how many bytes it has handled. After the program's end, it drops all bytes.
    pub fn handle_host_output_within(&mut self, now: Instant, bytes: &[u8], effort: u64) -> usize {
        if self.last_lines.is_some() || self.publisher.transport.is_shutting_down() {
            return bytes.len();
        }
        let effort_max = self.terminal.effort().saturating_add(effort);
        let handled = self.terminal.write_within(bytes, effort_max);
        self.answer_programs();
        let copied = self.terminal.take_copied();
        let notifications: Vec<_> = self.terminal.take_notifications().collect();
        self.each(|publisher, terminal| {
            publisher.handle_output(now, terminal, (copied.as_ref(), &notifications));
            publisher.prepare(now, terminal);
        });
        handled
    }

    /// Sets the modes of the pty. `tty.prompt` is [`Server::written_input`] if the session's shell, or a program that
    /// it started, waits at its prompt. Read the modes before each call of [`Server::poll_transmit`], so that they are
    /// not older than the screen. A client that shows a prompt must know whether the answer is echoed.
    pub fn handle_tty(&mut self, tty: Tty) {
        // An input number of a former client is void. So is a number from before another client typed.
        let prompt =
            tty.prompt.filter(|it| *it <= self.input.num && Some(*it) > self.input.others_typed_at);
        self.publisher.handle_tty(Tty { prompt, ..tty }, self.input.num);
        for member in self.audience.members_mut() {
            member.publisher.handle_tty(Tty { prompt: None, ..tty }, InputNum::default());
        }
    }

    /// Starts the orderly end of the session, because the command has ended with `status`. Pass all of the command's
    /// output to [`Server::handle_host_output`] first. The end begins later if more scrolled-off lines wait than the
    /// session's last state may hold.
    pub fn handle_host_closed(&mut self, now: Instant, status: Option<ExitStatus>) {
        self.last_lines.get_or_insert_with(|| LastLines::new(now, status));
        self.publisher.hurry_lines();
        self.settle_last_lines(now);
        if self.last_lines.is_some() {
            self.publisher.send_lines(now, &mut self.terminal);
        }
    }

    /// Ends the session once the last state has room for all lines that wait, or the time for the others is over.
    fn settle_last_lines(&mut self, now: Instant) {
        let arrived = self.publisher.arrived_lines();
        let Some(last) = &mut self.last_lines else { return };
        let goes_on = last.goes_on(now, arrived);
        if !goes_on || !self.publisher.owes_lines(&mut self.terminal) {
            self.finish(now, None);
        }
    }

    /// Starts the orderly end of the session, and tells all clients that `by` caused it. Without a client of its own,
    /// or at a second call, the session waits only for joined clients. It ends at once if there are none.
    pub fn shutdown(&mut self, now: Instant, by: Outside) {
        let transport = &self.publisher.transport;
        if transport.is_shutting_down() || transport.peer_address().is_none() {
            self.abandoned.get_or_insert(ServerOutcome::Unacknowledged);
        }
        self.finish(now, Some(ExitStatus::Outside(by)));
    }

    /// Starts the shutdown. The status of a program that has already ended replaces `status`.
    fn finish(&mut self, now: Instant, status: Option<ExitStatus>) {
        let status = self.last_lines.take().map_or(status, |last| last.status);
        self.publisher.finish(now, status, &mut self.terminal);
        self.audience.dismiss(now, status, &mut self.terminal);
    }

    /// Switches to smaller datagrams for the client at `address`. The system refused a datagram of `len` bytes to this
    /// client as too long.
    pub fn handle_message_too_long(&mut self, now: Instant, address: SocketAddr, len: usize) {
        iter::once(&mut self.publisher.transport)
            .chain(self.succession.leaving_mut())
            .chain(self.audience.transports_mut())
            .filter(|transport| transport.peer_address() == Some(address))
            .for_each(|transport| transport.handle_message_too_long(now, len));
    }

    /// Handles all timers that have expired.
    pub fn handle_timeout(&mut self, now: Instant) {
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        self.publisher.transport.handle_timeout(now);
        self.succession.handle_timeout(now);
        self.settle_hold();
        if self.outcome().is_some() {
            return;
        }
        self.input.keys.handle_timeout(now, &mut self.host_input.bytes);
        self.publisher.handle_timeout(now, &mut self.terminal);
        self.audience.handle_timeout(now, &mut self.terminal, &mut self.host_input.bytes);
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
        self.settle_audience(now);
        self.each(|publisher, terminal| publisher.prepare(now, terminal));
        self.settle_last_lines(now);
        self.note_transport_events();
    }

    /// Returns the next datagram to send to any client. `None` if nothing is to be sent now.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        if self.abandoned.is_some() && self.audience.is_over() {
            return None;
        }
        if let Some(transmit) = self.succession.poll_transmit(now) {
            return Some(transmit);
        }
        let transmit = self.publisher.transport.poll_transmit(now);
        if transmit.is_some() {
            self.publisher.prepare(now, &mut self.terminal);
        }
        // The transport notices the loss of its client only when it sends.
        self.note_transport_events();
        transmit.or_else(|| self.audience.poll_transmit(now, &mut self.terminal))
    }

    /// Types a text on the user's behalf, marked as a paste where the program accepts pastes. `tty` has the pty's
    /// present modes. The text must have no control characters.
    ///
    /// # Errors
    ///
    /// Returns the reason why the text is not typed.
    pub fn paste(&mut self, now: Instant, tty: Option<Tty>, text: &str) -> Result<(), Untyped> {
        if self.door() == Door::Locked {
            return Err(Untyped::Locked);
        }
        paste::type_text(&mut self.host_input, self.terminal.screen(), tty, text)?;
        self.note_others_keys(now);
        Ok(())
    }

    /// Removes the first `len` bytes of [`Server::host_input`], which the pty has taken.
    pub fn consume_host_input(&mut self, len: usize) {
        self.host_input.consume(len);
        self.settle_hold();
    }

    /// Returns the next event for the driver, or `None` if there is none.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// Returns when to call [`Server::handle_timeout`] if nothing else happens. `None` for never.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.outcome().is_some() {
            return self.lingers_until();
        }
        [
            self.publisher.transport.poll_timeout(),
            self.succession.poll_timeout(),
            self.audience.poll_timeout(),
            self.input.keys.poll_timeout(),
            self.no_client_deadline(),
            self.network_deadline(),
            self.last_lines.as_ref().map(LastLines::deadline),
        ]
        .into_iter()
        .chain(self.publisher.poll_timeout())
        .flatten()
        .min()
    }

    /// Makes another client the session's own. The server forgets all that it learned of the former client and its
    /// terminal. It keeps the keys that the former client typed for the programs.
    fn change_client(&mut self, now: Instant, newcomer: Newcomer) {
        tracing::info!("another client has come");
        let ended = self.publisher.ended();
        let lines = self.publisher.lines_for_successor(&self.terminal);
        let goes_on = self.succession.replace(now, &mut self.publisher, newcomer);
        self.settle_hold();
        self.publisher.succeed(lines, &self.terminal);
        self.terminal.set_user_terminal(UserTerminal::default());
        self.input = mem::take(&mut self.input).succeed(goes_on, &mut self.host_input.bytes);
        self.audience.forget_own();
        self.tell_joined();
        self.note(ServerEvent::ClientChanged);
        if let Some(status) = ended {
            self.finish(now, status);
        }
    }

    /// Delivers the new events of the session's own client: keys, a window size, wishes and reports.
    fn deliver(&mut self, now: Instant) {
        let application = self.terminal.screen().rich_modes().application_cursor_keys;
        let (transport, out) = (&self.publisher.transport, &mut self.host_input.bytes);
        let Some(news) = self.input.deliver(now, transport, application, out) else { return };
        self.publisher.window = self.audience.handle_own(news.size, news.has_keys);
        for wish in &news.wishes {
            self.audience.obey(now, *wish, &mut self.terminal);
        }
        self.settle_size(now, news.size.is_some());
        if news.is_first && !mem::replace(&mut self.has_started, true) {
            self.note(ServerEvent::Start);
        }
        if news.is_input() {
            self.publisher.handle_input(now);
        }
        if news.has_keys {
            self.key_arrived_at = Some(now);
        }
        self.after_delivery(now);
    }

    /// Delivers the keys of joined clients. Such keys outdate the prompt that the session's own client knows.
    fn deliver_joined(&mut self, now: Instant) {
        let has_keys = self.audience.deliver(now, &mut self.terminal, &mut self.host_input.bytes);
        self.settle_size(now, false);
        if has_keys {
            self.key_arrived_at = Some(now);
            self.note_others_keys(now);
        }
    }

    /// Records that keys which the session's own client has not typed wait for the pty.
    fn note_others_keys(&mut self, now: Instant) {
        self.input.others_typed_at = Some(self.input.num);
        self.publisher.handle_others_keys();
        self.after_delivery(now);
    }

    /// Sets the session's size and the widths of clusters as [`Audience::settle_size`] decides, and publishes a change.
    fn settle_size(&mut self, now: Instant, is_own: bool) {
        let (counting, own_terminal) =
            (self.terminal.screen().cluster_widths(), self.input.user_terminal);
        let size = self.audience.settle_size(now, is_own, own_terminal, &mut self.terminal);
        self.answer_programs();
        if size.is_some() || counting != self.terminal.screen().cluster_widths() {
            self.each(|publisher, terminal| publisher.publish_when_drawn(now, terminal));
        }
        if let Some(size) = size {
            self.note(ServerEvent::Resize(size));
        }
    }

    /// Checks which clients have joined or left, and updates the session's size. Tells all clients of changes.
    fn settle_audience(&mut self, now: Instant) {
        self.settle_size(now, false);
        if self.audience.settle(now, &self.publisher, &mut self.terminal) {
            self.settle_size(now, false);
            self.tell_joined();
            self.each(|publisher, terminal| publisher.publish_when_drawn(now, terminal));
        }
    }

    fn tell_joined(&mut self) {
        let clients = self.audience.tell(&mut self.publisher);
        self.note(ServerEvent::Joined(clients));
    }

    /// Publishes the screen after input, and tells the clients to pause their input if too much waits for the pty.
    fn after_delivery(&mut self, now: Instant) {
        self.settle_hold();
        self.each(|publisher, terminal| publisher.publish_when_drawn(now, terminal));
    }

    /// Tells each client whether it must pause its input.
    fn settle_hold(&mut self) {
        self.host_input.settle_holds();
        let HostInput { holds_own, holds_joined, .. } = self.host_input;
        self.publisher.transport.hold_remote(holds_own || self.succession.holds_input());
        self.audience.hold(holds_joined);
    }

    /// Calls `act` with the publisher of the session's own client and of each joined client.
    fn each(&mut self, mut act: impl FnMut(&mut Publisher, &mut Terminal)) {
        act(&mut self.publisher, &mut self.terminal);
        self.audience.members_mut().for_each(|it| act(&mut it.publisher, &mut self.terminal));
    }

    /// Queues the terminal's answers to programs for the pty.
    fn answer_programs(&mut self) {
        self.host_input.answer(self.terminal.take_replies());
    }

    fn note_transport_events(&mut self) {
        while let Some(event) = self.publisher.transport.poll_event() {
            match event {
                Event::PeerMoved(address) => self.note(ServerEvent::ClientMoved(address)),
                Event::PeerLost => self.note(ServerEvent::ClientLost),
                // These events are for a client only: a server has a single port.
                Event::OpenPort | Event::ClosePorts { .. } => {}
            }
        }
    }

    /// Queues an event for the driver, in place of an older one of its kind. Only the newest size and address matter.
    fn note(&mut self, event: ServerEvent) {
        self.events.retain(|queued| mem::discriminant(queued) != mem::discriminant(&event));
        self.events.push_back(event);
    }
}
