//! Prepares a command without a terminal, in the environment that sshd would give it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use rove_host::program::{Program, assignment, c_string};
use rove_platform::termux;
use rustix::process::Rlimit;

use super::{Environment, scrub};
use crate::getent::User;

/// Prepares a command as sshd does: `shell -c command` with the user's shell, or the login shell for an empty command.
/// `inherited` is the environment of this process, which sshd has made.
pub(crate) fn program(
    inherited: impl Iterator<Item = (OsString, OsString)>,
    user: Option<User>,
    command: &OsStr,
    core_limit: Rlimit,
) -> Program {
    let mut environment: Environment = inherited.collect::<BTreeMap<_, _>>();
    // sshd has set `TERM` for the login's terminal, but sets no `TERM` for a command without a terminal.
    if environment.contains_key(OsStr::new("SSH_TTY")) {
        environment.remove(OsStr::new("TERM"));
    }
    scrub::forget(&mut environment, None);
    let given = |name: &str| environment.get(OsStr::new(name)).filter(|it| !it.is_empty());
    let (shell, home) = user.map(|user| (user.shell, user.home)).unzip();
    let shell = shell.filter(|it| !it.as_os_str().is_empty());
    let shell = shell.or_else(|| given("SHELL").map(PathBuf::from));
    let shell = shell.unwrap_or_else(termux::shell);
    let home = home.or_else(|| given("HOME").map(PathBuf::from)).unwrap_or_else(|| "/".into());
    let name = shell.file_name().unwrap_or(shell.as_os_str());
    let arguments: Vec<OsString> = match command.is_empty() {
        true => vec![[OsStr::new("-"), name].into_iter().collect()],
        false => vec![name.to_owned(), "-c".into(), command.to_owned()],
    };
    debug_assert!(!arguments.is_empty(), "a program has a name");
    if environment.contains_key(OsStr::new("PWD")) {
        environment.insert("PWD".into(), home.clone().into_os_string());
    }
    Program {
        candidates: c_string(shell.into_os_string()).into_iter().collect(),
        arguments: arguments.into_iter().filter_map(c_string).collect(),
        environment: environment.iter().filter_map(|(k, v)| assignment(k, v)).collect(),
        directory: c_string(home.into_os_string()).unwrap_or_default(),
        greeting: Vec::new(),
        not_found: Vec::new(),
        not_executable: Vec::new(),
        core_limit,
    }
}
