//! The systems that experiments compare, and the clock that each of them runs by.

use clap::ValueEnum;
use rove_flows::flow::contender::Contender;
use rove_flows::flow::sprout_form::SproutForm;
use rove_replay::replay::Ends;
use rove_session::{MakeEngine, Prediction, Preference};
use rove_ssp::{Config, ReferencePolicy};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::experiment::system_file::SystemFile;

/// The clock of a scenario.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Clock {
    /// Simulated time: the same seed gives the same figure.
    #[default]
    Virtual,
    /// The computer's clock: real programs over an emulated link, as `rove-lab compare` runs them.
    Real,
}

/// A remote shell, or a congestion controller. Programs of other projects and kernels run in real time only. All other
/// systems are rove's own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum System {
    /// rove at both ends, as it ships.
    Rove,
    /// rove at both ends, without predictions.
    RoveUnpredicted,
    /// rove's code with the wire format, the timing and the predictions of Mosh 1.4.0.
    MoshRules,
    /// The rules of Mosh 1.4.0 without predictions.
    MoshRulesUnpredicted,
    /// Mosh's rules without predictions, all diffs from the assumed receiver state: lambda 0 of a study of references.
    AssumedReference,
    /// Mosh's rules without predictions, a quarter of the diffs from the known receiver state: lambda 1/4.
    QuarterReference,
    /// Mosh's rules without predictions, half of the diffs from the known receiver state: lambda 1/2.
    HalfReference,
    /// Mosh's rules without predictions, three quarters of the diffs from the known receiver state: lambda 3/4.
    ThreeQuartersReference,
    /// Mosh's rules without predictions, all diffs from the known receiver state: lambda 1.
    KnownReference,
    /// Mosh's rules without predictions, with diffs from the state that rove chooses.
    AdaptiveReference,
    /// Mosh's rules without predictions. Diffs start from the state of most worth, by how likely the receiver holds it.
    BayesianReference,
    /// The programs of OpenSSH.
    Ssh,
    /// The programs of OpenSSH, where the server's TCP has the kernel's CUBIC.
    SshCubic,
    /// The programs of OpenSSH, where the server's TCP has the kernel's NewReno.
    SshReno,
    /// The programs of OpenSSH, where the server's TCP has the kernel's BBR.
    SshBbr,
    /// The programs of Mosh 1.4.0.
    Mosh,
    /// The programs of Mosh 1.4.0 without predictions.
    MoshUnpredicted,
    /// A RemyCC that the laboratory trained for two senders.
    RemyTwoSenders,
    /// A RemyCC that the laboratory trained for 1 to 16 senders.
    RemySixteenSenders,
    /// A RemyCC that the laboratory trained for a copy beside the keys of a session.
    RemyBulk,
    /// The published RemyCC for delta 0.1.
    RemyDeltaTenth,
    /// The published RemyCC for delta 1.
    RemyDeltaOne,
    /// The published RemyCC for delta 10.
    RemyDeltaTen,
    /// The published RemyCC for links of a hundredfold range of rates.
    RemyHundredfold,
    /// CUBIC of this computer's kernel.
    KernelCubic,
    /// NewReno of this computer's kernel.
    KernelReno,
    /// BBR of this computer's kernel.
    KernelBbr,
    /// rove at both ends, with an echo acknowledgment that does not wait for the echo.
    RoveWithoutWait,
    /// Mosh's rules, with an echo acknowledgment that does not wait for the echo.
    MoshRulesWithoutWait,
    /// A congestion controller that a file holds.
    #[value(skip)]
    File(SystemFile),
    /// A congestion controller.
    #[value(skip)]
    Flow(Contender),
}

impl<'de> Deserialize<'de> for System {
    /// Reads the name of a system or of a file. Only a file's has a dot or a slash.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        if word.contains(['.', '/']) {
            return Ok(Self::File(SystemFile::new(word)));
        }
        let system = <Self as ValueEnum>::from_str(&word, false);
        let known = system.or_else(|_| Contender::from_str(&word, false).map(Self::Flow));
        let sprout = || SproutForm::try_from(word.clone()).map(Contender::Sprout);
        let known = known.or_else(|_| sprout().map(Self::Flow));
        known.map_err(|_| {
            let names = Self::value_variants().iter().filter_map(Self::to_possible_value);
            let others =
                Contender::value_variants().iter().filter_map(Contender::to_possible_value);
            let names: Vec<String> =
                names.chain(others).map(|value| format!("`{}`", value.get_name())).collect();
            let names = names.join(", ");
            D::Error::custom(format!(
                "unknown system `{word}`, expected the file of a table or program, or one of `sprout` with options, {names}"
            ))
        })
    }
}

