use std::net::TcpListener;

use rove_streams::{BUSY, MessageReader, StreamError};
use rove_units::Duration;

use super::*;
use crate::tests::muxes::{deliver, muxes};

/// A client with its table of listeners, and the stream multiplexers of both ends.
struct Ends {
    now: Instant,
    client: Mux,
    server: Mux,
    forwards: RemoteForwards,
    splices: BTreeMap<StreamId, Splice>,
    news: Vec<News>,
}

impl Ends {
    fn new(target: Option<Place>) -> Self {
        let remote = vec![RemoteForward { listen: Place::Port(None, 0), target }];
        let forwards = RemoteForwards::new(&Forwards { remote, ..Forwards::default() });
        let (now, (client, server)) = (Instant::ZERO, muxes());
        let mut ends =
            Self { now, client, server, forwards, splices: BTreeMap::new(), news: Vec::new() };
        ends.carry();
        let asked = ends.server.accept().expect("the client asks");
        let address = "4711".to_owned();
        let answer = Answer::Opened { address };
        ends.server.write(asked, &answer.encode()).unwrap();
        ends.carry();
        ends
    }

    /// Opens a stream to this target as the host.
    fn open(&mut self, target: &Target) -> StreamId {
        let id = self.server.open(self.now).unwrap();
        self.server.write(id, &target.encode()).unwrap();
        self.carry();
        id
    }

    fn carry(&mut self) {
        let Self { client, server, forwards, .. } = self;
        for _ in 0..8 {
            self.now += Duration::from_millis(20);
            let now = self.now;
            deliver(now, server, client);
            while let Some(event) = client.poll_event() {
                match event {
                    rove_streams::Event::Incoming => forwards.handle_incoming(now, client),
                    rove_streams::Event::Readable(id) => {
                        forwards.handle_readable(now, client, id);
                    }
                    rove_streams::Event::Stopped(id) => forwards.handle_stopped(client, id),
                    _ => {}
                }
            }
            self.news.extend(forwards.turn(now, client, &mut self.splices));
            deliver(now, client, server);
        }
    }

    /// Returns the client's answer to a stream of the host.
    fn answer(&mut self, id: StreamId) -> Option<Answer> {
        let fields = MessageReader::default().read(self.now, &mut self.server, id).ok()??;
        Answer::decode(&fields).ok()
    }
}

fn place(port: u16) -> Option<Place> {
    Some(Place::Port(Some("127.0.0.1".to_owned()), port))
}

#[test]
fn a_hostile_host_reaches_no_place_but_that_of_the_clients_table() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut ends = Ends::new(place(port));
    let sentence = format!("Allocated port 4711 for remote forward to 127.0.0.1:{port}");
    assert_eq!(ends.news, [News::Opened(Some(sentence))]);
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    other.set_nonblocking(true).unwrap();
    let tcp =
        Target::Tcp { host: "127.0.0.1".to_owned(), port: other.local_addr().unwrap().port() };
    let at = ListenPlace::Port { host: None, port: 0 };
    let listen = Target::Listen(Listen { number: 0, at, mask: 0, replaces: true });
    for target in [tcp, listen, Target::Accepted(1), Target::Accepted(u64::MAX)] {
        let id = ends.open(&target);
        let read = ends.server.read(ends.now, id, &mut [0; 9]);
        assert!(read.is_err(), "{target:?}: {read:?}");
    }
    assert!(
        other.accept().is_err() && ends.splices.is_empty() && ends.forwards.connects.is_empty()
    );
    let id = ends.open(&Target::Accepted(0));
    listener.accept().expect("the table's place");
    ends.carry();
    assert!(matches!(ends.answer(id), Some(Answer::Opened { .. })));
    assert_eq!(ends.splices.len(), 1);
}

#[test]
fn a_host_that_opens_streams_nobody_asked_for_ends_the_layer_and_not_the_session() {
    let mut ends = Ends::new(place(9));
    for number in 1..=100 {
        assert!(ends.client.closed().is_none(), "{number}");
        ends.open(&Target::Accepted(7));
    }
    assert!(ends.client.closed().is_some());
}

