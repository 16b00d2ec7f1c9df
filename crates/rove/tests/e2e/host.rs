//! The far side: how a server starts, which environment its command has, and when server and command end.

use std::net::{IpAddr, Ipv4Addr};
use std::process::Stdio;

use rustix::process::Signal;

use crate::support::{
    ANSWERING, Invocation, Maker, Report, SIZE, Scratch, Server, Session, Terminal, each_pair,
    lossy, rove, side_by_side, within_guard,
};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Most logins until the server of one asks all questions in time.
const LOGINS_MAX: usize = 20;

#[test]
fn a_server_announces_itself_in_one_line_and_lets_go_of_its_descriptors() {
    let call = Maker::Rove.server().args(["new", "-i", "127.0.0.1", "-p", "0", "--", "true"]);
    // The output ends only when the server in the background has closed both pipes.
    let output = within_guard("the server to detach", move || {
        call.command().stdin(Stdio::null()).output().expect("rove starts")
    });
    assert_eq!(output.status.code(), Some(0));
    let stdout = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = stdout.trim_end().split(' ').collect();
    let [mosh, connect, port, key] = words[..] else { panic!("{stdout:?}") };
    assert_eq!((mosh, connect, stdout.lines().count()), ("MOSH", "CONNECT", 1));
    assert!(port.parse::<u16>().is_ok(), "{stdout:?}");
    assert_eq!(key.len(), 22, "{stdout:?}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    let pid = stderr.split_once("pid = ").expect("the server's number is announced").1;
    let pid = pid.trim_end().trim_end_matches(']').parse().expect("a number");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid).expect("not zero"),
        Signal::TERM,
    )
    .expect("the announced server runs");
}

#[test]
fn a_login_that_takes_its_processes_along_is_left_by_roves_own_servers_only() {
    if !rustix::process::geteuid().is_root() || !std::path::Path::new("/var/lib/systemd").is_dir() {
        return; // only root can mount another list of users who linger, and only over that of systemd
    }
    // This stand-in for `busctl` records each request that names the calling process, and exits with an error.
    let computer = r#"
        mount -t tmpfs none /var/lib/systemd && cd "$XDG_RUNTIME_DIR" || exit
        mkdir /var/lib/systemd/linger && : >"/var/lib/systemd/linger/$(id -un)" && : >bus && mkdir bin
        echo '#!/bin/sh
            case "$*" in *Kill*) printf "b true\nas 0\nas 0\n"; exit;; esac
            case "$*" in *StartTransientUnit*" 1 $PPID "*) echo "$1" >>asked;; esac; exit 1' >bin/busctl
        chmod 755 bin/busctl; PATH=$PWD/bin:$PATH; "$@"
    "#;
    let asks = |is_rove: bool| {
        let scratch = Scratch::new();
        let mosh = scratch.path("mosh-server");
        std::os::unix::fs::symlink(rove(), &mosh).expect("the scratch folder takes links");
        let call = if is_rove { Maker::Rove.server() } else { Invocation::new(mosh) };
        let call = call.env("XDG_RUNTIME_DIR", scratch.folder());
        let call = call.behind_mounts(&[computer, "sh"]);
        let server = Server::start_with(call, LOCALHOST, &["cat"]);
        assert!(server.is_running(), "a refusal does no harm");
        scratch.read("asked")
    };
    // The server gives the questions less than a second, in which a busy computer may not ask the third one.
    let mut asked = (0..LOGINS_MAX).map(|_| asks(true));
    assert!(asked.any(|asked| asked == "--user\n".repeat(3)));
    assert_eq!(asks(false), "");
}

