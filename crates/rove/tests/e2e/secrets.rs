//! Passwords that are typed at their prompt, before it, or before the client knows it. No prediction shows them.

use std::net::{IpAddr, Ipv4Addr};
use std::process::Command;

use rove_link::LinkConfig;
use rove_shell::relay::Relay;
use rove_units::Duration;
use rustix::process::Signal;

use crate::support::{
    Invocation, Maker, Report, SIZE, Scratch, Server, Terminal, each_pair, relay_to, within_guard,
};

/// A session over a slow path. The user types keys before the client knows of the prompt.
struct Session {
    terminal: Terminal,
    server: Server,
    _relay: Relay,
    scratch: Scratch,
}

impl Session {
    /// Starts a script that writes a line to `$GO` when the test should type.
    fn start((client, server): (Maker, Maker), script: &str) -> Self {
        let scratch = Scratch::new();
        let made = Command::new("mkfifo").arg(scratch.path("go")).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo makes a pipe");
        let setting =
            format!("GO={}; cd {}", scratch.path("go").display(), scratch.folder().display());
        let script = format!("{setting}; export GO; {script}");
        let server = Server::start(server, IpAddr::V4(Ipv4Addr::LOCALHOST), &["sh", "-c", &script]);
        let relay = relay_to(server.address, LinkConfig::lossless(Duration::from_millis(120)));
        let call =
            client.client(relay.address(), &server.key).env("MOSH_PREDICTION_DISPLAY", "always");
        let terminal = Terminal::start(&call, SIZE);
        Self { terminal, server, _relay: relay, scratch }
    }

    /// Waits until the script has written the line `go`.
    fn wait_for_go(&self) {
        let line = std::fs::read(self.scratch.path("go")).expect("the script opens the pipe");
        assert_eq!(line, b"go\n");
    }

    /// Waits for the session's end. Asserts that no output has the letter `j`, which is only in the secret and in no
    /// escape sequence or message.
    fn assert_secret(mut self, circumstances: &str) {
        let exit = self.terminal.wait_exit();
        let output = exit.output.escape_debug();
        assert!(exit.output.contains("length 7"), "{circumstances}: {output}");
        assert!(!exit.output.contains('j'), "{circumstances}: {output}");
    }
}

#[test]
fn a_password_is_not_seen_before_the_client_can_know_that_it_is_one() {
    let ends = "read -r line; stty echo; echo \"length ${#line}\"";
    for asks in ["stty -echo; printf 'Name of Q: '", "printf 'Name of Q: '; stty -echo"] {
        let script = format!("{asks}; echo go >$GO; {ends}");
        each_pair(|pair| {
            let session = Session::start(pair, &script);
            session.wait_for_go();
            session.terminal.send("jj");
            session.terminal.wait_for_text("Name of Q:");
            session.terminal.send("jj");
            session.terminal.send("jjj\r");
            session.assert_secret(&format!("{pair:?}, {asks}"));
        });
    }
}

#[test]
fn a_password_typed_ahead_behind_another_answer_is_not_seen() {
    let script = "printf 'User: '; read -r user; stty -echo; echo go >$GO; printf 'Password: '; \
                  read -r line; stty echo; echo \"length ${#line}\"";
    each_pair(|pair| {
        let session = Session::start(pair, script);
        session.terminal.wait_for_text("User:");
        for letter in ["a", "n", "n", "a"] {
            session.terminal.send(letter);
        }
        session.terminal.wait_for_text("User: anna");
        session.terminal.send("\r");
        session.wait_for_go();
        session.terminal.send("jj");
        session.terminal.send("jj");
        session.terminal.wait_for_text("Password:");
        session.terminal.send("jjj\r");
        session.assert_secret(&format!("{pair:?}"));
    });
}

#[test]
fn a_password_typed_ahead_behind_a_shells_command_is_not_seen() {
    let script = "exec env PS1='ready$ ' bash --norc --noprofile -i";
    let asks = "stty -echo; echo go >$GO; printf 'Password: '; read -r line; stty echo; \
                echo \"length ${#line}\"";
    each_pair(|pair| {
        let session = Session::start(pair, script);
        session.scratch.write("ask", asks);
        session.terminal.wait_for_text("ready$");
        // This line's predictions at the prompt were correct.
        session.terminal.send("echo one\r");
        session
            .terminal
            .wait_for("the next prompt", |screen| screen.contents().matches("ready$").count() == 2);
        session.terminal.send("sh ask\r");
        session.wait_for_go();
        session.terminal.send("jjj");
        session.terminal.wait_for_text("Password:");
        session.terminal.send("jjjj\r");
        session.terminal.wait_for_text("length 7");
        session.terminal.send("exit\r");
        session.assert_secret(&format!("{pair:?}"));
    });
}

