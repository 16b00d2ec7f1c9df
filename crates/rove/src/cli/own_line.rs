//! Reads the command line of `rove` and its commands: GNU-style long options, letters in ssh's syntax, and ssh's
//! options.
//!
//! [`read`] sorts such a line into words for clap and words for ssh. Case matters. A long option may be abbreviated
//! only after two dashes and to at least two letters. An option that rove passes to ssh means the same as with ssh.
//! Source: ssh(1), OpenSSH 9.2; the names come from the clap definition.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use clap::{Arg, ArgAction, Command};

use crate::cli::ssh_letters::{self, Fate};

/// A command line, sorted into words for clap and words for ssh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// Options in clap's spelling, `--`, and the words that are not options.
    pub(super) words: Vec<OsString>,
    /// Options to be passed to ssh.
    pub(super) ssh: Vec<String>,
    /// Whether the line only asks for ssh's configuration (`-G`).
    pub(super) asks_ssh: bool,
}

/// A fault in a word of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    pub(super) sentence: String,
    /// Whether to print the usage after the sentence.
    pub(super) wants_usage: bool,
}

impl Complaint {
    fn new(sentence: String) -> Self {
        Self { sentence, wants_usage: true }
    }
}

/// The word, besides `--`, that ends the options of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OptionsEnd {
    /// The host ends the options, as `POSIXLY_CORRECT` demands.
    Host,
    /// The first word of the remote command ends the options, as with ssh: `rove host ls -a` lists all files.
    RemoteCommand,
    /// No word but `--` ends the options.
    Dashes,
}

/// Sorts `args` (without the program's name) into words for clap and words for ssh.
///
/// # Errors
///
/// Returns a complaint for each word that is wrong.
pub(super) fn read(
    command: &Command,
    args: Vec<OsString>,
    end: OptionsEnd,
) -> Result<Line, Vec<Complaint>> {
    let mut reader = Reader { command, args: args.into_iter(), line: Line::default() };
    let positionals_max = match end {
        OptionsEnd::Host => 1,
        OptionsEnd::RemoteCommand => 2,
        OptionsEnd::Dashes => usize::MAX,
    };
    let mut positionals = Vec::new();
    let mut complaints = Vec::new();
    while let Some(word) = reader.args.next() {
        if word == "--" {
            break;
        }
        let read = match word.as_bytes() {
            [b'-', b'-', name @ ..] => reader.long(name),
            [b'-', letters @ ..] if !letters.is_empty() => reader.letters(letters),
            _ => {
                positionals.push(word);
                if positionals.len() == positionals_max {
                    break;
                }
                Ok(())
            }
        };
        complaints.extend(read.err());
    }
    if !complaints.is_empty() {
        return Err(complaints);
    }
    let mut line = reader.line;
    line.words.push(OsString::from("--"));
    line.words.extend(positionals);
    line.words.extend(reader.args);
    Ok(line)
}

struct Reader<'a> {
    command: &'a Command,
    args: std::vec::IntoIter<OsString>,
    line: Line,
}

impl<'a> Reader<'a> {
    /// Reads `--name` or `--name=value`. `text` comes without the dashes.
    fn long(&mut self, text: &[u8]) -> Result<(), Complaint> {
        let (name, value) = match text.iter().position(|&byte| byte == b'=') {
            Some(at) => (&text[..at], Some(OsString::from_vec(text[at + 1..].to_vec()))),
            None => (text, None),
        };
        let written = String::from_utf8_lossy(name);
        let name = self.named(&written)?;
        let option = self.option(name);
        match (takes_value(option), value) {
            (false, Some(_)) => Err(Complaint::new(format!("option --{name} takes no value"))),
            (needs_value, None) if !needs_value || is_optional(option) => {
                self.line.words.push(format!("--{name}").into());
                Ok(())
            }
            (_, value) => {
                let value = self.value(&format!("--{name}"), value)?;
                self.push_valued(format!("--{name}="), &value);
                Ok(())
            }
        }
    }

