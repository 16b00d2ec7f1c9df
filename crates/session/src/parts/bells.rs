//! The count of bells, sent between two roves. It travels beside the picture and only grows, so that a picture that is
//! drawn again does not ring again.

use rove_ssp::{ApplyError, Capabilities};

use crate::message::{number, refused, varint_field};
use crate::part::{Part, Receiver, Replica};

const COUNT: u32 = 1;

/// How many times the bell has rung in the session; 0 with a Mosh 1.4.0 server, which sends no count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bells(pub(crate) u64);

impl Part for Bells {
    const MEMBER: u32 = 18;
    const EXTENSION: Capabilities = Capabilities::RICH_SCREEN;

    fn diff_from(&self, base: &Self, _: &Receiver<'_>) -> Vec<Vec<u8>> {
        if self == base { Vec::new() } else { vec![varint_field(COUNT, self.0)] }
    }

    fn apply(&mut self, body: &[u8], _: &mut Replica<'_>) -> Result<(), ApplyError> {
        let count = number(body, COUNT)?;
        if count < self.0 {
            return Err(refused("bells that go back"));
        }
        self.0 = count;
        Ok(())
    }

    fn same_as(&self, other: &Self) -> bool {
        self == other
    }
}
