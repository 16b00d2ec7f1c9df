//! Somebody on the path between client and server, who hands on everything and keeps a copy of some.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use anyhow::Result;
use rove_ssp::wire::DATAGRAM_LEN_MAX;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Datagrams of each direction that are kept, the first. Chosen: those of a session's start and some keys.
const KEPT_MAX: usize = 32;
/// How soon the end of the session is noticed.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The overheard datagrams, up and down.
type Copies = Arc<Mutex<[Vec<Vec<u8>>; 2]>>;

/// A path of no length. It ends when it is dropped.
#[derive(Debug)]
pub(super) struct Overheard {
    address: SocketAddr,
    copies: Copies,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Overheard {
    /// Opens a path to this server.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal of a socket.
    pub(super) fn start(server: SocketAddr) -> Result<Self> {
        let near = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let far = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        far.connect(server)?;
        near.set_nonblocking(true)?;
        far.set_nonblocking(true)?;
        let address = near.local_addr()?;
        let (copies, is_over) = (Copies::default(), Arc::new(AtomicBool::new(false)));
        let (kept, until) = (Arc::clone(&copies), Arc::clone(&is_over));
        let thread = thread::spawn(move || hand_on(&near, &far, &kept, &until));
        Ok(Self { address, copies, is_over, thread: Some(thread) })
    }

    /// Returns where clients find the server.
    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns what the client has said.
    pub(super) fn up(&self) -> Vec<Vec<u8>> {
        self.copies.lock().expect("nobody panics with it")[0].clone()
    }

    /// Returns what the server has said.
    pub(super) fn down(&self) -> Vec<Vec<u8>> {
        self.copies.lock().expect("nobody panics with it")[1].clone()
    }
}

impl Drop for Overheard {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn hand_on(near: &UdpSocket, far: &UdpSocket, copies: &Copies, is_over: &AtomicBool) {
    let mut buffer = [0; DATAGRAM_LEN_MAX];
    let mut client = None;
    let keep = |way: usize, datagram: &[u8]| {
        let kept = &mut copies.lock().expect("nobody panics with it")[way];
        if kept.len() < KEPT_MAX {
            kept.push(datagram.to_vec());
        }
    };
    while !is_over.load(Ordering::Relaxed) {
        let _ = poll(
            &mut [PollFd::new(near, PollFlags::IN), PollFd::new(far, PollFlags::IN)],
            Some(&LOOK),
        );
        while let Ok((len, source)) = near.recv_from(&mut buffer) {
            client = Some(source);
            keep(0, &buffer[..len]);
            let _: io::Result<usize> = far.send(&buffer[..len]);
        }
        while let Ok(len) = far.recv(&mut buffer) {
            keep(1, &buffer[..len]);
            if let Some(client) = client {
                let _: io::Result<usize> = near.send_to(&buffer[..len], client);
            }
        }
    }
}
