//! The layers below the transport, for tools that look at datagrams: tests, fuzzers, recorders.

pub use crate::assembler::Assembler;
pub use crate::compress::Codec;
pub use crate::crypto::Cipher;
pub use crate::datagram::{Datagram, Timestamp16};
pub use crate::fragment::{Fragment, split};
pub use crate::instruction::Instruction;
pub use crate::num::SeqNum;
