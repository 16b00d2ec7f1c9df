//! Reads the command line, runs what it asks for, and returns the exit code. The name under which rove was called
//! selects the program that it acts as: `rove`, `mosh`, `mosh-client`, `mosh-server`, or `rove exec` (`rove-exec`).

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::iter;
use std::path::Path;
use std::process::ExitCode;

use rove_bootstrap::{DetachedUse, HostOptions, Joined, NoSession, ProgramName, WantedSession};
use rove_cli_docs::completions::{COMMAND, answer};
use rove_cli_docs::{Book, Manual};

use crate::bootstrap::error::BootstrapError;
use crate::bootstrap::{self, EXEC_NAME, Invocation, proxy, ssh_port};
use crate::cli::client::ClientCall;
use crate::cli::config::Config;
use crate::cli::doctor::DoctorCall;
use crate::cli::host::{HostCall, UsageError};
use crate::cli::install::InstallCall;
use crate::cli::login::Instead;
use crate::cli::program::Program;
use crate::cli::server::ServerCall;
use crate::colors;
use crate::messages::{self, say, warn};
use crate::program::ROVE;
use crate::question;
use crate::resume_command::{Step, forget_ended};
use crate::stdio_forward::json;
use crate::threads;

mod attach;
mod client;
mod complete;
mod completions;
pub(crate) mod config;
mod demo;
mod doctor;
mod exec;
mod forget;
mod getopt;
mod getopt_long;
mod help;
pub(crate) mod host;
mod install;
mod login;
mod man;
mod option_values;
mod own_line;
mod program;
mod proxy_config;
mod put;
mod resume;
mod server;
pub(crate) mod sessions;
mod ssh_letters;
mod tunnel;

/// Exit code after a wrong command line, except of a client or server ([`FAILURE`]). Source: Mosh 1.4.0 as observed.
const USAGE: u8 = 255;
/// Exit code of a failure that has no exit code of its own. Source: Mosh 1.4.0 as observed.
const FAILURE: u8 = 1;

/// Runs the program that the command line `args` asks for. The first of `args` is the name by which rove was called.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    threads::note_start();
    let mut args = args.into_iter();
    let program = args.next().unwrap_or_else(|| "rove".into());
    let args: Vec<OsString> = args.collect();
    let code = match Path::new(&program).file_name().and_then(OsStr::to_str) {
        Some("mosh") => run_host(ProgramName::Mosh, &program, args),
        Some("mosh-client") => run_client(ProgramName::Mosh, args),
        Some("mosh-server") => run_server(ProgramName::Mosh, args),
        // `scp -S` and `sftp -S` accept only the name of a program, so this name means `rove exec`.
        Some(EXEC_NAME) => run_rove(&program, iter::once("exec".into()).chain(args).collect()),
        _ => run_rove(&program, args),
    };
    ExitCode::from(code)
}

/// A command such as `rove list`, which the user calls by a word after `rove`.
struct Subcommand {
    manual: &'static Manual,
    /// Runs the command with the words after its name. Returns its exit code, or the reason for not running it.
    run: fn(Vec<OsString>) -> Result<u8, Instead>,
}

