//! What the user's own terminal makes of a session: lines to copy, colours without its help, titles.

use std::net::{IpAddr, Ipv4Addr};

use crate::support::{
    Invocation, Maker, SIZE, Scratch, Server, Terminal, Tmux, draw, lossy, relay_to, rove,
    same_picture, side_by_side, within_guard,
};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Writes a file to its terminal and waits for a line.
const SHOW: &str = "stty -echo -opost; cat \"$1\"; read -r line";

/// Starts a server whose command shows these bytes, in a folder that has to outlive it.
fn showing(scratch: &Scratch, maker: Maker, bytes: &str) -> Server {
    let file = scratch.write("bytes", bytes);
    let file = file.to_str().expect("scratch paths are text");
    Server::start(maker, LOCALHOST, &["sh", "-c", SHOW, "sh", file])
}

#[test]
fn a_line_longer_than_the_window_is_copied_as_one_line() {
    let long = "w".repeat(100);
    side_by_side([Maker::Rove, Maker::Stock], |maker| {
        let scratch = Scratch::new();
        let server = showing(&scratch, maker, &format!("\x1b[H\x1b[2J{long}\r\nend"));
        let tmux = Tmux::new(&scratch, "set -g status off\n");
        let call = tmux.around(Maker::Rove.client(server.address, &server.key));
        let mut terminal = Terminal::start(&call, SIZE);
        terminal.wait_for("both rows and the end", |screen| {
            let rows: Vec<String> = screen.rows(0, 80).collect();
            rows[0] == "w".repeat(80) && rows[1] == "w".repeat(20) && rows[2] == "end"
        });
        assert_eq!(tmux.lines(&["-J"]), [long.as_str(), "end"]);
        terminal.send("\r");
        terminal.wait_exit().assert_code(0);
        server.assert_gone();
    });
}

#[test]
fn what_scrolls_off_at_the_host_is_in_the_terminals_own_history() {
    let scratch = Scratch::new();
    let script = "echo before; seq 500; read -r line; printf '\\033[?1049h\\033[H'; seq 90; \
                  printf '\\033[?1049l'; echo after; read -r line";
    let server = Server::start(Maker::Rove, LOCALHOST, &["sh", "-c", script]);
    let relay = relay_to(server.address, lossy(0.1));
    let tmux = Tmux::new(&scratch, "set -g status off\n");
    let call = Maker::Rove.client(relay.address(), &server.key).env("ROVE_SCROLLBACK", "1");
    let mut terminal = Terminal::start(&tmux.around(call), SIZE);
    let mut wanted = vec!["before".to_owned()];
    wanted.extend((1..=500).map(|number| number.to_string()));
    let wait_for_history =
        |wanted: &[String]| {
            let (tmux, wanted) = (tmux.clone(), wanted.to_vec());
            within_guard("the lines in tmux's history", move || {
                while tmux.lines(&["-S", "-"]) != wanted {}
            });
        };
    wait_for_history(&wanted);
    terminal.send("\r");
    terminal.wait_for_text("after");
    wanted.extend(["".to_owned(), "after".to_owned()]);
    wait_for_history(&wanted);
    terminal.send("\r");
    terminal.wait_exit().assert_code(0);
    server.assert_gone();
}

#[test]
fn colored_blanks_do_not_depend_on_what_erasing_paints() {
    let bytes = "\x1b[48;2;255;0;255m\x1b[H\x1b[2JTrue\r\n\x1b[48;5;32m\x1b[J256\r\n\x1b[42m\x1b[J16\r\n\
        \x1b[0mdone\r\n\x1b[10;10H\x1b[41m\x1b[5X\x1b[12;1H\x1b[44m\x1b[2Kx\x1b[m";
    // The first erases with the background, the second does not say so.
    side_by_side(["xterm-256color", "screen-256color"], |term| {
        let scratch = Scratch::new();
        let server = showing(&scratch, Maker::Rove, bytes);
        let call = Maker::Rove.client(server.address, &server.key).env("TERM", term);
        let mut terminal = Terminal::start(&call, SIZE);
        let expected = draw(24, 80, bytes.as_bytes());
        terminal.wait_for("the same colours", |screen| same_picture(screen, &expected));
        terminal.send("\r");
        terminal.wait_exit().assert_code(0).assert_restored(Maker::Rove);
        server.assert_gone();
    });
}

#[test]
fn titles_are_sent_only_to_terminals_that_have_them() {
    side_by_side([("xterm-256color", true), ("vt220", false)], |(term, titles)| {
        let scratch = Scratch::new();
        let server = showing(&scratch, Maker::Rove, "\x1b]0;a title\x07\x1b[H\x1b[2Jshown");
        let call = Maker::Rove.client(server.address, &server.key).env("TERM", term);
        let mut terminal = Terminal::start(&call, SIZE);
        terminal.wait_for_text("shown");
        terminal.send("\r");
        let exit = terminal.wait_exit();
        exit.assert_code(0);
        assert_eq!(exit.output.contains("a title"), titles, "{}", exit.output.escape_debug());
        server.assert_gone();
    });
}

#[test]
fn titles_say_whose_they_are_as_with_stock() {
    let bare = "\x1b]2;hello\x07";
    for (name, variable, bytes, written) in [
        ("mosh", None, bare, "\x1b]2;[mosh] hello\x07"),
        ("mosh", Some("MOSH_TITLE_NOPREFIX"), bare, "\x1b]2;hello\x07"),
        ("mosh", None, "\x1b]0;h\u{e9}llo\x1b\\", "\x1b]0;[mosh] h\u{e9}llo\x07"),
        ("mosh", None, "\x1b];semi\x07", "\x1b]0;[mosh] semi\x07"),
        ("mosh", None, "\x1b]1;icon\x07", "\x1b]1;icon\x07"),
        ("mosh", None, "no title", ""),
    ] {
        let scratch = Scratch::new();
        let program = scratch.path(&format!("{name}-client"));
        std::os::unix::fs::symlink(rove(), &program).expect("the folder takes links");
        let server = showing(&scratch, Maker::Rove, &format!("{bytes}\x1b[H\x1b[2Jshown"));
        let mut call = Invocation::new(&program)
            .env("MOSH_KEY", &server.key)
            .args([server.address.ip().to_string(), server.address.port().to_string()]);
        if let Some(variable) = variable {
            call = call.env(variable, "");
        }
        let mut terminal = Terminal::start(&call, SIZE);
        terminal.wait_for_text("shown");
        terminal.send("\r");
        let exit = terminal.wait_exit();
        exit.assert_code(0).assert_restored(Maker::Rove);
        assert!(exit.output.contains(written), "{written:?}: {}", exit.output.escape_debug());
        if written.is_empty() {
            assert!(!exit.output.contains("[mosh] "), "{}", exit.output.escape_debug());
        }
        server.assert_gone();
    }
}
