//! `rove exec` behaves as ssh does at the same sshd, also when programs such as git run it.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{Far, Invocation, Scratch, Sshd, Terminal, rove, wait_until, within_guard};

/// Runs a command with this standard input and waits for its end.
fn run(mut command: Command, input: Vec<u8>) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    within_guard("a program on the host", move || {
        let mut child = command.spawn().expect("it starts");
        let mut stdin = child.stdin.take().expect("it is piped");
        // A program may end before it has read all input.
        let writer = thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().expect("it ends");
        writer.join().expect("no panic");
        output
    })
}

/// Returns a call of `rove exec` or of ssh that runs `command` on the host.
fn call(gate: &Sshd, is_rove: bool, options: &[&str], command: &str) -> Command {
    let line = gate.ssh();
    let call = match is_rove {
        true => Invocation::new(rove()).arg("exec").arg(format!("--ssh={line}")),
        false => {
            let mut words = line.split(' ');
            Invocation::new(words.next().expect("ssh has a name")).args(words)
        }
    };
    // The tests' sshd sets its own shell and PATH.
    let command = command.replace('\'', r"'\''");
    call.args(options)
        .args(["far", "--", &format!("PATH=/usr/bin:/bin exec sh -c '{command}'")])
        .command()
}

#[test]
fn an_input_that_cannot_be_read_is_at_its_end_as_with_ssh_and_a_folder_is_named() {
    let gate = Sshd::start(Far::default());
    let write_only = || fs::OpenOptions::new().write(true).open("/dev/null").expect("it is there");
    let folder = || fs::File::open("/").expect("it is there");
    for (is_rove, input, said) in [
        (true, folder(), "standard input is a folder"),
        (false, folder(), ""),
        // `nohup` gives such a write-only descriptor as the input.
        (true, write_only(), ""),
        (false, write_only(), ""),
    ] {
        let mut command = call(&gate, is_rove, &[], "cat; echo end; exit 3");
        command.stdin(input);
        let output = within_guard("the end", move || command.output().expect("it starts"));
        assert_eq!(
            (output.status.code(), &output.stdout[..]),
            (Some(3), &b"end\n"[..]),
            "{output:?}"
        );
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(said) && errors.is_empty() == said.is_empty(), "{errors}");
    }
}

#[test]
fn a_program_shows_what_it_shows_by_ssh() {
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(300_000).collect();
    let mixed = "i=0; while [ $i -lt 2000 ]; do echo out $i; echo error $i >&2; i=$((i+1)); done";
    // An sshd of these tests serves at most 16 connections.
    let gates = [(); 2].map(|()| Sshd::start(Far::default()));
    let mut gate = gates.iter().flat_map(|gate| std::iter::repeat_n(gate, 7));
    for (options, command, input) in [
        (&[][..], "exit 0", &[][..]),
        (&[], "exit 7", &[]),
        (&[], "exit 255", &[]),
        (&[], "no-such-program-here", &[]),
        (&[], "cat; echo end", &bytes),
        (&[], "cat >/dev/null; printf 'a\\0b\\377'; echo e >&2; exit 3", &bytes),
        (&[], "exec <&-; echo no input read", &bytes),
        (&[], mixed, &[]),
        (&[], "head -c 2000000 /dev/zero; head -c 1000000 /dev/zero >&2", &[]),
        (&[], "tty; echo $TERM:$SSH_TTY; pwd; echo $0; echo $-; umask; trap", &[]),
        (&[], "(sleep 1; echo late) & echo soon", &[]),
        (&[], "read line; echo \"<$line>\"", b"one\ntwo\n"),
        (&["-n"], "cat; echo nothing", b"unread"),
        (&["-oStdinNull=yes"], "cat; echo nothing", b"unread"),
    ] {
        let gate = gate.next().expect("there are enough");
        let by = |is_rove| {
            let Output { status, stdout, stderr } =
                run(call(gate, is_rove, options, command), input.to_vec());
            (status.code(), stdout, stderr)
        };
        let (ours, sshs) = (by(true), by(false));
        let lens = |it: &(Option<i32>, Vec<u8>, Vec<u8>)| (it.0, it.1.len(), it.2.len());
        let said = String::from_utf8_lossy(&ours.2);
        assert!(ours == sshs, "{command}: {:?} {:?} {said:.300}", lens(&ours), lens(&sshs));
    }
    // ssh exits with 255 after any signal, as after a lost connection. rove exits with 128 and the signal's number.
    let output = run(call(&gates[1], true, &[], "kill -TERM $$"), Vec::new());
    assert_eq!(output.status.code(), Some(128 + 15));
}

