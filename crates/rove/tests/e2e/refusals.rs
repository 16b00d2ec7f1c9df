//! Hosts that ssh cannot reach: rove prints the reason in a line. ssh's question about a key has the host's address.

use std::net::TcpListener;

use crate::support::{
    ClosedPort, Far, Impostor, Invocation, SIZE, Sshd, Terminal, rove, side_by_side,
};

/// Commands that log in, each with the name at the start of its messages.
const COMMANDS: [(&[&str], &str); 4] = [
    (&[], "rove"),
    (&["--tunnel"], "rove"),
    (&["list"], "rove list"),
    (&["install"], "rove install"),
];

/// Words of ssh's messages that say nothing useful about the host.
const EMPTY_WORDS: [&str; 4] = ["UNKNOWN", "hostip", "stands above", "os error"];

/// Asserts that each of [`COMMANDS`] prints `wanted` and nothing else for this host.
fn assert_said(ssh: &str, host: &str, wanted: &str) {
    for (words, speaker) in COMMANDS {
        let call = Invocation::new(rove()).args(words).arg(format!("--ssh={ssh}")).arg(host);
        let exit = Terminal::start(&call, SIZE).wait_exit();
        let said = exit.output.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(said, format!("{speaker}: {wanted}"), "{words:?}");
        assert!(!exit.succeeded());
    }
}

#[test]
fn a_host_that_cannot_be_reached_is_one_line() {
    let closed = ClosedPort::new();
    let port = closed.number;
    let wanted = format!("cannot connect to 127.0.0.1 port {port}: Connection refused");
    assert_said(&format!("ssh -F /dev/null -p {port}"), "127.0.0.1", &wanted);
    // This name is malformed, so ssh asks no resolver for it.
    let wanted = "cannot find the address of no..such: Name or service not known";
    assert_said("ssh -F /dev/null", "no..such", wanted);
    assert_said("ssh -F /dev/null -J no..such", "127.0.0.1", wanted);
    let wanted = "the jump host or proxy command on the way to far ended before far answered";
    assert_said("ssh -F /dev/null -o ProxyCommand=false", "far", wanted);
}

#[test]
fn a_server_that_does_not_start_is_told_without_the_end_of_ssh_and_between_words() {
    let sshd = Sshd::start(Far { programs: &["rove"], ..Far::default() });
    let ssh = format!("--ssh={}", sshd.ssh());
    for (words, sentence) in [
        (&["attach", "--tunnel", &ssh, "far", "65000"][..], "no session of yours runs here"),
        (&["kill", &ssh, "far", "65000"], "number or port 65000; rove list"),
    ] {
        let exit = Terminal::start(&Invocation::new(rove()).args(words), (24, 60)).wait_exit();
        let said = exit.output.replace("\r\n", " ");
        assert!(said.contains(sentence), "{words:?}: {}", exit.output.escape_debug());
        assert!(!said.contains(" closed."), "{words:?}: {}", exit.output.escape_debug());
        let is_narrow = exit.output.lines().all(|line| line.len() <= 60);
        assert!(is_narrow, "{words:?}: {}", exit.output.escape_debug());
    }
}

#[test]
fn a_host_that_turns_the_login_away_gives_the_only_reason() {
    // nologin(8) prints the first text to standard output. sshd prints /etc/nologin to standard error, and exits 254.
    for (profile, text, code) in [
        ("echo 'This account is not available.'; exit 1", "This account is not available.", 1),
        ("echo 'Down for repairs.' >&2; exit 254", "Down for repairs.", 254),
    ] {
        let sshd = Sshd::start(Far { profile, ..Far::default() });
        for (words, speaker) in COMMANDS {
            let call = Invocation::new(rove()).args(words).arg(format!("--ssh={}", sshd.ssh()));
            let exit = Terminal::start(&call.arg("far"), SIZE).wait_exit();
            let said = exit.output.split_whitespace().collect::<Vec<_>>().join(" ");
            let wanted = format!(
                "{text} {speaker}: far did not run rove's command (ssh: exit status: {code}); what it said stands above"
            );
            assert_eq!(said, wanted, "{words:?}");
        }
    }
}

#[test]
fn a_host_that_hangs_up_is_named_by_its_address() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let port = listener.local_addr().expect("a bound socket has an address").port();
    std::thread::spawn(move || listener.incoming().map_while(Result::ok).for_each(drop));
    for (words, speaker) in COMMANDS {
        let ssh = format!("--ssh=ssh -F /dev/null -p {port}");
        let call = Invocation::new(rove()).args(words).args([&ssh, "127.0.0.1"]);
        let exit = Terminal::start(&call, SIZE).wait_exit();
        let said = exit.output.split_whitespace().collect::<Vec<_>>().join(" ");
        // ssh sees the connection's end or a reset, depending on when its own greeting arrives.
        let begin = format!("{speaker}: 127.0.0.1 port {port} hung up before it said that");
        assert!(said.starts_with(&begin) && said.matches(speaker).count() == 1, "{said}");
    }
}

