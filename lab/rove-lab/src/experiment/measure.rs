//! A measurement: one run at a time, of one system, over one link, with one recording and one seed.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::experiment::conditions::{Conditions, RunFigure, Samples};
use crate::experiment::system::System;

mod age;
mod belief;
mod beside;
mod course;
mod flow;
mod frame_size;
mod host_response;
mod interarrival;
mod interrupt;
mod mistake;
mod onset;
mod protocol_delay;
mod response;
mod session;
pub(crate) mod shared;
mod start;
mod study;
mod tunnel;

pub(super) use self::belief::PICTURE_TICKS;
pub(super) use self::course::quantity;
pub(super) use self::flow::{END_TO_END, THROUGHPUT, UTILISATION};
#[cfg(target_os = "linux")]
pub(super) use self::flow::{options as flow_options, samples as flow_samples};

/// A kind of measurement.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Measure {
    /// How long each key waits for its answer on the user's screen.
    Response,
    /// How long after a key the recorded host wrote something.
    HostResponse,
    /// How long a program's write waits for the frame that carries it. The value is the collection interval in ms.
    ProtocolDelay,
    /// How long after the client's start the first word of a program is on the user's screen.
    Start,
    /// How long the echoes of the first keys take after a path begins to lose datagrams. The value is the number of
    /// keys.
    Onset,
    /// How long after Ctrl-C under a flood the prompt is on the user's screen.
    Interrupt,
    /// The mean age of information of the client's screen over a run.
    Age,
    /// The mean age of information in a published study of reference states.
    Study,
    /// The mean age of information in that study, where the value sets the study's timeout in ms.
    StudyTimeout,
    /// How much longer packets take than over an empty path, and the throughput, where senders share the path.
    Shared,
    /// The delay that a flow of a congestion controller inflicts on itself, and its throughput.
    Flow,
    /// A flow's delay and throughput where the value is a setting of its controller, such as Sprout's confidence.
    FlowSetting,
    /// The 95 % delay of a call's packets beside a bulk flow of CUBIC, maybe with both in a Sprout tunnel. No file can
    /// be the system, because its name could not say whether there is a tunnel.
    Tunnel,
    /// How long keys wait for their echoes beside a copy by a stream, whose controller the system is.
    Beside,
    /// How long keys wait for their echoes beside a copy by a stream, while a download by CUBIC shares the path.
    BesideDownload,
    /// The age of the newest data that a flow, or a session's flood of output, has delivered, by slots of time.
    Course,
    /// Times between the opportunities of a recorded link.
    Interarrival,
    /// How long wrong predictions stay.
    Mistake,
    /// How long a recorded link takes to carry the packets that Sprout forecasts for it.
    Belief,
    /// How long a link of 64 kbit/s takes to carry the difference between two recorded screens.
    FrameSize,
}

impl Measure {
    /// Returns the measure's name in scenario files.
    pub(crate) fn name(self) -> String {
        let name = serde_json::to_value(self).expect("a name");
        name.as_str().expect("a name is a text").to_owned()
    }

