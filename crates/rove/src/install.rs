//! `rove install`: copies a static rove into `~/.local/bin` on a host, through one login of the user's ssh.
//!
//! [`far`] is the script that runs on the host, [`source`] its standard input, and [`report`] reads its output.
//! [`build`] finds a program for the host's platform, and [`version`] its version. [`offer`] asks whether to copy rove
//! if `rove host` found no server.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::mpsc::Sender;

use rove_bootstrap::{HostOptions, InstallPolicy, Platform};

use crate::bootstrap::error::BootstrapError;
use crate::bootstrap::master::Master;
use crate::bootstrap::remote_command::{Input, RemoteCommand};
use crate::install::build::{Build, megabytes};
use crate::install::error::InstallError;
use crate::install::far::FOLDER;
use crate::install::progress::Progress;
use crate::install::report::{Event, Facts, Failure, Report};
use crate::install::source::Source;
use crate::install::version::Version;
use crate::question;

pub(crate) mod build;
pub(crate) mod error;
mod far;
pub(crate) mod progress;
pub(crate) mod remedy;
mod report;
mod source;
mod version;

/// The program to copy, and the host to copy it to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InstallOptions {
    /// The options of a login to the host.
    pub(crate) session: HostOptions,
    /// The file to copy. `None` to look for a program that fits.
    pub(crate) build: Option<PathBuf>,
    /// Whether to replace a newer rove on the host without a question.
    pub(crate) force: bool,
}

/// The result of a copy.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The program was copied.
    Copied {
        version: Version,
        /// The size of the copied program, as text for a person.
        size: String,
        /// The path of another rove that the host's PATH finds first. `None` if it finds no other.
        other: Option<String>,
    },
    /// The host already had the very same program.
    Same,
}

/// Copies rove to a host, and prints the result. Uses the open connection `master`, or logs in.
///
/// # Errors
///
/// Returns why the host's rove is unchanged.
pub(crate) fn run(options: &InstallOptions, master: Option<&Master>) -> Result<(), InstallError> {
    let host = options.session.host.display();
    let sentence = match copy(options, master)? {
        Outcome::Same => format!("{host}:{FOLDER}/rove is this very rove already"),
        Outcome::Copied { version, size, other: None } => {
            format!("copied rove {version} ({size}) to {host}:{FOLDER}/rove")
        }
        Outcome::Copied { version, size, other: Some(other) } => format!(
            "copied rove {version} ({size}) to {host}:{FOLDER}/rove; a session still uses {other}, which is \
             first in the PATH there, unless --server names the new one"
        ),
    };
    if !options.session.quiet {
        // A closed standard output is no error.
        let _ = writeln!(io::stdout(), "{sentence}");
    }
    Ok(())
}

/// Copies rove to a host without a server program, if `policy` or the user says so. `master` is the run's open
/// connection to the host, if any. Returns whether rove was copied.
///
/// # Errors
///
/// Returns why the copy failed, after `policy` or the user had asked for it.
pub(crate) fn offer(
    options: &InstallOptions,
    policy: InstallPolicy,
    platform: &Platform,
    master: Option<&Master>,
) -> Result<bool, InstallError> {
    if policy == InstallPolicy::Never {
        return Ok(false);
    }
    let build = match Build::find(platform, options.build.as_deref()) {
        Ok(build) => build,
        Err(error) if policy == InstallPolicy::Always => return Err(error.into()),
        // rove offers nothing, because it has no program for the host's platform, or others can change it.
        Err(_) => return Ok(false),
    };
    let host = options.session.host.display();
    let question = format!("Copy rove ({}) to {host}:{FOLDER}?", build.size());
    if policy == InstallPolicy::Ask && !question::ask(&question, false) {
        return Ok(false);
    }
    run(options, master).map(|()| true)
}

fn copy(options: &InstallOptions, master: Option<&Master>) -> Result<Outcome, InstallError> {
    let (sender, source) = Source::new();
    let mut copying = Copying::new(options, sender);
    let command =
        RemoteCommand::script(&options.session, &far::script(), &[]).map_err(login_failed)?;
    let ran =
        command.through(master).run(Input::From(Box::new(source)), |bytes| copying.read(bytes));
    copying.judge(ran)
}

