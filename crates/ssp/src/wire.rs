//! The layers below the transport, for code that reads datagrams itself: receive buffers, tests, fuzzers, recorders.

pub use crate::assembler::Assembler;
pub use crate::compress::{COMPRESSED_LEN_MAX, Codec, INSTRUCTION_LEN_MAX};
pub use crate::crypto::Cipher;
pub use crate::datagram::{DATAGRAM_LEN_MAX, DATAGRAM_OVERHEAD, Datagram, Timestamp16};
pub use crate::fragment::{FRAGMENT_HEADER_LEN, FRAGMENTS_MAX, Fragment, split};
pub use crate::instruction::Instruction;
pub use crate::num::SeqNum;
pub use crate::window::Window;
