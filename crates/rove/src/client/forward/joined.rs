//! Chooses the job of a `rove -W`, `exec` or `put` call.

use rove_bootstrap::Joined;

use super::connection::Connection;
use super::files::Files;
use super::load::{Ends, Load};
use super::program::Program;
use crate::listeners;
use crate::stdio_forward::target::{self, TargetError};

/// Returns the job that `joined` describes, or an error for a malformed port or path. A connection or program uses the
/// descriptors `ends`. The progress of files is shown unless `is_quiet`.
pub(crate) fn load(
    joined: &Joined,
    ends: Ends,
    is_quiet: bool,
) -> Result<Box<dyn Load>, TargetError> {
    Ok(match joined {
        Joined::Port(target) => {
            let target = listeners::target(&target::parse(target)?);
            Box::new(Connection::new(target, ends))
        }
        Joined::Program { command, is_subsystem } => {
            Box::new(Program::new(command, *is_subsystem, ends))
        }
        Joined::Files { session, files } => {
            Box::new(Files::new(session.clone(), files.clone(), is_quiet))
        }
    })
}
