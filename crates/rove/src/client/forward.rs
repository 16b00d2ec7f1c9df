//! The client of `rove -W`: one stream between standard input and output and a port that the host reaches. It touches no
//! terminal.

use std::os::fd::AsFd;

use anyhow::Context;
use rove_bootstrap::ProgramName;
use rove_platform::clock::Clock;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_platform::network_watch::NetworkWatch;
use rove_session::{
    Client, ClientConfig, ClientEvent, ClientOutcome, Prediction, Preference, Running, Streams,
};
use rove_ssp::{Capabilities, Config};
use rove_streams::{Event, Reception, Side, StreamId, Target};
use rove_terminal::Size;
use rove_udp::Refusal;
use rove_units::{Duration, Instant};
use rustix::fs::{Mode, OFlags};
use rustix::stdio;
use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM};

use super::opening::Opening;
use super::wire::Wire;
use super::{ClientOptions, Way, add_others, failure, open_wire, start, tell};
use crate::packet_queue::PacketQueue;
use crate::splice::{BYTES_PER_TURN, Descriptor, Splice};
use crate::terminal_type::{self, RenderOptions};
use crate::{doctor, entropy, hardening, logging};

/// The signals that end the session, and the one that a closed pipe raises.
const SIGNALS: [i32; 4] = [SIGTERM, SIGINT, SIGHUP, SIGPIPE];

/// The exit code after a connection that could not be made, or was cut. Source: OpenSSH 9.2 as observed.
const FAILURE: u8 = 255;

/// How long the client waits for the server to confirm the end of the session. Chosen: a user who ends ssh waits for
/// this process.
const FAREWELL_MAX: Duration = Duration::from_secs(2);

/// How the forwarding ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Carried {
    /// The stream was opened, or refused by the host. This is the exit code.
    Ended(u8),
    /// The session carries no streams, for this reason. Nothing was read from standard input.
    NotCarried(String),
}

/// Joins standard input and output with a port, and returns after both directions have ended.
///
/// # Errors
///
/// Returns what this computer refuses.
pub(crate) fn run(options: ClientOptions, target: Target) -> anyhow::Result<Carried> {
    logging::to_file(options.verbose)?;
    hardening::conceal_memory().context("cannot conceal the key")?;
    let tunnel = options.call.tunnel.clone();
    if tunnel.is_none() {
        hardening::renounce_privileges().context("cannot renounce privileges")?;
    }
    let clock = Clock::start();
    let wire = open_wire(tunnel.as_ref(), options.server, clock.now())?;
    let events = EventLoop::new(clock, &SIGNALS).context("cannot catch signals")?;
    let mut session = start(config(&options)?, None, Way::New, clock.now())?;
    hardening::keep_in_memory(session.key_memory());
    match (wire.tunnel().is_some(), wire.has_pipe()) {
        (true, _) => session.handle_tunnel(clock.now(), None),
        (false, is_beside) => session.handle_side_path(clock.now(), is_beside),
    }
    add_others(&mut session, &options.call.others, options.server.port());
    let forward = Forward {
        events,
        session,
        wire,
        network: NetworkWatch::open().ok(),
        streams: Streams::new(Side::Client, clock.now()),
        target,
        is_begun: false,
        opening: None,
        incoming: Reception::default(),
        splice: None,
        is_delivered: false,
        end: None,
        refusal: None,
        queue: PacketQueue::default(),
        buffer: vec![0; BYTES_PER_TURN],
    };
    forward.run(&options)
}

/// Returns the configuration of a session that shows nothing.
fn config(options: &ClientOptions) -> anyhow::Result<ClientConfig> {
    let render =
        RenderOptions { name: options.name, init: false, scrollback: false, title_prefix: false };
    let capabilities = rove_session::CAPABILITIES.union(Capabilities::STREAMS);
    Ok(ClientConfig {
        server: options.server,
        key: options.key.clone(),
        transport: Config { capabilities: Some(capabilities), ..Config::client() },
        size: Size::DEFAULT,
        terminal: terminal_type::plain_capabilities(render),
        query: false,
        escape_key: None,
        prediction: Prediction {
            preference: Preference::Never,
            ..options.call.choices.prediction()
        },
        program: options.name.as_str().to_owned(),
        offers_status: true,
        is_end_obeyed_twice: true,
        running: Running::Command,
        chaff: entropy::seed().context("cannot draw a seed")?.stream("client.chaff"),
    })
}

