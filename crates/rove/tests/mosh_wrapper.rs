//! rove as `mosh`, the wrapper. It must call ssh and the client, and read ssh's output, as Mosh's own (stock) `mosh`
//! does. Scripts that record their calls take the places of ssh and the client. Where stock `mosh` is installed, the
//! tests compare both.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rove_rig::ports::ClosedPort;
use rove_rig::scratch::Scratch;

const KEY: &str = "4NeCCgvZFe2RnPgrcU1PQw";
const STOCK: &str = "/usr/bin/mosh";

/// A script in place of ssh. It records how it was called. It prints the test's texts: a proxy command's on standard
/// error, and the host's on standard output. `WORD` becomes the random word that rove put into its call.
const RECORDING_SSH: &str = r#"#!/bin/sh
case "$*" in *-G*) printf "$CONFIGURED"; exit 0;; esac
word=$(printf '%s\n' "$*" | sed -n 's/.*echo "ROVE START \([0-9a-f]*\)".*/\1/p')
say() { printf "$1" | sed "s/WORD/$word/"; }
{ echo ssh; printf '%s\n' "$@"; env | grep '^SHELL=\|^MOSH_\|^LC_' | grep -v 'PID\|OVERWRITE' | sort; } >> "$RECORD"
say "$PROXY_SAYS" >&2
# A login takes a while: what ssh says is read before the host speaks.
perl -e 'select undef, undef, undef, 0.001 while ioctl STDERR, $ENV{FIONREAD}, $left and unpack "i", $left'
say "$SAYS"
exit "$STATUS"
"#;

/// A script in place of the client. It records how it was called, and whether its pid is the wrapper's.
const RECORDING_CLIENT: &str = r#"#!/bin/sh
if [ "$1" = -c ]; then echo "$COLORS"; exit "$COLORS_STATUS"; fi
{ echo client; printf '%s\n' "$@"; env | grep '^SHELL=\|^MOSH_' | grep -v PID | sort; } >> "$RECORD"
test -f "$HOME/server" && kill "$(cat "$HOME/server")" && echo "a server is running" >> "$RECORD"
test "$MOSH_CLIENT_PID" = $$ && echo "the pid is the wrapper's" >> "$RECORD"
exit 7
"#;

/// A directory with the recording scripts, and with rove under the name `mosh`.
struct Bench {
    folder: Scratch,
}

/// The result of a call of the wrapper.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: Stderr,
    record: String,
}

/// The error output. Its words differ between rove and stock, so two outputs are equal if both or neither are empty.
#[derive(Debug)]
struct Stderr(String);

impl PartialEq for Stderr {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_empty() == other.0.is_empty()
    }
}

impl Eq for Stderr {}

impl Bench {
    fn new() -> Self {
        let folder = Scratch::new();
        for (program, script) in [("ssh", RECORDING_SSH), ("client", RECORDING_CLIENT)] {
            folder.script(program, script);
        }
        for name in ["mosh", "rove"] {
            symlink(env!("CARGO_BIN_EXE_rove"), folder.path(name)).unwrap();
        }
        Self { folder }
    }

