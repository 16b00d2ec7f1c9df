//! The listeners of this computer at which a session accepts connections to forward: TCP ports and Unix sockets.

use std::cell::Cell;
use std::fs::{self, Permissions};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
#[cfg(all(target_os = "linux", not(rove_portable)))]
use std::os::fd::AsRawFd;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rove_bootstrap::{Forward, Forwards, Place};
use rove_streams::{PATH_MAX, PrefaceError, Target};
use rove_units::Instant;
#[cfg(all(target_os = "linux", not(rove_portable)))]
use rustix::fs::{FileType, Mode, OFlags, fstat};
use rustix::io::{Errno, FdFlags, fcntl_setfd, ioctl_fionbio};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketType, accept, bind, getsockname, listen, socket, sockopt,
};

use crate::messages::reason;

/// Most listeners of a session. Chosen: several times as many as in a long section of ssh's configuration.
const LISTENERS_MAX: usize = 32;

/// Most connections that the kernel queues until they are accepted. Source: OpenSSH 9.2 as observed.
const BACKLOG: i32 = 128;

/// Why a listener cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ListenerError {
    #[error("{forward}: cannot listen here: {}", reason(&error.to_string()))]
    System { forward: String, error: io::Error },
    #[error("{forward}: the host would be told {error}")]
    Target { forward: String, error: PrefaceError },
    #[error("{forward}: more than {LISTENERS_MAX} connections cannot be forwarded")]
    Many { forward: String },
    #[error("{forward}: a running session listens at an address, not at a name")]
    Name { forward: String },
    #[error("{line}: rove cannot read this line of ssh's configuration")]
    Unread { line: String },
}

/// The listeners of a session.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    all: Vec<Listener>,
    /// The index of the listener that [`Listeners::accept`] tries first.
    next: Cell<usize>,
    /// The end of a pause in accepting SOCKS clients. `None` without a pause.
    socks_paused_until: Option<Instant>,
}

/// A listener of one option, such as `-L`.
#[derive(Debug)]
struct Listener {
    sockets: Sockets,
    /// The port or path at which the listener listens.
    place: Place,
    /// The target of all connections. `None` if each connection names its target by SOCKS.
    target: Option<Target>,
    /// The user's option, as text.
    option: String,
}

/// The sockets that listen at a port (a socket for each address family) or at a path.
#[derive(Debug)]
pub(crate) struct Sockets {
    all: Vec<OwnedFd>,
    /// The file of a Unix socket, which is removed with this value. `None` for a port.
    file: Option<SocketFile>,
}

