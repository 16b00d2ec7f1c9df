//! Errors of a command line end rove with a sentence and an exit code.

use std::net::{Ipv4Addr, UdpSocket};
use std::process::Stdio;

use crate::support::{
    ClosedPort, Far, Invocation, Maker, SIZE, Scratch, Server, Sshd, Terminal, rove, side_by_side,
    within_guard,
};

const KEY: &str = "4NeCCgvZFe2RnPgrcU1PQw";

#[test]
fn a_wrong_key_port_or_address_ends_the_client_with_a_sentence() {
    for (key, address, port) in [
        ("", "127.0.0.1", "60001"),
        ("short", "127.0.0.1", "60001"),
        ("4NeCCgvZFe2RnPgrcU1PQ!", "127.0.0.1", "60001"),
        ("4NeCCgvZFe2RnPgrcU1PQwAA", "127.0.0.1", "60001"),
        ("4NeCCgvZFe2RnPgrcU1PQx", "127.0.0.1", "60001"),
        (KEY, "127.0.0.1", "port"),
        (KEY, "127.0.0.1", "-1"),
        (KEY, "127.0.0.1", "65536"),
        (KEY, "no-number.example", "60001"),
        (KEY, "127.0.0.1.1", "60001"),
    ] {
        let call = Invocation::new(rove()).args(["client", address, port]).env("MOSH_KEY", key);
        let mut terminal = Terminal::start(&call, SIZE);
        let exit = terminal.wait_exit();
        exit.assert_code(1).assert_restored(Maker::Rove);
        assert!(!exit.output.trim().is_empty(), "{key} {address} {port}");
        assert!(key.is_empty() || !exit.output.contains(key), "keys are not to be shown");
    }
}

#[test]
fn a_client_wants_a_terminal() {
    let call = Invocation::new(rove()).args(["client", "127.0.0.1", "60001"]).env("MOSH_KEY", KEY);
    let output = within_guard("the client to refuse", move || {
        call.command().stdin(Stdio::null()).output().expect("rove starts")
    });
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("terminal"), "{stderr}");
}

#[test]
fn a_server_that_never_answers_is_named() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port().to_string();
    let call = Invocation::new(rove()).args(["client", "127.0.0.1", &port]).env("MOSH_KEY", KEY);
    let mut terminal = Terminal::start(&call, SIZE);
    let exit = terminal.wait_exit();
    exit.assert_code(1).assert_restored(Maker::Rove);
    let text = exit.screen.contents();
    assert!(text.contains("127.0.0.1") && text.contains(&port), "{text}");
}

#[test]
fn a_key_that_has_its_client_opens_no_second_session() {
    let script = "echo ready; while IFS= read -r line; do echo \"got $line\"; done";
    side_by_side([Maker::Rove, Maker::Stock], |server| {
        let server = Server::start(server, Ipv4Addr::LOCALHOST.into(), &["sh", "-c", script]);
        let first = Terminal::start(&Maker::Stock.client(server.address, &server.key), SIZE);
        first.wait_for_text("ready");
        let mut second = Terminal::start(&Maker::Rove.client(server.address, &server.key), SIZE);
        second.wait_for_text("No answer from");
        second.send("\x1e.");
        let exit = second.wait_exit();
        exit.assert_code(1).assert_restored(Maker::Rove);
        let words = exit.output.replace("\r\n", " ");
        assert!(words.contains("A key serves one client"), "{}", exit.output.escape_debug());
        first.send("one\r");
        first.wait_for_text("got one");
    });
}

#[test]
fn a_client_whose_output_goes_nowhere_ends_with_a_sentence() {
    for (redirection, sentence) in
        [(">&-", "standard output is closed"), (">/dev/full", "No space left on device")]
    {
        let server = Server::start(Maker::Rove, Ipv4Addr::LOCALHOST.into(), &["cat"]);
        let script = format!("exec \"$@\" {redirection}");
        let call = Maker::Rove.client(server.address, &server.key);
        let call = call.behind(&["sh", "-c", &script, "sh"]);
        let mut terminal = Terminal::start(&call, SIZE);
        let exit = terminal.wait_exit();
        exit.assert_code(1).assert_restored(Maker::Rove);
        assert!(exit.output.contains(sentence), "{redirection}: {}", exit.output.escape_debug());
    }
}

