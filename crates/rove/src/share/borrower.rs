//! The side of a call (`rove -W`, `exec`) that uses a running client's session. The call passes pipes to the client. It
//! copies bytes between its own descriptors and the pipes. A client thus never waits for the call's descriptors.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use rove_bootstrap::ssh_config::SshConfig;
use rove_bootstrap::{HostOptions, Joined};
use rove_platform::clock::Clock;
use rove_units::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, fcntl_dupfd_cloexec, read, write};
use rustix::stdio;

use super::message::{Request, Word};
use super::{Gate, may_share};
use crate::server::open_nothing;
use crate::splice::unwritten;
use crate::stdio_forward::json::Channel;

/// Longest wait for a client to answer, and then to take the request. Chosen: a thousand times the usual time, for a
/// busy computer. A suspended client has closed its socket, and a stopped client is not asked.
const PATIENCE: Duration = Duration::from_secs(5);

/// Most running clients that a call asks, the newest first. Chosen: a user seldom has more with the same login.
const ASKED_MAX: usize = 16;

/// Most bytes copied at a time. Chosen: the capacity of a pipe.
const COPY_BYTES: usize = 64 * 1024;

/// Longest message of a client, in bytes. Chosen: several times a host's longest reason for a refusal.
const WORD_MAX: u64 = 16 * 1024;

/// Carries the call through a running client of the same login. Returns the exit code. `None` if no client carries the
/// call; the call's input is then unread. `rove put` always uses its own session, because it prints the paths of its
/// files. `config` is ssh's configuration for the host.
pub(crate) fn run(options: &HostOptions, joined: &Joined, config: &SshConfig) -> Option<u8> {
    if matches!(joined, Joined::Files { .. }) || !may_share(options) {
        return None;
    }
    let gate = Gate::of(&options.host, config)?;
    let gate = gate.following(options.choices.controller.as_deref());
    Awake::among(gate.sockets()).find_map(|client| {
        let asked = connect(&client).and_then(|client| Borrowed::ask(client, &gate, joined));
        let asked = asked.inspect_err(|error| tracing::debug!(%error, "nothing borrowed"));
        asked.ok()?.carry()
    })
}

/// Iterates over the clients that respond, in the order of their responses.
///
/// A client closes a connection that ends without a request. All clients are probed this way at once, so that all
/// hanging clients together cost only one wait.
struct Awake {
    asked: Vec<(PathBuf, UnixStream)>,
    clock: Clock,
}

impl Awake {
    fn among(sockets: Vec<PathBuf>) -> Self {
        // Connecting to the socket of a client that was killed fails at once.
        let asked = sockets.into_iter().filter_map(|path| {
            let stream = connect(&path).ok()?;
            #[cfg(all(target_os = "linux", not(rove_portable)))]
            if rustix::net::sockopt::socket_peercred(&stream)
                .is_ok_and(|lender| is_stopped(lender.pid))
            {
                return None;
            }
            stream.shutdown(Shutdown::Write).ok()?;
            Some((path, stream))
        });
        Self { asked: asked.take(ASKED_MAX).collect(), clock: Clock::start() }
    }
}

impl Iterator for Awake {
    type Item = PathBuf;

    fn next(&mut self) -> Option<PathBuf> {
        while !self.asked.is_empty() {
            let left = (Instant::ZERO + PATIENCE).saturating_since(self.clock.now());
            let mut ends: Vec<PollFd<'_>> =
                self.asked.iter().map(|(_, stream)| PollFd::new(stream, PollFlags::IN)).collect();
            match poll(&mut ends, Timespec::try_from(left).ok().as_ref()) {
                Ok(0) => return None,
                Ok(_) => {
                    let at = ends.iter().position(|it| !it.revents().is_empty())?;
                    return Some(self.asked.remove(at).0);
                }
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
        }
        None
    }
}

/// A call that a client has accepted.
struct Borrowed {
    words: BufReader<UnixStream>,
    /// This process's ends of the pipes for standard input, standard output and, unless `is_port`, standard error.
    pipes: Vec<File>,
    is_port: bool,
    /// Reports the call's progress to the `rove exec --json` that started the call, if any.
    channel: Option<Channel>,
}

impl Borrowed {
    fn ask(stream: UnixStream, gate: &Gate, joined: &Joined) -> io::Result<Self> {
        let is_port = matches!(joined, Joined::Port(_));
        let (mut pipes, mut theirs) = (Vec::new(), Vec::new());
        for index in 0..if is_port { 2 } else { 3 } {
            let (reader, writer) = io::pipe()?;
            let (reader, writer) = (OwnedFd::from(reader), OwnedFd::from(writer));
            let (ours, passed) = if index == 0 { (writer, reader) } else { (reader, writer) };
            pipes.push(File::from(ours));
            theirs.push(passed);
        }
        Request::new(gate.clone(), joined).send(&stream, &theirs)?;
        let mut borrowed = Self { words: BufReader::new(stream), pipes, is_port, channel: None };
        match borrowed.next_word() {
            Some(Word::Taken) => {
                // From here on there is no timeout, because the host may be silent for hours.
                borrowed.words.get_ref().set_read_timeout(None)?;
                Ok(borrowed)
            }
            other => Err(io::Error::other(format!("{other:?}"))),
        }
    }

