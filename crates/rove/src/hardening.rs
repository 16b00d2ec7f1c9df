//! Protection of the session key from other programs: no core dumps, no debuggers, no swap. A client can gain no
//! privileges either.
//!
//! Another program of the same user can do much to a session, such as read its terminal. It shall at least not
//! read the key out of a process that runs, with which it could decrypt what was recorded elsewhere.

use std::io;
use std::ops::Range;

use rustix::process::{Resource, Rlimit};

use crate::sys;

/// Soft limit on core dumps that keeps them away from files, being smaller than any, and from
/// programs that collect them as well: those a limit of 0 does not stop.
/// Source: Linux, fs/coredump.c, which takes 1 for "not even to a program".
const NO_CORE_DUMP: u64 = 1;

/// Keeps the memory of this process to itself: it leaves no core dump, and on Linux only root can read it or
/// debug it. Programs that it executes are ordinary again but for the limit on core dumps, and get back
/// the one returned. To be called before there is a key.
///
/// # Errors
///
/// Returns the system's refusal.
pub(crate) fn conceal_memory() -> io::Result<Rlimit> {
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    let found = rustix::process::getrlimit(Resource::Core);
    let current = found.maximum.map_or(NO_CORE_DUMP, |maximum| maximum.min(NO_CORE_DUMP));
    rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(current), ..found })?;
    Ok(found)
}

/// Keeps this process, and what it might be made to execute, from gaining privileges (`no_new_privs`). Only for a
/// client that starts no ssh: ssh may need a helper that has the rights of root (`ssh-keysign`), and its
/// proxy commands are anybody's. Never for a server, in whose shell the user calls sudo.
///
/// # Errors
///
/// Returns the system's refusal.
pub(crate) fn renounce_privileges() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::thread::set_no_new_privs(true)?;
    Ok(())
}

/// Keeps `memory` off the disk as long as the process lives, where the limit on locked memory allows that
/// (`ulimit -l`). It is no reason to have no session if it does not.
pub(crate) fn keep_in_memory(memory: Range<*const u8>) {
    if let Err(error) = sys::lock_memory(memory) {
        tracing::debug!(%error, "the key may be swapped out");
    }
}
