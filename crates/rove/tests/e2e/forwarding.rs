//! Forwarded connections of a session: `-L`, `-D` and `-R` in ssh's forms, and how they end.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Stdio;
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{
    Border, ClosedPort, Far, Invocation, Maker, SIZE, Scratch, Server, Sshd, Terminal, WITH_A_COPY,
    answered, free_port, lossy, relay_to, rove, within_guard,
};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A command that prints `ready` below the notice bar, and echoes lines until its input ends.
const READY: [&str; 4] = ["--", "sh", "-c", "echo; echo; echo ready; cat"];

/// Starts a session at `far` with these options, and waits until its command runs.
fn session(sshd: &Sshd, options: &[&str]) -> Terminal {
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).args(options);
    let terminal = Terminal::start(&call.arg("far").args(READY), (24, 160));
    terminal.wait_for_text("ready");
    terminal
}

fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let port = listener.local_addr().expect("a bound socket has an address").port();
    (listener, port)
}

/// Sends `hello`, ends this direction of the stream, and returns everything that comes back.
fn greet(mut stream: impl Read + Write + AsFd) -> std::io::Result<String> {
    stream.write_all(b"hello")?;
    // Shutting down a stream that the host has reset fails. Reading such a stream fails, too.
    let _ = rustix::net::shutdown(&stream, rustix::net::Shutdown::Write);
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Tries `connect` until the host listens. The client announces a listening port only if the host has chosen it.
fn connect_once_open<T>(connect: impl Fn() -> std::io::Result<T>) -> T {
    loop {
        match connect() {
            Ok(stream) => return stream,
            Err(_) => crate::support::pause(std::time::Duration::from_millis(5)),
        }
    }
}

fn greet_port(port: u16) -> std::io::Result<String> {
    greet(connect_once_open(|| TcpStream::connect(("127.0.0.1", port))))
}

/// Answers each connection, until this process ends. After the peer's end, it sends `far: ` and all that the peer sent.
fn answer<S: Read + Write + Send + 'static>(
    mut accept: impl FnMut() -> S + Send + 'static,
    end: impl Fn(&S) + Send + Sync + Copy + 'static,
) {
    thread::spawn(move || {
        loop {
            let mut stream = accept();
            thread::spawn(move || {
                let mut said = String::new();
                let _ = stream.read_to_string(&mut said);
                let _ = write!(stream, "far: {said}");
                end(&stream);
            });
        }
    });
}

fn answer_port(listener: TcpListener) {
    let accept = move || listener.accept().expect("a connection comes").0;
    answer(accept, |it: &TcpStream| drop(it.shutdown(Shutdown::Both)));
}

#[test]
fn each_form_of_a_forward_carries_both_ways_and_both_ends() {
    let (sshd, scratch) = (Sshd::start(Far::default()), Scratch::new());
    let (far, target) = listener();
    answer_port(far);
    let path = |name: &str| scratch.path(name).to_str().expect("it is text").to_owned();
    let far = UnixListener::bind(path("far")).expect("the folder takes sockets");
    let accept = move || far.accept().expect("a connection comes").0;
    answer(accept, |it: &UnixStream| drop(it.shutdown(Shutdown::Both)));
    let [plain, configured, socket, socks] = [(); 4].map(|()| free_port());
    sshd.configure(&format!(" LocalForward {configured} localhost:{target}\n"));
    let options = [
        format!("-L{plain}:127.0.0.1:{target}"),
        format!("-L127.0.0.1:{socket}:{}", path("far")),
        format!("-L{}:localhost:{target}", path("here")),
        format!("-L{}:{}", path("both"), path("far")),
        format!("-D{socks}"),
    ];
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let mut terminal = session(&sshd, &options);
    for port in [plain, configured, socket] {
        let answer = within_guard("an answer", move || greet_port(port));
        assert_eq!(answer.expect("a connection"), "far: hello", "{}", terminal.dump());
    }
    for name in ["here", "both"] {
        let stream = UnixStream::connect(path(name)).expect("somebody listens");
        let answer = within_guard("an answer", move || greet(stream));
        assert_eq!(answer.expect("a connection"), "far: hello");
    }
    let [high, low] = target.to_be_bytes();
    let four = [&[4, 1, high, low, 127, 0, 0, 1, 0][..]];
    let five = [&[5, 1, 0][..], &[5, 1, 0, 3, 9], b"localhost", &[high, low]];
    for (request, replies) in
        [(&four[..], "\0\x5a\0\0\0\0\0\0"), (&five, "\x05\0\x05\0\0\x01\0\0\0\0\0\0")]
    {
        let mut stream = TcpStream::connect(("127.0.0.1", socks)).expect("somebody listens");
        stream.write_all(&request.concat()).expect("it is read");
        let answer = within_guard("an answer", move || greet(stream));
        assert_eq!(answer.expect("a connection"), format!("{replies}far: hello"));
    }
    assert_eq!(sshd.connections(), 1, "no other login carries anything");
    terminal.send("\x04");
    terminal.wait_exit().assert_code(0);
    assert!(!scratch.path("here").exists() && TcpStream::connect(("127.0.0.1", plain)).is_err());
}

