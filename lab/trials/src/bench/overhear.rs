//! A path between client and server that keeps copies of the first datagrams.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use rove_rig::tap::{Tap, Treatment, Way};

/// Datagrams that are copied in each direction. Chosen: those of a session's start and of some keys.
const KEPT_MAX: usize = 32;

/// The copies of datagrams, up and down.
type Copies = Arc<Mutex<[Vec<Vec<u8>>; 2]>>;

/// A path without delay that copies datagrams. Dropping this value ends the path.
#[derive(Debug)]
pub(super) struct Overheard {
    tap: Tap,
    copies: Copies,
}

impl Overheard {
    /// Opens a path to this server.
    ///
    /// # Errors
    ///
    /// Returns the system's error if it gives no socket.
    pub(super) fn start(server: SocketAddr) -> io::Result<Self> {
        let copies = Copies::default();
        let kept = Arc::clone(&copies);
        let tap = Tap::start(server, move |way, datagram| {
            let kept =
                &mut kept.lock().expect("nobody panics with it")[usize::from(way == Way::Down)];
            if kept.len() < KEPT_MAX {
                kept.push(datagram.to_vec());
            }
            Treatment::passing(true)
        })?;
        Ok(Self { tap, copies })
    }

    /// Returns the address to which clients send.
    pub(super) const fn address(&self) -> SocketAddr {
        self.tap.address()
    }

    /// Returns the copies of the client's datagrams.
    pub(super) fn up(&self) -> Vec<Vec<u8>> {
        self.copies.lock().expect("nobody panics with it")[0].clone()
    }

    /// Returns the copies of the server's datagrams.
    pub(super) fn down(&self) -> Vec<Vec<u8>> {
        self.copies.lock().expect("nobody panics with it")[1].clone()
    }
}
