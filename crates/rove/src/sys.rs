//! The only unsafe code of this crate: system calls that no safe crate offers in the needed form.

#![expect(unsafe_code, reason = "this module is where it is kept")]

use std::ffi::CStr;
use std::io;
#[cfg(any(target_os = "macos", target_os = "freebsd"))]
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use libc::c_int;
use rustix::process::Pid;
use zeroize::Zeroizing;

/// Evidence that this process has no other threads except an emulator's. Only [`crate::threads::check_alone`] creates
/// it.
#[derive(Debug)]
pub(crate) struct Alone(pub(crate) ());

/// Which side of a fork this process is.
pub(crate) enum Fork {
    /// This is the process that called [`fork`]. The child has this process number.
    Parent(Pid),
    Child,
}

/// Forks this process.
pub(crate) fn fork(_: Alone) -> io::Result<Fork> {
    // SAFETY: with this the only thread, the child is a whole copy of a consistent process.
    match unsafe { libc::fork() } {
        0 => Ok(Fork::Child),
        pid => Pid::from_raw(pid)
            .filter(|_| pid > 0)
            .map(Fork::Parent)
            .ok_or_else(io::Error::last_os_error),
    }
}

/// Returns how many threads run in this process. `None` if the system does not tell, as without `/proc`.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn thread_count() -> Option<usize> {
    std::fs::read_dir("/proc/self/task").ok().map(Iterator::count)
}

/// Returns how many threads run in this process. `None` if the system does not tell.
#[cfg(target_os = "macos")]
pub(crate) fn thread_count() -> Option<usize> {
    let own = c_int::try_from(std::process::id()).ok()?;
    let mut facts = MaybeUninit::<libc::proc_taskinfo>::zeroed();
    let len = c_int::try_from(size_of_val(&facts)).ok()?;
    // SAFETY: the call writes at most `len` bytes, and zeros are a valid value of each field.
    let facts = unsafe {
        if libc::proc_pidinfo(own, libc::PROC_PIDTASKINFO, 0, facts.as_mut_ptr().cast(), len) != len
        {
            return None;
        }
        facts.assume_init()
    };
    usize::try_from(facts.pti_threadnum).ok()
}

/// Returns whether Rosetta translates this program for another processor. Source: Apple, "About the Rosetta translation
/// environment".
#[cfg(target_os = "macos")]
pub(crate) fn is_translated() -> bool {
    let mut answer: c_int = 0;
    let mut len = size_of_val(&answer);
    let name = c"sysctl.proc_translated".as_ptr();
    // SAFETY: the call reads a name that ends in null, and writes at most `len` bytes.
    let result = unsafe {
        libc::sysctlbyname(name, (&raw mut answer).cast(), &raw mut len, ptr::null_mut(), 0)
    };
    result == 0 && answer == 1
}

/// Returns `false`, because this system has no Rosetta.
#[cfg(not(target_os = "macos"))]
pub(crate) fn is_translated() -> bool {
    false
}

/// Returns how many threads run in this process. `None` if the system does not tell.
#[cfg(target_os = "freebsd")]
pub(crate) fn thread_count() -> Option<usize> {
    let own = c_int::try_from(std::process::id()).ok()?;
    let name = [libc::CTL_KERN, libc::KERN_PROC, libc::KERN_PROC_PID, own];
    let mut facts = MaybeUninit::<libc::kinfo_proc>::zeroed();
    let wanted = size_of_val(&facts);
    let mut len = wanted;
    // SAFETY: the call reads four numbers and writes at most `len` bytes, and zeros are a valid value of each field.
    let facts = unsafe {
        let buffer = facts.as_mut_ptr().cast();
        let result = libc::sysctl(name.as_ptr(), 4, buffer, &raw mut len, ptr::null(), 0);
        if result < 0 || len != wanted {
            return None;
        }
        facts.assume_init()
    };
    usize::try_from(facts.ki_numthreads).ok()
}

/// Returns `None`, because the number of threads is not read on this system.
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "freebsd"
)))]
pub(crate) fn thread_count() -> Option<usize> {
    None
}

/// Returns an inherited descriptor, and makes it close on exec. `None` if it is not open, or is a standard descriptor.
pub(crate) fn take_descriptor(number: RawFd) -> Option<OwnedFd> {
    take(number, |_| true)
}

/// Closes descriptors that the parent process has left open. rove's own descriptors close on exec, but these do not.
pub(crate) fn close_inherited() {
    let names = std::fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let numbers: Vec<RawFd> =
        names.filter_map(|it| it.file_name().to_str()?.parse().ok()).collect();
    numbers.into_iter().filter_map(|number| take(number, |flags| flags == 0)).for_each(drop);
}

/// Returns an inherited descriptor as [`take_descriptor`] does, if `fits` accepts its flags.
fn take(number: RawFd, fits: fn(c_int) -> bool) -> Option<OwnedFd> {
    if number <= libc::STDERR_FILENO {
        return None;
    }
    // SAFETY: an open descriptor is borrowed for the length of two calls. A number that is not open makes the first of
    // them fail. No other part of this process owns the descriptor, because it came from outside.
    unsafe {
        let flags = libc::fcntl(number, libc::F_GETFD);
        let is_wanted = flags >= 0 && fits(flags);
        if !is_wanted || libc::fcntl(number, libc::F_SETFD, flags | libc::FD_CLOEXEC) < 0 {
            return None;
        }
        Some(OwnedFd::from_raw_fd(number))
    }
}

/// Locks the pages of `memory` in RAM, so that they are never swapped out, until they are unmapped.
///
/// # Errors
///
/// Returns the system's error, for example if a limit is exceeded.
pub(crate) fn lock_memory(memory: Range<*const u8>) -> io::Result<()> {
    let len = memory.end.addr() - memory.start.addr();
    // SAFETY: locking changes no memory, and an address that is not mapped makes it fail.
    if unsafe { libc::mlock(memory.start.cast(), len) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Returns how many bytes wait in a UDP socket's send queue, with the kernel's overhead. `None` if unknown.
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

/// Returns a secret from an environment variable, or `None` if it is not set. Removes the variable, and overwrites the
/// bytes that other processes of the user could read in `/proc`.
pub(crate) fn take_secret_variable(name: &CStr, _: Alone) -> Option<Zeroizing<Vec<u8>>> {
    // SAFETY: no other thread touches the environment. The value is the process's own memory from the program's start,
    // writable and null-terminated. It is read first, and then overwritten up to its end, byte by byte so that the
    // compiler keeps the writes.
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
