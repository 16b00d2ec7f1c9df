//! Why a program was not copied to a host, in sentences for the user.

use crate::install::build::BuildError;
use crate::install::far::FOLDER;
use crate::install::report::Failure;
use crate::install::version::Version;

#[derive(Debug, thiserror::Error)]
pub(crate) enum InstallError {
    /// There is no program to copy.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// ssh did not run the script.
    #[error("{0}")]
    Login(String),
    /// The script did not get ready for the program, although ssh logged in.
    #[error(
        "{host} did not run rove's command to its end, though the login succeeded; is its disk full, or its \
         shell no sh?"
    )]
    NotStarted { host: String },
    /// The host is not a POSIX system, or its answer is not understood.
    #[error("{host} does not say what system it is (uname), so no program can be chosen for it")]
    NoPlatform { host: String },
    /// The host has a newer rove, and the user does not want to replace it.
    #[error(
        "{host} has rove {theirs}, which is newer than {ours}, and keeps it; rove install --force {host} \
         replaces it"
    )]
    Newer { host: String, theirs: Version, ours: Version },
    /// The connection ended during the copy.
    #[error(
        "the connection to {host} ended after {arrived} of {all}, and nothing was changed there; run \
         rove install {host} again"
    )]
    Broken { host: String, arrived: String, all: String },
    /// The host refused the program, for this reason.
    #[error("{}", refusal(host, failure))]
    Refused { host: String, failure: Failure },
}

fn refusal(host: &str, failure: &Failure) -> String {
    match failure {
        Failure::Folder(reason) => format!(
            "cannot create {FOLDER} on {host} ({reason}), so nothing was copied; make the home directory there \
             writable, or have rove's package installed"
        ),
        Failure::Write(reason) => format!(
            "cannot write into {FOLDER} on {host} ({reason}), so nothing was changed there; make room for rove, \
             or the folder writable, and run rove install {host} again"
        ),
        Failure::Size(arrived) => format!(
            "only {arrived} bytes of rove arrived on {host}, so nothing was changed there; run rove install \
             {host} again"
        ),
        Failure::Sum => format!(
            "other bytes arrived on {host} than were sent (SHA-256 differs), so nothing was changed there; is \
             its disk sound?"
        ),
        Failure::Run(126, reason) => format!(
            "{host} runs no programs from {FOLDER} ({reason}): its file system is mounted noexec, or a policy \
             forbids it, so nothing was changed there; have rove's package installed, or put rove where \
             programs may run and name it with --server=PATH"
        ),
        Failure::Run(status, reason) => format!(
            "rove does not run on {host} (status {status}: {reason}), so nothing was changed there; a build for \
             exactly that system can be named with --build"
        ),
        Failure::Unknown(reason) => {
            format!("{host} did not take rove, and nothing was changed there: {reason}")
        }
    }
}
