//! The only unsafe code of this crate: signals.

#![expect(unsafe_code, reason = "this module is where it is kept")]

use std::io;
use std::mem::MaybeUninit;
use std::ptr;

use libc::c_int;

/// Unblocks all signals, and makes it possible to wait for children (SIGCHLD).
pub(crate) fn accept_all_signals() {
    // SAFETY: plain system calls that run no code of ours in a handler.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        unblock_signals();
    }
}

/// Unblocks all signals of this thread. This is async-signal-safe.
pub(crate) fn unblock_signals() {
    let mut none = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: plain system calls; the first fills the set that the second reads.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
    }
}

/// Runs `restore` when a signal is about to kill this process. The signal then has its default effect.
///
/// `restore` must be async-signal-safe: system calls, no memory, no locks.
///
/// # Errors
///
/// Returns the error of the system call.
pub(crate) fn before_death_by(signal: c_int, restore: fn()) -> io::Result<()> {
    let action = move || {
        restore();
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    };
    // SAFETY: `restore` is async-signal-safe by this function's contract, and so is the emulation
    // by its own.
    unsafe { signal_hook::low_level::register(signal, action) }.map(|_| ())
}
