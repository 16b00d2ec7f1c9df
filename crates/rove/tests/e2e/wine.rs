//! The Windows program, under Wine, with servers on this computer. `cargo xtask wine` builds the program and runs these
//! tests. Daily test runs leave them out, because Wine starts slowly.
//!
//! Wine's console passes escape sequences to its terminal, but counts them as text. These tests therefore use a wide
//! window, and look for words only.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread;

use crate::support::{Far, Invocation, Maker, Server, Sshd, Terminal};

/// The variable in which `cargo xtask wine` passes the program's path.
const VARIABLE: &str = "ROVE_WINDOWS_PROGRAM";
/// Rows and columns of a window in which no line of Wine's console is full.
const WIDE: (u16, u16) = (24, 2000);
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Returns the Windows program. Outside of `cargo xtask wine`, prints a sentence and returns `None`.
fn program() -> Option<PathBuf> {
    let program = std::env::var_os(VARIABLE).map(PathBuf::from);
    if program.is_none() {
        println!(
            "skipped: the program for Windows is not there; `cargo xtask wine` builds it and runs this test"
        );
    }
    program
}

/// Returns a call of the Windows program with these words.
fn call(program: &PathBuf, words: &[&str]) -> Invocation {
    let prefix = program.with_file_name("wine-prefix");
    let call = Invocation::new("wine").arg(program).args(words);
    call.env("WINEPREFIX", prefix).env("WINEDEBUG", "-all")
}

/// Starts the Windows program with these words, followed by a server's address.
fn start(program: &PathBuf, words: &[&str], server: SocketAddr, key: &str) -> Terminal {
    let (ip, port) = (server.ip().to_string(), server.port().to_string());
    let call = call(program, words).args([ip, port]).env("MOSH_KEY", key);
    Terminal::start(&call, WIDE)
}

/// Starts the Windows program next to a program `ssh.exe` that hands its arguments to this computer's ssh. This ssh
/// knows the far computer.
fn start_with_ssh(program: &PathBuf, words: &[&str], sshd: &Sshd) -> Terminal {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there are free ports");
    let port = listener.local_addr().expect("a bound socket has an address").port();
    let ssh = sshd.ssh();
    thread::spawn(move || {
        for call in listener.incoming() {
            answer(call.expect("the system accepts"), &ssh).expect("ssh.exe listens");
        }
    });
    Terminal::start(&call(program, words).env("ROVE_TEST_SSH", port.to_string()), WIDE)
}

