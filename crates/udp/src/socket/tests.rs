#[cfg(target_os = "linux")]
use rove_ssp::Ecn;
use rove_ssp::wire::DATAGRAM_LEN_MAX;
#[cfg(all(target_os = "linux", not(rove_portable)))]
use rustix::event::Timespec;
use rustix::event::{PollFd, PollFlags, poll};

use super::*;

/// The timeout of a poll that does not wait.
#[cfg(all(target_os = "linux", not(rove_portable)))]
const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Waits for a datagram on `socket` and returns it.
fn receive(socket: &UdpSocket) -> (Received, Vec<u8>) {
    poll(&mut [PollFd::new(socket, PollFlags::IN)], None).unwrap();
    let mut all = Vec::new();
    receive_waiting(socket, |received, payload| all.push((received, payload.to_vec()))).unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn transmit(destination: SocketAddr, payload: &[u8]) -> Transmit {
    Transmit { destination, payload: payload.to_vec(), tries_size: false }
}

/// Sends `lost` to a closed port until the system reports an error. A process that another test has forked holds the
/// port open until its exec, and until then datagrams vanish in it.
#[cfg(all(target_os = "linux", not(rove_portable)))]
fn send_until_told(socket: &UdpSocket, lost: &Transmit) {
    let patience = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    loop {
        send(socket, lost).unwrap();
        if poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&patience)).unwrap() > 0 {
            return;
        }
    }
}

fn loopback_server() -> ServerSocket {
    ServerSocket::bind(Ipv4Addr::LOCALHOST.into(), PortRange { low: 0, high: 0 }).unwrap()
}

#[cfg(all(target_os = "linux", not(rove_portable)))]
#[test]
fn a_path_error_that_nobody_was_told_ends_no_later_wait() {
    let nobody = loopback_server().local_addr();
    let sockets = ClientSockets::open(nobody).unwrap();
    let socket = sockets.newest();
    send_until_told(socket, &transmit(nobody, b"x"));
    // A send that fails also takes the error and leaves its report in the queue.
    assert!(socket.take_error().unwrap().is_some());
    let waits = || poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&NOW)).unwrap();
    assert_eq!(waits(), 1, "the report ends a wait");
    receive_waiting(socket, |_, _| panic!("nothing was sent here")).unwrap();
    assert_eq!(waits(), 0, "it is gone");
}

#[test]
fn a_range_is_searched_upwards_for_a_free_port() {
    // Any process may have the next port, so only the order is certain.
    let taken = loopback_server();
    let busy = taken.local_addr();
    let again = PortRange { low: busy.port(), high: busy.port() };
    let refusal = ServerSocket::bind(busy.ip(), again).expect_err("one port, one socket");
    assert_eq!(refusal.kind(), io::ErrorKind::AddrInUse);
    let wider = PortRange { low: busy.port(), high: u16::MAX };
    let found = ServerSocket::bind(busy.ip(), wider).unwrap();
    assert!(found.local_addr().port() > taken.local_addr().port());
}

#[test]
fn a_server_shares_its_port_with_nobody() {
    let any = [Ipv4Addr::UNSPECIFIED.into(), IpAddr::from(Ipv6Addr::UNSPECIFIED)];
    for address in any {
        let Ok(server) = ServerSocket::bind(address, PortRange { low: 0, high: 0 }) else {
            continue; // a computer without IPv6
        };
        for other in [Ipv4Addr::LOCALHOST.into(), address] {
            let other = SocketAddr::new(other, server.local_addr().port());
            let socket = Socket::new(Domain::for_address(other), Type::DGRAM, None).unwrap();
            socket.set_reuse_address(true).unwrap();
            socket.set_reuse_port(true).unwrap();
            let refusal = socket.bind(&other.into()).expect_err("the port is taken");
            assert_eq!(refusal.kind(), io::ErrorKind::AddrInUse, "{other}");
        }
    }
}

#[test]
fn the_newest_port_sends_and_older_ones_still_receive() {
    let server = loopback_server();
    let mut client = ClientSockets::open(server.local_addr()).unwrap();
    send(client.newest(), &transmit(server.local_addr(), b"one")).unwrap();
    let first = receive(server.get()).0.source;
    client.open_port().unwrap();
    send(client.newest(), &transmit(server.local_addr(), b"two")).unwrap();
    let second = receive(server.get()).0.source;
    assert_ne!(first.port(), second.port());

    for source in [first, second] {
        send(server.get(), &transmit(source, b"answer")).unwrap();
    }
    for socket in client.iter() {
        assert_eq!(receive(socket).1, b"answer");
    }
    client.close_ports(1);
    assert_eq!(client.iter().count(), 1);
    assert_eq!(client.newest().local_addr().unwrap().port(), second.port());
}

