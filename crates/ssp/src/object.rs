//! What the protocol synchronises.

use rove_units::Bytes;

use crate::hello::Capabilities;

/// A diff that cannot be applied: malformed, over a limit, or against the object's rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the diff cannot be applied: {reason}")]
pub struct ApplyError {
    /// What is wrong with it, without its contents.
    pub reason: String,
}

/// A state that one end owns and the other end keeps a copy of.
///
/// The laws, each a property in the implementor's tests:
/// `apply(diff_from(base), base) == self`, and the diff of equal states is empty.
/// Clones are taken once per frame and kept in lists, so they should share structure.
pub trait Object: Clone {
    /// Bytes of the largest diff to send in one instruction, unless the object cannot be divided
    /// ([`Object::midpoint`]). An instruction of many fragments is a burst, and the more fragments
    /// it has the more tries it needs on a lossy path.
    /// The default leaves a quarter of the 4 MiB that a receiver inflates to the other fields.
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

    /// Returns whether `self` may become the newest state after `newest`.
    ///
    /// A user stream answers no when it does not begin with what was already delivered.
    fn follows(&self, newest: &Self) -> bool {
        let _ = newest;
        true
    }

    /// Forgets contents that both ends are known to hold: everything up to the end of
    /// `known`.
    ///
    /// Must not change what `diff_from` and `same_as` say between states that still are in use. A
    /// hostile peer can make `known` hold more than `self`; that must not panic.
    fn drop_prefix(&mut self, known: &Self) {
        let _ = known;
    }

    /// Returns the memory this copy needs beyond what it shares with `neighbour`, the entry before it
    /// in a state list (`None`: all of it). An estimate that never runs low; it feeds the byte limits.
    fn bytes_beyond(&self, neighbour: Option<&Self>) -> Bytes;

    /// Returns a state about half way from `base` to `self`, for when the diff is larger than
    /// [`Object::DIFF_MAX`]; `None` when the object cannot be divided further.
    ///
    /// It is sent as a state of its own: `self` must follow it, and it must follow `base`.
    fn midpoint(&self, base: &Self) -> Option<Self> {
        let _ = base;
        None
    }
}
