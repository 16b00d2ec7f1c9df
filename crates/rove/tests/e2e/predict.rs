//! Predicted echo, seen from outside: never where it must not be.

use std::net::{IpAddr, Ipv4Addr};

use crate::support::{Maker, SIZE, Server, Terminal, each_pair, lossy, relay_to};

/// Opens a session with a prediction mode; the path goes when the returned relay is dropped.
fn open(
    (client, server): (Maker, Maker),
    mode: &str,
    script: &str,
) -> (Terminal, rove_shell::relay::Relay, Server) {
    let server = Server::start(server, IpAddr::V4(Ipv4Addr::LOCALHOST), &["sh", "-c", script]);
    let relay = relay_to(server.address, lossy(0.0));
    let call = client.client(relay.address(), &server.key).env("MOSH_PREDICTION_DISPLAY", mode);
    let terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("ready");
    (terminal, relay, server)
}

#[test]
fn a_password_is_never_shown() {
    let script = "stty -echo; echo ready; read -r line; stty echo; echo \"length ${#line}\"";
    each_pair(|pair| {
        let (mut terminal, _relay, _server) = open(pair, "always", script);
        // No escape sequence and no message has this letter in it.
        terminal.send("jjjj");
        terminal.send("jjj\r");
        let exit = terminal.wait_exit();
        assert!(exit.output.contains("length 7"), "{pair:?}: {}", exit.output.escape_debug());
        assert!(!exit.output.contains('j'), "{pair:?}: {}", exit.output.escape_debug());
    });
}
