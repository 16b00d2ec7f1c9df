//! Where commands run: on this computer as it is, or at an end of a testbed.

use std::ffi::OsStr;
use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;

use anyhow::{Context, Result};

use rove_net::testbed::{End, Testbed};

/// The place in which commands run.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// This computer's own network, with its loopback address.
    Here,
    /// An end of a testbed.
    At(&'a Testbed, End),
}

impl Place<'_> {
    /// Prepares a command that runs in this place.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no descriptors left.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Result<Command> {
        match self {
            Self::Here => Ok(Command::new(program)),
            Self::At(testbed, end) => testbed.command(*end, program),
        }
    }

    /// Returns the address at which programs in this place listen.
    pub const fn address(&self) -> Ipv4Addr {
        match self {
            Self::Here => Ipv4Addr::LOCALHOST,
            Self::At(testbed, end) => testbed.address(*end),
        }
    }

    /// Listens at a free TCP port of this place.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    pub fn listen(&self) -> Result<TcpListener> {
        let bind = || TcpListener::bind((self.address(), 0));
        let listener = match self {
            Self::Here => bind(),
            Self::At(testbed, end) => testbed.run(*end, bind)?,
        };
        listener.context("cannot listen at a TCP port")
    }
}
