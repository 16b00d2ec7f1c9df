use std::io::Read as _;
use std::net::{SocketAddr, TcpListener, TcpStream};

use rove_rig::guard::within_guard;
use rove_rig::ports::free_port;
use rove_streams::{Event, MessageReader};

use super::*;
use crate::tests::muxes::{deliver, muxes};

/// A client that asks for listeners, and the server with these listeners.
struct Ends {
    now: Instant,
    client: Mux,
    server: Mux,
    reception: Reception,
    listeners: HostListeners,
}

impl Ends {
    fn new(listeners: HostListeners) -> Self {
        let (client, server) = muxes();
        Self { now: Instant::ZERO, client, server, reception: Reception::default(), listeners }
    }

    /// Asks for a listener, and returns its stream and the answer.
    fn ask(&mut self, wanted: &Listen) -> (StreamId, Answer) {
        let id = self.client.open(self.now).unwrap();
        self.client.write(id, &Target::Listen(wanted.clone()).encode()).unwrap();
        self.carry();
        let fields = MessageReader::default().read(self.now, &mut self.client, id);
        (id, Answer::decode(&fields.unwrap().expect("an answer")).unwrap())
    }

    fn carry(&mut self) {
        let Self { client, server, reception, listeners, .. } = self;
        let mut splices = BTreeMap::new();
        for _ in 0..8 {
            self.now += Duration::from_millis(20);
            let now = self.now;
            deliver(now, client, server);
            while let Some(event) = server.poll_event() {
                match event {
                    Event::Incoming => reception.handle_incoming(server),
                    Event::Readable(id) => match reception.handle_readable(now, server, id) {
                        Some(Target::Listen(wanted)) => {
                            listeners.begin(now, server, reception, id, wanted);
                        }
                        _ => listeners.handle_news(now, server, reception, id),
                    },
                    Event::Stopped(id) => listeners.handle_news(now, server, reception, id),
                    _ => {}
                }
            }
            listeners.turn(now, server, &mut splices);
            deliver(now, server, client);
        }
    }
}

fn wanted(number: u64) -> Listen {
    let at = ListenPlace::Port { host: Some("127.0.0.1".to_owned()), port: 0 };
    Listen { number, at, mask: 0o177, replaces: false }
}

fn port(answer: &Answer) -> u16 {
    let Answer::Opened { address } = answer else { panic!("{answer:?}") };
    address.parse().unwrap()
}

#[test]
fn a_listener_is_at_the_loopback_unless_the_hosts_rules_allow_more() {
    let rules = |gateway_ports| move || Ok(Policy { gateway_ports, ..Policy::default() });
    for (host, is_loopback) in [
        (None, true),
        (Some("localhost"), true),
        (Some("127.0.0.2"), true),
        (Some("::1"), true),
        (Some(""), false),
        (Some("*"), false),
        (Some("0.0.0.0"), false),
        (Some("192.0.2.1"), false),
    ] {
        assert_eq!(check_host(host, rules(false)).is_ok(), is_loopback, "{host:?}");
        assert!(check_host(host, rules(true)).is_ok(), "{host:?}");
    }
    assert!(check_host(Some("example.org"), rules(true)).is_err());
    let refusal = check_host(Some("*"), || Err(PolicyError::Exposed)).expect_err("no rules");
    assert!(refusal.to_string().starts_with("its server.toml does not count: it is not root's"));
}

#[test]
fn a_list_of_the_hosts_rules_decides_where_a_listener_is() {
    let rules =
        |text: &'static str| move || -> Result<Policy, PolicyError> { Ok(toml::from_str(text)?) };
    let refused = |text| open(&wanted(0), rules(text)).err().map(|it| it.to_string());
    let sentence = "its server.toml does not permit it (permit-listen)";
    assert_eq!(
        refused("permit-listen = ['127.0.0.1:8080', 'localhost:*']"),
        Some(sentence.to_owned())
    );
    // Port 0 lets the host choose a port, so the list must permit any port (`*`).
    for text in ["permit-listen = ['127.0.0.1:*']", "permit-listen = ['*']", ""] {
        assert_eq!(refused(text), None, "{text}");
    }
    let mistaken = refused("permit-listen = 8080").expect("a mistake permits nothing");
    assert!(mistaken.starts_with("its server.toml does not count: "), "{mistaken}");
}

