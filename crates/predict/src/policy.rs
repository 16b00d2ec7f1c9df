//! Decides whether predictions are visible, by the user's preference and by how slow the path and the host are.

use rove_terminal::Size;
use rove_units::{Duration, Instant};

use crate::engine::Engine;
use crate::mechanism::Mechanisms;

// Source of all numbers here, unless stated otherwise: Mosh 1.4.0 as observed.

/// SRTT above which predictions are visible. Chosen: the lowest SRTT at which predictions slow no key. No more shown
/// keys are wrong than with Mosh's 60 ms.
const SHOWN_ABOVE_SRTT: Duration = Duration::from_millis(30);
/// SRTT at or below which predictions are hidden again, if none is pending.
const HIDDEN_AT_SRTT: Duration = Duration::from_millis(20);
const _: () = assert!(HIDDEN_AT_SRTT.as_millis() < SHOWN_ABOVE_SRTT.as_millis());
/// Send interval above which predictions are underlined: an SRTT above 160 ms.
const UNDERLINED_ABOVE: Duration = Duration::from_millis(80);
/// Send interval at or below which underlining ends.
const PLAIN_AT: Duration = Duration::from_millis(50);
/// Age of a pending prediction at which a *glitch* begins. In a glitch, predictions are shown as on a slow path.
const GLITCH: Duration = Duration::from_millis(250);
/// Number of quick confirmations that end a glitch. Confirmations of predictions younger than [`GLITCH`] are quick.
const GLITCH_CONFIRMATIONS: u32 = 10;
/// Age of a pending prediction at which the glitch becomes a long one, in which predictions are also underlined.
const LONG_GLITCH: Duration = Duration::from_secs(5);
/// Number of quick confirmations that end a long glitch. After the first half of them, underlining ends.
const LONG_GLITCH_CONFIRMATIONS: u32 = 20;
/// Shortest time between two quick confirmations that are both counted.
const CONFIRMATION_PACE: Duration = Duration::from_millis(150);

/// Smallest share of correct predictions at which a kind of prediction is shown, for the preference `Adaptive`.
/// [`ALWAYS_FROM`] is the share for `Always`. Source: docs/prediction.md.
const ADAPTIVE_FROM: f32 = 0.985;
const ALWAYS_FROM: f32 = 0.90;

const _: () = assert!(GLITCH_CONFIRMATIONS < LONG_GLITCH_CONFIRMATIONS);

/// When the user wants to see predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// Predictions are shown while the path is slow and the engine is confident of them.
    #[default]
    Adaptive,
    /// Predictions are shown whenever the engine is confident of them.
    Always,
    /// No predictions are made.
    Never,
    /// Predictions are shown at once, whether or not the engine is confident of them.
    Experimental,
}

impl Preference {
    /// All preferences, the default first.
    pub const ALL: [Self; 4] = [Self::Adaptive, Self::Always, Self::Never, Self::Experimental];

    /// Returns the preference called `name`. `None` for an unknown name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preference| preference.name() == name)
    }

    /// Returns the preference's name in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::Always => "always",
            Self::Never => "never",
            Self::Experimental => "experimental",
        }
    }
}

/// Creates an engine for these settings, for a blank screen of this size.
pub type MakeEngine = fn(Prediction, Size) -> Box<dyn Engine>;

/// The settings of an engine, from the user or from an experiment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prediction {
    /// Creates the laboratory's engine. `None` for rove's own engine.
    pub engine: Option<MakeEngine>,
    /// When predictions are shown.
    pub preference: Preference,
    /// Whether a typed character replaces the character under the cursor instead of shifting it to the right.
    pub overwrite: bool,
    /// The enabled mechanisms of the replay engine. rove enables all, and the laboratory may disable some.
    pub mechanisms: Mechanisms,
}

/// Decides whether predictions are shown and underlined.
#[derive(Clone, Debug)]
pub struct Policy {
    preference: Preference,
    /// Whether the path counts as slow, so that `Adaptive` shows predictions.
    is_slow: bool,
    /// Whether visible predictions are underlined.
    underlines: bool,
    /// How many more quick confirmations are needed to end the glitch. 0 without a glitch.
    glitch: u32,
    /// When a quick confirmation was last counted. `None` before the first.
    counted_at: Option<Instant>,
}

impl Policy {
    /// Creates a policy that does not assume a slow path.
    pub const fn new(preference: Preference) -> Self {
        Self { preference, is_slow: false, underlines: false, glitch: 0, counted_at: None }
    }

    /// Returns whether predictions are shown even if the engine is not confident of them.
    pub fn is_experimental(&self) -> bool {
        self.preference == Preference::Experimental
    }

    /// Returns the share of correct predictions, from 0 to 1, that a kind of prediction needs to be shown.
    pub(crate) fn threshold(&self) -> f32 {
        match self.preference {
            Preference::Adaptive | Preference::Never => ADAPTIVE_FROM,
            Preference::Always | Preference::Experimental => ALWAYS_FROM,
        }
    }

    /// Updates by `srtt` whether the path is slow. An unknown SRTT means slow. A slow path stays slow while a
    /// prediction is pending (`is_active`). Updates by the send `interval` whether predictions are underlined.
    pub fn handle_srtt(&mut self, srtt: Option<Duration>, interval: Duration, is_active: bool) {
        if srtt.is_none_or(|srtt| srtt > SHOWN_ABOVE_SRTT) {
            self.is_slow = true;
        } else if srtt.is_some_and(|srtt| srtt <= HIDDEN_AT_SRTT) && !is_active {
            self.is_slow = false;
        }
        self.underline_from(interval);
    }

