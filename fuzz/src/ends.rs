//! A client and a server with a hostile peer that has the key, a user, a program, and a clock that jumps.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::collections::VecDeque;

use arbitrary::{Result, Unstructured};
use rove_headless::{Act, ClientEnd, Program, ServerEnd, User, client_config, server_config};
use rove_link::net::{End, LEFT_ADDRESS, RIGHT_ADDRESS};
use rove_session::{
    Client, ClientConfig, ClientEvent, Door, ExitStatus, HostScreen, JoinMode, MakeEngine, Outside,
    Prediction, Preference, Server, ServerConfig, UserStream,
};
use rove_ssp::{Capabilities, Config, Direction, Ecn, Key, Object, Role, Transport};
use rove_terminal::{OscSupport, Size, Terminal, TerminalCapabilities};
use rove_units::{Duration, Instant, Seed};

use crate::forger::{Forger, instruction, key, text};
use crate::script::size;

const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 60001);

/// The address of a client that views the session.
const VIEWER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(203, 0, 113, 200)), 60001);

/// Most datagrams of an end at one instant. Chosen: twice the fragments of a full instruction in the smallest
/// datagrams. An end that sends more sends for ever.
const BURST_MAX: usize = 2 * 4_194_304 / 400;

/// Most wake-ups in a row that an end may request at one instant. Chosen: more than it has timers.
const WAKES_MAX: usize = 16;

/// Tenths of a second until the server knows what its client wants, if neither end has a reason to ignore the other.
const ACQUAINTED_AFTER: usize = 10;

/// Most events in a run.
const STEPS_MAX: usize = 400;

/// Gives a transport of either role any authentic instructions, at any time.
pub fn transport_survives(data: &[u8]) {
    let [flags, data @ ..] = data else { return };
    let mut input = Unstructured::new(data);
    let (start, chaff) = (Instant::ZERO, Seed::new(1).stream("chaff"));
    let capabilities = [None, Some(Capabilities::empty()), Some(rove_session::CAPABILITIES)];
    let capabilities = capabilities[usize::from(flags >> 2) % 3];
    let (user, picture) = (UserStream::new(), Size::DEFAULT);
    if flags & 1 == 0 {
        let config = Config { capabilities, ..Config::client() };
        let role = Role::Client { server: SERVER };
        let screen = HostScreen::replica(picture);
        let transport = Transport::new(role, &key(), config, user, screen, chaff, start);
        let _ = drive(transport, Direction::ToClient, &mut input, |user, bytes| {
            user.push_bytes(bytes);
        });
    } else {
        let config = Config { capabilities, ..Config::server() };
        let role = Role::Server { ipv6: flags & 2 != 0 };
        let screen = HostScreen::initial(picture);
        let transport = Transport::new(role, &key(), config, screen, user, chaff, start);
        let mut terminal = rove_terminal::Terminal::host(picture);
        let _ = drive(transport, Direction::ToServer, &mut input, |screen, bytes| {
            terminal.write(bytes);
            *screen = HostScreen::published(terminal.snapshot(), screen.echo_ack());
        });
    }
}

fn drive<Local: Object, Remote: Object>(
    mut transport: Transport<Local, Remote>,
    direction: Direction,
    input: &mut Unstructured<'_>,
    mut change: impl FnMut(&mut Local, &[u8]),
) -> Result<()> {
    let mut forger = Forger::new(direction);
    let mut now = Instant::ZERO;
    let mut nonces = Nonces::default();
    for _ in 0..STEPS_MAX {
        if input.is_empty() {
            break;
        }
        match input.int_in_range(0..=9)? {
            0..=3 => {
                let instruction = instruction(input, transport.sent_num().get())?;
                for datagram in forger.datagrams(&instruction) {
                    let _ =
                        transport.handle_datagram(now, address(input)?, Ecn::Capable, &datagram);
                }
            }
            4 => {
                let payload = forger.seal(text(input)?);
                let ecn = Ecn::CongestionExperienced;
                let _ = transport.handle_datagram(now, address(input)?, ecn, &payload);
            }
            5 => {
                let mut local = transport.local().clone();
                change(&mut local, &text(input)?);
                transport.publish(local);
            }
            6 => now = transport.poll_timeout().unwrap_or(now).max(now),
            7 => now = jump(input, now)?,
            8 => transport.hold_remote(input.arbitrary()?),
            _ => match input.int_in_range(0..=7)? {
                0 => transport.start_shutdown(now),
                _ => transport.handle_message_too_long(now, 1_200),
            },
        }
        for wake in 0.. {
            transport.handle_timeout(now);
            let mut burst = 0;
            while let Some(transmit) = transport.poll_transmit(now) {
                burst += 1;
                assert!(burst <= BURST_MAX, "sends without end");
                nonces.check(&transmit.payload);
            }
            while transport.poll_event().is_some() {}
            if transport.poll_timeout().is_none_or(|at| at > now) {
                break;
            }
            assert!(wake < WAKES_MAX, "wants to be woken now, for ever");
        }
    }
    Ok(())
}

