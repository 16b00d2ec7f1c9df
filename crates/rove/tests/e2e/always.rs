//! Sessions with `--tunnel=auto`, which go through ssh while the host does not answer over UDP.

use std::io::Write as _;

use rove_rig::clock;
use rove_units::Instant;
use serde_json::Value;

use crate::support::{
    Border, Far, Invocation, Maker, Process, Report, SIZE, Scratch, Sshd, Terminal, answered,
    process, rove, side_by_side, with_quick_login,
};

/// A script that reports its server's pid, and then reports and answers every line.
const ECHO: &str = r#"
echo "server $PPID" > "$1"; echo ready
while IFS= read -r line; do echo "$line" > "$1"; echo "got $line"; done
"#;

/// Seconds from a login that the client starts unasked to the next such login.
const LOGIN_INTERVAL_SECONDS: f64 = 60.0;

/// A session through a border (a firewall), with a command that echoes lines. Dropping this value kills the server.
struct Crossing {
    terminal: Terminal,
    report: Report,
    border: Border,
    /// A time just before the session began.
    start: Instant,
    _server: Process,
    _scratch: Scratch,
}

/// Starts a session through a border that passes UDP to the host (`up`) and back (`down`). `None` if it cannot be made.
fn cross(up: bool, down: bool) -> Option<Crossing> {
    let prepare = || {
        let border = Border::start(Far::default(), up, down)?;
        let scratch = Scratch::new();
        Some((Report::new(&scratch), border, scratch))
    };
    let ((report, border, scratch), (terminal, start)) =
        with_quick_login(prepare, |(report, border, _)| {
            let start = clock::now();
            let call = call(&border.sshd, &["-p", &border.port.to_string()]);
            let call = call.args(["--", "sh", "-c", ECHO, "sh", report.path()]);
            let terminal = Terminal::start(&call, SIZE);
            terminal.wait_for_text("ready");
            (terminal, start)
        })?;
    let server = report.wait_where(|line| line.starts_with("server "));
    let pid = server.split_once(' ').and_then(|(_, pid)| pid.parse().ok()).expect("a number");
    let server = process(pid);
    Some(Crossing { terminal, report, border, start, _server: server, _scratch: scratch })
}

fn call(sshd: &Sshd, options: &[&str]) -> Invocation {
    let call = Invocation::new(rove()).arg("--tunnel=auto");
    call.arg(format!("--ssh={}", sshd.ssh())).args(options).arg("far")
}

/// Returns the session's path as `rove list` on the host names it. Asserts that the path is no older than the session.
fn listed_path(sshd: &Sshd, start: Instant) -> String {
    let call = Invocation::new(rove()).env("ROVE_RUNTIME_DIR", sshd.path("sockets"));
    let call = call.args(["list", "--json"]);
    let output = answered(&call);
    let listing: Value = serde_json::from_slice(&output.stdout).expect("a line of JSON");
    let session = &listing["sessions"][0];
    let age = session["path_age_seconds"].as_f64().expect("a number");
    assert!(age <= clock::seconds_since(start), "{session}");
    session["path"].as_str().expect("there is a client").to_owned()
}

#[test]
fn where_udp_is_open_the_session_is_on_it_and_ssh_ends() {
    let sshd = Sshd::start(Far::default());
    let scratch = Scratch::new();
    let report = Report::new(&scratch);
    let start = clock::now();
    let call = call(&sshd, &[]).args(["--", "sh", "-c", ECHO, "sh", report.path()]);
    let terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("ready");
    sshd.wait_alone();
    terminal.send("line 1\r");
    terminal.wait_for_text("got line 1");
    terminal.send("\x1es");
    terminal.wait_for_text("to 127.0.0.1:");
    assert!(!terminal.screen().contents().contains("ssh"), "{}", terminal.dump());
    assert_eq!(listed_path(&sshd, start), "udp");
    terminal.send("q");
    terminal.close_window();
}

#[test]
fn where_udp_is_blocked_keys_go_through_ssh_and_the_user_reads_why() {
    for (up, down) in [(false, false), (false, true), (true, false)] {
        let Some(crossing) = cross(up, down) else { return };
        for number in 1..=5 {
            crossing.terminal.talk(&format!("line {number}"));
        }
        let port = crossing.border.port;
        crossing.terminal.wait_for_notice(&format!("UDP port {port} is silent: using ssh."));
        crossing.terminal.wait_for_path(&format!("as 127.0.0.1:{port} is silent"));
        assert_eq!(listed_path(&crossing.border.sshd, crossing.start), "ssh");
        crossing.border.let_pass(true, true);
        crossing.border.sshd.wait_alone();
        crossing.terminal.talk("line 6");
        crossing.terminal.wait_for_path(&format!("to 127.0.0.1:{port} from"));
        assert_eq!(listed_path(&crossing.border.sshd, crossing.start), "udp");
        let lines: Vec<String> = (1..=6).map(|number| format!("line {number}")).collect();
        assert_eq!(crossing.report.wait_line("line 6")[1..], lines);
    }
}