    fn underline_from(&mut self, interval: Duration) {
        if interval > UNDERLINED_ABOVE {
            self.underlines = true;
        } else if interval <= PLAIN_AT {
            self.underlines = false;
        }
        self.underlines |= self.glitch > GLITCH_CONFIRMATIONS;
    }

    /// Records that a prediction of this age was confirmed. Enough quick confirmations end a glitch.
    pub fn handle_confirmation(&mut self, now: Instant, age: Duration) {
        let may_count =
            self.counted_at.is_none_or(|at| now.saturating_since(at) >= CONFIRMATION_PACE);
        if age < GLITCH && self.glitch > 0 && may_count {
            self.glitch -= 1;
            self.counted_at = Some(now);
        }
    }

    /// Records the age of the oldest pending prediction.
    pub fn handle_wait(&mut self, age: Duration) {
        if age >= LONG_GLITCH {
            self.glitch = LONG_GLITCH_CONFIRMATIONS;
        } else if age >= GLITCH {
            self.glitch = self.glitch.max(GLITCH_CONFIRMATIONS);
        }
        debug_assert!(self.glitch <= LONG_GLITCH_CONFIRMATIONS, "a glitch is over some day");
    }

    /// Returns whether predictions are shown. `age` is the age of the oldest pending prediction.
    pub fn shows_after(&self, age: Duration) -> bool {
        match self.preference {
            Preference::Adaptive => self.is_slow || self.glitch > 0 || age >= GLITCH,
            Preference::Always | Preference::Experimental => true,
            Preference::Never => false,
        }
    }

    /// Returns whether visible predictions are underlined.
    pub const fn underlines(&self) -> bool {
        self.underlines
    }

    /// Returns when a pending prediction made at `made` next begins a glitch or a long glitch. `None` after both.
    pub fn next_glitch(made: Instant, now: Instant) -> Option<Instant> {
        [made + GLITCH, made + LONG_GLITCH].into_iter().find(|at| *at > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn adaptive() -> Policy {
        Policy::new(Preference::Adaptive)
    }

    #[test]
    fn every_preference_has_its_name() {
        for preference in Preference::ALL {
            assert_eq!(Preference::from_name(preference.name()), Some(preference));
        }
        assert_eq!(Preference::from_name("Always"), None);
    }

    #[test]
    fn a_slow_path_shows_and_a_fast_one_hides_once_nothing_is_outstanding() {
        let mut policy = adaptive();
        for (interval, is_active, shows) in [
            (30, true, false),
            (31, true, true),
            (21, false, true),
            (20, true, true),
            (20, false, false),
            (30, false, false),
        ] {
            policy.handle_srtt(Some(ms(interval)), ms(interval), is_active);
            assert_eq!(policy.shows_after(Duration::ZERO), shows, "{interval} ms, {is_active}");
        }
    }

    #[test]
    fn a_very_slow_path_underlines() {
        let mut policy = adaptive();
        for (interval, underlines) in [(80, false), (81, true), (51, true), (50, false)] {
            policy.handle_srtt(None, ms(interval), true);
            assert_eq!(policy.underlines(), underlines, "{interval} ms");
        }
    }

    #[test]
    fn a_glitch_shows_and_a_long_one_underlines() {
        for (age, shows, underlines) in
            [(249, false, false), (250, true, false), (4999, true, false), (5000, true, true)]
        {
            let mut policy = adaptive();
            policy.handle_wait(ms(age));
            policy.handle_srtt(Some(ms(20)), ms(20), true);
            assert_eq!(
                (policy.shows_after(Duration::ZERO), policy.underlines()),
                (shows, underlines),
                "{age} ms"
            );
        }
    }

    #[test]
    fn a_prediction_that_waits_is_looked_at_when_it_becomes_a_glitch() {
        let made = Instant::from_millis(1000);
        for (now, next) in
            [(1000, Some(1250)), (1249, Some(1250)), (1250, Some(6000)), (6000, None)]
        {
            let next = next.map(Instant::from_millis);
            assert_eq!(Policy::next_glitch(made, Instant::from_millis(now)), next, "{now}");
        }
    }

    #[test]
    fn ten_quick_confirmations_end_a_glitch() {
        let mut policy = adaptive();
        policy.handle_wait(ms(250));
        let mut now = Instant::from_millis(1000);
        // Slow confirmations do not count. A confirmation within 150 ms of the last counted one does not count either.
        policy.handle_confirmation(now, ms(250));
        for count in 1..=10 {
            assert!(policy.shows_after(Duration::ZERO), "{count}");
            policy.handle_confirmation(now, ms(249));
            policy.handle_confirmation(now + ms(149), ms(249));
            now += ms(150);
        }
        assert!(!policy.shows_after(Duration::ZERO));
    }

    #[test]
    fn a_short_glitch_does_not_shorten_a_long_one() {
        let mut policy = adaptive();
        policy.handle_wait(ms(5000));
        policy.handle_wait(ms(300));
        assert_eq!(policy.glitch, LONG_GLITCH_CONFIRMATIONS);
    }

    #[test]
    fn a_preference_overrules_the_path() {
        for (preference, shows) in [
            (Preference::Adaptive, false),
            (Preference::Always, true),
            (Preference::Experimental, true),
            (Preference::Never, false),
        ] {
            assert_eq!(
                Policy::new(preference).shows_after(Duration::ZERO),
                shows,
                "{preference:?}"
            );
        }
    }
}
