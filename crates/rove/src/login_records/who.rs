//! Reads the list of logged-in users from the output of the program `who`.

use std::process::Command;

use super::record::LoginRecord;
use crate::answer;

/// Most bytes of the output of `who` that are read. Chosen: five thousand logins.
const LIST_BYTES_MAX: u64 = 512 * 1024;

/// Returns the logged-in users, or none if `who` fails.
#[cfg_attr(
    not(any(rove_portable, not(target_os = "linux"))),
    expect(dead_code, reason = "Linux reads the file")
)]
pub(crate) fn read() -> Vec<LoginRecord> {
    let list = answer::of(&mut Command::new("who"), LIST_BYTES_MAX).unwrap_or_default();
    String::from_utf8_lossy(&list).lines().filter_map(record).collect()
}

/// Reads a line: the user, the terminal, a date, and the host in parentheses, if there is one. `None` for half a line.
/// Source: POSIX.1-2024, who; the program of Linux as observed; the manuals of macOS and FreeBSD.
fn record(line: &str) -> Option<LoginRecord> {
    let (login, host) = line.split_once('(').unwrap_or((line, ""));
    let mut words = login.split_whitespace();
    let [user, line] = [words.next()?, words.next()?].map(str::to_owned);
    let host = host.trim_end().strip_suffix(')').unwrap_or_default().to_owned();
    Some(LoginRecord { user, line, host })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_each_systems_who_are_read_and_half_a_line_is_none() {
        for (line, wanted) in [
            (
                "me       pts/3        2026-11-28 17:35 (mosh [17])",
                Some(["me", "pts/3", "mosh [17]"]),
            ),
            (
                "me               pts/3        Nov 28 17:35\t(mosh [17])",
                Some(["me", "pts/3", "mosh [17]"]),
            ),
            ("me       ttys003  Nov 28 17:35 \t(192.0.2.7)", Some(["me", "ttys003", "192.0.2.7"])),
            ("me       console  Nov 28 17:35 ", Some(["me", "console", ""])),
            ("me pts/3 (mosh [17", Some(["me", "pts/3", ""])),
            ("me", None),
            ("(mosh [17])", None),
            ("", None),
        ] {
            let found = record(line).map(|it| [it.user, it.line, it.host]);
            let found = found.as_ref().map(|it| it.each_ref().map(String::as_str));
            assert_eq!(found, wanted, "{line:?}");
        }
    }
}
