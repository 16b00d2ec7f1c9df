//! Runs a rove command or a script on a host, by the same ssh command as a session's login. The command gets no
//! terminal on the host. Its output is separated from that of start-up files.
//!
//! ssh connects as its configuration says, and may use an open master connection. Here rove need not learn the host's
//! address, so it gives ssh no proxy command.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use rove_bootstrap::last_words::LastWords;
use rove_bootstrap::remote::{self, NO_ROVE, START};
use rove_bootstrap::ssh_config::{self, SshConfig};
use rove_bootstrap::startup::Stream;
use rove_bootstrap::{
    Challenge, HostOptions, LineReader, NoSession, Printable, SSH_FAILURE, Shared,
};
use rove_platform::clock::Clock;
use rove_platform::event_loop::EventLoop;
use signal_hook::consts::SIGCHLD;

use crate::bootstrap::command::{Running, Step, Stop};
use crate::bootstrap::error::BootstrapError;
use crate::bootstrap::master::Master;
use crate::bootstrap::screen::{tell, tell_running};
use crate::bootstrap::ssh_query;
use crate::entropy;
use crate::install::remedy::Remedy;
use crate::messages::{FarLines, columns};

/// The standard input of the command on the host.
pub(crate) enum Input {
    Nothing,
    /// All bytes of this reader, copied while the command's output is read. The command may end before it has read all.
    From(Box<dyn Read + Send>),
}

pub(crate) struct RemoteCommand<'a> {
    options: &'a HostOptions,
    challenge: Challenge,
    /// The command line that ssh passes to the host's login shell.
    remote: OsString,
    /// How ssh shares this run's own connection. `None` if the run has none.
    own: Option<Shared>,
}

impl<'a> RemoteCommand<'a> {
    /// Prepares to run the host's rove with these arguments. The host looks for rove as for a session.
    ///
    /// # Errors
    ///
    /// Returns an error if the system gives no random bytes.
    pub(crate) fn rove(
        options: &'a HostOptions,
        args: &[OsString],
    ) -> Result<Self, BootstrapError> {
        let challenge = entropy::challenge()?;
        let remote = remote::rove(&challenge, &options.host, args);
        Ok(Self { options, challenge, remote, own: None })
    }

    /// Prepares to run sh code, with these arguments as `$1` and so on. csh cannot pass on a line break in the code.
    ///
    /// # Errors
    ///
    /// Returns an error if the system gives no random bytes.
    pub(crate) fn script(
        options: &'a HostOptions,
        script: &str,
        args: &[OsString],
    ) -> Result<Self, BootstrapError> {
        let challenge = entropy::challenge()?;
        let remote = remote::script_with(&challenge, script, args);
        Ok(Self { options, challenge, remote, own: None })
    }

    /// Makes [`Self::run`] use the connection of `master`, if that connection is open.
    pub(crate) fn through(self, master: Option<&Master>) -> Self {
        Self { own: master.filter(|master| master.is_open()).map(Master::shared), ..self }
    }

