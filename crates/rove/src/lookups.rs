//! Looks names up in threads, because a name server may not answer for a long time.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use rove_platform::event_loop::Interest;

use crate::bootstrap::address::{self, AddressError};
use crate::errand::{Errand, Errands};

/// Most threads that look names up. Chosen: twice as many as the connections that a browser opens to a proxy. A thread
/// that waits for a name server takes 72 KiB (glibc 2.36).
pub(crate) const THREADS_MAX: usize = 64;

/// The addresses of a name, or why the lookup failed.
pub(crate) type Found = Result<Vec<SocketAddr>, AddressError>;

/// Runs the name lookups of a session's connections.
#[derive(Debug)]
pub(crate) struct Lookups {
    threads: Errands,
    resolve: fn(&str, u16) -> Found,
}

/// The lookup of a name.
#[derive(Debug)]
pub(crate) enum Lookup {
    /// The name and port wait for a thread.
    Due(String, u16),
    Running(Errand<Found>),
}

impl Default for Lookups {
    fn default() -> Self {
        Self::by(|host, port| address::resolve(host, port, "all"))
    }
}

impl Lookups {
    /// Creates lookups that call `resolve` for a name and a port. This function may block.
    pub(crate) fn by(resolve: fn(&str, u16) -> Found) -> Self {
        Self { threads: Errands::new(THREADS_MAX), resolve }
    }
}

impl Lookup {
    /// Begins a lookup that is due, if a thread is free. Returns the addresses, or `None` if they are not known yet.
    ///
    /// # Errors
    ///
    /// Returns why the name has no address, or the system's error.
    pub(crate) fn turn(&mut self, lookups: &Lookups) -> io::Result<Option<Vec<SocketAddr>>> {
        if let Self::Due(host, port) = self {
            let (host, port, resolve) = (host.clone(), *port, lookups.resolve);
            match lookups.threads.begin("lookup", move || resolve(&host, port)) {
                Err(error) if error.kind() == ErrorKind::ResourceBusy => return Ok(None),
                begun => *self = Self::Running(begun?),
            }
        }
        let Self::Running(errand) = self else { return Ok(None) };
        errand.take().transpose()?.transpose().map_err(io::Error::other)
    }

    /// Returns the descriptor to wait for. When it is ready, call [`Lookup::turn`]. `None` if no thread runs.
    pub(crate) fn interest(&self) -> Option<Interest<'_>> {
        match self {
            Self::Due(..) => None,
            Self::Running(errand) => Some(errand.interest()),
        }
    }
}
