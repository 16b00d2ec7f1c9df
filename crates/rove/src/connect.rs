//! Makes a connection for a stream without blocking. A thread looks the name up, and the addresses are tried in
//! parallel with staggered starts.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rove_platform::event_loop::Interest;
use rove_streams::{StreamId, Target};
use rove_units::{Duration, Instant};
use rustix::io::Errno;
use rustix::net::{AddressFamily, connect, getpeername, sockopt};

use crate::listeners;
use crate::lookups::{Lookup, Lookups};

/// Longest time for making a connection. Chosen: in this time the system sends a SYN five times.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time after which the next address is tried in parallel with the former address, and after which a name that waits
/// for a thread is tried again. Source: RFC 8305, section 5.
const STAGGER: Duration = Duration::from_millis(250);

/// Most addresses of a name that are tried at a time. Chosen: two of each family. Each attempt keeps a descriptor, of
/// which a process often has 1,024.
const TRIED_MAX: usize = 4;

/// A connection that is being made.
#[derive(Debug)]
pub(crate) struct Connect {
    lookup: Option<Lookup>,
    untried: VecDeque<SocketAddr>,
    tried: Vec<OwnedFd>,
    next_at: Instant,
    deadline: Instant,
    /// Returns whether an address of the target may be tried.
    may_try: fn(IpAddr) -> bool,
    /// Why the newest attempt failed.
    error: Errno,
}

/// An established connection with the address of its peer, or the error of the last attempt.
pub(crate) type Settled = io::Result<(OwnedFd, String)>;

impl Connect {
    /// Begins to connect to a TCP port or a Unix socket. Any other target is an error (`Unsupported`).
    pub(crate) fn begin(
        now: Instant,
        target: &Target,
        may_try: fn(IpAddr) -> bool,
    ) -> io::Result<Self> {
        let mut begun = Self {
            lookup: None,
            untried: VecDeque::new(),
            tried: Vec::new(),
            next_at: now,
            deadline: now + PATIENCE,
            may_try,
            error: Errno::TIMEDOUT,
        };
        match target {
            Target::Tcp { host, port } => match host.parse::<IpAddr>() {
                Ok(ip) if may_try(ip) => begun.untried = [SocketAddr::new(ip, *port)].into(),
                Ok(_) => begun.error = Errno::ACCESS,
                Err(_) => begun.lookup = Some(Lookup::Due(host.clone(), *port)),
            },
            Target::Unix { path } => {
                let path = Path::new(OsStr::from_bytes(path));
                begun.tried.push(rove_control::connect(path)?.into());
            }
            _ => return Err(ErrorKind::Unsupported.into()),
        }
        Ok(begun)
    }

    /// Returns the descriptors to wait for. When one is ready, call [`Connect::turn`].
    pub(crate) fn interests(&self) -> impl Iterator<Item = Interest<'_>> {
        let lookup = self.lookup.iter().filter_map(Lookup::interest);
        lookup.chain(self.tried.iter().map(|it| Interest::new(it.as_fd(), false, true)))
    }

    /// Returns the latest time for the next call of [`Connect::turn`].
    pub(crate) fn poll_timeout(&self) -> Instant {
        let has_more = self.may_try_more() || matches!(self.lookup, Some(Lookup::Due(..)));
        if has_more { self.next_at.min(self.deadline) } else { self.deadline }
    }

    /// Looks the name up, checks the attempts, and begins the next if it is due. Returns the connection or the error;
    /// `None` until then.
    pub(crate) fn turn(&mut self, now: Instant, lookups: &Lookups) -> Option<Settled> {
        if let Some(lookup) = &mut self.lookup {
            match lookup.turn(lookups) {
                Ok(Some(addresses)) => self.handle_addresses(now, addresses),
                Ok(None) if now < self.deadline => {
                    self.next_at = now + STAGGER;
                    return None;
                }
                Ok(None) => return Some(Err(Errno::TIMEDOUT.into())),
                Err(error) => return Some(Err(error)),
            }
        }
        let mut index = 0;
        while let Some(attempt) = self.tried.get(index) {
            match peer(attempt) {
                Ok(Some(peer)) => return Some(Ok((self.tried.swap_remove(index), peer))),
                Ok(None) => index += 1,
                Err(error) => {
                    self.error = error;
                    drop(self.tried.swap_remove(index));
                    self.next_at = now;
                }
            }
        }
        while self.next_at <= now
            && self.may_try_more()
            && let Some(address) = self.untried.pop_front()
        {
            debug_assert!((self.may_try)(address.ip()), "only approved addresses are tried");
            match connect_tcp(address) {
                Ok(attempt) => {
                    self.tried.push(attempt);
                    self.next_at = now + STAGGER;
                }
                Err(error) => self.error = error,
            }
        }
        debug_assert!(self.tried.len() <= TRIED_MAX);
        if now >= self.deadline {
            self.error = Errno::TIMEDOUT;
            self.tried.clear();
        }
        self.tried.is_empty().then(|| Err(self.error.into()))
    }

    /// Returns whether another address may be tried beside those that are being tried.
    fn may_try_more(&self) -> bool {
        self.tried.len() < TRIED_MAX && !self.untried.is_empty()
    }

    /// Records the addresses that the lookup has found.
    fn handle_addresses(&mut self, now: Instant, mut addresses: Vec<SocketAddr>) {
        self.lookup = None;
        self.next_at = now;
        addresses.retain(|it| (self.may_try)(it.ip()));
        if addresses.is_empty() {
            self.error = Errno::ACCESS;
        }
        self.untried = alternate(addresses);
    }
}

