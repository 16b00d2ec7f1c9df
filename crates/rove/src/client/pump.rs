//! The client's event loop. It passes keys, datagrams and signals to the session's state machine. It writes the
//! session's frames to the terminal, and sends its datagrams.

use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::os::fd::AsFd as _;

use anyhow::Context as _;
use rove_bootstrap::ProgramName;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_platform::network_watch::NetworkWatch;
use rove_platform::tty::{self, Tty};
use rove_session::{Client, ClientEvent, ClientOutcome, MissingLines};
use rove_udp::Refusal;
use rove_units::Instant;
use rustix::io::Errno;
use rustix::process::{Signal, kill_current_process_group};
use rustix::stdio;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGWINCH};

use crate::client::streams::ClientStreams;
use crate::client::wire::Wire;
use crate::messages::reason;
use crate::prompt_store::PromptKeeper;
use crate::resume::RecordKeeper;
use crate::server::{open_nothing, silence};
use crate::sys::{self, Fork};
use crate::{hardening, threads};

/// The signals for which the loop wakes.
pub(super) const SIGNALS: [i32; 6] = [SIGWINCH, SIGCONT, SIGTERM, SIGINT, SIGHUP, SIGPIPE];
/// Most bytes that one turn of the loop reads from the terminal. Source: Mosh 1.4.0 as observed.
const INPUT_PER_TURN: usize = 16_384;

/// How a client ended, with the facts for messages to the user.
#[derive(Default)]
pub(crate) struct End {
    /// The session's outcome; `None` if the session goes on without this client.
    pub(crate) outcome: Option<ClientOutcome>,
    /// All addresses at which the server may be, in the order in which the client learnt them.
    pub(crate) tried: Vec<SocketAddr>,
    pub(crate) refusal: Option<Refusal>,
    /// Why the tunnel's newest ssh failed; empty if no ssh failed, or if a later ssh worked. `None` without a tunnel.
    pub(crate) tunnel: Option<String>,
    /// Why drawing on the terminal failed.
    pub(crate) output_error: Option<String>,
    /// The first signal that asked this client to end, if any.
    pub(crate) signal: Option<i32>,
    /// The part of a command's output that did not arrive, if any.
    pub(crate) missing: Option<MissingLines>,
    /// Why the client ended the session, if it did so because connections cannot be forwarded.
    pub(crate) not_forwarded: Option<String>,
}

/// The event loop of a client with a terminal, or of one that shows nothing and forwards connections (`-N`).
pub(super) struct Pump {
    events: EventLoop,
    session: Client,
    wire: Wire,
    forwards: ClientStreams,
    /// Reports changes of this computer's network. `None` if the system does not report them, or a read has failed.
    network: Option<NetworkWatch>,
    terminal: Tty,
    name: ProgramName,
    /// Saves the shell prompts that the session has learnt. `None` if prompts are not remembered.
    prompts: Option<PromptKeeper>,
    /// Keeps the record for `rove resume`. `None` if the session has no record.
    record: Option<RecordKeeper>,
    /// The bytes of a screen frame that are being written to the terminal. The loop asks the session for the next frame
    /// only after this one is written. A slow terminal thus skips frames instead of queueing them.
    frame: Vec<u8>,
    /// Number of bytes of `frame` that were written.
    written: usize,
    output_error: Option<String>,
    /// The last error in sending or receiving datagrams, over UDP or ssh.
    refusal: Option<Refusal>,
    signal: Option<i32>,
    buffer: Vec<u8>,
}

impl Pump {
    pub(super) fn new(
        events: EventLoop,
        session: Client,
        wire: Wire,
        terminal: Tty,
        name: ProgramName,
        prompts: Option<PromptKeeper>,
        record: Option<RecordKeeper>,
    ) -> Self {
        Self {
            events,
            session,
            wire,
            forwards: ClientStreams::default(),
            // Without `NetworkWatch`, the session notices a change of the network at its next heartbeat.
            network: NetworkWatch::open()
                .inspect_err(|error| tracing::debug!(%error, "changes of the network are not told"))
                .ok(),
            terminal,
            name,
            prompts,
            record,
            frame: Vec::new(),
            written: 0,
            output_error: None,
            refusal: None,
            signal: None,
            buffer: vec![0; INPUT_PER_TURN],
        }
    }

