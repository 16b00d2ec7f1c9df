//! Sessions that continue after the death of their client.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::{
    Border, Far, Invocation, Maker, SIZE, Scratch, Server, Sshd, Terminal, answered, free_port,
    install_script, pause, rove, side_by_side, wait_until, within_guard,
};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A script that prints `here`, and then each line that it reads.
const ECHOING: &str = "echo here; while read -r line; do echo \"got $line\"; done";

/// A user who keeps rove's records in a scratch folder.
struct User(Scratch);

impl User {
    fn new() -> Self {
        Self(Scratch::new())
    }

    /// Returns the call with this user's folders in its environment.
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

    /// Returns how many sessions the user can resume, which is the number of files with session keys.
    fn kept(&self) -> usize {
        fs::read_dir(self.0.path("data/rove/resume")).map_or(0, Iterator::count)
    }

    /// Types keys, and waits until the client has changed its record of the session.
    fn type_into_record(&self, terminal: &Terminal, keys: &str) {
        let folder = self.0.path("run");
        let read = move || -> Vec<Option<Vec<u8>>> {
            let paths = fs::read_dir(&folder).into_iter().flatten().flatten().map(|it| it.path());
            let progress = paths.filter(|it| it.extension().is_some_and(|it| it == "at"));
            progress.map(|it| fs::read(it).ok()).collect()
        };
        let before = read();
        terminal.send(keys);
        within_guard("a record", move || {
            while read() == before {
                pause(Duration::from_millis(5));
            }
        });
    }

    fn assert_nothing_waits(&self) {
        let mut resume = self.resume(&[]);
        resume.wait_exit().assert_code(1);
        assert!(resume.output().contains("no session waits"), "{}", resume.output());
        assert_eq!(self.kept(), 0);
    }
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
    terminal.talk("line 0");
    for number in 1..=4 {
        kill(terminal, Signal::KILL);
        assert_eq!(user.kept(), 1);
        terminal = user.resume(&[]);
        terminal.wait_for_text(&format!("got line {}", number - 1));
        terminal.talk(&format!("line {number}"));
    }
    let mut second = user.resume(&[]);
    second.wait_exit().assert_code(1);
    assert!(second.output().contains("no session waits"), "another client has it");
    terminal.send("\x04");
    terminal.wait_exit().assert_code(0).assert_restored(Maker::Rove);
    user.assert_nothing_waits();
}

#[test]
fn a_name_that_no_session_has_is_answered_by_the_names_that_can_be_given() {
    let user = User::new();
    let server = Server::start(Maker::Stock, LOCALHOST, &["sh", "-c", ECHOING]);
    let call = user.call(Maker::Rove.client(server.address, &server.key));
    let terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("here");
    terminal.talk("line");
    kill(terminal, Signal::KILL);
    for wrong in ["far", "2"] {
        let mut resume = user.resume(&[wrong]);
        resume.wait_exit().assert_code(1);
        let output = resume.output();
        assert!(output.contains(&format!("1  {}", server.address)), "{output}");
        assert!(output.contains("is no session that waits"), "{output}");
    }
    let mut terminal = user.resume(&["1"]);
    terminal.wait_for_text("got line");
    terminal.send("\x04");
    terminal.wait_exit().assert_code(0);
}

#[test]
fn a_resumed_session_and_a_question_keep_no_other_session_back() {
    let user = User::new();
    let servers =
        ["one", "two"].map(|_| Server::start(Maker::Stock, LOCALHOST, &["sh", "-c", ECHOING]));
    for server in &servers {
        let call = user.call(Maker::Rove.client(server.address, &server.key));
        let terminal = Terminal::start(&call, SIZE);
        terminal.wait_for_text("here");
        terminal.talk("one");
        kill(terminal, Signal::KILL);
    }
    assert_eq!(user.kept(), 2);
    let mut asked = user.resume(&[]);
    asked.wait_for_text("which session?");
    let first = user.resume(&["1"]);
    first.wait_for_text("got one");
    let second = user.resume(&[]);
    second.wait_for_text("got one");
    asked.send("1\r");
    asked.wait_exit().assert_code(1);
    assert!(asked.output().contains("another client has it"), "{}", asked.output());
    for mut terminal in [first, second] {
        terminal.talk("two");
        terminal.send("\x04");
        terminal.wait_exit().assert_code(0);
    }
    user.assert_nothing_waits();
}

