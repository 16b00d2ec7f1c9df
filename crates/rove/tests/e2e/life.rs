//! Sessions pause and end, and the user's terminal is afterwards as it was before.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use rove_link::LinkConfig;
use rove_units::Duration;
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::LocalModes;
use socket2::{Domain, Socket, Type};

use crate::support::{
    ANSWERING, Far, Invocation, Maker, Report, SIZE, Scratch, Server, Session, Sshd, Tap, Terminal,
    Treatment, Way, each_pair, free_port, install_script, lossy, relay_to, rove, side_by_side,
    wait_until, within_guard,
};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A script that changes the terminal modes that a client must restore, and then answers every line.
const DIRTY: &str = r#"
printf '\033[?2004h\033[?1003h\033[?1006h\033[?1h\033[?25l\033[1mready\033[m\n'
while IFS= read -r line; do echo "got $line"; done
"#;

/// Opens a session on a path without loss. If the client ends a session, the server acknowledges that only once. Stock
/// clients print an error if the acknowledgment is lost, or if a busy computer delays it for 16 frame intervals. With a
/// round trip of half a second, 16 intervals are 4 s.
fn dirty_session((client, server): (Maker, Maker)) -> Session {
    let far = LinkConfig::lossless(Duration::from_millis(250));
    let link = if client == Maker::Stock { far } else { lossy(0.0) };
    let session = Session::open(client, server, LOCALHOST, link, &["sh", "-c", DIRTY]);
    session.terminal.wait_for("ready, with the modes on", |screen| {
        screen.contents().contains("ready") && screen.bracketed_paste() && screen.hide_cursor()
    });
    session
}

#[test]
fn the_escape_key_and_a_dot_end_the_session() {
    each_pair(|pair| {
        let mut session = dirty_session(pair);
        session.terminal.send("\x1e.");
        session.terminal.wait_exit().assert_code(0).assert_restored(pair.0);
        session.server.assert_gone();
    });
}

/// From the user's exit until the sixth datagram of the client, the path drops the server's datagrams. The server's
/// first acknowledgment comes half a second after the exit, and is dropped, too.
#[test]
fn a_client_learns_that_its_session_is_over_though_the_acknowledgment_is_lost() {
    side_by_side([Maker::Rove, Maker::Stock], |client| {
        let server = Server::start(Maker::Rove, LOCALHOST, &["sh", "-c", DIRTY]);
        let far = relay_to(server.address, LinkConfig::lossless(Duration::from_millis(250)));
        let is_leaving = Arc::new(AtomicBool::new(false));
        let (leaves, mut announced) = (Arc::clone(&is_leaving), 0);
        let tap = Tap::start(far.address(), move |way, _| {
            let is_cut = leaves.load(Ordering::Relaxed) && announced < 6;
            announced += u32::from(is_cut && way == Way::Up);
            Treatment::passing(!is_cut || way == Way::Up)
        })
        .expect("loopback has free ports");
        let mut terminal = Terminal::start(&client.client(tap.address(), &server.key), SIZE);
        terminal.wait_for_text("ready");
        is_leaving.store(true, Ordering::Relaxed);
        terminal.send("\x1e.");
        terminal.wait_exit().assert_code(0).assert_restored(client);
        server.assert_gone();
    });
}

/// While the server is silent, the client announces the end at least 16 times. Nine datagrams contain six announcements
/// or more. A second request that follows so many is no repetition of the first one.
#[test]
fn a_user_who_insists_leaves_a_server_that_stands_still() {
    side_by_side(["\x1e.", "SIGTERM", "SIGHUP"], |way| {
        let server = Server::start(Maker::Rove, LOCALHOST, &["sh", "-c", DIRTY]);
        let (tell, told) = mpsc::channel();
        let tap = Tap::start(server.address, move |way, _| {
            if way == Way::Up {
                let _ = tell.send(());
            }
            Treatment::passing(true)
        })
        .expect("loopback has free ports");
        let mut terminal = Terminal::start(&Maker::Rove.client(tap.address(), &server.key), SIZE);
        terminal.wait_for_text("ready");
        server.signal(Signal::STOP);
        while told.try_recv().is_ok() {}
        let ask = || match way {
            "SIGTERM" => terminal.signal(Signal::TERM),
            "SIGHUP" => terminal.signal(Signal::HUP),
            keys => terminal.send(keys),
        };
        ask();
        terminal.wait_for("the notice", |screen| !screen.contents().contains("ready"));
        for _ in 0..9 {
            told.recv().expect("the tap outlives the session");
        }
        // Announcements that came before this thread got a processor do not count.
        while told.try_recv().is_ok() {}
        ask();
        let exit = terminal.wait_exit();
        let code = match way {
            "SIGTERM" => 143,
            "SIGHUP" => 129,
            _ => 1,
        };
        exit.assert_code(code).assert_restored(Maker::Rove);
        assert!(exit.output.contains("may still be running"), "{}", exit.output);
        assert!(told.try_iter().count() < 7, "the client did not wait for the server");
        server.signal(Signal::CONT);
    });
}

