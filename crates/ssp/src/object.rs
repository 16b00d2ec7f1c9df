//! The object that the protocol synchronises.

use rove_units::Bytes;

use crate::config::RECEIVED_BYTES_MAX;
use crate::hello::Capabilities;

/// A diff that cannot be applied: malformed, over a limit, or against the object's rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the diff cannot be applied: {reason}")]
pub struct ApplyError {
    /// A description of the fault that contains nothing of the diff's contents.
    pub reason: String,
}

/// The result of [`Object::apply_part`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Whether all of the diff has been applied.
    pub is_whole: bool,
    /// The work of applying this part, in units that the object defines.
    pub effort: u64,
}

/// A state that one end changes and of which the other end keeps a copy.
///
/// Each implementor's tests check two laws: `apply(diff_from(base), base) == self`, and the diff of equal states is
/// empty. The sender clones the object for each frame and keeps the clones in lists, so clones should share structure.
pub trait Object: Clone {
    /// Longest diff to send in one instruction, in bytes, unless the object cannot be divided ([`Object::midpoint`]).
    /// On a lossy path, an instruction with more fragments needs more tries. A receiver inflates at most 4 MiB. The
    /// default leaves a quarter of that to the instruction's other fields.
    const DIFF_MAX: usize = 3 * 1024 * 1024;

    /// Returns the bytes that turn `base` into `self`; empty if there is no difference.
    ///
    /// `peer` is the set of extensions that the receiver understands.
    fn diff_from(&self, base: &Self, peer: Capabilities) -> Vec<u8>;

    /// Returns whether the diff from `base` is certainly longer than [`Object::DIFF_MAX`]. An object returns true only
    /// if it can tell without making the diff.
    fn is_far_from(&self, base: &Self) -> bool {
        let _ = base;
        false
    }

    /// Applies a diff that was made from a state equal to `self`.
    ///
    /// # Errors
    ///
    /// Returns [`ApplyError`] for a diff that breaks a rule. The caller then discards `self`.
    fn apply(&mut self, diff: &[u8]) -> Result<(), ApplyError>;

    /// Applies the next part of a diff, with about as much work as `effort` allows. The object itself remembers how far
    /// it has come. The caller repeats the call with the same diff until [`Part::is_whole`] is true.
    ///
    /// The default applies the whole diff at once. It suits an object for which every diff is little work.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Object::apply`].
    fn apply_part(&mut self, diff: &[u8], effort: u64) -> Result<Part, ApplyError> {
        let _ = effort;
        self.apply(diff).map(|()| Part { is_whole: true, effort: 0 })
    }

    /// Checks that `diff`, made for a receiver with the extensions `peer`, turns `base` into `self`. The sender calls
    /// this if [`Config::self_check`](crate::Config::self_check) is set.
    ///
    /// # Errors
    ///
    /// Returns [`ApplyError`] if the diff cannot be applied, or leads to another state.
    fn check(&self, base: &Self, diff: &[u8], peer: Capabilities) -> Result<(), ApplyError> {
        let _ = peer;
        let mut followed = base.clone();
        followed.apply(diff)?;
        let reason = || ApplyError { reason: "it leads to another state".to_owned() };
        followed.same_as(self).then_some(()).ok_or_else(reason)
    }

    /// Returns whether the two states have the same contents.
    fn same_as(&self, other: &Self) -> bool;

    /// Returns whether a person sees no difference between the two states, so no user waits for the newer state.
    fn shows_same(&self, other: &Self) -> bool {
        self.same_as(other)
    }

    /// Returns whether the difference from `before` is worth a separate instruction for this peer: a person sees it, or
    /// the peer's display depends on it. Otherwise the change travels with the next instruction.
    fn is_urgent_to(&self, peer: Capabilities, before: &Self) -> bool {
        let _ = peer;
        !self.shows_same(before)
    }

    /// Returns whether a receiver may accept `self` as its newest state, after `newest`.
    ///
    /// For example, a user stream must begin with the events that the receiver has already delivered.
    fn follows(&self, newest: &Self) -> bool {
        let _ = newest;
        true
    }

    /// Forgets contents that both ends are known to hold: everything up to the end of `known`.
    ///
    /// The call must not change the results of `diff_from` and `same_as` between states that are still in use. A
    /// hostile peer can make `known` hold more than `self`, and the call must not panic then.
    fn drop_prefix(&mut self, known: &Self) {
        let _ = known;
    }

    /// Returns the memory that this copy needs beyond what it shares with `neighbour`, the entry before it in a state
    /// list (`None`: all of its memory). The limits of lists use this estimate, which must never be too low.
    fn bytes_beyond(&self, neighbour: Option<&Self>) -> Bytes;

    /// Returns how much memory a receiver's list of states may need before the receiver refuses new ones.
    fn received_bytes_max(&self) -> Bytes {
        RECEIVED_BYTES_MAX
    }

    /// Returns a state about half way from `base` to `self`, for a diff that is longer than [`Object::DIFF_MAX`].
    /// `None` if the object cannot be divided further.
    ///
    /// The result becomes a sent state, so `result.follows(base)` and `self.follows(result)` must be true.
    fn midpoint(&self, base: &Self) -> Option<Self> {
        let _ = base;
        None
    }
}
