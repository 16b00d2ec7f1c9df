//! Prints the line with a session's UDP port and key, which the client reads from ssh.

use rove_platform::tty;
use rove_ssp::Key;
use rustix::stdio;
use rustix::termios::isatty;
use zeroize::Zeroizing;

/// Prints `MOSH CONNECT port key`. Stock clients expect exactly one space between words and nothing after the key.
pub(crate) fn print(port: u16, key: &Key) -> anyhow::Result<()> {
    anyhow::ensure!(!tty::is_closed(stdio::stdout()), "standard output is closed");
    // On a terminal, the echo of keys that were typed ahead must not share the line.
    let before = if isatty(stdio::stdin()) { "\r\n\n" } else { "" };
    let beginning = format!("{before}MOSH CONNECT {port} ");
    // The line is not written through the standard library's buffer, where the key would stay in memory. The text has
    // its full capacity from the start, because a text that grows would leave a copy of the key.
    let key = key.to_text();
    let mut text = Zeroizing::new(String::with_capacity(beginning.len() + key.len() + 1));
    for part in [&beginning, key.as_str(), "\n"] {
        text.push_str(part);
    }
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let written = rustix::io::retry_on_intr(|| rustix::io::write(stdio::stdout(), rest))?;
        rest = &rest[written..];
    }
    Ok(())
}
