//! `rove-lab sprout serve` and `send` as real processes over real sockets: order and outcome, never times.
#![cfg(unix)]

use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rove_rig::guard::{HANG_GUARD, within_guard};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::Value;

/// How long an answer is waited for before the question is sent again: a tunnel may lose packets.
const AGAIN: Duration = Duration::from_millis(500);

/// A process of `rove-lab`, which is ended with the test.
struct Lab(Child);

impl Lab {
    /// Starts a process with these words and maybe a key. Returns it and its first line on standard error.
    fn start(words: &[&str], key: Option<&str>) -> (Self, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
        command.args(words).env_remove("ROVE_SPROUT_KEY").stdin(Stdio::null());
        command.envs(key.map(|key| ("ROVE_SPROUT_KEY", key)));
        let spawned = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut lab = Self(spawned.expect("the program starts"));
        let stderr = lab.0.stderr.take().expect("it has a pipe");
        let (told, line) = mpsc::channel();
        thread::spawn(move || {
            let mut lines = BufReader::new(stderr);
            let mut line = String::new();
            lines.read_line(&mut line).expect("it is UTF-8");
            told.send(line).expect("the test waits");
            // The other lines, such as one on a busy computer, are read as well.
            io::copy(&mut lines, &mut io::sink()).expect("a pipe can be read");
        });
        let line = line.recv_timeout(HANG_GUARD).expect("it says something, or ends");
        (lab, line.trim().to_owned())
    }

    /// Ends the process, by a signal if there is one, and returns its report. A sender fails if nothing came.
    fn report(mut self, signal: Option<Signal>) -> Value {
        if let Some(signal) = signal {
            kill_process(Pid::from_child(&self.0), signal).expect("it still runs");
        }
        let mut stdout = self.0.stdout.take().expect("it has a pipe");
        let text = within_guard("the end", move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).expect("it is UTF-8");
            text
        });
        let report: Value = serde_json::from_str(&text).expect("a report is JSON");
        let is_answered = signal.is_some() || report["received"].as_u64() != Some(0);
        let status = self.0.wait().expect("it was started");
        assert_eq!(status.code(), Some(i32::from(!is_answered)), "{text}");
        report
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a server that draws its key. Returns it, the key and the port.
fn server(words: &[&str]) -> (Lab, String, u16) {
    let (lab, line) = Lab::start(&[&["sprout", "serve", "--json"], words].concat(), None);
    let told = line.strip_prefix("ROVE_SPROUT_KEY=").expect("a key is told");
    let (key, command) = told.split_once(' ').expect("a command follows");
    let port = command.rsplit(':').next().expect("a port is last").parse().expect("a number");
    (lab, key.to_owned(), port)
}

/// A program that sends each packet back, with the packet's source port before it, until an empty packet comes.
fn echo() -> (UdpSocket, thread::JoinHandle<()>) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.set_read_timeout(Some(HANG_GUARD)).expect("sockets have time-outs");
    let own = socket.try_clone().expect("a descriptor");
    let thread = thread::spawn(move || {
        let mut buffer = [0; 2_000];
        while let Ok((len @ 1.., from)) = own.recv_from(&mut buffer) {
            let answer = [&from.port().to_be_bytes()[..], &buffer[..len]].concat();
            // A program whose tunnel is gone misses an answer.
            let _ = own.send_to(&answer, from);
        }
    });
    (socket, thread)
}