#[test]
fn a_server_started_on_a_terminal_keeps_its_line_from_what_was_typed_ahead() {
    side_by_side([Maker::Rove, Maker::Stock], |maker| {
        let call = maker.server().args(["new", "-p", "0", "-i", "127.0.0.1", "--", "true"]);
        let mut terminal = Terminal::start(&call, SIZE);
        let exit = terminal.wait_exit();
        exit.assert_code(0);
        assert!(exit.output.starts_with("\r\r\n\r\nMOSH CONNECT "), "{:?}", exit.output);
        let (_, pid) = exit.output.split_once("detached, pid = ").expect("its number is told");
        let pid = pid.split(']').next().and_then(|pid| pid.parse().ok()).expect("a number");
        let pid = rustix::process::Pid::from_raw(pid).expect("not zero");
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
    });
}

#[test]
fn a_log_that_finds_no_room_is_lost_and_one_that_cannot_be_opened_ends_the_client() {
    for (log, code) in [("/dev/full", 5), ("/no/such/folder/log", 1)] {
        let command = ["sh", "-c", "exit 5"];
        let server = Server::start(Maker::Rove, Ipv4Addr::LOCALHOST.into(), &command);
        let call = Maker::Rove.client(server.address, &server.key).env("ROVE_LOG", log);
        let mut terminal = Terminal::start(&call, SIZE);
        let exit = terminal.wait_exit();
        exit.assert_code(code).assert_restored(Maker::Rove);
        let times = exit.output.matches("ROVE_LOG").count();
        let is_named = times == 1 && exit.output.contains(log);
        assert!(is_named, "{}", exit.output.escape_debug());
    }
}

#[test]
fn a_host_without_a_name_or_a_user_without_one_is_refused_before_ssh_is_run() {
    for host in ["me@", "@far", "@"] {
        for words in [&[host][..], &["list", host], &["doctor", host], &["install", host]] {
            let call = Invocation::new(rove()).args(words).arg("--ssh=false");
            let mut terminal = Terminal::start(&call, SIZE);
            let exit = terminal.wait_exit();
            let sentence = format!("\"{host}\" is not a host name");
            assert!(exit.output.contains(&sentence), "{words:?}: {}", exit.output.escape_debug());
            exit.assert_code(255);
        }
    }
}

#[test]
fn a_client_that_cannot_be_run_is_named_before_there_is_a_server() {
    let scratch = Scratch::new();
    let plain = scratch.write("plain", "no program");
    let folder = scratch.folder().display().to_string();
    for client in ["/nonexistent", "nonexistent", &plain.display().to_string(), &folder] {
        let call = Invocation::new(rove()).args([
            &format!("--client={client}"),
            "--ssh=echo the login has begun;",
            "far",
        ]);
        let mut terminal = Terminal::start(&call, SIZE);
        let exit = terminal.wait_exit();
        let sentence = format!("cannot run the client {client}: ");
        assert!(exit.output.contains(&sentence), "{}", exit.output.escape_debug());
        assert!(!exit.output.contains("begun"), "{}", exit.output.escape_debug());
        exit.assert_code(2);
    }
}

#[test]
fn a_host_that_refuses_and_a_name_that_leads_nowhere_are_told_in_one_line() {
    let scratch = Scratch::new();
    let closed = ClosedPort::new();
    let port = closed.number;
    let config =
        format!("Host shut\n HostName 127.0.0.1\n Port {port}\nHost lst away\n HostName a..b\n");
    let config = scratch.write("config", &config).display().to_string();
    let refused = format!("rove: cannot connect to 127.0.0.1 port {port}: Connection refused");
    let unknown = "rove: cannot find the address of a..b: ";
    for (host, begin, end) in [
        ("shut", refused.as_str(), "Connection refused"),
        ("away", unknown, ""),
        ("lst", unknown, "; did you mean rove list?"),
    ] {
        let call = Invocation::new(rove()).args(["-F", &config, host]);
        let mut terminal = Terminal::start(&call, (24, 200));
        let exit = terminal.wait_exit();
        exit.assert_code(10);
        let said: Vec<&str> = exit.output.split(['\r', '\n']).filter(|it| !it.is_empty()).collect();
        let [line] = said[..] else { panic!("{host}: {said:?}") };
        assert!(line.starts_with(begin) && line.ends_with(end), "{host}: {line}");
    }
}