/// Checks that no nonce is used a second time.
#[derive(Default)]
struct Nonces(Option<u64>);

impl Nonces {
    fn check(&mut self, payload: &[u8]) {
        let nonce = u64::from_be_bytes(*payload.first_chunk().expect("a nonce"));
        assert!(self.0.is_none_or(|last| last < nonce), "a nonce twice");
        self.0 = Some(nonce);
    }
}

/// Draws an address of the client.
fn address(input: &mut Unstructured<'_>) -> Result<SocketAddr> {
    let last = input.arbitrary::<u8>()? & 3;
    Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, last)), 60001))
}

/// Draws a later time, which is up to a century later.
fn jump(input: &mut Unstructured<'_>, now: Instant) -> Result<Instant> {
    let [unit, count] = input.arbitrary::<[u8; 2]>()?;
    let count = u64::from(count);
    let step = match unit & 7 {
        0 => Duration::from_nanos(count),
        1 => Duration::from_millis(count),
        2 => Duration::from_millis(count * 100),
        3 => Duration::from_secs(count),
        4 => Duration::from_secs(count * 60),
        5 => Duration::from_secs(count * 86_400),
        6 => Duration::from_secs(count * 86_400 * 30),
        _ => Duration::from_secs(5),
    };
    Ok(now + step)
}

/// A session: both ends, the network between them, the user, the program and a viewer.
struct Session {
    client: ClientEnd<Watcher>,
    server: ServerEnd<Nobody>,
    to_client: VecDeque<Vec<u8>>,
    to_server: VecDeque<Vec<u8>>,
    client_nonces: Nonces,
    server_nonces: Nonces,
    client_forger: Forger,
    server_forger: Forger,
    /// The client that views the session, after the server has invited it.
    viewer: Option<Forger>,
    viewer_nonces: Nonces,
    now: Instant,
}

/// A user whose terminal accepts output only at times. The script types keys while the client reads them.
#[derive(Default)]
struct Watcher {
    shows: bool,
    /// Whether the client has asked to be suspended.
    suspends: bool,
}

/// A program that does nothing. The script reads and writes in its place.
struct Nobody;

impl User for Watcher {
    fn next_act(&mut self, _: Instant, _: &Client, _: &Terminal) -> Option<Act> {
        None
    }

    fn takes_output(&self) -> bool {
        self.shows
    }

    fn handle_event(&mut self, event: ClientEvent) {
        self.suspends |= event == ClientEvent::Suspend;
    }
}

impl Program for Nobody {
    fn turn(&mut self, _: Instant, _: &mut Server) {}
}

/// Does everything that can happen to a session, in any order.
pub fn session_survives(data: &[u8]) {
    let [flags, data @ ..] = data else { return };
    let mut session = Session::new(*flags);
    let _ = session.run(&mut Unstructured::new(data));
    let _ = session.client.client.close_terminal();
}