#[test]
fn a_place_that_the_host_cannot_reach_resets_the_connection_and_is_told() {
    let sshd = Sshd::start(Far::default());
    let (port, refuses) = (free_port(), ClosedPort::new());
    let closed = refuses.number;
    let option = format!("-L{port}:127.0.0.1:{closed}");
    let terminal = session(&sshd, &[&option]);
    assert!(within_guard("a reset", move || greet_port(port)).is_err());
    terminal.wait_for_notice(&format!(
        "-L {port}:127.0.0.1:{closed}: the host cannot connect: Connection refused"
    ));
}

#[test]
fn a_copy_and_a_new_connection_wait_while_the_network_is_down_and_lose_nothing() {
    const LEN: usize = 3_000_000;
    let Some(border) = Border::start(Far::default(), true, true) else { return };
    let (far, port) = (border.listen(), free_port());
    let target = far.local_addr().expect("a bound socket has an address").port();
    let options = [format!("-L{port}:127.0.0.1:{target}"), format!("-p{}", border.port)];
    let terminal = session(&border.sshd, &[&options[0], &options[1], "--no-tunnel"]);
    let bytes: Vec<u8> = (0..=250).cycle().take(LEN).collect();
    let copied = bytes.clone();
    let sender = thread::spawn(move || {
        let (mut first, _) = far.accept().expect("a connection comes");
        first.write_all(&copied).expect("it is read");
        drop(first);
        answer_port(far);
    });
    let mut copy = TcpStream::connect(("127.0.0.1", port)).expect("somebody listens");
    let mut begin = vec![0; 100_000];
    copy.read_exact(&mut begin).expect("it comes");
    border.let_pass(false, false);
    terminal.wait_for_notice("ast contact");
    let late = thread::spawn(move || greet_port(port));
    border.let_pass(true, true);
    let rest = within_guard("the rest", move || {
        let mut rest = Vec::new();
        copy.read_to_end(&mut rest).map(|_| rest)
    });
    begin.extend(rest.expect("the connection goes on"));
    assert!(begin == bytes, "{} of {LEN} bytes", begin.len());
    let late = within_guard("an answer", move || late.join().expect("no panic"));
    assert_eq!(late.expect("the connection waits"), "far: hello");
    sender.join().expect("no panic");
}

