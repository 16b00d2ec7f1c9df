//! Calls of `rove -W` and `rove exec` that use a running client of the same gate and need no login of their own.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;

use rustix::process::Signal;

use crate::support::{
    ClosedPort, Far, Invocation, Scratch, Sshd, Terminal, WITH_A_COPY, rove, wait_until,
    within_guard,
};

/// A gate, and a folder for the sockets of the clients on the user's computer.
struct Place {
    gate: Sshd,
    own: Scratch,
}

impl Place {
    fn new() -> Self {
        let own = Scratch::new();
        fs::create_dir(own.join("clients")).expect("a new folder");
        let private = fs::Permissions::from_mode(0o700);
        fs::set_permissions(own.join("clients"), private).expect("it is ours");
        Self { gate: Sshd::start(Far::default()), own }
    }

    fn clients(&self) -> PathBuf {
        self.own.join("clients")
    }

    /// Returns a call of rove for the gate. The host and its command must follow.
    fn call(&self, words: &[&str]) -> Invocation {
        let call = Invocation::new(rove()).env("ROVE_RUNTIME_DIR", self.clients());
        call.args(words).arg(format!("--ssh={}", self.gate.ssh()))
    }

    /// Starts a session on a terminal, and waits until its client accepts calls.
    fn session(&self, options: &[&str]) -> Terminal {
        let call =
            self.call(options).args(["far", "--", "sh", "-c", "echo; echo; echo ready; cat"]);
        let terminal = Terminal::start(&call, (24, 160));
        terminal.wait_for_text("ready");
        self.wait_for_lenders(1);
        terminal
    }

    /// Waits until `count` clients have a socket for calls. Returns the paths of the sockets.
    fn wait_for_lenders(&self, count: usize) -> Vec<PathBuf> {
        let folder = self.clients();
        within_guard("the sockets of clients", move || {
            loop {
                let sockets = fs::read_dir(&folder).expect("it is ours").flatten();
                let sockets = sockets.map(|entry| entry.path());
                let found: Vec<PathBuf> =
                    sockets.filter(|path| path.display().to_string().contains("/gate-")).collect();
                if found.len() == count {
                    return found;
                }
                crate::support::pause(std::time::Duration::from_millis(5));
            }
        })
    }

    /// Starts `rove exec` with this command on the gate.
    fn exec(&self, options: &[&str], command: &str) -> Child {
        let command = format!("PATH=/usr/bin:/bin exec sh -c '{command}'");
        let call = self.call(&["exec"]).args(options).args(["far", "--", &command]);
        spawn(&call.behind(&WITH_A_COPY))
    }

    /// Starts `rove -W` to a port of the gate.
    fn join(&self, port: u16) -> Child {
        spawn(&self.call(&[]).args(["-W", &format!("127.0.0.1:{port}"), "far"]))
    }
}

fn spawn(call: &Invocation) -> Child {
    let mut command = call.command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("rove starts")
}

/// Writes `input` to a call and waits for the end of the call.
fn finish(mut child: Child, input: &[u8]) -> (Option<i32>, Vec<u8>, String) {
    let mut stdin = child.stdin.take().expect("it is piped");
    let input = input.to_vec();
    // A program may end without reading all its input.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let wait = move || child.wait_with_output().expect("it ends");
    let Output { status, stdout, stderr } = within_guard("the end of a call", wait);
    writer.join().expect("no panic");
    (status.code(), stdout, String::from_utf8_lossy(&stderr).into_owned())
}

fn echo_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let port = listener.local_addr().expect("a bound socket has an address").port();
    thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut all = Vec::new();
                let _ = connection.read_to_end(&mut all);
                let _ = connection.write_all(&all);
            });
        }
    });
    port
}

#[test]
fn calls_go_through_a_running_session_without_a_login() {
    let place = Place::new();
    let terminal = place.session(&[]);
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(300_000).collect();
    let exit = "cat; echo e >&2; exit 7";
    assert_eq!(finish(place.exec(&[], exit), &bytes), (Some(7), bytes.clone(), "e\n".to_owned()));
    let (code, stdout, said) = finish(place.join(echo_server()), &bytes);
    assert_eq!((code, stdout == bytes, &*said), (Some(0), true, ""));
    assert_eq!(finish(place.exec(&[], "kill -TERM $$"), b"").0, Some(128 + 15));
    let (code, _, said) = finish(place.join(ClosedPort::new().number), b"");
    assert_eq!((code, said.lines().count()), (Some(255), 2), "{said}");
    assert!(said.contains("failed: Connection refused\n"), "{said}");
    assert_eq!(place.gate.connections(), 1, "the session's own");
    let told = "{\"version\":1}\n{\"stdout\":\"eA==\"}\n{\"exit\":3}\n";
    let (code, stdout, said) = finish(place.exec(&["--json"], "printf x; exit 3"), b"");
    assert_eq!((code, &*String::from_utf8_lossy(&stdout), &*said), (Some(3), told, ""));
    assert_eq!(place.gate.connections(), 1);
    // The session still answers keys. A call with `-S none` logs in by itself.
    terminal.send("still here\r");
    terminal.wait_for_text("still here");
    assert_eq!(finish(place.exec(&["-S", "none"], "echo x"), b"").1, b"x\n");
    assert_eq!(place.gate.connections(), 2);
}

