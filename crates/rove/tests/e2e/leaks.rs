//! No session key is readable in an argument vector, which other users see, nor in a log or a file. The cases are
//! failures while attaching and resuming.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use rustix::process::Signal;

use crate::support::{
    Far, Invocation, SIZE, Scratch, Sshd, Terminal, install_script, pause, rove, side_by_side,
    wait_until,
};

/// A script that prints `here`, and then each line that it reads.
const ECHOING: &str = "echo here; while read -r line; do echo \"got $line\"; done";

/// A script that runs ssh, passes its output on, and keeps a copy.
const TEE: &str = r#"#!/bin/sh
exec 3>&1
status=$({ { SSH "$@"; echo $? >&4; } | tee -a OUT >&3; } 4>&1)
exit "$status"
"#;

/// A host whose PATH begins with a folder for another rove.
const FAR: Far =
    Far { shell: "sh", programs: &["rove"], profile: "PATH=$HOME/old:$PATH", banner: "" };

/// A user, and a host whose printed session keys the test keeps.
struct User {
    sshd: Sshd,
    scratch: Scratch,
    ssh: String,
}

impl User {
    fn new() -> Self {
        let (sshd, scratch) = (Sshd::start(FAR), Scratch::new());
        let out = sshd.path("out");
        let script = TEE.replace("SSH", &sshd.ssh()).replace("OUT", &out.display().to_string());
        let ssh = format!("--ssh={}", scratch.script("ssh", &script).display());
        Self { sshd, scratch, ssh }
    }

    /// Returns a call of rove that keeps its records in the folder `records`.
    fn call(&self, records: &str, words: &[&str]) -> Invocation {
        let folder = |name: &str| self.scratch.path(&format!("{records}/{name}"));
        let call = Invocation::new(rove()).args(words).env("ROVE_RUNTIME_DIR", folder("run"));
        let call = call.env("XDG_DATA_HOME", folder("data")).env("XDG_STATE_HOME", folder("state"));
        call.env("ROVE_LOG", self.scratch.path("log"))
    }

    fn start(&self, options: &[&str]) -> Terminal {
        let words = [&[&*self.ssh, "--no-tunnel"], options].concat();
        let words = [&*words, &["far", "--", "sh", "-c", ECHOING]].concat();
        let terminal = Terminal::start(&self.call("own", &words), SIZE);
        terminal.wait_for_text("here");
        terminal
    }

    fn attach(&self, words: &[&str]) -> Terminal {
        let words = [&["attach", &*self.ssh, "--no-tunnel"], words].concat();
        Terminal::start(&self.call("own", &words), SIZE)
    }

    fn resume(&self, records: &str) -> Terminal {
        Terminal::start(&self.call(records, &["resume"]), SIZE)
    }

    /// Starts a session and kills its client.
    fn kill(&self) {
        let mut client = self.start(&[]);
        client.talk("one");
        client.signal(Signal::KILL);
        client.wait_exit();
    }

    fn run(&self, script: &str) {
        let mut command = Command::new("sh");
        let status = command.args(["-ec", script]).current_dir(self.scratch.folder()).status();
        assert!(status.expect("sh starts").success(), "{script}");
    }

    /// Returns the session keys that the host has printed.
    fn keys(&self) -> BTreeSet<String> {
        let out = fs::read(self.sshd.path("out")).expect("ssh has run");
        let out = String::from_utf8_lossy(&out).into_owned();
        let lines = out.split("MOSH CONNECT ").skip(1);
        lines.map(|line| line.split_whitespace().nth(1).expect("a key").to_owned()).collect()
    }
}

/// Asserts that no file below this folder contains a key of `keys`.
fn assert_without(folder: &Path, keys: &BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, kind) = (entry.path(), entry.file_type().expect("it is there"));
        if kind.is_dir() {
            assert_without(&path, keys);
        } else if kind.is_file() {
            assert_not_in(&fs::read(&path).expect("it can be read"), keys, &path);
        }
    }
}

fn assert_not_in(bytes: &[u8], keys: &BTreeSet<String>, place: &Path) {
    for key in keys {
        let raw = STANDARD_NO_PAD.decode(key).expect("a key");
        for form in [key.as_bytes(), &raw] {
            let is_there = bytes.windows(form.len()).any(|found| found == form);
            assert!(!is_there, "a key is in {}", place.display());
        }
    }
}

/// The actions of a case.
type Case = fn(&User);

/// The name of each case, its actions, and the least number of keys that it must produce.
const CASES: [(&str, Case, usize); 10] = [
    ("names", names, 1),
    ("one name twice", one_name_twice, 2),
    ("two attach at once", two_at_once, 3),
    ("a server ends meanwhile", a_server_ends, 1),
    ("another's echo is off", another_types, 2),
    ("a full control socket", a_full_socket, 2),
    ("an older rove", an_older_rove, 1),
    ("a record copied, used twice, cut", copied_records, 2),
    ("a clock that went back", a_clock_that_went_back, 2),
    ("a full disk", a_full_disk, 0),
];