/// The commands, in the order in which the help lists them.
static SUBCOMMANDS: [Subcommand; 19] = [
    Subcommand {
        manual: &demo::MANUAL,
        run: |args| Ok(finish("rove demo", crate::demo::run(demo::parse(args)?))),
    },
    Subcommand { manual: &doctor::MANUAL, run: run_doctor },
    Subcommand { manual: &install::MANUAL, run: run_install },
    Subcommand {
        manual: &sessions::LIST,
        run: |args| {
            let (json, place) = sessions::parse_list(args, Config::load)?;
            Ok(finish("rove list", crate::sessions::list(json, &place)))
        },
    },
    Subcommand {
        manual: &attach::MANUAL,
        run: |args| {
            let invocation = own_invocation(&args);
            Ok(run_session("rove attach", &invocation, attach::parse(args, Config::load)))
        },
    },
    Subcommand {
        manual: &resume::MANUAL,
        run: |args| Ok(resume_session(resume::parse(args)?.as_deref())),
    },
    Subcommand {
        manual: &sessions::KILL,
        run: |args| {
            let (choice, place) = sessions::parse_kill(args, Config::load)?;
            Ok(finish("rove kill", crate::sessions::kill(&choice, &place)))
        },
    },
    Subcommand {
        manual: &forget::MANUAL,
        run: |args| {
            let host = forget::parse(args, Config::load)?;
            let result = crate::forget::run(host.as_ref());
            Ok(finish("rove forget", result.map(|sentence| print(&sentence))))
        },
    },
    Subcommand { manual: &exec::MANUAL, run: run_exec },
    Subcommand { manual: &put::MANUAL, run: run_put },
    Subcommand {
        manual: &proxy_config::MANUAL,
        run: |args| Ok(print(&proxy_config::section(args, Config::load)?)),
    },
    Subcommand { manual: &client::MANUAL, run: |args| Ok(run_client(ProgramName::Rove, args)) },
    Subcommand { manual: &server::MANUAL, run: |args| Ok(run_server(ProgramName::Rove, args)) },
    Subcommand {
        manual: &tunnel::MANUAL,
        run: |args| {
            let result = match tunnel::parse(args)? {
                tunnel::Word::Port(port) => crate::tunnel::far::run(port.get()),
                tunnel::Word::Forward => crate::tunnel::forwarder::run(),
            };
            Ok(finish("rove tunnel", result.map(|()| 0)))
        },
    },
    Subcommand { manual: &config::command::MANUAL, run: run_config },
    Subcommand {
        manual: &completions::MANUAL,
        run: |args| {
            let shell = rove_cli_docs::completions::parse(&completions::MANUAL, args)?;
            Ok(print(&rove_cli_docs::completions::script(shell, &BOOK)))
        },
    },
    Subcommand {
        manual: &man::MANUAL,
        run: |args| {
            let manual = rove_cli_docs::man::parse(&BOOK, &man::MANUAL, args)?;
            Ok(print(&rove_cli_docs::man::page(&BOOK, manual)))
        },
    },
    Subcommand {
        manual: &help::HELP,
        run: |args| {
            let manual = rove_cli_docs::man::parse(&BOOK, &help::HELP, args)?;
            Ok(if manual.word.is_empty() { print(help::BRIEF) } else { print(&manual.help()) })
        },
    },
    Subcommand {
        manual: &help::VERSION,
        run: |args| {
            rove_cli_docs::matches(&help::VERSION, args)?;
            Ok(print(&Program::Wrapper.version(ProgramName::Rove)))
        },
    },
];

/// The manuals of rove and its commands. The first describes `rove` without a command, which starts a session.
static BOOK: Book = Book {
    program: &ROVE,
    manuals: || {
        iter::once(&host::MANUAL).chain(SUBCOMMANDS.iter().map(|command| command.manual)).collect()
    },
};

fn run_rove(program: &OsStr, args: Vec<OsString>) -> u8 {
    // Only a shell's completion script calls the hidden command [`COMMAND`].
    if let [word, rest @ ..] = args.as_slice()
        && word == COMMAND
        && rest.iter().take(2).any(|word| word == "--")
    {
        return print(&answer(&BOOK, &complete::NAMES, rest));
    }
    let command = args
        .first()
        .and_then(|word| SUBCOMMANDS.iter().find(|command| word == command.manual.word));
    match command {
        Some(command) => (command.run)(args[1..].to_vec())
            .unwrap_or_else(|instead| do_instead(command.manual, &instead)),
        None => run_host(ProgramName::Rove, program, args),
    }
}

fn run_host(name: ProgramName, program: &OsStr, args: Vec<OsString>) -> u8 {
    let invocation = Invocation { name, program: program.to_owned(), args: args.clone() };
    let load = || match name {
        ProgramName::Rove => Config::load(),
        // As `mosh`, rove behaves like stock Mosh, which has no configuration file.
        ProgramName::Mosh => Ok(Config::default()),
    };
    let speaker = invocation.speaker();
    run_session(&speaker, &invocation, host::parse(name, args, load))
}

/// Returns how rove was called, for a command such as `rove attach`. `args` are the words after the command's name.
fn own_invocation(args: &[OsString]) -> Invocation {
    let program = env::args_os().next().unwrap_or_else(|| "rove".into());
    Invocation { name: ProgramName::Rove, program, args: args.to_vec() }
}