#[test]
fn the_hosts_rules_list_the_places_that_connections_and_listeners_have() {
    let (far, target) = listener();
    answer_port(far);
    let listed = free_port();
    let rules =
        format!("permit-open = ['localhost:{target}', '/listed']\npermit-listen = ['{listed}']\n");
    let Some(sshd) = Sshd::start_with_rules(&rules, 0o644) else { return };
    let [open, closed, unlisted] = [(); 3].map(|()| free_port());
    let options = [
        format!("-L{open}:localhost:{target}"),
        format!("-L{closed}:127.0.0.1:{target}"),
        format!("-R{listed}:localhost:{target}"),
        format!("-R{unlisted}:localhost:{target}"),
    ];
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let terminal = session(&sshd, &options);
    terminal.wait_for_output("its server.toml does not permit it (permit-listen)");
    for port in [open, listed] {
        let answer = within_guard("an answer", move || greet_port(port));
        assert_eq!(answer.expect("a connection"), "far: hello", "{}", terminal.dump());
    }
    assert!(within_guard("a reset", move || greet_port(closed)).is_err());
    terminal.wait_for_notice("the host cannot connect: its server.toml does not permit it");
    assert!(TcpStream::connect(("127.0.0.1", unlisted)).is_err());
    for (place, sentence) in [
        (format!("127.0.0.1:{target}"), "its server.toml does not permit it (permit-open)"),
        ("/unlisted".to_owned(), "its server.toml does not permit it (permit-open)"),
        ("/listed".to_owned(), "connect to /listed failed: No such file or directory"),
    ] {
        let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh()));
        let output = answered(&call.args(["-W", &place, "far"]));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(255), "{said}");
        assert!(said.contains(sentence) && said.lines().count() == 2, "{said}");
    }
}

#[test]
fn a_taken_port_is_told_and_with_exit_on_forward_failure_nobody_logs_in() {
    let sshd = Sshd::start(Far::default());
    let (_taken, port) = listener();
    let option = format!("-L127.0.0.1:{port}:localhost:1");
    let sentence =
        format!("-L 127.0.0.1:{port}:localhost:1: cannot listen here: Address already in use");
    let call = |options: &[&str]| {
        let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).args(options);
        Terminal::start(&call.arg("far").args(["--", "sh", "-c", "exit 7"]), (24, 200)).wait_exit()
    };
    let exit = call(&[&option, "-oExitOnForwardFailure=yes"]);
    exit.assert_code(255);
    assert!(exit.output.contains(&sentence), "{}", exit.output);
    assert_eq!(sshd.connections(), 0);
    let exit = call(&[&option]);
    exit.assert_code(7);
    assert!(exit.output.contains(&sentence), "{}", exit.output);
    // The session's screen covers the printed sentence, so the bar shows it after the first notice.
    let call_alone = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).arg("-N");
    let mut alone = Terminal::start(&call_alone.args([&option, "far"]), (24, 160));
    alone.wait_for_notice("This session runs no program");
    alone.wait_for_notice(&sentence);
    alone.send("\x03");
    alone.wait_exit();
    for (option, forward) in [("-L", "nonsense"), ("-D", "abc"), ("-R", "8080:localhost")] {
        let exit = call(&[option, forward]);
        let said = format!("rove: ssh cannot read the forward {option} {forward}");
        assert_eq!(exit.output.trim(), said);
        exit.assert_code(10);
    }
}

#[test]
fn a_host_without_streams_carries_nothing_and_one_sentence_says_so() {
    let sshd = Sshd::start(Far { programs: &["rove as mosh-server"], ..Far::default() });
    let port = free_port();
    let option = format!("-L{port}:localhost:1");
    let terminal = session(&sshd, &[&option]);
    terminal.wait_for_notice("carries no connections");
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "nothing is half promised");
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).arg(&option);
    let call = call.arg("-oExitOnForwardFailure=yes").arg("far").args(READY);
    let exit = Terminal::start(&call, SIZE).wait_exit();
    exit.assert_code(255);
    assert!(exit.output.contains("ExitOnForwardFailure"), "{}", exit.output);
}

