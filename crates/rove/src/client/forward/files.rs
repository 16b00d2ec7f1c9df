//! The work of a `rove put` call: copies files to the host. The server types the paths of the copies into a session,
//! and the client prints the paths on its standard output.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use rove_bootstrap::ProgramName;
use rove_platform::tty;
use rove_streams::{Exit, Mux, StreamId};
use rove_units::{Duration, Instant};
use rustix::stdio;

use super::load::{Carried, Load};
use crate::bootstrap::screen::tell;
use crate::client::file_sender::{FileSender, Sent};
use crate::install::progress::{self, Progress};
use crate::share::message::FAILURE;
use crate::splice::Splice;

/// The exit code if all files are copied, but a path is not typed. Chosen: the code of rove's other partial successes.
const NOT_TYPED: u8 = 1;

/// Time before the progress bar is first drawn, and between two drawings. Chosen: a short copy shows no bar.
const DRAWING_PAUSE: Duration = Duration::from_millis(250);

/// Most characters of a file's name before the progress bar. Chosen: the line fits 80 columns.
const TITLE_MAX: usize = 20;

/// The files to copy, with the highest exit code so far.
pub(crate) struct Files {
    sender: FileSender,
    code: u8,
    is_quiet: bool,
    /// The current file's bar, the time at which the file's copy began, and the time of the next drawing.
    bar: Option<(Progress, Instant, Instant)>,
}

impl Files {
    /// Creates the job. The server types the paths into `session`; an empty text means the only session.
    /// A bar shows the progress on a terminal, unless `is_quiet`.
    pub(crate) fn new(session: String, files: Vec<Vec<u8>>, is_quiet: bool) -> Self {
        let files = files.into_iter().map(|it| PathBuf::from(OsString::from_vec(it))).collect();
        Self { sender: FileSender::for_session(session, files), code: 0, is_quiet, bar: None }
    }

    fn show_progress(&mut self, now: Instant) {
        let Some((name, done, all)) = self.sender.progress() else { return };
        let (bar, begun, next) = self.bar.get_or_insert_with(|| {
            let title = name.chars().take(TITLE_MAX).collect();
            (Progress::new(title, self.is_quiet), now, now + DRAWING_PAUSE)
        });
        if *next <= now {
            *next = now + DRAWING_PAUSE;
            let [done, all] = [done, all].map(|it| usize::try_from(it).unwrap_or(usize::MAX));
            bar.draw(done, all, &progress::rate(done, now.saturating_since(*begun)));
        }
    }
}

impl Load for Files {
    fn open(&mut self, _: Instant, _: &mut Mux) -> anyhow::Result<()> {
        Ok(())
    }

    fn turn(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        _: &mut Vec<Splice>,
    ) -> anyhow::Result<Option<Carried>> {
        let sent = self.sender.turn(now, mux);
        self.show_progress(now);
        if let Some(sent) = sent {
            self.bar = None;
            if let Sent::Typed { path, .. } | Sent::Kept { path, .. } = &sent {
                tty::say(stdio::stdout(), &format!("{path}\n"));
            }
            let code = match sent {
                Sent::Typed { .. } => 0,
                Sent::Kept { .. } => NOT_TYPED,
                Sent::Failed { .. } => FAILURE,
            };
            if code > 0 {
                tell(ProgramName::Rove.as_str(), &sent.sentence());
            }
            self.code = self.code.max(code);
        }
        if mux.closed().is_some() {
            return Ok(Some(Carried::Failed(Vec::new())));
        }
        Ok((!self.sender.is_active()).then_some(Carried::Ended(Exit::Code(self.code))))
    }

    fn has_work(&self) -> bool {
        self.sender.has_work()
    }

    fn streams(&self) -> Vec<StreamId> {
        Vec::new()
    }
}
