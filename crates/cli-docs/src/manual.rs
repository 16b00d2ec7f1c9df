//! The description of a command for its users. This description, with the clap definition that parses the command line,
//! is the source of `--help`, completions and manual pages.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command, ValueHint};

use crate::texts::{Entries, List, Texts};

/// Widest line of the help's lists and notes, in columns; clap wraps the options. Chosen: the narrowest usual terminal.
pub(crate) const HELP_COLUMNS: usize = 80;
/// Widest left column of a list in the help, in columns. A longer entry gets its own line. Chosen: half a line.
const LEFT_COLUMNS_MAX: usize = 40;

/// The description of a program, without its commands.
pub struct Program {
    /// The name of the program.
    pub name: &'static str,
    /// A description of the program: a paragraph, whose first sentence can stand alone.
    pub about: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// The names of other programs to which the manual pages refer.
    pub see_also: &'static [&'static str],
}

/// The description of a program and all of its commands.
pub struct Book {
    /// The description of the program itself.
    pub program: &'static Program,
    /// Returns the manuals, in the order of the help. The first is the manual of the program itself.
    pub manuals: fn() -> Vec<&'static Manual>,
}

/// The description of one command.
pub struct Manual {
    /// The program that the command belongs to.
    pub program: &'static Program,
    /// The command's name on the command line. Empty in the manual of the program itself.
    pub word: &'static str,
    /// Returns the clap definition of the command, in which each option has its help.
    pub definition: fn() -> Command,
    /// The arguments that the command accepts besides options.
    pub words: Words,
    /// The texts of the command: the content of a TOML file that has the fields of [`Texts`].
    pub text: &'static str,
}

/// The kinds of a command's arguments besides options. Completion chooses the candidates by the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// Arguments for which completion has no candidates.
    Unknown,
    /// The word `[user@]host`.
    Host,
    /// The word `[user@]host`, then names of files on this computer.
    HostAndFiles,
    /// The word `[user@]host`, then a command for the host. Rove reads no options after the command's first word.
    HostAndCommand,
    /// A command that runs on this computer, after `--`.
    Command,
    /// A word of this list.
    OneOf(&'static [&'static str]),
    /// A word of this list. If it is the word in the second field, a host's name follows it.
    OneOfThenHost(&'static [&'static str], &'static str),
    /// The name of a command of this program.
    OurCommands,
    /// UDP ports of sessions, as the program's `list` command shows them in its second column. A `[user@]host` may
    /// precede the ports, but completion does not ask that host for its sessions.
    HostThenSessions,
}

/// An option of a command, as completions and manual pages show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionEntry {
    /// The letter of the short form, such as `p` for `-p`. `None` if there is no short form.
    pub short: Option<char>,
    /// The name of the long form, such as `port` for `--port`. `None` if there is no long form.
    pub long: Option<String>,
    /// The effect of the option, as the help describes it.
    pub help: String,
    /// The value of the option. `None` if it takes no value.
    pub value: Option<Value>,
    /// Whether the option may be given more than once.
    pub repeats: bool,
}

/// The value that an option takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The name of the value in the help, such as `PORT`.
    pub name: String,
    /// The values that completion offers.
    pub suggestions: Suggestions,
}

/// The values that completion offers for an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suggestions {
    /// No values are offered.
    None,
    /// These words are offered.
    Words(Vec<String>),
    /// The names of programs are offered.
    Programs,
    /// The names of files are offered.
    Files,
    /// The names of hosts are offered.
    Hosts,
}

impl Book {
    /// Returns the names of the program's commands.
    pub fn command_words(&self) -> Vec<&'static str> {
        self.commands().iter().map(|manual| manual.word).collect()
    }

    /// Returns the manuals of the program's commands, without the manual of the program itself.
    pub fn commands(&self) -> Vec<&'static Manual> {
        (self.manuals)().into_iter().skip(1).collect()
    }

    /// Returns the clap definition of a command, with all that `--help` shows after the options. For the program itself
    /// this includes the list of commands.
    pub fn command(&self, manual: &Manual) -> Command {
        let commands = if manual.word.is_empty() { self.commands() } else { Vec::new() };
        (manual.definition)().after_help(manual.after_help(&commands))
    }

    /// Returns the text of a command's `--help`.
    pub fn help(&self, manual: &Manual) -> String {
        self.command(manual).render_help().to_string()
    }
}

impl Manual {
    /// Returns a manual of `program` without texts. Other manuals copy the fields that they do not set from it.
    pub const fn of(program: &'static Program) -> Self {
        Self { program, word: "", definition: Command::default, words: Words::Unknown, text: "" }
    }

    /// Returns the words that call the command, such as `rove demo`.
    pub fn called(&self) -> String {
        let program = self.program.name;
        if self.word.is_empty() { program.to_owned() } else { format!("{program} {}", self.word) }
    }

