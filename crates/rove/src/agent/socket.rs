//! A listening socket in the user's runtime directory, which only this user can reach.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rove_bootstrap::Forwards;
use rove_platform::event_loop::Interest;
use rustix::io::{Errno, FdFlags, fcntl_setfd, ioctl_fionbio};
use rustix::net::accept;

use crate::listeners::{SocketFile, listen_at_path};

/// A listening socket for one purpose, in a directory that only this user may enter. Its file is removed on drop.
#[derive(Debug)]
pub(crate) struct PrivateSocket {
    path: PathBuf,
    listener: OwnedFd,
    file: SocketFile,
    /// Whether `accept` failed, usually for lack of a free descriptor. The event loop does not wait for the socket
    /// until [`PrivateSocket::unmute`].
    is_muted: bool,
}

impl PrivateSocket {
    /// Listens at a path in the runtime directory, made from `purpose` (a word) and this process's number.
    ///
    /// # Errors
    ///
    /// Returns why the runtime directory or the socket cannot be used.
    pub(crate) fn open(purpose: &str) -> io::Result<Self> {
        let path = rove_control::private_socket(purpose);
        Self::at(&path.ok_or_else(|| io::Error::other("no runtime directory can be used"))?)
    }

    /// Listens at this path, or returns the system's error.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        let (listener, file) = listen_at_path(path, &Forwards::default())?;
        Ok(Self { path: path.to_owned(), listener, file, is_muted: false })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the socket again if its file is gone. At the user's last logout, the system removes the directory.
    pub(crate) fn restore(&mut self) {
        if self.file.is_in_place() {
            return;
        }
        // The directory may be gone, too. This call makes it again, at the same path.
        let _ = rove_control::runtime_directory();
        match Self::at(&self.path) {
            Ok(socket) => *self = socket,
            Err(error) => tracing::warn!(%error, "the agent's socket is gone"),
        }
    }

    /// Accepts a waiting connection from a process of this user. Returns `None` if none waits, or after an error.
    pub(crate) fn accept(&mut self) -> Option<OwnedFd> {
        loop {
            let socket = match accept(&self.listener) {
                Ok(socket) => socket,
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(error) => {
                    self.is_muted = error != Errno::AGAIN;
                    return None;
                }
            };
            let stream = UnixStream::from(socket);
            // Another user's process may have inherited a descriptor of the directory, and connect through it.
            if rove_control::is_of_user(&stream) {
                let socket = OwnedFd::from(stream);
                let is_ready = fcntl_setfd(&socket, FdFlags::CLOEXEC).is_ok();
                return Some(socket).filter(|it| is_ready && ioctl_fionbio(it, true).is_ok());
            }
        }
    }

    /// Lets the event loop wait for the socket again after `accept` failed. Call this when a descriptor may be free.
    pub(crate) const fn unmute(&mut self) {
        self.is_muted = false;
    }

    /// Returns the descriptor to wait for. `None` after `accept` failed, until [`PrivateSocket::unmute`].
    pub(crate) fn interest(&self) -> Option<Interest<'_>> {
        (!self.is_muted).then(|| Interest::new(self.listener.as_fd(), true, false))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rove_rig::scratch::Scratch;

    use super::*;

    #[test]
    fn a_socket_is_the_users_alone_is_made_again_and_leaves_nothing() {
        let scratch = Scratch::new();
        let path = scratch.path("agent");
        let mut socket = PrivateSocket::at(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(socket.accept().is_none() && socket.interest().is_some());
        let _stream = UnixStream::connect(&path).unwrap();
        let accepted = socket.accept().expect("it was made");
        assert_eq!(rustix::io::read(&accepted, &mut [0; 1]), Err(Errno::AGAIN));
        std::fs::remove_file(&path).unwrap();
        socket.restore();
        let _stream = UnixStream::connect(&path).expect("it is back");
        assert!(socket.accept().is_some());
        drop(socket);
        assert!(!path.exists());
    }
}
