//! The systems that experiments in virtual time compare.

use rove_session::{EngineKind, Prediction, Preference};
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
}

impl System {
    /// Returns its name in figures.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Rove => "rove",
            Self::RoveUnpredicted => "rove, no predictions",
            Self::MoshRules => "Mosh's rules",
            Self::MoshRulesUnpredicted => "Mosh's rules, no predictions",
        }
    }

    /// Returns whose wire and pace both ends have.
    pub(crate) const fn ends(self) -> Ends {
        match self {
            Self::Rove | Self::RoveUnpredicted => Ends::Rove,
            Self::MoshRules | Self::MoshRulesUnpredicted => Ends::Stock,
        }
    }

    /// Returns what its client predicts.
    pub(crate) fn prediction(self) -> Prediction {
        let (preference, engine) = match self {
            Self::Rove => (Preference::Adaptive, EngineKind::Replay),
            Self::MoshRules => (Preference::Adaptive, EngineKind::Stock),
            Self::RoveUnpredicted => (Preference::Never, EngineKind::Replay),
            Self::MoshRulesUnpredicted => (Preference::Never, EngineKind::Stock),
        };
        Prediction { preference, overwrite: false, engine, ..Prediction::default() }
    }
}
