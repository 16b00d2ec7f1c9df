//! The command line of `rove exec`, which git, rsync and others can run in place of ssh.

use std::ffi::{OsStr, OsString};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;

use clap::{Arg, ArgAction, Command};
use rove_bootstrap::{HostOptions, Joined, ProgramName};
use rove_cli_docs::{Manual, Words};
use rove_streams::COMMAND_MAX;
use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};
use rustix::stdio;

use crate::cli::config::{Config, ConfigError};
use crate::cli::host;
use crate::cli::login::{self, Instead};
use crate::cli::own_line::OptionsEnd;
use crate::cli::ssh_letters;
use crate::messages::warn;
use crate::program::ROVE;
use crate::stdio_forward::close_input;

pub(crate) static MANUAL: Manual = Manual {
    word: "exec",
    definition,
    words: Words::Host,
    text: include_str!("../../manuals/exec.toml"),
    ..Manual::of(&ROVE)
};

fn definition() -> Command {
    let flag = |name: &'static str, letter, help: &'static str| {
        Arg::new(name).short(letter).action(ArgAction::SetTrue).help(help)
    };
    let command = Command::new("rove exec")
        .about("Runs a program on a host without a terminal, in the place of ssh")
        .override_usage("rove exec [options] [user@]host [--] [command...]")
        .args([
            Arg::new("ssh -p").short('p').value_name("PORT").help("Port of the host's sshd"),
            flag("subsystem", 's', "The command names a subsystem of ssh: sftp"),
            flag("no_input", 'n', "Read nothing from standard input"),
            flag("no_terminal", 'T', "Ask for no terminal, as always").hide(true),
            flag("terminal", 't', "Ask for a terminal, which there is none of").hide(true),
            flag("no_agent", 'a', "Forward no agent, as always").hide(true),
            flag("version", 'V', "Print the version in a line on standard error"),
            host::flag(
                "json",
                "Print output, exit status and trouble as lines of JSON, for a program",
            ),
            host::flag("strict", "Speak stock Mosh only, which runs no program this way: refuse"),
            host::controller_option(),
            Arg::new("words").num_args(0..).value_parser(clap::value_parser!(OsString)).hide(true),
        ]);
    login::definition(command)
}

/// A parsed call of `rove exec`.
#[derive(Debug)]
pub(crate) struct ExecCall {
    pub(crate) options: HostOptions,
    pub(crate) joined: Joined,
    /// Whether output, exit status and errors are printed as lines of JSON.
    pub(crate) is_json: bool,
}

/// Reads the words after `exec`. `load` reads the user's configuration.
///
/// # Errors
///
/// Returns a fault of the command line or the configuration, or a request for something else, such as `--help`.
pub(crate) fn parse(
    args: Vec<OsString>,
    load: impl FnOnce() -> Result<Config, ConfigError>,
) -> Result<ExecCall, Instead> {
    let end = OptionsEnd::RemoteCommand;
    let (matches, mut login) = login::read_matches(&MANUAL, args, end)?;
    let is_set = |name: &str| matches.get_flag(name);
    if is_set("version") {
        return Err(Instead::Version);
    }
    let mut words = matches.get_many::<OsString>("words").unwrap_or_default().cloned();
    let Some(host) = words.next() else {
        return Err(Instead::wrong_form(&MANUAL, "no host is named"));
    };
    let words: Vec<OsString> = words.collect();
    let command = words.join(OsStr::new(" "));
    login.add(is_set("strict").then(|| "--strict".into()));
    login.add(host::controller_words(&matches));
    let port = login.take_port();
    let with_port = |ssh: Vec<String>| match port {
        Some(port) => ssh_letters::prevailing(&ssh, vec!["-p".to_owned(), port]),
        None => ssh,
    };
    let mut options = match login.options(host, load) {
        Err(Instead::AskSsh { ssh, host }) => {
            return Err(Instead::AskSsh { ssh: with_port(ssh), host });
        }
        options => options?,
    };
    options.ssh = with_port(options.ssh);
    refuse(options.choices.strict, is_set("terminal"), command.as_bytes().len())?;
    if is_set("no_input") || is_unreadable(stdio::stdin(), options.quiet) {
        close_input();
    }
    let joined = Joined::Program { command, is_subsystem: is_set("subsystem") };
    Ok(ExecCall { options, joined, is_json: is_set("json") })
}

/// Refuses strict mode (`--strict`), a terminal (`-t`), and a command of more than [`COMMAND_MAX`] bytes.
fn refuse(is_strict: bool, has_terminal: bool, command_len: usize) -> Result<(), Instead> {
    if is_strict {
        return Err(Instead::wrong("--strict: stock Mosh runs no program without a terminal"));
    }
    if has_terminal {
        return Err(Instead::wrong(
            "-t: a program of rove exec has no terminal; one of `rove host command` has",
        ));
    }
    if command_len > COMMAND_MAX {
        return Err(Instead::wrong(format!("a command has at most {COMMAND_MAX} bytes")));
    }
    Ok(())
}

