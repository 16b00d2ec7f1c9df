//! Parses the output of `ssh -G`: ssh's configuration for a host.

use std::ffi::OsStr;
use std::path::Path;

use crate::account::Account;
use crate::agent::LentAgent;
use crate::forwards::Forwards;
use crate::sharing::Sharing;

/// Most characters shown of a `ProxyCommand` or `ProxyJump`. Chosen: four lines of a terminal.
pub const DETOUR_CHARS_MAX: usize = 320;

/// Settings of ssh that a session possibly does not apply, in the order in which notes for the user name them.
const NOT_CARRIED: [&str; 6] = [
    "RemoteCommand",
    "ForwardAgent",
    "ForwardX11",
    "LocalForward",
    "RemoteForward",
    "DynamicForward",
];

/// Settings of [`NOT_CARRIED`] that a session does apply if it forwards connections.
const CARRIED: [&str; 4] = ["ForwardAgent", "LocalForward", "RemoteForward", "DynamicForward"];

/// Settings that would keep rove's commands from running: the keyword, the harmless value, and the option that
/// overrides the setting. The option is passed only if ssh knows the keyword and its value is not harmless.
const OVERRIDDEN: [(&str, &str, &str); 4] = [
    ("remotecommand", "", "RemoteCommand=none"),
    ("sessiontype", "default", "SessionType=default"),
    ("forkafterauthentication", "no", "ForkAfterAuthentication=no"),
    ("stdinnull", "no", "StdinNull=no"),
];

/// Most key files that are read from `ssh -G`. Chosen: several times the number of ssh's default files.
const KEY_FILES_MAX: usize = 32;

/// The values of `LogLevel` with which ssh does not report an unknown host key.
const SILENT_LEVELS: [&str; 3] = ["SILENT", "QUIET", "FATAL"];

/// The letters of ssh's options that take a value. Source: ssh(1), OpenSSH 9.2, and `P` of later versions.
const VALUED: &str = "BbcDEeFIiJLlmOoPpQRSWw";

/// The part of ssh's configuration for a host that rove uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SshConfig {
    /// The configured `ProxyCommand` or `ProxyJump`. `None` if ssh connects directly.
    pub detour: Option<String>,
    /// The last jump host, which connects to the host itself. `None` without `ProxyJump`.
    pub jump: Option<JumpHost>,
    /// The name of the host after aliases are resolved.
    pub host_name: Option<String>,
    user: Option<String>,
    /// The TCP port of the host's ssh server.
    pub port: Option<u16>,
    /// The configured settings for the host that a session possibly does not apply, by their names in `NOT_CARRIED`.
    pub not_carried: Vec<&'static str>,
    /// The configured port forwards.
    pub forwards: Forwards,
    /// The agent to forward to the host.
    pub agent: Option<LentAgent>,
    /// How ssh runs a command at the host.
    pub command: CommandSettings,
    /// Options of [`OVERRIDDEN`] that ssh needs so that rove's commands run.
    overridden: Vec<&'static str>,
    /// Whether ssh may use an open connection to the host, and whether there is one.
    pub sharing: Sharing,
    pub(crate) key_checking: KeyChecking,
    /// The settings that ssh obeys only without a proxy command.
    pub connecting: Connecting,
    /// The keys that ssh offers.
    pub keys: OfferedKeys,
    /// The files in which ssh looks up the keys of hosts.
    pub known_hosts: Vec<String>,
}

/// Settings for the command that ssh runs at the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandSettings {
    /// The command that ssh runs if its command line has none (`RemoteCommand`).
    pub configured: Option<String>,
    /// Whether the command names a subsystem (`SessionType subsystem`).
    pub is_subsystem: bool,
    /// Whether the command has no input (`StdinNull yes`).
    pub has_no_input: bool,
}

/// Settings that ssh obeys only if it connects by itself, without a proxy command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connecting {
    /// Whether ssh completes the host's name (`CanonicalizeHostname yes`).
    pub(crate) completes_name: bool,
    /// Whether ssh connects from a chosen address or interface (`BindAddress`, `BindInterface`).
    pub is_bound: bool,
    /// The longest time of a connection attempt, in seconds (`ConnectTimeout`). `None` if only the system limits it.
    pub(crate) seconds_max: Option<u32>,
    /// The only address family to connect over (`AddressFamily`), in rove's words. `None` if both are allowed.
    family: Option<&'static str>,
}