    fn ours(&self) -> PathBuf {
        self.folder.join("mosh")
    }

    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .arg(format!("--ssh={} -x", self.folder.join("ssh").display()))
            .arg(format!("--client={}", self.folder.join("client").display()))
            .args(args)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.folder.folder())
            .env("SHELL", "/bin/some-shell")
            .env("TERM", "xterm-256color")
            .env("LANG", "sv_SE.UTF-8")
            .env("LC_ALL", "")
            .env("LC_TIME", "it's")
            // Stock `mosh` is a Perl program, and Perl prints warnings about locales that are not installed.
            .env("PERL_BADLANG", "0")
            .env("RECORD", self.folder.join("record"))
            .env("STATUS", "0")
            .env("COLORS", "256")
            .env("COLORS_STATUS", "0")
            .env("FIONREAD", libc::FIONREAD.to_string())
            .env("PROXY_SAYS", "MOSH IP 192.0.2.7\\n")
            .env("SAYS", format!("MOSH CONNECT 60001 {KEY}\\n"))
            .stdin(Stdio::null());
        command
    }

    /// Returns a call of `rove` for a host that announces a server.
    fn rove(&self, args: &[&str]) -> Command {
        let mut command = self.command(&self.folder.join("rove"), args);
        command
            .env("PROXY_SAYS", "ROVE IP WORD 192.0.2.7\\n")
            .env("SAYS", format!("ROVE START WORD\\nMOSH CONNECT 60001 {KEY}\\n"));
        command
    }

    fn run(&self, mut command: Command) -> Outcome {
        let record = self.folder.join("record");
        let _ = fs::remove_file(&record);
        let program = command.get_program().to_string_lossy().into_owned();
        let output = command.output().unwrap();
        Outcome {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: Stderr(String::from_utf8_lossy(&output.stderr).into_owned()),
            record: fs::read_to_string(record).unwrap_or_default().replace(&program, "MOSH"),
        }
    }

    /// Runs rove with `args`. Asserts that stock `mosh` has the same outcome where it is installed.
    fn compare(&self, args: &[&str], environment: &[(&str, &str)]) -> Outcome {
        let run = |program: &Path| {
            let mut command = self.command(program, args);
            command.envs(environment.iter().copied());
            self.run(command)
        };
        let ours = run(&self.ours());
        if Path::new(STOCK).exists() {
            assert_eq!(ours, run(Path::new(STOCK)), "{args:?} {environment:?}");
        }
        ours
    }
}

#[test]
fn ssh_and_the_client_are_called_as_stock_calls_them() {
    let bench = Bench::new();
    for args in [
        &["host"][..],
        &["-p", "60010", "me@host"],
        &["--port=060010:60020", "host"],
        &["-6", "host"],
        &["-4", "-6", "--family=ALL", "host"],
        &["--family=NoNsEnSe", "host"],
        &["--bind-server=any", "host"],
        &["--bind-server=SSH", "host"],
        &["--bind-server=::1", "host"],
        &["--no-ssh-pty", "host"],
        &["--nossh-pty", "-no-init", "host"],
        &["--no-i", "--predict-over", "host"],
        &["-a", "-o", "host"],
        &["-predict=experimental", "--no-o", "host"],
        &["--server=env A='b c' mosh-server", "host"],
        &["host", "--", "ls", "-l", "a b", "it's", "", "\\ $HOME \"x\" !"],
        &["--", "host", "ls", "-l"],
        &["host", "-p", "60010", "ls"],
        &["host", "ls", "-p", "60010"],
        &["--experimental-remote-ip=remote", "host"],
        &["-e", "remote", "-4", "host"],
        &["-e", "remote", "--family=inet6", "--bind-server=any", "host", "ls"],
        &["-e", "remote", "--family=prefer-inet6", "host"],
        &["-"],
        &["-P", "60010", "--SERVER", "x y", "host"],
    ] {
        let address = "MOSH SSH_CONNECTION 1.1.1.1 5 192.0.2.7 22\n";
        let says = format!("{address}MOSH CONNECT 60001 {KEY}\n");
        let from_host = [("PROXY_SAYS", ""), ("SAYS", says.as_str())];
        let is_remote = args.iter().any(|arg| arg.ends_with("remote"));
        let outcome = bench.compare(args, if is_remote { &from_host } else { &[] });
        assert_eq!(outcome.code, Some(7), "the exit code is the client's: {args:?} {outcome:?}");
        assert!(outcome.record.ends_with("the pid is the wrapper's\n"), "{args:?}");
    }
}