#[test]
fn a_call_whose_output_cannot_be_written_fails_although_its_program_has_succeeded() {
    let place = Place::new();
    let _terminal = place.session(&[]);
    let call = place.call(&["exec"]).args(["far", "--", "echo lost"]);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there");
    let mut command = call.behind(&WITH_A_COPY).command();
    command.stdin(Stdio::piped()).stdout(full).stderr(Stdio::piped());
    let (code, _, said) = finish(command.spawn().expect("rove starts"), b"");
    let sentence = "rove: cannot write the output: No space left on device\n";
    assert_eq!((code, &*said), (Some(255), sentence));
    assert_eq!(place.gate.connections(), 1, "the session's own");
}

/// Reads a line of a call's output. The line shows that the call's streams are open.
fn first_line(child: &mut Child) -> String {
    let mut stdout = child.stdout.take().expect("it is piped");
    let (line, stdout) = within_guard("a line of a program", move || {
        let mut line = Vec::new();
        let mut byte = [0];
        while stdout.read_exact(&mut byte).is_ok() && byte != *b"\n" {
            line.push(byte[0]);
        }
        (line, stdout)
    });
    child.stdout = Some(stdout);
    String::from_utf8_lossy(&line).into_owned()
}

#[test]
fn a_call_whose_client_is_killed_says_so_and_the_next_one_logs_in() {
    let place = Place::new();
    let terminal = place.session(&[]);
    let mut copy = place.exec(&[], "echo begun; exec cat /dev/zero");
    assert_eq!(first_line(&mut copy), "begun");
    terminal.signal(Signal::KILL);
    let mut output = copy.stdout.take().expect("it is piped");
    let read = thread::spawn(move || drop(std::io::copy(&mut output, &mut std::io::sink())));
    let (code, _, said) = finish(copy, b"");
    read.join().expect("no panic");
    let sentence = "rove: the rove that carried this for others has ended, and cut it off\n";
    assert_eq!((code, &*said), (Some(255), sentence));
    // After it has been waited for, the killed process no longer exists for the system.
    drop(terminal);
    let killed = place.wait_for_lenders(1);
    assert_eq!(
        finish(place.exec(&[], "echo own"), b""),
        (Some(0), b"own\n".to_vec(), String::new())
    );
    assert_eq!(place.gate.connections(), 2);
    // The next client removes the socket of the killed client.
    let _terminal = place.session(&["--no-init"]);
    assert_ne!(place.wait_for_lenders(1), killed);
    assert_eq!(finish(place.exec(&[], "echo lent"), b"").1, b"lent\n");
    assert_eq!(place.gate.connections(), 3);
}

#[test]
fn a_call_goes_through_the_client_that_runs_whatever_others_stand_still() {
    let place = Place::new();
    let _terminal = place.session(&[]);
    let call = place.call(&[]).args(["far", "--", "sh", "-c", "echo; echo; echo ready; cat"]);
    let stopped = [(); 3].map(|()| Terminal::start(&call, (24, 160)));
    stopped.iter().for_each(|terminal| terminal.wait_for_text("ready"));
    place.wait_for_lenders(4);
    for terminal in &stopped {
        terminal.signal(Signal::STOP);
        terminal.wait_stopped();
    }
    assert_eq!(finish(place.exec(&[], "echo lent"), b"").1, b"lent\n");
    assert_eq!(place.gate.connections(), 4, "the sessions' own");
    stopped.iter().for_each(|terminal| terminal.signal(Signal::CONT));
}

#[test]
fn calls_go_on_after_the_call_that_lends_to_them_has_ended() {
    let place = Place::new();
    let mut first = place.exec(&[], "echo begun; read line");
    assert_eq!(first_line(&mut first), "begun");
    let lender = place.wait_for_lenders(1);
    let mut second = place.exec(&[], "echo begun; read line; echo \"<$line>\"");
    assert_eq!(first_line(&mut second), "begun");
    // The first call ends. A process in the background then carries the second call.
    assert_eq!(finish(first, b"x\n").0, Some(0));
    within_guard("the socket of the process in the background", {
        let path = lender[0].clone();
        move || {
            while path.exists() {
                crate::support::pause(std::time::Duration::from_millis(5));
            }
        }
    });
    place.wait_for_lenders(1);
    let third = place.exec(&[], "echo third");
    assert_eq!(finish(third, b""), (Some(0), b"third\n".to_vec(), String::new()));
    assert_eq!(finish(second, b"still\n"), (Some(0), b"<still>\n".to_vec(), String::new()));
    place.wait_for_lenders(0);
    assert_eq!(place.gate.connections(), 1);
}

