//! The client: the user's keys in, datagrams out; datagrams in, frames out.

mod addresses;
mod drawing;
mod end_request;
mod interface;
mod prediction;

use core::net::SocketAddr;
use core::ops::Range;

use rove_predict::{Engine, InputNum, Network};
use rove_ssp::{
    Capabilities, Closed, Config, Ecn, Event, ReceiveError, Role, StateNum, Transmit, Transport,
};
use rove_terminal::display::Vocabulary;
use rove_terminal::{Screen, Size};
use rove_units::{Bytes, Duration, Instant};

pub use self::interface::{ClientConfig, ClientEvent, ClientOutcome};
use crate::announced::Announced;
use crate::bar::Bar;
use crate::client::drawing::Drawing;
use crate::client::end_request::EndRequest;
use crate::escape::{EscapeKey, Requests};
use crate::host_screen::HostScreen;
use crate::last_screen::{Ending, LastScreen, MissingLines};
use crate::notice::Notices;
pub use crate::notice::Trouble;
use crate::one_shot_effects::OneShotEffects;
use crate::probe::{Probe, blank_row};
use crate::report::TerminalReport;
use crate::status::{Facts, StatusView};
use crate::user_stream::{UserEvent, UserStream};

/// Unacknowledged input, in events, above which the user's terminal is not read.
/// Chosen: a paste is then paced by the network and waits in the terminal, while 1 MiB is more than
/// any path drains between two of our reads.
pub(crate) const INPUT_PENDING_MAX: u64 = 1_048_576;

/// How long to wait for the server's first state. Source: Mosh 1.4.0 as observed, docs/wire.md.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// How long a server that was never heard, or is gone, is told that the user has left. Chosen: some four tries at
/// the pace of a session without a measured path. It may have heard us, though nothing came back, and
/// should not wait for us; but nobody likes to wait for a server that is not there.
const UNHEARD_FAREWELL: Duration = Duration::from_secs(1);

/// Most memory that a client's process takes with a window of 80x24, whatever the server sends. Chosen: twice what the
/// worst server of `tests/memory.rs` makes it take.
pub const MEMORY_MAX_80X24: Bytes = Bytes::mib(64);

/// The same with a window of 500x200.
pub const MEMORY_MAX_500X200: Bytes = Bytes::mib(128);

/// The client end of a session.
pub struct Client {
    transport: Transport<UserStream, HostScreen>,
    server: SocketAddr,
    start: Instant,
    /// When the server was heard again after a silence worth a notice.
    regained_at: Instant,
    probe: Probe,
    escape: EscapeKey,
    notices: Notices,
    drawing: Drawing,
    one_shot_effects: OneShotEffects,
    engine: Engine,
    tty: Tty,
    last_screen: LastScreen,
    /// The user's window.
    window: Size,
    /// Whether the server is still to be told the window's size.
    window_unsent: bool,
    /// The sizes that the server may show.
    announced: Announced,
    /// Reports on the user's terminal that the server has yet to be sent: at most one for each answer, and one for what
    /// the user allows.
    reports: Vec<TerminalReport>,
    /// The notice bar, as it should be on the terminal now.
    bar: Option<Bar>,
    /// When the bar changes by itself.
    bar_due: Option<Instant>,
    status: StatusView,
    /// The port that datagrams leave from, if the driver has said.
    local_port: Option<u16>,
    /// Whether the terminal may show something else than it should.
    stale: bool,
    /// Whether the driver is still to be told to suspend.
    suspend_due: bool,
    /// Whether the driver is still to be told to let the user log in.
    login_due: bool,
    /// When the host last refused what was sent to the server.
    refused_at: Option<Instant>,
    /// When to leave a server that does not answer, once the user wants to, and how the session has ended then.
    farewell: Option<(Instant, ClientOutcome)>,
    /// How the session ended when that time had come, or the user had insisted.
    given_up: Option<ClientOutcome>,
    end_request: EndRequest,
}

/// Who has the user's terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tty {
    /// We are to take it over with the next output.
    Due,
    /// We have.
    Ours,
    /// We have given it back.
    Returned,
}

