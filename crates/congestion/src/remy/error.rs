//! The faults of a table of rules, or of its file.

use crate::remy::memory::AXES;

/// A table that cannot be used. Rules count from 1, in the order of the file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TableError {
    /// The file is larger than any table.
    #[error("the file has {len} bytes, and no table has more than {max}; is it a table at all?")]
    TooLarge {
        /// Bytes of the file.
        len: usize,
        /// Most bytes.
        max: usize,
    },
    /// The file is no protobuf message, or its end is missing.
    #[error("the file is cut off or is no .dna file: its bytes do not read as a protobuf message")]
    Malformed,
    /// The file holds a table of another kind.
    #[error(
        "the file holds a table of Poisson rates (a FinTree); only tables of windows can be used"
    )]
    FinTree,
    /// Its tree is too deep.
    #[error("the tree has more than {max} levels; a tree that bisection made has far fewer")]
    TooDeep {
        /// Most levels.
        max: usize,
    },
    /// A node is no node.
    #[error("a node of the tree has {what}; each has either one rule or children")]
    Node {
        /// The children and rules that it has.
        what: &'static str,
    },
    /// The table divides by a signal that is not known.
    #[error("the table divides by signal {number}, which rove does not measure; it knows 0 to 3")]
    UnknownAxis {
        /// The signal's number.
        number: u64,
    },
    /// The table has no rules.
    #[error("the table has no rules; it needs at least one, for all memories")]
    NoRules,
    /// The table has too many rules.
    #[error("the table has more than {max} rules")]
    TooManyRules {
        /// Most rules.
        max: usize,
    },
    /// A box is none.
    #[error("the box of {whose} cannot be: on {axis} it goes from {lower} to {upper}")]
    Box {
        /// The rule, or the table.
        whose: String,
        /// The signal.
        axis: &'static str,
        /// Where the box begins.
        lower: f64,
        /// Where it ends.
        upper: f64,
    },
    /// An action is out of range.
    #[error("the action of rule {rule} cannot be: its {field} is {value}")]
    Action {
        /// The rule.
        rule: usize,
        /// The part of its action.
        field: &'static str,
        /// The part's value.
        value: f64,
    },
    /// Two boxes have a part in common.
    #[error("the boxes of rules {first} and {second} overlap; a memory must have one rule")]
    Overlap {
        /// The number of the rule.
        first: usize,
        /// The other one.
        second: usize,
    },
    /// A part of the domain is in no box.
    #[error(
        "no rule is for memories around {at:?} (send_ewma_ms, ack_ewma_ms, rtt_ratio, slow_ack_ewma_ms)"
    )]
    Gap {
        /// The lower corner of that part.
        at: [f64; AXES],
    },
    /// The boxes are no result of bisections.
    #[error("the boxes are too entangled to look a memory up; those that bisection makes are not")]
    Tangled,
    /// The readable form breaks a rule.
    #[error("the file is no readable table: {sentence}")]
    Readable {
        /// The fault, with its place.
        sentence: String,
    },
}