#[test]
fn the_environment_has_its_say_as_with_stock() {
    let bench = Bench::new();
    for environment in [
        &[("MOSH_PREDICTION_DISPLAY", "always")][..],
        &[("MOSH_PREDICTION_DISPLAY", "bad")],
        &[("POSIXLY_CORRECT", "1")],
        &[("LC_IDENTIFICATION", "x"), ("LANGUAGE", "a:b"), ("LC_FOO", "y")],
        &[("COLORTERM", "truecolor")],
    ] {
        bench.compare(&["host", "-p", "60010"], environment);
    }
}

#[test]
fn the_client_is_asked_for_colors_as_with_stock() {
    let bench = Bench::new();
    for (colors, passed_on) in
        [("256", "256"), ("8", "8"), ("-1", "0"), ("", "0"), ("many", "0"), ("256\nx", "0")]
    {
        let outcome = bench.compare(&["host"], &[("COLORS", colors)]);
        assert!(outcome.record.contains(&format!("'-c' '{passed_on}' ")), "{colors:?} {outcome:?}");
    }
    for code in [1, 3] {
        let outcome = bench.compare(&["host"], &[("COLORS_STATUS", &code.to_string())]);
        assert_eq!((outcome.code, &*outcome.record), (Some(code), ""), "{outcome:?}");
    }
}

#[test]
fn a_local_address_is_used_for_ssh_and_datagrams_alike() {
    let bench = Bench::new();
    let outcome = bench.compare(&["-e", "local", "me@127.0.0.1"], &[("PROXY_SAYS", "")]);
    assert!(outcome.record.contains("\nme@127.0.0.1\n"), "{outcome:?}");
    assert!(outcome.record.contains("|\n127.0.0.1\n60001\n"), "{outcome:?}");
    assert_eq!(bench.compare(&["-e", "local", "127.0.0.1"], &[]).code, Some(29));
}

#[test]
fn a_server_on_this_computer_may_keep_its_output_open() {
    let bench = Bench::new();
    // The process in the background ends by itself if no client comes.
    let server =
        format!("--server=sleep 60 & echo $! > server; pwd; echo MOSH CONNECT 60001 {KEY}; set --");
    let outcome = bench.compare(&["--local", &server, "127.0.0.1"], &[]);
    assert_eq!(outcome.code, Some(7), "{outcome:?}");
    assert_eq!(outcome.stdout, format!("{}\n", bench.folder.display()));
    assert!(outcome.record.contains("|\n127.0.0.1\n60001\n"), "{outcome:?}");
    assert!(outcome.record.contains("a server is running\n"), "{outcome:?}");
}

#[test]
fn output_of_ssh_is_read_as_stock_reads_it() {
    let bench = Bench::new();
    let key = KEY;
    let ip = "MOSH IP 192.0.2.7\n";
    let connect = format!("MOSH CONNECT 60001 {key}\n");
    for (proxy_says, says, code) in [
        ("", String::new(), 10),
        (ip, String::new(), 10),
        ("", connect.clone(), 10),
        ("MOSH IP 192.0.2.7\r\n", format!("MOSH CONNECT 60001 {key}\r\n"), 7),
        ("MOSH IP 192.0.2.7  \n", format!("MOSH CONNECT 60001 {key}  \r\nmore\n"), 7),
        (ip, format!("MOSH CONNECT 60001 {key}"), 7),
        ("b MOSH IP 1.1.1.1\nMOSH IPX\nMOSH IP ::1\n", format!("a\r\n\nMOSH CONNECT 9 {key}\n"), 7),
        ("MOSH IP 192.0.2.7\nMOSH IP 192.0.2.7\n", connect.clone(), 29),
        ("MOSH IP \n", connect.clone(), 29),
        ("MOSH IP 192.0.2.7 x\n", connect.clone(), 29),
        (ip, "MOSH CONNECT 60001 short\n".to_owned(), 29),
        (ip, "MOSH CONNECT 60001\n".to_owned(), 29),
        (ip, format!("MOSH CONNECT x {key}\n"), 29),
        (ip, format!("MOSH  CONNECT 60001  {key}\n"), 10),
        ("", format!("MOSH SSH_CONNECTION 1.1.1.1 5 192.0.2.7 22\n{connect}"), 7),
        ("", "MOSH SSH_CONNECTION 1.1.1.1 5 192.0.2.7\n".to_owned(), 29),
        (ip, "mosh-server: Bad UDP port (1:2)\n".to_owned(), 10),
    ] {
        let says = [("PROXY_SAYS", proxy_says), ("SAYS", &*says)];
        let outcome = bench.compare(&["-p", "1:2", "host"], &says);
        assert_eq!(outcome.code, Some(code), "{says:?}");
        if proxy_says.is_empty() {
            let outcome = bench.compare(&["-e", "remote", "host"], &says);
            assert_eq!(outcome.code, Some(code), "{says:?}");
        }
    }
}

