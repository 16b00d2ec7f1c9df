//! Credit: how many bytes the peer may send on a stream, and the memory that all streams share.
//!
//! Each stream always has its first credit. Further credit comes from a pool that all streams share. A stream's share
//! grows only if the pool then has at least as much left as the stream holds. So streams that nobody reads never use up
//! the pool, and the credit of other streams can still grow.

use rove_units::{Duration, Instant};

/// The credit that each stream has from the start, in bytes. Source: the wire contract, docs/wire.md.
pub const FIRST_CREDIT: u64 = 16 * 1024;

/// The greatest credit of a stream, in bytes. Chosen: as much as all streams share (`POOL_BYTES_MAX`).
pub const CREDIT_MAX: u64 = 4 * 1024 * 1024;

/// Maximum number of bytes that streams share beyond their first credit, in each direction. Chosen: as much as the
/// first credits of 256 streams, which is the limit of open streams. Both together are 8 MiB in each direction.
const POOL_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Memory that all streams of one direction share, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pool {
    free: u64,
}

impl Pool {
    pub(crate) const fn new() -> Self {
        Self { free: POOL_BYTES_MAX }
    }

    /// Returns how many of `wanted` bytes a stream that holds `held` bytes of the pool may add. After that, the pool
    /// must have at least as much left as the stream holds.
    pub(crate) fn offer(&self, held: u64, wanted: u64) -> u64 {
        wanted.min(self.free.saturating_sub(held) / 2)
    }

    /// Records that a stream's share of the pool has changed from `before` to `after` bytes.
    pub(crate) const fn exchange(&mut self, before: u64, after: u64) {
        self.free = (self.free + before).saturating_sub(after);
        debug_assert!(self.free <= POOL_BYTES_MAX);
    }
}

/// Returns how many of a stream's `bytes` come from the pool: the bytes beyond the first credit.
pub(crate) const fn share(bytes: u64) -> u64 {
    bytes.saturating_sub(FIRST_CREDIT)
}

/// The credit that this end grants to the peer on one stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Credit {
    window: u64,
    limit: u64,
    raised_at: Instant,
}

impl Credit {
    pub(crate) const fn new(now: Instant) -> Self {
        Self { window: FIRST_CREDIT, limit: FIRST_CREDIT, raised_at: now }
    }

    /// Returns the offset below which the peer may send.
    pub(crate) const fn limit(&self) -> u64 {
        self.limit
    }

    /// Raises the limit once the owner has read a quarter of the window; `read` counts all bytes read so far. Returns
    /// whether the limit rose. The window grows if the limit last rose at most a round trip ago.
    pub(crate) fn handle_read(
        &mut self,
        now: Instant,
        read: u64,
        srtt: Duration,
        pool: &mut Pool,
    ) -> bool {
        if self.limit.saturating_sub(read) > self.window - self.window / 4 {
            return false;
        }
        if now.saturating_since(self.raised_at) <= srtt {
            let wanted = self.window.min(CREDIT_MAX.saturating_sub(self.window));
            let held = share(self.window);
            let more = pool.offer(held, wanted);
            self.window += more;
            pool.exchange(held, held + more);
        }
        self.raised_at = now;
        self.limit = read.saturating_add(self.window);
        true
    }

    /// Gives the stream's share back to the pool.
    pub(crate) fn release(&mut self, pool: &mut Pool) {
        pool.exchange(share(self.window), 0);
        self.window = self.window.min(FIRST_CREDIT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SRTT: Duration = Duration::from_millis(100);

    /// Reads a quarter of the window `times` times, each after `pause`. Asserts that each read raises the limit.
    fn read_on(credit: &mut Credit, pool: &mut Pool, pause: Duration, times: u32) -> u64 {
        let mut now = credit.raised_at;
        for _ in 0..times {
            now += pause;
            let read = credit.limit - (credit.window - credit.window / 4);
            assert!(!credit.handle_read(now, read - 1, SRTT, pool));
            assert!(credit.handle_read(now, read, SRTT, pool));
        }
        credit.window
    }

    #[test]
    fn credit_grows_only_for_a_reader_that_needs_it() {
        let (slow, fast) = (Duration::from_millis(101), Duration::from_millis(100));
        let mut pool = Pool::new();
        let mut credit = Credit::new(Instant::ZERO);
        assert_eq!(read_on(&mut credit, &mut pool, slow, 20), FIRST_CREDIT);
        assert_eq!(read_on(&mut credit, &mut pool, fast, 3), 8 * FIRST_CREDIT);
        credit.release(&mut pool);
        assert_eq!(pool.free, POOL_BYTES_MAX);
    }

    #[test]
    fn streams_that_have_grown_leave_room_for_others_to_grow() {
        let mut pool = Pool::new();
        let windows: Vec<u64> = (0..8)
            .map(|_| read_on(&mut Credit::new(Instant::ZERO), &mut pool, Duration::ZERO, 40))
            .collect();
        let kib: Vec<u64> = windows.iter().map(|it| it / 1024).collect();
        assert!(kib.is_sorted_by(|a, b| a >= b) && kib[0] < 2_100 && kib[7] > 16, "{kib:?}");
        assert!(pool.free > 0);
    }
}
