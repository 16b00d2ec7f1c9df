//! Logins that call back. A browser connects to a port that the user opened here, and reaches a program on the host.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

use rustix::process::Signal;

use crate::support::{Border, Far, Invocation, Terminal, rove, within_guard};

/// Starts a session whose program shows `text` below the notice bar.
fn session(border: &Border, text: &str) -> Terminal {
    let call = Invocation::new(rove()).arg(format!("--ssh={}", border.sshd.ssh()));
    let call = call.args([&format!("-p{}", border.port), "--no-tunnel", "far", "--", "sh", "-c"]);
    let show = "echo; echo; printf \"$1\"; echo; echo ready; exec cat";
    let terminal = Terminal::start(&call.args([show, "sh", text]), (24, 160));
    terminal.wait_for_text("ready");
    terminal
}

/// Accepts one connection, and answers it with `far: ` and everything that the peer sent.
fn echo_once(listener: TcpListener) {
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection comes");
        let mut said = String::new();
        let _ = stream.read_to_string(&mut said);
        let _ = write!(stream, "far: {said}");
    });
}

fn is_open(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

#[test]
fn a_login_comes_back_through_a_port_that_opens_by_the_users_yes_and_closes_with_the_session() {
    let Some(border) = Border::start(Far::default(), true, true) else { return };
    let far = border.listen();
    let port = far.local_addr().expect("a bound socket has an address").port();
    echo_once(far);
    // The address fills more than a row. An older address is two rows above it.
    let address = |port| {
        let state = "s".repeat(150);
        format!(
            "https://login.example/a?state={state}&redirect_uri=http%%3A%%2F%%2F127.0.0.1%%3A{port}%%2Fcb"
        )
    };
    let text = format!("{}\\n\\n{}", address(9_999), address(port));
    let mut terminal = session(&border, &text);
    assert!(!is_open(port), "output opens nothing");
    // An answer `y` without a question opens no port either.
    terminal.send("\x1eyx");
    terminal.send("\x1eo");
    terminal.wait_for_text(&format!("Open port {port} here to "));
    terminal.wait_for_text("on far for 10 minutes?");
    assert!(!is_open(port), "the question opens nothing");
    terminal.send("\x1ey");
    let option = format!("-L localhost:{port}:127.0.0.1:{port}");
    terminal.wait_for_text(&format!("{option}: open here for 10 minutes"));
    let answer = within_guard("an answer", move || {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.write_all(b"code")?;
        stream.shutdown(Shutdown::Write)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map(|_| answer)
    });
    assert_eq!(answer.expect("a connection"), "far: code", "{}", terminal.dump());
    terminal.send("\x1es");
    terminal.wait_for_text(&format!("Forwards    {option}"));
    terminal.send("x\x1eo");
    terminal.wait_for_text(&format!("port {port} is open here already"));
    // The first `y` was no answer, so the `x` after it has reached the program's line.
    terminal.send("\r\x04");
    terminal.wait_exit().assert_code(0);
    assert!(!is_open(port), "it ends with the session");
}

#[test]
fn a_login_that_comes_while_the_client_is_suspended_waits_and_the_user_is_told_so() {
    let Some(border) = Border::start(Far::default(), true, true) else { return };
    let far = border.listen();
    let port = far.local_addr().expect("a bound socket has an address").port();
    echo_once(far);
    let back = format!("https://login.example/a?redirect_uri=http://127.0.0.1:{port}/cb");
    let terminal = session(&border, &back);
    // The question names `cat` at once, which is the program that has the terminal.
    terminal.send("\x1eo");
    terminal.wait_for_text(&format!("Open port {port} here to cat on far for 10 minutes?"));
    terminal.send("\x1ey");
    let option = format!("-L localhost:{port}:127.0.0.1:{port}");
    terminal.wait_for_text(&format!("{option}: open here for 10 minutes"));
    terminal.send("\x1e\x1a");
    terminal.wait_stopped();
    terminal
        .wait_for_text(&format!("is suspended. Connections to {option} wait until it goes on."));
    let mut browser = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    browser.write_all(b"code").expect("there is room");
    browser.shutdown(Shutdown::Write).expect("it is open");
    terminal.signal(Signal::CONT);
    let answer = within_guard("an answer", move || {
        let mut answer = String::new();
        browser.read_to_string(&mut answer).map(|_| answer)
    });
    assert_eq!(answer.expect("it goes on"), "far: code", "{}", terminal.dump());
}

#[test]
fn an_address_that_leads_elsewhere_or_to_a_port_of_the_system_is_not_offered() {
    let Some(border) = Border::start(Far::default(), true, true) else { return };
    let all: Vec<String> = [
        "localhost:22",
        "localhost:1023/",
        "localhost.evil.example:8085",
        "127.0.0.1@evil.example:8085",
        "localhost:8085@evil.example/",
        "localhost:80\\033[1m85 ",
    ]
    .map(|back| format!("https://login.example/a?redirect_uri=http://{back}"))
    .into();
    let terminal = session(&border, &all[..5].join("\\n"));
    terminal.send("\x1eo");
    terminal.wait_for_text("no login on the screen comes back to a port from 1024 on of localhost");
    drop(terminal);
    // A control sequence between two digits of the port does not show on the screen.
    let Some(border) = Border::start(Far::default(), true, true) else { return };
    let terminal = session(&border, &all[5]);
    terminal.send("\x1eo");
    terminal.wait_for_text("Open port 8085 here to ");
}