/// Returns the output of `rove list` for this host.
fn list(sshd: &Sshd, options: &[&str]) -> String {
    let call = Invocation::new(rove()).arg("list").arg(format!("--ssh={}", sshd.ssh()));
    let output = answered(&call.args(options).arg("far"));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Waits for the notice about a port that the host has chosen. Returns the port.
fn allocated_port(terminal: &Terminal) -> u16 {
    terminal.number_in_notice("Allocated port ", " for remote forward to ")
}

#[test]
fn each_form_of_a_remote_forward_carries_both_ways_and_both_ends() {
    let (sshd, scratch) = (Sshd::start(Far::default()), Scratch::new());
    let (near, target) = listener();
    answer_port(near);
    let path = |name: &str| scratch.path(name).to_str().expect("it is text").to_owned();
    let near = UnixListener::bind(path("near")).expect("the folder takes sockets");
    let accept = move || near.accept().expect("a connection comes").0;
    answer(accept, |it: &UnixStream| drop(it.shutdown(Shutdown::Both)));
    let [plain, configured, socket] = [(); 3].map(|()| free_port());
    sshd.configure(&format!(" RemoteForward {configured} localhost:{target}\n"));
    let options = [
        format!("-R{plain}:127.0.0.1:{target}"),
        format!("-R127.0.0.1:{socket}:{}", path("near")),
        format!("-R{}:localhost:{target}", path("there")),
        format!("-R0:localhost:{target}"),
    ];
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let mut terminal = session(&sshd, &options);
    let to = format!(" for remote forward to localhost:{target}");
    let allocated = terminal.number_in_notice("Allocated port ", &to);
    for port in [plain, configured, socket, allocated] {
        let answer = within_guard("an answer", move || greet_port(port));
        assert_eq!(answer.expect("a connection"), "far: hello", "{}", terminal.dump());
    }
    let there = path("there");
    let stream = within_guard("the host's socket", move || {
        connect_once_open(|| UnixStream::connect(&there))
    });
    let answer = within_guard("an answer", move || greet(stream));
    assert_eq!(answer.expect("a connection"), "far: hello");
    assert_eq!(sshd.connections(), 1, "no other login carries anything");
    terminal.send("\x04");
    terminal.wait_exit().assert_code(0);
    within_guard("the host's listeners are closed", move || {
        while TcpStream::connect(("127.0.0.1", plain)).is_ok() {}
    });
    within_guard("the host's socket is removed", move || while scratch.path("there").exists() {});
}

#[test]
fn a_target_that_is_down_here_resets_the_hosts_connection_and_is_told() {
    let sshd = Sshd::start(Far::default());
    let (port, closed) = (free_port(), ClosedPort::new());
    let terminal =
        session(&sshd, &[&format!("-R0:127.0.0.1:{}", closed.number), &format!("-R{port}:/none")]);
    let allocated = allocated_port(&terminal);
    for port in [allocated, port] {
        assert!(within_guard("a reset", move || greet_port(port)).is_err());
    }
    terminal.wait_for_notice("-R: this computer cannot connect: ");
}

#[test]
fn a_client_of_socks_at_the_host_reaches_this_computer_only_where_the_user_permits_it() {
    let sshd = Sshd::start(Far::default());
    let (near, target) = listener();
    answer_port(near);
    let [high, low] = target.to_be_bytes();
    let request = [&[5, 1, 0, 5, 1, 0, 3, 9][..], b"localhost", &[high, low]].concat();
    for (permitted, answered) in [
        ("any".to_owned(), "\x05\0\x05\x04\0\x01\0\0\0\0\0\0".to_owned()),
        (format!("localhost:{target}"), "\x05\0\x05\0\0\x01\0\0\0\0\0\0far: hello".to_owned()),
        ("elsewhere:*".to_owned(), "\x05\0\x05\x04\0\x01\0\0\0\0\0\0".to_owned()),
    ] {
        let port = free_port();
        let option = format!("-oPermitRemoteOpen={permitted}");
        let mut terminal = session(&sshd, &[&format!("-R{port}"), &option, "-R0:localhost:9"]);
        allocated_port(&terminal);
        let request = request.clone();
        let answer = within_guard("an answer", move || {
            let mut stream = connect_once_open(|| TcpStream::connect(("127.0.0.1", port)));
            stream.write_all(&request)?;
            greet(stream)
        });
        let answer = answer.expect("an answer of SOCKS");
        assert_eq!(answer, answered, "{permitted}: {}", terminal.dump());
        terminal.send("\x04");
        terminal.wait_exit().assert_code(0);
    }
}

#[test]
fn a_listener_that_the_host_refuses_is_told_and_with_exit_on_forward_failure_ends_the_session() {
    let sshd = Sshd::start(Far::default());
    let (_taken, port) = listener();
    let option = format!("-R127.0.0.1:{port}:localhost:1");
    let terminal = session(&sshd, &[&option]);
    let sentence = "the host cannot listen: Address already in use";
    terminal.wait_for_notice(&format!("-R 127.0.0.1:{port}:localhost:1: {sentence}"));
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).arg(&option);
    let exit =
        Terminal::start(&call.args(["-oExitOnForwardFailure=yes", "far"]).args(READY), (24, 200))
            .wait_exit();
    exit.assert_code(255);
    assert!(exit.output.contains(sentence), "{}", exit.output);
    // Without the administrator's permission, the host binds no port, and a notice says so.
    let open = free_port();
    let terminal = session(&sshd, &[&format!("-R*:{open}:localhost:1")]);
    terminal.wait_for_notice("the host cannot listen: its server.toml lacks gateway-ports");
    assert!(TcpStream::connect(("127.0.0.1", open)).is_err());
}