#[test]
fn a_block_in_the_midst_of_a_session_costs_five_seconds_and_a_login() {
    let Some(crossing) = cross(true, true) else { return };
    crossing.border.sshd.wait_alone();
    crossing.terminal.talk("line 1");
    let block = clock::now();
    crossing.border.let_pass(false, false);
    crossing.terminal.talk_after_login("line 2");
    let connections = crossing.border.sshd.connections();
    assert!(connections >= 2, "the session has left UDP");
    crossing.terminal.talk("line 3");
    crossing.border.let_pass(true, true);
    crossing.border.sshd.wait_alone();
    crossing.terminal.talk("line 4");
    // The client's next unasked login comes a minute after the previous one.
    crossing.border.let_pass(false, false);
    crossing.terminal.send("line 5\r");
    crossing.terminal.wait_for("nine seconds without contact", |screen| {
        let seconds = screen
            .contents()
            .split_once("Last contact ")
            .and_then(|(_, rest)| rest.split_once(" seconds ago")?.0.parse::<u32>().ok());
        seconds.is_some_and(|seconds| seconds >= 9)
    });
    let is_same = crossing.border.sshd.connections() == connections;
    assert!(is_same || clock::seconds_since(block) >= LOGIN_INTERVAL_SECONDS);
    crossing.border.let_pass(true, true);
    crossing.terminal.wait_for_text("got line 5");
}

#[test]
fn the_end_of_a_session_through_ssh_is_orderly_and_keeps_the_exit_status() {
    let Some(border) = Border::start(Far::default(), false, false) else { return };
    let call = call(&border.sshd, &["-p", &border.port.to_string()]);
    let call = call.args(["--", "sh", "-c", "echo hello from afar; exit 7"]);
    let mut terminal = Terminal::start(&call, SIZE);
    let exit = terminal.wait_exit();
    assert!(exit.output.contains("hello from afar"), "{}", exit.output.escape_debug());
    exit.assert_code(7).assert_restored(Maker::Rove);
    border.sshd.wait_alone();
}

#[test]
fn the_login_at_which_a_copy_was_offered_carries_the_session() {
    for config in ["", "no-ssh-pty = true"] {
        let far = Far { programs: &[], ..Far::default() };
        let Some(border) = Border::start(far, false, false) else { return };
        let scratch = Scratch::new();
        let config = format!("port = {}\n{config}", border.port);
        let script = "echo hello from afar; exit 7";
        let call = crate::install::session_by(&scratch, &border.sshd.ssh(), &config, script);
        let call = call.env("ROVE_RUNTIME_DIR", scratch.path("sockets"));
        let mut terminal = Terminal::start(&call, SIZE);
        terminal.wait_for_text("to far:~/.local/bin? [y/N]");
        terminal.send("y\r");
        let exit = terminal.wait_exit();
        assert!(exit.output.contains("hello from afar"), "{}", exit.output.escape_debug());
        exit.assert_code(7).assert_restored(Maker::Rove);
        border.sshd.wait_alone();
        assert_eq!(border.sshd.connections(), 1);
    }
}

#[test]
fn a_stock_server_is_served_as_ever() {
    let sshd = Sshd::start(Far { programs: &["mosh-server"], ..Far::default() });
    let call = sshd.without_offer(call(&sshd, &[]));
    let call = call.args(["--", "sh", "-c", "echo hello from afar"]);
    let mut terminal = Terminal::start(&call, SIZE);
    let exit = terminal.wait_exit();
    assert!(exit.output.contains("hello from afar"), "{}", exit.output.escape_debug());
    exit.assert_code(0).assert_restored(Maker::Rove);
    sshd.wait_alone();
}

/// Starts a session and drops UDP. When the client logs in again unasked, `script` runs in place of ssh. Returns the
/// script's process, too.
fn log_in_by_itself(script: &str) -> Option<(Border, Terminal, Process)> {
    let prepare = || {
        let border = Border::start(Far::default(), true, true)?;
        let scratch = Scratch::new();
        Some((Report::new(&scratch), border, scratch))
    };
    let log_in = |(report, border, scratch): &(Report, Border, Scratch)| {
        let ssh = scratch.script(
            "ssh",
            &format!(
                "#!/bin/sh\ncase \"$*\" in *BatchMode=yes*)\n\
                 echo $$ > {}; {script};;\nesac\nexec {} \"$@\"\n",
                report.path(),
                border.sshd.ssh()
            ),
        );
        let call = Invocation::new(rove()).arg("--tunnel=auto");
        let call = call.arg(format!("--ssh={}", ssh.display()));
        let call = call.args(["-p", &border.port.to_string()]);
        let call = call.args(["far", "--", "sh", "-c", "echo ready; read line; echo got $line"]);
        let terminal = Terminal::start(&call, SIZE);
        terminal.wait_for_text("ready");
        terminal
    };
    let ((report, border, _scratch), terminal) = with_quick_login(prepare, log_in)?;
    border.sshd.wait_alone();
    border.let_pass(false, false);
    terminal.send("x");
    let pid = report.wait_where(|line| line.parse::<u32>().is_ok());
    Some((border, terminal, process(pid.parse().expect("a number"))))
}