#[test]
fn ssh_is_asked_for_its_configuration_once() {
    let gate = Sshd::start(Far::default());
    let scratch = Scratch::new();
    let log = scratch.join("log");
    let script = format!("#!/bin/sh\necho \"$*\" >> {}\nexec ssh \"$@\"\n", log.display());
    let ssh = scratch.script("ssh", &script);
    let line = gate.ssh();
    let (_, options) = line.split_once(' ').expect("ssh has options");
    let call =
        Invocation::new(rove()).arg("exec").arg(format!("--ssh={} {options}", ssh.display()));
    let output = run(call.args(["far", "--", "echo there"]).command(), Vec::new());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "there\n");
    let asked = fs::read_to_string(&log).expect("ssh was run");
    assert_eq!(asked.lines().filter(|line| line.contains(" -G ")).count(), 1, "{asked}");
}

#[test]
fn a_reader_that_leaves_and_a_client_that_is_ended_end_the_program() {
    let gate = Sshd::start(Far::default());
    let (scratch, place) = (Scratch::new(), Scratch::new());
    let mut command = call(&gate, true, &[], "yes");
    let file = fs::File::create(scratch.join("errors")).expect("a file");
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file).spawn().expect("starts");
    drop(child.stdout.take());
    let status = within_guard("yes", move || child.wait().expect("it ends"));
    assert_eq!(status.code(), Some(128 + 13), "SIGPIPE");
    for signal in [Signal::TERM, Signal::QUIT] {
        let log = place.join(signal.as_raw().to_string());
        let path = log.display();
        let trap = format!(
            "trap 'echo hung up > {path}; exit' HUP; echo ready; while :; do sleep 1 & wait; done"
        );
        let mut command = call(&gate, true, &[], &trap);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("rove starts");
        let mut output = std::io::BufReader::new(child.stdout.take().expect("it is piped"));
        let ended = within_guard("the end", move || {
            let mut line = String::new();
            std::io::BufRead::read_line(&mut output, &mut line).expect("a line comes");
            assert_eq!(line, "ready\n");
            let pid = Pid::from_child(&child);
            kill_process(pid, signal).expect("it runs");
            child.wait().expect("it ends")
        });
        assert_eq!(ended.code(), Some(255));
        let hung_up = || fs::read_to_string(&log).is_ok_and(|it| it == "hung up\n");
        wait_until("the hang-up", hung_up);
    }
}

#[test]
fn a_signal_that_was_ignored_at_the_start_ends_no_call_as_nohup_needs_it() {
    let gate = Sshd::start(Far::default());
    let words = format!("--ssh={}", gate.ssh());
    for (options, begun, ended) in [
        (&[][..], "begun\n", "got on\n"),
        (&["--json"], "{\"stdout\":\"YmVndW4K\"}\n", "{\"exit\":0}\n"),
    ] {
        let call = Invocation::new(rove()).arg("exec").arg(&words).args(options);
        let script = "PATH=/usr/bin:/bin; echo begun; read line; echo got $line";
        let call = call.args(["far", "--", script]).behind(&["env", "--ignore-signal=HUP,INT"]);
        let mut child = call
            .command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("rove starts");
        let mut output = std::io::BufReader::new(child.stdout.take().expect("it is piped"));
        let (ended_with, rest) = within_guard("the end", move || {
            let mut read = String::new();
            while !read.ends_with(begun) {
                let count =
                    std::io::BufRead::read_line(&mut output, &mut read).expect("it is text");
                assert!(count > 0, "{read}");
            }
            for signal in [Signal::HUP, Signal::INT] {
                kill_process(Pid::from_child(&child), signal).expect("it runs");
            }
            child.stdin.take().expect("it is piped").write_all(b"on\n").expect("it is read");
            std::io::Read::read_to_string(&mut output, &mut read).expect("it is text");
            (child.wait().expect("it ends").code(), read)
        });
        assert!(ended_with == Some(0) && rest.ends_with(ended), "{ended_with:?} {rest}");
    }
}

