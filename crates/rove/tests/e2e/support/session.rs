//! A whole session: server, path, client, and the client's terminal.

use std::net::{IpAddr, SocketAddr};

use rove_link::LinkConfig;
use rove_rig::clock;
use rove_shell::relay::{Relay, RelayConfig};
use rove_units::{Duration, Seed};

use super::server::{Maker, Server};
use super::terminal::{Size, Terminal};

/// The size of a terminal in tests that need no particular size.
pub(crate) const SIZE: Size = (24, 80);

/// A client on a terminal, connected to a server by a relay.
///
/// Rust drops fields in order, so the client ends before the path, and the path before the server.
pub(crate) struct Session {
    /// The client's terminal.
    pub(crate) terminal: Terminal,
    /// The path between client and server.
    pub(crate) relay: Relay,
    /// The server.
    pub(crate) server: Server,
}

impl Session {
    /// Starts a server that runs `command` at `ip`, a path to the server, and a client.
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

/// Seconds after which rove assumes that a login asked the user something. rove does not repeat such a login unasked.
const SLOW_SECONDS: f64 = 5.0;
/// Most logins until one is quick enough. A busy computer may be too slow.
const LOGINS_MAX: usize = 20;

/// Starts a session whose client may repeat its login unasked. `prepare` returns what `log_in` needs, or `None` if this
/// computer cannot provide it.
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

/// Starts a relay in front of a server, with the same link in both directions.
pub(crate) fn relay_to(server: SocketAddr, link: LinkConfig) -> Relay {
    let listen = SocketAddr::new(server.ip(), 0);
    let seed = Seed::new(u64::from(server.port()));
    let config = RelayConfig { listen, server, uplink: link.clone(), downlink: link, seed };
    Relay::start(config).expect("loopback has free ports")
}

/// A bad path: 20 to 30 ms each way, out of order, with 2 % of the datagrams duplicated and the share `loss` lost.
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
