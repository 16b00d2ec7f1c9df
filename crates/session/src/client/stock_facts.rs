//! The record for a Mosh server (stock): all that the next client needs to continue under the same key.
//!
//! Before the client sends a datagram, the record holds every fact that the datagram relies on. Such facts are reserved
//! numbers, received states, throwaway numbers and keys.

use rove_ssp::{Capabilities, Object, ReceivedDiff, StateNum};

use super::record::{Record, VERSION, field};
use super::uplink::ClientTransport;
use crate::host_screen::HostScreen;
use crate::message::{bytes_field, put_bytes_field, put_varint_field};

/// Datagram numbers reserved at a time. Chosen: even a flood of output takes minutes to use them. The key's limit of
/// 2^47 cipher blocks allows 2^24 such reservations.
const RESERVED_AT_ONCE: u64 = 1 << 16;

/// Number of reserved datagram numbers left below which the client reserves further ones.
const RESERVED_LEFT_MIN: u64 = 1 << 12;

/// Cipher blocks (of 16 bytes) of the largest datagram.
const DATAGRAM_BLOCKS: u64 = 128;

/// Most bytes appended to a record (for a Mosh server) of up to 64 KiB before all of it is written again. Chosen: in a
/// flood of output, writing it again costs less than the appended frames. A client that resumes reads some 320 KiB.
const APPENDED_MAX: usize = 256 * 1024;

/// Most bytes appended to a longer record, as a multiple of the record's length when all of it was last written.
const APPENDED_WHOLES: usize = 4;

/// The facts that the record for a Mosh server contains so far.
#[derive(Debug, Default)]
pub(super) struct StockFacts {
    /// Whether a record has been begun.
    pub(super) is_begun: bool,
    is_being_written: bool,
    /// The number after the last sequence number that the record reserves for this client.
    reserved: u64,
    known: StateNum,
    /// Input up to this position is in the record, or acknowledged by the server.
    written_to: u64,
    /// The position after the newest input that must not be written, because it may be a secret.
    concealed_to: u64,
    /// Whether the record states that input is missing because it may be a secret.
    says_concealed: bool,
    /// Length of the last whole record, and (`appended_len`) of all that was appended to it since, in bytes.
    whole_len: usize,
    appended_len: usize,
}

impl StockFacts {
    /// Records that the input up to this position may be a secret.
    pub(super) fn conceal_to(&mut self, end: u64) {
        self.concealed_to = end;
    }

    /// Records that the newest record is written. Returns the number after the client's last reserved datagram number.
    pub(super) fn handle_written(&mut self) -> u64 {
        debug_assert!(self.is_being_written, "a record was asked for");
        self.is_being_written = false;
        self.reserved
    }

    /// Returns whether the driver has to write a record before the next datagram.
    pub(super) fn is_owed(&self, transport: &ClientTransport) -> bool {
        let is_concealed = self.is_concealed(transport);
        self.is_being_written
            || !self.is_begun
            || transport.has_received()
            || transport.known_num() != self.known
            || is_concealed != self.says_concealed
            || (!is_concealed && self.written_to < transport.local().end())
            || self.reserved.saturating_sub(transport.unused_number()) < RESERVED_LEFT_MIN
    }

    fn is_concealed(&self, transport: &ClientTransport) -> bool {
        transport.known_receiver_state().end() < self.concealed_to
    }

    /// Returns the bytes to append to the record, or a whole record: at first, after many bytes, or if diffs were
    /// dropped.
    pub(super) fn record(&mut self, transport: &mut ClientTransport) -> Record {
        let appended_max = APPENDED_MAX.max(APPENDED_WHOLES * self.whole_len);
        let diffs = transport.take_received();
        let diffs = diffs.filter(|_| self.is_begun && self.appended_len < appended_max);
        let is_whole = diffs.is_none();
        let mut out = Vec::new();
        match diffs {
            None => {
                put_varint_field(&mut out, field::VERSION, VERSION);
                put_states(&mut out, transport);
                transport.keep_received(true);
                (self.is_begun, self.reserved) = (true, 0);
                self.written_to = transport.known_receiver_state().end();
            }
            Some(diffs) => diffs.iter().for_each(|diff| put_diff(&mut out, diff)),
        }
        self.put_input(&mut out, transport);
        self.put_reserved(&mut out, transport);
        put_varint_field(&mut out, field::HEARD, transport.peer_datagrams());
        debug_assert!(!out.is_empty() && self.written_to <= transport.local().end());
        self.is_being_written = true;
        match is_whole {
            true => (self.whole_len, self.appended_len) = (out.len(), 0),
            false => self.appended_len += out.len(),
        }
        Record { bytes: out, is_whole }
    }

