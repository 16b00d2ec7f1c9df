//! Standard input and output of a program that ssh runs on a host. They carry datagrams and messages in frames.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};

use anyhow::Context;
use rove_bootstrap::tunnel::MARK;
use rove_bootstrap::tunnel::carrier::{Arrival, Carrier};
use rove_platform::event_loop::Interest;
use rustix::io::Errno;
use rustix::stdio;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

/// Most bytes read from ssh at once. Chosen: the size of a pipe's buffer on Linux.
const READ_LEN: usize = 64 * 1024;

/// Both pipes, with the data that waits to be written.
pub(super) struct Pipes {
    pub(super) carrier: Carrier,
    buffer: Vec<u8>,
}

impl Pipes {
    /// Prints the line by which the client recognises this end. From then on the pipes carry the frames of [`Carrier`].
    ///
    /// # Errors
    ///
    /// Returns an error if nobody reads the output, or the pipes cannot be used.
    pub(super) fn open() -> anyhow::Result<Self> {
        // If the login has a terminal, the terminal must not change bytes.
        if let Ok(mut modes) = tcgetattr(stdio::stdin()) {
            modes.make_raw();
            tcsetattr(stdio::stdin(), OptionalActions::Now, &modes)
                .context("cannot make the terminal raw")?;
        }
        let mut stdout = io::stdout();
        writeln!(stdout, "{MARK}").and_then(|()| stdout.flush()).context("nobody listens")?;
        for descriptor in [stdio::stdin(), stdio::stdout()] {
            rustix::io::ioctl_fionbio(descriptor, true).context("cannot use ssh's pipes")?;
        }
        Ok(Self { carrier: Carrier::default(), buffer: vec![0; READ_LEN] })
    }

    /// Returns the descriptors to wait for: first the input, then the output if data waits to be written.
    pub(super) fn interests(&mut self) -> Vec<Interest<'static>> {
        let (stdin, stdout): (BorrowedFd<'static>, _) = (stdio::stdin(), stdio::stdout());
        let mut interests = vec![Interest::new(stdin, true, false)];
        if !self.carrier.poll_bytes().is_empty() {
            interests.push(Interest::new(stdout, false, true));
        }
        interests
    }

    /// Reads the datagrams and messages that have arrived. `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// Returns an error if the input is malformed.
    pub(super) fn read(&mut self) -> anyhow::Result<Option<Vec<Arrival>>> {
        let mut arrivals = Vec::new();
        let len = match rustix::io::read(stdio::stdin(), &mut self.buffer) {
            Err(Errno::AGAIN | Errno::INTR) => return Ok(Some(arrivals)),
            Ok(0) | Err(_) => return Ok(None),
            Ok(len) => len,
        };
        let mut bytes = &self.buffer[..len];
        while let Some(arrival) = self.carrier.handle_bytes(&mut bytes)? {
            arrivals.push(arrival);
        }
        Ok(Some(arrivals))
    }

    /// Writes as many bytes as ssh accepts. Returns whether ssh still reads.
    pub(super) fn write(&mut self) -> bool {
        write(&mut self.carrier, stdio::stdout())
    }
}

/// Writes as many queued bytes as the pipe takes. Returns whether the pipe's other end is open.
pub(super) fn write(carrier: &mut Carrier, pipe: impl AsFd) -> bool {
    while let bytes = carrier.poll_bytes()
        && !bytes.is_empty()
    {
        match rustix::io::write(&pipe, bytes) {
            Ok(len) => carrier.consume(len),
            Err(Errno::AGAIN) => break,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
    true
}
