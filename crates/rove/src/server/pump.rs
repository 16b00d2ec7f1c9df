//! The server's loop: datagrams, pty and signals in; session machine; datagrams and pty out.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;

use rove_control::{
    Answer, Attachment, Coming, KeyText, Listener, Request, SessionName, SessionStatus, State,
    Window,
};
use rove_platform::event_loop::{EventLoop, Interest};
use rove_platform::program::Failure;
use rove_platform::pty::{Child, Master, PromptWatch};
use rove_platform::tty_watch::TtyWatch;
use rove_session::{ExitStatus, InputNum, Outside, Server, ServerEvent, ServerOutcome, Tty};
use rove_units::{Duration, Instant};
use signal_hook::consts::{SIGCHLD, SIGINT, SIGTERM, SIGUSR1};

use crate::server::linger::linger;
use crate::server::visitors;
use crate::server::wire::Wire;
use crate::syslog;
use crate::utmp::Entry;

/// The signals the loop wakes for.
pub(super) const SIGNALS: [i32; 4] = [SIGTERM, SIGINT, SIGUSR1, SIGCHLD];
/// Most bytes read from the pty in one turn, so that the network has its turn in between and
/// Ctrl-C reaches a program that never stops writing.
/// Source: Mosh 1.4.0 as observed.
const HOST_OUTPUT_PER_TURN: usize = 16_384;
/// Room for what the pty gives at once; with less the turn's reading is over. A read that takes the
/// rest of a buffer costs as much as any other, and cuts the output where no program ended a write: under
/// `yes` every turn would leave another half of a line on the screen, to be sent in a frame.
/// Source: Linux, whose pty holds 4095 bytes for its reader.
const HOST_READ_MAX: usize = 4096;
const _: () = assert!(HOST_READ_MAX <= HOST_OUTPUT_PER_TURN);
/// Most bytes read after the program's end. Its own output waits in the pty, which holds less. Output beyond that is
/// from a program it left behind, which must not keep the session open. Chosen: four times what Linux lets a pty hold.
const LAST_OUTPUT_MAX: usize = 262_144;
/// How long a program may take to end after the last descriptor of its terminal was closed; then
/// the session ends without its exit status. Chosen: longer than a busy computer leaves a program waiting in the middle
/// of its exit. Only one that lets go of its terminal and stays makes the session last for so long.
const EXIT_GRACE: Duration = Duration::from_secs(3);

/// A session's loop and everything it moves bytes between.
pub(super) struct Pump {
    events: EventLoop,
    session: Server,
    wire: Wire,
    host: Host,
    program: Program,
    tty_watch: TtyWatch,
    prompt_watch: PromptWatch,
    /// The last look's result: up to which input the shell waits at its prompt.
    prompt: Option<InputNum>,
    /// [`Server::takeovers`] at the last look.
    takeovers: u32,
    signal_timeout: Option<Duration>,
    started: Instant,
    buffer: Vec<u8>,
}

/// The host's side of a session.
pub(super) struct Host {
    /// Where the programs write and read.
    pub(super) master: Master,
    pub(super) child: Child,
    /// The session among those who are logged in, where it is listed.
    pub(super) entry: Option<Entry>,
    /// How the session is found and ended from outside. Last, as the end of its connections says that
    /// the rest has been let go of, but for the port of a server that lingers.
    pub(super) control: Option<Control>,
}

impl Host {
    /// Lets go of everything but the program's process, which is still our child.
    fn let_go(self) -> Child {
        let Self { master, child, entry, control } = self;
        drop(master);
        drop(entry);
        drop(control);
        child
    }
}

/// The session's control socket and what is told there.
pub(super) struct Control {
    listener: Listener,
    /// The session's facts that do not change by themselves.
    card: SessionStatus,
}

impl Control {
    /// Opens the socket of the session that this is about.
    pub(super) fn open(name: SessionName, card: SessionStatus) -> Self {
        Self { listener: Listener::open(name), card }
    }
}

/// How far the session's program has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    /// The program runs, as far as we know.
    Running,
    /// The program has ended; what it wrote last is still being read, so many bytes so far.
    Ended { status: ExitStatus, read: usize },
    /// Nobody holds the terminal any more; the program's exit status is due until then.
    HungUp { until: Instant },
    /// The session knows.
    Closed,
}

impl Pump {
    /// Puts the parts together.
    pub(super) fn new(
        events: EventLoop,
        session: Server,
        wire: Wire,
        host: Host,
        signal_timeout: Option<Duration>,
    ) -> Self {
        let started = events.now();
        let buffer = vec![0; HOST_OUTPUT_PER_TURN];
        Self {
            events,
            session,
            wire,
            host,
            program: Program::Running,
            tty_watch: TtyWatch::default(),
            prompt_watch: PromptWatch::default(),
            prompt: None,
            takeovers: 0,
            signal_timeout,
            started,
            buffer,
        }
    }

