//! An end of a session: sender, receiver and connection put together.

mod resumption;
mod view;

use core::net::SocketAddr;

use rove_units::{Duration, Instant, Stream};

use crate::assembler::Assembler;
use crate::candidates::Candidates;
use crate::carriage::{Carriage, PacketSeal};
use crate::chaff;
use crate::closing::{Closed, Closing};
use crate::compress::{Codec, INSTRUCTION_LEN_MAX};
use crate::config::Config;
use crate::connection::{Connection, Event, Role, Transmit, contents_of, size_of};
use crate::datagram::Ecn;
use crate::error::{ReceiveError, SendError};
use crate::fragment::{FRAGMENTS_MAX, Fragment, split};
use crate::fragment_queue::FragmentQueue;
use crate::heartbeat::HeartbeatSchedule;
use crate::hello::{Capabilities, Hello, Peer};
use crate::instruction::Instruction;
use crate::key::Key;
use crate::num::StateNum;
use crate::object::Object;
use crate::path::Arrival;
use crate::path_size::Answer;
use crate::receiver::{Received, Receiver};
use crate::sender::{Sender, Step};

pub use self::resumption::Resumed;

/// Number of the fork of the caller's random stream that a reference policy uses. Instructions use the forks from 1 on.
const REFERENCE_STREAM: u64 = u64::MAX;

/// Work counted for each datagram, in the remote object's units (cells). Chosen: a datagram takes a few microseconds.
const DATAGRAM_EFFORT: u64 = 4_000;

/// Work counted for each inflated byte of an instruction, in the remote object's units (cells). Chosen: 2 to 4 ns.
const BYTE_EFFORT: u64 = 4;

/// An end of a session, client or server.
///
/// This end changes `Local`. `Remote` is its copy of the object that the peer changes.
#[derive(Debug)]
pub struct Transport<Local: Object, Remote: Object> {
    config: Config,
    connection: Connection,
    codec: Codec,
    assembler: Assembler,
    sender: Sender<Local>,
    receiver: Receiver<Remote>,
    heartbeats: HeartbeatSchedule,
    peer: Peer,
    chaff: Stream,
    /// How many instructions were built so far. The count is the newest instruction's fragment id.
    instructions: u64,
    fragments: FragmentQueue,
    closing: Closing,
    /// The limit below which the numbers of datagrams, instructions and states must stay, if any.
    reserved: Option<u64>,
    /// Work done so far outside the receiver, in the remote object's units.
    effort: u64,
    /// The seal of the stream packets. `None` if this end does not offer streams.
    packets: Option<Box<PacketSeal>>,
}

impl<Local: Object, Remote: Object> Transport<Local, Remote> {
    /// Creates an end. `local` and `remote` are the states numbered 0; `chaff` is the caller's randomness for padding.
    pub fn new(
        role: Role,
        key: &Key,
        config: Config,
        local: Local,
        remote: Remote,
        chaff: Stream,
        now: Instant,
    ) -> Self {
        let is_client = matches!(role, Role::Client { .. });
        let pause_max = if is_client { Duration::ZERO } else { config.heartbeat.interval_max };
        Self {
            connection: Connection::new(role, key, &config, now),
            packets: PacketSeal::offered(config.capabilities, key),
            config,
            codec: Codec::new(),
            assembler: Assembler::default(),
            sender: Sender::new(local, chaff.fork(REFERENCE_STREAM), now),
            receiver: Receiver::new(remote, now),
            heartbeats: HeartbeatSchedule::new(pause_max),
            peer: Peer::Unknown,
            chaff,
            instructions: 0,
            fragments: FragmentQueue::default(),
            closing: Closing::new(matches!(role, Role::Server { .. })),
            reserved: None,
            effort: 0,
        }
    }