impl Client {
    /// Creates a client. Its first datagram, the window size, is ready at once.
    pub fn new(config: ClientConfig, now: Instant) -> Self {
        let understood = config.understood();
        let ClientConfig {
            server, key, transport, size, terminal, query, prediction, chaff, ..
        } = config;
        let transport = Config { capabilities: understood, ..transport };
        let escape = EscapeKey::new(config.escape_key, config.offers_status);
        let mut client = Self {
            transport: Transport::new(
                Role::Client { server },
                &key,
                transport,
                UserStream::new(),
                HostScreen::replica(size),
                chaff,
                now,
            ),
            server,
            start: now,
            regained_at: now,
            notices: Notices::new(config.program, escape.quit_hint(), config.offers_status),
            probe: Probe::new(query),
            escape,
            one_shot_effects: OneShotEffects::new(terminal.operating_system_commands),
            drawing: Drawing::new(terminal),
            engine: Engine::new(prediction, size),
            tty: Tty::Due,
            last_screen: LastScreen::new(config.running),
            window: size,
            window_unsent: true,
            announced: Announced::default(),
            reports: Vec::new(),
            bar: None,
            bar_due: None,
            status: StatusView::default(),
            local_port: None,
            stale: true,
            suspend_due: false,
            login_due: false,
            refused_at: None,
            farewell: None,
            given_up: None,
            end_request: EndRequest::new(config.is_end_obeyed_twice),
        };
        client.send_window();
        client.refresh(now);
        client
    }

    /// Takes a datagram from the network.
    ///
    /// # Errors
    ///
    /// Returns why it was of no use, for the log; the client has noted what the user should see.
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

    /// Returns whether a state of the server's is more work than may be done at once. [`Client::handle_timeout`] goes on
    /// with it; the driver looks at keys and signals in between, and takes no datagram.
    pub fn has_work(&self) -> bool {
        self.transport.has_work()
    }

    /// Returns the work done so far for what the server has sent, in cells of its screen.
    pub fn effort(&self) -> u64 {
        self.transport.effort()
    }

    /// Returns what is known of the server before it is heard: the number of its newest state, and whether it has been
    /// silent for too long.
    fn before_work(&self, now: Instant) -> (StateNum, bool) {
        (self.transport.remote_num(), self.contact().is_late(now))
    }

    /// Follows the changes that a datagram of the server's has made.
    fn after_work(
        &mut self,
        now: Instant,
        (num, was_late): (StateNum, bool),
        result: Result<(), ReceiveError>,
    ) -> Result<(), ReceiveError> {
        match &result {
            Ok(()) => self.notices.heard(now),
            // A stranger's word is not worth a notice either.
            Err(error) if !error.is_from_peer() => return result,
            Err(error) => self.note_receive_error(now, error),
        }
        if self.transport.remote_num() != num {
            self.stale = true;
            self.one_shot_effects.look(now, self.transport.remote());
            self.drawing.look(&self.transport.remote().parts().scrolled);
            self.engine.handle_tty(self.tty());
            if was_late {
                self.regained_at = now;
                tracing::info!("contact regained");
            }
        }
        self.engine.handle_network(self.network());
        self.stale |= self.engine.is_active();
        let (known, shown) = (self.transport.known_receiver_state().end(), self.screen().size());
        if self.announced.acknowledge(known, shown) {
            self.allow_sizes();
        }
        self.send_window();
        self.send_reports();
        self.refresh(now);
        result
    }

    /// Takes bytes the user typed, and what the terminal answers. Call it only while
    /// [`Client::wants_input`] holds; no key given to it is ever dropped before the session ends.
    pub fn handle_input(&mut self, now: Instant, bytes: &[u8]) {
        let mut typed = Vec::with_capacity(bytes.len());
        self.probe.handle_input(now, bytes, &mut typed);
        while let Some(answer) = self.probe.poll_answer() {
            tracing::debug!(?answer, "the terminal says");
            let mut report = None;
            self.drawing.renderer.learn(|capabilities| report = answer.teach(capabilities));
            self.reports.extend(report);
            self.stale = true;
        }
        self.send_reports();
        self.handle_typed(now, &typed);
        self.refresh(now);
    }

    /// Returns whether the user's terminal should be read: false above 1 MiB of unacknowledged input
    /// and once the session is ending, unless the terminal itself has still to answer, or the user may insist.
    pub fn wants_input(&self) -> bool {
        if self.is_ending() {
            return self.owes_answers() || self.end_request.wants_input();
        }
        self.pending_input() < INPUT_PENDING_MAX
    }

