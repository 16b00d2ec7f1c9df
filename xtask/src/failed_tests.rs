//! Finds the names of failed tests in the output of cargo and the test programs.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// The tests that failed, and the test programs that ended without a result.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FailedTests(Vec<String>);

impl FailedTests {
    /// Finds the failures in a command's standard output and standard error.
    pub(crate) fn in_output(out: &str, err: &str) -> Self {
        Self(out.lines().chain(err.lines()).filter_map(failure).collect())
    }
}

/// Returns the name of a test or a program, if a line of output says that it has failed.
fn failure(line: &str) -> Option<String> {
    let test = line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... FAILED"));
    // If a signal ends a program, its output does not name the running test. Cargo's line names the program.
    let program = line.contains("(signal: ").then(|| line.trim());
    let name = test.or(program)?;
    Some(name.trim_start_matches("process didn't exit successfully: ").to_owned())
}

impl fmt::Display for FailedTests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|name| write!(f, "\n    {name}"))
    }
}

/// Longest wait for the end of the output after the command's end. Chosen: output is read within milliseconds, but a
/// process that a test left running may keep it open.
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs a command of tests, and passes its output on. The result lists failed tests before failed programs.
///
/// # Errors
///
/// Returns an error when the command does not start.
pub(crate) fn run(command: &mut Command) -> io::Result<(ExitStatus, FailedTests)> {
    run_into(command, io::stdout(), io::stderr())
}

fn run_into(
    command: &mut Command,
    out: impl Write + Send + 'static,
    err: impl Write + Send + 'static,
) -> io::Result<(ExitStatus, FailedTests)> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let stdout = pass_on(child.stdout.take().expect("piped"), out);
    let stderr = pass_on(child.stderr.take().expect("piped"), err);
    let status = child.wait()?;
    let mut failed = FailedTests::default();
    for failures in [stdout, stderr] {
        while let Ok(name) = failures.recv_timeout(PATIENCE) {
            failed.0.push(name);
        }
    }
    Ok((status, failed))
}

/// Copies lines to `to` in a thread, which goes on if `to` fails. The receiver gets the failures in the lines.
fn pass_on(
    from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
) -> Receiver<String> {
    let (sender, failures) = mpsc::channel();
    thread::spawn(move || {
        let (mut from, mut line) = (BufReader::new(from), Vec::new());
        while from.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            let _ = to.write_all(&line);
            let failure = failure(String::from_utf8_lossy(&line).trim_end());
            failure.map(|name| sender.send(name));
            line.clear();
        }
    });
    failures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_test_and_a_program_that_a_signal_ended_are_named_in_order() {
        let script = "echo 'test a::b ... ok'; echo 'test a::c ... FAILED'; echo '    a::c'
            echo '  process didn'\\''t exit successfully: `deps/x-1` (signal: 6, SIGABRT)' >&2; exit 101";
        let mut command = Command::new("sh");
        let printed = run_into(command.args(["-c", script]), io::sink(), io::sink());
        let (status, failed) = printed.unwrap();
        assert_eq!(status.code(), Some(101));
        assert_eq!(failed.to_string(), "\n    a::c\n    `deps/x-1` (signal: 6, SIGABRT)");
        assert_eq!(FailedTests::in_output("test a::c ... FAILED", "ok").0, ["a::c"]);
    }

    #[test]
    fn a_process_that_a_test_left_behind_does_not_keep_the_gate() {
        let (out, printed) = io::pipe().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000 & echo $!; printf '\\377\\nno newline'"]);
        let (status, failed) = run_into(&mut command, printed, io::sink()).unwrap();
        assert!(status.success() && failed == FailedTests::default());
        let mut lines = BufReader::new(out).split(b'\n').map(Result::unwrap);
        let left_behind = String::from_utf8(lines.next().unwrap()).unwrap();
        assert!(Command::new("kill").arg(left_behind).status().unwrap().success());
        assert_eq!(lines.collect::<Vec<_>>(), [&b"\xff"[..], b"no newline"]);
    }
}
