//! Attackers that want to take over a login by ssh's TCP port, a jump host, a banner or a start-up file. Each forges a
//! server's announcement, which leads to the attacker's session.

use std::net::{IpAddr, Ipv4Addr};
use std::process::Stdio;

use crate::support::{
    Far, Impostor, Invocation, Maker, SIZE, Scratch, Server, Sshd, Terminal, rove, side_by_side,
    within_guard,
};

/// The text on the screen of the attacker's session.
const OWNED: &str = "type your password here";

/// Starts the attacker's session, to which forged lines lead.
fn trap() -> Server {
    let command = ["sh", "-c", &format!("echo {OWNED}; exec sleep 1000")];
    Server::start(Maker::Rove, IpAddr::V4(Ipv4Addr::LOCALHOST), &command)
}

/// Starts an impostor that forges the announcement of a [`trap`]. Returns the impostor and the trap.
fn impostor() -> (Impostor, Server) {
    let trap = trap();
    (Impostor::start(&Impostor::forged(trap.address.port(), &trap.key)), trap)
}

/// Asserts that this call ends without a session.
#[track_caller]
fn assert_refused(call: &Invocation) {
    let mut terminal = Terminal::start(call, SIZE);
    let sentences = ["ssh did not get through", "Did not find the ", "before far answered"];
    terminal.wait_for("the end, or the impostor's session", |screen| {
        let text = screen.contents();
        text.contains(OWNED) || sentences.iter().any(|sentence| text.contains(sentence))
    });
    let text = terminal.screen().contents();
    assert!(!text.contains(OWNED), "taken over: {text}");
    assert!(text.contains("MOSH CONNECT"), "the attack has not come so far: {text}");
    terminal.wait_exit().assert_code(10).assert_restored(Maker::Rove);
}

#[test]
fn an_impostor_of_a_host_gets_no_session() {
    let ways: [&[&str]; 6] = [
        &[],
        &["--experimental-remote-ip=proxy"],
        &["--experimental-remote-ip=remote"],
        &["--experimental-remote-ip=local"],
        &["--server=mosh-server"],
        &["--tunnel"],
    ];
    side_by_side(ways, |options| {
        let (impostor, _trap) = impostor();
        let ssh = format!("--ssh={}", impostor.ssh());
        assert_refused(&Invocation::new(rove()).arg(ssh).args(options).arg("far"));
    });
}

#[test]
fn called_mosh_it_gives_impostors_no_session_either() {
    let ways: [&[&str]; 4] = [
        &[],
        &["--experimental-remote-ip=remote"],
        &["--experimental-remote-ip=local"],
        &["--tunnel"],
    ];
    side_by_side(ways, |options| {
        let scratch = Scratch::new();
        let mosh = scratch.path("mosh");
        std::os::unix::fs::symlink(rove(), &mosh).expect("the folder takes links");
        let (impostor, _trap) = impostor();
        let ssh = format!("--ssh={}", impostor.ssh());
        assert_refused(&Invocation::new(&mosh).arg(ssh).args(options).arg("127.0.0.1"));
    });
}

#[test]
fn an_impostor_of_a_jump_host_gets_no_session() {
    let ways: [&[&str]; 3] = [&[], &["--experimental-remote-ip=remote"], &["--tunnel"]];
    side_by_side(ways, |options| {
        let (impostor, _trap) = impostor();
        let ssh = format!("--ssh={}", impostor.ssh_behind_jump());
        assert_refused(&Invocation::new(rove()).arg(ssh).args(options).arg("far"));
    });
}

#[test]
fn the_doctor_tries_no_session_with_an_impostor() {
    side_by_side([false, true], |is_behind_jump| {
        let (impostor, _trap) = impostor();
        let ssh = if is_behind_jump { impostor.ssh_behind_jump() } else { impostor.ssh() };
        let call =
            Invocation::new(rove()).args(["doctor", "--json", &format!("--ssh={ssh}"), "far"]);
        let output = within_guard("the doctor", move || {
            call.command().stdin(Stdio::null()).output().expect("rove starts")
        });
        let report = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{report}");
        assert!(report.contains("\"port\": null") && report.contains("\"path\": null"), "{report}");
    });
}

/// The text of a banner or start-up file that imitates a server.
const FORGED: &str = "ROVE DOCTOR begin now\nROVE START\nROVE IP 127.0.0.9\nMOSH IP 127.0.0.9\n\
                      MOSH SSH_CONNECTION 127.0.0.1 1 127.0.0.9 22\n\
                      MOSH CONNECT 9 AAAAAAAAAAAAAAAAAAAAAA\n";

/// A command that prints a line and ends with status 7, which only a rove server passes on.
const HELLO: [&str; 4] = ["--", "sh", "-c", "echo hello from afar; exit 7"];

#[track_caller]
fn assert_reached(call: &Invocation, sshd: &Sshd) {
    let mut terminal = Terminal::start(call, SIZE);
    let exit = terminal.wait_exit();
    assert!(exit.output.contains("hello from afar"), "{}\n{}", terminal.dump(), sshd.log());
    exit.assert_code(7).assert_restored(Maker::Rove);
}

#[test]
fn a_banner_that_talks_like_a_server_changes_nothing() {
    let ways: [&[&str]; 4] = [
        &[],
        &["--experimental-remote-ip=proxy"],
        &["--experimental-remote-ip=remote"],
        &["--tunnel"],
    ];
    side_by_side(ways, |options| {
        let sshd = Sshd::start(Far { banner: FORGED, ..Far::default() });
        let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh()));
        assert_reached(&call.args(options).arg("far").args(HELLO), &sshd);
    });
}

#[test]
fn a_jump_hosts_banner_that_talks_like_a_server_changes_nothing() {
    let far = Sshd::start(Far::default());
    let jump = Sshd::start(Far { banner: FORGED, ..Far::default() });
    let ssh = format!("--ssh={}", far.ssh_behind(&jump));
    let call = Invocation::new(rove()).arg(ssh);
    assert_reached(&call.arg("far").args(HELLO), &far);
}

#[test]
fn a_start_up_file_that_talks_like_a_server_is_none() {
    let print = "cat <<'END'\nROVE DOCTOR begin now\nROVE START\nROVE IP 127.0.0.9\n\
                 MOSH SSH_CONNECTION 127.0.0.1 1 127.0.0.9 22\n\
                 MOSH CONNECT 9 AAAAAAAAAAAAAAAAAAAAAA\nEND\n";
    let exit = Box::leak(format!("{print}exit 0").into_boxed_str());
    side_by_side(
        [&[][..], &["--no-ssh-pty"], &["--server=rove server"], &["--tunnel"]],
        |options| {
            let sshd = Sshd::start(Far { profile: print, ..Far::default() });
            let call = |sshd: &Sshd| {
                let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh()));
                call.args(options).arg("far").args(HELLO)
            };
            assert_reached(&call(&sshd), &sshd);
            let sshd = Sshd::start(Far { profile: exit, ..Far::default() });
            let mut terminal = Terminal::start(&call(&sshd), SIZE);
            let exit = terminal.wait_exit();
            exit.assert_code(10).assert_restored(Maker::Rove);
            assert!(exit.output.contains("start-up file"), "{}", exit.output);
        },
    );
}