/// Stock `mosh` accepts every line from both streams, even if ssh fails. rove differs on purpose.
#[test]
fn unlike_stock_each_line_counts_on_its_own_stream_and_never_of_an_ssh_that_failed() {
    let bench = Bench::new();
    let connect = format!("MOSH CONNECT 60001 {KEY}\n");
    let address = "MOSH SSH_CONNECTION 1.1.1.1 5 192.0.2.7 22\n";
    let ip = "MOSH IP 192.0.2.7\n";
    for (args, proxy_says, says, status, code) in [
        (&["host"][..], ip, connect.clone(), "0", 7),
        (&["host"], ip, connect.clone(), "1", 7),
        (&["host"], ip, connect.clone(), "255", 10),
        (&["host"], &format!("{ip}{connect}"), String::new(), "0", 10),
        (&["host"], "", format!("{ip}{connect}"), "0", 10),
        (&["host"], address, connect.clone(), "0", 10),
        (&["-e", "remote", "host"], ip, connect.clone(), "0", 10),
        (&["-e", "remote", "host"], "", format!("{address}{connect}"), "0", 7),
        (&["-e", "remote", "host"], "", format!("{address}{connect}"), "255", 10),
        (&["-e", "remote", "host"], &format!("{address}{connect}"), String::new(), "255", 10),
        (&["-e", "local", "127.0.0.1"], "", connect.clone(), "255", 10),
        (&["-e", "local", "127.0.0.1"], &connect, String::new(), "0", 10),
    ] {
        let mut command = bench.command(&bench.ours(), args);
        command.env("PROXY_SAYS", proxy_says).env("SAYS", &says).env("STATUS", status);
        let outcome = bench.run(command);
        let case = format!("{args:?} {proxy_says:?} {says:?} {status}");
        assert_eq!(outcome.code, Some(code), "{case}: {outcome:?}");
        assert_eq!(outcome.record.contains("\nclient\n"), code == 7, "{case}: {outcome:?}");
    }
}

#[test]
fn wrong_command_lines_end_as_with_stock() {
    let bench = Bench::new();
    for args in [
        &[][..],
        &["--bogus", "host"],
        &["-s", "host"],
        &["--predict=foo", "host"],
        &["-p", "70000", "host"],
        &["-p", "0:5", "host"],
        &["-p", "5:", "host"],
        &["-p", "6:5", "host"],
        &["--port=", "host"],
        &["host", "--ssh"],
        &["--init=3", "host"],
        &["--experimental-remote-ip=foo", "host"],
    ] {
        let outcome = bench.compare(args, &[]);
        assert_eq!(outcome.code, Some(255), "{args:?} {outcome:?}");
        assert!(!outcome.stderr.0.is_empty(), "{args:?}");
    }
}