#[test]
fn a_new_client_gets_the_same_port_of_the_host_and_the_former_ones_connections_are_reset() {
    let sshd = Sshd::start(Far::default());
    let (near, target) = listener();
    let option = format!("-R0:localhost:{target}");
    let mut first = session(&sshd, &["--session", "work", &option]);
    let port = allocated_port(&first);
    let mut old = TcpStream::connect(("127.0.0.1", port)).expect("the host listens");
    let (mut joined, _) = near.accept().expect("a connection comes");
    joined.write_all(b"x").expect("it is read");
    old.read_exact(&mut [0; 1]).expect("it comes");
    answer_port(near);

    let call = Invocation::new(rove()).arg("attach").arg(format!("--ssh={}", sshd.ssh()));
    let mut second = Terminal::start(&call.args([&option, "far", "work"]), (24, 160));
    assert_eq!(allocated_port(&second), port);
    first.wait_exit().assert_code(79);
    let cut = within_guard("a cut", move || old.read(&mut [0; 1]));
    assert!(cut.is_err(), "a cut does not look like an end");
    let answer = within_guard("an answer", move || greet_port(port));
    assert_eq!(answer.expect("a connection"), "far: hello", "{}", second.dump());
    second.send("\x04");
    second.wait_exit().assert_code(0);
}

#[test]
fn listeners_of_both_ends_and_their_connections_outlive_a_change_of_the_network() {
    let Some(border) = Border::start(Far::default(), true, true) else { return };
    let (near, far, port) = (listener(), border.listen(), free_port());
    let target = far.local_addr().expect("a bound socket has an address").port();
    answer_port(far);
    let options = [
        format!("-L{port}:127.0.0.1:{target}"),
        format!("-R0:localhost:{}", near.1),
        format!("-p{}", border.port),
    ];
    let options: Vec<&str> = options.iter().map(String::as_str).chain(["--no-tunnel"]).collect();
    let terminal = session(&border.sshd, &options);
    let allocated = allocated_port(&terminal);
    let mut before = border.connect(allocated);
    let (mut joined, _) = near.0.accept().expect("a connection comes");
    // This byte shows that both ends have opened the connection before the network falls silent.
    joined.write_all(b"x").expect("it is read");
    before.read_exact(&mut [0; 1]).expect("it comes");
    answer_port(near.0);
    border.let_pass(false, false);
    terminal.wait_for_notice("ast contact");
    before.write_all(b"sent in the dark").expect("the system takes it");
    border.let_pass(true, true);
    let mut heard = [0; 16];
    joined.read_exact(&mut heard).expect("the connection goes on");
    assert_eq!(&heard, b"sent in the dark");
    let answer = within_guard("an answer", move || greet_port(port));
    assert_eq!(answer.expect("a connection"), "far: hello");
    let late = border.connect(allocated);
    let answer = within_guard("an answer", move || greet(late));
    assert_eq!(answer.expect("a connection"), "far: hello");
}

