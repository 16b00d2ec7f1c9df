//! The client's end: the ssh that carries the session, and the next one when it fails.
//!
//! No call here waits. What ssh does not take at once waits in its [`Carrier`], within bounds.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rove_machine::event_loop::Interest;
use rove_units::Instant;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::tunnel::carrier::{Arrival, Carrier};
use crate::tunnel::far::set_nonblocking;
use crate::tunnel::inherited::{self, Descriptors, Inherited};
use crate::tunnel::preface::{Found, Preface};
use crate::tunnel::retry::{End, Retry};

/// Bytes read from ssh at a time. Chosen: what a pipe holds on Linux.
const READ_LEN: usize = 64 * 1024;
/// Most characters kept of what ssh says. Chosen: what the notice bar has room for beside our own words.
const SAID_CHARS_MAX: usize = 60;
/// Longest line of ssh's that is read. Chosen: far more than is shown.
const LINE_BYTES_MAX: usize = 1024;

/// What ssh says when only the user could go on. Source: OpenSSH's messages.
const REFUSALS: [&str; 3] =
    ["Permission denied", "Host key verification failed", "Too many authentication failures"];

/// A tunnel.
#[derive(Debug)]
pub(crate) struct Tunnel {
    /// The command that starts another ssh without a question; empty if there is none.
    again: Vec<String>,
    retry: Retry,
    /// The one that carries.
    line: Option<Ssh>,
    /// The one that is being started.
    next: Option<Ssh>,
    /// Why the last one ended.
    reason: Option<String>,
    buffer: Vec<u8>,
}

/// One ssh.
#[derive(Debug)]
struct Ssh {
    pid: Option<Pid>,
    descriptors: Descriptors,
    /// What reads up to the far end's first word; `None` behind it.
    preface: Option<Preface>,
    carrier: Carrier,
    error_line: Vec<u8>,
    /// The last line that ssh has said.
    said: String,
    has_error_output: bool,
}

/// What a look at an ssh came to.
enum Look {
    /// It goes on.
    Open,
    /// It has ended, or must; why, if we know.
    Ended(Option<String>),
}

impl Tunnel {
    /// Takes over the ssh of the bootstrap.
    ///
    /// # Errors
    ///
    /// Returns that it is not there.
    pub(crate) fn take(inherited: &Inherited, now: Instant) -> anyhow::Result<Self> {
        let (descriptors, pid) = inherited.take()?;
        Ok(Self {
            again: inherited.again.clone(),
            retry: Retry::new(now),
            line: None,
            next: Some(Ssh::new(pid, descriptors)?),
            reason: None,
            buffer: vec![0; READ_LEN],
        })
    }

    /// Takes a datagram for the server.
    pub(crate) fn send(&mut self, datagram: &[u8]) {
        if let Some(ssh) = self.line.as_mut().or(self.next.as_mut()) {
            ssh.carrier.handle_datagram(datagram);
            ssh.write();
        }
    }

    /// Returns what to wait for.
    pub(crate) fn interests(&mut self) -> Vec<Interest<'_>> {
        let all = self.line.iter_mut().chain(&mut self.next);
        all.flat_map(Ssh::interests).collect()
    }

    /// Does all that can be done without waiting, and hands over what has come through.
    pub(crate) fn turn(&mut self, now: Instant, mut take: impl FnMut(Arrival)) {
        if let Some(next) = &mut self.next {
            let look = next.look(&mut self.buffer, &mut take);
            let is_late = self.retry.give_up_at() <= now;
            match look {
                Look::Open if next.preface.is_none() => {
                    tracing::info!("tunnel stands");
                    self.retry.handle_arrival(now);
                    // Dropping the one before ends it.
                    self.line = self.next.take();
                    self.reason = None;
                }
                Look::Open if is_late => {
                    self.end(now, Some("ssh takes too long to log in".to_owned()));
                }
                Look::Open => {}
                Look::Ended(reason) => self.end(now, reason),
            }
        }
        if let Some(line) = &mut self.line {
            let mut has_arrived = false;
            let look = line.look(&mut self.buffer, |arrival| {
                has_arrived = true;
                take(arrival);
            });
            line.write();
            if has_arrived {
                self.retry.handle_arrival(now);
                // It was slow and not dead.
                self.next = None;
            }
            if let Look::Ended(reason) = look {
                let line = self.line.take().expect("it was just looked at");
                self.note_end(now, line, reason);
            }
        }
        if self.next.is_none() && self.start_at().is_some_and(|at| at <= now) {
            self.start(now);
        }
    }

    /// Returns when to call [`Tunnel::turn`] if nothing happens before.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        if self.next.is_some() { Some(self.retry.give_up_at()) } else { self.start_at() }
    }

    /// Returns what the user should know, while nothing carries.
    pub(crate) fn trouble(&self) -> Option<String> {
        let reason = self.reason.as_ref().filter(|_| self.line.is_none())?;
        let outlook = match self.again.is_empty() {
            true => "cannot be started again without you",
            false if is_refusal(reason) => "cannot log in again without a question",
            false => "is being started again",
        };
        Some(format!("The ssh tunnel has ended and {outlook}: {reason}."))
    }

    /// Returns why the last ssh ended, if one has.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    fn start_at(&self) -> Option<Instant> {
        (!self.again.is_empty()).then(|| self.retry.start_at(self.line.is_some()))
    }

    fn start(&mut self, now: Instant) {
        tracing::info!("starting another ssh for the tunnel");
        // Those before are the only children there are.
        while let Ok(Some(_)) = waitpid(None, WaitOptions::NOHANG) {}
        self.retry.handle_start(now);
        match Ssh::start(&self.again) {
            Ok(ssh) => self.next = Some(ssh),
            Err(error) => {
                self.reason = Some(format!("cannot run {}: {error}", self.again[0]));
                self.retry.handle_end(now, End::Failed);
            }
        }
    }

    /// Ends the one that is being started.
    fn end(&mut self, now: Instant, reason: Option<String>) {
        if let Some(next) = self.next.take() {
            self.note_end(now, next, reason);
        }
    }

    fn note_end(&mut self, now: Instant, mut ssh: Ssh, reason: Option<String>) {
        let said = ssh.last_words();
        let reason = reason.or((!said.is_empty()).then_some(said));
        let reason = reason.unwrap_or_else(|| "ssh said nothing".to_owned());
        tracing::info!(%reason, "tunnel ended");
        let end = if is_refusal(&reason) { End::Refused } else { End::Failed };
        self.retry.handle_end(now, end);
        self.reason = Some(reason);
    }
}

