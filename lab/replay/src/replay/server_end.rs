//! The server end: a program that writes what the recorded host has written.

use std::collections::VecDeque;

use rove_headless::{Program, ServerEnd};
use rove_session::{Server, ServerConfig, Tty};
use rove_units::{Duration, Instant};

use crate::replay::script::{ModeChange, Script, Step};

/// The key that asks for a cleared screen: Ctrl-L, as in a shell. Its answer confirms no prediction.
pub const CLEAR: u8 = 0x0c;

/// The recorded program, which runs on a raw tty.
pub(super) struct ReplayedProgram<'a> {
    steps: &'a [Step],
    /// Changes of the tty's modes that are still to come.
    mode_changes: &'a [ModeChange],
    typed: &'a [u8],
    /// When the recording began; before that, keys are echoed.
    start: Option<Instant>,
    /// How many steps the program has written.
    done: usize,
    /// How long after its arrival the program reads a key.
    host_delay: Duration,
    /// Bytes that have come and are not read yet, each piece with the time at which the program reads it.
    unread: VecDeque<(Instant, Vec<u8>)>,
    /// When the next step is due. `None` until all keys that it needs have come.
    due: Option<Instant>,
    /// How many bytes of the user the program has read since the start.
    received: usize,
    /// How many of these bytes differ from the recorded byte at the same place.
    unexpected: usize,
}

/// Creates the server end of a recording.
pub(super) fn server_end<'a>(
    config: ServerConfig,
    script: &'a Script,
    host_delay: Duration,
) -> ServerEnd<ReplayedProgram<'a>> {
    let program = ReplayedProgram {
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
    };
    ServerEnd::new(config, program, Instant::ZERO)
}

impl ReplayedProgram<'_> {
    /// Begins the recording. From this call on, keys are not echoed.
    pub(super) fn start(&mut self, now: Instant) {
        self.start = Some(now);
    }

    /// Returns whether all recorded output is written.
    pub(super) const fn is_done(&self) -> bool {
        self.done == self.steps.len()
    }

    /// Returns how many bytes of the user differ from the recorded byte at the same place.
    pub(super) const fn unexpected(&self) -> usize {
        self.unexpected
    }

    /// Sets the tty's modes as at this point of the recording, by the output written and the keys read so far.
    fn change_modes(&mut self, server: &mut Server) {
        while let Some((change, rest)) = self.mode_changes.split_first()
            && change.behind <= self.done
            && change.needs <= self.received
        {
            // If more keys have come than at this point of the recording, the shell may have left its prompt.
            let is_all = self.unread.is_empty() && self.received == change.needs;
            let prompt = server.written_input().filter(|_| change.prompt && is_all);
            server.handle_tty(Tty { prompt, ..change.tty });
            self.mode_changes = rest;
        }
    }
}

/// Echoes keys, or clears the screen.
fn echo(now: Instant, server: &mut Server, typed: &[u8]) {
    for &byte in typed {
        let answer: &[u8] = if byte == CLEAR { b"\x1b[m\x1b[H\x1b[2J" } else { &[byte] };
        server.handle_host_output(now, answer);
    }
}

impl Program for ReplayedProgram<'_> {
    fn turn(&mut self, now: Instant, server: &mut Server) {
        let typed = server.host_input().to_vec();
        server.consume_host_input(typed.len());
        if self.start.is_none() {
            return echo(now, server, &typed);
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
        self.change_modes(server);
        while let Some(step) = self.steps.get(self.done) {
            if self.received < step.needs {
                return;
            }
            let due = *self.due.get_or_insert(now + step.gap);
            if due > now {
                return;
            }
            server.handle_host_output(now, &step.bytes);
            // The program has read all that was typed. These bytes are the server's own answer to a query that is left
            // in the recording.
            server.consume_host_input(server.host_input().len());
            self.due = None;
            self.done += 1;
            self.change_modes(server);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let read = self.unread.front().map(|(due, _)| *due);
        [self.due, read].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use rove_link::LinkConfig;
    use rove_link::net::Net;
    use rove_session::{ClientConfig, Prediction, Preference};
    use rove_ssp::Config;
    use rove_terminal::Size;
    use rove_units::Seed;

    use super::*;
    use crate::replay::client_end::client_end;
    use crate::replay::pace::Pace;
    use crate::trace::{Event, Record, Trace, TtyModes};

    #[test]
    fn a_shell_waits_at_its_prompt_as_recorded_if_no_more_keys_have_come() {
        let prompt = TtyModes { echo: false, icanon: false, prompt: true };
        let events = [
            Event::Host(b"$ ".to_vec()),
            Event::User(b"a".to_vec()),
            Event::Host(b"a".to_vec()),
            Event::Tty(prompt),
            Event::User(b"b".to_vec()),
            Event::Host(b"b".to_vec()),
        ];
        let records =
            (0..).zip(events).map(|(ms, event)| Record { at: Instant::from_millis(ms), event });
        let trace = Trace { size: Size::DEFAULT, records: records.collect() };
        let script = Script::new("made".to_owned(), trace, None).expect("a recording");
        let prediction = Prediction { preference: Preference::Always, ..Prediction::default() };
        for (keys, is_told) in [(&["a", "b"][..], true), (&["ab"], false)] {
            let seed = Seed::new(1);
            let config = rove_headless::client_config(rove_headless::rove(Config::client()), seed);
            let left = client_end(ClientConfig { prediction, ..config }, &script, Pace::Open, None);
            let config = rove_headless::server_config(rove_headless::rove(Config::server()), seed);
            let mut right = server_end(config, &script, Duration::ZERO);
            right.program.start(Instant::ZERO);
            let link = LinkConfig::lossless(Duration::from_millis(20));
            let mut net = Net::new(left, right, link.clone(), link, seed);
            net.run_for(Duration::from_secs(1));
            let mut told = Vec::new();
            for keys in keys {
                net.left.client.handle_input(net.now(), keys.as_bytes());
                net.run_for(Duration::from_secs(1));
                told.push(net.left.client.tty().expect("the server tells of it").prompt);
            }
            assert_eq!(net.right.program.unexpected(), 0);
            assert_eq!(told[0].is_some(), is_told);
            // The second key changes nothing, because the server states a prompt for the keys before it.
            assert_eq!(told.last(), told.first());
        }
    }
}
