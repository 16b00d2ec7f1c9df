//! Observables at the host: the listeners of `-R`, forwards of a line and of the background, the agent, and programs.

use std::io::Write as _;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use super::{By, Observed, Place, answer, ask, ask_for_place, end, listener, mode, reach};
use crate::agent::{User, ask as request};
use crate::support::{
    Invocation, Terminal, answered, free_port, leave_dead_socket, require, rove, wait_until,
    within_guard,
};

/// Starts a session with these options and waits for its listeners at the host. Also returns the port of a further one.
fn session(place: &Place, by: By, options: &[String]) -> (Terminal, u16) {
    // The host answers in the order of the options, so the listener of the last option comes last.
    let last = ["-oLogLevel=INFO".to_owned(), format!("-R0:127.0.0.1:{}", place.echo)];
    let terminal = place.session(by, &[options, &last].concat());
    let to = format!(" for remote forward to 127.0.0.1:{}", place.echo);
    let port = match by {
        By::Ssh => terminal.number_on_screen("Allocated port ", &to),
        By::Rove => terminal.number_in_notice("Allocated port ", &to),
    };
    (terminal, port)
}

fn ask_socket(path: &str) -> String {
    let answer = UnixStream::connect(path).map(|mut stream| {
        within_guard("an answer", move || {
            let _ = stream.write_all(b"hello");
            let _ = stream.shutdown(std::net::Shutdown::Write);
            answer(&mut stream)
        })
    });
    answer.unwrap_or_else(|error| error.kind().to_string())
}

/// Observes the addresses at which `-R` listens, and how its connections go and end.
pub(super) fn remote(place: &Place, by: By, seen: &mut Observed) {
    let [plain, localhost, star, empty, v6, own, refused, named, to_socket, set] =
        [(); 10].map(|()| free_port());
    let (echo, closed) = (place.echo, place.closed.number);
    let (there, far) = (place.path("there"), place.path("far"));
    let options = [
        format!("-R{plain}:127.0.0.1:{echo}"),
        format!("-Rlocalhost:{localhost}:127.0.0.1:{echo}"),
        format!("-R*:{star}:127.0.0.1:{echo}"),
        format!("-R:{empty}:127.0.0.1:{echo}"),
        format!("-R[::1]:{v6}:127.0.0.1:{echo}"),
        format!("-R127.0.0.2:{own}:127.0.0.1:{echo}"),
        format!("-R{refused}:127.0.0.1:{closed}"),
        format!("-R{named}:localhost:{echo}"),
        format!("-R127.0.0.1:{to_socket}:{far}"),
        format!("-R{there}:127.0.0.1:{echo}"),
        format!("-oRemoteForward={set} 127.0.0.1:{echo}"),
    ];
    let (terminal, chosen) = session(place, by, &options);
    for (name, port) in [
        ("-R without an address: listens at", plain),
        ("-R localhost: listens at", localhost),
        ("-R *: listens at", star),
        ("-R with an empty address: listens at", empty),
        ("-R [::1]: listens at", v6),
        ("-R 127.0.0.2: listens at", own),
        ("-R 0: listens at", chosen),
        ("RemoteForward: listens at", set),
    ] {
        seen.insert(name, reach(port));
    }
    let at = |port: u16| TcpStream::connect(("127.0.0.1", port));
    for (name, port) in [
        ("-R: an answer after the end", plain),
        ("-R: a place by name", named),
        ("-R: a socket here", to_socket),
    ] {
        seen.insert(name, ask(at(port), b"hello"));
    }
    seen.insert("-R: a place that refuses: the connection", ask(at(refused), b""));
    seen.insert("-R: a socket of the host", ask_socket(&there));
    seen.insert("-R: a socket's mode", mode(there.as_ref()));
    seen.insert("-R: the session's exit status", end(terminal));
    wait_until("the host listens no longer", || at(plain).is_err());
    let _ = std::fs::remove_file(there);
}