#[test]
fn a_listener_lives_as_long_as_its_stream_and_no_more_than_the_bound_are_open() {
    let mut ends = Ends::new(HostListeners::default());
    let (id, answer) = ends.ask(&wanted(0));
    let first = port(&answer);
    for number in 1..32 {
        port(&ends.ask(&wanted(number)).1);
    }
    assert!(matches!(ends.ask(&wanted(32)).1, Answer::Refused { .. }));
    ends.client.reset(id, 1).unwrap();
    ends.carry();
    let first = format!("localhost:{first}");
    assert!(!ends.listeners.places().contains(&first), "another process may listen there now");
    port(&ends.ask(&wanted(32)).1);
}

#[test]
fn a_connection_waits_for_streams_that_have_ended_here_and_not_at_the_client() {
    let mut ends = Ends::new(HostListeners::default());
    let port = port(&ends.ask(&wanted(0)).1);
    let now = ends.now;
    // The listener's own stream is open and counts as the first.
    for _ in 1..STREAMS_MAX {
        let id = ends.server.open(now).unwrap();
        ends.server.reset(id, 1).unwrap();
        ends.server.stop(id, 1).unwrap();
    }
    let client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    ends.listeners.turn(now, &mut ends.server, &mut BTreeMap::new());
    client.set_nonblocking(true).unwrap();
    let heard = (&client).read(&mut [0; 1]).map_err(|error| error.kind());
    assert_eq!(heard, Err(io::ErrorKind::WouldBlock), "it is not reset");
    assert_eq!(ends.listeners.waiting(), 0);
}

#[test]
fn the_next_client_gets_the_same_port_within_a_minute_and_nobody_gets_it_later() {
    let mut ends = Ends::new(HostListeners::default());
    let first = port(&ends.ask(&wanted(3)).1);
    ends.listeners.handle_takeover(ends.now);
    let _early = TcpStream::connect(("127.0.0.1", first)).unwrap();
    ends.carry();
    assert_eq!(ends.listeners.waiting(), 0, "nobody takes it");
    let mut next = Ends::new(ends.listeners);
    // The next client may have fewer listeners, so that this one gets another number.
    assert_eq!(port(&next.ask(&wanted(0)).1), first);
    assert_eq!(next.listeners.all[0].wanted, wanted(0));
    next.carry();
    assert_eq!(next.listeners.waiting(), 1, "the connection has waited");
    next.listeners.handle_takeover(next.now);
    assert_eq!(next.listeners.waiting(), 0);
    let end = next.now + KEPT;
    assert_eq!(next.listeners.poll_timeout(), Some(end));
    next.listeners.handle_timeout(end);
    // A child that another test has just forked holds the listener open until the child's exec.
    within_guard("the end of the listener", move || {
        while TcpStream::connect(("127.0.0.1", first)).is_ok() {
            std::thread::yield_now();
        }
    });
}

