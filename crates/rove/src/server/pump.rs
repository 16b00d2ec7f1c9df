//! The server's event loop: passes datagrams, pty output and signals to the session, and its results to network and
//! pty.

use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;

use rove_control::{Answer, Attachment, ClientPath, Request, SessionStatus, State, Window};
use rove_host::program::Failure;
use rove_host::pty::PromptWatch;
use rove_host::tty_watch::TtyWatch;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_session::{ExitStatus, InputNum, Outside, Server, ServerEvent, ServerOutcome, Tty};
use rove_units::{Duration, Instant};
use signal_hook::consts::{SIGCHLD, SIGINT, SIGTERM, SIGUSR1};

use crate::server::forward::Forwards;
use crate::server::host::{Content, Control, Host, Hosted};
use crate::server::host_output::{Found, HostOutput};
use crate::server::linger::linger;
use crate::server::wire::Wire;
use crate::server::{typing, visitors};
use crate::syslog;

/// The signals that wake the loop.
pub(super) const SIGNALS: [i32; 4] = [SIGTERM, SIGINT, SIGUSR1, SIGCHLD];
/// Limit on the work of one turn of the loop for output of the pty, in cells of the screen. The limit lets Ctrl-C reach
/// a program whose output takes much work. Chosen: 16 KiB of one-letter lines at 500x200 cost 10 million. A turn then
/// takes up to 12 ms, and the longest sequence (REP in insert mode) 13 ms more.
const HOST_EFFORT_PER_TURN: u64 = 12_000_000;
/// Most bytes read from the pty after the program's end. The program's own last output is shorter, because it fits into
/// the pty's buffer. A child process that the program left running may print more. It must not keep the session open.
/// Chosen: four times the most that a pty buffers on Linux.
const LAST_OUTPUT_MAX: usize = 262_144;
/// Longest wait for the program's end after the last descriptor of its terminal was closed. Then the session ends
/// without an exit status. Chosen: longer than a busy computer delays a program's exit. Only a program that closes its
/// terminal and keeps running delays the session's end by this time.
const EXIT_GRACE: Duration = Duration::from_secs(3);

/// A session's event loop, with the socket, the pty and the session between which it moves bytes.
pub(super) struct Pump {
    events: EventLoop,
    session: Server,
    wire: Wire,
    forwards: Forwards,
    host: Host,
    program: Program,
    tty_watch: TtyWatch,
    prompt_watch: PromptWatch,
    /// The newest input that the shell, or a program in it, had read when the pty was last examined. `None` if at that
    /// time no program waited at its prompt.
    prompt: Option<InputNum>,
    /// How many clients had taken the session over when the pty was last examined.
    takeovers: u32,
    signal_timeout: Option<Duration>,
    started: Instant,
    output: HostOutput,
}

/// The phase of the session's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    /// There is no program.
    Absent,
    /// The program is running, as far as the loop knows.
    Running,
    /// The program has ended with `status`. The session has since handled `read` bytes of its last output.
    Ended { status: ExitStatus, read: usize },
    /// All descriptors of the terminal are closed. The loop waits until this time for the program's exit status.
    HungUp { until: Instant },
    /// The loop has told the session that the program has ended.
    Closed,
}

impl Pump {
    /// Creates the loop of a session that has just started.
    pub(super) fn new(
        events: EventLoop,
        session: Server,
        wire: Wire,
        host: Host,
        forwards: Forwards,
        signal_timeout: Option<Duration>,
    ) -> Self {
        let started = events.now();
        let program = match host.content {
            Content::Program(_) => Program::Running,
            Content::Streams(_) => Program::Absent,
        };
        Self {
            events,
            session,
            wire,
            forwards,
            host,
            program,
            tty_watch: TtyWatch::default(),
            prompt_watch: PromptWatch::default(),
            prompt: None,
            takeovers: 0,
            signal_timeout,
            started,
            output: HostOutput::new(),
        }
    }

    /// Runs the loop until the session has ended and all reachable clients have been told. Returns how it ended.
    pub(super) fn run(mut self) -> anyhow::Result<ServerOutcome> {
        let mut now = self.started;
        let outcome = loop {
            self.session.handle_timeout(now);
            self.live_for_streams(now);
            self.wire.handle_timeout(now, &self.session);
            self.look_at_tty(now);
            self.wire.send(now, &mut self.session);
            self.forwards.turn(now, &mut self.session, self.host.program());
            self.wire.send_packets(now, &mut self.session, &mut self.forwards);
            self.obey_events();
            if let Some(outcome) = self.session.outcome() {
                break outcome;
            }
            now = self.wait_and_read()?;
        };
        let Self { mut events, session, wire, mut forwards, host, .. } = self;
        forwards.release();
        let is_lingering = session.lingers_until().is_some();
        let far_end = is_lingering.then_some((session, wire));
        let child = host.let_go();
        if let Some((session, wire)) = far_end {
            linger(&mut events, session, wire, child);
        }
        forwards.drain(&mut events)?;
        Ok(outcome)
    }