/// Sends a question until its answer has come. Returns the port that the answer tells. Older answers are passed over.
fn ask(socket: &UdpSocket, question: &[u8]) -> u16 {
    let mut buffer = [0; 2_000];
    loop {
        socket.send(question).expect("the entrance is there");
        loop {
            match socket.recv(&mut buffer) {
                Ok(len) => {
                    let (port, text) = buffer[..len].split_first_chunk().expect("a port");
                    if text == question {
                        return u16::from_be_bytes(*port);
                    }
                }
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    break;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn a_tunnel_carries_the_packets_of_two_programs_apart_and_their_answers_back() {
    let (target, echo) = echo();
    let address = target.local_addr().expect("it is bound").to_string();
    let (exit, key, port) = server(&["--listen", "127.0.0.1:0", "--target", &address]);
    let peer = format!("127.0.0.1:{port}");
    let words = ["sprout", "send", &peer, "--enter", "127.0.0.1:0", "--json"];
    let (entrance, line) = Lab::start(&words, Some(&key));
    let begin: SocketAddr = line
        .strip_prefix("the tunnel begins at ")
        .expect("the free port is told")
        .parse()
        .expect("an address");
    let ports = within_guard("the end", move || {
        let programs = [(); 2].map(|()| {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
            socket.set_read_timeout(Some(AGAIN)).expect("sockets have time-outs");
            socket.connect(begin).expect("a local address");
            socket
        });
        let mut ports = [Vec::new(), Vec::new()];
        for number in 0..20_u8 {
            for (which, (program, ports)) in (0_u8..).zip(programs.iter().zip(&mut ports)) {
                // The questions are small, or large but still fit into a datagram of the tunnel.
                let question = vec![16 * which + number % 16 + 1; 1 + 60 * usize::from(number)];
                ports.push(ask(program, &question));
            }
        }
        ports
    });
    let [one, other] = ports;
    assert!(one.iter().all(|port| *port == one[0]), "one flow comes out of one socket: {one:?}");
    assert!(other.iter().all(|port| *port == other[0]), "so does the other: {other:?}");
    assert_ne!(one[0], other[0], "each from its own");
    for lab in [entrance, exit] {
        let report = lab.report(Some(Signal::TERM));
        assert!(report["received"].as_u64() >= Some(40), "{report}");
        assert_eq!(report["refused"].as_u64(), Some(0), "{report}");
    }
    UdpSocket::bind("127.0.0.1:0").expect("a free port").send_to(&[], address).expect("sent");
    echo.join().expect("the other program has not failed");
}

#[test]
fn an_option_of_the_other_end_is_refused() {
    for (words, told) in [
        (&["serve", "--for", "1s"][..], "--for is for send, not for serve"),
        (&["send", "127.0.0.1:1", "--once"], "--once is for serve, not for send"),
        (&["send", "127.0.0.1:1", "--listen", "127.0.0.1:0"], "--listen is for serve"),
        (&["send", "127.0.0.1:1", "--enter", "127.0.0.1:0", "--for", "1s"], "do not go together"),
        (&["serve", "--target", "127.0.0.1:1", "--once"], "do not go together"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
        let output = command.arg("sprout").args(words).output().expect("rove-lab runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(told), "{words:?}: {said}");
    }
}

/// If a busy computer kept an end waiting all the time, the test tries again for twice the time.
#[test]
fn a_key_of_somebody_else_gets_nothing_through() {
    let is_refused = [1, 2, 4, 8, 16].into_iter().any(|seconds| {
        let (exit, _, port) = server(&["--listen", "127.0.0.1:0"]);
        let (_, other, _) = server(&["--listen", "127.0.0.1:0"]);
        let (peer, length) = (format!("127.0.0.1:{port}"), format!("{seconds}s"));
        let words = ["sprout", "send", &peer, "--for", &length, "--json"];
        let (sender, _) = Lab::start(&words, Some(&other));
        let sent = sender.report(None);
        assert_eq!(sent["received"].as_u64(), Some(0), "{sent}");
        let report = exit.report(Some(Signal::INT));
        assert_eq!((report["sent"].as_u64(), report["received"].as_u64()), (Some(0), Some(0)));
        sent["sent"].as_u64() > Some(0) && report["refused"].as_u64() > Some(0)
    });
    assert!(is_refused, "nothing was sent and refused in 16 s");
}

/// Runs the same two ends over a link of `rove-lab emulate`. A flow that was not heard, as on a busy computer, is tried
/// again for twice the time.
#[test]
#[cfg(target_os = "linux")]
fn bulk_data_goes_over_an_emulated_link_and_a_link_that_carries_nothing_stops_it() {
    if !geteuid().is_root() {
        println!("skipped: only root is sure to have network namespaces");
        return;
    }
    let count = |report: &Value, name: &str| report[name].as_u64().expect("a number");
    for (loss, gets_through) in [("0%", true), ("10%", true), ("100%", false)] {
        let has_come = [2, 4, 8, 16].into_iter().any(|seconds| {
            let (far, key, port) = server(&["--listen", "0.0.0.0:0"]);
            let lab = env!("CARGO_BIN_EXE_rove-lab");
            let send = format!("exec {lab} sprout send $ROVE_PEER:{port} --for {seconds}s --json");
            let link = ["emulate", "--rtt", "40ms", "--rate", "5Mbit", "--loss", loss, "--"];
            let words = [&link[..], &["sh", "-c", &send]].concat();
            let (near, _) = Lab::start(&words, Some(&key));
            let sent = near.report(None);
            let received = far.report(Some(Signal::TERM));
            assert_eq!(count(&received, "refused") + count(&sent, "refused"), 0);
            assert!(count(&received, "received") <= count(&sent, "sent"), "{loss}: {received}");
            let has_come = count(&received, "received") > 0 && count(&sent, "received") > 0;
            assert!(!has_come || sent["rtt_ms"].as_u64() >= Some(40), "{loss}: {sent}");
            if !gets_through {
                assert_eq!(count(&received, "received") + count(&sent, "received"), 0);
            }
            // A process that was kept waiting for all of the time has sent nothing that could come or be lost.
            if gets_through { has_come } else { count(&sent, "sent") > 0 }
        });
        assert!(has_come, "{loss}: nothing has come, or been sent, in 16 s");
    }
}

/// A tunnel's entrance in one namespace, its exit in the other, and a link of `rove-lab emulate` between them.
#[test]
#[cfg(target_os = "linux")]
fn a_tunnel_carries_packets_and_answers_between_two_namespaces_over_an_emulated_link() {
    let has_bash = Command::new("bash").args(["-c", "type timeout dd grep"]).output();
    let has_bash = has_bash.is_ok_and(|output| output.status.success());
    if !geteuid().is_root() || !has_bash {
        println!("skipped: only root is sure to have network namespaces, and bash sends datagrams");
        return;
    }
    let (target, echo) = echo();
    let address = target.local_addr().expect("it is bound").to_string();
    let (exit, key, port) = server(&["--listen", "0.0.0.0:0", "--target", &address]);
    let lab = env!("CARGO_BIN_EXE_rove-lab");
    // The program asks until the answer to each of its questions has come. The port 4000 is of a namespace that nobody else is in.
    let program = format!(
        r#"{lab} sprout send $ROVE_PEER:{port} --enter 127.0.0.1:4000 --json > /dev/null &
        tunnel=$!
        exec 3<>/dev/udp/127.0.0.1/4000
        for question in one two three; do
            until echo $question >&3 && timeout 1 dd bs=2000 count=1 <&3 | grep -q $question
            do :; done
        done 2> /dev/null
        kill $tunnel
        wait
        echo '{{"answered": 3}}'"#
    );
    let link = ["emulate", "--rtt", "40ms", "--rate", "5Mbit", "--loss", "10%", "--"];
    let words = [&link[..], &["bash", "-c", &program]].concat();
    let (near, line) = Lab::start(&words, Some(&key));
    assert!(line.ends_with("127.0.0.1:4000"), "{line}");
    assert_eq!(near.report(None)["answered"].as_u64(), Some(3));
    let report = exit.report(Some(Signal::TERM));
    assert!(report["received"].as_u64() >= Some(3) && report["sent"].as_u64() >= Some(3));
    assert_eq!(report["refused"].as_u64(), Some(0), "{report}");
    UdpSocket::bind("127.0.0.1:0").expect("a free port").send_to(&[], address).expect("sent");
    echo.join().expect("the other program has not failed");
}