/// A session's loop, its stream and everything that it moves bytes between.
struct Forward {
    events: EventLoop,
    session: Client,
    wire: Wire,
    network: Option<NetworkWatch>,
    streams: Streams,
    target: Target,
    /// Whether the stream was opened, because both ends are known to carry streams.
    is_begun: bool,
    /// The stream until its answer has come.
    opening: Option<Opening>,
    incoming: Reception,
    /// Joins the stream with standard input and output, after the host has opened it.
    splice: Option<Splice>,
    /// Whether the host has everything that was read, and its end.
    is_delivered: bool,
    /// How the forwarding ended, and until when the session may end in order.
    end: Option<(Carried, Instant)>,
    /// The last error that the network has reported about our datagrams.
    refusal: Option<Refusal>,
    queue: PacketQueue,
    buffer: Vec<u8>,
}

impl Forward {
    fn run(mut self, options: &ClientOptions) -> anyhow::Result<Carried> {
        let mut now = self.events.now();
        loop {
            self.session.handle_timeout(now);
            // Nobody sees the screen, and the session waits until it is drawn.
            drop(self.session.poll_output(now));
            self.turn(now)?;
            self.send(now);
            self.obey_events();
            let outcome = self.session.outcome();
            if outcome.is_some() || self.end.as_ref().is_some_and(|(_, until)| *until <= now) {
                let carried = self.end.take().map(|(carried, _)| carried);
                return Ok(carried.unwrap_or_else(|| self.lost(outcome, options)));
            }
            now = self.wait_and_read()?;
        }
    }

    /// Returns how a forwarding ended whose session has ended by itself.
    fn lost(&self, outcome: Option<ClientOutcome>, options: &ClientOptions) -> Carried {
        let (server, host) = (options.server, options.call.host.as_deref());
        let tried = self.session.candidates().iter().collect();
        let silence = || doctor::one_line(tried, self.refusal.as_ref(), host, None);
        let outcome = outcome.unwrap_or(ClientOutcome::Unacknowledged);
        let said = failure(outcome, ProgramName::Rove, server, host, silence);
        let said = said.unwrap_or_else(|| "the session has ended".to_owned());
        if !self.is_begun {
            return Carried::NotCarried(said);
        }
        tell(ProgramName::Rove, &said);
        Carried::Ended(FAILURE)
    }

    /// Does everything that can be done at once with the stream.
    fn turn(&mut self, now: Instant) -> anyhow::Result<()> {
        if self.session.carries_streams() == Some(false) && self.end.is_none() {
            let host = self.session.server();
            self.finish(
                now,
                Carried::NotCarried(format!("the server at {host} carries no streams")),
            );
        }
        let Some(carriage) = self.session.carriage() else { return Ok(()) };
        self.streams.handle_arrivals(now, carriage);
        let mux = &mut self.streams.mux;
        if !self.is_begun && self.end.is_none() {
            self.opening = Some(Opening::begin(now, mux, &self.target)?);
            self.is_begun = true;
        }
        while let Some(event) = mux.poll_event() {
            match event {
                // The host has nothing to open here.
                Event::Incoming => self.incoming.turn_away(now, mux),
                Event::Finished(_) => self.is_delivered = true,
                Event::Stopped(_) => self.is_delivered = true,
                Event::Readable(_) | Event::Writable(_) | Event::Closed => {}
            }
        }
        if let Some(opening) = &mut self.opening {
            let Some(answer) = opening.answer(now, mux) else { return Ok(()) };
            let id = opening.id();
            self.opening = None;
            match answer {
                Ok(()) => self.join(id)?,
                Err(reason) => self.refuse(now, &reason.to_string()),
            }
        }
        self.move_bytes(now);
        Ok(())
    }

    /// Joins the stream with standard input and output. Later prints of this program go nowhere, so that the output's end
    /// is the stream's.
    fn join(&mut self, id: StreamId) -> anyhow::Result<()> {
        let input = Descriptor::copy_of(stdio::stdin())?;
        let output = Descriptor::copy_of(stdio::stdout())?;
        let nothing = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        stdio::dup2_stdin(&nothing)?;
        stdio::dup2_stdout(&nothing)?;
        self.splice = Some(Splice::pipes(id, input, output));
        Ok(())
    }