impl Session {
    fn new(flags: u8) -> Self {
        let flag = |bit: u8| flags >> bit & 1 == 1;
        let capabilities = |ours: bool| ours.then_some(rove_session::CAPABILITIES);
        let transport = Config { capabilities: capabilities(flag(0)), ..Config::client() };
        let client = ClientConfig {
            key: key(),
            terminal: TerminalCapabilities {
                osc: OscSupport { any: flag(1), window: flag(1), progress: false },
                scrollback: flag(4),
                ..TerminalCapabilities::default()
            },
            query: flag(6),
            escape_key: flag(2).then_some(0x1e),
            prediction: Prediction {
                preference: Preference::Always,
                overwrite: flag(7),
                engine: flag(5).then_some(rove_stock_predict::engine as MakeEngine),
                ..Prediction::default()
            },
            ..client_config(transport, Seed::new(1))
        };
        let transport = Config { capabilities: capabilities(flag(3)), ..Config::server() };
        let server = ServerConfig {
            key: key(),
            ipv6: flag(4),
            network_timeout: flag(5).then_some(Duration::from_secs(30)),
            ..server_config(transport, Seed::new(1))
        };
        let mut client = ClientEnd::new(client, Watcher::default(), Instant::ZERO);
        client.client.set_door(Door::Open);
        if flag(6) {
            client.client.recording().start();
        }
        Self {
            client,
            server: ServerEnd::new(server, Nobody, Instant::ZERO),
            to_client: VecDeque::new(),
            to_server: VecDeque::new(),
            client_nonces: Nonces::default(),
            server_nonces: Nonces::default(),
            client_forger: Forger::new(Direction::ToClient),
            server_forger: Forger::new(Direction::ToServer),
            viewer: None,
            viewer_nonces: Nonces::default(),
            now: Instant::ZERO,
        }
    }

    fn run(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        for _ in 0..STEPS_MAX {
            if input.is_empty() {
                break;
            }
            self.step(input)?;
            self.pump(input.arbitrary::<u8>()? & 7 != 0);
        }
        Ok(())
    }

    fn step(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let now = self.now;
        let (client, server) = (&mut self.client.client, &mut self.server.server);
        match input.int_in_range(0..=21)? {
            0 | 1 if client.wants_input() => client.handle_input(now, &text(input)?),
            2 => client.handle_resize(now, size(input.arbitrary()?, input.arbitrary()?)),
            3 | 4 => server.handle_host_output(now, &text(input)?),
            5 => {
                let instruction = instruction(input, client.pending_input())?;
                for datagram in self.client_forger.datagrams(&instruction) {
                    let _ = client.handle_datagram(now, RIGHT_ADDRESS, Ecn::Capable, &datagram);
                }
            }
            6 => {
                let instruction = instruction(input, 8)?;
                for datagram in self.server_forger.datagrams(&instruction) {
                    let from = address(input)?;
                    let _ = server.handle_datagram(now, from, Ecn::Capable, &datagram);
                }
            }
            7 => {
                let garbage = text(input)?;
                let _ = client.handle_datagram(now, RIGHT_ADDRESS, Ecn::NotCapable, &garbage);
                let from = address(input)?;
                let _ = server.handle_datagram(now, from, Ecn::NotCapable, &garbage);
            }
            8..=10 => self.deliver(input)?,
            11..=13 => {
                let wakes = [client.poll_timeout(), server.poll_timeout()];
                self.now = wakes.into_iter().flatten().min().unwrap_or(now).max(now);
            }
            14 => self.now = jump(input, now)?,
            15 => {
                let _ = client.close_terminal();
                client.handle_resume(now);
            }
            16 => {
                let len = usize::from(input.arbitrary::<u16>()?);
                server.consume_host_input(len.min(server.host_input().len()));
            }
            17 => client.handle_network_error(now, "sendto: Network is unreachable"),
            18 => {
                client.handle_message_too_long(now, 1_200);
                server.handle_message_too_long(now, LEFT_ADDRESS, 1_200);
            }
            19 => {
                let text = text(input)?;
                let times = usize::from(input.arbitrary::<u8>()?);
                server.handle_host_output(now, &text.repeat(times));
            }
            20 => self.end(input.int_in_range(0..=19)?),
            21 => self.view(input)?,
            _ => {}
        }
        Ok(())
    }

    /// Ends the session in one of four ways if `how` is below 4.
    fn end(&mut self, how: u8) {
        let (now, client, server) = (self.now, &mut self.client.client, &mut self.server.server);
        match how {
            0 => client.shutdown(now, "Exiting on signal"),
            1 => client.handle_input_closed(now),
            2 => server.shutdown(now, Outside::Kill),
            3 => server.handle_host_closed(now, Some(ExitStatus::Code(3))),
            _ => server.handle_timeout(now),
        }
    }

