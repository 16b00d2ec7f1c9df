//! The built-in controllers, by their names in scenario files.

use clap::ValueEnum;
use rove_congestion::aimd::Aimd;
use rove_congestion::compound::Compound;
use rove_congestion::cubic::Cubic;
use rove_congestion::ledbat::Ledbat;
use rove_congestion::low_delay::LowDelay;
use rove_congestion::new_reno::NewReno;
use rove_congestion::sprout::Scale;
use rove_congestion::sprout_ack::SproutAck;
use rove_congestion::vegas::Vegas;
use rove_congestion::{Begin, Controller};
use rove_link::{CoDelConfig, Discipline, FairConfig};
use rove_runs::statistics::whole;
use rove_units::{Bytes, Duration};

use crate::flow::controlled::Controlled;
use crate::flow::shared::TUNNELLED;
use crate::flow::source::{Bulk, FULL};
use crate::flow::sprout_form::SproutForm;
use crate::flow::{self, FlowOptions, FlowReport};

/// The default fixed window in packets. Chosen: the bandwidth-delay product of the public LTE links.
const WINDOW: f64 = 16.0;

/// A queueing delay for LEDBAT that is hardly felt. Chosen: rove's bound on the delay of keys beside a copy.
const SHORT_TARGET: Duration = Duration::from_millis(10);

/// A controller of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Contender {
    /// Sprout's forecast of acknowledgments, on its grid of up to 12 Mbit/s
    SproutAck,
    /// Sprout's forecast of acknowledgments, on a grid for links of any rate
    SproutAckWide,
    /// A window that never changes
    FixedWindow,
    /// NewReno (RFC 6582)
    NewReno,
    /// CUBIC (RFC 9438)
    Cubic,
    /// CUBIC where the link's queue is CoDel (RFC 8289)
    CubicCodel,
    /// CUBIC where each flow has a CoDel queue of its own (RFC 8290)
    CubicFqCodel,
    /// CUBIC through a Sprout tunnel
    CubicTunnel,
    /// Compound TCP (2006)
    Compound,
    /// TCP Vegas (1995)
    Vegas,
    /// LEDBAT (RFC 6817)
    Ledbat,
    /// LEDBAT with a target of 10 ms in place of 100 ms
    LedbatShort,
    /// The controller of rove's streams
    LowDelay,
    /// Additive increase, multiplicative decrease, and nothing else
    Aimd,
    /// Sprout (NSDI 2013)
    #[value(skip)]
    Sprout(SproutForm),
}

impl Contender {
    /// Returns the controller's name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sprout(form) => form.name(),
            Self::SproutAck => "Sprout-ACK",
            Self::SproutAckWide => "Sprout-ACK, wide",
            Self::FixedWindow => "fixed window",
            Self::NewReno => "NewReno",
            Self::Cubic => "CUBIC",
            Self::CubicCodel => "CUBIC over CoDel",
            Self::CubicFqCodel => "CUBIC over FQ-CoDel",
            Self::CubicTunnel => "CUBIC in a Sprout tunnel",
            Self::Compound => "Compound",
            Self::Vegas => "Vegas",
            Self::Ledbat => "LEDBAT",
            Self::LedbatShort => "LEDBAT, 10 ms",
            Self::LowDelay => "low delay",
            Self::Aimd => "AIMD",
        }
    }

    /// Returns the name of the setting that a value can change. `None` if the controller has no setting.
    pub const fn setting(self) -> Option<&'static str> {
        match self {
            Self::Sprout(form) if form.is_ewma => Some("gain of a tick in percent"),
            Self::Sprout(_) => Some("confidence in percent"),
            Self::FixedWindow => Some("packets"),
            _ => None,
        }
    }

    /// Returns whether the controller is not Sprout's and works without help from a queue in the network.
    pub const fn is_end_to_end(self) -> bool {
        matches!(
            self,
            Self::FixedWindow
                | Self::NewReno
                | Self::Cubic
                | Self::Compound
                | Self::Vegas
                | Self::Ledbat
                | Self::LedbatShort
                | Self::LowDelay
                | Self::Aimd
        )
    }

    /// Creates the controller. `None` for a fixed window, for Sprout, and for a flow in Sprout's tunnel.
    pub fn controller(self, packet: Bytes, begin: Begin) -> Option<Box<dyn Controller>> {
        Some(match self {
            Self::SproutAck => Box::new(SproutAck::new(Scale::Linear, packet, Duration::ZERO)),
            Self::SproutAckWide => Box::new(SproutAck::new(Scale::Wide, packet, Duration::ZERO)),
            Self::NewReno => Box::new(NewReno::with_begin(packet, begin)),
            Self::Cubic | Self::CubicCodel | Self::CubicFqCodel => {
                Box::new(Cubic::with_begin(packet, begin))
            }
            Self::Compound => Box::new(Compound::with_begin(packet, begin)),
            Self::Vegas => Box::new(Vegas::new(packet)),
            Self::Ledbat => Box::new(Ledbat::new(packet)),
            Self::LedbatShort => Box::new(Ledbat::with_target(packet, SHORT_TARGET)),
            Self::LowDelay => Box::new(LowDelay::new(packet)),
            Self::Aimd => Box::new(Aimd::new(packet)),
            Self::FixedWindow | Self::CubicTunnel | Self::Sprout(_) => return None,
        })
    }

    /// Runs a flow. `setting` changes what [`Contender::setting`] names. `None` keeps the value of the paper or RFC.
    pub fn run(self, setting: Option<f64>, mut options: FlowOptions) -> FlowReport {
        let queue = match self {
            Self::CubicCodel => Some(Discipline::CoDel(CoDelConfig::default())),
            Self::CubicFqCodel => Some(Discipline::Fair(FairConfig::default())),
            _ => None,
        };
        if let Some(queue) = queue {
            options.uplink = options.uplink.map(|link| rove_link::LinkConfig { queue, ..link });
        }
        if let Some(controller) = self.controller(FULL, Begin::default()) {
            return flow::run(Controlled::new(controller), options).0;
        }
        match self {
            Self::Sprout(form) => form.run(setting, options),
            Self::CubicTunnel => flow::run_tunnelled(Box::new(Cubic::new(TUNNELLED)), options),
            _ => {
                let packets = setting.unwrap_or(WINDOW).clamp(1.0, 1e6);
                let window = Bytes::new(whole(packets.floor()) * FULL.get());
                // A fixed window is no controller: a controlled flow sends probes beyond its window after a silence.
                flow::run(Bulk::new(window), options).0
            }
        }
    }
}