#[test]
fn a_signal_ends_the_process_in_the_background_with_the_calls_that_it_carries() {
    let place = Place::new();
    let mut first = place.exec(&[], "echo begun; read line");
    assert_eq!(first_line(&mut first), "begun");
    let lender = place.wait_for_lenders(1);
    let mut second = place.exec(&[], "echo begun; exec sleep 600");
    assert_eq!(first_line(&mut second), "begun");
    assert_eq!(finish(first, b"x\n").0, Some(0));
    wait_until("the end of the first socket", || !lender[0].exists());
    let [path] = &place.wait_for_lenders(1)[..] else { panic!("one socket") };
    // The socket's name exists before the socket listens.
    wait_until("a socket that listens", || UnixStream::connect(path).is_ok());
    let socket = UnixStream::connect(path).expect("it listens");
    let process = rustix::net::sockopt::socket_peercred(&socket).expect("it has a process").pid;
    drop(socket);
    rustix::process::kill_process(process, Signal::TERM).expect("it runs");
    let (code, _, said) = finish(second, b"");
    assert_eq!(code, Some(255), "{said}");
    place.wait_for_lenders(0);
}

#[test]
fn a_call_that_is_ended_ends_its_program_and_no_other() {
    let place = Place::new();
    let _terminal = place.session(&[]);
    let log = place.own.join("log");
    let trap =
        "trap \"echo hung up > LOG; exit\" HUP; echo ready; while :; do sleep 1 & wait; done";
    let mut call = place.exec(&[], &trap.replace("LOG", &log.display().to_string()));
    let mut other = place.exec(&[], "echo begun; read line; echo \"<$line>\"");
    assert_eq!((first_line(&mut call), first_line(&mut other)), ("ready".into(), "begun".into()));
    call.kill().expect("it runs");
    wait_until("the hang-up", || place.own.read("log") == "hung up\n");
    call.wait().expect("it was killed");
    assert_eq!(finish(other, b"on\n").1, b"<on>\n");
    assert_eq!(place.gate.connections(), 1);
}

#[test]
fn calls_of_a_session_that_ends_say_so() {
    let place = Place::new();
    let terminal = place.session(&[]);
    let mut call = place.exec(&[], "echo begun; exec sleep 600");
    assert_eq!(first_line(&mut call), "begun");
    // The end of input ends the session's program.
    terminal.send("\x04");
    let (code, _, said) = finish(call, b"");
    assert!(code == Some(255) && said.ends_with("and cut it off\n"), "{said}");
    place.wait_for_lenders(0);
}

#[test]
fn a_hundred_calls_at_once_go_through_one_client() {
    let place = Place::new();
    let _terminal = Terminal::start(&place.call(&["-N"]).arg("far"), (24, 160));
    place.wait_for_lenders(1);
    let port = echo_server();
    let calls: Vec<Child> = (0..100).map(|_| place.join(port)).collect();
    for (number, call) in calls.into_iter().enumerate() {
        let bytes = format!("call {number}\n").repeat(1000).into_bytes();
        assert_eq!(finish(call, &bytes), (Some(0), bytes, String::new()), "{number}");
    }
    assert_eq!(place.gate.connections(), 1);
}

#[test]
fn programs_that_run_one_after_the_other_leave_room_for_more() {
    let place = Place::new();
    let _terminal = place.session(&[]);
    // A session has 256 streams. If a program left two of them open, the last calls would log in by themselves.
    for number in 0..130 {
        assert_eq!(finish(place.exec(&[], "exit 7"), b"").0, Some(7), "{number}");
    }
    assert_eq!(place.gate.connections(), 1);
}

