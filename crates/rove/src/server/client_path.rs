//! Finds out by which path the client's datagrams come, and since when: UDP, UDP by a jump host, or ssh.
//!
//! Datagrams through ssh come from `rove tunnel`, a process on this computer. A client on this computer also sends from
//! a local address. To tell both apart, `rove tunnel` reports its UDP port over the control socket. It also reports a
//! forwarder (a process on a jump host that passes datagrams on) if the client uses one.

use std::collections::VecDeque;
use std::net::SocketAddr;

use rove_control::{Carrier, ClientPath};
use rove_units::Instant;

/// Maximum number of `rove tunnel` ports, and of forwarders' addresses, that a server remembers; the oldest is
/// forgotten. Chosen: the client's former port, its new port, and that of a client that takes the session over.
const FAR_ENDS_MAX: usize = 3;

/// The path of the client's datagrams.
#[derive(Debug, Default)]
pub(super) struct PathWatch {
    client: Option<SocketAddr>,
    /// The UDP ports of the latest `rove tunnel` processes.
    far_ends: VecDeque<u16>,
    /// The addresses from which the latest forwarders send.
    forwarders: VecDeque<SocketAddr>,
    /// The carrier, whether a forwarder passes datagrams on, and when either last changed. `None` without a client.
    current: Option<(Carrier, bool, Instant)>,
}

impl PathWatch {
    /// Notes the source address of the client's newest datagram.
    pub(super) fn handle_client(&mut self, now: Instant, client: SocketAddr) {
        self.client = Some(canonical(client));
        self.judge(now);
    }

    /// Notes that another client has taken the session over, so that the path's age begins at zero.
    pub(super) fn handle_newcomer(&mut self, now: Instant) {
        self.current = None;
        self.judge(now);
    }

    /// Notes the UDP port of a `rove tunnel` process.
    pub(super) fn handle_far_end(&mut self, now: Instant, port: u16) {
        push(&mut self.far_ends, port);
        self.judge(now);
    }

    /// Notes the address from which a forwarder sends.
    pub(super) fn handle_forwarder(&mut self, now: Instant, source: SocketAddr) {
        push(&mut self.forwarders, canonical(source));
        self.judge(now);
    }

    /// Returns the path, for answers at the control socket.
    pub(super) fn status(&self, now: Instant) -> ClientPath {
        ClientPath {
            client: self.client.map(|client| client.to_string()),
            path: self.current.map(|(carrier, ..)| carrier),
            path_age_seconds: self.current.map(|(.., at)| now.saturating_since(at).as_secs()),
            by_jump_host: self.current.is_some_and(|(_, by_jump_host, _)| by_jump_host),
            ..ClientPath::default()
        }
    }

    fn judge(&mut self, now: Instant) {
        let Some(client) = self.client else { return };
        let is_far_end = client.ip().is_loopback() && self.far_ends.contains(&client.port());
        let carrier = if is_far_end { Carrier::Ssh } else { Carrier::Udp };
        let path = (carrier, self.forwarders.contains(&client));
        if self.current.is_none_or(|(carrier, by_jump_host, _)| (carrier, by_jump_host) != path) {
            self.current = Some((path.0, path.1, now));
        }
    }
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Adds an entry, and drops the oldest beyond [`FAR_ENDS_MAX`].
fn push<T>(known: &mut VecDeque<T>, newest: T) {
    known.push_back(newest);
    if known.len() > FAR_ENDS_MAX {
        known.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_lasts_while_its_carrier_does() {
        let at = |seconds: u64| Instant::from_millis(seconds * 1000);
        let mut watch = PathWatch::default();
        assert_eq!(watch.status(at(0)), ClientPath::default());
        let mut told = |seconds, event: &dyn Fn(&mut PathWatch, Instant)| {
            event(&mut watch, at(seconds));
            let path = watch.status(at(seconds + 1));
            (path.name().expect("there is a client"), path.path_age_seconds.expect("so"))
        };
        let client = |text: &'static str| {
            move |watch: &mut PathWatch, now| watch.handle_client(now, text.parse().unwrap())
        };
        let far_end = |port| move |watch: &mut PathWatch, now| watch.handle_far_end(now, port);
        // A client on this computer sends from loopback, too.
        assert_eq!(told(5, &client("127.0.0.1:7")), ("UDP", 1));
        assert_eq!(told(6, &far_end(9)), ("UDP", 2));
        assert_eq!(told(7, &client("[::ffff:127.0.0.1]:9")), ("ssh", 1));
        // The next `rove tunnel` reports its port before or after its first datagram.
        assert_eq!(told(8, &far_end(10)), ("ssh", 2));
        assert_eq!(told(9, &client("127.0.0.1:10")), ("ssh", 3));
        assert_eq!(told(20, &client("192.0.2.1:10")), ("UDP", 1));
        assert_eq!(told(21, &client("192.0.2.9:11")), ("UDP", 2));
        let newcomer = |watch: &mut PathWatch, now| watch.handle_newcomer(now);
        assert_eq!(told(22, &newcomer), ("UDP", 1));
        for port in 20..30 {
            told(30, &far_end(port));
        }
        assert_eq!(told(31, &client("127.0.0.1:10")), ("UDP", 10));
        assert_eq!(told(32, &client("127.0.0.1:28")), ("ssh", 1));
        let forwarder = |watch: &mut PathWatch, now| {
            watch.handle_forwarder(now, "10.0.0.1:7".parse().unwrap());
        };
        assert_eq!(told(33, &forwarder), ("ssh", 2));
        assert_eq!(told(34, &client("[::ffff:10.0.0.1]:7")), ("UDP by jump host", 1));
        assert_eq!(told(35, &client("10.0.0.1:8")), ("UDP", 1));
    }
}