    /// Turns the loop until the session is over and its client knows, as far as can be.
    pub(super) fn run(mut self) -> anyhow::Result<ServerOutcome> {
        let mut now = self.started;
        let outcome = loop {
            self.session.handle_timeout(now);
            self.wire.handle_timeout(now, &self.session);
            self.look_at_tty(now);
            self.wire.send(now, &mut self.session);
            self.obey_events();
            if let Some(outcome) = self.session.outcome() {
                break outcome;
            }
            now = self.wait_and_read()?;
        };
        let Self { mut events, session, wire, host, .. } = self;
        let is_lingering = session.lingers_until().is_some();
        let far_end = is_lingering.then_some((session, wire));
        let child = host.let_go();
        if let Some((session, wire)) = far_end {
            linger(&mut events, session, wire, child);
        }
        Ok(outcome)
    }

    /// Sleeps until something happens, and hands it to the session. Returns the time it woke.
    fn wait_and_read(&mut self) -> io::Result<Instant> {
        let has_input = !self.session.host_input().is_empty();
        let mut interests = vec![Interest::new(self.wire.as_fd(), true, false)];
        if self.program.has_terminal() {
            interests.push(Interest::new(self.host.master.as_fd(), true, has_input));
        }
        let first_control = interests.len();
        interests.extend(self.host.control.iter().flat_map(|control| control.listener.interests()));
        let deadline = [
            self.session.poll_timeout(),
            self.wire.poll_timeout(),
            self.program.deadline(),
            self.tty_watch.deadline(),
        ];
        let deadline = deadline.into_iter().flatten().min();
        self.events.wait(&mut interests, deadline)?;
        let has_datagrams = interests[0].is_readable();
        let (has_output, takes_input) = interests[1..first_control]
            .first()
            .map_or((false, false), |pty| (pty.is_readable(), pty.is_writable()));
        let is_asked = interests[first_control..]
            .iter()
            .any(|control| control.is_readable() || control.is_writable());

        let now = self.events.now();
        for signal in self.events.take_signals() {
            self.handle_signal(now, signal);
        }
        if has_datagrams {
            self.wire.receive(now, &mut self.session);
        }
        // Keys before output: Ctrl-C must not wait for what it is to stop. So what has just come is
        // tried without asking first; the pty says later when it takes the rest.
        if takes_input || (has_datagrams && self.program.has_terminal()) {
            self.write_host(now);
        }
        if has_output || matches!(self.program, Program::Ended { .. }) {
            self.read_host(now);
        }
        self.settle_hang_up(now);
        if is_asked {
            self.answer_control(now);
        }
        Ok(now)
    }

