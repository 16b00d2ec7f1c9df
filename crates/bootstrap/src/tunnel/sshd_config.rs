//! Decides whether a jump host's sshd lets users reach other computers, as far as its configuration is readable.
//!
//! Evaluates `DisableForwarding`, `AllowTcpForwarding` and `PermitOpen`, outside of `Match` and under `Match all`, also
//! in files of `Include`. Ignores lines under other conditions. Forbids everything if a pattern of `Include` is not
//! understood or the configuration is too large. Source: sshd_config(5), OpenSSH 9.2.

use core::net::SocketAddr;

/// Largest file of sshd's configuration that is read, in bytes. Chosen: twenty times a distribution's file.
pub const FILE_BYTES_MAX: usize = 64 * 1024;
/// Most files of sshd's configuration that are read. Chosen: several times as many as a distribution has.
const FILES_MAX: usize = 64;
/// Deepest nesting of files that sshd's configuration includes. Source: OpenSSH 9.2 (`SERVCONF_MAX_DEPTH`).
const DEPTH_MAX: usize = 16;

/// The keywords that are evaluated.
const KEYWORDS: [&str; 3] = ["disableforwarding", "allowtcpforwarding", "permitopen"];

/// The settings about forwarding in a configuration.
#[derive(Debug, Default)]
pub struct Forwarding {
    /// For each of [`KEYWORDS`], the words after its first occurrence outside of `Match` blocks.
    general: [Option<Vec<String>>; 3],
    /// For each of [`KEYWORDS`], the words under `Match all`. They override `general`.
    matched: [Option<Vec<String>>; 3],
    files: usize,
    /// Why a part of the configuration could not be read, as a sentence.
    unread: Option<String>,
}

/// The kind of `Match` block that a line is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    General,
    All,
    Other,
}

impl Forwarding {
    /// Parses the text of a configuration. `include` returns the texts of the files that an `Include` pattern names.
    /// The pattern has at most one star, in its last path component.
    pub fn read(text: &str, include: &impl Fn(&str) -> Vec<String>) -> Self {
        let mut forwarding = Self::default();
        forwarding.read_file(text, include, Scope::General, 0);
        forwarding
    }

    fn read_file(
        &mut self,
        text: &str,
        include: &impl Fn(&str) -> Vec<String>,
        mut scope: Scope,
        depth: usize,
    ) {
        self.files += 1;
        if text.len() > FILE_BYTES_MAX || self.files > FILES_MAX || depth > DEPTH_MAX {
            self.unread = Some("sshd's configuration is too large to be read".to_owned());
        }
        if self.unread.is_some() {
            return;
        }
        for line in text.lines() {
            let (keyword, words) = split(line);
            let is_all = || words.len() == 1 && words[0].eq_ignore_ascii_case("all");
            match keyword.as_str() {
                "match" => scope = if is_all() { Scope::All } else { Scope::Other },
                "include" if scope != Scope::Other => {
                    for pattern in words {
                        if !is_understood(&pattern) {
                            let unread = "of sshd's Include is not understood";
                            self.unread = Some(format!("the pattern {pattern} {unread}"));
                        }
                        if self.unread.is_some() {
                            return;
                        }
                        for text in include(&pattern) {
                            self.read_file(&text, include, scope, depth + 1);
                        }
                    }
                }
                _ => self.take(scope, &keyword, words),
            }
        }
    }

    fn take(&mut self, scope: Scope, keyword: &str, words: Vec<String>) {
        let Some(index) = KEYWORDS.iter().position(|known| *known == keyword) else { return };
        match scope {
            Scope::General => self.general[index].get_or_insert(words),
            Scope::All => self.matched[index].get_or_insert(words),
            Scope::Other => return,
        };
    }

    /// Returns why the forwarder must not relay datagrams to this server, as a sentence. `None` if it may relay.
    pub fn refusal(&self, server: SocketAddr) -> Option<String> {
        if self.unread.is_some() {
            return self.unread.clone();
        }
        let words = |index: usize| {
            let words = self.matched[index].as_ref().or(self.general[index].as_ref());
            words.map_or(&[][..], Vec::as_slice)
        };
        let first =
            |index| words(index).first().map_or(String::new(), |word| word.to_ascii_lowercase());
        if !["", "no"].contains(&&*first(0)) {
            return Some("sshd's DisableForwarding forbids it".to_owned());
        }
        if !["", "yes", "all", "local"].contains(&&*first(1)) {
            return Some("sshd's AllowTcpForwarding forbids it".to_owned());
        }
        let open = words(2);
        let is_open = open.is_empty() || open.iter().any(|pattern| permits(pattern, server));
        (!is_open).then(|| format!("sshd's PermitOpen does not have {server}"))
    }
}

/// Returns whether a pattern of `PermitOpen` matches this server.
fn permits(pattern: &str, server: SocketAddr) -> bool {
    let Some((host, port)) = pattern.rsplit_once(':') else {
        return pattern.eq_ignore_ascii_case("any");
    };
    let host = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host);
    (host == "*" || host.parse() == Ok(server.ip()))
        && (port == "*" || port.parse() == Ok(server.port()))
}

