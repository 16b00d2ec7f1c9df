//! The carrier of the client's datagrams, and since when it carries them: UDP, or ssh.
//!
//! Datagrams through ssh come from its far end, a process on this computer. So does a client on this computer. The far end
//! therefore tells its port over the control socket.

use std::collections::VecDeque;
use std::net::SocketAddr;

use rove_control::{Carrier, ClientPath};
use rove_units::Instant;

/// Most far ends that are known. Chosen: the old one, the new one, and another for a client that takes the session over.
const FAR_ENDS_MAX: usize = 3;

/// The path of the client.
#[derive(Debug, Default)]
pub(super) struct PathWatch {
    client: Option<SocketAddr>,
    /// The UDP ports of the newest far ends.
    far_ends: VecDeque<u16>,
    current: Option<(Carrier, Instant)>,
}

impl PathWatch {
    /// Notes the address from which the client's newest datagram came.
    pub(super) fn handle_client(&mut self, now: Instant, client: SocketAddr) {
        self.client = Some(SocketAddr::new(client.ip().to_canonical(), client.port()));
        self.judge(now);
    }

    /// Notes the UDP port of a far end.
    pub(super) fn handle_far_end(&mut self, now: Instant, port: u16) {
        self.far_ends.push_back(port);
        if self.far_ends.len() > FAR_ENDS_MAX {
            self.far_ends.pop_front();
        }
        self.judge(now);
    }

    /// Returns the path for people who ask.
    pub(super) fn status(&self, now: Instant) -> ClientPath {
        ClientPath {
            client: self.client.map(|client| client.to_string()),
            path: self.current.map(|(carrier, _)| carrier),
            path_age_seconds: self.current.map(|(_, at)| now.saturating_since(at).as_secs()),
        }
    }

    fn judge(&mut self, now: Instant) {
        let Some(client) = self.client else { return };
        let is_far_end = client.ip().is_loopback() && self.far_ends.contains(&client.port());
        let carrier = if is_far_end { Carrier::Ssh } else { Carrier::Udp };
        if self.current.is_none_or(|(current, _)| current != carrier) {
            self.current = Some((carrier, now));
        }
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
            let ClientPath { path, path_age_seconds, .. } = watch.status(at(seconds + 1));
            (path.expect("there is a client"), path_age_seconds.expect("there is a client"))
        };
        let client = |text: &'static str| {
            move |watch: &mut PathWatch, now| watch.handle_client(now, text.parse().unwrap())
        };
        let far_end = |port| move |watch: &mut PathWatch, now| watch.handle_far_end(now, port);
        // A client on this computer is heard from loopback, too.
        assert_eq!(told(5, &client("127.0.0.1:7")), (Carrier::Udp, 1));
        assert_eq!(told(6, &far_end(9)), (Carrier::Udp, 2));
        assert_eq!(told(7, &client("[::ffff:127.0.0.1]:9")), (Carrier::Ssh, 1));
        // The next far end is heard from after it has told its port, or before.
        assert_eq!(told(8, &far_end(10)), (Carrier::Ssh, 2));
        assert_eq!(told(9, &client("127.0.0.1:10")), (Carrier::Ssh, 3));
        assert_eq!(told(20, &client("192.0.2.1:10")), (Carrier::Udp, 1));
        assert_eq!(told(21, &client("192.0.2.9:11")), (Carrier::Udp, 2));
        for port in 20..30 {
            told(30, &far_end(port));
        }
        assert_eq!(told(31, &client("127.0.0.1:10")), (Carrier::Udp, 12));
        assert_eq!(told(32, &client("127.0.0.1:28")), (Carrier::Ssh, 1));
    }
}