#[test]
fn a_record_whose_folder_was_removed_is_written_anew() {
    let (sshd, stock) = (
        Sshd::start(Far::default()),
        Server::start(Maker::Stock, LOCALHOST, &["sh", "-c", ECHOING]),
    );
    let rove = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh()));
    let rove = rove.args(["far", "--", "sh", "-c", ECHOING]);
    for call in [Maker::Rove.client(stock.address, &stock.key), rove] {
        let user = User::new();
        let terminal = Terminal::start(&user.call(call), SIZE);
        terminal.wait_for_text("here");
        terminal.talk("one");
        fs::remove_dir_all(user.0.path("run")).unwrap();
        terminal.talk("two");
        assert_eq!(user.kept(), 1);
        kill(terminal, Signal::KILL);
        let mut terminal = user.resume(&[]);
        terminal.wait_for_text("got two");
        terminal.send("\x04");
        terminal.wait_exit().assert_code(0);
        user.assert_nothing_waits();
    }
}

#[test]
fn a_record_whose_session_has_ended_takes_over_no_other_at_its_port() {
    let sshd = Sshd::start(Far::default());
    let ssh = format!("--ssh={}", sshd.ssh());
    let port = free_port().to_string();
    let start = |user: &User| {
        let call =
            Invocation::new(rove()).args([&ssh, "-p", &port, "far", "--", "sh", "-c", ECHOING]);
        let terminal = Terminal::start(&user.call(call), SIZE);
        terminal.wait_for_text("here");
        terminal.talk("one");
        terminal
    };
    let users = [User::new(), User::new()];
    kill(start(&users[0]), Signal::KILL);
    let end = Invocation::new(rove()).args(["kill", &ssh, "far", &port]);
    assert_eq!(answered(&end).status.code(), Some(0));
    let mut living = start(&users[1]);
    let mut resume = users[0].resume(&[]);
    resume.wait_exit().assert_code(10);
    assert!(resume.output().contains("another session than that"), "{}", resume.output());
    living.talk("two");
    living.send("\x04");
    living.wait_exit().assert_code(0);
}

#[test]
fn a_killed_client_of_a_rove_gets_a_fresh_key_over_ssh() {
    // This login lasts three seconds.
    let sshd = Sshd::start(Far { profile: "sleep 3", ..Far::default() });
    let user = User::new();
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh()));
    let call = user.call(call.args(["far", "--", "sh", "-c", ECHOING]));
    let terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("here");
    terminal.talk("one");
    kill(terminal, Signal::KILL);
    let connections = sshd.connections();
    let mut terminal = user.resume(&["far"]);
    wait_until("a login", || sshd.connections() > connections);
    let mut second = user.resume(&[]);
    second.wait_exit().assert_code(1);
    assert!(second.output().contains("no session"), "another one goes on with it");
    terminal.wait_for_text("got one");
    terminal.talk("two");
    assert_eq!(user.kept(), 1, "the new client's record takes the place of the old one");
    terminal.send("\x04");
    terminal.wait_exit().assert_code(0).assert_restored(Maker::Rove);
    user.assert_nothing_waits();
}

