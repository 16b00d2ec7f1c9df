//! The same forwarding options, given to ssh and to rove at the same sshd. All that a user can observe is the same, or
//! a sentence of docs/use.md states the difference.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Stdio};
use std::thread;

mod host;

use crate::support::{
    ClosedPort, Far, Invocation, Scratch, Sshd, Terminal, free_port, leave_dead_socket, rove,
    within_guard,
};

/// The observables that differ from ssh's, each with the sentence of docs/use.md about it.
const DIFFERENCES: [(&str, &str); 13] = [
    (
        "a place that refuses: the connection",
        "A connection is reset if cut, or if its target could not be reached.",
    ),
    ("a socket after the end", "is removed at the end"),
    ("a socket that a killed client has left", "The next client replaces a killed one's."),
    ("SOCKS 5: a place that refuses", "A SOCKS client is told why, and not reset."),
    ("SOCKS 5: UDP", "A SOCKS client is told why, and not reset."),
    ("SOCKS 4: BIND", "A SOCKS client is told why, and not reset."),
    ("SOCKS 5: a password", "A SOCKS client is told why, and not reset."),
    ("port 0", "A forward that ssh cannot read ends rove with status 10"),
    ("no place", "A forward that ssh cannot read ends rove with status 10"),
    ("a port that is too large", "A forward that ssh cannot read ends rove with status 10"),
    ("a place without a port", "A forward that ssh cannot read ends rove with status 10"),
    ("a port of -D that is too large", "A forward that ssh cannot read ends rove with status 10"),
    (
        "a port that is taken in one family, with ExitOnForwardFailure",
        "taken for IPv4 or IPv6, rove silently uses the other.",
    ),
];

/// Differences in the listeners at the host.
const AT_THE_HOST: [(&str, &str); 10] = [
    ("-R *: listens at", "For `-R`, addresses beyond the loopback need `gateway-ports = true`"),
    (
        "-R with an empty address: listens at",
        "For `-R`, addresses beyond the loopback need `gateway-ports = true`",
    ),
    (
        "-R 127.0.0.2: listens at",
        "Ports are on the loopback of their computer unless you name another address",
    ),
    (
        "-R: a place that refuses: the connection",
        "A connection is reset if cut, or if its target could not be reached.",
    ),
    ("-R: a dead socket", "The next client replaces a killed one's."),
    ("-R: no place", "A forward that ssh cannot read ends rove with status 10"),
    ("-R: a port that is too large", "A forward that ssh cannot read ends rove with status 10"),
    (
        "-R of SOCKS, without PermitRemoteOpen",
        "Its clients reach this computer's own and link-local addresses only where `PermitRemoteOpen` names them.",
    ),
    ("-R of SOCKS, to a place that it does not name", "A SOCKS client is told why, and not reset."),
    ("-R of SOCKS, with PermitRemoteOpen none", "A SOCKS client is told why, and not reset."),
];

/// Differences in other forms of forwards and in other calls.
const OF_OTHER_CALLS: [(&str, &str); 1] =
    [("a path of 108 bytes", "A forward that ssh cannot read ends rove with status 10")];

/// Differences in programs and in the agent.
const OF_PROGRAMS: [(&str, &str); 5] = [
    (
        "-A: the host deletes all keys",
        "The host may list keys and have them sign, but change nothing.",
    ),
    (
        "-A: the host locks the agent",
        "The host may list keys and have them sign, but change nothing.",
    ),
    (
        "-A: the host unlocks the agent",
        "The host may list keys and have them sign, but change nothing.",
    ),
    ("exec: a signal", "A program that a signal ended gives 128 and the signal's number"),
    ("exec: -tt", "There is no terminal: `-t`, `-A`, `-X` and forwards are refused."),
];

/// The program whose behaviour is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Ssh,
    Rove,
}

/// The result of each observation, by the observation's name.
type Observed = BTreeMap<&'static str, String>;

/// A computer with an sshd, a port and a socket that echo, and a port without a listener.
struct Place {
    sshd: Sshd,
    scratch: Scratch,
    echo: u16,
    closed: ClosedPort,
}

fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let port = listener.local_addr().expect("a bound socket has an address").port();
    (listener, port)
}

