//! A user's account on a host. rove remembers facts about accounts between sessions.

use core::fmt::{self, Display};

/// Longest account (`user@host:port`) that rove remembers, in bytes. Source: 253 for a host's name (RFC 1035), 32 for a
/// user's (useradd(8)). Chosen: room for longer names.
const ACCOUNT_BYTES_MAX: usize = 512;

/// A user's account on a host, with the names that ssh has resolved: `user@host:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account(String);

impl Account {
    /// Returns the account of `user` on the ssh server at `host` and `port`. `None` if its text is too long.
    pub fn new(user: &str, host: &str, port: u16) -> Option<Self> {
        Self::from_text(format!("{user}@{host}:{port}"))
    }

    /// Returns the account whose text is `user@host:port`. `None` if the text is empty or too long.
    pub fn from_text(text: String) -> Option<Self> {
        (!text.is_empty() && text.len() <= ACCOUNT_BYTES_MAX).then_some(Self(text))
    }
}

impl Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