    /// Waits for events and passes them to the session. Returns the time of waking.
    fn wait_and_read(&mut self) -> io::Result<Instant> {
        let has_input = !self.session.host_input().is_empty();
        let mut interests = vec![Interest::new(self.wire.as_fd(), true, false)];
        if let Some(hosted) = self.host.program()
            && self.program.has_terminal()
            && self.host.hold.is_over()
        {
            interests.push(Interest::new(hosted.master.as_fd(), true, has_input));
        }
        let first_control = interests.len();
        interests.extend(self.host.control.iter().flat_map(|control| control.listener.interests()));
        let first_stream = interests.len();
        interests.extend(self.forwards.interests());
        let deadline = [
            self.session.poll_timeout(),
            self.wire.poll_timeout(),
            self.program.deadline(),
            self.tty_watch.deadline(),
            self.host.hold.deadline(),
            self.host.stream_deadline(),
            self.wire.packets_due(self.forwards.poll_timeout()),
        ];
        let deadline = deadline.into_iter().flatten().min();
        let waits_output = !self.output.waiting().is_empty();
        if self.forwards.has_work() || waits_output {
            self.events.look(&mut interests)?;
        } else {
            self.events.wait(&mut interests, deadline)?;
        }
        let has_datagrams = interests[0].is_readable();
        let (has_output, takes_input) = interests[1..first_control]
            .first()
            .map_or((false, false), |pty| (pty.is_readable(), pty.is_writable()));
        let is_asked = interests[first_control..first_stream].iter().any(Interest::is_ready);

        let ready: Vec<bool> = interests[first_stream..].iter().map(Interest::is_ready).collect();
        self.forwards.handle_ready(&ready);
        let now = self.events.now();
        for signal in self.events.take_signals() {
            self.handle_signal(now, signal);
        }
        if self.host.hold.handle_timeout(now) {
            self.look_for_end();
        }
        if has_datagrams {
            self.wire.receive(now, &mut self.session);
        }
        // Keys are written before output is read, because Ctrl-C must not wait for the output that it stops. New keys
        // are written without polling the pty first. If the pty does not take all keys, the next wait polls the pty.
        if takes_input || (has_datagrams && self.program.has_terminal()) {
            self.write_host(now);
        }
        if has_output || waits_output || matches!(self.program, Program::Ended { .. }) {
            self.read_host(now);
        }
        self.settle_hang_up(now);
        self.answer_control(now, is_asked);
        Ok(now)
    }

    fn handle_signal(&mut self, now: Instant, signal: i32) {
        tracing::debug!(signal, "signal");
        let outside = Outside::Signal(u8::try_from(signal).unwrap_or_default());
        match signal {
            SIGCHLD => {
                self.look_for_end();
                self.forwards.handle_child_end();
                if let Some(entry) = &mut self.host.entry {
                    entry.handle_child_end();
                }
            }
            SIGUSR1 => {
                let missed = self.session.client_missed_since().unwrap_or(self.started);
                let idle = now.saturating_since(missed);
                if self.signal_timeout.is_none_or(|timeout| idle >= timeout) {
                    tracing::info!(idle_seconds = idle.as_secs(), "ended by SIGUSR1");
                    self.session.shutdown(now, outside);
                }
            }
            _ => self.session.shutdown(now, outside),
        }
    }

    /// In a session without a program, discards the client's keys, and ends the session if `StreamLife` says so.
    fn live_for_streams(&mut self, now: Instant) {
        let open = self.forwards.open();
        let Content::Streams(life) = &mut self.host.content else { return };
        let keys = self.session.host_input().len();
        self.session.consume_host_input(keys);
        if life.handle(now, open) {
            tracing::info!("no stream keeps the session");
            self.session.shutdown(now, Outside::Silence);
        }
    }

    /// Notes the program's end, unless its output is still held back.
    fn look_for_end(&mut self) {
        if self.program == Program::Running
            && self.host.hold.is_over()
            && let Some(status) = self.host.try_wait()
        {
            self.program = Program::Ended { status, read: 0 };
        }
    }