#[test]
fn ports_are_bounded_and_the_last_one_stays() {
    let mut client = ClientSockets::open(SocketAddr::from((Ipv4Addr::LOCALHOST, 9))).unwrap();
    for opened in 1..=CLIENT_PORTS_MAX {
        assert_eq!(client.iter().count(), opened);
        client.open_port().unwrap();
    }
    assert_eq!(client.iter().count(), CLIENT_PORTS_MAX);
    client.close_ports(0);
    assert_eq!(client.iter().count(), 1);
}

#[test]
fn a_turn_reads_so_many_datagrams_and_leaves_the_rest_in_order() {
    let server = loopback_server();
    let clients = [0, 1].map(|_| ClientSockets::open(server.local_addr()).unwrap());
    let sources = clients.each_ref().map(|it| it.newest().local_addr().unwrap().port());
    let count = u8::try_from(DATAGRAMS_PER_TURN + 1).unwrap();
    for number in 0..count {
        let client = clients[usize::from(number % 2)].newest();
        send(client, &transmit(server.local_addr(), &vec![number; number.into()])).unwrap();
    }
    let mut expected = 0..count;
    for len in [DATAGRAMS_PER_TURN, 1, 0] {
        let mut taken = 0;
        receive_waiting(server.get(), |received, payload| {
            let number = expected.next().unwrap();
            assert_eq!(payload, vec![number; number.into()]);
            assert_eq!(received.len, payload.len());
            assert_eq!(received.source.port(), sources[usize::from(number % 2)]);
            taken += 1;
        })
        .unwrap();
        assert_eq!(taken, len);
    }
}

#[cfg(all(target_os = "linux", not(rove_portable)))]
#[test]
fn more_datagrams_wait_for_their_turn_than_the_system_would_keep_by_itself() {
    // 277 such datagrams fill a buffer of the default size, and an ordinary user may ask for twice that size.
    const COUNT: usize = 400;
    let server = loopback_server();
    let client = ClientSockets::open(server.local_addr()).unwrap();
    for _ in 0..COUNT {
        send(client.newest(), &transmit(server.local_addr(), &[7; 100])).unwrap();
    }
    let mut taken = 0;
    loop {
        let before = taken;
        receive_waiting(server.get(), |_, _| taken += 1).unwrap();
        if taken == before {
            break;
        }
    }
    assert_eq!(taken, COUNT);
}

