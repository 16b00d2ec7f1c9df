//! An ssh process that carries a tunnel's datagrams, or is logging in to do so.

use std::io::{self, Write};

use rove_bootstrap::Printable;
use rove_bootstrap::tunnel::banner::{Banner, Found};
use rove_bootstrap::tunnel::carrier::{Arrival, Carrier};
use rove_platform::event_loop::Interest;
use rove_units::Instant;

use crate::ssh_process::SshProcess;
use crate::ssh_reaper::SshReaper;
use crate::tunnel::pipes;

/// Most characters shown of ssh's last message. Chosen: the room in the notice bar beside rove's own words.
const SAID_CHARS_MAX: usize = 60;
/// The beginning of ssh's progress message after the key exchange with a host or a jump host. After this message, ssh
/// uses the user's keys, which the user may have to confirm. Source: OpenSSH 5.4 to 9.9, kex.c.
const ANSWERED: &str = "debug1: SSH2_MSG_NEWKEYS received";

#[derive(Debug)]
pub(super) struct Ssh {
    pub(super) process: SshProcess,
    /// Searches the output for the first line of the tunnel's end on the host. `None` after that line.
    banner: Option<Banner>,
    carrier: Carrier,
    /// Whether ssh has exchanged keys with a host. `None` if ssh prints no progress messages.
    has_answer: Option<bool>,
    /// The filter for ssh's messages to the user. `None` if ssh may not ask the user, and after its login.
    dialogue: Option<Printable>,
}

/// The state of an ssh after its output was read.
pub(super) enum Look {
    /// The ssh is running.
    Open,
    /// The ssh has ended or is useless, with the reason if it is known.
    Ended(Option<String>),
}

impl Ssh {
    /// Creates the state of an ssh that is already running.
    pub(super) fn new(process: SshProcess) -> Self {
        let (banner, carrier) = (Some(Banner::default()), Carrier::default());
        Self { process, banner, carrier, has_answer: None, dialogue: None }
    }

    /// Starts ssh by the command `words`. Its output before the line `first_line` is skipped. If `asks` is true, ssh
    /// has the user's terminal for its questions, and its messages are shown.
    pub(super) fn start(words: &[String], first_line: &str, asks: bool) -> io::Result<Self> {
        let banner = Some(Banner::after(first_line.to_owned()));
        let dialogue = asks.then(Printable::default);
        Ok(Self { banner, dialogue, ..Self::new(SshProcess::start(words, asks)?) })
    }

    /// Returns whether the host's end of the tunnel has answered.
    pub(super) const fn stands(&self) -> bool {
        self.banner.is_none()
    }

    /// Returns whether ssh prints progress messages, but has exchanged no keys, as over a silent network or connection.
    pub(super) fn is_unanswered(&self) -> bool {
        self.has_answer == Some(false)
    }

    /// Queues a datagram for the host and writes as much as ssh accepts.
    pub(super) fn send(&mut self, datagram: &[u8]) {
        self.carrier.handle_datagram(datagram);
        self.write();
    }

    /// Returns whether no datagram waits in the carrier, and half of its window of unacknowledged bytes is free.
    pub(super) const fn has_room(&self) -> bool {
        self.carrier.has_room()
    }

    /// Queues a message about a forwarder, and writes as much as ssh accepts.
    pub(super) fn say(&mut self, words: String) {
        self.carrier.handle_words(words);
        self.write();
    }

    pub(super) fn interests(&mut self) -> Vec<Interest<'_>> {
        let has_bytes = self.banner.is_none() && !self.carrier.poll_bytes().is_empty();
        self.process.interests(has_bytes).collect()
    }

    /// Reads ssh's output without waiting, and passes arrived datagrams to `take`. Returns ssh's state.
    pub(super) fn look(&mut self, buffer: &mut [u8], mut take: impl FnMut(Arrival)) -> Look {
        self.read_error_output();
        let len = match self.process.read(buffer) {
            Ok(Some(0)) => return Look::Ended(None),
            Ok(Some(len)) => len,
            Ok(None) => return Look::Open,
            Err(error) => return Look::Ended(Some(error.to_string())),
        };
        let mut bytes = &buffer[..len];
        if let Some(banner) = &mut self.banner {
            match banner.read(&mut bytes) {
                Found::Nothing => return Look::Open,
                Found::NoProgram => {
                    return Look::Ended(Some("the host has no rove to carry it".to_owned()));
                }
                Found::TooMuch => {
                    return Look::Ended(Some("the host prints without end".to_owned()));
                }
                Found::Mark => {
                    self.banner = None;
                    self.dialogue = None;
                    // A message during the login is not the reason for a later end of ssh.
                    self.process.said.clear();
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

    /// Writes as many queued bytes as ssh accepts. Only [`Ssh::look`] reports the end of ssh.
    pub(super) fn write(&mut self) {
        if self.banner.is_none() {
            pipes::write(&mut self.carrier, &self.process.descriptors.stdin);
        }
    }

    /// Reads ssh's error output. Shows it to the user if ssh may ask.
    fn read_error_output(&mut self) {
        let Self { process, dialogue, has_answer, .. } = self;
        let show = |bytes: &[u8]| {
            if let Some(filter) = dialogue {
                // Writing fails if the terminal is closed.
                let _ = io::stderr().write_all(&filter.filter(bytes));
            }
        };
        process.read_errors(show, |line| {
            *has_answer = Some(*has_answer == Some(true) || line.starts_with(ANSWERED));
        });
    }

    /// Returns ssh's last message, without control characters; empty if there was none.
    pub(super) fn last_words(&mut self) -> String {
        self.read_error_output();
        self.process.said(SAID_CHARS_MAX)
    }
}

/// Closes the pipes of `ssh`, and adds its process to `ending`. Removes ended processes from `ending`.
pub(super) fn release(ending: &mut Vec<SshReaper>, now: Instant, ssh: Option<Ssh>) {
    ending.extend(ssh.and_then(|mut ssh| ssh.process.release(now)));
    ending.retain_mut(|reaper| reaper.reap(now));
}