impl System {
    /// Returns the system's name in figures.
    pub(crate) fn name(self) -> &'static str {
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
            Self::BayesianReference => "bayesian",
            Self::Ssh => "ssh",
            Self::SshCubic => "ssh over CUBIC",
            Self::SshReno => "ssh over NewReno",
            Self::SshBbr => "ssh over BBR",
            Self::Mosh => "stock Mosh",
            Self::MoshUnpredicted => "stock Mosh, no predictions",
            Self::RemyTwoSenders => "RemyCC of ours, 2 senders",
            Self::RemySixteenSenders => "RemyCC of ours, 1-16 senders",
            Self::RemyBulk => "RemyCC of ours, bulk",
            Self::RemyDeltaTenth => "RemyCC, delta 0.1",
            Self::RemyDeltaOne => "RemyCC, delta 1",
            Self::RemyDeltaTen => "RemyCC, delta 10",
            Self::RemyHundredfold => "RemyCC, 100x",
            Self::KernelCubic => "the kernel's CUBIC",
            Self::KernelReno => "the kernel's NewReno",
            Self::KernelBbr => "the kernel's BBR",
            Self::RoveWithoutWait => "rove without the wait",
            Self::MoshRulesWithoutWait => "Mosh's rules without the wait",
            Self::File(file) => file.name(),
            Self::Flow(contender) => contender.name(),
        }
    }

    /// Returns whether the system is a controller of flows, and no remote shell.
    pub(crate) const fn is_controller(self) -> bool {
        self.is_kernels()
            || matches!(
                self,
                Self::Flow(_)
                    | Self::File(_)
                    | Self::RemyTwoSenders
                    | Self::RemySixteenSenders
                    | Self::RemyBulk
                    | Self::RemyDeltaTenth
                    | Self::RemyDeltaOne
                    | Self::RemyDeltaTen
                    | Self::RemyHundredfold
            )
    }

    /// Returns whether the system is a congestion control of this computer's kernel.
    pub(crate) const fn is_kernels(self) -> bool {
        matches!(self, Self::KernelCubic | Self::KernelReno | Self::KernelBbr)
    }

    /// Returns whether the system needs a congestion control that this computer's kernel may lack.
    pub(crate) const fn needs_control(self) -> bool {
        self.is_kernels() || matches!(self, Self::SshCubic | Self::SshReno | Self::SshBbr)
    }

    /// Returns whether the system can run by this clock.
    pub(crate) const fn runs_by(self, clock: Clock) -> bool {
        let is_stock =
            matches!(self, Self::Ssh | Self::Mosh | Self::MoshUnpredicted) || self.needs_control();
        match (self, clock) {
            (Self::Rove | Self::RoveUnpredicted | Self::File(_), _) => true,
            (_, Clock::Virtual) => !is_stock,
            (_, Clock::Real) => is_stock,
        }
    }

    /// Returns the [`Contender`] of [`Self::Flow`]. `None` for other systems.
    pub(crate) const fn contender(self) -> Option<Contender> {
        match self {
            Self::Flow(contender) => Some(contender),
            _ => None,
        }
    }

    /// Returns whether both ends have rove's wire and timing or Mosh's, in virtual time.
    pub(crate) const fn ends(self) -> Ends {
        match self {
            Self::Rove | Self::RoveUnpredicted | Self::RoveWithoutWait => Ends::Rove,
            _ => Ends::Stock,
        }
    }

    /// Returns when the system's client shows predictions. The client of ssh never does.
    pub(crate) const fn preference(self) -> Preference {
        match self {
            Self::Rove | Self::MoshRules | Self::Mosh => Preference::Adaptive,
            _ if !self.awaits_echo() => Preference::Adaptive,
            _ => Preference::Never,
        }
    }

    /// Returns whether the system's echo acknowledgments wait for the echo.
    pub(crate) const fn awaits_echo(self) -> bool {
        !matches!(self, Self::RoveWithoutWait | Self::MoshRulesWithoutWait)
    }

    /// Returns the rule for the state that diffs start from, if only this rule differs from Mosh's.
    pub(crate) const fn reference(self) -> Option<ReferencePolicy> {
        match self {
            Self::AssumedReference => Some(ReferencePolicy::Assumed),
            Self::QuarterReference => Some(ReferencePolicy::Mixture { known_percent: 25 }),
            Self::HalfReference => Some(ReferencePolicy::Mixture { known_percent: 50 }),
            Self::ThreeQuartersReference => Some(ReferencePolicy::Mixture { known_percent: 75 }),
            Self::KnownReference => Some(ReferencePolicy::Known),
            Self::AdaptiveReference => Some(ReferencePolicy::Adaptive),
            Self::BayesianReference => Some(ReferencePolicy::Bayesian),
            _ => None,
        }
    }

    /// Returns the transport's configuration for one end of the system, given rove's own.
    pub(crate) fn transport(self, config: Config) -> Config {
        let config = self.ends().transport(config);
        let reference = self.reference().unwrap_or(config.reference);
        Config { reference, ..config }
    }

    /// Returns the prediction engine of the system's client, and when it shows predictions, in virtual time.
    pub(crate) fn prediction(self) -> Prediction {
        let engine: Option<MakeEngine> = match self {
            Self::Rove | Self::RoveUnpredicted | Self::RoveWithoutWait => None,
            _ => Some(rove_stock_predict::engine),
        };
        Prediction { preference: self.preference(), engine, ..Prediction::default() }
    }
}
