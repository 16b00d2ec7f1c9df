//! The one limit on waiting, and tests that wait at once.

use std::fmt::Debug;
use std::sync::mpsc;

use rove_units::Duration;

/// Longest any single wait may take before a run or a test counts as hung.
/// Chosen: far above anything a busy machine needs, so that no outcome and no figure depends on it.
pub const HANG_GUARD: Duration = Duration::from_secs(120);

/// How long to wait before something is looked at again. Chosen: others can use the processor.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

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

/// Looks again and again until something is so.
///
/// # Panics
///
/// Panics with `what` when it never is.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let (_held, never) = mpsc::channel::<()>();
    for _ in 0..HANG_GUARD.as_millis() / LOOK_AGAIN.as_millis() {
        if is_so() {
            return;
        }
        let _ = never.recv_timeout(LOOK_AGAIN);
    }
    panic!("waited {HANG_GUARD:?} for {what}");
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