/// Answers each connection, after the peer's end, with all that the peer sent. Runs until this process ends.
fn echo<S: Read + Write + Send + 'static>(mut accept: impl FnMut() -> S + Send + 'static) {
    thread::spawn(move || {
        loop {
            let mut stream = accept();
            thread::spawn(move || {
                let mut said = Vec::new();
                let _ = stream.read_to_end(&mut said);
                let _ = stream.write_all(&said);
            });
        }
    });
}

/// Sends `request` and ends this direction. Returns the answer, with escapes, and how the connection ended or failed.
fn ask(stream: std::io::Result<TcpStream>, request: &[u8]) -> String {
    let Ok(mut stream) = stream else { return "nobody listens".to_owned() };
    let request = request.to_vec();
    within_guard("an answer", move || {
        let _ = stream.write_all(&request);
        let _ = stream.shutdown(Shutdown::Write);
        answer(&mut stream)
    })
}

/// Sends the pieces of a SOCKS request, and reads the reply to each. If `says_hello`, then sends `hello` and ends this
/// direction. Returns the replies and the answer, with escapes, and how the connection ended.
fn ask_for_place(port: u16, pieces: Vec<Vec<u8>>, says_hello: bool) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("somebody listens");
    within_guard("an answer", move || {
        let mut replies = Vec::new();
        for (index, piece) in pieces.iter().enumerate() {
            let is_last = index + 1 == pieces.len();
            stream.write_all(piece).expect("it is read");
            if is_last && !says_hello {
                break;
            }
            let len = match (piece[0], is_last) {
                (4, _) => 8,
                (_, true) => 10,
                (_, false) => 2,
            };
            let mut reply = vec![0; len];
            stream.read_exact(&mut reply).expect("a reply");
            replies.extend(reply);
        }
        if says_hello {
            stream.write_all(b"hello").expect("it is read");
            stream.shutdown(Shutdown::Write).expect("it is open");
        }
        format!("{} then {}", replies.escape_ascii(), answer(&mut stream))
    })
}

fn answer(stream: &mut impl Read) -> String {
    let mut said = Vec::new();
    let end = match stream.read_to_end(&mut said) {
        Ok(_) => "the end",
        Err(error) if error.kind() == ErrorKind::ConnectionReset => "a reset",
        Err(_) => "an error",
    };
    format!("{}, {end}", said.escape_ascii())
}

/// Returns which of three addresses answer at a port. The last one is on the loopback, but is not `localhost`.
fn reach(port: u16) -> String {
    let addresses = ["127.0.0.1", "::1", "127.0.0.2"];
    addresses
        .into_iter()
        .filter(|it| TcpStream::connect((*it, port)).is_ok())
        .collect::<Vec<_>>()
        .join(" ")
}

fn mode(path: &std::path::Path) -> String {
    match fs::metadata(path) {
        Ok(it) => {
            format!("socket {} {:o}", it.file_type().is_socket(), it.permissions().mode() & 0o777)
        }
        Err(_) => "none".to_owned(),
    }
}

impl Place {
    fn new() -> Self {
        let scratch = Scratch::new();
        let (tcp, echo_port) = listener();
        echo(move || tcp.accept().expect("a connection comes").0);
        let unix = UnixListener::bind(scratch.path("far")).expect("the folder takes sockets");
        echo(move || unix.accept().expect("a connection comes").0);
        let closed = ClosedPort::new();
        Self { sshd: Sshd::start(Far::default()), scratch, echo: echo_port, closed }
    }

    fn call(&self, by: By) -> Invocation {
        let line = self.sshd.ssh();
        match by {
            By::Rove => Invocation::new(rove()).arg(format!("--ssh={line}")),
            By::Ssh => {
                let mut words = line.split(' ');
                Invocation::new(words.next().expect("ssh has a name")).args(words)
            }
        }
    }

    /// Returns the call of a session with these options. The session runs the script `script`.
    fn session_call(&self, by: By, options: &[impl AsRef<OsStr>], script: &str) -> Invocation {
        let call = self.call(by).args(options).args(["far", "--"]);
        match by {
            By::Rove => call.args(["sh", "-c", script]),
            // On the host, a shell gets the words as one line.
            By::Ssh => call.arg(format!("sh -c '{script}'")),
        }
    }

