//! Signals that are ignored or blocked when rove starts, by a script in the background, `nohup` or a service.

use std::net::{IpAddr, Ipv4Addr};

use rustix::process::Signal;

use crate::support::{Invocation, Maker, Report, SIZE, Scratch, Server, Terminal, rove};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Starts a program that ignores signals of terminals and of children, and some others, and that blocks all signals.
const DEAF: [&str; 3] =
    ["env", "--ignore-signal=INT,QUIT,TSTP,TTOU,HUP,PIPE,CHLD,USR1,RTMAX", "--block-signal"];
/// Starts a program with all signals blocked.
const BLOCKED: [&str; 2] = ["env", "--block-signal"];

/// A script that shows below the notice bar which signals are blocked or ignored at its start, and then prints until
/// Ctrl-C. A shell cannot trap a signal that is ignored at its start.
const FLOOD: &str = r"
    echo; echo; trap : INT; grep -E 'Sig(Blk|Ign)' /proc/self/status; echo ready; read -r line; yes
    printf '\033[H\033[2Jstopped\n'; read -r line
";

/// Signals 32 and 33. glibc uses them internally, and ignores them in the programs that it spawns.
const THE_C_LIBRARYS: u64 = 0b11 << 31;

/// Asserts that a session with [`FLOOD`] started without blocked or ignored signals.
fn assert_hears(terminal: &mut Terminal) {
    terminal.wait_for_text("ready");
    let found = terminal.screen().contents();
    for name in ["SigBlk:", "SigIgn:"] {
        let mask = found.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        let mask = u64::from_str_radix(mask.trim(), 16).expect("a mask is a number");
        assert_eq!(mask & !THE_C_LIBRARYS, 0, "{found}");
    }
    terminal.send("\r");
    terminal.wait_for("a screen full of y", |screen| screen.contents().matches("y\n").count() > 20);
    terminal.send("\x03");
    terminal.wait_for_text("stopped");
    terminal.send("\r");
    terminal.wait_exit().assert_code(0).assert_restored(Maker::Rove);
}

#[test]
fn a_session_has_all_signals_whoever_started_its_server() {
    let call = Maker::Rove.server().behind(&DEAF);
    let server = Server::start_with(call, LOCALHOST, &["sh", "-c", FLOOD]);
    let mut terminal = Terminal::start(&Maker::Rove.client(server.address, &server.key), SIZE);
    assert_hears(&mut terminal);
    server.assert_gone();
}

#[test]
fn a_demo_has_all_signals_whoever_started_it() {
    let call = Invocation::new(rove()).args(["demo", "--rtt", "40ms", "--", "sh", "-c", FLOOD]);
    assert_hears(&mut Terminal::start(&call.behind(&DEAF), SIZE));
}

#[test]
fn both_ends_hear_signals_that_were_blocked_when_they_started() {
    let scratch = Scratch::new();
    let report = Report::new(&scratch);
    let script = r#"
        trap 'stty size > "$1"' WINCH; stty size > "$1"; echo ready
        (trap '' WINCH; exec sleep 1000) & while :; do wait; done
    "#;
    let command = ["sh", "-c", script, "sh", report.path()];
    let server = Server::start_with(Maker::Rove.server().behind(&BLOCKED), LOCALHOST, &command);
    let call = Maker::Rove.client(server.address, &server.key).behind(&BLOCKED);
    let mut terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("ready");
    terminal.resize((30, 100));
    report.wait_line("30 100");
    server.signal(Signal::TERM);
    terminal.wait_exit().assert_restored(Maker::Rove);
    server.assert_gone();
}
