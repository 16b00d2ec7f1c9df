//! An entry in the list of logged-in users.

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LoginRecord {
    pub(crate) user: String,
    /// The terminal, relative to `/dev`.
    pub(crate) line: String,
    /// The host that the login came from; empty for a login at the computer itself.
    pub(crate) host: String,
}
