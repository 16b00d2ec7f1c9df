//! Calls with broken standard descriptors or impossible names. They end as ssh's calls do, with an error message.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Output, Stdio};
use std::thread;

use crate::support::{Far, Invocation, Scratch, Sshd, rove, within_guard};

/// Runs a call with redirections in a shell's syntax. Returns its exit code and its error messages.
fn run(call: &Invocation, redirections: &str) -> (Option<i32>, String) {
    let script = format!("exec \"$@\" {redirections}");
    let mut command = call.clone().behind(&["sh", "-c", &script, "sh"]).command();
    command.stdin(Stdio::null());
    let output = within_guard("a call", move || command.output().expect("it starts"));
    let Output { status, stderr, .. } = output;
    let said = String::from_utf8_lossy(&stderr).into_owned();
    assert!(!said.contains("panicked"), "{}: {said}", call.words());
    (status.code(), said)
}

/// Returns a call of rove or of ssh with the same meaning.
fn call(gate: &Sshd, is_rove: bool, options: &[&str], words: &[&str]) -> Invocation {
    let line = gate.ssh();
    let call = match (is_rove, options.first()) {
        (true, Some(&"-W")) => Invocation::new(rove()).arg(format!("--ssh={line}")),
        (true, _) => Invocation::new(rove()).arg("exec").arg(format!("--ssh={line}")),
        (false, _) => {
            let mut ssh = line.split(' ');
            Invocation::new(ssh.next().expect("ssh has a name")).args(ssh)
        }
    };
    call.args(options).arg("far").args(words)
}

#[test]
fn an_output_that_takes_nothing_and_an_input_that_is_closed_end_a_call_as_with_ssh() {
    let gates = [(); 2].map(|()| Sshd::start(Far::default()));
    for (command, redirections, code) in [
        ("exec cat /dev/zero", ">/dev/full", None),
        ("echo x; exit 3", ">/dev/full", Some(3)),
        ("echo x >&2; exit 4", "2>/dev/full", Some(4)),
        ("exit 5", ">&-", Some(5)),
        ("cat; exit 6", "<&-", Some(6)),
        ("cat; echo x; exit 7", "<&- >&- 2>&-", Some(7)),
    ] {
        let by = |is_rove| {
            let gate = &gates[usize::from(is_rove)];
            let call = call(gate, is_rove, &[], &[command]);
            run(&call, redirections)
        };
        let (ours, sshs) = (by(true), by(false));
        // After a signal, rove exits with 128 plus the signal's number, as shells do, and ssh exits with 255.
        let is_alike = ours.0 == sshs.0 || (code.is_none() && ours.0 == Some(128 + 13));
        assert!(is_alike, "{command} {redirections}: {ours:?}; ssh: {sshs:?}");
        assert!(code.is_none() || ours.0 == code, "{command} {redirections}: {ours:?}");
    }
}

#[test]
fn a_connection_whose_output_takes_nothing_is_reset_at_its_other_end() {
    let gate = Sshd::start(Far::default());
    for redirections in [">/dev/full", "<&- >/dev/full"] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
        let target = listener.local_addr().expect("a bound socket has an address").to_string();
        let flood = thread::spawn(move || {
            let (mut connection, _) = listener.accept().expect("a connection comes");
            let mut flood = within_guard("the end of the connection", move || {
                while connection.write_all(&[7; 65_536]).is_ok() {}
                connection
            });
            let _ = flood.read(&mut [0; 1]);
        });
        let (code, said) = run(&call(&gate, true, &["-W", &target], &[]), redirections);
        assert_eq!(code, Some(255), "{said}");
        flood.join().expect("the connection ends");
    }
}

#[test]
fn text_for_a_full_disk_is_a_failure_and_for_a_reader_that_has_gone_none() {
    for words in [&["--help"][..], &["version"], &["proxy-config", "gate"], &["list", "--json"]] {
        let call = Invocation::new(rove()).args(words);
        let (code, said) = run(&call, ">/dev/full");
        assert_eq!(code, Some(1), "{words:?}: {said}");
        assert!(said.contains("No space left on device"), "{words:?}: {said}");
    }
    let call = Invocation::new(rove()).arg("--help-all");
    let mut command = call.behind(&["sh", "-c", "{ \"$@\"; echo $? >&2; } | :", "sh"]).command();
    let output = within_guard("a pipe", move || command.output().expect("it starts"));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "0\n");
}

#[test]
fn a_host_of_300_bytes_and_one_that_looks_like_an_option_are_a_sentence() {
    let scratch = Scratch::new();
    let (long, file) = ("h".repeat(300), scratch.write("file", ""));
    let mark = scratch.path("mark");
    let option = format!("-oProxyCommand=touch${{IFS}}{}", mark.display());
    let gate = Sshd::start(Far::default());
    let ssh = format!("--ssh={}", gate.ssh());
    let file = file.to_str().expect("it is text");
    for host in [&long, &option] {
        let target = format!("{host}:22");
        for words in [
            &["--", host, "true"][..],
            &["-W", "h:22", "--", host],
            &["-W", &target, "far"],
            &["exec", "--", host, "true"],
            &["put", "--", host, file],
            &["list", "--", host],
            &["doctor", "--", host],
            &["install", "--", host],
            &["attach", "--", host],
        ] {
            // The options follow a command's name and precede everything else.
            let at = usize::from(words[0].starts_with(char::is_alphabetic));
            let call = Invocation::new(rove()).args(&words[..at]).arg(&ssh).args(&words[at..]);
            let (code, said) = run(&call, "");
            let names: Vec<String> = words.iter().map(|it| it.chars().take(20).collect()).collect();
            assert!(code.is_some_and(|code| code > 0), "{names:?}: {code:?} {said}");
            let is_doctor = words[0] == "doctor";
            assert!(is_doctor || (1..=3).contains(&said.lines().count()), "{names:?}: {said}");
        }
    }
    assert!(!mark.exists(), "no host is an option of ssh's");
}