#[test]
fn a_command_finds_the_environment_that_mosh_promises() {
    let script = r#"
        { echo "$TERM $NCURSES_NO_UTF8_ACS ${STY-none} $PWD" && stty -a | grep -o iutf8
          echo "child of $PPID"; } > "$1"
        read -r line
    "#;
    each_pair(|(client, server)| {
        let scratch = Scratch::new();
        let report = Report::new(&scratch);
        let call = server.server().env("STY", "1").env("HOME", scratch.folder());
        let command = ["sh", "-c", script, "sh", report.path()];
        let server = Server::start_with(call, LOCALHOST, &command);
        let _terminal = Terminal::start(&client.client(server.address, &server.key), SIZE);
        report.wait_line(&format!("xterm-256color 1 none {}", scratch.folder().display()));
        report.wait_line("iutf8");
        report.wait_line(&format!("child of {}", server.pid()));
    });
}

#[test]
fn a_command_that_cannot_be_run_is_named_on_the_screen() {
    each_pair(|(client, server)| {
        let command = ["/no/such program", "argument"];
        let mut session = Session::open(client, server, LOCALHOST, lossy(0.0), &command);
        let knows = (client, server) == (Maker::Rove, Maker::Rove);
        session.terminal.wait_for_text("/no/such program");
        let exit = session.terminal.wait_exit();
        exit.assert_code(if knows { 127 } else { 0 }).assert_restored(client);
        session.server.assert_gone();
    });
}

#[test]
fn a_rove_client_does_not_wait_at_a_command_that_cannot_be_run() {
    let (ended, order) = std::sync::mpsc::channel();
    // A stock client's screen disappears with the session, so the server delays the end. That client starts first.
    std::thread::scope(|scope| {
        let both = [Maker::Stock, Maker::Rove].map(|client| {
            let server = Server::start(Maker::Rove, LOCALHOST, &["nosuch"]);
            (client, server)
        });
        // The server starts a command when its client comes. The rove client comes long before the delay is over.
        let both = both.map(|(client, server)| {
            let call = client.client(server.address, &server.key);
            (client, server, Terminal::start(&call, SIZE))
        });
        for (client, server, mut terminal) in both {
            let ended = ended.clone();
            terminal.wait_for_text("nosuch");
            scope.spawn(move || {
                let exit = terminal.wait_exit();
                ended.send((client, exit, terminal.screen().contents())).expect("a reader");
                drop(server);
            });
        }
        let (first, exit, screen) = order.recv().expect("a session ends");
        assert_eq!(first, Maker::Rove);
        exit.assert_code(127).assert_restored(Maker::Rove);
        assert!(screen.contains("cannot run \"nosuch\""), "it stays: {screen}");
        let (second, exit, _) = order.recv().expect("the other session ends");
        assert_eq!(second, Maker::Stock);
        exit.assert_code(0);
    });
}

#[test]
fn a_command_does_not_find_what_ended_with_the_ssh_connection() {
    let script = r#"
        echo "${SSH_AUTH_SOCK-none} ${DISPLAY-none} $SSH_CONNECTION" > "$1"
        [ "$SSH_TTY" = "$(tty)" ] && echo own terminal > "$1"
        read -r line
    "#;
    let scratch = Scratch::new();
    let report = Report::new(&scratch);
    let call = Maker::Rove
        .server()
        .env("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 22")
        .env("SSH_AUTH_SOCK", "/tmp/ssh-AbCdEfGhIj/agent.4711")
        .env("SSH_TTY", "/dev/pts/none")
        .env("DISPLAY", "localhost:10.0");
    let command = ["sh", "-c", script, "sh", report.path()];
    let server = Server::start_with(call, LOCALHOST, &command);
    let _terminal = Terminal::start(&Maker::Rove.client(server.address, &server.key), SIZE);
    report.wait_line("none none 192.0.2.1 50000 192.0.2.2 22");
    report.wait_line("own terminal");
}

