//! The only unsafe code of this crate: the steps between fork and exec, and the peer of a socket on FreeBSD.

#![expect(unsafe_code, reason = "this module is where it is kept")]

use std::ffi::{CStr, CString};
use std::io;
#[cfg(target_os = "freebsd")]
use std::mem::MaybeUninit;
#[cfg(target_os = "freebsd")]
use std::os::fd::BorrowedFd;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

use libc::{c_char, c_int};
use rove_platform::signals;
use rustix::fs::Access;
use rustix::process::{Pid, Resource};
use rustix::thread::Timespec;

use crate::program::{Failure, Program};

/// How long the message of a failed start stays visible, if the end of the session clears the screen. Source: Mosh
/// 1.4.0 as observed.
const FAILURE_PAUSE: Timespec = Timespec { tv_sec: 3, tv_nsec: 0 };

/// The program that runs a script without an interpreter line. Source: POSIX.1-2024, exec.
const SHELL: &CStr = c"/bin/sh";

/// Exit codes for a program that does not exist, and for a program that exists but cannot be started. Source:
/// POSIX.1-2024, Shell Command Language, 2.8.2.
const NOT_FOUND: c_int = 127;
const NOT_EXECUTABLE: c_int = 126;

/// The highest signal number. Source: signal.h of FreeBSD and of Linux on MIPS; other systems have fewer.
const LAST_SIGNAL: c_int = 128;

/// Bound of the descriptor numbers that a child closes before its program starts. A server has no higher ones. Chosen:
/// macOS lets a process open 10,240 by default (`OPEN_MAX`), and closing this many numbers took 1.3 ms on Linux.
#[cfg(not(target_os = "freebsd"))]
const DESCRIPTORS_MAX: c_int = 10_240;

/// The standard descriptors of a child.
#[derive(Clone, Copy)]
pub(crate) enum Standard<'a> {
    /// The terminal is the child's input, output and error output, and controls its session.
    Terminal(&'a OwnedFd),
    /// The child gets these ends of three pipes as its descriptors 0, 1 and 2. Its session has no terminal.
    Pipes(&'a [OwnedFd; 3]),
}

/// Evidence that this process is the child between fork and exec, so that it may close descriptors and reset signals.
struct Forked(());

/// The arrays that exec needs. Each of them ends in null, and points to strings of the program.
struct Arrays<'a> {
    program: &'a Program,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    /// The arguments of a shell that runs a script. The second argument is the script's path.
    script: Vec<*const c_char>,
}

impl<'a> Arrays<'a> {
    fn new(program: &'a Program) -> Self {
        let pointers = |strings: &[CString]| {
            strings.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect::<Vec<_>>()
        };
        let arguments = pointers(&program.arguments);
        let mut script = vec![SHELL.as_ptr(), ptr::null()];
        script.extend(arguments.iter().skip(1));
        Self { program, arguments, environment: pointers(&program.environment), script }
    }

    /// Executes the first candidate that can be executed. If no candidate can, returns whether any exists. As with
    /// execvp(3), a shell runs a script without an interpreter line.
    fn execute(&mut self) -> bool {
        let mut is_there = false;
        for candidate in &self.program.candidates {
            self.script[1] = candidate.as_ptr();
            for (file, arguments) in [(&**candidate, &self.arguments), (SHELL, &self.script)] {
                let (arguments, environment) = (arguments.as_ptr(), self.environment.as_ptr());
                // SAFETY: each array ends in null and points to strings that live as long as `self`.
                unsafe { libc::execve(file.as_ptr(), arguments, environment) };
                if io::Error::last_os_error().raw_os_error() != Some(libc::ENOEXEC) {
                    break;
                }
            }
            // The error of execve does not tell whether the file exists, because a missing interpreter of a script
            // gives the same error.
            is_there |= rustix::fs::access(candidate, Access::EXISTS).is_ok();
        }
        is_there
    }
}

/// Forks a child that leads its own session, with `standard` as its standard descriptors. The child executes `program`
/// after it has read a byte from `gate`, and exits if the write end is closed instead.
///
/// # Errors
///
/// Returns the error of the system call for the fork.
pub(crate) fn spawn_gated(
    program: &Program,
    standard: Standard<'_>,
    gate: &OwnedFd,
) -> io::Result<Pid> {
    let mut arrays = Arrays::new(program);
    // SAFETY: the child calls only async-signal-safe functions and allocates nothing, so it needs no lock that another
    // thread held at the fork.
    match unsafe { libc::fork() } {
        0 => run_child(&Forked(()), &mut arrays, standard, gate),
        pid => Pid::from_raw(pid).filter(|_| pid > 0).ok_or_else(io::Error::last_os_error),
    }
}

