//! The user's terminal: a pty with a program on it, and an independent emulator that draws the program's output.

use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Termios, Winsize, tcgetattr, tcsetwinsize};

use super::invocation::Invocation;
use super::notices::{Notices, number_between};
use super::screen::{cells, emulator, lines};
use super::server::{Maker, process};
use rove_rig::guard::{HANG_GUARD, within_guard};
use rove_rig::process::Process;

/// Longest wait before a test looks at the screen again. The test may also wait for a change of another terminal.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// Most bytes of the output that a failed test shows.
const DUMP_BYTES: usize = 600;

/// Rows and columns of a terminal.
pub(crate) type Size = (u16, u16);

/// A program on a terminal of its own.
///
/// The test shows this program's screen if it fails.
pub(crate) struct Terminal {
    /// The program's command line.
    words: String,
    child: Child,
    process: Process,
    /// The pty's master. `None` after the window is closed.
    master: Option<OwnedFd>,
    /// Kept open so that a test can read the terminal's modes after the program has ended.
    slave: Option<OwnedFd>,
    shared: Arc<Shared>,
    reader: Option<JoinHandle<()>>,
    /// A socket to the reader thread. Closing it makes the thread close the terminal.
    leash: Option<UnixStream>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    parser: vt100::Parser,
    notices: Notices,
    output: Vec<u8>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of the lock panics")
    }
}

