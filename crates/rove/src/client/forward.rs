//! The client of `rove -W`, `rove exec` and `rove put`. It uses no terminal. It copies bytes between the standard
//! descriptors and a port or a program at the host, or sends files. `load` is the trait of these three jobs:
//! `connection`, `program` and `files`. `joined` chooses between them.

use std::os::fd::AsFd;

use anyhow::Context;
use rove_bootstrap::ProgramName;
use rove_platform::clock::Clock;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_platform::network_watch::NetworkWatch;
use rove_platform::signals;
use rove_session::{
    Client, ClientConfig, ClientEvent, ClientOutcome, Prediction, Preference, Running, Streams,
};
use rove_ssp::{Capabilities, Config};
use rove_streams::{Event, Exit, Reception, Side};
use rove_udp::Refusal;
use rove_units::{Duration, Instant};
use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};

use super::controller_choice::ControllerChoice;
use super::ending::failure;
use super::lender::{Lender, UNWANTED};
use super::wire::Wire;
use super::{ClientOptions, Way, add_paths, open_wire, start};
use crate::bootstrap::screen::tell;
use crate::packet_queue::PacketQueue;
use crate::server::{open_nothing, silence};
use crate::share::message::Word;
use crate::splice::{BYTES_PER_TURN, Splice};
use crate::stdio_forward::json::Channel;
use crate::sys::{self, Fork};
use crate::terminal_type::{self, RenderOptions};
use crate::{doctor, entropy, hardening, logging, threads};

/// The signals that end the call, and SIGPIPE, which is caught so that a closed pipe does not kill the process.
const SIGNALS: [i32; 5] = [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE];

/// Longest wait of `rove -W`, `exec` and `put` until the server confirms the session's end. Chosen: a user waits.
const FAREWELL_MAX: Duration = Duration::from_secs(2);

pub(super) mod connection;
pub(super) mod files;
pub(super) mod joined;
pub(super) mod load;
pub(super) mod program;

use load::{Carried, Load};

/// Runs a session for the job `load`, and returns the job's result with `channel`. During the job, the client reports
/// on `channel` when datagrams from the host stop or return. An error comes from the system or the stream layer.
pub(super) fn run(
    options: ClientOptions,
    load: Box<dyn Load>,
    channel: Option<Channel>,
) -> anyhow::Result<(Carried, Option<Channel>)> {
    logging::to_file(options.verbose)?;
    hardening::conceal_memory().context("cannot conceal the key")?;
    let tunnel = options.call.tunnel.clone();
    if tunnel.is_none() {
        hardening::renounce_privileges().context("cannot renounce privileges")?;
    }
    let clock = Clock::start();
    let wire = open_wire(tunnel.as_ref(), options.server, clock.now())?;
    // An ignored signal stays ignored, as `nohup` needs it.
    let events =
        EventLoop::new(clock, &signals::heard(&SIGNALS)).context("cannot catch signals")?;
    let mut session = start(config(&options)?, None, Way::New, clock.now())?;
    hardening::keep_in_memory(session.key_memory());
    add_paths(&mut session, &wire, clock.now(), &options.call.others);
    let forward = Forward {
        events,
        session,
        wire,
        network: NetworkWatch::open().ok(),
        streams: Streams::new(Side::Client, clock.now()),
        controller: ControllerChoice::new(options.call.choices.controller.clone()),
        own: OwnCall { load: Some(load), channel, splices: Vec::new() },
        contact: Contact::Heard,
        lender: options.call.streams.gate.clone().map(Lender::new),
        is_open: false,
        incoming: Reception::default(),
        end: None,
        refusal: None,
        queue: PacketQueue::default(),
        buffer: vec![0; BYTES_PER_TURN],
    };
    forward.run(&options)
}

/// Returns the configuration of a session without a terminal.
fn config(options: &ClientOptions) -> anyhow::Result<ClientConfig> {
    let render =
        RenderOptions { name: options.name, init: false, scrollback: false, title_prefix: false };
    let capabilities = rove_session::CAPABILITIES.union(Capabilities::STREAMS);
    let transport = Config { capabilities: Some(capabilities), ..Config::client() };
    let chaff = entropy::seed().context("cannot draw a seed")?.stream("client.chaff");
    Ok(ClientConfig {
        terminal: terminal_type::plain_capabilities(render),
        prediction: Prediction {
            preference: Preference::Never,
            ..options.call.choices.prediction()
        },
        program: options.name.as_str().to_owned(),
        running: Running::Command,
        ..ClientConfig::new(options.server, options.key.clone(), transport, chaff)
    })
}