/// Observes the answers of `-R` without a target to SOCKS clients at the host.
pub(super) fn remote_socks(place: &Place, by: By, seen: &mut Observed) {
    let [high, low] = place.echo.to_be_bytes();
    for (name, permitted) in [
        ("-R of SOCKS, without PermitRemoteOpen", None),
        ("-R of SOCKS, to a place that PermitRemoteOpen names", Some("127.0.0.1:*")),
        ("-R of SOCKS, to a place that it does not name", Some("elsewhere:*")),
        ("-R of SOCKS, with PermitRemoteOpen none", Some("none")),
    ] {
        let port = free_port();
        let option = permitted.map(|it| format!("-oPermitRemoteOpen={it}"));
        let options: Vec<_> = option.into_iter().chain([format!("-R{port}")]).collect();
        let (terminal, _) = session(place, by, &options);
        let pieces = vec![vec![5, 1, 0], vec![5, 1, 0, 1, 127, 0, 0, 1, high, low]];
        let is_permitted = match by {
            By::Ssh => !matches!(permitted, Some("elsewhere:*" | "none")),
            By::Rove => permitted == Some("127.0.0.1:*"),
        };
        seen.insert(name, ask_for_place(port, pieces, is_permitted));
        end(terminal);
    }
}

/// Observes how sessions end if the host cannot listen.
pub(super) fn remote_failures(place: &Place, by: By, seen: &mut Observed) {
    let (_taken, port) = listener();
    let (echo, there) = (place.echo, place.path("dead"));
    let taken = format!("-R127.0.0.1:{port}:127.0.0.1:{echo}");
    let must = "-oExitOnForwardFailure=yes".to_owned();
    leave_dead_socket(there.as_ref());
    for (name, options) in [
        ("-R: a taken port", vec![taken.clone()]),
        ("-R: a taken port with ExitOnForwardFailure", vec![taken.clone(), must.clone()]),
        (
            "-R: a taken port with ClearAllForwardings",
            vec![taken, must.clone(), "-oClearAllForwardings=yes".to_owned()],
        ),
        ("-R: a dead socket", vec![format!("-R{there}:127.0.0.1:{echo}"), must.clone()]),
        ("-R: no place", vec!["-R9:nonsense".to_owned()]),
        ("-R: a port that is too large", vec!["-R70000:localhost:1".to_owned()]),
    ] {
        // ssh does not print the reason, so only the status is compared.
        let exit = place.exit(by, &options);
        seen.insert(name, exit.split(' ').next().unwrap_or_default().to_owned());
    }
    let _ = std::fs::remove_file(there);
}

/// Observes forwards in less usual forms.
pub(super) fn forms(place: &Place, by: By, seen: &mut Observed) {
    let echo = place.echo;
    let [v6, set, socks, any, own, socks_set] = [(); 6].map(|()| free_port());
    // Another run of this test has another process number, and therefore another address.
    let [.., high, low] = std::process::id().to_be_bytes();
    let service = std::net::Ipv4Addr::from([127, 1 + high / 2, low, 9]);
    let options = [
        format!("-L{v6}:[::ffff:127.0.0.1]:{echo}"),
        format!("-L{service}:zabbix-agent:127.0.0.1:{echo}"),
        format!("-oLocalForward={set} 127.0.0.1:{echo}"),
        format!("-D[::1]:{socks}"),
        format!("-D*:{any}"),
        format!("-D127.0.0.2:{own}"),
        format!("-oDynamicForward={socks_set}"),
    ];
    let terminal = place.session(by, &options);
    let at = |port: u16| TcpStream::connect(("127.0.0.1", port));
    seen.insert("-L to an address of IPv6", ask(at(v6), b"hello"));
    seen.insert("-L at a service's port", ask(TcpStream::connect((service, 10_050)), b"hello"));
    seen.insert("LocalForward", ask(at(set), b"hello"));
    seen.insert("-D [::1]: listens at", reach(socks));
    seen.insert("-D *: listens at", reach(any));
    seen.insert("-D 127.0.0.2: listens at", reach(own));
    seen.insert("DynamicForward: listens at", reach(socks_set));
    let [high, low] = echo.to_be_bytes();
    let mapped = [&[5, 1, 0, 4][..], &[0; 10], &[255, 255, 127, 0, 0, 1, high, low]].concat();
    let pieces = vec![vec![5, 1, 0], mapped];
    seen.insert("SOCKS 5: an address of IPv6", ask_for_place(socks_set, pieces, true));
    end(terminal);
    let folder = place.path("");
    for (name, len) in [("a path of 107 bytes", 107), ("a path of 108 bytes", 108)] {
        let path = format!("{folder}{}", "x".repeat(len - folder.len()));
        let must = "-oExitOnForwardFailure=yes".to_owned();
        let exit = place.exit(by, &[must, format!("-L{path}:127.0.0.1:{echo}")]);
        seen.insert(name, exit);
        let _ = std::fs::remove_file(path);
    }
}

