//! Runs programs without a terminal for a client (`rove exec`), each on three streams.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use rove_host::piped::PipedChild;
use rove_platform::event_loop::Interest;
use rove_platform::termux;
use rove_session::ExitStatus;
use rove_streams::{Answer, Exit, Gathered, Mux, Reception, StreamId, UNREACHED};
use rove_units::Instant;
use rustix::process::Rlimit;

use crate::getent;
use crate::login::piped;
use crate::messages::reason;
use crate::splice::{Descriptor, Splice};

/// Paths of the server of ssh's subsystem `sftp`: on Debian, Fedora, Arch, macOS and the BSDs, and Alpine.
const SFTP_SERVERS: [&str; 5] = [
    "/usr/lib/openssh/sftp-server",
    "/usr/libexec/openssh/sftp-server",
    "/usr/lib/ssh/sftp-server",
    "/usr/libexec/sftp-server",
    "/usr/lib/sftp-server",
];

/// The programs of a client, by the stream of their standard input.
#[derive(Debug, Default)]
pub(super) struct Programs {
    running: BTreeMap<StreamId, Running>,
    /// Whether a child process may have ended since the last turn.
    has_news: bool,
}

/// A program and its three pipes. Dropping this value sends SIGHUP to a program that still runs.
#[derive(Debug)]
struct Running {
    child: PipedChild,
    /// The pipes of standard input, standard output and standard error.
    splices: [Splice; 3],
    exit: Option<ExitStatus>,
    /// Whether the client has stopped reading the stream on which the exit status is sent.
    is_unwanted: bool,
    /// Whether the server has sent SIGHUP to the program, because the client has given the program up. The program
    /// counts in `len` until its end.
    is_given_up: bool,
}

impl Programs {
    /// Starts a program, or tells the client why it cannot be started.
    pub(super) fn start(
        &mut self,
        mux: &mut Mux,
        reception: &mut Reception,
        gathered: Gathered,
        core_limit: Rlimit,
    ) {
        let Gathered { input, output, errors, .. } = gathered;
        match Running::start(gathered, core_limit) {
            Ok(running) => {
                let opened = Answer::Opened { address: String::new() };
                for id in [output, errors] {
                    reception.answer(mux, id, &opened);
                    // The server never reads these streams, so it would not notice that the client has ended them.
                    let _ = mux.stop(id, UNREACHED);
                }
                let former = self.running.insert(input, running);
                debug_assert!(former.is_none(), "a stream is one program's");
                // The program may have ended already, before it was in `running`.
                self.has_news = true;
            }
            Err(error) => {
                let refused = Answer::Refused { code: UNREACHED, text: reason(&error.to_string()) };
                [input, output, errors].iter().for_each(|id| reception.answer(mux, *id, &refused));
            }
        }
    }

    /// Notes that a child process has ended.
    pub(super) const fn handle_child_end(&mut self) {
        self.has_news = true;
    }

    /// Marks the program at the stream `input` for a SIGHUP, because the client has stopped reading that stream. If the
    /// client had already ended the program's input, the server learns in no other way that the client is gone.
    pub(super) fn give_up(&mut self, input: StreamId) {
        if let Some(running) = self.running.get_mut(&input) {
            running.is_unwanted = true;
        }
    }

    /// Marks all programs to be sent SIGHUP, because their streams are closed.
    pub(super) fn give_up_all(&mut self) {
        self.running.values_mut().for_each(|running| running.is_unwanted = true);
    }

    /// Sends SIGHUP to all programs, and returns them. The caller waits for their ends.
    pub(super) fn into_hung_up(self) -> impl Iterator<Item = PipedChild> {
        self.running.into_values().map(|mut running| {
            running.child.hang_up();
            running.child
        })
    }

