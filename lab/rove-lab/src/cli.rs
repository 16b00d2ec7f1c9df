//! The command line: runs the command that was called, and returns its exit code.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::iter;
use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches};
use rove_cli_docs::completions::{COMMAND, Names, answer};
use rove_cli_docs::{Book, Manual, Words, matches, refusal, unknown_command};
use rove_remy::RemyOptions;
use rove_replay::record::RecordOptions;
use rove_replay::replay::ReplayOptions;
use rove_replay::screen::ScreenOptions;
use rove_runs::shown;

use crate::cli::program::{LABORATORY, exits};
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

mod artifact;
#[cfg(target_os = "linux")]
mod compare;
mod completions;
#[cfg(target_os = "linux")]
mod emulate;
mod figures;
mod man;
mod program;
mod record;
mod remy;
mod replay;
mod screen;
#[cfg(unix)]
mod sprout;
mod trace;

/// Exit code if something could not be read or written.
const FAILURE: u8 = 1;
/// Exit code for a command line that the program does not accept. Source: clap's exit code for it.
const USAGE: u8 = 2;
/// Exit code of `rove-lab figures` after its user interrupts runs in real time. Source: a shell's code after SIGINT.
const INTERRUPTED: u8 = 130;

/// The help and manual pages of the laboratory and its commands.
static BOOK: Book = Book {
    program: &LABORATORY,
    manuals: || iter::once(&MANUAL).chain(COMMANDS.iter().map(|command| command.manual)).collect(),
};

/// The help and manual page of the laboratory itself.
static MANUAL: Manual = Manual {
    definition: || {
        clap::Command::new("rove-lab")
            .version(env!("CARGO_PKG_VERSION"))
            .about("Examines rove's parts, one command each")
            .override_usage("rove-lab COMMAND [options]")
    },
    words: Words::OurCommands,
    examples: &[
        ("rove-lab screen --size 80x24 < recording", "what the emulator makes of an output"),
        ("rove-lab record -o session.jsonl -- bash", "write down a session"),
        ("rove-lab replay session.jsonl", "type its keys over a long path, and judge the answers"),
        ("rove-lab emulate --rtt 300ms -- ssh 100.64.0.1", "run a program behind a bad network"),
        ("rove-lab compare session.jsonl --link rtt=500ms", "ssh, Mosh and rove, side by side"),
    ],
    exit_status: &exits(
        "Something could not be read, run or written: one sentence on standard error says why.",
    ),
    ..Manual::of(&LABORATORY)
};

/// A command that is called by a word after `rove-lab`.
struct Subcommand {
    manual: &'static Manual,
    /// Runs the command with the arguments after its word, and returns the exit code.
    run: fn(Vec<OsString>) -> u8,
}

/// The commands, in the order in which the help lists them.
static COMMANDS: &[Subcommand] = &[
    Subcommand { manual: &screen::MANUAL, run: run_screen },
    Subcommand { manual: &record::MANUAL, run: run_record },
    Subcommand { manual: &replay::MANUAL, run: run_replay },
    Subcommand { manual: &figures::MANUAL, run: run_figures },
    Subcommand { manual: &artifact::MANUAL, run: run_artifact },
    Subcommand { manual: &remy::MANUAL, run: run_remy },
    #[cfg(unix)]
    Subcommand { manual: &sprout::MANUAL, run: run_sprout },
    Subcommand { manual: &trace::MANUAL, run: run_trace },
    #[cfg(target_os = "linux")]
    Subcommand { manual: &compare::MANUAL, run: run_compare },
    #[cfg(target_os = "linux")]
    Subcommand { manual: &emulate::MANUAL, run: run_emulate },
    Subcommand { manual: &completions::MANUAL, run: run_completions },
    Subcommand { manual: &man::MANUAL, run: run_man },
];

