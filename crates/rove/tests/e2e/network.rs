//! Sessions continue although their network changes or alters datagrams.

use std::net::{IpAddr, Ipv4Addr};

use rove_link::LinkConfig;
use rove_units::{Bytes, Seed};
use rustix::process::Signal;

use crate::support::{
    Extra, Maker, Report, SIZE, Scratch, Server, Session, Tap, Terminal, Treatment, Way, each_pair,
    lossy,
};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A script that answers and reports every line.
const ECHO: &str = r#"
echo ready
while IFS= read -r line; do echo "$line" > "$1"; echo "got $line"; done
"#;

fn echo_session(pair: (Maker, Maker), link: LinkConfig, report: &Report) -> Session {
    let session =
        Session::open(pair.0, pair.1, LOCALHOST, link, &["sh", "-c", ECHO, "sh", report.path()]);
    session.terminal.wait_for_text("ready");
    session
}

/// Types numbered lines, each after the answer to the previous line.
fn talk(terminal: &Terminal, numbers: std::ops::RangeInclusive<u32>) {
    for number in numbers {
        terminal.talk(&format!("line {number}"));
    }
}

fn numbered(numbers: std::ops::RangeInclusive<u32>) -> Vec<String> {
    numbers.map(|number| format!("line {number}")).collect()
}

#[test]
fn a_client_that_roams_twice_loses_and_doubles_nothing() {
    each_pair(|pair| {
        let scratch = Scratch::new();
        let report = Report::new(&scratch);
        let session = echo_session(pair, lossy(0.1), &report);
        talk(&session.terminal, 1..=5);
        session.relay.roam(None).unwrap();
        talk(&session.terminal, 6..=10);
        session.relay.roam(Some([127, 0, 0, 2].into())).unwrap();
        talk(&session.terminal, 11..=15);
        assert_eq!(report.wait_line("line 15"), numbered(1..=15), "{pair:?}");
    });
}

#[test]
fn an_outage_is_announced_and_what_was_typed_in_it_arrives_once() {
    each_pair(|pair| {
        let scratch = Scratch::new();
        let report = Report::new(&scratch);
        let session = echo_session(pair, lossy(0.0), &report);
        talk(&session.terminal, 1..=2);
        session.relay.reconfigure(LinkConfig::outage(), LinkConfig::outage());
        session.terminal.send("line 3\rline 4\r");
        session.terminal.wait_for("the notice", |screen| {
            screen.contents().to_lowercase().contains("last contact")
        });
        session.relay.reconfigure(lossy(0.3), lossy(0.3));
        session.terminal.send("line 5\r");
        session.terminal.wait_for("the answers without the notice", |screen| {
            let text = screen.contents();
            text.contains("got line 5") && !text.to_lowercase().contains("last contact")
        });
        assert_eq!(report.wait_line("line 5"), numbered(1..=5), "{pair:?}");
    });
}

/// The server gives its client up after 40 silent seconds (Mosh 1.4.0 as observed, docs/wire.md). The script on the
/// host waits longer in real time. The cases run in parallel.
#[test]
fn a_client_suspended_longer_than_the_association_timeout_comes_back() {
    let script = r#"
        echo ready; read -r line; echo "got $line"; sleep 45
        echo "slept while you were $line"; echo slept > "$1"
        while IFS= read -r line; do echo "got $line"; done
    "#;
    each_pair(|(client, server)| {
        let scratch = Scratch::new();
        let report = Report::new(&scratch);
        let command = ["sh", "-c", script, "sh", report.path()];
        let session = Session::open(client, server, LOCALHOST, lossy(0.1), &command);
        session.terminal.wait_for_text("ready");
        // The screen may show a predicted key before the client sends it, so the test waits for an answer.
        session.terminal.talk("away");
        session.terminal.signal(Signal::STOP);
        report.wait_line("slept");
        session.terminal.signal(Signal::CONT);
        session.terminal.wait_for_text("slept while you were away");
        talk(&session.terminal, 1..=3);
    });
}

#[test]
fn datagrams_stay_within_the_agreed_size() {
    each_pair(|pair| {
        // Client and server try larger datagrams after 23,552 bytes of states.
        let flood = "head -c 12000 /dev/urandom | base64 -w 0; echo; echo flooded; read -r line";
        let session = Session::open(pair.0, pair.1, LOCALHOST, lossy(0.0), &["sh", "-c", flood]);
        session.terminal.wait_for_text("flooded");
        let largest = session.relay.downlink().largest;
        assert!(largest <= Bytes::new(1_252), "{pair:?}: {largest}");
    });
}

#[test]
fn reflected_replayed_cut_and_forged_datagrams_change_nothing() {
    each_pair(|(client, server)| {
        let scratch = Scratch::new();
        let report = Report::new(&scratch);
        let server = Server::start(server, LOCALHOST, &["sh", "-c", ECHO, "sh", report.path()]);
        let tap = Tap::start(server.address, mischief()).expect("loopback has free ports");
        let terminal = Terminal::start(&client.client(tap.address(), &server.key), SIZE);
        terminal.wait_for_text("ready");
        talk(&terminal, 1..=20);
        assert_eq!(report.wait_line("line 20"), numbered(1..=20));
    });
}

/// Adds to each datagram an extra one. In turn, it is reflected, cut, changed, empty and too long, extended, or old.
fn mischief() -> impl FnMut(Way, &[u8]) -> Treatment {
    let chance = Seed::new(1).stream("mischief");
    let mut seen: Vec<(Way, Vec<u8>)> = Vec::new();
    let mut number = 0;
    move |way, payload| {
        if payload.is_empty() {
            // An empty datagram asks whether the port is closed, and has no byte to change.
            return Treatment { passes: true, extras: Vec::new() };
        }
        seen.push((way, payload.to_vec()));
        number += 1;
        let extra = |way, stranger, payload| Extra { way, stranger, payload };
        let draw = |below: usize| {
            let bound = u64::try_from(below).expect("lengths fit");
            usize::try_from(chance.at(number).below(bound)).expect("below a length")
        };
        let stranger = number / 6 % 2 == 0;
        let extras = match number % 6 {
            0 => vec![extra(way.back(), stranger, payload.to_vec())],
            1 => vec![extra(way, stranger, payload[..draw(payload.len())].to_vec())],
            2 => {
                let mut forged = payload.to_vec();
                forged[draw(payload.len())] ^= 1;
                vec![extra(way, stranger, forged)]
            }
            3 => vec![extra(way, stranger, Vec::new()), extra(way, stranger, vec![0; 60_000])],
            4 => {
                let mut longer = payload.to_vec();
                longer.push(0);
                vec![extra(way, stranger, longer)]
            }
            // An authentic old datagram from another address. The session's address must not change to it.
            _ => {
                let (old_way, old) = seen[draw(seen.len())].clone();
                vec![extra(old_way, true, old.clone()), extra(old_way, false, old)]
            }
        };
        Treatment { passes: true, extras }
    }
}
