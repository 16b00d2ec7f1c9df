//! `rove doctor` against hosts without a fault, and hosts with one fault each.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use crate::support::{
    ClosedPort, Far, Invocation, Maker, SIZE, Scratch, Server, Sshd, Terminal, Way, examined_until,
    free_port, rove, side_by_side, wait_until, within_guard,
};

#[derive(Debug)]
struct Report {
    code: Option<i32>,
    text: String,
}

impl Report {
    /// Returns the status of a leg, which is a step on the way to a session.
    #[track_caller]
    fn status(&self, leg: &str) -> &str {
        let mut lines = self.text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let line = lines.find(|words| words.get(1) == Some(&leg)).map(|words| words[0].to_owned());
        let known = ["ok", "note", "problem", "unchecked"];
        let status = line.unwrap_or_else(|| panic!("no leg {leg}: {}", self.text));
        known.into_iter().find(|word| *word == status).expect("a known status")
    }

    /// Returns the first leg that fails.
    fn first_problem(&self) -> Option<&str> {
        let first = self.text.lines().find(|line| line.starts_with("problem"));
        first.and_then(|line| line.split_whitespace().nth(1))
    }

    /// Asserts that this leg is the first that fails.
    #[track_caller]
    fn assert_problem(&self, leg: &str, part: &str) {
        assert_eq!(self.code, Some(1), "{}", self.text);
        assert_eq!(self.first_problem(), Some(leg), "{}", self.text);
        let verdict = self.text.split_once("\nProblem: ").expect("there is a verdict").1;
        assert!(verdict.contains("What to do: ") && verdict.contains(part), "{verdict}");
        assert_eq!(verdict.matches("What to do: ").count(), 1, "one verdict: {verdict}");
    }

    #[track_caller]
    fn assert_well(&self) {
        assert_eq!(self.code, Some(0), "{}", self.text);
        assert!(self.text.contains("All is well"), "{}", self.text);
        assert!(!self.text.lines().any(|line| line.starts_with("problem")), "{}", self.text);
    }
}

