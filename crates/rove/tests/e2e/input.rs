//! The program receives all of the user's input, once and in order, and soon enough to stop a flood of output.

use std::net::{IpAddr, Ipv4Addr};

use rove_units::Seed;

use crate::support::{
    Maker, Report, SIZE, Scratch, Server, Session, Terminal, each_pair, lossy, relay_to,
};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Bytes of one paste. Chosen: far more than a terminal, a state or a datagram holds.
const PASTE_BYTES: usize = 1 << 20;
/// Bytes of a paste into a stock client. In each frame, this client sends all input that it holds, in a burst that must
/// arrive whole. A busy machine's sockets cannot hold a burst of a megabyte.
const STOCK_PASTE_BYTES: usize = 1 << 16;

#[test]
fn a_large_paste_arrives_byte_for_byte() {
    each_pair(|(client, server)| {
        let scratch = Scratch::new();
        let report = Report::new(&scratch);
        let wanted = scratch.path("wanted");
        let rove = client == Maker::Rove;
        let paste = random_bytes(if rove { PASTE_BYTES } else { STOCK_PASTE_BYTES });
        let count = paste.len().to_string();
        std::fs::write(&wanted, &paste).unwrap();
        let script = r#"
            stty raw -echo; printf 'ready\r\n'
            head -c "$3" > "$1.arrived"; cmp "$1.arrived" "$2" && echo same > "$1"
            printf 'pasted\r\n'
        "#;
        let wanted = wanted.to_str().expect("scratch paths are text");
        let command = ["sh", "-c", script, "sh", report.path(), wanted, &count];
        let server = Server::start(server, LOCALHOST, &command);
        let relay = relay_to(server.address, lossy(0.0));
        let call = client.client(relay.address(), &server.key).env("MOSH_ESCAPE_KEY", "");
        let mut terminal = Terminal::start(&call, SIZE);
        terminal.wait_for_text("ready");
        let typist = terminal.send_behind(paste);
        report.wait_line("same");
        typist.join().unwrap();
        terminal.wait_exit().assert_code(0);
    });
}

/// Returns bytes of all values except ESC, because client and server translate escape sequences such as cursor keys.
fn random_bytes(count: usize) -> Vec<u8> {
    let chance = Seed::new(1).stream("paste");
    (0..u64::try_from(count).expect("a megabyte fits"))
        .map(|number| u8::try_from(chance.at(number).below(256)).expect("below 256"))
        .map(|byte| if byte == 0x1b { b'e' } else { byte })
        .collect()
}

#[test]
fn control_c_stops_a_flood() {
    each_pair(|(client, server)| {
        let script = r#"
            trap : INT; echo ready; read -r line; yes
            printf '\033[H\033[2Jstopped\n'; read -r line; echo "got $line"; read -r line
        "#;
        let session = Session::open(client, server, LOCALHOST, lossy(0.1), &["sh", "-c", script]);
        session.terminal.wait_for_text("ready");
        session.terminal.send("\r");
        session
            .terminal
            .wait_for("a screen full of y", |screen| screen.contents().matches("y\n").count() > 20);
        session.terminal.send("\x03");
        session.terminal.wait_for_text("stopped");
        session.terminal.send("next\r");
        session.terminal.wait_for_text("got next");
    });
}

#[test]
fn control_s_halts_a_flood_until_control_q() {
    each_pair(|(client, server)| {
        let scratch = Scratch::new();
        let report = Report::new(&scratch);
        let script = r#"
            echo ready; read -r line
            while :; do printf '%s\n' a b c d e f g h i j k l m n o p q r s t u v w x y z; done &
            read -r line; kill $!; wait
            echo told > "$1"
            printf '\033[H\033[2J=== normal exit ===\n'; read -r line
        "#;
        let command = ["sh", "-c", script, "sh", report.path()];
        let mut session = Session::open(client, server, LOCALHOST, lossy(0.1), &command);
        session.terminal.wait_for_text("ready");
        session.terminal.send("\r");
        session.terminal.wait_for_text("x\ny\nz");
        session.terminal.send("\x13\r");
        // The program has read the line and runs on, but the terminal holds its output until Ctrl-Q.
        report.wait_line("told");
        assert!(!session.terminal.screen().contents().contains("normal exit"));
        session.terminal.send("\x11");
        session.terminal.wait_for_text("=== normal exit ===");
        session.terminal.send("\r");
        session.terminal.wait_exit().assert_code(0);
        session.server.assert_gone();
    });
}

#[test]
fn every_size_reaches_the_program_in_the_end() {
    let script = r#"
        trap 'stty size > "$1"' WINCH; stty size > "$1"; echo ready
        (trap '' WINCH; exec sleep 1000) & while :; do wait; done
    "#;
    each_pair(|(client, server)| {
        let scratch = Scratch::new();
        let report = Report::new(&scratch);
        let command = ["sh", "-c", script, "sh", report.path()];
        let session = Session::open(client, server, LOCALHOST, lossy(0.1), &command);
        session.terminal.wait_for_text("ready");
        report.wait_line("24 80");
        for (rows, columns) in [(10, 40), (30, 100), (1, 1), (1_000, 2_000), (3, 2)] {
            session.terminal.resize((rows, columns));
            report.wait_line(&format!("{rows} {columns}"));
        }
        for step in 0..=10 {
            session.terminal.resize((20 + step, 60 + step));
        }
        report.wait_line("30 70");
    });
}

#[test]
fn the_first_size_a_program_sees_is_the_clients() {
    let script = "stty size > \"$1\"; read -r line";
    each_pair(|(client, server)| {
        for (rows, columns) in [(43, 132), (1, 1), (1, 200), (1_000, 2_000)] {
            let scratch = Scratch::new();
            let report = Report::new(&scratch);
            let command = ["sh", "-c", script, "sh", report.path()];
            let server = Server::start(server, LOCALHOST, &command);
            let call = client.client(server.address, &server.key);
            let _terminal = Terminal::start(&call, (rows, columns));
            report.wait_line(&format!("{rows} {columns}"));
        }
    });
}

#[test]
fn a_terminal_without_a_size_runs_a_session() {
    let command = ["sh", "-c", "exit 5"];
    let server = Server::start(Maker::Rove, LOCALHOST, &command);
    let call = Maker::Rove.client(server.address, &server.key);
    Terminal::start(&call, (0, 0)).wait_exit().assert_code(5);
}
