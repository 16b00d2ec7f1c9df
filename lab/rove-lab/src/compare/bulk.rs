//! Bulk downloads over TCP that share the link with a session.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;
use rove_units::Duration;
use rustix::io::Errno;
use rustix::net::sockopt::set_tcp_congestion;
use serde::Serialize;

use rove_net::testbed::{End, Testbed};

/// The port of the senders, by which their segments are told from a session's. Chosen: iperf's.
const PORT: u16 = 5001;

/// Bytes written at once. Chosen: more than a sender's window on any link of interest.
const CHUNK_BYTES: usize = 64 * 1024;

/// Longest wait for a download's connection.
const CONNECT_MAX: Duration = Duration::from_secs(120);

/// Congestion control of the senders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CongestionControl {
    /// CUBIC (RFC 9438)
    #[default]
    Cubic,
    /// NewReno (RFC 6582)
    Reno,
    /// BBR
    Bbr,
}

/// Downloads beside a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct BulkOptions {
    pub(crate) count: u16,
    pub(crate) congestion_control: CongestionControl,
}

/// Downloads that run until they are dropped.
#[derive(Debug)]
pub(crate) struct Bulk {
    sockets: Vec<TcpStream>,
    threads: Vec<JoinHandle<()>>,
    /// Bytes that all downloads together have received.
    received: Arc<AtomicU64>,
    /// Sockets of senders that have not been started yet.
    waiting: Vec<TcpStream>,
}

impl CongestionControl {
    /// Returns the kernel's name of the congestion control.
    pub(crate) fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// Sets this congestion control on a listener, whose connections inherit it.
    ///
    /// # Errors
    ///
    /// Returns an error if the kernel lacks this congestion control, with the command that loads it.
    pub(super) fn set(self, listener: &TcpListener) -> Result<()> {
        let name = self.name();
        set_tcp_congestion(listener, &name).map_err(|errno| match errno {
            Errno::NOENT | Errno::PERM => {
                let there = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
                let there = there.unwrap_or_default();
                anyhow!(
                    "this kernel does not offer the congestion control {name} here (it has {}); as root: modprobe tcp_{name}",
                    there.trim()
                )
            }
            _ => anyhow!(errno).context(format!("cannot set the congestion control {name}")),
        })
    }
}

impl Bulk {
    /// Connects the downloads, which do not send anything yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the kernel has no such congestion control, or a socket fails.
    pub(crate) fn connect(testbed: &Testbed, options: BulkOptions) -> Result<Self> {
        testbed.leave_out(PORT);
        let address = SocketAddr::from((testbed.address(End::Far), PORT));
        let listener = testbed.run(End::Far, || listen(address, options.congestion_control))??;
        let mut bulk = Self {
            sockets: Vec::new(),
            threads: Vec::new(),
            received: Arc::default(),
            waiting: Vec::new(),
        };
        for _ in 0..options.count {
            let connect = || TcpStream::connect_timeout(&address, CONNECT_MAX);
            let mut near = testbed.run(End::Near, connect)?.context("a download cannot begin")?;
            let (far, _) = listener.accept().context("a download cannot begin")?;
            bulk.sockets.extend([near.try_clone()?, far.try_clone()?]);
            bulk.waiting.push(far);
            let received = Arc::clone(&bulk.received);
            bulk.threads.push(start(move || {
                let mut buffer = vec![0; CHUNK_BYTES];
                while let Ok(count @ 1..) = near.read(&mut buffer) {
                    received.fetch_add(u64::try_from(count).unwrap_or(0), Ordering::Relaxed);
                }
            })?);
        }
        Ok(bulk)
    }

    /// Lets the downloads begin.
    ///
    /// # Errors
    ///
    /// Returns the I/O error if a thread cannot be started.
    pub(crate) fn start(&mut self) -> Result<()> {
        for mut far in self.waiting.drain(..) {
            self.threads.push(start(move || {
                let zeros = vec![0; CHUNK_BYTES];
                while far.write(&zeros).is_ok_and(|count| count > 0) {}
            })?);
        }
        Ok(())
    }

    /// Returns how many bytes all downloads together have received.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }
}

impl Drop for Bulk {
    fn drop(&mut self) {
        for socket in &self.sockets {
            // A connection that has broken is closed already.
            let _ = socket.shutdown(Shutdown::Both);
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn start(work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    thread::Builder::new().name("bulk".into()).spawn(work).context("cannot start a thread")
}

/// Listens with a congestion control.
fn listen(address: SocketAddr, congestion_control: CongestionControl) -> Result<TcpListener> {
    let listener = TcpListener::bind(address).context("cannot listen for downloads")?;
    congestion_control.set(&listener)?;
    Ok(listener)
}

/// Checks that the kernel has a congestion control.
///
/// # Errors
///
/// Returns an error that says how to get the congestion control.
pub(crate) fn require(congestion_control: CongestionControl) -> Result<()> {
    listen(SocketAddr::from(([127, 0, 0, 1], 0)), congestion_control).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_reno_which_connections_inherit() {
        let listener = listen(SocketAddr::from(([127, 0, 0, 1], 0)), CongestionControl::Reno);
        let listener = listener.expect("it is allowed");
        let address = listener.local_addr().expect("an address");
        let _near = TcpStream::connect(address).expect("it listens");
        let (far, _) = listener.accept().expect("a connection");
        let control = rustix::net::sockopt::tcp_congestion(&far).expect("a name");
        assert!(control.starts_with("reno"), "a connection inherits it: {control}");
    }
}
