//! Copies bytes between the socket of a program that asks and the socket of the agent that answers.

use std::os::fd::{AsFd, OwnedFd};

use rove_platform::event_loop::Interest;
use rustix::io::{Errno, read, write};
use rustix::net::{Shutdown, shutdown};

use super::filter::{Fault, Filter, Use};

/// Most bytes read from a socket at a time. Chosen: the usual request and answer are far shorter.
const CHUNK: usize = 4096;

/// While this many bytes wait to be written to one socket, the other socket is not read. Chosen: one chunk.
const WAITING_MAX: usize = CHUNK;

/// Two sockets between which bytes are copied. Both close when this value is dropped.
#[derive(Debug)]
pub(crate) struct Joint {
    /// The socket of the program that asks.
    asker: End,
    /// The socket of the agent.
    agent: End,
    /// The filter of requests. `None` passes everything.
    filter: Option<Filter>,
    /// Whether the direction to the agent was shut down, because the asker sends nothing more.
    is_told: bool,
}

/// Either of the two sockets, in non-blocking mode.
#[derive(Debug)]
struct End {
    socket: OwnedFd,
    /// Bytes that wait to be written to the socket.
    waiting: Vec<u8>,
    /// Whether a read has returned the end of the stream.
    has_ended: bool,
}

/// Why the copying between two sockets has ended.
#[derive(Debug, thiserror::Error)]
enum Over {
    #[error("it has ended")]
    Ended,
    #[error(transparent)]
    Broken(#[from] Errno),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl Joint {
    /// Joins two connected sockets in non-blocking mode.
    pub(crate) const fn new(asker: OwnedFd, agent: OwnedFd, filter: Option<Filter>) -> Self {
        Self { asker: End::new(asker), agent: End::new(agent), filter, is_told: false }
    }

    /// Copies bytes in both directions without blocking. Returns `false` once the connection is over.
    pub(crate) fn turn(&mut self) -> bool {
        match self.pass() {
            Ok(()) => true,
            Err(over) => {
                tracing::debug!(%over, "a connection to the agent is over");
                false
            }
        }
    }

    /// Returns a new use of a key, to report it or to ask the user. `None` without one, and without a filter.
    pub(crate) fn poll_use(&mut self) -> Option<Use> {
        self.filter.as_mut()?.poll_use()
    }

    /// Passes or refuses the request for a signature that waits for the user's decision. Does nothing if none waits.
    pub(crate) fn decide(&mut self, is_allowed: bool) {
        let Self { asker, agent, filter, .. } = self;
        if let Some(filter) = filter {
            filter.decide(is_allowed, &mut agent.waiting, &mut asker.waiting);
        }
    }

    /// Returns the descriptors to wait for.
    pub(crate) fn interests(&self) -> impl Iterator<Item = Interest<'_>> {
        let asker = self.asker.interest(self.takes_requests());
        asker.into_iter().chain(self.agent.interest(self.takes_answers()))
    }

    fn takes_requests(&self) -> bool {
        // The filter's refusals wait for the asker as the agent's answers do, so the same limit applies to both.
        let takes = |filter: &Filter| filter.takes_requests() && self.takes_answers();
        self.agent.waiting.len() < WAITING_MAX && self.filter.as_ref().is_none_or(takes)
    }

    const fn takes_answers(&self) -> bool {
        self.asker.waiting.len() < WAITING_MAX
    }

    fn pass(&mut self) -> Result<(), Over> {
        self.read()?;
        self.agent.write()?;
        self.asker.write()?;
        let is_cut = self.asker.has_ended && self.filter.as_ref().is_some_and(Filter::is_cut);
        if is_cut || self.agent.has_ended && self.asker.waiting.is_empty() {
            return Err(Over::Ended);
        }
        if self.asker.has_ended && self.agent.waiting.is_empty() && !self.is_told {
            self.is_told = true;
            shutdown(&self.agent.socket, Shutdown::Write)?;
        }
        Ok(())
    }

    /// Reads from each socket, unless [`WAITING_MAX`] bytes wait for the other socket, or the filter takes no request.
    fn read(&mut self) -> Result<(), Over> {
        let mut buffer = [0; CHUNK];
        if self.takes_requests() {
            let Self { asker, agent, filter, .. } = self;
            let bytes = asker.read(&mut buffer)?;
            match filter {
                Some(it) => it.handle_request(bytes, &mut agent.waiting, &mut asker.waiting)?,
                None => agent.waiting.extend(bytes),
            }
        }
        if self.takes_answers() {
            let Self { asker, agent, filter, .. } = self;
            let bytes = agent.read(&mut buffer)?;
            match filter {
                Some(it) => it.handle_answer(bytes, &mut agent.waiting, &mut asker.waiting)?,
                None => asker.waiting.extend(bytes),
            }
        }
        Ok(())
    }
}

