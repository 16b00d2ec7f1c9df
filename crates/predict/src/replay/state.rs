//! The state of the prediction engine. It holds the pending keys, whose effect no screen shows. The base is the screen
//! on which they are simulated. The state also has the learned models.

use rove_terminal::{Key, Screen, Size, Tty};
use rove_units::{Duration, Instant};

use crate::mechanism::Mechanism;
use crate::network::Network;
use crate::policy::{Policy, Prediction};
use crate::replay::base::Base;
use crate::replay::class::Class;
use crate::replay::echo_off::EchoOffDetector;
use crate::replay::echo_timeout::EchoTimeout;
use crate::replay::field::Reader;
use crate::replay::history;
use crate::replay::history_cursor::Past;
use crate::replay::learned::Learned;
use crate::replay::log::{Event, Log};
use crate::replay::lost_keys::LostKeys;
use crate::replay::match_result::MatchResult;
use crate::replay::motion::Guide;
use crate::replay::navigation::Navigation;
use crate::replay::pending_keys::PendingKeys;
use crate::replay::simulate::Habits;
use crate::replay::trust::Trust;
use crate::secrecy::Secrecy;

/// How long predictions may stay visible after a screen that the keys do not explain. Chosen: longer than a program
/// takes to draw a screen in several pieces.
pub(super) const UNEXPLAINED_TIMEOUT: Duration = Duration::from_millis(100);

/// Shortest time from a key's echo ack after which the key's prediction may be dropped, however fast the host is.
/// Chosen: some keys take a shell longer than others, and a wrong verdict costs more than a late one.
const MISS_TIMEOUT_MIN: Duration = Duration::from_millis(80);

/// [`MISS_TIMEOUT_MIN`] for a prediction that the user sees in a line whose keys were confirmed. Its echo may come some
/// frames after the echo ack. Text that is dropped and then echoed flickers. Chosen: less than 1 s, after which no
/// wrong prediction may be left. A path with a round trip of 300 ms repeats two lost frames in this time.
/// See docs/prediction.md ("Shown keys that are late").
const SEEN_TIMEOUT_MIN: Duration = Duration::from_millis(900);

/// The state of the engine. The methods of this type only read it.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) policy: Policy,
    pub(super) settings: Prediction,
    pub(super) log: Log,
    pub(super) lost_keys: LostKeys,
    pub(super) network: Network,
    /// The modes of the host's terminal. `None` if unknown.
    pub(super) tty: Option<Tty>,
    pub(super) base: Base,
    pub(super) learned: Learned,
    pub(super) echo_off: EchoOffDetector,
    pub(super) secrecy: Secrecy,
    /// When a screen arrived that the keys do not explain. `None` if the keys explain the newest screen.
    pub(super) unexplained_at: Option<Instant>,
}

impl State {
    pub(super) fn new(prediction: Prediction, size: Size) -> Self {
        Self {
            policy: Policy::new(prediction.preference),
            settings: prediction,
            log: Log::default(),
            lost_keys: LostKeys::default(),
            network: Network::UNHEARD,
            tty: None,
            base: Base::new(size),
            learned: Learned::default(),
            echo_off: EchoOffDetector::default(),
            secrecy: Secrecy::default(),
            unexplained_at: None,
        }
    }

    pub(super) const fn has(&self, mechanism: Mechanism) -> bool {
        self.settings.mechanisms.contains(mechanism)
    }

    pub(super) fn hides_input(&self) -> bool {
        self.tty.is_some_and(Tty::hides_input)
    }

    pub(super) fn arrived(&self) -> impl ExactSizeIterator<Item = &Event> {
        self.log.iter().take(self.log.arrived(self.network.arrived))
    }

    /// Determines how many pending keys `screen` shows. Even if the program reads commands, characters count as text if
    /// the screen shows them as text.
    pub(super) fn match_screen(&self, screen: &Screen) -> MatchResult {
        let (pending, latency) = (self.pending_keys(), &self.learned.latency);
        let as_text = pending.with(Habits { takes_commands: false, ..pending.habits });
        let result = MatchResult::of(&as_text, latency, screen);
        let count = result.shown.as_ref().map_or(0, |shown| shown.count);
        if !pending.habits.takes_commands || count > 0 && pending.writes(count, screen) {
            result
        } else {
            MatchResult::of(&pending, latency, screen)
        }
    }