#[test]
fn while_the_client_is_away_its_port_refuses_and_another_session_may_take_it() {
    let mut ends = Ends::new(HostListeners::default());
    let (id, answer) = ends.ask(&wanted(0));
    let first = port(&answer);
    let connect = |port| TcpStream::connect(("127.0.0.1", port));
    let mut early = connect(first).unwrap();
    ends.carry();
    assert_eq!(ends.listeners.waiting(), 1);
    let there = |ends: &mut Ends, is_client_there| {
        ends.listeners.handle_presence(ends.now, &mut ends.server, is_client_there);
    };
    // A child that another test has just forked holds a listener open until the child's exec.
    let wait =
        |port| within_guard("the end of the listener", move || while connect(port).is_ok() {});
    there(&mut ends, false);
    assert!(early.read(&mut [0; 1]).is_err() && ends.listeners.waiting() == 0);
    wait(first);
    assert_eq!((ends.listeners.places().len(), ends.listeners.interests(0).count()), (0, 0));
    let at = ListenPlace::Port { host: Some("127.0.0.1".to_owned()), port: first };
    let mut other = Ends::new(HostListeners::default());
    let (_, answer) = other.ask(&Listen { at, ..wanted(0) });
    assert_eq!(port(&answer), first);
    there(&mut ends, true);
    ends.carry();
    assert!(ends.client.read(ends.now, id, &mut [0; 1]).is_err(), "the port is taken");
    assert!(!ends.listeners.all.iter().any(Held::is_held));
    // The client has asked again, and is away and back once more.
    let (id, answer) = ends.ask(&wanted(0));
    let second = port(&answer);
    there(&mut ends, false);
    wait(second);
    there(&mut ends, true);
    assert_eq!(ends.listeners.places(), [format!("127.0.0.1:{second}")]);
    assert_eq!(ends.client.read(ends.now, id, &mut [0; 1]), Ok(Read::Blocked));
    // The next client gets the port, too.
    there(&mut ends, false);
    wait(second);
    ends.listeners.handle_takeover(ends.now);
    assert_eq!(port(&Ends::new(ends.listeners).ask(&wanted(1)).1), second);
}

/// Returns once a port accepts no connections. A child that another test has just forked holds a listener open until
/// the child's exec.
fn wait_for_end(port: u16) {
    within_guard("the end of the listener", move || {
        while TcpStream::connect(("127.0.0.1", port)).is_ok() {
            std::thread::yield_now();
        }
    });
}

#[test]
fn a_port_that_was_taken_in_one_family_while_the_client_was_away_is_refused_until_it_is_free() {
    let v6 = TcpListener::bind("[::1]:0");
    if v6.is_err() {
        return;
    }
    let number = free_port();
    let wanted = Listen { at: ListenPlace::Port { host: None, port: number }, ..wanted(0) };
    let mut ends = Ends::new(HostListeners::default());
    let (id, answer) = ends.ask(&wanted);
    assert_eq!((port(&answer), ends.listeners.interests(0).count()), (number, 2));
    ends.listeners.handle_presence(ends.now, &mut ends.server, false);
    wait_for_end(number);
    let taken = TcpListener::bind(("127.0.0.1", number)).unwrap();
    ends.listeners.handle_presence(ends.now, &mut ends.server, true);
    ends.carry();
    assert!(ends.client.read(ends.now, id, &mut [0; 1]).is_err(), "the port is taken");
    for _ in 0..4 {
        let (_, answer) = ends.ask(&wanted);
        let Answer::Refused { text, .. } = answer else { panic!("{answer:?}") };
        assert_eq!((&*text, ends.listeners.places().len()), ("Address already in use", 0));
        // The client asks again every 30 s.
        ends.now += KEPT / 2;
        ends.listeners.handle_timeout(ends.now);
    }
    drop(taken);
    wait_for_end(number);
    assert_eq!(port(&ends.ask(&wanted).1), number);
    assert_eq!((ends.listeners.interests(0).count(), ends.listeners.all.len()), (2, 1));
}

#[test]
fn a_port_that_the_host_chose_and_that_was_taken_meanwhile_is_replaced_by_another() {
    let mut ends = Ends::new(HostListeners::default());
    let first = port(&ends.ask(&wanted(0)).1);
    ends.listeners.handle_presence(ends.now, &mut ends.server, false);
    wait_for_end(first);
    ends.listeners.handle_takeover(ends.now);
    let _taken = TcpListener::bind(("127.0.0.1", first)).unwrap();
    let mut next = Ends::new(ends.listeners);
    assert_ne!(port(&next.ask(&wanted(0)).1), first);
    assert_eq!(next.listeners.places().len(), 1);
}