    /// Sets the streams, with the listeners, agent and files that use them.
    pub(super) fn with(self, forwards: ClientStreams) -> Self {
        Self { forwards, ..self }
    }

    /// Runs the loop until the session is over or [`Pump::is_left`] is true. Restores the terminal, and returns how the
    /// client ended. In the parent process after [`Pump::split`], returns an empty [`End`] at once.
    pub(super) fn run(mut self) -> anyhow::Result<End> {
        let mut now = self.events.now();
        self.wire.name_port(&mut self.session);
        let outcome = loop {
            self.session.handle_timeout(now);
            self.forwards.turn(now, &mut self.session);
            self.send_datagrams(now);
            self.obey_events(now)?;
            self.draw(now);
            if let (Some(keeper), Some(memory)) = (&mut self.prompts, self.session.prompt_memory())
            {
                // A prompt after which the host did not echo is saved at once, because other sessions may meet it, too.
                keeper.note_refusals(memory);
            }
            if let Some(outcome) = self.session.outcome() {
                // The record of a client that never reached the server stays, because a later client may succeed.
                let record =
                    self.record.as_mut().filter(|_| outcome != ClientOutcome::NeverConnected);
                record.into_iter().for_each(RecordKeeper::remove);
                break Some(outcome);
            }
            if self.is_left() {
                break None;
            }
            if self.forwards.are_settled(&self.session) && self.split()? {
                // The session and all sockets belong to the child process, so this process must not drop them.
                std::mem::forget(self);
                return Ok(End::default());
            }
            now = self.wait_and_read(now)?;
        };
        self.leave_terminal();
        if let (Some(keeper), Some(memory)) = (self.prompts.take(), self.session.prompt_memory()) {
            keeper.close(memory);
        }
        let tried = self.session.candidates().iter().collect();
        let tunnel = self.wire.tunnel();
        let tunnel = tunnel.map(|tunnel| tunnel.reason.clone().unwrap_or_default());
        let missing = self.session.missing_lines();
        let Self { refusal, output_error, signal, forwards, .. } = self;
        let not_forwarded = forwards.into_failure();
        Ok(End { outcome, tried, refusal, tunnel, output_error, signal, missing, not_forwarded })
    }

    /// Forks, so that the child goes on in the background. Returns `true` in the parent and `false` in the child. While
    /// a thread resolves a host's name, does not fork and returns `false`, so that the caller tries again.
    fn split(&mut self) -> anyhow::Result<bool> {
        let alone = match threads::check_alone() {
            Err(threads::ThreadsError::Started(_)) => return Ok(false),
            alone => alone.context("cannot go to the background")?,
        };
        let nothing = open_nothing().context("cannot go to the background")?;
        let (mut told, tells) = std::io::pipe().context("cannot go to the background")?;
        if let Fork::Parent(_) = sys::fork(alone).context("cannot go to the background")? {
            drop(tells);
            // The parent waits until the child has left the terminal's session. Otherwise the parent's exit could make
            // the kernel send SIGHUP to the child.
            let _ = told.read(&mut [0]);
            return Ok(true);
        }
        let _ = rustix::process::setsid();
        let _ = silence(nothing);
        drop(tells);
        hardening::keep_in_memory(self.session.key_memory());
        self.forwards.handle_split();
        Ok(false)
    }

    /// Waits for events, unless work is left, and passes them to the session. Handles signals and keys first, then a
    /// limited number of datagrams, so that the next keys do not wait long. Returns the time after the wait.
    fn wait_and_read(&mut self, now: Instant) -> io::Result<Instant> {
        let (is_drawing, is_behind) = (self.is_drawing(), self.wire.has_arrivals());
        let deadline = self.poll_timeout();
        let mut interests = self.wire.interests();
        let datagrams = interests.len();
        if is_drawing {
            interests.push(Interest::new(self.terminal.output(), false, true));
        }
        let input = interests.len();
        if self.session.wants_input() {
            interests.push(Interest::new(self.terminal.input(), true, false));
        }
        let network = interests.len();
        interests.extend(self.network.iter().map(|it| Interest::new(it.as_fd(), true, false)));
        let forwards = interests.len();
        interests.extend(self.forwards.interests(&self.session));
        let has_output = !is_drawing && self.session.has_output(now);
        if self.session.has_work() || is_behind || has_output || self.forwards.has_work() {
            self.events.look(&mut interests)?;
        } else {
            self.events.wait(&mut interests, deadline)?;
        }
        let has_input = interests[input..network].iter().any(Interest::is_readable);
        let has_news = interests[network..forwards].iter().any(Interest::is_readable);
        let has_datagrams: Vec<bool> =
            interests[..datagrams].iter().map(Interest::is_readable).collect();
        let ready: Vec<bool> = interests[forwards..].iter().map(Interest::is_ready).collect();
        self.forwards.handle_ready(&ready);

        let now = self.events.now();
        for signal in self.events.take_signals() {
            self.handle_signal(now, signal);
        }
        if has_input && !self.is_left() {
            self.read_input(now);
        }
        let refusal = self.wire.receive(now, &has_datagrams, &mut self.session, |_, _, _| ());
        self.refusal = refusal.or(self.refusal.take());
        if has_news {
            self.wire.look_at_network(now, &mut self.network, &mut self.session);
        }
        Ok(now)
    }

