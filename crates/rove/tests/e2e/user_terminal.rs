//! The session in the user's own terminal: lines to copy, colours that rove must draw itself, and titles.

use std::net::{IpAddr, Ipv4Addr};

use serde_json::{Value, json};

use crate::support::{
    Invocation, Maker, SIZE, Scratch, Server, Terminal, Tmux, draw, lossy, relay_to, require, rove,
    same_picture, side_by_side, wait_until, within_guard,
};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A script that writes a file to its terminal without changes and waits for a line.
const SHOW: &str = "stty -echo -opost; cat \"$1\"; read -r line";

/// Starts a server whose command shows `bytes`. The scratch folder must exist as long as the server.
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
fn the_demo_introduces_itself_once_though_its_screen_stays() {
    side_by_side([(8, 40), SIZE], |size| {
        let scratch = Scratch::new();
        let tmux = Tmux::new(&scratch, "set -g status off\n");
        let script = "\"$@\"; echo left; read -r line";
        let words = ["demo", "--scrollback", "--rtt", "10ms", "--", "seq", "30"];
        let call = Invocation::new(rove()).args(words).behind(&["sh", "-c", script, "sh"]);
        let mut terminal = Terminal::start(&tmux.around(call), size);
        terminal.wait_for_text("left");
        let lines = tmux.lines(&["-J", "-S", "-"]);
        let times = lines.iter().filter(|line| line.contains("rove demo: emulated link")).count();
        assert_eq!(times, 1, "{lines:#?}");
        assert!(lines.iter().any(|line| line == "1"), "{lines:#?}");
        terminal.send("\r");
        terminal.wait_exit().assert_code(0);
    });
}

/// Returns the choices of a user whose terminal's history gets the lines that scroll off.
fn scrolling() -> Value {
    json!({"choices": {"scrollback": true, "init": false}})
}

#[test]
fn lines_that_scroll_off_at_the_host_are_in_the_terminals_own_history() {
    let scratch = Scratch::new();
    let script = "echo before; seq 500; read -r line; printf '\\033[?1049h\\033[H'; seq 90; \
                  printf '\\033[?1049l'; echo after; read -r line";
    let server = Server::start(Maker::Rove, LOCALHOST, &["sh", "-c", script]);
    let relay = relay_to(server.address, lossy(0.1));
    let tmux = Tmux::new(&scratch, "set -g status off\n");
    let call = Maker::Rove.client(relay.address(), &server.key).session_call(scrolling());
    let mut terminal = Terminal::start(&tmux.around(call), SIZE);
    let mut wanted = vec!["before".to_owned()];
    wanted.extend((1..=500).map(|number| number.to_string()));
    wait_for_history(&tmux, &wanted);
    terminal.send("\r");
    terminal.wait_for_text("after");
    wanted.extend(["".to_owned(), "after".to_owned()]);
    wait_for_history(&tmux, &wanted);
    terminal.send("\r");
    terminal.wait_exit().assert_code(0);
    server.assert_gone();
}

#[test]
fn the_output_of_a_command_is_in_the_terminals_own_history_and_not_for_mosh() {
    side_by_side(["rove", "mosh-client"], |name| {
        let scratch = Scratch::new();
        let program = scratch.path(name);
        std::os::unix::fs::symlink(rove(), &program).expect("the folder takes links");
        let server = Server::start(Maker::Rove, LOCALHOST, &["sh", "-c", "seq 300; exit 3"]);
        let call = Invocation::new(&program).env("MOSH_KEY", &server.key);
        let mut call = call.session_call(json!({"command": "seq 300"}));
        if name == "rove" {
            call = call.arg("client");
        }
        let (ip, port) = (server.address.ip().to_string(), server.address.port().to_string());
        let script = "echo before; \"$@\"; echo after $?; read -r line";
        let call = call.args([ip, port]).behind(&["sh", "-c", script, "sh"]);
        let tmux = Tmux::new(&scratch, "set -g status off\n");
        let mut terminal = Terminal::start(&tmux.around(call), SIZE);
        terminal.wait_for_text("after");
        let mut wanted = vec!["before".to_owned()];
        if name == "rove" {
            wanted.extend((1..=300).map(|number| number.to_string()));
            wanted.push("after 3".to_owned());
        } else {
            wanted.extend(["[mosh is exiting.]".to_owned(), "after 0".to_owned()]);
        }
        let mut lines = tmux.lines(&["-S", "-"]);
        lines.retain(|line| !line.is_empty());
        assert_eq!(lines, wanted);
        terminal.send("\r");
        terminal.wait_exit().assert_code(0);
        server.assert_gone();
    });
}

