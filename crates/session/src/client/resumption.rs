//! Continues a session from the record of another client, whose process is gone.

use rove_ssp::{Object, Resumed, StateNum};
use rove_terminal::{COLUMNS_MAX, ROWS_MAX, Size};
use rove_units::Instant;

use super::record::{ResumeError, VERSION, damaged, error, field};
use super::recorder::Recording;
use super::typed::NextKeys;
use super::{Client, ClientConfig};
use crate::host_screen::{Allowed, HostScreen};
use crate::message::{Fields, Value, number, string};
use crate::user_stream::{UserEvent, UserStream};

/// Lowest datagram number at which a client refuses to resume. Chosen: even with the largest random jump, a session
/// reaches it only after 2^12 resumptions. A client that starts just below it has half of all 63-bit numbers left.
const NUMBER_MAX: u64 = 1 << 62;

/// Maximum number of server states in a client's record for a Mosh server. Chosen: twice as many as a client keeps.
const STATES_MAX: usize = 2048;

/// Maximum number of input events in a record for a Mosh server. Chosen: twice as many as may be unacknowledged.
const EVENTS_MAX: usize = 2 * 1024 * 1024;

impl Client {
    /// Continues a session with a Mosh server from the records of a client whose process is gone. The new client's
    /// datagrams, instructions and states are numbered from `jump` above the reserved numbers. `jump` must be random.
    ///
    /// # Errors
    ///
    /// Returns the reason why the session cannot continue from the records.
    pub fn resume(
        config: ClientConfig,
        records: &[u8],
        jump: u64,
        now: Instant,
    ) -> Result<Self, ResumeError> {
        let read = Read::of(records)?;
        if read.is_concealed {
            return Err(ResumeError::Concealed);
        }
        let numbers_from = read.reserved.saturating_add(jump);
        if numbers_from >= NUMBER_MAX {
            return Err(ResumeError::Exhausted);
        }
        let mut current = UserStream::new();
        read.input.into_iter().for_each(|event| current.push(event));
        let (newest_num, newest) = read.states.last().ok_or_else(|| damaged("no state"))?;
        if *newest_num == StateNum::INITIAL || *newest_num == StateNum::SHUTDOWN {
            return Err(damaged("no state between the first and the last"));
        }
        let shown = largest(&read.states);
        let mut client = Self::silent(config, now);
        client.display.one_shot_effects.take_for_seen(newest);
        let resumed = Resumed {
            numbers_from,
            sealed_blocks: read.blocks,
            peer_datagrams: read.heard,
            known: (read.known, UserStream::new()),
            current,
            received: read.states,
        };
        client.transport.resume(resumed, now);
        client.uplink.resume(shown, &mut client.transport);
        // Keys of the former client may still be on their way to a program that asks for a secret.
        client.display.engine.reset();
        client.display.look(now, &client.transport);
        Ok(client.started(now))
    }

    /// Sends the former client's keys that the server (rove) has not taken, and starts to keep a record. Call this
    /// before other methods, and write the record before any datagram is sent.
    pub fn go_on_after(&mut self, next: &NextKeys, now: Instant) {
        self.recording().start_after(next);
        if !next.keys.is_empty() {
            self.display.handle_keys(now, &next.keys, &self.transport);
            self.uplink.send_keys(&next.keys, &mut self.transport);
            // The former client's record holds these keys, so they are not secret.
            self.recorder.handle_keys(&next.keys, false, &self.transport);
        }
        if let Some(sentence) = next.sentence() {
            self.notice_bar.notices.announce(now, sentence);
        }
        self.refresh(now);
    }

    /// Returns the access to the record from which another process can continue the session ([`Client::resume`]).
    pub const fn recording(&mut self) -> Recording<'_> {
        Recording { recorder: &mut self.recorder, transport: &mut self.transport }
    }
}

/// The contents of a record for a Mosh server.
#[derive(Default)]
struct Read {
    version: u64,
    reserved: u64,
    blocks: u64,
    heard: u64,
    states: Vec<(StateNum, HostScreen)>,
    known: StateNum,
    /// Input that the server may not have. `start` is the position of the first of these events.
    input: Vec<UserEvent>,
    start: u64,
    is_concealed: bool,
}

