//! Tells from Linux's `/proc` whether the session's shell, or a known program that it started, waits at its prompt.
//!
//! The foreground process group and the terminal's modes are not enough evidence. A prompt shares both with `read -es`
//! of bash and `read -s` of fish. But a shell waits at its prompt with the same stack pointer every time, and a command
//! that reads a key waits with another. This module learns that pointer once for each start of a shell. The first
//! wait's pointer counts if the shell waits with it again after a job had the terminal. Start-up files of bash cannot
//! cause such a second wait, because bash gives the terminal to no job before it has read them. Other programs run no
//! jobs, so a program's first wait counts as its prompt. If the prompt ends in no sign such as `$`, the client believes
//! this module only after the user entered a line at this prompt. Field 3 in docs/wire.md lists this module's errors.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rove_terminal::{Tty, TtyModes};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;
use rustix::termios::tcgetpgrp;

use super::{Child, Master, open_terminal};

/// A program with a line editor, whose prompt can be recognised.
#[derive(Debug, PartialEq, Eq)]
struct Editor {
    /// The name of the program's executable file. A version may follow, except for a shell. The name of the process is
    /// no evidence, because a program can change it.
    name: &'static str,
    is_shell: bool,
    /// Whether the program may wait for a key in read(2), and not only in poll or select. If this is false, a program
    /// in read(2) waits for a pipe. It is not at its prompt, even if the terminal has the prompt's modes.
    reads: bool,
    /// Whether commands always wait with a deeper stack than the prompt does. In bash and Python they do not, because
    /// the parser itself reads the line at the prompt, deep in the stack.
    nests: bool,
}

/// The programs whose prompts are recognised. dash is left out, because it has no line editor: the kernel echoes.
/// Programs with an event loop (Node.js, IPython) are left out, because they wait at a prompt as for any other input.
static EDITORS: [Editor; 9] = [
    Editor { name: "bash", is_shell: true, reads: false, nests: false },
    Editor { name: "fish", is_shell: true, reads: false, nests: true },
    Editor { name: "mksh", is_shell: true, reads: true, nests: true },
    Editor { name: "zsh", is_shell: true, reads: true, nests: true },
    Editor { name: "gdb", is_shell: false, reads: false, nests: true },
    Editor { name: "psql", is_shell: false, reads: false, nests: true },
    Editor { name: "python", is_shell: false, reads: false, nests: false },
    Editor { name: "redis-cli", is_shell: false, reads: true, nests: true },
    Editor { name: "sqlite", is_shell: false, reads: false, nests: true },
];
/// System calls in which a process waits for keys.
#[cfg(target_arch = "x86_64")]
const POLLS: [libc::c_long; 4] =
    [libc::SYS_poll, libc::SYS_select, libc::SYS_ppoll, libc::SYS_pselect6];
#[cfg(not(target_arch = "x86_64"))]
const POLLS: [libc::c_long; 2] = [libc::SYS_ppoll, libc::SYS_pselect6];
/// Most children with which a shell's prompt is recognised. Chosen: more background jobs than a person starts.
const CHILDREN_MAX: usize = 32;

/// Learns the stack pointer with which the session's shell waits at its prompt, and recognises the prompt by it.
#[derive(Debug, Default)]
pub struct PromptWatch {
    /// The shell's first wait for keys. If the shell nests ([`Editor::nests`]), a later, shallower wait replaces it.
    first: Option<Wait>,
    /// Whether a job has had the terminal since the first wait.
    has_run_job: bool,
    /// Whether the shell has waited as in `first` again after a job. Only then does such a wait count as its prompt.
    is_known: bool,
    /// The same as `first`, but of the newest program that the shell has started.
    program: Option<Wait>,
}

/// A shell or another program that waits for keys, and is alone in its process group.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wait {
    editor: &'static Editor,
    /// The address at which the process's stack starts, which changes with each exec.
    stack_start: u64,
    stack_pointer: u64,
}

impl PromptWatch {
    /// Returns whether `child` is a shell that waits at its own prompt, or has started a program that waits at its own.
    /// The waiting process has then read all keys from `master`, and the caller has read all of its output. `tty` is
    /// the terminal's state. Call this after every read and write, because a job is noticed only while it runs.
    pub fn look(&mut self, master: &Master, child: &Child, tty: Tty) -> bool {
        let Ok(foreground) = tcgetpgrp(&master.0) else { return false };
        let is_job = foreground != child.pid;
        self.has_run_job |= is_job;
        if tty.modes.contains(TtyModes::ECHO) || tty.modes.contains(TtyModes::CANONICAL) {
            return false;
        }
        // A key written to the master reaches the terminal a moment later, and a poll of the terminal waits until then.
        // So if the shell still sleeps after the poll, no key is on its way to the shell.
        let has_keys = open_terminal(&master.0).map_or(true, |terminal| is_readable(&terminal));
        !has_keys
            && Wait::read(Path::new("/proc"), number(foreground), is_job.then(|| number(child.pid)))
                .is_some_and(
                    |wait| if is_job { self.judge_program(wait) } else { self.judge(wait) },
                )
            && !is_readable(&master.0)
    }

    fn judge(&mut self, wait: Wait) -> bool {
        let is_known = self.is_known;
        let is_first = |first: &Wait| {
            !wait.is_of_process_of(first) || (wait.is_shallower_than(first) && !is_known)
        };
        if self.first.as_ref().is_none_or(is_first) {
            *self = Self { first: Some(wait), ..Self::default() };
            return false;
        }
        let is_first_again = self.first == Some(wait);
        self.is_known |= is_first_again && self.has_run_job;
        debug_assert!(self.first.is_some(), "a prompt is known by its first wait");
        self.is_known && is_first_again
    }