/// Returns whether an `Include` pattern has no special characters, except at most one star in its last path component.
fn is_understood(pattern: &str) -> bool {
    let (folder, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
    !pattern.contains(['?', '[', '\\', '"', '\''])
        && !folder.contains('*')
        && name.matches('*').count() <= 1
}

/// Returns a line's keyword in lower case, and the words after it. The keyword is empty if the line has none.
fn split(line: &str) -> (String, Vec<String>) {
    let line = line.trim();
    let is_end = |c: char| c.is_whitespace() || c == '=';
    let (keyword, rest) = line.split_once(is_end).unwrap_or((line, ""));
    let rest = rest.trim_start_matches(is_end);
    let words = rest.split_whitespace().take_while(|word| !word.starts_with('#'));
    let bare = |word: &str| {
        let by = |mark: char| word.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
        by('"').or(by('\'')).unwrap_or(word).to_owned()
    };
    let words = words.map(bare).collect();
    let keyword = if keyword.starts_with('#') { "" } else { keyword };
    (keyword.trim_matches('"').to_ascii_lowercase(), words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> Option<String> {
        let include = |pattern: &str| match pattern {
            "d/*" => vec!["PermitOpen 192.0.2.1:60001\n".to_owned(), "PermitOpen any".to_owned()],
            "later" => vec![
                "Match User x\nX11Forwarding no\nMatch all\nDisableForwarding yes\n".to_owned(),
            ],
            "no" => vec!["AllowTcpForwarding no\nMatch all\n".to_owned()],
            "self" => vec!["Include self\n".repeat(3)],
            "many" => vec!["PermitOpen any\n".to_owned(); FILES_MAX - 1],
            "long" => vec![" ".repeat(FILE_BYTES_MAX)],
            "longer" => vec![" ".repeat(FILE_BYTES_MAX + 1)],
            _ => Vec::new(),
        };
        Forwarding::read(text, &include).refusal("192.0.2.1:60001".parse().unwrap())
    }

    #[test]
    fn a_configuration_forbids_what_it_forbids_sshs_own_forwarding() {
        for text in [
            "",
            "# AllowTcpForwarding no\n",
            "AllowTcpForwarding yes\nAllowTcpForwarding no\n",
            "allowtcpforwarding=local\nPermitOpen any\n",
            "AllowTcpForwarding \"all\" # as ever\n",
            "PermitOpen far:22 192.0.2.1:60001\n",
            "PermitOpen *:60001\n",
            "PermitOpen 192.0.2.1:*\n",
            "PermitOpen *:*\n",
            "AllowTcpForwarding no\nMatch all\nAllowTcpForwarding yes\n",
            "Match User x\nAllowTcpForwarding no\nInclude no\n",
            "Include d/*\n",
            "Include \"d/*\"\nMatch User x\nInclude d?/x\n",
            "Include many\n",
            "Include long\n",
            "DisableForwarding no\n",
            "DisableForwarding 'no'\n",
        ] {
            assert_eq!(refusal(text), None, "{text}");
        }
        for (text, keyword) in [
            ("AllowTcpForwarding no\nAllowTcpForwarding yes\n", "AllowTcpForwarding"),
            ("\tALLOWTCPFORWARDING remote\n", "AllowTcpForwarding"),
            ("AllowTcpForwarding = nonsense\n", "AllowTcpForwarding"),
            ("DisableForwarding yes\nAllowTcpForwarding yes\n", "DisableForwarding"),
            ("PermitOpen none\n", "PermitOpen"),
            ("PermitOpen 192.0.2.1:22 192.0.2.2:60001 far:60001\n", "PermitOpen"),
            ("PermitOpen [2001:db8::1]:60001\n", "PermitOpen"),
            ("Match User x\nX11Forwarding no\nMatch All\nAllowTcpForwarding no\n", "AllowTcp"),
            ("Include no\n", "AllowTcpForwarding"),
            ("Include later\n", "DisableForwarding"),
            ("DisableForwarding 'yes'\n", "DisableForwarding"),
            ("PermitOpen 192.0.2.9:1\nInclude d/*\n", "PermitOpen"),
            ("Include d/* a*b*.conf\n", "a*b*.conf of sshd's Include"),
            ("Include d?/x\n", "Include"),
            ("Include [0-9]*.conf\n", "Include"),
            ("Include d*/x\n", "Include"),
            ("Include \\x\n", "Include"),
            ("Include \"d/a b\"\n", "Include"),
            ("Include self\n", "too large"),
            ("Include many no\n", "too large"),
            ("Include longer\n", "too large"),
        ] {
            let sentence = refusal(text).unwrap_or_default();
            assert!(sentence.contains(keyword), "{text}: {sentence}");
        }
        let v6 = "[2001:db8::1]:9".parse().unwrap();
        for (text, is_refused) in [("PermitOpen [2001:db8::1]:9", false), ("PermitOpen *:8", true)]
        {
            let forwarding = Forwarding::read(text, &|_| Vec::new());
            assert_eq!(forwarding.refusal(v6).is_some(), is_refused, "{text}");
        }
    }
}