/// The child's side of [`spawn_gated`].
fn run_child(
    forked: &Forked,
    arrays: &mut Arrays<'_>,
    standard: Standard<'_>,
    gate: &OwnedFd,
) -> ! {
    default_signals(forked);
    if lead_session(standard).is_err() {
        exit(1);
    }
    close_others(forked, gate);
    let program = arrays.program;
    let _ = rustix::process::chdir(&program.directory);
    let mut byte = [0_u8; 1];
    if !matches!(rustix::io::retry_on_intr(|| rustix::io::read(gate, &mut byte)), Ok(1)) {
        exit(0);
    }
    // The limit on core dumps is lifted as late as possible, because this memory holds the session key until exec.
    let _ = rustix::process::setrlimit(Resource::Core, program.core_limit);
    write_all(&program.greeting);
    let (text, code) = match arrays.execute() {
        false => (&program.not_found, NOT_FOUND),
        true => (&program.not_executable, NOT_EXECUTABLE),
    };
    write_words(text);
    if byte[0] == Failure::Waits.as_byte() {
        let _ = rustix::thread::nanosleep(&FAILURE_PAUSE);
    }
    exit(code)
}

/// Makes this process the leader of a new session, with these standard descriptors.
fn lead_session(standard: Standard<'_>) -> rustix::io::Result<()> {
    rustix::process::setsid()?;
    let [input, output, errors] = match standard {
        Standard::Terminal(terminal) => {
            rustix::process::ioctl_tiocsctty(terminal)?;
            [terminal; 3]
        }
        Standard::Pipes(pipes) => pipes.each_ref(),
    };
    rustix::stdio::dup2_stdin(input)?;
    rustix::stdio::dup2_stdout(output)?;
    rustix::stdio::dup2_stderr(errors)
}

/// Ends this process at once, without the exit handlers that the parent has registered.
fn exit(code: c_int) -> ! {
    // SAFETY: a plain system call that does not return.
    unsafe { libc::_exit(code) }
}

/// Closes every descriptor except the standard ones and `gate`, so that the waiting child does not keep the server's
/// sockets and files open.
fn close_others(_: &Forked, gate: &OwnedFd) {
    let gate = gate.as_raw_fd();
    // SAFETY: no code of this process uses another descriptor until exec. An empty range or a number without a
    // descriptor is refused, and does no harm.
    unsafe {
        #[cfg(all(target_os = "linux", not(rove_portable)))]
        for (first, last) in [(3, gate - 1), (gate + 1, c_int::MAX)] {
            let [from, to] = [first, last].map(libc::c_long::from);
            // Linux before 5.9 lacks `close_range`, and a container may refuse it.
            if libc::syscall(libc::SYS_close_range, from, to, 0) != 0 {
                for other in first..=last.min(DESCRIPTORS_MAX) {
                    libc::close(other);
                }
            }
        }
        #[cfg(target_os = "freebsd")]
        {
            for other in 3..gate {
                libc::close(other);
            }
            libc::closefrom(gate + 1);
        }
        #[cfg(any(rove_portable, not(any(target_os = "linux", target_os = "freebsd"))))]
        for other in (3..DESCRIPTORS_MAX).filter(|other| *other != gate) {
            libc::close(other);
        }
    }
}

/// Gives every signal its default effect, and unblocks all signals. The handlers belong to the parent, and Rust ignores
/// SIGPIPE. Signals that the parent ignored from its start are reset, too, as a login resets them. A server that a
/// script starts in the background ignores SIGINT, and the whole session would be without Ctrl-C. Even the SIGHUP that
/// `nohup` ignores is reset, because the program must end with its terminal, and the terminal with the session. (Mosh
/// 1.4.0 as observed resets SIGHUP and SIGPIPE and passes all others on; tmux 3.3 resets most.)
fn default_signals(_: &Forked) {
    for signal in 1..=LAST_SIGNAL {
        // The system refuses a number that is no signal, and a signal that cannot be set.
        let _ = signals::set_ignored(signal, false);
    }
    signals::unblock_all();
}

