use proptest::prelude::*;
use rove_terminal::{Size, Terminal};

use super::*;

const LOGIN: &str = "https://login.example/auth?a=b&redirect_uri=";

fn screen(bytes: &[u8], columns: u16, rows: u16) -> Screen {
    let mut terminal = Terminal::host(Size::new(columns, rows).unwrap());
    terminal.write(bytes);
    terminal.screen().clone()
}

fn found(text: &str) -> Option<(String, &'static str, u16)> {
    find(&screen(text.as_bytes(), 80, 24)).map(|it| (it.login, it.loopback, it.port))
}

#[test]
fn only_a_port_from_1024_on_of_the_loopback_is_found() {
    for (back, expected) in [
        ("http://localhost:8085", Some(("localhost", 8085))),
        ("http://localhost:8085/callback?x=1", Some(("localhost", 8085))),
        ("http%3A%2F%2Flocalhost%3a8085%2Foauth%2Fcallback", Some(("localhost", 8085))),
        ("http://127.0.0.1:1024&state=http://evil:9", Some(("127.0.0.1", 1024))),
        ("http%3A%2F%2F%5B%3A%3A1%5D%3A65535", Some(("::1", 65535))),
        ("http://localhost:8085).", Some(("localhost", 8085))),
        ("http://localhost:22", None),
        ("http://localhost:1023/", None),
        ("http://localhost:0", None),
        ("http://localhost:65536", None),
        ("http://localhost:+8085", None),
        ("http://localhost:", None),
        ("http://localhost", None),
        ("https://localhost:8085", None),
        ("http://localhost.evil.com:8085", None),
        ("http://127.0.0.1@evil.com:8085", None),
        ("http://localhost:8085@evil.com/", None),
        ("http://localhost:8085%40evil.com", None),
        ("http://localhost:80%2085", None),
        ("http://127.0.0.2:8085", None),
        ("http://0.0.0.0:8085", None),
        ("http://[::]:8085", None),
        ("http%253A%252F%252Flocalhost%253A8085", None),
        ("http%3A%2F%2Flocalhost%3A8085%2", None),
        ("http://localhost:8085%0a", None),
        ("http://localhost:8085%ff", None),
        ("http://localhost:8085&redirect_uri=http://localhost:8086", None),
    ] {
        let expected = expected.map(|(host, port)| ("login.example".to_owned(), host, port));
        assert_eq!(found(&format!("Open ({LOGIN}{back}\r\n")), expected, "{back}");
    }
}

#[test]
fn the_host_that_is_told_is_the_one_that_a_browser_asks() {
    for (address, login) in [
        ("https://good.example@evil.example/", Some("evil.example")),
        ("https://evil.example#@good.example/", None),
        ("https://evil.example?@good.example/", Some("evil.example")),
        ("http://a.example:8443/x", Some("a.example:8443")),
        ("https:///x", None),
        ("ftp://a.example/", None),
        ("https://%65vil.example/", None),
    ] {
        let separator = if address.contains('?') { '&' } else { '?' };
        let text = format!("{address}{separator}redirect_uri=http://localhost:8085");
        assert_eq!(found(&text).map(|it| it.0).as_deref(), login, "{text}");
    }
    for host in ["evil.example\\@good.example", "gööd.example"] {
        let link = format!(
            "\x1b]8;;https://{host}/?redirect_uri=http://localhost:8085\x1b\\here\x1b]8;;\x1b\\"
        );
        assert_eq!(find(&screen(link.as_bytes(), 80, 24)), None, "{host}");
    }
}

#[test]
fn the_end_of_a_long_host_is_told_because_it_says_whose_it_is() {
    for (len, start) in [(23, "a".repeat(23)), (24, format!("...{}", "a".repeat(20)))] {
        let host = format!("{}.evil.example", "a".repeat(len));
        let text = format!("https://{host}?redirect_uri=http://localhost:8085");
        let login = found(&text).map(|it| it.0);
        assert_eq!(login, Some(format!("{start}.evil.example")));
        assert!(login.is_some_and(|it| it.len() == HOST_SHOWN_MAX));
    }
}

