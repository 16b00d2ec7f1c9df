//! The remote command's exit status, which a rove server passes to a rove client. With a stock peer, it becomes 0.

use std::net::{IpAddr, Ipv4Addr};

use crate::support::{Maker, Session, lossy, side_by_side};

#[test]
fn the_commands_exit_status_is_the_clients_between_two_roves_only() {
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let commands = [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -KILL $$", 137)];
    side_by_side(commands, |(command, status)| {
        for (client, server, expected) in [
            (Maker::Rove, Maker::Rove, status),
            (Maker::Rove, Maker::Stock, 0),
            (Maker::Stock, Maker::Rove, 0),
        ] {
            let command = ["sh", "-c", command];
            let mut session = Session::open(client, server, loopback, lossy(0.1), &command);
            session.terminal.wait_exit().assert_code(expected).assert_restored(client);
        }
    });
}

#[test]
fn a_program_that_lets_go_of_its_terminal_before_its_end_is_waited_for() {
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let command = ["sh", "-c", "exec </dev/null >/dev/null 2>&1; sleep 0.6; exit 7"];
    let mut session = Session::open(Maker::Rove, Maker::Rove, loopback, lossy(0.0), &command);
    session.terminal.wait_exit().assert_code(7).assert_restored(Maker::Rove);
}