/// A copy in progress.
struct Copying<'a> {
    options: &'a InstallOptions,
    report: Report,
    progress: Progress,
    /// The channel to the script's standard input. `None` once the program was sent or found unnecessary.
    sender: Option<Sender<Vec<u8>>>,
    /// The program for the host, or why there is no program. `None` until the script asks for the program.
    chosen: Option<Result<Build, InstallError>>,
    /// Whether the host already has this very program.
    is_same: bool,
    bytes_arrived: usize,
    verdict: Option<Result<(), Failure>>,
}

impl<'a> Copying<'a> {
    fn new(options: &'a InstallOptions, sender: Sender<Vec<u8>>) -> Self {
        let title = format!("copying rove to {}", options.session.host.display());
        Self {
            options,
            report: Report::default(),
            progress: Progress::new(title, options.session.quiet),
            sender: Some(sender),
            chosen: None,
            is_same: false,
            bytes_arrived: 0,
            verdict: None,
        }
    }

    fn read(&mut self, bytes: &[u8]) {
        for event in self.report.read(bytes) {
            match event {
                Event::Ready => self.send(),
                Event::Has(bytes) => {
                    self.bytes_arrived = bytes;
                    if let Some(Ok(build)) = &self.chosen {
                        self.progress.draw(bytes, build.bytes.len(), "");
                    }
                }
                Event::Done => self.verdict = Some(Ok(())),
                Event::Failed(failure) => self.verdict = Some(Err(failure)),
            }
        }
    }

    /// Sends the program for the host, unless the host already has it, and closes the script's input.
    fn send(&mut self) {
        let Some(sender) = self.sender.take() else { return };
        let facts = &self.report.facts;
        let chosen = choose(self.options, facts);
        if let Ok(build) = &chosen {
            self.is_same = facts.sum.as_ref() == Some(&build.sum);
            if !self.is_same {
                let line = format!("{} {} {}\n", build.bytes.len(), build.sum, build.version);
                // Sending fails if ssh has ended, which `judge` reports.
                let _ = sender.send([line.as_bytes(), &build.bytes].concat());
            }
        }
        self.chosen = Some(chosen);
    }

    /// Returns the result of the copy, after ssh has ended with the result `ran`.
    fn judge(mut self, ran: Result<ExitStatus, BootstrapError>) -> Result<Outcome, InstallError> {
        self.progress.clear();
        let host = || self.options.session.host.to_string_lossy().into_owned();
        let Some(chosen) = self.chosen else {
            return Err(match ran {
                Err(error) => login_failed(error),
                Ok(_) => InstallError::NotStarted { host: host() },
            });
        };
        let build = chosen?;
        match self.verdict {
            _ if self.is_same => Ok(Outcome::Same),
            Some(Ok(())) => {
                let other = self.report.facts.other.clone();
                Ok(Outcome::Copied { version: build.version, size: build.size(), other })
            }
            Some(Err(failure)) => Err(InstallError::Refused { host: host(), failure }),
            None => Err(InstallError::Broken {
                host: host(),
                arrived: megabytes(self.bytes_arrived),
                all: build.size(),
            }),
        }
    }
}

fn login_failed(error: BootstrapError) -> InstallError {
    InstallError::Login(error.to_string())
}

/// Finds the program for a host with these facts. Fails if the host has a newer rove that the user wants to keep.
fn choose(options: &InstallOptions, facts: &Facts) -> Result<Build, InstallError> {
    let host = options.session.host.to_string_lossy().into_owned();
    let Some(platform) = &facts.platform else { return Err(InstallError::NoPlatform { host }) };
    let build = Build::find(platform, options.build.as_deref())?;
    let ours = build.version;
    if let Some(theirs) = facts.version.filter(|theirs| *theirs > ours && !options.force) {
        let question = format!("{host} has rove {theirs}, newer than {ours}. Replace it?");
        if !question::ask(&question, false) {
            return Err(InstallError::Newer { host, theirs, ours });
        }
    }
    Ok(build)
}
