//! The command `rove resume`: goes on with a session whose client was killed.

use std::io;
use std::net::SocketAddr;

use anyhow::{Context, bail};
use rove_bootstrap::{NoSession, ProgramName, Resumed, WantedSession};
use rove_platform::clock::unix_seconds;
use rove_session::LeftKeys;

use crate::bootstrap::error::BootstrapError;
use crate::client::{self, ClientOptions};
use crate::hardening;
use crate::messages::{say, warn};
use crate::question;
use crate::resume::{Folders, Saved, SessionFacts};
use crate::session_call::SessionCall;
use crate::sessions::age;

/// The next step of `rove resume`.
pub(crate) enum Step {
    /// The session has ended, with this exit code.
    Done(u8),
    /// The session has a rove server, which must give a new key. `rove attach` with these words asks for the key of the
    /// session of this server. The key is for a client with the options of the former client's call. The record stays
    /// locked while this process becomes the client by exec.
    Attach(Vec<String>, SocketAddr, Resumed, Box<SessionCall>),
}

/// The facts about a session that may be chosen.
struct Waiting {
    name: String,
    facts: SessionFacts,
    /// The record's time of modification, in seconds since 1970.
    written_at: i64,
}

/// Goes on with a session. `wanted` is a host, or a number in the list. Without `wanted`, the only session is taken, or
/// the user chooses a session.
///
/// # Errors
///
/// Returns an error if there is no such session, or why it cannot be resumed.
pub(crate) fn run(wanted: Option<&str>) -> anyhow::Result<Step> {
    hardening::conceal_memory().context("cannot conceal the key")?;
    let folders = Folders::create()?;
    let refusal = |name: &str| format!("session {name} cannot be resumed");
    let mut sessions = Vec::new();
    // Only the chosen session's files stay locked, and only its key stays in memory.
    for (name, saved) in folders.sessions() {
        match saved {
            Ok(Saved { facts, written_at, .. }) => {
                sessions.push(Waiting { name, facts, written_at })
            }
            Err(error) => warn("rove resume", &format!("{}: {error}", refusal(&name))),
        }
    }
    let name = &sessions[choose(&sessions, wanted)?].name;
    go_on(folders.open(name).with_context(|| refusal(name))?)
}

/// Returns the index of the wanted session. If several sessions match, lists them, and the user chooses. If none
/// matches, lists all, and fails.
fn choose(sessions: &[Waiting], wanted: Option<&str>) -> anyhow::Result<usize> {
    if sessions.is_empty() {
        bail!(
            "no session waits for its client on this computer; `rove attach HOST` goes on with one whose server is a rove"
        );
    }
    let number: Option<usize> = wanted.and_then(|it| it.parse().ok());
    let is_meant = |index: usize| match (number, wanted) {
        (Some(number), _) => index + 1 == number,
        (None, Some(host)) => is_host(&sessions[index], host),
        (None, None) => true,
    };
    let meant: Vec<usize> = (0..sessions.len()).filter(|index| is_meant(*index)).collect();
    if let [only] = meant[..] {
        return Ok(only);
    }
    for index in (0..sessions.len()).filter(|it| meant.is_empty() || meant.contains(it)) {
        say(io::stderr(), &format!("  {}  {}", index + 1, describe(&sessions[index])));
    }
    if let Some(wanted) = wanted.filter(|_| meant.is_empty()) {
        bail!(
            "{} is no session that waits for its client on this computer; name one of the list by number or host",
            wanted.escape_debug()
        );
    }
    let chosen = question::choose("which session?", sessions.len());
    let chosen = chosen.filter(|it| meant.contains(it));
    chosen.context("no session was chosen; name one of the list, as in `rove resume 1`")
}

fn go_on(saved: Saved) -> anyhow::Result<Step> {
    let call = saved.facts.call.clone();
    let server: SocketAddr = saved.facts.server.parse().context("the record names no server")?;
    let Some(key) = saved.key.clone() else {
        let host = call.host.clone().context("the record names no host")?;
        let mut words = vec![format!("--ssh={}", shell_words::join(&call.ssh))];
        words.extend(call.way.iter().cloned().chain([host]));
        let client = saved.facts.client.parse().context("the record names no client")?;
        let former = LeftKeys::read(&saved.records)?.former(client);
        let (record, former) = (saved.store.name().to_owned(), former.to_string());
        let resumed = Resumed { record, lock: saved.store.into_lock(), former, taken: None };
        return Ok(Step::Attach(words, server, resumed, Box::new(call)));
    };
    let options = ClientOptions {
        server,
        key,
        name: ProgramName::Rove,
        verbose: 0,
        // The former client's ssh tunnel has ended.
        call: SessionCall { tunnel: None, ..call },
    };
    client::go_on(options, saved).map(Step::Done)
}

/// Removes the record of a session that the host does not have (`error`), if this call was to resume it. An error of
/// the disk is ignored, because the next call tries again.
pub(crate) fn forget_ended(session: &WantedSession, error: &BootstrapError) {
    if let WantedSession::Resumed(_, resumed) = session
        && matches!(error, BootstrapError::NoSession(NoSession::Ended { .. }))
        && let Ok(folders) = Folders::create()
        && let Ok(saved) = folders.open_locked(&resumed.record, resumed.lock)
    {
        saved.store.remove();
    }
}

fn is_host(saved: &Waiting, wanted: &str) -> bool {
    let host = saved.facts.call.host.as_deref().unwrap_or(&saved.facts.server);
    host == wanted || host.rsplit_once('@').is_some_and(|(_, host)| host == wanted)
}

fn describe(saved: &Waiting) -> String {
    let host = saved.facts.call.host.as_deref().unwrap_or(&saved.facts.server).escape_debug();
    let server = &saved.facts.server;
    // If the clock was set back after the last write, the age is 0.
    let seconds = unix_seconds().saturating_sub(u64::try_from(saved.written_at).unwrap_or(0));
    format!("{host}, server at {server}, last written {} ago", age(seconds))
}
