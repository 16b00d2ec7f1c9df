//! The letters of ssh's options, and what `rove` does with each. Options about the login are passed to ssh, and most
//! others are refused with advice. Source: ssh(1), OpenSSH 9.2.

use clap::{Arg, ArgAction, ValueHint};
use rove_bootstrap::ssh_config;

/// Prefix of the clap ids of ssh's options. No other id contains it.
const ID_PREFIX: &str = "ssh -";

/// The way in which `rove` handles an option of ssh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The option is passed to ssh unchanged.
    Flag,
    /// The option is passed to ssh with its value.
    Valued,
    /// ssh answers the option, and no session starts.
    Question,
    /// The option is refused, with this advice.
    Refused(&'static str),
}

/// An option of ssh that the help shows.
struct Shown {
    /// The option's id in clap, which ends with its letter.
    id: &'static str,
    value_name: &'static str,
    /// The kind of the value. For an option without a value, `Other` means that it may be repeated.
    hint: ValueHint,
    help: &'static str,
}

/// The options of ssh that the help shows, in its order. Other letters of ssh, which ssh(1) describes, work as well.
const SHOWN: [Shown; 9] = [
    shown("ssh -l", "USER", ValueHint::Username, "User to log in as"),
    shown("ssh -i", "FILE", ValueHint::FilePath, "Key to log in with"),
    shown("ssh -J", "HOST", ValueHint::Hostname, "Host to jump through"),
    shown(
        "ssh -F",
        "FILE",
        ValueHint::FilePath,
        "ssh's configuration, in place of the usual files",
    ),
    shown("ssh -o", "OPTION", ValueHint::Other, "Setting of ssh_config"),
    shown("ssh -E", "FILE", ValueHint::FilePath, "File for what ssh says, in place of the screen"),
    shown("ssh -C", "", ValueHint::Unknown, "Compress what goes through ssh"),
    shown("ssh -v", "", ValueHint::Other, "Let ssh say what it does; -vv and -vvv more of it"),
    shown(
        "ssh -G",
        "",
        ValueHint::Unknown,
        "Print what ssh's configuration says of the host, and end",
    ),
];

const fn shown(
    id: &'static str,
    value_name: &'static str,
    hint: ValueHint,
    help: &'static str,
) -> Shown {
    Shown { id, value_name, hint, help }
}

/// Returns how `rove` handles an option of ssh. `None` for a letter that ssh lacks, and for rove's own letters `46anV`.
///
/// For an option of the rove command itself, the caller uses the result only for `-q`, which both rove and ssh obey.
pub(super) fn fate(letter: char) -> Option<Fate> {
    const PORTS: &str =
        "this command forwards no connection; a session does, by `rove -L`, `-R` and `-D`";
    const GRAPHICS: &str = "rove forwards no X11; start graphical programs by `ssh -X`";
    Some(match letter {
        'C' | 'K' | 'k' | 'q' | 'v' | 'x' | 'y' => Fate::Flag,
        'B' | 'b' | 'c' | 'E' | 'F' | 'I' | 'i' | 'J' | 'l' | 'm' | 'o' | 'S' => Fate::Valued,
        'G' => Fate::Question,
        'A' => {
            Fate::Refused("this command lends no agent to the host; a session does, by `rove -A`")
        }
        'L' | 'R' | 'D' | 'g' => Fate::Refused(PORTS),
        'X' | 'Y' => Fate::Refused(GRAPHICS),
        'W' => Fate::Refused("this command carries no connection; `rove -W HOST:PORT host` does"),
        'w' => Fate::Refused("rove forwards no network device; use `ssh -w` for it"),
        't' => Fate::Refused("a session always has a terminal; leave it out"),
        'T' => Fate::Refused("a session always has a terminal; use ssh for a command without one"),
        'N' => {
            Fate::Refused("this command forwards no connection; `rove -N` does, without a program")
        }
        'f' => Fate::Refused(
            "this command stays in the foreground; `rove -N -f` goes to the background",
        ),
        's' => Fate::Refused("a session is no subsystem of ssh; use ssh or sftp for one"),
        'M' => Fate::Refused("rove keeps no ssh open; open the one to be shared by `ssh -M`"),
        'O' => Fate::Refused("rove keeps no ssh open; command the shared one by `ssh -O`"),
        'Q' => Fate::Refused("this is a question to ssh alone; ask it by `ssh -Q`"),
        'e' => Fate::Refused("the key that commands rove is chosen by --escape-key"),
        'p' => Fate::Refused(
            "in rove this is the UDP port of a session; ssh's port is --ssh=\"ssh -p PORT\"",
        ),
        'P' => Fate::Refused("the UDP port is -p; ssh's -P goes in front: --ssh=\"ssh -P TAG\""),
        _ => return None,
    })
}

