//! Sessions whose datagrams go through ssh, as in a network that blocks UDP.

use std::io::{Read as _, Write as _};
use std::net::UdpSocket;
use std::process::{Command, Stdio};

use rustix::termios::LocalModes;

use crate::bootstrap::Master;
use crate::support::{
    Far, Invocation, Maker, Process, Report, SIZE, Scratch, Sshd, Terminal, process, rove,
    side_by_side, within_guard,
};

/// A script that reports its server's pid, and then reports and answers every line.
const ECHO: &str = r#"
echo "server $PPID" > "$1"; echo ready
while IFS= read -r line; do echo "$line" > "$1"; echo "got $line"; done
"#;

fn call(sshd: &Sshd, options: &[&str]) -> Invocation {
    let call = Invocation::new(rove()).arg("--tunnel").arg(format!("--ssh={}", sshd.ssh()));
    call.args(options).arg("far")
}

/// A session through a tunnel, with a command that echoes lines. Dropping this value kills the server.
struct Tunnelled {
    terminal: Terminal,
    report: Report,
    server: Process,
    sshd: Sshd,
    _scratch: Scratch,
}

fn tunnelled() -> Tunnelled {
    tunnelled_to(Sshd::start(Far::default()))
}

fn tunnelled_to(sshd: Sshd) -> Tunnelled {
    let scratch = Scratch::new();
    let report = Report::new(&scratch);
    let call = call(&sshd, &[]).args(["--", "sh", "-c", ECHO, "sh", report.path()]);
    let terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("ready");
    let server = reported_server(&report);
    Tunnelled { terminal, report, server, sshd, _scratch: scratch }
}

/// Returns the server whose command is [`ECHO`]. Dropping the returned value kills the server.
fn reported_server(report: &Report) -> Process {
    let server = report.wait_where(|line| line.starts_with("server "));
    let pid = server.split_once(' ').and_then(|(_, pid)| pid.parse().ok()).expect("a number");
    process(pid)
}

#[test]
fn a_session_goes_through_ssh_whatever_the_shell_and_whatever_the_server() {
    const HELLO: [&str; 4] = ["--", "sh", "-c", "echo hello from afar; exit 7"];
    let stock = ["--server=mosh-server"];
    side_by_side(
        [
            ("sh", &[][..], 7),
            ("bash", &[], 7),
            ("fish", &[], 7),
            ("csh", &[], 7),
            ("sh", &stock, 0),
        ],
        |(shell, options, code)| {
            let profile = "printf 'welcome\\nMOSH CONNECT 1 AAAAAAAAAAAAAAAAAAAAAA\\nto \\377'";
            let programs = &["rove", "mosh-server"];
            let sshd = Sshd::start(Far { shell, programs, profile, ..Far::default() });
            let mut terminal = Terminal::start(&call(&sshd, options).args(HELLO), SIZE);
            let exit = terminal.wait_exit();
            assert!(exit.output.contains("hello from afar"), "{}\n{}", terminal.dump(), sshd.log());
            exit.assert_code(code).assert_restored(Maker::Rove);
        },
    );
}

#[test]
fn the_server_listens_to_nobody_else_and_the_status_tells_the_way() {
    let session = tunnelled();
    session.terminal.send("\x1es");
    let port = session.terminal.number_on_screen("through ssh, to UDP port ", " of the host");
    UdpSocket::bind(("127.0.0.1", port)).expect_err("the server is there");
    UdpSocket::bind(("127.0.0.2", port)).expect("and nowhere else");
    // The first key hides the status.
    session.terminal.send("qx\r");
    session.terminal.wait_for_text("got x");
}

#[test]
fn a_cut_connection_is_told_and_made_again_and_what_was_typed_meanwhile_arrives_once() {
    let session = tunnelled();
    session.terminal.send("line 1\r");
    session.terminal.wait_for_text("got line 1");
    for number in [2, 4] {
        session.terminal.forget_notices();
        assert_ne!(session.sshd.cut(), 0);
        session.terminal.wait_for_notice("The ssh tunnel has ended and is being started again");
        session.terminal.send(format!("line {number}\rline {}\r", number + 1));
        let last = format!("got line {}", number + 1);
        session.terminal.wait_for("the answers without the notice", |screen| {
            let text = screen.contents();
            text.contains(&last) && !text.contains("tunnel")
        });
    }
    let lines: Vec<String> = (1..=5).map(|number| format!("line {number}")).collect();
    assert_eq!(session.report.wait_line("line 5")[1..], lines);
    session.terminal.signal(rustix::process::Signal::HUP);
    assert!(session.server.wait_gone(), "the end went through the new connection");
}

