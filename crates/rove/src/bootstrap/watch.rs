//! Ends an ssh that logs in if this process is killed.

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

/// A shell that ends a command if this process ends without dropping this value. Without this shell, an ssh that
/// ignores SIGHUP would go on if its command on the host neither reads nor prints.
pub(super) struct Watch(Child);

impl Watch {
    const SCRIPT: &str = "trap '' HUP INT QUIT TSTP; read -r line || kill \"$1\"";

    /// Starts a shell that ends the process `pid` if this process is killed.
    pub(super) fn start(pid: u32) -> io::Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", Self::SCRIPT, "rove", &pid.to_string()]).stdin(Stdio::piped());
        shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(Self)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(mut input) = self.0.stdin.take() {
            let _ = input.write_all(b"\n");
        }
        let _ = self.0.wait();
    }
}