    fn start(&self, by: By, options: &[String], script: &str) -> Terminal {
        Terminal::start(&self.session_call(by, options, script), (24, 200))
    }

    /// Returns a call that runs a program without a terminal. Options, host and program must follow.
    fn exec_call(&self, by: By) -> Invocation {
        match by {
            By::Rove => {
                Invocation::new(rove()).arg("exec").arg(format!("--ssh={}", self.sshd.ssh()))
            }
            By::Ssh => self.call(by),
        }
    }

    /// Returns a command's exit status and its output for `input`, and whether it prints errors.
    fn output(&self, name: &str, mut command: Command, input: &[u8]) -> String {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let input = input.to_vec();
        let output = within_guard(name, move || {
            let mut child = command.spawn().expect("it starts");
            let _ = child.stdin.take().expect("it is piped").write_all(&input);
            child.wait_with_output().expect("it ends")
        });
        let is_told = !output.stderr.is_empty();
        format!("{:?} {} told {is_told}", output.status.code(), output.stdout.escape_ascii())
    }

    /// Starts a session with these options, and waits until it runs.
    fn session(&self, by: By, options: &[String]) -> Terminal {
        let terminal = self.start(by, options, "echo; echo; echo ready; cat");
        terminal.wait_for_text("ready");
        terminal
    }

    /// Returns a session's exit status with these options, and which of ssh's error messages it prints.
    fn exit(&self, by: By, options: &[String]) -> String {
        let exit = self.start(by, options, "exit 7").wait_exit();
        // rove puts a sentence of its own in the place of ssh's about a malformed forward.
        let said = [
            ["Bad local forwarding specification", "cannot read the forward -L"],
            ["Bad dynamic forwarding specification", "cannot read the forward -D"],
            ["Address already in use"; 2],
        ];
        let is_said = |words: &[&str; 2]| words.iter().any(|it| exit.output.contains(it));
        let said: Vec<_> = said.into_iter().filter(is_said).map(|[it, _]| it).collect();
        format!("{} {said:?}", exit.code())
    }

    fn path(&self, name: &str) -> String {
        self.scratch.path(name).to_str().expect("it is text").to_owned()
    }
}

fn end(mut terminal: Terminal) -> String {
    terminal.send("\x04");
    terminal.wait_exit().code().to_string()
}

/// Observes the addresses at which `-L` listens, and how its connections go and end.
fn local(place: &Place, by: By, seen: &mut Observed) {
    let [plain, localhost, star, empty, v6, own, refused, named, to_socket] =
        [(); 9].map(|()| free_port());
    let (echo, closed) = (place.echo, place.closed.number);
    let (here, both, far) = (place.path("here"), place.path("both"), place.path("far"));
    let options = [
        format!("-L{plain}:127.0.0.1:{echo}"),
        format!("-Llocalhost:{localhost}:127.0.0.1:{echo}"),
        format!("-L*:{star}:127.0.0.1:{echo}"),
        format!("-L:{empty}:127.0.0.1:{echo}"),
        format!("-L[::1]:{v6}:127.0.0.1:{echo}"),
        format!("-L127.0.0.2:{own}:127.0.0.1:{echo}"),
        format!("-L{refused}:127.0.0.1:{closed}"),
        format!("-L{named}:localhost:{echo}"),
        format!("-L127.0.0.1:{to_socket}:{far}"),
        format!("-L{here}:127.0.0.1:{echo}"),
        format!("-L{both}:{far}"),
    ];
    let terminal = place.session(by, &options);
    for (name, port) in [
        ("no address: listens at", plain),
        ("localhost: listens at", localhost),
        ("*: listens at", star),
        ("an empty address: listens at", empty),
        ("[::1]: listens at", v6),
        ("127.0.0.2: listens at", own),
    ] {
        seen.insert(name, reach(port));
    }
    let at = |port: u16| TcpStream::connect(("127.0.0.1", port));
    for (name, port) in [
        ("an answer after the end", plain),
        ("a place by name", named),
        ("a socket of the host", to_socket),
    ] {
        seen.insert(name, ask(at(port), b"hello"));
    }
    seen.insert("a place that refuses: the connection", ask(at(refused), b""));
    for (name, path) in [("a socket here", &here), ("a socket here and there", &both)] {
        let answer = UnixStream::connect(path).map(|mut stream| {
            within_guard("an answer", move || {
                let _ = stream.write_all(b"hello");
                let _ = stream.shutdown(Shutdown::Write);
                answer(&mut stream)
            })
        });
        seen.insert(name, answer.unwrap_or_else(|error| error.kind().to_string()));
    }
    seen.insert("a socket's mode", mode(here.as_ref()));
    seen.insert("the session's exit status", end(terminal));
    seen.insert("a socket after the end", mode(here.as_ref()));
    seen.insert("a port after the end", reach(plain));
    for path in [here, both] {
        let _ = fs::remove_file(path);
    }
}

