//! `rove -W` as the ProxyCommand of an ssh, and the section of ssh's configuration that `rove proxy-config` prints.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Output, Stdio};

use rustix::net::sockopt::socket_peercred;
use rustix::process::{Signal, kill_process};

use crate::support::{ClosedPort, Far, Invocation, Scratch, Sshd, rove, within_guard};

/// Returns an ssh option by which ssh reaches its host through `rove -W` and the host `far` of this gate.
fn proxy_command(gate: &Sshd, option: &str) -> String {
    let (rove, ssh) = (rove(), gate.ssh());
    format!("ProxyCommand={} {option} -W '[%h]:%p' --ssh='{ssh}' far", rove.display())
}

/// Runs ssh with these options and this command. Returns its output.
fn ssh(host: &Sshd, options: &[&str], command: &str) -> Output {
    let line = host.ssh();
    let mut words = line.split(' ');
    let call = Invocation::new(words.next().expect("ssh has a name"));
    let call = call.args(words).args(options).args(["far", "--", command]);
    let output = move || call.command().stdin(Stdio::null()).output().expect("ssh starts");
    within_guard("ssh through rove -W", output)
}

#[test]
fn ssh_reaches_a_host_by_rove_through_a_gate_without_rove() {
    let host = Sshd::start(Far::default());
    let gates = [&[][..], &["mosh-server"]];
    let gates = gates.map(|programs| Sshd::start(Far { programs, ..Far::default() }));
    for (gate, option, is_told) in [(&gates[0], "", 1), (&gates[1], "-q", 0)] {
        let proxy = proxy_command(gate, option);
        let output = ssh(&host, &["-o", &proxy], "printf 'x\\0y'");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}\n{}", gate.log());
        assert_eq!(output.stdout, b"x\0y");
        let sentence =
            "rove: far has no rove that carries connections, so `ssh -W` carries the one to";
        assert_eq!(said.matches(sentence).count(), is_told, "{said}");
        assert_eq!(gate.connections(), 2, "one login looks for rove, and one carries");
    }
    let output = ssh(&host, &["-o", &proxy_command(&gates[0], "--strict")], "true");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("-W: stock Mosh carries no"), "{said}");
    assert_eq!((gates[0].connections(), host.connections()), (2, 2));
}

#[test]
fn ssh_reaches_a_host_through_a_session_without_a_program_at_the_gate() {
    let (gate, host) = (Sshd::start(Far::default()), Sshd::start(Far::default()));
    let output = ssh(&host, &["-o", &proxy_command(&gate, "")], "printf 'x\\0y'; exit 7");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*output.stdout), (Some(7), &b"x\0y"[..]), "{said}");
    assert!(!said.contains("ssh -W"), "{said}");
    assert_eq!((gate.connections(), host.connections()), (1, 1));
    // The session ends when its connection ends.
    let sockets = gate.path("sockets");
    within_guard("the end of the session", move || {
        let count =
            |entry: &std::fs::DirEntry| !entry.file_name().as_encoded_bytes().starts_with(b".");
        while std::fs::read_dir(&sockets).is_ok_and(|it| it.flatten().any(|entry| count(&entry))) {
            crate::support::pause(std::time::Duration::from_millis(5));
        }
    });
    // At the gate, `localhost:22` means the gate's own sshd, although that sshd listens at another port.
    let call = Invocation::new(rove()).arg(format!("--ssh={}", gate.ssh()));
    let call = call.args(["-W", "localhost:22", "far"]);
    let output = move || call.command().stdin(Stdio::null()).output().expect("rove starts");
    let output = within_guard("a connection to sshd", output);
    assert!(output.stdout.starts_with(b"SSH-2.0-"), "{output:?}");
}

#[test]
fn a_gate_that_is_reached_through_itself_is_refused_in_one_sentence() {
    let gate = Sshd::start(Far::default());
    gate.configure(&format!("{}\n", proxy_command(&gate, "").replacen('=', " ", 1)));
    let output = ssh(&gate, &[], "true");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert_eq!(said.matches("rove: ssh reaches far by `rove -W` through far itself").count(), 1);
    assert_eq!(gate.connections(), 0, "{said}");
}

