//! Logging in: a real ssh connects to a real sshd on hosts with different shells and servers.

use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{
    ClosedPort, Far, Invocation, Maker, SIZE, Scratch, Sshd, Terminal, rove, side_by_side,
    within_guard,
};

/// A command that prints a line and ends with status 7. Only a rove server passes this status on to a rove client.
const HELLO: [&str; 4] = ["--", "sh", "-c", "echo hello from afar; exit 7"];

/// Exit statuses of [`HELLO`] that tell which server answered: only a rove server passes on the command's status 7.
const ROVE_ANSWERED: i32 = 7;
const STOCK_ANSWERED: i32 = 0;

/// Logs in with this call. Asserts that the session ran and that the client exited with `code`.
fn log_in(call: Invocation, sshd: &Sshd, code: i32) {
    let call = call.arg(format!("--ssh={}", sshd.ssh())).arg("far").args(HELLO);
    let mut terminal = Terminal::start(&call, SIZE);
    let exit = terminal.wait_exit();
    assert!(exit.output.contains("hello from afar"), "{}\n{}", terminal.dump(), sshd.log());
    exit.assert_code(code).assert_restored(Maker::Rove);
}

#[test]
fn rove_uses_the_rove_on_the_far_side_and_stock_mosh_where_there_is_none() {
    for (programs, code) in [
        (&["rove"][..], ROVE_ANSWERED),
        (&["rove", "mosh-server"], ROVE_ANSWERED),
        (&["mosh-server"], STOCK_ANSWERED),
        (&["rove as mosh-server"], ROVE_ANSWERED),
    ] {
        let sshd = Sshd::start(Far { programs, ..Far::default() });
        log_in(Invocation::new(rove()), &sshd, code);
    }
}

#[test]
fn the_end_of_ssh_is_noticed_where_the_ends_of_children_are_ignored() {
    let sshd = Sshd::start(Far::default());
    let call = Invocation::new(rove()).behind(&["env", "--ignore-signal=CHLD"]);
    log_in(call, &sshd, ROVE_ANSWERED);
}

#[test]
fn called_mosh_it_behaves_as_mosh() {
    let scratch = Scratch::new();
    let mosh = scratch.path("mosh");
    std::os::unix::fs::symlink(rove(), &mosh).unwrap();
    for programs in [&["mosh-server"][..], &["rove as mosh-server"]] {
        let sshd = Sshd::start(Far { programs, ..Far::default() });
        // Stock `mosh` does not pass on the command's status, and scripts rely on that.
        log_in(Invocation::new(&mosh), &sshd, 0);
    }
}

#[test]
fn the_user_decides_about_messages_on_the_way() {
    let way = ["rove: running ssh ", "rove: the server is at 127.0.0.1, UDP port "];
    let end = "[rove is exiting.]";
    for (option, says_way) in [(None, false), (Some("--quiet"), false), (Some("--verbose"), true)] {
        let sshd = Sshd::start(Far::default());
        let call = Invocation::new(rove()).args(option).arg(format!("--ssh={}", sshd.ssh()));
        let log = sshd.path("client.log");
        let call = call.env("ROVE_LOG", &log).arg("far").args(HELLO);
        let mut terminal = Terminal::start(&call, SIZE);
        let exit = terminal.wait_exit();
        exit.assert_code(ROVE_ANSWERED).assert_restored(Maker::Rove);
        let said = exit.output.as_str();
        let found = (way.map(|part| said.contains(part)), said.contains(end));
        // Only the session of a shell prints a message at its end. Nothing follows the output of a command.
        assert_eq!(found, ([says_way; 2], false), "{option:?}: {}", said.escape_debug());
        assert!(said.contains("hello from afar"), "{}", said.escape_debug());
        let log = std::fs::read_to_string(log).unwrap_or_default();
        assert_eq!(log.contains("datagram sent"), says_way, "{option:?}: every packet is logged");
    }
    // Errors are shown even with `-q`.
    let sshd = Sshd::start(Far { programs: &[], ..Far::default() });
    let call = Invocation::new(rove()).args(["-q", &format!("--ssh={}", sshd.ssh()), "far"]);
    let exit = Terminal::start(&sshd.without_offer(call), SIZE).wait_exit();
    exit.assert_code(10);
    assert!(exit.output.contains("neither rove nor mosh-server found on far"), "{}", exit.output);
}

