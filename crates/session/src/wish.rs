//! The wishes of a session's own client: who may join, when joined clients must end, and which window sets the size.

use core::str::FromStr;

use rove_terminal::Size;

/// Whether others may join a session, or take it over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Door {
    /// The session's client has not stated its wish. It may be unable to show who joins, so nobody may join.
    #[default]
    Unknown,
    /// Others may join, and the session's client shows who joins.
    Open,
    /// Nobody may join. Another login of the user may still take the session over.
    Closed,
    /// Nobody may join, and nobody may take the session over while its client is alive.
    Locked,
}

/// The rule that decides the size of a session's screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SizeRule {
    /// The session has the window size of its own client.
    #[default]
    Owner,
    /// The session has its own client's window size, enlarged in each dimension to that of the client that typed last.
    Typist,
    /// The session's width and height are the smallest among the windows of all clients that may type.
    Smallest,
    /// The session has this fixed size, in whatever window it is shown.
    Fixed(Size),
}

/// The error for a text that is not a size rule; it holds the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{}\" is none of owner, typist, smallest and a size such as 80x24", .0.escape_debug())]
pub struct SizeRuleError(String);

impl FromStr for SizeRule {
    type Err = SizeRuleError;

    fn from_str(text: &str) -> Result<Self, SizeRuleError> {
        let fixed = || {
            let (columns, rows) = text.split_once('x')?;
            Size::new(columns.parse::<u16>().ok()?, rows.parse::<u16>().ok()?).ok()
        };
        match text {
            "owner" => Ok(Self::Owner),
            "typist" => Ok(Self::Typist),
            "smallest" => Ok(Self::Smallest),
            _ => fixed().map(Self::Fixed).ok_or_else(|| SizeRuleError(text.to_owned())),
        }
    }
}

/// A wish of a session's own client about the other clients or the session's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// From this wish on, others may join or not, as the value says.
    Door(Door),
    /// All joined clients must end.
    Dismiss,
    /// The session's size follows this rule.
    Size(SizeRule),
}

/// Field number of each kind of wish. The field's value is 1 for a wish without a parameter.
const DOOR: u32 = 1;
const DISMISS: u32 = 2;
const SIZE: u32 = 3;
/// The value of a fixed size is its columns times `COLUMN`, plus its rows. Smaller values encode other rules.
const COLUMN: u64 = 1 << 16;

/// A wish packed into four bytes. Events of the user must be small, because each byte of a paste is one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedWish([u16; 2]);

/// Number of bits for the value in a packed wish, below the field number's bits. The largest size needs them all.
const VALUE_BITS: u32 = 29;

impl From<Wish> for PackedWish {
    fn from(wish: Wish) -> Self {
        let (number, value) = wish.to_field();
        let value = u32::try_from(value).expect("a wish is small");
        debug_assert!(value >> VALUE_BITS == 0, "a wish is small");
        let code = (number << VALUE_BITS | value).to_be_bytes();
        Self([[code[0], code[1]], [code[2], code[3]]].map(u16::from_be_bytes))
    }
}

impl From<PackedWish> for Wish {
    fn from(PackedWish([high, low]): PackedWish) -> Self {
        let code = u32::from(high) << 16 | u32::from(low);
        let value = code & ((1 << VALUE_BITS) - 1);
        Self::from_field(code >> VALUE_BITS, value.into()).expect("it was a wish")
    }
}

impl Wish {
    /// Returns the field number and the value that encode this wish.
    pub(crate) fn to_field(self) -> (u32, u64) {
        match self {
            Self::Door(Door::Unknown) => (DOOR, 2),
            Self::Door(Door::Open) => (DOOR, 1),
            Self::Door(Door::Closed) => (DOOR, 2),
            Self::Door(Door::Locked) => (DOOR, 3),
            Self::Dismiss => (DISMISS, 1),
            Self::Size(SizeRule::Owner) => (SIZE, 1),
            Self::Size(SizeRule::Typist) => (SIZE, 2),
            Self::Size(SizeRule::Smallest) => (SIZE, 3),
            Self::Size(SizeRule::Fixed(size)) => {
                (SIZE, u64::from(size.columns()) * COLUMN + u64::from(size.rows()))
            }
        }
    }

    /// Returns the wish that a field encodes, or `None` if the field or its value is unknown.
    pub(crate) fn from_field(number: u32, value: u64) -> Option<Self> {
        Some(match (number, value) {
            (DOOR, 1) => Self::Door(Door::Open),
            (DOOR, 2) => Self::Door(Door::Closed),
            (DOOR, 3) => Self::Door(Door::Locked),
            (DISMISS, 1) => Self::Dismiss,
            (SIZE, 1) => Self::Size(SizeRule::Owner),
            (SIZE, 2) => Self::Size(SizeRule::Typist),
            (SIZE, 3) => Self::Size(SizeRule::Smallest),
            (SIZE, COLUMN..) => {
                let columns = u16::try_from(value / COLUMN).ok()?;
                let rows = u16::try_from(value % COLUMN).ok()?;
                Self::Size(SizeRule::Fixed(Size::new(columns, rows).ok()?))
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_comes_back_and_an_unknown_one_is_none() {
        let doors = [Door::Open, Door::Closed, Door::Locked].map(Wish::Door);
        let fixed = SizeRule::Fixed(Size::clamped(u16::MAX, u16::MAX));
        let rules = [SizeRule::Owner, SizeRule::Typist, SizeRule::Smallest, fixed].map(Wish::Size);
        for wish in doors.into_iter().chain(rules).chain([Wish::Dismiss]) {
            let (number, value) = wish.to_field();
            assert_eq!(Wish::from_field(number, value), Some(wish));
            assert_eq!(Wish::from(PackedWish::from(wish)), wish);
        }
        for (number, value) in [
            (DOOR, 0),
            (DOOR, 4),
            (DISMISS, 0),
            (DISMISS, 2),
            (SIZE, 0),
            (SIZE, 4),
            (SIZE, COLUMN),
            (SIZE, u64::MAX),
            (99, 1),
        ] {
            assert_eq!(Wish::from_field(number, value), None);
        }
    }

    #[test]
    fn a_rule_is_a_word_or_a_size() {
        assert_eq!("80x24".parse(), Ok(SizeRule::Fixed(Size::clamped(80, 24))));
        assert_eq!("typist".parse(), Ok(SizeRule::Typist));
        for text in ["", "80", "80x", "0x24", "80x24x1", "99999x24", "Owner", "\x1b[2J"] {
            let error = text.parse::<SizeRule>().unwrap_err().to_string();
            assert!(error.contains("is none of") && !error.contains('\x1b'), "{error}");
        }
    }
}
