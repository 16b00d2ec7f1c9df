//! A user's account on a host. rove remembers facts about accounts between sessions.

use core::fmt::{self, Display};

/// Longest text of an account, in bytes. Source: 253 for a host's name (RFC 1035), 32 for a user's (useradd(8)).
/// Chosen: room for longer names.
const ACCOUNT_BYTES_MAX: usize = 512;

/// A user's account on a host, with the names that ssh has resolved: `user@host:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account(String);

impl Account {
    /// Returns the account of `user` on `host`. `None` if its text is too long.
    pub fn new(user: &str, host: &str, port: u16) -> Option<Self> {
        Self::from_text(format!("{user}@{host}:{port}"))
    }

    /// Returns the account with this text. `None` if the text is empty or too long.
    pub fn from_text(text: String) -> Option<Self> {
        (!text.is_empty() && text.len() <= ACCOUNT_BYTES_MAX).then_some(Self(text))
    }
}

impl Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
