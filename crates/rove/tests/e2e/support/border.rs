//! A far computer with a network of its own, and the border before it: it passes UDP as a test wants, and ssh always.

use std::fs::File;
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::guard::within_guard;
use super::sshd::{Far, Sshd};

/// How long a socket waits before it looks whether the border is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The border before a far computer. Everything ends when it is dropped.
pub(crate) struct Border {
    pub(crate) sshd: Sshd,
    /// The UDP port that the session's server must have.
    pub(crate) port: u16,
    /// Whether datagrams pass to the far computer, and back.
    passes: Arc<[AtomicBool; 2]>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    /// A process that keeps the far computer's network.
    keeper: Child,
}

impl Border {
    /// Starts one that lets UDP pass in these directions; `None` for all but root, who can make a network.
    pub(crate) fn start(far: Far, up: bool, down: bool) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let keeper = Command::new("unshare")
            .args(["--net", "sh", "-c", "ip link set lo up && echo up && exec sleep 3600"])
            .stdout(Stdio::piped())
            .spawn();
        let mut keeper = keeper.expect("unshare starts");
        let mut output = keeper.stdout.take().expect("it is piped");
        within_guard("the far network", move || {
            std::io::Read::read_exact(&mut output, &mut [0; 3]).expect("it says that it is up");
        });
        let network = format!("/proc/{}/ns/net", keeper.id());
        let outside = UdpSocket::bind("127.0.0.1:0").expect("loopback has free ports");
        let port = outside.local_addr().expect("a bound socket has an address").port();
        let enter = network.clone();
        let inside = std::thread::spawn(move || {
            let network = File::open(enter).expect("the keeper is there");
            move_into_link_name_space(
                std::os::fd::AsFd::as_fd(&network),
                Some(LinkNameSpaceType::Network),
            )
            .expect("root may enter");
            let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has free ports");
            socket.connect(("127.0.0.1", port)).expect("UDP connects at once");
            socket
        });
        let inside = inside.join().expect("the thread ends well");
        let passes = Arc::new([AtomicBool::new(up), AtomicBool::new(down)]);
        let stop = Arc::new(AtomicBool::new(false));
        let threads = pass(&outside, &inside, &passes, &stop);
        let sshd = Sshd::start_in(far, &network);
        Some(Self { sshd, port, passes, stop, threads, keeper })
    }

    /// Lets UDP pass in these directions from now on.
    pub(crate) fn let_pass(&self, up: bool, down: bool) {
        self.passes[0].store(up, Ordering::SeqCst);
        self.passes[1].store(down, Ordering::SeqCst);
    }
}

/// Starts the threads that carry datagrams over the border.
fn pass(
    outside: &UdpSocket,
    inside: &UdpSocket,
    passes: &Arc<[AtomicBool; 2]>,
    stop: &Arc<AtomicBool>,
) -> Vec<JoinHandle<()>> {
    for socket in [outside, inside] {
        socket.set_read_timeout(Some(LOOK_EVERY)).expect("a timeout can be set");
    }
    let client = Arc::new(std::sync::Mutex::new(None));
    [true, false]
        .map(|is_up| {
            let clone = |socket: &UdpSocket| socket.try_clone().expect("descriptors are free");
            let (outside, inside) = (clone(outside), clone(inside));
            let (passes, stop, client) = (passes.clone(), stop.clone(), client.clone());
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while !stop.load(Ordering::SeqCst) {
                    let from = if is_up { &outside } else { &inside };
                    let Ok((len, source)) = from.recv_from(&mut buffer) else { continue };
                    let mut client = client.lock().expect("no holder panics");
                    if is_up {
                        *client = Some(source);
                    }
                    if !passes[usize::from(!is_up)].load(Ordering::SeqCst) {
                        continue;
                    }
                    // A refusal is the far computer's, and no word of it passes.
                    let _ = match (is_up, *client) {
                        (true, _) => inside.send(&buffer[..len]),
                        (false, Some(client)) => outside.send_to(&buffer[..len], client),
                        (false, None) => Ok(0),
                    };
                }
            })
        })
        .into()
}

impl Drop for Border {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}
