//! The command line: runs the command that was called, and returns its exit code.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::iter;
use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use rove_cli_docs::completions::{self, COMMAND, Names, answer};
use rove_cli_docs::{Book, Manual, Program, Words, man, matches, refusal, unknown_command};
use rove_remy::RemyOptions;
use rove_replay::record::RecordOptions;
use rove_replay::replay::ReplayOptions;
use rove_replay::screen::ScreenOptions;
use rove_runs::shown;

#[cfg(unix)]
use crate::cli::sprout::SproutArgs;
use crate::cli::trace::TraceArgs;
#[cfg(target_os = "linux")]
use crate::compare::{CompareOptions, replayed_program};
#[cfg(target_os = "linux")]
use crate::emulate::EmulateOptions;
use crate::experiment::artifact::ArtifactOptions;
use crate::experiment::programs::is_interrupt;
use crate::experiment::{self, FiguresOptions};

#[cfg(unix)]
mod sprout;
mod trace;

/// Exit code if something could not be read or written.
const FAILURE: u8 = 1;
/// Exit code for a command line that the program does not accept. Source: clap's exit code for it.
const USAGE: u8 = 2;
/// Exit code of `rove-lab figures` after its user interrupts runs in real time. Source: a shell's code after SIGINT.
const INTERRUPTED: u8 = 130;

/// The actions of `rove-lab remy`.
const REMY_ACTIONS: &[&str] = &["describe", "convert", "evaluate", "train", "worker"];

/// The options of `rove-lab remy` that only some actions use, each with these actions.
const REMY_USES: [(&str, &str); 12] = [
    ("TABLE", "describe, convert, evaluate"),
    ("--prior", "describe, evaluate, train"),
    ("--objective", "describe, evaluate, train"),
    ("--out", "describe, convert, train"),
    ("--begin", "train"),
    ("--seed", "describe, evaluate, train"),
    ("--epochs", "train"),
    ("--steps", "train"),
    ("--minutes", "train"),
    ("--threads", "describe, evaluate, train"),
    ("--engine", "train"),
    ("--json", "evaluate"),
];

/// Expands to the manual of the command `$word`, whose texts are in the file of that name.
macro_rules! manual {
    ($word:literal, $file:literal, $words:expr, $definition:expr) => {
        Manual {
            word: $word,
            words: $words,
            definition: || $definition,
            text: include_str!(concat!("../manuals/", $file, ".toml")),
            ..Manual::of(&LABORATORY)
        }
    };
}

/// Expands to the command `$word`, whose manual's texts are in the file of that name.
macro_rules! command {
    ($word:literal, $run:expr, $words:expr, $definition:expr) => {
        Subcommand { manual: manual!($word, $word, $words, $definition), run: $run }
    };
}

/// The laboratory's name, purpose and version.
static LABORATORY: Program = Program {
    name: "rove-lab",
    about: "rove-lab is the laboratory of rove, a remote shell that survives the network. Each of its commands \
            examines a part of rove, and tells what it found as text or as JSON.",
    version: env!("CARGO_PKG_VERSION"),
    see_also: &["rove"],
};

/// The help and manual pages of the laboratory and its commands.
static BOOK: Book = Book {
    program: &LABORATORY,
    manuals: || iter::once(&MANUAL).chain(COMMANDS.iter().map(|it| &it.manual)).collect(),
};

/// The help and manual page of the laboratory itself.
static MANUAL: Manual = manual!(
    "",
    "rove-lab",
    Words::OurCommands,
    Command::new("rove-lab")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Examines rove's parts, one command each")
        .override_usage("rove-lab COMMAND [options]")
);

/// A command that is called by a word after `rove-lab`.
struct Subcommand {
    manual: Manual,
    /// Runs the command with the arguments after its word, and returns the exit code.
    run: fn(&Manual, Vec<OsString>) -> u8,
}

