//! Predicted echo on the screen: it appears before the server can have sent it, and never where it must not appear.

use std::net::{IpAddr, Ipv4Addr};

use rove_link::LinkConfig;
use rove_units::Duration;
use rustix::process::Signal;

use crate::support::{Maker, SIZE, Server, Terminal, each_pair, lossy, relay_to};

/// Opens a session with a prediction mode. Dropping the returned relay ends the path.
fn open(
    (client, server): (Maker, Maker),
    mode: &str,
    link: LinkConfig,
    script: &str,
) -> (Terminal, rove_shell::relay::Relay, Server) {
    let server = Server::start(server, IpAddr::V4(Ipv4Addr::LOCALHOST), &["sh", "-c", script]);
    let relay = relay_to(server.address, link);
    let call = client.client(relay.address(), &server.key).env("MOSH_PREDICTION_DISPLAY", mode);
    let terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("ready");
    (terminal, relay, server)
}

#[test]
fn a_password_is_never_shown() {
    let script = "stty -echo; echo ready; read -r line; stty echo; echo \"length ${#line}\"";
    each_pair(|pair| {
        let (mut terminal, _relay, _server) = open(pair, "always", lossy(0.0), script);
        // The letter `j` is in no escape sequence and in no message.
        terminal.send("jjjj");
        terminal.send("jjj\r");
        let exit = terminal.wait_exit();
        assert!(exit.output.contains("length 7"), "{pair:?}: {}", exit.output.escape_debug());
        assert!(!exit.output.contains('j'), "{pair:?}: {}", exit.output.escape_debug());
    });
}

#[test]
fn keys_are_seen_while_the_server_stands_still() {
    // On such a slow path, the client underlines predictions, so the test can tell them from an echo.
    let slow = LinkConfig::lossless(Duration::from_millis(120));
    let script = "echo ready; read -r line; echo \"got $line\"";
    each_pair(|pair| {
        let (mut terminal, _relay, server) = open(pair, "adaptive", slow.clone(), script);
        // The first letter appears with its echo. A later letter must appear before its echo.
        let mut typed = String::new();
        let is_predicted = ('a'..='z').any(|letter| {
            typed.push(letter);
            terminal.send(letter.to_string());
            let mut underlined = false;
            terminal.wait_for("the letter", |screen| {
                underlined = is_underlined(screen, &typed);
                screen.contents().contains(&typed)
            });
            underlined
        });
        assert!(is_predicted, "{pair:?}: {}", terminal.dump());
        server.signal(Signal::STOP);
        typed.push_str("XY");
        terminal.send("XY");
        terminal.wait_for("the predicted letters", |screen| is_underlined(screen, &typed));
        server.signal(Signal::CONT);
        terminal.send("\r");
        let exit = terminal.wait_exit();
        assert!(exit.output.contains("got "), "{pair:?}: {}", exit.output.escape_debug());
    });
}

#[test]
fn text_beyond_ascii_is_predicted_correctly_or_not_at_all() {
    // The script's text is below the notice bar.
    let script = "printf '\\n\\nready\\n'; cat > /dev/null";
    let slow = LinkConfig::lossless(Duration::from_millis(100));
    each_pair(|pair| {
        let (mut terminal, _relay, _server) = open(pair, "always", slow.clone(), script);
        for _ in 0..3 {
            let mut line = String::new();
            for piece in ["gl", "ü", "ck fa", "ĩ", "l ", "漢", "."] {
                line.push_str(piece);
                terminal.send(piece);
                terminal.wait_for(&line, |screen| {
                    let rows: Vec<String> = screen.rows(0, 80).skip(1).collect();
                    // U+FFFD replaces an incomplete character. `)` is 0x29, the low byte of U+0129 (ĩ).
                    let is_wrong = |row: &String| row.contains(['\u{fffd}', ')']);
                    assert!(!rows.iter().any(is_wrong), "{pair:?}: {rows:#?}");
                    rows.iter().any(|row| row.starts_with(&line))
                });
            }
            terminal.send("\r\x0c");
            terminal.wait_for("the next line", |screen| screen.cursor_position().1 == 2);
            terminal.send("\r");
            terminal.wait_for("the start of a line", |screen| screen.cursor_position().1 == 0);
        }
        terminal.send("\x04");
        let exit = terminal.wait_exit();
        assert!(!exit.output.contains('\u{fffd}'), "{pair:?}: {}", exit.output.escape_debug());
    });
}

/// Returns whether the screen has `text`, and whether `text`'s last letter, in the cursor's row, is underlined.
fn is_underlined(screen: &vt100::Screen, text: &str) -> bool {
    let column = u16::try_from(text.len() - 1).expect("a line is short");
    let cell = screen.cell(screen.cursor_position().0, column);
    screen.contents().contains(text) && cell.is_some_and(vt100::Cell::underline)
}
