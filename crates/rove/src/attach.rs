//! The host's side of `rove attach`: finds the user's session and asks its server for the next client's key.

use std::ffi::OsStr;
use std::net::IpAddr;

use anyhow::{Context, bail, ensure};
use rove_bootstrap::remote::{NO_SUCH_SESSION, SESSION_VARIABLE};
use rove_bootstrap::startup::{CHOICE, CHOICES_MAX, LOOPBACK, TAKEN};
use rove_bootstrap::{DetachedUse, SessionLabel, SessionRef, attach_command};
use rove_control::AskError;
use rove_control::{
    Conversation, Found, ReplyError, Request, RequestError, SessionStatus, State, Survey, survey,
};
use rove_platform::clock::Clock;
use rove_session::{Former, JoinMode};
use rove_ssp::Key;
use rove_units::Duration;

use crate::announcement;
use crate::messages::{say, warn};
use crate::sessions::choice::{describe_silent, silent};
use crate::sessions::computer::Computer;
use crate::sessions::{describe_running, means};

/// How long the servers may take to answer. Chosen: as for `rove list`.
const PATIENCE: Duration = Duration::from_secs(2);

/// The facts that `rove attach` passes to the host's rove as variables (`-l NAME=VALUE`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The word of the session inside which `rove attach` was called (`SESSION_VARIABLE`). `None` outside a session.
    pub(crate) inside: Option<String>,
    /// The client that `rove resume` replaces. `None` for `rove attach`.
    pub(crate) former: Option<Former>,
}

/// Prints the UDP port of `session` and a key for its next client, as a new server does. Without `session`, uses the
/// only detached session, or the only attached session to join its client (`way`). Returns the exit code.
///
/// # Errors
///
/// Returns why no session fits, or why its server gives no key. Several fitting sessions are listed with exit code 1.
/// If the session to resume does not run, the exit code is [`NO_SUCH_SESSION`].
pub(crate) fn run(
    session: Option<&SessionRef>,
    way: Option<JoinMode>,
    asked: &Asked,
) -> anyhow::Result<u8> {
    let inside = asked.inside.as_deref();
    let clock = Clock::start();
    let mut survey = survey(clock, clock.now() + PATIENCE);
    let sessions = &mut survey.sessions;
    if let [own] = &sessions[..] {
        check_outside(own, inside)?;
    }
    // If no session is named, leaves out sessions without a program and the session that this terminal shows.
    sessions.retain(|found| {
        let is_open = check_outside(found, inside).is_ok() && !found.status.attachment.no_program;
        session.is_some() || is_open
    });
    let is_meant = |found: &&Found| match session {
        Some(session) => means(session, &found.status),
        None if way.is_none() => found.status.state == State::Detached,
        None => found.status.state == State::Attached,
    };
    let mut meant: Vec<&Found> = sessions.iter().filter(is_meant).collect();
    // If no session has the wanted state, all fit: a client that has just ended may still be listed as attached.
    if meant.is_empty() && session.is_none() {
        meant = sessions.iter().collect();
    }
    match (&meant[..], session) {
        ([found], _) => announce_next(clock, found, way, asked).map(|()| 0),
        ([], _) => {
            let reason = why_none(session, &survey);
            // A session with a silent server, or with a socket in a folder that is not read, may be the one to resume.
            let is_sure = survey.errors.is_empty() && silent(session, &survey).is_none();
            ensure!(asked.former.is_some() && is_sure, reason);
            warn("rove server", &reason);
            Ok(NO_SUCH_SESSION)
        }
        (several, _) => Ok(offer(several)),
    }
}

/// Returns why no session can be attached to.
fn why_none(session: Option<&SessionRef>, survey: &Survey) -> String {
    match (silent(session, survey), session) {
        (Some(silent), _) => describe_silent(silent, &Computer::ours()),
        (None, _) if !survey.errors.is_empty() => {
            format!("control sockets are not looked for there: {}", survey.errors[0])
        }
        (None, Some(session)) if !survey.sessions.is_empty() || !survey.silent.is_empty() => {
            format!("no session of yours has the name, process or port {session}")
        }
        (None, _) => "no session of yours runs here under a rove server".to_owned(),
    }
}

