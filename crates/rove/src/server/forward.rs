//! Serves the streams of a client beside its session: connections that this computer makes or accepts, programs, files,
//! and the agent.

use std::collections::BTreeMap;
use std::io;

use rove_bootstrap::Place;
use rove_control::{Forwarding, State};
use rove_host::piped::PipedChild;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_session::{Server, StreamController, Streams};
use rove_ssp::Transmit;
use rove_streams::{Answer, Event, Gathering, Reception, Side, StreamId, Target, UNREACHED};
use rove_units::{Duration, Instant};
use rustix::process::Rlimit;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::connect::{Connect, settle};
use crate::lookups::Lookups;
use crate::messages::reason;
use crate::server::agent::Agent;
use crate::server::drops::Drops;
use crate::server::exec::Programs;
use crate::server::host::Hosted;
use crate::server::host_listeners::HostListeners;
use crate::server::policy::Policy;
use crate::server::ssh_target;
use crate::server::typing;
use crate::splice::{BYTES_PER_TURN, Splice};

/// Longest time, after the session's end, for connections to take the bytes that the client had sent.
/// Chosen: the longest time for making a connection.
const DRAIN_MAX: Duration = Duration::from_secs(30);

/// The streams of a session's client. `layer` is `None` until the present client uses streams.
#[derive(Debug)]
pub(super) struct Forwards {
    /// The limit on core dumps for programs.
    core_limit: Rlimit,
    layer: Option<Box<Layer>>,
    /// How many clients had taken the session over at the last turn.
    takeovers: u32,
    /// The former clients' programs that have not ended.
    left: Vec<PipedChild>,
    lookups: Lookups,
    agent: Agent,
    listeners: HostListeners,
}

/// The streams of one client.
#[derive(Debug)]
struct Layer {
    streams: Streams,
    reception: Reception,
    connects: BTreeMap<StreamId, Connect>,
    splices: BTreeMap<StreamId, Splice>,
    /// The streams of programs that lack at least one of their three streams.
    gathering: Gathering,
    programs: Programs,
    drops: Drops,
    /// Streams that ask for the name of the program in the terminal's foreground.
    asked: Vec<StreamId>,
    core_limit: Rlimit,
    policy: Policy,
    buffer: Vec<u8>,
}

impl Forwards {
    /// Creates the state of a session whose client has not used streams. `core_limit` limits the core dumps of the
    /// client's programs, and `agent` is the session's socket for a forwarded agent.
    pub(super) fn new(core_limit: Rlimit, agent: Agent) -> Self {
        let (lookups, listeners) = (Lookups::default(), HostListeners::default());
        Self { core_limit, layer: None, takeovers: 0, left: Vec::new(), lookups, agent, listeners }
    }

    /// Returns the number of connections, programs and files, including all that are still being opened.
    pub(super) fn open(&self) -> usize {
        self.layer.as_ref().map_or(0, |layer| {
            let begun = layer.connects.len() + layer.splices.len() + layer.programs.len();
            begun + layer.drops.len() + layer.gathering.len() + self.listeners.waiting()
        })
    }

    /// Returns the listeners and the number of streams, for `rove list`.
    pub(super) fn status(&self) -> Forwarding {
        Forwarding { listeners: self.listeners.places(), streams: self.open() as u64 }
    }

    /// Notes that a child process has ended.
    pub(super) fn handle_child_end(&mut self) {
        self.left.retain_mut(|child| child.try_wait().is_none());
        self.layer.iter_mut().for_each(|layer| layer.programs.handle_child_end());
    }

    /// Cuts the former client's connections, and sends SIGHUP to its programs, which stay in `left` until they end.
    fn drop_layer(&mut self) {
        let programs = self.layer.take().map(|layer| layer.programs);
        self.left.extend(programs.into_iter().flat_map(Programs::into_hung_up));
    }

