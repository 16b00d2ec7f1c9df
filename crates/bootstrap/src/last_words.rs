//! Explains why ssh could not reach a host, with one sentence that replaces the lines of ssh's own message.
//!
//! [`LastWords`] holds back the lines that the sentence may replace. If ssh succeeds, the user sees the held lines.

use std::ffi::OsStr;

use crate::line::LINE_BYTES_MAX;
use crate::ssh_config::SshConfig;

/// Most bytes of ssh's error output held back, to be replaced by a sentence. Chosen: several changed-key warnings.
const HELD_BYTES_MAX: usize = 4096;

/// The beginning of the lines of `@` above and below ssh's warnings about keys.
const FRAME: &str = "@@@@@@@@";
const UNKNOWN_NAME: &str = "ssh: Could not resolve hostname ";
const NO_CONNECTION: &str = "ssh: connect to host ";
/// The beginning, middle and end of ssh's message that it refuses an unknown host key.
const UNKNOWN_KEY: [&str; 3] =
    ["No ", " host key is known for ", " and you have requested strict checking."];
const NOT_VERIFIED: &str = "Host key verification failed.";
const CHANGED: &str = "REMOTE HOST IDENTIFICATION HAS CHANGED!";
/// The title of the framed warning about a key file, after which the login goes on with other keys.
const UNPROTECTED: &str = "UNPROTECTED PRIVATE KEY FILE!";
const NO_GREETING: &str = "kex_exchange_identification: ";
const HUNG_UP: [&str; 2] = ["Connection closed by ", "Connection reset by "];
/// Text that ssh prints in place of an address if a proxy command makes the connection.
const NO_ADDRESS: &str = "UNKNOWN port ";
/// The beginning of ssh's message that its proxy command ended before client and server had exchanged greetings.
const NOT_GREETED: &str = "banner exchange: Connection to UNKNOWN port ";
/// The messages of a jump host's ssh that it cannot connect to the next host.
const NOT_FORWARDED: [&str; 2] = ["channel 0: open failed: ", "stdio forwarding failed"];
/// The beginning of ssh's message that sshd refuses a pseudo-terminal (`PermitTTY no`, or a key with `restrict`).
const NO_TERMINAL: &str = "PTY allocation request failed on channel ";
/// The beginning and the end of ssh's message at the end of a session with a terminal.
const GOODBYE: [&str; 2] = ["Connection to ", " closed."];

/// The beginnings of ssh's messages about a forward that it cannot parse, each with the option. ssh ends after them.
/// Source: OpenSSH 9.2 as observed.
const BAD_FORWARDS: [(&str, &str); 3] = [
    ("Bad local forwarding specification '", "-L"),
    ("Bad dynamic forwarding specification '", "-D"),
    ("Bad remote forwarding specification '", "-R"),
];

/// The beginnings of ssh's messages that are held back because a sentence of rove may replace them. Lines about host
/// keys come first. Source: OpenSSH 9.2 as observed.
const BEGINNINGS: [&str; 12] = [
    FRAME,
    UNKNOWN_KEY[0],
    NOT_VERIFIED,
    UNKNOWN_NAME,
    NO_CONNECTION,
    NO_GREETING,
    HUNG_UP[0],
    HUNG_UP[1],
    GOODBYE[0],
    NOT_FORWARDED[0],
    NOT_FORWARDED[1],
    NOT_GREETED,
];
/// Number of entries about host keys, which come first in [`BEGINNINGS`].
const ABOUT_KEYS: usize = 3;

