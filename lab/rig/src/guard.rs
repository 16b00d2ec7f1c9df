//! The one limit on waiting, and tests that wait at once.

use std::fmt::Debug;
use std::sync::mpsc;

use rove_units::Duration;

/// Longest any single wait may take before a run or a test counts as hung.
/// Chosen: far above anything a busy machine needs, so that no outcome and no figure depends on it.
pub const HANG_GUARD: Duration = Duration::from_secs(120);

/// Runs `work` in a thread and returns its result.
///
/// # Panics
///
/// Panics with `what` when it hangs.
pub fn within_guard<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = done.send(work());
    });
    match result.recv_timeout(HANG_GUARD) {
        Ok(value) => value,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: nothing for {HANG_GUARD:?}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("{what}: the thread panicked"),
    }
}

/// Runs `test` on all items at once, as most of a test's time is waiting. Each thread has its
/// item's name, which a failure shows.
pub fn side_by_side<T: Debug + Send>(items: impl IntoIterator<Item = T>, test: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        for item in items {
            let test = &test;
            let thread = std::thread::Builder::new().name(format!("{item:?}"));
            thread.spawn_scoped(scope, move || test(item)).expect("the system has threads");
        }
    });
}
