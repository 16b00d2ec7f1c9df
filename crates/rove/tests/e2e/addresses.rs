//! Hosts with several addresses, some of which do not answer.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use rove_link::LinkConfig;
use rove_shell::relay::{Relay, RelayConfig};
use rove_units::Seed;
use serde_json::json;

use crate::support::{
    Far, Invocation, Maker, SIZE, Server, Sshd, Terminal, free_port, lossy, rove, side_by_side,
};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const THERE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// A command that prints `ready` and answers every line.
const ECHO: [&str; 3] =
    ["sh", "-c", "echo ready; while IFS= read -r line; do echo \"got $line\"; done"];

/// Starts a client of a server that may be at any of these addresses.
fn client(addresses: &[IpAddr], server: &Server) -> Terminal {
    let first = SocketAddr::new(addresses[0], server.address.port());
    let others: Vec<String> = addresses[1..].iter().map(IpAddr::to_string).collect();
    let call = Maker::Rove.client(first, &server.key);
    Terminal::start(&call.session_call(json!({"others": others})), SIZE)
}

/// Starts a server at `address`, and calls `other` with its port. If `other` finds the port taken, starts a new server.
fn server_beside<T>(
    maker: Maker,
    address: IpAddr,
    other: impl Fn(u16) -> io::Result<T>,
) -> (Server, T) {
    loop {
        let server = Server::start(maker, address, &ECHO);
        match other(server.address.port()) {
            Ok(other) => return (server, other),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::AddrInUse, "{error}"),
        }
    }
}

#[test]
fn a_session_begins_at_whichever_address_answers() {
    let nowhere: IpAddr = "127.0.0.3".parse().expect("an address");
    let addresses = [
        (nowhere, THERE, true),
        (nowhere, THERE, false),
        (HERE, Ipv6Addr::LOCALHOST.into(), true),
        (Ipv6Addr::LOCALHOST.into(), HERE, false),
    ];
    side_by_side(addresses, |(first, second, is_silent)| {
        for maker in [Maker::Rove, Maker::Stock] {
            // The first address has a socket that never answers, or has no socket, so that ICMP reports an error.
            let silent = |port| UdpSocket::bind((first, port));
            let (server, silent) = server_beside(maker, second, silent);
            let _silent = is_silent.then_some(silent);
            let mut terminal = client(&[first, nowhere, second], &server);
            terminal.wait_for_text("ready");
            terminal.send("x\r");
            terminal.wait_for_text("got x");
            terminal.send("\x1es");
            terminal.wait_for_text(&format!("to {}", server.address));
            terminal.send("x\x1e.");
            terminal.wait_exit().assert_code(0).assert_restored(Maker::Rove);
        }
    });
}

/// The client notices silence only after some seconds of real time. The cases run in parallel.
#[test]
fn a_session_whose_address_falls_silent_goes_on_at_another() {
    side_by_side([Maker::Rove, Maker::Stock], |maker| {
        let (server, relay) = server_beside(maker, THERE, |port| {
            let (listen, server) = (SocketAddr::new(HERE, port), SocketAddr::new(THERE, port));
            let (uplink, downlink) = (lossy(0.0), lossy(0.0));
            Relay::start(RelayConfig { listen, server, uplink, downlink, seed: Seed::new(1) })
        });
        let terminal = client(&[HERE, THERE], &server);
        terminal.wait_for_text("ready");
        terminal.send("one\r");
        terminal.wait_for_text("got one");
        relay.reconfigure(LinkConfig::outage(), LinkConfig::outage());
        terminal.send("two\r");
        terminal.wait_for_text("got two");
        terminal.send("\x1es");
        terminal.wait_for_text(&format!("to {}", server.address));
    });
}

#[test]
fn a_server_that_rove_starts_listens_everywhere_unless_it_is_told_where() {
    let elsewhere = Ipv4Addr::new(127, 0, 0, 9);
    side_by_side([(None, true), (Some("--bind-server=ssh"), false)], |(option, everywhere)| {
        let sshd = Sshd::start(Far::default());
        let call = Invocation::new(rove()).arg(format!("--ssh={}", sshd.ssh())).args(option);
        let mut terminal = Terminal::start(&call.args(["far", "--"]).args(ECHO), SIZE);
        terminal.wait_for_text("ready");
        terminal.send("\x1es");
        let port = terminal.number_on_screen("to 127.0.0.1:", " from ");
        assert_eq!(UdpSocket::bind((elsewhere, port)).is_err(), everywhere, "{option:?}");
        terminal.send("x\x1e.");
        terminal.wait_exit().assert_code(0).assert_restored(Maker::Rove);
    });
}

#[test]
fn a_session_that_no_address_answers_names_them_all() {
    let port = free_port();
    let _silent = [HERE, THERE].map(|it| UdpSocket::bind((it, port)).expect("the port is free"));
    let address = SocketAddr::new(HERE, port);
    let call = Maker::Rove.client(address, "AAAAAAAAAAAAAAAAAAAAAA");
    let call = call.session_call(json!({"others": ["127.0.0.2", "no-address"]}));
    let mut terminal = Terminal::start(&call, SIZE);
    let exit = terminal.wait_exit();
    exit.assert_code(1).assert_restored(Maker::Rove);
    let said = exit.output.replace(['\r', '\n'], "");
    assert!(said.contains("nothing comes back from 127.0.0.1 and 127.0.0.2"), "{said}");
    assert!(said.contains("--tunnel"), "{said}");
}