/// Observes the answers of `-D` to SOCKS clients.
fn socks(place: &Place, by: By, seen: &mut Observed) {
    let port = free_port();
    let terminal = place.session(by, &[format!("-D{port}")]);
    let [high, low] = place.echo.to_be_bytes();
    let [closed_high, closed_low] = place.closed.number.to_be_bytes();
    seen.insert("-D without an address: listens at", reach(port));
    let five = |kind: &[u8]| vec![vec![5, 1, 0], [&[5, 1, 0][..], kind].concat()];
    let local = [1, 127, 0, 0, 1];
    for (name, pieces, says_hello) in [
        ("SOCKS 4", vec![vec![4, 1, high, low, 127, 0, 0, 1, 0]], true),
        (
            "SOCKS 4a",
            vec![[&[4, 1, high, low, 0, 0, 0, 9, b'm', 0][..], b"localhost\0"].concat()],
            true,
        ),
        ("SOCKS 5", five(&[&local[..], &[high, low]].concat()), true),
        ("SOCKS 5: a name", five(&[&[3, 9][..], b"localhost", &[high, low]].concat()), true),
        (
            "SOCKS 5: a place that refuses",
            five(&[&local[..], &[closed_high, closed_low]].concat()),
            false,
        ),
        (
            "SOCKS 5: UDP",
            vec![vec![5, 1, 0], [&[5, 3, 0][..], &local, &[high, low]].concat()],
            false,
        ),
        ("SOCKS 5: a password", vec![vec![5, 1, 2]], false),
        ("SOCKS 4: BIND", vec![vec![4, 2, high, low, 127, 0, 0, 1, 0]], false),
        ("HTTP", vec![b"GET / HTTP/1.0\r\n\r\n".to_vec()], false),
        ("version 0", vec![vec![0, 1, 0]], false),
    ] {
        seen.insert(name, ask_for_place(port, pieces, says_hello));
    }
    end(terminal);
}

/// Observes settings of ssh's configuration that change the listeners.
fn settings(place: &Place, by: By, seen: &mut Observed) {
    let echo = place.echo;
    for (name, option) in [
        ("-g: listens at", "-g"),
        ("GatewayPorts: listens at", "-oGatewayPorts=yes"),
        ("ClearAllForwardings: listens at", "-oClearAllForwardings=yes"),
    ] {
        let port = free_port();
        let options = [option.to_owned(), format!("-L{port}:127.0.0.1:{echo}")];
        let terminal = place.session(by, &options);
        seen.insert(name, reach(port));
        end(terminal);
    }
    let here = place.path("masked");
    let options = ["-oStreamLocalBindMask=0117".to_owned(), format!("-L{here}:127.0.0.1:{echo}")];
    let terminal = place.session(by, &options);
    seen.insert("StreamLocalBindMask", mode(here.as_ref()));
    end(terminal);
    let _ = fs::remove_file(&here);
    for (name, unlink) in [
        ("a socket that a killed client has left", "no"),
        ("a socket that a killed client has left, with StreamLocalBindUnlink", "yes"),
    ] {
        leave_dead_socket(here.as_ref());
        let options = [
            format!("-oStreamLocalBindUnlink={unlink}"),
            "-oExitOnForwardFailure=yes".to_owned(),
            format!("-L{here}:127.0.0.1:{echo}"),
        ];
        seen.insert(name, place.exit(by, &options));
        let _ = fs::remove_file(&here);
    }
    fs::write(&here, "a letter").expect("a file");
    let options = ["-oExitOnForwardFailure=yes".to_owned(), format!("-L{here}:127.0.0.1:{echo}")];
    let exit = place.exit(by, &options);
    let kept = fs::read_to_string(&here).unwrap_or_default();
    seen.insert("a file in the socket's place", format!("{exit} {kept}"));
    let _ = fs::remove_file(&here);
}

