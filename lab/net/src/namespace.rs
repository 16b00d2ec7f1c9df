//! Network namespaces: creates them, moves threads and commands into them, and finds their processes.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::thread;

use rove_host::program::own_file;
use rove_platform::clock::Clock;
use rove_units::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};
use rustix::thread::{
    LinkNameSpaceType, UnshareFlags, current_timer_slack, move_into_link_name_space,
    set_current_timer_slack,
};

use crate::sys;

/// Most rounds in which the processes left in a namespace are killed. Chosen: enough for anything but a fork bomb.
const KILLS_MAX: u32 = 20;
/// Most tries to enter a user namespace while a thread is ending. Chosen: some milliseconds; a thread's end takes
/// microseconds.
const UNSHARE_TRIES: u32 = 10_000;
/// How long a killed process may take to end. Chosen: far longer than the kernel needs.
const KILL_PATIENCE: Duration = Duration::from_millis(500);

/// The files in `/proc/PID/ns` that show whether a process belongs to a [`Namespace`].
pub(crate) const KINDS: [&str; 2] = ["net", "time"];

/// A network namespace. It exists as long as this value, a process in it or a socket of it.
///
/// A namespace that [`Self::create`] made has a time namespace beside it, whose clocks are those of the computer. The
/// time namespace marks the commands started here and all their descendants. Programs that give processes another
/// network, process list or user keep this mark.
#[derive(Debug)]
pub struct Namespace {
    file: File,
    /// The time namespace that marks processes. `None` if the kernel has none, or if the network is not a new one.
    mark: Option<File>,
    /// Device and inode of each namespace file, which identify the namespaces.
    identities: Vec<(u64, u64)>,
}

impl Namespace {
    /// Returns the network namespace of the calling thread.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call, for example if `/proc` is not mounted.
    pub fn current() -> io::Result<Self> {
        Self::new(File::open("/proc/thread-self/ns/net")?, None)
    }

    /// Creates a network namespace that has only a loopback interface, which is down.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call: `EPERM` without the right to create namespaces.
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

    /// Runs `work` in a thread in this namespace. Sockets opened by `work` stay in the namespace.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call for the thread or the namespace.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        in_thread(|| {
            self.enter()?;
            Ok(work())
        })?
    }

    /// Moves the calling thread into the namespace.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call.
    pub fn enter(&self) -> io::Result<()> {
        move_into_link_name_space(self.file.as_fd(), Some(LinkNameSpaceType::Network))?;
        Ok(())
    }

    /// Lets a command enter the namespace before it is executed. The command is killed when its starter thread ends.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call for another descriptor.
    pub fn enter_on_exec(&self, command: &mut Command) -> io::Result<()> {
        let mark = self.mark.as_ref().map(File::try_clone).transpose()?;
        sys::enter_on_exec(command, self.file.try_clone()?.into(), mark.map(Into::into), getpid());
        Ok(())
    }

    /// Returns the namespace files, by which processes of the namespace are recognised.
    pub(crate) fn files(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [Some(&self.file), self.mark.as_ref()].into_iter().flatten().map(File::as_fd)
    }

    /// Ends every process of the namespace except this one, including processes that have moved to another namespace.
    /// Asks them to end by signals, and kills the processes left after `patience`. Returns whether all have ended.
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

    /// Returns the numbers of the namespace's processes, except this one.
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

    /// Returns the namespace's processes, except this one, each with a descriptor.
    fn members(&self) -> io::Result<Vec<(Pid, OwnedFd)>> {
        let mut processes = Vec::new();
        for entry in fs::read_dir("/proc")? {
            let name = entry?.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
            let Some(pid) = Pid::from_raw(pid).filter(|pid| *pid != getpid()) else { continue };
            // The process may end, and its number may be reused. So a descriptor refers to it before it is examined.
            let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            if self.holds(pid) {
                processes.push((pid, process));
            }
        }
        Ok(processes)
    }

    /// Returns whether a process is in this namespace; false if it may not be examined.
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

/// Moves this process into its own user namespace, where it has every right over the namespaces that it creates. User
/// and group stay the same. The process must not have started threads yet.
///
/// # Errors
///
/// Returns the error of the system call: `EPERM` or `ENOSPC` if users may not create namespaces.
pub fn enter_user_namespace() -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    unshare_users()?;
    // Without this the kernel takes no group map from a user.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1", user = user.as_raw()))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1", group = group.as_raw()))
}

/// Moves this process into its own user namespace.
///
/// The kernel refuses a process with threads. For some microseconds, it may still count a joined thread.
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

/// Shows `copy` in place of `file` to this process and all that it starts, by its own mount namespace. The process must
/// not have started threads yet. `copy` may be removed afterwards.
///
/// # Errors
///
/// Returns the error of the system call: `EPERM` without rights over mounts.
pub fn cover_file(file: &Path, copy: &Path) -> io::Result<()> {
    // `own_file` stores the program's path before the mount changes it. An error shows at the next call.
    let _ = own_file();
    sys::unshare(UnshareFlags::NEWNS)?;
    Ok(rustix::mount::mount_bind(copy, file)?)
}

/// Requests real-time priority and the least timer slack, so that this thread wakes up on time. Returns whether it has
/// real-time priority.
pub fn hurry() -> bool {
    // A nanosecond is the least slack. Zero would mean the default.
    if current_timer_slack().is_ok_and(|slack| slack != 1) {
        let _ = set_current_timer_slack(std::num::NonZeroU64::new(1));
    }
    sys::real_time().is_ok()
}

fn send(processes: &[OwnedFd], signal: Signal) {
    for process in processes {
        // A failed signal shows by the process that is still there afterwards.
        let _ = pidfd_send_signal(process, signal);
    }
}

/// Waits until these processes have ended, at most for `patience`.
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

/// Runs `work` in a new thread, waits for its end, and returns its result.
fn in_thread<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("namespace".into()).spawn_scoped(scope, work)?;
        thread.join().map_err(|panic| std::panic::resume_unwind(panic))
    })
}

fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}