#[test]
fn a_password_that_another_clients_command_asks_for_is_not_seen() {
    let scratch = Scratch::new();
    let report = Report::new(&scratch);
    let rove = |call: Invocation| call.env("ROVE_RUNTIME_DIR", scratch.path("sockets"));
    let localhost = IpAddr::V4(Ipv4Addr::LOCALHOST);
    // The prompt is below the rows in which the client shows its status.
    let shell = "printf '\\n%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14; \
                 exec env 'PS1=ready$ ' bash --norc --noprofile -i";
    let shell = ["sh", "-c", shell];
    let server = rove(Maker::Rove.server()).env("GO", report.path());
    let server = Server::start_with(server, localhost, &shell);
    let relay = relay_to(server.address, LinkConfig::lossless(Duration::from_millis(120)));
    let call = Maker::Rove.client(relay.address(), &server.key);
    let mut owner = Terminal::start(&call.env("MOSH_PREDICTION_DISPLAY", "always"), SIZE);
    owner.wait_for_text("ready$");
    // Lines that are typed key by key prove the prompt. Three are enough if the computer echoes each in time.
    let is_known = (1..=8).any(|number| {
        owner.send("c");
        owner.wait_for("its echo", |screen| screen.contents().ends_with("ready$ c"));
        owner.send("d\r");
        owner.wait_for("the next prompt", |screen| {
            screen.contents().matches("ready$").count() == number + 1
        });
        // A letter at a known prompt appears before its echo. The client's own status appears with the letter or later.
        server.signal(Signal::STOP);
        owner.send("Y\x1es");
        owner.wait_for_text("Status (any key closes this)");
        let is_shown = owner.screen().contents().ends_with("ready$ Y");
        server.signal(Signal::CONT);
        owner.send("q\x15");
        owner.wait_for("an empty line", |screen| {
            screen.contents().trim_end().ends_with("ready$")
                && !screen.contents().contains("Status (")
        });
        is_shown
    });
    assert!(is_known, "{}", owner.dump());

    let port = server.address.port().to_string();
    let ask = rove(Invocation::new(crate::support::rove()));
    let ask = ask.args(["server", "attach", "--share", &port]);
    let told = within_guard("a key", move || ask.command().output().expect("rove starts").stdout);
    let told = String::from_utf8(told).expect("a line");
    let key = told.split_whitespace().last().expect("a key");
    let other = Terminal::start(&Maker::Rove.client(server.address, key), SIZE);
    other.wait_for_text("ready$ cd");
    owner.wait_for_notice("joined to type");
    other.send("stty -echo; echo go >$GO; read -s line; echo length ${#line}\r");
    report.wait_line("go");
    owner.wait_for_text("read -s line");
    for letter in ["Z", "Z", "ZZZ", "Z", "Z\r"] {
        owner.send(letter);
    }
    owner.wait_for_text("length 7");
    owner.send("exit\r");
    let exit = owner.wait_exit();
    assert!(!exit.output.contains('Z'), "{}", exit.output.escape_debug());
}

#[test]
fn kernel_echo_is_shown_at_once_after_its_first_echo() {
    let script = "printf 'Name: '; echo go >$GO; read -r line; echo \"got $line.\"";
    let mut session = Session::start((Maker::Rove, Maker::Rove), script);
    session.terminal.wait_for_text("Name:");
    session.wait_for_go();
    // The first echo proves that this prompt echoes keys.
    session.terminal.send("a");
    session.terminal.wait_for_text("Name: a");
    session.server.signal(Signal::STOP);
    session.terminal.send("b\x7fc");
    session.terminal.wait_for_text("Name: ac");
    session.terminal.send("\r");
    session.server.signal(Signal::CONT);
    let exit = session.terminal.wait_exit();
    assert!(exit.output.contains("got ac."), "{}", exit.output.escape_debug());
}
