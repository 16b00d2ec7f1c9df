//! A middlebox for tests. It drops and adds datagrams as a test decides, and forwards all others.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crate::guard::within_guard;

/// The direction of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the client to the server.
    Up,
    /// From the server to the client.
    Down,
}

impl Way {
    /// Returns the opposite direction.
    #[must_use]
    pub const fn back(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

/// A datagram that the middlebox adds.
#[derive(Debug)]
pub struct Extra {
    /// The direction of the datagram.
    pub way: Way,
    /// Whether the datagram comes from an unknown address, and not from the middlebox's own.
    pub stranger: bool,
    /// The datagram's payload.
    pub payload: Vec<u8>,
}

/// The middlebox's decision about a datagram.
#[derive(Debug)]
pub struct Treatment {
    /// Whether the datagram is forwarded.
    pub passes: bool,
    /// Datagrams that the middlebox sends after this one.
    pub extras: Vec<Extra>,
}

/// A middlebox in front of a server. Dropping this value stops it.
#[derive(Debug)]
pub struct Tap {
    address: SocketAddr,
    sockets: Arc<Sockets>,
    threads: Vec<JoinHandle<()>>,
}

impl Treatment {
    /// Returns the decision to forward or drop a datagram, and to add none.
    pub const fn passing(passes: bool) -> Self {
        Self { passes, extras: Vec::new() }
    }
}

impl Tap {
    /// Starts a middlebox. `meddle` gets every datagram, and decides about it.
    ///
    /// # Errors
    ///
    /// Returns the system's error if it gives no socket.
    pub fn start(
        server: SocketAddr,
        meddle: impl FnMut(Way, &[u8]) -> Treatment + Send + 'static,
    ) -> io::Result<Self> {
        let bind = || UdpSocket::bind((server.ip(), 0));
        Self::between(bind()?, bind()?, server, meddle)
    }

    /// Starts a middlebox with two sockets, maybe in different networks. `near` faces the client, and `far` the server.
    ///
    /// # Errors
    ///
    /// Returns the system's error if it gives no socket.
    pub fn between(
        near: UdpSocket,
        far: UdpSocket,
        server: SocketAddr,
        meddle: impl FnMut(Way, &[u8]) -> Treatment + Send + 'static,
    ) -> io::Result<Self> {
        let address = near.local_addr()?;
        let sockets = Arc::new(Sockets {
            near,
            far,
            stranger: UdpSocket::bind((server.ip(), 0))?,
            server,
            client: Mutex::new(None),
            is_over: AtomicBool::new(false),
        });
        let meddle: Arc<Mutex<Meddle>> = Arc::new(Mutex::new(meddle));
        let threads = [Way::Up, Way::Down].map(|way| {
            let (sockets, meddle) = (Arc::clone(&sockets), Arc::clone(&meddle));
            std::thread::spawn(move || sockets.forward(way, &meddle))
        });
        Ok(Self { address, sockets, threads: threads.into() })
    }

    /// Returns the address to which clients send.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.sockets.is_over.store(true, Ordering::Relaxed);
        for socket in [&self.sockets.near, &self.sockets.far] {
            // Each socket sends a datagram to itself, which wakes its thread.
            let _ = socket.local_addr().and_then(|own| socket.send_to(&[], own));
        }
        for thread in self.threads.drain(..) {
            within_guard("the middlebox to stop", move || thread.join().ok());
        }
    }
}

type Meddle = dyn FnMut(Way, &[u8]) -> Treatment + Send;

#[derive(Debug)]
struct Sockets {
    /// The socket to which the client sends.
    near: UdpSocket,
    /// The socket to which the server answers.
    far: UdpSocket,
    /// A socket whose address neither end knows.
    stranger: UdpSocket,
    server: SocketAddr,
    client: Mutex<Option<SocketAddr>>,
    is_over: AtomicBool,
}

impl Sockets {
    fn forward(&self, way: Way, meddle: &Mutex<Meddle>) {
        let socket = if way == Way::Up { &self.near } else { &self.far };
        let mut buffer = vec![0; 65_536];
        loop {
            let received = socket.recv_from(&mut buffer);
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let Ok((len, source)) = received else { continue };
            if way == Way::Up {
                *self.client.lock().expect("no holder of the lock panics") = Some(source);
            }
            let payload = &buffer[..len];
            let treatment = (meddle.lock().expect("no holder of the lock panics"))(way, payload);
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
            // An error means that an end refuses datagrams, which does not matter here.
            let _ = socket.send_to(payload, target);
        }
    }
}