#[test]
fn connections_to_a_listener_that_the_user_has_removed_are_refused_and_end_nothing() {
    let mut ends = Ends::new(place(9));
    let removed = ends.forwards.remove(&mut ends.client, &Place::Port(None, 4711));
    assert_eq!(removed.as_deref(), Some("-R 0:127.0.0.1:9"));
    for _ in 1..=200 {
        let id = ends.open(&Target::Accepted(0));
        assert!(ends.server.read(ends.now, id, &mut [0; 9]).is_err());
    }
    assert!(ends.client.closed().is_none());
}

#[test]
fn connections_that_are_being_made_for_a_host_are_bounded() {
    let mut ends = Ends::new(None);
    let mut ids: Vec<StreamId> =
        (0..REQUESTS_MAX).map(|_| ends.open(&Target::Accepted(0))).collect();
    ids.push(ends.open(&Target::Accepted(0)));
    assert_eq!(ends.forwards.requests.len(), REQUESTS_MAX);
    assert!(matches!(ends.answer(ids[REQUESTS_MAX]), Some(Answer::Opened { .. })));
    // The newest connection has taken the place of the one that has been silent for longest.
    let ended = |ends: &mut Ends, id| {
        assert!(matches!(ends.answer(id), Some(Answer::Opened { .. })));
        ends.server.read(ends.now, id, &mut [0; 9]) == Ok(Read::End)
    };
    assert!(ended(&mut ends, ids[0]) && !ended(&mut ends, ids[1]));
    // A listener whose queue is full answers nothing.
    let full = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&full, 0).unwrap();
    let port = full.local_addr().unwrap().port();
    let _queued = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    ends.forwards.permitted = Permitted::Only(vec![(Some("127.0.0.1".to_owned()), None)]);
    let [high, low] = port.to_be_bytes();
    // In a second, the client accepts 100 streams.
    for count in [CONNECTS_MAX / 2, CONNECTS_MAX / 2, 1] {
        for _ in 0..count {
            let id = ends.server.open(ends.now).unwrap();
            ends.server.write(id, &Target::Accepted(0).encode()).unwrap();
            ends.server.write(id, &[4, 1, high, low, 127, 0, 0, 1, 0]).unwrap();
            ids.push(id);
        }
        (0..7).for_each(|_| ends.carry());
    }
    assert_eq!(ends.forwards.connects.len(), CONNECTS_MAX);
    let last = ids[ids.len() - 1];
    assert!(matches!(ends.answer(last), Some(Answer::Opened { .. })));
    let mut reply = [0; 9];
    assert_eq!(ends.server.read(ends.now, last, &mut reply), Ok(Read::Bytes(8)));
    assert_eq!(reply[..8], Version::Four.refused("busy"));
    // Connections to a listener's own target have a bound of their own.
    let wanted = RemoteForward { listen: Place::Port(None, 4712), target: place(port) };
    ends.forwards.add(&mut ends.client, wanted, Purpose::Option);
    ends.carry();
    let ids: Vec<StreamId> = (0..=CONNECTS_MAX).map(|_| ends.open(&Target::Accepted(1))).collect();
    assert_eq!(ends.forwards.connects.len(), 2 * CONNECTS_MAX);
    let refused = ends.answer(ids[CONNECTS_MAX]);
    assert!(matches!(refused, Some(Answer::Refused { code: BUSY, .. })), "{refused:?}");
    // The client closes SOCKS connections without a request after the deadline.
    ends.now += REQUEST_PATIENCE;
    ends.carry();
    assert_eq!((ends.forwards.requests.len(), ends.forwards.poll_timeout()), (0, None));
}

#[test]
fn a_listener_that_the_host_has_refused_is_asked_for_again_until_it_opens() {
    let mut ends = Ends::new(place(9));
    let wanted = RemoteForward { listen: Place::Port(None, 4712), target: place(9) };
    ends.forwards.add(&mut ends.client, wanted, Purpose::Option);
    ends.news.clear();
    let refused = Answer::Refused { code: UNREACHED, text: "Address already in use".into() };
    let opened = Answer::Opened { address: "4712".into() };
    let mut last = None;
    for answer in [refused.clone(), refused.clone(), opened.clone(), refused, opened] {
        // The host resets the stream of a listener whose port was taken while the client was away.
        if let Some(listener) = last.take() {
            ends.server.reset_and_stop(listener, UNREACHED);
        }
        ends.carry();
        let asked = ends.server.accept().expect("the client asks");
        ends.server.write(asked, &answer.encode()).unwrap();
        last = matches!(answer, Answer::Opened { .. }).then_some(asked);
        ends.carry();
        assert!(ends.server.accept().is_none(), "it waits, or has what it wants");
        ends.now = ends.forwards.poll_timeout().unwrap_or(ends.now);
    }
    let said = |text| format!("-R 4712:127.0.0.1:9: the host {text}");
    let taken = said("cannot listen: Address already in use");
    let opened = News::Opened(Some(said("listens")));
    // ExitOnForwardFailure ends only a session whose listeners were never open.
    let [first, later] = [News::Failed(taken.clone()), News::Said(taken)];
    assert_eq!(ends.news, [first, opened.clone(), later, opened]);
}