/// Why ssh could not reach a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each sentence names its fields")]
pub enum Refusal {
    /// ssh cannot parse the value of an option that forwards a port.
    #[error("ssh cannot read the forward {option} {value}")]
    BadForward { option: &'static str, value: String },
    /// ssh cannot resolve the name of the host or of a jump host.
    #[error("cannot find the address of {name}: {reason}")]
    UnknownName { name: String, reason: String },
    /// No address of the host accepted the connection.
    #[error("cannot connect to {host} port {port}: {reason}")]
    NoConnection { host: String, port: String, reason: String },
    /// The computer at `address` accepted the TCP connection, but closed it before it sent an ssh server's greeting.
    #[error("{address} hung up before it said that it is an ssh server ({reason})")]
    HungUp { address: String, reason: String },
    /// A jump host could not connect to the host.
    #[error("the jump host cannot connect to {host}: {reason}")]
    NotForwarded { host: String, reason: String },
    /// The jump host's ssh, or the proxy command, ended before the host answered.
    #[error("the jump host or proxy command on the way to {host} ended before {host} answered")]
    DetourEnded { host: String },
    /// The host's key is unknown, and ssh's configuration forbids to ask the user about it.
    #[error(
        "the {kind} key of {host} is not known, and ssh's configuration forbids to ask for it \
         (StrictHostKeyChecking); ssh -o StrictHostKeyChecking=ask {host} shows it"
    )]
    UnknownKey { host: String, kind: String },
    /// The host's key differs from the known key.
    #[error("{}", changed(host, new, old, name))]
    ChangedKey {
        host: String,
        new: String,
        /// File and line number of the known key.
        old: String,
        /// The host's name in the known_hosts file.
        name: String,
    },
    /// sshd refuses the pseudo-terminal that rove lets ssh ask for.
    #[error("the sshd of {host} grants no terminal; --no-ssh-pty asks for none")]
    NoTerminal { host: String },
    /// The user did not accept the host's key, or ssh could not ask the user.
    #[error("the key of {host} was not accepted")]
    NotAccepted { host: String },
}

fn changed(host: &str, new: &str, old: &str, name: &str) -> String {
    let file = old.rsplit_once(':').map_or(old, |(file, _)| file);
    let forget = shell_words::join(["ssh-keygen", "-f", file, "-R", name]);
    format!(
        "the key of {host} has changed, and somebody may answer in its place: it is now {new}, and {old} has \
         another; if the change is right, {forget} forgets the old one"
    )
}

/// A filter for ssh's error output. It holds back the lines that a [`Refusal`] may replace.
#[derive(Debug, Default)]
pub struct LastWords {
    host: String,
    /// Whether the filter holds back nothing but messages about forwards, after which ssh ends in any case.
    is_open: bool,
    /// Whether lines about host keys are shown at once. With a jump host or proxy command, they need not end the login.
    shows_keys: bool,
    /// Whether ssh's configuration makes ssh ask the user about unknown keys.
    asks: bool,
    /// The bytes of the current line, while the filter may still hold back the whole line.
    line: Vec<u8>,
    /// Whether the filter shows the rest of the current line.
    is_text: bool,
    /// The complete lines that are held back.
    held: Vec<u8>,
    /// The bytes of the current line, whether shown or not, up to [`LINE_BYTES_MAX`].
    whole: Vec<u8>,
    /// The latest failure that only an option of rove has caused. The option forbids the question about a host key, or
    /// requests a pseudo-terminal.
    caused: Option<Refusal>,
}

impl LastWords {
    /// Creates a filter. It holds back only messages about forwards if ssh may accept a changed host key, or if
    /// `verbose` is true.
    pub fn new(host: &OsStr, config: &SshConfig, verbose: bool) -> Self {
        let host = rove_terminal::plain(&host.to_string_lossy());
        let refuses_other_key =
            ["ask", "accept-new", "true"].contains(&config.key_checking.value.as_str());
        let is_open = !refuses_other_key || verbose;
        let shows_keys = config.detour.is_some();
        Self { host, is_open, shows_keys, asks: config.asks_about_keys(), ..Self::default() }
    }

    /// Reads the next `bytes` of ssh's error output. Returns the bytes to show to the user now.
    pub fn filter(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::new();
        for &byte in bytes {
            self.note(byte);
            if self.is_text {
                shown.push(byte);
                self.is_text = byte != b'\n';
                continue;
            }
            self.line.push(byte);
            if byte == b'\n' && self.is_other_warning() {
                // After a warning about a key file, only the frame's end is shown. After others, all output is shown.
                self.is_text = String::from_utf8_lossy(&self.line).contains(UNPROTECTED);
                self.is_open = !self.is_text;
                self.release(&mut shown);
            } else if byte == b'\n' && self.is_goodbye() {
                self.line.clear();
            } else if byte == b'\n' && self.is_held() {
                self.held.append(&mut self.line);
            } else if byte == b'\n' || !self.may_be_held() {
                self.is_text = byte != b'\n';
                self.release(&mut shown);
            }
            if self.held.len() + self.line.len() > HELD_BYTES_MAX {
                self.is_open = true;
                self.release(&mut shown);
            }
        }
        shown
    }

