//! The output of a program's `complete` command: candidates for the last word of a command line.
//!
//! The first line names the kind of the candidates. After `words`, each further line is a candidate, with its meaning
//! after a tab. After `files` or `commands`, the shell finds the candidates itself. After `arguments N`, word N of the
//! line is a command (the program's own name is word 0), whose arguments the shell completes.

use std::ffi::OsString;

use crate::manual::{Book, Manual, OptionEntry, Suggestions, Words};

/// Names that a program offers as candidates. [`answer`] calls a function only when it needs the names.
pub struct Names {
    /// Returns the names of hosts.
    pub hosts: fn() -> Vec<String>,
    /// Returns the UDP ports of sessions, each with a description.
    pub sessions: fn() -> Vec<(String, String)>,
}

impl Names {
    /// The names of a program that knows neither hosts nor sessions.
    pub const NONE: Self = Self { hosts: Vec::new, sessions: Vec::new };
}

/// The candidates for a word, each with its meaning (`Words`). For the other variants, the shell finds the candidates.
enum Place {
    Words(Vec<(String, String)>),
    Files,
    Commands,
    Arguments(usize),
}

/// The words of a command line in front of the word that is completed.
struct Line {
    manual: &'static Manual,
    options: Vec<OptionEntry>,
    /// The words that are neither the command's name nor an option nor an option's value.
    named: Vec<String>,
    /// The number of the word at which a command to run begins; the program's name is word 0. `None` without a command.
    command_at: Option<usize>,
    /// The option whose value is the word to complete. `None` if that word is not an option's value.
    awaiting: Option<OptionEntry>,
    /// Whether all further words are arguments, even if they begin with `-`.
    is_behind_options: bool,
    /// Whether the line has only the program's name in front of the word to complete.
    is_empty: bool,
}

/// Returns the answer to `complete [--part=TEXT] -- WORD...`, whose last word is to be completed. A shell that splits
/// words (bash) replaces only the end of the last word, and states this end as `TEXT`.
///
/// No candidate contains control characters, and only options begin with `-`.
pub fn answer(book: &Book, names: &Names, args: &[OsString]) -> String {
    let mut args: Vec<String> =
        args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let words = args.iter().position(|word| word == "--").map_or(args.len(), |at| at + 1);
    let mut words = joined(&args.split_off(words));
    let part = args.first().and_then(|word| word.strip_prefix("--part="));
    let word = words.pop().unwrap_or_default();
    let kept = part.and_then(|part| word.strip_suffix(part)).unwrap_or_default();
    let words = match Line::read(book, &words).place(book, names, &word) {
        Place::Files => return "files\n".to_owned(),
        Place::Commands => return "commands\n".to_owned(),
        Place::Arguments(at) => return format!("arguments {at}\n"),
        Place::Words(words) => words,
    };
    let mut answer = String::from("words\n");
    for (candidate, meaning) in words {
        if candidate.starts_with(&word) && !candidate.contains(char::is_control) {
            answer.push_str(candidate.strip_prefix(kept).unwrap_or(&candidate));
            if !meaning.is_empty() {
                answer.push('\t');
                answer.push_str(&meaning.replace(char::is_control, " "));
            }
            answer.push('\n');
        }
    }
    answer
}

/// Joins the parts of `--option=value` and `user@host`, which bash passes as separate words.
fn joined(words: &[String]) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    let mut goes_on = false;
    for word in words {
        let may_be = |last: &String| match word.as_bytes() {
            b"=" => last.starts_with("--") && !last.contains('='),
            [b'@', ..] => !last.starts_with('-'),
            _ => false,
        };
        match joined.last_mut() {
            Some(last) if goes_on || may_be(last) => {
                last.push_str(word);
                goes_on = !goes_on && ["=", "@"].contains(&word.as_str());
            }
            _ => joined.push(word.clone()),
        }
    }
    joined
}

impl Line {
    fn read(book: &Book, words: &[String]) -> Self {
        let command = words.first();
        let command =
            command.and_then(|word| book.commands().into_iter().find(|it| it.word == word));
        let manual = command.unwrap_or_else(|| (book.manuals)()[0]);
        let mut line = Self {
            manual,
            options: manual.options(),
            named: Vec::new(),
            command_at: None,
            awaiting: None,
            is_behind_options: false,
            is_empty: words.is_empty(),
        };
        for (at, word) in words.iter().enumerate().skip(usize::from(command.is_some())) {
            let is_option = !line.is_behind_options && word.len() > 1 && word.starts_with('-');
            if line.awaiting.take().is_some() {
            } else if !is_option {
                line.named.push(word.clone());
                let is_remote = manual.words == Words::HostAndCommand && line.named.len() == 2;
                if is_remote || manual.words == Words::Command && line.is_behind_options {
                    line.command_at = line.command_at.or(Some(at + 1));
                    line.is_behind_options = true;
                }
            } else if word == "--" {
                line.is_behind_options = true;
            } else {
                line.awaiting =
                    line.valued(word).filter(|(_, value)| value.is_none()).map(|it| it.0);
            }
        }
        line
    }