#[test]
fn a_stream_that_ends_without_an_answer_is_a_refusal_unless_it_was_the_first() {
    for answer in [
        None,
        Some(Answer::Refused { code: UNREACHED, text: "busy".into() }),
        Some(Answer::Opened { address: "4712".into() }),
    ] {
        let mut ends = Ends::new(place(9));
        let wanted = RemoteForward { listen: Place::Port(None, 4712), target: place(9) };
        ends.forwards.add(&mut ends.client, wanted, Purpose::Option);
        ends.carry();
        let asked = ends.server.accept().expect("the client asks");
        let is_first = answer.is_none();
        if let Some(answer) = &answer {
            ends.server.write(asked, &answer.encode()).unwrap();
            ends.carry();
        }
        ends.news.clear();
        // The port is taken, and the client is away before the answer to its next request arrives.
        ends.server.reset_and_stop(asked, UNREACHED);
        ends.now = ends.forwards.poll_timeout().unwrap_or(ends.now);
        ends.carry();
        if !is_first {
            let again = ends.server.accept().expect("the client asks again");
            ends.server.reset_and_stop(again, UNREACHED);
            ends.carry();
        }
        let is_wanted = ends.forwards.options().any(|it| it == "-R 4712:127.0.0.1:9");
        assert_eq!(is_wanted, !is_first, "{answer:?}");
        let opened = matches!(answer, Some(Answer::Opened { .. }));
        let said = match &ends.news[..] {
            [News::Failed(said)] if is_first => said,
            [News::Said(said)] if opened => said,
            [] if !is_first && !opened => continue,
            other => panic!("{other:?}"),
        };
        assert!(said.contains("has ended the stream"), "{said}");
        assert_eq!(said.contains("too old"), is_first, "{said}");
    }
}

#[test]
fn a_listener_that_is_typed_again_while_it_is_asked_for_again_is_asked_for_once() {
    let mut ends = Ends::new(place(9));
    let wanted = RemoteForward { listen: Place::Port(None, 4712), target: place(9) };
    ends.forwards.add(&mut ends.client, wanted.clone(), Purpose::Added);
    ends.carry();
    let asked = ends.server.accept().expect("the client asks");
    let refused = Answer::Refused { code: UNREACHED, text: "Address already in use".into() };
    ends.server.write(asked, &refused.encode()).unwrap();
    ends.carry();
    ends.now = ends.forwards.poll_timeout().expect("the client asks later");
    ends.carry();
    let former = ends.server.accept().expect("the client asks again");
    ends.forwards.add(&mut ends.client, wanted, Purpose::Added);
    ends.carry();
    let read = |ends: &mut Ends, id| ends.server.read(ends.now, id, &mut [0; 99]);
    assert_eq!(read(&mut ends, former), Err(StreamError::Reset(UNWANTED)));
    let newest = ends.server.accept().expect("the client asks for the new line");
    assert!(matches!(read(&mut ends, newest), Ok(Read::Bytes(_))));
    assert_eq!(ends.forwards.options().filter(|it| it.contains("4712")).count(), 1);
}

