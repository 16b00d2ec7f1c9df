//! Sentences about the connections of an interactive client, for its user, and the choice between two questions.

use rove_bootstrap::Place;
use rove_session::Client;

/// The sentence about a screen without a callback.
pub(super) const NO_CALLBACK: &str =
    "the screen shows no login that comes back to a port from 1024 on of localhost";

/// Returns the sentence about a server without streams.
pub(super) fn carries_nothing(session: &Client) -> String {
    format!("the server at {} carries no connections", session.server())
}

/// Returns the sentence about a listener that the user has ended.
pub(super) fn ended(option: &str) -> String {
    format!("{option}: ended; open connections go on")
}

/// Returns the sentence about a place where nothing listens.
pub(super) fn missing(place: &Place) -> String {
    format!("nothing listens at {place} for this session")
}

/// Returns which of two questions to show beside the one that is shown. A use of the agent comes first, but not in the place
/// of a question that the user reads: the yes must not meet another one.
pub(super) fn to_ask<'a>(
    shown: Option<&str>,
    agent: Option<&'a str>,
    callback: Option<&'a str>,
) -> Option<&'a str> {
    callback.filter(|it| Some(*it) == shown).or(agent).or(callback)
}
