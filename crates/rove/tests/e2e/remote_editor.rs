//! The steps of an editor that uses a server on the host. ssh's standard input carries a script that starts the server.
//! The editor connects to the server's port through ssh. Source: the logs of VS Code's Remote-SSH.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use crate::support::{
    Bastion, Far, Invocation, Scratch, Sshd, free_port, pause, require, rove, within_guard,
};

/// How long the network is away. Chosen: long enough for the session to lose several probes.
const OUTAGE: Duration = Duration::from_secs(3);

/// The server's Python program. It answers a request for another protocol, and then echoes all bytes that it receives.
const SERVER: &str = r#"
import signal, socket, threading
signal.alarm(300)
listener = socket.create_server(("127.0.0.1", 0))
print("listeningOn==%d==" % listener.getsockname()[1], flush=True)
def serve(peer):
    request = b""
    while not request.endswith(b"\r\n\r\n"):
        request += peer.recv(1) or exit()
    peer.sendall(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
    while piece := peer.recv(65536):
        peer.sendall(piece)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"#;

/// The request for another protocol, and its answer.
const UPGRADE: &[u8] =
    b"GET /?reconnectionToken=1 HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
const UPGRADED: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\n\r\n";

/// Returns the script that the editor writes to bash. The editor reads the lines between two markers. The server ends
/// together with bash.
fn script() -> String {
    let python = require("/usr/bin/python3", "python3");
    format!(
        "echo 4f1c: running\nexport EDITOR_AGENT=1\necho \"user==$(/usr/bin/id -u)==\"\n\
         echo \"connection==${{SSH_CONNECTION%% *}}==\"\necho \"agent==$EDITOR_AGENT==\"\n\
         echo 4f1c: start\n{} -c '{SERVER}' &\nserver=$!\ntrap 'kill $server' EXIT\n",
        python.display()
    )
}

/// A bash on the host.
struct Bash {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Bash {
    /// Starts a call and writes the script to its input.
    fn start(call: &Invocation) -> Self {
        let mut command = call.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut input = child.stdin.take().expect("it is piped");
        input.write_all(script().as_bytes()).expect("it is read");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { child, input, output }
    }

    /// Reads the lines up to the line with the server's port. Returns the lines and the port.
    fn wait_for_server(self) -> (Self, Vec<String>, u16) {
        within_guard("the server's port", move || {
            let (mut bash, mut lines) = (self, Vec::new());
            loop {
                let mut line = String::new();
                let count = bash.output.read_line(&mut line).expect("it is text");
                assert_ne!(count, 0, "bash has ended after {lines:?}");
                if let Some(port) = line.strip_prefix("listeningOn==") {
                    let port = port.trim_end().trim_end_matches('=').parse();
                    return (bash, lines, port.expect("a port"));
                }
                lines.push(line.trim_end().to_owned());
            }
        })
    }

    /// Writes a further command. Returns the line that the command prints.
    fn answer(mut self, command: &str) -> (Self, String) {
        self.input.write_all(command.as_bytes()).expect("it is read");
        within_guard("an answer of bash", move || {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("it is text");
            (self, line)
        })
    }

    /// Ends the input. Asserts that bash succeeds.
    fn finish(self) {
        let Self { mut child, input, output } = self;
        drop(input);
        let status = within_guard("the end of bash", move || child.wait().expect("it ends"));
        assert!(status.success(), "{status:?}");
        drop(output);
    }
}

/// Asserts that bash printed the lines for which the editor's script asks.
fn assert_markers(lines: &[String]) {
    let user = format!("user=={}==", rustix::process::geteuid().as_raw());
    assert_eq!(lines.first().map(String::as_str), Some("4f1c: running"), "{lines:?}");
    assert_eq!(lines.last().map(String::as_str), Some("4f1c: start"), "{lines:?}");
    for line in [&user, "agent==1=="] {
        assert!(lines.iter().any(|it| it == line), "{line}: {lines:?}");
    }
    let is_told = |it: &String| it.starts_with("connection==") && it.len() > "connection====".len();
    assert!(lines.iter().any(is_told), "the host's sshd has told the address: {lines:?}");
}

/// Connects to the server through ssh's dynamic port, and requests the other protocol.
fn open(place: &Bastion, dynamic: u16, server: u16) -> TcpStream {
    let mut stream = place.connect_here(dynamic).expect("ssh listens");
    within_guard("the server's answer", move || {
        let [high, low] = server.to_be_bytes();
        let asked = [&[5, 1, 0][..], &[5, 1, 0, 1, 127, 0, 0, 1, high, low]];
        let replies = [&[5, 0][..], &[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]];
        for (request, reply) in asked.into_iter().zip(replies).chain([(UPGRADE, UPGRADED)]) {
            stream.write_all(request).expect("it is read");
            let mut heard = vec![0; reply.len()];
            stream.read_exact(&mut heard).expect("it is answered");
            assert_eq!(heard, reply, "{}", heard.escape_ascii());
        }
        stream
    })
}

/// Sends this text, and asserts that it comes back.
fn assert_echoes(mut stream: TcpStream, text: &[u8]) -> TcpStream {
    let text = text.to_vec();
    within_guard("an echo", move || {
        stream.write_all(&text).expect("it is taken");
        let mut heard = vec![0; text.len()];
        stream.read_exact(&mut heard).expect("it comes back");
        assert_eq!(heard, text);
        stream
    })
}

#[test]
fn an_editors_connections_go_on_after_an_outage_and_new_ones_need_no_login() {
    let Some(place) = Bastion::start(Far::default()) else { return };
    let (rove, ssh) = (rove(), place.jump.ssh());
    place.far.configure(&format!(
        " ProxyCommand {} -W %h:%p --ssh='{ssh}' far\n ServerAliveInterval 0\n",
        rove.display()
    ));
    let scratch = Scratch::new();
    let settings = scratch.write("rove.toml", "tunnel = false\n");
    let ssh = place.far.ssh();
    let mut words = ssh.split(' ');
    let call = Invocation::new(words.next().expect("ssh has a name")).args(words);
    let dynamic = free_port();
    let call = call.args(["-T", "-D", &dynamic.to_string(), "-o", "ConnectTimeout=15", "far"]);
    let call = place.here(call.arg("/bin/bash").env("ROVE_CONFIG", settings));
    let (bash, lines, server) = Bash::start(&call).wait_for_server();
    assert_markers(&lines);
    let [management, extensions] = [(); 2].map(|()| open(&place, dynamic, server));
    let management = assert_echoes(management, b"one");
    let extensions = assert_echoes(extensions, &[7; 300_000]);
    place.ip_here(&["link", "set", "u0", "down"]);
    place.ip_here(&["address", "del", "10.0.1.1/24", "dev", "u0"]);
    // The editor gives up its connection, and connects again while the network is away.
    let late = place.connect_here(dynamic).expect("ssh listens");
    (&late).write_all(&[5, 1, 0]).expect("the system takes it");
    (&management).write_all(b"sent in the dark").expect("the system takes it");
    pause(OUTAGE);
    place.ip_here(&["address", "add", "10.0.1.3/24", "dev", "u0"]);
    place.ip_here(&["link", "set", "u0", "up"]);
    let mut heard = [0; 16];
    let management = within_guard("what was said in the dark", move || {
        (&management).read_exact(&mut heard).expect("the connection goes on");
        assert_eq!(&heard, b"sent in the dark");
        management
    });
    drop((late, assert_echoes(management, b"two")));
    drop(assert_echoes(extensions, &[8; 300_000]));
    drop(assert_echoes(open(&place, dynamic, server), b"another"));
    let (bash, line) = bash.answer("echo \"4f1c: end $EDITOR_AGENT\"\n");
    assert_eq!(line, "4f1c: end 1\n");
    bash.finish();
    assert_eq!((place.jump.connections(), place.far.connections()), (1, 1));
}

#[test]
fn rove_exec_runs_an_editors_script_and_refuses_its_dynamic_port_in_words() {
    let gate = Sshd::start(Far::default());
    let exec = |options: &[&str]| {
        let call = Invocation::new(rove()).arg("exec").arg(format!("--ssh={}", gate.ssh()));
        call.args(options).args(["far", "/bin/bash"])
    };
    let (bash, lines, server) = Bash::start(&exec(&["-T"])).wait_for_server();
    assert_markers(&lines);
    let mut joined = Invocation::new(rove()).arg(format!("--ssh={}", gate.ssh()));
    joined = joined.args(["-W", &format!("localhost:{server}"), "far"]);
    let mut command = joined.command();
    let mut joined =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("rove starts");
    let mut input = joined.stdin.take().expect("it is piped");
    input.write_all(&[UPGRADE, b"hello"].concat()).expect("it is read");
    drop(input);
    let output = within_guard("an echo", move || joined.wait_with_output().expect("it ends"));
    assert_eq!(output.stdout, [UPGRADED, b"hello"].concat());
    bash.finish();
    let command = exec(&["-T", "-D", "1080"]);
    let refused = within_guard("a refusal", move || command.command().output().expect("it starts"));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!((refused.status.code(), said.lines().count()), (Some(255), 1), "{said}");
    assert!(said.contains("-D: "), "{said}");
}
