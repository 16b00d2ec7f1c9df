//! Two alarms, so that the one after the next rings without having been programmed.
//!
//! A timer that is set to ring before every other of its processor has to be programmed into that processor, which in a
//! virtual machine leaves the guest: seven microseconds of the twenty that a packet costs. A timer that is set while an
//! earlier one runs waits in the kernel's list; the interrupt of the earlier one programs the processor anyway.

use std::io;
use std::os::fd::BorrowedFd;

use rove_platform::alarm::Alarm;
use rove_platform::clock::Clock;
use rove_units::{Duration, Instant};

/// How much later than wanted an alarm may ring. Chosen: the lead moves by less from one departure to the next, and
/// timers ring a hundred times as late as that.
const LATER: Duration = Duration::from_nanos(500);
/// How much sooner an alarm may ring: the thread spins for that time.
/// Chosen: to set the alarm to another time takes nearly as long.
const SOONER: Duration = Duration::from_micros(10);
/// Longest gap between departures after which another one is foreseen.
/// Chosen: four full packets at 50 Mbit/s. At fewer than a thousand packets a second little would be saved.
const GAP: Duration = Duration::from_millis(1);

/// An alarm for the next departure, and one for the departure after it where departures follow in equal gaps.
#[derive(Debug)]
pub(super) struct Alarms {
    alarms: [Alarm; 2],
    set_to: [Instant; 2],
    rhythm: Rhythm,
}

/// The gaps between departures.
#[derive(Clone, Copy, Debug, Default)]
struct Rhythm {
    last: Instant,
    gap: Duration,
    is_regular: bool,
}

impl Alarms {
    /// Creates alarms that are not set.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal.
    pub(super) fn new() -> io::Result<Self> {
        let alarms = [Alarm::new()?, Alarm::new()?];
        Ok(Self { alarms, set_to: [Instant::ZERO; 2], rhythm: Rhythm::default() })
    }

    /// Has an alarm ring at `next`, or a little sooner. Returns when it rings.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal.
    pub(super) fn set(&mut self, now: Instant, next: Instant, clock: Clock) -> io::Result<Instant> {
        let following = self.rhythm.observe(now, next);
        let (settings, first) = settings(self.set_to, now, next, following);
        for (which, setting) in settings.into_iter().enumerate() {
            if setting != self.set_to[which] {
                self.alarms[which].set(setting, clock)?;
                self.set_to[which] = setting;
            }
        }
        Ok(settings[first])
    }

    /// Returns the descriptors that become readable when an alarm rings.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.alarms.iter().filter_map(Alarm::descriptor)
    }
}

impl Rhythm {
    /// Records the time of the next departure, which may be the same as before. Returns the time of the one after it, if the
    /// last two gaps were alike.
    fn observe(&mut self, now: Instant, next: Instant) -> Option<Instant> {
        // A time far away is not that of a departure in a stream of packets.
        if next.saturating_since(now) > GAP {
            return None;
        }
        if !is_near(self.last, next) {
            let gap = next.saturating_since(self.last);
            self.is_regular = gap <= GAP && gap.abs_diff(self.gap) <= SOONER;
            (self.last, self.gap) = (next, gap);
        }
        self.is_regular.then(|| self.last + self.gap)
    }
}

/// Returns the times that the two alarms are to be set to, given those that they are set to, and which of them is for
/// `next`.
fn settings(
    set_to: [Instant; 2],
    now: Instant,
    next: Instant,
    following: Option<Instant>,
) -> ([Instant; 2], usize) {
    let mut settings = set_to;
    let is_right = |setting: Instant| setting > now && is_near(setting, next);
    // If neither is right, the one that rings last is taken: one that rings before costs a needless wake-up, and to set
    // it to another time costs as much.
    let first = if is_right(set_to[0]) {
        0
    } else if is_right(set_to[1]) || !is_last(set_to[0], set_to[1], now) {
        1
    } else {
        0
    };
    if !is_right(settings[first]) {
        settings[first] = next;
    }
    let other = &mut settings[1 - first];
    if let Some(following) = following.filter(|at| *at > next + SOONER)
        // An alarm that is about to ring needlessly is left alone.
        && (*other <= now || *other > next)
        && !is_near(*other, following)
    {
        *other = following;
    }
    (settings, first)
}

/// Returns whether an alarm is the better one to be set to another time: it has rung, or rings after the other.
fn is_last(one: Instant, other: Instant, now: Instant) -> bool {
    one <= now || (other > now && one >= other)
}

fn is_near(setting: Instant, wanted: Instant) -> bool {
    setting <= wanted + LATER && wanted <= setting + SOONER
}