/// Runs the command that `args` call. The first of `args` is the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().skip(1).collect();
    // No person calls `play`: `rove-lab compare` starts this program with that word at the far side.
    #[cfg(target_os = "linux")]
    if let [word, rest @ ..] = args.as_slice()
        && word == replayed_program::WORD
    {
        return ExitCode::from(ended(&compare::MANUAL, done(replayed_program::play(rest))));
    }
    let called = args.split_first().and_then(|(word, rest)| {
        let command = COMMANDS.iter().find(|command| word == command.manual.word)?;
        Some((command, rest))
    });
    ExitCode::from(match called {
        Some((command, rest)) => (command.run)(rest.to_vec()),
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

fn run_completions(args: Vec<OsString>) -> u8 {
    match rove_cli_docs::completions::parse(&completions::MANUAL, args) {
        Ok(shell) => print(&rove_cli_docs::completions::script(shell, &BOOK)),
        Err(error) => refuse(&completions::MANUAL, &error),
    }
}

fn run_man(args: Vec<OsString>) -> u8 {
    match rove_cli_docs::man::parse(&BOOK, &man::MANUAL, args) {
        Ok(manual) => print(&rove_cli_docs::man::page(&BOOK, manual)),
        Err(error) => refuse(&man::MANUAL, &error),
    }
}

/// Writes a text that the user asked for, such as a manual page, to standard output. Returns exit code 0.
fn print(text: &str) -> u8 {
    // A reader that has closed the pipe is no failure.
    let _ = io::stdout().lock().write_all(text.as_bytes());
    0
}

fn run_record(args: Vec<OsString>) -> u8 {
    call(&record::MANUAL, args, |options: RecordOptions| {
        let script = options.script().map_err(|error| Complaint::Usage(format!("{error:#}")))?;
        Ok(rove_replay::record::run(options, script)?)
    })
}

#[cfg(target_os = "linux")]
fn run_compare(args: Vec<OsString>) -> u8 {
    call(&compare::MANUAL, args, |options: CompareOptions| {
        done(crate::compare::run(&options, shown::stdout()))
    })
}

#[cfg(target_os = "linux")]
fn run_emulate(args: Vec<OsString>) -> u8 {
    call(&emulate::MANUAL, args, |options: EmulateOptions| {
        if let Some(checks) = &options.checks {
            let is_right = crate::validate::run(checks, options.json.as_deref(), shown::stdout())?;
            return Ok(if is_right { 0 } else { FAILURE });
        }
        let path = options.path().map_err(Complaint::Usage)?;
        let tell = |sentence: &str| complain(&emulate::MANUAL, sentence);
        Ok(crate::emulate::run(&options, path, tell)?)
    })
}

fn run_screen(args: Vec<OsString>) -> u8 {
    call(&screen::MANUAL, args, |options: ScreenOptions| {
        let input = io::stdin().lock();
        if input.is_terminal() {
            let sentence = "standard input is a terminal, and what you type is no recording; redirect it, as in \
                            `rove-lab screen --size 80x24 < recording`";
            return Err(Complaint::Usage(sentence.to_owned()));
        }
        done(rove_replay::screen::run(options, input, shown::stdout(), shown::stderr()))
    })
}

fn run_replay(args: Vec<OsString>) -> u8 {
    call(&replay::MANUAL, args, |options: ReplayOptions| {
        options.refusal().map_or(Ok(()), |sentence| Err(Complaint::Usage(sentence)))?;
        done(rove_replay::replay::run(&options, shown::stdout(), shown::stderr()))
    })
}

fn run_figures(args: Vec<OsString>) -> u8 {
    call(&figures::MANUAL, args, |options: FiguresOptions| {
        let made = experiment::run(&options, shown::stdout());
        unless_interrupted(&figures::MANUAL, made.map(|()| 0))
    })
}

fn run_artifact(args: Vec<OsString>) -> u8 {
    call(&artifact::MANUAL, args, |options: ArtifactOptions| {
        let is_whole = experiment::artifact::run(&options, shown::stdout());
        unless_interrupted(&artifact::MANUAL, is_whole.map(|it| if it { 0 } else { FAILURE }))
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

fn run_remy(args: Vec<OsString>) -> u8 {
    call_action(&remy::MANUAL, &remy::USES, args, |options: RemyOptions| {
        options.refusal().map_or(Ok(()), |sentence| Err(Complaint::Usage(sentence)))?;
        done(rove_remy::run(&options, shown::stdout()))
    })
}

#[cfg(unix)]
fn run_sprout(args: Vec<OsString>) -> u8 {
    call_action(&sprout::MANUAL, &sprout::USES, args, |args: SproutArgs| {
        let task = args.task().map_err(Complaint::Usage)?;
        done(args.run(task, shown::stdout(), shown::stderr()))
    })
}

fn run_trace(args: Vec<OsString>) -> u8 {
    call(&trace::MANUAL, args, |args: TraceArgs| {
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
