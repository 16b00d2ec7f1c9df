//! Processors that do not sleep: Linux's request for a short way out of idle (PM QoS).

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

/// The device that takes requests. Source: the kernel's documentation, power/pm_qos_interface.
const NODE: &str = "/dev/cpu_dma_latency";

/// A request that idle processors are ready at once, which holds until it is dropped.
///
/// An idle processor then polls instead of halting. A thread that waits for a timer or a packet runs sooner, and pays less
/// for waking; the computer pays with electricity, and in a virtual machine with the host's processor time.
#[derive(Debug)]
pub struct ReadyProcessors {
    /// The kernel drops the request when this is closed.
    _request: File,
}

impl ReadyProcessors {
    /// Makes the request.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal: only root may, and some systems have no such node.
    pub fn request() -> io::Result<Self> {
        let mut file = OpenOptions::new().write(true).open(NODE)?;
        file.write_all(&0_i32.to_ne_bytes())?;
        Ok(Self { _request: file })
    }
}
