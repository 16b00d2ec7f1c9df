//! The system's list of logins (utmp): what `who` shows of a session, and how a login uses the list.

use std::net::{IpAddr, Ipv4Addr};
use std::process::Command;
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::process::Signal;

use crate::support::{
    ANSWERING, Invocation, Maker, Report, SIZE, Scratch, Server, Terminal, require, side_by_side,
    wait_until, within_guard,
};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A script that runs a command on a computer whose list of logins is its own and empty.
const ON_AN_EMPTY_COMPUTER: &str = r#"
mount -t tmpfs -o mode=755 none /run && : > /run/utmp && chgrp utmp /run/utmp && chmod 664 /run/utmp
exec "$@"
"#;

/// How long to wait before the test reads the list again.
const PAUSE: Duration = Duration::from_millis(200);

/// A computer whose list of logins is its own, and has an entry of the server that runs there.
struct Computer {
    namespace: String,
    scratch: Scratch,
}

impl Computer {
    /// Starts a session on a new computer, and waits for the session's entry in the list.
    fn boot(maker: Maker, report: &Report) -> (Self, Server) {
        let scratch = Scratch::new();
        let call = maker.server().env("ROVE_RUNTIME_DIR", scratch.path("sockets"));
        let call = call.behind_mounts(&[ON_AN_EMPTY_COMPUTER, "sh"]);
        let server =
            Server::start_with(call, LOCALHOST, &["sh", "-c", ANSWERING, "sh", report.path()]);
        let pid = server.pid();
        let computer = Self { namespace: format!("/proc/{pid}/ns/mnt"), scratch };
        computer.wait_for(pid, Some(&format!("mosh [{pid}]")));
        (computer, server)
    }

    /// Returns the call as it must be made to run on this computer.
    fn on(&self, call: Invocation) -> Invocation {
        call.behind(&["nsenter", &format!("--mount={}", self.namespace)])
    }

    /// Waits until `who` shows `shown` in parentheses for this server, or for `None` no entry of the server.
    fn wait_for(&self, server: u32, shown: Option<&str>) {
        let who = self.on(Invocation::new(require("who", "coreutils")));
        let mine = format!("mosh [{server}]");
        let wanted = shown.map(|shown| format!("({shown})"));
        within_guard(&format!("who to show {shown:?}"), move || {
            loop {
                let list = output(&mut who.command());
                let entry = list.lines().find(|line| line.contains(&mine));
                match (entry, &wanted) {
                    (None, None) => return,
                    (Some(entry), Some(wanted)) if entry.ends_with(wanted) => return,
                    _ => {}
                }
                crate::support::pause(PAUSE);
            }
        });
    }

    /// Logs in. The login can read the list of logins, but finds no control socket of the first session. Returns the
    /// screen at the prompt. (A stock server's login prints nothing on Debian: Mosh 1.4.0 as observed.)
    fn log_in(&self) -> String {
        let home = self.scratch.path("home");
        std::fs::create_dir_all(&home).expect("the scratch folder takes a folder");
        std::fs::write(home.join(".profile"), "PS1='prompt '\n").expect("the folder takes files");
        let call = Maker::Rove.server().env("HOME", &home);
        let call = self.on(call.env("ROVE_RUNTIME_DIR", self.scratch.path("other-sockets")));
        let server = Server::start_with(call, LOCALHOST, &[]);
        let mut terminal = Terminal::start(&Maker::Rove.client(server.address, &server.key), SIZE);
        terminal.wait_for_text("prompt");
        let screen = terminal.screen().contents();
        terminal.send("exit\r");
        terminal.wait_exit().assert_code(0);
        server.assert_gone();
        screen
    }
}

fn output(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("a list is text")
}

