//! Runs another program and reads its output.

use std::io::Read;
use std::process::{Command, Stdio};

/// Runs a program without input. Returns the first `bytes_max` bytes of its output. `None` if it cannot start or fails.
pub(crate) fn of(command: &mut Command, bytes_max: u64) -> Option<Vec<u8>> {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut answer = Vec::new();
    let read = child.stdout.take()?.take(bytes_max).read_to_end(&mut answer);
    let status = child.wait().ok()?;
    read.ok().filter(|_| status.success()).map(|_| answer)
}
