//! The commands `rove list` and `rove kill`: this user's sessions on this computer, or on another.
//!
//! `choice` selects the sessions, and `table` formats them. `computer` names the computer that sessions run on, and
//! `far` asks another computer.

use std::io::{self, Write};

use anyhow::Context;
use rove_bootstrap::HostOptions;
use rove_control::{AskError, Conversation, Found, Request, SessionStatus, Survey, survey};
use rove_platform::clock::Clock;
use rove_units::{Duration, Instant};
use rustix::stdio;
use rustix::termios::isatty;
use serde::{Deserialize, Serialize};

use crate::messages::{columns, escaped, say, warn, wrapped};
use crate::server::policy::{Policy, PolicyError};

pub(crate) mod choice;
pub(crate) mod computer;
pub(crate) mod far;
mod table;

pub(crate) use choice::{Choice, means};
use computer::Computer;
pub(crate) use table::{age, describe_detached, describe_running, one as describe};

/// Longest wait for the servers' answers. Chosen: a thousand times the usual time, and short for a user who waits.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest wait for servers to end. Chosen: a server waits 10 s for its client's acknowledgment (Mosh 1.4.0 as
/// observed).
const END_PATIENCE: Duration = Duration::from_secs(15);
/// The name of the command that ends sessions, in messages.
const KILL: &str = "rove kill";
/// The version number in the output of `rove list --json`. It changes if existing fields change.
const JSON_VERSION: u32 = 1;

