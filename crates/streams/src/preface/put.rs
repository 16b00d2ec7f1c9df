//! A file that a client copies to its server.

use crate::fields::{put_bytes, put_number};

/// Kind of a stream that carries a file. Source: the wire contract, docs/wire.md.
pub(super) const KIND: u64 = 4;

/// Maximum length of the name of a copied file, in bytes. Source: Linux (NAME_MAX) and macOS.
pub const FILE_NAME_MAX: usize = 255;

/// Longest name of the session for a copied file, in bytes. Chosen: the longest name a user can give, and a number.
const SESSION_MAX: usize = 64;

/// A file that a client copies to its server. The client sends the bytes after this message, and then gets the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Put {
    /// The file's name without folders, as the client's system has it.
    pub name: Vec<u8>,
    /// How many bytes the file has.
    pub len: u64,
    /// The session into which the server types the file's path: its name or number, or empty for the only session.
    /// `None` for the session of this stream.
    pub session: Option<String>,
}

impl Put {
    pub(super) fn put(&self, fields: &mut Vec<u8>) {
        put_number(fields, 1, KIND);
        put_bytes(fields, 4, &self.name);
        put_number(fields, 12, self.len);
        self.session.iter().for_each(|session| put_bytes(fields, 13, session.as_bytes()));
    }

    /// Returns whether the file's name is neither empty nor too long, and the session's name not too long.
    pub(super) fn is_within_bounds(&self) -> bool {
        let is_name = (1..=FILE_NAME_MAX).contains(&self.name.len());
        let is_session = self.session.as_ref().is_none_or(|it| it.len() <= SESSION_MAX);
        is_name && is_session
    }
}