/// Prints the port and a key of the session named `name`. Returns `false` if there is no such session.
///
/// # Errors
///
/// Returns why the session's server gives no key, or that it does not answer.
pub(crate) fn run_if_there(name: &SessionLabel, inside: Option<&str>) -> anyhow::Result<bool> {
    let clock = Clock::start();
    let survey = survey(clock, clock.now() + PATIENCE);
    let session = SessionRef::Named(name.clone());
    match survey.sessions.iter().find(|found| means(&session, &found.status)) {
        Some(found) => {
            let asked = Asked { inside: inside.map(str::to_owned), former: None };
            announce_next(clock, found, None, &asked).map(|()| true)
        }
        // A session whose server does not answer may have the name, and no second session may get it.
        None => silent(Some(&session), &survey)
            .map_or(Ok(false), |it| bail!(describe_silent(it, &Computer::ours()))),
    }
}

/// At a login, prints the key of the newest detached session or lists all detached sessions, as `wanted` says. Returns
/// the exit code, or `None` if the login must start a new session.
pub(crate) fn instead_of_new(wanted: DetachedUse) -> Option<u8> {
    if matches!(wanted, DetachedUse::Hint | DetachedUse::Never) {
        return None;
    }
    let clock = Clock::start();
    let sessions = survey(clock, clock.now() + PATIENCE).sessions;
    let detached: Vec<&Found> = sessions.iter().filter(|it| waits_for_client(&it.status)).collect();
    if wanted == DetachedUse::Ask {
        return (!detached.is_empty()).then(|| offer(&detached));
    }
    let newest = detached.into_iter().max_by_key(|found| found.status.started_at)?;
    // If the server gives no key, the login starts a new session, whose screen lists the detached one.
    let next = next_key(clock, newest, None, &Asked::default()).ok()?;
    let what = describe_running(&newest.status);
    say(std::io::stderr(), &format!("rove: going on with your newest session, {what}"));
    announce(&newest.status, &next).is_ok().then_some(0)
}

/// Returns whether a session runs a program and is detached.
pub(crate) fn waits_for_client(status: &SessionStatus) -> bool {
    status.state == State::Detached && !status.attachment.no_program
}

/// Lists up to [`CHOICES_MAX`] sessions for the user's choice. Returns the exit code 1, as no session is chosen yet.
fn offer(sessions: &[&Found]) -> u8 {
    for found in sessions.iter().take(CHOICES_MAX) {
        let status = &found.status;
        say(std::io::stdout(), &format!("{CHOICE} {} {}", status.port, describe_running(status)));
    }
    1
}

/// Returns an error if `rove attach` was called inside the session. Attaching would then end the client that shows it,
/// or make the session show itself.
fn check_outside(found: &Found, inside: Option<&str>) -> anyhow::Result<()> {
    let SessionStatus { port, attachment, .. } = &found.status;
    if inside.is_some() && inside == attachment.word.as_deref() {
        bail!(
            "this terminal is inside the session at port {port}, which would show itself: attach from another one, or \
             unset {SESSION_VARIABLE} if that is left over"
        );
    }
    Ok(())
}

/// Asks a session's server for its next client's key, and prints the key.
fn announce_next(
    clock: Clock,
    found: &Found,
    way: Option<JoinMode>,
    asked: &Asked,
) -> anyhow::Result<()> {
    let next = next_key(clock, found, way, asked)?;
    announce(&found.status, &next)
}

fn announce(status: &SessionStatus, (key, taken): &(Key, Option<u64>)) -> anyhow::Result<()> {
    if status.attachment.loopback {
        say(std::io::stdout(), LOOPBACK);
    }
    if let Some(taken) = taken {
        say(std::io::stdout(), &format!("{TAKEN} {taken}"));
    }
    announcement::print(status.port, key)
}