/// The computer on which sessions are listed or ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Here,
    /// The host that these options log in to.
    Far(Box<HostOptions>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Listing {
    version: u32,
    pub(crate) sessions: Vec<SessionStatus>,
    /// Why servers ignore the administrator's rules for this computer. `None` if the rules apply, or none exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rules_ignored: Option<String>,
    /// The administrator's rules in force, as JSON, because later versions may add rules. `None` from an older rove.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rules: Option<serde_json::Value>,
}

impl Listing {
    /// Returns the rules in force for the listed sessions. `None` if the list lacks them, or they cannot be parsed.
    pub(crate) fn rules(&self) -> Option<Policy> {
        serde_json::from_value(self.rules.clone()?).ok()
    }

    /// Returns the list as text for people. `own_terminal` marks the session that the command runs in. `is_whole` is
    /// false if servers did not answer.
    pub(crate) fn text(
        &self,
        computer: &Computer,
        own_terminal: Option<&str>,
        is_whole: bool,
    ) -> String {
        let width_max = if isatty(stdio::stdout()) { table::COMMAND_WIDTH } else { usize::MAX };
        if self.sessions.is_empty() {
            let runs = if is_whole { "runs" } else { "answers" };
            format!("No session of yours {runs} on {} under a rove server.\n", computer.name())
        } else {
            table::sessions(&self.sessions, own_terminal, width_max)
        }
    }
}

/// Prints the user's sessions on standard output, for programs if `json`. Returns the exit code: 1 if [`tell_problems`]
/// found a problem.
///
/// # Errors
///
/// Returns why the list cannot be printed, or the host cannot be asked.
pub(crate) fn list(json: bool, place: &Place) -> anyhow::Result<u8> {
    if let Place::Far(host) = place {
        return far::list(json, host);
    }
    let computer = Computer::ours();
    let clock = Clock::start();
    let survey = survey(clock, clock.now() + PATIENCE);
    let found = Policy::find();
    let rules_ignored = found.as_ref().err().map(PolicyError::sentence);
    let rules = serde_json::to_value(found.unwrap_or_else(|error| error.rules())).ok();
    let listing = Listing {
        version: JSON_VERSION,
        sessions: survey.sessions.iter().map(|found| found.status.clone()).collect(),
        rules_ignored,
        rules,
    };
    let has_problems = tell_problems("rove list", &computer, &survey);
    let text = match json {
        true => escaped(&serde_json::to_string(&listing)?) + "\n",
        false => {
            let text = listing.text(&computer, own_terminal().as_deref(), !has_problems);
            wrapped(&text, columns(&io::stdout()))
        }
    };
    io::stdout().write_all(text.as_bytes()).context("cannot write the list")?;
    Ok(u8::from(has_problems))
}

/// Ends the chosen sessions and prints the result of each. Returns the exit code: 1 if a session was not found or has
/// not ended. If the user named no sessions, the code is also 1 if [`tell_problems`] found a problem.
///
/// # Errors
///
/// Returns why the host cannot be asked.
pub(crate) fn kill(choice: &Choice, place: &Place) -> anyhow::Result<u8> {
    match place {
        Place::Here => Ok(kill_here(choice)),
        Place::Far(host) => far::kill(choice, host),
    }
}

fn kill_here(choice: &Choice) -> u8 {
    let clock = Clock::start();
    let computer = Computer::ours();
    let survey = survey(clock, clock.now() + PATIENCE);
    let (chosen, missing) = choice.among(&survey.sessions);
    for one in &missing {
        warn(KILL, &choice::why_missing(one, &computer, &survey));
    }
    if chosen.is_empty() && missing.is_empty() {
        answer(&format!("There is no such session{}: nothing to end.", computer.on()));
    }
    // The session that this command runs in is ended last, because the command ends with it.
    let own = own_terminal();
    let (own_one, others): (Vec<_>, Vec<_>) =
        chosen.into_iter().partition(|found| is_own(&found.status, own.as_deref()));
    let all_ended = end(clock, &computer, &others) & end(clock, &computer, &own_one);
    let is_explicit = matches!(choice, Choice::These(_));
    let has_problems = !is_explicit && tell_problems(KILL, &computer, &survey);
    u8::from(!all_ended || !missing.is_empty() || has_problems)
}

/// Ends the sessions, all at the same time, and prints the results. Returns whether all have ended.
fn end(clock: Clock, computer: &Computer, sessions: &[&Found]) -> bool {
    let deadline = clock.now() + END_PATIENCE;
    let asked: Vec<_> = sessions
        .iter()
        .map(|found| Conversation::start(clock, &found.path, Request::End))
        .collect();
    let mut all_ended = true;
    for (found, conversation) in sessions.iter().zip(asked) {
        let name = format!("{}{}", table::one(&found.status), computer.on());
        let insist = computer.command("To insist", &format!("kill {}", found.status.pid));
        let ended = match conversation.and_then(|it| see_off(it, clock, found, deadline)) {
            Ok(true) => {
                let rest = match found.status.attachment.no_program {
                    true => "its streams are closed",
                    false => "its command has been sent SIGHUP",
                };
                Ok(format!("Ended {name}; {rest}."))
            }
            // The session ended after `survey` had found it.
            Err(AskError::Gone) => Ok(format!("{name} has ended already.")),
            Err(AskError::Closed) if has_ended(clock, found) => {
                Ok(format!("{name} has ended already."))
            }
            Ok(false) => Err(" was told to end and has not yet".to_owned()),
            Err(error) => Err(format!(": {error}")),
        };
        all_ended &= ended.is_ok();
        let tell = |fault| warn(KILL, &format!("{name}{fault}. {insist}"));
        ended.map_or_else(tell, |text| answer(&text));
    }
    all_ended
}

/// Prints a sentence on standard output, broken between words where that is a terminal.
fn answer(sentence: &str) {
    let stdout = io::stdout();
    let text = wrapped(sentence, columns(&stdout));
    say(stdout, &text);
}

/// Waits for the end of a session that was told to end, at most until `deadline`. Returns whether the session ended.
fn see_off(
    mut conversation: Conversation,
    clock: Clock,
    found: &Found,
    deadline: Instant,
) -> Result<bool, AskError> {
    conversation.reply(deadline)?;
    Ok(conversation.wait_closed(deadline) && has_ended(clock, found))
}

/// Returns whether a server that has closed a connection has ended. It also closes the oldest to accept a newer one.
fn has_ended(clock: Clock, found: &Found) -> bool {
    Conversation::start(clock, &found.path, Request::Status).is_err()
}

/// Prints on standard error which servers did not answer and which folders are not used. Returns whether there was such
/// a problem.
fn tell_problems(speaker: &str, computer: &Computer, survey: &Survey) -> bool {
    let on = computer.on();
    for error in &survey.errors {
        warn(speaker, &format!("control sockets{on} are not looked for there: {error}"));
    }
    for silent in &survey.silent {
        warn(speaker, &choice::describe_silent(silent, computer));
    }
    !survey.errors.is_empty() || !survey.silent.is_empty()
}

/// Returns the terminal of this process, which identifies the session that it runs in. `None` without a terminal.
fn own_terminal() -> Option<String> {
    let name = rustix::termios::ttyname(stdio::stdin(), Vec::new()).ok()?;
    name.into_string().ok()
}

fn is_own(status: &SessionStatus, own_terminal: Option<&str>) -> bool {
    own_terminal.is_some_and(|terminal| terminal == status.terminal)
}
