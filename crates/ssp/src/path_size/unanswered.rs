//! Contents (diffs) in large datagrams that were not acknowledged in time: the sign of a black hole (RFC 8899, section
//! 4.3).

use std::collections::VecDeque;

use rove_units::Instant;

use super::{Cut, beyond_chance};
use crate::num::StateNum;
use crate::send_timing::SendTiming;

/// Fewest unanswered sends of contents before their size is to blame: a single acknowledgment may be late.
const TRIES_MIN: usize = 2;

/// Most unanswered sends of contents before their size is to blame. Chosen: at 29 % loss contents of four datagrams
/// stay unanswered that often less than once in a thousand times, even if no fragment of one try counts for the next.
const TRIES_MAX: usize = 32;

/// Unacknowledged contents that were sent within the time of one answer, which a single acknowledgment covers.
#[derive(Clone, Copy, Debug)]
struct Try {
    /// The number of the state that was sent first.
    num: StateNum,
    at: Instant,
    /// The largest number of datagrams that any of the contents needed.
    datagrams: usize,
    /// The smallest of the sizes of their largest datagrams, in bytes.
    largest_min: usize,
}

/// The newest sends of contents that are not acknowledged.
#[derive(Clone, Debug, Default)]
pub(super) struct Unanswered {
    tries: VecDeque<Try>,
}

impl Unanswered {
    /// Called when contents are sent, for the first time or again.
    pub(super) fn push(&mut self, now: Instant, num: StateNum, cut: Cut, timing: &SendTiming) {
        let newest = self.tries.back_mut().filter(|newest| now < newest.at + timing.in_flight());
        if let Some(newest) = newest {
            newest.datagrams = newest.datagrams.max(cut.datagrams);
            newest.largest_min = newest.largest_min.min(cut.largest);
            return;
        }
        if self.tries.len() == TRIES_MAX {
            self.tries.pop_front();
        }
        let Cut { datagrams, largest, .. } = cut;
        self.tries.push_back(Try { num, at: now, datagrams, largest_min: largest });
    }

    /// Forgets the sends that acknowledging `known` answers; returns whether there were any.
    pub(super) fn handle_ack(&mut self, known: StateNum) -> bool {
        let before = self.tries.len();
        self.tries.retain(|it| it.num > known);
        self.tries.len() < before
    }

    pub(super) fn clear(&mut self) {
        self.tries.clear();
    }

    /// Returns `None` unless more sends are unanswered than chance explains. Returns the smallest of the sizes of their
    /// largest datagrams, in bytes.
    pub(super) fn overdue(&self, now: Instant, timing: &SendTiming) -> Option<usize> {
        let overdue = || self.tries.iter().filter(|it| it.at + timing.in_flight() <= now);
        let datagrams = overdue().map(|it| it.datagrams).max()?;
        let is_beyond_chance = overdue().count() >= tries_max(timing.path.loss_out, datagrams);
        overdue().map(|it| it.largest_min).min().filter(|_| is_beyond_chance)
    }
}

/// Returns how many unanswered sends chance does not explain. Each has `datagrams` datagrams and one acknowledgment,
/// all lost with the probability `loss`.
fn tries_max(loss: f64, datagrams: usize) -> usize {
    let datagrams = i32::try_from(datagrams).unwrap_or(i32::MAX).saturating_add(1);
    let wanted = beyond_chance(1.0 - (1.0 - loss).powi(datagrams));
    let tries = (TRIES_MIN..TRIES_MAX).zip(2_u8..);
    let enough = tries.into_iter().find(|(_, tries)| f64::from(*tries) >= wanted);
    enough.map_or(TRIES_MAX, |(tries, _)| tries)
}