    /// Ends the filter, after ssh has ended. Returns the reason if ssh has failed and the reason is known. Also returns
    /// the held bytes for the user, which are empty if the reason replaces them.
    pub fn conclude(&mut self, has_failed: bool) -> (Option<Refusal>, Vec<u8>) {
        let mut text = Vec::new();
        self.release(&mut text);
        let said = String::from_utf8_lossy(&text).into_owned();
        let lines: Vec<String> =
            said.lines().map(|line| rove_terminal::plain(line.trim_end())).collect();
        match refusal(&self.host, &lines).filter(|_| has_failed) {
            Some(refusal) => (Some(refusal), Vec::new()),
            None => (self.caused.take().filter(|_| has_failed), text),
        }
    }

    /// Adds a byte of ssh's errors, shown or not, to `whole`. At a line's end, sets `caused` if the line reports a
    /// failure that only an option of rove has caused.
    fn note(&mut self, byte: u8) {
        if byte != b'\n' {
            self.whole.extend((self.whole.len() < LINE_BYTES_MAX).then_some(byte));
            return;
        }
        let line = String::from_utf8_lossy(&self.whole).trim_end().to_owned();
        self.whole.clear();
        if self.asks && is_unknown_key(&line) {
            self.caused = refusal(&self.host, &[rove_terminal::plain(&line)]);
        } else if line.starts_with(NO_TERMINAL) {
            self.caused = Some(Refusal::NoTerminal { host: self.host.clone() });
        }
    }

    fn release(&mut self, shown: &mut Vec<u8>) {
        shown.append(&mut self.held);
        shown.append(&mut self.line);
    }

    /// Returns whether the filter may have to hold back the current line, judged by its first bytes.
    fn may_be_held(&self) -> bool {
        let begins =
            |it: &str| self.line.iter().zip(it.as_bytes()).all(|(have, want)| have == want);
        self.held.starts_with(FRAME.as_bytes()) || self.beginnings().any(begins)
    }

    fn beginnings(&self) -> impl Iterator<Item = &'static str> {
        let first = if self.shows_keys { ABOUT_KEYS } else { 0 };
        let held = BEGINNINGS.into_iter().skip(if self.is_open { BEGINNINGS.len() } else { first });
        BAD_FORWARDS.into_iter().map(|(beginning, _)| beginning).chain(held)
    }

    /// Returns whether the current line is the message of ssh at the end of a session with a terminal.
    fn is_goodbye(&self) -> bool {
        let line = self.line.trim_ascii_end();
        line.starts_with(GOODBYE[0].as_bytes()) && line.ends_with(GOODBYE[1].as_bytes())
    }

    /// Returns whether the complete current line is the title of a warning after which ssh may still log in.
    fn is_other_warning(&self) -> bool {
        let is_second = self.held.starts_with(FRAME.as_bytes())
            && self.held.iter().filter(|&&byte| byte == b'\n').count() == 1;
        is_second && !String::from_utf8_lossy(&self.line).contains(CHANGED)
    }

    /// Returns whether the filter must hold back the complete current line.
    fn is_held(&self) -> bool {
        let line = String::from_utf8_lossy(&self.line);
        let begins = |it: &str| line.starts_with(it) && ![UNKNOWN_KEY[0], GOODBYE[0]].contains(&it);
        self.held.starts_with(FRAME.as_bytes())
            || (is_unknown_key(line.trim_end()) && !self.shows_keys)
            || self.beginnings().any(begins)
    }
}

/// Returns whether a line of ssh reports an unknown host key that ssh must not ask the user about.
pub fn is_unknown_key(line: &str) -> bool {
    let [beginning, middle, end] = UNKNOWN_KEY;
    line.starts_with(beginning) && line.contains(middle) && line.ends_with(end)
}

