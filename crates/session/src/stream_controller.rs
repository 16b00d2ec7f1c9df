//! The congestion controllers that a user can choose for streams, by their names.

use rove_congestion::Controller;
use rove_congestion::cubic::Cubic;
use rove_congestion::ledbat::Ledbat;
use rove_congestion::low_delay::LowDelay;
use rove_congestion::new_reno::NewReno;
use rove_congestion::sprout::Scale;
use rove_congestion::sprout_ack::SproutAck;
use rove_units::{Bytes, Duration};

/// The size of a full packet at the start of a flow: a datagram of 1,200 bytes without header and tag.
const PACKET: Bytes = Bytes::new(1_176);

/// The longest time for which a receiver of streams delays an acknowledgment. Source: docs/wire.md.
const ACK_DELAY: Duration = Duration::from_millis(25);

/// A congestion controller of streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StreamController {
    /// Keeps the path's queue so short that keys hardly wait while the user types, and longer while nobody types.
    #[default]
    LowDelay,
    /// LEDBAT (RFC 6817), which leaves the bandwidth to other flows.
    Ledbat,
    /// CUBIC (RFC 9438), the controller of most downloads.
    Cubic,
    /// NewReno, as QUIC has it (RFC 9002).
    NewReno,
    /// Sprout's forecast for cellular links, made from acknowledgments.
    SproutAck,
}

impl StreamController {
    const ALL: [Self; 5] =
        [Self::LowDelay, Self::Ledbat, Self::Cubic, Self::NewReno, Self::SproutAck];

    /// The names of all controllers, the default one first.
    pub const NAMES: &'static [&'static str] =
        &["low-delay", "ledbat", "cubic", "new-reno", "sprout-ack"];

    /// Returns the controller of this name. `None` for an unknown name.
    pub fn from_name(name: &str) -> Option<Self> {
        let at = Self::NAMES.iter().position(|it| *it == name)?;
        Self::ALL.get(at).copied()
    }

    /// Creates the controller for a new flow.
    pub fn start(self) -> Box<dyn Controller> {
        match self {
            Self::LowDelay => Box::new(LowDelay::new(PACKET)),
            Self::Ledbat => Box::new(Ledbat::new(PACKET)),
            Self::Cubic => Box::new(Cubic::new(PACKET)),
            Self::NewReno => Box::new(NewReno::new(PACKET)),
            Self::SproutAck => Box::new(SproutAck::new(Scale::Wide, PACKET, ACK_DELAY)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_the_controller_of_its_own() {
        for (name, kind) in [
            ("low-delay", "LowDelay"),
            ("ledbat", "Ledbat"),
            ("cubic", "Cubic"),
            ("new-reno", "NewReno"),
            ("sprout-ack", "SproutAck"),
        ] {
            let controller = StreamController::from_name(name).expect("it is known");
            let shown = format!("{:?}", controller.start());
            assert!(shown.starts_with(&format!("{kind} ")), "{name}: {shown:.40}");
        }
        let default = StreamController::from_name(StreamController::NAMES[0]);
        assert_eq!(default, Some(StreamController::default()));
        for name in ["", "vegas", "Cubic", "aimd"] {
            assert_eq!(StreamController::from_name(name), None, "{name}");
        }
    }
}
