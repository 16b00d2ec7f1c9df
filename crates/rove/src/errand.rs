//! Runs slow work, such as a name lookup, in a thread while the event loop goes on.

use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;

use rove_platform::event_loop::Interest;

/// Starts the threads for one kind of work. Their number is limited, because a thread that hangs cannot be ended.
#[derive(Debug)]
pub(crate) struct Errands {
    /// Each running thread has a copy.
    running: Arc<()>,
    threads_max: usize,
}

/// Work in a thread, whose result can be taken later.
#[derive(Debug)]
pub(crate) struct Errand<T> {
    /// A socket that becomes readable (the end of its stream) when the work is done.
    done: UnixStream,
    result: Receiver<T>,
}

impl Errands {
    /// Creates the means to run at most `threads_max` threads at a time.
    pub(crate) fn new(threads_max: usize) -> Self {
        Self { running: Arc::new(()), threads_max }
    }

    /// Runs `work` in a new thread with this name.
    ///
    /// # Errors
    ///
    /// Returns an error if the most threads are running, or the system cannot start another.
    pub(crate) fn begin<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Errand<T>> {
        if Arc::strong_count(&self.running) > self.threads_max {
            return Err(ErrorKind::ResourceBusy.into());
        }
        let (done, end) = UnixStream::pair()?;
        let (sender, result) = channel();
        let counted = Arc::clone(&self.running);
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            // Sending fails if the caller has dropped the [`Errand`].
            let _ = sender.send(work());
            drop((sender, end, counted));
        })?;
        Ok(Errand { done, result })
    }
}

impl<T> Errand<T> {
    /// Returns the result, or an error if the thread has panicked. `None` while the thread works.
    pub(crate) fn take(&self) -> Option<io::Result<T>> {
        match self.result.try_recv() {
            Ok(result) => Some(Ok(result)),
            Err(TryRecvError::Disconnected) => Some(Err(ErrorKind::BrokenPipe.into())),
            Err(TryRecvError::Empty) => None,
        }
    }

    /// Returns the descriptor to wait for. When it is ready, call [`Errand::take`].
    pub(crate) fn interest(&self) -> Interest<'_> {
        Interest::new(self.done.as_fd(), true, false)
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, poll};

    use super::*;

    #[test]
    fn threads_that_work_are_bounded_and_an_end_makes_room() {
        let errands = Errands::new(2);
        let busy = [(); 2].map(|()| Arc::clone(&errands.running));
        let error = errands.begin("test", || ()).expect_err("one too many");
        assert_eq!(error.kind(), ErrorKind::ResourceBusy);
        drop(busy);
        let errand = errands.begin("test", || 7).expect("there is room");
        let mut end = [PollFd::new(&errand.done, PollFlags::IN)];
        poll(&mut end, None).expect("the work ends");
        assert!(matches!(errand.take(), Some(Ok(7))));
        assert!(matches!(errand.take(), Some(Err(_))), "it is taken once");
    }
}