#[test]
fn the_port_of_a_session_that_its_user_has_left_is_free_for_the_next() {
    let port = free_port();
    // Dropping a server kills it, and a killed server would not give its port to the next.
    let mut servers = Vec::new();
    for _ in 0..3 {
        let call = Maker::Rove.server().args(["new", "-i", "127.0.0.1", "-p", &port.to_string()]);
        let call = call.args(["--", "sh", "-c", DIRTY]);
        let server = Server::from_call(LOCALHOST, call).unwrap_or_else(|it| panic!("{it:?}"));
        assert_eq!(server.address.port(), port);
        let call = Maker::Rove.client(server.address, &server.key);
        let mut terminal = Terminal::start(&call, SIZE);
        terminal.wait_for_text("ready");
        terminal.send("\x1e.");
        terminal.wait_exit().assert_code(0);
        servers.push(server);
    }
}

#[test]
fn a_port_of_the_host_is_free_while_its_client_is_silent_and_the_clients_again_when_it_is_heard() {
    let (sshd, port) = (Sshd::start(Far::default()), free_port());
    let near = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let target = near.local_addr().expect("a bound socket has an address").port();
    // A connection that the host has cut takes no bytes, and the next one does.
    thread::spawn(move || {
        near.incoming().flatten().for_each(|mut it| drop(it.write_all(b"hello")));
    });
    let start = || {
        let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).arg("-N");
        let mut command = call.args([&format!("-R{port}:localhost:{target}"), "far"]).command();
        command.stdin(Stdio::null()).spawn().expect("rove starts")
    };
    let connect = move || TcpStream::connect(("127.0.0.1", port));
    let mut clients = vec![start()];
    for end in [Signal::CONT, Signal::KILL, Signal::TERM] {
        wait_until("an answer", || {
            let read = connect().and_then(|mut it| it.read_exact(&mut [0; 5]));
            read.is_ok()
        });
        let pid = Pid::from_child(&clients[clients.len() - 1]);
        if end != Signal::TERM {
            kill_process(pid, Signal::STOP).expect("it runs");
            let mut waits = connect().expect("the host listens");
            let cut = within_guard("a reset", move || waits.read(&mut [0; 1]));
            assert!(cut.is_err(), "no connection waits for a silent client: {cut:?}");
            assert!(connect().is_err(), "the port is free for others");
        }
        kill_process(pid, end).expect("it runs");
        if end == Signal::KILL {
            clients.push(start());
        }
    }
    assert!(clients.iter_mut().all(|it| it.wait().is_ok()));
}

/// The other program's socket lets any program share its port, at any address of this computer. The system could then
/// give the other program datagrams for the server.
#[test]
fn a_port_that_another_program_would_share_is_not_taken() {
    let holders: &[&[&str]] = &[
        &["127.0.0.1"],
        &["0.0.0.0"],
        &["::ffff:127.0.0.1"],
        &["::1"],
        &["::"],
        &["127.0.0.1", "::1"],
    ];
    for &holder in holders {
        // The system chooses the first address's port. If it is taken at the second address, the test tries again.
        let (_sockets, port) =
            std::iter::repeat_with(|| shared(holder)).find_map(Result::ok).expect("ports");
        let start = |ports: &str| {
            let call = Maker::Rove.server().args(["new", "-p", ports, "--", "sleep", "60"]);
            Server::from_call(LOCALHOST, call)
        };
        let Err(refused) = start(&port.to_string()) else { panic!("{holder:?} are shared") };
        let stderr = String::from_utf8(refused.stderr).unwrap();
        let says = |text: &str| assert!(stderr.contains(text), "{holder:?}: {stderr}");
        assert_eq!((refused.status.code(), stderr.lines().count()), (Some(1), 1), "{stderr}");
        says(&format!("no UDP port from {port} to {port} could be bound"));
        says("Address already in use");
        let server = start(&format!("{port}:65535")).unwrap_or_else(|it| panic!("{it:?}"));
        assert!(server.address.port() > port, "{holder:?}");
    }
}

/// Opens a socket at each address, all with the same port, which other programs may share. Returns the port, too.
fn shared(addresses: &[&str]) -> io::Result<(Vec<Socket>, u16)> {
    let (mut sockets, mut port) = (Vec::new(), 0);
    for address in addresses {
        let address = SocketAddr::new(address.parse().map_err(io::Error::other)?, port);
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, None)?;
        if address.is_ipv6() {
            socket.set_only_v6(!address.ip().to_canonical().is_ipv4())?;
        }
        socket.set_reuse_address(true)?;
        socket.set_reuse_port(true)?;
        socket.bind(&address.into())?;
        let bound = socket.local_addr()?.as_socket();
        port = bound.map_or(0, |bound| bound.port());
        sockets.push(socket);
    }
    Ok((sockets, port))
}

