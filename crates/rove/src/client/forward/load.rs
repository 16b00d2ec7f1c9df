//! The thing that a client's streams are for, as their loop sees it. `joined` chooses it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rove_streams::{Exit, Mux, StreamId};
use rove_units::Instant;
use rustix::stdio;

use crate::share::message::Word;
use crate::splice::{Descriptor, Splice};

/// The thing that the streams are for.
pub(crate) trait Load {
    /// Opens the streams, and begins to write what they are for.
    ///
    /// # Errors
    ///
    /// Returns that the layer has closed.
    fn open(&mut self, now: Instant, mux: &mut Mux) -> anyhow::Result<()>;

    /// Does what the streams allow, and adds those that are joined with descriptors. Returns how it all ended, once.
    ///
    /// # Errors
    ///
    /// Returns what this computer refuses.
    fn turn(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        splices: &mut Vec<Splice>,
    ) -> anyhow::Result<Option<Carried>>;

    /// Returns whether there is more to do without waiting.
    fn has_work(&self) -> bool {
        false
    }

    /// Notes that the host has everything that it will take of a stream.
    fn handle_delivered(&mut self, _: StreamId) {}

    /// Returns the streams that were opened.
    fn streams(&self) -> Vec<StreamId>;
}

/// How the forwarding ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Carried {
    /// All bytes have passed. The program has ended so; a connection with 0.
    Ended(Exit),
    /// The streams could not be opened, or were cut, as these sentences say.
    Failed(Vec<String>),
    /// The session carries no streams, for this reason. Nothing was read from standard input.
    Declined(String),
}

impl Carried {
    /// Returns the word about this.
    pub(crate) fn into_word(self) -> Word {
        match self {
            Self::Ended(Exit::Code(code)) => Word::Code(code),
            Self::Ended(Exit::Signal(signal)) => Word::Signal(signal),
            Self::Failed(said) => Word::Failed(said),
            Self::Declined(_) => Word::NotCarried,
        }
    }
}

/// The descriptors that the streams are joined with.
pub(crate) enum Ends {
    /// This process's own standard descriptors, but for standard error if another is named.
    Standard { errors: Option<OwnedFd> },
    /// Ends of pipes, which another process has passed for its own.
    Passed(Vec<Option<OwnedFd>>),
}

impl Ends {
    /// Returns the descriptor of this number, which is a standard one's.
    ///
    /// # Errors
    ///
    /// Returns the system's error, or that another process has passed none.
    pub(crate) fn take(&mut self, number: usize) -> io::Result<Descriptor> {
        match self {
            Self::Standard { errors } => match (number, errors) {
                (0, _) => Descriptor::copy_of(stdio::stdin()),
                (1, _) => Descriptor::copy_of(stdio::stdout()),
                (_, None) => Descriptor::copy_of(stdio::stderr()),
                (_, Some(errors)) => Descriptor::copy_of(errors.as_fd()),
            },
            Self::Passed(passed) => {
                let passed = passed.get_mut(number).and_then(Option::take);
                Descriptor::pipe(passed.ok_or(io::ErrorKind::InvalidInput)?)
            }
        }
    }
}
