//! The far side: the server that ships, and a program that writes what the recording says.

use std::collections::VecDeque;
use std::net::SocketAddr;

use rove_link::net::End;
use rove_session::{Server, ServerConfig};
use rove_ssp::Ecn;
use rove_units::{Duration, Instant};

use crate::replay::script::{ModeChange, Script, Step};
use crate::replay::traffic::Traffic;

/// The key that asks for a cleared screen: Ctrl-L, as in a shell. It makes no prediction certain.
pub(super) const CLEAR: u8 = 0x0c;

/// The server, its raw tty and the program on it.
pub(super) struct FarEnd<'a> {
    server: Server,
    steps: &'a [Step],
    /// Changes of the tty's modes that are still to come.
    mode_changes: &'a [ModeChange],
    typed: &'a [u8],
    /// When the recording began; before that, keys are echoed.
    start: Option<Instant>,
    /// Steps done.
    done: usize,
    /// How long after its arrival the program reads a key.
    host_delay: Duration,
    /// What has come and is not read yet, with when it will be.
    unread: VecDeque<(Instant, Vec<u8>)>,
    /// When the next one is due, once all it needs has come.
    due: Option<Instant>,
    /// Bytes of the user that have come since the start.
    received: usize,
    /// How many of them are not those of the recording.
    unexpected: usize,
    pub(super) traffic: Traffic,
}

impl<'a> FarEnd<'a> {
    pub(super) fn new(config: ServerConfig, script: &'a Script, host_delay: Duration) -> Self {
        Self {
            server: Server::new(config, Instant::ZERO),
            steps: &script.steps,
            mode_changes: &script.mode_changes,
            typed: &script.typed,
            start: None,
            done: 0,
            host_delay,
            unread: VecDeque::new(),
            due: None,
            received: 0,
            unexpected: 0,
            traffic: Traffic::default(),
        }
    }

    /// Begins with the recording.
    pub(super) fn start(&mut self, now: Instant) {
        self.start = Some(now);
        self.advance(now);
    }

    /// Returns whether everything is written.
    pub(super) const fn is_done(&self) -> bool {
        self.done == self.steps.len()
    }

    /// Returns how many bytes of the user were not those of the recording.
    pub(super) const fn unexpected(&self) -> usize {
        self.unexpected
    }

    /// Lets the program read what has come and write what is due.
    fn advance(&mut self, now: Instant) {
        let typed = self.server.host_input().to_vec();
        self.server.consume_host_input(typed.len());
        while self.server.poll_event().is_some() {}
        if self.start.is_none() {
            return self.echo(now, &typed);
        }
        if !typed.is_empty() {
            self.unread.push_back((now + self.host_delay, typed));
        }
        while self.unread.front().is_some_and(|(due, _)| *due <= now) {
            let (_, typed) = self.unread.pop_front().expect("there is a first one");
            for byte in typed {
                let is_expected = self.typed.get(self.received) == Some(&byte);
                self.unexpected += usize::from(!is_expected);
                self.received += 1;
            }
        }
        self.change_modes();
        while let Some(step) = self.steps.get(self.done) {
            if self.received < step.needs {
                return;
            }
            let due = *self.due.get_or_insert(now + step.gap);
            if due > now {
                return;
            }
            self.server.handle_host_output(now, &step.bytes);
            // All that was typed has been read: this is what the server's terminal answers to a query that
            // is left in the recording, and no key.
            self.server.consume_host_input(self.server.host_input().len());
            self.due = None;
            self.done += 1;
            self.change_modes();
        }
    }

    /// Changes the tty's modes as far as the recording has come.
    fn change_modes(&mut self) {
        while let Some((change, rest)) = self.mode_changes.split_first()
            && change.behind <= self.done
            && change.needs <= self.received
        {
            self.server.handle_tty(change.tty);
            self.mode_changes = rest;
        }
    }

    /// Echoes keys, or clears the screen.
    fn echo(&mut self, now: Instant, typed: &[u8]) {
        for &byte in typed {
            let answer: &[u8] = if byte == CLEAR { b"\x1b[m\x1b[H\x1b[2J" } else { &[byte] };
            self.server.handle_host_output(now, answer);
        }
    }
}

impl End for FarEnd<'_> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        // The link forges nothing; what comes twice or too late is the transport's matter.
        let _ = self.server.handle_datagram(now, source, Ecn::Capable, payload);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.server.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        self.advance(now);
        let transmit = self.server.poll_transmit(now)?;
        self.traffic.count(now, &transmit.payload);
        Some((transmit.destination, transmit.payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let read = self.unread.front().map(|(due, _)| *due);
        [self.server.poll_timeout(), self.due, read].into_iter().flatten().min()
    }
}
