//! The only unsafe code of this crate: system calls that no safe crate offers as we need them.

#![expect(unsafe_code, reason = "this module is where it is kept")]

use std::ffi::CStr;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use libc::c_int;
use rustix::process::Pid;
use zeroize::Zeroizing;

/// Which side of a fork this process is.
pub(crate) enum Fork {
    /// This is the process that called [`fork`]. The child has this process number.
    Parent(Pid),
    Child,
}

/// Splits this process in two that both go on from here.
///
/// # Errors
///
/// Returns an error when other threads run, as they would be missing in the child together with
/// whatever locks they hold, and when the system refuses.
pub(crate) fn fork() -> io::Result<Fork> {
    if has_other_threads() {
        return Err(io::Error::other("a process with several threads cannot be split in two"));
    }
    // SAFETY: with this the only thread, the child is a whole copy of a consistent process.
    match unsafe { libc::fork() } {
        0 => Ok(Fork::Child),
        pid => Pid::from_raw(pid)
            .filter(|_| pid > 0)
            .map(Fork::Parent)
            .ok_or_else(io::Error::last_os_error),
    }
}

/// Returns whether other threads run in this process, as far as the system tells.
fn has_other_threads() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() > 1)
}

/// Ignores a signal in this process and in the programs that it starts, except the session's program on the pty.
pub(crate) fn ignore_signal(signal: c_int) -> io::Result<()> {
    // SAFETY: ignoring runs no code of ours in a handler.
    if unsafe { libc::signal(signal, libc::SIG_IGN) } == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Returns a descriptor that this process has inherited as its own, and lets no other program inherit it. `None` if it
/// is not open, or is a standard one.
pub(crate) fn take_descriptor(number: RawFd) -> Option<OwnedFd> {
    if number <= libc::STDERR_FILENO {
        return None;
    }
    // SAFETY: an open descriptor is borrowed for the length of two calls; a number that is not open makes
    // the first of them fail. Nobody else in this process knows of it, as it came from outside, so it is
    // then ours alone to own.
    unsafe {
        let flags = libc::fcntl(number, libc::F_GETFD);
        if flags < 0 || libc::fcntl(number, libc::F_SETFD, flags | libc::FD_CLOEXEC) < 0 {
            return None;
        }
        Some(OwnedFd::from_raw_fd(number))
    }
}

/// Locks the pages that hold `memory`, so that they are never written to the disk; they are unlocked when they
/// are given back to the system.
///
/// # Errors
///
/// Returns the system's refusal, such as a limit.
pub(crate) fn lock_memory(memory: Range<*const u8>) -> io::Result<()> {
    let len = memory.end.addr() - memory.start.addr();
    // SAFETY: locking changes no memory, and an address that is not mapped makes it fail.
    if unsafe { libc::mlock(memory.start.cast(), len) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Returns how many bytes of a UDP socket the system has not passed to the network yet, with its own memory for them.
/// `None` where the system does not tell.
pub(crate) fn unsent_bytes(socket: BorrowedFd<'_>) -> Option<usize> {
    let mut bytes: c_int = 0;
    if !cfg!(target_os = "linux") {
        return None;
    }
    // SAFETY: the call writes one integer, which lives until it returns.
    let result =
        unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, ptr::from_mut(&mut bytes)) };
    if result < 0 { None } else { usize::try_from(bytes).ok() }
}

/// Returns a secret of the environment and removes it. The variable is gone afterwards, and so are the bytes that
/// other processes of the user could read through `/proc`. `None` where it is not set.
///
/// # Panics
///
/// When other threads run, as they may be reading the environment.
pub(crate) fn take_secret_variable(name: &CStr) -> Option<Zeroizing<Vec<u8>>> {
    assert!(!has_other_threads(), "secrets are taken before any thread is started");
    // SAFETY: no other thread touches the environment. The value is the process's own memory from
    // the program's start, writable and null-terminated. It is read before and overwritten up to
    // its end, byte by byte so that the compiler keeps the writes.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        if value.is_null() {
            return None;
        }
        let secret = Zeroizing::new(CStr::from_ptr(value).to_bytes().to_vec());
        for offset in 0..secret.len() {
            ptr::write_volatile(value.add(offset), 0);
        }
        libc::unsetenv(name.as_ptr());
        Some(secret)
    }
}

pub(crate) fn is_locale_installed(name: &CStr) -> bool {
    // SAFETY: `name` ends in null; the locale is freed right after.
    unsafe {
        let locale = libc::newlocale(libc::LC_CTYPE_MASK, name.as_ptr(), ptr::null_mut());
        if locale.is_null() {
            return false;
        }
        libc::freelocale(locale);
    }
    true
}
