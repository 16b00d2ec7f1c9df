//! Runs a program on three pipes, as sshd does for a command without a terminal.

use std::io;
use std::os::fd::OwnedFd;

use rove_terminal::ExitStatus;
use rustix::io::Errno;
use rustix::process::{Signal, kill_process, kill_process_group};

use crate::program::{Failure, Program};
use crate::pty::Child;
use crate::sys::{self, Standard};

/// A program on pipes, and the processes in its process group. If the value is dropped before the program has ended,
/// all of these processes get SIGHUP.
#[derive(Debug)]
pub struct PipedChild(Child);

/// This process's ends of a program's pipes.
#[derive(Debug)]
pub struct Pipes {
    /// The write end of the pipe to the program's standard input.
    pub input: OwnedFd,
    /// The read end of the pipe from the program's standard output.
    pub output: OwnedFd,
    /// The read end of the pipe from the program's standard error.
    pub errors: OwnedFd,
}

impl PipedChild {
    /// Starts the program.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call that makes a pipe or forks the process.
    pub fn spawn(program: &Program) -> io::Result<(Self, Pipes)> {
        let (stdin, input) = io::pipe()?;
        let (output, stdout) = io::pipe()?;
        let (errors, stderr) = io::pipe()?;
        let (gate, opener) = io::pipe()?;
        let (gate, opener) = (gate.into(), OwnedFd::from(opener));
        let theirs = [stdin.into(), stdout.into(), stderr.into()];
        let pid = sys::spawn_gated(program, Standard::Pipes(&theirs), &gate)?;
        let mut child = Child::new(pid, opener);
        child.release(Failure::Ends);
        let pipes = Pipes { input: input.into(), output: output.into(), errors: errors.into() };
        Ok((Self(child), pipes))
    }

    /// Returns how the program ended. `None` while the program runs. Call this after SIGCHLD.
    pub fn try_wait(&mut self) -> Option<ExitStatus> {
        self.0.try_wait()
    }

    /// Sends SIGHUP to the program's process group, if the program has not ended.
    pub fn hang_up(&mut self) {
        // Once `try_wait` has reaped the program, another process may have got its number.
        if self.try_wait().is_none() {
            // A child without a process group has not begun the program, and may still ignore SIGHUP.
            if kill_process_group(self.0.pid, Signal::HUP) == Err(Errno::SRCH) {
                let _ = kill_process(self.0.pid, Signal::KILL);
            }
        }
    }
}

impl Drop for PipedChild {
    fn drop(&mut self) {
        self.hang_up();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};

    use rustix::process::{Resource, getrlimit};

    use super::*;
    use crate::program::{c_string, candidates};

    fn program(script: &str) -> Program {
        let text = |it: &str| c_string(it.into()).unwrap();
        Program {
            candidates: candidates("/bin/sh".as_ref(), None),
            arguments: ["sh", "-c", script].map(text).to_vec(),
            environment: vec![text("A=b")],
            directory: text("/"),
            greeting: Vec::new(),
            not_found: Vec::new(),
            not_executable: b"no program\n".to_vec(),
            core_limit: getrlimit(Resource::Core),
        }
    }

    /// Runs a program with this input to its end. Returns its output, its error output and its exit status.
    fn run(program: &Program, input: &[u8]) -> (String, String, ExitStatus) {
        let (mut child, pipes) = PipedChild::spawn(program).unwrap();
        let _ = File::from(pipes.input).write_all(input);
        let (mut output, mut errors) = (String::new(), String::new());
        File::from(pipes.output).read_to_string(&mut output).unwrap();
        File::from(pipes.errors).read_to_string(&mut errors).unwrap();
        loop {
            if let Some(status) = child.try_wait() {
                return (output, errors, status);
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_program_has_three_pipes_its_environment_and_no_terminal() {
        let script = "cat; echo $A $PWD; echo e >&2; true </dev/tty || exit 7";
        let (output, errors, status) = run(&program(script), b"in\n");
        assert_eq!((&*output, status), ("in\nb /\n", ExitStatus::Code(7)));
        assert!(errors.starts_with("e\n"), "{errors}");
        let (.., status) = run(&program("kill -USR1 $$"), b"");
        assert_eq!(status, ExitStatus::Signal(Signal::USR1.as_raw().try_into().unwrap()));
        let missing = Program { candidates: vec![c"/no/such".into()], ..program("") };
        assert_eq!(run(&missing, b"").2, ExitStatus::Code(127));
    }

    #[test]
    fn a_program_that_is_let_go_at_once_does_not_run() {
        for _ in 0..50 {
            let (mut child, _pipes) = PipedChild::spawn(&program("exec sleep 600")).unwrap();
            child.hang_up();
            while child.try_wait().is_none() {
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn a_program_that_is_let_go_is_hung_up() {
        let script = "trap 'echo hung up; exit' HUP; echo ready; while :; do sleep 1 & wait; done";
        let (child, pipes) = PipedChild::spawn(&program(script)).unwrap();
        let (mut output, mut ready) = (File::from(pipes.output), [0; 6]);
        output.read_exact(&mut ready).unwrap();
        drop(child);
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "hung up\n");
    }
}
