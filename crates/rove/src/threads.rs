//! Checks that this process has no other threads, so that it can fork and change its environment.
//!
//! An emulator of another processor, such as qemu for a container, may run threads in the same process, which the
//! system counts. They do no harm, because qemu takes care of them at a fork. Two facts tell such threads from those of
//! a library or of rove. An emulator's threads ran before rove could start any, and the system reports that this
//! process executes an emulator.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::OnceLock;

use crate::sys::{self, Alone};

/// The path at which Linux names the program that this thread executes. For `/proc/self/exe`, qemu itself answers with
/// the emulated program (qemu 11.1), but it passes this path on to the system.
const EXECUTED: &str = "/proc/thread-self/exe";

/// The beginnings of emulators' file names. Only qemu was observed.
const EMULATORS: [&str; 1] = ["qemu-"];

/// How many threads ran when this program started.
static AT_START: OnceLock<Option<usize>> = OnceLock::new();

/// Why the other threads of this process are not known to be an emulator's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ThreadsError {
    #[error(
        "this process has started {0} threads, so it can neither be split nor change its environment"
    )]
    Started(usize),
    #[error(
        "{0} threads ran in this process before rove began, which may be those of a library (LD_PRELOAD) or of an \
         emulator that rove does not know: start rove without them"
    )]
    Unknown(usize),
}

/// The facts about the threads of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Facts {
    /// How many threads ran when this program started.
    at_start: usize,
    /// How many threads run at the time of the check.
    now: usize,
    /// Whether the system executes an emulator for this process.
    is_emulated: bool,
}

/// Counts the threads. Call this before any thread can have been started.
pub(crate) fn note_start() {
    AT_START.get_or_init(sys::thread_count);
}

/// Checks that this process has no other threads except an emulator's, as far as the system reports.
///
/// # Errors
///
/// Returns an error if the process has started threads, or if the origin of other threads is unknown.
pub(crate) fn check_alone() -> Result<Alone, ThreadsError> {
    // If the system does not report the number, as without `/proc`, nothing can be checked.
    let Some(now) = sys::thread_count() else { return Ok(Alone(())) };
    debug_assert!(now > 0, "this code runs in a thread");
    Facts {
        at_start: AT_START.get().copied().flatten().unwrap_or(1),
        now,
        is_emulated: is_emulated(),
    }
    .judge()
    .map(Alone)
}

impl Facts {
    fn judge(self) -> Result<(), ThreadsError> {
        let Self { at_start, now, is_emulated } = self;
        match () {
            () if now <= 1 => Ok(()),
            () if now > at_start => Err(ThreadsError::Started(now - at_start)),
            () if is_emulated => Ok(()),
            () => Err(ThreadsError::Unknown(now)),
        }
    }
}

/// Returns whether the system executes an emulator for this process.
fn is_emulated() -> bool {
    sys::is_translated() || std::fs::read_link(EXECUTED).is_ok_and(|it| is_emulator(&it))
}

fn is_emulator(program: &Path) -> bool {
    let name = program.file_name().and_then(OsStr::to_str).unwrap_or_default();
    EMULATORS.iter().any(|beginning| name.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_count_as_an_emulators_by_both_facts() {
        let (started, unknown) = (ThreadsError::Started, ThreadsError::Unknown);
        for (at_start, now, is_emulated, verdict) in [
            (1, 1, false, Ok(())),
            // Neither an emulator's name alone nor an early thread alone is evidence.
            (1, 2, true, Err(started(1))),
            (2, 2, false, Err(unknown(2))),
            (2, 2, true, Ok(())),
            // A thread that came later is not the emulator's.
            (2, 3, true, Err(started(1))),
            (1, 4, false, Err(started(3))),
            // An emulator's thread may have ended.
            (3, 2, true, Ok(())),
            (3, 2, false, Err(unknown(2))),
            (2, 1, false, Ok(())),
        ] {
            let facts = Facts { at_start, now, is_emulated };
            assert_eq!(facts.judge(), verdict, "{facts:?}");
        }
    }

    #[test]
    fn an_emulator_is_known_by_its_file_name_alone() {
        for (program, is_one) in [
            ("/usr/bin/qemu-aarch64", true),
            ("/usr/bin/qemu-x86_64-static", true),
            ("/home/me/qemu-tests/rove", false),
            ("/usr/bin/rove", false),
            ("/usr/bin/my-qemu-", false),
            ("/", false),
        ] {
            assert_eq!(is_emulator(Path::new(program)), is_one, "{program}");
        }
    }

    #[test]
    fn the_system_counts_threads_where_it_is_asked() {
        // The test's own process has a thread for each test that runs, beside the first.
        let counted = sys::thread_count();
        std::thread::scope(|scope| {
            let (go, wait) = std::sync::mpsc::channel::<()>();
            scope.spawn(move || wait.recv());
            assert!(counted.is_none_or(|_| sys::thread_count().is_some_and(|now| now >= 2)));
            assert!(
                counted.is_none() || check_alone().is_err(),
                "a thread of ours is no emulator's"
            );
            drop(go);
        });
    }
}