/// The commands, in the order in which the help lists them.
static COMMANDS: &[Subcommand] = &[
    command!(
        "screen",
        run_screen,
        Words::Unknown,
        ScreenOptions::augment_args(Command::new("rove-lab screen"))
            .override_usage("rove-lab screen --size COLSxROWS [options] < recording")
    ),
    command!(
        "record",
        run_record,
        Words::Command,
        RecordOptions::augment_args(Command::new("rove-lab record"))
            .override_usage("rove-lab record [options] -- command...")
    ),
    command!(
        "replay",
        run_replay,
        Words::Unknown,
        ReplayOptions::augment_args(Command::new("rove-lab replay")).override_usage(
            "rove-lab replay [options] TRACE...\n       rove-lab replay [options] --traces DIR"
        )
    ),
    command!(
        "figures",
        run_figures,
        Words::Unknown,
        FiguresOptions::augment_args(Command::new("rove-lab figures"))
    ),
    command!(
        "artifact",
        run_artifact,
        Words::Unknown,
        ArtifactOptions::augment_args(Command::new("rove-lab artifact"))
    ),
    command!(
        "remy",
        run_remy,
        Words::OneOf(REMY_ACTIONS),
        RemyOptions::augment_args(Command::new("rove-lab remy"))
    ),
    #[cfg(unix)]
    command!(
        "sprout",
        run_sprout,
        Words::Unknown,
        SproutArgs::augment_args(Command::new("rove-lab sprout"))
    ),
    command!(
        "trace",
        run_trace,
        Words::Unknown,
        TraceArgs::augment_args(Command::new("rove-lab trace"))
    ),
    #[cfg(target_os = "linux")]
    command!(
        "compare",
        run_compare,
        Words::Unknown,
        CompareOptions::augment_args(Command::new("rove-lab compare"))
            .override_usage("rove-lab compare [options] RECORDING...")
    ),
    #[cfg(target_os = "linux")]
    command!(
        "emulate",
        run_emulate,
        Words::Command,
        EmulateOptions::augment_args(Command::new("rove-lab emulate")).override_usage(
            "rove-lab emulate [options] [-- command...]\n       rove-lab emulate --check [CHECK...]"
        )
    ),
    command!(
        "completions",
        run_completions,
        Words::OneOf(completions::SHELLS),
        completions::definition(
            "rove-lab completions",
            "Prints a script that lets a shell complete the laboratory's commands and options",
            "rove-lab completions bash|zsh|fish"
        )
    ),
    command!(
        "man",
        run_man,
        Words::OurCommands,
        man::definition("rove-lab man", "rove-lab man [COMMAND]")
    ),
];

/// Returns the command that is called by `word`.
fn command(word: &OsString) -> Option<&'static Subcommand> {
    COMMANDS.iter().find(|command| word == command.manual.word)
}

/// Runs the command that `args` call. The first of `args` is the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().skip(1).collect();
    // No person calls `play`: `rove-lab compare` starts this program with that word at the far side.
    #[cfg(target_os = "linux")]
    if let [word, rest @ ..] = args.as_slice()
        && word == replayed_program::WORD
        && let Some(compare) = command(&"compare".into())
    {
        return ExitCode::from(ended(&compare.manual, done(replayed_program::play(rest))));
    }
    let called = args.split_first().and_then(|(word, rest)| Some((command(word)?, rest)));
    ExitCode::from(match called {
        Some((command, rest)) => (command.run)(&command.manual, rest.to_vec()),
        None => run_without_command(args),
    })
}

/// Answers a command line that names no command. Returns the exit code.
fn run_without_command(args: Vec<OsString>) -> u8 {
    match args.first().map(|word| word.to_string_lossy()) {
        Some(word) if word == COMMAND => print(&answer(&BOOK, &Names::NONE, &args)),
        Some(word) if !word.starts_with('-') => {
            complain(&MANUAL, &unknown_command(&BOOK, &word));
            USAGE
        }
        Some(_) => BOOK
            .command(&MANUAL)
            .no_binary_name(true)
            .try_get_matches_from(args)
            .map_or_else(|error| refuse(&MANUAL, &error), |_| USAGE),
        None => {
            // A closed standard error is no failure of the command.
            let _ = writeln!(shown::stderr(), "{}", BOOK.help(&MANUAL));
            USAGE
        }
    }
}

