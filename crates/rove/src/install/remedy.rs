//! Finds out whether `rove install` would help a host without rove.

use core::fmt;
use std::ffi::OsStr;

use rove_bootstrap::Platform;

use crate::install::build::Build;

/// Whether `rove install` can copy rove to a host, as a clause for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remedy {
    host: String,
    /// The host's platform, if there is no program for it to copy. `None` if there is a program.
    lacks: Option<String>,
}

impl Remedy {
    /// Looks for a program that could be copied to a host of this platform. If the platform is unknown, this computer's
    /// platform is assumed.
    pub(crate) fn of(host: &OsStr, platform: Option<&Platform>) -> Self {
        let here = here();
        let platform = platform.or(here.as_ref());
        let lacking = platform.filter(|platform| Build::find(platform, None).is_err());
        Self { host: host.display().to_string(), lacks: lacking.map(ToString::to_string) }
    }

    /// Returns the advice for a host that has no server program either, as a sentence without its full stop. The
    /// easiest step comes first.
    pub(crate) fn or_stock(&self) -> String {
        match self.lacks {
            None => format!(
                "{self}; the package mosh there would do as well, and --server=PATH names a server elsewhere"
            ),
            Some(_) => format!(
                "Install the package mosh there, or name a server elsewhere with --server=PATH; {self}"
            ),
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = &self.host;
        match &self.lacks {
            None => write!(f, "rove install {host} copies rove there"),
            Some(platform) => {
                write!(
                    f,
                    "rove install {host} has no rove for {platform} yet, and says how to get one"
                )
            }
        }
    }
}

fn here() -> Option<Platform> {
    let uname = rustix::system::uname();
    let (system, machine) = (uname.sysname().to_str().ok()?, uname.machine().to_str().ok()?);
    Platform::from_uname(&format!("{system} {machine}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_of_mosh_comes_first_where_there_is_no_rove_to_copy() {
        let advice = |lacks: Option<&str>| {
            Remedy { host: "srv".to_owned(), lacks: lacks.map(str::to_owned) }.or_stock()
        };
        assert_eq!(
            advice(None),
            "rove install srv copies rove there; the package mosh there would do as well, and --server=PATH names a \
             server elsewhere"
        );
        assert_eq!(
            advice(Some("Linux on x86_64")),
            "Install the package mosh there, or name a server elsewhere with --server=PATH; rove install srv has no \
             rove for Linux on x86_64 yet, and says how to get one"
        );
    }
}
