//! The line with a session's port and key, which the client's side reads from ssh.

use rove_platform::tty;
use rove_ssp::Key;
use rustix::stdio;
use rustix::termios::isatty;
use zeroize::Zeroizing;

/// Prints the line that the far side waits for. Nothing else ever goes on it, as its readers take
/// one space between words and nothing behind the key.
pub(crate) fn print(port: u16, key: &Key) -> anyhow::Result<()> {
    anyhow::ensure!(!tty::is_closed(stdio::stdout()), "standard output is closed");
    // Typed-ahead echo must not be glued to the line.
    let before = if isatty(stdio::stdin()) { "\r\n\n" } else { "" };
    let beginning = format!("{before}MOSH CONNECT {port} ");
    // Past the standard library's buffer, where the key would stay in memory unwiped. Room from the
    // start, for the same reason: a text that grew would leave a copy behind.
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
