//! The right to run real programs behind a link, as root or as any user.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use rove_net::namespace::cover_file;

use rove_net::{Far, acquire_rights};
use rove_rig::scratch::Scratch;

/// The system's list of groups.
const GROUPS: &str = "/etc/group";
/// The group that terminals belong to.
const TERMINAL_GROUP: &str = "tty";

/// Acquires the right to make namespaces, and lets sshd work in them. Call this before any thread starts.
///
/// # Errors
///
/// Returns an error that names the right to grant.
pub(crate) fn acquire() -> Result<()> {
    match acquire_rights()? {
        Far::Here => Ok(()),
        Far::Own => hide_terminal_group(),
    }
}

/// Removes the group of terminals from the list that this process and its children see.
///
/// An sshd hands each terminal to that group if there is one. A user namespace knows no group but the user's own, and an sshd
/// whose terminal is refused ends the session.
fn hide_terminal_group() -> Result<()> {
    let Ok(groups) = fs::read_to_string(GROUPS) else { return Ok(()) };
    let scratch = Scratch::create()?;
    let copy = scratch.keep("group", without(TERMINAL_GROUP, &groups).as_bytes())?;
    cover_file(Path::new(GROUPS), &copy)
        .with_context(|| format!("cannot take the group {TERMINAL_GROUP} out of {GROUPS} for sshd"))
}

/// Returns a list of groups without one of them.
fn without(group: &str, groups: &str) -> String {
    let others = groups.split_inclusive('\n');
    others.filter(|line| line.split(':').next() != Some(group)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_group_goes_and_the_others_stay() {
        let groups = "root:x:0:\ntty:x:5:anna\nttyx:x:6:\nlast:x:7:tty";
        assert_eq!(without("tty", groups), "root:x:0:\nttyx:x:6:\nlast:x:7:tty");
        assert_eq!(without("nobody", groups), groups);
    }
}
