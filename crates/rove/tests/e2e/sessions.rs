//! The sessions of a host, listed and ended through their control sockets.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{
    ANSWERING, Far, Invocation, Maker, Report, SIZE, Scratch, Server, Sshd, Terminal, answered,
    rove, side_by_side, within_guard,
};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Most logins until one gets its answer in time.
const LOGINS_MAX: usize = 20;

/// A host whose sessions belong to a single test.
struct Host {
    scratch: Scratch,
}

impl Host {
    fn new() -> Self {
        Self { scratch: Scratch::new() }
    }

    fn sockets(&self) -> PathBuf {
        self.scratch.path("sockets")
    }

    /// Waits until the host has exactly one control socket. Returns its path.
    fn wait_for_socket(&self) -> PathBuf {
        let folder = self.sockets();
        within_guard("a control socket", move || {
            loop {
                let sockets = socket_names(&folder);
                if let [name] = &sockets[..] {
                    return folder.join(name);
                }
                crate::support::pause(std::time::Duration::from_millis(5));
            }
        })
    }

    /// Starts a session and waits until its client shows the screen.
    fn session(&self, report: &Report) -> (Server, Terminal) {
        let call = Maker::Rove.server().env("ROVE_RUNTIME_DIR", self.sockets());
        let server =
            Server::start_with(call, LOCALHOST, &["sh", "-c", ANSWERING, "sh", report.path()]);
        let call = Maker::Rove.client(server.address, &server.key);
        let terminal = Terminal::start(&call, SIZE);
        terminal.wait_for_text("ready");
        (server, terminal)
    }

    /// Logs in. Asserts that the login names the only session without a client, and says how to end the session.
    fn assert_login_tells_of(&self, detached: &Server) {
        let home = Scratch::new();
        let programs = rove().parent().expect("it is in a folder").to_owned();
        let path = format!("{}:/usr/bin:/bin", programs.display());
        let call = Maker::Rove.server().env("ROVE_RUNTIME_DIR", self.sockets());
        let call = call.env("HOME", home.folder()).env("PATH", path);
        home.write(".profile", "PS1='prompt '\n");
        let port = detached.address.port();
        // A login does not wait for a session that is slow to answer, and this computer may be busy.
        for _ in 0..LOGINS_MAX {
            let login = Server::start_with(call.clone(), LOCALHOST, &[]);
            let client = Maker::Rove.client(login.address, &login.key);
            let mut terminal = Terminal::start(&client, SIZE);
            terminal.wait_for_text("prompt");
            let text = terminal.screen().contents();
            if text.contains("1 session of yours") {
                let line = text.replace('\n', "");
                assert!(line.contains(&format!("(port {port},")), "{text}");
                assert!(line.contains("rove attach") && line.contains("rove kill "), "{text}");
                return;
            }
            terminal.send("exit\r");
            terminal.wait_exit().assert_code(0);
            login.assert_gone();
        }
        panic!("{LOGINS_MAX} logins were not told of the session without a client");
    }

    fn call(&self, args: &[&str]) -> Invocation {
        Invocation::new(rove()).env("ROVE_RUNTIME_DIR", self.sockets()).args(args)
    }

    fn rove(&self, args: &[&str]) -> Output {
        answered(&self.call(args))
    }

    fn list(&self) -> Vec<Value> {
        let output = self.rove(&["list", "--json"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let listing: Value = serde_json::from_slice(&output.stdout).expect("a line of JSON");
        listing["sessions"].as_array().expect("a list").clone()
    }
}

fn socket_names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().expect("digits and a dash"));
    // A name with a dot in front belongs to a socket that is not ready.
    names.filter(|name| !name.starts_with('.')).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("rove speaks UTF-8")
}