/// Runs `ssh` with the arguments from `other`, each of which ends with a null byte. Answers with pieces of ssh's output
/// and its exit code.
fn answer(mut other: TcpStream, ssh: &str) -> std::io::Result<()> {
    let mut arguments = String::new();
    other.read_to_string(&mut arguments)?;
    let mut words = ssh.split(' ').chain(arguments.split_terminator('\0'));
    let Output { status, stdout, stderr } =
        Command::new(words.next().expect("ssh has a name")).args(words).output()?;
    for (stream, bytes) in [(2, stderr), (1, stdout)] {
        for piece in bytes.chunks(255) {
            other.write_all(&[stream, u8::try_from(piece.len()).expect("a piece is short")])?;
            other.write_all(piece)?;
        }
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    other.write_all(&[0, code.unwrap_or(255)])
}

/// A program that shows the bytes of each key, and exits with status 7 at a `q`.
const SHOWS_KEYS: &str = "stty raw -echo; printf 'READY\\r\\n'; exec 3>&1; \
    while key=$(dd bs=1 count=1 2>/dev/null | od -An -tx1 | tr -d ' '); do \
    printf '<%s>' \"$key\"; [ \"$key\" = 71 ] && exit 7; done";

#[test]
fn keys_of_the_console_reach_the_host_and_the_exit_status_comes_back() {
    let Some(program) = program() else { return };
    let server = Server::start(Maker::Rove, LOOPBACK, &["sh", "-c", SHOWS_KEYS]);
    let mut terminal = start(&program, &["client"], server.address, &server.key);
    terminal.wait_for_text("READY");
    for (keys, shown) in [
        ("a", "<61>"),
        ("\u{e9}", "<c3><a9>"),
        ("\u{1f600}", "<f0><9f><98><80>"),
        ("\r", "<0d>"),
        ("\x7f", "<7f>"),
        ("\x1b[A", "<1b><5b><41>"),
        ("\x1b[1;5C", "<1b><5b><31><3b><35><43>"),
        ("\x1b[15~", "<1b><5b><31><35><7e>"),
        ("\x1b[Z", "<1b><5b><5a>"),
        ("\x1bx", "<1b><78>"),
        ("\0", "<00>"),
        // Wine reports Ctrl-C as an event of the console.
        ("\x03", "<03>"),
    ] {
        terminal.send(keys);
        terminal.wait_for_text(shown);
    }
    terminal.send("q");
    terminal.wait_exit().assert_code(7);
}

#[test]
fn a_host_is_reached_by_an_ssh_beside_rove_and_its_words_are_shown() {
    let Some(program) = program() else { return };
    let sshd = Sshd::start(Far { profile: "echo Welcome, stranger", ..Far::default() });
    let words =
        ["far", "--", "sh", "-c", "echo READY; read -r line; echo \"heard $line\"; read x; exit 5"];
    let mut terminal = start_with_ssh(&program, &words, &sshd);
    terminal.wait_for_output("Welcome, stranger");
    terminal.wait_for_text("READY");
    terminal.send("you\r");
    terminal.wait_for_text("heard you");
    assert!(!terminal.output().contains("server detached"), "the server's goodbye is not shown");
    terminal.send("\r");
    terminal.wait_exit().assert_code(5);
}

#[test]
fn a_login_that_brings_no_server_says_why() {
    let Some(program) = program() else { return };
    let sshd = Sshd::start(Far { programs: &[], ..Far::default() });
    for (words, sentence) in [
        (&["far"][..], "neither rove nor mosh-server found on far"),
        (&["nowhere.invalid"], "rove: cannot find the address of nowhere.invalid"),
        (&["--ssh=nothing", "far"], "cannot run nothing: add the optional feature"),
        (&["--ssh=", "far"], "--ssh names no program"),
    ] {
        let mut terminal = start_with_ssh(&program, words, &sshd);
        terminal.wait_for_text(sentence);
        terminal.wait_exit().assert_code(10);
    }
}

#[test]
fn the_clients_half_of_the_demo_shows_a_session_over_a_bad_link() {
    let Some(program) = program() else { return };
    let script = "stty -echo; echo READY; while read -r line; do echo \"heard $line\"; done";
    let server = Server::start(Maker::Rove, LOOPBACK, &["sh", "-c", script]);
    let words = ["demo", "--rtt", "100ms", "--loss", "20%"];
    let mut terminal = start(&program, &words, server.address, &server.key);
    terminal.wait_for_text("READY");
    for line in ["one", "two", "three"] {
        terminal.send(format!("{line}\r"));
        terminal.wait_for_text(&format!("heard {line}"));
    }
    terminal.send("\x1e.");
    terminal.wait_for_text("[rove is exiting.]");
    terminal.wait_exit().assert_code(0);
}

#[test]
fn a_wrong_call_is_refused_in_one_sentence() {
    let Some(program) = program() else { return };
    let nowhere = SocketAddr::from(([127, 0, 0, 1], 9));
    for (words, key, sentence, code) in [
        (&["client"][..], "no key", "MOSH_KEY does not hold a key", 1),
        (&["client", "--bogus"], "", "unknown option --bogus", 255),
        (&["demo", "--loss", "2"], "", "\"2\" is not a share", 255),
        (&["host"], "", "there is no place for \"127.0.0.1\"", 255),
        (&["attach"], "", "rove attach is not there on Windows yet", 255),
    ] {
        let mut terminal = start(&program, words, nowhere, key);
        terminal.wait_for_text(sentence);
        terminal.wait_exit().assert_code(code);
    }
}

/// Prints facts about Wine for docs/platforms.md. Asserts that the session works in spite of these.
#[test]
fn a_session_outlives_all_that_wine_gets_wrong() {
    let Some(program) = program() else { return };
    let script = "stty raw -echo; printf 'READY\\r\\n'; while key=$(dd bs=1 count=1 2>/dev/null); do \
        if [ \"$key\" = s ]; then printf '[size %s]' \"$(stty size </dev/tty | tr ' ' x)\"; \
        else printf '%s' \"$key\" | cat -v; fi; done";
    let server = Server::start(Maker::Rove, LOOPBACK, &["sh", "-c", script]);
    let terminal = start(&program, &["client"], server.address, &server.key);
    terminal.wait_for_text("READY");
    terminal.resize((30, 1900));
    terminal.send("s");
    terminal.wait_for_text("[size ");
    terminal.send("0");
    terminal.wait_for_text("0]0");
    let is_told = terminal.screen().contents().contains("[size 30x1900]");
    println!("Wine: a new size of the window arrives: {is_told}");
    // The next key arrives after the key under test, and shows that the latter had time to arrive.
    for (name, key, shown, next) in [
        ("Escape", "\x1b", "^[", "1"),
        ("Ctrl-Z", "\x1a", "^Z", "2"),
        ("a paste's mark", "\x1b[200~", "200~", "3"),
    ] {
        terminal.send(key);
        terminal.send(next);
        terminal.wait_for_text(next);
        println!("Wine: {name} arrives: {}", terminal.screen().contents().contains(shown));
    }
}