#[test]
fn a_resumed_session_with_a_rove_keeps_the_options_of_its_former_client() {
    let sshd = Sshd::start(Far::default());
    let user = User::new();
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh()));
    let call = call.args(["-q", "--no-init", "--escape-key=^X", "--no-tunnel", "-4", "far", "--"]);
    let terminal = Terminal::start(&user.call(call.args(["sh", "-c", ECHOING])), SIZE);
    terminal.wait_for_text("here");
    terminal.talk("one");
    sshd.wait_alone();
    kill(terminal, Signal::KILL);
    let mut terminal = user.resume(&["far"]);
    terminal.wait_for_text("got one");
    terminal.talk("two");
    sshd.wait_alone();
    assert!(!terminal.output().contains("\x1b[?1049h"), "{}", terminal.output().escape_debug());
    terminal.send("\x18.");
    let exit = terminal.wait_exit();
    exit.assert_restored(Maker::Rove);
    assert!(!exit.output.contains("is exiting"), "{}", exit.output.escape_debug());
    user.assert_nothing_waits();
}

/// A shell that sets a title two seconds after a file appears. The server has then acknowledged all earlier keys.
const SHELL: &str = r#"(while [ ! -e "$0" ]; do sleep 0.05; done; sleep 2; printf '\033]2;acknowledged\007') &
    PS1='ann:~$ ' exec sh -i"#;

/// Kills a client whose last keys did not reach the host.
fn lose_keys(border: &Border, user: &User, later: &[&str]) {
    let call = Invocation::new(rove()).arg(format!("--ssh={}", border.sshd.ssh()));
    let port = border.port.to_string();
    let call = call.args(["--predict=always", "--no-tunnel", "-p", &port, "far", "--"]);
    let typed = user.0.path("typed");
    let call = user.call(call.args(["sh", "-c", SHELL]).arg(&typed));
    let terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("ann:~$");
    // The record lacks text after an unacknowledged key. The answer to this line comes long after the acknowledgment.
    terminal.send("sleep 0.5; echo one-$((1+1))\r");
    terminal.wait_for_text("one-2");
    terminal.send("echo ab");
    terminal.wait_for_text("$ echo ab");
    fs::write(typed, "").expect("the scratch folder takes a file");
    terminal.wait_for_output("acknowledged");
    border.let_pass(false, false);
    for keys in [&["cd-$((1+1))\r"], later].concat() {
        user.type_into_record(&terminal, keys);
    }
    kill(terminal, Signal::KILL);
}

#[test]
fn keys_that_had_not_arrived_at_a_rove_come_after_resume_and_lost_ones_are_named() {
    let cases = [
        (&[][..], None, false),
        (&["ef"], Some("The last 2 keys were lost"), false),
        (&[], None, true),
    ];
    side_by_side(cases, |(later, missing, fails_first)| {
        let user = User::new();
        let Some(border) = Border::start(Far::default(), true, true) else { return };
        lose_keys(&border, &user, later);
        if fails_first {
            // A client that never reaches the server leaves the record for the next client.
            let config = user.0.write("config.toml", "tunnel = false\n");
            fs::set_permissions(&config, fs::Permissions::from_mode(0o600)).unwrap();
            let call = Invocation::new(rove()).arg("resume").env("ROVE_CONFIG", &config);
            Terminal::start(&user.call(call), SIZE).wait_exit().assert_code(1);
        }
        border.let_pass(true, true);
        let mut terminal = user.resume(&[]);
        terminal.wait_for_text("abcd-2");
        if let Some(missing) = missing {
            terminal.wait_for_notice(missing);
        }
        terminal.send("echo two-$((1+1))\r");
        terminal.wait_for_text("two-2");
        let screen = terminal.screen().contents();
        assert_eq!(screen.matches("abcd-2").count(), 1, "{screen}");
        terminal.send("\x04");
        terminal.wait_exit().assert_code(0);
        user.assert_nothing_waits();
    });
}

/// A host whose PATH begins with a folder for an older rove, which ignores the new client's words about the former one.
const OLDER: Far =
    Far { shell: "sh", programs: &["rove"], profile: "PATH=$HOME/old:$PATH", banner: "" };