/// The file of this process's Unix socket. Dropping this value removes the file, if no other file has replaced it.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl Listeners {
    /// If the user requires all listeners, opens them as a test, and closes them again.
    ///
    /// # Errors
    ///
    /// Returns the first error.
    pub(crate) fn check(forwards: Option<&Forwards>) -> Result<(), ListenerError> {
        match forwards {
            Some(forwards) if forwards.are_required => Self::open(forwards).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Opens the listeners. Also returns the error of each listener that failed.
    ///
    /// # Errors
    ///
    /// Returns the first error if the user requires all listeners (`ExitOnForwardFailure`).
    pub(crate) fn open(forwards: &Forwards) -> Result<(Self, Vec<ListenerError>), ListenerError> {
        let (mut listeners, mut failures) = (Self::default(), Vec::new());
        let unread =
            forwards.unread.iter().map(|line| ListenerError::Unread { line: line.clone() });
        let added = forwards.all.iter().map(|forward| listeners.push(forward, forwards));
        for result in added.chain(unread.map(Err)) {
            match result {
                Ok(()) => {}
                Err(error) if forwards.are_required => return Err(error),
                Err(error) => failures.push(error),
            }
        }
        debug_assert!(listeners.all.len() <= LISTENERS_MAX);
        debug_assert_eq!(
            listeners.all.len() + failures.len(),
            forwards.all.len() + forwards.unread.len(),
            "each is told of"
        );
        Ok((listeners, failures))
    }

    /// Opens another listener while the session runs. Refuses a host name, whose lookup would block the session.
    pub(crate) fn add(&mut self, forward: &Forward, rules: &Forwards) -> Result<(), ListenerError> {
        match &forward.listen {
            Place::Port(Some(host), _)
                if !matches!(host.as_str(), "" | "*" | "localhost")
                    && !host.contains(':')
                    && host.parse::<Ipv4Addr>().is_err() =>
            {
                Err(ListenerError::Name { forward: forward.to_string() })
            }
            Place::Port(..) | Place::Socket(_) => self.push(forward, rules),
        }
    }

    fn push(&mut self, forward: &Forward, rules: &Forwards) -> Result<(), ListenerError> {
        if self.all.len() >= LISTENERS_MAX {
            return Err(ListenerError::Many { forward: forward.to_string() });
        }
        self.all.push(Listener::open(forward, rules)?);
        Ok(())
    }

    /// Closes the listener (of `-D` if `is_socks`) at `place`, if any. Its connections go on. Returns its option.
    pub(crate) fn remove(&mut self, place: &Place, is_socks: bool) -> Option<String> {
        let is_meant =
            |it: &Listener| it.place.is_listener(place) && it.target.is_none() == is_socks;
        let at = self.all.iter().position(is_meant)?;
        Some(self.all.remove(at).option)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the user's option for each listener.
    pub(crate) fn options(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|it| it.option.as_str())
    }

    /// Returns the sockets at which connections are accepted.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.all.iter().filter(|it| !self.is_paused(it)).flat_map(|it| it.sockets.iter())
    }

    /// Stops accepting SOCKS clients, or accepts them again (`None`). The caller must call this again at `until`.
    pub(crate) const fn pause_socks(&mut self, until: Option<Instant>) {
        self.socks_paused_until = until;
    }

    /// Returns the end of the pause in accepting SOCKS clients. `None` without a pause.
    pub(crate) const fn poll_socks(&self) -> Option<Instant> {
        self.socks_paused_until
    }

    const fn is_paused(&self, listener: &Listener) -> bool {
        listener.target.is_none() && self.socks_paused_until.is_some()
    }

    /// Accepts a waiting connection, and returns it with its target (`None` for SOCKS) and the user's option.
    ///
    /// # Errors
    ///
    /// Returns the system's error. A later call may succeed.
    pub(crate) fn accept(&self) -> io::Result<Option<(OwnedFd, Option<&Target>, &str)>> {
        // The search begins after the listener that last accepted, so that its connections do not delay others.
        let next = self.next.get();
        for at in (next..next + self.all.len()).map(|at| at % self.all.len()) {
            let listener = &self.all[at];
            if self.is_paused(listener) {
                continue;
            }
            if let Some(accepted) = listener.sockets.accept()? {
                self.next.set(at + 1);
                return Ok(Some((accepted, listener.target.as_ref(), &listener.option)));
            }
        }
        Ok(None)
    }
}

impl Listener {
    fn open(forward: &Forward, rules: &Forwards) -> Result<Self, ListenerError> {
        let option = forward.to_string();
        let target = forward.target.as_ref().map(target);
        if let Some(Err(error)) = target.as_ref().map(Target::check) {
            return Err(ListenerError::Target { forward: option, error });
        }
        match Sockets::open(&forward.listen, rules) {
            Ok(sockets) => Ok(Self { sockets, place: forward.listen.clone(), target, option }),
            Err(error) => Err(ListenerError::System { forward: option, error }),
        }
    }
}

impl Sockets {
    /// Opens the sockets for a port or path, by the user's rules for listeners.
    pub(crate) fn open(place: &Place, rules: &Forwards) -> io::Result<Self> {
        let (all, file) = match place {
            Place::Port(host, port) => (listen_at(host.as_deref(), *port, rules.are_open)?, None),
            Place::Socket(path) => {
                let (socket, file) = listen_at_path(Path::new(path), rules)?;
                (vec![socket], Some(file))
            }
        };
        debug_assert!(!all.is_empty(), "somebody can connect");
        Ok(Self { all, file })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.all.iter().map(AsFd::as_fd)
    }

