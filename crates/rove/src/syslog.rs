//! Writes to the system's log, if there is one.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

/// The socket that the system reads lines from. Source: `syslog(3)` of Linux and the BSDs.
const SOCKET: &str = "/dev/log";
/// Facility `authpriv` and severity `info`, which sshd uses for logins. Source: RFC 5424, section 6.2.1.
const PRIORITY: u8 = 10 * 8 + 6;

/// Writes a sentence about this process to the system's log, if there is one, and to rove's log.
pub(crate) fn tell(sentence: &str) {
    tracing::info!(sentence);
    if let Err(error) = send(Path::new(SOCKET), sentence) {
        tracing::debug!(%error, "no log of the system");
    }
}

fn send(socket: &Path, sentence: &str) -> io::Result<()> {
    let text = rove_terminal::plain(sentence);
    let line = format!("<{PRIORITY}>rove[{}]: {text}", std::process::id());
    let log = UnixDatagram::unbound()?;
    // A slow log must not delay the session.
    log.set_nonblocking(true)?;
    log.send_to(line.as_bytes(), socket).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_process_and_holds_no_controls() {
        let path = std::env::temp_dir().join(format!("rove-syslog-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let log = UnixDatagram::bind(&path).unwrap();
        send(&path, "a client\x1b[2J came").unwrap();
        let mut line = [0; 256];
        let len = log.recv(&mut line).unwrap();
        let line = str::from_utf8(&line[..len]).unwrap();
        assert!(line.starts_with(&format!("<86>rove[{}]: a client", std::process::id())), "{line}");
        assert!(!line.contains('\x1b') && line.ends_with(" came"), "{line}");
        std::fs::remove_file(&path).unwrap();
        assert!(send(&path, "nobody reads").is_err());
    }
}
