//! The one limit on all waiting in real time, and tests that run side by side because they wait.

use std::fmt::Debug;
use std::sync::mpsc;

use rove_units::Duration;

/// Longest any single wait may take before a run or a test counts as hung.
/// Chosen: far above anything a busy machine needs, so that no outcome and no figure depends on it.
pub const HANG_GUARD: Duration = Duration::from_secs(120);

/// How long a wait sleeps until it looks again. Chosen: others can use the processor.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Runs `work` in a thread and returns its result.
///
/// # Panics
///
/// Panics with `what` if `work` takes longer than [`HANG_GUARD`], or panics.
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

/// Looks again and again until `is_so` returns true.
///
/// # Panics
///
/// Panics with `what` if it is not so within [`HANG_GUARD`].
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

/// Runs `test` on all items at once, each in a thread, as most of a test's time is waiting. The thread's name shows the
/// item when a test fails.
pub fn side_by_side<T: Debug + Send>(items: impl IntoIterator<Item = T>, test: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        for item in items {
            let test = &test;
            let thread = std::thread::Builder::new().name(format!("{item:?}"));
            thread.spawn_scoped(scope, move || test(item)).expect("the system has threads");
        }
    });
}
