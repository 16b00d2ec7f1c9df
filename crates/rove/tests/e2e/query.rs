//! A client in tmux asks its terminal questions, which tmux answers.

use std::net::{IpAddr, Ipv4Addr};

use rove_link::LinkConfig;
use rove_units::Duration;
use serde_json::{Value, json};

use crate::support::{
    Invocation, Maker, Report, SIZE, Scratch, Server, Terminal, Tmux, relay_to, side_by_side,
    within_guard,
};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Parts of the answers of every tmux, as the client logs them: the version, and the device attributes that come last.
const ANSWERS: [&str; 2] = ["Version(\"tmux", "End"];

/// Starts a tmux that exits when its program ends.
fn tmux(scratch: &Scratch) -> Tmux {
    let config = "set -g destroy-unattached on\nset -g status off\nset -sg escape-time 0\n\
                  set -g default-terminal tmux-256color\n";
    Tmux::new(scratch, config)
}

#[test]
fn a_terminals_answers_reach_neither_the_program_nor_the_screen() {
    side_by_side([0, 100], |delay| {
        let scratch = Scratch::new();
        let (typed, log) = (scratch.path("typed"), scratch.path("log"));
        // The program shows and stores all its input from the start.
        let script = "stty raw -echo; printf 'ready\\r\\n'; \
            dd bs=1 count=9 status=none | tee \"$1\" | cat -v";
        let command = ["sh", "-c", script, "sh", typed.to_str().expect("paths are text")];
        let server = Server::start(Maker::Rove, LOCALHOST, &command);
        let link = LinkConfig::lossless(Duration::from_millis(delay));
        let relay = relay_to(server.address, link);
        let call = Maker::Rove.client(relay.address(), &server.key);
        let call = tmux(&scratch).around(call.env("ROVE_LOG", &log));
        let mut terminal = Terminal::start(&call, SIZE);
        // tmux discards keys that were typed before its start.
        terminal.wait_for("tmux", vt100::Screen::alternate_screen);
        terminal.send("one");
        terminal.wait_for_text("ready");
        terminal.send("\x1b[A");
        terminal.wait_for("what was typed so far", |screen| {
            let text = screen.contents();
            assert!(!text.contains("rgb") && !text.contains("^[[?"), "{text}");
            text.contains("one^[[A") || text.contains("one^[OA")
        });
        // The terminal may have echoed the first key before the program turned the echo off.
        let expected = ["one", "ready", "^[[A", "^[OA", "\n"];
        let rest = terminal.screen().contents();
        let rest = expected.iter().fold(rest, |rest, text| rest.replace(text, ""));
        assert_eq!(rest, "");
        terminal.send("two");
        terminal.wait_exit().assert_code(0);
        let typed = std::fs::read_to_string(&typed).expect("the program kept what it read");
        assert!(["one\x1b[Atwo", "one\x1bOAtwo"].contains(&typed.as_str()), "{typed:?}");
        let log = std::fs::read_to_string(&log).expect("the client keeps a log");
        for answer in ANSWERS {
            assert!(log.contains(answer), "tmux never said {answer}:\n{log}");
        }
    });
}

#[test]
fn a_terminal_that_tells_its_name_is_given_coloured_underlines() {
    let scratch = Scratch::new();
    let script = r"printf '\033[4:3;58:2::255:0:9mwavy\033[m'; read -r line";
    let server = Server::start(Maker::Rove, LOCALHOST, &["sh", "-c", script]);
    let tmux = tmux(&scratch);
    let call = tmux.around(Maker::Rove.client(server.address, &server.key));
    let mut terminal = Terminal::start(&call, SIZE);
    let pane = tmux.clone();
    within_guard("the underline's colour", move || {
        while !pane.lines(&["-e"]).iter().any(|line| line.contains("58;2;255;0;9")) {}
    });
    terminal.send("\r");
    terminal.wait_exit().assert_code(0);
    server.assert_gone();
}

#[test]
fn a_terminals_answers_to_a_session_that_is_over_reach_nobody() {
    let scratch = Scratch::new();
    let report = Report::new(&scratch);
    let server = Server::start(Maker::Rove, LOCALHOST, &["true"]);
    let call = Maker::Rove.client(server.address, &server.key);
    let script = r#"
        report=$1; shift; "$@"
        stty raw -echo; printf 'next\r\n'; head -c 1 | od -An -v -tx1 > "$report"
    "#;
    let call = tmux(&scratch).around(call.behind(&["sh", "-c", script, "sh", report.path()]));
    let mut terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("next");
    terminal.send("x");
    report.wait_line(" 78");
    terminal.wait_exit().assert_code(0);
}

#[test]
fn a_terminal_is_asked_unless_its_user_or_its_type_says_otherwise() {
    let asked = |change: fn(Invocation) -> Invocation| {
        let server = Server::start(Maker::Rove, LOCALHOST, &["echo", "done"]);
        let call = change(Maker::Rove.client(server.address, &server.key));
        let mut terminal = Terminal::start(&call, SIZE);
        let exit = terminal.wait_exit();
        exit.assert_code(0);
        exit.output.contains("\x1b[c")
    };
    assert!(asked(|call| call.env("TERM", "xterm-256color")));
    assert!(!asked(|call| call.env("TERM", "linux")));
    assert!(!asked(|call| call.env("ROVE_NO_TERM_QUERY", "1")));
    assert!(!asked(|call| call.session_call(json!({"choices": {"strict": true}}))));
}

/// Runs a program that asks `question` and then asks for the terminal's status. `call` has the client's facts and
/// choices. Asserts that the program reads `answer`, which has `bytes` bytes.
fn assert_answer(question: &str, call: Value, bytes: &str, answer: &str) {
    // The program waits for a key, because keys arrive after the client's first reports to the server.
    let script = format!(
        "stty raw -echo; printf 'ready\\r\\n'; head -c 1 > /dev/null; printf '{question}\\033[5n'; \
        dd bs=1 count=\"$1\" status=none | cat -v; head -c 1 > /dev/null"
    );
    let server = Server::start(Maker::Rove, LOCALHOST, &["sh", "-c", &script, "sh", bytes]);
    let call = Maker::Rove.client(server.address, &server.key).session_call(call);
    let mut terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("ready");
    terminal.send("x");
    terminal.wait_for(answer, |screen| {
        screen.contents().lines().nth(1).is_some_and(|line| line.trim() == answer)
    });
    terminal.send("x");
    terminal.wait_exit().assert_code(0);
}

#[test]
fn programs_ask_where_their_user_lets_them_and_get_no_answer_elsewhere() {
    let question = "\\033]52;c;YWI=\\007\\033]52;c;?\\007";
    let call = json!({"choices": {"read_copied": true}});
    assert_answer(question, call, "16", "^[]52;c;YWI=^G^[[0n");
    for call in [json!({}), json!({"choices": {"read_copied": true, "strict": true}})] {
        assert_answer(question, call, "4", "^[[0n");
    }
}

#[test]
fn no_program_reads_the_screen_back_whatever_its_user_sets() {
    let all = json!({"read_copied": true, "scrollback": true, "init": false, "predict": "Always"});
    for call in [
        json!({"choices": all, "command": "sh"}),
        json!({"choices": {"query": false}}),
        json!({"choices": {"strict": true}}),
        json!({}),
    ] {
        assert_answer("\\033[7;1;1;1;1;1*y", call, "4", "^[[0n");
    }
}
