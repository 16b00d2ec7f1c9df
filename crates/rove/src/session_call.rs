//! The facts and options that `rove` passes, in one environment variable, to the client that it becomes by exec.
//! `mosh-client`, and a `rove client` that the user calls, read them from the variables in their manuals instead.
//!
//! The session key is in the variable `MOSH_KEY`, as in Mosh.

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

/// The environment variable with the [`SessionCall`] in JSON. Mosh's own clients ignore it.
pub(crate) const VARIABLE: &CStr = c"ROVE_CALL";

/// The facts about a running session and the user's options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SessionCall {
    pub(crate) choices: Choices,
    /// The escape key; `None` turns escape processing off.
    pub(crate) escape_key: Option<u8>,
    /// Whether to print errors only, without the line that says that the client exits.
    pub(crate) quiet: bool,
    /// The host as the user wrote it, if this client knows the host.
    pub(crate) host: Option<String>,
    /// The session's command, quoted as for a shell; empty for the login shell. `None` if this client does not know it.
    pub(crate) command: Option<String>,
    /// The user, host and port, by ssh's configuration, for which prompts are remembered. `None` for no prompts.
    pub(crate) account: Option<String>,
    /// The words of the user's ssh command; empty if this client does not know them.
    pub(crate) ssh: Vec<String>,
    /// The words of rove's command line for a later login by the same way to the host ([`HostOptions::way_words`]).
    ///
    /// [`HostOptions::way_words`]: rove_bootstrap::HostOptions::way_words
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) way: Vec<String>,
    /// Other addresses at which the server may be.
    pub(crate) others: Vec<String>,
    /// The running ssh that can carry datagrams, if there is one.
    pub(crate) tunnel: Option<Inherited>,
    /// The former client that this client resumes, if any. The record for `rove resume` omits this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resumed: Option<Resumed>,
    /// The command, without the host, by which the user can attach to the session again. `None` if the session is
    /// certainly new, or the server is Mosh's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attached_by: Option<String>,
    /// Whether the session runs no program, so that Ctrl-C ends it.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub(crate) no_program: bool,
    /// Whether the client goes to the background (`-f`).
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub(crate) background: bool,
    #[serde(flatten)]
    pub(crate) streams: StreamsCall,
}

/// The uses of a session's streams.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StreamsCall {
    /// The connections to forward. `None` to forward none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) forwards: Option<Forwards>,
    /// How to lend the user's agent to the host. `None` to lend no agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<AgentCall>,
    /// The port or program of `rove -W` or `exec`, or the files of `rove put`. `None` for other commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) joined: Option<Joined>,
    /// The host and login (gate) for which other calls, such as `rove -W`, may use this session. `None` if no call may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) gate: Option<Gate>,
}

impl SessionCall {
    /// Reads the call from [`VARIABLE`], and removes the variable from the environment.
    ///
    /// # Errors
    ///
    /// Returns an error for an unknown prediction mode, for a malformed call, and if this process has other threads.
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

    /// Makes the call from the environment variables that the manual lists.
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
        Ok(Self {
            choices: with_environment(Choices { predict, ..Choices::default() }),
            escape_key: escape_key::from_environment(),
            quiet: is_quiet(name),
            ..Self::default()
        })
    }
}

/// Returns whether `ROVE_QUIET` is set. Under the name `mosh` it is ignored, because scripts wait for messages.
pub(crate) fn is_quiet(name: ProgramName) -> bool {
    name == ProgramName::Rove && env::var_os("ROVE_QUIET").is_some()
}

/// Returns `choices`, changed as environment variables say. The variable of the prediction mode is not read here.
pub(crate) fn with_environment(mut choices: Choices) -> Choices {
    let is_set = |name| env::var_os(name).is_some();
    choices.predict_overwrite |=
        env::var_os("MOSH_PREDICTION_OVERWRITE").is_some_and(|word| word == "yes");
    choices.init &= !is_set("MOSH_NO_TERM_INIT") && choices.scrollback != Some(true);
    choices.title_prefix &= !is_set("MOSH_TITLE_NOPREFIX");
    choices.query &= !is_set("ROVE_NO_TERM_QUERY");
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
                way: vec!["--tunnel=auto".to_owned()],
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
                        known_hosts: vec!["/home/me/.ssh/known_hosts".to_owned()],
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
