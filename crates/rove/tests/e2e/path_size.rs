//! Sizes of datagrams between real programs, rove and stock Mosh.

use std::net::Ipv4Addr;

use rove_link::{Drops, LinkConfig};
use rove_units::{Bytes, Seed};

use crate::support::{Maker, Session, side_by_side};

/// Pages in a session. Chosen: enough for each end to try larger datagrams.
const PAGES: u32 = 40;

/// A script that answers each line, which may be long, with an incompressible page and the first word of the line.
const FAR_END: &str = r#"
stty -echo
printf 'ready\n'
while IFS= read -r line; do
  case $line in quit) exit 0 ;; esac
  printf '\033[H\033[2J'
  head -c 1260 /dev/urandom | base64 -w 78
  printf 'page %s.\n' "${line%% *}"
done
"#;

/// Makers of client and server. At least one of both is rove.
const ENDS: [(Maker, Maker); 3] =
    [(Maker::Stock, Maker::Rove), (Maker::Rove, Maker::Stock), (Maker::Rove, Maker::Rove)];

/// Returns a line that fills two datagrams and begins with `number`.
fn long_line(number: u32) -> String {
    let stream = Seed::new(number.into()).stream("line");
    let letter = |at| char::from(b'a' + u8::try_from(stream.at(at).below(26)).expect("a letter"));
    format!("{number} {}\r", (0..2_400).map(letter).collect::<String>())
}

/// Types lines and waits for a page after each. Returns the sizes of the largest datagrams up and down.
fn turn_pages(client: Maker, server: Maker, link: LinkConfig) -> (Bytes, Bytes) {
    let command = ["sh", "-c", FAR_END];
    let mut session = Session::open(client, server, Ipv4Addr::LOCALHOST.into(), link, &command);
    session.terminal.wait_for_text("ready");
    for number in 1..=PAGES {
        session.terminal.send(long_line(number));
        session.terminal.wait_for_text(&format!("page {number}."));
    }
    session.terminal.send("quit\r");
    session.terminal.wait_exit().assert_code(0).assert_restored(client);
    session.server.assert_gone();
    (session.relay.uplink().largest, session.relay.downlink().largest)
}

#[test]
fn tries_of_larger_datagrams_are_borne_by_either_maker() {
    side_by_side(ENDS, |(client, server)| {
        let (up, down) = turn_pages(client, server, LinkConfig::default());
        println!("{} client: {up}, {} server: {down}", client.name(), server.name());
        for (maker, largest) in [(client, up), (server, down)] {
            match maker {
                // Padding gives a datagram the size that is tried, or a few bytes less.
                Maker::Rove => assert!(largest > Bytes::new(1_460), "{largest}"),
                Maker::Stock => assert_eq!(largest, Bytes::new(1_252)),
            }
        }
    });
}

#[test]
fn pages_get_through_a_path_that_drops_large_datagrams() {
    side_by_side([800, 1_100], |len| {
        let drops = Drops { mtu: Some(Bytes::new(len)), ..Drops::default() };
        let link = LinkConfig { drops, ..LinkConfig::default() };
        turn_pages(Maker::Rove, Maker::Rove, link);
    });
}