    /// Handles an arrived datagram. If it brings a newer state, [`Transport::remote_num`] grows.
    ///
    /// # Errors
    ///
    /// Returns the reason why the datagram was refused. The session continues after any error.
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        source: SocketAddr,
        ecn: Ecn,
        payload: &[u8],
    ) -> Result<(), ReceiveError> {
        self.effort = self.effort.saturating_add(DATAGRAM_EFFORT);
        let hears_by = self.heartbeats.hears_by();
        let packets = self.packets.as_mut().filter(|_| PacketSeal::is_claimed_by(payload));
        if let Some(packets) = packets {
            let packet = (source, payload.len(), packets.open(self.connection.sends, payload)?);
            let arrival = self.connection.handle_packet(now, packet, hears_by, &self.config);
            self.heed_arrival(now, arrival);
            return Ok(());
        }
        let (opened, arrival) =
            self.connection.open(now, source, ecn, payload, hears_by, &self.config)?;
        while self.has_work() {
            self.work(now).unwrap_or_else(|error| tracing::debug!(%error, "state of no use"));
        }
        self.heed_arrival(now, arrival);
        let fragment = Fragment::decode(&opened)?;
        let Some(compressed) = self.assembler.handle_fragment(fragment)? else { return Ok(()) };
        let before = self.effort;
        let instruction = {
            let inflated = self.codec.inflate_within(&compressed, self.config.instruction_len_max);
            drop(compressed);
            let inflated = inflated.inspect_err(|_| self.count_bytes(INSTRUCTION_LEN_MAX))?;
            self.count_bytes(inflated.len());
            Instruction::decode(&inflated)?
        };
        // Decoding an instruction of a megabyte or more uses up the work allowed in one call.
        let room = self.config.work_per_turn.saturating_sub(self.effort - before);
        let is_try = self.connection.size().is_try(payload.len());
        self.handle_instruction(now, instruction, room, is_try)
    }

    /// Returns whether a received diff has been applied only in part, so that [`Transport::work`] must be called again.
    /// A driver may do other things before that. The next datagram that is not a stream packet completes the diff.
    pub fn has_work(&self) -> bool {
        self.receiver.has_work()
    }

    /// Continues to apply a received diff, with about [`Config::work_per_turn`] work.
    ///
    /// # Errors
    ///
    /// Returns the reason why the diff could not be applied.
    pub fn work(&mut self, now: Instant) -> Result<(), ReceiveError> {
        let received = self.receiver.work(now, self.config.work_per_turn)?;
        // Only large contents are applied in parts.
        self.note_received(now, received, usize::MAX, None);
        Ok(())
    }

    /// Returns access to this session for stream packets. `None` unless both ends have offered streams.
    pub fn carriage(&mut self) -> Option<Carriage<'_>> {
        let is_agreed = self.capabilities().contains(Capabilities::STREAMS);
        let packets = self.packets.as_deref_mut().filter(|_| is_agreed)?;
        Some(Carriage::new(packets, &mut self.connection))
    }

    /// Handles all timers that are due. A call before or after the due time does no harm.
    pub fn handle_timeout(&mut self, now: Instant) {
        let timing = self.send_timing();
        self.closing.handle_timeout(now);
        if self.closed().is_none() && self.sender.gives_up_at(&timing).is_some_and(|at| at <= now) {
            self.closing.close(Closed::Unacknowledged);
        }
    }

    /// Called when the system refused to send a datagram because its `len` bytes are too many (EMSGSIZE).
    pub fn handle_message_too_long(&mut self, now: Instant, len: usize) {
        self.connection.handle_message_too_long(now, len);
        self.heed_size();
    }

    /// Returns a client's [`Transport::candidates`], to add or report an address; `None` at a server.
    pub fn candidates_mut(&mut self) -> Option<&mut Candidates> {
        self.connection.candidates_mut()
    }

    /// Removes the address of a forwarder that has ended. If it is in use, the server's first address replaces it.
    pub fn remove_candidate(&mut self, now: Instant, address: SocketAddr) {
        self.connection.remove_candidate(now, address);
        self.heed_size();
    }

    /// Called when the driver has opened or closed the path to [`SIDE_PATH`](crate::SIDE_PATH). Before a client's first
    /// datagram the side path is used at once. Later it is used if the network fails, or an earlier side path is late.
    pub fn handle_side_path(&mut self, now: Instant, is_open: bool) {
        let is_first = self.instructions == 0;
        let fails_at = self.side_path_wanted_at().or(self.side_path_late_at());
        let fails = is_first || fails_at.is_some_and(|at| at <= now);
        self.connection.handle_side_path(now, is_open, fails);
        self.heed_size();
    }

    /// Called when an interface, an address or a route of this computer has changed. A client then sends a datagram at
    /// once, but in the long run at most one a second for all calls. At a server this does nothing.
    pub fn handle_network_change(&mut self, now: Instant) {
        if self.connection.handle_network_change(now) {
            self.sender.handle_network_change();
        }
        self.heed_size();
    }

    /// Returns the next datagram to send. Call it until it returns `None`, then wait for [`Transport::poll_timeout`].
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        loop {
            if self.reserved.is_some_and(|end| end <= self.unused_number()) {
                return None;
            }
            if let Some(transmit) = self.next_fragment(now) {
                return Some(transmit);
            }
            self.handle_timeout(now);
            if self.closed().is_none()
                && let Some(probe) = self.connection.poll_probe(now, &self.config)
            {
                return self.sealed(probe);
            }
            self.connection.peer()?;
            let timing = self.send_timing();
            self.connection.size().heed_silence(now, &timing);
            self.heed_size();
            let timing = self.send_timing();
            let step = match self.closed() {
                None => self.sender.step(now, &timing),
                Some(_) if self.closing.poll_answer() => {
                    Some(Step::Send(self.sender.acknowledge(now)))
                }
                Some(_) => return None,
            };
            match step {
                Some(Step::Send(instruction)) => self.build(now, instruction, false),
                Some(Step::Heartbeat(instruction)) => self.build(now, instruction, true),
                Some(Step::Repeat) => self.fragments.again(),
                None => {
                    let size = self.connection.size().next_try(now, &timing)?;
                    let instruction = self.sender.probe(now, &timing)?;
                    self.build_try(now, instruction, size);
                    continue;
                }
            }
            if let Some((num, cut)) = self.fragments.contents() {
                let (timing, sent) = (self.send_timing(), self.connection.next_seq);
                self.connection.size().handle_sent(now, num, cut, sent, &timing);
            }
        }
    }

    /// Returns when to call [`Transport::handle_timeout`], then [`Transport::poll_transmit`]. `None` if no timer runs.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.closed().is_some() {
            return self.lingers_until();
        }
        let timing = self.send_timing();
        let step = self.connection.peer().map(|_| self.sender.next_step());
        let probe = self.connection.probe_at(&self.config);
        [step, self.sender.gives_up_at(&timing), probe].into_iter().flatten().min()
    }

    /// Returns the next event, or `None`.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.connection.poll_event()
    }

    /// Makes `object` this end's current state, to be sent when the timers allow. The call has no effect in a shutdown.
    pub fn publish(&mut self, object: Local) {
        self.sender.publish(object);
    }

    /// Calls `adjust` on all received states, to add facts that this end knows and the peer does not send.
    pub fn adjust_remote(&mut self, adjust: impl FnMut(&mut Remote)) {
        self.receiver.adjust(adjust);
    }

    /// Sets whether received states with contents stay unacknowledged, except the session's last, so that the peer
    /// repeats them. The peer's acknowledgments still count. An end uses this while its program does not read input.
    pub fn hold_remote(&mut self, held: bool) {
        self.receiver.hold(held);
    }

    /// Starts the orderly shutdown of the session. Later calls do nothing.
    pub fn start_shutdown(&mut self, now: Instant) {
        tracing::info!("shutting down");
        self.sender.shutdown.start(now);
    }

    fn handle_instruction(
        &mut self,
        now: Instant,
        instruction: Instruction,
        room: u64,
        is_try: bool,
    ) -> Result<(), ReceiveError> {
        if self.config.capabilities.is_some() {
            self.peer.learn(instruction.hello, instruction.ack_num);
        }
        let announces_heartbeats = self.capabilities().contains(Capabilities::ANNOUNCED_HEARTBEAT);
        let next_heartbeat = instruction.next_heartbeat.filter(|_| announces_heartbeats);
        if let Some(report) = instruction.loss_report.filter(|_| self.reports_loss()) {
            self.connection.handle_loss_report(report);
        }
        self.sender.handle_ack(now, instruction.ack_num);
        self.heartbeats.backoff.handle_ack(self.sender.sent.known().num);
        let timing = self.send_timing();
        self.connection.size().handle_ack(now, self.sender.sent.known().num, &timing);
        self.connection.handle_roundtrip(self.sender.sent.known().sent_at);
        if instruction.new_num == StateNum::SHUTDOWN {
            self.closing.handle_announced(now, &timing);
        }
        if self.sender.sent.known().num == StateNum::SHUTDOWN {
            self.closing.close(Closed::Acknowledged);
        }
        let contents_len = instruction.diff.len();
        if contents_len == 0 && self.is_asked(now, instruction.new_num) {
            self.sender.acks.want_at_once(now);
        }
        let received = self.receiver.handle_instruction(now, instruction, room, &self.config)?;
        if is_try && contents_len == 0 && matches!(received, Received::Newest) {
            // Later contents of the peer would hide whether this probe has arrived, so it is acknowledged at once.
            self.sender.acks.want_at_once(now);
        }
        self.note_received(now, received, contents_len, next_heartbeat);
        Ok(())
    }

    fn heed_arrival(&mut self, now: Instant, arrival: Arrival) {
        self.heed_size();
        if arrival.is_peer_moved {
            self.heartbeats.backoff.handle_moved();
        }
        if arrival.is_peer_regained {
            // Without an acknowledgment, an idle client would learn only at the next heartbeat that its new path works.
            self.sender.acks.want_at_once(now);
        }
    }

    /// Returns whether a client waits for an answer of this server although the client sent no contents. Such a client
    /// seems to have missed the newest heartbeat, or has sent the same state again.
    fn is_asked(&mut self, now: Instant, new_num: StateNum) -> bool {
        let timing = self.send_timing();
        let is_missed = self.heartbeats.backoff.heed_missed(now, timing.ack_expected);
        let is_again = self.receiver.newest().num == new_num;
        let is_told = self.capabilities().contains(Capabilities::ANNOUNCED_HEARTBEAT);
        self.connection.client().is_none() && is_told && (is_missed || is_again)
    }

    fn note_received(
        &mut self,
        now: Instant,
        received: Received,
        contents_len: usize,
        next_heartbeat: Option<Duration>,
    ) {
        match received {
            Received::Newest => {
                if self.connection.client().is_some() {
                    let interval = self.config.heartbeat.interval;
                    self.heartbeats.announced.handle_heard(now, next_heartbeat, interval);
                    if next_heartbeat.is_some() {
                        self.sender.acks.want_at_once(now);
                    }
                }
                let num = self.receiver.newest().num;
                tracing::debug!(%num, "state received");
                self.sender.handle_new_remote(now, num, contents_len);
            }
            Received::LeftWithPeer => {
                self.sender.handle_heard(now);
                self.sender.acks.want(now);
            }
            Received::NewestAgain => {
                let timing = self.send_timing();
                self.sender.handle_remote_again(now, &timing);
            }
            Received::Nothing | Received::Begun => {}
        }
    }

    fn count_bytes(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.effort = self.effort.saturating_add(bytes.saturating_mul(BYTE_EFFORT));
    }

    /// Returns the next sealed fragment of the instruction. `None` if all are sent, no peer is known, or sealing
    /// failed.
    fn next_fragment(&mut self, now: Instant) -> Option<Transmit> {
        let payload = self.fragments.next()?;
        let is_answer = self.fragments.is_answer;
        let Some(sealed) = self.connection.seal(now, payload, is_answer, &self.config) else {
            self.fragments.stop();
            return None;
        };
        let sealed = sealed.map(|it| Transmit { tries_size: self.fragments.is_try, ..it });
        let is_last = self.fragments.handle_sent();
        // The datagram may have made the client switch to another address, and so change the size of datagrams.
        self.heed_size();
        let transmit = self.sealed(sealed)?;
        if is_last && self.fragments.ack_num == StateNum::SHUTDOWN {
            let timing = self.send_timing();
            self.closing.handle_acknowledged(now, &timing);
        }
        Some(transmit)
    }

    /// Returns the sealed datagram. `None` at an error, which drops all fragments; an exhausted key ends the session.
    fn sealed(&mut self, sealed: Result<Transmit, SendError>) -> Option<Transmit> {
        sealed
            .inspect_err(|error| {
                tracing::info!(%error, "nothing can be sent any more");
                if *error == SendError::KeyExhausted {
                    self.closing.close(Closed::KeyExhausted);
                }
                self.fragments.clear();
            })
            .ok()
    }

    /// Encodes, compresses and cuts an instruction into fragments.
    fn build(&mut self, now: Instant, instruction: Instruction, is_heartbeat: bool) {
        let instruction = self.complete(now, instruction, is_heartbeat);
        let fragments = match self.codec.compress(&instruction.encode()) {
            Ok(compressed) => split(self.instructions, &compressed, self.connection.contents_max()),
            // The timers count this instruction as sent, and it is then presumed lost.
            Err(error) => {
                tracing::info!(%error, num = %instruction.new_num, "instruction not sent");
                Vec::new()
            }
        };
        debug_assert!(fragments.len() <= usize::from(FRAGMENTS_MAX));
        let bytes = fragments.iter().map(|it| it.contents.len()).sum();
        let timing = self.send_timing();
        self.sender.handle_cut(now, &instruction, fragments.len(), bytes, &timing);
        if fragments.len() > 1 {
            self.sender.large.keep(now, instruction);
        }
        self.fragments.cut(fragments);
    }

    /// Builds a path size probe: one datagram of `size` bytes, or a few less, from an instruction without contents.
    fn build_try(&mut self, now: Instant, instruction: Instruction, size: usize) {
        let instruction = self.complete(now, instruction, false);
        let num = instruction.new_num;
        let answer = match self.peer {
            Peer::Rove(_) => Answer::AtOnce,
            _ if self.sender.sent.unacknowledged_since().is_some() => Answer::Soon,
            _ => Answer::Some,
        };
        self.fragments.is_try = true;
        let draws = self.chaff.fork(self.instructions);
        let contents = chaff::fill(instruction, contents_of(size), draws, &mut self.codec);
        self.connection.size().handle_try(now, num, size_of(contents.len()), answer);
        self.fragments.cut(split(self.instructions, &contents, contents.len()));
    }

    /// Adds the extension fields and the padding to an instruction, counts it, and begins its queue of fragments.
    fn complete(&mut self, now: Instant, sent: Instruction, is_heartbeat: bool) -> Instruction {
        self.instructions += 1;
        let is_understood = self.capabilities().contains(Capabilities::ANNOUNCED_HEARTBEAT);
        let announces = is_heartbeat && is_understood;
        let next_heartbeat =
            announces.then(|| self.heartbeats.announce(now, sent.new_num)).flatten();
        let has_contents = !sent.diff.is_empty();
        self.fragments = FragmentQueue {
            ack_num: sent.ack_num,
            contents_num: has_contents.then_some(sent.new_num),
            is_answer: next_heartbeat.is_none() && self.heartbeats.handle_sent(has_contents),
            ..FragmentQueue::default()
        };
        let interval = self.config.loss_report_interval.filter(|_| self.reports_loss());
        let loss_report = interval.and_then(|it| self.connection.poll_loss_report(now, it));
        // Each instruction carries this end's hello until the peer has acknowledged a state that came with it.
        let capabilities = self.config.capabilities.filter(|_| !self.is_acknowledged());
        Instruction {
            chaff: chaff::blur(self.chaff.fork(self.instructions)),
            hello: capabilities.map(Hello::new),
            loss_report,
            next_heartbeat,
            ..sent
        }
    }

    /// Drops the unsent fragments and the kept instruction if the datagram size for which they were cut has changed.
    fn heed_size(&mut self) {
        if self.connection.size().take_recut() {
            self.sender.large.kept = None;
            self.fragments.clear();
        }
    }
}