    /// Answers requests at the control socket, and ends the session if a request asks for that.
    fn answer_control(&mut self, now: Instant, is_asked: bool) {
        if let Some(control) = &mut self.host.control {
            control.listener.flush_in_time(now);
        }
        let Some(mut control) = self.host.control.take_if(|_| is_asked) else { return };
        let Control { listener, card, path } = &mut control;
        let is_end = listener.turn(|request, peer| {
            match request {
                Request::Tunnel(port) => path.handle_far_end(now, port),
                Request::Forwarder(source) => path.handle_forwarder(now, source),
                _ => {}
            }
            let missed_seconds = self.missed(now).map_or(0, |missed| missed.as_secs());
            let path = ClientPath { missed_seconds, ..path.status(now) };
            let status = SessionStatus { path, ..self.status(now, card) };
            let answer = Answer { status, ..Answer::default() };
            let (coming, by) = match request {
                Request::Attach(way, by) => ((way, None), by),
                Request::Resume(former, by) => ((None, Some(former)), by),
                Request::Drop(name) => {
                    let program = self.host.program();
                    let typed = typing::type_file(&mut self.session, now, program, &name);
                    return Answer { refusal: typed.err().map(|it| it.to_string()), ..answer };
                }
                _ => return answer,
            };
            if card.attachment.no_program {
                let refusal = visitors::Refusal::NoProgram.to_string();
                return Answer { refusal: Some(refusal), ..answer };
            }
            let is_attached = self.state(now) == State::Attached;
            let from = visitors::From { by, peer };
            match visitors::invite(&mut self.session, now, coming, from, is_attached) {
                Ok((key, taken)) => Answer { key, taken, ..answer },
                Err(refusal) => Answer { refusal: Some(refusal.to_string()), ..answer },
            }
        });
        self.host.control = Some(control);
        if !is_end {
            return;
        }
        tracing::info!("asked to end");
        self.session.shutdown(now, Outside::Kill);
        // Without an attached client, nobody confirms the end. After this, the session waits only for joined clients.
        if self.state(now) != State::Attached {
            self.session.shutdown(now, Outside::Kill);
        }
    }

    fn state(&self, now: Instant) -> State {
        State::of_silence(self.missed(now))
    }

    fn missed(&self, now: Instant) -> Option<Duration> {
        self.session.client_missed_since().map(|at| now.saturating_since(at))
    }

    fn status(&self, now: Instant, card: &SessionStatus) -> SessionStatus {
        let age = |since: Instant| now.saturating_since(since).as_secs();
        let screen = self.session.screen();
        let size = screen.size();
        SessionStatus {
            state: self.state(now),
            age_seconds: age(self.started),
            contact_age_seconds: self.session.client_heard_at().map(age),
            key_age_seconds: self.session.key_arrived_at().map(age),
            window: Window { columns: size.columns(), rows: size.rows() },
            attachment: Attachment {
                // A session that is ending gives up its label, so that a login for the label starts another session.
                session: card.attachment.session.clone().filter(|_| !self.session.is_ending()),
                takeovers: self.session.takeovers(),
                forwards: self.forwards.status(),
                ..card.attachment.clone()
            },
            title: screen.title().to_owned(),
            ..card.clone()
        }
    }

    /// Passes the modes of the pty to the session. The modes must be at least as new as the output that was read. The
    /// session must have them before it sends that output.
    fn look_at_tty(&mut self, now: Instant) {
        let is_due = self.tty_watch.look(now);
        if self.program.has_terminal()
            && let Content::Program(hosted) = &self.host.content
            && let Some(tty) = hosted.master.modes()
        {
            let takeovers = self.session.takeovers();
            // After a takeover, the last examination was about the former client's input.
            if is_due || takeovers != self.takeovers {
                self.takeovers = takeovers;
                let Hosted { master, child } = hosted;
                let written = self.session.written_input();
                self.prompt = written.filter(|_| self.prompt_watch.look(master, child, tty));
            }
            self.session.handle_tty(Tty { prompt: self.prompt, ..tty });
        }
    }