/// Observes forwards that command lines in the session add and remove.
pub(super) fn by_line(place: &Place, by: By, seen: &mut Observed) {
    let terminal = match by {
        By::Rove => place.session(by, &[]),
        // ssh has an escape key only if it has a terminal.
        By::Ssh => place.session(by, &["-oEnableEscapeCommandline=yes", "-tt"].map(str::to_owned)),
    };
    let mut count = 0;
    let mut say = |line: &str| match by {
        By::Rove => terminal.send(format!("\x1ef{line}\r")),
        By::Ssh => {
            count += 1;
            terminal.send("\r~C");
            terminal.wait_for_output_times("ssh> ", count);
            terminal.send(format!("{line}\r"));
        }
    };
    let is_there = |port: u16| TcpStream::connect(("127.0.0.1", port)).is_ok();
    let echo = place.echo;
    for (name, end_name, letter, to) in [
        ("-L of a line: listens at", "-KL: listens at", 'L', format!(":127.0.0.1:{echo}")),
        ("-R of a line: listens at", "-KR: listens at", 'R', format!(":127.0.0.1:{echo}")),
        ("-D of a line: listens at", "-KD: listens at", 'D', String::new()),
    ] {
        let port = free_port();
        say(&format!("-{letter} {port}{to}"));
        wait_until(name, || is_there(port));
        seen.insert(name, reach(port));
        say(&format!("-K{letter} {port}"));
        wait_until(end_name, || !is_there(port));
        seen.insert(end_name, reach(port));
    }
    end(terminal);
}

/// Observes sessions without a program (`-N`).
pub(super) fn without_program(place: &Place, by: By, seen: &mut Observed) {
    let (port, echo) = (free_port(), place.echo);
    let options = ["-N".to_owned(), format!("-L{port}:127.0.0.1:{echo}")];
    let mut terminal = Terminal::start(&place.call(by).args(&options).arg("far"), (24, 160));
    let is_there = || TcpStream::connect(("127.0.0.1", port)).is_ok();
    wait_until("a listener", is_there);
    seen.insert("-N: an answer after the end", {
        ask(TcpStream::connect(("127.0.0.1", port)), b"hello")
    });
    terminal.send("\x03");
    terminal.wait_exit();
    seen.insert("-N: Ctrl-C: listens at", reach(port));
    for (name, signal) in [
        ("-N without a terminal: SIGTERM", Signal::TERM),
        ("-N without a terminal: SIGINT", Signal::INT),
        ("-N without a terminal: SIGHUP", Signal::HUP),
    ] {
        let mut command = place.call(by).args(&options).arg("far").command();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        // During its login, rove accepts connections but does not answer yet.
        wait_until("an answer", || {
            ask(TcpStream::connect(("127.0.0.1", port)), b"hello").starts_with("hello")
        });
        kill_process(Pid::from_child(&child), signal).expect("it runs");
        let status = within_guard("the end", move || child.wait().expect("it ends"));
        seen.insert(name, format!("{:?}", status.code()));
    }
    let mut command = place.call(by).arg("-f").args(&options).arg("far").command();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = within_guard("the background", move || command.status().expect("it starts"));
    seen.insert("-N -f: the exit status", format!("{:?}", status.code()));
    seen.insert("-N -f: listens at", reach(port));
    place.sshd.cut();
    if by == By::Rove {
        let kill = Invocation::new(rove()).arg("kill").arg(format!("--ssh={}", place.sshd.ssh()));
        drop(answered(&kill.args(["far", "--all"])));
    }
    let (_taken, taken) = listener();
    let options = ["-N", "-f", "-oExitOnForwardFailure=yes"].map(str::to_owned);
    let call = place.call(by).args(options).arg(format!("-L127.0.0.1:{taken}:localhost:1"));
    let mut command = call.arg("far").command();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = within_guard("a refusal", move || command.status().expect("it starts"));
    seen.insert("-N -f: a taken port", format!("{:?}", status.code()));
}