#[test]
fn arguments_need_not_be_text() {
    let bench = Bench::new();
    let record = bench.folder.join("record");
    let stock = Some(PathBuf::from(STOCK)).filter(|path| path.exists());
    let args = ["host", "--", "echo"];
    let ours = [bench.command(&bench.ours(), &args), bench.rove(&args)];
    let stock = stock.map(|program| bench.command(&program, &args));
    for mut command in ours.into_iter().chain(stock) {
        let program = command.get_program().to_owned();
        let _ = fs::remove_file(&record);
        let output = command.arg(OsStr::from_bytes(b"\xff'\xfe")).output().unwrap();
        assert_eq!(output.status.code(), Some(7), "{program:?}");
        let found = fs::read(&record).unwrap();
        for part in [&b"\xff'\\''\xfe'"[..], b"echo \xff'\xfe |\n192.0.2.7\n60001\n"] {
            let has_part = found.windows(part.len()).any(|window| window == part);
            assert!(has_part, "{program:?}: {}", found.escape_ascii());
        }
    }
}

#[test]
fn questions_of_ssh_are_shown_before_their_line_ends() {
    let bench = Bench::new();
    // This ssh asks a question and then waits, as it would for a user's answer.
    let ssh = "--ssh=sh -c 'exec 3>&1; test $STREAM = 1 || exec 3>&2; printf \"Password: \" >&3; \
               read answer <answers; echo \"got $answer\" >&3; exit 255'";
    for (name, stream) in [("mosh", "1"), ("rove", "1"), ("mosh", "2"), ("rove", "2")] {
        let answers = bench.folder.join("answers");
        let _ = fs::remove_file(&answers);
        let made = Command::new("mkfifo").arg(&answers).status().unwrap();
        assert!(made.success());
        let mut command = bench.command(&bench.folder.join(name), &["host"]);
        command.arg(ssh).current_dir(bench.folder.folder()).env("STREAM", stream);
        let mut wrapper = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = wrapper.stdout.take().unwrap();
        let mut question = [0; 10];
        stdout.read_exact(&mut question).unwrap();
        assert_eq!(&question, b"Password: ", "{name}");
        fs::write(&answers, "secret\n").unwrap();
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "got secret\n", "{name}");
        assert_eq!(wrapper.wait().unwrap().code(), Some(10), "{name}");
    }
}