    /// Serves the streams without blocking, up to a limit; [`Forwards::has_work`] tells whether work is left. Call this
    /// after datagrams, after waits, and before [`Forwards::poll_transmit`]. `program` is the session's program.
    pub(super) fn turn(&mut self, now: Instant, session: &mut Server, program: Option<&Hosted>) {
        if session.takeovers() != self.takeovers {
            // The new client's packets have another key, and numbers from zero on. Dropping the layer cuts the former
            // client's connections.
            self.drop_layer();
            self.takeovers = session.takeovers();
            self.listeners.handle_takeover(now);
        }
        self.listeners.handle_timeout(now);
        let mut missed_since = session.client_missed_since();
        if let Some(carriage) = session.carriage()
            && (self.layer.is_some() || carriage.has_packets())
        {
            let new = || Box::new(Layer::new(now, self.core_limit));
            let layer = self.layer.get_or_insert_with(new);
            missed_since = missed_since.max(carriage.heard_at());
            layer.streams.handle_arrivals(now, carriage);
            layer.turn(now, &self.lookups, &mut self.agent, &mut self.listeners);
            layer.serve_terminal(now, session, program);
        }
        let mut mux = self.layer.as_mut().map(|layer| &mut layer.streams.mux);
        let silence = missed_since.map(|at| now.saturating_since(at));
        let is_client_there = State::of_silence(silence) == State::Attached;
        if let Some(mux) = &mut mux {
            self.listeners.handle_presence(now, mux, is_client_there);
        }
        self.agent.turn(now, mux, is_client_there);
    }

    /// Returns whether the present client has used streams.
    pub(super) const fn are_used(&self) -> bool {
        self.layer.is_some()
    }

    /// Returns the next packet of streams, if one may be sent at `now`. Send the session's own datagrams first.
    pub(super) fn poll_transmit(&mut self, now: Instant, session: &mut Server) -> Option<Transmit> {
        let layer = self.layer.as_mut()?;
        layer.streams.poll_transmit(now, session.carriage()?)
    }

    /// Notes that no packet can be sent at present, because the kernel's send queue is full.
    pub(super) fn handle_blocked(&mut self, now: Instant) {
        self.layer.iter_mut().for_each(|layer| layer.streams.mux.handle_blocked(now));
    }

    /// Ends the agent, listeners, files and programs at the session's end, because no client is left to use them.
    pub(super) fn release(&mut self) {
        self.agent = Agent::default();
        self.listeners.close();
        if let Some(layer) = &mut self.layer {
            (layer.drops, layer.gathering, layer.programs) = Default::default();
        }
    }

    /// Waits after [`Forwards::release`], up to [`DRAIN_MAX`] or a signal, for the connections to take the bytes that the
    /// client had sent.
    pub(super) fn drain(&mut self, events: &mut EventLoop) -> io::Result<()> {
        let until = events.now() + DRAIN_MAX;
        loop {
            let now = events.now();
            let Some(layer) = &mut self.layer else { return Ok(()) };
            layer.connects.clear();
            layer.turn(now, &self.lookups, &mut self.agent, &mut self.listeners);
            layer.splices.retain(|_, splice| splice.owes_output() || splice.has_work());
            // SIGCHLD, which reports a program's end, does not end this loop.
            let is_told = events.take_signals().iter().any(|it| [SIGTERM, SIGINT].contains(it));
            if layer.splices.is_empty() || now >= until || is_told {
                return Ok(());
            }
            let mut interests: Vec<Interest<'_>> = self.interests().collect();
            if self.has_work() {
                events.look(&mut interests)?;
            } else {
                events.wait(&mut interests, Some(until))?;
            }
            let ready: Vec<bool> = interests.iter().map(Interest::is_ready).collect();
            self.handle_ready(&ready);
        }
    }

    /// Returns whether to call [`Forwards::turn`] again without waiting.
    pub(super) fn has_work(&self) -> bool {
        self.layer.iter().any(|layer| {
            layer.drops.has_work()
                || layer.splices.values().chain(layer.programs.splices()).any(Splice::has_work)
        })
    }

