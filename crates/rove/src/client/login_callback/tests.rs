use rove_bootstrap::Forwards;
use rove_streams::{Answer, Side};

use super::*;
use crate::listeners::Listeners;
use crate::tests::muxes::{deliver, mux, muxes};

fn at(seconds: u64) -> Instant {
    Instant::from_millis(1000 * seconds)
}

/// Returns a port that is free on the loopback of IPv4.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn callback(port: u16) -> Callback {
    Callback { login: "login.example".to_owned(), loopback: "localhost", port }
}

/// Asks about a login to this port. `answer` names the host's program. Returns the callbacks and the question's time.
fn asked(port: u16, answer: Option<&str>) -> (LoginCallbacks, Instant) {
    let (mut client, mut server) = muxes();
    let mut callbacks = LoginCallbacks::new(Some("me@box"));
    callbacks.begin(at(0), &mut client, callback(port)).unwrap();
    let mut now = at(0);
    while callbacks.question().is_none() {
        now += Duration::from_millis(50);
        assert!(now <= at(2), "the question does not wait longer");
        deliver(now, &mut client, &mut server);
        if let Some((id, name)) = server.accept().zip(answer) {
            let answer = Answer::Opened { address: name.to_owned() };
            server.write(id, &answer.encode()).unwrap();
        }
        deliver(now, &mut server, &mut client);
        callbacks.turn(now, &mut client);
    }
    (callbacks, now)
}

#[test]
fn the_question_names_port_program_host_and_login() {
    let words =
        "Open port 8085 here to gh on me@box for 10 minutes? The login is at login.example.";
    assert_eq!(asked(8085, Some("gh")).0.question(), Some(words));
    for answer in [None, Some("")] {
        let (callbacks, now) = asked(8085, answer);
        let question = callbacks.question().unwrap();
        assert!(
            question.starts_with("Open port 8085 here to a program on me@box for"),
            "{question}"
        );
        assert!(answer.is_some() || now >= at(1), "an answer that may come is waited for");
    }
    let (callbacks, _) = asked(8085, Some(&"x ".repeat(100)));
    let cut = "here to x x x x x x x x ...x x x x x x x x  on me@box for";
    assert!(callbacks.question().unwrap().contains(cut));
}

#[test]
fn a_port_is_open_for_ten_minutes_by_one_yes_to_the_question_that_is_asked() {
    let port = free_port();
    let mut fresh = LoginCallbacks::default();
    fresh.begin(at(0), &mut mux(Side::Client), callback(port)).unwrap();
    assert_eq!(fresh.handle_yes(at(0)), Ok(None), "nothing was asked");
    let (mut callbacks, now) = asked(port, Some("gh"));
    let forward = callbacks.handle_yes(now).unwrap().expect("the port is free");
    assert_eq!(forward.to_string(), format!("-L localhost:{port}:localhost:{port}"));
    assert_eq!(callbacks.handle_yes(now), Ok(None), "one yes opens it once");
    assert_eq!(callbacks.question(), None);
    let again = callbacks.begin(now, &mut mux(Side::Client), callback(port));
    assert_eq!(again.unwrap_err().to_string(), format!("port {port} is open here already"));
    let end = now + OPEN_FOR;
    assert_eq!(callbacks.poll_timeout(), Some(end));
    assert_eq!(callbacks.poll_expired(end - Duration::from_millis(1)), None);
    assert_eq!(callbacks.poll_expired(end), Some(forward.listen));
    assert_eq!((callbacks.poll_expired(end), callbacks.poll_timeout()), (None, None));
}