    /// Returns the client's next message, and passes messages about the network to the channel. `None` after the
    /// connection's end, a timeout or a malformed message.
    fn next_word(&mut self) -> Option<Word> {
        loop {
            let mut line = Vec::new();
            self.words.by_ref().take(WORD_MAX).read_until(b'\n', &mut line).ok()?;
            match serde_json::from_slice(&line).ok()? {
                word @ (Word::Dark | Word::Back) => {
                    self.channel.iter().for_each(|channel| channel.say(&word));
                }
                word => return Some(word),
            }
        }
    }

    /// Copies bytes until the call's program or connection ends, and returns the exit code. `None` if the client does
    /// not carry the call, which can then log in by itself.
    fn carry(mut self) -> Option<u8> {
        match self.next_word()? {
            Word::Opened => {}
            word @ Word::Failed(_) => return Some(word.conclude()),
            _ => return None,
        }
        self.channel = Channel::take();
        let failed = |sentence: &str| Word::Failed(vec![sentence.to_owned()]);
        let outputs = match self.join() {
            Ok(outputs) => outputs,
            Err(error) => return Some(failed(&error.to_string()).conclude()),
        };
        let lost = "the rove that carried this for others has ended, and cut it off";
        let mut word = self.next_word().unwrap_or_else(|| failed(lost));
        for output in outputs {
            let written = output.join().unwrap_or(Ok(()));
            // The client learns only that nobody reads its pipe, so this process reports the error.
            if let Some(loss) = written.err().and_then(|error| unwritten(&error))
                && !matches!(word, Word::Code(1..))
            {
                word = failed(&loss);
            }
        }
        self.channel.iter().for_each(|channel| channel.say(&word));
        Some(word.conclude())
    }

    /// Starts threads that copy bytes. Returns the threads of the outputs, which end when their outputs end.
    fn join(&mut self) -> io::Result<Vec<JoinHandle<io::Result<()>>>> {
        debug_assert_eq!(self.pipes.len(), if self.is_port { 2 } else { 3 });
        let mut standard = Vec::new();
        for descriptor in [stdio::stdin(), stdio::stdout(), stdio::stderr()] {
            standard.push(fcntl_dupfd_cloexec(descriptor, 3)?);
        }
        if let Some(channel) = &self.channel {
            standard[2] = channel.errors()?;
        }
        if self.is_port {
            // Standard output must end with the connection, so this process closes its own descriptor.
            let nothing = open_nothing()?;
            stdio::dup2_stdin(&nothing)?;
            stdio::dup2_stdout(&nothing)?;
        }
        let mut threads = Vec::new();
        for (index, (own, pipe)) in standard.into_iter().zip(self.pipes.drain(..)).enumerate() {
            let own = File::from(own);
            let (from, to) = if index == 0 { (own, pipe) } else { (pipe, own) };
            let thread = thread::Builder::new().name("copy".to_owned());
            let thread = thread.spawn(move || copy(&from, &to))?;
            threads.extend((index > 0).then_some(thread));
        }
        Ok(threads)
    }
}

/// Connects to a client of this user or of the administrator.
fn connect(path: &Path) -> io::Result<UnixStream> {
    // The connection is made without blocking, because the backlog of a hanging client may be full.
    let stream = rove_control::connect_to_user(path)?;
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// Returns whether a process is stopped (Ctrl-Z). The state follows the name in `/proc/PID/stat` (proc(5)).
#[cfg(all(target_os = "linux", not(rove_portable)))]
fn is_stopped(process: rustix::process::Pid) -> bool {
    let stat = std::fs::read(format!("/proc/{process}/stat")).unwrap_or_default();
    let name_end = stat.iter().rposition(|byte| *byte == b')').unwrap_or_default();
    stat[name_end..].starts_with(b") T")
}

/// Copies bytes until the end of `from`.
fn copy(from: &File, to: &File) -> io::Result<()> {
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        let len = when_ready(from, PollFlags::IN, || read(from, &mut buffer))?;
        let mut rest = &buffer[..len];
        if rest.is_empty() {
            return Ok(());
        }
        while !rest.is_empty() {
            let taken = when_ready(to, PollFlags::OUT, || write(to, rest))?;
            rest = &rest[taken..];
        }
    }
}

/// Repeats `call` until it does not block, and waits in between. Another program may have made the file non-blocking.
fn when_ready<T>(
    descriptor: &File,
    wanted: PollFlags,
    mut call: impl FnMut() -> Result<T, Errno>,
) -> io::Result<T> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => drop(poll(&mut [PollFd::new(descriptor, wanted)], None)),
            other => return Ok(other?),
        }
    }
}

#[cfg(test)]
mod tests {
    #[cfg(all(target_os = "linux", not(rove_portable)))]
    #[test]
    fn a_stopped_client_is_told_from_one_that_waits() {
        use rustix::process::{Pid, Signal, kill_process};

        let mut client = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let process = Pid::from_child(&client);
        assert!(!super::is_stopped(process));
        kill_process(process, Signal::STOP).unwrap();
        rove_rig::guard::wait_until("the stop", || super::is_stopped(process));
        client.kill().unwrap();
        client.wait().unwrap();
    }
}
