//! The user on a host, to whom what is remembered belongs.

use core::fmt::{self, Display};

/// Longest account that is remembered, in bytes. Source: 253 for a host's name (RFC 1035), 32 for a user's
/// (useradd(8)); chosen: room for longer users.
const ACCOUNT_BYTES_MAX: usize = 512;

/// A user on a host, as ssh resolves them: `user@host:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account(String);

impl Account {
    /// Returns the account of this user.
    pub fn new(user: &str, host: &str, port: u16) -> Option<Self> {
        Self::from_text(format!("{user}@{host}:{port}"))
    }

    /// Reads what another process has been told of an account; `None` if it is no such thing.
    pub fn from_text(text: String) -> Option<Self> {
        (!text.is_empty() && text.len() <= ACCOUNT_BYTES_MAX).then_some(Self(text))
    }
}

impl Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
