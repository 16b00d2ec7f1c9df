//! The clock that measures processor time.

use rove_units::Duration;
use rustix::time::{ClockId, clock_gettime};

/// The processor time of this thread: on a busy computer work takes longer, but costs the same.
const CLOCK: ClockId = ClockId::ThreadCPUTime;

/// Adds up the processor time that pieces of work cost.
#[derive(Debug, Default)]
pub(crate) struct Stopwatch {
    total: Duration,
}

impl Stopwatch {
    /// Does `work`, and adds its processor time.
    pub(crate) fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = read();
        let result = work();
        self.total += read().saturating_sub(start);
        result
    }

    /// Returns the processor time of everything timed so far.
    pub(crate) const fn total(&self) -> Duration {
        self.total
    }
}

/// Reads the processor time of this thread since it began.
pub(crate) fn read() -> Duration {
    Duration::try_from(clock_gettime(CLOCK)).expect("processor time is not negative")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_timed_work_counts_and_it_adds_up() {
        let mut watch = Stopwatch::default();
        assert_eq!(watch.total(), Duration::ZERO);
        let work = || std::hint::black_box((0..100_000_u64).map(std::hint::black_box).sum::<u64>());
        assert_eq!(watch.time(work), 4_999_950_000);
        let once = watch.total();
        work();
        assert_eq!(watch.total(), once);
        watch.time(work);
        assert!(once > Duration::ZERO && watch.total() > once);
    }
}
