//! The errors of a RemyCC table or of its file.

use crate::remy::memory::AXES;

/// An error that makes a table unusable. Rules count from 1, in the order of the file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "each sentence names its fields")]
pub enum TableError {
    /// The file is larger than any table can be.
    #[error("the file has {len} bytes, and no table has more than {max}; is it a table at all?")]
    TooLarge { len: usize, max: usize },
    /// The file is not a protobuf message, or its end is missing.
    #[error("the file is cut off or is no .dna file: its bytes do not read as a protobuf message")]
    Malformed,
    /// The file holds a table of rates (a FinTree), which rove does not use.
    #[error(
        "the file holds a table of Poisson rates (a FinTree); only tables of windows can be used"
    )]
    FinTree,
    /// The tree in the file has too many levels.
    #[error("the tree has more than {max} levels; a tree that bisection made has far fewer")]
    TooDeep { max: usize },
    /// A node of the tree has both a rule and children, or neither.
    #[error("a node of the tree has {what}; each has either one rule or children")]
    Node { what: &'static str },
    /// The table divides by a signal that rove does not measure.
    #[error("the table divides by signal {number}, which rove does not measure; it knows 0 to 3")]
    UnknownAxis { number: u64 },
    /// The table has no rules.
    #[error("the table has no rules; it needs at least one, for all memories")]
    NoRules,
    /// The table has too many rules.
    #[error("the table has more than {max} rules")]
    TooManyRules { max: usize },
    /// A box has a bound that is negative or infinite, or a lower bound above the upper one.
    #[error("the box of {whose} cannot be: on {axis} it goes from {lower} to {upper}")]
    Box { whose: String, axis: &'static str, lower: f64, upper: f64 },
    /// A value in the action of a rule is out of range.
    #[error("the action of rule {rule} cannot be: its {field} is {value}")]
    Action { rule: usize, field: &'static str, value: f64 },
    /// The boxes of two rules overlap.
    #[error("the boxes of rules {first} and {second} overlap; a memory must have one rule")]
    Overlap { first: usize, second: usize },
    /// The rules' boxes leave a part of the table's domain uncovered.
    #[error(
        "no rule is for memories around {at:?} (send_ewma_ms, ack_ewma_ms, rtt_ratio, slow_ack_ewma_ms)"
    )]
    Gap { at: [f64; AXES] },
    /// The tree of comparisons that finds a memory's box would be too large. The tree of bisected boxes never is.
    #[error("the boxes are too entangled to look a memory up; those that bisection makes are not")]
    Tangled,
    /// The readable form of the table is malformed.
    #[error("the file is no readable table: {sentence}")]
    Readable { sentence: String },
}