    /// Returns the option in `word` that takes a value, and the part of `word` before the value: `--port=` in
    /// `--port=22`. This part is `None` if the value is the next word. Returns `None` if `word` has no such option.
    fn valued<'a>(&self, word: &'a str) -> Option<(OptionEntry, Option<&'a str>)> {
        let takes_value = |entry: &&OptionEntry| entry.value.is_some();
        if let Some(name) = word.strip_prefix("--") {
            let (name, value) = name.split_once('=').map_or((name, None), |it| (it.0, Some(it.1)));
            let entry = self.options.iter().find(|it| it.long.as_deref() == Some(name));
            let prefix = value.map(|value| &word[..word.len() - value.len()]);
            return Some((entry.filter(takes_value)?.clone(), prefix));
        }
        let (at, entry) = word.char_indices().skip(1).find_map(|(at, letter)| {
            let entry = self.options.iter().find(|it| it.short == Some(letter))?;
            takes_value(&entry).then_some((at + letter.len_utf8(), entry))
        })?;
        Some((entry.clone(), Some(&word[..at]).filter(|prefix| prefix.len() < word.len())))
    }

    /// Returns the candidates for `word`.
    fn place(&self, book: &Book, names: &Names, word: &str) -> Place {
        if let Some(option) = &self.awaiting {
            return values(option, "", names, word);
        }
        if word.starts_with('-') && !self.is_behind_options {
            return match self.valued(word) {
                Some((option, Some(prefix))) => values(&option, prefix, names, word),
                _ => Place::Words(self.options()),
            };
        }
        if let Some(at) = self.command_at {
            return Place::Arguments(at);
        }
        let is_first = self.named.is_empty();
        let mut words = Vec::new();
        match self.manual.words {
            Words::HostAndCommand if self.named.len() == 1 => return Place::Commands,
            Words::Command if self.is_behind_options => return Place::Commands,
            Words::OneOf(own) | Words::OneOfThenHost(own, _) if is_first => {
                words.extend(own.iter().map(|word| ((*word).to_owned(), String::new())));
            }
            Words::OurCommands if is_first => words = commands(book),
            Words::OneOfThenHost(_, before) if self.named == [before] => words = hosts(names, word),
            Words::Host | Words::HostAndFiles if is_first => words = hosts(names, word),
            Words::HostAndFiles => return Place::Files,
            Words::HostAndCommand => {
                if self.is_empty && !word.contains('@') {
                    words = commands(book);
                }
                words.extend(hosts(names, word));
            }
            Words::HostThenSessions => {
                if is_first {
                    words = hosts(names, word);
                }
                if self.named.first().is_none_or(|it| it.bytes().all(|it| it.is_ascii_digit())) {
                    words.extend((names.sessions)());
                }
            }
            _ => {}
        }
        if words.is_empty() && word.is_empty() && !self.is_behind_options {
            words = self.options();
        }
        Place::Words(words)
    }

    /// Returns the command's options with their dashes. A long option with a value ends with `=`.
    fn options(&self) -> Vec<(String, String)> {
        let spellings = self.options.iter().flat_map(|option| {
            let valued = option.value.is_some();
            option.spellings().into_iter().map(move |spelling| {
                let equals = if valued && spelling.starts_with("--") { "=" } else { "" };
                (spelling + equals, option.help.clone())
            })
        });
        spellings.collect()
    }
}

/// Returns the candidates for an option's value, each with `prefix` before it.
fn values(option: &OptionEntry, prefix: &str, names: &Names, word: &str) -> Place {
    let words = match option.value.as_ref().map(|value| &value.suggestions) {
        Some(Suggestions::Files) => return Place::Files,
        Some(Suggestions::Programs) => return Place::Commands,
        Some(Suggestions::Words(words)) => words.clone(),
        Some(Suggestions::Hosts) => {
            let hosts = hosts(names, word.strip_prefix(prefix).unwrap_or(word));
            hosts.into_iter().map(|(host, _)| host).collect()
        }
        Some(Suggestions::None) | None => Vec::new(),
    };
    let words = words.into_iter().filter(|word| !word.starts_with('-'));
    Place::Words(words.map(|word| (format!("{prefix}{word}"), String::new())).collect())
}

fn commands(book: &Book) -> Vec<(String, String)> {
    book.commands().iter().map(|manual| (manual.word.to_owned(), manual.about())).collect()
}

/// Returns the names of hosts, each after the `user@` that `word` begins with. Omits names that begin with `-`, because
/// programs would read them as options. Omits names with characters that no name or address has.
fn hosts(names: &Names, word: &str) -> Vec<(String, String)> {
    let user = word.rfind('@').map_or("", |at| &word[..=at]);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._:%-".contains(c);
    let hosts = (names.hosts)().into_iter();
    let hosts = hosts.filter(|host| !host.starts_with('-') && host.chars().all(is_plain));
    hosts
        .filter(|_| !user.starts_with('-'))
        .map(|host| (format!("{user}{host}"), String::new()))
        .collect()
}
