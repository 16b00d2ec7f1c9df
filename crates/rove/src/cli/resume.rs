//! The command line of `rove resume`.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser};
use rove_cli_docs::Manual;

use crate::program::ROVE;

pub(crate) static MANUAL: Manual = Manual {
    word: "resume",
    definition: ResumeArgs::command,
    text: include_str!("../../manuals/resume.toml"),
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