/// How ssh treats a host key that it does not know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyChecking {
    /// The value of `StrictHostKeyChecking`. Empty if the configuration could not be read.
    pub(crate) value: String,
    /// Whether `LogLevel` keeps ssh from reporting an unknown key.
    is_silent: bool,
}

/// The keys that ssh offers to a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfferedKeys {
    /// The files of the keys that ssh offers in addition to its agent's keys.
    pub files: Vec<String>,
    /// The value of `IdentityAgent`.
    agent: String,
}

impl OfferedKeys {
    /// Returns the agent whose keys ssh offers. `None` if ssh uses no agent.
    pub fn agent(&self) -> Option<LentAgent> {
        LentAgent::read("yes", &self.agent)
    }
}

/// A jump host, in the form for ssh's command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JumpHost {
    /// The earlier jump hosts on the way to this one, for `-J`.
    before: Option<String>,
    /// The destination, as a URI.
    pub destination: String,
}

impl JumpHost {
    /// Reads the value of `ProxyJump`, as `ssh -G` prints it.
    fn parse(value: &str) -> Self {
        let (before, last) = match value.rsplit_once(',') {
            Some((before, last)) => (Some(before.to_owned()), last),
            None => (None, value),
        };
        Self { before, destination: format!("ssh://{last}") }
    }

    /// Returns an ssh command for this jump host, without its destination. Like ssh's own command for a jump host, it
    /// keeps the configuration file (`-F`), but no other option. `None` for a program other than ssh.
    pub fn words(&self, ssh: &[String]) -> Option<Vec<String>> {
        let (program, options) = ssh.split_at(behind_name(ssh)?);
        let mut words = program.to_vec();
        let file =
            options.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("-F")? {
                "" => options.get(at + 1).cloned(),
                file => Some(file.to_owned()),
            });
        words.extend(file.into_iter().flat_map(|file| ["-F".to_owned(), file]));
        words.extend(self.before.iter().flat_map(|before| ["-J".to_owned(), before.clone()]));
        Some(words)
    }
}

impl From<Sharing> for SshConfig {
    fn from(sharing: Sharing) -> Self {
        Self { sharing, ..Self::default() }
    }
}

impl SshConfig {
    /// Returns whether ssh prints no errors (`LogLevel QUIET` or `FATAL`).
    pub const fn is_silent(&self) -> bool {
        self.key_checking.is_silent
    }

    /// Returns the address family to connect over: as configured, unless the user `asked` for IPv4 or IPv6 only.
    pub fn family<'a>(&self, asked: &'a str) -> &'a str {
        self.connecting.family.filter(|_| !["inet", "inet6"].contains(&asked)).unwrap_or(asked)
    }

    /// Returns the options that override settings which would keep rove's command from running or disturb it.
    pub fn overrides(&self) -> Vec<&'static str> {
        let mut words: Vec<&str> = self.overridden.iter().flat_map(|it| ["-o", it]).collect();
        if self.not_carried.iter().any(|name| name.ends_with("Forward")) {
            // ssh would complain that a forwarded port is already in use, and may end the login.
            words.extend(["-o", "ClearAllForwardings=yes"]);
        }
        words
    }

    /// Returns the user's account on the host, with resolved names. `None` if the user, host or port is unknown.
    pub fn account(&self) -> Option<Account> {
        Account::new(self.user.as_ref()?, self.host_name.as_ref()?, self.port?)
    }

    /// Returns whether ssh asks the user about an unknown host key, and would report the key if it must not ask.
    pub fn asks_about_keys(&self) -> bool {
        self.key_checking.value == "ask" && !self.key_checking.is_silent
    }

    /// Returns notes for the user on the configuration, one per line. `forwards` is true if the session forwards
    /// connections. `has_program` is true if the session runs a program other than `RemoteCommand`.
    pub fn notes(&self, host: &OsStr, forwards: bool, has_program: bool) -> Vec<String> {
        let refused = self.sharing.note().map(str::to_owned);
        self.note(host, forwards, has_program).into_iter().chain(refused).collect()
    }

    /// Returns a note on settings for the host that the session does not apply. `None` if there are none.
    fn note(&self, host: &OsStr, forwards: bool, has_program: bool) -> Option<String> {
        let is_carried = |name: &str| {
            forwards && CARRIED.contains(&name) || !has_program && name == "RemoteCommand"
        };
        let names: Vec<_> = self.not_carried.iter().filter(|name| !is_carried(name)).collect();
        let (last, others) = names.split_last()?;
        let (names, verb) = match others {
            [] => ((**last).to_owned(), "is"),
            others => {
                let others: Vec<&str> = others.iter().map(|name| **name).collect();
                (format!("{} and {last}", others.join(", ")), "are")
            }
        };
        let host = host.to_string_lossy();
        let host = host.escape_debug();
        Some(format!(
            "{names} of ssh's configuration {verb} not carried by a session; run ssh {host} beside it for that"
        ))
    }
}