    fn judge_program(&mut self, wait: Wait) -> bool {
        let is_first =
            |first: &Wait| !wait.is_of_process_of(first) || wait.is_shallower_than(first);
        if self.program.as_ref().is_none_or(is_first) {
            self.program = Some(wait.clone());
        }
        self.program == Some(wait)
    }
}

impl Wait {
    /// Reads from `proc`, the directory `/proc`, how the process `pid` waits. `None` if it runs no [`Editor`], waits
    /// for no key or is not alone in its process group, or if `shell` is given and did not start it.
    fn read(proc: &Path, pid: i32, shell: Option<i32>) -> Option<Self> {
        let directory = proc.join(pid.to_string());
        let text = |name: &str| fs::read(directory.join(name)).ok();
        let exe = fs::read_link(directory.join("exe")).ok()?;
        let editor = Editor::of(exe.file_name()?.as_bytes(), shell.is_none())?;
        // With arguments, Python runs a script, which may ask all its questions with one stack pointer, like prompts.
        let is_bare =
            || text("cmdline").is_some_and(|it| it.iter().filter(|b| **b == 0).count() == 1);
        if !editor.is_shell && !editor.nests && !is_bare() {
            return None;
        }
        // Counted after the name, field 1 is the state, 2 the parent, 3 the group, and 26 the start of the stack.
        let stat = text("stat")?;
        let stat: Vec<&str> = fields(&stat)?.collect();
        let is_asleep = stat.first() == Some(&"S");
        let stack_start = stat.get(25)?.parse().ok()?;
        let stack_pointer = stack_pointer(&text("syscall")?, editor.reads).filter(|_| is_asleep)?;
        let input = |pid: i32| fs::read_link(proc.join(format!("{pid}/fd/0"))).ok();
        let is_job_of = |shell: i32| {
            stat.get(1).is_some_and(|parent| *parent == shell.to_string())
                && is_alone(proc, shell, pid)
                // A script that is piped into Python asks at /dev/tty, which is not its standard input.
                && input(pid).is_some_and(|terminal| input(shell) == Some(terminal))
        };
        let is_alone = is_alone(proc, pid, pid) && shell.is_none_or(is_job_of);
        is_alone.then_some(Self { editor, stack_start, stack_pointer })
    }

    fn is_of_process_of(&self, other: &Self) -> bool {
        (self.editor, self.stack_start) == (other.editor, other.stack_start)
    }

    /// Returns whether this wait has a higher stack pointer in a program that nests. If so, `other` was no prompt.
    const fn is_shallower_than(&self, other: &Self) -> bool {
        self.editor.nests && self.stack_pointer > other.stack_pointer
    }
}

impl Editor {
    /// Returns the shell (if `is_shell`) or the other program whose executable file has this name. `None` for others.
    fn of(file: &[u8], is_shell: bool) -> Option<&'static Self> {
        // Linux adds these words after an upgrade has replaced the file of a running program.
        let file = file.strip_suffix(b" (deleted)").unwrap_or(file);
        let is_version = |rest: &[u8]| rest.iter().all(|b| b.is_ascii_digit() || *b == b'.');
        EDITORS.iter().filter(|editor| editor.is_shell == is_shell).find(|editor| {
            let rest = file.strip_prefix(editor.name.as_bytes());
            rest.is_some_and(|rest| rest.is_empty() || (!is_shell && is_version(rest)))
        })
    }
}

/// Returns whether `parent` has at most [`CHILDREN_MAX`] children, and none except `leader` is in `leader`'s group.
fn is_alone(proc: &Path, parent: i32, leader: i32) -> bool {
    let Ok(children) = fs::read_to_string(proc.join(format!("{parent}/task/{parent}/children")))
    else {
        return false;
    };
    let children: Vec<&str> = children.split_whitespace().collect();
    let is_elsewhere = |child: &&str| {
        // A child that has ended meanwhile reads nothing.
        let Ok(stat) = fs::read(proc.join(child).join("stat")) else { return true };
        let group = fields(&stat).and_then(|mut fields| fields.nth(2)?.parse().ok());
        group.is_some_and(|group: i32| group != leader) || **child == leader.to_string()
    };
    children.len() <= CHILDREN_MAX && children.iter().all(is_elsewhere)
}

/// Returns the fields of `/proc/PID/stat` after the name, which may contain any character (proc(5)). `None` if damaged.
fn fields(stat: &[u8]) -> Option<impl Iterator<Item = &str>> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    Some(str::from_utf8(&stat[end + 1..]).ok()?.split_whitespace())
}

/// Returns the stack pointer of a process that waits for input, from `/proc/PID/syscall` (proc(5)). That file holds the
/// number of the system call, six arguments, the stack pointer and the program counter. `None` if the process waits for
/// something else than input.
fn stack_pointer(syscall: &[u8], reads: bool) -> Option<u64> {
    let fields: Vec<&str> = str::from_utf8(syscall).ok()?.split_whitespace().collect();
    let [number, _, _, _, _, _, _, stack_pointer, _] = fields[..] else { return None };
    let number = number.parse().ok()?;
    let is_wait = POLLS.contains(&number) || (reads && number == libc::SYS_read);
    u64::from_str_radix(stack_pointer.strip_prefix("0x")?, 16).ok().filter(|_| is_wait)
}

fn number(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}

fn is_readable(terminal: &impl std::os::fd::AsFd) -> bool {
    let mut polled = [PollFd::new(terminal, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    !matches!(poll(&mut polled, Some(&now)), Ok(0))
}

#[cfg(test)]
mod tests;
