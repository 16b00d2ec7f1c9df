//! The trait of the jobs of `rove -W`, `exec` and `put` calls, for which a client opens streams.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rove_streams::{Exit, Mux, StreamId};
use rove_units::Instant;
use rustix::stdio;

use crate::share::message::Word;
use crate::splice::{Changed, Descriptor, Splice};

/// A job that needs streams: a connection, a program or files.
pub(crate) trait Load {
    /// Opens the streams of a connection or program, and begins to tell the host what they are for.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream layer is closed or has too many streams.
    fn open(&mut self, now: Instant, mux: &mut Mux) -> anyhow::Result<()>;

    /// Reads the host's answers, and sends files. Adds a [`Splice`] for each stream that the client must copy from or
    /// to a descriptor. Returns the result when the job is done, else `None`, or the system's error.
    fn turn(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        splices: &mut Vec<Splice>,
    ) -> anyhow::Result<Option<Carried>>;

    /// Returns whether to call [`Load::turn`] again without waiting.
    fn has_work(&self) -> bool {
        false
    }

    /// Notes that the host has received a stream's end, or has stopped reading it. The stream may be another job's.
    fn handle_delivered(&mut self, _: StreamId) {}

    /// Returns the opened streams of a connection or program. For files, the list is empty.
    fn streams(&self) -> Vec<StreamId>;
}

/// The result of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Carried {
    /// The job is done. The exit is that of the program, 0 for a connection, or the highest code of all files.
    Ended(Exit),
    /// The streams were refused or cut, or the session or a signal ended the job. The texts are for the user.
    Failed(Vec<String>),
    /// The server has not begun the job, for this reason. Standard input is unread, so another program may do the job.
    Declined(String),
}

impl Carried {
    /// Returns the message about this result for the process that made the call.
    pub(crate) fn into_word(self) -> Word {
        match self {
            Self::Ended(Exit::Code(code)) => Word::Code(code),
            Self::Ended(Exit::Signal(signal)) => Word::Signal(signal),
            Self::Failed(said) => Word::Failed(said),
            Self::Declined(_) => Word::NotCarried,
        }
    }
}

/// The descriptors whose bytes are copied to and from streams.
pub(crate) enum Ends {
    /// This process's own standard descriptors. `errors` takes the place of standard error, if given. `changed` lists
    /// the descriptors that were made non-blocking.
    Standard { errors: Option<OwnedFd>, changed: Vec<Changed> },
    /// Ends of pipes that another process has passed for its standard descriptors. Each is `None` after [`Ends::take`].
    Passed(Vec<Option<OwnedFd>>),
}

impl Ends {
    /// Returns the descriptor for standard input (0), output (1) or error (2).
    ///
    /// # Errors
    ///
    /// Returns the system's error, or `InvalidInput` if the other process has passed no such descriptor.
    pub(crate) fn take(&mut self, number: usize) -> io::Result<Descriptor> {
        match self {
            Self::Standard { errors, changed } => {
                let standard = match (number, &*errors) {
                    (0, _) => stdio::stdin(),
                    (1, _) => stdio::stdout(),
                    (_, None) => stdio::stderr(),
                    (_, Some(errors)) => errors.as_fd(),
                };
                Descriptor::copy_of(standard, changed)
            }
            Self::Passed(passed) => {
                let passed = passed.get_mut(number).and_then(Option::take);
                Descriptor::pipe(passed.ok_or(io::ErrorKind::InvalidInput)?)
            }
        }
    }
}
