//! The pseudo-terminal on which the host's programs run.

mod modes;
#[cfg(all(target_os = "linux", not(rove_portable)))]
mod prompt;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rove_platform::tty;
use rove_terminal::{ExitStatus, Size, Tty};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{Pid, WaitOptions, WaitStatus, waitpid};
use rustix::pty::{OpenptFlags, grantpt, openpt, unlockpt};
use rustix::termios::{OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

#[cfg(all(target_os = "linux", not(rove_portable)))]
pub use self::prompt::PromptWatch;
use crate::program::{Failure, Program};
use crate::sys::{self, Standard};

/// A watch over the shell's prompt that never reports a prompt, because only Linux tells where a program waits.
#[cfg(any(rove_portable, not(target_os = "linux")))]
#[derive(Debug, Default)]
pub struct PromptWatch;

#[cfg(any(rove_portable, not(target_os = "linux")))]
impl PromptWatch {
    /// Returns `false`, because the prompt is unknown on this system.
    pub fn look(&mut self, _: &Master, _: &Child, _: Tty) -> bool {
        false
    }
}

/// A pseudo-terminal on which no program runs yet.
#[derive(Debug)]
pub struct Pty {
    master: Master,
    terminal: OwnedFd,
    /// The read end of a pipe, at which the child waits before it becomes the program. `opener` is the write end.
    gate: OwnedFd,
    opener: OwnedFd,
}

impl Pty {
    /// Opens a pseudo-terminal of this size and the pipe at which a child waits. Its erase key erases whole characters.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call, for example if all pseudo-terminals are in use.
    pub fn open(size: Size) -> io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        fcntl_setfd(&master, FdFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let terminal = open_terminal(&master)?;
        let mut modes = tcgetattr(&terminal)?;
        tty::erase_whole_characters(&mut modes);
        tcsetattr(&terminal, OptionalActions::Now, &modes)?;
        fcntl_setfl(&master, fcntl_getfl(&master)? | OFlags::NONBLOCK)?;
        let master = Master(master);
        master.resize(size)?;
        let (gate, opener) = io::pipe()?;
        Ok(Self { master, terminal, gate: gate.into(), opener: opener.into() })
    }

    /// Returns the path of the terminal's device. `None` if the device has no path here, as in some containers.
    pub fn terminal_name(&self) -> Option<String> {
        let name = rustix::pty::ptsname(&self.master.0, Vec::new()).ok()?;
        name.into_string().ok()
    }

    /// Returns the server's side and the programs' side of the pseudo-terminal.
    #[cfg(all(test, target_os = "linux"))]
    fn into_sides(self) -> (Master, OwnedFd) {
        (self.master, self.terminal)
    }

    /// Forks the process that becomes `program` after [`Child::release`].
    ///
    /// # Errors
    ///
    /// Returns the error of the system call fork.
    pub fn spawn(self, program: &Program) -> io::Result<(Master, Child)> {
        let Self { master, terminal, gate, opener } = self;
        let pid = sys::spawn_gated(program, Standard::Terminal(&terminal), &gate)?;
        // From here on only the child holds the terminal open, so the master sees when the child closes it.
        Ok((master, Child::new(pid, opener)))
    }
}

/// Opens the terminal side of a pseudo-terminal without its name, which may name another terminal in a container.
#[cfg(all(target_os = "linux", not(rove_portable)))]
fn open_terminal(master: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    rustix::pty::ioctl_tiocgptpeer(master, flags)
}

/// Opens the terminal side of a pseudo-terminal by its name.
#[cfg(any(rove_portable, not(target_os = "linux")))]
fn open_terminal(master: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    let name = rustix::pty::ptsname(master, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::open(name, flags, rustix::fs::Mode::empty())
}

/// The server's side of a pseudo-terminal, which is non-blocking.
#[derive(Debug)]
pub struct Master(OwnedFd);

impl Master {
    /// Reads output of programs. Returns its length, which is 0 after the last program has closed the terminal.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if there is no output.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match rustix::io::retry_on_intr(|| rustix::io::read(&self.0, &mut *buffer)) {
            // Linux returns this error after the last program has closed the terminal.
            Err(Errno::IO) => Ok(0),
            other => Ok(other?),
        }
    }

    /// Writes the user's keys. Returns how many bytes the terminal took; 0 if its buffer is full.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call, after the terminal is gone.
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match rustix::io::retry_on_intr(|| rustix::io::write(&self.0, bytes)) {
            Err(Errno::AGAIN) => Ok(0),
            other => Ok(other?),
        }
    }

    /// Returns the terminal's modes for typed keys. `None` after the terminal is gone. No event reports that a program
    /// has changed the modes, so call this again for the present modes.
    pub fn modes(&self) -> Option<Tty> {
        tcgetattr(&self.0).ok().map(|found| modes::tty(&found))
    }

    /// Returns the file name of the foreground program on the terminal. `None` if the system does not tell it.
    pub fn foreground(&self) -> Option<String> {
        let group = rustix::termios::tcgetpgrp(&self.0).ok()?;
        let file = std::fs::read_link(format!("/proc/{}/exe", group.as_raw_nonzero())).ok()?;
        let name = file.file_name()?.to_string_lossy().into_owned();
        // Linux adds this word if the file of the running program was replaced or removed.
        Some(name.strip_suffix(" (deleted)").unwrap_or(&name).to_owned())
    }

    /// Sets the window's size. If the size changes, the system sends SIGWINCH to the foreground programs.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call, after the terminal is gone.
    pub fn resize(&self, size: Size) -> io::Result<()> {
        let size =
            Winsize { ws_row: size.rows(), ws_col: size.columns(), ws_xpixel: 0, ws_ypixel: 0 };
        Ok(tcsetwinsize(&self.0, size)?)
    }
}

