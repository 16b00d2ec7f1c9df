//! The help that `rove install` is to a host without rove.

use core::fmt;
use std::ffi::OsStr;

use rove_bootstrap::Platform;

use crate::install::build::Build;

/// Whether `rove install` can copy rove to a host, in a clause for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remedy {
    host: String,
    /// Why there is nothing to copy, if so.
    refusal: Option<String>,
}

impl Remedy {
    /// Looks for a program that would be copied to a host of this platform. A host whose platform is not known is taken for
    /// one of this computer's kind.
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
