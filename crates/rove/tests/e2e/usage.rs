//! What is wrong is said in a sentence, and the exit code tells.

use std::net::UdpSocket;
use std::process::Stdio;

use crate::support::{Invocation, Maker, SIZE, Terminal, rove, within_guard};

const KEY: &str = "4NeCCgvZFe2RnPgrcU1PQw";

#[test]
fn a_wrong_key_port_or_address_ends_the_client_with_a_sentence() {
    for (key, address, port) in [
        ("", "127.0.0.1", "60001"),
        ("short", "127.0.0.1", "60001"),
        ("4NeCCgvZFe2RnPgrcU1PQ!", "127.0.0.1", "60001"),
        ("4NeCCgvZFe2RnPgrcU1PQwAA", "127.0.0.1", "60001"),
        ("4NeCCgvZFe2RnPgrcU1PQx", "127.0.0.1", "60001"),
        (KEY, "127.0.0.1", "port"),
        (KEY, "127.0.0.1", "-1"),
        (KEY, "127.0.0.1", "65536"),
        (KEY, "no-number.example", "60001"),
        (KEY, "127.0.0.1.1", "60001"),
    ] {
        let call = Invocation::new(rove()).args(["client", address, port]).env("MOSH_KEY", key);
        let mut terminal = Terminal::start(&call, SIZE);
        let exit = terminal.wait_exit();
        exit.assert_code(1).assert_restored(Maker::Rove);
        assert!(!exit.output.trim().is_empty(), "{key} {address} {port}");
        assert!(key.is_empty() || !exit.output.contains(key), "keys are not to be shown");
    }
}

#[test]
fn a_client_wants_a_terminal() {
    let call = Invocation::new(rove()).args(["client", "127.0.0.1", "60001"]).env("MOSH_KEY", KEY);
    let output = within_guard("the client to refuse", move || {
        call.command().stdin(Stdio::null()).output().expect("rove starts")
    });
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("terminal"), "{stderr}");
}

#[test]
fn a_server_that_never_answers_is_named() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port().to_string();
    let call = Invocation::new(rove()).args(["client", "127.0.0.1", &port]).env("MOSH_KEY", KEY);
    let mut terminal = Terminal::start(&call, SIZE);
    let exit = terminal.wait_exit();
    exit.assert_code(1).assert_restored(Maker::Rove);
    let text = exit.screen.contents();
    assert!(text.contains("127.0.0.1") && text.contains(&port), "{text}");
}
