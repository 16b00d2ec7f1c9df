//! Sealed packets of streams between two ends that offered streams, with a stranger on the path.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use rove_session::{HostScreen, UserStream};
use rove_ssp::{Capabilities, Config, Ecn, Role, Transport};
use rove_terminal::Size;
use rove_units::{Duration, Instant, Seed};

use crate::forger::key;

const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 60001);
const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)), 60001);
const STRANGER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 3)), 60001);

/// The bit in a datagram's first byte that marks a packet of streams. Source: docs/wire.md.
const CLASS: u8 = 0x40;

/// Most times that both ends may send before each must know that the other offers streams.
const TURNS_MAX: usize = 100;

type Client = Transport<UserStream, HostScreen>;
type Server = Transport<HostScreen, UserStream>;

/// Sends any bytes as a packet, and changed, reflected or repeated packets. The server must not answer or store them.
pub fn packets_take_anything(data: &[u8]) {
    let (mut client, mut server, now) = meet();
    let mut claimed = data.to_vec();
    claimed.iter_mut().take(1).for_each(|first| *first |= CLASS);
    refuse(&mut server, now, &claimed);
    let Some((number, payload)) = data.split_first_chunk::<8>() else { return };
    let number = u64::from_be_bytes(*number) >> 4;
    let mut carriage = client.carriage().expect("agreed");
    let payload = &payload[..payload.len().min(carriage.payload_max())];
    let sealed = carriage.seal(number, payload).expect("a server is known").payload;
    assert_eq!(sealed[0] & CLASS, CLASS);
    let at = usize::from(data[7]) % sealed.len();
    for (at, bit) in [(at, 1 << (data[6] & 7)), (0, CLASS), (0, 0x80), (0, 0x20), (0, 0x10)] {
        let mut changed = sealed.clone();
        changed[at] ^= bit;
        refuse(&mut server, now, &changed);
    }
    for changed in [&sealed[..sealed.len() - 1], &[&sealed[..], &[0]].concat()] {
        refuse(&mut server, now, changed);
    }
    assert!(client.handle_datagram(now, SERVER, Ecn::Capable, &sealed).is_err(), "turned around");
    assert_eq!(server.handle_datagram(now, CLIENT, Ecn::Capable, &sealed), Ok(()));
    let packet = server.carriage().expect("agreed").poll_packet().expect("it was opened");
    assert_eq!((packet.number, &*packet.payload), (number, payload));
    refuse(&mut server, now, &sealed);
}

/// Asserts that a stranger's datagram changes nothing and gets no answer.
fn refuse(server: &mut Server, now: Instant, datagram: &[u8]) {
    let path = |server: &mut Server| {
        let carriage = server.carriage().expect("agreed");
        (carriage.path(), carriage.heard_at(), carriage.has_packets())
    };
    let (before, timeout) = (path(server), server.poll_timeout());
    assert!(server.handle_datagram(now, STRANGER, Ecn::Capable, datagram).is_err());
    assert_eq!((path(server), server.poll_timeout()), (before, timeout));
    assert!(server.poll_transmit(now).is_none(), "it is answered");
}

/// Returns two ends that have agreed on streams and have nothing to send, and the time.
fn meet() -> (Client, Server, Instant) {
    let (mut now, chaff) = (Instant::ZERO, Seed::new(1).stream("chaff"));
    let capabilities = Some(Capabilities::STREAMS);
    let (client, server) =
        (Config { capabilities, ..Config::client() }, Config { capabilities, ..Config::server() });
    let (user, size) = (UserStream::new(), Size::DEFAULT);
    let role = Role::Client { server: SERVER };
    let replica = HostScreen::replica(size);
    let mut client = Client::new(role, &key(), client, user.clone(), replica, chaff, now);
    let (role, screen) = (Role::Server { ipv6: false }, HostScreen::initial(size));
    let mut server = Server::new(role, &key(), server, screen, user, chaff, now);
    let mut keys = UserStream::new();
    keys.push_bytes(b"x");
    client.publish(keys);
    for _ in 0..TURNS_MAX {
        now += Duration::from_millis(100);
        exchange(now, &mut client, &mut server);
        let is_quiet = server.poll_transmit(now).is_none();
        if client.carriage().is_some() && server.carriage().is_some() && is_quiet {
            return (client, server, now);
        }
    }
    panic!("they have not met");
}

/// Lets both ends send everything that is due.
fn exchange(now: Instant, client: &mut Client, server: &mut Server) {
    client.handle_timeout(now);
    server.handle_timeout(now);
    while let Some(transmit) = client.poll_transmit(now) {
        let _ = server.handle_datagram(now, CLIENT, Ecn::Capable, &transmit.payload);
    }
    while let Some(transmit) = server.poll_transmit(now) {
        let _ = client.handle_datagram(now, SERVER, Ecn::Capable, &transmit.payload);
    }
}