#[test]
fn a_log_that_cannot_be_opened_leaves_no_connection_to_the_host() {
    // In the second case, the host's start-up file takes the log's folder away, so that the client finds none.
    for (profile, code, logins) in [("", 10, 0), ("rm -r $HOME/logs", 1, 1)] {
        let sshd = Sshd::start(Far { profile, ..Far::default() });
        let log = sshd.path("logs/client.log");
        if logins > 0 {
            std::fs::create_dir(sshd.path("logs")).expect("the scratch folder takes a folder");
        }
        let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh()));
        let exit = Terminal::start(&call.env("ROVE_LOG", log).arg("far"), SIZE).wait_exit();
        exit.assert_code(code);
        assert!(exit.output.contains("cannot write the log"), "{}", exit.output.escape_debug());
        assert_eq!(sshd.connections(), logins);
        sshd.wait_alone();
    }
}

#[test]
fn a_server_on_this_computer_needs_no_ssh_and_stands_apart_from_the_client() {
    let scratch = Scratch::new();
    for name in ["mosh", "mosh-client", "mosh-server"] {
        std::os::unix::fs::symlink(rove(), scratch.path(name)).expect("the folder takes links");
    }
    let path = std::env::var("PATH").expect("the tests have a PATH");
    let path = format!("{}:{path}", scratch.folder().display());
    let script = r#"
        echo "in $PWD, client $MOSH_CLIENT_PID, ssh ${SSH_CONNECTION-none}"
        group() { ps -o pgid= -p "$1"; }
        [ "$(group $PPID)" != "$(group $MOSH_CLIENT_PID)" ] && echo apart
        while IFS= read -r line; do echo "got $line"; done
    "#;
    let call = Invocation::new(scratch.path("mosh")).env("PATH", path);
    let call = call.env("HOME", scratch.folder()).env("SSH_CONNECTION", "1.1.1.1 1 2.2.2.2 2");
    let call = call.args(["--local", "127.0.0.1", "--", "sh", "-c", script]);
    let mut terminal = Terminal::start(&call, (24, 200));
    let place = scratch.folder().display();
    let report = format!("in {place}, client {}, ssh none", terminal.pid());
    terminal.wait_for_text(&report);
    // A suspended client must not stop the server.
    terminal.wait_for_text("apart");
    terminal.send("\x1e\x1a");
    terminal.wait_stopped();
    terminal.signal(rustix::process::Signal::CONT);
    terminal.send("back\r");
    terminal.wait_for_text("got back");
    terminal.send("\x1e.");
    terminal.wait_exit().assert_code(0).assert_restored(Maker::Rove);
}

#[test]
fn termuxs_folder_takes_the_place_of_folders_that_android_lacks() {
    let scratch = Scratch::new();
    let prefix = scratch.path("com.termux/files/usr");
    for folder in ["bin", "tmp"] {
        std::fs::create_dir_all(prefix.join(folder)).expect("the folder takes folders");
    }
    // Another process writes this script, because the system executes no file that is still open for writing.
    let shell = prefix.join("bin/sh");
    let script = r#"#!/bin/sh
        : >"${0%/*}/was-called"
        exec /bin/sh "$@"
    "#;
    let write = "printf %s \"$1\" >\"$0\" && chmod 755 \"$0\"";
    let made = Command::new("/bin/sh").args(["-c", write]).arg(&shell).arg(script).status();
    assert!(made.expect("there is a shell").success());
    std::os::unix::fs::symlink(rove(), scratch.path("rove")).expect("the folder takes links");
    let path = std::env::var("PATH").expect("the tests have a PATH");
    let path = format!("{}:{path}", scratch.folder().display());
    let call = Invocation::new(rove()).env("PATH", path).env("PREFIX", &prefix);
    let list = r#"
        while set -- "$PREFIX"/tmp/rove-*/[0-9]*; ! [ -S "$1" ]; do :; done
        echo "socket there"
        read -r end
    "#;
    let call = call.args(["--local", "127.0.0.1", "--", "sh", "-c", list]);
    let mut terminal = Terminal::start(&call, (24, 200));
    terminal.wait_for_text("socket there");
    terminal.send("\r");
    terminal.wait_exit().assert_code(0).assert_restored(Maker::Rove);
    assert!(prefix.join("bin/was-called").exists(), "the server is started by Termux's shell");
}

