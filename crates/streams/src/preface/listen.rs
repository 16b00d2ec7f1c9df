//! The message by which a client asks its server to listen for connections.

use crate::fields::{put_bytes, put_number};

/// Kind of a stream that keeps a listener open. Source: the wire contract, docs/wire.md.
pub(super) const KIND: u64 = 8;

/// A listener that a client asks its server to open. The listener stays open as long as the stream of this message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// The number that the client chose for the listener. The server states it with each accepted connection.
    pub number: u64,
    /// The TCP port or socket path at which to listen.
    pub at: ListenPlace,
    /// The file mode mask (umask) of a new socket in the file system.
    pub mask: u32,
    /// Whether the server may replace an existing socket at the path.
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

/// The TCP port or socket path at which a listener accepts connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenPlace {
    /// A TCP port.
    Port {
        /// The local address to listen at. `None` means the loopback, and an empty text or `*` means all addresses.
        host: Option<String>,
        /// The port; 0 for one that the system chooses.
        port: u16,
    },
    /// A socket in the file system.
    Path(Vec<u8>),
}