    /// Returns the texts of the command. Reads them from TOML at each call.
    ///
    /// # Panics
    ///
    /// Panics if the file of the manual is wrong. [`assert_integrity`](crate::assert_integrity) reads each file.
    pub fn texts(&self) -> Texts {
        Texts::read(self.text)
            .unwrap_or_else(|error| panic!("the manual of {}: {error}", self.called()))
    }

    /// Returns the clap definition with all that `--help` shows after the options, except the list of commands.
    pub fn command(&self) -> Command {
        (self.definition)().after_help(self.after_help(&[]))
    }

    /// Returns the text of `--help`, except the list of commands.
    pub fn help(&self) -> String {
        self.command().render_help().to_string()
    }

    /// Returns the usage of the command, without the word `Usage:`. Each form of the command has its own line.
    pub fn usage(&self) -> String {
        let usage = (self.definition)().render_usage().to_string();
        usage.strip_prefix("Usage: ").unwrap_or(&usage).to_owned()
    }

    /// Returns the purpose of the command, in one line.
    pub fn about(&self) -> String {
        (self.definition)().get_about().map(ToString::to_string).unwrap_or_default()
    }

    /// Returns the options of the command that `--help` lists.
    pub fn options(&self) -> Vec<OptionEntry> {
        let mut command = (self.definition)();
        // The build adds --help and --version to a definition that leaves them to clap.
        command.build();
        command
            .get_arguments()
            .filter(|arg| !arg.is_positional() && !arg.is_hide_set())
            .map(OptionEntry::of)
            .collect()
    }

    /// Returns the text that `--help` shows after the options, with a list of `commands`.
    fn after_help(&self, commands: &[&Self]) -> String {
        let texts = self.texts();
        let mut text = String::new();
        list(&mut text, "Examples", &texts.examples);
        for note in &texts.notes {
            text.push_str(&wrap(note, 0));
            text.push('\n');
        }
        for List { heading, entries } in &texts.lists {
            list(&mut text, heading, entries);
        }
        let commands: Entries =
            commands.iter().map(|manual| (manual.word.to_owned(), manual.about())).collect();
        list(&mut text, "Commands, each with its own --help", &commands);
        list(&mut text, "Environment", &texts.environment);
        list(&mut text, "Files", &texts.files);
        list(&mut text, "Exit status", &texts.exit_status);
        text.trim_end().to_owned()
    }
}

impl OptionEntry {
    /// Returns the description of an option from its clap definition.
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

    /// Returns the forms of the option with their dashes, the short form first.
    pub fn spellings(&self) -> Vec<String> {
        let short = self.short.map(|letter| format!("-{letter}"));
        short.into_iter().chain(self.long.as_ref().map(|name| format!("--{name}"))).collect()
    }
}

/// A clap parser that accepts any text, and offers these words as completions. The command itself checks the text
/// later, so that errors have the program's own order and wording.
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

/// Returns the letters of the short options: first the options without a value, then the options with a value. Omits
/// options that also have a long form, because the caller recognises them earlier.
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

/// Parses the arguments of a command by its clap definition. Reads the texts of the manual only for a request for help.
///
/// # Errors
///
/// Returns clap's error, which may be a request for help.
pub fn matches(manual: &Manual, args: Vec<OsString>) -> Result<clap::ArgMatches, clap::Error> {
    let parsed = |command: Command| command.no_binary_name(true).try_get_matches_from(&args);
    match parsed((manual.definition)()) {
        Err(error) if error.kind() == ErrorKind::DisplayHelp => parsed(manual.command()),
        parsed => parsed,
    }
}

/// Appends a list in two columns under a heading, and an empty line. Appends nothing for an empty list.
fn list(text: &mut String, heading: &str, entries: &[(String, String)]) {
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

/// Breaks a paragraph into lines of at most [`HELP_COLUMNS`] columns. Each line is indented and has a line end.
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
        let entries = [("a", "one"), ("bcd", "two"), (long.as_str(), "three")];
        let entries = entries.map(|(left, right)| (left.to_owned(), right.to_owned()));
        list(&mut text, "Things", &entries);
        assert_eq!(text, format!("Things:\n  a    one\n  bcd  two\n  {long}\n       three\n\n"));
    }

    #[test]
    fn the_texts_are_read_only_for_the_help() {
        static PROGRAM: Program = Program { name: "test", about: "", version: "1", see_also: &[] };
        let manual = |text| Manual {
            definition: || Command::new("test").version("1").arg(Arg::new("port")),
            text,
            ..Manual::of(&PROGRAM)
        };
        for word in ["60001", "--version", "--nonsense"] {
            let _ = matches(&manual("not TOML"), vec![word.into()]);
        }
        let help = matches(&manual("notes = ['Read me.']"), vec!["--help".into()]);
        assert!(help.unwrap_err().to_string().ends_with("Read me.\n"));
    }
}
