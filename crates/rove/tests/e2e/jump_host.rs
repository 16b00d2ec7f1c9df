//! Sessions whose UDP goes through a jump host on which rove is installed, and the forwarder that runs there.

use std::io::{Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use rove_bootstrap::tunnel::carrier::{Arrival, Carrier};
use rove_bootstrap::tunnel::forwarder::{Ends, Order, Wrapper};
use rove_ssp::Key;
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{
    ANSWERING, Bastion, Far, Invocation, Report, SIZE, Scratch, Terminal, answered, examined_until,
    pause, rove, wait_until, with_quick_login, within_guard,
};

/// A session through a jump host, whose command answers lines.
struct Jumping {
    terminal: Terminal,
    bastion: Bastion,
    _report: Report,
    _scratch: Scratch,
}

/// Starts a session through a jump host. `None` if this computer cannot create networks.
fn jump(host: Far) -> Option<Jumping> {
    jump_through(|| Bastion::start(host))
}

/// Starts a session through the jump host of `start`. The login is quick enough for rove to repeat it unasked.
fn jump_through(start: impl Fn() -> Option<Bastion>) -> Option<Jumping> {
    let prepare = || {
        let bastion = start()?;
        let scratch = Scratch::new();
        Some((Report::new(&scratch), bastion, scratch))
    };
    let log_in = |(report, bastion, _): &(Report, Bastion, Scratch)| {
        let call = Invocation::new(rove()).arg("--tunnel=auto");
        let call = call.arg(format!("--ssh={}", bastion.far.ssh_behind(&bastion.jump)));
        let call = call.args(["far", "--", "sh", "-c", ANSWERING, "sh", report.path()]);
        let terminal = Terminal::start(&bastion.here(call), SIZE);
        terminal.wait_for_text("ready");
        terminal
    };
    let ((report, bastion, scratch), terminal) = with_quick_login(prepare, log_in)?;
    Some(Jumping { terminal, bastion, _report: report, _scratch: scratch })
}

/// Most sessions until one needs only the expected logins. On a busy computer, ssh or UDP may be silent for so long
/// that the client logs in once more.
const SESSIONS_MAX: usize = 5;

#[test]
fn udp_goes_by_a_jump_host_with_rove_until_it_goes_to_the_host_itself() {
    let mut logins = (0..SESSIONS_MAX).map(|_| go_by_jump_host_and_then_to_the_host());
    assert!(logins.any(|logins| logins.is_none_or(|logins| logins == [(1, 2), (1, 2)])));
}

/// Runs a session by a jump host and then by UDP to the host itself. Returns the logins at the host and at the jump
/// host, first by the jump host and then without it. `None` if this computer cannot create networks.
fn go_by_jump_host_and_then_to_the_host() -> Option<[(usize, usize); 2]> {
    let session = jump(Far::default())?;
    session.terminal.talk("line 1");
    session.terminal.wait_for_path(&format!("UDP by jump host {}:600", Bastion::JUMP));
    // The ssh connection to the host has ended. Only the forwarder's ssh connection to the jump host remains.
    let Bastion { far, jump, .. } = &session.bastion;
    far.wait_alone();
    let by_jump_host = (far.connections(), jump.connections());
    session.terminal.talk("line 2");
    let list = |options: &[&str]| {
        let call = Invocation::new(rove()).env("ROVE_RUNTIME_DIR", far.path("sockets"));
        String::from_utf8(answered(&call.arg("list").args(options)).stdout).expect("it is text")
    };
    assert!(list(&[]).contains("UDP by jump host"), "{}", list(&[]));
    let listing: Value = serde_json::from_str(&list(&["--json"])).expect("a line of JSON");
    assert_eq!(listing["sessions"][0]["by_jump_host"], true);
    // UDP to the host itself is the better path, so the session uses it as soon as it passes.
    session.bastion.open();
    session.terminal.wait_for_path("to 10.0.2.2:");
    jump.wait_alone();
    session.terminal.talk("line 3");
    Some([by_jump_host, (far.connections(), jump.connections())])
}

#[test]
fn udp_that_fails_in_mid_session_is_replaced_by_ssh_through_the_jump_host_until_it_is_back() {
    let open = || Bastion::start(Far::default()).inspect(Bastion::open);
    let Some(session) = jump_through(open) else { return };
    let Bastion { far, jump, .. } = &session.bastion;
    session.terminal.talk("line 1");
    far.wait_alone();
    session.terminal.wait_for_path("to 10.0.2.2:");
    session.bastion.block();
    session.terminal.talk_after_login("line 2");
    session.terminal.wait_for_path("through ssh for");
    assert!(far.connections() >= 2 && jump.connections() >= 2, "by the jump host again");
    session.bastion.unblock();
    far.wait_alone();
    session.terminal.wait_for_path("to 10.0.2.2:");
    session.terminal.talk("line 3");
}

#[test]
fn nothing_on_a_jump_host_outlives_a_client_that_is_killed() {
    let Some(session) = jump(Far::default()) else { return };
    session.terminal.wait_for_path(&format!("UDP by jump host {}:600", Bastion::JUMP));
    let jump = &session.bastion.jump;
    session.terminal.signal(Signal::KILL);
    jump.wait_alone();
}

#[test]
fn where_a_jump_host_has_no_rove_nothing_is_said_and_ssh_goes_on() {
    let mut logins = (0..SESSIONS_MAX).map(|_| go_through_ssh_by_a_jump_host());
    let is_usual = |logins: Option<usize>| logins.is_none_or(|count| count == 2);
    assert!(logins.any(is_usual), "nobody tries again at once");
}

/// Runs a session by a jump host without rove. Returns the logins there. `None` if no networks can be created.
fn go_through_ssh_by_a_jump_host() -> Option<usize> {
    let session = jump(Far { programs: &[], ..Far::default() })?;
    session.terminal.talk("line 1");
    wait_until("a login at the jump host", || session.bastion.jump.connections() >= 2);
    session.terminal.talk("line 2");
    session.terminal.wait_for_path("through ssh for");
    let text = session.terminal.screen().contents();
    assert!(!text.contains("jump"), "{text}");
    Some(session.bastion.jump.connections())
}

#[test]
fn a_connection_through_a_jump_host_that_is_cut_is_made_again_by_it() {
    // In an unreachable network, the notice about it would appear in place of the offer to log in.
    let block = |bastion: &Bastion| {
        bastion.open();
        bastion.block();
    };
    let start = || Bastion::start(Far { programs: &[], ..Far::default() }).inspect(block);
    let Some(session) = jump_through(start) else { return };
    session.terminal.talk("line 1");
    assert_ne!(session.bastion.jump.cut(), 0);
    session.terminal.talk_after_login("line 2");
    assert!(session.bastion.far.connections() >= 2);
}

#[test]
fn the_doctor_says_that_a_session_goes_by_the_jump_host() {
    let Some(bastion) = Bastion::start(Far::default()) else { return };
    let ssh = format!("--ssh={}", bastion.far.ssh_behind(&bastion.jump));
    let call = bastion.here(Invocation::new(rove()).args(["doctor", &ssh, "far"]));
    let examine = || {
        let call = call.clone();
        let run = move || call.command().output().expect("rove starts").stdout;
        String::from_utf8(within_guard("rove doctor", run)).expect("it is text")
    };
    let is_told = |text: &String| text.contains("a session goes as UDP by jump host");
    let text = examined_until(examine, is_told);
    assert!(is_told(&text), "{text}");
    let is_problem = |line: &str| line.starts_with("problem") && line.contains("udp-out");
    assert!(text.lines().any(is_problem), "the host's own address is silent: {text}");
}

/// A forwarder without a session. The test runs it as ssh would.
struct Alone {
    child: Child,
    /// The forwarder's standard input. `None` after it is closed.
    input: Option<ChildStdin>,
    output: ChildStdout,
    carrier: Carrier,
}

impl Alone {
    fn start(call: &Invocation) -> Self {
        let mut child = call
            .command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("rove starts");
        let (input, output) = (child.stdin.take(), child.stdout.take().expect("it is piped"));
        Self { child, input, output, carrier: Carrier::default() }
    }

    /// Sends the forwarder an order. The forwarder answers only its first order.
    fn order(&mut self, server: SocketAddr, key: &Key) {
        self.carrier.handle_words(Order { server, key: key.clone() }.to_text());
        let bytes = self.carrier.poll_bytes().to_vec();
        self.carrier.consume(bytes.len());
        self.input.as_mut().expect("it is open").write_all(&bytes).expect("it reads");
    }

    /// Waits for the forwarder's answer. `None` if the forwarder ends.
    fn ends(&mut self) -> Option<Ends> {
        let (mut skipped, mut buffer) = (false, [0; 1]);
        while self.output.read(&mut buffer).expect("it writes") > 0 {
            if !skipped {
                skipped = buffer[0] == b'\n';
                continue;
            }
            if let Ok(Some(Arrival::Words(text))) = self.carrier.handle_bytes(&mut &buffer[..]) {
                return Ends::from_text(&text);
            }
        }
        None
    }

    /// Closes the forwarder's input, waits for its end, and returns its error output.
    fn end(mut self) -> String {
        self.input = None;
        let output = within_guard("its end", move || self.child.wait_with_output());
        String::from_utf8(output.expect("it ends").stderr).expect("it is text")
    }
}

fn socket() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").expect("loopback has free ports")
}

