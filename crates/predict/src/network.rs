//! The network's progress: the input that has arrived at the host, and the input that was answered.

use rove_units::Duration;

/// The number of a state of the user's input, as both ends of the session count it.
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

/// The progress of the user's input and the speed of the path, as the newest screen shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// The newest input that the host's programs have had their time to answer on the newest screen.
    pub echo_ack: InputNum,
    /// The newest input that has arrived at the host.
    pub arrived: InputNum,
    /// The interval between frames: half of SRTT, within bounds.
    pub send_interval: Duration,
    /// The smoothed round-trip time. `None` until it is known. The frame interval cannot replace it, as its lower bound
    /// hides an SRTT below 40 ms.
    pub srtt: Option<Duration>,
}

impl Network {
    /// The progress before anything has arrived. Source: Mosh 1.4.0 as observed.
    pub(crate) const UNHEARD: Self = Self {
        echo_ack: InputNum::new(0),
        arrived: InputNum::new(0),
        send_interval: Duration::from_millis(250),
        srtt: None,
    };
}