/// Removes from `connects` and returns the attempts that `turn` reports as connected or failed.
pub(crate) fn settle<T>(
    connects: &mut BTreeMap<StreamId, T>,
    mut turn: impl FnMut(&mut T) -> Option<Settled>,
) -> Vec<(StreamId, T, Settled)> {
    let settled = connects.iter_mut().filter_map(|(id, it)| Some((*id, turn(it)?)));
    let settled: Vec<_> = settled.collect();
    settled.into_iter().filter_map(|(id, it)| Some((id, connects.remove(&id)?, it))).collect()
}

/// Sorts addresses so that the families alternate, and the first address stays first. Source: RFC 8305, section 4.
fn alternate(addresses: Vec<SocketAddr>) -> VecDeque<SocketAddr> {
    let is_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let count = addresses.len();
    let (first, second): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|it| it.is_ipv6() == is_v6);
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut order = VecDeque::new();
    loop {
        let pair = [first.next(), second.next()];
        if pair == [None, None] {
            debug_assert_eq!(order.len(), count, "each address is tried once");
            return order;
        }
        order.extend(pair.into_iter().flatten());
    }
}

fn connect_tcp(address: SocketAddr) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let socket = listeners::open(family)?;
    // Nagle's algorithm would delay the keystrokes of an ssh that uses this connection.
    let _ = sockopt::set_tcp_nodelay(&socket, true);
    match connect(&socket, &address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error),
    }
}

