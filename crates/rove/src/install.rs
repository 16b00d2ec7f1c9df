//! `rove install`: copies a static rove into `~/.local/bin` on a host, through one login of the user's ssh.
//!
//! [`far`] is what runs there and [`report`] reads what that says; [`transfer`] runs ssh with the program on its
//! standard input. [`build`] finds a program for the host's [`platform`] and knows its [`version`]. [`offer`] asks
//! whether to do all that where `rove host` found no server.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Command;

use crate::bootstrap::challenge::Challenge;
use crate::bootstrap::ssh_config;
use crate::entropy;
use crate::install::build::{Build, megabytes};
use crate::install::error::InstallError;
use crate::install::far::FOLDER;
use crate::install::platform::Platform;
use crate::install::progress::Progress;
use crate::install::report::{Event, Facts, Report};
use crate::install::transfer::Transfer;
use crate::install::version::Version;

pub(crate) mod build;
pub(crate) mod error;
mod far;
pub(crate) mod platform;
mod progress;
mod question;
mod report;
mod transfer;
mod version;

/// What is to be copied, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InstallOptions {
    /// `[user@]host`.
    pub(crate) host: OsString,
    /// The words of the ssh command, never none.
    pub(crate) ssh: Vec<String>,
    /// The address family, by the names of `--family`.
    pub(crate) family: String,
    /// The program to copy, if the user named one.
    pub(crate) build: Option<PathBuf>,
    /// Whether a newer one is replaced without a question.
    pub(crate) force: bool,
    /// Whether to say nothing but what is wrong.
    pub(crate) quiet: bool,
}

/// Whether `rove host` may copy rove to a host that has no server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Only after a yes.
    #[default]
    Ask,
    /// Without a question.
    Always,
    /// Never.
    Never,
}

impl Policy {
    /// The words for them.
    pub(crate) const NAMES: &'static [&'static str] = &["ask", "always", "never"];

    /// Returns the one that this word means.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "ask" => Some(Self::Ask),
            "always" => Some(Self::Always),
            "never" => Some(Self::Never),
            _ => None,
        }
    }
}

/// What became of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is there now.
    Copied {
        /// Its version.
        version: Version,
        /// Its size for a person.
        size: String,
        /// Another rove, which the host's PATH finds first.
        other: Option<String>,
    },
    /// The very same was there already.
    Same,
}

/// Copies rove to a host, and says what became of it.
///
/// # Errors
///
/// Returns why the host has no other rove than before.
pub(crate) fn run(options: &InstallOptions) -> Result<(), InstallError> {
    let host = options.host.display();
    let sentence = match copy(options)? {
        Outcome::Same => format!("{host}:{FOLDER}/rove is this very rove already"),
        Outcome::Copied { version, size, other: None } => {
            format!("copied rove {version} ({size}) to {host}:{FOLDER}/rove")
        }
        Outcome::Copied { version, size, other: Some(other) } => format!(
            "copied rove {version} ({size}) to {host}:{FOLDER}/rove; a session still uses {other}, which is \
             first in the PATH there, unless --server names the new one"
        ),
    };
    if !options.quiet {
        // A reader that has gone away wants to hear nothing about it.
        let _ = writeln!(io::stdout(), "{sentence}");
    }
    Ok(())
}

/// Copies rove to a host of this platform that has no server, if `policy` or the user says so; returns whether
/// it is there now.
///
/// # Errors
///
/// Returns why a copy that was wanted failed.
pub(crate) fn offer(
    options: &InstallOptions,
    policy: Policy,
    platform: &Platform,
) -> Result<bool, InstallError> {
    if policy == Policy::Never {
        return Ok(false);
    }
    let build = match Build::find(platform, options.build.as_deref()) {
        Ok(build) => build,
        Err(error) if policy == Policy::Always => return Err(error.into()),
        // Nothing can be offered.
        Err(_) => return Ok(false),
    };
    let host = options.host.display();
    let question = format!("Copy rove ({}) to {host}:{FOLDER}?", build.size());
    if policy == Policy::Ask && !question::ask(&question) {
        return Ok(false);
    }
    run(options).map(|()| true)
}

