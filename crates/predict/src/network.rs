//! The network's progress: the input that has reached the host, and the input that programs have answered.

use rove_terminal::InputNum;
use rove_units::Duration;

/// The progress of the user's input, and the speed of the path, when the newest screen arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// The newest input that programs on the host had had enough time to answer when the server made the newest screen.
    pub echo_ack: InputNum,
    /// The newest input that has arrived at the host.
    pub arrived: InputNum,
    /// The interval between frames: half of SRTT, within bounds.
    pub send_interval: Duration,
    /// The smoothed round-trip time (SRTT). `None` before the first measurement. The send interval cannot replace SRTT:
    /// the interval is 20 ms, its lower bound, for every SRTT below 40 ms.
    pub srtt: Option<Duration>,
}

impl Network {
    /// The progress at the start, when nothing has arrived. Source: Mosh 1.4.0 as observed.
    pub const UNHEARD: Self = Self {
        echo_ack: InputNum::new(0),
        arrived: InputNum::new(0),
        send_interval: Duration::from_millis(250),
        srtt: None,
    };
}