fn run(call: &Invocation) -> Report {
    let mut command = call.command();
    command.stdin(Stdio::null());
    let output = within_guard("the doctor", move || command.output().expect("rove starts"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    Report { code: output.status.code(), text: text + &errors }
}

fn doctor() -> Invocation {
    Invocation::new(rove()).arg("doctor")
}

/// Runs the doctor against this sshd, for which it must find no problem.
fn examine(sshd: &Sshd, options: &[&str]) -> Report {
    examine_until(sshd, options, |report| report.code == Some(0))
}

/// Runs the doctor against this sshd, for which `leg` must be the first leg that fails.
fn examine_problem(sshd: &Sshd, options: &[&str], leg: &str) -> Report {
    examine_until(sshd, options, |report| report.first_problem() == Some(leg))
}

fn examine_until(sshd: &Sshd, options: &[&str], is_wanted: impl Fn(&Report) -> bool) -> Report {
    let call = doctor().arg(format!("--ssh={}", sshd.ssh())).args(options).arg("far");
    examined_until(|| run(&call), is_wanted)
}

#[test]
fn this_computer_alone_can_be_examined() {
    let report = run(&doctor());
    report.assert_well();
    assert_eq!(report.status("local-udp"), "ok");
    let report = run(&doctor().env("LANG", "C"));
    report.assert_well();
    assert_eq!(report.status("local-locale"), "note");
}

#[test]
fn a_report_through_a_pipe_is_broken_between_words_for_the_terminal() {
    let call = doctor().env("TERM", "no-such-terminal");
    let mut terminal = Terminal::start(&call.behind(&["sh", "-c", "\"$@\" | cat", "sh"]), SIZE);
    let exit = terminal.wait_exit();
    assert!(exit.output.contains("no-such-terminal"), "{}", exit.output);
    let is_long = |line: &&str| line.chars().count() > usize::from(SIZE.1);
    assert_eq!(exit.output.lines().find(is_long), None, "{}", exit.output);
}

#[test]
fn a_host_that_is_well_passes_every_leg_with_either_server() {
    side_by_side([["rove"], ["mosh-server"]], |programs| {
        let programs: &'static [&'static str] = Box::leak(Box::new(programs));
        let sshd = Sshd::start(Far { programs, ..Far::default() });
        let report = examine(&sshd, &[]);
        report.assert_well();
        for leg in ["ssh", "server-program", "udp-out", "udp-back", "datagram-size", "rebinding"] {
            assert_eq!(report.status(leg), "ok", "{}", report.text);
        }
        assert!(report.text.contains(programs[0]), "the version is told: {}", report.text);
        let forwards = if programs[0] == "rove" { "ok" } else { "note" };
        assert_eq!(report.status("forwarding"), forwards, "{}", report.text);
    });
}

#[test]
fn rules_of_the_host_that_do_not_count_are_told_with_the_reason() {
    side_by_side(
        [
            (
                "streams = false\n",
                0o666,
                "others may write it or a folder on the way, so the usual rules hold",
            ),
            ("gateway-ports = 1\n", 0o644, "so new sessions carry no forwards, agent or files"),
            ("unknown = true\n", 0o644, "unknown field `unknown`"),
            ("gateway-ports = true\n", 0o644, ""),
        ],
        |(rules, mode, reason)| {
            let Some(sshd) = Sshd::start_with_rules(rules, mode) else { return };
            let report = examine(&sshd, &[]);
            report.assert_well();
            if reason.is_empty() {
                assert!(!report.text.contains("host-rules"), "{}", report.text);
                return;
            }
            assert_eq!(report.status("host-rules"), "note", "{}", report.text);
            let line = report.text.lines().find(|line| line.contains("host-rules"));
            let line = line.expect("there is such a leg");
            assert!(line.contains("the host's /etc/rove/server.toml does not count"), "{line}");
            assert!(line.contains(reason), "{line}");
            let forwards = if reason.ends_with("usual rules hold") { "ok" } else { "note" };
            assert_eq!(report.status("forwarding"), forwards, "{}", report.text);
        },
    );
}

#[test]
fn a_forward_that_the_hosts_rules_do_not_permit_is_a_problem() {
    let rules = "permit-open = ['localhost:80']\npermit-listen = ['8080']\n";
    let Some(sshd) = Sshd::start_with_rules(rules, 0o644) else { return };
    examine(&sshd, &["-L9:localhost:80", "-R8080:localhost:1"]).assert_well();
    let report = examine_problem(&sshd, &["-L9:localhost:81"], "forwarding");
    report.assert_problem("forwarding", "does not permit -L 9:localhost:81 (permit-open)");
}

#[test]
fn the_users_sessions_on_the_host_are_shown_with_their_paths() {
    let sshd = Sshd::start(Far::default());
    let call = Maker::Rove.server().env("ROVE_RUNTIME_DIR", sshd.path("sockets"));
    let server = Server::start_with(
        call,
        Ipv4Addr::LOCALHOST.into(),
        &["sh", "-c", "echo ready; read line"],
    );
    let terminal = Terminal::start(&Maker::Rove.client(server.address, &server.key), SIZE);
    terminal.wait_for_text("ready");
    let report = examine(&sshd, &[]);
    report.assert_well();
    let port = format!("  {}  ", server.address.port());
    let line = report.text.lines().find(|line| line.contains(&port)).unwrap_or_default();
    assert!(line.contains("attached"), "{}", report.text);
    // The line holds the path and the number of seconds since its first use.
    let mut words = line.split_whitespace().skip_while(|word| *word != "UDP").skip(1);
    let age = words.next().and_then(|seconds| seconds.parse::<u64>().ok());
    assert!(age.is_some() && words.next() == Some("s"), "{}", report.text);
    let report = examine(&sshd, &["--json"]);
    let mut json = serde_json::Deserializer::from_str(&report.text).into_iter();
    let json: serde_json::Value = json.next().expect("a report").expect("JSON");
    let session = &json["sessions"][0];
    assert_eq!(session["port"], server.address.port());
    assert_eq!((&session["path"], &session["command"][0]), (&"udp".into(), &"sh".into()));
    assert!(session["path_age_seconds"].is_u64(), "{session}");
    terminal.send("\r");
    server.assert_gone();
}

#[test]
fn an_examination_with_the_words_of_a_session_touches_no_session() {
    let sshd = Sshd::start(Far::default());
    let ssh = format!("--ssh={}", sshd.ssh());
    let program = "echo ready; read line; echo \"got $line\"; read line";
    let call = Invocation::new(rove()).args([&*ssh, "--session", "work", "far"]);
    let mut terminal = Terminal::start(&call.args(["--", "sh", "-c", program]), SIZE);
    terminal.wait_for_text("ready");
    for words in [&["--session", "work"][..], &["-N"], &["-N", "-f"]] {
        let report = examine(&sshd, words);
        report.assert_well();
        assert_eq!(report.status("rebinding"), "ok", "{words:?}: {}", report.text);
    }
    terminal.send("mine\r");
    terminal.wait_for_text("got mine");
    terminal.send("\r");
    terminal.wait_exit().assert_code(0);
}

#[test]
fn every_login_shell_lets_itself_be_examined() {
    side_by_side(["sh", "bash", "fish", "csh"], |shell| {
        let sshd = Sshd::start(Far { shell, ..Far::default() });
        examine(&sshd, &[]).assert_well();
    });
}

#[test]
fn the_report_for_programs_has_the_verdict_and_no_key() {
    let sshd = Sshd::start(Far::default());
    let report = examine(&sshd, &["--json"]);
    assert_eq!(report.code, Some(0), "{}", report.text);
    for field in ["\"verdict\": \"ok\"", "\"leg\": \"udp-back\"", "\"port\": 6", "\"checks\""] {
        assert!(report.text.contains(field), "{field} in {}", report.text);
    }
    assert!(!report.text.contains("MOSH CONNECT"), "{}", report.text);
}

#[test]
fn a_host_without_a_server_program_is_told_with_the_path_that_ssh_gives() {
    let sshd = Sshd::start(Far { programs: &[], ..Far::default() });
    let report = examine_problem(&sshd, &[], "server-program");
    report.assert_problem("server-program", "install");
    assert!(report.text.contains("/bin"), "{}", report.text);
}

#[test]
fn a_start_up_file_that_talks_is_noted_and_one_that_talks_like_a_server_above_all() {
    let profile = r"printf 'Welcome\r\n\033[1mno newline at the end'";
    let report = examine(&Sshd::start(Far { profile, ..Far::default() }), &[]);
    report.assert_well();
    assert_eq!(report.status("login-output"), "note", "{}", report.text);
    assert!(report.text.contains("escape sequences"), "{}", report.text);
    for profile in ["echo MOSH CONNECT 61999 AAECAwQFBgcICQoLDA0ODw", "echo MOSH IP 192.0.2.1"] {
        let report = examine(&Sshd::start(Far { profile, ..Far::default() }), &[]);
        report.assert_well();
        assert_eq!(report.status("login-output"), "note", "{}", report.text);
        assert!(report.text.contains("stock mosh believes it"), "{}", report.text);
        assert!(!report.text.contains("AAECAwQF"), "{}", report.text);
    }
}

#[test]
fn a_start_up_file_that_runs_something_else_is_a_problem_of_the_login() {
    let sshd = Sshd::start(Far { profile: "echo no; exit 0", ..Far::default() });
    let report = examine_problem(&sshd, &[], "ssh");
    report.assert_problem("ssh", "start-up file");
}

#[test]
fn a_locale_without_utf8_stops_nobody() {
    let profile = "LANG=C LC_ALL=C; export LANG LC_ALL";
    let report = examine(&Sshd::start(Far { profile, ..Far::default() }), &[]);
    report.assert_well();
    assert_eq!(report.status("server-locale"), "note", "{}", report.text);
}

#[test]
fn a_stock_server_that_refuses_its_locale_is_told_as_that() {
    // A stock server exits with an error unless its own locale or the client's is an installed UTF-8 locale.
    let refuses = "sh -c 'echo mosh-server needs a UTF-8 native locale to run. >&2; exit 1'";
    let sshd = Sshd::start(Far::default());
    let report = examine_problem(&sshd, &[&format!("--server={refuses}")], "server-locale");
    report.assert_problem("server-locale", "locale -a");
}

#[test]
fn an_ssh_that_fails_is_quoted_with_what_to_do() {
    let closed = ClosedPort::new();
    let ssh = format!("--ssh=ssh -F /dev/null -p {}", closed.number);
    let report = run(&doctor().arg(ssh).arg("127.0.0.1"));
    report.assert_problem("ssh", "sshd runs");
    assert_eq!(report.status("udp-out"), "unchecked");
    let sshd = Sshd::start(Far::default());
    let report = run(&doctor().arg(format!("--ssh={}", sshd.ssh())).arg("no-such-user@far"));
    report.assert_problem("ssh", "ssh-add");
    let report = run(&doctor().arg("--ssh=/nonexistent/ssh").arg("127.0.0.1"));
    report.assert_problem("ssh", "--ssh");
}

#[test]
fn a_server_that_ends_with_ssh_is_told_apart_from_a_blocked_port() {
    let sshd = Sshd::start(Far::default());
    let server = "echo MOSH CONNECT 61999 AAECAwQFBgcICQoLDA0ODw; sh -c 'exit 0'";
    let report = examine_problem(&sshd, &[&format!("--server={server}")], "server-alive");
    report.assert_problem("server-alive", "enable-linger");
    assert!(!report.text.contains("AAECAwQF"), "{}", report.text);
}

#[test]
fn datagrams_that_do_not_get_through_are_told_by_their_way_and_size() {
    type Passes = fn(Way, usize) -> bool;
    let cases: [(&str, &str, &str, Passes); 4] = [
        ("nothing to the host", "udp-out", "ufw allow", |_, _| false),
        ("nothing from the host", "udp-back", "not in", |way, _| way == Way::Up),
        ("no large one to the host", "datagram-size", "MTU", |way, len| {
            way == Way::Down || len <= 1000
        }),
        ("no large one from the host", "datagram-size", "from the host", |way, len| {
            way == Way::Up || len <= 1000
        }),
    ];
    side_by_side(cases, |(_, leg, part, passes)| {
        let sshd = Sshd::start(Far::default());
        let path = BadPath::start(passes);
        let options = ["-p", &path.server_port.to_string(), &path.option()];
        let report = examine_problem(&sshd, &options, leg);
        report.assert_problem(leg, part);
        assert_eq!(report.status("server-alive"), "ok", "{}", report.text);
    });
}

#[test]
fn a_server_that_hides_its_process_number_is_told_to_end() {
    let sshd = Sshd::start(Far::default());
    let path = BadPath::start(|way, _| way == Way::Up);
    let server = path.scratch.path("server").display().to_string();
    let words = format!(
        "{server} \"$@\" | while IFS= read -r l; do case \"$l\" in MOSH*) echo \"$l\";; esac; done"
    );
    let server = script(&path.scratch, "hiding", &words);
    let call = doctor().arg(format!("--ssh={}", sshd.ssh())).arg("-p");
    let call = call.arg(path.server_port.to_string());
    let report = run(&call.arg(format!("--server={}", server.display())).arg("far"));
    assert_eq!(report.first_problem(), Some("udp-back"), "{}", report.text);
    wait_until("the server's end", || UdpSocket::bind(("0.0.0.0", path.server_port)).is_ok());
}

#[test]
fn a_session_without_an_answer_ends_in_the_doctors_words() {
    let sshd = Sshd::start(Far::default());
    let server = "--server=echo MOSH CONNECT 61999 AAECAwQFBgcICQoLDA0ODw; true";
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).arg(server).arg("far");
    let mut terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("refused");
    terminal.send("\x1e.");
    let exit = terminal.wait_exit();
    exit.assert_code(1).assert_restored(Maker::Rove);
    for part in ["refuses UDP port 61999", "What to do: ", "`rove doctor far`"] {
        let words = exit.output.replace("\r\n", " ");
        assert!(words.contains(part), "{part} in {}", exit.output.escape_debug());
    }
}

