//! rove as `mosh-client` and `mosh-server`, and Mosh's own (stock) programs where they are installed. Both are called
//! with the same words, and must exit with the same code. On the same streams, both must print the lines for which
//! programs look.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::ffi::{OsStr, OsString};
use std::net::UdpSocket;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rove_rig::scratch::Scratch;
use rustix::process::{Pid, Signal, kill_process};

const KEY: &str = "4NeCCgvZFe2RnPgrcU1PQw";
const SERVER_USAGE: &str = "Usage: mosh-server new [-s] [-v] [-i LOCALADDR] [-p PORT[:PORT2]] [-c COLORS] [-l NAME=VALUE] [-- COMMAND...]";

/// A folder with links to rove under the names of Mosh's programs.
struct Names(Scratch);

impl Names {
    fn new() -> Self {
        let folder = Scratch::new();
        for name in ["mosh-client", "mosh-server"] {
            symlink(env!("CARGO_BIN_EXE_rove"), folder.path(name)).unwrap();
        }
        Self(folder)
    }

    /// Returns the path of rove under this name, then that of the stock program where it is installed.
    fn both(&self, name: &str) -> Vec<PathBuf> {
        let stock = Path::new("/usr/bin").join(name);
        [Some(self.0.path(name)), Some(stock).filter(|path| path.exists())]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// Calls a program without a terminal, in an environment that is the same everywhere. Ends the server that the call
/// leaves in the background.
fn call(program: &Path, args: &[impl AsRef<OsStr>], environment: &[(&str, &str)]) -> Output {
    let output = Command::new(program)
        // Usage texts begin with this argument.
        .arg0(program.file_name().unwrap())
        .args(args)
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("HOME", "/"), ("LANG", "C.UTF-8"), ("TERM", "xterm")])
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    if let Some(server) = server_of(&output) {
        kill_process(server, Signal::TERM).unwrap();
    }
    output
}

/// Returns the pid of the server that a call has left in the background.
fn server_of(output: &Output) -> Option<Pid> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let (_, rest) = stderr.split_once("[mosh-server detached, pid = ")?;
    Pid::from_raw(rest.split_once("]\n")?.0.parse().ok()?)
}

/// Returns standard output without the port, key, build and licence, which differ between calls or programs.
fn shape(output: &Output) -> String {
    let stdout = String::from_utf8(output.stdout.clone()).unwrap();
    let is_licence = |line: &str| {
        ["Copyright", "License", "This is free", "There is NO"].iter().any(|l| line.starts_with(l))
    };
    let mut shape = String::new();
    for line in stdout.split_inclusive('\n').filter(|line| !is_licence(line)) {
        let words: Vec<&str> = line.strip_suffix('\n').unwrap_or(line).split(' ').collect();
        match words[..] {
            ["MOSH", "CONNECT", port, key] => {
                assert!(port.parse::<u16>().is_ok_and(|port| port > 0), "{line:?}");
                let is_base64 = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'+');
                assert!(key.len() == KEY.len() && key.bytes().all(is_base64), "{line:?}");
                shape.push_str("MOSH CONNECT port key\n");
            }
            _ => shape.push_str(line.split_once("[build").map_or(line, |(version, _)| version)),
        }
    }
    shape
}

/// A call: its words, its environment, its exit code, the shape of its standard output, and a line (or a part of a
/// line) on its standard error.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], i32, &'a str, &'a str);

