//! The echo ack: the number of the newest input that the program has had time to answer.

use rove_ssp::{ApplyError, Capabilities, StateNum};

use crate::message::{number, refused, varint_field};
use crate::part::{Part, Receiver, Replica};

const NUM: u32 = 8;

/// The number of the newest client state whose input has had time to show its effect on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EchoAck(pub(crate) StateNum);

impl Part for EchoAck {
    /// The protobuf field of the echo ack in a host instruction. Source: Mosh 1.4.0 as observed, docs/wire.md.
    const MEMBER: u32 = 7;
    const EXTENSION: Capabilities = Capabilities::empty();
    const IS_BEFORE_PICTURE: bool = true;
    const IS_SHOWN: bool = false;

    fn diff_from(&self, base: &Self, _: &Receiver<'_>) -> Vec<Vec<u8>> {
        if self == base { Vec::new() } else { vec![varint_field(NUM, self.0.get())] }
    }

    fn apply(&mut self, body: &[u8], _: &mut Replica<'_>) -> Result<(), ApplyError> {
        let num = StateNum::new(number(body, NUM)?);
        if num < self.0 {
            return Err(refused("an echo ack that goes back"));
        }
        self.0 = num;
        Ok(())
    }

    fn same_as(&self, other: &Self) -> bool {
        self == other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::tests::{applied, diff};

    #[test]
    fn an_echo_ack_is_the_bytes_stock_writes_and_comes_back() {
        let old = EchoAck::default();
        for (num, bytes) in [
            (3, &b"\x0a\x04\x3a\x02\x40\x03"[..]),
            (u64::MAX, b"\x0a\x0d\x3a\x0b\x40\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        ] {
            let new = EchoAck(StateNum::new(num));
            assert_eq!(diff(&old, &new), bytes);
            assert_eq!(applied(old, bytes), Ok(new));
        }
    }
}
