//! The processor time and memory of a process, and handles that end a process when they are dropped.

use anyhow::{Context, Result};
use rove_units::Duration;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::guard::HANG_GUARD;

/// A process, which may be no child of this process. If it still runs when this value is dropped, it gets a signal.
///
/// A descriptor refers to the process, so that no later process with the same pid can get the signal.
#[derive(Debug)]
pub struct Process {
    pid: u32,
    pidfd: OwnedFd,
    last_signal: Signal,
}

impl Process {
    /// Opens a handle to a running process. Dropping the handle sends `last_signal` to the process.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no process with this pid.
    pub fn open(pid: u32, last_signal: Signal) -> Result<Self> {
        Ok(Self { pid, pidfd: pidfd(pid)?, last_signal })
    }

    /// Sends a signal.
    ///
    /// # Panics
    ///
    /// Panics if the process has ended.
    pub fn signal(&self, signal: Signal) {
        pidfd_send_signal(&self.pidfd, signal).expect("the process is there");
    }

    /// Waits until the process has ended. Returns false if it still runs after [`HANG_GUARD`].
    pub fn wait_gone(&self) -> bool {
        let is_gone = self.ends_within(HANG_GUARD);
        if !is_gone {
            eprintln!("waited {HANG_GUARD:?} for the end of process {}", self.describe());
        }
        is_gone
    }

    /// Returns whether the process has ended.
    pub fn is_gone(&self) -> bool {
        self.ends_within(Duration::ZERO)
    }

    fn ends_within(&self, patience: Duration) -> bool {
        let mut fds = [PollFd::new(&self.pidfd, PollFlags::IN)];
        let patience = Timespec::try_from(patience).expect("the guard fits");
        poll(&mut fds, Some(&patience)).expect("a process can be waited for") == 1
    }

    /// Returns the process's pid, command line and state.
    fn describe(&self) -> String {
        let read = |name| std::fs::read_to_string(format!("/proc/{}/{name}", self.pid));
        let words = read("cmdline").unwrap_or_default().replace('\0', " ");
        let status = read("status").unwrap_or_default();
        let state = status.lines().find(|line| line.starts_with("State:")).unwrap_or_default();
        format!("{}: {words}\n{state}", self.pid)
    }

    /// Returns the process's pid.
    pub const fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns the user and system time that the process has used, in seconds.
    ///
    /// # Errors
    ///
    /// Returns an error if the process has ended.
    pub fn cpu_seconds(&self) -> Result<f64> {
        let path = format!("/proc/{}/stat", self.pid);
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
        let ticks = cpu_ticks(&text).with_context(|| format!("unexpected {path}"))?;
        #[expect(clippy::cast_precision_loss, reason = "a hundred or a thousand")]
        let rate = rustix::param::clock_ticks_per_second() as f64;
        Ok(ticks / rate)
    }

    /// Returns the process's peak of resident memory, in megabytes of 10^6 bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the process has ended.
    pub fn peak_megabytes(&self) -> Result<f64> {
        peak_megabytes(self.pid)
    }
}

/// The resources that a process has used since its start, or between two moments.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// How often the process began to sleep (voluntary context switches).
    pub switches: f64,
    /// The processor time in seconds, exact to the nanosecond.
    pub cpu_seconds: f64,
}

impl Usage {
    /// Returns the usage between `before` and `self`.
    pub fn since(self, before: Self) -> Self {
        Self {
            switches: self.switches - before.switches,
            cpu_seconds: self.cpu_seconds - before.cpu_seconds,
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process has usually ended already.
        let _ = pidfd_send_signal(&self.pidfd, self.last_signal);
    }
}

/// Opens a descriptor that becomes readable when the process ends.
///
/// # Errors
///
/// Returns an error if there is no process with this pid.
pub fn pidfd(pid: u32) -> Result<OwnedFd> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).context("no process id")?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// Returns the usage of a process with a single thread, since its start.
///
/// # Errors
///
/// Returns an error if the process has ended, or if the system does not keep these counts.
pub fn usage(pid: u32) -> Result<Usage> {
    let path = format!("/proc/{pid}/schedstat");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let nanoseconds: Option<f64> = text.split_whitespace().next().and_then(|n| n.parse().ok());
    let cpu_seconds = nanoseconds.with_context(|| format!("unexpected {path}"))? / 1e9;
    let switches = field(pid, "status", "voluntary_ctxt_switches:")?;
    Ok(Usage { switches, cpu_seconds })
}

/// Returns the processor time of a process's threads in seconds, exact to the nanosecond. `None` if it has ended.
pub fn threads_cpu_seconds(pid: u32) -> Option<f64> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let of = |thread: std::fs::DirEntry| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    Some(threads.filter_map(Result::ok).filter_map(of).sum::<f64>() / 1e9)
}

/// Returns a process's resident memory, in megabytes of 10^6 bytes. Shared memory counts in part (`Pss`).
///
/// # Errors
///
/// Returns an error if the process has ended.
pub fn share_megabytes(pid: u32) -> Result<f64> {
    Ok(field(pid, "smaps_rollup", "Pss:")? * 1024.0 / 1e6)
}

/// Reads the number after `name` in a file of `/proc/PID`.
fn field(pid: u32, file: &str, name: &str) -> Result<f64> {
    let path = format!("/proc/{pid}/{file}");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    number_behind(&text, name).with_context(|| format!("no {name} in {path}"))
}

fn number_behind(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns a process's peak of resident memory, in megabytes of 10^6 bytes.
///
/// # Errors
///
/// Returns an error if the process has ended.
pub fn peak_megabytes(pid: u32) -> Result<f64> {
    Ok(field(pid, "status", "VmHWM:")? * 1024.0 / 1e6)
}

/// Reads user and system time from `/proc/PID/stat`. The program's name, which comes first, may contain anything.
fn cpu_ticks(stat: &str) -> Option<f64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11);
    let (user, system) = (fields.next()?, fields.next()?);
    Some(user.parse::<f64>().ok()? + system.parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_stands_behind_whatever_the_name_is() {
        for (stat, ticks) in [
            ("7 (sh) S 1 2 3 4 5 6 7 8 9 10 30 12 0 0 20", Some(42.0)),
            ("7 (a) b) 9 S) S 1 2 3 4 5 6 7 8 9 10 1 2 0", Some(3.0)),
            ("7 (sh) S 1 2", None),
            ("", None),
        ] {
            assert_eq!(cpu_ticks(stat), ticks, "{stat}");
        }
    }

    #[test]
    fn a_number_stands_behind_its_name() {
        let text =
            "Pss:                 123 kB\nVmHWM:\t   3040 kB\nvoluntary_ctxt_switches:\t45\n";
        for (name, number) in [
            ("Pss:", Some(123.0)),
            ("VmHWM:", Some(3040.0)),
            ("voluntary_ctxt_switches:", Some(45.0)),
            ("Rss:", None),
        ] {
            assert_eq!(number_behind(text, name), number, "{name}");
        }
    }

    #[test]
    fn this_process_has_used_memory() {
        let own = Process::open(std::process::id(), Signal::CONT).unwrap();
        assert!(own.peak_megabytes().unwrap() > 0.1);
        assert!(own.cpu_seconds().unwrap() >= 0.0);
        assert!(share_megabytes(own.pid()).unwrap() > 0.1);
        assert!(usage(own.pid()).unwrap().cpu_seconds > 0.0);
        assert!(threads_cpu_seconds(own.pid()).unwrap() > 0.0);
        assert_eq!(threads_cpu_seconds(u32::MAX), None);
        assert!(!own.is_gone());
    }
}