#[test]
fn nobody_else_can_borrow_and_garbage_disturbs_nothing() {
    let place = Place::new();
    let terminal = place.session(&[]);
    let socket = place.wait_for_lenders(1).remove(0);
    let mode = |path: &PathBuf| path.metadata().expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&place.clients()), mode(&socket)), (0o700, 0o600));
    for garbage in [&[0xff; 600_000][..], b"{\"gate\":", b"\n\n", b"null\n", b""] {
        let mut peer = UnixStream::connect(&socket).expect("the client listens");
        // The write fails if the client has already closed the connection.
        let _ = peer.write_all(garbage);
        let _ = peer.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let answer = within_guard("the end of the connection", move || {
            let _ = peer.read_to_end(&mut answer);
            answer
        });
        assert_eq!(answer, b"");
    }
    terminal.send("undisturbed\r");
    terminal.wait_for_text("undisturbed");
    if !rustix::process::geteuid().is_root() {
        return; // only root can be somebody else
    }
    let ssh = place.gate.ssh();
    let mut words = ssh.split(' ');
    let mut asked = Command::new(words.next().expect("ssh has a name"));
    let config = asked.args(words).args(["-G", "far"]).output().expect("ssh starts").stdout;
    let config = String::from_utf8_lossy(&config).into_owned();
    let value = |key: &str| {
        let line = config.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        line.expect("ssh tells it").to_owned()
    };
    let gate = format!("{}@{}:{}  ", value("user"), value("hostname"), value("port"));
    let joined = "{\"Port\":\"127.0.0.1:9\"}";
    let request = format!("{{\"gate\":\"{gate}\",\"joined\":{joined},\"command\":\"\"}}");
    // The client refuses other users even if the file permissions let them connect.
    for path in [&place.own.folder().to_owned(), &place.clients(), &socket] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("root may");
    }
    let asker = "use Socket; $SIG{PIPE} = 'IGNORE'; socket(S, PF_UNIX, SOCK_STREAM, 0);
                 connect(S, sockaddr_un($ARGV[0])) or die $!;
                 syswrite(S, \"$ARGV[1]\\n\"); print sysread(S, $answer, 7) || 0;";
    for (user, answer) in [(65_534, "0"), (0, "7")] {
        let call = Invocation::new("/usr/bin/perl").args(["-e", asker]).arg(&socket).arg(&request);
        let output = call.command().uid(user).output().expect("Debian has Perl");
        assert_eq!(String::from_utf8_lossy(&output.stdout), answer, "user {user}: {output:?}");
    }
}

#[test]
fn a_socket_of_another_users_in_the_users_own_folder_is_asked_nothing() {
    if !rustix::process::geteuid().is_root() {
        return; // only root can be somebody else
    }
    let place = Place::new();
    let terminal = place.session(&[]);
    let socket = place.wait_for_lenders(1).remove(0);
    terminal.signal(Signal::KILL);
    drop(terminal);
    // Another user's process listens at a socket named like the gate's client's, except for the process number.
    let name = socket.to_str().and_then(|it| it.rsplit_once('-')).expect("a purpose and a number");
    let listens = "use Socket; $SIG{PIPE} = 'IGNORE'; $| = 1; socket(L, PF_UNIX, SOCK_STREAM, 0);
                   bind(L, sockaddr_un(\"$ARGV[0]-$$\")) or die $!; $> = $< = $ARGV[1]; listen(L, 5);
                   print \"listens\\n\"; while (accept(S, L)) { sysread(S, $asked, 99);
                   print \"asked \", length($asked), \"\\n\"; close(S); }";
    let call = Invocation::new("/usr/bin/perl").args(["-e", listens, name.0]);
    for (user, is_asked) in [("65534", false), ("0", true)] {
        let mut listener = spawn(&call.clone().arg(user));
        assert_eq!(first_line(&mut listener), "listens");
        let before = place.gate.connections();
        let own = (Some(0), b"own\n".to_vec(), String::new());
        assert_eq!(finish(place.exec(&[], "echo own"), b""), own, "user {user}");
        assert_eq!(place.gate.connections(), before + 1, "it has logged in by itself");
        listener.kill().expect("it runs");
        let (_, said, _) = finish(listener, b"");
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(said.lines().any(|line| line != "asked 0") || !is_asked, "user {user}: {said}");
        assert!(is_asked || said.lines().all(|line| line == "asked 0"), "user {user}: {said}");
    }
}

#[test]
fn scp_goes_through_a_running_session() {
    let place = Place::new();
    let _terminal = place.session(&[]);
    let bytes: Vec<u8> = (0..251).cycle().take(3_000_000).collect();
    fs::write(place.own.join("file"), &bytes).expect("a file");
    let (rove, clients) = (rove(), place.clients());
    let wrapper = format!(
        "#!/bin/sh\nROVE_RUNTIME_DIR={} exec {} exec --ssh='{}' \"$@\"\n",
        clients.display(),
        rove.display(),
        place.gate.ssh()
    );
    let program = place.own.script("exec-by-rove", &wrapper);
    let path = |name: &str| place.own.join(name).display().to_string();
    let call = Invocation::new("scp").arg("-S").arg(program.display().to_string());
    let call = call.args([path("file"), format!("far:{}", path("copy"))]);
    let (code, _, said) = finish(spawn(&call), b"");
    assert_eq!(code, Some(0), "{said}");
    assert!(fs::read(place.own.join("copy")).expect("it is there") == bytes);
    assert_eq!(place.gate.connections(), 1);
}