#[test]
fn a_question_ends_in_time_and_a_newer_one_takes_its_place() {
    let port = free_port();
    let (mut callbacks, now) = asked(port, Some("gh"));
    let mut client = mux(Side::Client);
    callbacks.begin(now, &mut client, callback(9_000)).unwrap();
    assert_eq!(
        callbacks.handle_yes(now),
        Ok(None),
        "the old question is gone, the new one not asked"
    );
    callbacks.turn(now + NAME_WAIT, &mut client);
    assert!(callbacks.question().unwrap().contains("port 9000"));
    callbacks.turn(now + NAME_WAIT + PATIENCE, &mut client);
    assert_eq!((callbacks.question(), callbacks.poll_timeout()), (None, None));
    assert_eq!(callbacks.handle_yes(now), Ok(None));
}

#[test]
fn a_name_that_is_asked_for_twice_leaves_no_stream_open() {
    let (mut client, mut server) = muxes();
    let mut callbacks = LoginCallbacks::default();
    for port in [9_000, 9_001] {
        callbacks.begin(at(0), &mut client, callback(port)).unwrap();
    }
    for step in 1..40 {
        let now = at(0) + Duration::from_millis(50) * step;
        deliver(now, &mut client, &mut server);
        while let Some(id) = server.accept() {
            let answer = Answer::Opened { address: "gh".to_owned() };
            let _ = server.write(id, &answer.encode());
            server.finish_and_stop(id, 0);
        }
        deliver(now, &mut server, &mut client);
        callbacks.turn(now, &mut client);
    }
    assert!(callbacks.question().unwrap().contains("port 9001"));
    assert_eq!(client.open_streams(), 0);
}

#[test]
fn a_port_that_another_program_has_in_one_family_is_not_opened() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        // A computer may lack IPv6.
        let Ok(taken) = TcpListener::bind(address) else { continue };
        let port = taken.local_addr().unwrap().port();
        let (mut callbacks, now) = asked(port, Some("gh"));
        let refused = callbacks.handle_yes(now).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("port {port} is in use")), "{refused}");
        assert_eq!(callbacks.poll_timeout(), None);
    }
}

#[test]
fn a_port_that_the_user_has_closed_by_any_of_its_names_is_not_closed_again() {
    let place = |host: Option<&str>| Place::Port(host.map(str::to_owned), 8085);
    for (closed, is_forgotten) in [
        (place(None), true),
        (place(Some("localhost")), true),
        (place(Some("*")), true),
        (place(Some("127.0.0.2")), false),
        (Place::Port(None, 8086), false),
    ] {
        let open = vec![(8085, at(600))];
        let mut callbacks = LoginCallbacks { open, ..LoginCallbacks::default() };
        callbacks.forget(&closed);
        assert_eq!(callbacks.poll_expired(at(600)).is_none(), is_forgotten, "{closed:?}");
    }
}

#[test]
fn no_more_ports_than_the_bound_are_open() {
    let open = (1..).take(OPEN_MAX).map(|port| (port, at(600))).collect();
    let mut callbacks = LoginCallbacks { open, ..LoginCallbacks::default() };
    let refused = callbacks.begin(at(0), &mut mux(Side::Client), callback(9_000));
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("8 ports are open"), "{refused}");
    callbacks.open.pop();
    assert!(callbacks.begin(at(0), &mut mux(Side::Client), callback(9_000)).is_ok());
}

#[test]
fn a_listener_for_a_login_is_on_the_loopback_whatever_the_rules_say_and_ends_in_time() {
    let port = free_port();
    let (mut callbacks, now) = asked(port, Some("gh"));
    let forward = callbacks.handle_yes(now).unwrap().expect("the port is free");
    let rules = Forwards { are_open: true, ..Forwards::default() };
    let mut listeners = Listeners::default();
    listeners.add(&forward, &rules).unwrap();
    for socket in listeners.sockets() {
        let address = rustix::net::getsockname(socket).unwrap();
        assert!(SocketAddr::try_from(address).unwrap().ip().is_loopback());
    }
    let is_open = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
    assert!(is_open());
    let place = callbacks.poll_expired(now + OPEN_FOR).expect("its time is over");
    assert!(listeners.remove(&place, false).is_some() && !is_open());
}