#[cfg(test)]
mod tests {
    use rove_units::Seed;

    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    /// How often an alarm was set that rings before the other, and how often one rang that was not wanted.
    #[derive(Debug, PartialEq)]
    struct Counts {
        programmed: usize,
        needless: usize,
    }

    /// Plays departures through the alarms, in order of time, each of them becoming known when the one before it departs.
    fn play(departures: impl IntoIterator<Item = Instant>) -> Counts {
        let (mut rhythm, mut set_to, mut now) =
            (Rhythm::default(), [Instant::ZERO; 2], Instant::ZERO);
        let mut counts = Counts { programmed: 0, needless: 0 };
        for next in departures {
            loop {
                let following = rhythm.observe(now, next);
                let (wanted, first) = settings(set_to, now, next, following);
                let ring = wanted[first];
                assert!(ring > now && is_near(ring, next), "{wanted:?} at {now:?}, not {next:?}");
                counts.programmed += usize::from(ring != set_to[first]);
                set_to = wanted;
                now = wanted.into_iter().filter(|at| *at > now).min().expect("one rings");
                if now >= ring {
                    break;
                }
                counts.needless += 1;
            }
            now = next;
        }
        counts
    }

    #[test]
    fn departures_in_equal_gaps_are_foreseen_after_the_first_few() {
        let even = |count: u64| (1..=count).map(|number| at(5_000 + number * 240));
        assert_eq!(play(even(1_000)), Counts { programmed: 4, needless: 0 });
        // A pause costs one alarm that nothing is due at.
        let again = even(1_000).map(|departure| departure + Duration::from_secs(5));
        assert_eq!(play(even(1_000).chain(again)), Counts { programmed: 8, needless: 1 });
        let sparse = (1..=1_000).map(|number| at(number * 1_100));
        assert_eq!(play(sparse), Counts { programmed: 1_000, needless: 0 });
    }

    #[test]
    fn departures_in_uneven_gaps_have_an_alarm_each_and_few_needless_ones() {
        let chance = Seed::new(1).stream("gaps");
        let uneven = (0..1_000).scan(at(0), |now, number| {
            *now += Duration::from_micros(50 + chance.at(number).below(600));
            Some(*now)
        });
        let Counts { programmed, needless } = play(uneven);
        assert!(programmed > 950 && needless < 50, "{programmed}, {needless}");
        // Gaps that differ by microseconds are even enough.
        let wavering = (1..=1_000).map(|number| at(number * 240 + chance.at(number).below(5)));
        let Counts { programmed, needless } = play(wavering);
        assert!(programmed < 700 && needless < 10, "{programmed}, {needless}");
    }

    #[test]
    fn an_alarm_may_ring_a_little_sooner_and_hardly_later() {
        let set_to = [at(100), at(200)];
        for (next, expected) in [
            (at(100) + SOONER, ([at(100), at(200)], 0)),
            (at(100) - LATER, ([at(100), at(200)], 0)),
            (at(200) - LATER, ([at(100), at(200)], 1)),
            // The one that rings last is set to another time; the first one may ring needlessly.
            (at(211), ([at(100), at(211)], 1)),
            (at(99), ([at(100), at(99)], 1)),
        ] {
            assert_eq!(settings(set_to, at(50), next, None), expected, "{next:?}");
        }
    }

    #[test]
    fn an_alarm_that_has_rung_is_taken_first_and_rings_again() {
        let set_to = [at(300), at(200)];
        assert_eq!(settings(set_to, at(250), at(260), None), ([at(300), at(260)], 1));
        // Its time has come already: that it is near does not make it ring again.
        assert_eq!(settings(set_to, at(200), at(200) + LATER, None).0[1], at(200) + LATER);
        // Both have rung.
        let (wanted, first) = settings(set_to, at(900), at(950), Some(at(990)));
        assert_eq!((wanted[first], wanted[1 - first]), (at(950), at(990)));
    }

    #[test]
    fn the_alarm_after_the_next_follows_what_is_foreseen_and_never_comes_before_it() {
        let set_to = [at(100), at(300)];
        assert_eq!(settings(set_to, at(50), at(100), Some(at(250))), ([at(100), at(250)], 0));
        assert_eq!(settings(set_to, at(50), at(100), Some(at(100))), ([at(100), at(300)], 0));
        assert_eq!(settings(set_to, at(50), at(100), None), ([at(100), at(300)], 0));
        // The alarm at 100 will ring needlessly; to set it to another time would cost more.
        assert_eq!(settings(set_to, at(50), at(300), Some(at(400))), ([at(100), at(300)], 1));
    }
}