/// Writes a text with line breaks between words, so that it fits the terminal's width.
fn write_words(text: &[u8]) {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout());
    let columns = size.map_or(0, |size| usize::from(size.ws_col));
    let mut column = 0;
    for (number, word) in text.split(|&byte| byte == b' ').enumerate() {
        let width = word.trim_ascii_end().len();
        let is_over = columns > 0 && column + 1 + width > columns;
        if number > 0 {
            write_all(if is_over { b"\n" } else { b" " });
            column = if is_over { 0 } else { column + 1 };
        }
        write_all(word);
        column += width;
    }
}

/// Writes to the child's standard output. Bytes that the terminal refuses are lost.
fn write_all(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match rustix::io::retry_on_intr(|| rustix::io::write(rustix::stdio::stdout(), bytes)) {
            Ok(written @ 1..) => bytes = bytes.get(written..).unwrap_or_default(),
            _ => return,
        }
    }
}

/// Returns the number of the process that connected the other end of a local socket. `None` if FreeBSD does not tell.
#[cfg(target_os = "freebsd")]
pub(crate) fn peer_process(socket: BorrowedFd<'_>) -> Option<u32> {
    /// The level of this socket option. Source: FreeBSD, unix(4), LOCAL_PEERCRED.
    const SOL_LOCAL: c_int = 0;
    let mut peer = MaybeUninit::<libc::xucred>::zeroed();
    let mut len = libc::socklen_t::try_from(size_of_val(&peer)).ok()?;
    // SAFETY: the call writes at most `len` bytes, and zeros are a valid value of each field. All forms of the union
    // are valid for any bytes.
    let peer = unsafe {
        let (socket, value) = (socket.as_raw_fd(), peer.as_mut_ptr().cast());
        if libc::getsockopt(socket, SOL_LOCAL, libc::LOCAL_PEERCRED, value, &raw mut len) < 0 {
            return None;
        }
        peer.assume_init().cr_pid__c_anonymous_union.cr_pid
    };
    // Before FreeBSD 13, the number is 0.
    u32::try_from(peer).ok().filter(|&process| process > 0)
}

#[cfg(all(target_os = "linux", not(rove_portable)))]
#[cfg(test)]
mod tests {
    use rustix::process::{Rlimit, WaitOptions, waitpid};

    use super::*;

    /// Makes the kernel refuse `close_range` to this thread and its children, as Linux before 5.9 does.
    fn refuse_close_range() {
        let step = |code: u32, k: u32, jf: u8| libc::sock_filter {
            code: u16::try_from(code).unwrap(),
            jt: 0,
            jf,
            k,
        };
        let number = u32::try_from(libc::SYS_close_range).unwrap();
        let refused = libc::SECCOMP_RET_ERRNO | u32::try_from(libc::ENOSYS).unwrap();
        let mut steps = [
            step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
            step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, number, 1),
            step(libc::BPF_RET | libc::BPF_K, refused, 0),
            step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0),
        ];
        let filter = libc::sock_fprog { len: 4, filter: steps.as_mut_ptr() };
        // SAFETY: the kernel copies the filter, which lives until the call returns.
        unsafe {
            assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
            assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &filter), 0);
        }
    }

    #[test]
    fn a_child_that_is_never_released_ends_where_the_kernel_closes_no_ranges() {
        let ended = std::thread::spawn(|| {
            refuse_close_range();
            let program = Program {
                candidates: vec![c"/bin/true".to_owned()],
                arguments: vec![c"true".to_owned()],
                environment: Vec::new(),
                directory: c"/".to_owned(),
                greeting: Vec::new(),
                not_found: Vec::new(),
                not_executable: Vec::new(),
                core_limit: Rlimit { current: None, maximum: None },
            };
            let (gate, opener) = io::pipe().unwrap();
            let pipes = [(); 3].map(|()| std::fs::File::open("/dev/null").unwrap().into());
            let pid = spawn_gated(&program, Standard::Pipes(&pipes), &gate.into()).unwrap();
            drop(opener);
            waitpid(Some(pid), WaitOptions::empty()).unwrap().unwrap().1.exit_status()
        });
        assert_eq!(ended.join().unwrap(), Some(0));
    }
}