    /// Returns the port. `None` for a socket in the file system.
    pub(crate) fn port(&self) -> Option<u16> {
        let address = getsockname(self.all.first()?).ok()?;
        SocketAddr::try_from(address).ok().map(|address| address.port())
    }

    /// Accepts a connection, if one waits.
    ///
    /// # Errors
    ///
    /// Returns the system's error. A later call may succeed.
    pub(crate) fn accept(&self) -> io::Result<Option<OwnedFd>> {
        for socket in &self.all {
            match accept(socket) {
                Ok(accepted) => {
                    fcntl_setfd(&accepted, FdFlags::CLOEXEC)?;
                    ioctl_fionbio(&accepted, true)?;
                    if self.file.is_none() {
                        // Nagle's algorithm would delay the keystrokes of an ssh that uses this connection.
                        let _ = sockopt::set_tcp_nodelay(&accepted, true);
                    }
                    return Ok(Some(accepted));
                }
                Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }
}

/// Returns a port or path as the target of a connection.
pub(crate) fn target(place: &Place) -> Target {
    match place {
        Place::Port(host, port) => {
            Target::Tcp { host: host.clone().unwrap_or_default(), port: *port }
        }
        Place::Socket(path) => Target::Unix { path: path.clone().into_bytes() },
    }
}

/// Listens at a port, in each address family that allows it. For port 0, the system chooses one port for both families.
/// Source: ssh(1), `-L` and `-R`; OpenSSH 9.2 as observed.
fn listen_at(host: Option<&str>, port: u16, is_open: bool) -> io::Result<Vec<OwnedFd>> {
    let both = |v4: Ipv4Addr, v6: Ipv6Addr| vec![IpAddr::V4(v4), IpAddr::V6(v6)];
    let addresses = match host {
        Some("" | "*") => both(Ipv4Addr::UNSPECIFIED, Ipv6Addr::UNSPECIFIED),
        None if is_open => both(Ipv4Addr::UNSPECIFIED, Ipv6Addr::UNSPECIFIED),
        None | Some("localhost") => both(Ipv4Addr::LOCALHOST, Ipv6Addr::LOCALHOST),
        Some(name) => (name, port).to_socket_addrs()?.map(|address| address.ip()).collect(),
    };
    let mut sockets = Vec::new();
    let mut error = io::Error::from(io::ErrorKind::AddrNotAvailable);
    let mut port = port;
    for address in addresses {
        match listen_tcp(SocketAddr::new(address, port)) {
            Ok(socket) => {
                port = SocketAddr::try_from(getsockname(&socket)?)?.port();
                sockets.push(socket);
            }
            // The first family's error is reported, because this computer may lack the second family.
            Err(failure)
                if sockets.is_empty() && error.kind() == io::ErrorKind::AddrNotAvailable =>
            {
                error = failure;
            }
            Err(_) => {}
        }
    }
    if sockets.is_empty() { Err(error) } else { Ok(sockets) }
}

fn listen_tcp(address: SocketAddr) -> io::Result<OwnedFd> {
    let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let listener = open(family)?;
    sockopt::set_socket_reuseaddr(&listener, true)?;
    if address.is_ipv6() {
        // IPv4 connections come to another socket.
        sockopt::set_ipv6_v6only(&listener, true)?;
    }
    bind(&listener, &address)?;
    listen(&listener, BACKLOG)?;
    Ok(listener)
}

/// Listens at a path, in non-blocking mode. Replaces a file only if [`may_replace`] permits that, and no other rove
/// keeps the lock of paths.
pub(crate) fn listen_at_path(path: &Path, rules: &Forwards) -> io::Result<(OwnedFd, SocketFile)> {
    listen_by("paths.lock", path, rules)
}

/// Does the work of [`listen_at_path`] with the lock of this name.
fn listen_by(lock: &str, path: &Path, rules: &Forwards) -> io::Result<(OwnedFd, SocketFile)> {
    if path.as_os_str().len() > PATH_MAX {
        return Err(Errno::NAMETOOLONG.into());
    }
    let address = SocketAddrUnix::new(path)?;
    let listener = open(AddressFamily::UNIX)?;
    // Another rove may have bound a socket and not listen yet. Such a socket looks dead, so none is replaced without
    // the lock. A rove that is stopped may hold the lock for ever, so the event loop goes on without it after a while.
    let lock = rove_control::lock(lock, rove_control::lock_file);
    let mut bound = bind(&listener, &address);
    if bound == Err(Errno::ADDRINUSE) && lock.is_ok() && may_replace(path, rules.replaces) {
        bound = rustix::fs::unlink(path).and_then(|()| bind(&listener, &address));
    }
    bound?;
    let made = fs::symlink_metadata(path)?;
    let file = SocketFile { path: path.to_owned(), identity: (made.dev(), made.ino()) };
    // The mode is set here, because nobody can connect before `listen`, and a changed umask would affect all threads.
    set_mode(path, 0o777 & !rules.mask)?;
    listen(&listener, BACKLOG)?;
    Ok((listener, file))
}

/// Sets the mode of the socket at a path. Another user who may write the folder can replace the socket by a link, which
/// this function does not follow.
#[cfg(all(target_os = "linux", not(rove_portable)))]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    // Linux before 6.6 cannot set a mode without following links. The descriptor's name in `/proc` leads to the socket.
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = rustix::fs::open(path, flags, Mode::empty())?;
    if !FileType::from_raw_mode(fstat(&made)?.st_mode).is_socket() {
        return Err(Errno::EXIST.into());
    }
    let own_name = format!("/proc/self/fd/{}", made.as_raw_fd());
    fs::set_permissions(own_name, Permissions::from_mode(mode))
}

#[cfg(any(rove_portable, not(target_os = "linux")))]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    // Another user may replace the socket by a link between `symlink_metadata` and `set_permissions`.
    if !fs::symlink_metadata(path)?.file_type().is_socket() {
        return Err(Errno::EXIST.into());
    }
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Returns whether a path is a socket of this user, and either no process listens there or `replaces` is set.
fn may_replace(path: &Path, replaces: bool) -> bool {
    let found = fs::symlink_metadata(path);
    let is_own = found.is_ok_and(|it| {
        it.file_type().is_socket() && it.uid() == rustix::process::geteuid().as_raw()
    });
    // The connection attempt must not block, because a stopped process accepts no connections.
    let is_dead = || {
        rove_control::connect(path).is_err_and(|it| it.kind() == io::ErrorKind::ConnectionRefused)
    };
    is_own && (replaces || is_dead())
}

/// Makes a stream socket in non-blocking mode.
pub(crate) fn open(family: AddressFamily) -> rustix::io::Result<OwnedFd> {
    let socket = socket(family, SocketType::STREAM, None)?;
    fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
    ioctl_fionbio(&socket, true)?;
    Ok(socket)
}

impl SocketFile {
    /// Returns whether the path still leads to the file that this process made.
    pub(crate) fn is_in_place(&self) -> bool {
        let found = fs::symlink_metadata(&self.path);
        found.is_ok_and(|it| (it.dev(), it.ino()) == self.identity)
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if self.is_in_place() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::iter;
    use std::net::{TcpListener, TcpStream};
    use std::sync::Barrier;
    use std::thread;

    use rove_rig::guard::within_guard;
    use rove_rig::ports::{free_port, leave_dead_socket};
    use rove_rig::scratch::Scratch;

    use super::*;

    fn forwards(listen: Place, are_required: bool) -> Forwards {
        let target = Some(Place::Port(Some("host".to_owned()), 80));
        let all = vec![Forward { listen, target }];
        Forwards { all, are_required, ..Forwards::default() }
    }

    fn addresses(listeners: &Listeners) -> Vec<String> {
        let address = |socket| rustix::net::getsockname(socket).unwrap();
        let address = |socket| SocketAddr::try_from(address(socket)).unwrap().ip().to_string();
        listeners.sockets().map(address).collect()
    }

    #[test]
    fn a_port_without_an_address_is_for_this_computer_only() {
        for (host, is_open, all) in [
            (None, false, ["127.0.0.1", "::1"]),
            (Some("localhost"), true, ["127.0.0.1", "::1"]),
            (None, true, ["0.0.0.0", "::"]),
            (Some(""), false, ["0.0.0.0", "::"]),
            (Some("*"), false, ["0.0.0.0", "::"]),
            (Some("127.0.0.2"), false, ["127.0.0.2", ""]),
        ] {
            let place = Place::Port(host.map(str::to_owned), free_port());
            let rules = Forwards { are_open: is_open, ..forwards(place, true) };
            let (listeners, _) = Listeners::open(&rules).unwrap();
            let found = addresses(&listeners);
            // A computer may lack IPv6.
            assert!(
                !found.is_empty() && found.iter().all(|it| all.contains(&it.as_str())),
                "{found:?}"
            );
            assert_eq!(found[0], all[0], "{host:?} {is_open}");
        }
    }

    #[test]
    fn a_running_session_looks_up_no_name_to_listen_at() {
        let mut listeners = Listeners::default();
        for (host, is_opened) in [
            ("127.0.0.1", true),
            ("localhost", true),
            ("localhost.", false),
            ("ip6-localhost", false),
        ] {
            let rules = forwards(Place::Port(Some(host.to_owned()), free_port()), false);
            let added = listeners.add(&rules.all[0], &rules);
            let is_name = matches!(added, Err(ListenerError::Name { .. }));
            assert_eq!((added.is_ok(), is_name), (is_opened, !is_opened), "{host}");
        }
    }

    #[test]
    fn a_listener_is_removed_by_each_spelling_of_its_place() {
        let usual = [None, Some(""), Some("*"), Some("localhost")];
        for (host, wanted) in usual.into_iter().flat_map(|host| usual.map(|other| (host, other))) {
            let place = |host: Option<&str>, port| Place::Port(host.map(str::to_owned), port);
            let mut listeners = Listeners::default();
            let rules = forwards(place(host, free_port()), false);
            listeners.add(&rules.all[0], &rules).unwrap();
            let Place::Port(_, port) = listeners.all[0].place else { unreachable!() };
            assert_eq!(listeners.remove(&place(Some("127.0.0.2"), port), false), None);
            assert_eq!(listeners.remove(&place(wanted, port), true), None, "no SOCKS");
            assert!(listeners.remove(&place(wanted, port), false).is_some(), "{host:?} {wanted:?}");
        }
    }

    #[test]
    fn a_taken_port_is_told_and_ends_the_session_only_if_the_user_wants_that() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let at =
            |host: &str, required| forwards(Place::Port(Some(host.to_owned()), port), required);
        let (listeners, failures) = Listeners::open(&at("127.0.0.1", false)).unwrap();
        assert!(listeners.is_empty());
        let said = failures[0].to_string();
        let sentence =
            format!("-L 127.0.0.1:{port}:host:80: cannot listen here: Address already in use");
        assert_eq!(said, sentence);
        assert!(Listeners::open(&at("127.0.0.1", true)).is_err());
        let unread = vec!["localforward 1 x".to_owned()];
        let mut unread = Forwards { unread, ..Forwards::default() };
        let (listeners, failures) = Listeners::open(&unread).unwrap();
        assert_eq!((listeners.all.len(), failures.len()), (0, 1), "the line is told");
        unread.are_required = true;
        assert!(Listeners::open(&unread).is_err());
        assert!(Listeners::check(Some(&at("127.0.0.1", true))).is_err());
        assert!(Listeners::check(Some(&at("127.0.0.1", false))).is_ok());
        if TcpListener::bind("[::1]:0").is_ok() {
            // The port is free for IPv6, which suffices, as with ssh.
            let (listeners, _) = Listeners::open(&at("localhost", true)).unwrap();
            assert_eq!(addresses(&listeners), ["::1"]);
        }
    }

