//! Sentences for the user about forwarded connections, and the choice between two questions.

use rove_bootstrap::Place;
use rove_session::Client;

/// The sentence about a screen that shows no web login with a callback to localhost.
pub(super) const NO_CALLBACK: &str =
    "no login on the screen comes back to a port from 1024 on of localhost";

/// Returns the message about a client without streams, because it joined a session or its server has none.
pub(super) fn carries_nothing(session: &Client) -> String {
    if session.has_joined() {
        return "this client has joined; only the session's own one copies and forwards".to_owned();
    }
    format!("the server at {} carries no connections", session.server())
}

/// Returns the answer to a line that removes a listener. `option` is the removed listener, or `None` if there was none.
pub(super) fn ended(place: &Place, option: Option<String>) -> String {
    match option {
        Some(option) => format!("{option}: ended; open connections go on"),
        None => format!("nothing listens at {place} for this session"),
    }
}

/// Returns why the session ends, after a failure to forward. `is_required` tells that the user's ssh configuration asks
/// for that end.
pub(super) fn not_forwarded(failure: &str, is_required: bool) -> String {
    let required = is_required.then_some(", and ExitOnForwardFailure wants that");
    format!("{failure}{}", required.unwrap_or_default())
}

/// Returns the question to show, or `None` if there is none. A question about the agent takes precedence, but never
/// replaces a `shown` question about a login. The user's yes might otherwise answer the wrong question.
pub(super) fn to_ask<'a>(
    shown: Option<&str>,
    agent: Option<&'a str>,
    callback: Option<&'a str>,
) -> Option<&'a str> {
    callback.filter(|it| Some(*it) == shown).or(agent).or(callback)
}
