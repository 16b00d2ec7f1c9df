//! Thousands of connections through `-L`, or more at once than a session carries: keys still work, no descriptor leaks.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rustix::net::sockopt::socket_peercred;

use crate::support::{Far, HANG_GUARD, Invocation, Sshd, Terminal, free_port, rove, wait_until};

/// All connections of the test. Chosen: many times as many as a session may have at once.
const CONNECTIONS: usize = 4_000;

/// Threads that connect at the same time. Chosen: more than the connections that may wait for the host.
const THREADS: usize = 160;

/// Most connections that a session carries at once. Source: docs/limits.md.
const OPEN_MAX: usize = 256;

/// Connections to a place that does not answer. Chosen: more than a browser opens to a proxy (32), and fewer than may
/// wait for an answer (64).
const SILENT: usize = 48;

/// Returns how many open descriptors a process has.
fn descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).expect("the process is there").count()
}

/// Returns how many connections to a port of 127.0.0.1 wait for an answer.
fn unanswered(port: u16) -> usize {
    let is_in_syn_sent = format!(":{port:04X} 02 ");
    let table = fs::read_to_string("/proc/net/tcp").expect("Linux has it");
    table.lines().filter(|line| line.contains(&is_in_syn_sent)).count()
}

/// Returns the pid of the server, which the system reports for the server's socket in the host's folder.
fn server(sshd: &Sshd) -> u32 {
    let entries = fs::read_dir(sshd.path("sockets")).expect("a server runs").flatten();
    let is_session =
        |name: &std::ffi::OsStr| name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit);
    let mut sessions = entries.filter(|it| is_session(&it.file_name()));
    let session = sessions.next().expect("a session listens").path();
    let stream = UnixStream::connect(session).expect("it listens");
    let pid = socket_peercred(&stream).expect("it has a process").pid;
    pid.as_raw_nonzero().get().try_into().expect("a process has a positive number")
}

/// Starts a session that forwards free ports to these targets. Returns the session's terminal and the ports.
fn session<const N: usize>(sshd: &Sshd, targets: [u16; N]) -> (Terminal, [u16; N]) {
    let forwards = targets.map(|target| (free_port(), target));
    let mut call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh()));
    for (port, target) in forwards {
        call = call.arg(format!("-L127.0.0.1:{port}:127.0.0.1:{target}"));
    }
    let echo = "echo; echo; echo ready; while IFS= read -r line; do echo \"got $line\"; done";
    let terminal = Terminal::start(&call.args(["far", "--", "sh", "-c", echo]), (24, 160));
    terminal.wait_for_text("ready");
    (terminal, forwards.map(|(port, _)| port))
}

fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let port = listener.local_addr().expect("a bound socket has an address").port();
    (listener, port)
}

/// Starts a thread that sends back all that connections to a port send. Returns the port.
fn echo() -> u16 {
    let (far, target) = listener();
    thread::spawn(move || {
        for mut stream in far.incoming().flatten() {
            let mut said = Vec::new();
            let _ = stream.read_to_end(&mut said);
            let _ = stream.write_all(&said);
        }
    });
    target
}

/// Sends a number through the port, and asserts that it comes back.
fn ask(port: u16, number: usize) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("somebody listens");
    let said = number.to_be_bytes();
    stream.write_all(&said).expect("it is taken");
    stream.shutdown(Shutdown::Write).expect("it is open");
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).expect("the connection ends in order");
    assert_eq!(heard, said);
}

#[test]
fn thousands_of_short_connections_leave_nothing_behind_and_keys_are_answered() {
    let sshd = Sshd::start(Far::default());
    let (mut terminal, [port]) = session(&sshd, [echo()]);
    let processes = [terminal.pid(), server(&sshd)];
    // The first connection creates the stream layer, which keeps its descriptors.
    ask(port, 0);
    let before = processes.map(descriptors);
    let next = AtomicUsize::new(1);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number > CONNECTIONS {
                            return;
                        }
                        ask(port, number);
                    }
                })
            })
            .collect();
        for line in 0.. {
            if threads.iter().all(thread::ScopedJoinHandle::is_finished) {
                break;
            }
            terminal.talk(&format!("line {line}"));
        }
    });
    for (pid, before) in processes.into_iter().zip(before) {
        wait_until("the descriptors of before", || descriptors(pid) <= before);
    }
    terminal.send("\x04");
    terminal.wait_exit().assert_code(0);
}

#[test]
fn connections_past_a_full_table_wait_and_keys_are_answered() {
    let sshd = Sshd::start(Far::default());
    let (far, target) = listener();
    let (terminal, [port]) = session(&sshd, [target]);
    let processes = [terminal.pid(), server(&sshd)];
    let before = processes.map(descriptors);
    let (held, more) = (OPEN_MAX, 40);
    // This thread accepts while the test connects, because the system queues fewer connections.
    let (sender, accepted) = std::sync::mpsc::channel();
    thread::spawn(move || far.incoming().flatten().try_for_each(|it| sender.send(it)));
    let take = |count| -> Vec<TcpStream> {
        let take = |_| accepted.recv_timeout(HANG_GUARD).expect("a connection comes");
        (0..count).map(take).collect()
    };
    let streams: Vec<TcpStream> = (0..held + more)
        .map(|_| TcpStream::connect(("127.0.0.1", port)).expect("somebody listens"))
        .collect();
    let first = take(held);
    terminal.talk("beside a full table");
    assert!(accepted.try_recv().is_err(), "the others wait");
    // Each process has a descriptor for each connection, and a few for the session.
    for (pid, before) in processes.into_iter().zip(before) {
        assert!(descriptors(pid) <= before + held + 8, "{}", descriptors(pid));
    }
    // The waiting connections open after the first ones have ended.
    for stream in &streams[..held] {
        let _ = stream.shutdown(Shutdown::Both);
    }
    drop(first);
    drop((take(more), streams));
    for (pid, before) in processes.into_iter().zip(before) {
        wait_until("the descriptors of before", || descriptors(pid) <= before + 2);
    }
    terminal.talk("after a full table");
}

#[test]
fn connections_to_a_silent_place_delay_no_other_ones() {
    let sshd = Sshd::start(Far::default());
    // The system answers nobody at a listener whose queue is full.
    let (full, place) = listener();
    rustix::net::listen(&full, 0).expect("it is bound");
    let _queued = TcpStream::connect(("127.0.0.1", place)).expect("the queue takes one");
    let (terminal, [silent, port]) = session(&sshd, [place, echo()]);
    let waiting: Vec<TcpStream> = (0..SILENT)
        .map(|_| TcpStream::connect(("127.0.0.1", silent)).expect("somebody listens"))
        .collect();
    wait_until("the attempts of the host", || unanswered(place) == SILENT);
    ask(port, 1);
    terminal.talk("beside a silent place");
    for mut stream in waiting {
        stream.set_nonblocking(true).expect("it is ours");
        let unanswered = stream.read(&mut [0]).expect_err("the host still tries");
        assert_eq!(unanswered.kind(), ErrorKind::WouldBlock);
    }
}
