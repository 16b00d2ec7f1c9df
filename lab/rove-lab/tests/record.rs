//! `rove-lab record` with real programs: from a pipe, from a script, and from a terminal.

use std::ffi::{CString, OsString};
use std::fs;
use std::io::{BufReader, Write};
use std::os::fd::AsFd;
use std::process::{Command, Output, Stdio};

use rove_host::program::{Failure, Program, c_string};
use rove_host::pty::{Child, Master, Pty};
use rove_platform::clock::Clock;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_replay::trace::{Event, Trace, TtyModes};
use rove_rig::scratch::Scratch;
use rove_terminal::Size;
use rove_units::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_rove-lab");

/// A hang guard: nothing here takes longer on any computer.
const GUARD: Duration = Duration::from_secs(120);

/// A folder for one test's recording.
struct Folder(Scratch);

impl Folder {
    fn new() -> Self {
        Self(Scratch::new())
    }

    fn trace(&self) -> Trace {
        let file = fs::File::open(self.0.path("trace")).expect("there is a trace");
        Trace::read(BufReader::new(file)).expect("the trace is in order")
    }

    /// Runs `rove-lab record -o trace` with these words and this standard input.
    fn record(&self, words: &[&str], input: &str) -> Output {
        self.record_by(&mut Command::new(PROGRAM), words, input)
    }

    /// Does as [`Folder::record`] does, but starts rove-lab by `program`.
    fn record_by(&self, program: &mut Command, words: &[&str], input: &str) -> Output {
        let mut child = program
            .args(["record", "-o", "trace"])
            .args(words)
            .current_dir(self.0.folder())
            .env("PS1", "prompt> ")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("rove-lab starts");
        // A program that ended without reading closes the pipe.
        let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
        child.wait_with_output().expect("rove-lab ends")
    }
}

/// Returns all bytes that went one way.
fn joined(trace: &Trace, side: impl Fn(&Event) -> Option<&Vec<u8>>) -> String {
    let bytes: Vec<u8> =
        trace.records.iter().filter_map(|record| side(&record.event)).flatten().copied().collect();
    String::from_utf8(bytes).expect("these programs write UTF-8")
}

fn typed(trace: &Trace) -> String {
    joined(trace, |event| if let Event::User(bytes) = event { Some(bytes) } else { None })
}

fn written(trace: &Trace) -> String {
    joined(trace, |event| if let Event::Host(bytes) = event { Some(bytes) } else { None })
}

fn modes(trace: &Trace) -> Vec<(bool, bool)> {
    let modes = trace.records.iter().filter_map(|record| match record.event {
        Event::Tty(TtyModes { echo, icanon, .. }) => Some((echo, icanon)),
        _ => None,
    });
    modes.collect()
}

#[test]
fn keys_from_a_pipe_are_typed_and_the_exit_code_is_the_commands() {
    let scratch = Folder::new();
    let keys = "x=1\necho hi-$x\nexit 5\n";
    let output = scratch.record(&["--size", "100x30", "--", "sh"], keys);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let trace = scratch.trace();
    assert_eq!(trace.size, Size::clamped(100, 30));
    assert_eq!(typed(&trace), keys);
    let shown = written(&trace);
    assert!(shown.contains("hi-1\r\n"), "{shown}");
    assert_eq!(output.stdout, shown.as_bytes(), "the session is shown as it is written down");
    assert_eq!(modes(&trace)[0], (true, true));
}

#[test]
fn only_its_owner_may_read_a_recording() {
    let scratch = Folder::new();
    let mut open = Command::new("sh");
    open.args(["-c", "umask 0; exec \"$0\" \"$@\"", PROGRAM]);
    // `ls` shows the rights of the recording while it is written. The command keeps its mask.
    let output = scratch.record_by(&mut open, &["--", "sh", "-c", "ls -l trace; umask"], "");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let shown = written(&scratch.trace());
    assert!(shown.starts_with("-rw------- ") && shown.ends_with("0000\r\n"), "{shown}");
    let refused = scratch.record(&["--", "true"], "");
    assert_eq!(refused.status.code(), Some(1), "what is there stays: {refused:?}");
}