    /// Runs the command to its end. `take` receives its standard output, as it comes. All other output of ssh and host
    /// is shown on standard error, without control characters. Returns how the command ended, or why it did not run.
    pub(crate) fn run(
        &self,
        input: Input,
        mut take: impl FnMut(&[u8]),
    ) -> Result<ExitStatus, BootstrapError> {
        let local = |what| move |error| BootstrapError::Local { what, error };
        let config = ssh_query::ask(&self.options.ssh, &self.options.host);
        let mut command = self.command(&config);
        tell_running(self.options, &command);
        // The event loop exists before ssh is started, so that it never misses ssh's end.
        let mut events =
            EventLoop::new(Clock::start(), &[SIGCHLD]).map_err(local("waiting for ssh"))?;
        command.stdin(match input {
            Input::Nothing => Stdio::null(),
            Input::From(_) => Stdio::piped(),
        });
        let mut ssh = Running::start(&mut command).map_err(|error| {
            BootstrapError::ssh_missing(self.options.name, command.get_program(), error)
        })?;
        if let (Input::From(mut source), Some(mut stdin)) = (input, ssh.take_input()) {
            // The thread ends when the source ends or the pipe breaks.
            thread::spawn(move || io::copy(&mut source, &mut stdin));
        }
        let mut output = Output::new(self.challenge.clone());
        let mut filters: [Printable; 2] = Default::default();
        let mut lines: [FarLines; 2] = Default::default();
        let mut last_words = LastWords::new(&self.options.host, &config, self.options.verbose);
        let mut show = |stream: Stream, text: &[u8]| {
            // A closed standard error is no reason to stop.
            let text = filters[stream as usize].filter(text);
            let shown = lines[stream as usize].filter(columns(&io::stderr()), &text);
            let _ = io::stderr().write_all(&shown);
        };
        let status = loop {
            match ssh.step(&mut events, None) {
                Ok(Step::Said(said)) => {
                    for (stream, bytes) in said {
                        if stream == Stream::Errors {
                            show(stream, &last_words.filter(bytes));
                            continue;
                        }
                        let mut noise = Vec::new();
                        take(output.read(bytes, &mut noise));
                        show(stream, &noise);
                    }
                }
                Ok(Step::Ended(status)) => break status,
                Ok(Step::Late) | Err(Stop::Interrupted) => {}
                Err(Stop::Local(error)) => return Err(local("the output of ssh")(error)),
            }
        };
        let mut noise = Vec::new();
        output.end_line(None, &mut noise);
        show(Stream::Output, &noise);
        let judged = self.judge(&output, &config, status);
        let has_failed =
            matches!(judged, Err(BootstrapError::NoSession(NoSession::SshFailed { .. })));
        let (refusal, held) = last_words.conclude(has_failed);
        show(Stream::Errors, &held);
        for stream in Stream::ALL {
            let _ = io::stderr().write_all(&lines[stream as usize].finish());
        }
        refusal.map_or(judged, |refusal| Err(refusal.into()))
    }

    fn judge(
        &self,
        output: &Output,
        config: &SshConfig,
        status: ExitStatus,
    ) -> Result<ExitStatus, BootstrapError> {
        let host = self.options.host.clone();
        match (output.state, status.code()) {
            (State::Missing, _) => {
                let remedy = Remedy::of(&host, None);
                Err(BootstrapError::NoRove { host, remedy })
            }
            (State::Begun, Some(_)) => Ok(status),
            (_, None | Some(SSH_FAILURE)) => {
                Err(NoSession::ssh_failed(self.options, config).into())
            }
            (State::Before, Some(_)) => {
                Err(NoSession::not_run(host, status, output.has_said).into())
            }
        }
    }

    fn command(&self, config: &SshConfig) -> Command {
        let HostOptions { ssh, host, .. } = self.options;
        let mut first = self.own.as_ref().map_or(Vec::new(), Shared::first_words);
        first.extend(config.overrides());
        let ssh = ssh_config::with_options(ssh, &first);
        let (program, args) = ssh.split_first().expect("an ssh command has a program");
        let mut command = Command::new(program);
        command.args(args);
        match &self.own {
            Some(own) => command.args(own.last_words()),
            None => command.args(config.sharing.words()),
        };
        let note = config.sharing.note().filter(|_| !self.options.quiet && self.own.is_none());
        if let Some(note) = note {
            tell(self.options.name.as_str(), note);
        }
        if self.options.ssh_pty || ssh_config::is_ssh(&self.options.ssh) {
            // A terminal on the host would change bytes of the output.
            command.arg("-T");
        }
        command.args(self.options.family_word());
        command.arg(host).arg("--").arg(&self.remote).env_remove("MOSH_KEY");
        command
    }
}

/// The progress of starting the command on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The command has not begun; any output is from start-up files.
    Before,
    /// The command runs, or has run.
    Begun,
    /// The host has no rove.
    Missing,
}