/// Returns the options of ssh that the help, the manual page and completions show.
pub(super) fn args() -> impl Iterator<Item = Arg> {
    SHOWN.iter().map(|shown| {
        let arg = Arg::new(shown.id).short(shown.id.chars().next_back());
        let arg = arg.help(format!("{} (handed to ssh)", shown.help));
        match shown.value_name {
            "" if shown.hint == ValueHint::Other => arg.action(ArgAction::Count),
            "" => arg.action(ArgAction::SetTrue),
            name => arg.action(ArgAction::Append).value_name(name).value_hint(shown.hint),
        }
    })
}

/// Returns the options by which a session forwards connections or the agent. rove reads their effect from `ssh -G`.
pub(super) fn forwarding() -> [Arg; 5] {
    let arg = |id: &'static str, help| Arg::new(id).short(id.chars().next_back()).help(help);
    [
        arg(
            "ssh -L",
            "Listen here, and let the host connect: port:host:hostport and ssh's other forms",
        )
        .action(ArgAction::Append)
        .value_name("FORWARD"),
        arg(
            "ssh -R",
            "Let the host listen, and connect here: port:host:hostport, a port alone for SOCKS, and ssh's other forms",
        )
        .action(ArgAction::Append)
        .value_name("FORWARD"),
        arg("ssh -D", "Listen here for SOCKS 4 and 5, and let the host connect")
            .action(ArgAction::Append)
            .value_name("[BIND:]PORT"),
        arg("ssh -A", "Lend the agent to the host for the session, as ssh -A does")
            .action(ArgAction::SetTrue),
        arg("ssh -g", "Let others connect to the ports of -L and -D, where these name no address")
            .action(ArgAction::SetTrue),
    ]
}

/// The keyword of `-L` in ssh's configuration.
const LOCAL_FORWARD: &str = "LocalForward";

/// Options of which ssh obeys only the first; of other repeated options, it obeys all or the last. Source: OpenSSH 9.2.
const FIRST_COUNTS: [&str; 5] = ["-i", "-J", "-l", "-o", "-p"];

/// Returns the command `ssh` with the options `letters`. If the program is ssh, `letters` prevail over the command's
/// own options. In `letters`, each value is a separate word.
pub(super) fn prevailing(ssh: &[String], letters: Vec<String>) -> Vec<String> {
    if !ssh_config::is_ssh(ssh) {
        return [ssh, &letters].concat();
    }
    let (mut first, mut last) = (Vec::new(), Vec::new());
    let mut letters = letters.into_iter();
    while let Some(word) = letters.next() {
        if FIRST_COUNTS.contains(&&*word) {
            first.extend([word].into_iter().chain(letters.next()));
        } else {
            last.push(word);
        }
    }
    let first: Vec<&str> = first.iter().map(String::as_str).collect();
    let own = if first.contains(&"-J") { without_jump(ssh) } else { ssh.to_vec() };
    [ssh_config::with_options(&own, &first), last].concat()
}

/// Returns an ssh command without `-J`, which ssh accepts only once.
fn without_jump(ssh: &[String]) -> Vec<String> {
    let mut words = ssh.to_vec();
    while let Some(at) = words.iter().position(|word| word.starts_with("-J")) {
        let end = words.len().min(at + if words[at] == "-J" { 2 } else { 1 });
        words.drain(at..end);
    }
    words
}