#[test]
fn an_older_rove_on_the_host_is_resumed_and_its_user_looks_for_the_last_keys() {
    let user = User::new();
    let Some(border) = Border::start(OLDER, true, true) else { return };
    let folder = border.sshd.path("old");
    fs::create_dir(&folder).unwrap();
    let program = "#!/bin/sh\nif [ \"$3\" = -l ]; then set -- server attach \"$5\"; fi\nexec \"$HOME/bin/rove\" \"$@\"\n";
    install_script(&folder.join("rove"), program);
    lose_keys(&border, &user, &[]);
    border.let_pass(true, true);
    let mut terminal = user.resume(&[]);
    terminal.wait_for_notice("keys may be lost: look at the screen");
    assert!(!terminal.screen().contents().contains("abcd-2"), "{}", terminal.dump());
    terminal.send("\x15exit\r");
    terminal.wait_exit().assert_code(0);
}

#[test]
fn a_full_disk_and_a_folder_that_takes_nothing_are_a_sentence_and_harm_no_session() {
    if !rustix::process::geteuid().is_root() {
        return; // only root can mount
    }
    let disks = [("size=64k", "No space left"), ("ro", "Read-only file system")];
    side_by_side(disks, |(options, part)| {
        let (user, sshd) = (User::new(), Sshd::start(Far::default()));
        fs::create_dir(user.0.path("run")).unwrap();
        let mount = r#"mount -t tmpfs -o mode=700,"$1" none "$ROVE_RUNTIME_DIR"; shift; exec "$@""#;
        let stock = Server::start(Maker::Stock, LOCALHOST, &["sh", "-c", ECHOING]);
        let rove = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh()));
        let rove = rove.args(["far", "--", "sh", "-c", ECHOING]);
        for call in [Maker::Rove.client(stock.address, &stock.key), rove] {
            let mut terminal =
                Terminal::start(&user.call(call).behind_mounts(&[mount, "sh", options]), SIZE);
            // The notice bar may cover the first line.
            if options != "ro" {
                terminal.wait_for_text("here");
                terminal.talk("one");
                assert_eq!(user.kept(), 1);
                let full = format!("/proc/{}/root{}", terminal.pid(), user.0.path("run").display());
                let mut file = fs::File::create(format!("{full}/full")).unwrap();
                std::io::copy(&mut std::io::repeat(1), &mut file).unwrap_err();
                // These keys fill the free bytes in the record's page.
                for _ in 0..300 {
                    terminal.send("x");
                    pause(Duration::from_millis(5));
                }
                terminal.send("\r");
            }
            terminal.wait_for_notice(&format!("No record for rove resume: {part}"));
            terminal.talk("two");
            assert_eq!(user.kept(), 0);
            terminal.send("\x04");
            terminal.wait_exit().assert_code(0).assert_restored(Maker::Rove);
        }
    });
}

#[test]
fn a_session_that_has_ended_on_the_host_is_forgotten_once_the_host_has_said_so() {
    let (user, sshd) = (User::new(), Sshd::start(Far::default()));
    let ssh = format!("--ssh={}", sshd.ssh());
    let call = Invocation::new(rove()).args([&ssh, "far", "--", "sh", "-c", ECHOING]);
    let terminal = Terminal::start(&user.call(call), SIZE);
    terminal.wait_for_text("here");
    terminal.talk("one");
    kill(terminal, Signal::KILL);
    // The host does not look into a folder that others may enter, so it does not know whether the session runs.
    let sockets = sshd.path("sockets");
    let let_in = |mode| fs::set_permissions(&sockets, fs::Permissions::from_mode(mode)).unwrap();
    let_in(0o755);
    user.resume(&[]).wait_exit().assert_code(10);
    assert_eq!(user.kept(), 1);
    let_in(0o700);
    // Another computer ends the session, so this one has its record.
    let ended = answered(&Invocation::new(rove()).args(["kill", &ssh, "far", "--all"]));
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(user.kept(), 1);
    let mut resume = user.resume(&[]);
    resume.wait_exit().assert_code(10);
    let output = resume.output().replace("\r\n", " ");
    assert!(output.contains("the session on far has ended"), "{output}");
    user.assert_nothing_waits();
}