/// Observes how sessions end if a forward is impossible.
fn failures(place: &Place, by: By, seen: &mut Observed) {
    let (_taken, port) = listener();
    let taken = format!("-L127.0.0.1:{port}:localhost:1");
    let one_family = format!("-L{port}:localhost:1");
    let must = "-oExitOnForwardFailure=yes".to_owned();
    for (name, options) in [
        ("a taken port", vec![taken.clone()]),
        ("a taken port with ExitOnForwardFailure", vec![taken, must.clone()]),
        ("a port that is taken in one family, with ExitOnForwardFailure", vec![one_family, must]),
        ("port 0", vec!["-L0:localhost:1".to_owned()]),
        ("no place", vec!["-Lnonsense".to_owned()]),
        ("a port that is too large", vec!["-L70000:localhost:1".to_owned()]),
        ("a place without a port", vec![format!("-L{port}:localhost")]),
        ("a port of -D that is too large", vec!["-D70000".to_owned()]),
    ] {
        seen.insert(name, place.exit(by, &options));
    }
}

/// Observes `-W`, the connection of standard input and output.
fn standard(place: &Place, by: By, seen: &mut Observed) {
    let echo = format!("127.0.0.1:{}", place.echo);
    let closed = format!("127.0.0.1:{}", place.closed.number);
    for (name, target, input) in [
        ("-W: an answer after the end", &echo[..], &b"hello"[..]),
        ("-W: no input", &echo, b""),
        ("-W: a place that refuses", &closed, b"hello"),
        ("-W: a name that nobody has", "no-such-host.invalid:1", b""),
        ("-W: no port", "localhost", b""),
        ("-W: port 0", "localhost:0", b""),
    ] {
        let command = place.call(by).args(["-W", target, "far"]).command();
        seen.insert(name, place.output(name, command, input));
    }
}

#[test]
fn forwards_are_observed_to_be_as_those_of_ssh_or_the_manual_says_so() {
    compare(&[local, socks, settings, failures, standard], &DIFFERENCES);
}

#[test]
fn the_hosts_listeners_are_observed_to_be_as_those_of_ssh_or_the_manual_says_so() {
    compare(&[host::remote, host::remote_socks, host::remote_failures], &AT_THE_HOST);
}

#[test]
fn other_forms_and_calls_are_observed_to_be_as_those_of_ssh_or_the_manual_says_so() {
    compare(&[host::forms, host::by_line, host::without_program, host::standard], &OF_OTHER_CALLS);
}

#[test]
fn programs_and_the_agent_are_observed_to_be_as_those_of_ssh_or_the_manual_says_so() {
    compare(&[host::agent, host::programs], &OF_PROGRAMS);
}

/// Asserts that ssh and rove make the same observations, except for these differences.
fn compare(all: &[fn(&Place, By, &mut Observed)], differences: &[(&str, &str)]) {
    let documents = include_str!("../../../../docs/use.md").replace('\n', " ");
    let mut wrong = Vec::new();
    for observe in all {
        let place = Place::new();
        let by = |by| {
            let mut seen = Observed::new();
            observe(&place, by, &mut seen);
            seen
        };
        let (sshs, ours) = (by(By::Ssh), by(By::Rove));
        for (name, ssh) in &sshs {
            let rove = &ours[name];
            println!(
                "{name}: {ssh}{}",
                if ssh == rove { String::new() } else { format!("; rove: {rove}") }
            );
            let sentence = differences.iter().find(|it| it.0 == *name).map(|it| it.1);
            match sentence {
                None if ssh != rove => wrong.push(format!("{name}: {ssh}; rove: {rove}")),
                None => {}
                Some(_) if ssh == rove => wrong.push(format!("{name}: no difference any more")),
                Some(sentence) => {
                    assert!(documents.contains(sentence), "{name}: {sentence}");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
