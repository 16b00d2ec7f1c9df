//! Network namespaces: made, entered by threads and by commands, and searched for processes.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::thread;

use rove_platform::clock::Clock;
use rove_platform::program::own_file;
use rove_units::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};
use rustix::thread::{
    LinkNameSpaceType, UnshareFlags, current_timer_slack, move_into_link_name_space,
    set_current_timer_slack,
};

use crate::sys;

/// How often processes are killed that others start meanwhile. Chosen: more than any but a fork bomb needs.
const KILLS_MAX: u32 = 20;
/// How often it is tried to leave the user namespace while a thread ends. Chosen: some milliseconds of tries; the end takes
/// microseconds.
const UNSHARE_TRIES: u32 = 10_000;
/// How long a killed process may take to be gone. Chosen: far longer than the kernel needs.
const KILL_PATIENCE: Duration = Duration::from_millis(500);

/// The files in `/proc/PID/ns` that tell whether a process belongs to a [`Namespace`].
pub(crate) const KINDS: [&str; 2] = ["net", "time"];

/// A network namespace. It lasts while this, a process in it or a socket of it does.
///
/// A namespace that was made here has a time namespace beside it, whose clocks are those of the computer. It marks the
/// commands that were started here, and all that these start: programs that give processes another network, list of
/// processes or user leave them that mark.
#[derive(Debug)]
pub struct Namespace {
    file: File,
    /// The time namespace; `None` where the kernel has none, and for a network namespace that was there before.
    mark: Option<File>,
    /// Device and inode of each file, which tell it from others.
    identities: Vec<(u64, u64)>,
}

impl Namespace {
    /// Returns the namespace of this thread.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal, such as where `/proc` is not mounted.
    pub fn current() -> io::Result<Self> {
        Self::new(File::open("/proc/thread-self/ns/net")?, None)
    }

    /// Makes a namespace with nothing but a loopback interface that is down.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal: `EPERM` without the right to make namespaces.
    pub fn create() -> io::Result<Self> {
        in_thread(|| {
            sys::unshare(UnshareFlags::NEWNET)?;
            let mark = sys::unshare(UnshareFlags::NEWTIME)
                .and_then(|()| File::open("/proc/thread-self/ns/time_for_children"));
            Self::new(File::open("/proc/thread-self/ns/net")?, mark.ok())
        })?
    }

    fn new(file: File, mark: Option<File>) -> io::Result<Self> {
        let files = [Some(&file), mark.as_ref()];
        let identities = files.into_iter().flatten().map(|file| Ok(identity(&file.metadata()?)));
        let identities = identities.collect::<io::Result<_>>()?;
        Ok(Self { file, mark, identities })
    }