/// Observes the agent that is forwarded to the host.
pub(super) fn agent(place: &Place, by: By, seen: &mut Observed) {
    let add = require("ssh-add", "openssh-client").display().to_string();
    let waits = format!("until {add} -l; do sleep 0.1; done");
    let user = User::new(&[]);
    let socket = user.socket().display().to_string();
    let told = |options: &[&str], script: &str| {
        let out = place.path("told");
        let script = format!("{{ {script}; }} >{out} 2>&1");
        let call = place.session_call(by, options, &script).env("SSH_AUTH_SOCK", &socket);
        let call = call.env("ROVE_RUNTIME_DIR", place.path("run")).env("WHERE", &socket);
        Terminal::start(&call, (24, 200)).wait_exit();
        let said = std::fs::read_to_string(&out).unwrap_or_default();
        let _ = std::fs::remove_file(out);
        said
    };
    let listed = |options: &[&str]| {
        let said = told(options, &waits);
        said.lines().last().unwrap_or_default().to_owned()
    };
    let is_none = |options: &[&str]| told(options, "echo ${SSH_AUTH_SOCK-none}");
    let nowhere = &["-oForwardAgent=no"];
    // Each agent has a different key, so only the kind of the key is compared.
    let kind = |line: String| line.split(' ').skip(2).collect::<Vec<_>>().join(" ");
    seen.insert("-A: the keys", kind(listed(&["-A"])));
    seen.insert("ForwardAgent yes: the keys", kind(listed(&["-oForwardAgent=yes"])));
    let by_path = format!("-oForwardAgent={socket}");
    seen.insert("ForwardAgent PATH: the keys", kind(listed(&[&by_path])));
    seen.insert("ForwardAgent $NAME: the keys", kind(listed(&["-oForwardAgent=$WHERE"])));
    seen.insert("ForwardAgent no: the path", is_none(nowhere));
    seen.insert("no option: the path", is_none(&[]));
    let out = place.path("path");
    let script =
        format!("{waits} >/dev/null 2>&1; echo $SSH_AUTH_SOCK >{out}; echo; echo ready; cat");
    let call = place.session_call(by, &["-A"], &script).env("SSH_AUTH_SOCK", &socket);
    let terminal = Terminal::start(&call.env("ROVE_RUNTIME_DIR", place.path("run")), (24, 200));
    terminal.wait_for_text("ready");
    let path = std::fs::read_to_string(&out).expect("it was written");
    let path = Path::new(path.trim_end());
    seen.insert("-A: the folder's mode", mode(path.parent().expect("it has one")));
    for (name, kind, body) in [
        ("-A: the host adds a provider", 20, &b"\0\0\0\x08/none.so\0\0\0\0"[..]),
        ("-A: the host asks for what nobody knows", 99, b""),
        ("-A: the host locks the agent", 22, b"\0\0\0\x01x"),
        ("-A: the host unlocks the agent", 23, b"\0\0\0\x01x"),
        ("-A: the host deletes all keys", 19, b""),
    ] {
        seen.insert(name, format!("{:?}", request(path, kind, body).expect("an answer")));
    }
    end(terminal);
}