    fn handle_signal(&mut self, now: Instant, signal: i32) {
        tracing::debug!(signal, "signal");
        let outside = Outside::Signal(u8::try_from(signal).unwrap_or_default());
        match signal {
            SIGCHLD => {
                if let (Program::Running, Some(status)) = (self.program, self.host.child.try_wait())
                {
                    self.program = Program::Ended { status, read: 0 };
                }
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

    /// Tells of the session who asks, and ends it for who asks for that.
    fn answer_control(&mut self, now: Instant) {
        let Some(mut control) = self.host.control.take() else { return };
        let Control { listener, card } = &mut control;
        let is_end = listener.turn(|request, peer| {
            let answer = Answer { status: self.status(now, card), ..Answer::default() };
            match request {
                Request::Attach(way, by) => {
                    match self.invite(now, way, visitors::From { by, peer }) {
                        Ok(key) => Answer { key, ..answer },
                        Err(refusal) => Answer { refusal: Some(refusal.to_string()), ..answer },
                    }
                }
                Request::Status | Request::End => answer,
            }
        });
        self.host.control = Some(control);
        if !is_end {
            return;
        }
        tracing::info!("asked to end");
        self.session.shutdown(now, Outside::Kill);
        // Nobody would acknowledge it.
        if self.state(now) != State::Attached {
            self.session.shutdown(now, Outside::Kill);
        }
    }

    /// Lets another client come in some way. Returns its key, or why it may not come.
    fn invite(
        &mut self,
        now: Instant,
        way: Coming,
        from: visitors::From,
    ) -> Result<Option<KeyText>, visitors::Refusal> {
        let is_attached = self.state(now) == State::Attached;
        visitors::invite(&mut self.session, now, way, from, is_attached)
    }

    fn state(&self, now: Instant) -> State {
        State::of_silence(self.session.client_missed_since().map(|at| now.saturating_since(at)))
    }

    fn status(&self, now: Instant, card: &SessionStatus) -> SessionStatus {
        let age = |since: Instant| now.saturating_since(since).as_secs();
        let screen = self.session.screen();
        let size = screen.size();
        SessionStatus {
            state: self.state(now),
            age_seconds: age(self.started),
            client: self.session.client_address().map(|address| {
                SocketAddr::new(address.ip().to_canonical(), address.port()).to_string()
            }),
            contact_age_seconds: self.session.client_heard_at().map(age),
            key_age_seconds: self.session.key_arrived_at().map(age),
            window: Window { columns: size.columns(), rows: size.rows() },
            attachment: Attachment {
                takeovers: self.session.takeovers(),
                ..card.attachment.clone()
            },
            title: screen.title().to_owned(),
            ..card.clone()
        }
    }

    /// Tells the session the state of the terminal: after all that was read from it, before anything is
    /// sent of that.
    fn look_at_tty(&mut self, now: Instant) {
        let is_due = self.tty_watch.look(now);
        if self.program.has_terminal()
            && let Some(tty) = self.host.master.modes()
        {
            let takeovers = self.session.takeovers();
            // The last look was about input of the former client.
            if is_due || takeovers != self.takeovers {
                self.takeovers = takeovers;
                let Host { master, child, .. } = &self.host;
                let written = self.session.written_input();
                self.prompt = written.filter(|_| self.prompt_watch.look(master, child, tty));
            }
            self.session.handle_tty(Tty { prompt: self.prompt, ..tty });
        }
    }

    fn obey_events(&mut self) {
        let mut start = false;
        while let Some(event) = self.session.poll_event() {
            tracing::info!(?event, "session");
            match event {
                ServerEvent::Start => start = true,
                ServerEvent::Resize(size) => {
                    if let Err(error) = self.host.master.resize(size) {
                        tracing::debug!(%error, "window size not set");
                    }
                }
                ServerEvent::ClientMoved(address) => self.show_client(Some(address.ip())),
                ServerEvent::ClientLost => self.show_client(None),
                ServerEvent::ClientChanged => {
                    let client = self.session.client_address().map(|address| address.ip());
                    let client =
                        client.map_or(String::new(), |ip| format!(" at {}", ip.to_canonical()));
                    syslog::tell(&format!("a client{client} has attached to this session"));
                }
                ServerEvent::Joined(clients) => {
                    if let Some(control) = &mut self.host.control {
                        visitors::note(&mut control.card.attachment.joined, &clients);
                    }
                }
            }
        }
        if start {
            // Last, so that the program finds the window's true size.
            // A client that learns the exit status leaves what the program said last to its user.
            let learns = self.session.client_learns_exit_status();
            self.host.child.release(if learns { Failure::Ends } else { Failure::Waits });
        }
    }

    fn show_client(&mut self, client: Option<IpAddr>) {
        // The user's last login may just have ended, and the system have tidied up.
        if let Some(control) = &mut self.host.control {
            control.listener.flush();
        }
        if let Some(entry) = &mut self.host.entry {
            entry.show(client);
        }
    }

    /// Reads the programs' output, up to a bound.
    fn read_host(&mut self, now: Instant) {
        let mut filled = 0;
        let found = loop {
            match self.host.master.read(&mut self.buffer[filled..]) {
                Ok(0) => break Found::End,
                Ok(len) => filled += len,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break Found::Nothing,
                Err(_) => break Found::End,
            }
            if self.buffer.len() - filled < HOST_READ_MAX {
                break Found::More;
            }
        };
        if filled > 0 {
            self.tty_watch.stir(now);
            self.session.handle_host_output(now, &self.buffer[..filled]);
        }
        self.program = match (self.program, found) {
            (Program::Ended { status, read }, Found::More) if read + filled < LAST_OUTPUT_MAX => {
                Program::Ended { status, read: read + filled }
            }
            (Program::Ended { status, .. }, _) => {
                self.session.handle_host_closed(now, Some(status));
                Program::Closed
            }
            (Program::Running, Found::End) => Program::HungUp { until: now + EXIT_GRACE },
            (program, _) => program,
        };
    }

    /// Hands the user's keys to the programs, as far as the pty takes them.
    fn write_host(&mut self, now: Instant) {
        if self.session.host_input().is_empty() {
            return;
        }
        match self.host.master.write(self.session.host_input()) {
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

    /// Ends the session once nobody holds the terminal and the program has ended, or takes too
    /// long.
    fn settle_hang_up(&mut self, now: Instant) {
        if let Program::HungUp { until } = self.program {
            let status = self.host.child.try_wait();
            if status.is_some() || until <= now {
                self.session.handle_host_closed(now, status);
                self.program = Program::Closed;
            }
        }
    }
}

/// The result of a read from the pty.
enum Found {
    /// As much as may be read in one turn; there may be more.
    More,
    /// All there is at the moment.
    Nothing,
    End,
}

impl Program {
    /// Returns whether someone may still read from the terminal and write to it.
    const fn has_terminal(self) -> bool {
        matches!(self, Self::Running | Self::Ended { .. })
    }

    /// Returns when to look again though nothing has happened.
    const fn deadline(self) -> Option<Instant> {
        match self {
            Self::HungUp { until } => Some(until),
            // There may be more to read, or the end.
            Self::Ended { .. } => Some(Instant::ZERO),
            Self::Running | Self::Closed => None,
        }
    }
}
