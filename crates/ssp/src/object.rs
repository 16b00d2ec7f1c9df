//! The object that the protocol synchronises.

use rove_units::Bytes;

use crate::config::RECEIVED_BYTES_MAX;
use crate::hello::Capabilities;

/// A diff that cannot be applied: malformed, over a limit, or against the object's rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the diff cannot be applied: {reason}")]
pub struct ApplyError {
    /// The fault of the diff, without its contents.
    pub reason: String,
}

/// Result of [`Object::apply_part`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Whether all of the diff has been applied.
    pub is_whole: bool,
    /// The work that this part took, in units of the object's own.
    pub effort: u64,
}

/// A state that one end owns and the other end keeps a copy of.
///
/// The laws, each a property in the implementor's tests: `apply(diff_from(base), base) == self`, and the diff of equal states
/// is empty. Clones are taken once per frame and kept in lists, so they should share structure.
pub trait Object: Clone {
    /// Bytes of the largest diff to send in one instruction, unless the object cannot be divided ([`Object::midpoint`]). An
    /// instruction of many fragments is a burst, and the more fragments it has the more tries it needs on a lossy path. The
    /// default leaves a quarter of the 4 MiB that a receiver inflates to the other fields.
    const DIFF_MAX: usize = 3 * 1024 * 1024;

    /// Returns the bytes that turn `base` into `self`; empty when there is nothing to say.
    ///
    /// `peer` holds what the receiver has shown to understand beyond the stock protocol.
    fn diff_from(&self, base: &Self, peer: Capabilities) -> Vec<u8>;

    /// Returns whether the diff from `base` is longer than [`Object::DIFF_MAX`] beyond doubt, for an
    /// object that can tell without making it.
    fn is_far_from(&self, base: &Self) -> bool {
        let _ = base;
        false
    }

    /// Applies a diff that was made from a state equal to `self`.
    ///
    /// # Errors
    ///
    /// Returns [`ApplyError`] for a diff that breaks a rule; `self` is then discarded by the caller.
    fn apply(&mut self, diff: &[u8]) -> Result<(), ApplyError>;

    /// Applies the next part of a diff: about as much as this `effort` allows. The object itself remembers how far
    /// it has come. The caller goes on with the same diff until the part was the last.
    ///
    /// The default is for objects whose diffs are all little work: it applies the whole diff.
    ///
    /// # Errors
    ///
    /// As [`Object::apply`].
    fn apply_part(&mut self, diff: &[u8], effort: u64) -> Result<Part, ApplyError> {
        let _ = effort;
        self.apply(diff).map(|()| Part { is_whole: true, effort: 0 })
    }

    /// Checks the law on one diff, made from `base` for this peer, as a verbose program does.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with it.
    fn check(&self, base: &Self, diff: &[u8], peer: Capabilities) -> Result<(), ApplyError> {
        let _ = peer;
        let mut followed = base.clone();
        followed.apply(diff)?;
        let reason = || ApplyError { reason: "it leads to another state".to_owned() };
        followed.same_as(self).then_some(()).ok_or_else(reason)
    }

    /// Returns whether the two states have the same contents.
    fn same_as(&self, other: &Self) -> bool;

    /// Returns whether nobody waits for the difference between the two states: what a person sees of them is the same.
    fn shows_same(&self, other: &Self) -> bool {
        self.same_as(other)
    }

    /// Returns whether this peer has use for the difference between the two states soon, and not only when something else
    /// is sent: where it shows, or where the peer goes by it in what it shows.
    fn is_urgent_to(&self, peer: Capabilities, before: &Self) -> bool {
        let _ = peer;
        !self.shows_same(before)
    }

    /// Returns whether `self` may become the newest state after `newest`.
    ///
    /// A user stream answers no when it does not begin with what was already delivered.
    fn follows(&self, newest: &Self) -> bool {
        let _ = newest;
        true
    }

    /// Forgets contents that both ends are known to hold: everything up to the end of `known`.
    ///
    /// Must not change what `diff_from` and `same_as` say between states that still are in use. A
    /// hostile peer can make `known` hold more than `self`; that must not panic.
    fn drop_prefix(&mut self, known: &Self) {
        let _ = known;
    }

    /// Returns the memory this copy needs beyond what it shares with `neighbour`, the entry before it
    /// in a state list (`None`: all of it). An estimate that never runs low; it feeds the byte limits.
    fn bytes_beyond(&self, neighbour: Option<&Self>) -> Bytes;

    /// Returns the memory that a list of received states like this one may need before new ones are refused.
    fn received_bytes_max(&self) -> Bytes {
        RECEIVED_BYTES_MAX
    }

    /// Returns a state about half way from `base` to `self`, for when the diff is larger than
    /// [`Object::DIFF_MAX`]; `None` when the object cannot be divided further.
    ///
    /// It is sent as a state of its own: `self` must follow it, and it must follow `base`.
    fn midpoint(&self, base: &Self) -> Option<Self> {
        let _ = base;
        None
    }
}