/// The calls (`rove -W`, `exec`) that a process serves after the fork in [`Forward::split`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// This process's own call, which has ended, so that the process exits.
    Call,
    /// Calls of other processes that use streams of this session. After a failed fork, these calls have ended, too.
    Others,
}

/// Whether datagrams arrive from the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contact {
    Heard,
    Silent,
    /// No datagrams arrive, and ICMP or the host's end of an ssh has reported that the server's port is closed.
    Refused,
}

/// The `rove -W`, `exec` or `put` call that started this process; calls of other processes may use its session, too.
/// Empty in the child that [`Forward::split`] forks.
#[derive(Default)]
struct OwnCall {
    /// The call's job, which opens the streams.
    load: Option<Box<dyn Load>>,
    /// Reports the state of the network to `rove exec --json`, if that command started this process.
    channel: Option<Channel>,
    /// The splices, which copy bytes between the job's streams and descriptors.
    splices: Vec<Splice>,
}

/// The event loop of a session without a terminal, with its streams.
struct Forward {
    events: EventLoop,
    session: Client,
    wire: Wire,
    network: Option<NetworkWatch>,
    streams: Streams,
    controller: ControllerChoice,
    own: OwnCall,
    lender: Option<Lender>,
    contact: Contact,
    /// Whether the client has opened the streams of its own call, after learning that the server carries streams.
    is_open: bool,
    incoming: Reception,
    /// The result of this process's own call, and the deadline for the server to confirm the session's end. `None`
    /// before the call's end, and in the child that [`Forward::split`] forks.
    end: Option<(Carried, Instant)>,
    /// The last error in sending or receiving datagrams since `contact` last became `Heard` or `Silent`.
    refusal: Option<Refusal>,
    queue: PacketQueue,
    buffer: Vec<u8>,
}

impl Forward {
    fn run(mut self, options: &ClientOptions) -> anyhow::Result<(Carried, Option<Channel>)> {
        let mut now = self.events.now();
        self.wire.name_port(&mut self.session);
        loop {
            self.session.handle_timeout(now);
            // No terminal shows the session's output, but the session waits until the output is taken.
            drop(self.session.poll_output(now));
            self.turn(now)?;
            if self.end.is_some()
                && self.lends()
                && self.split(now) == Whose::Call
                && let Some((carried, _)) = self.end.take()
            {
                let channel = self.own.channel.take();
                // The session and its sockets belong to the child process, so this process must not drop them.
                std::mem::forget(self);
                return Ok((carried, channel));
            }
            self.send(now);
            self.obey_events(now);
            let outcome = self.session.outcome();
            if outcome.is_some() || self.end.as_ref().is_some_and(|(_, until)| *until <= now) {
                let carried = self.end.take().map(|(carried, _)| carried);
                let carried = carried.unwrap_or_else(|| self.lost(outcome, options));
                return Ok((carried, self.own.channel.take()));
            }
            now = self.wait_and_read()?;
        }
    }

    /// Returns whether `rove -W` or `exec` calls of other processes use this session.
    fn lends(&self) -> bool {
        self.lender.as_ref().is_some_and(Lender::has_calls)
    }

    /// Forks after the end of this process's own call. The child goes on in the background for the calls of other
    /// processes. If the fork fails, those calls end, too.
    fn split(&mut self, now: Instant) -> Whose {
        let forked = threads::check_alone().map_err(anyhow::Error::from);
        let forked = forked.and_then(|alone| Ok((open_nothing()?, sys::fork(alone)?)));
        match forked {
            Ok((_, Fork::Parent(_))) => return Whose::Call,
            Ok((nothing, Fork::Child)) => {
                // The child must neither get SIGHUP from the terminal nor keep the parent's output open.
                let _ = rustix::process::setsid();
                let _ = silence(nothing);
                hardening::keep_in_memory(self.session.key_memory());
                self.end = None;
                let ended = std::mem::take(&mut self.own);
                for id in ended.load.iter().flat_map(|load| load.streams()) {
                    self.streams.mux.reset_and_stop(id, UNWANTED);
                }
                self.lender.iter_mut().for_each(Lender::open_again);
            }
            Err(error) => {
                tracing::warn!(%error, "lent streams end with this call");
                self.lender = None;
                self.session.shutdown(now, "");
            }
        }
        Whose::Others
    }