/// Returns the refusal that these lines of ssh (without control characters) report. `None` if they report none.
fn refusal(host: &str, lines: &[String]) -> Option<Refusal> {
    let host = host.to_owned();
    let behind = |beginning: &str| lines.iter().find_map(|line| line.strip_prefix(beginning));
    for (beginning, option) in BAD_FORWARDS {
        if let Some(value) = behind(beginning) {
            let value = value.strip_suffix('\'').unwrap_or(value).to_owned();
            return Some(Refusal::BadForward { option, value });
        }
    }
    if lines.first()?.starts_with(FRAME) {
        // Exactly two frame lines enclose a single warning.
        let frames = lines.iter().filter(|line| line.starts_with(FRAME)).count();
        let has_changed = frames == 2 && lines.iter().any(|line| line.contains(CHANGED));
        let new = lines.iter().find(|line| line.starts_with("SHA256:"))?.trim_end_matches('.');
        let old = behind("Offending ")?.split_once(" key in ")?.1.to_owned();
        let name = behind("Host key for ")?.split_once(" has changed")?.0.to_owned();
        return has_changed.then(|| Refusal::ChangedKey { host, new: new.to_owned(), old, name });
    }
    if let Some((name, reason)) = behind(UNKNOWN_NAME).and_then(|it| it.split_once(": ")) {
        return Some(Refusal::UnknownName { name: name.to_owned(), reason: reason.to_owned() });
    }
    if let Some((place, reason)) = behind(NO_CONNECTION).and_then(|it| it.split_once(": ")) {
        let (host, port) = place.split_once(" port ")?;
        let [host, port, reason] = [host, port, reason].map(str::to_owned);
        return Some(Refusal::NoConnection { host, port, reason });
    }
    if let Some(line) = lines.iter().find(|line| is_unknown_key(line)) {
        let kind = line.split(' ').nth(1)?.to_owned();
        return Some(Refusal::UnknownKey { host, kind });
    }
    if let Some(reason) = behind(NOT_FORWARDED[0]) {
        let reason = reason.trim_start_matches("connect failed: ").to_owned();
        return Some(Refusal::NotForwarded { host, reason });
    }
    if let Some(reason) = behind(NO_GREETING) {
        let hung_up = lines.iter().filter_map(|line| {
            HUNG_UP.into_iter().find_map(|beginning| line.strip_prefix(beginning))
        });
        // A jump host's broken connection causes two reports of ssh. The report about the next host has no address.
        let (unnamed, named): (Vec<_>, Vec<_>) =
            hung_up.partition(|address| address.starts_with(NO_ADDRESS));
        let Some(address) = named.first() else {
            return unnamed.first().map(|_| Refusal::DetourEnded { host });
        };
        let reason = reason.trim_start_matches("read: ").to_owned();
        return Some(Refusal::HungUp { address: (*address).to_owned(), reason });
    }
    if behind(NOT_GREETED).is_some() {
        return Some(Refusal::DetourEnded { host });
    }
    lines.iter().any(|line| line == NOT_VERIFIED).then_some(Refusal::NotAccepted { host })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sharing::Sharing;
    use crate::ssh_config;

    /// The warning of OpenSSH 9.2 about a changed host key.
    const CHANGED_KEY: &str = "\
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\r
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\r
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!\r
The fingerprint for the ED25519 key sent by the remote host is\nSHA256:0n1k77sX8S.\r
Please contact your system administrator.\r
Add correct host key in /h/known to get rid of this message.\r
Offending ED25519 key in /h/known:12\r
Host key for [far]:2399 has changed and you have requested strict checking.\r
Host key verification failed.\r
";

    fn filter(line: &str, answer: &str) -> LastWords {
        let config = ssh_config::parse(answer, |_| Sharing::Unknown);
        LastWords::new(OsStr::new("far"), &config, line.starts_with("--verbose "))
    }

    /// Filters ssh's output `said` in pieces of `piece` bytes. Returns the shown text, and the refusal's sentence.
    fn read(
        words: &mut LastWords,
        said: &str,
        piece: usize,
        has_failed: bool,
    ) -> (String, Option<String>) {
        let mut shown = Vec::new();
        for bytes in said.as_bytes().chunks(piece) {
            shown.extend(words.filter(bytes));
        }
        let (refusal, held) = words.conclude(has_failed);
        shown.extend(held);
        (String::from_utf8(shown).unwrap(), refusal.map(|refusal| refusal.to_string()))
    }

    const ASKS: &str = "stricthostkeychecking ask\n";

    #[test]
    fn a_failure_of_ssh_is_one_sentence() {
        for (said, sentence) in [
            (
                "ssh: Could not resolve hostname nosuch: Name or service not known\r\n",
                "cannot find the address of nosuch: Name or service not known",
            ),
            (
                "ssh: connect to host ::1 port 9: Network is unreachable\r\n\
                 ssh: connect to host 127.0.0.1 port 9: Connection refused\r\n",
                "cannot connect to ::1 port 9: Network is unreachable",
            ),
            (
                "kex_exchange_identification: read: Connection reset by peer\r\n\
                 Connection reset by 127.0.0.1 port 9\r\n",
                "127.0.0.1 port 9 hung up before it said that it is an ssh server (Connection reset by peer)",
            ),
            (
                "No ED25519 host key is known for [far]:2399 and you have requested strict checking.\r\n\
                 Host key verification failed.\r\n",
                "the ED25519 key of far is not known, and ssh's configuration forbids to ask for it \
                 (StrictHostKeyChecking); ssh -o StrictHostKeyChecking=ask far shows it",
            ),
            ("Host key verification failed.\r\n", "the key of far was not accepted"),
            (
                "channel 0: open failed: connect failed: Connection refused\r\nstdio forwarding failed\r\n\
                 kex_exchange_identification: Connection closed by remote host\r\n\
                 Connection closed by UNKNOWN port 65535\r\n",
                "the jump host cannot connect to far: Connection refused",
            ),
            (
                "kex_exchange_identification: Connection closed by remote host\r\n\
                 Connection closed by UNKNOWN port 65535\r\n",
                "the jump host or proxy command on the way to far ended before far answered",
            ),
            (
                "banner exchange: Connection to UNKNOWN port 65535: Broken pipe\r\n",
                "the jump host or proxy command on the way to far ended before far answered",
            ),
            (
                "kex_exchange_identification: read: Connection reset by peer\r\n\
                 Connection reset by 127.0.0.1 port 9\r\n\
                 kex_exchange_identification: Connection closed by remote host\r\n\
                 Connection closed by UNKNOWN port 65535\r\n",
                "127.0.0.1 port 9 hung up before it said that it is an ssh server (Connection reset by peer)",
            ),
            (
                CHANGED_KEY,
                "the key of far has changed, and somebody may answer in its place: it is now SHA256:0n1k77sX8S, \
                 and /h/known:12 has another; if the change is right, ssh-keygen -f /h/known -R '[far]:2399' forgets \
                 the old one",
            ),
        ] {
            for piece in [1, 7, 10_000] {
                let found = read(&mut filter("far", ASKS), said, piece, true);
                assert_eq!(found, (String::new(), Some(sentence.to_owned())), "{said}");
                // If ssh has not failed, the user sees all of its output.
                assert_eq!(read(&mut filter("far", ASKS), said, piece, false), (said.into(), None));
            }
        }
    }

    #[test]
    fn a_forward_that_ssh_cannot_parse_is_one_sentence_whatever_the_configuration() {
        for (said, sentence) in [
            ("Bad local forwarding specification 'foo'\r\n", "ssh cannot read the forward -L foo"),
            (
                "Bad dynamic forwarding specification 'abc'\r\n",
                "ssh cannot read the forward -D abc",
            ),
            (
                "Bad remote forwarding specification '8080:it's'\r\n",
                "ssh cannot read the forward -R 8080:it's",
            ),
        ] {
            // `ssh -G` refuses the forward too, so the configuration is unknown.
            for (line, answer) in [("far", ""), ("far", ASKS), ("--verbose far", ASKS)] {
                for piece in [1, 7, 10_000] {
                    let found = read(&mut filter(line, answer), said, piece, true);
                    assert_eq!(
                        found,
                        (String::new(), Some(sentence.to_owned())),
                        "{line} {answer}"
                    );
                    let found = read(&mut filter(line, answer), said, piece, false);
                    assert_eq!(found, (said.to_owned(), None), "{line} {answer}");
                }
            }
        }
    }

    #[test]
    fn no_warning_waits_where_ssh_may_go_on_after_it() {
        for (line, answer) in [
            ("far", "stricthostkeychecking false\n"),
            ("far", ""),
            ("far", "stricthostkeychecking ask\nproxyjump bastion\n"),
            ("--verbose far", ASKS),
        ] {
            let mut words = filter(line, answer);
            assert_eq!(words.filter(CHANGED_KEY.as_bytes()), CHANGED_KEY.as_bytes(), "{answer}");
            assert_eq!(words.conclude(true), (None, Vec::new()));
            // Although the filter holds nothing back, it records that ssh could not ask about an unknown key.
            let said =
                "No RSA host key is known for far and you have requested strict checking.\r\n";
            let mut words = filter(line, answer);
            assert_eq!(words.filter(said.as_bytes()), said.as_bytes());
            let is_known = matches!(words.conclude(true).0, Some(Refusal::UnknownKey { .. }));
            assert_eq!(is_known, answer.starts_with(ASKS), "{answer}");
            let said = "PTY allocation request failed on channel 0\r\n";
            let (shown, sentence) = read(&mut filter(line, answer), said, 7, true);
            assert_eq!(shown, said);
            assert!(sentence.is_some_and(|it| it.ends_with("--no-ssh-pty asks for none")));
        }
    }

    #[test]
    fn other_words_come_at_once_and_in_their_order() {
        let mut words = filter("far", ASKS);
        assert_eq!(words.filter(b"No"), b"");
        assert_eq!(words.filter(b"body may enter\nNow"), b"Nobody may enter\nNow");
        assert_eq!(words.filter(b", a question: "), b", a question: ");
        assert_eq!(words.filter(b"\nHost key verification failed.\n"), b"\n");
        assert_eq!(words.filter(b"W"), b"Host key verification failed.\nW");
        assert_eq!(words.conclude(true), (None, Vec::new()));
        let mut words = filter("far", ASKS);
        assert_eq!(
            words.filter(b"No more\nConnection to far closed by it.\n"),
            b"No more\nConnection to far closed by it.\n"
        );
        assert_eq!(words.filter(b"Connection to far closed.\r\nx"), b"x");
        // Another framed warning is shown at once, because a login may follow it.
        let frame = "@".repeat(59);
        let warning =
            format!("{frame}\r\n@         WARNING: UNPROTECTED PRIVATE KEY FILE!          @\r\n");
        let mut words = filter("far", ASKS);
        assert_eq!(words.filter(warning.as_bytes()), warning.as_bytes());
        let rest = format!("{frame}\r\nPermissions 0644 for '/k' are too open.\r\n");
        assert_eq!(words.filter(rest.as_bytes()), rest.as_bytes());
        // After a warning about a key file, the filter still holds back ssh's closing line.
        assert_eq!(words.filter(b"Connection to far closed.\r\n"), b"");
        assert_eq!(words.filter(format!("{warning}{frame}\r\n").as_bytes()).len(), 183);
        let said = "kex_exchange_identification: Connection closed by remote host\r\n\
                    Connection closed by 127.0.0.1 port 9\r\n";
        assert_eq!(words.filter(said.as_bytes()), b"");
        assert!(matches!(words.conclude(true).0, Some(Refusal::HungUp { .. })));
        // If another framed warning comes first, no refusal replaces the warning about the changed key.
        for warning in ["POSSIBLE DNS SPOOFING DETECTED!", "REVOKED HOST KEY DETECTED!"] {
            let frame = "@".repeat(59);
            let said = format!("{frame}\r\n@ WARNING: {warning} @\r\n{frame}\r\n{CHANGED_KEY}");
            let found = read(&mut filter("far", ASKS), &said, 100, true);
            assert_eq!(found, (said, None));
        }
    }

    #[test]
    fn no_more_is_held_back_than_the_bound() {
        let frame = format!("{}\n", "@".repeat(59));
        for (len, is_shown) in [(HELD_BYTES_MAX, false), (HELD_BYTES_MAX + 1, true)] {
            let said = format!("{frame}{}", "x".repeat(len - frame.len()));
            let shown = filter("far", ASKS).filter(said.as_bytes());
            assert_eq!(shown, if is_shown { said.as_bytes() } else { b"" });
        }
    }
}