    pub(super) fn pending_keys(&self) -> PendingKeys<'_> {
        PendingKeys {
            base: &self.base,
            log: &self.log,
            arrived: self.network.arrived,
            habits: self.habits(),
            guide: self.navigation().map(|it| it as &dyn Guide),
        }
    }

    /// Returns the known motions in the cursor's pane. `None` if none are known, or keys cannot move the cursor there.
    pub(super) fn navigation(&self) -> Option<&Navigation> {
        self.learned.navigations.find(&self.base.field.place).filter(|_| self.base.may_navigate())
    }

    pub(super) fn trust(&self) -> Trust<'_> {
        Trust {
            base: &self.base,
            contexts: &self.learned.contexts,
            threshold: self.policy.threshold(),
            hides_input: self.hides_input(),
            is_echo_off: self.echo_off.is_off(),
            begins: self.base.field.prompt_name().is_some_and(|it| self.secrecy.begins(it)),
        }
    }

    pub(super) const fn reader(&self) -> Reader<'_> {
        Reader { tty: self.tty, wraps: &self.learned.wraps, mechanisms: self.settings.mechanisms }
    }

    pub(super) fn habits(&self) -> Habits<'_> {
        let (trust, wrap) = (self.trust(), self.base.field.wrap);
        let mostly = |class| trust.score(class).right > trust.score(class).wrong;
        Habits {
            mechanisms: self.settings.mechanisms,
            tty: self.tty,
            overwrites: self.settings.overwrite,
            takes_commands: trust.takes_commands(),
            goes_on: wrap.is_some(),
            is_lazy: wrap.is_some_and(|wrap| wrap.is_lazy),
            scrolls: wrap.is_some(),
            keeps_hint: mostly(Class::Hint),
            regrows: mostly(Class::Regrowth),
            flashes: mostly(Class::Flash),
            lines: self.lines(),
        }
    }

    /// Returns the identity of the current line editor. `None` if its lines are not remembered.
    pub(super) fn editor(&self) -> Option<history::Name> {
        let may_keep = self.has(Mechanism::History) && !self.hides_input();
        self.learned.history.name(&self.base).filter(|_| may_keep)
    }

    /// Returns the lines that the current editor can recall, the newest last. Empty if none are known.
    fn lines(&self) -> &[Past] {
        self.editor().map_or(&[], |name| self.learned.history.lines(name))
    }

    /// Returns how long after a key's echo ack its answer may still arrive. Each kind of prompt has a learned time.
    pub(super) fn echo_timeout(&self) -> Duration {
        let timeout = self.learned.echo_timeouts.find(self.base.field.context);
        if self.has(Mechanism::Lateness) {
            timeout.duration()
        } else {
            EchoTimeout::default().duration()
        }
    }

    /// Returns when the oldest key's prediction is dropped. `None` without a key, or before its echo ack. A key that
    /// the user sees in a confirmed line may be overdue before that.
    pub(super) fn taken_back_at(&self) -> Option<Instant> {
        let event = self.log.front()?;
        let is_seen = event.shown && Class::of(event.key).follows_text();
        let field = &self.base.field;
        let may_stay = is_seen && field.certainty.is_confirmed() && !field.prompt.is_secret;
        let stay = if may_stay { SEEN_TIMEOUT_MIN } else { Duration::ZERO };
        Some(event.due_at? + self.miss_timeout().max(stay))
    }

    /// Returns how long after its echo ack the oldest key becomes overdue if no screen has shown its effect. The echo
    /// of a visible character may have missed the frame with that ack. It then comes with the next frame.
    pub(super) fn miss_timeout(&self) -> Duration {
        let is_seen = |event: &Event| event.shown && matches!(event.key, Key::Text(_));
        let may_come =
            self.base.field.certainty.is_confirmed() && self.log.front().is_some_and(is_seen);
        let next_frame = if may_come { self.network.send_interval } else { Duration::ZERO };
        self.echo_timeout().max(MISS_TIMEOUT_MIN).max(next_frame)
    }

    /// Returns when the next timeout ends, so that the caller must make a frame. `None` without a timeout after `now`.
    pub(super) fn next_look(&self, now: Instant) -> Option<Instant> {
        let due_at = self.log.front().and_then(|event| event.due_at);
        let late = due_at.map(|at| at + self.echo_timeout());
        let overdue = due_at.map(|at| at + self.miss_timeout());
        let unexplained = self.unexplained_at.map(|at| at + UNEXPLAINED_TIMEOUT);
        let glitch = self.log.front().and_then(|event| Policy::next_glitch(event.at, now));
        [late, overdue, self.taken_back_at(), unexplained, glitch]
            .into_iter()
            .flatten()
            .filter(|at| *at > now)
            .min()
    }
}