    /// Returns the time by which to call [`Forwards::turn`] and [`Forwards::poll_transmit`] again, if any.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let layer = self.layer.iter().flat_map(|layer| {
            let connects = layer.connects.values().map(Connect::poll_timeout);
            connects.chain(layer.streams.poll_timeout())
        });
        layer.chain(self.agent.poll_timeout()).chain(self.listeners.poll_timeout()).min()
    }

    /// Returns the descriptors to wait for, in the order of [`Forwards::handle_ready`].
    pub(super) fn interests(&self) -> impl Iterator<Item = Interest<'_>> {
        let layer = self.layer.iter().flat_map(|layer| {
            let connects = layer.connects.values().flat_map(Connect::interests);
            let splices = layer.splices.values().flat_map(Splice::interests);
            let listeners = self.listeners.interests(layer.streams.mux.open_streams());
            let rest = listeners.chain(layer.drops.interests());
            connects.chain(splices).chain(layer.programs.interests()).chain(rest)
        });
        layer.chain(self.agent.interests())
    }

    /// Notes which of [`Forwards::interests`] are ready. Only splices (copies between a descriptor and a stream) need
    /// this. [`Forwards::turn`] tries all other descriptors in any case.
    pub(super) fn handle_ready(&mut self, ready: &[bool]) {
        let Some(layer) = &mut self.layer else { return };
        let connects = layer.connects.values().map(|it| it.interests().count()).sum();
        let mut ready = ready.iter().copied().skip(connects);
        layer.splices.values_mut().for_each(|it| it.handle_ready(&mut ready));
        layer.programs.handle_ready(&mut ready);
    }
}

impl Layer {
    fn new(now: Instant, core_limit: Rlimit) -> Self {
        Self {
            streams: Streams::new(Side::Server, now),
            reception: Reception::default(),
            connects: BTreeMap::new(),
            splices: BTreeMap::new(),
            gathering: Gathering::default(),
            programs: Programs::default(),
            drops: Drops::default(),
            asked: Vec::new(),
            core_limit,
            policy: Policy::read(),
            buffer: vec![0; BYTES_PER_TURN],
        }
    }

    fn turn(
        &mut self,
        now: Instant,
        lookups: &Lookups,
        agent: &mut Agent,
        listeners: &mut HostListeners,
    ) {
        while let Some(event) = self.streams.mux.poll_event() {
            let mux = &mut self.streams.mux;
            match event {
                Event::Incoming => self.reception.handle_incoming(mux),
                Event::Readable(id) => self.handle_readable(now, id, agent, listeners),
                Event::Stopped(id) => {
                    listeners.handle_news(now, mux, &mut self.reception, id);
                    if self.connects.remove(&id).is_some() {
                        self.reception.give_up(mux, id);
                    }
                    self.gathering.give_up(mux, &mut self.reception, id);
                    self.drops.give_up(mux, &mut self.reception, id);
                    self.programs.give_up(id);
                }
                Event::Closed => {
                    tracing::info!(closed = ?mux.closed(), "streams are closed");
                    self.connects.clear();
                    self.splices.clear();
                    listeners.close();
                    self.drops.clear();
                    self.gathering = Gathering::default();
                    self.programs.give_up_all();
                }
                Event::Writable(_) | Event::Finished(_) => {}
            }
        }
        self.look_at_connects(now, lookups);
        let mux = &mut self.streams.mux;
        listeners.turn(now, mux, &mut self.splices);
        self.splices.values_mut().for_each(|splice| splice.turn(now, mux, &mut self.buffer));
        self.splices.retain(|_, splice| !splice.is_over());
        let reception = &mut self.reception;
        while let Some(gathered) = self.gathering.poll_gathered(now, mux, reception) {
            self.programs.start(mux, reception, gathered, self.core_limit);
        }
        self.programs.turn(now, mux, reception, &mut self.buffer);
    }

    /// Serves the streams about the terminal: files whose paths are typed, and requests for the foreground program.
    fn serve_terminal(&mut self, now: Instant, session: &mut Server, program: Option<&Hosted>) {
        self.tell_foreground(|| program.and_then(|hosted| hosted.master.foreground()));
        let (mux, reception) = (&mut self.streams.mux, &mut self.reception);
        let type_file = |name: &str| typing::type_file(session, now, program, name);
        self.drops.turn(now, mux, reception, type_file);
    }

    /// Answers the streams that ask for the name of the foreground program.
    fn tell_foreground(&mut self, name: impl Fn() -> Option<String>) {
        for id in std::mem::take(&mut self.asked) {
            self.reply(id, name().unwrap_or_default());
        }
    }

