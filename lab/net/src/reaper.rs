//! A process that kills the processes left in network namespaces if the program that made them is killed.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, RawDir, Stat, fstat, open, statat};
use rustix::io::{read, retry_on_intr, write};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal, waitpid,
};
use rustix::thread::{Timespec, nanosleep};

use crate::namespace::{KINDS, Namespace};
use crate::sys;

/// Most rounds in which left processes are killed, and the time between rounds: ten seconds in all. Chosen: the rounds
/// catch processes that others start meanwhile, and give up one that the kernel cannot end.
const ROUNDS_MAX: u32 = 1_000;
const BETWEEN: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// Bytes of the buffer for a part of the list of processes.
const LIST_BYTES: usize = 8_192;
/// Bytes of the buffer for the path of a process's namespace.
const PATH_BYTES: usize = 32;

/// The reaper process, which lives as long as this value. If this value is dropped, nothing is killed. If the program
/// is killed instead, the reaper kills every process of the namespaces.
///
/// The reaper has its own session, so that no signal to the program's group reaches it. It has its own namespaces, so
/// that the reaper of another program does not find it.
#[derive(Debug)]
pub struct Reaper {
    pid: Pid,
    /// The write end of a pipe to the reaper. The kernel closes it when the program ends in any way.
    line: OwnedFd,
}

impl Reaper {
    /// Starts the reaper process for these namespaces.
    ///
    /// # Errors
    ///
    /// Returns the error of `pipe2`, `fstat` or `fork`.
    pub fn start(namespaces: &[&Namespace]) -> io::Result<Self> {
        let (end, line) = pipe_with(PipeFlags::CLOEXEC)?;
        let held: Vec<BorrowedFd<'_>> =
            namespaces.iter().flat_map(|namespace| namespace.files()).collect();
        // The reaper keeps these descriptors open. So no other namespace can get the same identity.
        let identities = held.iter().map(fstat).collect::<Result<Vec<Stat>, _>>()?;
        let mut kept = held;
        kept.push(end.as_fd());
        let pid = sys::fork_apart(&kept, || {
            let mut byte = [0];
            if retry_on_intr(|| read(&end, &mut byte)) == Ok(0) {
                end_all(&identities);
            }
        })?;
        Ok(Self { pid, line })
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        // A reaper that has already ended reads nothing.
        let _ = retry_on_intr(|| write(&self.line, b"x"));
        let _ = retry_on_intr(|| waitpid(Some(self.pid), WaitOptions::empty()));
    }
}

/// Kills processes in these namespaces until none is left. It allocates no memory, because it runs after a fork.
fn end_all(namespaces: &[Stat]) {
    for _ in 0..ROUNDS_MAX {
        if matches!(kill_once(namespaces), Ok(0)) {
            return;
        }
        let _ = nanosleep(&BETWEEN);
    }
}

/// Kills the processes that are in these namespaces at the moment. Returns how many there were.
fn kill_once(namespaces: &[Stat]) -> rustix::io::Result<u32> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let processes = open(c"/proc", flags, Mode::empty())?;
    let mut room = [MaybeUninit::uninit(); LIST_BYTES];
    let mut list = RawDir::new(&processes, &mut room);
    let mut killed = 0;
    while let Some(entry) = list.next() {
        let entry = entry?;
        let Some(pid) = number(entry.file_name()).and_then(Pid::from_raw) else { continue };
        // The process may end, and its number may be reused. So a descriptor refers to it before it is examined.
        let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
        let is_ours = |kind: &&str| {
            let mut path = [0; PATH_BYTES];
            // A process that has ended and was not waited for is in no namespace.
            let found = namespace_path(entry.file_name(), kind, &mut path)
                .and_then(|path| statat(&processes, path, AtFlags::empty()).ok());
            found.is_some_and(|found| {
                namespaces.iter().any(|it| (it.st_dev, it.st_ino) == (found.st_dev, found.st_ino))
            })
        };
        if KINDS.iter().any(is_ours) {
            let _ = pidfd_send_signal(&process, Signal::KILL);
            killed += 1;
        }
    }
    Ok(killed)
}

/// Returns the process number in the name of a directory of `/proc`. `None` for another name.
fn number(name: &CStr) -> Option<i32> {
    name.to_str().ok()?.parse().ok()
}

/// Writes the path, below `/proc`, of a process's namespace of this kind to `room`. `None` if it is too long.
fn namespace_path<'a>(name: &CStr, kind: &str, room: &'a mut [u8; PATH_BYTES]) -> Option<&'a CStr> {
    let mut end = 0;
    for part in [name.to_bytes(), b"/ns/", kind.as_bytes()] {
        room.get_mut(end..end + part.len())?.copy_from_slice(part);
        end += part.len();
    }
    CStr::from_bytes_until_nul(room).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_processes_are_written_without_memory() {
        let mut room = [0; PATH_BYTES];
        let path = namespace_path(c"4194304", "time", &mut room).expect("the largest number fits");
        assert_eq!((path, number(c"4194304")), (c"4194304/ns/time", Some(4_194_304)));
        assert_eq!(number(c"self"), None);
        let long = c"a-name-that-is-longer-than-any";
        assert_eq!(namespace_path(long, "net", &mut [0; PATH_BYTES]), None);
    }

    #[test]
    fn a_reaper_that_is_dropped_ends_and_kills_nobody() {
        let own = Namespace::current().expect("this process is in one");
        let reaper = Reaper::start(&[&own]).expect("it starts");
        let pid = reaper.pid;
        drop(reaper);
        assert!(rustix::process::test_kill_process(pid).is_err(), "it was waited for");
    }
}
