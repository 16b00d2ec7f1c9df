//! The limit of all waits in real time. Also runs tests side by side, because they mostly wait.

use std::fmt::Debug;
use std::sync::mpsc;

use rove_units::Duration;

/// Longest wait before a run or a test counts as hung. Chosen: far longer than a busy machine needs, so that no result
/// depends on it.
pub const HANG_GUARD: Duration = Duration::from_secs(120);

/// Time between two checks of a wait. Chosen: long enough to leave the processor to others.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Runs `work` in a thread and returns its result.
///
/// # Panics
///
/// Panics with `what` if `work` takes longer than [`HANG_GUARD`] or panics.
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

/// Calls `is_so` repeatedly until it returns true.
///
/// # Panics
///
/// Panics with `what` if `is_so` returns false for [`HANG_GUARD`].
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

/// Runs `test` on all items in parallel, each in a thread, because a test mostly waits. If a test fails, the thread's
/// name shows its item.
pub fn side_by_side<T: Debug + Send>(items: impl IntoIterator<Item = T>, test: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        for item in items {
            let test = &test;
            let thread = std::thread::Builder::new().name(format!("{item:?}"));
            thread.spawn_scoped(scope, move || test(item)).expect("the system has threads");
        }
    });
}