    /// Sets the congestion controller `name` for packets to the client, as the client asks. Refuses an unknown name.
    fn follow(&mut self, now: Instant, id: StreamId, name: String) {
        let Some(controller) = StreamController::from_name(&name) else {
            let known = StreamController::NAMES.join(", ");
            return self.refuse(id, format!("its rove knows no controller but {known}"));
        };
        self.streams.mux.follow(now, controller.start());
        self.reply(id, name);
    }

    /// Answers a stream with the text `address`, and closes the stream.
    fn reply(&mut self, id: StreamId, address: String) {
        let mux = &mut self.streams.mux;
        self.reception.answer(mux, id, &Answer::Opened { address });
        // The server does not read the client's end of such a stream.
        mux.finish_and_stop(id, UNREACHED);
    }

    fn handle_readable(
        &mut self,
        now: Instant,
        id: StreamId,
        agent: &mut Agent,
        listeners: &mut HostListeners,
    ) {
        let (mux, reception) = (&mut self.streams.mux, &mut self.reception);
        match reception.handle_readable(now, mux, id) {
            Some(Target::Program(part)) => self.gathering.handle_part(mux, reception, id, part),
            Some(Target::Agent) => agent.begin(mux, reception, id),
            Some(Target::Put(put)) => self.drops.begin(mux, reception, id, &put),
            Some(Target::Foreground) => self.asked.push(id),
            Some(Target::Controller(name)) => self.follow(now, id, name),
            Some(Target::Listen(wanted)) => listeners.begin(now, mux, reception, id, wanted),
            // Only a server opens streams for accepted connections, so this client is at fault.
            Some(Target::Accepted(_)) => reception.handle_strange(now, mux, id),
            Some(target) => self.begin(now, id, target),
            None => listeners.handle_news(now, mux, reception, id),
        }
    }

    fn begin(&mut self, now: Instant, id: StreamId, target: Target) {
        let is_permitted = place(&target).is_none_or(|it| self.policy.permits_open(&it));
        if !is_permitted {
            return self.refuse(id, "its server.toml does not permit it (permit-open)".to_owned());
        }
        let target = match target {
            Target::Tcp { host, port } => {
                let login = std::env::var_os("SSH_CONNECTION");
                let (host, port) = ssh_target::resolve(&host, port, login.as_deref());
                Target::Tcp { host, port }
            }
            other => other,
        };
        match Connect::begin(now, &target, |_| true) {
            Ok(connect) => drop(self.connects.insert(id, connect)),
            Err(error) => self.refuse(id, reason(&error.to_string())),
        }
    }

    fn look_at_connects(&mut self, now: Instant, lookups: &Lookups) {
        for (id, _, settled) in settle(&mut self.connects, |it| it.turn(now, lookups)) {
            match settled {
                Ok((socket, address)) => {
                    tracing::debug!(id = id.get(), "stream connected");
                    let answer = Answer::Opened { address };
                    self.reception.answer(&mut self.streams.mux, id, &answer);
                    self.splices.insert(id, Splice::socket(id, socket));
                }
                Err(error) => self.refuse(id, reason(&error.to_string())),
            }
        }
    }

    fn refuse(&mut self, id: StreamId, text: String) {
        let answer = Answer::Refused { code: UNREACHED, text };
        self.reception.answer(&mut self.streams.mux, id, &answer);
    }
}

