//! The wishes of a session's own client about others: who may join, and that those who have joined end.

/// Whether others may become clients of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Door {
    /// Its client has not said so: it may be unable to show who joins.
    #[default]
    Unknown,
    /// Others may join, and its client shows it.
    Open,
    /// Nobody may join.
    Closed,
    /// Nobody may join, and nobody may take the session over from a client that lives.
    Locked,
}

/// A wish of a session's own client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Who may come from now on.
    Door(Door),
    /// All joined clients end.
    Dismiss,
}

/// The number of each wish's field. Its value is 1 unless it says something.
const DOOR: u32 = 1;
const DISMISS: u32 = 2;

impl Wish {
    /// Returns the field that stands for this wish.
    pub(crate) const fn to_field(self) -> (u32, u64) {
        match self {
            Self::Door(Door::Unknown) => (DOOR, 0),
            Self::Door(Door::Open) => (DOOR, 1),
            Self::Door(Door::Closed) => (DOOR, 2),
            Self::Door(Door::Locked) => (DOOR, 3),
            Self::Dismiss => (DISMISS, 1),
        }
    }

    /// Returns the wish that a field stands for, if it is known.
    pub(crate) const fn from_field(number: u32, value: u64) -> Option<Self> {
        Some(match (number, value) {
            (DOOR, 1) => Self::Door(Door::Open),
            (DOOR, 2) => Self::Door(Door::Closed),
            (DOOR, 3) => Self::Door(Door::Locked),
            (DISMISS, 1) => Self::Dismiss,
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
        for wish in doors.into_iter().chain([Wish::Dismiss]) {
            let (number, value) = wish.to_field();
            assert_eq!(Wish::from_field(number, value), Some(wish));
        }
        for (number, value) in [(DOOR, 0), (DOOR, 4), (DISMISS, 0), (DISMISS, 2), (99, 1)] {
            assert_eq!(Wish::from_field(number, value), None);
        }
    }
}