/// A session counts as detached after half a minute of real time (Mosh 1.4.0 as observed). The cases run in parallel.
#[test]
fn the_list_of_users_shows_a_client_and_logins_are_told_of_detached_sessions() {
    if !rustix::process::geteuid().is_root() {
        return; // only root can have a list of his own
    }
    side_by_side([Maker::Rove, Maker::Stock], |maker| {
        let scratch = Scratch::new();
        let report = Report::new(&scratch);
        let (computer, server) = Computer::boot(maker, &report);
        let pid = server.pid();
        let nobody = format!("mosh [{pid}]");
        let terminal = Terminal::start(&maker.client(server.address, &server.key), SIZE);
        terminal.wait_for_text("ready");
        computer.wait_for(pid, Some(&format!("127.0.0.1 via mosh [{pid}]")));
        assert!(!computer.log_in().contains(&nobody), "it has a client");
        terminal.signal(Signal::KILL);
        computer.wait_for(pid, Some(&nobody));
        let told = computer.log_in();
        assert!(told.contains(&nobody), "{told}");
        server.signal(Signal::TERM);
        server.assert_gone();
    });
}

/// Returns the names of the children of a process.
fn children(process: u32) -> Vec<String> {
    let read = |path: String| std::fs::read_to_string(path).unwrap_or_default();
    let numbers = read(format!("/proc/{process}/task/{process}/children"));
    numbers
        .split_whitespace()
        .map(|it| read(format!("/proc/{it}/comm")).trim().to_owned())
        .collect()
}

#[test]
fn a_session_does_not_wait_for_the_list_while_another_program_has_it_locked() {
    if !rustix::process::geteuid().is_root() {
        return; // as above
    }
    let scratch = Scratch::new();
    let report = Report::new(&scratch);
    let (computer, stays) = Computer::boot(Maker::Rove, &report);
    // A session that no client joins ends after a minute.
    let _client = Terminal::start(&Maker::Rove.client(stays.address, &stays.key), SIZE);
    let root = std::path::Path::new("/proc").join(stays.pid().to_string()).join("root");
    let list = root.join("run/utmp");
    let list = std::fs::File::options().write(true).open(list).expect("the list is there");
    rustix::fs::fcntl_lock(&list, FlockOperation::LockExclusive).expect("a file can be locked");
    let call = Maker::Rove.server().env("ROVE_RUNTIME_DIR", computer.scratch.path("sockets"));
    let server = Server::start_with(
        computer.on(call),
        LOCALHOST,
        &["sh", "-c", ANSWERING, "sh", report.path()],
    );
    let pid = server.pid();
    let terminal = Terminal::start(&Maker::Rove.client(server.address, &server.key), SIZE);
    terminal.wait_for_text("ready");
    // The child is named after its parent until it executes the helper `utempter`.
    wait_until("somebody who waits for the list", || {
        children(pid).iter().any(|name| name == "utempter")
    });
    drop(list);
    computer.wait_for(pid, Some(&format!("127.0.0.1 via mosh [{pid}]")));
}

#[test]
fn a_session_that_ends_leaves_the_list_and_one_that_was_killed_is_nobodys_concern() {
    if !rustix::process::geteuid().is_root() {
        return; // as above
    }
    let scratch = Scratch::new();
    let report = Report::new(&scratch);
    for maker in [Maker::Rove, Maker::Stock] {
        for signal in [Signal::TERM, Signal::KILL] {
            // The computer exists as long as this session, which waits a minute for its client.
            let (computer, stays) = Computer::boot(Maker::Rove, &report);
            let call = maker.server().env("ROVE_RUNTIME_DIR", computer.scratch.path("sockets"));
            let server = Server::start_with(computer.on(call), LOCALHOST, &["sleep", "1000"]);
            let pid = server.pid();
            computer.wait_for(pid, Some(&format!("mosh [{pid}]")));
            server.signal(signal);
            server.assert_gone();
            if signal == Signal::TERM {
                computer.wait_for(pid, None);
            }
            let told = computer.log_in();
            assert!(!told.contains(&format!("[{pid}]")), "{told}");
            assert!(told.contains(&format!("[{}]", stays.pid())), "{told}");
        }
    }
}