#[test]
fn every_login_shell_understands_what_ssh_is_told() {
    side_by_side(["sh", "bash", "fish", "csh"], |shell| {
        for (programs, code) in [(&["rove"][..], ROVE_ANSWERED), (&["mosh-server"], STOCK_ANSWERED)]
        {
            let sshd = Sshd::start(Far { shell, programs, ..Far::default() });
            log_in(Invocation::new(rove()), &sshd, code);
        }
    });
}

#[test]
fn a_talkative_profile_does_no_harm() {
    let profile = r"
        printf 'Welcome to the far side\r\n'
        printf 'MOSH\nMOSH CONNECTED 1 2\n MOSH CONNECT 1 AAAAAAAAAAAAAAAAAAAAAA\n'
        printf '\033[1mno newline at the end, and bytes \377\376' >&2
        echo
    ";
    let sshd = Sshd::start(Far { profile, ..Far::default() });
    log_in(Invocation::new(rove()), &sshd, ROVE_ANSWERED);
}

#[test]
fn a_far_side_without_any_server_is_named_and_the_exit_code_is_ten() {
    let sshd = Sshd::start(Far { programs: &[], ..Far::default() });
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).arg("far");
    let mut terminal = Terminal::start(&sshd.without_offer(call), SIZE);
    let exit = terminal.wait_exit();
    exit.assert_code(10).assert_restored(Maker::Rove);
    assert!(exit.output.contains("install"), "{}", exit.output);
}

#[test]
fn an_ssh_that_cannot_connect_or_does_not_exist_ends_in_a_sentence() {
    let closed = ClosedPort::new();
    let port = closed.number;
    let refused = format!("cannot connect to 127.0.0.1 port {port}: Connection refused");
    for (ssh, sentence) in [
        (format!("ssh -F /dev/null -p {port}"), refused.as_str()),
        ("/nonexistent/ssh".to_owned(), "cannot run /nonexistent/ssh: "),
    ] {
        let call = Invocation::new(rove()).arg(format!("--ssh={ssh}")).arg("127.0.0.1");
        let mut terminal = Terminal::start(&call, SIZE);
        let exit = terminal.wait_exit();
        let text = exit.screen.contents();
        assert!(text.contains(sentence), "{text}");
        assert!(!exit.succeeded(), "{text}");
        exit.assert_restored(Maker::Rove);
    }
}

#[test]
fn a_profile_that_talks_like_mosh_sends_nobody_elsewhere() {
    for profile in [
        "echo MOSH IP 192.0.2.1",
        "echo MOSH SSH_CONNECTION 192.0.2.2 5 192.0.2.1 22",
        "echo MOSH CONNECT 60001 AAAAAAAAAAAAAAAAAAAAAA",
    ] {
        let sshd = Sshd::start(Far { profile, ..Far::default() });
        log_in(Invocation::new(rove()), &sshd, ROVE_ANSWERED);
    }
}

#[test]
fn a_warning_of_sshs_is_shown_although_the_login_succeeds() {
    let sshd = Sshd::start(Far::default());
    for (said, wanted) in [
        (
            "@@@@@@@@@@\\n@ WARNING: UNPROTECTED PRIVATE KEY FILE! @\\n@@@@@@@@@@\\nToo open.\\n",
            "Too open.",
        ),
        // After ssh's end, rove shows this line or a sentence of its own in its place.
        ("ssh: connect to host far port 9: Network is unreachable\\n", "Network is unreachable"),
    ] {
        let scratch = Scratch::new();
        let script = format!("#!/bin/sh\nprintf '{said}' >&2\nexec ssh \"$@\"\n");
        let ssh =
            sshd.ssh().replacen("ssh", &scratch.script("ssh", &script).display().to_string(), 1);
        let call = Invocation::new(rove()).arg(format!("--ssh={ssh}"));
        let call = call.arg("far").args(HELLO);
        let exit = Terminal::start(&call, SIZE).wait_exit();
        exit.assert_code(ROVE_ANSWERED);
        assert!(exit.output.contains(wanted), "{}", exit.output.escape_debug());
    }
}