    /// Returns the label of an axis of times. Only over recorded links the least delay is subtracted.
    pub(crate) const fn axis(self, has_recorded_links: bool) -> &'static str {
        match self {
            Self::Response => "response time (ms)",
            Self::HostResponse => "time from key to output (ms)",
            Self::ProtocolDelay => "delay of a write (ms)",
            Self::Start => "time to the first frame (ms)",
            Self::Onset | Self::Beside | Self::BesideDownload => "echo delay (ms)",
            Self::Interrupt => "time from Ctrl-C to the prompt (ms)",
            Self::Age | Self::Study | Self::StudyTimeout => "age (ms)",
            Self::Shared => "queueing delay (ms)",
            Self::Flow | Self::FlowSetting if has_recorded_links => "self-inflicted delay (ms)",
            Self::Flow | Self::FlowSetting => "95 % end-to-end delay (ms)",
            Self::Tunnel => "95 % delay of a call (ms)",
            Self::Course => "age of the newest (ms)",
            Self::Interarrival => "time between opportunities (ms)",
            Self::Mistake => "time until a mistake is gone (ms)",
            Self::Belief => "time to carry the forecast (ms)",
            Self::FrameSize => "time on a link of 64 kbit/s (ms)",
        }
    }

    /// Returns whether the measure runs systems over links.
    pub(crate) const fn needs_network(self) -> bool {
        !matches!(self, Self::HostResponse | Self::ProtocolDelay | Self::FrameSize)
    }

    /// Returns whether the measure compares systems.
    pub(crate) fn needs_systems(self) -> bool {
        self.needs_network() && !matches!(self, Self::Interarrival | Self::Belief)
    }

    /// Returns whether a run has many times, so that tables show statistics of them.
    pub(crate) const fn has_many_times(self) -> bool {
        matches!(self, Self::HostResponse | Self::Course | Self::Interarrival)
            || matches!(self, Self::Mistake | Self::Belief | Self::FrameSize)
    }

    /// Returns whether the measure plays recordings.
    pub(crate) const fn needs_recordings(self) -> bool {
        matches!(self, Self::Response | Self::HostResponse | Self::ProtocolDelay)
            || matches!(self, Self::Age | Self::Mistake | Self::FrameSize)
    }

    /// Returns whether the measure can also run in real time.
    pub(crate) const fn runs_really(self) -> bool {
        matches!(self, Self::Response | Self::Interrupt | Self::Flow)
    }

    /// Returns whether the scenario must list values to vary.
    pub(crate) const fn needs_values(self) -> bool {
        matches!(self, Self::ProtocolDelay | Self::Onset | Self::FlowSetting | Self::StudyTimeout)
    }

    /// Returns whether the measure distinguishes this system from the other systems that it measures.
    pub(crate) fn tells_apart(self, system: System) -> bool {
        match self {
            _ if !system.awaits_echo() => matches!(self, Self::Response | Self::Mistake),
            Self::Shared => shared::is_measured(system),
            Self::Flow => system.is_controller(),
            Self::FlowSetting => flow::has_setting(system),
            Self::Tunnel => tunnel::is_measured(system.contender()),
            Self::Course => course::is_measured(system),
            Self::Beside | Self::BesideDownload => beside::is_measured(system),
            _ if system.is_controller() => false,
            Self::Study | Self::StudyTimeout => study::known_share(system).is_some(),
            Self::Start | Self::Onset | Self::Interrupt | Self::Age => true,
            _ => system.reference().is_none(),
        }
    }

    /// Returns the figures that each run has beside its times, in the order of [`Samples::figures`].
    pub(crate) const fn figures(self) -> &'static [RunFigure] {
        match self {
            Self::Age => &age::FIGURES,
            Self::Study | Self::StudyTimeout => &study::FIGURES,
            Self::Shared => &shared::FIGURES,
            Self::Flow | Self::FlowSetting => &flow::FIGURES,
            Self::Tunnel => &tunnel::FIGURES,
            Self::Course => &course::FIGURES,
            Self::Beside => beside::FIGURES.split_at(3).0,
            Self::BesideDownload => &beside::FIGURES,
            Self::Interarrival => &interarrival::FIGURES,
            Self::Mistake => &mistake::FIGURES,
            Self::Belief => &belief::FIGURES,
            Self::FrameSize => &frame_size::FIGURES,
            Self::HostResponse => &host_response::FIGURES,
            _ => &[],
        }
    }

    /// Measures once, in virtual time.
    ///
    /// # Errors
    ///
    /// Returns an error if a recording cannot be played, or a session does not begin.
    ///
    /// # Panics
    ///
    /// Panics if a condition is missing that this kind needs: a scenario is checked when it is read.
    pub(crate) fn run(self, conditions: &Conditions<'_>) -> Result<Samples> {
        match self {
            Self::Response => response::run(conditions),
            Self::HostResponse => Ok(host_response::run(conditions)),
            Self::ProtocolDelay => Ok(protocol_delay::run(conditions)),
            Self::Start => Ok(start::run(conditions)),
            Self::Onset => Ok(onset::run(conditions)),
            Self::Interrupt => Ok(interrupt::run(conditions)),
            Self::Age => Ok(age::run(conditions)),
            Self::Study => Ok(study::run(conditions, None)),
            Self::StudyTimeout => Ok(study::run(conditions, conditions.value)),
            Self::Shared => shared::run(conditions),
            Self::Flow => flow::run(conditions, None),
            Self::FlowSetting => flow::run(conditions, conditions.value),
            Self::Tunnel => Ok(tunnel::run(conditions)),
            Self::Course => course::run(conditions),
            Self::Beside => beside::run(conditions, false),
            Self::BesideDownload => beside::run(conditions, true),
            Self::Interarrival => Ok(interarrival::run(conditions)),
            Self::Mistake => mistake::run(conditions),
            Self::Belief => Ok(belief::run(conditions)),
            Self::FrameSize => Ok(frame_size::run(conditions)),
        }
    }
}
