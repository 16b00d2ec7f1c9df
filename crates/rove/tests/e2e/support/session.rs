//! A whole session: server, path, client and terminal.

use std::net::{IpAddr, SocketAddr};

use rove_link::LinkConfig;
use rove_rig::clock;
use rove_shell::relay::{Relay, RelayConfig};
use rove_units::{Duration, Seed};

use super::server::{Maker, Server};
use super::terminal::{Size, Terminal};

/// The size of a terminal when a test does not care.
pub(crate) const SIZE: Size = (24, 80);

/// A client on a terminal, joined to a server by a relay.
///
/// Fields drop in order: the client goes before the path and the path before the server.
pub(crate) struct Session {
    /// The client's terminal.
    pub(crate) terminal: Terminal,
    /// The path between them.
    pub(crate) relay: Relay,
    /// The server.
    pub(crate) server: Server,
}

impl Session {
    /// Starts a server with a command on this address, a path to it and a client.
    pub(crate) fn open(
        client: Maker,
        server: Maker,
        ip: IpAddr,
        link: LinkConfig,
        command: &[&str],
    ) -> Self {
        let server = Server::start(server, ip, command);
        let relay = relay_to(server.address, link);
        let call = client.client(relay.address(), &server.key);
        let terminal = Terminal::start(&call, SIZE);
        Self { terminal, relay, server }
    }
}

/// A login that takes this many seconds may have asked the user something. Then rove does not log in again by itself.
const SLOW_SECONDS: f64 = 5.0;
/// How many logins are tried until one was quick enough, because this computer may be busy.
const LOGINS_MAX: usize = 20;

/// Starts a session whose client may log in again by itself. `prepare` returns what a login needs, or `None` if that is
/// impossible.
pub(crate) fn with_quick_login<P, T>(
    prepare: impl Fn() -> Option<P>,
    log_in: impl Fn(&P) -> T,
) -> Option<(P, T)> {
    for _ in 0..LOGINS_MAX {
        let prepared = prepare()?;
        let start = clock::now();
        let session = log_in(&prepared);
        if clock::seconds_since(start) < SLOW_SECONDS {
            return Some((prepared, session));
        }
        drop(session);
    }
    panic!("{LOGINS_MAX} logins took {SLOW_SECONDS} s and more");
}

/// Starts a relay in front of a server, the same link both ways.
pub(crate) fn relay_to(server: SocketAddr, link: LinkConfig) -> Relay {
    let listen = SocketAddr::new(server.ip(), 0);
    let seed = Seed::new(u64::from(server.port()));
    let config = RelayConfig { listen, server, uplink: link.clone(), downlink: link, seed };
    Relay::start(config).expect("loopback has free ports")
}

/// A bad path: 20 to 30 ms each way, out of order, with 2 % of the datagrams duplicated and this share lost.
pub(crate) fn lossy(loss: f64) -> LinkConfig {
    LinkConfig {
        delay: Duration::from_millis(20),
        jitter: Duration::from_millis(10),
        reorder: true,
        loss,
        duplicate: 0.02,
        ..LinkConfig::default()
    }
}