/// The reason why a command failed.
enum Complaint {
    /// The command line is wrong, as this sentence says.
    Usage(String),
    /// Something could not be read, run or written.
    Failure(anyhow::Error),
}

impl From<anyhow::Error> for Complaint {
    fn from(error: anyhow::Error) -> Self {
        Self::Failure(error)
    }
}

/// Reads the arguments after a command's word, and runs the command. Returns the exit code.
fn call<T: FromArgMatches>(
    manual: &Manual,
    args: Vec<OsString>,
    run: impl FnOnce(T) -> Result<u8, Complaint>,
) -> u8 {
    call_action(manual, &[], args, run)
}

/// Works as [`call`] does, but refuses options that the called action does not use. `uses` lists each option's actions.
fn call_action<T: FromArgMatches>(
    manual: &Manual,
    uses: &[(&str, &str)],
    args: Vec<OsString>,
    run: impl FnOnce(T) -> Result<u8, Complaint>,
) -> u8 {
    let read =
        matches(manual, args).and_then(|it| Ok((T::from_arg_matches(&it)?, unused(&it, uses))));
    match read {
        Ok((options, None)) => ended(manual, run(options)),
        Ok((_, Some(sentence))) => ended(manual, Err(Complaint::Usage(sentence))),
        Err(error) => refuse(manual, &error),
    }
}

/// Returns a sentence on the first option of the command line that the action does not use.
fn unused(matches: &ArgMatches, uses: &[(&str, &str)]) -> Option<String> {
    let is_there = |name: &str| {
        let source = matches.value_source(name.trim_start_matches('-'));
        source == Some(ValueSource::CommandLine)
    };
    uses.iter().find_map(|(name, actions)| {
        let action = matches.get_raw("action")?.next()?.to_string_lossy();
        let is_unused = is_there(name) && !actions.split(", ").any(|it| it == action);
        is_unused.then(|| format!("{name} is for {actions}, not for {action}"))
    })
}

/// Returns a command's exit code. If the command failed, first writes the reason to standard error.
fn ended(manual: &Manual, result: Result<u8, Complaint>) -> u8 {
    match result {
        Ok(code) => code,
        Err(Complaint::Usage(sentence)) => {
            complain(manual, &sentence);
            USAGE
        }
        Err(Complaint::Failure(error)) => {
            complain(manual, &format!("{error:#}"));
            FAILURE
        }
    }
}

/// Returns exit code 0 of a command that has succeeded, or its error.
fn done(result: anyhow::Result<()>) -> Result<u8, Complaint> {
    result.map_or_else(|error| Err(error.into()), |()| Ok(0))
}

/// Writes clap's error to standard error, and its help and version to standard output. Returns the exit code.
fn refuse(manual: &Manual, error: &clap::Error) -> u8 {
    let Some(refusal) = refusal(manual, error) else {
        let _ = error.print();
        return 0;
    };
    // There is nowhere else to report that standard error cannot be written.
    let _ = writeln!(shown::stderr(), "{refusal}");
    USAGE
}

fn run_completions(manual: &Manual, args: Vec<OsString>) -> u8 {
    match completions::parse(manual, args) {
        Ok(shell) => print(&completions::script(shell, &BOOK)),
        Err(error) => refuse(manual, &error),
    }
}

fn run_man(manual: &Manual, args: Vec<OsString>) -> u8 {
    match man::parse(&BOOK, manual, args) {
        Ok(manual) => print(&man::page(&BOOK, manual)),
        Err(error) => refuse(manual, &error),
    }
}

/// Writes a text that the user asked for, such as a manual page, to standard output. Returns exit code 0.
fn print(text: &str) -> u8 {
    // A reader that has closed the pipe is no failure.
    let _ = io::stdout().lock().write_all(text.as_bytes());
    0
}

fn run_record(manual: &Manual, args: Vec<OsString>) -> u8 {
    call(manual, args, |options: RecordOptions| {
        let script = options.script().map_err(|error| Complaint::Usage(format!("{error:#}")))?;
        Ok(rove_replay::record::run(options, script)?)
    })
}