fn names(user: &User) {
    let _session = user.start(&["--session", "work"]);
    for name in [".work", "-work", "Work", &"x".repeat(300)] {
        assert_ne!(user.attach(&["far", "--", name]).wait_exit().code(), 0);
    }
}

fn one_name_twice(user: &User) {
    let mut first = user.start(&["--session", "work"]);
    let words = [&*user.ssh, "--no-tunnel", "--session", "work", "far"];
    let second = Terminal::start(&user.call("own", &words), SIZE);
    second.wait_for_text("here");
    first.wait_exit().assert_code(79);
}

fn two_at_once(user: &User) {
    let _session = user.start(&[]);
    let known = user.keys();
    let _first = user.attach(&["far"]);
    wait_until("another key", || user.keys() != known);
    user.attach(&["far"]).wait_for_text("here");
}

fn a_server_ends(user: &User) {
    let session = user.start(&[]);
    let mut next = user.attach(&["far"]);
    session.send("\x04");
    next.wait_for("the end of either", |screen| {
        session.is_over() && (next.is_over() || screen.contents().contains("here"))
    });
    // If the attachment came before the first Ctrl-D, this second Ctrl-D ends the session.
    next.send("\x04");
    next.wait_exit();
}

fn another_types(user: &User) {
    let session = user.start(&[]);
    let other = user.attach(&["--share", "far"]);
    session.wait_for_notice("joined to type");
    other.talk("one");
}

fn a_full_socket(user: &User) {
    let _session = user.start(&[]);
    let sockets = fs::read_dir(user.sshd.path("sockets")).expect("a folder").flatten();
    let full: Vec<_> = sockets
        .flat_map(|socket| (0..100).map_while(move |_| UnixStream::connect(socket.path()).ok()))
        .collect();
    user.attach(&["far"]).wait_for_text("here");
    drop(full);
}

fn an_older_rove(user: &User) {
    let _session = user.start(&[]);
    let old = user.sshd.path("old");
    fs::create_dir(&old).expect("the folder takes another");
    let program = "#!/bin/sh\necho 'rove server: no such option' >&2; exit 1\n";
    install_script(&old.join("rove"), program);
    assert_ne!(user.attach(&["--share", "far"]).wait_exit().code(), 0);
}

fn copied_records(user: &User) {
    user.kill();
    user.run("cp -a own copy; cp -a own cut; find cut -type f -exec truncate -s 20 {} +");
    assert_ne!(user.resume("cut").wait_exit().code(), 0);
    user.resume("own").wait_for_text("got one");
    assert_ne!(user.resume("copy").wait_exit().code(), 0);
}

fn a_clock_that_went_back(user: &User) {
    user.kill();
    user.run("find own -type f -exec touch -d tomorrow {} +");
    user.resume("own").wait_for_text("got one");
}

fn a_full_disk(user: &User) {
    if !rustix::process::geteuid().is_root() {
        return; // only root can mount
    }
    fs::create_dir_all(user.scratch.path("own/run")).expect("the scratch folder takes it");
    let mount = r#"mount -t tmpfs -o mode=700,ro none "$ROVE_RUNTIME_DIR"; exec "$@""#;
    let words = [&*user.ssh, "--no-tunnel", "far", "--", "sh", "-c", ECHOING];
    let call = user.call("own", &words).behind_mounts(&[mount, "sh"]);
    Terminal::start(&call, SIZE).wait_for_notice("No record for rove resume");
}

#[test]
fn no_case_of_bad_input_shows_a_key_in_an_argument_a_log_or_a_file() {
    let (mut vectors, is_over) = (BTreeSet::new(), AtomicBool::new(false));
    let users: Vec<(&str, User, Case, usize)> =
        CASES.into_iter().map(|(name, case, count)| (name, User::new(), case, count)).collect();
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                for process in fs::read_dir("/proc").expect("Linux").flatten() {
                    vectors.extend(fs::read(process.path().join("cmdline")).ok());
                }
                pause(Duration::from_millis(1));
            }
        });
        // The watching thread must end even if a case fails.
        let cases = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            side_by_side(0..users.len(), |at| users[at].2(&users[at].1));
        }));
        is_over.store(true, Ordering::SeqCst);
        watch.join().expect("it only reads");
        cases.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    assert!(vectors.iter().any(|it| it.windows(9).any(|it| it == b"--session")));
    for (name, user, _, count) in &users {
        let keys = user.keys();
        assert!(keys.len() >= *count, "{name}: {keys:?}");
        vectors.iter().for_each(|it| assert_not_in(it, &keys, Path::new(name)));
        assert_not_in(user.sshd.log().as_bytes(), &keys, Path::new("sshd's log"));
        assert_without(user.scratch.folder(), &keys);
        // The test itself made this copy of ssh's output.
        fs::remove_file(user.sshd.path("out")).expect("it was read");
        assert_without(&user.sshd.path("."), &keys);
    }
}