#[test]
fn errors_of_ssh_about_a_host_name_its_address() {
    // The impostor answers with two words and ends the connection.
    let impostor = Impostor::start("go away");
    let call = Invocation::new(rove()).arg(format!("--ssh={}", impostor.ssh())).arg("far");
    let exit = Terminal::start(&call, SIZE).wait_exit();
    let said = exit.output.escape_debug();
    assert!(exit.output.contains("Received disconnect from 127.0.0.1 port "), "{said}");
    assert!(EMPTY_WORDS[..2].iter().all(|word| !exit.output.contains(word)), "{said}");
}

#[test]
fn a_key_that_is_unknown_or_has_changed_is_one_line() {
    side_by_side([false, true], |has_changed| {
        let sshd = Sshd::start(Far::default());
        if has_changed {
            let config = std::fs::read_to_string(sshd.path("ssh_config")).expect("it is there");
            let port = config.split("Port ").nth(1).and_then(|it| it.split('\n').next());
            let other = std::fs::read_to_string(sshd.path("user_key.pub")).expect("it is there");
            let line = format!("[127.0.0.1]:{} {other}", port.expect("there is a port"));
            std::fs::write(sshd.path("known"), line).expect("the folder takes files");
        }
        let known = sshd.path("known").display().to_string();
        for (words, speaker) in COMMANDS {
            let ssh = format!("--ssh={} -o StrictHostKeyChecking=yes", sshd.ssh());
            let call = Invocation::new(rove()).args(words).args([&ssh, "far"]);
            let exit = Terminal::start(&call, (24, 1000)).wait_exit();
            let said = exit.output.trim();
            let (begin, part) = if has_changed {
                (
                    "the key of far has changed, and",
                    format!("ssh-keygen -f {known} -R '[127.0.0.1]:"),
                )
            } else {
                let part = "ssh -o StrictHostKeyChecking=ask far shows it";
                ("the ED25519 key of far is not known, and", part.to_owned())
            };
            assert!(said.starts_with(&format!("{speaker}: {begin}")), "{words:?}: {said}");
            assert!(said.contains(&part) && !said.contains('\n'), "{words:?}: {said}");
            assert!(EMPTY_WORDS.iter().all(|word| !said.contains(word)), "{words:?}: {said}");
        }
    });
}

#[test]
fn the_question_about_a_key_names_the_address_and_a_yes_leads_into_the_session() {
    let sshd = Sshd::start(Far::default());
    let ssh = format!("--ssh={} -o StrictHostKeyChecking=ask -o BatchMode=no", sshd.ssh());
    let call = |words: &[&str]| Invocation::new(rove()).args(words).args([&ssh, "far"]);
    for words in [&[][..], &["--tunnel"], &["--verbose"], &["doctor"]] {
        let mut terminal = Terminal::start(&call(words), (24, 200));
        terminal.wait_for_text("Are you sure you want to continue connecting");
        let text = terminal.screen().contents();
        assert!(text.contains(" ([127.0.0.1]:"), "{text}");
        terminal.send("no\r");
        let exit = terminal.wait_exit();
        assert!(!exit.succeeded());
        let said = exit.output.escape_debug();
        let is_one = exit.output.contains("\r\nrove: the key of far was not accepted");
        assert_eq!(is_one, matches!(words, [] | ["--tunnel"]), "{said}");
        assert!(EMPTY_WORDS[..2].iter().all(|word| !exit.output.contains(word)), "{said}");
    }
    let command = ["--", "sh", "-c", "echo hello from afar; exit 7"];
    let mut terminal = Terminal::start(&call(&[]).args(command), (24, 200));
    terminal.wait_for_text("Are you sure you want to continue connecting");
    terminal.send("yes\r");
    let exit = terminal.wait_exit();
    assert!(exit.output.contains("hello from afar"), "{}", exit.output);
    exit.assert_code(7);
    // The host's key is known from the first login.
    let before = sshd.connections();
    let exit = Terminal::start(&call(&[]).args(command), SIZE).wait_exit();
    exit.assert_code(7);
    assert!(!exit.output.contains("Are you sure"), "{}", exit.output);
    assert_eq!(sshd.connections(), before + 1);
}