#[test]
fn an_address_is_found_over_rows_in_pieces_and_in_a_hyperlink() {
    let address = format!("{LOGIN}http%3A%2F%2Flocalhost%3A8085&scope=a");
    let wanted = |bytes: &[u8], columns| find(&screen(bytes, columns, 24)).map(|it| it.port);
    for columns in [11, 20, 44, 80] {
        assert_eq!(wanted(address.as_bytes(), columns), Some(8085), "{columns}");
        // A program that breaks the address itself fills each line up to its end.
        let rows: Vec<&[u8]> = address.as_bytes().chunks(columns.into()).collect();
        assert_eq!(wanted(&rows.join(&b"\r\n"[..]), columns), Some(8085), "{columns}");
    }
    let pieces: String =
        address.chars().map(|c| format!("\x1b[3{}m{c}\x1b[K", u32::from(c) % 8)).collect();
    assert_eq!(wanted(pieces.as_bytes(), 80), Some(8085));
    let link = format!(
        "\x1b]8;;{address}\x1b\\here\x1b]8;;\x1b\\ and \x1b]8;;https://x.example\x1b\\there"
    );
    assert_eq!(wanted(link.as_bytes(), 80), Some(8085));
    assert_eq!(wanted(format!("{LOGIN}http://localhost:80 85").as_bytes(), 80), None);
}

#[test]
fn the_address_nearest_to_the_cursor_is_found_and_those_above_come_first() {
    let address = |port: u16| format!("{LOGIN}http://localhost:{port}\r\n");
    let (all, rows) = ([5001, 5002, 5003, 5004].map(address).concat(), [1, 2, 3, 4, 9]);
    for (row, port) in rows.into_iter().zip([5001, 5002, 5003, 5004, 5004]) {
        let text = format!("{all}\x1b[{row}H");
        assert_eq!(find(&screen(text.as_bytes(), 100, 24)).map(|it| it.port), Some(port), "{row}");
    }
    let below = format!("\r\n{all}\x1b[H");
    assert_eq!(find(&screen(below.as_bytes(), 100, 24)).map(|it| it.port), Some(5001));
}

/// Pieces from which the test makes addresses and imitations of addresses.
const PIECES: [&str; 22] = [
    "http://",
    "https://",
    "http",
    "login.example",
    "/",
    "?",
    "&",
    "#",
    "@",
    "redirect_uri=",
    "localhost",
    "127.0.0.1",
    "[::1]",
    ":8085",
    ":22",
    "%3A",
    "%",
    " ",
    "\r\n",
    "\x1b[31m",
    "\x1b]8;;",
    "界",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]
    #[test]
    fn no_screen_makes_more_of_it_than_a_port_of_the_loopback(
        pieces in proptest::collection::vec(0..PIECES.len() + 3, 0..120),
        columns in 2_u16..90,
        rows in 1_u16..12,
        noise in proptest::collection::vec(any::<u8>(), 3 * 8),
    ) {
        let bytes: Vec<u8> = pieces
            .iter()
            .flat_map(|at| PIECES.get(*at).map_or_else(
                || noise.chunks(8).nth(at - PIECES.len()).unwrap(),
                |piece| piece.as_bytes(),
            ))
            .copied()
            .collect();
        if let Some(found) = find(&screen(&bytes, columns, rows)) {
            prop_assert!(found.port >= 1024);
            prop_assert!(["localhost", "127.0.0.1", "::1"].contains(&found.loopback));
            prop_assert!(!found.login.is_empty() && found.login.bytes().all(|it| it.is_ascii_graphic()));
        }
    }
}

#[test]
fn the_largest_screen_of_nothing_but_beginnings_is_read_once() {
    let text = "http://".repeat(usize::from(u16::MAX));
    assert_eq!(find(&screen(text.as_bytes(), 1000, 400)), None);
    assert_eq!(find(&screen(text.replace("://", "").as_bytes(), 1000, 400)), None);
}