    /// Returns the name of the long option `written`, where `noX` counts as `no-X`. Otherwise, `written` must be the
    /// first two or more letters of exactly one option in the help. The error names similar or matching options.
    fn named(&self, written: &str) -> Result<&'a str, Complaint> {
        let longs = || self.command.get_arguments().filter_map(|arg| Some((arg, arg.get_long()?)));
        let exact = longs().find(|(_, name)| {
            *name == written
                || name
                    .strip_prefix("no-")
                    .is_some_and(|rest| written.strip_prefix("no") == Some(rest))
        });
        if let Some((_, name)) = exact {
            return Ok(name);
        }
        let visible: Vec<&str> =
            longs().filter(|(arg, _)| !arg.is_hide_set()).map(|(_, name)| name).collect();
        let is_short = written.chars().count() < 2;
        let mut begun = visible.iter().filter(|name| !is_short && name.starts_with(written));
        match (begun.next(), begun.next()) {
            (Some(only), None) => Ok(only),
            (Some(_), Some(_)) => {
                let all = visible.iter().filter(|name| name.starts_with(written));
                let all: Vec<String> = all.map(|name| format!("--{name}")).collect();
                let shown = written.escape_debug();
                let sentence = format!("option --{shown} is ambiguous: {}", all.join(", "));
                Err(Complaint::new(sentence))
            }
            (None, _) => {
                let option = format!("--{written}");
                Err(unknown(&option, rove_cli_docs::near_option(self.command, &option)))
            }
        }
    }

    /// Reads `-abc`. `letters` come without the dash.
    fn letters(&mut self, letters: &[u8]) -> Result<(), Complaint> {
        self.refuse_single_dash(letters)?;
        for (at, &byte) in letters.iter().enumerate() {
            let letter = char::from(byte);
            let rest = &letters[at + 1..];
            let attached = (!rest.is_empty()).then(|| OsString::from_vec(rest.to_vec()));
            let own = self
                .command
                .get_arguments()
                .find(|arg| arg.get_short() == Some(letter) && !ssh_letters::is_sshs(arg));
            if let Some(arg) = own {
                if takes_value(arg) {
                    let value = self.value(&format!("-{letter}"), attached)?;
                    // Users of stock `mosh` write `-p=5`.
                    let bytes = value.as_bytes();
                    let value = OsStr::from_bytes(bytes.strip_prefix(b"=").unwrap_or(bytes));
                    self.push_valued(format!("-{letter}"), value);
                    return Ok(());
                }
                self.line.words.push(format!("-{letter}").into());
            }
            match self.fate(letter) {
                Some(Fate::Flag) => self.line.ssh.push(format!("-{letter}")),
                _ if own.is_some() => {}
                Some(Fate::Question) => self.line.asks_ssh = true,
                Some(Fate::Valued) => {
                    let value = self.value(&format!("-{letter}"), attached)?;
                    let value = value.into_string().map_err(|value| {
                        let sentence = format!("-{letter} {}: this is not UTF-8", value.display());
                        Complaint { sentence, wants_usage: false }
                    })?;
                    self.line.ssh.extend([format!("-{letter}"), value]);
                    return Ok(());
                }
                Some(Fate::Refused(reason)) => {
                    let sentence = format!("-{letter}: {reason}");
                    return Err(Complaint { sentence, wants_usage: false });
                }
                None => {
                    let option = format!("-{}", String::from_utf8_lossy(letters));
                    let near = rove_cli_docs::near_option(self.command, &option);
                    return Err(unknown(&option, near));
                }
            }
        }
        Ok(())
    }

    /// Returns how to treat the option `letter` of ssh. `None` for a letter that is only rove's, or no option at all.
    /// An option that rove refuses elsewhere is passed to ssh if this command has it.
    fn fate(&self, letter: char) -> Option<Fate> {
        let fate = ssh_letters::fate(letter)?;
        let mut args = self.command.get_arguments().filter(|arg| ssh_letters::is_sshs(arg));
        Some(match (fate, args.find(|arg| arg.get_short() == Some(letter))) {
            (Fate::Refused(_), Some(arg)) if takes_value(arg) => Fate::Valued,
            (Fate::Refused(_), Some(_)) => Fate::Flag,
            (fate, _) => fate,
        })
    }

    /// Refuses a long option's name after a single dash, because each of its letters would be read as an option.
    fn refuse_single_dash(&self, letters: &[u8]) -> Result<(), Complaint> {
        let name = letters.split(|&byte| byte == b'=').next().unwrap_or_default();
        let name = String::from_utf8_lossy(name);
        let mut longs = self.command.get_arguments().filter_map(Arg::get_long);
        if name.len() < 2 || !longs.any(|long| long == name) {
            return Ok(());
        }
        Err(unknown(&format!("-{name}"), Some(format!("--{name}"))))
    }

    /// Returns an option's value: the text attached to it, else the next word.
    fn value(&mut self, option: &str, attached: Option<OsString>) -> Result<OsString, Complaint> {
        let value = attached.or_else(|| self.args.next()).filter(|value| !value.is_empty());
        value.ok_or_else(|| Complaint::new(format!("option {option} needs a value")))
    }

    fn push_valued(&mut self, option: String, value: &OsStr) {
        let mut word = OsString::from(option);
        word.push(value);
        self.line.words.push(word);
    }

    fn option(&self, name: &str) -> &'a Arg {
        let found = self.command.get_arguments().find(|arg| arg.get_long() == Some(name));
        found.expect("the name was found in this definition")
    }
}

/// Returns whether an option's value may be left out. If so, a value can only follow an equals sign.
pub(super) fn is_optional(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|count| count.min_values() == 0) && takes_value(arg)
}

