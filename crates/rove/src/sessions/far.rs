//! Lists and ends sessions on another computer, through its own rove.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitStatus;

use anyhow::Context;
use rove_bootstrap::{HostOptions, Printable, SessionRef};

use crate::bootstrap::remote_command::{Input, RemoteCommand};
use crate::messages::{FarLines, columns, wrapped};
use crate::sessions::computer::Computer;
use crate::sessions::{Choice, JSON_VERSION, Listing};

/// Longest JSON list that is read from the host, in bytes. Chosen: a thousand sessions of the usual kind.
const LISTING_BYTES_MAX: usize = 1024 * 1024;

/// Lists the sessions of a host, for programs if `json`. Returns the exit code of the host's rove.
///
/// # Errors
///
/// Returns why the host cannot be asked, or the list cannot be printed.
pub(super) fn list(json: bool, host: &HostOptions) -> anyhow::Result<u8> {
    let args = ["list".into(), "--json".into()];
    let command = RemoteCommand::rove(host, &args)?;
    if json {
        return pass(&command, usize::MAX);
    }
    let mut found = Vec::new();
    let status = command.run(Input::Nothing, |bytes| {
        let room = LISTING_BYTES_MAX + 1 - found.len();
        found.extend(&bytes[..bytes.len().min(room)]);
    })?;
    let name = host.host.to_string_lossy();
    if found.is_empty() {
        // The host's rove has printed the reason on standard error.
        return Ok(code(status));
    }
    let listing = read(&found).with_context(|| {
        format!(
            "the rove on {name} lists its sessions in another form; try: rove list --json {name}"
        )
    })?;
    let text = listing.text(&Computer::host(&name), None, status.success());
    let text = wrapped(&text, columns(&io::stdout()));
    io::stdout().write_all(text.as_bytes()).context("cannot write the list")?;
    Ok(code(status))
}

/// Ends sessions of a host. Returns the exit code of the host's rove.
///
/// # Errors
///
/// Returns why the host cannot be asked, or its output cannot be printed.
pub(super) fn kill(choice: &Choice, host: &HostOptions) -> anyhow::Result<u8> {
    pass(&RemoteCommand::rove(host, &kill_words(choice))?, columns(&io::stdout()))
}

/// Returns the words of the `rove kill` command that selects these sessions on the host.
fn kill_words(choice: &Choice) -> Vec<OsString> {
    let mut words = vec!["kill".to_owned()];
    match choice {
        Choice::These(these) => words.extend(these.iter().map(|one| match one {
            SessionRef::Named(name) => format!("--session={name}"),
            SessionRef::Number(number) => number.to_string(),
        })),
        Choice::All => words.push("--all".to_owned()),
        Choice::Detached { silent_for } => {
            words.push("--detached".to_owned());
            words.push(format!("--older-than={}s", silent_for.as_secs()));
        }
    }
    words.into_iter().map(OsString::from).collect()
}

/// Runs a rove command on the host and prints its output, without control characters. Lines longer than `columns` are
/// broken between words. Returns the command's exit code.
fn pass(command: &RemoteCommand<'_>, columns: usize) -> anyhow::Result<u8> {
    let (mut filter, mut lines) = (Printable::default(), FarLines::of_rove());
    let mut failure = None;
    let mut print = |bytes: &[u8]| {
        let written = io::stdout().write_all(bytes);
        failure = failure.take().or(written.err());
    };
    let status = command
        .run(Input::Nothing, |bytes| print(&lines.filter(columns, &filter.filter(bytes))))?;
    print(&lines.finish());
    failure.map_or(Ok(()), Err).context("cannot write what the host says")?;
    Ok(code(status))
}

/// Reads the JSON list of a host. `None` if it is malformed, too long or of an unknown version.
pub(crate) fn read(found: &[u8]) -> Option<Listing> {
    if found.len() > LISTING_BYTES_MAX {
        return None;
    }
    let listing: Listing = serde_json::from_slice(found).ok()?;
    (listing.version == JSON_VERSION).then_some(listing)
}

fn code(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use rove_units::Duration;

    use super::*;
    use crate::cli::sessions::parse_kill;

    #[test]
    fn sessions_to_end_there_are_named_in_words_that_mean_the_same() {
        for choice in [
            Choice::These(vec![SessionRef::Number(17), SessionRef::Number(60_001)]),
            Choice::These(vec![SessionRef::Named("work".parse().unwrap())]),
            Choice::All,
            Choice::Detached { silent_for: Duration::ZERO },
            Choice::Detached { silent_for: Duration::from_secs(172_800) },
        ] {
            let words = kill_words(&choice)[1..].to_vec();
            let (found, _) =
                parse_kill(words, || panic!("there is no host")).expect("our own words");
            assert_eq!(found, choice);
        }
    }

    #[test]
    fn a_list_is_read_up_to_its_bound_and_of_its_version() {
        let list = r#"{"version":1,"sessions":[{"pid":5,"port":60001,"later":true}],"more":1}"#;
        assert_eq!(read(list.as_bytes()).unwrap().sessions[0].pid, 5);
        assert!(read(list.replace("\"version\":1", "\"version\":2").as_bytes()).is_none());
        assert!(read(b"").is_none());
        for (len, is_read) in [(LISTING_BYTES_MAX, true), (LISTING_BYTES_MAX + 1, false)] {
            let padded = list.to_owned() + &" ".repeat(len - list.len());
            assert_eq!(read(padded.as_bytes()).is_some(), is_read);
        }
    }
}