/// Does what a session's parsed command line (`call`) asks for, and returns the exit code.
fn run_session(speaker: &str, invocation: &Invocation, call: Result<HostCall, UsageError>) -> u8 {
    let name = invocation.name;
    match call {
        Ok(HostCall::Help(text)) => print(&text),
        Ok(HostCall::HelpAll) => print(&BOOK.help(&host::MANUAL)),
        Ok(HostCall::Version) => print(&Program::Wrapper.version(name)),
        // If `host` is a path, a running session's client listens there, and connects to the host for this process.
        Ok(HostCall::FakeProxy(call)) if call.host.starts_with('/') => {
            finish(speaker, proxy::join(&call.host))
        }
        Ok(HostCall::FakeProxy(call)) => finish(speaker, proxy::run(&call)),
        Ok(HostCall::AskSsh { ssh, host }) => ask_ssh(speaker, &ssh, &host),
        Ok(HostCall::Carry(options, target)) => {
            let joined = Joined::Port(target.to_string());
            finish_as_ssh(speaker, crate::stdio_forward::run(&options, invocation, joined))
        }
        Ok(HostCall::Connect(options)) => {
            let mut options = *options;
            if options.detached == DetachedUse::Ask && !question::can_be_asked() {
                options.detached = DetachedUse::Hint;
            }
            loop {
                let Err(error) = bootstrap::run(&options, invocation);
                if let Some(chosen) = bootstrap::choice::offer(&options, &error) {
                    options = chosen;
                    continue;
                }
                warn(speaker, &format!("{error}{}", meant_command(&options, &error)));
                forget_ended(&options.session, &error);
                match ssh_port::offer(&options, &error) {
                    Some(corrected) => options = corrected,
                    None => break error.exit_code(),
                }
            }
        }
        Err(error) => refuse_line(name, speaker, &error),
    }
}

/// Returns the end of the error about an unknown host. It asks whether the user meant the rove command with a similar
/// name. The text is empty for other errors, and if no command has a similar name.
fn meant_command(options: &HostOptions, error: &BootstrapError) -> String {
    let BootstrapError::NoSession(NoSession::NotConnected { failure }) = error else {
        return String::new();
    };
    let host = options.host.to_str().filter(|_| failure.is_unknown).unwrap_or_default();
    match rove_cli_docs::nearest(host, BOOK.command_words()) {
        Some(command) => format!("; did you mean rove {command}?"),
        None => String::new(),
    }
}

/// Resumes a session that still runs although its client has ended. `wanted` selects the session, if the user names it.
fn resume_session(wanted: Option<&str>) -> u8 {
    match crate::resume_command::run(wanted) {
        Ok(Step::Done(code)) => code,
        Ok(Step::Attach(words, server, resumed, former)) => {
            let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
            let invocation = own_invocation(&words);
            let mut call = attach::parse(words, Config::load);
            if let Ok(HostCall::Connect(options)) = &mut call {
                options.session = WantedSession::Resumed(server, resumed);
                (options.choices, options.escape_key) = (former.choices, Some(former.escape_key));
                (options.quiet, options.no_program) = (former.quiet, former.no_program);
            }
            run_session("rove resume", &invocation, call)
        }
        Err(error) => finish("rove resume", Err(error)),
    }
}

fn run_doctor(args: Vec<OsString>) -> Result<u8, Instead> {
    let invocation = own_invocation(&args);
    Ok(match doctor::parse(args, Config::load).map_err(Instead::Wrong)? {
        DoctorCall::Help => print(&doctor::MANUAL.help()),
        DoctorCall::Examine(options) => {
            let hint = options.session.as_ref().and_then(|session| session.port_hint());
            hint.iter().for_each(|hint| warn("rove doctor", hint));
            crate::doctor::run(options, &invocation)
        }
    })
}

fn run_exec(args: Vec<OsString>) -> Result<u8, Instead> {
    let invocation = own_invocation(&args);
    let call = exec::parse(args.clone(), Config::load)?;
    Ok(finish_as_ssh(
        "rove exec",
        match call.is_json && !json::Channel::is_there() {
            true => json::run(&args),
            false => crate::stdio_forward::run(&call.options, &invocation, call.joined),
        },
    ))
}

fn run_put(args: Vec<OsString>) -> Result<u8, Instead> {
    let invocation = own_invocation(&args);
    let (options, joined) = put::parse(args, Config::load)?;
    Ok(finish_as_ssh("rove put", crate::stdio_forward::run(&options, &invocation, joined)))
}

