//! Keeps processors from sleeping, by Linux's request for a short wake-up latency (PM QoS).

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

/// The device file that takes latency requests. Source: the kernel's documentation, power/pm_qos_interface.
const NODE: &str = "/dev/cpu_dma_latency";

/// A request that idle processors wake at once, which holds until it is dropped.
///
/// An idle processor then polls instead of halting. A thread that waits for a timer or a packet runs sooner, and its
/// wake-up takes less processor time. The price is electricity, and in a virtual machine the host's processor time.
#[derive(Debug)]
pub struct ReadyProcessors {
    /// The open device file. The kernel drops the request when it is closed.
    _request: File,
}

impl ReadyProcessors {
    /// Makes the request to the kernel.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call: only root may make requests, and some systems have no such device.
    pub fn request() -> io::Result<Self> {
        let mut file = OpenOptions::new().write(true).open(NODE)?;
        file.write_all(&0_i32.to_ne_bytes())?;
        Ok(Self { _request: file })
    }
}
