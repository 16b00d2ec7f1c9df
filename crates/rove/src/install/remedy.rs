//! Finds out whether `rove install` would help a host without rove.

use core::fmt;
use std::ffi::OsStr;

use rove_bootstrap::Platform;

use crate::install::build::Build;

/// Whether `rove install` can copy rove to a host, as a clause for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remedy {
    host: String,
    /// Why there is no program to copy. `None` if there is a program.
    refusal: Option<String>,
}

impl Remedy {
    /// Looks for a program that could be copied to a host of this platform. If the platform is unknown, this computer's
    /// platform is assumed.
    pub(crate) fn of(host: &OsStr, platform: Option<&Platform>) -> Self {
        let here = here();
        let found = platform.or(here.as_ref()).map(|platform| Build::find(platform, None));
        let refusal = found.and_then(Result::err).map(|error| error.to_string());
        Self { host: host.display().to_string(), refusal }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.refusal {
            None => write!(f, "rove install {} copies rove there", self.host),
            Some(refusal) => {
                write!(f, "rove install {} has nothing to copy there yet: {refusal}", self.host)
            }
        }
    }
}

fn here() -> Option<Platform> {
    let uname = rustix::system::uname();
    let (system, machine) = (uname.sysname().to_str().ok()?, uname.machine().to_str().ok()?);
    Platform::from_uname(&format!("{system} {machine}"))
}