impl Read {
    fn of(records: &[u8]) -> Result<Self, ResumeError> {
        let mut read = Self::default();
        for entry in Fields::of_message(records) {
            read.handle(entry.map_err(error)?)?;
            if read.version != VERSION {
                return Err(damaged("its version"));
            }
        }
        if read.reserved == 0 {
            return Err(damaged("no numbers"));
        }
        Ok(read)
    }

    fn handle(&mut self, entry: (u32, Value<'_>)) -> Result<(), ResumeError> {
        match entry {
            (field::VERSION, Value::Varint(version)) => self.version = version,
            (field::RESERVED, Value::Varint(end)) => self.reserved = end.max(self.reserved),
            (field::BLOCKS, Value::Varint(blocks)) => self.blocks = blocks.max(self.blocks),
            (field::HEARD, Value::Varint(heard)) => self.heard = heard.max(self.heard),
            (field::CONCEALED, Value::Varint(concealed)) => self.is_concealed = concealed != 0,
            (field::STATE, Value::Bytes(body)) => self.handle_state(body)?,
            (field::KNOWN, Value::Bytes(body)) => self.handle_known(body)?,
            (field::INPUT, Value::Bytes(body)) => self.handle_input(body)?,
            _ => return Err(damaged("an entry")),
        }
        Ok(())
    }

    fn handle_state(&mut self, body: &[u8]) -> Result<(), ResumeError> {
        let get = |wanted| number(body, wanted).map_err(error);
        let (num, old_num) = (get(field::NUM)?, StateNum::new(get(field::OLD_NUM)?));
        let columns = u16::try_from(get(field::COLUMNS)?).unwrap_or(COLUMNS_MAX);
        let rows = u16::try_from(get(field::ROWS)?).unwrap_or(ROWS_MAX);
        let mut state = if columns > 0 {
            HostScreen::replica(Size::clamped(columns, rows))
        } else {
            let held = self.states.iter().find(|(num, _)| *num == old_num);
            held.ok_or_else(|| damaged("a state without the one before"))?.1.clone()
        };
        state.allow(&Allowed::new([Size::clamped(COLUMNS_MAX, ROWS_MAX)]));
        state.apply(string(body, field::BYTES).map_err(error)?).map_err(error)?;
        let num = StateNum::new(num);
        let place = self.states.partition_point(|(held, _)| *held < num);
        self.states.insert(place, (num, state));
        debug_assert!(self.states.is_sorted_by_key(|(held, _)| *held));
        let throwaway_num = StateNum::new(get(field::THROWAWAY_NUM)?);
        self.states.retain(|(held, _)| *held >= throwaway_num);
        match self.states.len() {
            1..=STATES_MAX => Ok(()),
            _ => Err(damaged("the number of states")),
        }
    }

    fn handle_known(&mut self, body: &[u8]) -> Result<(), ResumeError> {
        self.known = StateNum::new(number(body, field::NUM).map_err(error)?);
        let position = number(body, field::POSITION).map_err(error)?;
        let known = position.checked_sub(self.start).ok_or_else(|| damaged("its order"))?;
        let known = usize::try_from(known).unwrap_or(usize::MAX);
        self.input.drain(..known.min(self.input.len()));
        self.start = position;
        Ok(())
    }

    fn handle_input(&mut self, body: &[u8]) -> Result<(), ResumeError> {
        let position = number(body, field::NUM).map_err(error)?;
        let held = u64::try_from(self.input.len()).expect("a length fits 64 bits");
        let mut stream = UserStream::new();
        stream.apply(string(body, field::BYTES).map_err(error)?).map_err(error)?;
        self.input.extend(stream.events_from(0));
        if position != self.start + held || self.input.len() > EVENTS_MAX {
            return Err(damaged("the position of input"));
        }
        Ok(())
    }
}

fn largest(states: &[(StateNum, HostScreen)]) -> Size {
    let sizes = || states.iter().map(|(_, state)| state.screen().size());
    let columns = sizes().map(Size::columns).max().unwrap_or_default();
    Size::clamped(columns, sizes().map(Size::rows).max().unwrap_or_default())
}