    #[test]
    fn a_connection_is_accepted_with_its_place_and_does_not_block() {
        let port = free_port();
        let rules = forwards(Place::Port(Some("127.0.0.1".to_owned()), port), true);
        let (listeners, _) = Listeners::open(&rules).unwrap();
        assert!(listeners.accept().unwrap().is_none());
        let _here = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (socket, target, option) = listeners.accept().unwrap().expect("it was made");
        let place = Target::Tcp { host: "host".to_owned(), port: 80 };
        assert_eq!((target, option), (Some(&place), &*format!("-L 127.0.0.1:{port}:host:80")));
        assert_eq!(rustix::io::read(&socket, &mut [0; 1]), Err(Errno::AGAIN));
    }

    #[test]
    fn no_more_than_the_bound_are_opened_and_no_place_that_cannot_be_told() {
        let scratch = Scratch::new();
        let socket = |number: usize| scratch.path(&number.to_string()).to_str().unwrap().to_owned();
        let place = |number| forwards(Place::Socket(socket(number)), false).all.remove(0);
        let all = (0..=LISTENERS_MAX).map(place).collect();
        let rules = Forwards { all, ..Forwards::default() };
        let (listeners, failures) = Listeners::open(&rules).unwrap();
        assert_eq!((listeners.options().count(), failures.len()), (LISTENERS_MAX, 1));
        assert!(failures[0].to_string().contains("more than 32"), "{failures:?}");
        drop(listeners);
        for target in ["~/x".to_owned(), format!("/{}", "x".repeat(107))] {
            let mut rules = forwards(Place::Socket(socket(0)), false);
            rules.all[0].target = Some(Place::Socket(target));
            let (listeners, failures) = Listeners::open(&rules).unwrap();
            assert!(listeners.is_empty() && failures[0].to_string().contains("a socket's path"));
        }
    }