#[test]
fn clients_of_socks_at_the_host_that_say_nothing_hold_up_others_for_two_seconds() {
    let mut ends = Ends::new(None);
    let open = |ends: &mut Ends| {
        let id = ends.server.open(ends.now).unwrap();
        ends.server.write(id, &Target::Accepted(0).encode()).unwrap();
        id
    };
    let ids: Vec<StreamId> = (0..=REQUESTS_MAX).map(|_| open(&mut ends)).collect();
    let left = open(&mut ends);
    ends.carry();
    // A SOCKS client that has left does not take a place in the queue.
    ends.server.reset_and_stop(left, UNREACHED);
    ends.carry();
    assert_eq!(ends.forwards.queue, [ids[REQUESTS_MAX]]);
    let is_answered = |ends: &mut Ends, id| ends.answer(id).is_some();
    assert!(is_answered(&mut ends, ids[0]) && !is_answered(&mut ends, ids[REQUESTS_MAX]));
    assert_eq!(ends.server.read(ends.now, ids[0], &mut [0; 9]), Ok(Read::Blocked));
    let due = ends.forwards.poll_timeout().expect("the oldest makes room");
    assert!(due <= ends.now + REQUEST_TIME);
    ends.now = due;
    ends.carry();
    assert_eq!(ends.server.read(ends.now, ids[0], &mut [0; 9]), Ok(Read::End));
    assert!(is_answered(&mut ends, ids[REQUESTS_MAX]) && ends.forwards.queue.is_empty());
    assert_eq!(ends.forwards.requests.len(), REQUESTS_MAX);
}

#[test]
fn a_hundred_clients_of_socks_that_come_to_the_host_at_once_are_all_served() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 128).unwrap();
    let [high, low] = listener.local_addr().unwrap().port().to_be_bytes();
    let mut ends = Ends::new(None);
    ends.forwards.permitted = Permitted::Only(vec![(Some("127.0.0.1".to_owned()), None)]);
    let (mut opened, mut unanswered, mut greeted) = (0, Vec::new(), Vec::new());
    let since = ends.now;
    while ends.splices.len() < 100 {
        assert!(ends.now < since + Duration::from_secs(9), "{}", ends.splices.len());
        // The host opens no more streams while `CONNECTS_MAX` of them wait for an answer.
        while unanswered.len() < CONNECTS_MAX && opened < 100 {
            let id = ends.server.open(ends.now).unwrap();
            ends.server.write(id, &Target::Accepted(0).encode()).unwrap();
            opened += 1;
            unanswered.push(id);
        }
        ends.carry();
        for id in std::mem::take(&mut greeted) {
            let mut reply = [0; 2];
            assert_eq!(ends.server.read(ends.now, id, &mut reply), Ok(Read::Bytes(2)));
            ends.server.write(id, &[5, 1, 0, 1, 127, 0, 0, 1, high, low]).unwrap();
        }
        for id in std::mem::take(&mut unanswered) {
            match ends.answer(id) {
                None => unanswered.push(id),
                Some(Answer::Opened { .. }) => {
                    ends.server.write(id, &[5, 1, 0]).unwrap();
                    greeted.push(id);
                }
                Some(other) => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn places_of_this_computer_must_be_named_before_the_hosts_side_may_name_them() {
    for (address, is_other) in [
        ("192.0.2.1", true),
        ("10.0.0.1", true),
        ("2001:db8::1", true),
        ("127.0.0.1", false),
        ("127.9.9.9", false),
        ("::1", false),
        ("::ffff:127.0.0.1", false),
        ("0.0.0.0", false),
        ("0.0.0.1", false),
        ("::", false),
        ("169.254.169.254", false),
        ("::ffff:169.254.169.254", false),
        ("fe80::1", false),
        ("fd00:ec2::254", false),
        ("fd20:ce::254", false),
        ("fd00:c1::a9fe:a9fe", false),
        ("fd00:42::42", false),
        ("100.100.100.200", false),
        ("168.63.129.16", false),
    ] {
        assert_eq!(is_elsewhere(address.parse().unwrap()), is_other, "{address}");
    }
}

#[test]
fn an_address_of_this_computers_own_network_card_is_not_elsewhere() {
    // Connecting a UDP socket sends nothing, but fails if the computer has no network.
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    if socket.connect(("198.51.100.1", 1)).is_ok() {
        let own = socket.local_addr().unwrap().ip();
        assert!(is_own(own) && !is_elsewhere(own), "{own}");
    }
    assert!(is_own(IpAddr::from([127, 0, 0, 1])) && !is_own(IpAddr::from([198, 51, 100, 1])));
    // Linux counts 127.0.0.2 as this computer's, although it sends to that address from 127.0.0.1.
    assert!(cfg!(not(target_os = "linux")) || is_own(IpAddr::from([127, 0, 0, 2])));
}