/// Returns whether standard input cannot be read, because it is a folder, or write-only as after `nohup`. As with ssh,
/// such an input is treated as empty. Prints a warning about a folder, unless `is_quiet`.
fn is_unreadable(input: BorrowedFd<'_>, is_quiet: bool) -> bool {
    let is_folder = fstat(input).is_ok_and(|it| FileType::from_raw_mode(it.st_mode).is_dir());
    if is_folder && !is_quiet {
        let text = "standard input is a folder, so the program reads nothing from it";
        warn(ProgramName::Rove.as_str(), text);
    }
    is_folder || fcntl_getfl(input).is_ok_and(|it| it & OFlags::RWMODE == OFlags::WRONLY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<(String, String, bool), String> {
        let words = line.split(' ').map(OsString::from).collect();
        match parse(words, || Ok(Config::default())) {
            Ok(ExecCall { options, joined: Joined::Program { command, is_subsystem }, .. }) => {
                let ssh = options.ssh.join(" ");
                let host = options.host.to_string_lossy().into_owned();
                Ok((format!("{ssh} {host}"), command.to_string_lossy().into_owned(), is_subsystem))
            }
            Ok(other) => panic!("{other:?}"),
            Err(Instead::Wrong(error)) => Err(error.message),
            Err(Instead::AskSsh { ssh, .. }) => Err(ssh.join(" ")),
            Err(Instead::Clap(error)) => Err(error.to_string()),
            Err(Instead::Version) => Err("version".to_owned()),
        }
    }

    #[test]
    fn the_lines_of_git_rsync_scp_and_sftp_are_read_as_ssh_reads_them() {
        for (line, ssh, command, is_subsystem) in [
            (
                "-o SendEnv=GIT_PROTOCOL -p 22 me@h git-upload-pack 'r.git'",
                "ssh -p 22 -o SendEnv=GIT_PROTOCOL me@h",
                "git-upload-pack 'r.git'",
                false,
            ),
            (
                "-l user h rsync --server -e.LsfxCIvu . d",
                "ssh -l user h",
                "rsync --server -e.LsfxCIvu . d",
                false,
            ),
            (
                "-x -oRequestTTY=no -p 2222 -l user -s -- h sftp",
                "ssh -p 2222 -x -o RequestTTY=no -l user h",
                "sftp",
                true,
            ),
            (
                "-x -oForwardAgent=no -l user -- h scp -f f",
                "ssh -x -o ForwardAgent=no -l user h",
                "scp -f f",
                false,
            ),
            ("h -p 5 -T -a ls -t", "ssh -p 5 h", "ls -t", false),
            ("--ssh=dbclient -p 22 h ls", "dbclient -p 22 h", "ls", false),
            // As with ssh, the first of -p and -o Port is used.
            ("-p 22 -p 23 h ls", "ssh -p 22 h", "ls", false),
            ("-o Port=3 -p 22 h ls", "ssh -o Port=3 h", "ls", false),
            ("-p 22 -oport=3 h ls", "ssh -p 22 -o port=3 h", "ls", false),
            ("-x -l -p -p 22 h ls", "ssh -p 22 -x -l -p h", "ls", false),
            ("h -- -x", "ssh h", "-x", false),
            ("h", "ssh h", "", false),
        ] {
            let expected = (ssh.to_owned(), command.to_owned(), is_subsystem);
            assert_eq!(parsed(line), Ok(expected), "{line}");
        }
        assert_eq!(parsed("-G -p 5 h"), Err("ssh -p 5".to_owned()));
        for line in ["-V", "-vV", "-V h ls"] {
            assert_eq!(parsed(line), Err("version".to_owned()), "{line}");
        }
    }

    #[test]
    fn a_line_that_cannot_be_obeyed_is_refused_with_the_fault() {
        for (line, begin) in [
            ("-t h top", "-t: a program of rove exec has no terminal"),
            ("--strict h ls", "--strict: stock Mosh runs no program"),
            ("-L 1:x:2 h", "-L: "),
            ("--controller=vegas h ls", "--controller is one of low-delay, "),
            ("-Z h", "unknown option -Z"),
            ("-- -h ls", "\"-h\" is not a host name"),
        ] {
            let error = parsed(line).unwrap_err();
            assert!(error.starts_with(begin), "{line}: {error}");
        }
        let long = format!("h {}", "x".repeat(COMMAND_MAX + 1));
        assert_eq!(parsed(&long), Err(format!("a command has at most {COMMAND_MAX} bytes")));
        assert!(parsed(&long[..long.len() - 1]).is_ok());
    }
}
