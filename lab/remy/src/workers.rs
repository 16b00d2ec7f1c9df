//! Workers: the processors that do the runs of an evaluation.

use core::fmt;

use rove_runs::parallel;
use rove_runs::ray::Pool;

/// The processors that do the runs. They influence no result.
#[derive(Debug)]
pub(crate) enum Workers {
    /// This many threads of this process.
    Threads(usize),
    /// Other processes, which may be on other computers.
    Pool(Pool),
}

impl Workers {
    /// Returns the number of threads for the runs that this process does itself.
    pub(crate) fn threads(&self) -> usize {
        match self {
            Self::Threads(threads) => *threads,
            Self::Pool(_) => parallel::processors(),
        }
    }
}

impl fmt::Display for Workers {
    /// Writes the number and the kind of the workers, such as `2 threads`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, kind) = match self {
            Self::Threads(threads) => (*threads, "thread"),
            Self::Pool(pool) => (pool.names.len(), "worker"),
        };
        write!(f, "{count} {kind}{}", if count == 1 { "" } else { "s" })?;
        match self {
            Self::Threads(_) => Ok(()),
            Self::Pool(_) => f.write_str(" of Ray"),
        }
    }
}