/// Returns the place to which the stream's target connects. `None` for a target that is no connection.
fn place(target: &Target) -> Option<Place> {
    match target {
        Target::Tcp { host, port } => Some(Place::Port(Some(host.clone()), *port)),
        Target::Unix { path } => Some(Place::Socket(String::from_utf8_lossy(path).into_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::iter::{self, repeat};
    use std::net::TcpListener;
    use std::thread;

    use rove_platform::clock::Clock;
    use rove_rig::guard::wait_until;
    use rove_streams::{
        BUSY, CONNECTS_MAX, Listen, ListenPlace, MessageReader, Mux, Part, Read, STREAMS_MAX,
    };
    use rustix::process::{Pid, Signal, kill_process, test_kill_process};
    use signal_hook::consts::SIGCHLD;

    use super::*;
    use crate::tests::muxes::{deliver, mux};

    /// The streams of a server and its client, without a network between them.
    struct Pair {
        now: Instant,
        client: Mux,
        forwards: Forwards,
    }

    impl Pair {
        fn new() -> Self {
            let (now, cores) = (Instant::ZERO, Rlimit { current: None, maximum: None });
            let mut layer = Box::new(Layer::new(now, cores));
            layer.streams.mux = mux(Side::Server);
            let forwards =
                Forwards { layer: Some(layer), ..Forwards::new(cores, Agent::default()) };
            Self { now, client: mux(Side::Client), forwards }
        }

        fn open(&mut self, target: &Target) -> StreamId {
            let id = self.client.open(self.now).unwrap();
            self.client.write(id, &target.encode()).unwrap();
            id
        }

        fn exchange(&mut self) {
            let Self { now, client, forwards } = self;
            let layer = forwards.layer.as_mut().unwrap();
            for _ in 0..200 {
                *now += Duration::from_millis(1);
                deliver(*now, client, &mut layer.streams.mux);
                layer.turn(
                    *now,
                    &Lookups::default(),
                    &mut Agent::default(),
                    &mut forwards.listeners,
                );
                layer.splices.values_mut().for_each(|it| it.handle_ready(&mut repeat(true)));
                layer.programs.handle_ready(&mut repeat(true));
                deliver(*now, &mut layer.streams.mux, client);
            }
        }
    }

    #[test]
    fn what_a_client_has_sent_reaches_a_slow_reader_after_the_client_has_gone() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // A small receive buffer in the kernel leaves many bytes in the stream.
        rustix::net::sockopt::set_socket_recv_buffer_size(&listener, 4096).unwrap();
        let target = listener.local_addr().unwrap();
        let mut pair = Pair::new();
        let id = pair.open(&Target::Tcp { host: target.ip().to_string(), port: target.port() });
        pair.exchange();
        let (mut peer, _) = listener.accept().unwrap();
        let (mut written, mut read, mut is_finished) = (0, 0, false);
        // Nobody reads, so the system's buffers fill up, and then those of the stream.
        while let Ok(count) = pair.client.write(id, &[7; 65_536])
            && count > 0
        {
            written += count;
            pair.exchange();
        }
        pair.client.finish(id).unwrap();
        while !is_finished {
            read += peer.read(&mut [0; 65_536]).unwrap();
            pair.exchange();
            is_finished =
                iter::from_fn(|| pair.client.poll_event()).any(|it| it == Event::Finished(id));
        }
        assert!(pair.forwards.open() == 1 && read < written);
        let mut events = EventLoop::new(Clock::start(), &[SIGCHLD, SIGTERM]).unwrap();
        let rest = thread::spawn(move || {
            // SIGCHLD, which reports a program's end, must not end `drain`.
            std::process::Command::new("true").status().unwrap();
            peer.read_to_end(&mut Vec::new()).unwrap()
        });
        pair.forwards.release();
        pair.forwards.drain(&mut events).unwrap();
        drop(pair);
        assert_eq!(read + rest.join().unwrap(), written);
    }

    #[test]
    fn a_port_is_free_as_soon_as_the_session_has_ended() {
        let mut pair = Pair::new();
        let at = ListenPlace::Port { host: Some("127.0.0.1".to_owned()), port: 0 };
        let id = pair.open(&Target::Listen(Listen { number: 0, at, mask: 0o177, replaces: false }));
        pair.exchange();
        let answer = MessageReader::default().read(pair.now, &mut pair.client, id);
        let answer = Answer::decode(&answer.unwrap().expect("it was sent")).unwrap();
        let Answer::Opened { address } = answer else { panic!("{answer:?}") };
        let bind = || TcpListener::bind(("127.0.0.1", address.parse().unwrap()));
        assert!(bind().is_err());
        pair.forwards.release();
        assert!(bind().is_ok());
    }

    #[test]
    fn a_place_that_the_hosts_rules_do_not_list_is_refused_in_words() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let tcp = |host: &str| Target::Tcp { host: host.to_owned(), port };
        let socket = Target::Unix { path: b"/nowhere".to_vec() };
        let rules = format!("permit-open = ['127.0.0.1:{port}']");
        let refused = "its server.toml does not permit it (permit-open)";
        for (target, is_listed) in [(tcp("127.0.0.1"), true), (tcp("::1"), false), (socket, false)]
        {
            let mut pair = Pair::new();
            pair.forwards.layer.as_mut().unwrap().policy = toml::from_str(&rules).unwrap();
            let id = pair.open(&target);
            pair.exchange();
            let answer = MessageReader::default().read(pair.now, &mut pair.client, id);
            let answer = Answer::decode(&answer.unwrap().expect("it was sent")).unwrap();
            let is_refused = matches!(&answer, Answer::Refused { text, .. } if text == refused);
            assert_eq!(is_refused, !is_listed, "{target:?}: {answer:?}");
            assert_eq!(matches!(answer, Answer::Opened { .. }), is_listed, "{target:?}");
        }
    }

    #[test]
    fn nothing_is_left_of_a_stream_that_has_asked_for_the_program() {
        let mut pair = Pair::new();
        for number in 0..=STREAMS_MAX {
            let id = pair.open(&Target::Foreground);
            pair.exchange();
            pair.forwards.layer.as_mut().unwrap().tell_foreground(|| Some("vi".to_owned()));
            pair.exchange();
            let answer = MessageReader::default().read(pair.now, &mut pair.client, id);
            let answer = Answer::decode(&answer.unwrap().expect("it was sent"));
            assert_eq!(answer, Ok(Answer::Opened { address: "vi".to_owned() }), "{number}");
            pair.client.finish_and_stop(id, 0);
        }
    }

    #[test]
    fn packets_to_the_client_follow_the_controller_that_it_chooses_and_an_unknown_one_is_refused() {
        let mut pair = Pair::new();
        let mut ask = |name: &str| {
            let id = pair.open(&Target::Controller(name.to_owned()));
            pair.exchange();
            let answer = MessageReader::default().read(pair.now, &mut pair.client, id);
            let answer = Answer::decode(&answer.unwrap().expect("it was sent")).unwrap();
            let streams = format!("{:?}", pair.forwards.layer.as_ref().unwrap().streams);
            (answer, ["LowDelay {", "Cubic {", "Ledbat {"].map(|it| streams.contains(it)))
        };
        let (answer, kinds) = ask("vegas");
        let Answer::Refused { text, .. } = answer else { panic!("{answer:?}") };
        assert_eq!(
            text,
            "its rove knows no controller but low-delay, ledbat, cubic, new-reno, sprout-ack"
        );
        assert_eq!(kinds, [true, false, false]);
        for (name, kinds) in [("cubic", [false, true, false]), ("ledbat", [false, false, true])] {
            assert_eq!(ask(name), (Answer::Opened { address: name.to_owned() }, kinds));
        }
    }

    /// Starts a program that prints its process number. Returns the stream of its input, and the number.
    fn begin(pair: &mut Pair, command: &[u8]) -> (StreamId, Pid) {
        let command_len = command.len();
        let part = Part::Input { command_len, is_subsystem: false };
        let input = pair.open(&Target::Program(part));
        let output = pair.open(&Target::Program(Part::Output(input)));
        pair.open(&Target::Program(Part::Errors(input)));
        pair.client.write(input, command).unwrap();
        let mut said = Vec::new();
        while !said.ends_with(b"\n") {
            pair.exchange();
            let mut buffer = [0; 999];
            if let Ok(Read::Bytes(count)) = pair.client.read(pair.now, output, &mut buffer) {
                said.extend_from_slice(&buffer[..count]);
            }
        }
        let said = String::from_utf8_lossy(&said);
        let (_, pid) = said.trim_end().split_once("pid=").unwrap();
        (input, Pid::from_raw(pid.parse().unwrap()).unwrap())
    }

    #[test]
    fn a_program_whose_input_has_ended_is_hung_up_once_nobody_wants_its_exit_status() {
        let mut pair = Pair::new();
        let (input, pid) = begin(&mut pair, b"echo pid=$$; read line; exec sleep 600");
        pair.client.finish(input).unwrap();
        (0..5).for_each(|_| pair.exchange());
        assert_eq!(pair.forwards.open(), 1, "it goes on");
        pair.client.stop(input, 0).unwrap();
        wait_until("the end of the program", || {
            pair.exchange();
            pair.forwards.handle_child_end();
            pair.forwards.open() == 0
        });
        assert!(test_kill_process(pid).is_err());
    }

    #[test]
    fn the_streams_of_a_program_are_gone_once_its_client_has_ended_them() {
        for (command, is_given_up) in [("true", false), ("exec sleep 600", true)] {
            let mut pair = Pair::new();
            let command = format!("echo pid=$$; {command}");
            let (input, _) = begin(&mut pair, command.as_bytes());
            let outputs = [StreamId::new(input.get() + 2), StreamId::new(input.get() + 4)];
            let mut ends = 0;
            wait_until("the end of the outputs", || {
                pair.exchange();
                let read = |id| pair.client.read(pair.now, id, &mut [0; 99]);
                ends += outputs.map(read).iter().filter(|it| **it == Ok(Read::End)).count();
                is_given_up || ends == outputs.len()
            });
            for id in [input, outputs[0], outputs[1]] {
                pair.client.reset_and_stop(id, 0);
            }
            wait_until("the end of the program", || {
                pair.forwards.handle_child_end();
                pair.exchange();
                pair.forwards.open() == 0
            });
            pair.exchange();
            let server = &pair.forwards.layer.as_ref().unwrap().streams.mux;
            let left = (server.open_streams(), pair.client.open_streams());
            assert_eq!(left, (0, 0), "{command}");
        }
    }

    #[test]
    fn nothing_is_left_of_a_program_whose_client_was_replaced() {
        let mut pair = Pair::new();
        let (_, pid) = begin(&mut pair, b"echo pid=$$; exec sleep 600");
        pair.forwards.drop_layer();
        wait_until("the end of the program", || {
            pair.forwards.handle_child_end();
            test_kill_process(pid).is_err()
        });
        assert!(pair.forwards.left.is_empty());
    }

    #[test]
    fn a_program_that_its_client_gives_up_counts_until_it_has_ended_and_nothing_is_left_of_it() {
        let mut pair = Pair::new();
        let command = b"trap '' HUP; echo pid=$$; read line; kill -STOP $$";
        let (input, pid) = begin(&mut pair, command);
        pair.client.reset(input, 0).unwrap();
        pair.exchange();
        pair.forwards.handle_child_end();
        pair.exchange();
        assert!(pair.forwards.open() == 1 && test_kill_process(pid).is_ok(), "it ignores that");
        // The program takes the place of no connection that waits for an answer. A listener whose queue is full answers
        // nothing.
        let full = TcpListener::bind("127.0.0.1:0").unwrap();
        rustix::net::listen(&full, 0).unwrap();
        let silent = full.local_addr().unwrap();
        let _queued = std::net::TcpStream::connect(silent).unwrap();
        let target = Target::Tcp { host: silent.ip().to_string(), port: silent.port() };
        let ask = |pair: &mut Pair| {
            let id = pair.open(&target);
            pair.exchange();
            let answer = MessageReader::default().read(pair.now, &mut pair.client, id).unwrap();
            (id, answer.map(|fields| Answer::decode(&fields).unwrap()))
        };
        let asked = [(); CONNECTS_MAX].map(|()| ask(&mut pair));
        assert!(asked.iter().all(|(_, answer)| answer.is_none()), "{asked:?}");
        let (last, answer) = ask(&mut pair);
        assert!(matches!(answer, Some(Answer::Refused { code: BUSY, .. })), "{answer:?}");
        for id in asked.map(|it| it.0).into_iter().chain([last]) {
            pair.client.reset_and_stop(id, 0);
        }
        pair.exchange();
        assert_eq!(pair.forwards.open(), 1, "only the program is left");
        kill_process(pid, Signal::KILL).unwrap();
        wait_until("the end of the program", || {
            pair.forwards.handle_child_end();
            pair.exchange();
            pair.forwards.open() == 0
        });
        assert!(test_kill_process(pid).is_err(), "nothing is left of it");
    }
}