#[test]
fn sshs_own_options_are_handed_to_ssh() {
    let sshd = Sshd::start(Far::default());
    let config = sshd.path("ssh_config");
    let key = sshd.path("user_key");
    let letters = ["-C", "-4", "-o", "ConnectTimeout=20", "-l", "root", "-i"];
    let call = Invocation::new(rove()).arg("-F").arg(&config).args(letters).arg(&key);
    let mut terminal = Terminal::start(&call.arg("far").args(HELLO), SIZE);
    let exit = terminal.wait_exit();
    assert!(exit.output.contains("hello from afar"), "{}", terminal.dump());
    exit.assert_code(ROVE_ANSWERED);
    // With `-G`, ssh prints its configuration, and rove starts no session.
    let call = Invocation::new(rove()).args(["-l", "alice", "-G", "-F"]).arg(&config).arg("far");
    let exit = Terminal::start(&call, (80, 80)).wait_exit();
    exit.assert_code(0);
    assert!(exit.output.contains("user alice\r\n"), "{}", exit.output);
    // A line explains why a session has no use for this option of ssh.
    let call = Invocation::new(rove()).args(["-t", "far"]);
    let exit = Terminal::start(&call, SIZE).wait_exit();
    exit.assert_code(255);
    assert!(exit.output.contains("a session always has a terminal"), "{}", exit.output);
    assert!(!exit.output.contains("Usage"), "{}", exit.output);
}

/// Runs a command on a far computer. Returns its exit status and the text that is on the terminal afterwards.
fn left_behind(programs: &'static [&'static str], command: &[&str], keys: &str) -> (i32, String) {
    let sshd = Sshd::start(Far { programs, ..Far::default() });
    std::fs::write(sshd.path(".profile"), "PS1='ready '\n").expect("the folder takes a file");
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).args(["-q", "far"]);
    let mut terminal = Terminal::start(&call.args(command), (24, 100));
    if !keys.is_empty() {
        terminal.wait_for_text("ready");
        terminal.send(keys);
    }
    let exit = terminal.wait_exit();
    exit.assert_restored(Maker::Rove);
    (exit.code(), crate::support::lines(&exit.screen).join("\n"))
}

#[test]
fn a_command_leaves_its_output_and_a_shell_nothing() {
    const BOTH: [&[&str]; 2] = [&["rove"], &["mosh-server"]];
    const ROVE: [&[&str]; 1] = [&["rove"]];
    for programs in BOTH {
        let (_, screen) = left_behind(programs, &["--", "printf", "one\\n\\033[1mtwo"], "");
        assert!(screen.trim_start().starts_with("one\ntwo"), "{programs:?}: {screen}");
        let shell = left_behind(programs, &[], "echo typed; exit 3\r");
        assert_eq!(shell.1, "", "{programs:?}");
    }
    let long = "i=0; while [ $i -lt 50 ]; do i=$((i + 1)); echo line $i; done";
    let (_, screen) = left_behind(&["mosh-server"], &["sh", "-c", long], "");
    let (output, hint) = screen.split_once("\nrove: the lines that").expect("a hint below");
    assert!(output.ends_with("line 49\nline 50"), "{screen}");
    assert!(hint.replace('\n', " ").contains("`ssh far 'sh -c '"), "{screen}");
    for programs in ROVE {
        let (_, screen) = left_behind(programs, &["sh", "-c", long], "");
        assert!(screen.contains("line 30\n") && screen.ends_with("line 50"), "{screen}");
        // The alternate screen disappears when its program ends.
        let editor = "echo before; printf '\\033[?1049hready'; read -r line; printf '\\033[?1049l'";
        let (_, screen) = left_behind(programs, &["sh", "-c", editor], "\r");
        assert_eq!(screen, "before");
        let (_, screen) = left_behind(programs, &["sh", "-c", editor], "\x1e.");
        assert_eq!(screen, "", "the user left while it was shown");
        let (_, screen) = left_behind(programs, &["sh", "-c", "echo ready; read -r line"], "\x1e.");
        assert_eq!(screen, "ready");
    }
}

#[test]
fn a_command_that_cannot_be_run_is_explained_where_it_stays() {
    for (programs, command, code, parts) in [
        (
            &["rove"][..],
            "no-such-program-anywhere",
            127,
            [
                "cannot run \"no-such-program-anywhere\"",
                "has no such program in any directory of PATH",
            ],
        ),
        (&["rove"], "/etc/passwd", 126, ["cannot run \"/etc/passwd\"", "executed"]),
        (&["rove"], "ls | wc", 127, ["cannot run \"ls | wc\"", "sh -c 'ls | wc'"]),
        (&["mosh-server"], "ls | wc", STOCK_ANSWERED, ["ls | wc", "rove far -- sh -c 'ls | wc'"]),
    ] {
        let (found, screen) = left_behind(programs, &["--", command], "");
        assert_eq!(found, code, "{programs:?} {command}: {screen}");
        // The terminal may wrap the message between words.
        let text = screen.replace('\n', " ");
        assert!(parts.iter().all(|part| text.contains(part)), "{programs:?} {command}: {screen}");
    }
}