#[test]
fn a_missing_ssh_or_client_is_named() {
    let bench = Bench::new();
    let run = |name: &str, option: &str| {
        let mut command = match name {
            "rove" => bench.rove(&[option, "host"]),
            _ => bench.command(&bench.ours(), &[option, "host"]),
        };
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for (name, option, code) in [
        ("mosh", "--ssh=/no/ssh", Some(10)),
        ("rove", "--ssh=/no/ssh", Some(10)),
        ("mosh", "--client=/no/client", Some(2)),
        ("rove", "--client=/no/client", Some(2)),
    ] {
        let (actual, stderr) = run(name, option);
        assert_eq!(actual, code, "{name} {option}: {stderr}");
        let program = option.split_once('=').unwrap().1;
        assert!(stderr.contains("cannot run") && stderr.contains(program), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

#[test]
fn rove_survives_what_banners_print_and_shows_it_without_its_escapes() {
    let bench = Bench::new();
    let proxy_says = "ROVE IP WORD 192.0.2.7\\n\\033]0;owned\\007\\2332JBanner\\r\\nMOSH IP 192.0.2.8\\n\
                      ROVE IP WORD 192.0.2.9\\n";
    let says = format!(
        "\\033]0;owned\\007\\033[2JWelcome\\r\\nMOSH IP nonsense\\nMOSH CONNECT 9 {KEY}\\n\
         ROVE START WORD\\r\\nMOSH CONNECT 60001 short\\n\\n\\nMOSH CONNECT 60001 {KEY}\\r\\n"
    );
    let mut command = bench.rove(&["host"]);
    command.env("PROXY_SAYS", proxy_says).env("SAYS", says);
    let outcome = bench.run(command);
    assert_eq!(outcome.code, Some(7), "{outcome:?}");
    let errors = "\u{fffd}2JBanner\nMOSH IP 192.0.2.8\n";
    let output = "Welcome\nMOSH IP nonsense\nMOSH CONNECT 60001 short\n";
    assert_eq!(outcome.stdout, format!("{errors}{output}"));
    assert!(outcome.record.contains("|\n192.0.2.7\n60001\n"), "{outcome:?}");
}

#[test]
fn rove_says_what_is_missing_on_the_host() {
    let bench = Bench::new();
    let run = |proxy_says: &str, says: &str, status: &str| {
        let mut command = bench.rove(&["me@host"]);
        command.env("PROXY_SAYS", proxy_says).env("SAYS", says).env("STATUS", status);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(10));
        String::from_utf8(output.stderr).unwrap()
    };
    let ip = "ROVE IP WORD 192.0.2.7\\n";
    let connect = format!("MOSH CONNECT 1 {KEY}\\n");
    let started = format!("ROVE START WORD\\n{connect}");
    let not_through = "ssh did not get through to me@host";
    let not_run = "me@host did not run rove's command";
    for (proxy_says, says, status, sentence) in [
        (
            ip,
            "ROVE START WORD\\r\\nROVE NO SERVER PROGRAM\\r\\n",
            "127",
            "neither rove nor mosh-server found on me@host",
        ),
        ("Permission denied (publickey).\\n", "", "255", not_through),
        (ip, &*started, "255", not_through),
        (ip, "boom\\n", "1", not_run),
        (ip, "ROVE START WORD\\nboom\\n", "1", "no server could be started on me@host"),
        (&format!("{ip}{started}"), "", "0", not_run),
        (ip, &connect, "0", not_run),
        (ip, &format!("ROVE START\\n{connect}"), "0", not_run),
        ("", &started, "0", "Did not find the remote IP address"),
        ("MOSH IP 192.0.2.7\\n", &started, "0", "Did not find the remote IP address"),
        ("", &format!("{ip}{started}"), "0", "Did not find the remote IP address"),
    ] {
        let stderr = run(proxy_says, says, status);
        assert!(stderr.starts_with(&format!("rove: {sentence}")), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

#[test]
fn rove_leaves_the_way_that_sshs_configuration_names_alone() {
    let bench = Bench::new();
    let says = format!(
        "ROVE START WORD\\nMOSH SSH_CONNECTION 1.1.1.1 5 192.0.2.7 22\\nMOSH CONNECT 60001 {KEY}\\n"
    );
    for (configured, remote_ip, has_proxy) in [
        ("hostname x\\n", None, true),
        ("hostname x\\nproxyjump bastion\\n", None, false),
        ("proxycommand nc %%h %%p\\n", None, false),
        ("proxycommand none\\n", None, true),
        ("proxyjump bastion\\n", Some("--experimental-remote-ip=proxy"), true),
        ("hostname x\\n", Some("--experimental-remote-ip=remote"), false),
    ] {
        let args: Vec<&str> = remote_ip.into_iter().chain(["host"]).collect();
        let mut command = bench.rove(&args);
        command.env("CONFIGURED", configured).env("SAYS", &says).env("PROXY_SAYS", "");
        let outcome = bench.run(command);
        assert_eq!(outcome.code, Some(7), "{outcome:?}");
        assert_eq!(outcome.record.contains("ProxyCommand="), has_proxy, "{configured}");
        assert!(outcome.record.contains("|\n192.0.2.7\n60001\n"), "{outcome:?}");
        assert!(!outcome.stderr.0.is_empty(), "the choice of address is told");
    }
}

#[test]
fn rove_asks_servers_for_utf8_whatever_is_configured_here() {
    let bench = Bench::new();
    for (locale, asked) in [
        ("C", "'-l' 'LANG=C' '-l' 'LC_TIME=it'\\''s' '-l' 'LC_CTYPE=C.UTF-8'"),
        ("sv_SE.UTF-8", "'-l' 'LANG=sv_SE.UTF-8' '-l' 'LC_TIME=it'\\''s' '-l' 'LC_ALL='"),
    ] {
        let mut command = bench.rove(&["--server=x", "host"]);
        command.env("LANG", locale);
        let outcome = bench.run(command);
        assert!(
            outcome.record.contains(&format!("x 'new' '-c' '256' '-s' {asked}\n")),
            "{outcome:?}"
        );
    }
}

#[test]
fn rove_tells_servers_of_true_colors() {
    let bench = Bench::new();
    for (value, is_told) in [("truecolor", true), ("", false)] {
        let mut command = bench.rove(&["--server=x", "host"]);
        command.env("COLORTERM", value);
        let outcome = bench.run(command);
        assert_eq!(
            outcome.record.contains(" '-l' 'COLORTERM=truecolor'\n"),
            is_told,
            "{outcome:?}"
        );
        assert_eq!(outcome.record.contains("COLORTERM"), is_told, "{outcome:?}");
    }
}

#[test]
fn the_proxy_role_connects_tells_the_address_and_passes_ends_on() {
    for (word, said) in [(None, "MOSH IP 127.0.0.1\n"), (Some("0ab1"), "ROVE IP 0ab1 127.0.0.1\n")]
    {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let mut proxy = Command::new(env!("CARGO_BIN_EXE_rove"))
            .args(["--family=inet", "--fake-proxy", "--", "localhost", &port])
            .args(word)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut host, _) = listener.accept().unwrap();
        proxy.stdin.take().unwrap().write_all(b"no line end").unwrap();
        let mut received = String::new();
        host.read_to_string(&mut received).unwrap();
        assert_eq!(received, "no line end");
        host.write_all(b"an answer after the end").unwrap();
        drop(host);
        let output = proxy.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "an answer after the end");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), said);
        assert!(output.status.success());
    }
}

#[test]
fn the_proxy_role_says_in_one_line_why_there_is_no_connection() {
    let closed = ClosedPort::new();
    let port = closed.number.to_string();
    // This host name is too long for any name server.
    let unknown = "x".repeat(300);
    for (family, host, port, part) in [
        ("inet", "127.0.0.1", &*port, "cannot connect to 127.0.0.1 port"),
        ("inet6", "127.0.0.1", &port, "127.0.0.1 has no address of the family inet6"),
        ("inet", "127.0.0.1", "x", "bad TCP port \"x\""),
        ("all", &unknown, "22", "cannot find the address of xxx"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_rove"))
            .args([&format!("--family={family}"), "--fake-proxy", "--", host, port])
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(part) && stderr.lines().count() == 1, "{stderr}");
        assert!(!output.status.success());
    }
}

#[test]
fn mosh_alone_is_its_own_client() {
    let bench = Bench::new();
    let says = format!("echo MOSH IP 192.0.2.7 >&2; echo MOSH CONNECT 60001 {KEY}");
    let output = Command::new(bench.ours())
        .args([&format!("--ssh=/bin/sh -c \"{says}\""), "host"])
        .env("PATH", bench.folder.folder())
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("mosh-client: standard input is not a terminal"), "{stderr}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn programs_find_the_versions_they_look_for() {
    let bench = Bench::new();
    for (name, first_line) in [("mosh", "mosh 1.4.0 [build rove "), ("rove", "rove ")] {
        let mut command = Command::new(bench.folder.join(name));
        let output = command.arg("--version").stderr(Stdio::piped()).output().unwrap();
        assert!(output.status.success());
        assert!(String::from_utf8(output.stdout).unwrap().starts_with(first_line), "{name}");
    }
    for name in ["mosh-client", "mosh-server"] {
        let path = bench.folder.join(name);
        symlink(env!("CARGO_BIN_EXE_rove"), &path).unwrap();
        let output = Command::new(&path).arg("--version").output().unwrap();
        let version = String::from_utf8(output.stdout).unwrap();
        assert!(version.starts_with(&format!("{name} (mosh 1.4.0) [build rove ")), "{version}");
    }
}