    /// Lets the viewer send any instruction. If there is no viewer, the server first invites one.
    fn view(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        for _ in 0..if self.viewer.is_none() { ACQUAINTED_AFTER } else { 0 } {
            self.pump(true);
            self.deliver_by(0);
            self.now += Duration::from_millis(100);
        }
        let (now, server) = (self.now, &mut self.server.server);
        let Some(viewer) = &mut self.viewer else {
            let key = Key::from_bytes(*b"another 16 bytes");
            let (chaff, who) = (Seed::new(2).stream("chaff"), (JoinMode::View, "a viewer"));
            let is_invited = server.invite_to_join(now, &key, chaff, who).is_ok();
            self.viewer = is_invited.then(|| Forger::of(&key, Direction::ToServer));
            return Ok(());
        };
        let instruction = instruction(input, 8)?;
        server.handle_timeout(now);
        let typed = server.host_input().to_vec();
        for datagram in viewer.datagrams(&instruction) {
            let _ = server.handle_datagram(now, VIEWER, Ecn::Capable, &datagram);
        }
        server.handle_timeout(now);
        assert_eq!(server.host_input(), typed, "a viewer types nothing");
        Ok(())
    }

    /// Delivers datagrams of both ends, or loses, repeats or reorders some of them.
    fn deliver(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        self.deliver_by(input.arbitrary()?);
        Ok(())
    }

    /// Delivers datagrams in a way that depends on `how`. If it is 0, all arrive in order.
    fn deliver_by(&mut self, how: u8) {
        let ends: [&mut dyn End; 2] = [&mut self.client, &mut self.server];
        let ways = [(&mut self.to_client, RIGHT_ADDRESS), (&mut self.to_server, LEFT_ADDRESS)];
        for ((queue, from), end) in ways.into_iter().zip(ends) {
            if how & 7 == 1 {
                queue.make_contiguous().reverse();
            }
            let drops = how & 7 == 2;
            let repeats = if how & 7 == 3 { 2 } else { 1 };
            for datagram in queue.drain(..).skip(usize::from(drops)) {
                for _ in 0..repeats {
                    end.handle_datagram(self.now, from, &datagram);
                }
            }
        }
    }

    /// Does for both ends what a driver does after each event.
    fn pump(&mut self, shows: bool) {
        let now = self.now;
        self.client.user.shows = shows;
        for wake in 0.. {
            let (client, server) = (&mut self.client_nonces, &mut self.server_nonces);
            record(&mut self.client.client);
            turn(now, &mut self.client, [client, &mut Nonces::default()], &mut self.to_server);
            turn(now, &mut self.server, [server, &mut self.viewer_nonces], &mut self.to_client);
            if core::mem::take(&mut self.client.user.suspends) {
                let _ = self.client.client.close_terminal();
                self.client.client.handle_resume(now);
            }
            let wanted = [self.client.poll_timeout(), self.server.poll_timeout()];
            if wanted.into_iter().flatten().all(|at| at > now) {
                break;
            }
            assert!(wake < WAKES_MAX, "wants to be woken now, for ever");
        }
    }
}

/// Writes the client's records that are due.
fn record(client: &mut Client) {
    for written in 0.. {
        if client.recording().poll().is_none() {
            break;
        }
        client.recording().handle_written();
        assert!(written < WAKES_MAX, "owes a record, for ever");
    }
}

/// Lets an end do and send what is due. Datagrams to the viewer are dropped.
fn turn(
    now: Instant,
    end: &mut impl End,
    [nonces, viewer_nonces]: [&mut Nonces; 2],
    out: &mut VecDeque<Vec<u8>>,
) {
    if end.poll_timeout().is_some_and(|at| at <= now) {
        end.handle_timeout(now);
    }
    let mut burst = 0;
    while let Some((destination, payload)) = end.poll_transmit(now) {
        burst += 1;
        assert!(burst <= BURST_MAX, "sends without end");
        if destination == VIEWER {
            viewer_nonces.check(&payload);
            continue;
        }
        nonces.check(&payload);
        out.push_back(payload);
    }
    out.truncate(BURST_MAX);
}