impl SshConfig {
    /// Records a setting that a session may not apply, or that would keep rove's command from running.
    fn take(&mut self, keyword: &str, value: &str, is_set: bool) {
        let name = NOT_CARRIED.iter().find(|name| keyword.eq_ignore_ascii_case(name));
        if let Some(name) = name.filter(|name| !self.not_carried.contains(name))
            && is_set
            && !value.eq_ignore_ascii_case("no")
        {
            self.not_carried.push(name);
        }
        let found = OVERRIDDEN.iter().find(|(known, ..)| keyword.eq_ignore_ascii_case(known));
        // For `SessionType`, the value `none` is a setting too: it means that ssh runs no command.
        if let Some((known, usual, instead)) = found
            && (is_set || *known == "sessiontype")
            && value != *usual
        {
            self.overridden.push(instead);
        }
    }
}

/// Returns whether a command runs OpenSSH's ssh, judged by the program's name.
pub fn is_ssh(ssh: &[String]) -> bool {
    behind_name(ssh).is_some()
}

/// Returns an ssh command with additional options. They come before the user's options, because ssh obeys the first
/// option of a kind. A program that is not ssh gets no options.
pub fn with_options(ssh: &[String], options: &[&str]) -> Vec<String> {
    let mut words = ssh.to_vec();
    if let Some(place) = behind_name(ssh) {
        words.splice(place..place, options.iter().map(|&word| word.to_owned()));
    }
    words
}

/// Returns an ssh command without the options that keep ssh's messages from its error output. Also returns the letter of
/// the last such option: `-q`, `-y` (for the system's log) or `-E` (for a file).
pub fn without_hush(ssh: &[String]) -> (Vec<String>, Option<char>) {
    let (program, options) = ssh.split_at(behind_name(ssh).unwrap_or(ssh.len()));
    let (mut words, mut hush) = (program.to_vec(), None);
    let mut options = options.iter();
    while let Some(word) = options.next() {
        let letters = word.strip_prefix('-').unwrap_or_default();
        let (flags, valued) =
            letters.split_at(letters.find(|it| VALUED.contains(it)).unwrap_or(letters.len()));
        let value = if valued.len() == 1 { options.next() } else { None };
        let is_file = valued.starts_with('E');
        let found = flags.chars().rfind(|it| "qy".contains(*it));
        hush = is_file.then_some('E').or(found).or(hush);
        if is_file || found.is_some() {
            let kept = flags.replace(['q', 'y'], "") + if is_file { "" } else { valued };
            words.extend((!kept.is_empty()).then(|| format!("-{kept}")));
        } else {
            words.push(word.clone());
        }
        words.extend(value.filter(|_| !is_file).cloned());
    }
    (words, hush)
}

/// Returns the user and host of a destination on ssh's command line, which may be a URI with a port.
pub fn without_uri(destination: &str) -> String {
    let Some(rest) = destination.strip_prefix("ssh://") else { return destination.to_owned() };
    let (user, place) = rest.rfind('@').map_or(("", rest), |at| rest.split_at(at + 1));
    let name = match place.strip_prefix('[') {
        Some(numeric) => numeric.split(']').next(),
        None => place.split([':', '/']).next(),
    };
    format!("{user}{}", name.unwrap_or_default())
}

