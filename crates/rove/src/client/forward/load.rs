//! The thing that a client's streams are for.

use rove_streams::{Mux, StreamId};
use rove_units::Instant;

use crate::splice::Splice;

/// The exit code after a connection that could not be made, or was cut. Source: OpenSSH 9.2 as observed.
pub(super) const FAILURE: u8 = 255;

/// The thing that the streams are for.
pub(crate) trait Load {
    /// Opens the streams, and begins to write what they are for.
    ///
    /// # Errors
    ///
    /// Returns that the layer has closed.
    fn open(&mut self, now: Instant, mux: &mut Mux) -> anyhow::Result<()>;

    /// Does what the streams allow, and adds those that are joined with descriptors. Returns how it all ended, once.
    ///
    /// # Errors
    ///
    /// Returns what this computer refuses.
    fn turn(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        splices: &mut Vec<Splice>,
    ) -> anyhow::Result<Option<Carried>>;

    /// Notes that the host has everything that it will take of a stream.
    fn handle_delivered(&mut self, id: StreamId);
}

/// How the forwarding ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Carried {
    /// The stream was opened, or refused by the host. This is the exit code.
    Ended(u8),
    /// The session carries no streams, for this reason. Nothing was read from standard input.
    NotCarried(String),
}
