//! The process at the other end of a socket of this computer.

use std::os::unix::net::UnixStream;

/// Returns the process number of the peer. `None` if the system does not tell it, or if the peer is outside this
/// container and so has no number inside.
#[cfg(all(any(target_os = "linux", target_os = "android"), not(rove_portable)))]
pub fn process_of(stream: &UnixStream) -> Option<u32> {
    use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
    // A peer outside this container has the number 0, which rustix's type cannot hold.
    let peer = getsockopt(stream, PeerCredentials).ok()?;
    u32::try_from(peer.pid()).ok().filter(|pid| *pid != 0)
}

/// Returns the process number of the peer. `None` if the system does not tell it.
#[cfg(target_vendor = "apple")]
pub fn process_of(stream: &UnixStream) -> Option<u32> {
    use nix::sys::socket::{getsockopt, sockopt::LocalPeerPid};
    u32::try_from(getsockopt(stream, LocalPeerPid).ok()?).ok()
}

/// Returns the process number of the peer. `None` if the system does not tell it.
#[cfg(target_os = "freebsd")]
pub fn process_of(stream: &UnixStream) -> Option<u32> {
    use std::os::fd::AsFd;
    crate::sys::peer_process(stream.as_fd())
}

/// Returns `None`, because this system does not tell the process number of the peer.
#[cfg(any(
    rove_portable,
    not(any(
        target_os = "linux",
        target_os = "android",
        target_vendor = "apple",
        target_os = "freebsd"
    ))
))]
pub fn process_of(_: &UnixStream) -> Option<u32> {
    None
}

#[cfg(all(test, not(rove_portable)))]
mod tests;
