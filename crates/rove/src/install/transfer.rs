//! ssh with a program on its standard input: what the host says comes back while the program goes there.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use rustix::event::{PollFd, PollFlags, poll};

use crate::bootstrap::command::is_waiting;
use crate::bootstrap::printable::Printable;
use crate::install::report::{Event, Report};

/// Bytes read or written at a time. Chosen: what a pipe holds on Linux.
const CHUNK_LEN: usize = 64 * 1024;

/// A login that takes a program.
pub(crate) struct Transfer {
    child: Child,
    /// Where the program goes; none once it has gone, or nobody takes it.
    input: Option<ChildStdin>,
    output: ChildStdout,
    errors: Option<ChildStderr>,
    /// What is to go there, and how much of it has gone.
    outgoing: Vec<u8>,
    sent: usize,
    report: Report,
    /// What has been heard and not been told.
    events: VecDeque<Event>,
    /// Filters for what is for the user: the host's output, and what ssh says.
    filters: [Printable; 2],
}

impl Transfer {
    /// Starts ssh.
    ///
    /// # Errors
    ///
    /// Returns why it cannot be run.
    pub(crate) fn start(command: &mut Command, report: Report) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let errors = child.stderr.take();
        rustix::io::ioctl_fionbio(&input, true)?;
        Ok(Self {
            child,
            input: Some(input),
            output,
            errors,
            outgoing: Vec::new(),
            sent: 0,
            report,
            events: VecDeque::new(),
            filters: Default::default(),
        })
    }

    /// Returns what the host has told.
    pub(crate) const fn report(&self) -> &Report {
        &self.report
    }

    /// Sends this and then nothing more.
    pub(crate) fn send(&mut self, bytes: Vec<u8>) {
        self.outgoing = bytes;
        self.sent = 0;
    }

    /// Sends nothing more.
    pub(crate) fn hang_up(&mut self) {
        self.input = None;
    }

    /// Waits for what the host says next; `None` once it says no more. What is for the user goes to `show`.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal to wait or to read.
    pub(crate) fn next_event(&mut self, mut show: impl FnMut(&[u8])) -> io::Result<Option<Event>> {
        let mut buffer = vec![0; CHUNK_LEN];
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            let [can_send, has_errors, has_output] = self.wait()?;
            if can_send {
                self.write();
            }
            if has_errors {
                self.pass_on_errors(&mut buffer, &mut show)?;
            }
            if !has_output {
                continue;
            }
            let len = retry(|| self.output.read(&mut buffer))?;
            let mut text = Vec::new();
            self.events.extend(self.report.read(&buffer[..len], &mut text));
            show(&self.filters[0].filter(&text));
            if len == 0 {
                // ssh has said all it has to say, and somebody else may hold its pipe open.
                while is_waiting(self.errors.as_ref())? {
                    self.pass_on_errors(&mut buffer, &mut show)?;
                }
                return Ok(None);
            }
        }
    }

    /// Waits for the end of ssh.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal.
    pub(crate) fn finish(&mut self) -> io::Result<ExitStatus> {
        self.input = None;
        self.child.wait()
    }

    /// Waits until there is something to do; returns whether that is to send, or to read of either stream.
    fn wait(&self) -> io::Result<[bool; 3]> {
        let input = self.input.as_ref().filter(|_| !self.outgoing.is_empty());
        let mut fds = vec![PollFd::new(&self.output, PollFlags::IN)];
        fds.extend(self.errors.as_ref().map(|it| PollFd::new(it, PollFlags::IN)));
        fds.extend(input.map(|it| PollFd::from_borrowed_fd(it.as_fd(), PollFlags::OUT)));
        rustix::io::retry_on_intr(|| poll(&mut fds, None))?;
        let mut found = fds.iter().map(|fd| !fd.revents().is_empty());
        let mut next = |is_there| is_there && found.next() == Some(true);
        let has_output = next(true);
        let has_errors = next(self.errors.is_some());
        Ok([next(input.is_some()), has_errors, has_output])
    }

    /// Writes what ssh takes. If it takes no more, what the host says next tells why.
    fn write(&mut self) {
        let Some(input) = &mut self.input else { return };
        let rest = &self.outgoing[self.sent..];
        match input.write(&rest[..rest.len().min(CHUNK_LEN)]) {
            Ok(len) => self.sent += len,
            Err(error) if is_passing(&error) => return,
            Err(_) => self.sent = self.outgoing.len(),
        }
        if self.sent == self.outgoing.len() {
            self.input = None;
        }
    }

    fn pass_on_errors(
        &mut self,
        buffer: &mut [u8],
        show: &mut impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let Some(errors) = &mut self.errors else { return Ok(()) };
        let len = retry(|| errors.read(buffer))?;
        show(&self.filters[1].filter(&buffer[..len]));
        if len == 0 {
            self.errors = None;
        }
        Ok(())
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        // Without its input the command on the host ends by itself, and ssh with it.
        self.input = None;
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

/// Reads again where a signal came in between.
fn retry(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