#[test]
fn the_printed_section_is_ssh_configuration_and_leaves_the_gate_out() {
    let scratch = Scratch::new();
    let printed = |args: &[&str]| {
        let call = Invocation::new(rove()).arg("proxy-config").args(args);
        let output = within_guard("rove", move || call.command().output().expect("rove starts"));
        (output.status.code(), String::from_utf8(output.stdout).expect("it is text"))
    };
    let (code, text) = printed(&["-i", "~/a key%", "me@gate.example"]);
    assert_eq!(code, Some(0));
    let file = scratch.write("ssh_config", &text);
    let asked = |host: &str| {
        let mut ssh = Command::new("ssh");
        let output = ssh.arg("-F").arg(&file).args(["-G", host]).output().expect("ssh starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("it is text")
    };
    let host = asked("host.example");
    for line in [
        "proxycommand rove -W '[%h]:%p' -i '~/a key%%' me@gate.example\n",
        "serveraliveinterval 0\n",
    ] {
        assert!(host.contains(line), "{host}");
    }
    assert!(!asked("gate.example").contains("proxycommand"), "the gate is not behind itself");
    for args in [&[][..], &["a", "b"], &["--", "-x"], &["gate\nHost *\n ProxyCommand x"]] {
        assert_eq!(printed(args), (Some(255), String::new()), "{args:?}");
    }
}

/// Starts `rove -W` with these options to `target`, through a gate.
fn join(gate: &Sshd, options: &[&str], target: &str) -> Child {
    let call = Invocation::new(rove()).arg(format!("--ssh={}", gate.ssh())).args(options);
    let mut command = call.args(["-W", target, "far"]).command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("rove starts")
}

#[test]
fn a_refused_port_gives_two_lines_and_an_end_of_input_is_still_answered() {
    let gate = Sshd::start(Far::default());
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let target = listener.local_addr().expect("a bound socket has an address").to_string();
    let mut joined = join(&gate, &[], &target);
    let mut input = joined.stdin.take().expect("it is piped");
    let echo = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().expect("a connection comes");
        let mut all = Vec::new();
        connection.read_to_end(&mut all).expect("the input ends");
        let answer = [format!("{} bytes: ", all.len()).as_bytes(), &all].concat();
        connection.write_all(&answer).expect("the answer is read");
    });
    let bytes: Vec<u8> = (0..1_000_000_u32).map(|it| (it % 251) as u8).collect();
    let expected = [&b"1000000 bytes: "[..], &bytes].concat();
    let writer = std::thread::spawn(move || input.write_all(&bytes));
    let output = within_guard("an answer", move || joined.wait_with_output().expect("it ends"));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout == expected, "{} bytes", output.stdout.len());
    writer.join().expect("no panic").expect("all is read");
    echo.join().expect("no panic");
    let refuses = ClosedPort::new();
    let joined = join(&gate, &[], &format!("127.0.0.1:{}", refuses.number));
    let output = within_guard("a refusal", move || joined.wait_with_output().expect("it ends"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), said.lines().count()), (Some(255), 2), "{said}");
    assert!(said.contains("failed: Connection refused\n"), "{said}");
    assert!(said.ends_with("rove: stdio forwarding failed\n"), "{said}");
    assert_eq!(output.stdout, b"");
}

#[test]
fn a_socket_in_the_gates_file_system_is_joined_like_a_port() {
    let (gate, scratch) = (Sshd::start(Far::default()), Scratch::new());
    let path = scratch.path("a socket").to_str().expect("it is text").to_owned();
    let listener = UnixListener::bind(&path).expect("the folder takes sockets");
    let mut joined = join(&gate, &[], &path);
    let mut input = joined.stdin.take().expect("it is piped");
    let echo = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().expect("a connection comes");
        let mut all = Vec::new();
        connection.read_to_end(&mut all).expect("the input ends");
        connection.write_all(&[b"heard ", &*all].concat()).expect("the answer is read");
    });
    input.write_all(b"x\0y").expect("it is read");
    drop(input);
    let output = within_guard("an answer", move || joined.wait_with_output().expect("it ends"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"heard x\0y"[..]), "{said}");
    echo.join().expect("no panic");
    // The target's listener has ended.
    let joined = join(&gate, &[], &path);
    let output = within_guard("a refusal", move || joined.wait_with_output().expect("it ends"));
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = format!(
        "rove: connect to {path} failed: Connection refused\nrove: stdio forwarding failed\n"
    );
    assert_eq!((output.status.code(), &*said), (Some(255), &*lines));
}

#[test]
fn a_gate_whose_server_is_gone_is_told_and_the_connection_waits() {
    let gate = Sshd::start(Far::default());
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let target = listener.local_addr().expect("a bound socket has an address").to_string();
    let mut joined = join(&gate, &[], &target);
    let (connection, _) =
        within_guard("a connection", move || listener.accept().expect("a connection comes"));
    let sessions = std::fs::read_dir(gate.path("sockets")).expect("a server runs");
    let session = |path: &std::path::Path| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        name.first().is_some_and(u8::is_ascii_digit)
    };
    let session = sessions.flatten().map(|it| it.path()).find(|it| session(it));
    let server = UnixStream::connect(session.expect("it listens")).expect("it listens");
    let server = socket_peercred(&server).expect("it has a process").pid;
    kill_process(server, Signal::KILL).expect("it runs");
    let mut said = joined.stderr.take().expect("it is piped");
    let said = within_guard("a sentence", move || {
        let mut all = Vec::new();
        while !String::from_utf8_lossy(&all).contains("its host refuses the UDP port") {
            let mut bytes = [0; 512];
            let count = said.read(&mut bytes).expect("the call goes on");
            assert!(count > 0, "{}", String::from_utf8_lossy(&all));
            all.extend_from_slice(&bytes[..count]);
        }
        all
    });
    assert!(said.starts_with(b"rove: the server at 127.0.0.1:"), "{}", said.escape_ascii());
    assert!(joined.try_wait().expect("it is a child").is_none(), "it may be heard again");
    joined.kill().and_then(|()| joined.wait()).expect("it runs");
    drop(connection);
}