#[test]
fn a_login_by_itself_that_waits_for_somebody_is_ended_and_not_made_again() {
    // This ssh waits, as for the answer of an agent. It does so before or after its message that keys were exchanged.
    let answered = "echo 'debug1: SSH2_MSG_NEWKEYS received' >&2; ";
    side_by_side(["", answered], |said| {
        let found = log_in_by_itself(&format!("{said}exec sleep 600"));
        let Some((border, terminal, waiting)) = found else { return };
        terminal.wait_for_text("[To log in again: Ctrl-^ r]");
        assert!(waiting.wait_gone(), "it is ended");
        border.let_pass(true, true);
        terminal.send("\r");
        terminal.wait_for_text("got x");
    });
}

#[test]
fn a_login_by_itself_into_a_network_that_falls_silent_is_ended_and_needs_no_user() {
    // The system accepts ssh's connection. The peer on it sends nothing, or only its version.
    side_by_side([&b""[..], b"SSH-2.0-x\r\n"], |said| {
        let host = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
        let port = host.local_addr().expect("it has an address").port();
        let connection = std::thread::spawn(move || {
            let (mut connection, _) = host.accept().expect("ssh connects");
            connection.write_all(said).expect("it is open");
            connection
        });
        let script = format!("exec ssh -o HostName=127.0.0.1 -p {port} \"$@\"");
        let found = log_in_by_itself(&script);
        let Some((border, terminal, waiting)) = found else { return };
        assert!(waiting.wait_gone(), "it is ended");
        drop(connection.join());
        border.let_pass(true, true);
        terminal.send("\r");
        terminal.wait_for_text("got x");
        assert!(!terminal.output().contains("log in again"), "{}", terminal.dump());
    });
}

#[test]
fn beside_an_ssh_that_dies_without_a_sign_another_logs_in_and_carries_the_session() {
    let Some(crossing) = cross(false, false) else { return };
    crossing.terminal.talk("line 1");
    let client = crossing.terminal.pid();
    let children = std::fs::read_to_string(format!("/proc/{client}/task/{client}/children"));
    let ssh = process(children.expect("Linux").trim().parse().expect("ssh alone"));
    ssh.signal(rustix::process::Signal::STOP);
    crossing.terminal.talk_after_login("line 2");
    assert!(crossing.border.sshd.connections() >= 2);
    assert!(ssh.wait_gone(), "it is ended when another carries");
    crossing.terminal.talk("line 3");
}

#[test]
fn after_a_password_only_the_user_logs_in_again() {
    let Some(sshd) = Sshd::start_with_password(Far::default()) else { return };
    let scratch = Scratch::new();
    let report = Report::new(&scratch);
    let call = call(&sshd, &[]).args(["--", "sh", "-c", ECHO, "sh", report.path()]);
    let terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("password:");
    terminal.send(format!("{}\r", crate::support::PASSWORD));
    terminal.wait_for_text("ready");
    sshd.wait_alone();
    let server = report.wait_where(|line| line.starts_with("server "));
    let pid = server.split_once(' ').and_then(|(_, pid)| pid.parse().ok()).expect("a number");
    // A stopped server is as silent as a server that UDP does not reach.
    let server = process(pid);
    server.signal(rustix::process::Signal::STOP);
    terminal.send("x");
    terminal.wait_for_text("[To log in again: Ctrl-^ r]");
    assert_eq!(sshd.connections(), 1);
    server.signal(rustix::process::Signal::CONT);
    terminal.send("\r");
    terminal.wait_for_text("got x");
}

#[test]
fn with_a_security_key_the_user_is_offered_a_login_which_carries_the_session() {
    let Some(border) = Border::start(Far::default(), true, true) else { return };
    let key = border.sshd.path("touched");
    std::fs::write(key.with_extension("pub"), "sk-ssh-ed25519@openssh.com AAAA me\n")
        .expect("the folder takes files");
    border.sshd.configure(&format!(" IdentityFile {}\n", key.display()));
    let call = call(&border.sshd, &["-p", &border.port.to_string()]);
    let call = call.args(["--", "sh", "-c", "echo ready; read line; echo got $line"]);
    let terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("ready");
    border.sshd.wait_alone();
    border.let_pass(false, false);
    terminal.send("x\r");
    terminal.wait_for_text("[To log in again: Ctrl-^ r]");
    terminal.send("\x1er");
    terminal.wait_for_text("got x");
}

#[test]
fn a_closed_window_ends_the_session_through_ssh_in_order() {
    let Some(crossing) = cross(false, false) else { return };
    crossing.terminal.talk("line 1");
    let Crossing { terminal, _server: server, border: _border, .. } = crossing;
    terminal.close_window();
    assert!(server.wait_gone(), "ssh ended with the window");
}