    fn move_bytes(&mut self, now: Instant) {
        let Some(splice) = &mut self.splice else { return };
        splice.turn(now, &mut self.streams.mux, &mut self.buffer);
        let is_delivered = self.is_delivered || splice.is_cut();
        if splice.is_over() && is_delivered && self.end.is_none() {
            let code = if splice.is_cut() { FAILURE } else { 0 };
            self.finish(now, Carried::Ended(code));
        }
    }

    /// Says in two lines, as ssh does, that the host could not open the stream.
    fn refuse(&mut self, now: Instant, reason: &str) {
        let place = match &self.target {
            Target::Tcp { host, port } => format!("{host} port {port}"),
            Target::Unix { path } => String::from_utf8_lossy(path).into_owned(),
        };
        tell(ProgramName::Rove, &format!("connect to {place} failed: {reason}"));
        tell(ProgramName::Rove, "stdio forwarding failed");
        self.finish(now, Carried::Ended(FAILURE));
    }

    fn finish(&mut self, now: Instant, carried: Carried) {
        self.end.get_or_insert((carried, now + FAREWELL_MAX));
        self.session.shutdown(now, "");
    }

    /// Sends the session's datagrams, and then the stream's packets while few wait in the system's queue.
    fn send(&mut self, now: Instant) {
        let refusal = self.wire.send(now, &mut self.session, |_| ());
        self.refusal = refusal.or(self.refusal.take());
        if self.is_begun {
            let Self { session, streams, queue, .. } = self;
            let refusal = self.wire.send_packets(now, session, streams, queue);
            self.refusal = refusal.or(self.refusal.take());
        }
    }

    fn obey_events(&mut self) {
        while let Some(event) = self.session.poll_event() {
            match event {
                ClientEvent::OpenPort => {
                    if let Err(error) = self.wire.open_port(self.session.server()) {
                        tracing::debug!(%error, "no new port");
                    }
                }
                ClientEvent::ClosePorts { keep } => self.wire.close_ports(keep),
                // There is no terminal to give back.
                ClientEvent::Suspend | ClientEvent::LogIn => {}
            }
        }
        if let Some(port) = self.wire.local_port(self.session.server()) {
            self.session.handle_local_port(port);
        }
    }

    fn wait_and_read(&mut self) -> anyhow::Result<Instant> {
        let packets = self.streams.poll_timeout().filter(|_| self.is_begun);
        let deadline = [
            self.session.poll_timeout(),
            self.wire.poll_timeout(&self.session),
            self.queue.poll_timeout(packets),
            self.end.as_ref().map(|(_, until)| *until),
        ];
        let has_work = self.session.has_work()
            || self.wire.has_arrivals()
            || self.splice.as_ref().is_some_and(Splice::has_work);
        let mut interests = self.wire.interests();
        let datagrams = interests.len();
        interests.extend(self.network.iter().map(|it| Interest::new(it.as_fd(), true, false)));
        let streams = interests.len();
        interests.extend(self.splice.iter().flat_map(Splice::interests));
        if has_work {
            self.events.look(&mut interests)?;
        } else {
            self.events.wait(&mut interests, deadline.into_iter().flatten().min())?;
        }
        let readable: Vec<bool> =
            interests[..datagrams].iter().map(Interest::is_readable).collect();
        let has_news = interests[datagrams..streams].iter().any(Interest::is_readable);
        let ready: Vec<bool> =
            interests[streams..].iter().map(|it| it.is_readable() || it.is_writable()).collect();
        let now = self.events.now();
        if let Some(splice) = &mut self.splice {
            splice.handle_ready(&mut ready.into_iter());
        }
        // A pipe that has closed shows when it is written to.
        if self.events.take_signals().into_iter().any(|signal| signal != SIGPIPE) {
            self.finish(now, Carried::Ended(FAILURE));
        }
        let refusal = self.wire.receive(now, &readable, &mut self.session, |_, _, _| ());
        self.refusal = refusal.or(self.refusal.take());
        if has_news {
            self.look_at_network(now);
        }
        Ok(now)
    }

    fn look_at_network(&mut self, now: Instant) {
        match self.network.as_ref().map(NetworkWatch::take) {
            Some(Ok(true)) => {
                self.session.handle_network_change(now);
                self.wire.handle_network_change(now);
            }
            Some(Err(_)) => self.network = None,
            Some(Ok(false)) | None => {}
        }
    }
}
