//! The command line of `rove resume`.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser};
use rove_cli_docs::Manual;

use crate::program::ROVE;

pub(crate) static MANUAL: Manual = Manual {
    word: "resume",
    definition: ResumeArgs::command,
    notes: &[
        "It goes on with a session whose client was killed on this computer. With resume = true in the configuration, that counts \
         for one whose terminal was closed, and with resume = \"reboot\" for one whose computer went down.",
        "Where the server is a stock mosh-server, nothing is asked over ssh: the client goes on from a record that the last one \
         has written, with all keys that it had. Where it is a rove, the session gets a fresh key over ssh, as with rove attach, \
         and the keys that had not arrived follow.",
        "Keys that may be a secret are not written. While some were on their way, a session with a stock server cannot be \
         resumed. A session with a rove goes on, and says how many keys were lost.",
        "The record is encrypted. Its key is in another folder. resume = false writes none, and so do --strict and a rove that \
         is called mosh.",
    ],
    examples: &[
        ("rove resume", "the session that waits, or a list to choose from"),
        ("rove resume me@example.org", "the one with this host"),
        ("rove resume 2", "the second of the list"),
    ],
    environment: &[
        ("ROVE_RUNTIME_DIR", "Directory of the records, in place of the usual ones."),
        ("XDG_DATA_HOME", "Folder of their keys, instead of ~/.local/share."),
        (
            "XDG_STATE_HOME",
            "Folder of the records that outlast the computer, instead of ~/.local/state.",
        ),
    ],
    files: &[
        ("$XDG_RUNTIME_DIR/rove/resume-*", "The records; nobody else may read them."),
        ("~/.local/state/rove/resume-*", "The same with resume = \"reboot\"."),
        ("~/.local/share/rove/resume/resume-*", "Their keys."),
    ],
    exit_status: &[
        ("0 to 254", "As of a session; see rove --help-all."),
        ("1", "No session waits, or it cannot be resumed: a sentence says why."),
        ("10", "The host gave no key for the session, or could not be asked."),
        ("255", "The command line is wrong."),
    ],
    ..Manual::of(&ROVE)
};

/// Goes on with a session whose client was killed here
#[derive(Debug, Parser)]
#[command(name = "rove resume", version, override_usage = "rove resume [[user@]host|N]")]
struct ResumeArgs {
    #[arg(hide = true)]
    wanted: Option<String>,
}

/// Reads the words after `resume`. Returns the host or number that selects a session, or `None` without one.
///
/// # Errors
///
/// Returns clap's error, which may be a request for help.
pub(crate) fn parse(args: Vec<OsString>) -> Result<Option<String>, clap::Error> {
    Ok(ResumeArgs::from_arg_matches(&rove_cli_docs::matches(&MANUAL, args)?)?.wanted)
}
