//! Protects the session key from other programs: no core dumps, no debuggers, no swap. A client that starts no ssh also
//! renounces gaining privileges.
//!
//! Another program of the same user can do much to a session, such as read its terminal. It must not read the key from
//! a running process. The key decrypts traffic recorded elsewhere.

use std::io;
use std::ops::Range;

use rustix::process::{Resource, Rlimit};

use crate::sys;

/// Soft limit on core dumps in bytes, which prevents core dumps. The value 1 is smaller than any core file. Unlike 0,
/// it also prevents a dump to a program that collects core dumps. Source: Linux, fs/coredump.c, which takes 1 for "not
/// even to a program".
const NO_CORE_DUMP: u64 = 1;

/// Protects the memory of this process: it leaves no core dump, and on Linux only root can read or debug it. Programs
/// that it executes inherit the limit on core dumps, unless the caller restores the returned former limit. Call this
/// before there is a key.
pub(crate) fn conceal_memory() -> io::Result<Rlimit> {
    #[cfg(all(target_os = "linux", not(rove_portable)))]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    let found = rustix::process::getrlimit(Resource::Core);
    let current = found.maximum.map_or(NO_CORE_DUMP, |maximum| maximum.min(NO_CORE_DUMP));
    rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(current), ..found })?;
    Ok(found)
}

/// Prevents this process and programs that it executes from gaining privileges (`no_new_privs`). Call this only for a
/// client that starts no ssh. An ssh may need a helper with root's rights (`ssh-keysign`), and proxy commands may need
/// any rights. Never call it for a server, in whose shell the user calls sudo.
pub(crate) fn renounce_privileges() -> io::Result<()> {
    #[cfg(all(target_os = "linux", not(rove_portable)))]
    rustix::thread::set_no_new_privs(true)?;
    Ok(())
}

/// Locks `memory` in RAM for the life of the process, as far as the limit on locked memory allows (`ulimit -l`). A
/// failure does not prevent the session.
pub(crate) fn keep_in_memory(memory: Vec<Range<*const u8>>) {
    for part in memory {
        if let Err(error) = sys::lock_memory(part) {
            tracing::debug!(%error, "the key may be swapped out");
        }
    }
}