fn is_refusal(reason: &str) -> bool {
    REFUSALS.iter().any(|refusal| reason.contains(refusal))
}

impl Ssh {
    fn new(pid: Pid, descriptors: Descriptors) -> io::Result<Self> {
        let Descriptors { stdin, stdout, stderr } = &descriptors;
        for descriptor in [stdin, stdout, stderr] {
            set_nonblocking(descriptor.as_fd())?;
        }
        Ok(Self {
            pid: Some(pid),
            descriptors,
            preface: Some(Preface::default()),
            carrier: Carrier::default(),
            error_line: Vec::new(),
            said: String::new(),
            has_error_output: true,
        })
    }

    fn start(words: &[String]) -> io::Result<Self> {
        let (program, args) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .env_remove(inherited::VARIABLE)
            // Neither the terminal's end nor a suspended client is its affair.
            .process_group(0)
            .spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or(io::ErrorKind::InvalidData)?;
        let descriptors = Descriptors::of(&mut child).ok_or(io::ErrorKind::InvalidData)?;
        Self::new(pid, descriptors)
    }

    fn interests(&mut self) -> Vec<Interest<'_>> {
        let has_output = self.preface.is_none() && !self.carrier.poll_bytes().is_empty();
        let Descriptors { stdin, stdout, stderr } = &self.descriptors;
        let mut interests = vec![Interest::new(stdout.as_fd(), true, false)];
        if self.has_error_output {
            interests.push(Interest::new(stderr.as_fd(), true, false));
        }
        if has_output {
            interests.push(Interest::new(stdin.as_fd(), false, true));
        }
        interests
    }

    /// Reads what is there.
    fn look(&mut self, buffer: &mut [u8], mut take: impl FnMut(Arrival)) -> Look {
        self.read_error_output();
        let len = match rustix::io::read(&self.descriptors.stdout, &mut *buffer) {
            Ok(0) => return Look::Ended(None),
            Ok(len) => len,
            Err(Errno::AGAIN | Errno::INTR) => return Look::Open,
            Err(error) => return Look::Ended(Some(io::Error::from(error).to_string())),
        };
        let mut bytes = &buffer[..len];
        if let Some(preface) = &mut self.preface {
            match preface.read(&mut bytes) {
                Found::Nothing => return Look::Open,
                Found::NoProgram => {
                    return Look::Ended(Some("the host has no rove to carry it".to_owned()));
                }
                Found::TooMuch => {
                    return Look::Ended(Some("the host prints without end".to_owned()));
                }
                Found::Mark => {
                    self.preface = None;
                    // What was said on the way in is not why it will end.
                    self.said.clear();
                    self.write();
                }
            }
        }
        loop {
            match self.carrier.handle_bytes(&mut bytes) {
                Ok(Some(arrival)) => take(arrival),
                Ok(None) => return Look::Open,
                Err(error) => return Look::Ended(Some(error.to_string())),
            }
        }
    }

    /// Writes what ssh takes. One that is gone is noticed where it is read.
    fn write(&mut self) {
        if self.preface.is_some() {
            return;
        }
        while let bytes = self.carrier.poll_bytes()
            && !bytes.is_empty()
        {
            match rustix::io::write(&self.descriptors.stdin, bytes) {
                Ok(len) => self.carrier.consume(len),
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    /// Keeps the last line that ssh says.
    fn read_error_output(&mut self) {
        let mut buffer = [0; 4096];
        while self.has_error_output {
            match rustix::io::read(&self.descriptors.stderr, &mut buffer) {
                Ok(0) => self.has_error_output = false,
                Ok(len) => buffer[..len].iter().for_each(|&byte| self.handle_error_byte(byte)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.has_error_output = false,
            }
        }
    }

    fn handle_error_byte(&mut self, byte: u8) {
        if byte != b'\n' {
            if self.error_line.len() < LINE_BYTES_MAX {
                self.error_line.push(byte);
            }
            return;
        }
        let line = core::mem::take(&mut self.error_line);
        let text = String::from_utf8_lossy(&line);
        let text = text.trim().trim_end_matches('.');
        if !text.is_empty() {
            self.said = rove_terminal::plain(text).chars().take(SAID_CHARS_MAX).collect();
        }
    }

    /// Returns what ssh has said at last.
    fn last_words(&mut self) -> String {
        self.read_error_output();
        self.handle_error_byte(b'\n');
        self.said.clone()
    }
}

impl Drop for Ssh {
    fn drop(&mut self) {
        if let Some(pid) = self.pid.take() {
            // It may have ended by itself; until it is waited for, its number is nobody else's.
            if matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None)) {
                let _ = kill_process(pid, Signal::TERM);
            }
        }
    }
}