#[test]
fn a_command_shows_its_lines_and_editors_while_it_runs() {
    require("vim", "vim");
    let scratch = Scratch::new();
    let script = "stty -echo; seq 100; read -r line; vim -u NONE; echo done; read -r line";
    let server = Server::start(Maker::Rove, LOCALHOST, &["sh", "-c", script]);
    let tmux = Tmux::new(&scratch, "set -g status off\n");
    let call =
        Maker::Rove.client(server.address, &server.key).session_call(json!({"command": "sh"}));
    let mut terminal = Terminal::start(&tmux.around(call), SIZE);
    let mut wanted: Vec<String> = (1..=100).map(|number| number.to_string()).collect();
    wait_for_history(&tmux, &wanted);
    terminal.send("\r");
    terminal.wait_for("the editor", |screen| {
        screen.rows(0, 80).filter(|row| row.trim_end() == "~").count() > 5
    });
    terminal.send(":q\r");
    wanted.push("done".to_owned());
    wait_for_history(&tmux, &wanted);
    terminal.send("\r");
    terminal.wait_exit().assert_code(0);
    server.assert_gone();
}

/// Waits until tmux's screen and history together show these lines.
fn wait_for_history(tmux: &Tmux, wanted: &[String]) {
    let (tmux, wanted) = (tmux.clone(), wanted.to_vec());
    within_guard(
        "the lines in tmux's history",
        move || {
            while tmux.lines(&["-S", "-"]) != wanted {}
        },
    );
}

#[test]
fn lines_over_rows_that_were_wrapped_stay_lines_of_their_own() {
    for scrolls in [false, true] {
        let scratch = Scratch::new();
        let script = "stty -echo; seq 40; seq -f %0150.0f 14; read -r line; seq 60; read -r line";
        let server = Server::start(Maker::Rove, LOCALHOST, &["sh", "-c", script]);
        let tmux = Tmux::new(&scratch, "set -g status off\n");
        let call = Maker::Rove.client(server.address, &server.key);
        let call = tmux.around(if scrolls { call.session_call(scrolling()) } else { call });
        let mut terminal = Terminal::start(&call, SIZE);
        // Each row of a long line begins with a zero. tmux joins a row that is marked as wrapped to the previous row.
        let short = || -> Vec<String> {
            let lines = tmux.lines(&["-J", "-S", "-"]);
            lines.into_iter().filter(|it| !it.is_empty() && !it.starts_with('0')).collect()
        };
        terminal
            .wait_for("the long lines", |screen| screen.rows(0, 80).any(|it| it.ends_with("14")));
        terminal.send("\r");
        terminal.wait_for_text("60");
        let last = 60 - i32::from(SIZE.0) + 2..=60;
        let numbers =
            if scrolls { (1..=40).chain(1..=60).collect::<Vec<_>>() } else { last.collect() };
        let wanted: Vec<String> = numbers.iter().map(i32::to_string).collect();
        wait_until("the short lines", || short() == wanted);
        terminal.send("\r");
        terminal.wait_exit().assert_code(0);
        server.assert_gone();
    }
}

#[test]
fn a_cleared_screens_text_is_in_the_terminals_own_history() {
    let scratch = Scratch::new();
    // The script clears the screen as Ctrl-L in a shell and `clear` do, and as both do for a terminal such as tmux.
    let script = r"stty -echo; seq 40; read -r line
        printf '\033[H\033[2J'; echo one; read -r line
        printf '\033[H\033[2J\033[3J'; echo two; read -r line
        printf '\033[H\033[J'; echo three; read -r line
        printf '\033[H\033[J\033[3J'; echo four; read -r line";
    let server = Server::start(Maker::Rove, LOCALHOST, &["sh", "-c", script]);
    let tmux = Tmux::new(&scratch, "set -g status off\n");
    let call = Maker::Rove.client(server.address, &server.key).session_call(scrolling());
    let mut terminal = Terminal::start(&tmux.around(call), SIZE);
    let mut wanted: Vec<String> = (1..=40).map(|number| number.to_string()).collect();
    wait_for_history(&tmux, &wanted);
    for next in ["one", "two", "three", "four"] {
        terminal.send("\r");
        wanted.push(next.to_owned());
        wait_for_history(&tmux, &wanted);
    }
    terminal.send("\r");
    terminal.wait_exit().assert_code(0);
    server.assert_gone();
}