#[test]
fn a_session_without_a_program_forwards_until_ctrl_c_and_is_listed() {
    let sshd = Sshd::start(Far::default());
    let ((near, there), (far, target), port) = (listener(), listener(), free_port());
    answer_port(near);
    answer_port(far);
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).arg("-N");
    let options = [format!("-L{port}:localhost:{target}"), format!("-R0:localhost:{there}")];
    let mut terminal = Terminal::start(&call.args(&options).arg("far"), (24, 160));
    let allocated = allocated_port(&terminal);
    for port in [port, allocated] {
        let answer = within_guard("an answer", move || greet_port(port));
        assert_eq!(answer.expect("a connection"), "far: hello", "{}", terminal.dump());
    }
    let listed = list(&sshd, &[]);
    assert!(listed.contains("no program"), "{listed}");
    assert!(listed.contains(&format!("(-R localhost:{allocated})")), "{listed}");
    let listed = list(&sshd, &["--json"]);
    assert!(listed.contains(&format!("\"listeners\":[\"localhost:{allocated}\"]")), "{listed}");
    terminal.send("ls\r\x03");
    terminal.wait_exit().assert_code(0);
    within_guard("the session ends with its client", move || {
        while list(&sshd, &[]).contains("no program") {}
    });
}

#[test]
fn a_session_goes_to_the_background_once_both_ends_listen_and_serves_without_a_terminal() {
    let sshd = Sshd::start(Far::default());
    let ((near, there), (far, target), port) = (listener(), listener(), free_port());
    answer_port(near);
    answer_port(far);
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).args(["-N", "-f"]);
    let options = [format!("-L{port}:localhost:{target}"), format!("-R0:localhost:{there}")];
    sshd.rule("PermitTTY no\n");
    let output = answered(&call.args(&options).arg("far").behind(&WITH_A_COPY));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let (_, allocated) = said.split_once("Allocated port ").expect("ssh's words");
    let allocated = allocated.split(' ').next().and_then(|it| it.parse().ok()).expect("a port");
    for port in [port, allocated] {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens already");
        let answer = within_guard("an answer", move || greet(stream));
        assert_eq!(answer.expect("a connection"), "far: hello");
    }
    let kill = Invocation::new(rove()).arg("kill").arg(format!("--ssh={}", sshd.ssh()));
    let ended = answered(&kill.args(["far", "--all"]));
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    within_guard("the process in the background ends with its session", move || {
        while TcpStream::connect(("127.0.0.1", port)).is_ok() {
            crate::support::pause(std::time::Duration::from_millis(5));
        }
    });
    // The option requires this listener. Its port is taken, so the session must end.
    let (_taken, port) = listener();
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).args(["-N", "-f"]);
    let option = format!("-R127.0.0.1:{port}:localhost:1");
    let call = call.args(["-oExitOnForwardFailure=yes", &option, "far"]);
    let output = answered(&call);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(255), "{said}");
    assert!(said.contains("the host cannot listen: Address already in use"), "{said}");
}