/// Observes programs without a terminal.
pub(super) fn programs(place: &Place, by: By, seen: &mut Observed) {
    let config = place.sshd.path("sshd_config");
    let lines = std::fs::read_to_string(&config).expect("it was written");
    std::fs::write(&config, format!("AcceptEnv WORD\n{lines}")).expect("it is ours");
    let refused = format!("-p{}", place.closed.number);
    let long = format!(": {}; echo all of it", "x".repeat(100_000));
    for (name, options, words, input) in [
        ("exec: the exit status", &[][..], &["far", "exit 7"][..], ""),
        ("exec: a signal", &[], &["far", "kill -TERM $$"], ""),
        ("exec: words", &[], &["far", "--", "echo", "a  b", "'c  d'"], ""),
        ("exec: a long command", &[], &["far", &long], ""),
        ("exec: -n", &["-n"], &["far", "cat; echo end"], "unread"),
        ("exec: -T", &["-T"], &["far", "cat; echo end"], "read"),
        ("exec: -tt", &["-tt"], &["far", "echo end"], ""),
        ("exec: SetEnv", &["-oSetEnv=WORD=given"], &["far", "echo $WORD"], ""),
        ("exec: SendEnv", &["-oSendEnv=WORD"], &["far", "echo $WORD"], ""),
        ("exec: a login that fails", &[&refused], &["far", "true"], ""),
        ("exec: a name that nobody has", &[], &["no-such-host.invalid", "true"], ""),
        ("exec: an unknown letter", &["-Z"], &["far", "true"], ""),
        ("exec: no host", &[], &[], ""),
        ("exec: a host that begins with a dash", &[], &["--", "-x", "true"], ""),
        ("exec: an unknown subsystem", &["-s"], &["far", "no-such-subsystem"], ""),
    ] {
        let mut command = place.exec_call(by).args(options).args(words).command();
        command.env("WORD", "sent");
        seen.insert(name, place.output(name, command, input.as_bytes()));
    }
    let (run, master) = (place.path("run"), place.path("master"));
    let client = match by {
        By::Ssh => place.call(by).args(["-M", "-S", &master, "-N", "far"]),
        By::Rove => place.call(by).args(["-N", "far"]).env("ROVE_RUNTIME_DIR", &run),
    };
    let mut client = Terminal::start(&client, (24, 160));
    let is_gate = |it: std::fs::DirEntry| it.file_name().as_encoded_bytes().starts_with(b"gate-");
    wait_until("a client", || match by {
        By::Ssh => Path::new(&master).exists(),
        By::Rove => std::fs::read_dir(&run).is_ok_and(|it| it.flatten().any(is_gate)),
    });
    let before = place.sshd.connections();
    let options = ["-oSendEnv=WORD", if by == By::Ssh { "-S" } else { "-q" }];
    let call = place.exec_call(by).args(options).args((by == By::Ssh).then_some(&master));
    let call = call.args(["far", "echo $WORD"]).env("ROVE_RUNTIME_DIR", &run);
    let name = "exec: SendEnv through another client";
    seen.insert(name, place.output(name, call.env("WORD", "sent").command(), b""));
    let logins = place.sshd.connections() - before;
    seen.insert("exec: logins of a call through another client", logins.to_string());
    client.send("\x03");
    client.wait_exit();
    std::fs::write(&config, lines).expect("it is ours");
}

/// Observes `-W` in less usual calls.
pub(super) fn standard(place: &Place, by: By, seen: &mut Observed) {
    let v6 = format!("[::ffff:127.0.0.1]:{}", place.echo);
    let echo = format!("127.0.0.1:{}", place.echo);
    let (_taken, taken) = listener();
    let beside = format!("-L127.0.0.1:{taken}:localhost:1");
    for (name, words) in [
        ("-W: an address of IPv6", &["-W", &v6, "far"][..]),
        ("-W: a service's port that refuses", &["-W", "127.0.0.1:zabbix-agent", "far"]),
        ("-W: a taken port beside it", &[&beside, "-W", &echo, "far"]),
        ("-W: -N beside it", &["-N", "-W", &echo, "far"]),
        ("-W: a name that nobody has", &["-W", &echo, "no-such-host.invalid"]),
    ] {
        let command = place.call(by).args(words).command();
        let output = place.output(name, command, b"hello");
        // rove prints that it leaves the forward out. This text is not compared.
        let output = output.split(" told ").next().unwrap_or_default();
        seen.insert(name, output.to_owned());
    }
}