#[test]
fn a_shared_connection_that_is_dead_is_left_for_one_of_its_own() {
    let sshd = Sshd::start(Far::default());
    let master = Master::open(&sshd);
    let session = tunnelled_to(sshd);
    session.terminal.send("line 1\r");
    session.terminal.wait_for_text("got line 1");
    assert_eq!(session.sshd.connections(), 1);
    master.stop();
    session.terminal.send("line 2\r");
    session.terminal.wait_for_text("got line 2");
}

#[test]
fn a_host_that_asks_again_is_told_of_and_the_session_can_be_left() {
    let mut session = tunnelled();
    session.sshd.bar();
    assert_ne!(session.sshd.cut(), 0);
    session.terminal.wait_for_text("[To log in again: Ctrl-^ r] [To quit: Ctrl-^ .]");
    session.terminal.send("\x1e.");
    let exit = session.terminal.wait_exit();
    exit.assert_code(1).assert_restored(Maker::Rove);
    assert!(exit.output.contains("may still be running"), "{}", exit.output.escape_debug());
}

#[test]
fn a_host_that_asks_again_is_answered_in_the_session() {
    let session = tunnelled();
    // From now on, the key file needs a passphrase, which only the user knows.
    let config = std::fs::read_to_string(session.sshd.path("ssh_config")).expect("it is there");
    std::fs::write(
        session.sshd.path("ssh_config"),
        config.replace("BatchMode yes", "BatchMode no"),
    )
    .expect("it can be written");
    let changed = Command::new("ssh-keygen")
        .args(["-q", "-p", "-N", "open sesame", "-f"])
        .arg(session.sshd.path("user_key"))
        .status();
    assert!(changed.expect("ssh-keygen starts").success());
    assert_ne!(session.sshd.cut(), 0);
    session.terminal.wait_for_text("Ctrl-^ r");
    session.terminal.send("typed meanwhile\r");

    // Ctrl-C during the login returns to the session.
    session.terminal.send("\x1er");
    session.terminal.wait_for_text("Enter passphrase for key");
    session.terminal.send("\x03");
    session.terminal.wait_for("the session, still without a tunnel", |screen| {
        screen.contents().contains("Ctrl-^ .") && screen.alternate_screen()
    });
    session.terminal.send("\x1er");
    session.terminal.wait_for("the question", |screen| {
        // The first login's question is still on the screen.
        screen.contents().matches("Enter passphrase for key").count() == 2
            && !screen.alternate_screen()
    });
    session.terminal.send("open sesame\r");
    session.terminal.wait_for("the answer without a notice", |screen| {
        let text = screen.contents();
        text.contains("got typed meanwhile") && !text.contains("Ctrl-^")
    });
    session.terminal.signal(rustix::process::Signal::HUP);
    assert!(session.server.wait_gone(), "the end went through the new connection");
}

