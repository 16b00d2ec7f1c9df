//! rove's and stock clients against rove's and stock servers, over clean and bad paths.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::support::{Maker, Scratch, Session, draw, lossy, same_picture, side_by_side};

/// Lines that are typed after the answer to the previous line.
const TALK: u32 = 20;
/// Lines that are typed without waiting for answers.
const BURST: u32 = 60;

/// A script that answers and records every line. It turns echo off at `quiet`, and ends at `quit`.
const FAR_END: &str = r#"
printf '\033[H\033[2Jready\n'
while IFS= read -r line; do
  printf '%s\n' "$line" >> "$1"
  case $line in quit) exit 0 ;; quiet) stty -echo ;; esac
  printf 'got \033[1;32m%s\033[m 漢字\n' "$line"
done
"#;

#[test]
fn rove_client_and_rove_server_v4() {
    converse(Maker::Rove, Maker::Rove, Ipv4Addr::LOCALHOST.into());
}

#[test]
fn rove_client_and_rove_server_v6() {
    converse(Maker::Rove, Maker::Rove, Ipv6Addr::LOCALHOST.into());
}

#[test]
fn rove_client_and_stock_server_v4() {
    converse(Maker::Rove, Maker::Stock, Ipv4Addr::LOCALHOST.into());
}

#[test]
fn rove_client_and_stock_server_v6() {
    converse(Maker::Rove, Maker::Stock, Ipv6Addr::LOCALHOST.into());
}

#[test]
fn stock_client_and_rove_server_v4() {
    converse(Maker::Stock, Maker::Rove, Ipv4Addr::LOCALHOST.into());
}

#[test]
fn stock_client_and_rove_server_v6() {
    converse(Maker::Stock, Maker::Rove, Ipv6Addr::LOCALHOST.into());
}

#[test]
fn stock_client_and_stock_server_v4() {
    converse(Maker::Stock, Maker::Stock, Ipv4Addr::LOCALHOST.into());
}

#[test]
fn stock_client_and_stock_server_v6() {
    converse(Maker::Stock, Maker::Stock, Ipv6Addr::LOCALHOST.into());
}

/// Holds the same conversation at three loss rates in parallel, and prints how long each took.
fn converse(client: Maker, server: Maker, ip: IpAddr) {
    side_by_side([0, 10, 30], |percent| converse_at(client, server, ip, percent));
}

fn converse_at(client: Maker, server: Maker, ip: IpAddr, percent: u8) {
    let scratch = Scratch::new();
    let record = scratch.path("record");
    let record = record.to_str().expect("scratch paths are text");
    let link = lossy(f64::from(percent) / 100.0);
    let far_end = ["sh", "-c", FAR_END, "far-end", record];
    let mut session = Session::open(client, server, ip, link, &far_end);
    let terminal = &mut session.terminal;

    terminal.wait_for_text("ready");
    for number in 1..=TALK {
        terminal.send(format!("line {number}\r"));
        terminal.wait_for_text(&format!("got line {number} 漢字"));
    }
    terminal.send("quiet\r");
    terminal.wait_for_text("got quiet");
    for number in TALK + 1..=TALK + BURST {
        terminal.send(format!("line {number}\r"));
    }
    let expected = draw(24, 80, &expected_output());
    terminal.wait_for("the same picture as on a terminal of one's own", |screen| {
        same_picture(screen, &expected)
    });
    terminal.send("quit\r");
    terminal.wait_exit().assert_code(0).assert_restored(client);
    session.server.assert_gone();

    let mut typed: Vec<String> = (1..=TALK).map(|number| format!("line {number}")).collect();
    typed.push("quiet".to_owned());
    typed.extend((TALK + 1..=TALK + BURST).map(|number| format!("line {number}")));
    typed.push("quit".to_owned());
    assert_eq!(scratch.read("record").lines().collect::<Vec<_>>(), typed);

    let (up, down) = (session.relay.uplink(), session.relay.downlink());
    println!(
        "{:5} client, {:5} server, {:3}, {percent:2} % lost: {} lines once in order, same screen, \
         exit 0; up {} datagrams, {}; down {} datagrams, {}",
        client.name(),
        server.name(),
        if ip.is_ipv4() { "v4" } else { "v6" },
        typed.len(),
        up.datagrams,
        up.bytes,
        down.datagrams,
        down.bytes,
    );
}

/// Returns the output of [`FAR_END`], echo included, as it would be without a network.
fn expected_output() -> Vec<u8> {
    let answer = |line: &str| format!("got \x1b[1;32m{line}\x1b[m 漢字\r\n");
    let mut output = "\x1b[H\x1b[2Jready\r\n".to_owned();
    for line in (1..=TALK).map(|number| format!("line {number}")).chain(["quiet".to_owned()]) {
        output.push_str(&format!("{line}\r\n{}", answer(&line)));
    }
    for number in TALK + 1..=TALK + BURST {
        output.push_str(&answer(&format!("line {number}")));
    }
    output.into_bytes()
}
