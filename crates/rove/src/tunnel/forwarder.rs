//! The program on a jump host (`rove tunnel forward`). It relays datagrams between a client and its server by UDP while
//! the client's ssh lasts.

use std::env;
use std::fs::{self, File};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;
use std::path::Path;

use anyhow::{Context, bail};
use rove_bootstrap::tunnel::carrier::Arrival;
use rove_bootstrap::tunnel::forwarder::{Ends, Forwarder, Order};
use rove_bootstrap::tunnel::sshd_config::{FILE_BYTES_MAX, Forwarding};
use rove_platform::clock::Clock;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_ssp::Transmit;
use rove_udp::{PortRange, ServerSocket, receive_waiting};

use crate::bounded;
use crate::tunnel::pipes::Pipes;

/// The folder of sshd's configuration, and its main file. Source: sshd(8).
const SSHD_FOLDER: &str = "/etc/ssh";
const SSHD_CONFIG: &str = "/etc/ssh/sshd_config";

/// Runs a forwarder until standard input ends. The first message on standard input names the server.
///
/// # Errors
///
/// Returns why nothing is forwarded.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut pipes = Pipes::open()?;
    let mut events = EventLoop::new(Clock::start(), &[]).context("cannot wait")?;
    let mut passage: Option<Passage> = None;
    while pipes.write() {
        let mut interests = pipes.interests();
        let sockets = interests.len();
        let all = passage.iter().flat_map(|it| [&it.outside, &it.inside]);
        interests.extend(all.map(|socket| Interest::new(socket.get().as_fd(), true, false)));
        events.wait(&mut interests, None).context("cannot wait")?;
        let is_readable: Vec<bool> = interests.iter().map(Interest::is_readable).collect();
        if is_readable[0] {
            let Some(arrivals) = pipes.read()? else { return Ok(()) };
            for arrival in arrivals {
                // Only the first message is an order; later ones are ignored.
                if let (Arrival::Words(text), None) = (arrival, &passage) {
                    let order = Order::from_text(&text).context("this is no order of a client")?;
                    let (opened, ends) = Passage::open(&order)?;
                    passage = Some(opened);
                    pipes.carrier.handle_words(ends.to_text());
                }
            }
        }
        if let (Some(passage), [is_outside, is_inside]) = (&mut passage, &is_readable[sockets..]) {
            passage.pass(*is_outside, *is_inside);
        }
    }
    Ok(())
}

/// The sockets of a forwarder.
struct Passage {
    /// The socket for the client.
    outside: ServerSocket,
    /// The socket that is connected to the server.
    inside: ServerSocket,
    forwarder: Forwarder,
}

impl Passage {
    fn open(order: &Order) -> anyhow::Result<(Self, Ends)> {
        if let Some(reason) = refusal(order.server) {
            bail!("no datagrams are passed on to {}: {reason}", order.server);
        }
        let any = |is_ipv6, ports| {
            let v6 = || ServerSocket::bind(Ipv6Addr::UNSPECIFIED.into(), ports);
            let v4 = || ServerSocket::bind(Ipv4Addr::UNSPECIFIED.into(), ports);
            if is_ipv6 { v6().or_else(|_| v4()) } else { v4() }
        };
        let outside = any(true, PortRange::default()).context("no UDP port is free")?;
        let inside = any(order.server.is_ipv6(), PortRange { low: 0, high: 0 });
        let inside = inside.context("cannot open a UDP socket")?;
        // A connected socket receives only from the server.
        inside.get().connect(order.server).context("cannot reach the server")?;
        let source = inside.get().local_addr().context("cannot reach the server")?;
        let ends = Ends { port: outside.local_addr().port(), address: own_address(), source };
        let forwarder = Forwarder::new(&order.key);
        Ok((Self { outside, inside, forwarder }, ends))
    }

    /// Forwards the datagrams that wait at the sockets. A datagram that cannot be sent at once is lost, as on any path.
    fn pass(&mut self, is_outside: bool, is_inside: bool) {
        let Self { outside, inside, forwarder } = self;
        if is_outside {
            // A receive error reports that an earlier datagram was lost, as on any path.
            let _ = receive_waiting(outside.get(), |received, payload| {
                let end = (received.source, received.local);
                if let Some(datagram) = forwarder.handle_client(end, received.ecn, payload) {
                    let _ = inside.get().send(&datagram);
                }
            });
        }
        if is_inside {
            let _ = receive_waiting(inside.get(), |received, payload| {
                let end = forwarder.handle_server(received.ecn, payload.len());
                if let Some((destination, local)) = end {
                    let payload = payload.to_vec();
                    let transmit = Transmit { destination, payload, tries_size: false };
                    let _ = outside.send_from(&transmit, local);
                }
            });
        }
    }
}

/// Returns the address at which ssh reached this computer (`SSH_CONNECTION`). `None` if it is unknown.
fn own_address() -> Option<IpAddr> {
    env::var("SSH_CONNECTION").ok()?.split(' ').nth(2)?.parse().ok()
}

/// Returns why sshd's configuration forbids connections to this server. `None` if it permits them, or cannot be read.
fn refusal(server: SocketAddr) -> Option<String> {
    let config = read(Path::new(SSHD_CONFIG))?;
    Forwarding::read(&config, &included).refusal(server)
}

/// Returns the texts of the files that match an `Include` pattern (its last part may have a star), sorted by name.
fn included(pattern: &str) -> Vec<String> {
    let path = Path::new(SSHD_FOLDER).join(pattern);
    let Some((before, after)) = pattern.rsplit('/').next().and_then(|name| name.split_once('*'))
    else {
        return read(&path).into_iter().collect();
    };
    let files = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    let mut paths: Vec<_> = files.into_iter().flatten().flatten().map(|it| it.path()).collect();
    paths.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_hidden = name.starts_with('.') && !before.starts_with('.');
        let rest = name.strip_prefix(before).filter(|_| !is_hidden);
        rest.is_some_and(|rest| rest.ends_with(after))
    });
    paths.sort();
    paths.iter().filter_map(|path| read(path)).collect()
}

/// Reads up to [`FILE_BYTES_MAX`] + 1 bytes, so that [`Forwarding::read`] notices a longer file. `None` if unreadable.
fn read(path: &Path) -> Option<String> {
    let text = bounded::read(File::open(path).ok()?, FILE_BYTES_MAX as u64 + 1).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}