#[cfg(target_os = "linux")]
fn run_compare(manual: &Manual, args: Vec<OsString>) -> u8 {
    call(manual, args, |options: CompareOptions| {
        done(crate::compare::run(&options, shown::stdout()))
    })
}

#[cfg(target_os = "linux")]
fn run_emulate(manual: &Manual, args: Vec<OsString>) -> u8 {
    call(manual, args, |options: EmulateOptions| {
        if let Some(checks) = &options.checks {
            let is_right = crate::validate::run(checks, options.json.as_deref(), shown::stdout())?;
            return Ok(if is_right { 0 } else { FAILURE });
        }
        let path = options.path().map_err(Complaint::Usage)?;
        let tell = |sentence: &str| complain(manual, sentence);
        Ok(crate::emulate::run(&options, path, tell)?)
    })
}

fn run_screen(manual: &Manual, args: Vec<OsString>) -> u8 {
    call(manual, args, |options: ScreenOptions| {
        let input = io::stdin().lock();
        if input.is_terminal() {
            let sentence = "standard input is a terminal, and what you type is no recording; redirect it, as in \
                            `rove-lab screen --size 80x24 < recording`";
            return Err(Complaint::Usage(sentence.to_owned()));
        }
        done(rove_replay::screen::run(options, input, shown::stdout(), shown::stderr()))
    })
}

fn run_replay(manual: &Manual, args: Vec<OsString>) -> u8 {
    call(manual, args, |options: ReplayOptions| {
        options.refusal().map_or(Ok(()), |sentence| Err(Complaint::Usage(sentence)))?;
        done(rove_replay::replay::run(&options, shown::stdout(), shown::stderr()))
    })
}

fn run_figures(manual: &Manual, args: Vec<OsString>) -> u8 {
    call(manual, args, |options: FiguresOptions| {
        let made = experiment::run(&options, shown::stdout());
        unless_interrupted(manual, made.map(|()| 0))
    })
}

fn run_artifact(manual: &Manual, args: Vec<OsString>) -> u8 {
    call(manual, args, |options: ArtifactOptions| {
        let is_whole = experiment::artifact::run(&options, shown::stdout());
        unless_interrupted(manual, is_whole.map(|it| if it { 0 } else { FAILURE }))
    })
}

/// Returns the exit code of `rove-lab figures`. If the user has interrupted, first tells the user how to go on.
fn unless_interrupted(manual: &Manual, code: anyhow::Result<u8>) -> Result<u8, Complaint> {
    match code {
        Err(error) if is_interrupt(&error) => {
            complain(manual, experiment::INTERRUPTED);
            Ok(INTERRUPTED)
        }
        code => Ok(code?),
    }
}

fn run_remy(manual: &Manual, args: Vec<OsString>) -> u8 {
    call_action(manual, &REMY_USES, args, |options: RemyOptions| {
        options.refusal().map_or(Ok(()), |sentence| Err(Complaint::Usage(sentence)))?;
        done(rove_remy::run(&options, shown::stdout()))
    })
}

#[cfg(unix)]
fn run_sprout(manual: &Manual, args: Vec<OsString>) -> u8 {
    call_action(manual, &sprout::USES, args, |args: SproutArgs| {
        let task = args.task().map_err(Complaint::Usage)?;
        done(args.run(task, shown::stdout(), shown::stderr()))
    })
}

fn run_trace(manual: &Manual, args: Vec<OsString>) -> u8 {
    call(manual, args, |args: TraceArgs| {
        args.refusal().map_or(Ok(()), |sentence| Err(Complaint::Usage(sentence)))?;
        done(args.run(shown::stdout(), shown::stderr()))
    })
}

/// Writes an error's sentence to standard error, after the command's name.
fn complain(manual: &Manual, sentence: &str) {
    // There is nowhere else to report that standard error cannot be written.
    let _ = writeln!(shown::stderr(), "{}: {sentence}", manual.called());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_explains_itself_in_help_pages_and_completions() {
        rove_cli_docs::assert_integrity(&BOOK);
    }
}