fn run_install(args: Vec<OsString>) -> Result<u8, Instead> {
    let result = match install::parse(args, Config::load)? {
        InstallCall::Copy(options) => {
            crate::install::run(&options, None).map(|()| 0).map_err(Into::into)
        }
        InstallCall::OwnSum => {
            crate::install::build::own_sum().map(|sum| print(&sum)).map_err(Into::into)
        }
    };
    Ok(finish("rove install", result))
}

/// Handles a command line for which the command does not run: prints the help, the version, the error or ssh's
/// configuration. Returns the exit code.
fn do_instead(manual: &Manual, instead: &Instead) -> u8 {
    match instead {
        Instead::Clap(error) => refuse(manual, error),
        Instead::Wrong(error) => refuse_line(ProgramName::Rove, &manual.called(), error),
        Instead::AskSsh { ssh, host } => ask_ssh(&manual.called(), ssh, host),
        Instead::Version => {
            say(io::stderr(), &format!("rove {}", ROVE.version));
            0
        }
    }
}

/// Replaces this process by an ssh that prints its configuration for a host. Returns an exit code if ssh cannot run.
fn ask_ssh(speaker: &str, ssh: &[String], host: &OsStr) -> u8 {
    let error = bootstrap::ask_ssh(ssh, host);
    warn(speaker, &error.to_string());
    error.exit_code()
}

/// Prints the fault of a command line, and the usage if the error has it. Returns the exit code.
fn refuse_line(name: ProgramName, speaker: &str, error: &UsageError) -> u8 {
    match name {
        ProgramName::Rove => error.message.lines().for_each(|line| warn(speaker, line)),
        ProgramName::Mosh if error.message.is_empty() => {}
        ProgramName::Mosh => warn(speaker, &error.message),
    }
    if let Some(usage) = &error.usage {
        say(io::stderr(), usage);
    }
    USAGE
}

fn run_client(name: ProgramName, args: Vec<OsString>) -> u8 {
    let speaker = Program::Client.called(name);
    let version = Program::Client.version(name);
    match client::parse(name, args) {
        Ok(ClientCall::Help) if name == ProgramName::Rove => print(&client::MANUAL.help()),
        Ok(ClientCall::Help) => print(&format!("{version}\n\n{}", client::usage())),
        Ok(ClientCall::Version) => print(&version),
        Ok(ClientCall::Colors) => match colors::of_terminal() {
            Ok(colors) => print(&colors.to_string()),
            Err(error) => {
                say(io::stderr(), &error.to_string());
                FAILURE
            }
        },
        Ok(ClientCall::Run { server, verbose }) => {
            finish(speaker, client::options(name, server, verbose).and_then(crate::client::run))
        }
        Err(error) => {
            warn(speaker, &error.to_string());
            match name {
                ProgramName::Rove => say(io::stderr(), &rove_cli_docs::usage_hint(&client::MANUAL)),
                ProgramName::Mosh => {
                    say(io::stderr(), &format!("{version}\n\n{}", client::usage()));
                }
            }
            FAILURE
        }
    }
}

fn run_server(name: ProgramName, args: Vec<OsString>) -> u8 {
    let speaker = Program::Server.called(name);
    let usage = || match name {
        ProgramName::Rove => rove_cli_docs::usage_hint(&server::MANUAL),
        ProgramName::Mosh => server::usage(),
    };
    match server::parse(name, args) {
        Ok(ServerCall::Help) if name == ProgramName::Rove => print(&server::MANUAL.help()),
        Ok(ServerCall::Help) => print(&server::usage()),
        Ok(ServerCall::Version) => print(&Program::Server.version(name)),
        Ok(ServerCall::Run { options, complaints }) => {
            for complaint in &complaints {
                warn(speaker, complaint);
                if name == ProgramName::Mosh {
                    say(io::stderr(), &usage());
                }
            }
            if name == ProgramName::Rove && !complaints.is_empty() {
                say(io::stderr(), &usage());
            }
            finish(speaker, crate::server::run(options))
        }
        Ok(ServerCall::Attach(session, way, asked)) => {
            finish(speaker, crate::attach::run(session.as_ref(), way, &asked))
        }
        Err(error) => {
            warn(speaker, &error.to_string());
            say(io::stderr(), &usage());
            FAILURE
        }
    }
}

fn run_config(args: Vec<OsString>) -> Result<u8, Instead> {
    Ok(match config::command::run(&config::command::parse(args)?) {
        Ok(text) if text.is_empty() => 0,
        Ok(text) => print(&text),
        Err(error) => {
            error.to_string().lines().for_each(|line| warn("rove config", line));
            FAILURE
        }
    })
}