#[test]
fn an_output_that_cannot_be_written_fails_the_call_although_the_program_has_succeeded() {
    let gate = Sshd::start(Far::default());
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there");
    let sentence = "rove: cannot write the output: No space left on device\n";
    for (options, command, code, expected) in [
        (&[][..], "echo lost", 255, sentence),
        (&["--json"], "echo lost", 255, sentence),
        (&["--json"], "true", 255, sentence),
        (&["--json"], "echo lost; exit 3", 3, ""),
    ] {
        let mut command = call(&gate, true, options, command);
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        command.stdout(full.try_clone().expect("it is open"));
        let child = command.spawn().expect("rove starts");
        let output = within_guard("the end", move || child.wait_with_output().expect("it ends"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*said), (Some(code), expected), "{options:?}");
    }
}

#[test]
fn both_directions_of_a_program_follow_the_controller_that_is_chosen() {
    let gate = Sshd::start(Far::default());
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(3_000_000).collect();
    for controller in ["low-delay", "ledbat", "cubic", "new-reno", "sprout-ack"] {
        let option = format!("--controller={controller}");
        let output = run(call(&gate, true, &[&option], "cat"), bytes.clone());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && output.stdout == bytes, "{controller}: {said}");
        assert_eq!(said, "", "{controller}: the host follows it");
    }
    let output = run(call(&gate, true, &["--controller=vegas"], "true"), Vec::new());
    let said = String::from_utf8_lossy(&output.stderr);
    let sentence =
        "--controller is one of low-delay, ledbat, cubic, new-reno, sprout-ack, not \"vegas\"";
    assert!(output.status.code() == Some(255) && said.contains(sentence), "{said}");
}

#[test]
fn git_rsync_scp_and_sftp_take_it_for_ssh() {
    let gate = Sshd::start(Far::default());
    let place = Scratch::new();
    let path = |name: &str| place.join(name).display().to_string();
    let ssh = gate.ssh();
    // The login's ssh needs the option for the test's configuration. A user's ssh finds its configuration by itself.
    let wrapper = format!("#!/bin/sh\nexec {} exec --ssh='{ssh}' \"$@\"\n", rove().display());
    let program = place.script("exec-by-rove", &wrapper).display().to_string();
    let bytes: Vec<u8> = (0..251).cycle().take(400_000).collect();
    fs::write(place.join("file"), &bytes).expect("a file");
    let done = |what: &str, words: &[&str]| {
        let mut words = words.iter();
        let call = Invocation::new(words.next().expect("a program"));
        let mut command = call.args(words).command();
        command.env("GIT_SSH_COMMAND", &program).env("GIT_CONFIG_NOSYSTEM", "1");
        let output = run(command, Vec::new());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{what}: {said}\n{}", gate.log());
        assert!(!said.contains("so ssh runs"), "{what}: {said}");
    };
    let to = |name: &str| format!("far:{}", path(name));
    let is_copied =
        |name: &str| assert!(fs::read(place.join(name)).expect("it is there") == bytes, "{name}");
    done("scp", &["scp", "-S", &program, &path("file"), &to("by-scp")]);
    is_copied("by-scp");
    // The proxy command of the login must not run rove by the link's name, because rove would then act as `rove exec`.
    let (link, config) = (path("rove-exec"), gate.path("ssh_config").display().to_string());
    std::os::unix::fs::symlink(rove(), &link).expect("a link");
    done("scp by a link", &["scp", "-F", &config, "-S", &link, &path("file"), &to("by-link")]);
    is_copied("by-link");
    let batch = place.write("batch", &format!("put {} {}\n", path("file"), path("by-sftp")));
    done("sftp", &["sftp", "-q", "-b", &batch.display().to_string(), "-S", &program, "far"]);
    is_copied("by-sftp");
    if Command::new("rsync").arg("--version").output().is_ok() {
        done(
            "rsync",
            &[
                "rsync",
                "--rsync-path=/usr/bin/rsync",
                "-e",
                &program,
                &path("file"),
                &to("by-rsync"),
            ],
        );
        is_copied("by-rsync");
    }
    if Command::new("git").arg("--version").output().is_ok() {
        let repo = path("repo");
        done("git init", &["git", "init", "-q", &repo]);
        let commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"];
        let commit = [&["git", "-C", &repo], &commit[..], &["--allow-empty"]].concat();
        done("git commit", &commit);
        done(
            "git clone",
            &["git", "clone", "-q", "-u", "/usr/bin/git-upload-pack", &to("repo"), &path("clone")],
        );
        assert!(place.join("clone/.git/HEAD").exists());
    }
}