    /// Reserves more datagram numbers when few of the reserved ones are left.
    fn put_reserved(&mut self, out: &mut Vec<u8>, transport: &ClientTransport) {
        let unused = transport.unused_number();
        debug_assert!(
            self.reserved == 0 || unused <= self.reserved,
            "no number is used that is not reserved"
        );
        if self.reserved.saturating_sub(unused) < RESERVED_LEFT_MIN {
            self.reserved = unused + RESERVED_AT_ONCE;
            let blocks = transport.sealed_blocks() + RESERVED_AT_ONCE * DATAGRAM_BLOCKS;
            put_varint_field(out, field::RESERVED, self.reserved);
            put_varint_field(out, field::BLOCKS, blocks);
        }
    }

    /// Writes how much input the server has acknowledged. Also writes the input that is not yet in the record, unless
    /// any unacknowledged input may be a secret.
    fn put_input(&mut self, out: &mut Vec<u8>, transport: &ClientTransport) {
        let (known, local) = (transport.known_receiver_state(), transport.local());
        debug_assert!(known.end() <= local.end(), "nothing is known before it is said");
        debug_assert!(self.known <= transport.known_num(), "the known state never gets older");
        self.known = transport.known_num();
        let mut body = Vec::new();
        put_varint_field(&mut body, field::NUM, self.known.get());
        put_varint_field(&mut body, field::POSITION, known.end());
        put_bytes_field(out, field::KNOWN, &body);
        self.written_to = self.written_to.max(known.end());
        self.says_concealed = self.is_concealed(transport);
        put_varint_field(out, field::CONCEALED, u64::from(self.says_concealed));
        if !self.says_concealed && self.written_to < local.end() {
            let diff = local.diff_from(&local.prefix(self.written_to), transport.capabilities());
            let mut body = bytes_field(field::BYTES, &diff);
            put_varint_field(&mut body, field::NUM, self.written_to);
            put_bytes_field(out, field::INPUT, &body);
            self.written_to = local.end();
        }
    }
}

/// Writes the diff of a received state as it arrived.
fn put_diff(out: &mut Vec<u8>, received: &ReceivedDiff) {
    let mut body = Vec::with_capacity(received.diff.len() + 32);
    put_varint_field(&mut body, field::NUM, received.num.get());
    put_varint_field(&mut body, field::OLD_NUM, received.old_num.get());
    put_varint_field(&mut body, field::THROWAWAY_NUM, received.throwaway_num.get());
    put_bytes_field(&mut body, field::BYTES, &received.diff);
    put_bytes_field(out, field::STATE, &body);
}

/// Writes the received states: the first as a diff from a blank screen, and each later one from the state before.
fn put_states(out: &mut Vec<u8>, transport: &ClientTransport) {
    let mut before: Option<(StateNum, &HostScreen)> = None;
    for (num, state) in transport.received() {
        let mut body = Vec::new();
        let diff = match before {
            Some((old_num, old)) => {
                put_varint_field(&mut body, field::OLD_NUM, old_num.get());
                state.diff_from(old, Capabilities::from_bits_retain(u64::MAX))
            }
            None => {
                let size = state.screen().size();
                put_varint_field(&mut body, field::COLUMNS, u64::from(size.columns()));
                put_varint_field(&mut body, field::ROWS, u64::from(size.rows()));
                state
                    .diff_from(&HostScreen::replica(size), Capabilities::from_bits_retain(u64::MAX))
            }
        };
        put_varint_field(&mut body, field::NUM, num.get());
        put_bytes_field(&mut body, field::BYTES, &diff);
        put_bytes_field(out, field::STATE, &body);
        before = Some((num, state));
    }
}