    /// Does `work` in a thread in this namespace. Sockets opened there stay in it.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal of the thread or of the namespace.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        in_thread(|| {
            self.enter()?;
            Ok(work())
        })?
    }

    /// Moves this thread into the namespace.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal.
    pub fn enter(&self) -> io::Result<()> {
        move_into_link_name_space(self.file.as_fd(), Some(LinkNameSpaceType::Network))?;
        Ok(())
    }

    /// Has a command enter the namespace before it is executed, and be killed when the thread that started it ends.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal of one more descriptor.
    pub fn enter_on_exec(&self, command: &mut Command) -> io::Result<()> {
        let mark = self.mark.as_ref().map(File::try_clone).transpose()?;
        sys::enter_on_exec(command, self.file.try_clone()?.into(), mark.map(Into::into), getpid());
        Ok(())
    }

    /// Returns the files whose identities processes of the namespace have.
    pub(crate) fn files(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [Some(&self.file), self.mark.as_ref()].into_iter().flatten().map(File::as_fd)
    }

    /// Ends every process of the namespace but this one, those that have left it for another included: asks them to hang up and terminate, and kills those that are
    /// still there after `patience`. Returns whether all are gone.
    ///
    /// # Errors
    ///
    /// Returns an error if the list of processes cannot be read.
    pub fn end_processes(&self, patience: Duration) -> io::Result<bool> {
        let asked = self.processes()?;
        for signal in [Signal::HUP, Signal::TERM, Signal::CONT] {
            send(&asked, signal);
        }
        wait_for(asked, patience)?;
        // A process that is killed may have started others meanwhile.
        for _ in 0..KILLS_MAX {
            let left = self.processes()?;
            if left.is_empty() {
                return Ok(true);
            }
            send(&left, Signal::KILL);
            wait_for(left, KILL_PATIENCE)?;
        }
        Ok(self.processes()?.is_empty())
    }

    /// Returns the numbers of the processes of the namespace but this one.
    ///
    /// # Errors
    ///
    /// Returns an error if the list of processes cannot be read.
    pub fn process_ids(&self) -> io::Result<Vec<u32>> {
        let pids = self.members()?.into_iter().map(|(pid, _)| pid.as_raw_nonzero().get());
        Ok(pids.filter_map(|pid| u32::try_from(pid).ok()).collect())
    }

    fn processes(&self) -> io::Result<Vec<OwnedFd>> {
        Ok(self.members()?.into_iter().map(|(_, process)| process).collect())
    }

    /// Returns the processes of the namespace but this one.
    fn members(&self) -> io::Result<Vec<(Pid, OwnedFd)>> {
        let mut processes = Vec::new();
        for entry in fs::read_dir("/proc")? {
            let name = entry?.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
            let Some(pid) = Pid::from_raw(pid).filter(|pid| *pid != getpid()) else { continue };
            // It may end at any time, and its number be given to another: it is held before it is looked at.
            let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            if self.holds(pid) {
                processes.push((pid, process));
            }
        }
        Ok(processes)
    }

    /// Returns whether a process is of this namespace; those that may not be asked are not.
    fn holds(&self, pid: Pid) -> bool {
        let is_ours = |kind: &&str| {
            let path = format!("/proc/{}/ns/{kind}", pid.as_raw_nonzero());
            fs::metadata(path).is_ok_and(|metadata| self.identities.contains(&identity(&metadata)))
        };
        KINDS.iter().any(is_ours)
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Moves this process into a user namespace of its own, where it has every right over the namespaces that it makes, and
/// keeps its user and group. It must not have started threads yet.
///
/// # Errors
///
/// Returns the system's refusal: `EPERM` or `ENOSPC` where users may not make namespaces.
pub fn enter_user_namespace() -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    unshare_users()?;
    // Without this the kernel takes no group map from a user.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1", user = user.as_raw()))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1", group = group.as_raw()))
}

/// Moves this process into a user namespace.
///
/// A thread that was waited for may still be counted by the kernel for some microseconds, and a process with threads is refused.
fn unshare_users() -> io::Result<()> {
    for _ in 0..UNSHARE_TRIES {
        match sys::unshare(UnshareFlags::NEWUSER) {
            Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
                thread::yield_now();
            }
            other => return other,
        }
    }
    sys::unshare(UnshareFlags::NEWUSER)
}

/// Shows `copy` in the place of `file` to this process and all that it starts, in a mount namespace of its own. It must not
/// have started threads yet. `copy` may be removed afterwards.
///
/// # Errors
///
/// Returns the system's refusal: `EPERM` without rights over mounts.
pub fn cover_file(file: &Path, copy: &Path) -> io::Result<()> {
    // Without `/proc` it is not known afterwards either, and whoever needs it is told then.
    let _ = own_file();
    sys::unshare(UnshareFlags::NEWNS)?;
    Ok(rustix::mount::mount_bind(copy, file)?)
}

/// Asks that this thread is woken on time: by real-time priority where that is permitted, and without timer slack.
/// Returns whether it has the priority.
pub fn hurry() -> bool {
    // A nanosecond is the least; zero would mean the default.
    if current_timer_slack().is_ok_and(|slack| slack != 1) {
        let _ = set_current_timer_slack(std::num::NonZeroU64::new(1));
    }
    sys::real_time().is_ok()
}

fn send(processes: &[OwnedFd], signal: Signal) {
    for process in processes {
        // A refusal shows when the process is still there afterwards.
        let _ = pidfd_send_signal(process, signal);
    }
}

/// Waits until these processes have ended, or for `patience`.
fn wait_for(mut processes: Vec<OwnedFd>, patience: Duration) -> io::Result<()> {
    let clock = Clock::start();
    while !processes.is_empty() {
        let left = patience.saturating_sub(clock.now().saturating_since(Instant::ZERO));
        let timeout = Timespec::try_from(left).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut descriptors: Vec<PollFd<'_>> =
            processes.iter().map(|process| PollFd::new(process, PollFlags::IN)).collect();
        match poll(&mut descriptors, Some(&timeout)) {
            Ok(0) => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let mut ended = descriptors.iter().map(|it| !it.revents().is_empty()).collect::<Vec<_>>();
        processes.retain(|_| !ended.remove(0));
    }
    Ok(())
}

/// Does `work` in a thread of its own, which then ends.
fn in_thread<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("namespace".into()).spawn_scoped(scope, work)?;
        thread.join().map_err(|panic| std::panic::resume_unwind(panic))
    })
}

fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}