/// Asks a server for its next client's key. For `rove resume`, also returns how many keystrokes of the former client
/// the server has received.
fn next_key(
    clock: Clock,
    found: &Found,
    way: Option<JoinMode>,
    asked: &Asked,
) -> anyhow::Result<(Key, Option<u64>)> {
    check_outside(found, asked.inside.as_deref())?;
    let by = ["SSH_CONNECTION", "SSH_CLIENT"]
        .into_iter()
        .find_map(|variable| client_address(std::env::var_os(variable).as_deref()?));
    let port = found.status.port;
    let ask = |request| {
        Conversation::start(clock, &found.path, request)
            .and_then(|mut conversation| conversation.reply(clock.now() + PATIENCE))
    };
    let resumed = asked.former.map(|former| ask(Request::Resume(former, by)));
    let answer = match resumed {
        // A server that an older rove started may not know this request.
        Some(Err(AskError::Reply(ReplyError::Refused(refusal)))) if is_older(&refusal) => None,
        answer => answer,
    };
    let answer = match answer.unwrap_or_else(|| ask(Request::Attach(way, by))) {
        Err(AskError::Reply(ReplyError::Refused(refusal))) => {
            bail!("the session at port {port}: {}", reason(refusal, way))
        }
        answer => answer.with_context(|| format!("the session at port {port}"))?,
    };
    let key = answer.key.with_context(|| {
        format!("the server of the session at port {port} gives no key; its rove may be older")
    })?;
    let key = Key::from_text(&key).context("the server gives something else than a key")?;
    Ok((key, answer.taken))
}

/// Returns the message for a server's refusal to give a key. A server of an older rove may not know the request.
fn reason(refusal: String, way: Option<JoinMode>) -> String {
    if !is_older(&refusal) {
        return refusal;
    }
    let lacks = attach_command(way);
    format!(
        "its server was started by an older rove, which has no {lacks}; only its own client can go on with it"
    )
}

/// Returns whether a refusal means that the server is too old to know the request.
fn is_older(refusal: &str) -> bool {
    refusal == RequestError::Unknown.to_string()
}

/// Returns the client's address from sshd's `client-ip client-port ...`, or `None` if the text has no address.
fn client_address(connection: &OsStr) -> Option<IpAddr> {
    let word = connection.to_str()?.split_whitespace().next()?;
    word.parse().ok().map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_of_an_older_rove_is_said_to_lack_what_was_asked_for() {
        for (way, lacks) in [
            (None, "no rove attach;"),
            (Some(JoinMode::View), "no rove attach --view;"),
            (Some(JoinMode::Share), "no rove attach --share;"),
        ] {
            let text = reason(RequestError::Unknown.to_string(), way);
            assert!(text.contains("older rove") && text.contains(lacks), "{text}");
            assert_eq!(reason("nobody may".to_owned(), way), "nobody may");
        }
    }

    #[test]
    fn no_login_is_told_of_a_session_without_a_program() {
        for (state, no_program, waits) in [
            (State::Detached, false, true),
            (State::Detached, true, false),
            (State::Attached, false, false),
        ] {
            let mut status = SessionStatus { state, ..SessionStatus::default() };
            status.attachment.no_program = no_program;
            assert_eq!(waits_for_client(&status), waits, "{state:?} {no_program}");
        }
    }

    #[test]
    fn the_users_address_is_the_first_word_of_ssh_connection() {
        for (text, address) in [
            ("10.0.0.1 50000 10.0.0.2 22", Some("10.0.0.1")),
            ("::ffff:10.0.0.1 5 x 22", Some("10.0.0.1")),
            ("host 5", None),
            ("", None),
        ] {
            let address = address.map(|address| address.parse().unwrap());
            assert_eq!(client_address(OsStr::new(text)), address, "{text}");
        }
    }
}