/// Returns the address of a socket's peer (empty for a Unix socket). `None` while the connection is pending.
fn peer(socket: &OwnedFd) -> Result<Option<String>, Errno> {
    match getpeername(socket) {
        Ok(address) => {
            let address = address.and_then(|it| SocketAddr::try_from(it).ok());
            Ok(Some(address.map_or(String::new(), |it| it.to_string())))
        }
        Err(Errno::NOTCONN) => sockopt::socket_error(socket)?.map(|()| None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::Mutex;

    use rove_platform::clock::Clock;
    use rove_platform::event_loop::EventLoop;
    use rove_rig::guard::wait_until;
    use rove_rig::ports::ClosedPort;

    use super::*;
    use crate::lookups::{Found, THREADS_MAX};
    use crate::messages::reason;

    /// Waits until a connection is made or has failed. Returns the address, or the reason.
    fn finish(target: &Target) -> Result<String, String> {
        let mut events = EventLoop::new(Clock::start(), &[]).unwrap();
        let lookups = Lookups::default();
        let mut connect =
            Connect::begin(events.now(), target, |_| true).map_err(|it| it.to_string())?;
        loop {
            if let Some(settled) = connect.turn(events.now(), &lookups) {
                return settled.map(|it| it.1).map_err(|error| reason(&error.to_string()));
            }
            let deadline = connect.poll_timeout();
            let mut interests: Vec<Interest<'_>> = connect.interests().collect();
            events.wait(&mut interests, Some(deadline)).unwrap();
        }
    }

    #[test]
    fn a_port_is_reached_by_name_and_by_address_and_a_closed_one_is_refused_in_the_systems_words() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let tcp = |host: &str| Target::Tcp { host: host.to_owned(), port: address.port() };
        assert_eq!(finish(&tcp("127.0.0.1")), Ok(address.to_string()));
        // On most computers the name also has an IPv6 address, at which nobody listens.
        assert_eq!(finish(&tcp("localhost")), Ok(address.to_string()));
        let closed = ClosedPort::new();
        let refused = Target::Tcp { host: "127.0.0.1".to_owned(), port: closed.number };
        assert_eq!(finish(&refused), Err("Connection refused".to_owned()));
        assert!(finish(&tcp("no.such.name.invalid")).unwrap_err().contains("no.such.name.invalid"));
    }

    #[test]
    fn a_socket_in_the_file_system_is_reached_or_missed() {
        let scratch = rove_rig::scratch::Scratch::new();
        let path = scratch.join("socket");
        let target = Target::Unix { path: path.to_str().unwrap().into() };
        assert!(finish(&target).is_err());
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert_eq!(finish(&target), Ok(String::new()));
    }

    #[test]
    fn addresses_of_both_families_alternate_and_the_first_stays() {
        let order = |texts: [&str; 4]| {
            let addresses = texts.map(|it| SocketAddr::new(it.parse().unwrap(), 1));
            let order = alternate(addresses.to_vec()).into_iter();
            order.map(|it| it.ip().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(order(["::1", "::2", "::3", "1.1.1.1"]), ["::1", "1.1.1.1", "::2", "::3"]);
        assert_eq!(
            order(["1.1.1.1", "::2", "::3", "1.1.1.2"]),
            ["1.1.1.1", "::2", "1.1.1.2", "::3"]
        );
    }

    #[test]
    fn the_next_address_is_tried_in_a_quarter_of_a_second_and_all_end_after_thirty() {
        let at = Instant::from_millis;
        let target = Target::Tcp { host: "127.0.0.1".to_owned(), port: 9 };
        let lookups = Lookups::default();
        let mut connect = Connect::begin(at(0), &target, |_| true).unwrap();
        // These addresses are reserved for documentation, so no host answers. The system may refuse them at once.
        connect.untried = ["192.0.2.1:9", "192.0.2.2:9"].map(|it| it.parse().unwrap()).into();
        if connect.turn(at(0), &lookups).is_none() && connect.untried.len() == 1 {
            assert_eq!(connect.poll_timeout(), at(250));
            connect.turn(at(250), &lookups);
            assert!(connect.untried.is_empty());
        }
        let last = connect.turn(at(30_000), &lookups);
        assert!(matches!(last, Some(Err(_))), "{last:?}");
    }

    #[test]
    fn no_more_than_four_addresses_are_tried_at_a_time() {
        let at = Instant::from_millis;
        // A listener whose queue is full answers nothing.
        let full = TcpListener::bind("127.0.0.1:0").unwrap();
        rustix::net::listen(&full, 0).unwrap();
        let silent = full.local_addr().unwrap();
        let _queued = std::net::TcpStream::connect(silent).unwrap();
        let target = Target::Tcp { host: "127.0.0.1".to_owned(), port: silent.port() };
        let lookups = Lookups::default();
        let mut connect = Connect::begin(at(0), &target, |_| true).unwrap();
        connect.untried = vec![silent; TRIED_MAX + 1].into();
        for tried in 1..=TRIED_MAX + 1 {
            let now = connect.poll_timeout().min(at(1_000));
            assert!(connect.turn(now, &lookups).is_none());
            assert_eq!(connect.tried.len(), tried.min(TRIED_MAX));
        }
        assert_eq!(connect.poll_timeout(), at(30_000), "nothing is due earlier");
        // An attempt that has ended makes room.
        drop(connect.tried.pop());
        assert_eq!(connect.poll_timeout(), at(1_000));
        assert!(connect.turn(at(1_000), &lookups).is_none());
        assert_eq!((connect.tried.len(), connect.untried.len()), (TRIED_MAX, 0));
    }

    /// Held by the test whose lookups hang.
    static DEAD: Mutex<()> = Mutex::new(());

    /// A resolver that finds this computer, except that names which begin with `dead` hang while [`DEAD`] is locked.
    fn resolve(host: &str, port: u16) -> Found {
        if host.starts_with("dead") {
            drop(DEAD.lock());
        }
        Ok(vec![SocketAddr::new([127, 0, 0, 1].into(), port)])
    }

    #[test]
    fn names_wait_for_a_thread_while_lookups_hang_and_addresses_do_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (at, lookups) = (Instant::from_millis, Lookups::by(resolve));
        let begin = |host: &str| {
            let target = Target::Tcp { host: host.to_owned(), port };
            Connect::begin(at(0), &target, |_| true).unwrap()
        };
        let hanging = DEAD.lock().unwrap();
        let mut dead: Vec<Connect> =
            (0..THREADS_MAX).map(|number| begin(&format!("dead{number}"))).collect();
        assert!(dead.iter_mut().all(|it| it.turn(at(0), &lookups).is_none()));
        let mut address = begin("127.0.0.1");
        wait_until("the address", || address.turn(at(0), &lookups).is_some_and(|it| it.is_ok()));
        let mut name = begin("name");
        assert!(name.turn(at(0), &lookups).is_none() && name.interests().count() == 0);
        assert_eq!(name.poll_timeout(), at(250));
        drop(hanging);
        wait_until("the name", || name.turn(at(250), &lookups).is_some_and(|it| it.is_ok()));
        // A name for which no thread becomes free ends like an address that does not answer.
        let lookups = Lookups::by(resolve);
        let _hanging = DEAD.lock().unwrap();
        dead = (0..=THREADS_MAX).map(|_| begin("dead")).collect();
        assert!(dead.iter_mut().all(|it| it.turn(at(29_999), &lookups).is_none()));
        assert!(dead.iter().all(|it| it.poll_timeout() == at(30_000)));
        assert!(dead.iter_mut().all(|it| it.turn(at(30_000), &lookups).is_some()));
    }
}