impl Terminal {
    /// Starts a program as the leader of its own session on a new terminal.
    pub(crate) fn start(call: &Invocation, (rows, columns): Size) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("the system has ptys");
        grantpt(&master).expect("a new pty can be granted");
        unlockpt(&master).expect("a new pty can be unlocked");
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let slave = ioctl_tiocgptpeer(&master, flags).expect("an unlocked pty has a slave");
        set_size(&master, (rows, columns));
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                parser: emulator(rows, columns),
                notices: Notices::default(),
                output: Vec::new(),
            }),
            changed: Condvar::new(),
        });
        let duplicate = || slave.try_clone().expect("a descriptor can be duplicated");
        // setsid keeps its pid when it executes the program. The tests may run with ignored signals, such as SIGINT.
        let child = call
            .command_behind(&["env", "--default-signal", "setsid", "--ctty", "--"])
            .stdin(duplicate())
            .stdout(duplicate())
            .stderr(duplicate())
            .spawn()
            .expect("setsid (util-linux) starts");
        let process = process(child.id());
        let (leash, collar) = UnixStream::pair().expect("the system has sockets");
        let reader = {
            let master = master.try_clone().expect("a descriptor can be duplicated");
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || read_all(&master, &collar, &shared))
        };
        Self {
            words: call.words(),
            child,
            process,
            master: Some(master),
            slave: Some(slave),
            shared,
            reader: Some(reader),
            leash: Some(leash),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn master(&self) -> &OwnedFd {
        self.master.as_ref().expect("nobody uses a terminal whose window is closed")
    }

    /// Types keys.
    pub(crate) fn send(&self, keys: impl AsRef<[u8]>) {
        let mut left = keys.as_ref();
        while !left.is_empty() {
            let sent = rustix::io::write(self.master(), left).expect("the terminal takes input");
            left = &left[sent..];
        }
    }

    /// Types `keys` in another thread, because the terminal may not hold them all at once.
    pub(crate) fn send_behind(&self, keys: Vec<u8>) -> JoinHandle<()> {
        let master = self.master().try_clone().expect("a descriptor can be duplicated");
        std::thread::spawn(move || {
            std::fs::File::from(master).write_all(&keys).expect("the terminal takes input");
        })
    }

    /// Changes the terminal's size, as a user does who drags the window's corner.
    pub(crate) fn resize(&self, (rows, columns): Size) {
        let mut state = self.shared.lock();
        state.parser.set_size(cells(rows), cells(columns));
        set_size(self.master(), (rows, columns));
    }

    /// Waits until `wanted` is true for the screen. Panics if it never is.
    pub(crate) fn wait_for(&self, what: &str, mut wanted: impl FnMut(&vt100::Screen) -> bool) {
        self.wait_until(what, |state| wanted(state.parser.screen()));
    }

    /// Waits until `text` is anywhere on the screen.
    pub(crate) fn wait_for_text(&self, text: &str) {
        self.wait_for(text, |screen| screen.contents().contains(text));
    }

    /// Waits until `text` has been in the top row. Ignores the notices up to the last one that a test waited for.
    pub(crate) fn wait_for_notice(&self, text: &str) {
        self.wait_for_row(text, |row| row.contains(text).then_some(()));
    }

    /// Waits for a notice with a number between `before` and `after`. Returns the number.
    pub(crate) fn number_in_notice(&self, before: &str, after: &str) -> u16 {
        self.wait_for_row(before, |row| number_between(row, before, after))
    }

    /// Makes the test ignore all notices until now.
    pub(crate) fn forget_notices(&self) {
        self.shared.lock().notices.forget();
    }

    fn wait_for_row<T>(&self, what: &str, find: impl Fn(&str) -> Option<T>) -> T {
        let mut found = None;
        self.wait_until(what, |state| {
            found = state.notices.take(&find);
            found.is_some()
        });
        found.expect("it was waited for")
    }

    /// Waits for a number on the screen between `before` and `after`. Returns the number.
    pub(crate) fn number_on_screen(&self, before: &str, after: &str) -> u16 {
        let mut found = None;
        self.wait_for(before, |screen| {
            found = number_between(&screen.contents(), before, after);
            found.is_some()
        });
        found.expect("it was waited for")
    }

    /// Types a line, and waits for the answer of a program that answers lines.
    pub(crate) fn talk(&self, line: &str) {
        self.send(format!("{line}\r"));
        self.wait_for_text(&format!("got {line}"));
    }

    /// Works as [`Terminal::talk`] does for an answer that needs another login. On a busy computer, the client's
    /// unasked login may take over 5 s. The user then logs in.
    pub(crate) fn talk_after_login(&self, line: &str) {
        const OFFER: &str = "[To log in again: Ctrl-^ r]";
        self.send(format!("{line}\r"));
        let (answer, mut is_offered) = (format!("got {line}"), false);
        self.wait_for("an answer or an offer", |screen| {
            let text = screen.contents();
            is_offered = text.contains(OFFER);
            is_offered || text.contains(&answer)
        });
        if is_offered {
            self.send("\x1er");
        }
        self.wait_for_text(&answer);
    }

    /// Waits until the client's status names this path.
    pub(crate) fn wait_for_path(&self, path: &str) {
        self.send("\x1es");
        self.wait_for_text(path);
        self.send("q");
    }

    /// Waits until the program has written `text`, whether or not it is on the screen.
    pub(crate) fn wait_for_output(&self, text: &str) {
        self.wait_for_output_times(text, 1);
    }

    /// Waits until the program has written `text` at least `count` times.
    pub(crate) fn wait_for_output_times(&self, text: &str, count: usize) {
        self.wait_until(text, |state| {
            String::from_utf8_lossy(&state.output).matches(text).count() >= count
        });
    }

    /// Returns whether the program has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.process.is_gone()
    }

    fn wait_until(&self, what: &str, mut wanted: impl FnMut(&mut State) -> bool) {
        let mut state = self.shared.lock();
        for _ in 0..HANG_GUARD.as_millis() / LOOK_AGAIN.as_millis() {
            let (next, timeout) = self
                .shared
                .changed
                .wait_timeout_while(state, LOOK_AGAIN, |state| !wanted(state))
                .expect("no holder of the lock panics");
            if !timeout.timed_out() {
                return;
            }
            state = next;
        }
        drop(state);
        panic!("waited {HANG_GUARD:?} for: {what}, on the terminal of {}", self.words);
    }

    /// Returns the current screen.
    pub(crate) fn screen(&self) -> vt100::Screen {
        self.shared.lock().parser.screen().clone()
    }

    /// Returns everything that the program has written so far.
    pub(crate) fn output(&self) -> String {
        String::from_utf8_lossy(&self.shared.lock().output).into_owned()
    }

    /// Returns the text that a failed test shows.
    pub(crate) fn dump(&self) -> String {
        dump(&self.shared.lock())
    }

    /// Returns the terminal's modes.
    pub(crate) fn modes(&self) -> Termios {
        tcgetattr(self.master()).expect("a pty has modes")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.process.signal(signal);
    }

    /// Waits until a signal has stopped the program.
    pub(crate) fn wait_stopped(&self) {
        let pid = Pid::from_child(&self.child);
        within_guard("the program to stop", move || {
            waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED).expect("a child can be waited for")
        });
    }

    /// Closes the terminal's window while the program runs, and waits until the program has ended.
    pub(crate) fn close_window(mut self) {
        self.slave = None;
        self.leash = None;
        if let Some(reader) = self.reader.take() {
            within_guard("the reader to let go", move || reader.join().expect("it returns"));
        }
        self.master = None;
        assert!(self.process.wait_gone(), "the program never noticed");
    }

    /// Waits until the program has ended and the reader has read all its output.
    pub(crate) fn wait_exit(&mut self) -> Exit {
        assert!(self.process.wait_gone(), "the program never ended: {}", self.words);
        let status = self.child.wait().expect("a child can be waited for");
        let modes = self.modes();
        // The reader ends when the last descriptor of the slave is closed.
        self.slave = None;
        if let Some(reader) = self.reader.take() {
            within_guard("the last output", move || reader.join().expect("the reader returns"));
        }
        Exit { status, modes, screen: self.screen(), output: self.output() }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Ok(state) = self.shared.state.lock()
        {
            eprintln!("--- terminal of {}\n{}", self.words, dump(&state));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The terminal as a program left it, and the program's exit status.
pub(crate) struct Exit {
    status: ExitStatus,
    modes: Termios,
    /// The terminal's last screen.
    pub(crate) screen: vt100::Screen,
    /// Everything that the program wrote.
    pub(crate) output: String,
}

impl Exit {
    /// Returns the exit status. For a signal, it is 128 plus the signal's number.
    pub(crate) fn code(&self) -> i32 {
        let code = self.status.code().or_else(|| self.status.signal().map(|number| 128 + number));
        code.expect("a program that has ended has a status")
    }

    /// Asserts the exit status. For a signal, it is 128 plus the signal's number.
    #[track_caller]
    pub(crate) fn assert_code(&self, code: i32) -> &Self {
        assert_eq!(self.code(), code, "exit status\n{}", lines(&self.screen).join("\n"));
        self
    }

    /// Returns whether the exit status was 0.
    pub(crate) fn succeeded(&self) -> bool {
        self.status.success()
    }

    /// Asserts that the client has restored the line modes and screen modes of the user's terminal. Stock clients do
    /// not restore bracketed paste (Mosh 1.4.0 as observed).
    #[track_caller]
    pub(crate) fn assert_restored(&self, client: Maker) -> &Self {
        let wanted = LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        assert!(self.modes.local_modes.contains(wanted), "{:?}", self.modes.local_modes);
        let screen = &self.screen;
        assert!(!screen.alternate_screen(), "still on the alternate screen");
        assert!(!screen.hide_cursor(), "the cursor is hidden");
        assert!(!screen.application_cursor(), "cursor keys still in application mode");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        let forgets = client == Maker::Stock;
        assert!(forgets || !screen.bracketed_paste(), "bracketed paste is still on");
        self
    }
}

/// Waits for a fixed time. Use this only where a test has no event to wait for.
pub(crate) fn pause(span: Duration) {
    let (_held, never) = std::sync::mpsc::channel::<()>();
    let _ = never.recv_timeout(span);
}

fn set_size(master: impl AsFd, (rows, columns): Size) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, size).expect("a pty takes a size");
}

fn read_all(master: &OwnedFd, collar: &UnixStream, shared: &Shared) {
    let mut buffer = [0; 16_384];
    let pulled = || {
        let mut fds = [PollFd::new(master, PollFlags::IN), PollFd::new(collar, PollFlags::IN)];
        poll(&mut fds, None).is_err() || !fds[1].revents().is_empty()
    };
    // A read fails once the last descriptor of the slave is closed.
    while !pulled()
        && let Ok(len @ 1..) = rustix::io::read(master, &mut buffer)
    {
        let mut state = shared.lock();
        let State { parser, notices, .. } = &mut *state;
        notices.draw(parser, &buffer[..len]);
        state.output.extend_from_slice(&buffer[..len]);
        drop(state);
        shared.changed.notify_all();
    }
}

fn dump(state: &State) -> String {
    let screen = state.parser.screen();
    let tail = &state.output[state.output.len().saturating_sub(DUMP_BYTES)..];
    format!(
        "--- screen {:?}, cursor {:?}\n{}\n--- last output\n{}",
        screen.size(),
        screen.cursor_position(),
        lines(screen).join("\n"),
        tail.escape_ascii(),
    )
}