    /// Copies bytes. Sends SIGHUP to programs that the client gives up, and an exit status after a program's output.
    pub(super) fn turn(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        reception: &mut Reception,
        buffer: &mut [u8],
    ) {
        let has_news = std::mem::take(&mut self.has_news);
        self.running.retain(|id, running| {
            running.splices.iter_mut().for_each(|it| it.turn(now, mux, buffer));
            if has_news {
                running.exit = running.child.try_wait();
            }
            let [input, output, errors] = &running.splices;
            match running.exit {
                None if (input.is_reset() || running.is_unwanted) && !running.is_given_up => {
                    running.splices.iter_mut().for_each(|it| it.cut(mux));
                    // A program that ignores the signal must not hold up streams that wait for an answer.
                    reception.give_up(mux, *id);
                    running.child.hang_up();
                    running.is_given_up = true;
                    true
                }
                Some(_) if running.is_given_up => false,
                Some(status) if output.is_over() && errors.is_over() => {
                    let exit = match status {
                        ExitStatus::Code(code) => Exit::Code(code),
                        ExitStatus::Signal(signal) => Exit::Signal(signal),
                        // A child process never has this status.
                        ExitStatus::Outside(_) => Exit::Code(u8::MAX),
                    };
                    reception.answer(mux, *id, &Answer::Exited(exit));
                    false
                }
                _ => true,
            }
        });
    }

    pub(super) fn len(&self) -> usize {
        self.running.len()
    }

    /// Returns the splices of all pipes; a splice copies between a pipe and a stream.
    pub(super) fn splices(&self) -> impl Iterator<Item = &Splice> {
        self.running.values().flat_map(|running| &running.splices)
    }

    /// Returns the descriptors to wait for, in the order of [`Programs::handle_ready`].
    pub(super) fn interests(&self) -> impl Iterator<Item = Interest<'_>> {
        self.splices().flat_map(Splice::interests)
    }

    /// Notes which of [`Programs::interests`] are ready.
    pub(super) fn handle_ready(&mut self, ready: &mut impl Iterator<Item = bool>) {
        let splices = self.running.values_mut().flat_map(|running| &mut running.splices);
        splices.for_each(|splice| splice.handle_ready(ready));
    }
}

impl Running {
    fn start(gathered: Gathered, core_limit: Rlimit) -> io::Result<Self> {
        let Gathered { input, output, errors, command, is_subsystem } = gathered;
        let command = match is_subsystem {
            true => subsystem(&command)?,
            false => OsString::from_vec(command),
        };
        if command.as_encoded_bytes().contains(&0) {
            return Err(io::Error::other("a command with a null byte"));
        }
        let user = getent::own_user();
        let program = piped::program(std::env::vars_os(), user, &command, core_limit);
        // The shell is checked here, because after the fork only an exit code could report that it is missing.
        if let Some(shell) = program.candidates.first() {
            rustix::fs::access(shell.as_c_str(), rustix::fs::Access::EXEC_OK)?;
        }
        let (child, pipes) = PipedChild::spawn(&program)?;
        let splices = [
            Splice::halves(input, None, Some(Descriptor::pipe(pipes.input)?)),
            Splice::halves(output, Some(Descriptor::pipe(pipes.output)?), None),
            Splice::halves(errors, Some(Descriptor::pipe(pipes.errors)?), None),
        ];
        Ok(Self { child, splices, exit: None, is_unwanted: false, is_given_up: false })
    }
}

/// Returns the command of ssh's subsystem of this name. Any name but `sftp` is an error, and so is a missing server.
fn subsystem(name: &[u8]) -> io::Result<OsString> {
    let termux = termux::prefix().map(|prefix| prefix.join("libexec/sftp-server"));
    let servers = termux.into_iter().chain(SFTP_SERVERS.map(PathBuf::from));
    let found = servers.filter(|_| name == b"sftp").find(|path| path.exists());
    found.map(PathBuf::into_os_string).ok_or_else(|| {
        let name = String::from_utf8_lossy(name);
        io::Error::other(format!("the host has no subsystem {}", name.escape_debug()))
    })
}
