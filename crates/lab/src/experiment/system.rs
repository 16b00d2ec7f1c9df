//! The systems that experiments in virtual time compare.

use rove_session::{EngineKind, Prediction, Preference};
use rove_ssp::{Config, ReferencePolicy};
use serde::Deserialize;

use crate::replay::Ends;

/// A remote shell. All of them are our code; the real programs of others run in real time only.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum System {
    /// rove at both ends, as it ships.
    Rove,
    /// The same without predictions.
    RoveUnpredicted,
    /// The wire, the pace and the predictions of Mosh 1.4.0.
    MoshRules,
    /// The same without predictions.
    MoshRulesUnpredicted,
    /// The same, with diffs from the assumed receiver state: lambda 0 of the study of reference states.
    AssumedReference,
    /// The same, with one of four diffs from the known receiver state: lambda 1/4.
    QuarterReference,
    /// The same with lambda 1/2.
    HalfReference,
    /// The same with lambda 3/4.
    ThreeQuartersReference,
    /// The same, with diffs from the known receiver state: lambda 1.
    KnownReference,
    /// The same, with diffs from the state that rove chooses.
    AdaptiveReference,
}

impl System {
    /// Returns its name in figures.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Rove => "rove",
            Self::RoveUnpredicted => "rove, no predictions",
            Self::MoshRules => "Mosh's rules",
            Self::MoshRulesUnpredicted => "Mosh's rules, no predictions",
            Self::AssumedReference => "lambda 0",
            Self::QuarterReference => "lambda 1/4",
            Self::HalfReference => "lambda 1/2",
            Self::ThreeQuartersReference => "lambda 3/4",
            Self::KnownReference => "lambda 1",
            Self::AdaptiveReference => "adaptive",
        }
    }

    /// Returns whose wire and pace both ends have.
    pub(crate) const fn ends(self) -> Ends {
        match self {
            Self::Rove | Self::RoveUnpredicted => Ends::Rove,
            _ => Ends::Stock,
        }
    }

    /// Returns the state that diffs start from, where that is all that the system has of its own.
    pub(crate) const fn reference(self) -> Option<ReferencePolicy> {
        match self {
            Self::Rove | Self::RoveUnpredicted | Self::MoshRules | Self::MoshRulesUnpredicted => {
                None
            }
            Self::AssumedReference => Some(ReferencePolicy::Assumed),
            Self::QuarterReference => Some(ReferencePolicy::Mixture { known_percent: 25 }),
            Self::HalfReference => Some(ReferencePolicy::Mixture { known_percent: 50 }),
            Self::ThreeQuartersReference => Some(ReferencePolicy::Mixture { known_percent: 75 }),
            Self::KnownReference => Some(ReferencePolicy::Known),
            Self::AdaptiveReference => Some(ReferencePolicy::Adaptive),
        }
    }

    /// Returns the transport's numbers of one of its ends, given those of rove's.
    pub(crate) fn transport(self, config: Config) -> Config {
        let config = self.ends().transport(config);
        let reference = self.reference().unwrap_or(config.reference);
        Config { reference, ..config }
    }

    /// Returns what its client predicts.
    pub(crate) fn prediction(self) -> Prediction {
        let (preference, engine) = match self {
            Self::Rove => (Preference::Adaptive, EngineKind::Replay),
            Self::MoshRules => (Preference::Adaptive, EngineKind::Stock),
            Self::RoveUnpredicted => (Preference::Never, EngineKind::Replay),
            _ => (Preference::Never, EngineKind::Stock),
        };
        Prediction { preference, overwrite: false, engine, ..Prediction::default() }
    }
}