#[test]
fn the_escape_key_and_control_z_pause_the_client() {
    each_pair(|pair| {
        let session = dirty_session(pair);
        session.terminal.send("\x1e\x1a");
        session.terminal.wait_stopped();
        let modes = session.terminal.modes().local_modes;
        assert!(modes.contains(LocalModes::ECHO | LocalModes::ICANON), "{modes:?}");
        session.terminal.wait_for("the shell's screen", |screen| {
            !screen.alternate_screen() && !screen.hide_cursor()
        });
        session.terminal.signal(Signal::CONT);
        session.terminal.wait_for("the session's screen", |screen| {
            screen.alternate_screen() && screen.contents().contains("ready")
        });
        session.terminal.send("back\r");
        session.terminal.wait_for_text("got back");
        let mut terminal = session.terminal;
        terminal.send("\x1e.");
        let exit = terminal.wait_exit();
        exit.assert_code(0).assert_restored(pair.0);
        // The client leaves the alternate screen as often as it enters it, so that the terminal restores its title.
        let takeovers = exit.output.matches("\x1b[?1049h").count();
        let returns = exit.output.matches("\x1b[?1049l").count();
        assert!(pair.0 == Maker::Stock || (takeovers, returns) == (2, 2), "{takeovers}, {returns}");
    });
}

#[test]
fn a_signal_to_the_client_ends_the_session_in_order() {
    each_pair(|pair| {
        for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::PIPE] {
            let mut session = dirty_session(pair);
            session.terminal.signal(signal);
            let exit = session.terminal.wait_exit();
            // A stock client exits with 0 after the signal.
            let code = if pair.0 == Maker::Rove { 128 + signal.as_raw() } else { 0 };
            exit.assert_code(code).assert_restored(pair.0);
            let is_told = exit.output.contains("ended this client and its session");
            assert_eq!(is_told, pair.0 == Maker::Rove, "{}", exit.output);
            session.server.assert_gone();
        }
    });
}

#[test]
fn a_closed_window_ends_the_session() {
    each_pair(|pair| {
        let Session { terminal, relay, server } = dirty_session(pair);
        terminal.close_window();
        server.assert_gone();
        drop(relay);
    });
}

#[test]
fn a_deadly_signal_to_the_client_gives_the_terminal_back_first() {
    for signal in [Signal::QUIT, Signal::ABORT, Signal::USR1, Signal::USR2] {
        let mut session = dirty_session((Maker::Rove, Maker::Rove));
        session.terminal.signal(signal);
        session
            .terminal
            .wait_exit()
            .assert_code(128 + signal.as_raw())
            .assert_restored(Maker::Rove);
    }
}

#[test]
fn a_signal_to_the_server_ends_the_session_in_order() {
    each_pair(|pair| {
        for signal in [Signal::TERM, Signal::INT] {
            let mut session = dirty_session(pair);
            session.server.signal(signal);
            let exit = session.terminal.wait_exit();
            let is_known = pair == (Maker::Rove, Maker::Rove);
            let code = if is_known { 128 + signal.as_raw() } else { 0 };
            exit.assert_code(code).assert_restored(pair.0);
            let is_told = exit.output.contains("the session was ended by SIG");
            assert_eq!(is_told, is_known, "{}", exit.output);
            session.server.assert_gone();
        }
    });
}

#[test]
fn a_server_that_is_killed_takes_its_command_along_and_leaves_the_client_waiting() {
    each_pair(|(client, server)| {
        let scratch = Scratch::new();
        let report = Report::new(&scratch);
        let command = ["sh", "-c", ANSWERING, "sh", report.path()];
        let mut session = Session::open(client, server, LOCALHOST, lossy(0.0), &command);
        session.terminal.wait_for_text("ready");
        session.server.signal(Signal::KILL);
        report.wait_line("hung up");
        session.terminal.wait_for("the notice", |screen| {
            screen.contents().to_lowercase().contains("last contact")
        });
        session.terminal.send("\x1e.");
        session.terminal.wait_exit().assert_code(1).assert_restored(client);
    });
}

#[test]
fn a_server_that_is_gone_is_named_with_what_to_do() {
    let server = Server::start(Maker::Rove, LOCALHOST, &["sh", "-c", DIRTY]);
    let call = Maker::Rove.client(server.address, &server.key);
    let mut terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("ready");
    server.signal(Signal::KILL);
    terminal.wait_for_text("Server gone: port ");
    terminal.send("\x1e.");
    let exit = terminal.wait_exit();
    exit.assert_code(1).assert_restored(Maker::Rove);
    let port = server.address.port();
    let words = exit.output.replace("\r\n", " ");
    assert!(words.contains(&format!(":{port} is gone")), "{}", exit.output);
    assert!(words.contains("log in again"), "{}", exit.output);
}