#[test]
fn a_host_without_rove_runs_the_program_by_ssh_and_strict_refuses() {
    let gate = Sshd::start(Far { programs: &[], ..Far::default() });
    let output = run(call(&gate, true, &[], "cat; echo e >&2; exit 5"), b"x\0y".to_vec());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*output.stdout), (Some(5), &b"x\0y"[..]), "{said}");
    let sentence = "rove: far has no rove that runs programs for rove exec, so ssh runs this one";
    assert_eq!(said.matches(sentence).count(), 1, "{said}");
    let output = run(call(&gate, true, &["--strict"], "true"), Vec::new());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(255) && said.contains("--strict: stock Mosh"), "{said}");
    assert_eq!(gate.connections(), 2);
}

#[test]
fn a_call_needs_no_terminal_of_sshds_and_a_session_without_one_is_told_the_remedy() {
    let gate = Sshd::start(Far::default());
    gate.rule("PermitTTY no\n");
    let output = run(call(&gate, true, &[], "cat; exit 3"), b"x".to_vec());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*output.stdout, &*said), (Some(3), &b"x"[..], ""));
    let session = Invocation::new(rove()).arg(format!("--ssh={}", gate.ssh())).arg("far");
    let exit = Terminal::start(&session, (24, 200)).wait_exit();
    exit.assert_code(10);
    let sentence = "the sshd of far grants no terminal; --no-ssh-pty asks for none";
    assert!(exit.output.contains(sentence), "{}", exit.output.escape_debug());
}

#[test]
fn a_forced_command_that_reads_its_input_has_it_from_ssh() {
    let gate = Sshd::start(Far::default());
    gate.rule("ForceCommand cat\n");
    let call = Invocation::new(rove()).arg("exec").arg(format!("--ssh={}", gate.ssh()));
    // Without a terminal, ssh cannot ask the user. With a terminal, rove would wait longer for ssh.
    let call = call.args(["far", "--", "ignored"]).command_behind(&["setsid", "--wait"]);
    let output = run(call, b"hello".to_vec());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"hello"[..]), "{said}");
    let silence = "far has not started rove's command in 15 s";
    assert!(said.contains(silence) && said.contains("so ssh runs this one"), "{said}");
    assert_eq!(gate.connections(), 2);
}

#[test]
fn a_forced_command_that_prints_without_end_is_left_to_ssh() {
    let place = Scratch::new();
    for is_tunnel in [true, false] {
        let gate = Sshd::start(Far::default());
        gate.rule("ForceCommand yes\n");
        let settings = place.write("rove.toml", &format!("tunnel = {is_tunnel}\n"));
        let call = Invocation::new(rove()).arg("exec").arg(format!("--ssh={}", gate.ssh()));
        let call = call.args(["far", "--", "ignored"]).env("ROVE_CONFIG", settings);
        let pipe = ["sh", "-c", "\"$@\" | head -n 1", "sh"];
        let output = run(call.command_behind(&pipe), Vec::new());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((&*output.stdout, gate.connections()), (&b"y\n"[..], 2), "{said}");
        assert!(said.contains("so ssh runs this one"), "{is_tunnel}: {said}");
    }
}