    /// Takes the end of the user's input (the terminal is gone): starts the orderly end.
    pub fn handle_input_closed(&mut self, now: Instant) {
        self.end_request.handle_input_closed();
        self.start_end(now, "Exiting...");
    }

    /// Takes the window's new size. What is known is shown in it at once, cut or with empty space
    /// around, until the server's answer brings the picture for that size.
    pub fn handle_resize(&mut self, now: Instant, size: Size) {
        if size == self.window {
            return;
        }
        self.window = size;
        self.window_unsent = true;
        self.drawing.keep_cut_rows(self.transport.remote().screen(), size);
        self.send_window();
        self.engine.reset();
        self.drawing.renderer.invalidate();
        self.stale = true;
        self.refresh(now);
    }

    /// Starts the orderly end because of a signal or on request; `reason` is shown. With a server
    /// that was never heard, or is gone, it is a short one; a second request ends the session at once, if the
    /// configuration says so.
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
            self.notices.is_gone(now, self.contact()).then_some(ClientOutcome::Gone)
        };
        if let Some(outcome) = outcome {
            self.farewell.get_or_insert((now + UNHEARD_FAREWELL, outcome));
        }
        self.notices.farewell(reason);
        self.transport.start_shutdown(now);
        self.refresh(now);
    }

    /// Takes the terminal over again after [`ClientEvent::Suspend`] or a SIGCONT: full repaint.
    pub fn handle_resume(&mut self, now: Instant) {
        self.tty = Tty::Due;
        self.stale = true;
        self.refresh(now);
    }

    /// Returns where the session's secrets lie ([`Transport::key_memory`]).
    pub fn key_memory(&self) -> Range<*const u8> {
        self.transport.key_memory()
    }

    /// Does what is due.
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
        self.probe.handle_timeout(now, &mut typed);
        self.handle_typed(now, &typed);
        self.send_reports();
        if self.connect_deadline().is_some_and(|deadline| deadline <= now) {
            tracing::info!("no answer from the server");
            self.notices.farewell("Timed out waiting for server...");
            self.transport.start_shutdown(now);
        }
        if let Some((_, outcome)) = self.pending_farewell().filter(|(due, _)| *due <= now) {
            self.given_up = Some(outcome);
        }
        self.refresh(now);
    }

    /// Returns the next datagram to send.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        self.transport.poll_transmit(now)
    }

    /// Returns bytes for the user's terminal, or `None` when it shows what it should.
    ///
    /// They always lead to the newest frame or towards it, so a terminal that is slow to take bytes should not be
    /// polled for: it then skips what nobody could have seen. A frame of very many cells comes in stages, between
    /// which the driver may look at other things.
    pub fn poll_output(&mut self, now: Instant) -> Option<Vec<u8>> {
        self.refresh(now);
        if self.tty == Tty::Returned || !core::mem::take(&mut self.stale) {
            return None;
        }
        let mut out = Vec::new();
        let is_due = self.tty == Tty::Due;
        if is_due {
            self.tty = Tty::Ours;
            out = self.drawing.renderer.open();
        }
        self.one_shot_effects.perform(now, &mut out);
        if self.transport.capabilities().contains(Capabilities::RICH_SCREEN) {
            self.drawing.renderer.follow(Vocabulary::Rich);
        }
        if self.transport.capabilities().contains(Capabilities::SCROLLBACK) {
            self.drawing.renderer.follow_scrollback();
        }
        let mut frame = self.compose(now);
        let (picture, is_more) = self.drawing.draw(&mut frame);
        out.extend(picture);
        self.stale = is_more;
        if is_due {
            // Behind the frame: nobody waits for the answers.
            let sets_alternate_scroll = self.drawing.renderer.sets_alternate_scroll();
            out.extend(self.probe.ask(now, sets_alternate_scroll, blank_row(&frame)));
        } else if !is_more && self.transport.capabilities().contains(Capabilities::CLUSTERS) {
            out.extend(self.probe.ask_newer(now, &frame));
        }
        (!out.is_empty()).then_some(out)
    }

    /// Returns whether [`Client::poll_output`] may have something.
    pub fn has_output(&self) -> bool {
        self.tty != Tty::Returned && self.stale
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        if self.suspend_due && !self.owes_answers() {
            self.suspend_due = false;
            return Some(ClientEvent::Suspend);
        }
        if self.login_due && !self.owes_answers() {
            self.login_due = false;
            return Some(ClientEvent::LogIn);
        }
        loop {
            return Some(match self.transport.poll_event()? {
                Event::OpenPort => ClientEvent::OpenPort,
                Event::ClosePorts { keep } => ClientEvent::ClosePorts { keep },
                // Where datagrams go stands in each.
                Event::PeerMoved(_) | Event::PeerLost => continue,
            });
        }
    }

    /// Returns when to call [`Client::handle_timeout`] if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.outcome().is_some() {
            return None;
        }
        if self.has_work() {
            return Some(Instant::ZERO);
        }
        let farewell = self.pending_farewell().map(|(due, _)| due);
        // Where output waits to be taken already, the bell waits with it.
        let event = self.one_shot_effects.poll_timeout().filter(|_| !self.stale);
        let prediction = self.engine.poll_timeout().filter(|_| !self.stale);
        [
            self.transport.poll_timeout(),
            self.bar_due,
            self.status.poll_timeout(),
            self.connect_deadline(),
            farewell,
            self.end_request.poll_timeout(),
            event,
            prediction,
            self.escape.poll_timeout().filter(|_| !self.is_ending()),
            self.probe.poll_timeout(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Returns the bytes that give the terminal back as it was found: for the end and for a suspend.
    /// The last frame before them is free of notices and predictions.
    pub fn close_terminal(&mut self) -> Vec<u8> {
        if self.tty != Tty::Ours {
            self.tty = Tty::Returned;
            return Vec::new();
        }
        self.tty = Tty::Returned;
        let frame = self.screen().clipped(self.window);
        let mut out = Vec::new();
        self.one_shot_effects.perform_all(&mut out);
        self.stale = false;
        out.extend(self.drawing.finish(&frame));
        let leaves_screen =
            self.outcome().is_some() && self.last_screen.stays(self.ending(), self.screen());
        out.extend(match leaves_screen {
            true => self.drawing.renderer.close_leaving(&frame),
            false => self.drawing.renderer.close(),
        });
        out
    }

    /// Returns what the user has not got of a command's output, once the session is over and the terminal given back.
    pub fn missing_lines(&self) -> Option<MissingLines> {
        self.last_screen.missing(self.ending(), self.screen(), self.drawing.missing_lines())
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

    /// Returns how the session ended, once it has.
    ///
    /// A session shorter than the terminal takes to answer waits for that, within bounds.
    pub fn outcome(&self) -> Option<ClientOutcome> {
        if self.owes_answers() {
            return None;
        }
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

    /// Returns the server's newest screen, without notices.
    pub fn screen(&self) -> &Screen {
        self.transport.remote().screen()
    }

    /// Returns the smoothed round-trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.transport.srtt()
    }

    /// Returns how many events, keys and resizes, the server has not acknowledged yet.
    pub fn pending_input(&self) -> u64 {
        self.transport.local().end() - self.transport.known_receiver_state().end()
    }

    /// Returns whether the newest screen was taken after the host's programs had their time to answer all input, by the
    /// server's echo ack.
    pub fn has_all_answers(&self) -> bool {
        let Network { echo_ack, arrived, .. } = self.network();
        self.pending_input() == 0 && echo_ack >= arrived
    }

    /// Takes what the user has typed; with nothing, what waited for more and need wait no longer.
    fn handle_typed(&mut self, now: Instant, typed: &[u8]) {
        if self.is_ending() {
            // Keys have nowhere to go, but the user may insist.
            if self.escape.handle(now, typed, &mut Vec::new()).quit {
                self.shutdown(now, "Exiting on user request...");
            }
            return;
        }
        let mut keys = Vec::with_capacity(typed.len());
        if !self.status.is_shown() {
            self.escape.status_gone();
        }
        let requests = self.escape.handle(now, typed, &mut keys);
        if requests.closes_status {
            self.status.close();
        }
        if requests.status {
            self.status.open(now);
        }
        self.take_keys(now, &keys, requests);
    }

    /// Sends keys on and does what the user has asked for.
    fn take_keys(&mut self, now: Instant, keys: &[u8], requests: Requests) {
        self.suspend_due |= requests.suspend;
        self.login_due |= requests.login;
        if requests.repaint {
            self.drawing.renderer.invalidate();
            self.stale = true;
        }
        if !keys.is_empty() {
            // Stock predicts what is typed before it takes out what is meant for itself. Only keys
            // that reach the program can have an effect on the screen.
            let sent = InputNum::new(self.transport.sent_num().get());
            self.engine.handle_keys(now, sent, keys);
            self.stale |= self.engine.is_active();
            self.append(|stream| stream.push_bytes(keys));
            self.last_screen.note_keys(self.transport.remote().screen());
        }
        if requests.quit {
            self.shutdown(now, "Exiting on user request...");
        }
    }

    /// Composes a frame: the server's screen, over it what is predicted, all of it as the window shows
    /// it, and over that the notices, from which nothing is predicted.
    fn compose(&mut self, now: Instant) -> Screen {
        let mut frame =
            self.engine.frame(now, self.transport.remote().screen()).clipped(self.window);
        if let Some(bar) = &self.bar {
            bar.draw(&mut frame);
        }
        self.status.draw(&mut frame, u16::from(self.bar.is_some()));
        frame
    }

    /// Works out the notice bar and the status anew.
    fn refresh(&mut self, now: Instant) {
        let contact = self.contact();
        let (help, login_hints) = (self.escape.help(), self.escape.login_hints());
        let bar = self.notices.bar(now, contact, help, login_hints);
        self.stale |= bar != self.bar || self.one_shot_effects.is_due(now);
        if self.status.is_due(now) {
            let facts = self.facts();
            self.status.renew(now, &facts);
        }
        self.stale |= self.status.take_stale();
        self.stale |= self.engine.poll_timeout().is_some_and(|due| due <= now);
        self.bar = bar;
        self.bar_due = self.notices.poll_timeout(now, contact);
    }

    fn facts(&self) -> Facts {
        Facts {
            path: self.transport.path(),
            frame_interval: self.transport.frame_interval(),
            peer: self.transport.peer(),
            capabilities: self.transport.capabilities(),
            server: self.server(),
            local_port: self.local_port,
            is_tunnelled: self.notices.is_tunnelled(),
            pending_input: self.pending_input(),
        }
    }

    /// Tells the server the window's size, unless so much input waits already that it would grow
    /// without bound; then the newest size goes out when that has cleared.
    fn send_window(&mut self) {
        if self.window_unsent && self.pending_input() < INPUT_PENDING_MAX {
            self.window_unsent = false;
            let event = UserEvent::Resize(self.window);
            self.append(|stream| stream.push(event));
            self.announced.tell(self.window, self.transport.local().end());
            self.allow_sizes();
        }
    }

    /// Bounds the copies of the server's screen by the sizes that it was told.
    fn allow_sizes(&mut self) {
        let allowed = self.announced.allowed();
        self.transport.adjust_remote(|state| state.allow(&allowed));
    }

    /// Reports what the terminal's user allows; a server that is not ours is never told. To be called before anything else.
    pub fn allow(&mut self, permission: TerminalReport) {
        self.reports.push(permission);
    }

    /// Tells the server what is known of the terminal, once it has shown that it understands; a stock
    /// server never sees any of it.
    fn send_reports(&mut self) {
        let capabilities = self.transport.capabilities();
        let is_understood = capabilities.contains(Capabilities::TERMINAL_REPORT);
        if is_understood && !self.reports.is_empty() && self.pending_input() < INPUT_PENDING_MAX {
            let mut reports = core::mem::take(&mut self.reports);
            reports.retain(|report| report.is_known_with(capabilities));
            self.append(|stream| {
                reports.into_iter().map(UserEvent::Terminal).for_each(|event| stream.push(event));
            });
        }
    }

    fn append(&mut self, append: impl FnOnce(&mut UserStream)) {
        let mut stream = self.transport.local().clone();
        append(&mut stream);
        self.transport.publish(stream);
    }

    /// Tells the user of the server's faults, but for those that are the protocol's daily bread.
    fn note_receive_error(&mut self, now: Instant, error: &ReceiveError) {
        let expected =
            matches!(error, ReceiveError::StaleReference { .. } | ReceiveError::QueueFull);
        if !expected {
            self.notices.say(now, format!("Bad datagram: {error}."));
        }
    }

    /// Returns when to give up waiting for the server's first state.
    fn connect_deadline(&self) -> Option<Instant> {
        (self.is_connecting() && !self.is_ending()).then(|| self.start + CONNECT_TIMEOUT)
    }

    /// Returns whether what the terminal answers could still go to whoever has it next.
    fn owes_answers(&self) -> bool {
        self.tty == Tty::Ours && self.probe.owes_answers()
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
