//! The network's news of the host: the input that has arrived there, and the input that was answered.

use rove_units::Duration;

/// The number of a state of the user's input, as the two ends of a session count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct InputNum(u64);

impl InputNum {
    /// Creates a number.
    pub const fn new(num: u64) -> Self {
        Self(num)
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the number that follows.
    pub(crate) const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// The network's news of the far side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// The newest input that the program has had its time to answer, as the newest screen shows.
    pub echo_ack: InputNum,
    /// The newest input that has arrived.
    pub arrived: InputNum,
    /// The interval between frames: half of SRTT, within bounds.
    pub send_interval: Duration,
    /// SRTT, once it is known. The frame interval cannot stand for it, as its lower bound hides an SRTT below 40 ms.
    pub srtt: Option<Duration>,
}

impl Network {
    /// The state before anything has arrived. Source: Mosh 1.4.0 as observed.
    pub(crate) const UNHEARD: Self = Self {
        echo_ack: InputNum::new(0),
        arrived: InputNum::new(0),
        send_interval: Duration::from_millis(250),
        srtt: None,
    };
}
