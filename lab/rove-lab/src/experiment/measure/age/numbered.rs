//! A host screen with a number, so that a receiver can tell which state it has.

use rove_session::HostScreen;
use rove_ssp::{ApplyError, Capabilities, Object};
use rove_units::Bytes;

/// Bits of the number in a byte of a diff. The highest bit says that there is another byte.
const BITS: u32 = 7;

/// A screen and its number. A diff has the number, in a byte or two, in front of the diff of the screen.
#[derive(Clone, Debug)]
pub(super) struct NumberedScreen {
    pub(super) number: u64,
    pub(super) screen: HostScreen,
}

impl Object for NumberedScreen {
    fn diff_from(&self, base: &Self, peer: Capabilities) -> Vec<u8> {
        if self.number == base.number {
            return Vec::new();
        }
        let mut diff = Vec::new();
        let mut rest = self.number;
        while rest >= 1 << BITS {
            diff.push(u8::try_from(rest & 0x7f).expect("seven bits") | 0x80);
            rest >>= BITS;
        }
        diff.push(u8::try_from(rest).expect("seven bits"));
        diff.extend(self.screen.diff_from(&base.screen, peer));
        diff
    }

    fn apply(&mut self, diff: &[u8]) -> Result<(), ApplyError> {
        let refused = || ApplyError { reason: "it begins with no number".to_owned() };
        let len = 1 + diff.iter().position(|byte| byte & 0x80 == 0).ok_or_else(refused)?;
        if len > 9 {
            return Err(refused());
        }
        let (number, screen) = diff.split_at(len);
        self.number =
            number.iter().rev().fold(0, |rest, byte| rest << BITS | u64::from(byte & 0x7f));
        self.screen.apply(screen)
    }

    fn same_as(&self, other: &Self) -> bool {
        self.number == other.number
    }

    fn bytes_beyond(&self, neighbour: Option<&Self>) -> Bytes {
        self.screen.bytes_beyond(neighbour.map(|state| &state.screen))
    }

    fn received_bytes_max(&self) -> Bytes {
        self.screen.received_bytes_max()
    }
}

/// An end that has nothing to say.
#[derive(Clone, Debug)]
pub(super) struct Nothing;

impl Object for Nothing {
    fn diff_from(&self, _: &Self, _: Capabilities) -> Vec<u8> {
        Vec::new()
    }

    fn apply(&mut self, diff: &[u8]) -> Result<(), ApplyError> {
        let is_nothing = diff.is_empty();
        is_nothing
            .then_some(())
            .ok_or_else(|| ApplyError { reason: "it says something".to_owned() })
    }

    fn same_as(&self, _: &Self) -> bool {
        true
    }

    fn bytes_beyond(&self, _: Option<&Self>) -> Bytes {
        Bytes::ZERO
    }
}

#[cfg(test)]
mod tests {
    use rove_ssp::StateNum;
    use rove_terminal::{Size, Terminal};

    use super::*;

    #[test]
    fn a_number_of_any_size_comes_with_its_screen() {
        let mut terminal = Terminal::host(Size::DEFAULT);
        let blank = NumberedScreen { number: 0, screen: HostScreen::initial(Size::DEFAULT) };
        terminal.write(b"text");
        for number in [1, 127, 128, 16_384, 1 << 40] {
            let screen = terminal.screen().clone();
            let screen = HostScreen::published(screen, StateNum::INITIAL);
            let state = NumberedScreen { number, screen };
            let diff = state.diff_from(&blank, Capabilities::empty());
            let mut copy = NumberedScreen { number: 0, screen: HostScreen::replica(Size::DEFAULT) };
            copy.apply(&diff).expect("our own diff");
            assert_eq!((copy.number, copy.screen.screen().row_text(0).as_str()), (number, "text"));
            assert!(state.diff_from(&state.clone(), Capabilities::empty()).is_empty());
        }
        let mut copy = NumberedScreen { number: 0, screen: HostScreen::replica(Size::DEFAULT) };
        for diff in [&b""[..], &[0x80], &[0xff; 12]] {
            assert!(copy.apply(diff).is_err(), "{diff:?}");
        }
    }
}