/// Returns an invocation of rove with sshd's port as `-p`, and that port. ssh's configuration names a closed port.
fn with_sshs_port(sshd: &Sshd, elsewhere: &ClosedPort, options: &[&str]) -> (Invocation, String) {
    let config = std::fs::read_to_string(sshd.path("ssh_config")).expect("it is there");
    let (_, rest) = config.split_once(" Port ").expect("it names the port");
    let port = rest.lines().next().expect("a port").to_owned();
    let elsewhere = elsewhere.number;
    let config = config.replace(&format!(" Port {port}"), &format!(" Port {elsewhere}"));
    let path = sshd.path("elsewhere");
    std::fs::write(&path, config).expect("the folder takes files");
    let call = Invocation::new(rove()).arg("-F").arg(path).args(["-p", &port]).args(options);
    (call.args(["far", "--", "sh", "-c", "echo hello from afar; exit 7"]), port)
}

#[test]
fn a_port_that_is_sshs_is_explained_after_a_failed_login_and_taken_for_ssh_after_a_yes() {
    let (sshd, closed) = (Sshd::start(Far::default()), ClosedPort::new());
    for (answer, code) in [("\r", 7), ("y\r", 7), ("n\r", 10)] {
        let (call, port) = with_sshs_port(&sshd, &closed, &[]);
        let mut terminal = Terminal::start(&call, (24, 200));
        terminal.wait_for_text(&format!("-p {port} is the UDP port of the session"));
        terminal.wait_for_text(&format!("--ssh=\"ssh -p {port}\""));
        terminal.wait_for_text("ssh's port? [Y/n]");
        terminal.send(answer);
        let exit = terminal.wait_exit();
        exit.assert_code(code);
        assert_eq!(exit.output.contains("hello from afar"), code == 7, "{}", exit.output);
    }
}

#[test]
fn nobody_is_asked_for_sshs_port_who_wants_no_question_or_goes_another_way() {
    let (sshd, closed) = (Sshd::start(Far::default()), ClosedPort::new());
    for options in [&["-q"][..], &["-J", "a..b"], &["-o", "ProxyCommand=false"]] {
        let (call, _) = with_sshs_port(&sshd, &closed, options);
        let mut terminal = Terminal::start(&call, (24, 200));
        let exit = terminal.wait_exit();
        exit.assert_code(10);
        let said = &exit.output;
        assert!(said.contains("is the UDP port of the session"), "{options:?}: {said}");
        assert!(!said.contains("[Y/n]"), "{options:?}: {said}");
    }
    // Nobody listens at this port, so rove does not take it for ssh's port.
    let nothing = ClosedPort::new();
    let port = nothing.number;
    let (call, _) = with_sshs_port(&sshd, &closed, &["-p", &port.to_string()]);
    let mut terminal = Terminal::start(&call, (24, 200));
    let exit = terminal.wait_exit();
    exit.assert_code(10);
    assert!(exit.output.contains(&format!("-p {port} is the UDP port")), "{}", exit.output);
    assert!(!exit.output.contains("[Y/n]"), "{}", exit.output);
}

#[test]
fn messages_end_their_lines_between_words_and_as_mosh_where_the_terminal_does() {
    let scratch = Scratch::new();
    let mosh = scratch.path("mosh");
    std::os::unix::fs::symlink(rove(), &mosh).unwrap();
    let sentence = "\"x\" is neither a UDP port from 0 to 65535 nor a range such as 60001:60010";
    for (program, is_wrapped) in [(rove(), true), (mosh.clone(), false)] {
        let call = Invocation::new(program).args(["-p", "x", "far"]);
        let mut terminal = Terminal::start(&call, (24, 30));
        let exit = terminal.wait_exit();
        exit.assert_code(255);
        let lines: Vec<&str> = exit.output.lines().collect();
        if is_wrapped {
            assert!(lines.iter().all(|line| line.len() <= 30), "{lines:?}");
            let words = lines.join(" ");
            assert!(words.contains(sentence), "{words}");
        } else {
            assert!(
                lines[0].ends_with("Server-side port or range (x) is not a number or LOW:HIGH.")
            );
        }
    }
}
