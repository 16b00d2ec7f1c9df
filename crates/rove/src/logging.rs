//! Where the log goes: a file for the client, standard error for a server started with `-v`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Mutex, OnceLock};

use anyhow::Context;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::SubscriberBuilder;
use tracing_subscriber::fmt::format::{DefaultFields, Format};

/// Names the file that a client logs to; without it there is no log, as the terminal is the
/// session's.
const LOG_FILE_VARIABLE: &str = "ROVE_LOG";

/// From how many `-v` on each change is checked before it is sent. Source: Mosh 1.4.0 as observed.
pub(crate) const SELF_CHECK_VERBOSITY: u8 = 2;

/// The first thing that kept the log from being written.
static FAILURE: OnceLock<String> = OnceLock::new();

/// Starts the client's log in the file named by `ROVE_LOG`, if it is set: sessions and decisions,
/// each packet from `-v` on. Keys, keystrokes and screen text are never logged.
///
/// # Errors
///
/// Returns an error when the file cannot be written.
pub(crate) fn to_file(verbose: u8) -> anyhow::Result<()> {
    let Some(path) = std::env::var_os(LOG_FILE_VARIABLE).filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let file =
        OpenOptions::new().create(true).append(true).mode(0o600).open(&path).with_context(
            || format!("cannot write the log {path:?} named by {LOG_FILE_VARIABLE}"),
        )?;
    let level = if verbose == 0 { LevelFilter::DEBUG } else { LevelFilter::TRACE };
    // A second log in one process, as in the demo, is left to the first.
    let _ = log(level).with_writer(Mutex::new(LogFile(file))).try_init();
    Ok(())
}

/// Returns why the client's log is not whole, once it is not: nobody can be told while the session has the screen.
pub(crate) fn failure() -> Option<String> {
    let error = FAILURE.get()?;
    let path = std::env::var_os(LOG_FILE_VARIABLE).unwrap_or_default();
    Some(format!("the log {path:?} named by {LOG_FILE_VARIABLE} is not whole: {error}"))
}

/// A log that remembers if it could not be written.
struct LogFile(File);

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                let _ = FAILURE.set(error.to_string());
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Starts the server's log on standard error, the more detailed the more often `-v` was given.
pub(crate) fn to_standard_error(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let _ = log(level).with_writer(std::io::stderr).try_init();
}

/// Returns a log that loses what cannot be written. Said on standard error it would stand in the
/// middle of the user's screen, and where that is what fails it would end the session by a panic.
fn log(level: LevelFilter) -> SubscriberBuilder<DefaultFields, Format, LevelFilter> {
    tracing_subscriber::fmt().with_max_level(level).with_ansi(false).log_internal_errors(false)
}