/// Waits for the next datagram at a socket. Returns the datagram and its source address.
fn next(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let socket = socket.try_clone().expect("a descriptor can be duplicated");
    within_guard("a datagram", move || {
        let mut buffer = [0; 4096];
        let (len, source) = socket.recv_from(&mut buffer).expect("it can be read");
        (buffer[..len].to_vec(), source)
    })
}

/// Returns whether no datagram waits at this socket.
fn is_silent(socket: &UdpSocket) -> bool {
    socket.set_nonblocking(true).expect("it can be set");
    let is_silent = socket.peek(&mut [0; 9]).is_err();
    socket.set_nonblocking(false).expect("it can be set");
    is_silent
}

#[test]
fn a_forwarder_serves_its_client_alone_and_ends_with_its_ssh() {
    let [server, other_server, client, moved, stranger] = [(); 5].map(|()| socket());
    let address = |socket: &UdpSocket| socket.local_addr().expect("it is bound");
    let key = Key::from_bytes([7; 16]);
    let mut alone = Alone::start(&Invocation::new(rove()).args(["tunnel", "forward"]));
    alone.order(address(&server), &key);
    let ends = alone.ends().expect("it answers");
    let port = SocketAddr::from(([127, 0, 0, 1], ends.port));
    let mut wrapper = Wrapper::new(&key);
    let send = |from: &UdpSocket, bytes: &[u8]| from.send_to(bytes, port).expect("it can be sent");

    // The forwarder drops a flood, a datagram that is too long or too short, and a datagram with another key.
    for _ in 0..3_000 {
        send(&stranger, &[7; 1200]);
    }
    send(&stranger, &[7; 9000]);
    send(&stranger, b"");
    send(&stranger, &Wrapper::new(&Key::from_bytes([8; 16])).wrap(b"false"));
    let first = wrapper.wrap(b"first");
    // The flood may push this datagram out of the socket's buffer, so the loop sends it again, as a client would.
    let (datagram, inside) = loop {
        send(&client, &first);
        pause(Duration::from_millis(20));
        if !is_silent(&server) {
            break next(&server);
        }
    };
    assert_eq!((datagram.as_slice(), inside), (&b"first"[..], ends.source));
    server.send_to(b"answer", inside).expect("it can be sent");
    assert_eq!(next(&client), (b"answer".to_vec(), port));

    // The forwarder does not answer a repeated datagram, nor a stranger's datagram at its socket for the server.
    send(&stranger, &first);
    stranger.send_to(b"false", inside).expect("it can be sent");
    // The forwarder ignores a second order.
    alone.order(address(&other_server), &Key::from_bytes([9; 16]));
    send(&stranger, &Wrapper::new(&Key::from_bytes([9; 16])).wrap(b"false"));
    send(&client, &wrapper.wrap(b"second"));
    assert_eq!(next(&server).0, b"second");
    server.send_to(b"answer 2", inside).expect("it can be sent");
    assert_eq!(next(&client).0, b"answer 2");
    // After a datagram of the client from another address, the forwarder sends answers to that address.
    send(&moved, &wrapper.wrap(b"third"));
    assert_eq!(next(&server).0, b"third");
    server.send_to(b"answer 3", inside).expect("it can be sent");
    assert_eq!(next(&moved).0, b"answer 3");
    for socket in [&stranger, &other_server, &client] {
        assert!(is_silent(socket));
    }
    assert_eq!(alone.end(), "");
    // Another test's server may take the port at once, so the test waits until the port is free again.
    wait_until("the port to be free again", || UdpSocket::bind(("0.0.0.0", ends.port)).is_ok());
}

