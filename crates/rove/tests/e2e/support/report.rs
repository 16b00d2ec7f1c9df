//! Reports of programs on the host: lines in a named pipe, which do not go through the session.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::{Arc, Condvar, Mutex};

use rove_rig::guard::HANG_GUARD;
use rove_rig::scratch::Scratch;

/// A script for the host that answers every line. It writes a report to its first argument when it gets SIGHUP.
///
/// When a terminal's master closes, Linux ends reads from the terminal a moment before it sends SIGHUP. The script
/// therefore waits for the signal after its last line.
pub(crate) const ANSWERING: &str = r#"
trap 'echo hung up > "$1"; exit' HUP
echo ready
while IFS= read -r line; do echo "got $line"; done
sleep 60 & wait
"#;

/// A named pipe to which programs on the host write lines.
pub(crate) struct Report {
    path: String,
    /// A descriptor of the pipe, by which `drop` writes the last line.
    own_end: File,
    lines: Arc<(Mutex<Vec<String>>, Condvar)>,
}

impl Report {
    /// Creates the pipe in a folder, and starts a thread that reads it.
    pub(crate) fn new(scratch: &Scratch) -> Self {
        let path = scratch.path("report");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).expect("the scratch folder takes pipes");
        // The pipe is open for writing too, so that reading does not end while no program has the pipe open.
        let pipe = File::options().read(true).write(true).open(&path);
        let pipe = pipe.expect("a new pipe can be opened");
        let own_end = pipe.try_clone().expect("a descriptor can be duplicated");
        let pipe = BufReader::new(pipe);
        let lines = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let path = path.to_str().expect("scratch paths are text").to_owned();
        let (shared, last) = (Arc::clone(&lines), path.clone());
        std::thread::spawn(move || {
            for line in pipe.lines().map_while(Result::ok).take_while(|line| *line != last) {
                shared.0.lock().expect("no holder of the lock panics").push(line);
                shared.1.notify_all();
            }
        });
        Self { path, own_end, lines }
    }

    /// Returns the pipe's path, for the command line of a program on the host.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Waits for a line that `wanted` accepts. Returns the line.
    #[track_caller]
    pub(crate) fn wait_where(&self, wanted: impl Fn(&str) -> bool) -> String {
        let (lines, more) = &*self.lines;
        let lines = lines.lock().expect("no holder of the lock panics");
        let (lines, _) = more
            .wait_timeout_while(lines, HANG_GUARD, |lines| !lines.iter().any(|line| wanted(line)))
            .expect("no holder of the lock panics");
        let found = lines.iter().find(|line| wanted(line)).cloned();
        found.unwrap_or_else(|| {
            panic!("waited {HANG_GUARD:?}: the far end never reported it, only {:?}", *lines)
        })
    }

    /// Waits for the line `wanted`. Returns all lines that have arrived.
    #[track_caller]
    pub(crate) fn wait_line(&self, wanted: &str) -> Vec<String> {
        let (lines, more) = &*self.lines;
        let lines = lines.lock().expect("no holder of the lock panics");
        let absent = |lines: &mut Vec<String>| !lines.iter().any(|line| line == wanted);
        let (lines, timeout) = more
            .wait_timeout_while(lines, HANG_GUARD, absent)
            .expect("no holder of the lock panics");
        let lines = lines.clone();
        assert!(
            !timeout.timed_out(),
            "waited {HANG_GUARD:?}: the far end never reported {wanted:?}, only {lines:?}"
        );
        lines
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        // The name must disappear first, because a program that opens a pipe without a reader waits for ever.
        let _ = std::fs::remove_file(&self.path);
        // This line ends the reader's thread.
        let _ = writeln!(self.own_end, "{}", self.path);
    }
}
