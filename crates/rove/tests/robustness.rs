//! A server continues after the reader of its log has ended.

use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, UdpSocket};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

/// The line in which the server reports its pid, up to the pid.
const DETACHED: &str = "[rove server detached, pid = ";

#[test]
fn a_verbose_server_outlives_the_reader_of_its_log() {
    let mut parent = Command::new(env!("CARGO_BIN_EXE_rove"))
        .args(["server", "new", "-vv", "-i", "127.0.0.1", "-p", "0", "--", "sleep", "60"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(parent.stdout.take().unwrap());
    let mut announcement = String::new();
    output.read_line(&mut announcement).unwrap();
    let port = announcement.split(' ').nth(2).unwrap().parse().unwrap();
    let mut log = BufReader::new(parent.stderr.take().unwrap()).lines().map(Result::unwrap);
    let server = log
        .find_map(|line| line.strip_prefix(DETACHED)?.strip_suffix(']')?.parse().ok())
        .and_then(Pid::from_raw)
        .unwrap();
    assert!(parent.wait().unwrap().success());
    // The server logs this datagram, which shows that its loop runs.
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.send_to(b"nonsense", (Ipv4Addr::LOCALHOST, port)).unwrap();
    log.find(|line| line.contains("datagram of no use")).unwrap();
    // From here on, each log line meets a broken pipe. The line about the signal is the first.
    drop(log);
    kill_process(server, Signal::TERM).unwrap();
    let mut output_text = String::new();
    output.read_to_string(&mut output_text).unwrap();
    assert_eq!(output_text, "\n[rove server is exiting.]\n");
}
