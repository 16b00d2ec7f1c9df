//! Two computers of a user, connected by an emulated path. The far computer has an sshd of its own, and rove.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use rove_link::LinkConfig;
use rove_net::testbed::{End, Testbed, TestbedOptions};
use rove_rig::clock;
use rove_rig::place::Place;
use rove_rig::scratch::Scratch;
use rove_rig::session::{Client, in_known_environment};
use rove_rig::sshd::Sshd;
use rove_rig::system::System;
use rove_rig::window::{Observed, Window};
use rove_terminal::{Screen, Size};
use rove_units::Seed;

/// The path of the program at the far end of a copy, in Debian.
const SFTP_SERVER: &str = "/usr/lib/openssh/sftp-server";

/// Both computers. They have the same home folder.
pub(super) struct Pair {
    pub(super) sshd: Sshd,
    pub(super) home: Scratch,
    pub(super) testbed: Testbed,
    program: PathBuf,
}

impl Pair {
    /// Creates two computers with a link to the far one and a link from it.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not permit the network, the folder or the sshd.
    pub(super) fn new(
        system: &System,
        [uplink, downlink]: [LinkConfig; 2],
        seed: Seed,
    ) -> Result<Self> {
        let testbed = Testbed::new(TestbedOptions::new(uplink, downlink, seed))?;
        let home = Scratch::create()?;
        let program = link_programs(system, &home)?;
        let sshd = Sshd::start_with(Place::At(&testbed, End::Far), &settings(home.folder()))?;
        Ok(Self { sshd, home, testbed, program })
    }

    /// Ends the path. Returns whether the round counts. If not, prints the reasons.
    pub(super) fn finish(self, what: &str) -> Result<bool> {
        let faults = self.testbed.finish()?.invalid;
        for fault in &faults {
            eprintln!("{what}: the round does not count: {fault}");
        }
        Ok(faults.is_empty())
    }

    /// Prepares a command that runs on the near computer.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no descriptors left.
    pub(super) fn near(&self, program: impl AsRef<OsStr>) -> Result<Command> {
        let mut command = self.testbed.command(End::Near, program)?;
        in_known_environment(&mut command, self.home.folder()).stdin(Stdio::null());
        command.env("ROVE_RUNTIME_DIR", self.home.path("run"));
        Ok(command)
    }

    /// Prepares an ssh or scp on the near computer, with the far computer in its configuration.
    ///
    /// # Errors
    ///
    /// Returns an error as [`Pair::near`] does.
    pub(super) fn near_ssh(&self, program: &str) -> Result<Command> {
        let mut command = self.near(program)?;
        command.arg("-F").arg(self.sshd.client_config());
        Ok(command)
    }

    /// Prepares a call of rove with these options for the far computer.
    ///
    /// # Errors
    ///
    /// Returns an error as [`Pair::near`] does.
    pub(super) fn rove(&self, options: &[&str]) -> Result<Command> {
        let mut command = self.near(&self.program)?;
        command.args(options).arg(format!("--ssh={}", self.sshd.ssh())).arg("far");
        Ok(command)
    }

    /// Prepares a session of rove with these options. The far shell runs `program`.
    ///
    /// # Errors
    ///
    /// Returns an error as [`Pair::near`] does.
    pub(super) fn session(&self, options: &[&str], program: &str) -> Result<Command> {
        let mut command = self.rove(options)?;
        command.args(["--", "sh", "-c", program]);
        Ok(command)
    }
}

/// Starts a command on a terminal. Returns the milliseconds until a row begins with `ready`, the client and its window.
///
/// # Errors
///
/// Returns an error if no row begins with `ready` in time.
pub(super) fn show(mut command: Command) -> Result<(f64, (Client, Window))> {
    let mut window = Window::open(Size::DEFAULT)?;
    let start = clock::now();
    let client = Client::on(&mut command, &window.terminal)?;
    let shows = |screen: &Screen| {
        (0..screen.size().rows()).any(|row| screen.row_text(row).starts_with("ready"))
    };
    window.wait_for("the program", shows)?;
    Ok((clock::seconds_since(start) * 1e3, (client, window)))
}

/// Links rove into a home folder, also by the name `rove-exec`, which scp can call. Returns the path of the program.
///
/// # Errors
///
/// Returns the system's error if it cannot create a link.
pub(super) fn link_programs(system: &System, home: &Scratch) -> Result<PathBuf> {
    let program = PathBuf::from(system.wrapper().get_program());
    for name in ["rove", "rove-exec"] {
        std::os::unix::fs::symlink(&program, home.path(name)).context("cannot make a link")?;
    }
    Ok(program)
}

/// Returns lines for sshd's configuration that set the user's home and PATH, and that let scp copy files.
pub(super) fn settings(home: &Path) -> String {
    let folder = home.display();
    format!(
        "Subsystem sftp {SFTP_SERVER}\nForceCommand exec env HOME={folder} PATH={folder}:$PATH \
         LANG=C.UTF-8 ROVE_RUNTIME_DIR={folder}/sockets sh -c \"$SSH_ORIGINAL_COMMAND\"\n"
    )
}