#[test]
fn a_restart_of_the_computer_is_outlived_only_if_the_user_has_said_so() {
    if !rustix::process::geteuid().is_root() {
        return; // only root can mount
    }
    let is_known = fs::read_to_string("/etc/machine-id").is_ok_and(|id| !id.trim().is_empty());
    // These mounts imitate another boot of the computer, and its effect on the runtime directory.
    let boot = r#"
        printf 11111111-2222-3333-4444-555555555555 >"$ROVE_RUNTIME_DIR.boot"
        mount --bind "$ROVE_RUNTIME_DIR.boot" /proc/sys/kernel/random/boot_id || exit 9
        if [ "$1" = empty ]; then rm -rf "$ROVE_RUNTIME_DIR"; fi; shift; exec "$@"
    "#;
    for (setting, leaves, said) in [
        ("\"reboot\"", "empty", "got one"),
        ("true", "empty", "no session waits"),
        ("true", "all", "the computer has been"),
    ] {
        let user = User::new();
        let config = user.0.write("config.toml", &format!("resume = {setting}\n"));
        fs::set_permissions(&config, fs::Permissions::from_mode(0o600)).unwrap();
        let sshd = Sshd::start(Far::default());
        let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh()));
        let call = call.env("ROVE_CONFIG", &config).args(["far", "--", "sh", "-c", ECHOING]);
        let terminal = Terminal::start(&user.call(call), SIZE);
        terminal.wait_for_text("here");
        terminal.talk("one");
        kill(terminal, Signal::KILL);
        let call = user.call(Invocation::new(rove()).arg("resume"));
        let call = call.behind_mounts(&[boot, "sh", leaves]);
        let mut terminal = Terminal::start(&call, SIZE);
        terminal.wait_for_text(said);
        if setting == "true" {
            terminal.wait_exit().assert_code(1);
        } else {
            terminal.talk("two");
            terminal.send("\x04");
            terminal.wait_exit().assert_code(0).assert_restored(Maker::Rove);
        }
        // Without a machine-id, a missing record may be on another computer, so the client keeps the session's key.
        let may_be_elsewhere = !is_known && (setting, leaves) == ("true", "empty");
        assert_eq!(user.kept(), usize::from(may_be_elsewhere));
    }
}

#[test]
fn a_session_outlives_its_terminal_only_if_the_user_has_said_so() {
    for (settings, outlives, closes) in [
        ("", false, false),
        ("", false, true),
        ("resume = true\n", true, false),
        ("resume = true\n", true, true),
        ("resume = false\n", false, false),
    ] {
        let (user, sshd) = (User::new(), Sshd::start(Far::default()));
        let config = user.0.write("config.toml", settings);
        fs::set_permissions(&config, fs::Permissions::from_mode(0o600)).unwrap();
        let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh()));
        let call = call.env("ROVE_CONFIG", &config).args(["far", "--", "sh", "-c", ECHOING]);
        // Without a controlling terminal, the client gets the end of its input, but no SIGHUP. With it, the signal may
        // come later than the end of the input.
        let apart = ["sh", "-c", "trap '' HUP; setsid --wait \"$@\"; exit", "sh"];
        let call = if closes { call.behind(&apart) } else { call };
        let mut terminal = Terminal::start(&user.call(call), SIZE);
        terminal.wait_for_text("here");
        terminal.talk("one");
        assert_eq!(user.kept(), usize::from(settings != "resume = false\n"));
        if closes {
            terminal.close_window();
        } else {
            terminal.signal(Signal::HUP);
            terminal.wait_exit().assert_code(129);
        }
        if outlives {
            let mut terminal = user.resume(&[]);
            terminal.wait_for_text("got one");
            terminal.send("\x04");
            terminal.wait_exit().assert_code(0);
        }
        user.assert_nothing_waits();
    }
}