fn assert_cases(name: &str, cases: &[Case<'_>]) {
    let names = Names::new();
    for (words, environment, code, stdout, stderr) in cases {
        let args: Vec<&str> = words.split_whitespace().collect();
        for program in names.both(name) {
            let output = call(&program, &args, environment);
            let found = (output.status.code(), shape(&output));
            assert_eq!(found, (Some(*code), (*stdout).to_owned()), "{program:?} {words}");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(said.contains(stderr), "{program:?} {words}: {said}");
            // A successful call prints nothing else to standard error.
            assert!(*code != 0 || !stderr.is_empty() || said.is_empty(), "{words}: {said}");
        }
    }
}

#[test]
fn the_server_answers_and_refuses_as_stock_does() {
    let connect = "MOSH CONNECT port key\n";
    let usage = format!("{SERVER_USAGE}\n");
    let range = "port range ";
    let no_ssh: &[(&str, &str)] = &[];
    let ssh: &[(&str, &str)] = &[("SSH_CONNECTION", "127.0.0.1 5 ::ffff:127.0.0.1 22")];
    let detached = "\n\n[mosh-server detached, pid = ";
    let version = "mosh-server (mosh 1.4.0) ";
    assert_cases(
        "mosh-server",
        &[
            ("--help", &[], 0, &usage, ""),
            ("-h", &[], 0, &usage, ""),
            ("new -p 0 --help", &[], 0, &usage, ""),
            ("--version", &[], 0, version, ""),
            ("new --version -- x", &[], 0, version, ""),
            ("new --version -h", &[], 0, version, ""),
            ("--help --version", &[], 0, &usage, ""),
            ("new -p x -p 0 -- true", &[], 0, connect, detached),
            ("new -p 0 -p x -- true", &[], 1, "", "Bad UDP port range (x)\n"),
            ("new -p 0 -- true", &[], 0, connect, detached),
            ("new -p 0 -- true", &[], 0, connect, "\nmosh-server (mosh 1.4.0) [build "),
            ("new -p 0 -c 256 -l LANG=x -l FOO -l TERM=y -- true", &[], 0, connect, detached),
            ("new -p 0 word -- true", &[], 0, connect, detached),
            ("new -c 8 -@ new -p 0 -- true", &[], 0, connect, detached),
            ("new -sp0 -- true", ssh, 0, connect, detached),
            ("new -s -p 0 -- true", ssh, 0, connect, detached),
            ("new -s -p 0 -- true", no_ssh, 0, connect, "SSH_CONNECTION"),
            ("new -p 0 -i 192.0.2.1 -- true", &[], 0, connect, "192.0.2.1"),
            ("new -p 0 -i nonsense -- true", &[], 0, connect, "nonsense"),
            ("new -z -p 0 -- true", &[], 0, connect, SERVER_USAGE),
            ("new --bogus -p 0 -- true", &[], 0, connect, SERVER_USAGE),
            ("new -p", &[], 0, connect, SERVER_USAGE),
            ("", &[], 0, connect, detached),
            ("127.0.0.1", &[], 0, connect, detached),
            ("127.0.0.1 0", &[], 0, connect, detached),
            ("new -p 0 -- true", &[("MOSH_SERVER_NETWORK_TMOUT", "-1")], 0, connect, "TMOUT"),
            ("new -p 0 -- true", &[("MOSH_SERVER_SIGNAL_TMOUT", "5x")], 0, connect, "TMOUT"),
            ("new -p 0 -- true", &[("MOSH_SERVER_SIGNAL_TMOUT", "")], 0, connect, detached),
            ("new -p 70000", &[], 1, "", "Bad UDP port range (70000)\n"),
            ("new -p 5:3", &[], 1, "", &format!("Bad UDP {range}(5:3)\n{SERVER_USAGE}\n")),
            ("new -p 0:5", &[], 1, "", &format!("Bad UDP {range}(0:5)\n{SERVER_USAGE}\n")),
            ("new -p x", &[], 1, "", &format!("Bad UDP {range}(x)\n{SERVER_USAGE}\n")),
            ("new -p -1", &[], 1, "", "Bad UDP port range (-1)\n"),
            ("127.0.0.1 x", &[], 1, "", "Bad UDP port range (x)\n"),
            ("new -c 3x", &[], 1, "", "mosh-server: Bad number of colors (3x)\n"),
            ("a b c", &[], 1, "", SERVER_USAGE),
            ("a b c d", &[], 1, "", SERVER_USAGE),
        ],
    );
}

#[test]
fn the_client_answers_and_refuses_as_stock_does() {
    let usage = "Usage: mosh-client [";
    let key: &[(&str, &str)] = &[("MOSH_KEY", KEY)];
    let bad_mode: &[(&str, &str)] = &[("MOSH_KEY", KEY), ("MOSH_PREDICTION_DISPLAY", "bad")];
    assert_cases(
        "mosh-client",
        &[
            ("-c", &[], 0, "8\n", ""),
            ("-vc", &[], 0, "8\n", ""),
            ("-c 1 2 3", &[], 0, "8\n", ""),
            ("1.2.3.4 5 -c", &[], 0, "8\n", ""),
            ("-#x -c", &[], 0, "8\n", ""),
            ("-c", &[("TERM", "dumb")], 0, "-1\n", ""),
            ("-c", &[("TERM", "vt220")], 0, "-1\n", ""),
            ("-c", &[("TERM", "xterm-256color")], 0, "256\n", ""),
            ("-c", &[("TERM", "xterm-direct")], 0, "16777216\n", ""),
            ("-c", &[("TERM", "nonsense")], 1, "", "nonsense"),
            ("--version", &[], 0, "mosh-client (mosh 1.4.0) ", ""),
            ("1 2 3 --version", &[], 0, "mosh-client (mosh 1.4.0) ", ""),
            ("--version --help", &[], 0, "mosh-client (mosh 1.4.0) ", ""),
            ("", &[], 1, "", usage),
            ("-h", key, 1, "", usage),
            ("-- -c", key, 1, "", usage),
            ("127.0.0.1", key, 1, "", usage),
            ("127.0.0.1 2 3", key, 1, "", usage),
            ("-# 127.0.0.1 5", key, 1, "", usage),
            ("127.0.0.1 x", key, 1, "", "Bad UDP port (x)"),
            ("127.0.0.1 -5", key, 1, "", usage),
            ("127.0.0.1 60001", &[], 1, "", "MOSH_KEY"),
            ("127.0.0.1 60001", bad_mode, 1, "", "mode"),
            // The client has no terminal.
            ("127.0.0.1 60001", key, 1, "", ""),
        ],
    );
}

#[test]
fn a_server_without_the_locale_asked_for_says_so_in_a_line_and_runs() {
    let names = Names::new();
    let server = &names.both("mosh-server")[0];
    for (args, locale, warns) in [
        (&["new", "-p", "0", "--", "true"][..], "xx_YY.UTF-8", true),
        (&["new", "-p", "0", "-l", "LANG=xx_YY.UTF-8", "--", "true"], "C", true),
        (&["new", "-p", "0", "-l", "LANG=C.UTF-8", "--", "true"], "xx_YY.UTF-8", false),
        (&["new", "-p", "0", "--", "true"], "C", false),
    ] {
        let output = call(server, args, &[("LANG", locale)]);
        assert_eq!(shape(&output), "MOSH CONNECT port key\n", "{output:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        let warning = stderr.lines().find(|line| line.contains("not installed"));
        assert_eq!(warning.is_some(), warns, "{stderr}");
        assert!(warning.is_none_or(|line| line.contains("xx_YY.UTF-8")), "{stderr}");
    }
}

#[test]
fn a_port_range_without_a_free_port_ends_the_server_with_a_sentence() {
    let names = Names::new();
    // These sockets take both address families, so that neither an IPv6 nor an IPv4 socket can have such a port.
    let taken: Vec<UdpSocket> = (20_001_u16..30_000)
        .filter_map(|port| UdpSocket::bind(("::", port)).ok())
        .take(100)
        .collect();
    let ports: Vec<u16> = taken.iter().map(|socket| socket.local_addr().unwrap().port()).collect();
    let run = ports.windows(3).find(|ports| ports[0] + 2 == ports[2]).unwrap();
    let range = format!("{}:{}", run[0], run[2]);
    for program in names.both("mosh-server") {
        let output = call(&program, &["new", "-p", &range, "--", "true"], &[]);
        assert_eq!((output.status.code(), shape(&output)), (Some(1), String::new()), "{program:?}");
        assert!(!output.stderr.is_empty(), "{program:?}");
    }
    let output = call(&names.both("mosh-server")[0], &["new", "-p", &range], &[]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains(&format!("no UDP port from {} to {}", run[0], run[2])), "{stderr}");
    assert!(stderr.contains("-p") && stderr.lines().count() == 1, "{stderr}");
}

#[test]
fn a_server_whose_announcement_nobody_can_read_ends_with_a_sentence() {
    let names = Names::new();
    let server = &names.both("mosh-server")[0];
    for (redirection, sentence) in [(">/dev/full", "No space left on device"), (">&-", "closed")] {
        let script = format!("exec \"$0\" new -p 0 -- true {redirection}");
        let output = call(Path::new("/bin/sh"), &["-c", &script, server.to_str().unwrap()], &[]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{redirection}: {stderr}");
        assert!(stderr.contains(sentence), "{redirection}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{redirection}: {stderr}");
    }
    // Standard input may be closed, because the server does not read it.
    let script = "exec \"$0\" new -p 0 -- true <&-";
    let output = call(Path::new("/bin/sh"), &["-c", script, server.to_str().unwrap()], &[]);
    assert_eq!(shape(&output), "MOSH CONNECT port key\n");
}

#[test]
fn a_server_without_a_pseudo_terminal_ends_with_a_sentence() {
    let names = Names::new();
    let server = &names.both("mosh-server")[0];
    // The limit permits the three standard descriptors, the socket, and one more.
    let script = "ulimit -n 5; exec \"$0\" new -p 0 -- true";
    let output = call(Path::new("/bin/sh"), &["-c", script, server.to_str().unwrap()], &[]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("pseudo-terminal") && stderr.lines().count() == 1, "{stderr}");
}

#[test]
fn arguments_need_not_be_text() {
    let names = Names::new();
    let bytes = |text: &[u8]| OsString::from_vec(text.to_vec());
    for program in names.both("mosh-server") {
        for args in [
            [bytes(b"new"), bytes(b"-p0"), bytes(b"-l"), bytes(b"LANG=\xff"), bytes(b"--")],
            [bytes(b"new"), bytes(b"-p0"), bytes(b"\xfe"), bytes(b"--"), bytes(b"\xff\xfe")],
        ] {
            let output = call(&program, &args, &[]);
            assert_eq!(shape(&output), "MOSH CONNECT port key\n", "{program:?} {args:?}");
        }
        let args = [bytes(b"new"), bytes(b"-p"), bytes(b"\xff")];
        assert_eq!(call(&program, &args, &[]).status.code(), Some(1), "{program:?}");
    }
    for program in names.both("mosh-client") {
        let args = [bytes(b"-# \xff |"), bytes(b"\xff"), bytes(b"\xff")];
        let output = call(&program, &args, &[("MOSH_KEY", KEY)]);
        assert_eq!(output.status.code(), Some(1), "{program:?}");
    }
}
