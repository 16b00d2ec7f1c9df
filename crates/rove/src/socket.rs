//! UDP sockets: the server's bound one, the client's hopping ones.

/// The UDP ports a server may bind, tried in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    /// The first port tried; 0, with `high` 0 too, lets the system choose.
    pub low: u16,
    /// The last port tried.
    pub high: u16,
}

impl Default for PortRange {
    /// Returns 60001 to 60999, which packaged firewall profiles for Mosh open.
    /// Source: Mosh 1.4.0 as observed, docs/wire.md.
    fn default() -> Self {
        Self { low: 60_001, high: 60_999 }
    }
}
