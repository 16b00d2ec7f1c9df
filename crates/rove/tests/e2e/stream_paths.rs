//! Streams whose path changes: they go through ssh, from ssh to UDP, from UDP to ssh, and to another network.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{
    Bastion, Border, Far, Invocation, Report, SIZE, Scratch, Sshd, Terminal, free_port, rove,
    wait_until, with_quick_login, within_guard,
};

/// Returns bytes in which no sequence repeats.
fn bytes(len: usize) -> Vec<u8> {
    (0_u64..)
        .flat_map(|it| it.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes())
        .take(len)
        .collect()
}

/// Returns a call of `rove exec` for `script` at `far`, by the ssh command `ssh` and with the settings of a file.
fn exec(ssh: &str, settings: &std::path::Path, script: &str) -> Invocation {
    // The tests' sshd sets its own shell and PATH.
    let script = script.replace('\'', r"'\''");
    Invocation::new(rove())
        .arg("exec")
        .arg(format!("--ssh={ssh}"))
        .args(["far", "--", &format!("PATH=/usr/bin:/bin exec sh -c '{script}'")])
        .env("ROVE_CONFIG", settings)
}

/// A running program with a given standard input. A thread writes the input as fast as the program reads it.
struct Running {
    child: Child,
    output: Option<ChildStdout>,
}

impl Running {
    fn start(call: &Invocation, input: Vec<u8>) -> Self {
        let mut command = call.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("rove starts");
        let mut stdin = child.stdin.take().expect("it is piped");
        thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.stdout.take();
        Self { child, output }
    }

    /// Reads `len` bytes of standard output.
    fn read(&mut self, len: usize) -> Vec<u8> {
        let mut output = self.output.take().expect("it is not at its end");
        let (read, output) = within_guard("output", move || {
            let mut read = vec![0; len];
            output.read_exact(&mut read).expect("more comes");
            (read, output)
        });
        self.output = Some(output);
        read
    }

    /// Reads the rest of standard output. Returns it with the exit status.
    fn finish(mut self) -> (Vec<u8>, Option<i32>) {
        let mut output = self.output.take().expect("it is not at its end");
        within_guard("the end", move || {
            let mut rest = Vec::new();
            output.read_to_end(&mut rest).expect("it is readable");
            (rest, self.child.wait().expect("it ends").code())
        })
    }
}

#[test]
fn programs_and_ports_go_through_ssh_alone() {
    let (sshd, scratch) = (Sshd::start(Far::default()), Scratch::new());
    let settings = scratch.write("rove.toml", "tunnel = true\n");
    let all = bytes(2_000_000);
    let program = Running::start(&exec(&sshd.ssh(), &settings, "cat; exit 3"), all.clone());
    let (copied, code) = program.finish();
    assert!(copied == all && code == Some(3), "{} bytes, {code:?}\n{}", copied.len(), sshd.log());
    assert_eq!(sshd.connections(), 1, "ssh did not run the program");

    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let target = listener.local_addr().expect("a bound socket has an address").port();
    let port = free_port();
    let echo = thread::spawn(move || {
        let (mut connection, _) = listener.accept().expect("a connection comes");
        let mut said = Vec::new();
        connection.read_to_end(&mut said).expect("it ends");
        connection.write_all(&said).expect("it is read");
    });
    let call = Invocation::new(rove()).arg("--tunnel").arg(format!("--ssh={}", sshd.ssh()));
    let call = call.arg(format!("-L{port}:127.0.0.1:{target}"));
    let call = call.args(["far", "--", "sh", "-c", "echo; echo; echo ready; cat"]);
    let terminal = Terminal::start(&call, SIZE);
    terminal.wait_for_text("ready");
    let mut connection = TcpStream::connect(("127.0.0.1", port)).expect("somebody listens");
    let (mut writer, sent) = (connection.try_clone().expect("it can be duplicated"), all.clone());
    let writing = thread::spawn(move || {
        writer.write_all(&sent).expect("it is read");
        writer.shutdown(Shutdown::Write).expect("it is open");
    });
    let answer = within_guard("an answer", move || {
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).map(|_| answer)
    });
    let answer = answer.expect("the connection ends in order");
    assert!(answer == all, "{} bytes", answer.len());
    writing.join().expect("no panic");
    echo.join().expect("no panic");
    terminal.send("hello\r");
    terminal.wait_for("the echo and the line", |screen| {
        screen.contents().matches("hello").count() == 2
    });
    assert_eq!(sshd.connections(), 2);
}

#[test]
fn a_copy_through_ssh_alone_goes_on_through_the_next_ssh() {
    let (sshd, scratch) = (Sshd::start(Far::default()), Scratch::new());
    let settings = scratch.write("rove.toml", "tunnel = true\n");
    let all = bytes(4_000_000);
    let mut program = Running::start(&exec(&sshd.ssh(), &settings, "cat"), all.clone());
    let mut copied = program.read(1_000_000);
    assert_ne!(sshd.cut(), 0);
    let (rest, code) = program.finish();
    copied.extend(rest);
    assert!(copied == all && code == Some(0), "{} bytes, {code:?}\n{}", copied.len(), sshd.log());
}

/// Most copies until one needs only the expected logins. On a busy computer, ssh may be silent for so long that the
/// client logs in once more.
const COPIES_MAX: usize = 5;

