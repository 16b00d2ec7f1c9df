use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

use rove_bootstrap::{Forward, Place};
use rove_rig::guard::wait_until;
use rove_rig::ports::free_port;

use super::*;
use crate::tests::clients::client;

fn at(seconds: u64) -> Instant {
    Instant::from_millis(1000 * seconds)
}

/// Returns the streams of a client with one listener, and the listener's port.
fn forwards(target: Option<Place>) -> (ClientStreams, u16) {
    let port = free_port();
    let all = vec![Forward { listen: Place::Port(Some("127.0.0.1".to_owned()), port), target }];
    let rules = Forwards { all, ..Forwards::default() };
    (ClientStreams::new(Listeners::open(&rules).unwrap().0, &Forwards::default()), port)
}

#[test]
fn a_client_of_socks_that_says_nothing_is_closed_in_time() {
    let (mut forwards, port) = forwards(None);
    let _client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    forwards.accept(at(1));
    forwards.ask(at(2));
    assert_eq!((forwards.requests.len(), forwards.poll_timeout()), (1, Some(at(31))));
    forwards.listeners = Listeners::default();
    assert!(!forwards.is_empty(), "it is served, although its listener was removed");
    forwards.ask(at(31));
    assert_eq!((forwards.requests.len(), forwards.poll_timeout()), (0, None));
    assert!(forwards.layer.is_none(), "no stream is opened for it");
}

#[test]
fn connections_of_socks_that_say_nothing_hold_up_others_for_two_seconds() {
    let (mut forwards, port) = forwards(None);
    let (mut other, plain) = super::tests::forwards(Some(Place::Port(Some("h".to_owned()), 80)));
    let connect = |port| TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut silent: Vec<TcpStream> = (0..=REQUESTS_MAX).map(|_| connect(port)).collect();
    forwards.accept(at(1));
    assert!(forwards.requests.len() <= REQUESTS_MAX && forwards.has_room());
    forwards.accept(at(2));
    assert_eq!((forwards.requests.len(), forwards.poll_timeout()), (REQUESTS_MAX, Some(at(3))));
    silent[0].set_nonblocking(true).unwrap();
    assert!(silent[0].read(&mut [0; 1]).is_err(), "its client has had little time");
    assert_eq!(forwards.listeners.sockets().count(), 0);
    silent[0].set_nonblocking(false).unwrap();
    forwards.accept(at(3));
    assert_eq!(forwards.requests.len(), REQUESTS_MAX);
    assert_eq!(silent[0].read(&mut [0; 1]).unwrap(), 0, "the oldest has made room");
    std::mem::swap(&mut forwards.listeners, &mut other.listeners);
    let others = CONNECTS_MAX - REQUESTS_MAX + 1;
    let _plain: Vec<TcpStream> = (0..others).map(|_| connect(plain)).collect();
    forwards.accept(at(3));
    assert_eq!(forwards.layer.as_ref().map(|it| it.waiting.len()), Some(others));
    // Complete requests wait for streams, however long that lasts.
    for client in &mut silent[1..] {
        client.write_all(&[4, 1, 0, 80, 192, 0, 2, 1, 0]).unwrap();
    }
    forwards.ask(at(4));
    assert_eq!((forwards.requests.len(), forwards.has_room()), (1, false));
    assert_eq!(forwards.poll_timeout(), forwards.layer.as_ref().unwrap().poll_timeout());
    forwards.ask(at(99));
    assert_eq!(forwards.requests.len(), 1);
    let _ = forwards.layer.as_mut().unwrap().waiting.pop_first();
    forwards.ask(at(99));
    assert_eq!((forwards.requests.len(), forwards.has_room()), (0, false));
}