pub(super) fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

fn unknown(option: &str, near: Option<String>) -> Complaint {
    Complaint::new(rove_cli_docs::unknown_option(option, near.as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::host;

    fn line(text: &str, is_posix: bool) -> Result<Line, Vec<Complaint>> {
        let args = text.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect();
        let end = if is_posix { OptionsEnd::Host } else { OptionsEnd::RemoteCommand };
        read(&host::definition(), args, end)
    }

    /// Parses a line. Returns the words for clap, the words for ssh, and the complaints.
    fn sorted(text: &str) -> (String, String, String) {
        match line(text, false) {
            Ok(line) => {
                let words = line.words.join(OsStr::new(" ")).into_string().unwrap();
                let ssh = if line.asks_ssh { "ask".to_owned() } else { line.ssh.join(" ") };
                (words, ssh, String::new())
            }
            Err(complaints) => {
                let all: Vec<String> = complaints.into_iter().map(|it| it.sentence).collect();
                (String::new(), String::new(), all.join("|"))
            }
        }
    }

    #[test]
    fn sshs_options_go_to_ssh_and_roves_stay() {
        for (text, words, ssh) in [
            ("h", "-- h", ""),
            ("-i key h", "-- h", "-i key"),
            ("-ikey h", "-- h", "-i key"),
            ("-l alice h", "-- h", "-l alice"),
            ("h -l alice ls -l", "-- h ls -l", "-l alice"),
            ("-J jump -F file -E log h", "-- h", "-J jump -F file -E log"),
            ("-o A=b -oC=d h", "-- h", "-o A=b -o C=d"),
            ("-vvC h", "-- h", "-v -v -C"),
            ("-Cikey h", "-- h", "-C -i key"),
            ("-q h", "-q -- h", "-q"),
            ("--quiet h", "--quiet -- h", ""),
            ("-G h", "-- h", "ask"),
            ("-4 -6 h", "-4 -6 -- h", ""),
            ("-an h", "-a -n -- h", ""),
            ("-p 5 h", "-p5 -- h", ""),
            ("-p5:6 h", "-p5:6 -- h", ""),
            ("-p=5 h", "-p5 -- h", ""),
            ("-4p5 h", "-4 -p5 -- h", ""),
            ("-h", "-h --", ""),
            ("-V", "-V --", ""),
            ("--port 5 h", "--port=5 -- h", ""),
            ("--ssh=a=b h", "--ssh=a=b -- h", ""),
            ("--noinit --no-init h", "--no-init --no-init -- h", ""),
            ("--sc h", "--scrollback -- h", ""),
            ("-- h ls -l", "-- h ls -l", ""),
            ("h -- ls -L", "-- h ls -L", ""),
            ("h ls -p 5 -- x", "-- h ls -p 5 -- x", ""),
            ("-", "-- -", ""),
            ("--family -- h", "--family=-- -- h", ""),
        ] {
            assert_eq!(sorted(text), (words.to_owned(), ssh.to_owned(), String::new()), "{text}");
        }
    }

    #[test]
    fn errors_quote_the_word_as_written_with_the_likely_one() {
        for (text, wanted) in [
            ("--predct x h", "unknown option --predct; did you mean --predict?"),
            ("--bogus --bogus2 h", "unknown option --bogus|unknown option --bogus2"),
            ("-Z h", "unknown option -Z"),
            ("-H", "unknown option -H; did you mean -h?"),
            ("--p 5 h", "unknown option --p"),
            ("--PORT=5 h", "unknown option --PORT; did you mean --port?"),
            ("-no-init h", "unknown option -no-init; did you mean --no-init?"),
            ("-local h", "unknown option -local; did you mean --local?"),
            ("--pred x h", "option --pred is ambiguous: --predict, --predict-overwrite"),
            ("--port= h", "option --port needs a value"),
            ("h --ssh", "option --ssh needs a value"),
            ("-i", "option -i needs a value"),
            ("--strict=3 h", "option --strict takes no value"),
        ] {
            assert_eq!(sorted(text).2, wanted, "{text}");
        }
        for letter in "ALRDXYWtTNf".chars() {
            let complaints = line(&format!("-{letter} h"), false).unwrap_err();
            let [complaint] = complaints.as_slice() else { panic!("{complaints:?}") };
            assert!(complaint.sentence.starts_with(&format!("-{letter}: ")), "{complaint:?}");
            assert!(!complaint.wants_usage && complaint.sentence.contains("; "), "{complaint:?}");
        }
    }

    #[test]
    fn options_end_at_the_host_where_posix_wants_that() {
        let words = |text: &str| line(text, true).unwrap().words.join(OsStr::new(" "));
        assert_eq!(words("-p 5 h -a"), "-p5 -- h -a");
        assert_eq!(words("h -p 5"), "-- h -p 5");
    }
}
