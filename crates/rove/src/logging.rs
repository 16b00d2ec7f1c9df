//! Starts the log: in a file for the client, and on standard error for a server started with `-v`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Mutex, OnceLock};

use anyhow::Context;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::SubscriberBuilder;
use tracing_subscriber::fmt::format::{DefaultFields, Format};

/// The variable that names the client's log file. Without it there is no log, because the terminal shows the session.
const LOG_FILE_VARIABLE: &str = "ROVE_LOG";

/// Number of `-v` at which the server begins to check screen changes before sending. Source: Mosh 1.4.0 as observed.
pub(crate) const SELF_CHECK_VERBOSITY: u8 = 2;

/// The first error in writing the client's log.
static FAILURE: OnceLock<String> = OnceLock::new();

/// Opens the file named by `ROVE_LOG`, and creates it if it is missing. `None` if the variable is not set.
///
/// # Errors
///
/// Returns an error when the file cannot be written.
pub(crate) fn open() -> anyhow::Result<Option<File>> {
    let Some(path) = std::env::var_os(LOG_FILE_VARIABLE).filter(|path| !path.is_empty()) else {
        return Ok(None);
    };
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
    file.map(Some)
        .with_context(|| format!("cannot write the log {path:?} named by {LOG_FILE_VARIABLE}"))
}

/// Starts the client's log in the file of [`open`], if there is one. The log has the session's events and rove's
/// decisions, with `-v` also each packet, but never session keys, typed keys or screen text.
///
/// # Errors
///
/// Returns the error of [`open`].
pub(crate) fn to_file(verbose: u8) -> anyhow::Result<()> {
    let Some(file) = open()? else { return Ok(()) };
    let level = if verbose == 0 { LevelFilter::DEBUG } else { LevelFilter::TRACE };
    // A second start in the same process, as in the demo, fails, and the first log continues.
    let _ = log(level).with_writer(Mutex::new(LogFile(file))).try_init();
    Ok(())
}

/// Returns why the client's log is incomplete, or `None` if it is complete. The client prints the reason after the
/// session, because a message would disturb the session's screen.
pub(crate) fn failure() -> Option<String> {
    let error = FAILURE.get()?;
    let path = std::env::var_os(LOG_FILE_VARIABLE).unwrap_or_default();
    Some(format!("the log {path:?} named by {LOG_FILE_VARIABLE} is not whole: {error}"))
}

/// A log file that records the first error in writing to it.
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

/// Starts the server's log on standard error, if `verbose` is not 0. Each further `-v` adds detail.
pub(crate) fn to_standard_error(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let _ = log(level).with_writer(std::io::stderr).try_init();
}

/// Returns a log that drops lines that cannot be written. By default, an error message would appear on standard error,
/// in the middle of the user's screen. If standard error fails too, a panic would end the session.
fn log(level: LevelFilter) -> SubscriberBuilder<DefaultFields, Format, LevelFilter> {
    tracing_subscriber::fmt().with_max_level(level).with_ansi(false).log_internal_errors(false)
}