#[test]
fn without_a_terminal_a_session_forwards_in_the_foreground_until_a_signal() {
    let sshd = Sshd::start(Far::default());
    let (far, target) = listener();
    answer_port(far);
    let (_taken, taken) = listener();
    let refused = format!("-R127.0.0.1:{taken}:localhost:1");
    for (behind, signals, name) in [
        (&[][..], &[Signal::TERM][..], "SIGTERM"),
        (&[], &[Signal::INT], "SIGINT"),
        (&[], &[Signal::HUP], "SIGHUP"),
        // `nohup` ignores SIGHUP, so the session continues after SIGHUP and ends with SIGTERM.
        (&["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"], &[Signal::HUP, Signal::TERM], "SIGTERM"),
    ] {
        let port = free_port();
        let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).arg("-N");
        let call = call.args([&refused, &format!("-L{port}:localhost:{target}"), "far"]);
        let mut command = call.command_behind(behind);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("rove starts");
        let pid = Pid::from_child(&child);
        let mut errors = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut said = String::new();
        // The host's message about the taken port shows that the session has begun.
        (errors, said) = within_guard("a sentence", move || {
            errors.read_line(&mut said).expect("it is text");
            (errors, said)
        });
        assert!(said.contains("the host cannot listen: Address already in use"), "{said}");
        for &signal in signals {
            let answer = within_guard("an answer", move || greet_port(port));
            assert_eq!(answer.expect("a connection"), "far: hello");
            kill_process(pid, signal).expect("it runs");
        }
        let (output, rest) = within_guard("the end", move || {
            let mut rest = String::new();
            errors.read_to_string(&mut rest).expect("it is text");
            (child.wait_with_output().expect("it ends"), rest)
        });
        assert!(rest.contains(&format!("{name} ended this client")), "{rest}");
        assert!(!rest.contains('\x1b') && output.stdout.is_empty(), "{rest:?} {output:?}");
        // `ssh -N` has the same exit codes.
        let code = if name == "SIGTERM" { 0 } else { 255 };
        assert_eq!(output.status.code(), Some(code), "{name}: {rest}");
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "the port is free again");
    }
    assert!(!list(&sshd, &[]).contains("no program"), "the sessions have ended");
    // The option requires this listener. Its port is taken, so the session must end.
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).arg("-N");
    let output = answered(&call.args(["-oExitOnForwardFailure=yes", &refused, "far"]));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(255), "{said}");
    assert!(said.contains("ExitOnForwardFailure wants that"), "{said}");
}

#[test]
fn the_ssh_of_a_login_ends_although_its_session_has_gone_to_the_background() {
    let sshd = Sshd::start(Far::default());
    let port = free_port();
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).args(["-N", "-f"]);
    let output = answered(&call.arg(format!("-L{port}:localhost:9")).arg("far"));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    sshd.wait_alone();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok(), "the session goes on by UDP");
    let kill = Invocation::new(rove()).arg("kill").arg(format!("--ssh={}", sshd.ssh()));
    assert_eq!(answered(&kill.args(["far", "--all"])).status.code(), Some(0));
}

#[test]
fn a_stock_host_has_no_session_without_a_program_and_one_sentence_says_so() {
    let sshd = Sshd::start(Far { programs: &["rove as mosh-server"], ..Far::default() });
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).arg("-N");
    let exit = Terminal::start(&call.arg("-L9:localhost:9").arg("far"), (24, 160)).wait_exit();
    assert!(exit.code() != 0, "{}", exit.output);
    assert!(exit.output.contains("rove -N"), "{}", exit.output);
}

#[test]
fn a_line_after_the_escape_key_adds_and_removes_forwards_and_the_status_shows_them() {
    let sshd = Sshd::start(Far::default());
    let ((near, there), (far, target)) = (listener(), listener());
    answer_port(near);
    answer_port(far);
    let [port, socks] = [(); 2].map(|()| free_port());
    let mut terminal = session(&sshd, &[]);
    let add = format!("\x1ef-L {port}:localhost:{target}\r");
    terminal.send(&add);
    terminal.wait_for_notice(&format!("-L {port}:localhost:{target}: listening here"));
    let answer = within_guard("an answer", move || greet_port(port));
    assert_eq!(answer.expect("a connection"), "far: hello", "{}", terminal.dump());
    terminal.send(format!("\x1ef-R 0:localhost:{there}\r"));
    let allocated = allocated_port(&terminal);
    let answer = within_guard("an answer", move || greet_port(allocated));
    assert_eq!(answer.expect("a connection"), "far: hello", "{}", terminal.dump());
    terminal.send(format!("\x1ef-D 127.0.0.1:{socks}\r"));
    terminal.wait_for_notice(&format!("-D 127.0.0.1:{socks}: listening here"));
    terminal.send("\x1es");
    terminal.wait_for_text(&format!("Forwards    -L {port}:localhost:{target}"));
    terminal.wait_for_text(&format!("-R 0:localhost:{there}, port {allocated}"));
    terminal.send("x");
    terminal.send(format!("\x1ef-KL {port}\r"));
    terminal.wait_for_notice(&format!("-L {port}:localhost:{target}: ended"));
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    terminal.send(format!("\x1ef-KR {allocated}\r"));
    terminal.wait_for_notice(&format!("-R 0:localhost:{there}: ended"));
    within_guard("the host listens no longer", move || {
        while TcpStream::connect(("127.0.0.1", allocated)).is_ok() {}
    });
    terminal.send(format!("\x1ef-KD 127.0.0.1:{socks}\r"));
    terminal.wait_for_notice(&format!("-D 127.0.0.1:{socks}: ended"));
    terminal.send("\x1efnonsense\r");
    terminal.wait_for_notice("not one of -L or -R port:host:port");
    terminal.send(format!("\x1ef-KL {port}\r"));
    terminal.wait_for_notice(&format!("nothing listens at {port} for this session"));
    let screen = terminal.screen().contents();
    assert!(!screen.contains("nonsense"), "no key of a line goes to the program: {screen}");
    terminal.send("\x04");
    terminal.wait_exit().assert_code(0);
}