#[test]
fn the_last_words_of_a_command_are_in_the_trace() {
    let scratch = Folder::new();
    let script = "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo line $i; done; kill -KILL $$";
    let output = scratch.record(&["--", "sh", "-c", script], "");
    assert_eq!(output.status.code(), Some(128 + 9), "{output:?}");
    assert!(written(&scratch.trace()).ends_with("line 2000\r\n"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_recorded_command_has_all_signals_whoever_started_the_recorder() {
    let scratch = Folder::new();
    // The recorder hangs up on the command when there are no more keys.
    let show = "trap : HUP; while read -r name mask; do case $name in Sig[BI]*) echo $mask; esac; \
                done </proc/self/status";
    let mut deaf = Command::new("env");
    deaf.args(["--ignore-signal=INT,QUIT,TSTP,CHLD,RTMAX", "--block-signal", PROGRAM]);
    let output = scratch.record_by(&mut deaf, &["--", "sh", "-c", show], "");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let trace = written(&scratch.trace());
    let masks: Vec<_> = trace.lines().map(|mask| u64::from_str_radix(mask, 16)).collect();
    // The C library keeps signals 32 and 33 to itself.
    let theirs = 0b11 << 31;
    assert_eq!(masks.len(), 2, "{trace}");
    assert!(masks.iter().all(|mask| mask.as_ref().is_ok_and(|it| it & !theirs == 0)), "{trace}");
}

#[test]
fn a_command_that_waits_for_more_is_hung_up_when_the_keys_are_at_their_end() {
    let scratch = Folder::new();
    let output =
        scratch.record(&["--", "sh", "-c", "trap 'exit 6' HUP; while :; do read x; done"], "");
    assert_eq!(output.status.code(), Some(6), "{output:?}");
}

#[test]
fn no_file_is_replaced_and_nothing_is_run_that_is_not_there() {
    let scratch = Folder::new();
    let output = scratch.record(&["--", "no-such-program"], "");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(!scratch.0.path("trace").exists());
    fs::write(scratch.0.path("trace"), "mine").unwrap();
    let output = scratch.record(&["--", "sh", "-c", "touch was-run"], "");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(fs::read(scratch.0.path("trace")).unwrap(), b"mine");
    assert!(!scratch.0.path("was-run").exists());
}

#[test]
fn a_script_is_typed_and_a_password_is_veiled() {
    let script = "slips 0%\nprompt \"Name: \"\nline ann\nprompt \"Password: \"\nline hunter2\n";
    let ask = "printf 'Name: '; read n; stty -echo; printf 'Password: '; read p; stty echo; \
               echo; echo \"$n ${#p}\"";
    for (option, secret) in [(&[][..], "xxxxxxx"), (&["--with-secrets"][..], "hunter2")] {
        let scratch = Folder::new();
        fs::write(scratch.0.path("script"), script).unwrap();
        let words = [option, &["--script", "script", "--", "sh", "-c", ask]].concat();
        let output = scratch.record(&words, "");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(output.stdout, b"", "nothing is shown");
        let trace = scratch.trace();
        assert_eq!(typed(&trace), format!("ann\r{secret}\r"));
        assert!(written(&trace).ends_with("Password: \r\nann 7\r\n"), "{}", written(&trace));
        assert_eq!(modes(&trace)[..2], [(true, true), (false, true)]);
    }
}

#[test]
fn a_script_that_is_wrong_is_refused_before_anything_is_run() {
    let scratch = Folder::new();
    fs::write(scratch.0.path("script"), "line ls\nhello\n").unwrap();
    let output = scratch.record(&["--script", "script", "--", "sh"], "");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("line 2: there is no `hello`"), "{said}");
    assert!(!scratch.0.path("trace").exists());
}

/// A terminal of a user who runs something in it.
struct Window {
    events: EventLoop,
    master: Master,
    child: Child,
    shown: String,
    guard: Instant,
}

impl Window {
    fn open(scratch: &Folder, script: &str) -> Self {
        let text = |text: &str| CString::new(text).expect("no null bytes");
        let path: OsString = std::env::var_os("PATH").expect("there is a search path");
        let program = Program {
            candidates: vec![text("/bin/sh")],
            arguments: ["sh", "-c", script, PROGRAM].map(text).to_vec(),
            environment: vec![
                text(&format!("PATH={}", path.to_str().expect("it is text"))),
                text("PS1=prompt> "),
            ],
            directory: c_string(scratch.0.folder().as_os_str().to_owned()).expect("no null bytes"),
            greeting: Vec::new(),
            not_found: Vec::new(),
            not_executable: Vec::new(),
            core_limit: rustix::process::getrlimit(rustix::process::Resource::Core),
        };
        let events = EventLoop::new(Clock::start(), &[]).expect("the system has room");
        let (master, mut child) = Pty::open(Size::DEFAULT)
            .and_then(|pty| pty.spawn(&program))
            .expect("the system has room");
        child.release(Failure::Ends);
        let guard = events.now() + GUARD;
        Self { events, master, child, shown: String::new(), guard }
    }

    /// Reads until the window has shown `text`, or to the end without a text.
    fn read_until(&mut self, text: Option<&str>) {
        let mut buffer = [0; 4096];
        while text.is_none_or(|text| !self.shown.contains(text)) {
            let mut interests = [Interest::new(self.master.as_fd(), true, false)];
            self.events.wait(&mut interests, Some(self.guard)).expect("the wait works");
            assert!(self.events.now() < self.guard, "waits for {text:?}: {}", self.shown);
            match self.master.read(&mut buffer) {
                Ok(0) => break,
                Ok(len) => self.shown.push_str(&String::from_utf8_lossy(&buffer[..len])),
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
            }
        }
        let _ = self.child.try_wait();
    }

    fn type_text(&self, text: &str) {
        assert_eq!(self.master.write(text.as_bytes()).expect("it is open"), text.len());
    }

    /// Returns whether the window's terminal echoes and gathers lines.
    fn is_cooked(&self) -> bool {
        let modes = self.master.modes().expect("it is open").modes;
        modes.contains(rove_session::TtyModes::ECHO.union(rove_session::TtyModes::CANONICAL))
    }
}

#[test]
fn a_session_at_a_terminal_is_recorded_with_its_resizes_and_the_terminal_given_back() {
    let scratch = Folder::new();
    let script = "\"$0\" record -o trace -- sh; echo code=$?; stty -a; echo END";
    let mut window = Window::open(&scratch, script);
    window.read_until(Some("prompt> "));
    assert!(!window.is_cooked(), "keys go through as they are");
    window.master.resize(Size::clamped(91, 37)).unwrap();
    // The recorder passes the size on a moment later. The typed line does not contain the awaited text.
    window.type_text("until stty size | grep '37'' 91'; do sleep 0.05; done\r");
    window.read_until(Some("37 91"));
    window.type_text("exit 4\r");
    window.read_until(Some("END"));
    assert!(window.shown.contains("code=4\r\n"), "{}", window.shown);
    assert!(
        window.shown.contains(" icanon") && window.shown.contains(" echo "),
        "{}",
        window.shown
    );
    let trace = scratch.trace();
    assert_eq!(trace.size, Size::DEFAULT);
    let sizes: Vec<_> =
        trace.records.iter().filter(|record| matches!(record.event, Event::Size(_))).collect();
    assert_eq!(sizes.len(), 1);
    assert_eq!(sizes[0].event, Event::Size(Size::clamped(91, 37)));
    assert!(typed(&trace).ends_with("exit 4\r"));
}

#[test]
fn a_deadly_signal_ends_the_recording_in_good_order() {
    let scratch = Folder::new();
    // The recorded command's parent is the recorder.
    let script = "\"$0\" record -o trace -- sh -c 'echo ready; read -r word; kill -TERM $PPID; sleep 50'; \
                  echo code=$?; stty -a; echo END";
    let mut window = Window::open(&scratch, script);
    window.read_until(Some("ready\r\n"));
    window.type_text("go\r");
    window.read_until(Some("END"));
    assert!(window.shown.contains("code=143\r\n"), "{}", window.shown);
    assert!(
        window.shown.contains(" icanon") && window.shown.contains(" echo "),
        "{}",
        window.shown
    );
    assert!(written(&scratch.trace()).contains("ready\r\n"));
}
