//! A middlebox that misbehaves: it drops and adds what a test tells it to, and forwards the rest.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use super::guard::within_guard;

/// Which way a datagram goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// From the client to the server.
    Up,
    /// From the server to the client.
    Down,
}

impl Way {
    /// Returns the other way.
    pub(crate) fn back(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

/// A datagram to be added.
pub(crate) struct Extra {
    /// Whom it is for.
    pub(crate) way: Way,
    /// Whether it comes from a stranger's address instead of the path's own.
    pub(crate) stranger: bool,
    /// Its payload.
    pub(crate) payload: Vec<u8>,
}

/// The fate of a datagram.
pub(crate) struct Treatment {
    /// Whether it is forwarded.
    pub(crate) passes: bool,
    /// Datagrams to be added behind it.
    pub(crate) extras: Vec<Extra>,
}

/// A middlebox in front of a server. It stops when dropped.
pub(crate) struct Tap {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Tap {
    /// Starts a middlebox; `meddle` sees every datagram and decides what becomes of it.
    pub(crate) fn start(
        server: SocketAddr,
        meddle: impl FnMut(Way, &[u8]) -> Treatment + Send + 'static,
    ) -> Self {
        let bind = || UdpSocket::bind((server.ip(), 0)).expect("loopback has free ports");
        let sockets = Arc::new(Sockets {
            near: bind(),
            far: bind(),
            stranger: bind(),
            server,
            client: std::sync::Mutex::new(None),
            meddle: std::sync::Mutex::new(Box::new(meddle)),
        });
        let address = sockets.near.local_addr().expect("a bound socket has an address");
        let stop = Arc::new(AtomicBool::new(false));
        let threads = [Way::Up, Way::Down].map(|way| {
            let (sockets, stop) = (Arc::clone(&sockets), Arc::clone(&stop));
            std::thread::spawn(move || sockets.forward(way, &stop))
        });
        Self { address, stop, threads: threads.into() }
    }

    /// Returns the address that clients send to.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            within_guard("the middlebox to stop", move || thread.join().ok());
        }
    }
}

type Meddle = dyn FnMut(Way, &[u8]) -> Treatment + Send;

struct Sockets {
    /// Faces the client.
    near: UdpSocket,
    /// Faces the server.
    far: UdpSocket,
    /// Belongs to neither.
    stranger: UdpSocket,
    server: SocketAddr,
    client: std::sync::Mutex<Option<SocketAddr>>,
    meddle: std::sync::Mutex<Box<Meddle>>,
}

impl Sockets {
    fn forward(&self, way: Way, stop: &AtomicBool) {
        let socket = if way == Way::Up { &self.near } else { &self.far };
        // Only so that the thread looks at `stop` now and then.
        let tick = std::time::Duration::from_millis(100);
        socket.set_read_timeout(Some(tick)).expect("a socket takes a timeout");
        let mut buffer = vec![0; 65_536];
        while !stop.load(Ordering::Relaxed) {
            let Ok((len, source)) = socket.recv_from(&mut buffer) else { continue };
            if way == Way::Up {
                *self.client.lock().expect("no holder of the lock panics") = Some(source);
            }
            let payload = &buffer[..len];
            let treatment =
                (self.meddle.lock().expect("no holder of the lock panics"))(way, payload);
            if treatment.passes {
                self.send(way, false, payload);
            }
            for extra in treatment.extras {
                self.send(extra.way, extra.stranger, &extra.payload);
            }
        }
    }

    fn send(&self, way: Way, stranger: bool, payload: &[u8]) {
        let client = *self.client.lock().expect("no holder of the lock panics");
        let (own, target) = match way {
            Way::Up => (&self.far, Some(self.server)),
            Way::Down => (&self.near, client),
        };
        let socket = if stranger { &self.stranger } else { own };
        if let Some(target) = target {
            let _ = socket.send_to(payload, target);
        }
    }
}
