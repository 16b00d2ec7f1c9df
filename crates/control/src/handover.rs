//! Hands the UDP port of a server that lingers after its session to the next server of the same user.
//!
//! A server that lingers has no session left, and only repeats its last acknowledgment to a client that may have missed
//! it. The name of its socket begins with a dot, so `rove list` does not show it. If the server dies, later processes
//! remove the socket. The lingering server ends when a peer connects, because only this user's servers connect to it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rove_platform::clock::Clock;
use rove_units::Duration;

use crate::ask::{AskError, Conversation};
use crate::directory::{self, SessionName};
use crate::listener::listen;
use crate::protocol::Request;

/// How long a lingering server may take to release its port. Chosen: a thousand times the time that a server needs.
const PATIENCE: Duration = Duration::from_secs(2);

/// The socket by which a lingering server learns that its port is wanted.
#[derive(Debug)]
pub struct Handover {
    listener: UnixListener,
    path: PathBuf,
}

impl Handover {
    /// Opens the socket of the server that `name` identifies.
    ///
    /// # Errors
    ///
    /// Returns why the socket cannot be opened.
    pub fn open(name: SessionName) -> io::Result<Self> {
        let path = directory::runtime_directory().map_err(io::Error::other)?.unready_socket(name);
        Ok(Self { listener: listen(&path)?, path })
    }
}

impl AsFd for Handover {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Drop for Handover {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Asks this user's lingering servers to release the ports that satisfy `is_wanted`, and waits until the servers end.
/// Returns whether any server may have ended. A starting server also closes the connection, but keeps its port.
pub fn ask_for_port(is_wanted: impl Fn(u16) -> bool) -> bool {
    let clock = Clock::start();
    let deadline = clock.now() + PATIENCE;
    let sockets = directory::existing()
        .0
        .into_iter()
        .flat_map(|it| it.named(|name| name.strip_prefix('.')?.parse().ok()));
    let has_let_go = |path: &Path| match Conversation::start(clock, path, Request::Status) {
        Ok(mut conversation) => conversation.wait_closed(deadline),
        Err(error) => matches!(error, AskError::Gone | AskError::Closed),
    };
    sockets.filter(|(name, path)| is_wanted(name.port) && has_let_go(path)).count() > 0
}