impl AsFd for Master {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A child process. If the value is dropped before [`Child::release`], the child ends and never starts its program.
#[derive(Debug)]
pub struct Child {
    pub(crate) pid: Pid,
    gate: Option<OwnedFd>,
    status: Option<ExitStatus>,
}

impl Child {
    /// Creates the state of a process that waits until a byte is written to `opener`.
    pub(crate) fn new(pid: Pid, opener: OwnedFd) -> Self {
        Self { pid, gate: Some(opener), status: None }
    }

    /// Lets the program start. If it cannot be executed, the child ends as `failure` says. Later calls have no effect.
    pub fn release(&mut self, failure: Failure) {
        if let Some(gate) = self.gate.take() {
            // If the child has already ended, `try_wait` returns its status.
            let _ = rustix::io::write(gate, &[failure.as_byte()]);
        }
    }

    /// Returns how the program ended. `None` while the program runs. Call this after each SIGCHLD.
    pub fn try_wait(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            let ended = waitpid(Some(self.pid), WaitOptions::NOHANG).ok().flatten();
            self.status = ended.and_then(|(_, status)| exit_status(status));
        }
        self.status
    }
}

/// Returns how a process ended. `None` if the process was only stopped.
fn exit_status(status: WaitStatus) -> Option<ExitStatus> {
    let byte = |number| u8::try_from(number).ok();
    let code = status.exit_status().and_then(byte).map(ExitStatus::Code);
    code.or_else(|| status.terminating_signal().and_then(byte).map(ExitStatus::Signal))
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use rove_platform::clock::Clock;
    use rove_platform::event_loop::{EventLoop, Interest};
    use rustix::process::Rlimit;

    use super::*;

    fn program(path: &str, arguments: &[&str]) -> Program {
        let text = |text: &str| CString::new(text).unwrap();
        Program {
            candidates: vec![text(path)],
            arguments: arguments.iter().map(|argument| text(argument)).collect(),
            environment: vec![text("PATH=/usr/bin:/bin")],
            directory: text("/"),
            greeting: b"hello\n".to_vec(),
            not_found: b"not found\n".to_vec(),
            not_executable: b"not executable\n".to_vec(),
            core_limit: Rlimit { current: Some(0), maximum: None },
        }
    }

    /// Reads from the terminal until its end, then waits for the child to end.
    fn run_to_end(master: &Master, child: &mut Child) -> (String, ExitStatus) {
        let mut events = EventLoop::new(Clock::start(), &[signal_hook::consts::SIGCHLD]).unwrap();
        let mut output = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let mut interests = [Interest::new(master.as_fd(), true, false)];
            events.wait(&mut interests, None).unwrap();
            match master.read(&mut buffer) {
                Ok(0) => break,
                Ok(len) => output.extend_from_slice(&buffer[..len]),
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
        }
        let status = loop {
            if let Some(status) = child.try_wait() {
                break status;
            }
            // Another test's event loop may receive SIGCHLD instead, so this loop checks again after 5 ms.
            let soon = events.now() + rove_units::Duration::from_millis(5);
            events.wait(&mut [], Some(soon)).unwrap();
        };
        (String::from_utf8(output).unwrap(), status)
    }

    fn run(program: &Program) -> (String, ExitStatus) {
        let (master, mut child) = Pty::open(Size::DEFAULT).unwrap().spawn(program).unwrap();
        child.release(Failure::Ends);
        run_to_end(&master, &mut child)
    }

    #[test]
    fn a_program_runs_on_the_terminal_and_its_end_is_known() {
        for (script, wanted, status) in [
            ("exit 7", "", ExitStatus::Code(7)),
            ("kill -TERM $$", "", ExitStatus::Signal(15)),
            ("stty size", "24 80\r\n", ExitStatus::Code(0)),
            ("stty -a | grep -o ' iutf8'", " iutf8\r\n", ExitStatus::Code(0)),
            ("pwd", "/\r\n", ExitStatus::Code(0)),
            // The program leads its own session (setsid), and the terminal controls that session.
            (
                "[ $(ps -o sid= -p $$) -eq $$ ] && tty >/dev/null && echo y </dev/tty",
                "y\r\n",
                ExitStatus::Code(0),
            ),
            ("kill -PIPE $$", "", ExitStatus::Signal(13)),
        ] {
            let (output, found) = run(&program("/bin/sh", &["sh", "-c", script]));
            assert_eq!(output, format!("hello\r\n{wanted}"), "{script}");
            assert_eq!(found, status, "{script}");
        }
    }

    #[test]
    fn a_script_without_an_interpreter_line_is_run_by_the_shell() {
        let path = std::env::temp_dir().join(format!("rove-script-{}", std::process::id()));
        let name = path.to_str().unwrap().to_owned();
        // Another process writes the file, because a file that is still open for writing here cannot be executed.
        let write = "printf 'echo $0-$1' >\"$0\" && chmod 755 \"$0\"";
        let (_, status) = run(&program("/bin/sh", &["sh", "-c", write, &name]));
        assert_eq!(status, ExitStatus::Code(0));
        let (output, status) = run(&program(&name, &["script", "one"]));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(output, format!("hello\r\n{name}-one\r\n"));
        assert_eq!(status, ExitStatus::Code(0));
    }

    #[test]
    fn a_program_that_cannot_be_run_ends_as_shells_say() {
        let here = std::env::temp_dir();
        let here = here.to_str().unwrap();
        let script = format!("{here}/rove-no-interpreter-{}", std::process::id());
        let write = "printf '#!/no/such/interpreter\n' >\"$0\" && chmod 755 \"$0\"";
        let (_, status) = run(&program("/bin/sh", &["sh", "-c", write, &script]));
        assert_eq!(status, ExitStatus::Code(0));
        for (path, text, code) in [
            ("/no/such/program", "not found", 127),
            ("/etc/passwd/x", "not found", 127),
            (here, "not executable", 126),
            ("/etc/passwd", "not executable", 126),
            (&script, "not executable", 126),
        ] {
            let (output, status) = run(&program(path, &["x"]));
            assert_eq!(output, format!("hello\r\n{text}\r\n"), "{path}");
            assert_eq!(status, ExitStatus::Code(code), "{path}");
        }
        std::fs::remove_file(&script).unwrap();
    }

    #[test]
    fn a_child_that_has_failed_waits_where_its_words_would_be_gone_with_it() {
        // Both children run at once: the child that does not wait ends first, although it is released last.
        let (ended, order) = std::sync::mpsc::channel();
        for failure in [Failure::Waits, Failure::Ends] {
            let ended = ended.clone();
            let (master, mut child) = Pty::open(Size::DEFAULT)
                .unwrap()
                .spawn(&program("/no/such/program", &["x"]))
                .unwrap();
            child.release(failure);
            std::thread::spawn(move || {
                let (output, status) = run_to_end(&master, &mut child);
                ended.send((failure, output, status)).unwrap();
            });
        }
        for failure in [Failure::Ends, Failure::Waits] {
            let wanted = (failure, "hello\r\nnot found\r\n".to_owned(), ExitStatus::Code(127));
            assert_eq!(order.recv().unwrap(), wanted);
        }
    }

    #[cfg(all(target_os = "linux", not(rove_portable)))]
    #[test]
    fn a_program_gets_its_core_limit_back_when_it_is_no_longer_the_server() {
        let limit = |pid: &str| {
            let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
            let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
            core.split_whitespace().nth(4).unwrap().to_owned()
        };
        let found = rustix::process::getrlimit(rustix::process::Resource::Core);
        let given = found.maximum.unwrap_or(5120).min(5120);
        let core_limit = Rlimit { current: Some(given), ..found };
        let show =
            "while read a b c d limit e; do [ $b = core ] && echo $limit; done </proc/$$/limits";
        let program = Program { core_limit, ..program("/bin/sh", &["sh", "-c", show]) };
        let (master, mut child) = Pty::open(Size::DEFAULT).unwrap().spawn(&program).unwrap();
        // The child waits at its gate after it has changed to the root directory.
        let directory = format!("/proc/{}/cwd", child.pid.as_raw_nonzero());
        while std::fs::read_link(&directory).unwrap() != std::path::Path::new("/") {
            std::thread::yield_now();
        }
        assert_eq!(limit(&child.pid.as_raw_nonzero().to_string()), limit("self"));
        child.release(Failure::Ends);
        assert_eq!(run_to_end(&master, &mut child).0, format!("hello\r\n{given}\r\n"));
    }

    #[test]
    fn a_child_that_is_never_released_never_starts() {
        let (master, mut child) =
            Pty::open(Size::DEFAULT).unwrap().spawn(&program("/bin/echo", &["echo", "x"])).unwrap();
        child.gate = None;
        assert_eq!(run_to_end(&master, &mut child), (String::new(), ExitStatus::Code(0)));
    }

    #[test]
    fn a_full_terminal_takes_nothing_and_does_not_block() {
        let (master, child) =
            Pty::open(Size::DEFAULT).unwrap().spawn(&program("/bin/cat", &["cat"])).unwrap();
        let mut taken = 0;
        // Nobody reads, because the child is not released yet.
        while let written @ 1.. = master.write(&[b'x'; 4096]).unwrap() {
            taken += written;
            assert!(taken < 1 << 20, "a terminal's buffer has an end");
        }
        drop(child);
    }
}
