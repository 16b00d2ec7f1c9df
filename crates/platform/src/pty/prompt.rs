//! Tells whether the session's own shell waits at its own prompt, from facts of Linux.
//!
//! The foreground group and the modes are not enough evidence: `read -es` of bash and `read -s` of fish have the same.
//! But a shell waits at its prompt with the same stack pointer every time, and a command that reads has another. The
//! stack pointer is learned once for each start of a shell. It is that of the first wait, if the shell waits there
//! again after a job had the terminal. Start-up files of bash cannot cause this, because bash gives the terminal to no
//! job before it has read them. docs/wire.md, "Field 3", lists how this can be false.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rove_terminal::{Tty, TtyModes};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::tcgetpgrp;

use super::{Child, Master, open_terminal};

/// A shell whose prompt can be recognised.
#[derive(Debug, PartialEq, Eq)]
struct Shell {
    /// The name of the shell's executable file. (A program can change the name of its process.)
    name: &'static str,
    /// Whether the shell may wait for a key in read(2), and not only in poll or select. In read(2) the other shells
    /// wait for a pipe, and the terminal may have the modes of the prompt.
    reads: bool,
    /// Whether commands always wait with a deeper stack than the prompt does. Not so in bash, whose parser reads the
    /// line at the prompt, deep in the stack itself.
    nests: bool,
}

/// The shells that were tested. dash is none of them: the kernel echoes for it, because it has no line editor.
static SHELLS: [Shell; 4] = [
    Shell { name: "bash", reads: false, nests: false },
    Shell { name: "fish", reads: false, nests: true },
    Shell { name: "mksh", reads: true, nests: true },
    Shell { name: "zsh", reads: true, nests: true },
];
/// System calls in which a process waits for keys.
#[cfg(target_arch = "x86_64")]
const POLLS: [libc::c_long; 4] =
    [libc::SYS_poll, libc::SYS_select, libc::SYS_ppoll, libc::SYS_pselect6];
#[cfg(not(target_arch = "x86_64"))]
const POLLS: [libc::c_long; 2] = [libc::SYS_ppoll, libc::SYS_pselect6];
/// Most child processes that are examined. Chosen: more background jobs than a person starts.
const CHILDREN_MAX: usize = 32;

/// Learns the stack pointer with which the session's shell waits at its prompt, and recognises the prompt by it.
#[derive(Debug, Default)]
pub struct PromptWatch {
    /// The shell's first wait for keys. `None` before it.
    first: Option<Wait>,
    /// Whether a job has had the terminal since the first wait.
    has_run_job: bool,
    /// Whether the shell has waited with the same stack pointer again after a job, so that this is its prompt.
    is_known: bool,
}

/// A shell that waits for keys, and is alone in its process group.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wait {
    shell: &'static Shell,
    /// The address at which the shell's stack starts, which changes with each exec.
    stack_start: u64,
    stack_pointer: u64,
}

impl PromptWatch {
    /// Returns whether `child` is a shell that waits at its own prompt, has read all that was written to `master`, and
    /// has left no output unread there. `tty` is the terminal's state. Call this after every read and write, because
    /// jobs are seen only while they run.
    pub fn look(&mut self, master: &Master, child: &Child, tty: Tty) -> bool {
        let Ok(foreground) = tcgetpgrp(&master.0) else { return false };
        if foreground != child.pid {
            self.has_run_job = true;
            return false;
        }
        if tty.modes.contains(TtyModes::ECHO) || tty.modes.contains(TtyModes::CANONICAL) {
            return false;
        }
        // A key takes a moment to the terminal, and a poll of the terminal waits for it. So if the shell still sleeps
        // after that, it has missed no key.
        let has_keys = open_terminal(&master.0).map_or(true, |terminal| is_readable(&terminal));
        !has_keys
            && Wait::read(Path::new("/proc"), child.pid.as_raw_nonzero().get())
                .is_some_and(|wait| self.judge(wait))
            && !is_readable(&master.0)
    }

    fn judge(&mut self, wait: Wait) -> bool {
        let is_first = self.first.as_ref().is_none_or(|first| {
            let is_shallower = wait.shell.nests && wait.stack_pointer > first.stack_pointer;
            (first.shell, first.stack_start) != (wait.shell, wait.stack_start)
                || (is_shallower && !self.is_known)
        });
        if is_first {
            *self = Self { first: Some(wait), has_run_job: false, is_known: false };
            return false;
        }
        let is_first_again = self.first == Some(wait);
        self.is_known |= is_first_again && self.has_run_job;
        self.is_known && is_first_again
    }
}

impl Wait {
    /// Reads the wait of a process from `proc`, the directory `/proc`. `None` if the process is no waiting shell, or
    /// may not be examined.
    fn read(proc: &Path, pid: i32) -> Option<Self> {
        let directory = proc.join(pid.to_string());
        let text = |name: &str| fs::read(directory.join(name)).ok();
        let exe = fs::read_link(directory.join("exe")).ok()?;
        let name = exe.file_name()?.as_bytes();
        // An upgrade may replace the file of a running shell.
        let name = name.strip_suffix(b" (deleted)").unwrap_or(name);
        let shell = SHELLS.iter().find(|shell| shell.name.as_bytes() == name)?;
        // The first field is the state, the third the group, and the 26th the start of the stack.
        let stat = text("stat")?;
        let stat: Vec<&str> = fields(&stat)?.collect();
        let is_asleep = stat.first() == Some(&"S");
        let stack_start = stat.get(25)?.parse().ok()?;
        let stack_pointer = stack_pointer(&text("syscall")?, shell.reads).filter(|_| is_asleep)?;
        let children = text(&format!("task/{pid}/children"))?;
        let children: Vec<&str> = str::from_utf8(&children).ok()?.split_whitespace().collect();
        let is_elsewhere = |child: &&str| {
            // A child that has ended meanwhile reads nothing.
            let Ok(stat) = fs::read(proc.join(child).join("stat")) else { return true };
            let group = fields(&stat).and_then(|mut fields| fields.nth(2)?.parse().ok());
            group.is_some_and(|group: i32| group != pid)
        };
        let is_alone = children.len() <= CHILDREN_MAX && children.iter().all(is_elsewhere);
        is_alone.then_some(Self { shell, stack_start, stack_pointer })
    }
}

/// Returns the fields of `/proc/PID/stat` after the name, which may contain any character (proc(5)).
fn fields(stat: &[u8]) -> Option<impl Iterator<Item = &str>> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    Some(str::from_utf8(&stat[end + 1..]).ok()?.split_whitespace())
}

/// Returns the stack pointer of a process that waits for input, from `/proc/PID/syscall` (proc(5)): the number of the
/// system call, six arguments, the stack pointer and the program counter. `None` if it waits for something else.
fn stack_pointer(syscall: &[u8], reads: bool) -> Option<u64> {
    let fields: Vec<&str> = str::from_utf8(syscall).ok()?.split_whitespace().collect();
    let [number, _, _, _, _, _, _, stack_pointer, _] = fields[..] else { return None };
    let number = number.parse().ok()?;
    let is_wait = POLLS.contains(&number) || (reads && number == libc::SYS_read);
    u64::from_str_radix(stack_pointer.strip_prefix("0x")?, 16).ok().filter(|_| is_wait)
}

fn is_readable(terminal: &impl std::os::fd::AsFd) -> bool {
    let mut polled = [PollFd::new(terminal, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    !matches!(poll(&mut polled, Some(&now)), Ok(0))
}

#[cfg(test)]
mod tests;