/// Returns the index after ssh's name in a command. `None` without that name. If several words could be ssh's name, the
/// last word counts, although it may be the value of an option.
fn behind_name(ssh: &[String]) -> Option<usize> {
    let is_name = |word: &String| {
        let name = Path::new(word).file_name().and_then(OsStr::to_str).unwrap_or_default();
        name == "ssh" || (cfg!(windows) && name.eq_ignore_ascii_case("ssh.exe"))
    };
    ssh.iter().rposition(is_name).map(|place| place + 1)
}

/// Parses the output of `ssh -G`. Other users may have written the files that its values come from. So a detour (proxy
/// command or jump) keeps no control characters, and a host's name never looks like an option. `judge` decides whether
/// to trust the control socket at a path.
pub fn parse(answer: &str, judge: impl Fn(&str) -> Sharing) -> SshConfig {
    let mut config = SshConfig::from(Sharing::Unconfigured);
    let mut forward_agent = "";
    for line in answer.lines() {
        let Some((keyword, value)) = line.split_once(' ') else { continue };
        let plain = rove_terminal::plain(value);
        let shown: String = plain.chars().take(DETOUR_CHARS_MAX).collect();
        let is_set = !shown.is_empty() && !shown.eq_ignore_ascii_case("none");
        let is_name = !value.contains(char::is_whitespace) && plain == value;
        let keyword = keyword.to_ascii_lowercase();
        if keyword == "remotecommand" {
            config.command.configured = is_set.then(|| value.to_owned());
        }
        config.command.is_subsystem |= line == "sessiontype subsystem";
        config.command.has_no_input |= line == "stdinnull yes";
        config.forwards.take(&keyword, value);
        if keyword == "forwardagent" {
            forward_agent = value;
        }
        match keyword.as_str() {
            "proxyjump" if is_set => {
                config.detour = Some(format!("ProxyJump {shown}"));
                config.jump = is_name.then(|| JumpHost::parse(value));
            }
            "proxycommand" if is_set => config.detour = Some(format!("ProxyCommand {shown}")),
            "hostname" if is_set && is_name && !value.starts_with('-') => {
                config.host_name = Some(value.to_owned())
            }
            "identityagent" => config.keys.agent = value.to_owned(),
            "user" if is_set && is_name => config.user = Some(value.to_owned()),
            "port" => config.port = value.parse().ok(),
            "controlpath" if is_set => config.sharing = judge(value),
            "identityfile" if config.keys.files.len() < KEY_FILES_MAX => {
                config.keys.files.push(value.to_owned());
            }
            "userknownhostsfile" | "globalknownhostsfile" => {
                let files = value.split_ascii_whitespace().filter(|it| it.starts_with('/'));
                config.known_hosts.extend(files.map(str::to_owned));
            }
            "stricthostkeychecking" => config.key_checking.value = shown,
            "canonicalizehostname" => {
                config.connecting.completes_name = ["true", "yes"].contains(&value);
            }
            "bindaddress" | "bindinterface" => config.connecting.is_bound |= is_set,
            "addressfamily" => {
                config.connecting.family = ["inet", "inet6"].into_iter().find(|it| *it == value);
            }
            "connecttimeout" => {
                config.connecting.seconds_max = value.parse().ok().filter(|it| *it > 0);
            }
            "loglevel" => config.key_checking.is_silent = SILENT_LEVELS.contains(&value),
            keyword => config.take(keyword, &shown, is_set),
        }
    }
    config.agent = LentAgent::read(forward_agent, &config.keys.agent);
    config.forwards.drop_repeated(answer);
    config.not_carried.sort_by_key(|name| NOT_CARRIED.iter().position(|known| known == name));
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(answer: &str) -> SshConfig {
        super::parse(answer, |_| Sharing::Unknown)
    }

    #[test]
    fn a_detour_is_what_ssh_says_it_is() {
        for (answer, detour) in [
            ("user me\nhostname x\nproxyjump bastion\n", Some("ProxyJump bastion")),
            ("proxycommand nc -X 5 %h %p\n", Some("ProxyCommand nc -X 5 %h %p")),
            ("proxycommand none\nport 22\n", None),
            ("proxyjump\nproxyusefdpass no\n", None),
            ("proxycommand a\u{1b}]0;t\u{7}\n", Some("ProxyCommand a]0;t")),
            ("proxyjump \u{202e}noitsab\u{2069}\n", Some("ProxyJump noitsab")),
            ("", None),
        ] {
            assert_eq!(parse(answer).detour.as_deref(), detour, "{answer:?}");
        }
        for (answer, name) in [
            ("hostname a.example\n", Some("a.example")),
            ("hostname -oProxyCommand=x\n", None),
            ("hostname a\u{9b}b\n", None),
            ("hostname a b\n", None),
            ("hostname a\u{202e}b\n", None),
        ] {
            assert_eq!(parse(answer).host_name.as_deref(), name, "{answer:?}");
        }
        for (len, kept) in
            [(DETOUR_CHARS_MAX, DETOUR_CHARS_MAX), (DETOUR_CHARS_MAX + 1, DETOUR_CHARS_MAX)]
        {
            let detour = parse(&format!("proxycommand {}\n", "x".repeat(len))).detour;
            assert_eq!(detour.unwrap().len(), "ProxyCommand ".len() + kept);
        }
    }

    #[test]
    fn the_ssh_to_a_jump_host_has_the_words_that_sshs_own_has() {
        for (value, ssh, words) in [
            ("bastion", "ssh", "ssh ssh://bastion"),
            ("me@[::1]:22", "/usr/bin/ssh -J x -F f -i k", "/usr/bin/ssh -F f ssh://me@[::1]:22"),
            ("a@b:3,c", "nice ssh -Ff", "nice ssh -F f -J a@b:3 ssh://c"),
            ("a,b,c", "ssh -F", "ssh -J a,b ssh://c"),
            ("bastion", "other -F f", ""),
            ("a b", "ssh", ""),
        ] {
            let ssh: Vec<String> = ssh.split(' ').map(str::to_owned).collect();
            let found = parse(&format!("proxyjump {value}\n")).jump.and_then(|jump| {
                let words = jump.words(&ssh)?.into_iter().chain([jump.destination]);
                Some(words.collect::<Vec<_>>().join(" "))
            });
            assert_eq!(found.unwrap_or_default(), words, "{value}");
        }
    }

    #[test]
    fn hosts_keys_are_looked_up_where_ssh_does() {
        let answer = "globalknownhostsfile /etc/ssh/known /etc/ssh/known2\n\
                      userknownhostsfile /home/me/.ssh/known_hosts none\n";
        let files = ["/etc/ssh/known", "/etc/ssh/known2", "/home/me/.ssh/known_hosts"];
        assert_eq!(parse(answer).known_hosts, files);
        assert!(parse("userknownhostsfile none\n").known_hosts.is_empty());
    }

    #[test]
    fn an_account_is_a_user_at_a_host_and_a_port_and_never_a_part_of_that() {
        for (answer, account) in [
            ("host a\nuser me\nhostname a.example\nport 22\n", Some("me@a.example:22")),
            ("user me\nhostname a.example\nport 2222\n", Some("me@a.example:2222")),
            ("user me\nhostname ::1\nport 22\n", Some("me@::1:22")),
            ("user me\nhostname a.example\nport x\n", None),
            ("user me\nhostname a.example\n", None),
            ("hostname a.example\nport 22\n", None),
            ("user me\nport 22\n", None),
            ("user m e\nhostname a.example\nport 22\n", None),
        ] {
            let found = parse(answer).account().map(|account| account.to_string());
            assert_eq!(found.as_deref(), account, "{answer:?}");
        }
        for (len, is_account) in [(504, true), (505, false)] {
            let answer = format!("user me\nhostname {}\nport 2222\n", "a".repeat(len));
            assert_eq!(parse(&answer).account().is_some(), is_account, "{len}");
        }
    }

    #[test]
    fn settings_of_a_connection_are_those_that_a_proxy_command_would_hide() {
        for (answer, is_bound, seconds_max) in [
            ("bindaddress 127.0.0.7\nconnecttimeout 5\n", true, Some(5)),
            ("bindinterface eth0\nconnecttimeout none\n", true, None),
            ("bindaddress none\nconnecttimeout 0\n", false, None),
            ("connecttimeout -1\n", false, None),
        ] {
            let found = parse(answer).connecting;
            assert_eq!((found.is_bound, found.seconds_max), (is_bound, seconds_max), "{answer:?}");
        }
    }

    #[test]
    fn a_destination_is_the_same_with_and_without_a_uri() {
        for (destination, plain) in [
            ("me@host", "me@host"),
            ("::1", "::1"),
            ("ssh://host", "host"),
            ("ssh://me@host:22", "me@host"),
            ("ssh://me@here@host:22/", "me@here@host"),
            ("ssh://[::1]:22", "::1"),
            ("ssh://me@[fe80::1%eth0]", "me@fe80::1%eth0"),
            ("ssh://", ""),
        ] {
            assert_eq!(without_uri(destination), plain);
        }
    }

    #[test]
    fn the_configured_family_counts_unless_the_user_asks_for_one_alone() {
        for (answer, asked, family) in [
            ("addressfamily inet6\n", "prefer-inet", "inet6"),
            ("addressfamily inet\n", "all", "inet"),
            ("addressfamily inet6\n", "inet", "inet"),
            ("addressfamily any\n", "prefer-inet", "prefer-inet"),
            ("", "auto", "auto"),
        ] {
            assert_eq!(parse(answer).family(asked), family, "{answer:?} {asked}");
        }
    }

    #[test]
    fn an_ssh_that_rove_listens_to_has_no_option_against_its_messages() {
        for (ssh, words, hush) in [
            ("ssh -E log -p 2", "ssh -p 2", Some('E')),
            ("ssh -Elog -qy -v", "ssh -v", Some('y')),
            ("nice -q ssh -vyE log -4qp 2", "nice -q ssh -v -4p 2", Some('q')),
            ("ssh -i -q -F -y -o q -lE", "ssh -i -q -F -y -o q -lE", None),
            ("ssh -E", "ssh", Some('E')),
            ("other -q -E log", "other -q -E log", None),
        ] {
            let ssh: Vec<String> = ssh.split(' ').map(str::to_owned).collect();
            let (found, letter) = without_hush(&ssh);
            assert_eq!((found.join(" ").as_str(), letter), (words, hush));
        }
    }

    #[test]
    fn unsupported_options_are_named_and_hindering_ones_overridden() {
        let usual = "forwardagent no\nforwardx11 no\nremotecommand none\nsessiontype default\n\
                     forkafterauthentication no\nstdinnull no\n";
        for (answer, names, options) in [
            ("", "", ""),
            (usual, "", ""),
            (
                "localforward 1 [a]:2\nlocalforward 3 [a]:4\nforwardagent yes\n",
                "ForwardAgent LocalForward",
                "-o ClearAllForwardings=yes",
            ),
            ("remoteforward 9 [b]:9\n", "RemoteForward", "-o ClearAllForwardings=yes"),
            ("dynamicforward 1080\n", "DynamicForward", "-o ClearAllForwardings=yes"),
            ("forwardx11 yes\nforwardagent $SOCK\n", "ForwardAgent ForwardX11", ""),
            ("remotecommand tmux new -A\n", "RemoteCommand", "-o RemoteCommand=none"),
            (
                "sessiontype none\nforkafterauthentication yes\n",
                "",
                "-o SessionType=default -o ForkAfterAuthentication=no",
            ),
            ("stdinnull yes\n", "", "-o StdinNull=no"),
        ] {
            let config = parse(answer);
            assert_eq!(config.not_carried.join(" "), names, "{answer:?}");
            let note = config.note(OsStr::new("far"), false, true);
            assert_eq!(note.is_some(), !names.is_empty());
            let note = note.unwrap_or_default();
            assert!(
                names.split(' ').all(|name| note.contains(name)) && !note.contains('\n'),
                "{note}"
            );
            assert_eq!(config.overrides().join(" "), options, "{answer:?}");
            let rest = config.note(OsStr::new("far"), true, false).unwrap_or_default();
            assert!(CARRIED.iter().all(|name| !rest.contains(name)), "{rest}");
            assert!(!rest.contains("RemoteCommand"), "{rest}");
            assert_eq!(rest.contains("X11"), names.contains("X11"), "{rest}");
            assert_eq!(config.agent.is_some(), names.contains("Agent"), "{answer:?}");
            let command = answer.contains("tmux").then_some("tmux new -A");
            assert_eq!(config.command.configured.as_deref(), command, "{answer:?}");
        }
    }
}