/// Prints why clap refuses a command line, and returns the exit code. For clap, a request for help or the version is an
/// error, too, but the text goes to standard output.
fn refuse(manual: &Manual, error: &clap::Error) -> u8 {
    let Some(refusal) = rove_cli_docs::refusal(manual, error) else {
        let _ = error.print();
        return 0;
    };
    say(io::stderr(), &refusal);
    USAGE
}

/// Returns the exit code of a command that has run. Prints the command's error, if it has failed.
fn finish(speaker: &str, result: anyhow::Result<u8>) -> u8 {
    match result {
        Ok(code) => code,
        Err(error) => {
            warn(speaker, &format!("{error:#}"));
            error.downcast_ref::<BootstrapError>().map_or(FAILURE, BootstrapError::exit_code)
        }
    }
}

/// Works as [`finish`] does, for a command used in place of ssh. If `result` is an error, the exit code is 255.
fn finish_as_ssh(speaker: &str, result: anyhow::Result<u8>) -> u8 {
    let is_failed = result.is_err();
    let code = finish(speaker, result);
    if is_failed { USAGE } else { code }
}

/// Prints text that the user asked for on standard output, and returns the exit code. A closed pipe is no error.
fn print(text: &str) -> u8 {
    match messages::print(io::stdout(), text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            warn("rove", &format!("cannot print: {error}"));
            FAILURE
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the candidates for a command line, each between two spaces.
    fn completed(words: &[&str]) -> String {
        let words: Vec<OsString> = ["--"].iter().chain(words).map(OsString::from).collect();
        let answer = answer(&BOOK, &complete::NAMES, &words);
        let words = answer.lines().map(|line| line.split('\t').next().unwrap_or_default());
        format!(" {} ", words.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn every_command_explains_itself_in_help_pages_and_completions() {
        rove_cli_docs::assert_integrity(&BOOK);
    }

    #[test]
    fn values_files_and_commands_are_completed() {
        for (words, wanted) in [
            (&["--predict", ""][..], "adaptive"),
            (&["--predict=exp"], "--predict=experimental"),
            (&["--family", "=", "prefer-inet6"], "--family=prefer-inet6"),
            (&["--experimental-remote-ip", "r"], "remote"),
            (&["-vi", "~/.ss"], "files"),
            (&["-F~/.ss"], "files"),
            (&["list", "-i", ""], "files"),
            (&["put", "host", "pic"], "files"),
            (&["--client=mo"], "commands"),
            (&["me@host", "l"], "commands"),
            (&["-p", "5", "host", "ls", "-"], "arguments 4"),
            (&["demo", "--", "ls", ""], "arguments 3"),
            (&["host", "--", "--pre"], "commands"),
            (&["--", "--pre"], "words"),
            (&["demo", "--loss", ""], "words"),
            (&["version", ""], "--help"),
        ] {
            let answer = completed(words);
            assert!(answer.contains(&format!(" {wanted} ")), "{words:?}: {answer}");
            let is_option = wanted.starts_with('-');
            assert!(is_option || !answer.contains(" -"), "{words:?}: {answer}");
        }
    }

    #[test]
    fn a_page_is_asked_for_by_its_command() {
        let page = |words: &[&str]| {
            let words = words.iter().map(OsString::from).collect();
            rove_cli_docs::man::parse(&BOOK, &man::MANUAL, words)
        };
        assert_eq!(page(&[]).unwrap().word, "");
        assert_eq!(page(&["demo"]).unwrap().word, "demo");
        assert!(page(&["bogus"]).err().unwrap().to_string().contains("client, server"));
    }

    #[test]
    fn a_shell_is_asked_for_by_its_name() {
        let parse = |words: &[&str]| {
            let words = words.iter().map(OsString::from).collect();
            rove_cli_docs::completions::parse(&completions::MANUAL, words)
        };
        for shell in ["bash", "zsh", "fish"] {
            assert_eq!(parse(&[shell]).unwrap(), shell);
        }
        for words in [&[][..], &["csh"], &["bash", "zsh"]] {
            assert!(parse(words).is_err());
        }
        let error = parse(&["csh"]).unwrap_err().to_string();
        assert!(error.contains("know bash, zsh, fish"), "{error}");
    }
}
