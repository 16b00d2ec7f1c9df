//! The keys of the configuration file: mostly the names of long options that make sense for more than one session.

use rove_bootstrap::{AgentUse, DetachedUse, InstallPolicy};
use rove_session::StreamController;

use crate::cli::option_values::{self, ValueError};
use crate::escape_key;

#[derive(Clone, Copy)]
pub(super) struct Key {
    /// The name of the key. A key with a command-line option has the option's name, without `--`.
    pub(super) name: &'static str,
    pub(super) shape: Shape,
}

/// The type of a setting's value.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// The setting is `true` or `false`.
    Flag,
    /// The setting is `true`, `false` or this word.
    FlagOr(&'static str),
    /// The setting is text that this function accepts.
    Text(fn(&str) -> Result<(), ValueError>),
    /// The setting is text that this function accepts, or a number without quotes whose digits it accepts.
    TextOrNumber(fn(&str) -> Result<(), ValueError>),
}

/// All keys of the configuration file.
pub(super) const KEYS: [Key; 26] = [
    key("client", Shape::Text(not_empty)),
    key("server", Shape::Text(not_empty)),
    key("predict", Shape::Text(|text| one_of(text, option_values::MODES))),
    key("predict-overwrite", Shape::Flag),
    key("family", Shape::Text(|text| one_of(text, option_values::ADDRESS_FAMILIES))),
    key("port", Shape::TextOrNumber(option_values::check_own_port)),
    key("bind-server", Shape::Text(not_empty)),
    key("ssh", Shape::Text(ssh)),
    key("no-ssh-pty", Shape::Flag),
    key("no-init", Shape::Flag),
    key("scrollback", Shape::Flag),
    key("tunnel", Shape::FlagOr("auto")),
    key("experimental-remote-ip", Shape::Text(|text| one_of(text, option_values::REMOTE_IPS))),
    key("escape-key", Shape::Text(escape)),
    key("strict", Shape::Flag),
    key("title-prefix", Shape::Flag),
    key("terminal-query", Shape::Flag),
    key("install", Shape::Text(|text| one_of(text, InstallPolicy::NAMES))),
    key("read-copied", Shape::Flag),
    key("prompt-memory", Shape::Flag),
    key("share", Shape::Flag),
    key("agent", Shape::Text(|text| one_of(text, AgentUse::NAMES))),
    key("attach", Shape::Text(|text| one_of(text, DetachedUse::NAMES))),
    key("size", Shape::Text(option_values::check_size_rule)),
    key("controller", Shape::Text(|text| one_of(text, StreamController::NAMES))),
    key("resume", Shape::FlagOr("reboot")),
];

const fn key(name: &'static str, shape: Shape) -> Key {
    Key { name, shape }
}

impl Key {
    pub(super) fn named(name: &str) -> Option<Self> {
        KEYS.into_iter().find(|key| key.name == name)
    }
}

fn not_empty(text: &str) -> Result<(), ValueError> {
    if text.is_empty() || text.contains('\0') { Err(ValueError::Nothing) } else { Ok(()) }
}

fn one_of(text: &str, words: &'static [&'static str]) -> Result<(), ValueError> {
    let refused = || ValueError::NoneOf { text: text.to_owned(), words };
    words.contains(&text).then_some(()).ok_or_else(refused)
}

fn ssh(text: &str) -> Result<(), ValueError> {
    not_empty(text)?;
    option_values::ssh_words(Some(text)).map(drop)
}

fn escape(text: &str) -> Result<(), ValueError> {
    Ok(escape_key::from_option(text).map(drop)?)
}