/// Copies rove to a host.
fn copy(options: &InstallOptions) -> Result<Outcome, InstallError> {
    let host = || options.host.to_string_lossy().into_owned();
    let local = |what| move |error| InstallError::Local { what, error };
    let challenge =
        entropy::challenge().map_err(|error| local("a random word")(io::Error::other(error)))?;
    let mut command = ssh(options, &challenge);
    let mut transfer = Transfer::start(&mut command, Report::new(challenge)).map_err(|error| {
        let program = command.get_program().to_string_lossy().into_owned();
        InstallError::SshMissing { program, error }
    })?;
    let mut progress = Progress::new(format!("copying rove to {}", host()), options.quiet);
    let mut build = None;
    let mut arrived = 0;
    let refused = local("the output of ssh");
    let verdict = loop {
        let mut show = |text: &[u8]| {
            if !text.is_empty() {
                progress.clear();
                let _ = io::stderr().write_all(text);
            }
        };
        match transfer.next_event(&mut show).map_err(refused)? {
            Some(Event::Ready) if build.is_none() => {
                let found = choose(options, transfer.report().facts())?;
                if transfer.report().facts().sum.as_ref() == Some(&found.sum) {
                    transfer.hang_up();
                    return Ok(Outcome::Same);
                }
                let line = format!("{} {} {}\n", found.bytes.len(), found.sum, found.version);
                transfer.send([line.as_bytes(), &found.bytes].concat());
                build = Some(found);
            }
            Some(Event::Has(bytes)) => {
                arrived = bytes;
                progress.draw(bytes, build.as_ref().map_or(0, |build| build.bytes.len()));
            }
            Some(Event::Ready) => {}
            Some(Event::Done) if build.is_some() => break Ok(()),
            Some(Event::Failed(failure)) => break Err(failure),
            Some(Event::Done) | None => {
                progress.clear();
                let status = transfer.finish().map_err(local("the end of ssh"))?;
                return Err(match build {
                    Some(build) => InstallError::Broken {
                        host: host(),
                        arrived: megabytes(arrived),
                        all: build.size(),
                    },
                    None if status.code() == Some(SSH_FAILURE) => {
                        InstallError::SshFailed { host: host() }
                    }
                    None => InstallError::NotStarted { host: host() },
                });
            }
        }
    };
    progress.clear();
    let other = transfer.report().facts().other.clone();
    let _ = transfer.finish();
    match (verdict, build) {
        (Ok(()), Some(build)) => {
            Ok(Outcome::Copied { version: build.version, size: build.size(), other })
        }
        (Err(failure), _) => Err(InstallError::Refused { host: host(), failure }),
        (Ok(()), None) => Err(InstallError::NotStarted { host: host() }),
    }
}

/// Finds the program for a host that has told this of itself, unless it has a newer one that is to stay.
fn choose(options: &InstallOptions, facts: &Facts) -> Result<Build, InstallError> {
    let host = options.host.to_string_lossy().into_owned();
    let Some(platform) = &facts.platform else { return Err(InstallError::NoPlatform { host }) };
    let build = Build::find(platform, options.build.as_deref())?;
    let ours = build.version;
    if let Some(theirs) = facts.version.filter(|theirs| *theirs > ours && !options.force) {
        let question = format!("{host} has rove {theirs}, newer than {ours}. Replace it?");
        if !question::ask(&question) {
            return Err(InstallError::Newer { host, theirs, ours });
        }
    }
    Ok(build)
}

/// The exit status by which ssh says that it has failed itself. Source: ssh(1).
const SSH_FAILURE: i32 = 255;

/// Returns the ssh that runs our command on the host, with its standard input there.
fn ssh(options: &InstallOptions, challenge: &Challenge) -> Command {
    let (program, args) = options.ssh.split_first().expect("an ssh command has a program");
    let mut command = Command::new(program);
    command.args(args);
    if ssh_config::is_ssh(&options.ssh) {
        // Only without a terminal do bytes arrive as they were sent, and the configuration may ask for one, or for
        // a command.
        command.args(["-T", "-o", "RemoteCommand=none"]);
    }
    match options.family.as_str() {
        "inet" => drop(command.arg("-4")),
        "inet6" => drop(command.arg("-6")),
        _ => {}
    }
    command.arg(&options.host).arg("--").arg(far::command(challenge));
    // A key of a session that this runs in is nothing to ssh.
    command.env_remove("MOSH_KEY");
    command
}

/// Returns the SHA-256 of this very program, for a host that has no other way to know it.
///
/// # Errors
///
/// Returns the system's refusal to read it.
pub(crate) fn own_sum() -> io::Result<String> {
    build::own_sum()
}
