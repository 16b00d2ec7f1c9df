//! The session as `rove` describes it to the client that it turns into, in one environment variable. `mosh-client`, and a
//! `rove client` that the user calls, take the same from the variables that their manuals name.
//!
//! The session key has a variable of its own, as in Mosh.

use std::env;
use std::ffi::CStr;

use anyhow::Context;
use rove_bootstrap::{Choices, Forwards, Joined, ProgramName, Resumed};
use rove_session::Preference;
use serde::{Deserialize, Serialize};

use crate::client::agent::AgentCall;
use crate::escape_key;
use crate::share::Gate;
use crate::tunnel::inherited::Inherited;
use crate::{sys, threads};

/// The environment variable that holds the call. Stock clients ignore it.
pub(crate) const VARIABLE: &CStr = c"ROVE_CALL";

/// A session that runs, and how to show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionCall {
    pub(crate) choices: Choices,
    /// The escape key; `None` turns escape processing off.
    pub(crate) escape_key: Option<u8>,
    /// Whether to leave out the line that says that the program ends.
    pub(crate) quiet: bool,
    /// The host as the user wrote it, if this client knows.
    pub(crate) host: Option<String>,
    /// The command that the session runs, as a shell would read it, empty for the login shell; `None` if this
    /// client does not know.
    pub(crate) command: Option<String>,
    /// The user on the host whose prompts are remembered, as ssh knows them; `None` where none are.
    pub(crate) account: Option<String>,
    /// The words of the ssh command by which the session was started; none if it was not.
    pub(crate) ssh: Vec<String>,
    /// Where else the server may be reached.
    pub(crate) others: Vec<String>,
    /// The ssh that carries the datagrams, where one does.
    pub(crate) tunnel: Option<Inherited>,
    /// The client that this one goes on from, if any. No record holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resumed: Option<Resumed>,
    /// The command, without the host, that asks again for a session which may have run before this client's login. `None`
    /// if the client came to a new session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) attached_by: Option<String>,
    /// Whether the session runs no program, so that Ctrl-C ends it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub(crate) no_program: bool,
    /// Whether the client of such a session goes to the background.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub(crate) background: bool,
    #[serde(flatten)]
    pub(crate) streams: StreamsCall,
}

/// The uses of a session's streams.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StreamsCall {
    /// The connections that the session forwards. `None` if it forwards none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) forwards: Option<Forwards>,
    /// How the user's agent is lent to the host. `None` if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<AgentCall>,
    /// The thing that a session without a program joins the standard descriptors with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) joined: Option<Joined>,
    /// The gate for which other calls may borrow the session's streams. `None` if none may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) gate: Option<Gate>,
}

impl SessionCall {
    /// Reads the call and removes it from the environment.
    ///
    /// # Errors
    ///
    /// Returns an error for an unknown prediction mode, for a malformed call, and when other threads run.
    pub(crate) fn take(name: ProgramName) -> anyhow::Result<Self> {
        let alone = threads::check_alone().context("cannot take the description of the session")?;
        match sys::take_secret_variable(VARIABLE, alone) {
            Some(text) => serde_json::from_slice(&text).with_context(|| {
                format!(
                    "{} does not describe a session; only rove sets it",
                    VARIABLE.to_string_lossy()
                )
            }),
            None => Self::from_variables(name),
        }
    }

    /// Returns the call that the variables in the manual describe.
    fn from_variables(name: ProgramName) -> anyhow::Result<Self> {
        let predict = match env::var_os("MOSH_PREDICTION_DISPLAY") {
            None => Preference::default(),
            Some(mode) => {
                let mode = mode.to_string_lossy();
                Preference::from_name(&mode).with_context(|| {
                    format!("Unknown prediction mode {mode:?} in MOSH_PREDICTION_DISPLAY")
                })?
            }
        };
        let others = env::var("ROVE_ADDRESSES").unwrap_or_default();
        Ok(Self {
            choices: with_environment(Choices { predict, ..Choices::default() }),
            escape_key: escape_key::from_environment(),
            quiet: is_quiet(name),
            command: env::var_os("ROVE_COMMAND").map(|it| it.to_string_lossy().into_owned()),
            account: env::var("ROVE_ACCOUNT").ok(),
            others: others.split_whitespace().map(str::to_owned).collect(),
            ..Self::default()
        })
    }
}

/// Returns whether the environment asks for quiet. Called as `mosh`, rove always prints what scripts wait for.
pub(crate) fn is_quiet(name: ProgramName) -> bool {
    name == ProgramName::Rove && env::var_os("ROVE_QUIET").is_some()
}

/// Adds the choices in the environment, except the one about predictions.
pub(crate) fn with_environment(mut choices: Choices) -> Choices {
    let is_set = |name| env::var_os(name).is_some();
    choices.predict_overwrite |=
        env::var_os("MOSH_PREDICTION_OVERWRITE").is_some_and(|word| word == "yes");
    choices.scrollback =
        choices.scrollback.or_else(|| env::var_os("ROVE_SCROLLBACK").map(|it| it != "0"));
    choices.init &= !is_set("MOSH_NO_TERM_INIT") && choices.scrollback != Some(true);
    choices.title_prefix &= !is_set("MOSH_TITLE_NOPREFIX");
    choices.query &= !is_set("ROVE_NO_TERM_QUERY");
    choices.read_copied |= is_set("ROVE_READ_COPIED");
    choices.strict |= is_set("ROVE_STRICT");
    choices
}

#[cfg(test)]
mod tests {
    use rove_bootstrap::{AgentUse, LentAgent};

    use super::*;

    #[test]
    fn a_call_is_read_as_it_was_written() {
        let choices = Choices { scrollback: Some(false), ..Choices::default() };
        let port = Joined::Port("[::1]:22".to_owned());
        let files = Joined::Files { session: String::new(), files: vec![b"a \xff".to_vec()] };
        for (predict, joined) in
            [("adaptive", &port), ("always", &files), ("never", &port), ("experimental", &files)]
        {
            let predict = Preference::from_name(predict).expect("it is a mode");
            let call = SessionCall {
                choices: Choices { predict, ..choices.clone() },
                escape_key: None,
                quiet: true,
                host: Some("me@host \u{202e}\n".to_owned()),
                command: Some(String::new()),
                account: None,
                ssh: vec!["ssh".to_owned()],
                others: vec!["192.0.2.1".to_owned()],
                tunnel: None,
                resumed: Some(Resumed {
                    record: "0123".to_owned(),
                    lock: 3,
                    former: "x.0".to_owned(),
                    taken: None,
                }),
                attached_by: Some("rove attach".to_owned()),
                no_program: true,
                background: true,
                streams: StreamsCall {
                    forwards: Some(Forwards::default()),
                    agent: Some(AgentCall {
                        words: vec!["ssh".to_owned()],
                        mark: "ROVE AGENT".to_owned(),
                        agent: LentAgent::Usual,
                        how: AgentUse::Confirm,
                    }),
                    joined: Some(joined.clone()),
                    gate: serde_json::from_str("\"me@host:22  \"").ok(),
                },
            };
            let text = serde_json::to_string(&call).expect("a call is text and numbers");
            assert!(!text.contains('\0'), "{text}");
            assert_eq!(serde_json::from_str::<SessionCall>(&text).ok(), Some(call));
        }
    }
}