#[test]
fn the_wish_to_leave_is_obeyed_at_once() {
    let scratch = Scratch::new();
    let ssh = script(&scratch, "login", "kill -INT $PPID; exec sleep 600");
    let report = run(&doctor().arg(format!("--ssh={}", ssh.display())).arg("far"));
    assert_eq!(report.code, Some(130), "{}", report.text);
    assert!(report.text.contains("interrupted"), "{}", report.text);
}

#[test]
fn an_ssh_that_hangs_before_it_connects_keeps_nobody() {
    let scratch = Scratch::new();
    let ssh = script(&scratch, "ssh", "exec sleep 60");
    let report = run(&doctor().arg(format!("--ssh={}", ssh.display())).arg("far"));
    report.assert_problem("ssh", "hangs");
}

fn script(scratch: &Scratch, name: &str, text: &str) -> PathBuf {
    scratch.script(name, &format!("#!/bin/sh\n{text}\n"))
}

/// A middlebox between the doctor and a server. The server announces the middlebox's port as its own.
struct BadPath {
    scratch: Scratch,
    server_port: u16,
}

impl BadPath {
    /// Starts a middlebox that forwards a datagram if `passes` returns true. It runs until the test process ends.
    fn start(passes: fn(Way, usize) -> bool) -> Self {
        let bind = || UdpSocket::bind("127.0.0.1:0").expect("loopback has free ports");
        let port = |socket: &UdpSocket| socket.local_addr().expect("it is bound").port();
        let (near, far) = (Arc::new(bind()), Arc::new(bind()));
        let near_port = port(&near);
        let server_port = free_port();
        let server = SocketAddr::from(([127, 0, 0, 1], server_port));
        let client = Arc::new(std::sync::Mutex::new(None));
        for way in [Way::Up, Way::Down] {
            let (near, far, client) = (Arc::clone(&near), Arc::clone(&far), Arc::clone(&client));
            std::thread::spawn(move || {
                let (from, to) = if way == Way::Up { (near, far) } else { (far, near) };
                let mut buffer = [0; 4096];
                loop {
                    let Ok((len, source)) = from.recv_from(&mut buffer) else { continue };
                    let mut client = client.lock().expect("no holder of the lock panics");
                    if way == Way::Up {
                        *client = Some(source);
                    }
                    let target = if way == Way::Up { Some(server) } else { *client };
                    if let (Some(target), true) = (target, passes(way, len)) {
                        let _ = to.send_to(&buffer[..len], target);
                    }
                }
            });
        }
        let scratch = Scratch::new();
        script(
            &scratch,
            "server",
            &format!(
                "rove server \"$@\" 2>&1 | while IFS= read -r l; do case \"$l\" in\n\
                 'MOSH CONNECT '*) echo \"MOSH CONNECT {near_port} ${{l##* }}\";;\n\
                 *) echo \"$l\";; esac; done"
            ),
        );
        Self { scratch, server_port }
    }

    /// Returns the option by which the session uses a server behind the middlebox.
    fn option(&self) -> String {
        format!("--server={}", self.scratch.path("server").display())
    }
}