#[test]
fn connections_come_no_faster_and_wait_in_no_greater_number_than_a_client_bears() {
    let mut ends = Ends::new(HostListeners::default());
    let port = port(&ends.ask(&wanted(0)).1);
    let connect = || TcpStream::connect(("127.0.0.1", port)).unwrap();
    let (mut all, mut splices) = (Vec::new(), BTreeMap::new());
    let in_a_second = ACCEPTED_MAX as usize;
    for waiting in [in_a_second, CONNECTS_MAX] {
        // More come than are accepted in a second. The rest waits in the system's queue.
        all.extend((0..in_a_second + 10).map(|_| connect()));
        ends.now = ends.listeners.poll_timeout().unwrap_or(ends.now);
        ends.listeners.turn(ends.now, &mut ends.server, &mut splices);
        assert_eq!(ends.listeners.waiting(), waiting);
    }
    // This is as if the client refused all waiting connections at once.
    ends.listeners.cut_waiting();
    ends.listeners.turn(ends.now, &mut ends.server, &mut splices);
    assert_eq!(ends.listeners.waiting(), 2 * in_a_second - CONNECTS_MAX);
}

#[test]
fn a_listener_keeps_its_stream_when_the_client_asks_for_an_equal_one() {
    let mut ends = Ends::new(HostListeners::default());
    let (first, answer) = ends.ask(&wanted(0));
    let (second, other) = ends.ask(&wanted(0));
    assert_ne!(port(&answer), port(&other));
    for (id, left) in [(first, port(&other)), (second, 0)] {
        ends.client.reset(id, 1).unwrap();
        ends.carry();
        let left: Vec<String> =
            (left != 0).then(|| format!("127.0.0.1:{left}")).into_iter().collect();
        assert_eq!(ends.listeners.places(), left);
    }
}

#[test]
fn a_listener_with_many_connections_keeps_no_other_waiting() {
    let mut former = Ends::new(HostListeners::default());
    former.ask(&Listen { mask: 0, ..wanted(0) });
    former.listeners.handle_takeover(former.now);
    // The former client's listener stays, and has the same number as the busy listener.
    let mut ends = Ends::new(former.listeners);
    let [busy, calm] = [0, 1].map(|number| port(&ends.ask(&wanted(number)).1));
    let connect = |port| TcpStream::connect(("127.0.0.1", port)).unwrap();
    let _all: Vec<TcpStream> = (0..70).map(|_| connect(busy)).chain([connect(calm)]).collect();
    ends.carry();
    let port_of = |socket: &OwnedFd| {
        SocketAddr::try_from(rustix::net::getsockname(socket).unwrap()).unwrap().port()
    };
    let accepted: Vec<u16> =
        ends.listeners.waiting.values().map(|(socket, _)| port_of(socket)).collect();
    assert!(accepted.contains(&calm), "{accepted:?}");
}

#[test]
fn a_pause_in_accepting_ends_with_the_client() {
    let mut ends = Ends::new(HostListeners::default());
    let port = port(&ends.ask(&wanted(0)).1);
    let connect = || TcpStream::connect(("127.0.0.1", port)).unwrap();
    let _all: Vec<TcpStream> = (0..=ACCEPTED_MAX).map(|_| connect()).collect();
    for _ in 0..2 {
        ends.listeners.turn(ends.now, &mut ends.server, &mut BTreeMap::new());
        ends.listeners.cut_waiting();
    }
    let later = ends.listeners.poll_timeout().expect("the next second");
    assert!(later <= ends.now + SECOND);
    ends.listeners.handle_takeover(ends.now);
    assert_eq!(ends.listeners.poll_timeout(), Some(ends.now + KEPT));
    ends.listeners.handle_timeout(ends.now + KEPT);
    assert_eq!(ends.listeners.poll_timeout(), None);
}
