//! Fault: the reasons for which a search or an evaluation fails.

use serde::{Deserialize, Serialize};

/// The reason why a search or an evaluation has no result.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, thiserror::Error)]
pub(crate) enum Fault {
    /// An evaluation has panicked.
    #[error(
        "the evaluation of specimen {network} has died ({reason}); nothing but the work in flight is lost"
    )]
    WorkerDied {
        /// The network's number, counted from 1.
        #[serde(rename = "specimen")]
        network: usize,
        /// The message of the panic.
        reason: String,
    },
    /// The workers of the pool no longer answer.
    #[error("the workers answer no more ({reason}); nothing but the work in flight is lost")]
    PoolLost {
        /// The message of the program that distributes the work, or how that program ended.
        reason: String,
    },
    /// A score is not a number.
    #[error(
        "the score of specimen {network} is no number; the objective {objective} has no value for what was \
         received there"
    )]
    NoScore {
        /// The network's number, counted from 1.
        #[serde(rename = "specimen")]
        network: usize,
        /// The objective.
        objective: String,
    },
}
