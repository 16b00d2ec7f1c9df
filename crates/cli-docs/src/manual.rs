//! The description of a command for its users: `--help`, completions and man pages all come from here and
//! from the clap definition that the parser reads.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, ArgAction, Command, ValueHint};

/// Widest line of help beside the options, which clap wraps. Chosen: the narrowest usual terminal.
pub(crate) const HELP_COLUMNS: usize = 80;
/// Longest left column of a two-column list in the help. Chosen: leaves half a line for the right one.
const LEFT_COLUMNS_MAX: usize = 40;

/// The description of a program, without its commands.
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// A description of it: a paragraph, whose first sentence can stand alone.
    pub about: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Other programs that its pages point to.
    pub see_also: &'static [&'static str],
}

/// The whole description of a program.
pub struct Book {
    /// The program.
    pub program: &'static Program,
    /// Its commands, in the order in which the help lists them. The first one describes the program when it is
    /// called without a command's word.
    pub manuals: fn() -> Vec<&'static Manual>,
}

/// Terms, each with what it means.
pub type Entries = &'static [(&'static str, &'static str)];

/// The whole description of a command.
pub struct Manual {
    /// The program it is a command of.
    pub program: &'static Program,
    /// The word after the program's name; empty for the command without a word.
    pub word: &'static str,
    /// Its options, with what each does.
    pub definition: fn() -> Command,
    /// The kind of its other words.
    pub words: Words,
    /// Paragraphs behind the options.
    pub notes: &'static [&'static str],
    /// Lists of terms under headings of their own.
    pub lists: &'static [(&'static str, Entries)],
    /// Command lines, each with what it does.
    pub examples: Entries,
    /// Environment variables, each with what it does.
    pub environment: Entries,
    /// Files, each with what it holds.
    pub files: Entries,
    /// Exit codes, each with what it says.
    pub exit_status: Entries,
}

/// The words of a command line beside options, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// Nothing that could be known beforehand.
    Unknown,
    /// `[user@]host`.
    Host,
    /// `[user@]host`, then a command there. Options end at that command.
    HostAndCommand,
    /// A command of this computer behind `--`.
    Command,
    /// A word of this list.
    OneOf(&'static [&'static str]),
    /// A word of this list; after the word in the second field, the name of a host.
    OneOfThenHost(&'static [&'static str], &'static str),
    /// The name of another command of the program.
    OurCommands,
    /// Sessions, as the program's command `list` tells them: their ports are in the second column. A `[user@]host` may
    /// stand in front of them; which sessions that has is not asked for a completion.
    HostThenSessions,
}

/// An option as completions and man pages show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionEntry {
    /// `-p`, without the dash.
    pub short: Option<char>,
    /// `--port`, without the dashes.
    pub long: Option<String>,
    /// Its effect, as the help states it.
    pub help: String,
    /// Its value, if it takes one.
    pub value: Option<Value>,
    /// Whether it may be given more than once.
    pub repeats: bool,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its name in the help.
    pub name: String,
    /// The values that completion offers.
    pub suggestions: Suggestions,
}

/// The values that a shell can offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suggestions {
    /// Nothing.
    None,
    /// These words.
    Words(Vec<String>),
    /// Names of programs.
    Programs,
    /// Names of files.
    Files,
    /// Names of hosts.
    Hosts,
}

impl Book {
    /// Returns the words by which commands are called.
    pub fn command_words(&self) -> Vec<&'static str> {
        self.commands().iter().map(|manual| manual.word).collect()
    }

    /// Returns the manuals of those.
    pub fn commands(&self) -> Vec<&'static Manual> {
        (self.manuals)().into_iter().skip(1).collect()
    }

    /// Returns the definition of a command with everything that `--help` shows behind the options; the program's own
    /// shows the other commands there.
    pub fn command(&self, manual: &Manual) -> Command {
        let commands = if manual.word.is_empty() { self.commands() } else { Vec::new() };
        (manual.definition)().after_help(manual.after_help(&commands))
    }

    /// Returns the help of a command.
    pub fn help(&self, manual: &Manual) -> String {
        self.command(manual).render_help().to_string()
    }
}

impl Manual {
    /// Returns how the command is called: `rove` or `rove demo`.
    pub fn called(&self) -> String {
        let program = self.program.name;
        if self.word.is_empty() { program.to_owned() } else { format!("{program} {}", self.word) }
    }

    /// Returns the definition with everything that `--help` shows behind the options, but for the program's commands.
    pub fn command(&self) -> Command {
        (self.definition)().after_help(self.after_help(&[]))
    }

    /// Returns the help, but for the program's commands.
    pub fn help(&self) -> String {
        self.command().render_help().to_string()
    }

    /// Returns the usage without its heading.
    pub fn usage(&self) -> String {
        let usage = (self.definition)().render_usage().to_string();
        usage.strip_prefix("Usage: ").unwrap_or(&usage).to_owned()
    }

    /// Returns what the command is for, in one line.
    pub fn about(&self) -> String {
        (self.definition)().get_about().map(ToString::to_string).unwrap_or_default()
    }

