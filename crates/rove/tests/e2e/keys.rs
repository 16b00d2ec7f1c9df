//! Bytes after the escape key: which of them the client obeys and which reach the program.

use std::net::{IpAddr, Ipv4Addr};

use crate::support::{Maker, Report, SIZE, Scratch, Server, Terminal, each_pair};

/// A script that reports the first bytes of its input in hexadecimal. Its second argument is their number.
const DUMP: &str = r#"
stty raw -echo; printf 'ready\r\n'
head -c "$2" | od -An -v -tx1 > "$1"
"#;

#[test]
fn the_escape_key_is_what_the_environment_says() {
    const DEFAULT: Option<&str> = None;
    each_pair(|(client, server)| {
        // rove drops a key that is no command of the escape key.
        let [unknown, twice] = match client {
            Maker::Rove => [" 5a", " 1e 5a"],
            Maker::Stock => [" 1e 58 5a", " 1e 1e 5e 5a"],
        };
        for (escape_key, typed, arrives) in [
            (DEFAULT, "\x1e^Z", " 1e 5a"),
            (DEFAULT, "\x1eXZ", unknown),
            (DEFAULT, "\x1e\x1e^Z", twice),
            (DEFAULT, "\x03\x04\x1a\x0cZ", " 03 04 1a 0c 5a"),
            (DEFAULT, "ü漢\u{1f600}Z", " c3 bc e6 bc a2 f0 9f 98 80 5a"),
            (Some("~"), "~.Z", " 7e 2e 5a"),
            (Some("~"), "\r~~Z", " 0d 7e 5a"),
            (Some("~"), "\x1e.Z", " 1e 2e 5a"),
            (Some("\x02"), "\x02bZ", " 02 5a"),
            (Some("\x02"), "\x02BZ", " 02 5a"),
            (Some("\x03"), "\x03\x1e^Z", " 03 1e 5a"),
            (Some("ab"), "ab\x1e^Z", " 61 62 1e 5a"),
            (Some("é"), "\x1e^Z", " 1e 5a"),
            (Some(""), "\x1e.Z", " 1e 2e 5a"),
        ] {
            let scratch = Scratch::new();
            let report = Report::new(&scratch);
            let count = (arrives.len() / 3).to_string();
            let command = ["sh", "-c", DUMP, "sh", report.path(), &count];
            let server = Server::start(server, IpAddr::V4(Ipv4Addr::LOCALHOST), &command);
            let mut call = client.client(server.address, &server.key);
            if let Some(escape_key) = escape_key {
                call = call.env("MOSH_ESCAPE_KEY", escape_key);
            }
            let mut terminal = Terminal::start(&call, SIZE);
            terminal.wait_for_text("ready");
            terminal.send(typed);
            report.wait_line(arrives);
            terminal.wait_exit().assert_code(0);
        }
    });
}

#[test]
fn the_escape_key_ends_a_session_whatever_was_asked_of_the_keyboard() {
    let script = "stty raw -echo; printf '\\033[>31u\\033[>4;2mready'; exec cat > /dev/null";
    for typed in ["\x1e.", "\x1b[94;5u\x1b[94;5:3u\x1b[46u", "\x1b[54;6u.", "\x1b[27;5;94~."] {
        let ip = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let server = Server::start(Maker::Rove, ip, &["sh", "-c", script]);
        let call = Maker::Rove.client(server.address, &server.key);
        let mut terminal = Terminal::start(&call, SIZE);
        terminal.wait_for_text("ready");
        terminal.send(typed);
        terminal.wait_exit().assert_code(0).assert_restored(Maker::Rove);
    }
}

#[test]
fn the_escape_key_shows_what_it_can_do_until_the_next_key() {
    each_pair(|(client, server)| {
        let command =
            ["sh", "-c", "stty -echo; printf '\\nready\\n'; read -r line; echo \"$line\""];
        let server = Server::start(server, IpAddr::V4(Ipv4Addr::LOCALHOST), &command);
        let terminal = Terminal::start(&client.client(server.address, &server.key), SIZE);
        terminal.wait_for_text("ready");
        terminal.send("\x1e");
        terminal.wait_for("the help", |screen| screen.contents().contains("quit"));
        terminal.send("^");
        terminal.wait_for("no help", |screen| !screen.contents().contains("quit"));
    });
}