#[test]
fn a_forwarder_obeys_sshds_configuration_where_it_can_be_read() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let server = socket();
    let address = server.local_addr().expect("it is bound");
    let permitted = format!("PermitOpen 127.0.0.1:{}\n", address.port());
    for (config, refusal) in [
        ("AllowTcpForwarding no\n", "sshd's AllowTcpForwarding forbids it"),
        ("PermitOpen 127.0.0.1:22\n", "sshd's PermitOpen does not have 127.0.0.1:"),
        ("Include included/*.conf\n", "sshd's DisableForwarding forbids it"),
        (
            "Include included/[a]*\n",
            "the pattern included/[a]* of sshd's Include is not understood",
        ),
        (&*permitted, ""),
    ] {
        let scratch = Scratch::new();
        scratch.write("sshd_config", config);
        std::fs::create_dir(scratch.path("included")).expect("the scratch folder takes a folder");
        scratch.write("included/a.conf", "DisableForwarding yes\n");
        scratch.write("included/.b.conf", "DisableForwarding no\n");
        let folder = scratch.folder().to_str().expect("it is text").to_owned();
        let script = "mount --bind \"$0\" /etc/ssh && exec \"$@\"";
        let call = Invocation::new(rove()).args(["tunnel", "forward"]);
        let call = call.behind_mounts(&[script, &folder]);
        let mut alone = Alone::start(&call);
        alone.order(address, &Key::from_bytes([7; 16]));
        assert_eq!(alone.ends().is_some(), refusal.is_empty(), "{config}");
        let said = alone.end();
        assert!(said.contains(refusal) && said.is_empty() == refusal.is_empty(), "{said}");
    }
}
