//! A listener that a client asks its server for.

use crate::fields::{put_bytes, put_number};

/// Kind of a stream that keeps a listener open. Source: the wire contract, docs/wire.md.
pub(super) const KIND: u64 = 8;

/// A listener that a client asks its server for. It is open as long as its stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// The client's number for it, which the server tells with each connection.
    pub number: u64,
    /// Where to listen.
    pub at: ListenPlace,
    /// The mask of a new socket in the file system.
    pub mask: u32,
    /// Whether a socket in the file system may be replaced.
    pub replaces: bool,
}

impl Listen {
    pub(super) fn put(&self, fields: &mut Vec<u8>) {
        put_number(fields, 1, KIND);
        match &self.at {
            ListenPlace::Port { host, port } => {
                host.iter().for_each(|host| put_bytes(fields, 2, host.as_bytes()));
                put_number(fields, 3, u64::from(*port));
            }
            ListenPlace::Path(path) => put_bytes(fields, 4, path),
        }
        put_number(fields, 9, self.number);
        put_number(fields, 10, u64::from(self.mask));
        put_number(fields, 11, u64::from(self.replaces));
    }
}

/// A place to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenPlace {
    /// A TCP port.
    Port {
        /// The address. The loopback without one, and all addresses for an empty one and `*`.
        host: Option<String>,
        /// The port; 0 for one that the system chooses.
        port: u16,
    },
    /// A socket in the file system.
    Path(Vec<u8>),
}