#[test]
fn a_login_that_is_broken_off_leaves_no_ssh_at_the_terminal() {
    let scratch = Scratch::new();
    let report = Report::new(&scratch);
    let sshd = Sshd::start(Far::default());
    // In batch mode, this ssh fails. Otherwise it logs in once, and later runs change the terminal and ignore signals.
    let ssh = scratch.script(
        "ssh",
        &format!(
            "#!/bin/sh\n\
             case \"$*\" in\n\
             *BatchMode=yes*) echo Permission denied >&2; exit 255;;\n\
             '-G '*) exec {ssh} \"$@\";;\n\
             esac\n\
             test -e {asks} || {{ : > {asks}; exec {ssh} \"$@\"; }}\n\
             trap '' INT TERM\nstty -echo </dev/tty\n\
             echo $$ > {report}\nexec sleep 600\n",
            asks = scratch.path("asks").display(),
            ssh = sshd.ssh(),
            report = report.path(),
        ),
    );
    let call = Invocation::new(rove()).arg("--tunnel").arg(format!("--ssh={}", ssh.display()));
    let call = call.args(["far", "--", "sh", "-c", ECHO, "sh", report.path()]);
    let terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("ready");
    // Without its tunnel, the server does not learn of the session's end, so the test kills it.
    let _server = reported_server(&report);
    assert_ne!(sshd.cut(), 0);
    terminal.wait_for_text("Ctrl-^ r");
    terminal.send("\x1er");
    let pid = report.wait_where(|line| line.parse::<u32>().is_ok());
    let stubborn = process(pid.parse().expect("a number"));
    // Without this wait, the test might see the session's earlier screen.
    terminal.wait_for("the login", |screen| {
        screen.contents().contains("logging in again") && !screen.alternate_screen()
    });
    terminal.send("\x03");
    terminal.wait_for("the session", |screen| {
        screen.contents().contains("Ctrl-^ .") && screen.alternate_screen()
    });
    assert!(stubborn.is_gone(), "it would change the session's terminal back");
    assert!(!terminal.modes().local_modes.contains(LocalModes::ICANON));
    terminal.send("\x1e.");
}

#[test]
fn a_closed_window_ends_the_session_through_the_tunnel() {
    let Tunnelled { terminal, server, sshd: _sshd, .. } = tunnelled();
    terminal.close_window();
    assert!(server.wait_gone(), "the tunnel outlived the window for long enough");
}

#[test]
fn a_server_that_has_ended_is_told_of() {
    let session = tunnelled();
    session.server.signal(rustix::process::Signal::KILL);
    session.terminal.send("x");
    session.terminal.wait_for_text("The session's server has ended");
}

#[test]
fn missing_programs_are_named_and_conflicting_options_refused() {
    let sshd = Sshd::start(Far { programs: &["mosh-server"], ..Far::default() });
    let exit = Terminal::start(&sshd.without_offer(call(&sshd, &[])), SIZE).wait_exit();
    exit.assert_code(10);
    assert!(exit.output.contains("rove not found on far: --tunnel needs it"), "{}", exit.output);

    let ssh = "--ssh=sh -c 'echo no way >&2; exit 255' ssh";
    let call = Invocation::new(rove()).args(["--tunnel", ssh, "far"]);
    let exit = Terminal::start(&call, SIZE).wait_exit();
    exit.assert_code(10);
    assert!(exit.output.contains("no way"), "{}", exit.output);

    for (options, part) in
        [(["--local", "127.0.0.1"], "--local"), (["--client=x", "far"], "--client")]
    {
        let call = Invocation::new(rove()).arg("--tunnel").args(options);
        let exit = Terminal::start(&call, SIZE).wait_exit();
        exit.assert_code(255);
        assert!(exit.output.contains(part), "{}", exit.output);
    }
}

#[test]
fn the_far_end_moves_frames_and_ends_with_its_input() {
    let server = UdpSocket::bind("127.0.0.1:0").expect("loopback has free ports");
    let port = server.local_addr().expect("a bound socket has an address").port().to_string();
    let mut far = Invocation::new(rove())
        .args(["tunnel", &port])
        .command()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("rove starts");
    let mut input = far.stdin.take().expect("it is piped");
    let mut output = far.stdout.take().expect("it is piped");
    within_guard("frames both ways", move || {
        input.write_all(b"\0\0\x05hello").expect("it reads");
        let mut buffer = [0; 64];
        let (len, source) = server.recv_from(&mut buffer).expect("a datagram");
        assert_eq!(&buffer[..len], b"hello");
        server.send_to(b"back", source).expect("loopback takes datagrams");
        let mut found = [0; 21];
        output.read_exact(&mut found).expect("it answers");
        assert_eq!(&found, b"ROVE TUNNEL 1\n\0\0\x04back");
        drop(input);
        assert_eq!(output.read(&mut found).expect("it ends"), 0);
    });
    assert!(far.wait().expect("it ends").success());
}