#[test]
fn a_session_needs_neither_a_locale_nor_a_known_terminal() {
    let command = ["sh", "-c", "echo 漢字 é; read -r line"];
    for (name, value) in
        [("LANG", "C"), ("LC_ALL", "POSIX"), ("TERM", "dumb"), ("TERM", "vt100"), ("TERM", "none")]
    {
        let call = Maker::Rove.server().env(name, value);
        let server = Server::start_with(call, LOCALHOST, &command);
        let call = Maker::Rove.client(server.address, &server.key).env(name, value);
        let mut terminal = Terminal::start(&call, SIZE);
        terminal.wait_for_text("漢字 é");
        terminal.send("\r");
        terminal.wait_exit().assert_code(0).assert_restored(Maker::Rove);
    }
}

#[test]
fn without_a_command_there_is_a_login_shell_in_the_first_row() {
    let scratch = Scratch::new();
    scratch.write(".hushlogin", "");
    scratch.write(".profile", "PS1='prompt '\n");
    let call = Maker::Rove.server().env("HOME", scratch.folder());
    let call = call.env("ROVE_RUNTIME_DIR", scratch.path("sockets"));
    let server = Server::start_with(call, LOCALHOST, &[]);
    let mut terminal = Terminal::start(&Maker::Rove.client(server.address, &server.key), SIZE);
    terminal.wait_for("a prompt in the first row", |screen| {
        screen.contents_between(0, 0, 0, 6) == "prompt"
    });
    terminal.send("echo name: $0\r");
    terminal.wait_for_text("name: -sh");
    terminal.send("exit 3\r");
    terminal.wait_exit().assert_code(3).assert_restored(Maker::Rove);
}

#[test]
fn a_login_is_greeted_with_the_message_of_the_day_unless_it_wants_quiet() {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let dynamic = ["/run/motd.dynamic", "/var/run/motd.dynamic"].map(read);
    let message = dynamic.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    let message = message + &read("/etc/motd");
    // A short window shows only the last rows of a long message.
    let last = message.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("");
    side_by_side([Maker::Rove, Maker::Stock], |client| {
        for is_quiet in [false, true] {
            let scratch = Scratch::new();
            scratch.write(".profile", "PS1='prompt '\n");
            if is_quiet {
                scratch.write(".hushlogin", "");
            }
            let call = Maker::Rove.server().env("HOME", scratch.folder());
            let server = Server::start_with(call, LOCALHOST, &[]);
            let mut terminal = Terminal::start(&client.client(server.address, &server.key), SIZE);
            terminal.wait_for_text("prompt");
            let text = terminal.screen().contents();
            let shown = text.contains(last.get(..last.len().min(79)).unwrap_or(last));
            assert_eq!(shown, !is_quiet || last.is_empty(), "{text}");
            terminal.send("exit\r");
            terminal.wait_exit().assert_code(0);
        }
    });
}

#[test]
fn a_server_whose_client_is_gone_leaves_after_the_time_it_was_given() {
    each_pair(|(client, server)| {
        let scratch = Scratch::new();
        let report = Report::new(&scratch);
        let call = server.server().env("MOSH_SERVER_NETWORK_TMOUT", "2");
        let command = ["sh", "-c", ANSWERING, "sh", report.path()];
        let server = Server::start_with(call, LOCALHOST, &command);
        let terminal = Terminal::start(&client.client(server.address, &server.key), SIZE);
        // On a busy computer, the client may be silent for two seconds before the test kills it. The server then ends.
        terminal.wait_for("ready, or the end", |screen| {
            screen.contents().contains("ready") || !server.is_running()
        });
        terminal.signal(Signal::KILL);
        report.wait_line("hung up");
        server.assert_gone();
    });
}

