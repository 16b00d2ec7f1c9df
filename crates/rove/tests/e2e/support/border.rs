//! Separate networks: a far computer behind a border that passes UDP as a test wants, or behind a jump host.

use std::fs::File;
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rove_rig::guard::within_guard;
use rove_rig::ports::free_port;
use rove_rig::tap::{Tap, Treatment, Way};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::invocation::Invocation;
use super::sshd::{Far, Sshd};

/// A border (a firewall), and the far computer behind it. Dropping this value ends both.
pub(crate) struct Border {
    pub(crate) sshd: Sshd,
    /// The UDP port that the test must give to the session's server.
    pub(crate) port: u16,
    /// Whether datagrams pass up to the far computer, and down from it.
    passes: Arc<[AtomicBool; 2]>,
    _tap: Tap,
    /// A process that keeps the far computer's network alive.
    keeper: Child,
}

impl Border {
    /// Starts a border that passes UDP to the far computer if `up`, and from it if `down`. `None` for users other than
    /// root, who cannot create networks.
    pub(crate) fn start(far: Far, up: bool, down: bool) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let keeper = network_of_its_own();
        let network = path_of(&keeper);
        let outside = UdpSocket::bind("127.0.0.1:0").expect("loopback has free ports");
        // Inside the far network, the server has the same address and port.
        let server = outside.local_addr().expect("a bound socket has an address");
        let inside = within_network(&network, move || {
            loop {
                let inside = UdpSocket::bind("127.0.0.1:0").expect("loopback has free ports");
                // This socket must not take the server's port in the far network.
                if inside.local_addr().is_ok_and(|it| it.port() != server.port()) {
                    break inside;
                }
            }
        });
        let passes = Arc::new([AtomicBool::new(up), AtomicBool::new(down)]);
        let both = Arc::clone(&passes);
        let tap = Tap::between(outside, inside, server, move |way, _| {
            Treatment::passing(both[usize::from(way == Way::Down)].load(Ordering::SeqCst))
        });
        let sshd = Sshd::start_in(far, &network);
        let _tap = tap.expect("loopback has free ports");
        Some(Self { sshd, port: server.port(), passes, _tap, keeper })
    }

    /// Listens at a port inside the far computer's network. The port is free in the test's own network, too.
    pub(crate) fn listen(&self) -> TcpListener {
        let port = free_port();
        within_network(&path_of(&self.keeper), move || {
            TcpListener::bind(("127.0.0.1", port)).expect("it is free there")
        })
    }

    /// Connects to a port of the far computer.
    pub(crate) fn connect(&self, port: u16) -> TcpStream {
        within_network(&path_of(&self.keeper), move || {
            TcpStream::connect(("127.0.0.1", port)).expect("somebody listens there")
        })
    }

    /// Sets whether the border passes UDP to the far computer (`up`), and from it (`down`).
    pub(crate) fn let_pass(&self, up: bool, down: bool) {
        self.passes[0].store(up, Ordering::SeqCst);
        self.passes[1].store(down, Ordering::SeqCst);
    }
}

/// Starts a process that keeps a new network alive, with a loopback interface.
fn network_of_its_own() -> Child {
    let keeper = Command::new("unshare")
        .args(["--net", "sh", "-c", "ip link set lo up && echo up && exec sleep 3600"])
        .stdout(Stdio::piped())
        .spawn();
    let mut keeper = keeper.expect("unshare starts");
    let mut output = keeper.stdout.take().expect("it is piped");
    within_guard("a network", move || {
        std::io::Read::read_exact(&mut output, &mut [0; 3]).expect("it says that it is up");
    });
    keeper
}

/// Returns the path of the network that a process keeps alive.
fn path_of(keeper: &Child) -> String {
    format!("/proc/{}/ns/net", keeper.id())
}

/// Runs `act` on a thread in the network at the path `network`.
pub(super) fn within_network<T: Send + 'static>(
    network: &str,
    act: impl FnOnce() -> T + Send + 'static,
) -> T {
    let network = File::open(network).expect("the keeper is there");
    let thread = std::thread::spawn(move || {
        let network = std::os::fd::AsFd::as_fd(&network);
        move_into_link_name_space(network, Some(LinkNameSpaceType::Network))
            .expect("root may enter");
        act()
    });
    thread.join().expect("the thread ends well")
}

