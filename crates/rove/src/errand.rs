//! Work that may take long, done in a thread of its own while a loop goes on.

use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;

use rove_platform::event_loop::Interest;
use rove_streams::CONNECTS_MAX;

/// The threads of one kind of work. All are counted, because a thread that does not come back cannot be ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Errands(Arc<()>);

/// Work in a thread, whose result has not been taken.
#[derive(Debug)]
pub(crate) struct Errand<T> {
    /// It has an end to read after the work.
    done: UnixStream,
    result: Receiver<T>,
}

impl Errands {
    /// Begins work. `name` is that of the thread.
    ///
    /// # Errors
    ///
    /// Returns that as many threads work as connections may be made at a time, or that the system has none.
    pub(crate) fn begin<T: Send + 'static>(
        &self,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Errand<T>> {
        if Arc::strong_count(&self.0) > CONNECTS_MAX {
            return Err(ErrorKind::ResourceBusy.into());
        }
        let (done, end) = UnixStream::pair()?;
        let (sender, result) = channel();
        let counted = self.clone();
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            // Nobody may wait for it any more.
            let _ = sender.send(work());
            drop((sender, end, counted));
        })?;
        Ok(Errand { done, result })
    }
}

impl<T> Errand<T> {
    /// Returns the result once there is one, or that the thread has failed. `None` while it works.
    pub(crate) fn take(&self) -> Option<io::Result<T>> {
        match self.result.try_recv() {
            Ok(result) => Some(Ok(result)),
            Err(TryRecvError::Disconnected) => Some(Err(ErrorKind::BrokenPipe.into())),
            Err(TryRecvError::Empty) => None,
        }
    }

    /// Returns the descriptor whose news call for [`Errand::take`].
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
        let errands = Errands::default();
        let busy: Vec<Errands> = (0..CONNECTS_MAX).map(|_| errands.clone()).collect();
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