/// Returns the forwards of the client's `port` to `target`, and of a port that the host chooses to `there`.
fn forwards(port: u16, target: u16, there: u16) -> serde_json::Value {
    let place = |port| json!({"Port": ["127.0.0.1", port]});
    let all = json!([{"listen": place(port), "target": place(target)}]);
    json!({"all": all, "remote": [{"listen": place(0), "target": place(there)}]})
}

#[test]
fn a_forced_command_limits_the_holder_of_a_key_only_if_it_starts_a_mosh_server() {
    let scratch = Scratch::new();
    let mosh_server = scratch.join("mosh-server");
    std::os::unix::fs::symlink(rove(), &mosh_server).expect("a new link");
    let joined = json!({"Program": {"command": "", "is_subsystem": false}});
    let facts = json!({"joined": joined, "ssh": ["false"]});
    for (starter, printed) in
        [(Maker::Rove.server(), "reached\n"), (Invocation::new(mosh_server), "")]
    {
        let server = Server::start_with(starter, LOCALHOST, &["sh", "-c", "read line"]);
        let client = Maker::Rove.client(server.address, &server.key);
        let client = client.session_call(facts.clone()).env("ROVE_EXEC", "echo reached");
        let output = within_guard("the client", move || {
            client.command().stdin(Stdio::null()).output().expect("rove starts")
        });
        assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{output:?}");
    }
}

#[test]
fn copies_by_listeners_of_both_ends_go_on_when_the_clients_address_changes() {
    const LEN: usize = 600_000;
    let ((near, there), (far, target), port) = (listener(), listener(), free_port());
    let server = Server::start(Maker::Rove, LOCALHOST, &["sh", "-c", "echo; echo; read line"]);
    let relay = relay_to(server.address, lossy(0.05));
    let call = Maker::Rove.client(relay.address(), &server.key);
    let call = call.session_call(json!({"forwards": forwards(port, target, there)}));
    let terminal = Terminal::start(&call, (24, 160));
    let allocated = allocated_port(&terminal);
    let bytes: Vec<u8> = (0..=250).cycle().take(LEN).collect();
    let copies: Vec<_> = [(far, port), (near, allocated)]
        .into_iter()
        .map(|(listener, port)| {
            let sent = bytes.clone();
            let sender = thread::spawn(move || {
                let (mut stream, _) = listener.accept().expect("a connection comes");
                stream.write_all(&sent).expect("it is read");
            });
            let mut copy = TcpStream::connect(("127.0.0.1", port)).expect("somebody listens");
            let mut begin = vec![0; 50_000];
            copy.read_exact(&mut begin).expect("it comes");
            (sender, copy, begin)
        })
        .collect();
    relay.roam(None).expect("loopback has free ports");
    relay.roam(Some([127, 0, 0, 2].into())).expect("loopback has many addresses");
    for (sender, mut copy, mut begin) in copies {
        let rest = within_guard("the rest", move || {
            let mut rest = Vec::new();
            copy.read_to_end(&mut rest).map(|_| rest)
        });
        begin.extend(rest.expect("the connection goes on"));
        assert!(begin == bytes, "{} of {LEN} bytes", begin.len());
        sender.join().expect("no panic");
    }
}