    #[test]
    fn a_mode_is_that_of_the_socket_and_never_of_the_file_that_a_link_leads_to() {
        let scratch = Scratch::new();
        let [socket, file, link] = ["s", "file", "link"].map(|name| scratch.path(name));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let _open = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        set_mode(&socket, 0o660).unwrap();
        assert_eq!(mode(&socket), 0o660);
        fs::write(&file, "").unwrap();
        let before = mode(&file);
        for target in [&file, &socket, &scratch.path("nowhere")] {
            std::os::unix::fs::symlink(target, &link).unwrap();
            assert!(set_mode(&link, 0o777).is_err(), "{target:?}");
            fs::remove_file(&link).unwrap();
        }
        assert!(set_mode(&file, 0o777).is_err());
        assert_eq!((mode(&file), mode(&socket)), (before, 0o660));
    }

    #[test]
    fn the_socket_of_a_stopped_process_is_not_waited_for() {
        let scratch = Scratch::new();
        let path = scratch.path("s");
        let stopped = open(AddressFamily::UNIX).unwrap();
        bind(&stopped, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        listen(&stopped, 0).unwrap();
        let waiting = iter::from_fn(|| rove_control::connect(&path).ok());
        assert!(waiting.collect::<Vec<_>>().len() < 100, "nobody accepts");
        let rules = forwards(Place::Socket(path.to_str().unwrap().to_owned()), true);
        let opened = within_guard("the refusal", move || Listeners::open(&rules).is_ok());
        assert!(!opened, "somebody listens there");
    }

    #[test]
    fn of_two_that_listen_at_a_path_at_once_one_listens_and_the_other_is_refused() {
        let scratch = Scratch::new();
        let path = scratch.path("s");
        for _ in 0..100 {
            leave_dead_socket(&path);
            let start = Barrier::new(2);
            let listen = || {
                start.wait();
                listen_at_path(&path, &Forwards::default())
            };
            let both = thread::scope(|scope| {
                let other = scope.spawn(listen);
                [listen(), other.join().unwrap()]
            });
            let are_there = both.iter().flatten().map(|(_, file)| file.is_in_place());
            assert_eq!(are_there.collect::<Vec<_>>(), [true]);
        }
    }

    #[test]
    fn a_process_that_stands_still_with_the_lock_hinders_no_listener_and_loses_no_socket() {
        let scratch = Scratch::new();
        let [taken, free] = ["taken", "free"].map(|name| scratch.path(name));
        let address = SocketAddrUnix::new(&taken).unwrap();
        // The lock's holder is about to listen, so its socket looks dead.
        let bound = open(AddressFamily::UNIX).unwrap();
        bind(&bound, &address).unwrap();
        let _held = rove_control::lock("test-paths.lock", rove_control::wait_for_file).unwrap();
        let rules = Forwards::default();
        let both =
            move || [&taken, &free].map(|it| listen_by("test-paths.lock", it, &rules).is_ok());
        assert_eq!(within_guard("the listeners", both), [false, true]);
        rustix::net::listen(&bound, 1).unwrap();
        let client = open(AddressFamily::UNIX).unwrap();
        assert!(rustix::net::connect(&client, &address).is_ok(), "the socket is in place");
    }

    #[test]
    fn only_a_dead_socket_of_the_users_own_is_replaced_and_ours_is_removed_at_the_end() {
        let scratch = Scratch::new();
        let path = scratch.path("s");
        let name = path.to_str().unwrap().to_owned();
        let rules = forwards(Place::Socket(name.clone()), true);
        let opened = || Listeners::open(&rules);
        {
            let _open = opened().unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            assert!(opened().is_err(), "somebody listens there");
            let replacing = Forwards { replaces: true, mask: 0o117, ..rules.clone() };
            let _replaced = Listeners::open(&replacing).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o660);
        }
        assert!(!path.exists());
        // A client that was killed leaves its socket behind.
        leave_dead_socket(&path);
        drop(opened().unwrap());
        for make in [&(|| fs::write(&path, "x").unwrap()) as &dyn Fn(), &|| {
            std::os::unix::fs::symlink(scratch.path("elsewhere"), &path).unwrap()
        }] {
            drop(std::os::unix::net::UnixListener::bind(scratch.path("elsewhere")));
            make();
            let replacing = Forwards { replaces: true, ..rules.clone() };
            assert!(opened().is_err() && Listeners::open(&replacing).is_err());
            fs::remove_file(&path).expect("it is still there");
            let _ = fs::remove_file(scratch.path("elsewhere"));
        }
        if rustix::process::geteuid().is_root() {
            // Everybody may write this folder. Another user has put a socket into it, or a link to a file of root's.
            let folder = fs::Permissions::from_mode(0o1777);
            fs::set_permissions(scratch.folder(), folder).unwrap();
            let other = Some(12_345);
            fs::write(scratch.path("elsewhere"), "x").unwrap();
            let replacing = Forwards { replaces: true, ..rules.clone() };
            std::os::unix::fs::symlink(scratch.path("elsewhere"), &path).unwrap();
            std::os::unix::fs::lchown(&path, other, None).unwrap();
            assert!(opened().is_err() && Listeners::open(&replacing).is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), "x", "it is still there");
            fs::remove_file(&path).unwrap();
            leave_dead_socket(&path);
            std::os::unix::fs::chown(&path, other, None).unwrap();
            assert!(opened().is_err() && Listeners::open(&replacing).is_err());
            assert_eq!(fs::symlink_metadata(&path).unwrap().uid(), 12_345);
        }
        let long = |len: usize| {
            format!(
                "{}/{}",
                scratch.folder().display(),
                "x".repeat(len - 1 - scratch.folder().as_os_str().len())
            )
        };
        assert!(Listeners::open(&forwards(Place::Socket(long(107)), true)).is_ok());
        assert!(Listeners::open(&forwards(Place::Socket(long(108)), true)).is_err());
    }
}