    /// Returns the time by which the loop must begin its next turn. `None` without a deadline.
    fn poll_timeout(&self) -> Option<Instant> {
        let deadlines = [
            self.session.poll_timeout(),
            self.wire.poll_timeout(&self.session),
            self.forwards.poll_timeout(),
        ];
        deadlines.into_iter().flatten().min()
    }

    /// Returns whether the terminal is gone (SIGHUP) and the session waits for another client.
    fn is_left(&self) -> bool {
        let outlives = self.record.as_ref().is_some_and(RecordKeeper::outlives_terminal);
        outlives && self.signal == Some(SIGHUP)
    }

    /// Handles the loss of the terminal, which SIGHUP reports, or earlier a failed read or write. Returns whether the
    /// session outlives the terminal. If so, this client leaves the session as after SIGHUP.
    fn outlives_hangup(&mut self) -> bool {
        let outlives = self.record.as_ref().is_some_and(RecordKeeper::outlives_terminal);
        if outlives {
            self.signal.get_or_insert(SIGHUP);
        }
        outlives
    }

    fn handle_signal(&mut self, now: Instant, signal: i32) {
        tracing::debug!(signal, "signal");
        match signal {
            SIGHUP if self.outlives_hangup() => {}
            SIGWINCH => self.session.handle_resize(now, self.terminal.size()),
            SIGCONT => self.resume(now),
            // SIGPIPE may come from the pipe to an ssh or from a forwarded connection. If it came from the terminal,
            // drawing the next frame fails.
            SIGPIPE if self.wire.has_pipe() || self.forwards.write_to_others() => {}
            _ => {
                self.signal.get_or_insert(signal);
                self.session.shutdown(now, "Signal received, shutting down...");
            }
        }
    }

    /// Puts the terminal into raw mode again, and tells the session to resume with the terminal's present size.
    fn resume(&mut self, now: Instant) {
        if let Err(error) = self.terminal.enter() {
            tracing::debug!(%error, "terminal not raw");
        }
        self.session.handle_resume(now);
        self.session.handle_resize(now, self.terminal.size());
    }

    fn read_input(&mut self, now: Instant) {
        match self.terminal.read(&mut self.buffer) {
            Ok(len @ 1..) => {
                self.session.handle_input(now, &self.buffer[..len]);
                if self.forwards.end_by(&self.buffer[..len]) {
                    self.session.shutdown(now, "Exiting on user request...");
                }
            }
            // Another process has made the terminal non-blocking and has read the input first.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // In raw mode, no key ends the input. So the terminal is gone.
            gone => {
                tracing::debug!(?gone, "terminal gone");
                if !self.outlives_hangup() {
                    self.session.handle_input_closed(now);
                }
            }
        }
    }

    fn send_datagrams(&mut self, now: Instant) {
        if let Some(record) = &mut self.record {
            record.turn(now, &mut self.session);
        }
        let refusal = self.wire.send(now, &mut self.session, |_| ());
        let packets = self.forwards.send(now, &mut self.session, &mut self.wire);
        self.refusal = packets.or(refusal).or(self.refusal.take());
    }

