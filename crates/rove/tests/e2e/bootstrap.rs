//! Logging in: a real ssh to a real sshd, whatever shell and whatever server is on the far side.

use crate::support::{Far, Invocation, Maker, SIZE, Scratch, Sshd, Terminal, rove, side_by_side};

/// Says something, so that the session is seen to work, and ends in a way that only a rove server
/// can tell a rove client.
const HELLO: [&str; 4] = ["--", "sh", "-c", "echo hello from afar; exit 7"];

/// What says which server answered: only a rove server passes the command's exit status on.
const ROVE_ANSWERED: i32 = 7;
const STOCK_ANSWERED: i32 = 0;

/// Logs in with this program and asserts that the session ran and ended so.
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
fn called_mosh_it_behaves_as_mosh() {
    let scratch = Scratch::new();
    let mosh = scratch.path("mosh");
    std::os::unix::fs::symlink(rove(), &mosh).unwrap();
    for programs in [&["mosh-server"][..], &["rove as mosh-server"]] {
        let sshd = Sshd::start(Far { programs, ..Far::default() });
        // mosh has never told how the command ended, and scripts rely on that.
        log_in(Invocation::new(&mosh), &sshd, 0);
    }
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
    let mut terminal = Terminal::start(&call, SIZE);
    let exit = terminal.wait_exit();
    exit.assert_code(10).assert_restored(Maker::Rove);
    assert!(exit.output.contains("install"), "{}", exit.output);
}

#[test]
fn an_ssh_that_cannot_connect_or_does_not_exist_ends_in_a_sentence() {
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    for ssh in [format!("ssh -F /dev/null -p {closed}"), "/nonexistent/ssh".to_owned()] {
        let call = Invocation::new(rove()).arg(format!("--ssh={ssh}")).arg("127.0.0.1");
        let mut terminal = Terminal::start(&call, SIZE);
        let exit = terminal.wait_exit();
        let text = exit.screen.contents();
        assert!(text.contains("ssh"), "{text}");
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
fn the_demo_is_a_session_with_the_commands_exit_status() {
    let words = ["demo", "--rtt", "100ms", "--loss", "10%", "--"];
    let call = Invocation::new(rove()).args(words).args(["sh", "-c", "echo hello; exit 4"]);
    let mut terminal = Terminal::start(&call, SIZE);
    let exit = terminal.wait_exit();
    assert!(exit.output.contains("hello"), "{}", terminal.dump());
    exit.assert_code(4).assert_restored(Maker::Rove);
}