#[cfg(target_os = "linux")]
#[test]
fn congestion_marks_arrive_over_either_family() {
    let any: IpAddr = Ipv6Addr::UNSPECIFIED.into();
    let Ok(server) = ServerSocket::bind(any, PortRange { low: 0, high: 0 }) else {
        return; // a computer without IPv6
    };
    let port = server.local_addr().port();
    for (class, ecn) in [
        (0, Ecn::NotCapable),
        (1, Ecn::Capable),
        (2, Ecn::Capable),
        (3, Ecn::CongestionExperienced),
    ] {
        let v4 = open(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        rustix::net::sockopt::set_ip_tos(&v4, class).unwrap();
        send(&v4, &transmit(SocketAddr::from((Ipv4Addr::LOCALHOST, port)), b"4")).unwrap();
        assert_eq!(receive(server.get()).0.ecn, ecn, "class {class} over IPv4");

        let v6 = open(SocketAddr::from((Ipv6Addr::LOCALHOST, 0))).unwrap();
        rustix::net::sockopt::set_ipv6_tclass(&v6, class.into()).unwrap();
        send(&v6, &transmit(SocketAddr::from((Ipv6Addr::LOCALHOST, port)), b"6")).unwrap();
        assert_eq!(receive(server.get()).0.ecn, ecn, "class {class} over IPv6");
    }
}

#[cfg(all(target_os = "linux", not(rove_portable)))]
#[test]
fn a_server_at_any_address_answers_from_the_one_it_was_spoken_to() {
    let any: IpAddr = Ipv6Addr::UNSPECIFIED.into();
    let Ok(server) = ServerSocket::bind(any, PortRange { low: 0, high: 0 }) else {
        return; // a computer without IPv6
    };
    let port = server.local_addr().port();
    for address in ["127.0.0.1", "127.0.0.2", "::1"] {
        let address = SocketAddr::new(address.parse().unwrap(), port);
        let client = ClientSockets::open(address).unwrap();
        send(client.newest(), &transmit(address, b"hello")).unwrap();
        let (received, _) = receive(server.get());
        let answer = transmit(received.source, b"answer");
        server.send_from(&answer, received.local).unwrap();
        let (received, _) = receive(client.newest());
        assert_eq!(received.source, address, "of several it is this one");
        assert_eq!(received.local, None, "a client does not ask");
        // If this computer does not have the given address, the server sends from another.
        let elsewhere = "2001:db8::1".parse().unwrap();
        server.send_from(&answer, Some(elsewhere)).unwrap();
        assert_eq!(receive(client.newest()).1, b"answer");
    }
}

#[test]
fn a_datagram_past_the_limit_shows_its_excess() {
    let server = loopback_server();
    let client = ClientSockets::open(server.local_addr()).unwrap();
    for (sent, seen) in [
        (0, 0),
        (DATAGRAM_LEN_MAX, DATAGRAM_LEN_MAX),
        (DATAGRAM_LEN_MAX + 1, DATAGRAM_LEN_MAX + 1),
        (DATAGRAM_LEN_MAX + 2, DATAGRAM_LEN_MAX + 1),
    ] {
        send(client.newest(), &transmit(server.local_addr(), &vec![7; sent])).unwrap();
        assert_eq!(receive(server.get()).0.len, seen);
    }
}

#[cfg(all(target_os = "linux", not(rove_portable)))]
#[test]
fn a_client_learns_that_nobody_listens_and_can_still_send() {
    let loopback = [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()];
    for address in loopback {
        let ports = PortRange { low: 0, high: 0 };
        let Ok(gone) = ServerSocket::bind(address, ports) else {
            continue; // a computer without IPv6
        };
        let nobody = gone.local_addr();
        drop(gone);
        let client = ClientSockets::open(nobody).unwrap();
        send_until_told(client.newest(), &transmit(nobody, b"lost"));
        let refusal = receive_waiting(client.newest(), |_, _| {}).expect_err("a refusal");
        assert_eq!(refusal.kind(), io::ErrorKind::ConnectionRefused);

        // No report is left that would end the next wait. The next datagram is sent even if the system has not yet
        // reported the refusal of the previous datagram.
        let server = ServerSocket::bind(address, ports).unwrap();
        send(client.newest(), &transmit(nobody, b"lost")).unwrap();
        send(client.newest(), &transmit(server.local_addr(), b"found")).unwrap();
        assert_eq!(receive(server.get()).1, b"found");
        let mut descriptors = [PollFd::new(client.newest(), PollFlags::IN)];
        assert_eq!(poll(&mut descriptors, Some(&NOW)), Ok(0));
    }
}

#[test]
fn a_datagram_no_path_takes_is_called_too_long() {
    let server = loopback_server();
    let client = ClientSockets::open(server.local_addr()).unwrap();
    let failure = send(client.newest(), &transmit(server.local_addr(), &[0; 65_535]));
    assert!(matches!(failure, Err(SendFailure::TooLong)), "{failure:?}");
}

#[test]
fn a_datagram_for_which_no_queue_has_room_is_lost_and_nothing_else_is_wrong() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let attempt = |errno: Errno| send_by(&socket, false, || Err(errno.into()));
    for full in [Errno::AGAIN, Errno::NOBUFS] {
        assert!(attempt(full).is_ok(), "{full}");
    }
    assert!(matches!(attempt(Errno::ACCESS), Err(SendFailure::Other(_))));
}

#[test]
#[cfg(all(target_os = "linux", not(rove_portable)))]
fn datagrams_that_are_sent_in_one_call_arrive_each_on_its_own() {
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    let transmit = |byte, len| Transmit {
        destination: receiver.local_addr().unwrap(),
        payload: vec![byte; len],
        tries_size: false,
    };
    let three = [transmit(1, 900), transmit(2, 900), transmit(3, 20)];
    assert!(send_segments(&sender, &three, None));
    for expected in &three {
        let mut buffer = [0; 2_000];
        let len = receiver.recv(&mut buffer).unwrap();
        assert_eq!(buffer[..len], expected.payload);
    }
    let other = Transmit { tries_size: true, ..transmit(1, 900) };
    for odd in [
        &[transmit(1, 900)][..],
        &[transmit(1, 20), transmit(2, 900)],
        &[transmit(1, 900), transmit(2, 20), transmit(3, 900)],
        &[transmit(1, 900), other],
    ] {
        assert!(!send_segments(&sender, odd, None), "{odd:?}");
    }
}