#[test]
fn a_hundred_clients_of_socks_that_come_at_once_are_all_served() {
    let (mut forwards, port) = forwards(None);
    let connect = |_| {
        let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        client.write_all(&[5, 1, 0]).unwrap();
        client.set_nonblocking(true).unwrap();
        client
    };
    let mut greeted: Vec<TcpStream> = (0..100).map(connect).collect();
    let (mut asking, mut connected) = (Vec::new(), Vec::new());
    for millis in 1_000..1_999 {
        let now = Instant::from_millis(millis);
        forwards.ask(now);
        forwards.accept(now);
        for mut client in std::mem::take(&mut greeted) {
            let mut reply = [0; 2];
            match client.read(&mut reply) {
                Ok(2) => {
                    assert_eq!(reply, [5, 0]);
                    client.write_all(&[5, 1, 0, 1, 192, 0, 2, 1, 0, 80]).unwrap();
                    asking.push(client);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => greeted.push(client),
                ended => panic!("{ended:?} after {} ms", millis - 1_000),
            }
        }
        // The host makes one connection in a millisecond.
        let layer = forwards.layer.as_mut();
        connected.extend(layer.and_then(|it| it.waiting.pop_first()));
    }
    assert_eq!((connected.len(), greeted.len(), asking.len()), (100, 0, 100));
}

#[test]
fn a_client_of_socks_that_has_left_makes_room_before_the_host_answers() {
    let (mut forwards, port) = forwards(None);
    let request = [4, 1, 0, 80, 192, 0, 2, 1, 0];
    let ask = |rest: &[u8]| {
        let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        client.write_all(&[&request, rest].concat()).unwrap();
        client
    };
    let (left, patient, mut hasty, whole) = (ask(b""), ask(b""), ask(b""), ask(b"GET"));
    forwards.accept(at(1));
    forwards.ask(at(1));
    // A client may send bytes and its end before the answer.
    hasty.write_all(b"GET").unwrap();
    hasty.shutdown(Shutdown::Write).unwrap();
    whole.shutdown(Shutdown::Write).unwrap();
    let waiting = |it: &mut ClientStreams| {
        let layer = it.layer.as_mut().unwrap();
        layer.take_answers(at(1));
        layer.waiting.len()
    };
    assert_eq!(waiting(&mut forwards), 4);
    drop(left);
    wait_until("the end of the first", || waiting(&mut forwards) == 3);
    drop(patient);
    wait_until("the end of the second", || waiting(&mut forwards) == 2);
}

/// Returns a client's streams after the user has agreed to open a login's port, and the forward of this port.
fn with_login() -> (ClientStreams, Forward) {
    let mut forwards = ClientStreams::new(Listeners::default(), &Forwards::default());
    let (login, loopback, port) = ("login.example".to_owned(), "localhost", free_port());
    let callback = rove_session::Callback { login, loopback, port };
    let layer = forwards.layer.get_or_insert_with(|| Box::new(Layer::new(at(1))));
    let mux = &mut layer.streams.mux;
    let mut callbacks = LoginCallbacks::default();
    callbacks.begin(at(1), mux, callback).unwrap();
    callbacks.turn(at(3), mux);
    let forward = callbacks.handle_yes(at(3)).unwrap().expect("the port is free");
    forwards.listeners.add(&forward, &Forwards::default()).unwrap();
    (forwards.with(Purpose::default(), callbacks, ControllerChoice::default()), forward)
}

#[test]
fn a_connection_to_the_port_of_a_login_after_its_time_is_not_accepted() {
    for (now, accepted) in [(602, 1), (603, 0)] {
        let (mut forwards, forward) = with_login();
        let Place::Port(_, port) = forward.listen else { panic!("a login has a port") };
        // The computer was asleep, or the client suspended.
        let _browser = TcpStream::connect(("127.0.0.1", port)).unwrap();
        forwards.accept(at(now));
        let layer = forwards.layer.as_ref().unwrap();
        assert_eq!(layer.waiting.len(), accepted, "{now}");
    }
}

#[test]
fn a_port_of_a_login_that_does_not_listen_is_not_open() {
    let (mut forwards, forward) = with_login();
    assert!(forwards.callbacks.poll_timeout().is_some());
    forwards.callbacks.forget(&Place::Port(None, 1));
    assert!(forwards.callbacks.poll_timeout().is_some(), "another place");
    forwards.callbacks.forget(&forward.listen);
    assert_eq!(forwards.callbacks.poll_timeout(), None);
}

#[test]
fn no_question_takes_the_place_of_one_that_the_user_reads() {
    let (agent, callback) = (Some("agent"), Some("callback"));
    assert_eq!(to_ask(None, agent, callback), agent);
    assert_eq!(to_ask(agent, agent, callback), agent);
    assert_eq!(to_ask(callback, agent, callback), callback);
    assert_eq!(to_ask(callback, agent, None), agent);
    assert_eq!(to_ask(agent, None, callback), callback);
    assert_eq!(to_ask(callback, None, None), None);
}

#[test]
fn connections_that_wait_for_the_host_are_bounded_and_the_rest_wait_to_be_accepted() {
    let (mut forwards, port) = forwards(Some(Place::Port(Some("h".to_owned()), 80)));
    let clients = CONNECTS_MAX + 1;
    let _clients: Vec<TcpStream> =
        (0..clients).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    forwards.accept(at(1));
    assert!(forwards.write_to_others());
    let waiting = |it: &ClientStreams| it.layer.as_ref().map(|layer| layer.waiting.len());
    assert_eq!(waiting(&forwards), Some(CONNECTS_MAX));
    // The host answers one connection.
    let _ = forwards.layer.as_mut().unwrap().waiting.pop_first();
    forwards.accept(at(2));
    assert_eq!(waiting(&forwards), Some(CONNECTS_MAX));
    assert!(forwards.listeners.accept().unwrap().is_none());
}

#[test]
fn a_connection_waits_for_streams_that_have_ended_here_and_not_at_the_host() {
    let (mut forwards, port) = forwards(Some(Place::Port(Some("h".to_owned()), 80)));
    let layer = forwards.layer.get_or_insert_with(|| Box::new(Layer::new(at(1))));
    let mux = &mut layer.streams.mux;
    let ended: Vec<_> = (0..STREAMS_MAX).map(|_| mux.open(at(1)).unwrap()).collect();
    for id in ended {
        mux.reset(id, 1).unwrap();
        mux.stop(id, 1).unwrap();
    }
    let _client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    forwards.accept(at(1));
    assert!(forwards.listeners.accept().unwrap().is_some(), "it is neither taken nor reset");
}

#[test]
fn a_second_failure_while_the_session_ends_is_no_second_request_of_the_users() {
    let mut session = client(at(1));
    let mut forwards = ClientStreams::new(Listeners::default(), &Forwards::default());
    for (millis, reason) in [(1_000, "first"), (1_500, "second")] {
        forwards.fail(Instant::from_millis(millis), &mut session, reason);
        assert_eq!(session.outcome(), None, "{reason}: the server has a second to confirm the end");
    }
    assert_eq!(forwards.into_failure().as_deref(), Some("first"));
}

#[test]
fn a_session_without_forwarded_connections_waits_for_nothing_and_holds_nothing() {
    let mut forwards = ClientStreams::new(Listeners::default(), &Forwards::default());
    forwards.accept(at(1));
    forwards.ask(at(1));
    assert!(forwards.layer.is_none() && !forwards.has_work());
    assert!(!forwards.write_to_others(), "a pipe that breaks is the terminal's");
    assert_eq!((forwards.poll_timeout(), forwards.requests.capacity()), (None, 0));
}
