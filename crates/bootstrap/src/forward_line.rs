//! Parses a line that adds or removes a port forward in a running session, as in ssh's `~C` command line.

use crate::forwards::{Forward, Place, RemoteForward};

/// A command that adds or removes a port forward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForwardLine {
    /// `-L` and `-D`: the client opens a listener.
    Add(Forward),
    /// `-R`: the host opens a listener.
    AddRemote(RemoteForward),
    /// `-KL` and `-KD`: the client closes the listener at this place. The second value is true for `-KD` (SOCKS).
    Remove(Place, bool),
    /// `-KR`: the host closes its listener at this place.
    RemoveRemote(Place),
    /// `?` or an empty line: the user asks for the forms of the commands.
    Help,
}

impl ForwardLine {
    /// The forms of commands, for a message to the user.
    pub const FORMS: &str = "-L or -R port:host:port, -D or -R port, -KL, -KR or -KD port";

    /// Parses a line. `None` if the line has no known form, or asks the client to listen at port 0.
    pub fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        if line.is_empty() || line == "?" {
            return Some(Self::Help);
        }
        let option = line.strip_prefix('-')?;
        let (option, removes) = match option.strip_prefix('K') {
            Some(rest) => (rest, true),
            None => (option, false),
        };
        let kind = option.chars().next()?;
        let fields = fields(option.get(kind.len_utf8()..)?.trim_start())?;
        let words: Vec<&str> = fields.iter().map(String::as_str).collect();
        debug_assert!(!words.is_empty(), "text without a colon is one field");
        let line = match (kind, removes) {
            ('L', true) => Self::Remove(listen(&words)?, false),
            ('D', true) => Self::Remove(listen(&words)?, true),
            ('R', true) => Self::RemoveRemote(listen(&words)?),
            ('D', false) => Self::Add(Forward { listen: listen(&words)?, target: None }),
            ('L', false) => {
                let (listen, target) = both(&words)?;
                Self::Add(Forward { listen, target: Some(target) })
            }
            ('R', false) => Self::AddRemote(match listen(&words) {
                Some(listen) => RemoteForward { listen, target: None },
                None => {
                    let (listen, target) = both(&words)?;
                    RemoteForward { listen, target: Some(target) }
                }
            }),
            _ => return None,
        };
        let is_chosen_here =
            matches!(&line, Self::Add(it) if matches!(it.listen, Place::Port(_, 0)));
        (!is_chosen_here).then_some(line)
    }
}

/// Splits a forward's text at its colons, except within brackets (IPv6). `None` with blanks or control characters.
fn fields(text: &str) -> Option<Vec<String>> {
    let mut fields = vec![String::new()];
    let mut is_bracketed = false;
    for letter in text.chars() {
        match letter {
            '[' => is_bracketed = true,
            ']' => is_bracketed = false,
            ':' if !is_bracketed => fields.push(String::new()),
            letter if letter.is_control() || letter.is_whitespace() => return None,
            letter => fields.last_mut()?.push(letter),
        }
    }
    debug_assert!(!fields.iter().any(|it| it.contains(char::is_whitespace)));
    Some(fields)
}

/// Parses a forward's words: the address to listen at, and then the destination. `None` if either is missing or wrong.
fn both(words: &[&str]) -> Option<(Place, Place)> {
    let is_path = |word: &str| word.starts_with('/');
    let target_len = if is_path(words.last()?) { 1 } else { 2 };
    let (first, target) = words.split_at_checked(words.len().checked_sub(target_len)?)?;
    let target = listen(target)?;
    let is_whole =
        !matches!(&target, Place::Port(Some(host), port) if host.is_empty() || *port == 0);
    Some((listen(first)?, target)).filter(|_| is_whole)
}

/// Parses an address to listen at or to connect to: a port, a host and a port, or a socket's path. `None` for others.
fn listen(words: &[&str]) -> Option<Place> {
    match *words {
        [path] if path.starts_with('/') => Some(Place::Socket(path.to_owned())),
        [port] => Some(Place::Port(None, port.parse().ok()?)),
        [host, port] if !host.starts_with('/') => {
            Some(Place::Port(Some(host.to_owned()), port.parse().ok()?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_of_sshs_command_line_is_read() {
        for (line, option) in [
            ("-L 1:h:2", "-L 1:h:2"),
            (" -L1:h:2 ", "-L 1:h:2"),
            ("-L b:1:h:2", "-L b:1:h:2"),
            ("-L :1:h:2", "-L :1:h:2"),
            ("-L [::1]:1:[::2]:2", "-L [::1]:1:[::2]:2"),
            ("-L 1:/a", "-L 1:/a"),
            ("-L b:1:/a", "-L b:1:/a"),
            ("-L /a:h:2", "-L /a:h:2"),
            ("-L /a:/b", "-L /a:/b"),
            ("-D 9", "-D 9"),
            ("-D *:9", "-D *:9"),
            ("-R 0:h:2", "-R 0:h:2"),
            ("-R 9", "-R 9"),
            ("-R b:9", "-R b:9"),
            ("-R /a:/b", "-R /a:/b"),
        ] {
            let found = match ForwardLine::parse(line) {
                Some(ForwardLine::Add(forward)) => forward.to_string(),
                Some(ForwardLine::AddRemote(forward)) => forward.to_string(),
                other => panic!("{line}: {other:?}"),
            };
            assert_eq!(found, option, "{line}");
        }
        let port = |port| Place::Port(None, port);
        for (line, wanted) in [
            ("-KL 1", ForwardLine::Remove(port(1), false)),
            ("-KD 1", ForwardLine::Remove(port(1), true)),
            ("-KR b:1", ForwardLine::RemoveRemote(Place::Port(Some("b".to_owned()), 1))),
            ("-KL /a", ForwardLine::Remove(Place::Socket("/a".to_owned()), false)),
            ("?", ForwardLine::Help),
            ("", ForwardLine::Help),
        ] {
            assert_eq!(ForwardLine::parse(line), Some(wanted), "{line}");
        }
    }

    #[test]
    fn other_lines_are_refused() {
        for line in [
            "L 1:h:2",
            "-",
            "-K",
            "-X 1",
            "-L",
            "-L 1",
            "-L 1:2",
            "-L x:h:2",
            "-L 1:h:x",
            "-L 1:h:0",
            "-L 0:h:2",
            "-L 1::2",
            "-L 99999:h:2",
            "-L a:b:c:d:e",
            "-D x",
            "-D 0",
            "-KL 1:h:2",
            "-L 1:h:2 -D 9",
            "-L 1:h\u{1b}:2",
            "-é",
        ] {
            assert_eq!(ForwardLine::parse(line), None, "{line}");
        }
    }
}
