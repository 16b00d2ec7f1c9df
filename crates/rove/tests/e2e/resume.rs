//! Sessions that go on after their client was killed.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};

use rustix::process::Signal;

use crate::support::{Far, Invocation, Maker, SIZE, Scratch, Server, Sshd, Terminal, rove};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Says that it is there, and then what it reads.
const ECHOING: &str = "echo here; while read -r line; do echo \"got $line\"; done";

/// A user whose records are in a folder of the test's own.
struct User(Scratch);

impl User {
    fn new() -> Self {
        Self(Scratch::new())
    }

    /// Returns the call with this user's folders.
    fn call(&self, call: Invocation) -> Invocation {
        let folder = |name: &str| self.0.path(name);
        call.env("ROVE_RUNTIME_DIR", folder("run"))
            .env("XDG_DATA_HOME", folder("data"))
            .env("XDG_STATE_HOME", folder("state"))
    }

    fn resume(&self, words: &[&str]) -> Terminal {
        let call = self.call(Invocation::new(rove()).arg("resume").args(words));
        Terminal::start(&call, SIZE)
    }

    /// Returns how many sessions are kept, by their keys.
    fn kept(&self) -> usize {
        fs::read_dir(self.0.path("data/rove/resume")).map_or(0, Iterator::count)
    }

    fn assert_nothing_waits(&self) {
        let mut resume = self.resume(&[]);
        resume.wait_exit().assert_code(1);
        assert!(resume.output().contains("no session waits"), "{}", resume.output());
        assert_eq!(self.kept(), 0);
    }
}

/// Types a line, and waits for the program's answer.
fn talk(terminal: &Terminal, word: &str) {
    terminal.send(format!("{word}\r"));
    terminal.wait_for_text(&format!("got {word}"));
}

fn kill(mut terminal: Terminal, signal: Signal) {
    terminal.signal(signal);
    terminal.wait_exit();
}

#[test]
fn a_killed_client_of_a_stock_server_is_resumed_again_and_again() {
    let user = User::new();
    let server = Server::start(Maker::Stock, LOCALHOST, &["sh", "-c", ECHOING]);
    let call = user.call(Maker::Rove.client(server.address, &server.key));
    let mut terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("here");
    talk(&terminal, "line 0");
    for number in 1..=4 {
        kill(terminal, Signal::KILL);
        assert_eq!(user.kept(), 1);
        terminal = user.resume(&[]);
        terminal.wait_for_text(&format!("got line {}", number - 1));
        talk(&terminal, &format!("line {number}"));
    }
    let mut second = user.resume(&[]);
    second.wait_exit().assert_code(1);
    assert!(second.output().contains("no session waits"), "another client has it");
    terminal.send("\x04");
    terminal.wait_exit().assert_code(0).assert_restored(Maker::Rove);
    user.assert_nothing_waits();
}

#[test]
fn a_killed_client_of_a_rove_gets_a_fresh_key_over_ssh() {
    let (user, sshd) = (User::new(), Sshd::start(Far::default()));
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh()));
    let call = user.call(call.args(["far", "--", "sh", "-c", ECHOING]));
    let terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("here");
    talk(&terminal, "one");
    kill(terminal, Signal::KILL);
    let connections = sshd.connections();
    let mut terminal = user.resume(&["far"]);
    terminal.wait_for_text("got one");
    assert!(sshd.connections() > connections);
    talk(&terminal, "two");
    assert_eq!(user.kept(), 1, "the new client's record takes the place of the old one");
    terminal.send("\x04");
    terminal.wait_exit().assert_code(0).assert_restored(Maker::Rove);
    user.assert_nothing_waits();
}

#[test]
fn a_session_outlives_its_terminal_only_if_the_user_has_said_so() {
    for (settings, outlives) in
        [("", false), ("resume = true\n", true), ("resume = false\n", false)]
    {
        let (user, sshd) = (User::new(), Sshd::start(Far::default()));
        let config = user.0.write("config.toml", settings);
        fs::set_permissions(&config, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh()));
        let call = call.env("ROVE_CONFIG", &config).args(["far", "--", "sh", "-c", ECHOING]);
        let mut terminal = Terminal::start(&user.call(call), SIZE);
        terminal.wait_for_text("here");
        talk(&terminal, "one");
        assert_eq!(user.kept(), usize::from(settings != "resume = false\n"));
        terminal.signal(Signal::HUP);
        terminal.wait_exit().assert_code(129);
        if outlives {
            let mut terminal = user.resume(&[]);
            terminal.wait_for_text("got one");
            terminal.send("\x04");
            terminal.wait_exit().assert_code(0);
        }
        user.assert_nothing_waits();
    }
}
