//! A path between client and server that somebody overhears: all datagrams pass, and copies of the first are kept.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use rove_rig::tap::{Tap, Treatment, Way};

/// How many datagrams of each direction are kept. Chosen: those of a session's start and of some keys.
const KEPT_MAX: usize = 32;

/// The overheard datagrams, up and down.
type Copies = Arc<Mutex<[Vec<Vec<u8>>; 2]>>;

/// A path without delay. It ends when this value is dropped.
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
    /// Returns the system's refusal of a socket.
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

    /// Returns the address that clients send to.
    pub(super) const fn address(&self) -> SocketAddr {
        self.tap.address()
    }

    /// Returns the client's datagrams that were kept.
    pub(super) fn up(&self) -> Vec<Vec<u8>> {
        self.copies.lock().expect("nobody panics with it")[0].clone()
    }

    /// Returns the server's datagrams that were kept.
    pub(super) fn down(&self) -> Vec<Vec<u8>> {
        self.copies.lock().expect("nobody panics with it")[1].clone()
    }
}