#[test]
fn settings_with_which_ssh_prints_no_configuration_hinder_no_call() {
    let gate = Sshd::start(Far::default());
    let output = run(call(&gate, true, &["-oForkAfterAuthentication=yes"], "exit 7"), Vec::new());
    assert_eq!((output.status.code(), &*output.stderr), (Some(7), &b""[..]), "{output:?}");
    let of_subsystem = |options: &[&str]| {
        let call = Invocation::new(rove()).arg("exec").arg(format!("--ssh={}", gate.ssh()));
        let output = run(call.args(options).args(["far", "nosuch"]).command(), Vec::new());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let refused = of_subsystem(&["-s"]);
    assert!(refused.1.contains("no subsystem nosuch"), "{refused:?}");
    assert_eq!(of_subsystem(&["-oSessionType=subsystem"]), refused);
}

#[test]
fn the_version_is_a_line_on_standard_error_as_sshs_is() {
    let mut command = Invocation::new(rove()).args(["exec", "-V"]).command();
    command.stdin(Stdio::null());
    let output = within_guard("a version", move || command.output().expect("rove starts"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        (output.status.code(), &*output.stdout, said.lines().count()),
        (Some(0), &b""[..], 1)
    );
    assert!(said.starts_with("rove "), "{said}");
}

#[test]
fn the_command_of_sshs_configuration_runs_where_the_line_names_none() {
    for programs in [&["rove"][..], &[]] {
        let gate = Sshd::start(Far { programs, ..Far::default() });
        gate.configure(" RemoteCommand echo \"from %n\"; cat; exit 7\n");
        let line = gate.ssh();
        let run_by = |is_rove, options: &[&str], words: &[&str]| {
            let call = match is_rove {
                true => Invocation::new(rove()).args(["exec", "-q"]).arg(format!("--ssh={line}")),
                false => {
                    let mut words = line.split(' ');
                    Invocation::new(words.next().expect("ssh has a name")).args(words)
                }
            };
            let call = call.args(options).arg("far").args(words);
            let Output { status, stdout, stderr } = run(call.command(), b"input".to_vec());
            let said = String::from_utf8_lossy(&stderr).into_owned();
            (status.code(), String::from_utf8_lossy(&stdout).into_owned(), said)
        };
        let configured = (Some(7), "from far\ninput".to_owned());
        for is_rove in [true, false] {
            // ssh may print a message that there is no terminal.
            let (code, stdout, said) = run_by(is_rove, &[], &[]);
            assert!(!is_rove || said.is_empty(), "{said}");
            assert_eq!((code, stdout), configured, "{is_rove} {programs:?}");
            let (code, stdout, said) = run_by(is_rove, &[], &["echo", "x"]);
            assert_eq!((code, &*stdout), (Some(255), ""), "{said}");
            let sentence = "Cannot execute command-line and remote command.";
            assert!(said.contains(sentence), "{said}");
            let own = run_by(is_rove, &["-oRemoteCommand=none"], &["echo", "x"]);
            assert_eq!(own, (Some(0), "x\n".to_owned(), String::new()));
        }
    }
}

/// Runs `rove exec --json`. Returns the exit code, the bytes of both outputs, and the JSON lines without output.
fn run_json(
    gate: &Sshd,
    command: &str,
    input: &[u8],
) -> (Option<i32>, [Vec<u8>; 2], Vec<serde_json::Value>) {
    let Output { status, stdout, stderr } =
        run(call(gate, true, &["--json"], command), input.to_vec());
    assert_eq!(String::from_utf8_lossy(&stderr), "", "everything is told in JSON");
    let (mut bytes, mut others) = ([Vec::new(), Vec::new()], Vec::new());
    for line in stdout.split_inclusive(|byte| *byte == b'\n') {
        let line: serde_json::Value = serde_json::from_slice(line).expect("a line is JSON");
        let name = ["stdout", "stderr"].iter().position(|name| line.get(*name).is_some());
        match name {
            Some(at) => {
                let text = line[["stdout", "stderr"][at]].as_str().expect("it is text");
                bytes[at].extend(STANDARD.decode(text).expect("it is base64"));
            }
            None => others.push(line),
        }
    }
    assert_eq!(others.remove(0), json!({ "version": 1 }));
    (status.code(), bytes, others)
}

#[test]
fn a_program_that_drives_a_call_is_told_of_everything_in_lines_of_json() {
    let gate = Sshd::start(Far::default());
    let input: Vec<u8> = (0..=u8::MAX).cycle().take(300_000).collect();
    let (code, [out, errors], others) =
        run_json(&gate, "cat; printf 'e\\0\\377' >&2; exit 255", &input);
    assert!((code, out == input, &*errors) == (Some(255), true, b"e\0\xff"), "{errors:?}");
    assert_eq!(others, [json!({ "exit": 255 })]);
    let (code, _, others) = run_json(&gate, "kill -TERM $$", b"");
    assert_eq!((code, &*others), (Some(128 + 15), &[json!({ "signal": 15 })][..]));
    gate.bar();
    let (code, outputs, others) = run_json(&gate, "true", b"");
    gate.unbar();
    assert_eq!((code.is_some_and(|code| code > 0), outputs), (true, [Vec::new(), Vec::new()]));
    assert_eq!(others.last(), Some(&json!({ "lost": true })));
    let says_why = |line: &serde_json::Value| {
        line["trouble"].as_str().is_some_and(|it| it.contains("Permission denied"))
    };
    assert!(others.iter().any(says_why), "{others:?}");
}

#[test]
fn the_lines_of_json_tell_that_ssh_runs_the_program_and_how_it_ends() {
    let gate = Sshd::start(Far { programs: &[], ..Far::default() });
    let (code, [out, errors], others) = run_json(&gate, "cat; echo e >&2; exit 5", b"x\0y");
    assert_eq!((code, &*out, &*errors), (Some(5), &b"x\0y"[..], &b"e\n"[..]));
    assert!(others[0]["trouble"].as_str().is_some_and(|it| it.contains("so ssh runs this one")));
    assert_eq!(others[1..], [json!({ "exit": 5 })]);
}
