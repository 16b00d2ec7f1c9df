//! A server with a log (`-vv`) checks each change before it sends it, and survives the reader of its log.

use std::io::{BufRead as _, BufReader};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{ChildStderr, ChildStdout, Stdio};

use crate::support::{
    Invocation, Maker, Process, SIZE, Scratch, Server, Terminal, lines, process, require,
    side_by_side, within_guard,
};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A server started with `-vv`, and its output. Dropping this value kills the server.
struct Verbose {
    address: SocketAddr,
    key: String,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
    _process: Process,
}

impl Verbose {
    fn start(maker: Maker, command: &[&str]) -> Self {
        Self::start_with(maker.server(), command)
    }

    fn start_with(call: Invocation, command: &[&str]) -> Self {
        let ip = LOCALHOST.to_string();
        let call = call.args(["new", "-vv", "-c", "256", "-i", &ip, "-p", "0", "--"]);
        let mut server = call
            .args(command)
            .command()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut stderr = BufReader::new(server.stderr.take().expect("it is piped"));
        let mut stdout = BufReader::new(server.stdout.take().expect("it is piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("it says something");
        assert!(server.wait().expect("it ends").success());
        let mut detached = String::new();
        while !detached.contains("detached") {
            detached.clear();
            assert_ne!(stderr.read_line(&mut detached).expect("it says where it went"), 0);
        }
        let pid = detached.trim_end().trim_end_matches(']').rsplit(' ').next();
        let pid = pid.and_then(|pid| pid.parse().ok()).expect("a number");
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["MOSH", "CONNECT", port, key] = words[..] else { panic!("{line:?}") };
        let address = SocketAddr::new(LOCALHOST, port.parse().expect("a port"));
        Self { address, key: key.to_owned(), stdout, stderr, _process: process(pid) }
    }

    fn client(&self, maker: Maker) -> Terminal {
        Terminal::start(&maker.client(self.address, &self.key), SIZE)
    }

    /// Waits for the server's end, and asserts that the server's own checks have found nothing wrong.
    fn assert_nothing_wrong(self) {
        let Self { mut stdout, stderr, _process, .. } = self;
        let log = within_guard("the log to end", move || std::io::read_to_string(stderr));
        let log = log.expect("a log is text");
        assert!(log.contains("frame sent"), "{log}");
        assert!(!log.contains("self-check") && !log.contains("polling"), "{log}");
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut stdout, &mut rest).expect("it speaks UTF-8");
        assert_eq!(rest, "\n[rove server is exiting.]\n");
    }
}

#[test]
fn a_verbose_server_finds_nothing_wrong_with_what_it_sends() {
    // The script draws wrapped lines, wide characters, colours, scrolling and modes, each in frames of its own.
    let script = r#"
        stty -echo; echo ready
        while IFS= read -r line; do
            printf '%s\033[3%dm漢字 %079d\033[m\033[5;1H\033[2M\033[24;1H\n' "$line" 4 7
            printf '\033[?2004h\033]0;%s\007\033[3;9r\033[9;1H\n\033[r\033[24;1H' "$line"
        done
    "#;
    side_by_side([Maker::Rove, Maker::Stock], |client| {
        let server = Verbose::start(Maker::Rove, &["sh", "-c", script]);
        let mut terminal = server.client(client);
        terminal.wait_for_text("ready");
        for number in 1..=20 {
            terminal.send(format!("line {number}\r"));
            terminal.wait_for_text(&format!("line {number}"));
        }
        terminal.send("\x04");
        terminal.wait_exit().assert_code(0);
        server.assert_nothing_wrong();
    });
}

#[test]
fn a_pager_follows_a_window_that_is_drawn_larger_and_smaller() {
    let less = require("less", "less");
    side_by_side([Maker::Rove, Maker::Stock], |client| {
        let scratch = Scratch::new();
        let text: String =
            (1..=100).map(|n| format!("{n} {}\n", "abcdefghij".repeat(20))).collect();
        let file = scratch.write("text", &text);
        let words = [less.as_path(), "-S".as_ref(), "-Pthe end".as_ref(), file.as_path()];
        let words = words.map(|word| word.to_str().expect("paths are text"));
        let server = Verbose::start(Maker::Rove, &words);
        let mut terminal = server.client(client);
        let heights = (1..=10).chain((0..10).rev()).map(|step| (14 + step, 60));
        let widths = (1..=10).chain((0..10).rev()).map(|step| (14, 60 + step));
        for (rows, columns) in heights.chain(widths) {
            terminal.resize((rows, columns));
            // The test waits for the whole page, because `less` loses a key that arrives while it draws.
            let page: Vec<String> = text
                .lines()
                .take(usize::from(rows) - 1)
                .map(|line| format!("{}>", &line[..usize::from(columns) - 1]))
                .chain(["the end".to_owned()])
                .collect();
            terminal.wait_for("the page", |screen| lines(screen) == page);
        }
        terminal.send("q");
        terminal.wait_exit().assert_code(0).assert_restored(client);
        server.assert_nothing_wrong();
    });
}

#[test]
fn a_verbose_server_outlives_those_who_listened() {
    let script = "echo ready; while IFS= read -r line; do echo \"got $line\"; done";
    side_by_side([Maker::Rove, Maker::Stock], |maker| {
        let server = Verbose::start(maker, &["sh", "-c", script]);
        let Verbose { address, key, stdout, stderr, _process } = server;
        drop((stdout, stderr));
        let mut terminal = Terminal::start(&Maker::Rove.client(address, &key), SIZE);
        terminal.wait_for_text("ready");
        terminal.send("still here\r");
        terminal.wait_for_text("got still here");
        terminal.send("\x04");
        terminal.wait_exit().assert_code(0);
    });
}

#[test]
fn the_log_names_the_process_that_asked_for_a_key_and_who_came() {
    let scratch = Scratch::new();
    let call = || Maker::Rove.server().env("ROVE_RUNTIME_DIR", scratch.path("sockets"));
    let server = Verbose::start_with(call(), &["sh", "-c", "echo ready; read line"]);
    let mut owner = server.client(Maker::Rove);
    owner.wait_for_text("ready");
    // The server gives no key until its client has told it that others may join.
    let ask = |words: &[&str]| {
        let call = call().arg("attach").args(words);
        within_guard("a key", move || {
            loop {
                let asked = call.command().stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
                let asked = asked.expect("rove starts");
                let pid = asked.id();
                let told = asked.wait_with_output().expect("it ends").stdout;
                let told = String::from_utf8(told).expect("text");
                if let Some(key) = told.split_whitespace().nth(5) {
                    return (pid, key.to_owned());
                }
            }
        })
    };
    let client = |key: &str| Terminal::start(&Maker::Rove.client(server.address, key), SIZE);
    let (viewing, key) = ask(&["--view"]);
    let viewer = client(&key);
    viewer.wait_for_notice("You view this session");
    let (taking, key) = ask(&[]);
    let mut next = client(&key);
    owner.wait_exit().assert_code(79);
    next.send("\r");
    next.wait_exit().assert_code(0);
    let log = within_guard("the log to end", || std::io::read_to_string(server.stderr));
    let log = log.expect("a log is text");
    // A portable build does not know the pid.
    let here = |pid| match cfg!(rove_portable) {
        true => "this computer".to_owned(),
        false => format!("this computer (process {pid})"),
    };
    for line in [
        format!("asks from {}: view this session", here(viewing)),
        format!("joined to this session: {} views", here(viewing)),
        format!("asks from {}: take over this session", here(taking)),
        "a client at 127.0.0.1 has attached to this session".to_owned(),
    ] {
        assert!(log.contains(&line), "{line}: {log}");
    }
}

#[test]
fn a_server_that_cannot_keep_a_control_socket_serves_all_the_same() {
    // A file takes the place of the directory's parent, so that the server cannot create the directory.
    let scratch = Scratch::new();
    let call =
        Maker::Rove.server().env("ROVE_RUNTIME_DIR", scratch.write("file", "").join("inside"));
    let server = Server::start_with(call, LOCALHOST, &["sh", "-c", "exit 6"]);
    let call = Maker::Rove.client(server.address, &server.key);
    Terminal::start(&call, SIZE).wait_exit().assert_code(6);
}