#[test]
fn a_user_signal_ends_the_session_unless_its_client_was_heard_lately() {
    each_pair(|(client, server_maker)| {
        for (limit, ends) in [("", true), ("1000", false)] {
            let scratch = Scratch::new();
            let report = Report::new(&scratch);
            let call = server_maker.server().env("MOSH_SERVER_SIGNAL_TMOUT", limit);
            let command = ["sh", "-c", ANSWERING, "sh", report.path()];
            let server = Server::start_with(call, LOCALHOST, &command);
            let call = client.client(server.address, &server.key);
            let mut terminal = Terminal::start(&call, SIZE);
            terminal.wait_for_text("ready");
            server.signal(Signal::USR1);
            if ends {
                // A rove server tells a rove client of the signal. The client exits with 128 plus the signal's number.
                let is_told = (client, server_maker) == (Maker::Rove, Maker::Rove);
                let code = if is_told { 128 + Signal::USR1.as_raw() } else { 0 };
                terminal.wait_exit().assert_code(code);
                server.assert_gone();
            } else {
                terminal.send("still here\r");
                terminal.wait_for_text("got still here");
            }
        }
    });
}

/// The client must be silent for some seconds of real time. The cases run in parallel.
#[test]
fn a_user_signal_ends_a_session_whose_client_has_been_silent_for_as_long_as_was_asked() {
    let script = r#"
        echo ready; read -r line; echo "got $line"; sleep 5; echo slept > "$1"; read -r line
    "#;
    each_pair(|(client, server)| {
        let scratch = Scratch::new();
        let report = Report::new(&scratch);
        let call = server.server().env("MOSH_SERVER_SIGNAL_TMOUT", "1");
        let command = ["sh", "-c", script, "sh", report.path()];
        let server = Server::start_with(call, LOCALHOST, &command);
        let terminal = Terminal::start(&client.client(server.address, &server.key), SIZE);
        terminal.wait_for_text("ready");
        // The screen may show a predicted key before the client sends it, so the test waits for an answer.
        terminal.talk("go");
        terminal.signal(Signal::KILL);
        report.wait_line("slept");
        server.signal(Signal::USR1);
        server.assert_gone();
    });
}

#[test]
fn a_signal_of_a_lost_terminal_or_reader_changes_nothing_for_the_server() {
    each_pair(|(client, server)| {
        let scratch = Scratch::new();
        let report = Report::new(&scratch);
        let command = ["sh", "-c", ANSWERING, "sh", report.path()];
        let session = Session::open(client, server, LOCALHOST, lossy(0.0), &command);
        session.terminal.wait_for_text("ready");
        for signal in [Signal::HUP, Signal::PIPE] {
            session.server.signal(signal);
            let line = format!("still here after {signal:?}");
            session.terminal.send(format!("{line}\r"));
            session.terminal.wait_for_text(&format!("got {line}"));
        }
    });
}

#[test]
fn quitting_while_the_server_does_not_answer_says_that_it_may_still_run() {
    each_pair(|(client, server)| {
        let scratch = Scratch::new();
        let report = Report::new(&scratch);
        let command = ["sh", "-c", ANSWERING, "sh", report.path()];
        let mut session = Session::open(client, server, LOCALHOST, lossy(0.0), &command);
        session.terminal.wait_for_text("ready");
        session.server.signal(Signal::STOP);
        session.terminal.send("\x1e.");
        let exit = session.terminal.wait_exit();
        exit.assert_code(1).assert_restored(client);
        assert!(exit.output.contains("still be running"), "{}", exit.output.escape_debug());
    });
}

/// A server waits a minute for its client (Mosh 1.4.0 as observed, docs/wire.md), so this test takes a minute.
#[test]
fn a_server_that_nobody_comes_to_leaves() {
    Server::start(Maker::Rove, LOCALHOST, &["sh", "-c", "read -r line"]).assert_gone();
}

#[test]
fn sessions_begin_and_end_one_after_the_other() {
    for number in 0..20 {
        let command = ["printf", "done\\n"];
        let mut session = Session::open(Maker::Rove, Maker::Rove, LOCALHOST, lossy(0.0), &command);
        // These keys arrive while the client starts and after the command has ended.
        session.terminal.send("\r\r\r");
        let exit = session.terminal.wait_exit();
        exit.assert_code(0).assert_restored(Maker::Rove);
        assert!(exit.output.contains("done"), "session {number}: {}", exit.output.escape_debug());
        session.server.assert_gone();
    }
}