    fn obey_events(&mut self) {
        let (mut start, mut shown) = (false, None);
        while let Some(event) = self.session.poll_event() {
            tracing::info!(?event, "session");
            match event {
                ServerEvent::Start => start = true,
                ServerEvent::Resize(size) => {
                    if let Some(hosted) = self.host.program()
                        && let Err(error) = hosted.master.resize(size)
                    {
                        tracing::debug!(%error, "window size not set");
                    }
                }
                ServerEvent::ClientMoved(address) => {
                    if let Some(control) = &mut self.host.control {
                        control.path.handle_client(self.events.now(), address);
                    }
                    shown = Some(Some(address.ip()));
                }
                ServerEvent::ClientLost => shown = Some(None),
                ServerEvent::ClientChanged => self.note_newcomer(),
                ServerEvent::Joined(clients) => {
                    if let Some(control) = &mut self.host.control {
                        visitors::note(&mut control.card.attachment.joined, &clients);
                    }
                }
            }
        }
        if start {
            self.start_program();
        }
        // The program is started first, because `show_client` starts another process and takes time.
        if let Some(client) = shown {
            self.show_client(client);
        }
    }

    fn note_newcomer(&mut self) {
        if let Some(control) = &mut self.host.control {
            control.path.handle_newcomer(self.events.now());
        }
        let client = self.session.client_address().map(|address| address.ip());
        let client = client.map_or(String::new(), |ip| format!(" at {}", ip.to_canonical()));
        syslog::tell(&format!("a client{client} has attached to this session"));
    }

    /// Starts the program, unless it has started early. The caller has set the window's size.
    fn start_program(&mut self) {
        self.host.hold.handle_client(self.events.now());
        let learns = self.session.client_learns_exit_status();
        if let Content::Program(hosted) = &mut self.host.content {
            hosted.child.release(if learns { Failure::Ends } else { Failure::Waits });
        }
    }

    fn show_client(&mut self, client: Option<IpAddr>) {
        // The session may be idle from here on.
        if let Some(control) = &mut self.host.control {
            control.listener.flush();
        }
        if let Some(entry) = &mut self.host.entry {
            entry.show(client);
        }
    }

    /// Reads output from the pty, and passes as much of it to the session as [`HOST_EFFORT_PER_TURN`] permits.
    fn read_host(&mut self, now: Instant) {
        let Content::Program(hosted) = &self.host.content else { return };
        let mut found = self.output.fill(|buffer| hosted.master.read(buffer));
        let (bytes, mut handled) = (self.output.waiting(), 0);
        if !bytes.is_empty() {
            self.tty_watch.stir(now);
            handled = self.session.handle_host_output_within(now, bytes, HOST_EFFORT_PER_TURN);
            self.output.consume(handled);
        }
        let waits = !self.output.waiting().is_empty();
        if waits {
            // The pty reports its end again after the session has handled the waiting output.
            found = Found::More;
        }
        self.program = match (self.program, found) {
            (Program::Ended { status, read }, Found::More)
                if waits || read + handled < LAST_OUTPUT_MAX =>
            {
                Program::Ended { status, read: read + handled }
            }
            (Program::Ended { status, .. }, _) => {
                self.session.handle_host_closed(now, Some(status));
                Program::Closed
            }
            (Program::Running, Found::End) => Program::HungUp { until: now + EXIT_GRACE },
            (program, _) => program,
        };
    }

    /// Writes as many of the user's keys to the pty as the pty takes.
    fn write_host(&mut self, now: Instant) {
        let Content::Program(hosted) = &self.host.content else { return };
        if self.session.host_input().is_empty() {
            return;
        }
        match hosted.master.write(self.session.host_input()) {
            Ok(len) => {
                self.session.consume_host_input(len);
                self.tty_watch.stir(now);
            }
            Err(error) => {
                tracing::debug!(%error, "pty gone");
                if self.program == Program::Running {
                    self.program = Program::HungUp { until: now + EXIT_GRACE };
                }
            }
        }
    }

    /// Once all descriptors of the terminal are closed, ends the session at the program's end or after [`EXIT_GRACE`].
    fn settle_hang_up(&mut self, now: Instant) {
        if let Program::HungUp { until } = self.program
            && self.output.waiting().is_empty()
        {
            let status = self.host.try_wait();
            if status.is_some() || until <= now {
                self.session.handle_host_closed(now, status);
                self.program = Program::Closed;
            }
        }
    }
}

impl Program {
    /// Returns whether programs may still have the terminal open.
    const fn has_terminal(self) -> bool {
        matches!(self, Self::Running | Self::Ended { .. })
    }

    /// Returns when the loop must wake even without an event. `None` for never.
    const fn deadline(self) -> Option<Instant> {
        match self {
            Self::HungUp { until } => Some(until),
            // The pty may already hold more of the last output, so the loop does not wait.
            Self::Ended { .. } => Some(Instant::ZERO),
            Self::Absent | Self::Running | Self::Closed => None,
        }
    }
}