/// Reads ssh's standard output, and separates the command's output from that of start-up files.
struct Output {
    challenge: Challenge,
    state: State,
    lines: LineReader,
    /// Whether the host has printed a line before the marker [`START`] that is neither blank nor [`NO_ROVE`].
    has_said: bool,
}

impl Output {
    fn new(challenge: Challenge) -> Self {
        Self { challenge, state: State::Before, lines: LineReader::default(), has_said: false }
    }

    /// Reads more bytes. Returns the bytes that the command wrote, and adds all others to `noise`.
    fn read<'b>(&mut self, mut bytes: &'b [u8], noise: &mut Vec<u8>) -> &'b [u8] {
        while self.state == State::Before
            && let Some((&byte, rest)) = bytes.split_first()
        {
            bytes = rest;
            match byte {
                b'\n' => self.end_line(Some(byte), noise),
                _ => self.lines.push(byte, noise),
            }
        }
        if self.state == State::Begun { bytes } else { &[] }
    }

    /// Ends a line, and adds it to `noise` if it is no marker. `end` is its line end: `None` at the end of the output.
    fn end_line(&mut self, end: Option<u8>, noise: &mut Vec<u8>) {
        let line = self.lines.end();
        let text = String::from_utf8_lossy(line.held());
        let is_ours = |marker| self.challenge.answer(marker, text.trim_ascii_end()) == Some("");
        if end.is_some() && is_ours(START) {
            self.state = State::Begun;
        } else if end.is_some() && is_ours(NO_ROVE) {
            self.state = State::Missing;
        } else {
            self.has_said |= !line.bytes.trim_ascii().is_empty();
            noise.extend(line.held().iter().chain(&end));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;
    use crate::cli::config::Config;
    use crate::cli::host::{self, HostCall};
    use rove_bootstrap::{LINE_BYTES_MAX, ProgramName};

    const WORD: &str = "00000000000000000000000000000000";

    /// Reads a host's output in pieces of `piece` bytes. Returns the command's output, other output and the last state.
    fn read(printed: &[u8], piece: usize) -> (String, String, State) {
        let mut output = Output::new(Challenge::from_bytes([0; 16]));
        let (mut ours, mut noise) = (Vec::new(), Vec::new());
        for bytes in printed.chunks(piece) {
            ours.extend(output.read(bytes, &mut noise));
        }
        output.end_line(None, &mut noise);
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (text(ours), text(noise), output.state)
    }

    #[test]
    fn output_of_start_up_files_is_no_output_of_the_command() {
        let wrong = WORD.replace('0', "1");
        for (printed, ours, noise, state) in [
            (format!("\nROVE START {WORD}\n{{}}\n"), "{}\n", "\n".to_owned(), State::Begun),
            (format!("hi\nROVE START {WORD}\r\na\0b"), "a\0b", "hi\n".to_owned(), State::Begun),
            (
                format!("ROVE START {wrong}\nx\n"),
                "",
                format!("ROVE START {wrong}\nx\n"),
                State::Before,
            ),
            ("no line's end".to_owned(), "", "no line's end".to_owned(), State::Before),
            (format!("ROVE NO ROVE {WORD}\nmore"), "", String::new(), State::Missing),
            (
                format!("ROVE START {WORD}\nROVE NO ROVE {WORD}\n"),
                &format!("ROVE NO ROVE {WORD}\n"),
                String::new(),
                State::Begun,
            ),
        ] {
            for piece in [1, 7, 1000] {
                let wanted = (ours.to_owned(), noise.clone(), state);
                assert_eq!(read(printed.as_bytes(), piece), wanted, "{printed:?} by {piece}");
            }
        }
    }

    #[test]
    fn a_line_of_any_length_is_passed_on_and_not_kept() {
        let mut output = Output::new(Challenge::from_bytes([0; 16]));
        let mut noise = Vec::new();
        let mut said = 0;
        for len in [LINE_BYTES_MAX, LINE_BYTES_MAX + 1, LINE_BYTES_MAX + 2, 100 * LINE_BYTES_MAX] {
            output.read(&vec![b'x'; len], &mut noise);
            said += len;
            assert_eq!(noise.len(), said, "a question without a line end is shown at once");
        }
        assert_eq!(output.lines.end().bytes.len(), LINE_BYTES_MAX);
        output.end_line(None, &mut noise);
        assert_eq!(noise.len(), 103 * LINE_BYTES_MAX + 3);
    }

    #[test]
    fn no_part_of_a_long_line_is_a_marker() {
        let marker = format!("ROVE START {WORD}");
        let padding = LINE_BYTES_MAX - marker.len();
        for (line, state) in [
            (marker.clone() + &" ".repeat(padding), State::Begun),
            (marker.clone() + &" ".repeat(padding + 1), State::Before),
            ("x".repeat(LINE_BYTES_MAX + 1) + &marker, State::Before),
        ] {
            for piece in [1, 7, 10_000] {
                let (_, noise, found) = read((line.clone() + "\n").as_bytes(), piece);
                assert_eq!(found, state, "{line}");
                assert_eq!(noise.is_empty(), state == State::Begun, "{noise}");
            }
        }
    }

    /// Runs `script` on this computer as if it were the host. Returns its output and its exit code.
    fn run(profile: &str, script: &str, args: &[OsString], input: Input) -> (Vec<u8>, Option<i32>) {
        let ssh = format!("--ssh=sh -c '{profile}; for a; do :; done; exec sh -c \"$a\"' ssh");
        let words = vec![ssh.into(), "far".into()];
        let call = host::parse(ProgramName::Rove, words, || Ok(Config::default()));
        let Ok(HostCall::Connect(options)) = call else { panic!("a host") };
        let command = RemoteCommand::script(&options, script, args).unwrap();
        let mut output = Vec::new();
        let status = command.run(input, |bytes| output.extend(bytes)).unwrap();
        (output, status.code())
    }

    #[test]
    fn bytes_go_to_the_command_and_come_back_whole() {
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| n.to_le_bytes()[n as usize % 3]).collect();
        let input = Input::From(Box::new(io::Cursor::new(bytes.clone())));
        assert_eq!(run("echo noise", "cat; exit 3", &[], input), (bytes.clone(), Some(3)));
        // A command that does not read all of its input is no failure.
        let input = Input::From(Box::new(io::Cursor::new(bytes)));
        let (output, code) = run(":", "printf %s \"$1\"; exit 4", &["a b!'".into()], input);
        assert_eq!((&output[..], code), (&b"a b!'"[..], Some(4)));
        assert_eq!(run(":", "cat", &[], Input::Nothing), (Vec::new(), Some(0)));
    }

    #[test]
    fn ssh_has_failed_unless_the_command_has_begun() {
        let words = vec!["far".into()];
        let call = host::parse(ProgramName::Rove, words, || Ok(Config::default()));
        let Ok(HostCall::Connect(options)) = call else { panic!("a host") };
        let command = RemoteCommand::rove(&options, &[]).unwrap();
        let config = SshConfig::default();
        for (state, code, wanted) in [
            (State::Begun, 255, "status 255"),
            (State::Begun, 1, "status 1"),
            (State::Before, 255, "ssh did not get through to far"),
            (State::Before, 0, "far did not run rove's command"),
            (State::Missing, 127, "rove not found on far"),
        ] {
            let output = Output { state, ..Output::new(Challenge::from_bytes([0; 16])) };
            let text = match command.judge(&output, &config, ExitStatus::from_raw(code << 8)) {
                Ok(status) => format!("status {}", status.code().unwrap()),
                Err(error) => error.to_string(),
            };
            assert!(text.starts_with(wanted), "{text}");
        }
        let killed = ExitStatus::from_raw(9);
        let output = Output { state: State::Begun, ..Output::new(Challenge::from_bytes([0; 16])) };
        assert!(command.judge(&output, &config, killed).is_err());
    }
}
