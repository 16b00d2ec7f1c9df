//! Independent work on all processors, with its results in order.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use rove_terminal::escaped;

/// The processors that runs are spread over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Engine {
    /// Processors of this computer
    #[default]
    Local,
    /// Processors of a Ray cluster (RAY_ADDRESS), or of this computer through Ray
    Ray,
}

/// Does `work` on each item, on all processors. The results are in the order of the items. After each item `progress`
/// gets the number of items done.
pub fn map<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    progress: impl Fn(usize) + Sync,
) -> Vec<R> {
    map_on(processors(), items, work, progress)
}

/// Does as [`map`] does, but with work that may fail. After a failure no further item is begun.
///
/// # Errors
///
/// Returns the error of the first item that failed.
pub fn try_map<T: Sync, R: Send, E: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, E> + Sync,
    progress: impl Fn(usize) + Sync,
) -> Result<Vec<R>, E> {
    let has_failed = AtomicBool::new(false);
    let goes_on = || !has_failed.load(Ordering::Relaxed);
    let until_failure = |item: &T| {
        let result = goes_on().then(|| work(item))?;
        has_failed.fetch_or(result.is_err(), Ordering::Relaxed);
        Some(result)
    };
    let told = |done| {
        if goes_on() {
            progress(done);
        }
    };
    map(items, until_failure, told).into_iter().flatten().collect()
}

/// Returns how many processors this program may use.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does as [`map`] does, but on this many threads.
pub fn map_on<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    progress: impl Fn(usize) + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let workers = threads.max(1).min(items.len());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(number) else { return };
                    let result = work(item);
                    let mut done = done.lock().expect("no worker panics while it holds this");
                    done.push((number, result));
                    progress(done.len());
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no worker panics while it holds this");
    debug_assert_eq!(done.len(), items.len(), "each item has its result");
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Shows a person how many of all runs are done. The line disappears when the last run is done.
pub fn tell_progress(of: &str, done: usize, all: usize) {
    tell_progress_in("runs", of, done, all);
}

/// Does as [`tell_progress`] does, for parts of work that are not runs.
pub fn tell_progress_in(parts: &str, of: &str, done: usize, all: usize) {
    if io::stderr().is_terminal() {
        let end = if done == all { "\r\x1b[K" } else { "" };
        let _ = write!(io::stderr(), "\r{}{done} of {all} {parts}{end}", escaped(of));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items_and_each_is_told_of() {
        let items: Vec<u64> = (0..1_000).collect();
        let told = Mutex::new(Vec::new());
        let squares =
            map(&items, |item| item * item, |done| told.lock().expect("whole").push(done));
        assert!(squares.iter().zip(&items).all(|(square, item)| *square == item * item));
        assert_eq!(told.into_inner().expect("whole"), (1..=1_000).collect::<Vec<_>>());
        assert!(map(&[(); 0], |()| (), |_| ()).is_empty());
    }

    #[test]
    fn nothing_is_begun_after_a_failure() {
        let (items, begun): (Vec<usize>, _) = ((0..10_000).collect(), AtomicUsize::new(0));
        let work = |item: &usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            if *item == 3 {
                return Err("the disk is full");
            }
            // Without this wait, the other workers could do all items while the failing worker stands still.
            if *item > 3 {
                thread::park_timeout(Duration::from_millis(1));
            }
            Ok(*item)
        };
        let told = |done| assert!(done < items.len(), "not all are done");
        assert_eq!(try_map(&items, work, told), Err("the disk is full"));
        assert!(begun.into_inner() < items.len(), "the others are left");
        assert_eq!(try_map(&items, |item| Ok::<_, ()>(*item), |_| ()), Ok(items));
    }
}