#[test]
fn no_older_letter_stays_between_emoji_that_the_terminal_joins() {
    let scratch = Scratch::new();
    let letters = format!("{}\r\n", "abcdefghijklmnopqrstuvwxyz".repeat(2)).repeat(60);
    let emoji =
        "👩\u{200d}💻 DEV 👨\u{200d}👩\u{200d}👧 FAMILY 🏳\u{fe0f}\u{200d}🌈 PRIDE 漢\u{200d}字 END";
    let emoji = format!("\x1b[H{}", format!("{emoji}\x1b[K\r\n").repeat(20));
    let files = [scratch.write("letters", &letters), scratch.write("emoji", &emoji)];
    let [letters, emoji] = files.each_ref().map(|path| path.to_str().expect("paths are text"));
    let script = r#"stty -echo -opost; cat "$1"; read -r line; cat "$2"; read -r line"#;
    let command = ["sh", "-c", script, "sh", letters, emoji];
    let server = Server::start(Maker::Rove, LOCALHOST, &command);
    let tmux = Tmux::new(&scratch, "set -g status off\n");
    let call = Maker::Rove.client(server.address, &server.key);
    let mut terminal = Terminal::start(&tmux.around(call), SIZE);
    terminal.wait_for_text("xyz");
    terminal.send("\r");
    let seen = tmux.clone();
    let lines = within_guard("the emoji", move || {
        loop {
            let lines = seen.lines(&[]);
            if lines.get(19).is_some_and(|line| line.contains("END")) {
                return lines;
            }
        }
    });
    for line in &lines[..20] {
        let read: String = line.chars().filter(char::is_ascii_alphanumeric).collect();
        assert_eq!(read, "DEVFAMILYPRIDEEND", "{line}");
    }
    terminal.send("\r");
    terminal.wait_exit().assert_code(0);
    server.assert_gone();
}

#[test]
fn emoji_that_the_terminal_joins_leave_no_gap_and_programs_are_told() {
    let scratch = Scratch::new();
    // Before the client has measured its terminal, the program sees the cursor four columns further right.
    let script = r#"
        until [ "$column" = 3 ]; do
            IFS=';' read -rs -d R -p $'\r👩\u200d💻\e[6n' row column
        done
        printf '\r\n%s\r\n' "$1"; read -r line"#;
    let emoji = "👩\u{200d}💻 DEV 👨\u{200d}👩\u{200d}👧 FAMILY END";
    let server = Server::start(Maker::Rove, LOCALHOST, &["bash", "-c", script, "bash", emoji]);
    let tmux = Tmux::new(&scratch, "set -g status off\n");
    let call = Maker::Rove.client(server.address, &server.key);
    let mut terminal = Terminal::start(&tmux.around(call), SIZE);
    let seen = tmux.clone();
    within_guard("the emoji without gaps", move || {
        while !seen.lines(&[]).iter().any(|line| line.trim_end() == emoji) {}
    });
    terminal.send("\r");
    terminal.wait_exit().assert_code(0);
    server.assert_gone();
}

#[test]
fn colored_blanks_do_not_depend_on_what_erasing_paints() {
    let bytes = "\x1b[48;2;255;0;255m\x1b[H\x1b[2JTrue\r\n\x1b[48;5;32m\x1b[J256\r\n\x1b[42m\x1b[J16\r\n\
        \x1b[0mdone\r\n\x1b[10;10H\x1b[41m\x1b[5X\x1b[12;1H\x1b[44m\x1b[2Kx\x1b[m";
    // According to terminfo, only the first of these terminals erases with the background colour.
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