#[test]
fn output_that_goes_to_no_terminal_is_left_to_rove_exec() {
    for redirection in ["| cat", "> /dev/null"] {
        let script = format!("(\"$@\"; echo status $? >&2) {redirection}");
        let call = Invocation::new(rove()).args(["--ssh=/nonexistent/ssh", "far", "--", "echo"]);
        let mut terminal = Terminal::start(&call.behind(&["sh", "-c", &script, "sh"]), SIZE);
        let exit = terminal.wait_exit();
        let said = exit.output.split_whitespace().collect::<Vec<_>>().join(" ");
        let wanted = "rove: standard output is not a terminal, and a session needs one; in scripts and pipes: \
                      rove exec far COMMAND status 10";
        assert_eq!(said, wanted, "{redirection}");
    }
}

#[test]
fn the_demo_is_a_session_with_the_commands_exit_status() {
    let words = ["demo", "--rtt", "100ms", "--loss", "10%", "--"];
    let call = Invocation::new(rove()).args(words).args(["sh", "-c", "echo hello; exit 4"]);
    let mut terminal = Terminal::start(&call, SIZE);
    let exit = terminal.wait_exit();
    assert!(exit.output.contains("hello"), "{}", terminal.dump());
    exit.assert_code(4).assert_restored(Maker::Rove);
}

/// A master connection of ssh. Dropping this value ends it.
pub(crate) struct Master(Child);

impl Master {
    /// Opens a master connection at the path that ssh's configuration gives to rove's logins.
    pub(crate) fn open(sshd: &Sshd) -> Self {
        sshd.configure(&format!(" ControlPath {}\n", sshd.path("cm").display()));
        let ssh = sshd.ssh();
        let words: Vec<&str> = ssh.split(' ').collect();
        let ssh = || {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).stdin(Stdio::null()).stderr(Stdio::null());
            command
        };
        let child = ssh().args(["-M", "-N", "far"]).spawn().expect("ssh starts");
        let mut check = ssh();
        check.args(["-O", "check", "far"]);
        within_guard("the master connection", move || {
            while !check.status().expect("ssh starts").success() {
                crate::support::pause(std::time::Duration::from_millis(5));
            }
        });
        Self(child)
    }

    /// Stops the master: its socket still accepts connections of ssh, but the master carries nothing.
    pub(crate) fn stop(&self) {
        kill_process(Pid::from_child(&self.0), Signal::STOP).expect("it runs");
    }
}

impl Drop for Master {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_open_connection_is_used_for_the_login_and_mosh_makes_its_own() {
    let scratch = Scratch::new();
    let mosh = scratch.path("mosh");
    std::os::unix::fs::symlink(rove(), &mosh).unwrap();
    let sshd = Sshd::start(Far { programs: &["rove", "rove as mosh-server"], ..Far::default() });
    let master = Master::open(&sshd);
    assert_eq!(sshd.connections(), 1);
    log_in(Invocation::new(rove()), &sshd, ROVE_ANSWERED);
    log_in(Invocation::new(rove()).arg("--tunnel"), &sshd, ROVE_ANSWERED);
    let list = Invocation::new(rove()).args(["list", "far", &format!("--ssh={}", sshd.ssh())]);
    let listed = list.command().output().expect("rove starts");
    assert_eq!((listed.status.code(), sshd.connections()), (Some(0), 1), "{listed:?}");
    log_in(Invocation::new(&mosh), &sshd, 0);
    assert_eq!(sshd.connections(), 2);
    // The socket file of a dead master connection does not prevent a login.
    drop(master);
    assert!(sshd.path("cm").exists());
    log_in(Invocation::new(rove()), &sshd, ROVE_ANSWERED);
    assert_eq!(sshd.connections(), 3);
}

#[test]
fn options_of_a_section_do_not_hinder_a_session_and_are_named_in_one_line() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let section = format!(
        " RequestTTY force\n ForwardAgent yes\n ForwardX11 yes\n \
         LocalForward 127.0.0.1:{port} localhost:22\n RemoteForward 0 localhost:22\n"
    );
    let names = "ForwardX11 of ssh's configuration is not carried";
    for (options, is_named) in
        [(&[][..], true), (&["--tunnel"], true), (&["-q"], false), (&["-q", "--tunnel"], false)]
    {
        let sshd = Sshd::start(Far::default());
        sshd.configure(&section);
        let call = Invocation::new(rove()).args(options).arg(format!("--ssh={}", sshd.ssh()));
        let exit = Terminal::start(&call.arg("far").args(HELLO), (24, 200)).wait_exit();
        exit.assert_code(ROVE_ANSWERED);
        let said = exit.output.as_str();
        assert_eq!(said.matches(names).count(), usize::from(is_named), "{}", said.escape_debug());
        let list = Invocation::new(rove()).args(["list", "far", &format!("--ssh={}", sshd.ssh())]);
        let listed = list.command().output().expect("rove starts");
        assert_eq!(listed.status.code(), Some(0), "{listed:?}");
    }
}

