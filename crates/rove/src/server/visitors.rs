//! Decides which clients may take over, view or share a running session, and names them in the system's log.

use std::net::IpAddr;

use rove_control::KeyText;
use rove_session::{Door, Former, JoinMode, JoinedClient, Server, Uninvited};
use rove_units::Instant;

use crate::{entropy, hardening, syslog};

/// The known facts about the process that asks for a client's key.
#[derive(Clone, Copy, Debug)]
pub(super) struct From {
    /// The address of the user's ssh client. `None` for a request on this computer.
    pub(super) by: Option<IpAddr>,
    /// The number of the process that asks at the control socket. `None` if unknown.
    pub(super) peer: Option<u32>,
}

/// The reason why a client may not take over or join a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    /// The user has locked the session, and its client is not silent.
    #[error(
        "its user has locked it: unlock it there with Ctrl-^ l, or end that client; once a datagram of that client is \
         late by 9 s, this works"
    )]
    Locked,
    /// The session's own client is silent, and could not show its user that another client joins.
    #[error(
        "nobody may join it: its client, which would show that, is silent; `rove attach` without --view and --share \
         takes it over"
    )]
    Silent,
    /// The session carries streams only.
    #[error("it runs no program, so there is nothing to attach to")]
    NoProgram,
    /// The user wants to resume a client that this session never had.
    #[error(
        "it is another session than that of the client's record, which has ended; `rove attach` takes it over"
    )]
    OtherSession,
    #[error(transparent)]
    Uninvited(#[from] Uninvited),
}

/// Invites another client to take over (`way` is `None`), view or share the session. `former` is the client that the
/// new one resumes (`rove resume`), if any. `is_attached` says whether the session's own client is alive. Returns the
/// new client's session key, or `None` if the system gives no random bytes. Also returns how many keystrokes of the
/// former client the server has taken, if it knows that client.
///
/// # Errors
///
/// Returns why the client is refused. Even a locked session can be taken over while its own client is silent.
pub(super) fn invite(
    session: &mut Server,
    now: Instant,
    (way, former): (Option<JoinMode>, Option<Former>),
    from: From,
    is_attached: bool,
) -> Result<(Option<KeyText>, Option<u64>), Refusal> {
    let (Ok(key), Ok(seed)) = (entropy::key(), entropy::seed()) else { return Ok((None, None)) };
    let (chaff, who) = (seed.stream("server.chaff"), describe(from));
    match way {
        None if is_attached && session.door() == Door::Locked => return Err(Refusal::Locked),
        Some(_) if !is_attached => return Err(Refusal::Silent),
        _ if former.is_some_and(|it| !session.is_own(it.client)) => {
            return Err(Refusal::OtherSession);
        }
        _ => {}
    }
    let (memory, taken) = match way {
        None => {
            let taken = session.invite_after(now, &key, chaff, from.by, former);
            (session.invited_key_memory(), taken)
        }
        Some(mode) => {
            let joined = session.invite_to_join(now, &key, chaff, (mode, &who));
            (Some(joined?), None)
        }
    };
    memory.into_iter().for_each(hardening::keep_in_memory);
    let purpose = way.map_or("take over", does);
    let user = rustix::process::geteuid().as_raw();
    syslog::tell(&format!("user {user} asks from {who}: {purpose} this session"));
    Ok((Some(key.to_text()), taken))
}

/// Updates `known`, the descriptions of joined clients, and writes a change to the system's log.
pub(super) fn note(known: &mut Vec<String>, clients: &[JoinedClient]) {
    let joined: Vec<String> =
        clients.iter().map(|client| format!("{} {}s", client.who, does(client.way))).collect();
    if *known != joined {
        let all = if joined.is_empty() { "nobody".to_owned() } else { joined.join(", ") };
        syslog::tell(&format!("joined to this session: {all}"));
        *known = joined;
    }
}

const fn does(way: JoinMode) -> &'static str {
    match way {
        JoinMode::View => "view",
        JoinMode::Share => "type",
    }
}

fn describe(from: From) -> String {
    let address = from.by.map_or_else(|| "this computer".to_owned(), |by| by.to_string());
    let process = from.peer.map_or(String::new(), |pid| format!(" (process {pid})"));
    format!("{address}{process}")
}