/// Returns whether the options for ssh contain `-L`, `-R` or `-D`.
pub(super) fn forward(words: &[String]) -> bool {
    words.iter().any(|word| ["-L", "-R", "-D"].contains(&word.as_str()))
}

/// Returns whether the value of an `-o` begins with this keyword, in any case.
pub(super) fn sets(value: &str, keyword: &str) -> bool {
    let found = value.trim_start().get(..keyword.len());
    found.is_some_and(|found| found.eq_ignore_ascii_case(keyword))
}

/// Returns whether a word among the options for ssh, such as `-o`, has its value in the next word.
pub(super) fn takes_value(word: &str) -> bool {
    let is_handed = |letter| fate(letter) == Some(Fate::Valued);
    matches!(word.as_bytes(), &[b'-', letter] if letter == b'p' || is_handed(letter.into()))
}

/// Returns the first `-L` or `-o LocalForward` among the options for ssh whose destination is a host named `socks`.
/// `None` without such an option.
pub(super) fn to_host_socks(words: &[String]) -> Option<String> {
    let is_forward =
        |option: &str, value: &str| option == "-L" || option == "-o" && sets(value, LOCAL_FORWARD);
    let leads_there = |value: &str| {
        let host = value.rsplit(':').nth(1).unwrap_or_default();
        let host = host.split(['=', ' ', '\t']).next_back().unwrap_or_default();
        host.trim_matches(['[', ']', '"']) == "socks"
    };
    let mut pairs = words.windows(2);
    let found = pairs.find(|pair| is_forward(&pair[0], &pair[1]) && leads_there(&pair[1]));
    found.map(|pair| pair.join(" "))
}

/// Returns whether the options for ssh contain `-A`.
pub(super) fn lends_agent(words: &[String]) -> bool {
    words.iter().any(|word| word == "-A")
}

/// Returns whether an option of a definition is one of ssh's.
pub(super) fn is_sshs(arg: &Arg) -> bool {
    arg.get_id().as_str().starts_with(ID_PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ssh's letters. Source: the synopsis of ssh(1), OpenSSH 9.2.
    const FLAGS: &str = "46AaCfGgKkMNnqsTtVvXxYy";
    const VALUED: &str = "BbcDEeFIiJLlmOopQRSWw";
    /// The letters that rove reads itself.
    const OURS: &str = "46anpV";

    #[test]
    fn every_letter_of_sshs_has_a_fate_and_takes_a_value_where_ssh_takes_one() {
        for letter in FLAGS.chars().chain(VALUED.chars()).filter(|it| !OURS.contains(*it)) {
            let is_right = match fate(letter) {
                Some(Fate::Flag | Fate::Question) => FLAGS.contains(letter),
                Some(Fate::Valued) => VALUED.contains(letter),
                Some(Fate::Refused(_)) => true,
                None => false,
            };
            assert!(is_right, "-{letter}");
        }
        for letter in ['Z', 'u', '1', '-'] {
            assert_eq!(fate(letter), None, "-{letter}");
        }
    }

    #[test]
    fn a_forward_of_the_configuration_to_a_host_of_the_name_socks_is_found() {
        for (line, is_found) in [
            ("LocalForward=1080 socks:80", true),
            (" localforward 1080 socks:http", true),
            ("LocalForward 1080 \"[socks]:80\"", true),
            ("LocalForward socks:1080 h:80", false),
            ("RemoteForward 1080 socks:80", false),
            ("é", false),
        ] {
            let words = ["-o", line].map(str::to_owned);
            assert_eq!(to_host_socks(&words).is_some(), is_found, "{line}");
        }
    }

    #[test]
    fn options_of_the_help_are_handed_on() {
        for arg in args() {
            let letter = arg.get_short().unwrap();
            let takes_value = matches!(arg.get_action(), ArgAction::Append);
            assert!(is_sshs(&arg));
            match fate(letter) {
                Some(Fate::Flag | Fate::Question) => assert!(!takes_value, "-{letter}"),
                Some(Fate::Valued) => assert!(takes_value, "-{letter}"),
                other => panic!("-{letter}: {other:?}"),
            }
        }
    }
}
