//! The names of the tests that failed, out of all that cargo and the test programs print.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

/// The tests that failed, and the test programs that ended without a result.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FailedTests(Vec<String>);

impl FailedTests {
    fn handle_line(&mut self, line: &str) {
        let test = line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... FAILED"));
        // A program that a signal ended has printed nothing about the test that it was in.
        let program = line
            .contains("(signal: ")
            .then(|| line.trim().trim_start_matches("process didn't exit successfully: "));
        self.0.extend(test.or(program).map(str::to_owned));
    }
}

impl fmt::Display for FailedTests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|name| write!(f, "\n    {name}"))
    }
}

/// Runs a command of tests, and passes on each line that it prints.
///
/// # Errors
///
/// Returns an error when the command does not start, or its output cannot be read or passed on.
pub(crate) fn run(command: &mut Command) -> io::Result<(ExitStatus, FailedTests)> {
    run_into(command, io::stdout(), io::stderr())
}

fn run_into(
    command: &mut Command,
    out: impl Write,
    err: impl Write + Send + 'static,
) -> io::Result<(ExitStatus, FailedTests)> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) =
        (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
    let beside = thread::spawn(move || pass_on(stderr, err));
    let mut failed = pass_on(stdout, out)?;
    failed.0.extend(beside.join().expect("reading does not panic")?.0);
    Ok((child.wait()?, failed))
}

fn pass_on(from: impl Read, mut to: impl Write) -> io::Result<FailedTests> {
    let (mut from, mut line, mut failed) =
        (BufReader::new(from), Vec::new(), FailedTests::default());
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        failed.handle_line(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
    Ok(failed)
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
    }

    #[test]
    fn bytes_are_passed_on_as_they_come() {
        let (printed, mut seen) = (&b"test x ... ok\n\xff\nno newline"[..], Vec::new());
        assert_eq!(pass_on(printed, &mut seen).unwrap(), FailedTests::default());
        assert_eq!(seen, printed);
    }
}