    fn obey_events(&mut self, now: Instant) -> io::Result<()> {
        let mut asks_host = false;
        while let Some(event) = self.session.poll_event() {
            tracing::debug!(?event, "session");
            asks_host |= matches!(
                event,
                ClientEvent::Yes
                    | ClientEvent::Callback
                    | ClientEvent::Put(_)
                    | ClientEvent::Forward(_)
            );
            match event {
                ClientEvent::OpenPort => self.wire.renew_port(now, &mut self.session),
                ClientEvent::ClosePorts { keep } => self.wire.close_ports(keep),
                ClientEvent::Suspend => self.suspend()?,
                ClientEvent::LogIn => self.log_in()?,
                ClientEvent::Yes => self.forwards.handle_yes(now, &mut self.session),
                ClientEvent::Callback => self.forwards.ask_for_callback(now, &mut self.session),
                ClientEvent::Put(line) => self.forwards.put(now, &mut self.session, &line),
                ClientEvent::Forward(line) => self.forwards.obey(now, &mut self.session, &line),
            }
        }
        if asks_host {
            self.send_datagrams(now);
        }
        Ok(())
    }

    /// Stops this process and gives the terminal to the user's shell, until the shell continues the process.
    fn suspend(&mut self) -> io::Result<()> {
        let waiting = match self.forwards.handle_suspension() {
            options if options.is_empty() => options,
            options => format!(" Connections to {options} wait until it goes on."),
        };
        self.leave_terminal();
        let name = self.name.as_str();
        let text = format!("\x1b[37;44m[{name} is suspended.{waiting}]\x1b[m\n");
        tty::say(stdio::stdout(), &text);
        // The signal goes to the whole process group, because the shell may wait for the group's leader.
        kill_current_process_group(Signal::STOP)?;
        let now = self.events.now();
        self.events.look(&mut [])?;
        // The title would be pushed twice and popped once if SIGCONT, too, set up the terminal.
        for signal in self.events.take_signals().into_iter().filter(|&signal| signal != SIGCONT) {
            self.handle_signal(now, signal);
        }
        self.resume(now);
        Ok(())
    }

    /// Gives the terminal to an ssh that logs in to carry datagrams, and that may ask the user questions.
    fn log_in(&mut self) -> io::Result<()> {
        self.leave_terminal();
        let name = self.name.as_str();
        let text =
            format!("{name}: logging in again for the tunnel; Ctrl-C goes back to the session\n");
        tty::say(stdio::stderr(), &text);
        let signals = self.wire.log_in(&mut self.events, &mut self.session)?;
        let now = self.events.now();
        // A Ctrl-C during the login was meant for ssh.
        for signal in signals.into_iter().filter(|&it| it != SIGINT && it != SIGCONT) {
            self.handle_signal(now, signal);
        }
        self.resume(now);
        Ok(())
    }

    /// Returns whether a part of the current frame is not yet written to the terminal.
    fn is_drawing(&self) -> bool {
        self.written < self.frame.len()
    }

    /// Writes the rest of the current screen frame to the terminal, and then the newest frame, until the terminal takes
    /// no more. A large frame takes several turns.
    fn draw(&mut self, now: Instant) {
        if self.write_frame(now)
            && let Some(frame) = self.session.poll_output(now)
        {
            (self.frame, self.written) = (frame, 0);
            self.write_frame(now);
        }
    }

    /// Writes the rest of the frame, or drops it after an error. Returns `false` if the terminal takes only a part.
    fn write_frame(&mut self, now: Instant) -> bool {
        while self.output_error.is_none() && self.is_drawing() {
            match self.terminal.write(&self.frame[self.written..]) {
                Ok(0) => return false,
                Ok(len) => self.written += len,
                Err(error) => {
                    // The user would see no effect of keys, so the session ends, unless it outlives a lost terminal.
                    tracing::debug!(%error, "cannot draw");
                    self.output_error = Some(reason(&error.to_string()));
                    let is_gone = Errno::from_io_error(&error) == Some(Errno::IO);
                    if !is_gone || !self.outlives_hangup() {
                        self.session.shutdown(now, "Cannot draw, shutting down...");
                    }
                }
            }
        }
        self.frame.clear();
        self.written = 0;
        true
    }

    /// Restores the terminal. First writes the rest of the frame, because the restoring sequences assume a whole frame.
    fn leave_terminal(&mut self) {
        let mut closing = self.frame.split_off(self.written);
        closing.extend(self.session.close_terminal());
        self.frame.clear();
        self.written = 0;
        self.terminal.leave(&closing);
    }
}