    /// Returns the options that `--help` lists.
    pub fn options(&self) -> Vec<OptionEntry> {
        let mut command = (self.definition)();
        // Adds --help and --version where a definition leaves them to clap.
        command.build();
        command
            .get_arguments()
            .filter(|arg| !arg.is_positional() && !arg.is_hide_set())
            .map(OptionEntry::of)
            .collect()
    }

    /// Returns what `--help` shows behind the options.
    fn after_help(&self, commands: &[&Self]) -> String {
        let mut text = String::new();
        list(&mut text, "Examples", self.examples);
        for note in self.notes {
            text.push_str(&wrap(note, 0));
            text.push('\n');
        }
        for (heading, entries) in self.lists {
            list(&mut text, heading, entries);
        }
        let commands: Vec<_> =
            commands.iter().map(|manual| (manual.word, manual.about())).collect();
        let commands: Vec<_> =
            commands.iter().map(|(word, about)| (*word, about.as_str())).collect();
        list(&mut text, "Commands, each with its own --help", &commands);
        list(&mut text, "Environment", self.environment);
        list(&mut text, "Files", self.files);
        list(&mut text, "Exit status", self.exit_status);
        text.trim_end().to_owned()
    }
}

impl OptionEntry {
    /// Returns what a definition says of an option.
    fn of(arg: &Arg) -> Self {
        let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
        let name = arg.get_value_names().map(|names| names.join(" ")).unwrap_or_default();
        let words: Vec<String> =
            arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
        let suggestions = match arg.get_value_hint() {
            _ if !words.is_empty() => Suggestions::Words(words),
            ValueHint::CommandName | ValueHint::CommandString => Suggestions::Programs,
            ValueHint::Hostname => Suggestions::Hosts,
            ValueHint::FilePath | ValueHint::AnyPath => Suggestions::Files,
            _ => Suggestions::None,
        };
        Self {
            short: arg.get_short(),
            long: arg.get_long().map(str::to_owned),
            help: arg.get_help().map(ToString::to_string).unwrap_or_default(),
            value: takes_value.then_some(Value { name, suggestions }),
            repeats: matches!(arg.get_action(), ArgAction::Append | ArgAction::Count),
        }
    }

    /// Returns the option's spellings, dashes included, the short one first.
    pub fn spellings(&self) -> Vec<String> {
        let short = self.short.map(|letter| format!("-{letter}"));
        short.into_iter().chain(self.long.as_ref().map(|name| format!("--{name}"))).collect()
    }
}

/// Reads any text, and tells completions what it should be. It is checked later, in an order and
/// in words of our own.
#[derive(Clone)]
pub struct Suggested(pub &'static [&'static str]);

impl TypedValueParser for Suggested {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(|word| PossibleValue::new(*word))))
    }
}

/// Returns the letters of a definition's short options as getopt wants them: those without a value,
/// and those with one. Options that have a long form too are recognised before getopt reads.
pub fn getopt_letters(definition: &Command) -> (String, String) {
    let takes_value = |arg: &&Arg| matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let letters = |of_values| {
        definition
            .get_arguments()
            .filter(|arg| arg.get_long().is_none() && takes_value(arg) == of_values)
            .filter_map(Arg::get_short)
            .collect()
    };
    (letters(false), letters(true))
}

/// Reads the words of a command that clap reads as it stands.
///
/// # Errors
///
/// Returns clap's error, which may be a request for help.
pub fn matches(manual: &Manual, args: Vec<OsString>) -> Result<clap::ArgMatches, clap::Error> {
    manual.command().no_binary_name(true).try_get_matches_from(args)
}

/// Appends a two-column list under a heading, and an empty line.
fn list(text: &mut String, heading: &str, entries: &[(&str, &str)]) {
    if entries.is_empty() {
        return;
    }
    let width = entries.iter().map(|(left, _)| left.chars().count());
    let width = width.filter(|width| *width <= LEFT_COLUMNS_MAX).max().unwrap_or(0);
    let _ = writeln!(text, "{heading}:");
    for (left, right) in entries {
        let right = wrap(right, width + 4);
        let right = right.trim_start();
        if left.chars().count() <= width {
            let _ = write!(text, "  {left:<width$}  {right}");
        } else {
            let _ = write!(text, "  {left}\n{:indent$}{right}", "", indent = width + 4);
        }
    }
    text.push('\n');
}

/// Breaks a paragraph into lines, each indented, each ended.
fn wrap(text: &str, indent: usize) -> String {
    let mut out = String::new();
    let mut column = HELP_COLUMNS;
    for word in text.split(' ') {
        let width = word.chars().count();
        if column + 1 + width > HELP_COLUMNS {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&" ".repeat(indent));
            column = indent + width;
        } else {
            out.push(' ');
            column += 1 + width;
        }
        out.push_str(word);
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_two_columns_and_long_entries_their_own_line() {
        let long = "x".repeat(LEFT_COLUMNS_MAX + 1);
        let mut text = String::new();
        list(&mut text, "Things", &[("a", "one"), ("bcd", "two"), (&long, "three")]);
        assert_eq!(text, format!("Things:\n  a    one\n  bcd  two\n  {long}\n       three\n\n"));
    }
}