#[test]
fn the_command_of_sshs_configuration_runs_in_a_session_that_names_none() {
    let sshd = Sshd::start(Far::default());
    sshd.configure(" RemoteCommand echo \"<$((6 * 7))>\"; exit 8\n RequestTTY force\n");
    let run = |ssh: &str, words: &[&str]| {
        let call = Invocation::new(rove()).arg(format!("--ssh={}{ssh}", sshd.ssh()));
        Terminal::start(&call.arg("far").args(words), (24, 200)).wait_exit()
    };
    let exit = run("", &[]);
    exit.assert_code(8);
    assert!(exit.output.contains("<42>"), "{}", exit.output.escape_debug());
    assert!(!exit.output.contains("RemoteCommand"), "{}", exit.output.escape_debug());
    let exit = run("", &HELLO);
    exit.assert_code(255);
    assert!(exit.output.contains("Cannot execute command-line and remote command."));
    run(" -oRemoteCommand=none", &HELLO).assert_code(ROVE_ANSWERED);
}

#[test]
fn output_of_start_up_files_begins_each_line_at_the_left() {
    let profile = "echo one; echo two; printf 'three\nfour\n'";
    let sshd = Sshd::start(Far { profile, ..Far::default() });
    let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).arg("far").args(HELLO);
    let exit = Terminal::start(&call, SIZE).wait_exit();
    exit.assert_code(ROVE_ANSWERED);
    // A line may end with two carriage returns, because the terminal adds one.
    let said = exit.output.replace("\r\r\n", "\r\n");
    assert!(said.contains("one\r\ntwo\r\nthree\r\nfour\r\n"), "{}", said.escape_debug());
}

#[test]
fn a_server_that_fails_is_not_followed_by_a_guess() {
    for (server, profile, part) in [
        ("echo 'no port is free' >&2; exit 7; :", "", "no server could be started on far ("),
        ("rove server", "exit 3", "far did not run rove's command ("),
    ] {
        let sshd = Sshd::start(Far { profile, ..Far::default() });
        let call = Invocation::new(rove()).args([
            &format!("--server={server}"),
            &format!("--ssh={}", sshd.ssh()),
            "far",
        ]);
        let exit = Terminal::start(&call, (24, 200)).wait_exit();
        exit.assert_code(10);
        let said = exit.output.as_str();
        assert!(said.contains(part) && !said.contains("installed"), "{}", said.escape_debug());
    }
}

#[test]
fn a_stock_server_that_serves_for_want_of_rove_is_told_with_what_it_lacks() {
    let line = "far has no rove, so its mosh-server serves";
    for (programs, options, is_told) in [
        (&["mosh-server"][..], &[][..], true),
        (&["mosh-server"], &["-q"], false),
        (&["rove as mosh-server"], &[], false),
        (&["rove", "mosh-server"], &[], false),
    ] {
        let sshd = Sshd::start(Far { programs, ..Far::default() });
        let call = Invocation::new(rove()).args(options).arg(format!("--ssh={}", sshd.ssh()));
        let exit = Terminal::start(&call.arg("far").args(HELLO), SIZE).wait_exit();
        let said = exit.output.as_str();
        assert_eq!(said.matches(line).count(), usize::from(is_told), "{}", said.escape_debug());
    }
}