    /// Returns the result of this process's own call, whose session has ended too early. It is `Declined` if the call's
    /// streams were never opened, else `Failed`.
    fn lost(&self, outcome: Option<ClientOutcome>, options: &ClientOptions) -> Carried {
        let (server, host) = (options.server, options.call.host.as_deref());
        let tried = self.session.candidates().iter().collect();
        let silence = || doctor::one_line(tried, self.refusal.as_ref(), host, None);
        let outcome = outcome.unwrap_or(ClientOutcome::Unacknowledged);
        let said = failure(outcome, ProgramName::Rove, server, host, silence);
        let said = said.unwrap_or_else(|| "the session has ended".to_owned());
        if !self.is_open {
            return Carried::Declined(said);
        }
        Carried::Failed(vec![said])
    }

    /// Handles arrived packets and events of the streams, and moves bytes, without blocking. Returns the job's error.
    fn turn(&mut self, now: Instant) -> anyhow::Result<()> {
        if self.session.carries_streams() == Some(false) && self.end.is_none() {
            let host = self.session.server();
            self.finish(now, Carried::Declined(format!("the server at {host} carries no streams")));
        }
        self.look_for_silence(now);
        let Some(carriage) = self.session.carriage() else { return Ok(()) };
        self.streams.handle_arrivals(now, carriage);
        if let Some(said) = self.controller.turn(now, &mut self.streams) {
            tell(ProgramName::Rove.as_str(), &said);
        }
        let mux = &mut self.streams.mux;
        if !self.is_open && self.end.is_none() {
            self.own.load.iter_mut().try_for_each(|load| load.open(now, mux))?;
            self.is_open = true;
        }
        while let Some(event) = mux.poll_event() {
            match event {
                // This client asks for no listeners on the host, so the host has no reason to open a stream.
                Event::Incoming => self.incoming.turn_away(now, mux),
                Event::Finished(id) | Event::Stopped(id) => {
                    self.lender.iter_mut().for_each(|lender| lender.handle_delivered(id));
                    self.own.load.iter_mut().for_each(|load| load.handle_delivered(id));
                }
                Event::Readable(_) | Event::Writable(_) | Event::Closed => {}
            }
        }
        if let Some(lender) = &mut self.lender {
            lender.open();
            if lender.take(now) {
                lender.turn(now, mux, 0, &mut self.buffer);
            }
        }
        if self.is_open && self.end.is_none() {
            let OwnCall { load, splices, .. } = &mut self.own;
            splices.iter_mut().for_each(|it| it.turn(now, mux, &mut self.buffer));
            let carried = match load {
                Some(load) => load.turn(now, mux, splices)?,
                None => (!self.lends()).then_some(Carried::Ended(Exit::Code(0))),
            };
            carried.into_iter().for_each(|carried| self.finish(now, carried));
        }
        Ok(())
    }

    /// Tells `rove exec --json` and other calls when datagrams from the host stop, and when they arrive again. Tells
    /// the user if the server's port is closed.
    fn look_for_silence(&mut self, now: Instant) {
        let is_dark = self.session.is_server_late(now);
        if is_dark != (self.contact != Contact::Heard) {
            let (contact, word) = match is_dark {
                true => (Contact::Silent, Word::Dark),
                false => (Contact::Heard, Word::Back),
            };
            self.own.channel.iter().for_each(|channel| channel.say(&word));
            (self.contact, self.refusal) = (contact, None);
        }
        // The call goes on, because a router on the path may have sent the ICMP message instead of the host.
        if self.contact == Contact::Silent && matches!(self.refusal, Some(Refusal::Port)) {
            self.contact = Contact::Refused;
            let (gone, server) = (ClientOutcome::Gone, self.session.server());
            let said = failure(gone, ProgramName::Rove, server, None, String::new);
            said.iter().for_each(|said| tell(ProgramName::Rove.as_str(), said));
        }
        self.lender.iter_mut().for_each(|lender| lender.handle_silence(is_dark));
    }