impl End {
    const fn new(socket: OwnedFd) -> Self {
        Self { socket, waiting: Vec::new(), has_ended: false }
    }

    fn interest(&self, is_read: bool) -> Option<Interest<'_>> {
        let (reads, writes) = (is_read && !self.has_ended, !self.waiting.is_empty());
        (reads || writes).then(|| Interest::new(self.socket.as_fd(), reads, writes))
    }

    fn read<'a>(&mut self, buffer: &'a mut [u8]) -> Result<&'a [u8], Over> {
        if self.has_ended {
            return Ok(&[]);
        }
        match read(&self.socket, &mut *buffer) {
            Ok(count) => {
                self.has_ended = count == 0;
                Ok(&buffer[..count])
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(&[]),
            Err(error) => Err(Over::Broken(error)),
        }
    }

    fn write(&mut self) -> Result<(), Over> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        match write(&self.socket, &self.waiting) {
            Ok(count) => drop(self.waiting.drain(..count)),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(Over::Broken(error)),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    use super::*;

    fn pair() -> (UnixStream, OwnedFd) {
        let (here, there) = UnixStream::pair().unwrap();
        there.set_nonblocking(true).unwrap();
        (here, there.into())
    }

    #[test]
    fn bytes_pass_both_ways_and_the_askers_end_lets_the_answer_through() {
        let ((mut asker, near), (mut agent, far)) = (pair(), pair());
        let mut joint = Joint::new(near, far, None);
        asker.write_all(b"question").unwrap();
        asker.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(joint.turn() && joint.turn());
        let mut asked = String::new();
        agent.read_to_string(&mut asked).unwrap();
        agent.write_all(b"answer").unwrap();
        assert!(joint.turn());
        // Dropping the agent's end may not close it, because a child that another test forks may hold it, too.
        agent.shutdown(std::net::Shutdown::Both).unwrap();
        assert!(!joint.turn());
        drop(joint);
        let mut answered = String::new();
        asker.read_to_string(&mut answered).unwrap();
        assert_eq!((&*asked, &*answered), ("question", "answer"));
    }

    #[test]
    fn an_asker_that_leaves_while_the_user_is_asked_takes_its_question_along() {
        let ((mut asker, near), (_agent, far)) = (pair(), pair());
        let mut joint = Joint::new(near, far, Some(Filter::new(true, true)));
        asker.write_all(&[0, 0, 0, 13, 13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        assert!(joint.turn() && joint.poll_use().is_some() && joint.turn());
        assert_eq!(joint.interests().count(), 2, "its end is waited for");
        // Dropping the asker's end may not close it, because a child that another test forks may hold it, too.
        asker.shutdown(std::net::Shutdown::Both).unwrap();
        assert!(!joint.turn());
    }

    #[test]
    fn an_asker_that_reads_no_refusal_is_bounded() {
        let ((mut asker, near), (_agent, far)) = (pair(), pair());
        let mut joint = Joint::new(near, far, Some(Filter::new(false, true)));
        asker.set_nonblocking(true).unwrap();
        let refused = [0, 0, 0, 1, 1].repeat(CHUNK / 5);
        for _ in 0..1_000 {
            let _ = asker.write(&refused);
            assert!(joint.turn());
            assert!(joint.asker.waiting.len() < WAITING_MAX + CHUNK);
        }
        assert!(joint.interests().count() > 0, "its refusals are written as soon as it reads");
    }

    #[test]
    fn an_asker_that_reads_nothing_is_bounded_and_loses_nothing() {
        let ((mut asker, near), (mut agent, far)) = (pair(), pair());
        let mut joint = Joint::new(near, far, None);
        agent.set_nonblocking(true).unwrap();
        let mut written = 0;
        // The system takes a whole chunk or nothing, so `written` counts whole chunks.
        while let Ok(count) = agent.write(&[7; CHUNK]) {
            written += count;
            assert!(joint.turn());
            assert!(joint.asker.waiting.len() < WAITING_MAX + CHUNK);
        }
        assert!(!joint.takes_answers());
        drop(agent);
        let mut read = 0;
        let mut buffer = [0; CHUNK];
        asker.set_nonblocking(true).unwrap();
        loop {
            let goes_on = joint.turn();
            while let Ok(count) = asker.read(&mut buffer)
                && count > 0
            {
                read += count;
            }
            if !goes_on {
                break;
            }
        }
        assert_eq!(read, written);
    }
}