/// A user's computer, a jump host and a far computer. The jump host is in both networks, and connects the other two.
pub(crate) struct Bastion {
    pub(crate) far: Sshd,
    pub(crate) jump: Sshd,
    /// The processes that keep the networks of the user, the jump host and the far computer alive.
    keepers: [Child; 3],
}

impl Bastion {
    /// The jump host's address in the user's network.
    pub(crate) const JUMP: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 2);

    /// Starts all three computers. `None` for users other than root, who cannot create networks.
    pub(crate) fn start(jump: Far) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let keepers = [(); 3].map(|()| network_of_its_own());
        let paths = keepers.each_ref().map(path_of);
        for (at, (near, far)) in [("u0", "j0"), ("j1", "f0")].into_iter().enumerate() {
            let peer = keepers[at + 1].id().to_string();
            let subnet = at + 1;
            ip(
                &paths[at],
                &["link", "add", near, "type", "veth", "peer", "name", far, "netns", &peer],
            );
            for (path, interface, last) in [(&paths[at], near, 1), (&paths[at + 1], far, 2)] {
                let address = format!("10.0.{subnet}.{last}/24");
                ip(path, &["address", "add", &address, "dev", interface]);
                ip(path, &["link", "set", interface, "up"]);
            }
        }
        let far = Sshd::start_at(Far::default(), &paths[2], Ipv4Addr::new(10, 0, 2, 2));
        let jump = Sshd::start_at(jump, &paths[1], Self::JUMP);
        Some(Self { far, jump, keepers })
    }

    /// Lets packets pass between the networks of the user and the far computer. The user then reaches the far address.
    pub(crate) fn open(&self) {
        let [user, jump, far] = self.keepers.each_ref().map(path_of);
        let forward = ["sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"];
        let status = Command::new("nsenter").arg(format!("--net={jump}")).args(forward).status();
        assert!(status.expect("nsenter starts").success(), "the jump host passes packets on");
        ip(&far, &["route", "add", "10.0.1.0/24", "via", "10.0.2.1"]);
        ip(&user, &["route", "add", "10.0.2.0/24", "via", "10.0.1.2"]);
    }

    /// Silently drops all UDP between the user and the far computer, as a firewall may.
    pub(crate) fn block(&self) {
        self.rule("add");
    }

    /// Lets UDP pass again.
    pub(crate) fn unblock(&self) {
        self.rule("del");
    }

    /// Adds (`add`) or removes (`del`) the rule for packets that the jump host forwards.
    fn rule(&self, word: &str) {
        for interface in ["j0", "j1"] {
            let rule = ["rule", word, "iif", interface, "ipproto", "udp", "blackhole"];
            ip(&path_of(&self.keepers[1]), &rule);
        }
    }

    /// Changes the network of the user's computer by the command `ip` with these words.
    pub(crate) fn ip_here(&self, words: &[&str]) {
        ip(&path_of(&self.keepers[0]), words);
    }

    /// Connects to a port of the user's computer.
    pub(crate) fn connect_here(&self, port: u16) -> std::io::Result<TcpStream> {
        let user = path_of(&self.keepers[0]);
        within_network(&user, move || TcpStream::connect(("127.0.0.1", port)))
    }

    /// Returns the call as it must be made to run on the user's computer.
    pub(crate) fn here(&self, call: Invocation) -> Invocation {
        call.behind(&["nsenter", &format!("--net={}", path_of(&self.keepers[0]))])
    }
}

fn ip(network: &str, words: &[&str]) {
    let status =
        Command::new("nsenter").arg(format!("--net={network}")).arg("ip").args(words).status();
    assert!(status.expect("nsenter starts").success(), "{words:?}");
}

impl Drop for Bastion {
    fn drop(&mut self) {
        for keeper in &mut self.keepers {
            let _ = keeper.kill();
            let _ = keeper.wait();
        }
    }
}

impl Drop for Border {
    fn drop(&mut self) {
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}