#[test]
fn sessions_are_listed_and_one_of_them_is_ended() {
    let host = Host::new();
    let output = host.rove(&["list"]);
    assert_eq!((output.status.code(), text(&output.stdout).lines().count()), (Some(0), 1));
    assert!(host.list().is_empty());

    let scratches = [Scratch::new(), Scratch::new()];
    let reports = [Report::new(&scratches[0]), Report::new(&scratches[1])];
    let (first, mut first_terminal) = host.session(&reports[0]);
    let (second, second_terminal) = host.session(&reports[1]);
    second_terminal.send("key\r");
    second_terminal.wait_for_text("got key");
    let sessions = host.list();
    let ports: Vec<_> = sessions.iter().map(|session| session["port"].as_u64()).collect();
    let mut expected = [&first, &second].map(|server| Some(u64::from(server.address.port())));
    // Sessions that began in the same second are in the order of their pids.
    if ports[0] != expected[0] {
        expected.reverse();
    }
    assert_eq!(ports, expected);
    for session in &sessions {
        assert_eq!(session["state"], "attached", "{session}");
        assert_eq!((&session["columns"], &session["rows"]), (&80.into(), &24.into()));
        assert_eq!(session["command"][0], "sh");
        assert!(session["client"].as_str().is_some_and(|client| client.starts_with("127.0.0.1:")));
        let has_key = session["port"] == u64::from(second.address.port());
        assert_eq!(session["key_age_seconds"].is_u64(), has_key, "{session}");
    }
    let table = text(&host.rove(&["list"]).stdout);
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(table.contains("attached") && table.contains("60001") == ports.contains(&Some(60_001)));

    let output = host.rove(&["kill", &first.address.port().to_string()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stdout).starts_with("Ended session"), "{output:?}");
    reports[0].wait_line("hung up");
    let exit = first_terminal.wait_exit();
    exit.assert_code(143).assert_restored(Maker::Rove);
    assert!(exit.output.contains("the session was ended by `rove kill`"), "{}", exit.output);
    first.assert_gone();
    assert_eq!(host.list().len(), 1);

    let missing = host.rove(&["kill", &first.address.port().to_string()]);
    assert_eq!(missing.status.code(), Some(1), "{missing:?}");
    assert!(text(&missing.stderr).contains("rove list"), "{missing:?}");

    let output = host.rove(&["kill", "--all"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    reports[1].wait_line("hung up");
    second.assert_gone();
    assert_eq!(socket_names(&host.sockets()), [""; 0], "sockets go with their sessions");
    assert_eq!(host.rove(&["kill", "--all"]).status.code(), Some(0), "nothing is left to end");
}

#[test]
fn a_session_whose_client_is_gone_is_detached_and_can_be_ended_as_such() {
    let host = Host::new();
    let scratch = Scratch::new();
    let report = Report::new(&scratch);
    let (server, terminal) = host.session(&report);
    let state = |host: &Host| host.list()[0]["state"].clone();
    assert_eq!(state(&host), "attached");
    let output = host.rove(&["kill", "--detached"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(state(&host), "attached", "it is in use: {output:?}");

    terminal.signal(Signal::KILL);
    let host = within_guard("the session to be detached", move || {
        while state(&host) != "detached" {
            // Detaching takes several seconds. Meanwhile other tests can use the processor.
            let (_pause, never) = std::sync::mpsc::channel::<()>();
            let _ = never.recv_timeout(std::time::Duration::from_millis(500));
        }
        host
    });
    host.rove(&["kill", "--detached", "--older-than", "1h"]);
    assert_eq!(state(&host), "detached", "it is not that old");
    host.assert_login_tells_of(&server);
    let output = host.rove(&["kill", "--detached"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("has been sent SIGHUP"), "{output:?}");
    report.wait_line("hung up");
    server.assert_gone();
    assert!(host.list().is_empty());
}

#[test]
fn a_server_that_was_killed_leaves_a_socket_that_the_list_removes() {
    let host = Host::new();
    let scratch = Scratch::new();
    let (server, _terminal) = host.session(&Report::new(&scratch));
    let socket = host.wait_for_socket();
    server.signal(Signal::KILL);
    server.assert_gone();
    assert!(socket.exists());
    assert!(host.list().is_empty());
    assert!(!socket.exists());
}

#[test]
fn a_list_in_a_container_has_the_sessions_outside_it() {
    if !rustix::process::geteuid().is_root() {
        return; // only root can make one
    }
    let host = Host::new();
    let scratch = Scratch::new();
    let (server, _terminal) = host.session(&Report::new(&scratch));
    host.wait_for_socket();
    let call = host.call(&["list", "--json"]).behind(&["unshare", "--pid", "--fork"]);
    let output = answered(&call);
    let listing: Value = serde_json::from_slice(&output.stdout).expect("a line of JSON");
    assert_eq!(listing["sessions"][0]["port"], server.address.port(), "{output:?}");
}

#[test]
fn a_session_is_found_again_after_its_directory_was_tidied_away() {
    let host = Host::new();
    let call = Maker::Rove.server().env("ROVE_RUNTIME_DIR", host.sockets());
    let server = Server::start_with(call, LOCALHOST, &["cat"]);
    let socket = host.wait_for_socket();
    std::fs::remove_dir_all(host.sockets()).expect("nobody holds it");
    // The server checks its socket as soon as a client makes contact, or a minute has passed.
    let _terminal = Terminal::start(&Maker::Rove.client(server.address, &server.key), SIZE);
    assert_eq!(host.wait_for_socket(), socket);
    assert_eq!(host.list()[0]["port"], server.address.port());
}

#[test]
fn a_server_that_stands_still_is_named_and_nobody_waits_long() {
    let host = Host::new();
    let scratch = Scratch::new();
    let (server, _terminal) = host.session(&Report::new(&scratch));
    host.wait_for_socket();
    server.signal(Signal::STOP);
    let list = host.call(&["list"]);
    let output = within_guard("a list", move || list.command().output().expect("rove starts"));
    server.signal(Signal::CONT);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("does not answer"), "{output:?}");
    assert!(text(&output.stdout).starts_with("No session of yours answers"), "{output:?}");
}

#[test]
fn nobody_else_can_reach_a_session() {
    let host = Host::new();
    let scratch = Scratch::new();
    let (_server, _terminal) = host.session(&Report::new(&scratch));
    let socket = host.wait_for_socket();
    let mode = |path: &Path| path.metadata().expect("it is there").mode() & 0o777;
    assert_eq!((mode(&host.sockets()), mode(&socket)), (0o700, 0o600));
    if !rustix::process::geteuid().is_root() {
        return; // only root can be somebody else
    }
    // The server refuses other users even if the file permissions let them connect.
    for path in [host.scratch.folder(), &host.sockets(), &socket] {
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(path, open).expect("root may");
    }
    let asker = "use Socket; $SIG{PIPE} = 'IGNORE'; socket(S, PF_UNIX, SOCK_STREAM, 0);
                 connect(S, sockaddr_un($ARGV[0])) or die $!;
                 syswrite(S, \"rove/1 status\\n\"); print sysread(S, $answer, 9) || 0;";
    for (user, answer) in [(65_534, "0"), (0, "9")] {
        let call = Invocation::new("/usr/bin/perl").args(["-e", asker]).arg(&socket);
        let output = call.command().uid(user).output().expect("Debian has Perl");
        assert_eq!(text(&output.stdout), answer, "user {user}: {output:?}");
    }
}

#[test]
fn a_hostile_peer_does_not_disturb_the_session() {
    let host = Host::new();
    let scratch = Scratch::new();
    let report = Report::new(&scratch);
    let (_server, terminal) = host.session(&report);
    let socket = host.wait_for_socket();
    let connect = |socket: &Path| UnixStream::connect(socket).expect("the server listens");
    let silent: Vec<UnixStream> = (0..100).map(|_| connect(&socket)).collect();
    terminal.send("silence\r");
    terminal.wait_for_text("got silence");
    let flood: &[u8] = &[0xff; 100_000];
    for garbage in [flood, b"rove/9 status\n", b"\n\n\n", b"rove/1 end", b""] {
        let mut peer = connect(&socket);
        // The write fails if the server has already closed the connection.
        let _ = peer.write_all(garbage);
        let _ = peer.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = within_guard("an answer or its absence", move || peer.read_to_end(&mut answer));
    }
    terminal.send("garbage\r");
    terminal.wait_for_text("got garbage");
    let flood = {
        let socket = socket.clone();
        std::thread::spawn(move || (0..1000).for_each(|_| drop(connect(&socket))))
    };
    terminal.send("flood\r");
    terminal.wait_for_text("got flood");
    flood.join().expect("every connection is taken");
    assert_eq!(host.list().len(), 1, "who asks after all that is answered");
    drop(silent);
}

#[test]
fn the_sessions_of_another_computer_are_listed_and_ended_over_ssh() {
    // The start-up file of the login shell prints text, and rove is not in the PATH.
    const PROFILE: &str = r#"
        echo welcome; printf 'no line end and \033]0;a title\007'
        mkdir -p "$HOME/.local/bin" && mv "$HOME/bin/rove" "$HOME/.local/bin/rove" 2>/dev/null
    "#;
    side_by_side(["sh", "bash", "fish", "csh"], |shell| {
        let profile = PROFILE;
        let sshd = Sshd::start(Far { shell, profile, programs: &["rove"], ..Far::default() });
        let ssh = format!("--ssh={}", sshd.ssh());
        // rove's own options precede the user's, because ssh obeys the first.
        let other = format!("{ssh} -o RemoteCommand=other");
        let ask = |words: &[&str]| answered(&Invocation::new(rove()).args(words).arg(&other));
        let none = ask(&["list", "far"]);
        assert_eq!(none.status.code(), Some(0), "{none:?}\n{}", sshd.log());
        assert_eq!(text(&none.stdout), "No session of yours runs on far under a rove server.\n");
        assert!(text(&none.stderr).contains("welcome") && !text(&none.stderr).contains('\u{1b}'));

        let call = Invocation::new(rove()).args([&ssh, "far", "--", "sh", "-c", "echo here; cat"]);
        let mut terminal = Terminal::start(&call, SIZE);
        terminal.wait_for_text("here");
        let listing = ask(&["list", "--json", "far"]);
        let listing: Value = serde_json::from_slice(&listing.stdout).expect("a line of JSON");
        let port = listing["sessions"][0]["port"].as_u64().expect("a port").to_string();
        let table = text(&ask(&["list", "far"]).stdout);
        assert!(table.contains(&port) && table.contains("echo here; cat"), "{table}");

        let nobody = ask(&["kill", "far", "1"]);
        assert_eq!(nobody.status.code(), Some(1), "{nobody:?}");
        let told = text(&nobody.stderr);
        assert!(told.contains("rove kill: no session of yours on far has"), "{told}");
        assert!(told.contains("; rove list far shows them"), "{told}");
        let ended = ask(&["kill", "far", &port]);
        assert_eq!(ended.status.code(), Some(0), "{ended:?}");
        let told = text(&ended.stdout);
        assert!(
            told.starts_with("Ended session ") && told.contains(" on far; its command"),
            "{told}"
        );
        let none = ask(&["kill", "far", "--all"]);
        assert_eq!(text(&none.stdout), "There is no such session on far: nothing to end.\n");
        terminal.wait_exit().assert_code(143).assert_restored(Maker::Rove);
    });
}

#[test]
fn sshs_own_letters_reach_the_ssh_that_asks_a_host() {
    let sshd = Sshd::start(Far::default());
    let file = sshd.path("ssh_config");
    let log = sshd.path("ssh_log");
    let ask = |words: &[&str]| {
        let call = Invocation::new(rove()).args(words).arg("-F").arg(&file);
        within_guard("rove to answer", move || call.command().output().expect("rove starts"))
    };
    let none = ask(&["list", "far"]);
    assert_eq!(text(&none.stdout), "No session of yours runs on far under a rove server.\n");
    let log_name = log.to_str().expect("paths are text");
    let nobody = ask(&["kill", "-v", "far", "-E", log_name, "1"]);
    assert_eq!(nobody.status.code(), Some(1), "{nobody:?}");
    let log = std::fs::read_to_string(&log).expect("ssh has written its log");
    assert!(log.contains("Authenticated to 127.0.0.1"), "{log}");
    for command in ["list", "kill", "install", "forget"] {
        let asked = ask(&[command, "-G", "-l", "alice", "far"]);
        let config = text(&asked.stdout);
        assert!(
            config.contains("\nuser alice\n") || config.starts_with("user alice\n"),
            "{config}"
        );
        let refused = ask(&[command, "-L", "1:x:2", "far"]);
        assert_eq!(refused.status.code(), Some(255), "{refused:?}");
        assert!(
            text(&refused.stderr)
                .starts_with(&format!("rove {command}: -L: this command forwards no"))
        );
    }
}

#[test]
fn a_host_that_cannot_be_asked_is_told_by_its_reason() {
    let sshd = Sshd::start(Far { programs: &["mosh-server"], ..Far::default() });
    let ends = Sshd::start(Far { profile: "exit 0", ..Far::default() });
    for (ssh, part) in [
        (sshd.ssh(), "rove not found on far: "),
        (ends.ssh(), "far did not run rove's command"),
        ("sh -c 'echo no way >&2; exit 255' ssh".to_owned(), "ssh did not get through to far"),
        ("/nonexistent/ssh".to_owned(), "cannot run /nonexistent/ssh"),
    ] {
        for words in [&["list", "far"][..], &["kill", "far", "--all"]] {
            let call = Invocation::new(rove()).args(words).arg(format!("--ssh={ssh}"));
            let output = call.command().output().expect("rove starts");
            assert_eq!(output.status.code(), Some(10), "{output:?}");
            assert!(text(&output.stderr).contains(part), "{output:?}");
        }
    }
}

#[test]
fn a_session_without_a_program_is_listed_and_ended_and_nobody_attaches_to_it() {
    let host = Host::new();
    let start = |words: &[&str]| {
        let call = Maker::Rove.server().env("ROVE_RUNTIME_DIR", host.sockets());
        Server::from_call(
            LOCALHOST,
            call.args(["streams", "-i", "127.0.0.1", "-p", "0"]).args(words),
        )
    };
    let refused = start(&["--", "ls"]).err().expect("a command is refused");
    assert!(text(&refused.stderr).contains("streams and forwards run no command"), "{refused:?}");
    let server = start(&[]).unwrap_or_else(|output| panic!("{output:?}"));
    let port = server.address.port().to_string();
    crate::support::wait_until("the session in the list", || {
        host.list().first().is_some_and(|it| it["no_program"] == true)
    });
    assert!(text(&host.rove(&["list"]).stdout).contains("no program"));
    for (words, sentence) in [
        (&["server", "attach"][..], "no session of yours runs here"),
        (&["server", "attach", &port], "it runs no program, so there is nothing to attach to"),
        (&["server", "attach", "--view", &port], "it runs no program"),
    ] {
        let output = host.rove(words);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output.stderr).contains(sentence), "{words:?}: {output:?}");
    }
    let output = host.rove(&["kill", &port]);
    assert!(text(&output.stdout).contains("its streams are closed"), "{output:?}");
    server.assert_gone();
    // Keys typed into this session reach no program, and the client can end it as usual.
    let server = start(&[]).unwrap_or_else(|output| panic!("{output:?}"));
    let mut terminal = Terminal::start(&Maker::Rove.client(server.address, &server.key), SIZE);
    terminal.send("x\x1e.");
    terminal.wait_exit().assert_code(0).assert_restored(Maker::Rove);
    server.assert_gone();
}