#[test]
fn a_session_says_last_that_it_is_over_and_mosh_tells_no_status() {
    let scratch = Scratch::new();
    let mosh_client = scratch.path("mosh-client");
    std::os::unix::fs::symlink(rove(), &mosh_client).expect("the folder takes links");
    for (last, code) in [("[rove is exiting.]\r\n", 3), ("[mosh is exiting.]\r\n", 0)] {
        let server =
            Server::start(Maker::Rove, LOCALHOST, &["sh", "-c", "printf 'he%s\\n' llo; exit 3"]);
        let call = match code {
            0 => Invocation::new(&mosh_client)
                .env("MOSH_KEY", &server.key)
                .args([server.address.ip().to_string(), server.address.port().to_string()]),
            _ => Maker::Rove.client(server.address, &server.key),
        };
        let mut terminal = Terminal::start(&call, SIZE);
        let exit = terminal.wait_exit();
        exit.assert_code(code).assert_restored(Maker::Rove);
        assert!(exit.output.contains("hello"), "{}", exit.output.escape_debug());
        assert!(exit.output.ends_with(last), "{}", exit.output.escape_debug());
        server.assert_gone();
    }
}

#[test]
fn the_last_words_of_a_command_are_shown() {
    each_pair(|(client, server)| {
        let command = ["sh", "-c", "printf 'a%s' bc"];
        let mut session = Session::open(client, server, LOCALHOST, lossy(0.3), &command);
        let exit = session.terminal.wait_exit();
        exit.assert_code(0).assert_restored(client);
        assert!(exit.output.contains("abc"), "{}", exit.output.escape_debug());
    });
}

/// With few descriptors, a server's last request for a descriptor fails. The announcement must come after that request.
#[test]
fn a_server_that_is_announced_stands_however_few_descriptors_it_may_have() {
    let limits: Vec<u32> = (3..=20).collect();
    side_by_side(limits.chunks(6), |limits| {
        for limit in limits {
            let ip = LOCALHOST;
            let words =
                ["new", "-i", "127.0.0.1", "-p", "0", "--", "sh", "-c", "echo served; read x"];
            let limited = format!("ulimit -n {limit}; exec \"$@\"");
            let call = Maker::Rove.server().args(words).behind(&["sh", "-c", &limited, "sh"]);
            match Server::from_call(ip, call) {
                Ok(server) => {
                    let call = Maker::Rove.client(server.address, &server.key);
                    let mut terminal = Terminal::start(&call, SIZE);
                    terminal.wait_for_text("served");
                    terminal.send("\r");
                    terminal.wait_exit().assert_code(0);
                    server.assert_gone();
                }
                Err(output) => {
                    assert!(!output.status.success(), "{limit}: {output:?}");
                    assert!(!output.stderr.is_empty(), "{limit}: {output:?}");
                    assert!(*limit < 20, "twenty are enough: {output:?}");
                }
            }
        }
    });
}

/// The shell prints words and the size of its window, and exits, before any client has come.
#[test]
fn a_login_shell_starts_while_its_client_is_on_its_way() {
    let scratch = Scratch::new();
    let report = Report::new(&scratch);
    let shell = scratch.path("shell");
    let script = format!("#!/bin/sh\necho last words; stty size >{}; exit 7\n", report.path());
    install_script(&shell, &script);
    let words = ["new", "-i", "127.0.0.1", "-p", "0", "-l", "ROVE_WINDOW=100x30"];
    let start = |words: &[&str]| {
        let call = Maker::Rove.server().env("SHELL", &shell).args(words);
        Server::from_call(LOCALHOST, call).unwrap_or_else(|it| panic!("{it:?}"))
    };
    let server = start(&words);
    report.wait_line("30 100");
    let mut terminal = Terminal::start(&Maker::Rove.client(server.address, &server.key), SIZE);
    let exit = terminal.wait_exit();
    exit.assert_code(7).assert_restored(Maker::Rove);
    assert!(exit.output.contains("last words"), "{}", exit.output);
    server.assert_gone();

    // The server must not run a command for a user who may never see it.
    let command = format!("stty size >{}", report.path());
    let server = start(&[&words[..], &["--", "sh", "-c", &command]].concat());
    let (rows, columns) = SIZE;
    let mut terminal = Terminal::start(&Maker::Rove.client(server.address, &server.key), SIZE);
    let lines = report.wait_line(&format!("{rows} {columns}"));
    assert_eq!(lines.len(), 2, "the command has waited for the client's window: {lines:?}");
    terminal.wait_exit().assert_code(0);
}