    /// Ends this process's own call with this result. Ends the session if no other call uses it.
    fn finish(&mut self, now: Instant, carried: Carried) {
        self.end.get_or_insert((carried, now + FAREWELL_MAX));
        if !self.lends() {
            // Without a lender, no later call joins this ending session; such a call logs in by itself.
            self.lender = None;
            self.session.shutdown(now, "");
        }
    }

    /// Sends the session's datagrams. Then sends packets of streams, as many as [`Wire::send_packets`] allows.
    fn send(&mut self, now: Instant) {
        let refusal = self.wire.send(now, &mut self.session, |_| ());
        self.refusal = refusal.or(self.refusal.take());
        if self.is_open {
            let Self { session, streams, queue, .. } = self;
            let refusal = self.wire.send_packets(now, session, streams, queue);
            self.refusal = refusal.or(self.refusal.take());
        }
    }

    fn obey_events(&mut self, now: Instant) {
        while let Some(event) = self.session.poll_event() {
            match event {
                ClientEvent::OpenPort => self.wire.renew_port(now, &mut self.session),
                ClientEvent::ClosePorts { keep } => self.wire.close_ports(keep),
                // These events need a terminal and its user.
                ClientEvent::Suspend
                | ClientEvent::LogIn
                | ClientEvent::Yes
                | ClientEvent::Callback
                | ClientEvent::Put(_)
                | ClientEvent::Forward(_) => {}
            }
        }
    }

    fn wait_and_read(&mut self) -> anyhow::Result<Instant> {
        let packets = self.streams.poll_timeout().filter(|_| self.is_open);
        let deadline = [
            self.session.poll_timeout(),
            self.wire.poll_timeout(&self.session),
            self.queue.poll_timeout(packets),
            self.end.as_ref().map(|(_, until)| *until),
            self.lender.as_ref().and_then(Lender::poll_timeout),
        ];
        let has_work = self.session.has_work()
            || self.wire.has_arrivals()
            || self.own.load.as_ref().is_some_and(|load| load.has_work())
            || self.own.splices.iter().any(Splice::has_work)
            || self.lender.as_ref().is_some_and(Lender::has_work);
        let mut interests = self.wire.interests();
        let datagrams = interests.len();
        interests.extend(self.network.iter().map(|it| Interest::new(it.as_fd(), true, false)));
        let streams = interests.len();
        interests.extend(self.own.splices.iter().flat_map(Splice::interests));
        interests.extend(self.lender.iter().flat_map(Lender::interests));
        if has_work {
            self.events.look(&mut interests)?;
        } else {
            self.events.wait(&mut interests, deadline.into_iter().flatten().min())?;
        }
        let readable: Vec<bool> =
            interests[..datagrams].iter().map(Interest::is_readable).collect();
        let has_news = interests[datagrams..streams].iter().any(Interest::is_readable);
        let ready: Vec<bool> = interests[streams..].iter().map(Interest::is_ready).collect();
        let now = self.events.now();
        let mut ready = ready.into_iter();
        self.own.splices.iter_mut().for_each(|it| it.handle_ready(&mut ready));
        self.lender.iter_mut().for_each(|it| it.handle_ready(&mut ready));
        // SIGPIPE needs no action, because the write to the closed pipe returns an error, too.
        if self.events.take_signals().into_iter().any(|signal| signal != SIGPIPE) {
            if self.own.load.is_none() {
                // In the background, the signal ends the calls of other processes.
                self.lender = None;
            }
            self.finish(now, Carried::Failed(Vec::new()));
        }
        let refusal = self.wire.receive(now, &readable, &mut self.session, |_, _, _| ());
        self.refusal = refusal.or(self.refusal.take());
        if has_news {
            self.wire.look_at_network(now, &mut self.network, &mut self.session);
        }
        Ok(now)
    }
}
