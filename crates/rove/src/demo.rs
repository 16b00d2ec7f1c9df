//! The demo: a server and a client on this computer, joined by an emulated link.

use std::ffi::OsString;

use rove_units::{BitRate, Bytes, Duration, Seed};

/// What the demo emulates and runs.
#[derive(Clone, Debug, PartialEq)]
pub struct DemoOptions {
    /// Round-trip time; half of it each way.
    pub rtt: Duration,
    /// Uniform extra delay each way.
    pub jitter: Duration,
    /// Probability that a datagram is lost, each way.
    pub loss: f64,
    /// The bottleneck's rate each way; `None` for no bottleneck.
    pub rate: Option<BitRate>,
    /// Most bytes the queue before the bottleneck holds.
    pub queue: Bytes,
    /// The command and its arguments; empty for the login shell.
    pub command: Vec<OsString>,
    /// Decides which datagrams are lost and how late the others are.
    pub seed: Seed,
}

/// Runs the demo on this process's terminal; returns the command's exit code.
///
/// # Errors
///
/// Returns why it could not start, in a sentence for the user.
pub fn run(options: DemoOptions) -> anyhow::Result<u8> {
    let _ = options;
    anyhow::bail!("the demo is not there yet")
}
