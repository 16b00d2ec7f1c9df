//! Chooses the state from which the next diff starts.
//!
//! A receiver can apply a diff only if it holds the state from which the diff starts. It certainly holds the known
//! receiver state. The assumed state is newer, so the diff from it is shorter. But a receiver that an earlier datagram
//! did not reach cannot apply it.

use rove_units::Stream;

use crate::config::ReferencePolicy;

/// A diff from the known state may be preferred if it is longer than the diff from the assumed state by less than this,
/// in bytes. Source: Mosh 1.4.0 as observed, docs/wire.md.
const PROSPECTIVE_EXTRA_MAX: usize = 100;

/// Bytes below which a longer diff from the known state may be preferred. Source: Mosh 1.4.0 as observed, docs/wire.md.
pub(super) const PROSPECTIVE_LEN_MAX: usize = 1000;

/// Chooses between the known and the assumed receiver state. It counts its choices, because
/// [`ReferencePolicy::Mixture`] draws a random number for each choice.
#[derive(Clone, Debug)]
pub(super) struct ReferenceChooser {
    rng: Stream,
    choices: u64,
}

impl ReferenceChooser {
    /// Creates a chooser that draws its random numbers from `rng`.
    pub(super) const fn new(rng: Stream) -> Self {
        Self { rng, choices: 0 }
    }

    /// Chooses by `policy`, given the diff from the known state. Returns the diff that `from_assumed` makes if the
    /// assumed state is chosen, or else `None`. `contents_max` is the number of diff bytes that fit into a datagram.
    pub(super) fn choose(
        &mut self,
        policy: ReferencePolicy,
        from_known: &[u8],
        from_assumed: impl FnOnce() -> Vec<u8>,
        contents_max: usize,
    ) -> Option<Vec<u8>> {
        self.choices += 1;
        let prefers_known: fn(usize, usize, usize) -> bool = match policy {
            // For the policy `Bayesian`, the module `delivery_estimate` chooses.
            ReferencePolicy::Known | ReferencePolicy::Bayesian => return None,
            ReferencePolicy::Mixture { known_percent } => {
                let drawn = self.rng.at(self.choices).below(100);
                return (drawn >= u64::from(known_percent)).then(from_assumed);
            }
            ReferencePolicy::Assumed => return Some(from_assumed()),
            ReferencePolicy::Prospective => costs_little_more,
            ReferencePolicy::Adaptive => needs_no_more_datagrams,
        };
        // If the diff from the known state is empty, no other diff is shorter.
        let from_assumed = (!from_known.is_empty()).then(from_assumed);
        from_assumed.filter(|it| !prefers_known(from_known.len(), it.len(), contents_max))
    }
}

/// Returns whether a diff from the known state needs hardly more bytes than one from the assumed state.
fn costs_little_more(known: usize, assumed: usize, _: usize) -> bool {
    let is_short = known < PROSPECTIVE_LEN_MAX && known < assumed + PROSPECTIVE_EXTRA_MAX;
    known <= assumed || is_short
}

/// Returns whether a diff from the known state needs no more datagrams than one from the assumed state.
///
/// If so, the diff from the known state is more likely to be of use to the peer, at any loss rate. The lengths are
/// measured before compression, so the result may be wrong for the compressed diffs.
fn needs_no_more_datagrams(known: usize, assumed: usize, contents_max: usize) -> bool {
    known <= assumed || known.div_ceil(contents_max) <= assumed.div_ceil(contents_max)
}

#[cfg(test)]
mod tests {
    use rove_units::Seed;

    use super::*;

    const CONTENTS_MAX: usize = 1_000;

    fn chooser() -> ReferenceChooser {
        ReferenceChooser::new(Seed::new(1).stream("lots"))
    }

    /// Returns whether the known state is chosen, given the lengths of the two diffs.
    fn chooses_known(policy: ReferencePolicy, known: usize, assumed: usize) -> bool {
        let chosen = chooser().choose(policy, &vec![0; known], || vec![1; assumed], CONTENTS_MAX);
        assert!(chosen.as_ref().is_none_or(|diff| *diff == vec![1; assumed]));
        chosen.is_none()
    }

    #[test]
    fn each_policy_chooses_by_the_lengths_of_the_two_diffs() {
        use ReferencePolicy::{Adaptive, Assumed, Known, Prospective};
        for (known, assumed, by_known, by_assumed, by_prospective, by_adaptive) in [
            (50, 50, true, false, true, true),
            (149, 50, true, false, true, true),
            (150, 50, true, false, false, true),
            (999, 900, true, false, true, true),
            (1_000, 999, true, false, false, true),
            (1_001, 1_000, true, false, false, false),
            (5_000, 5_000, true, false, true, true),
            (5_000, 4_001, true, false, false, true),
            (5_000, 4_000, true, false, false, false),
            (0, 10, true, false, true, true),
        ] {
            let lens = format!("{known} and {assumed} bytes");
            assert_eq!(chooses_known(Known, known, assumed), by_known, "{lens}");
            assert_eq!(chooses_known(Assumed, known, assumed), by_assumed, "{lens}");
            assert_eq!(chooses_known(Prospective, known, assumed), by_prospective, "{lens}");
            assert_eq!(chooses_known(Adaptive, known, assumed), by_adaptive, "{lens}");
        }
    }

    #[test]
    fn a_mixture_takes_the_known_state_as_often_as_it_says() {
        for (known_percent, share) in [(0, 0..=0), (25, 2_300..=2_700), (100, 10_000..=10_000)] {
            let policy = ReferencePolicy::Mixture { known_percent };
            let mut chooser = chooser();
            let mut choose = || chooser.choose(policy, &[0], || vec![1; 1], CONTENTS_MAX);
            let known = (0..10_000).filter(|_| choose().is_none()).count();
            assert!(share.contains(&known), "{known} of 10000 at {known_percent} %");
        }
    }

    #[test]
    fn the_diff_from_the_assumed_state_is_made_only_where_it_matters() {
        let never = || panic!("no need for it");
        for (policy, diff) in [
            (ReferencePolicy::Known, vec![0; 9_000]),
            (ReferencePolicy::Mixture { known_percent: 100 }, vec![0; 9_000]),
            (ReferencePolicy::Prospective, Vec::new()),
            (ReferencePolicy::Adaptive, Vec::new()),
        ] {
            chooser().choose(policy, &diff, never, CONTENTS_MAX);
        }
    }
}