#[test]
fn a_copy_goes_from_ssh_to_udp_and_loses_nothing() {
    let mut logins = (0..COPIES_MAX).map(|_| copy_from_ssh_to_udp());
    assert!(logins.any(|logins| logins.is_none_or(|count| count == 1)));
}

/// Copies bytes while UDP replaces ssh. Asserts that all arrive. Returns the number of logins. `None` without a border.
fn copy_from_ssh_to_udp() -> Option<usize> {
    let border = Border::start(Far::default(), false, false)?;
    let scratch = Scratch::new();
    let settings = scratch.write("rove.toml", &format!("port = {}\n", border.port));
    let all = bytes(4_000_000);
    let mut program = Running::start(&exec(&border.sshd.ssh(), &settings, "cat"), all.clone());
    let mut copied = program.read(1_000_000);
    border.let_pass(true, true);
    // Waits until UDP carries the session and the ssh connection has ended.
    border.sshd.wait_alone();
    let (rest, code) = program.finish();
    copied.extend(rest);
    assert!(copied == all && code == Some(0), "{} bytes, {code:?}", copied.len());
    Some(border.sshd.connections())
}

#[test]
fn a_copy_goes_from_udp_that_has_died_to_ssh_and_loses_nothing() {
    let mut logins = (0..COPIES_MAX).map(|_| copy_from_udp_to_ssh());
    assert!(logins.any(|logins| logins.is_none_or(|count| count == 2)));
}

/// Copies bytes while ssh replaces UDP. Asserts that all arrive. Returns the number of logins, or 0 if the copy did not
/// end before UDP passed again. The result is `None` if no border can be made.
fn copy_from_udp_to_ssh() -> Option<usize> {
    let scratch = Scratch::new();
    let ended = |border: &Border| scratch.path(&format!("ended-{}", border.port));
    let all = bytes(8_000_000);
    let prepare = || Border::start(Far::default(), true, true);
    let log_in = |border: &Border| {
        let settings = scratch.write("rove.toml", &format!("port = {}\n", border.port));
        // `setsid` takes ssh's terminal away, so that ssh cannot ask the user who runs the tests.
        let script = format!("cat && echo >{}", ended(border).display());
        let call = exec(&border.sshd.ssh(), &settings, &script).behind(&["setsid"]);
        let mut program = Running::start(&call, all.clone());
        let copied = program.read(1_000_000);
        (program, copied)
    };
    let (border, (program, mut copied)) = with_quick_login(prepare, log_in)?;
    border.sshd.wait_alone();
    border.let_pass(false, false);
    let finish = thread::spawn(move || program.finish());
    wait_until("another login", || border.sshd.connections() > 1);
    border.sshd.wait_alone();
    let has_ended = ended(&border).exists();
    border.let_pass(true, true);
    let (rest, code) = finish.join().expect("it ends");
    copied.extend(rest);
    let is_whole = copied == all && code == Some(0);
    assert!(is_whole, "{} bytes, {code:?}\n{}", copied.len(), border.sshd.log());
    Some(if has_ended { border.sshd.connections() } else { 0 })
}

/// A program on the host measures the minute, so the test takes real time, in parallel with others.
#[test]
fn a_program_outlasts_a_minute_without_a_network_and_another_address() {
    let Some(bastion) = Bastion::start(Far::default()) else { return };
    let scratch = Scratch::new();
    let report = Report::new(&scratch);
    let settings = scratch.write("rove.toml", "tunnel = false\n");
    let script = format!("head -c 1000000; sleep 60; echo slept >'{}'; cat", report.path());
    let all = bytes(3_000_000);
    let call = bastion.here(exec(&bastion.jump.ssh(), &settings, &script));
    let mut program = Running::start(&call, all.clone());
    let mut copied = program.read(1_000_000);
    bastion.ip_here(&["link", "set", "u0", "down"]);
    report.wait_line("slept");
    bastion.ip_here(&["address", "del", "10.0.1.1/24", "dev", "u0"]);
    bastion.ip_here(&["address", "add", "10.0.1.3/24", "dev", "u0"]);
    bastion.ip_here(&["link", "set", "u0", "up"]);
    let (rest, code) = program.finish();
    copied.extend(rest);
    assert!(copied == all, "{} bytes\n{}", copied.len(), bastion.jump.log());
    assert_eq!((code, bastion.jump.connections()), (Some(0), 1));
}

#[test]
fn a_program_whose_client_was_killed_is_hung_up_when_its_time_is_over() {
    // The client sends at least every 3 s, and somewhat later on a busy computer.
    let profile = "export MOSH_SERVER_NETWORK_TMOUT=10";
    let (sshd, scratch) = (Sshd::start(Far { profile, ..Far::default() }), Scratch::new());
    let settings = scratch.write("rove.toml", "tunnel = false\n");
    let log = scratch.path("log");
    let script = format!(
        "trap 'echo hung up >{0}; exit' HUP; echo ready; while :; do sleep 1 & wait; done",
        log.display()
    );
    let mut program = Running::start(&exec(&sshd.ssh(), &settings, &script), Vec::new());
    assert_eq!(program.read(6), b"ready\n");
    assert!(!log.exists());
    let client = Pid::from_child(&program.child);
    kill_process(client, Signal::KILL).expect("it runs");
    wait_until("the hang-up", || scratch.read("log") == "hung up\n");
    program.child.wait().expect("it was killed");
}
