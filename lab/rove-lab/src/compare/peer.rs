//! The systems that are compared in real time, and the programs that they need.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use rove_host::program::{candidates, own_file};
use rove_replay::replay::script::Repertoire;
use rustix::fs::{Access, access};

use rove_rig::sshd::SSHD;
use rove_rig::system::System;

/// A system of a client and a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Peer {
    /// OpenSSH, with an sshd of its own
    Ssh,
    /// Stock Mosh
    Mosh,
    /// Rove at both ends
    Rove,
    /// Rove's client with stock Mosh's server
    RoveMosh,
    /// Stock Mosh's client with rove's server
    MoshRove,
}

/// The environment variable with the path of rove.
const ROVE: &str = "ROVE";

impl Peer {
    /// Returns the system's name in command lines and tables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ssh => "ssh",
            Self::Mosh => "mosh",
            Self::Rove => "rove",
            Self::RoveMosh => "rove-mosh",
            Self::MoshRove => "mosh-rove",
        }
    }

    /// Returns what the emulator between program and user supports. Ssh has no emulator, and passes everything.
    pub(crate) const fn repertoire(self) -> Repertoire {
        match self {
            Self::Mosh | Self::RoveMosh => Repertoire::OneScreen,
            Self::Ssh | Self::Rove | Self::MoshRove => Repertoire::Whole,
        }
    }

    /// Returns the programs of client and server. `None` for ssh, which has an sshd in place of a server of its own.
    pub(super) fn system(self, rove: &Path) -> Option<System> {
        let stock = || System::stock("mosh");
        let rove = || System::rove("rove", rove.to_owned());
        match self {
            Self::Ssh => None,
            Self::Mosh => Some(stock()),
            Self::Rove => Some(rove()),
            Self::RoveMosh => Some(rove().with_server_of("rove-mosh", stock())),
            Self::MoshRove => Some(stock().with_server_of("mosh-rove", rove())),
        }
    }

    /// Returns the programs that the system needs beside rove, each with its package.
    const fn needed(self) -> &'static [(&'static str, &'static str)] {
        const SSH: (&str, &str) = ("ssh", "openssh-client");
        const KEYGEN: (&str, &str) = ("ssh-keygen", "openssh-client");
        const CLIENT: (&str, &str) = ("mosh-client", "mosh");
        const SERVER: (&str, &str) = ("mosh-server", "mosh");
        match self {
            Self::Ssh => &[SSH, KEYGEN, (SSHD, "openssh-server")],
            Self::Mosh => &[CLIENT, SERVER],
            Self::RoveMosh => &[SERVER],
            Self::MoshRove => &[CLIENT],
            Self::Rove => &[],
        }
    }

    /// Returns the contents of the files of the system's programs. Missing files are left out.
    pub(crate) fn programs(self, rove: &Path) -> Vec<Vec<u8>> {
        let names = self.needed().iter().map(|(program, _)| OsStr::new(program));
        let names =
            names.chain((!matches!(self, Self::Ssh | Self::Mosh)).then_some(rove.as_os_str()));
        let file = |name| {
            let paths = candidates(name, env::var_os("PATH").as_ref());
            paths.iter().find_map(|path| fs::read(OsStr::from_bytes(path.to_bytes())).ok())
        };
        names.filter_map(file).collect()
    }

    /// Checks that the system's programs are installed.
    ///
    /// # Errors
    ///
    /// Returns an error that says how to get what is missing.
    pub(crate) fn require(self, rove: &Path) -> Result<()> {
        for (program, package) in self.needed() {
            if !is_there(program) {
                bail!(
                    "{} needs {program}, which is not installed; on Debian: apt install {package}",
                    self.name()
                );
            }
        }
        if !matches!(self, Self::Ssh | Self::Mosh) && !is_there(rove) {
            bail!(
                "there is no rove at {}; build it (cargo install --path crates/rove), or name it with --rove",
                rove.display()
            );
        }
        Ok(())
    }
}

/// Returns the path of rove: `named`, or that of the variable [`ROVE`], or else the file beside this program.
///
/// # Errors
///
/// Returns an error if this program cannot find its own file.
pub(crate) fn rove_beside(named: Option<PathBuf>) -> Result<PathBuf> {
    if let Some(named) = named.or_else(|| env::var_os(ROVE).map(PathBuf::from)) {
        return Ok(named);
    }
    let own = own_file().context("cannot tell where this program lies")?;
    Ok(own.with_file_name("rove"))
}

fn is_there(program: impl AsRef<OsStr>) -> bool {
    let candidates = candidates(program.as_ref(), env::var_os("PATH").as_ref());
    candidates.iter().any(|path| access(path.as_c_str(), Access::EXEC_OK).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_command_line() {
        for peer in Peer::value_variants() {
            let value = peer.to_possible_value().expect("none is hidden");
            assert_eq!(value.get_name(), peer.name());
        }
    }

    #[test]
    fn a_program_that_is_missing_is_named() {
        let nowhere = Path::new("/no/such/rove");
        let error = Peer::Rove.require(nowhere).expect_err("it is nowhere");
        assert!(format!("{error}").starts_with("there is no rove at /no/such/rove"), "{error}");
    }
}
