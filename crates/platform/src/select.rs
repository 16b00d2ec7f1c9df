//! Waits by select(2) for a descriptor that poll(2) refuses. On macOS, poll refuses `/dev/tty`, as in `rove host
//! </dev/tty` (termbox2#31, frankentui#61).

use std::os::fd::{AsRawFd, BorrowedFd};

use nix::errno::Errno;
use nix::sys::select::{FD_SETSIZE, FdSet, select};
use nix::sys::time::{TimeVal, TimeValLike};
use rustix::event::{PollFlags, Timespec};

/// Longest wait of one call of select, in microseconds. A system may refuse a longer wait. Chosen: a day.
const WAIT_MICROS_MAX: i64 = 86_400_000_000;

/// Waits by select if poll has refused a descriptor (`POLLNVAL`) and so returned at once. `found` holds the events of
/// poll. The events of select replace them, unless a descriptor is closed or its number is too high for select. The end
/// of a stream counts as readable, so a caller that waits only for room to write misses it.
///
/// This function allocates nothing, so that a signal handler may call it.
pub(crate) fn wait_if_refused(
    wanted: &[(BorrowedFd<'_>, PollFlags)],
    timeout: Option<&Timespec>,
    found: &mut [PollFlags],
) {
    debug_assert_eq!(wanted.len(), found.len(), "each descriptor has its events");
    let is_refused = found.iter().any(|events| events.contains(PollFlags::NVAL));
    let fits =
        |fd: &BorrowedFd<'_>| usize::try_from(fd.as_raw_fd()).is_ok_and(|fd| fd < FD_SETSIZE);
    if !is_refused || !wanted.iter().all(|(fd, _)| fits(fd)) {
        return;
    }
    let (mut readable, mut writable) = (FdSet::new(), FdSet::new());
    for &(fd, events) in wanted {
        for (event, set) in [(PollFlags::IN, &mut readable), (PollFlags::OUT, &mut writable)] {
            if events.contains(event) {
                set.insert(fd);
            }
        }
    }
    let mut timeout = timeout.map(|timeout| TimeVal::microseconds(micros(timeout)));
    match select(None, &mut readable, &mut writable, None, &mut timeout) {
        Ok(_) => {
            for (&(fd, _), events) in wanted.iter().zip(found) {
                *events = PollFlags::empty();
                events.set(PollFlags::IN, readable.contains(fd));
                events.set(PollFlags::OUT, writable.contains(fd));
            }
        }
        Err(Errno::EINTR) => found.fill(PollFlags::empty()),
        Err(_) => {}
    }
}

/// Returns a timeout in microseconds, rounded up, so that a wait does not end before its deadline.
fn micros(timeout: &Timespec) -> i64 {
    let whole = timeout.tv_sec.saturating_mul(1_000_000);
    let rest = (timeout.tv_nsec + 999) / 1_000;
    whole.saturating_add(rest).clamp(0, WAIT_MICROS_MAX)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

    #[test]
    fn a_descriptor_that_poll_refuses_is_reported_by_select_for_what_was_asked() {
        let (reader, writer) = std::io::pipe().unwrap();
        let wanted = [(reader.as_fd(), PollFlags::IN), (writer.as_fd(), PollFlags::OUT)];
        let refused = [PollFlags::NVAL, PollFlags::empty()];
        let mut found = refused;
        wait_if_refused(&wanted, None, &mut found);
        assert_eq!(found, [PollFlags::empty(), PollFlags::OUT]);
        rustix::io::write(&writer, b"x").unwrap();
        wait_if_refused(&wanted, None, &mut found);
        assert_eq!(found, [PollFlags::empty(), PollFlags::OUT], "poll has refused nothing");
        found = refused;
        wait_if_refused(&wanted, Some(&NOW), &mut found);
        assert_eq!(found, [PollFlags::IN, PollFlags::OUT]);
    }

    #[test]
    fn the_timeout_ends_the_wait_and_the_end_of_a_stream_is_something_to_read() {
        let (reader, writer) = std::io::pipe().unwrap();
        let wanted = [(reader.as_fd(), PollFlags::IN)];
        let mut found = [PollFlags::NVAL];
        wait_if_refused(&wanted, Some(&Timespec { tv_sec: 0, tv_nsec: 1 }), &mut found);
        assert_eq!(found, [PollFlags::empty()]);
        drop(writer);
        let mut found = [PollFlags::NVAL];
        wait_if_refused(&wanted, None, &mut found);
        assert_eq!(found, [PollFlags::IN]);
    }

    #[test]
    fn a_timeout_is_rounded_up_and_bounded() {
        for (tv_sec, tv_nsec, expected) in
            [(0, 0, 0), (0, 1, 1), (2, 1_000, 2_000_001), (i64::MAX, 0, WAIT_MICROS_MAX)]
        {
            assert_eq!(micros(&Timespec { tv_sec, tv_nsec }), expected);
        }
    }
}
