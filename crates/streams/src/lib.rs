//! Reliable streams of bytes beside a session: forwarded ports, an ssh agent, files.
//!
//! This layer carries many streams between a client and its server, in separate packets. It does no I/O, reads no
//! clock, draws no randomness and encrypts nothing. `rove-ssp` seals (encrypts) each packet. Streams and credit follow
//! RFC 9000. Loss recovery follows RFC 9002. docs/wire.md defines the bytes.
//!
//! The session has priority: the owner (the code that drives an end) sends the session's datagrams first, and only then
//! polls this layer. There is no handshake and no idle timeout, because the session has a key and knows the path. After
//! three probe timeouts without an answer, the layer sends only rare probes. Any authentic datagram soon ends this
//! silence, and then the layer first sends again what was in flight.
//!
//! Memory is bounded per stream and in all. Each stream always has its first credit (16 KiB), so streams that nobody
//! reads never stop another one. The peer is not trusted: if it breaks a rule, the layer closes, but not the session.
//!
//! # Modules, from the bottom up
//!
//! - `id` numbers streams and packets, and `varint` encodes numbers. `ranges` is a set of numbers. `error` has the
//!   rules that a peer can break.
//! - `frame` is a part of a packet, and `packet` is what gets sealed. A `writer` fills a packet with frames.
//! - `rtt` estimates the round-trip time, over which `pacer` spreads packets. `flight` asks the congestion controller
//!   how much may be in flight.
//! - `recovery` knows the packets that were sent, finds those that were lost, and probes. A `black_hole` is a path that
//!   loses only large packets. `arrival_times` reads an acknowledgment. `arrivals` knows the packets that came, and
//!   acknowledges them.
//! - `send_half` and `receive_half` are the two directions of a `stream`. `credit` bounds their memory.
//! - `table` has the streams that are open. `scheduler` decides which of them sends next. `streams` joins both with the
//!   shared memory.
//! - `event` is an event for the owner, and `closing` closes the layer. `mux` puts all of this together.
//! - `preface` has the messages by which a stream is opened and answered, made of `fields`. A `reception` reads them at
//!   the end that accepts streams. `program` gathers the three streams of a program.

#![forbid(unsafe_code)]

mod arrival_times;
mod arrivals;
mod black_hole;
mod closing;
mod credit;
mod error;
mod event;
mod fields;
mod flight;
mod frame;
mod id;
mod mux;
mod pacer;
mod packet;
mod preface;
mod program;
mod ranges;
mod receive_half;
mod reception;
mod recovery;
mod rtt;
mod scheduler;
mod send_half;
mod stream;
mod streams;
mod table;
mod varint;
mod writer;

pub use closing::Closed;
pub use credit::{CREDIT_MAX, FIRST_CREDIT};
pub use error::{PROTOCOL, PacketError, REFUSED, STOPPED, StreamError, Violation};
pub use event::Event;
pub use frame::{AckFrame, Frame, FrameError, Frames};
pub use id::{PacketNum, Side, StreamId};
pub use mux::Mux;
pub use packet::{PACKET_MIN, Packet, SEND_TIME_LEN};
pub use preface::{
    Answer, BUSY, COMMAND_MAX, Exit, FILE_NAME_MAX, HOST_MAX, Listen, ListenPlace, MESSAGE_MAX,
    MessageReader, PATH_MAX, Part, PrefaceError, Put, TEXT_MAX, Target, UNREACHED,
};
pub use program::{Gathered, Gathering};
pub use receive_half::Read;
pub use reception::{CONNECTS_MAX, Reception};
pub use table::STREAMS_MAX;
