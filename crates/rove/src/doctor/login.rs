//! Logs in and starts a server as a session does, after a survey of the host in the same login.

use std::ffi::OsString;
use std::process::ExitStatus;
use std::{io, iter};

use rove_bootstrap::startup::{EarlyOutput, Progress, Rules, Startup, Stream};
use rove_bootstrap::{
    Challenge, HostOptions, NoSession, Plan, Printable, TunnelUse, WantedSession, last_words,
    remote,
};
use rove_platform::event_loop::EventLoop;
use rove_ssp::Key;
use rove_units::Duration;

use crate::bootstrap::Invocation;
use crate::bootstrap::command::{self, Stop};
use crate::bootstrap::{self, prepare, tunnel};
use crate::client::agent;
use crate::doctor::facts::{Aftermath, Far, Host, Loan, Noise, Server, Ssh};
use crate::doctor::survey;
use crate::install::remedy::Remedy;
use crate::tunnel::inherited::JumpCall;
use crate::{colors, entropy};

/// Longest time for ssh's login. Chosen: enough to type a password.
const LOGIN_PATIENCE: Duration = Duration::from_secs(60);
/// Longest time for ssh to end after the server's announcement. Chosen: well above any round trip.
const END_PATIENCE: Duration = Duration::from_secs(8);
/// Longest time for a second login. Chosen: half of the time for the first login.
const SECOND_PATIENCE: Duration = Duration::from_secs(30);
/// Longest line that is read from ssh, in bytes; the rest of a line is dropped. Chosen: a list of a hundred sessions.
const LINE_LEN_MAX: usize = 65_536;
/// Most bytes kept of a second login's output. Chosen: hundreds of times the length of the script's own lines.
const OUTPUT_LEN_MAX: usize = 65_536;
/// Most lines kept of the messages of ssh and the server. Chosen: an error message and a long banner.
const SAID_MAX: usize = 100;
/// The words in the error message of a stock mosh-server without a UTF-8 locale. Source: Mosh 1.4.0 as observed.
const LOCALE_REFUSED: &str = "needs a UTF-8 native locale";
/// The words in front of the process number in the message of a server that detaches.
const DETACHED: &str = "detached, pid = ";
/// Beginnings of the line in which a server that detaches prints its version.
const VERSIONS: [&str; 2] = ["rove ", "mosh-server (mosh "];
/// Beginnings of ssh's harmless messages. Source: OpenSSH's messages.
const BY_THE_WAY: [&str; 3] =
    ["Warning: Permanently added", "Pseudo-terminal will not be allocated", "Connection to "];
/// Longest line of a message that is shown to the user, in characters. Chosen: two lines of a terminal.
const SHOWN_LEN_MAX: usize = 160;

/// The address, port and key of a server that has announced itself, for a trial session.
pub(crate) struct Opening {
    /// The addresses at which the server may be, in the order to try.
    pub(crate) addresses: Vec<String>,
    pub(crate) port: u16,
    pub(crate) key: Key,
}

/// The options and the plan of a successful login, from which a second login is made.
pub(crate) struct Door {
    options: HostOptions,
    plan: Plan,
}

impl Door {
    /// Returns how a session starts a forwarder on a jump host, and its command's first line. `None` without that host.
    pub(crate) fn jump(&self) -> Option<(JumpCall, String)> {
        let call = tunnel::jump_of(&self.options, &self.plan)?;
        Some((call, remote::first_line(&self.plan.challenge)))
    }
}

/// Logs in, surveys the host and starts a server for the command `session`; records the observations in `host`. Returns
/// `None` if no server announced itself, and an error only for an interruption or a failure here.
pub(crate) fn open(
    mut options: HostOptions,
    invocation: &Invocation,
    session: Vec<OsString>,
    events: &mut EventLoop,
    host: &mut Host,
) -> Result<Option<(Opening, Door)>, Stop> {
    options.command = session;
    // The trial ends its session. So it must neither attach to a running session nor start a session without a program.
    (options.session, options.no_program) = (WantedSession::New, false);
    // The doctor examines UDP, so no tunnel is used.
    options.tunnel = TunnelUse::Never;
    let colors = colors::of_terminal_or_guess();
    let challenge = entropy::challenge().map_err(io::Error::other)?;
    let survey = survey::script(&challenge, options.server.is_none() && !options.local);
    let plan = match prepare::plan(&options, invocation, colors, challenge, &survey, None) {
        Ok(plan) => plan.without_key_question(&options),
        Err(error) => {
            host.ssh = Ssh::NoAddress(error.to_string());
            return Ok(None);
        }
    };
    host.detour = plan.detour().map(str::to_owned);
    let mut door = Door { options, plan };
    let Some((mut listener, mut status)) = log_in(&door, events, host)? else { return Ok(None) };
    let announced = &listener.startup.announced;
    if listener.said.iter().any(|line| last_words::is_unknown_key(line))
        && let Some(asking) = door.plan.with_key_question(announced)
    {
        door.plan = asking;
        let Some(again) = log_in(&door, events, host)? else { return Ok(None) };
        (listener, status) = again;
    }
    let opening = listener.conclude(&door.plan, &door.options, status, host);
    host.far.iter_mut().for_each(|far| note_wishes(&door, far));
    Ok(opening.map(|opening| (opening, door)))
}

/// Records the forwards and the agent that a session would have by the user's options.
fn note_wishes(Door { options, plan }: &Door, far: &mut Far) {
    far.forwards = bootstrap::forwards(options, &plan.config).cloned().unwrap_or_default();
    let lent = plan.config.agent.as_ref().filter(|_| options.forwards());
    far.loan = lent.map(|it| if agent::answers(it) { Loan::Answers } else { Loan::Silent });
}

/// Runs ssh. Returns the facts in its output, and its exit status unless ssh took too long. `None` if ssh is missing.
fn log_in(
    Door { options, plan }: &Door,
    events: &mut EventLoop,
    host: &mut Host,
) -> Result<Option<(Listener, Option<ExitStatus>)>, Stop> {
    let mut listener = Listener::new(plan.challenge.clone(), plan.rules());
    let mut command = prepare::command(plan, options);
    let program = command.get_program().to_owned();
    let status = command::run(&mut command, events, LOGIN_PATIENCE, |stream, bytes| {
        let stood = listener.is_announced;
        listener.read(stream, bytes);
        (!stood && listener.is_announced).then_some(END_PATIENCE)
    });
    match status {
        Ok(status) => Ok(Some((listener, status))),
        Err(Stop::Local(error)) if error.kind() == io::ErrorKind::NotFound => {
            host.ssh = Ssh::Missing(format!("cannot run {}: {error}", program.display()));
            Ok(None)
        }
        Err(stop) => Err(stop),
    }
}

/// Logs in again to examine a server that does not answer. Returns `None` if the login fails or lasts too long.
///
/// # Errors
///
/// Returns only [`Stop::Interrupted`], because a login that fails is no error.
pub(crate) fn look_again(
    door: &Door,
    mark: &str,
    server: &Server,
    events: &mut EventLoop,
) -> Result<Option<Aftermath>, Stop> {
    let challenge = &door.plan.challenge;
    let script = survey::aftermath_script(challenge, mark, server.port, server.pid);
    let mut command = prepare::command(&door.plan.for_script(&script), &door.options);
    let mut output = Vec::new();
    let status = command::run(&mut command, events, SECOND_PATIENCE, |stream, bytes| {
        if stream == Stream::Output {
            keep(&mut output, bytes);
        }
        None
    });
    match status {
        Err(Stop::Interrupted) => Err(Stop::Interrupted),
        Ok(Some(_)) => Ok(Some(survey::aftermath(challenge, &String::from_utf8_lossy(&output)))),
        Ok(None) | Err(Stop::Local(_)) => Ok(None),
    }
}

/// Appends bytes to the kept output, up to [`OUTPUT_LEN_MAX`].
fn keep(output: &mut Vec<u8>, bytes: &[u8]) {
    let room = OUTPUT_LEN_MAX - output.len();
    output.extend(&bytes[..bytes.len().min(room)]);
}

/// Reads ssh's output line by line, and collects the facts in it.
struct Listener {
    challenge: Challenge,
    startup: Startup,
    /// The incomplete last line of the text that `startup` passes on from each output stream.
    lines: [Vec<u8>; 2],
    /// Whether the survey has begun. Earlier output comes from start-up files and from ssh itself.
    has_begun: bool,
    is_announced: bool,
    noise: Noise,
    far: Far,
    /// Messages of ssh and start-up files; after the survey's first line, the server's messages up to its announcement.
    said: Vec<String>,
    pid: Option<u32>,
    locale_refused: bool,
}

impl Listener {
    fn new(challenge: Challenge, rules: Rules) -> Self {
        Self {
            challenge,
            startup: Startup::new(rules),
            lines: Default::default(),
            has_begun: false,
            is_announced: false,
            noise: Noise::default(),
            far: Far::default(),
            said: Vec::new(),
            pid: None,
            locale_refused: false,
        }
    }

    fn read(&mut self, stream: Stream, bytes: &[u8]) {
        let mut text = Vec::new();
        for byte in bytes.chunks(1) {
            // `startup` removes lines with a key, so they are never shown. Reading byte by byte separates the output
            // before the announcement from the output after it.
            let read = self.startup.read(stream, byte, &mut text);
            debug_assert!(read.is_ok(), "only stock's rules refuse a line");
            self.is_announced |= read == Ok(Progress::Announced);
            self.take_all(stream, &mut text);
        }
    }

    fn finish(&mut self) {
        for stream in Stream::ALL {
            let mut text = Vec::new();
            let end = self.startup.finish(stream, &mut text);
            debug_assert!(end.is_ok(), "only stock's rules refuse a line");
            self.take_all(stream, &mut text);
            if !self.lines[stream as usize].is_empty() {
                self.end_line(stream);
            }
        }
    }

    fn take_all(&mut self, stream: Stream, text: &mut Vec<u8>) {
        for byte in text.drain(..) {
            let line = &mut self.lines[stream as usize];
            if byte == b'\n' {
                self.end_line(stream);
            } else if line.len() < LINE_LEN_MAX {
                line.push(byte);
            }
        }
    }

    fn end_line(&mut self, stream: Stream) {
        let line = core::mem::take(&mut self.lines[stream as usize]);
        let text = String::from_utf8_lossy(&line).trim_ascii_end().to_owned();
        if stream == Stream::Output {
            if survey::begins(&self.challenge, &text) {
                self.has_begun = true;
                self.said.clear();
                return;
            }
            if self.has_begun && survey::take(&text, &mut self.far) {
                return;
            }
        }
        // Stock Mosh's wrapper reads both streams, and would take this line for the announcement.
        self.noise.fake |= !self.has_begun
            && ["MOSH CONNECT ", "MOSH IP "].iter().any(|marker| text.starts_with(marker));
        self.take_text(&line);
    }

    fn take_text(&mut self, line: &[u8]) {
        let shown = Printable::default().filter(line);
        let shown = String::from_utf8_lossy(&shown);
        let text: String = shown.trim().chars().take(SHOWN_LEN_MAX).collect();
        if self.has_begun {
            // The server may print this line on its error stream, whose order relative to the announcement is unknown.
            if let Some((_, digits)) = text.split_once(DETACHED) {
                self.pid = digits.trim_end_matches(']').parse().ok().or(self.pid);
                return;
            }
            let tells = VERSIONS.iter().any(|version| text.starts_with(version));
            if tells && self.far.version.is_empty() {
                self.far.version = text;
                return;
            }
        }
        if self.is_announced {
            return;
        }
        self.locale_refused |= self.has_begun && text.contains(LOCALE_REFUSED);
        self.noise.escapes |= !self.has_begun && line.contains(&0x1b);
        // A line that looks like a server's announcement may contain a key, and must not be shown.
        let is_aside = BY_THE_WAY.iter().any(|aside| text.starts_with(aside));
        if text.is_empty() || text.contains("MOSH CONNECT") || is_aside {
            return;
        }
        if !self.has_begun {
            self.noise.lines += 1;
            if self.noise.lines == 1 {
                self.noise.sample.clone_from(&text);
            }
        }
        if self.said.len() < SAID_MAX {
            self.said.push(text);
        }
    }

    /// Records the facts from the output in `host`. Returns the server that announced itself, or `None`.
    fn conclude(
        mut self,
        plan: &Plan,
        options: &HostOptions,
        status: Option<ExitStatus>,
        host: &mut Host,
    ) -> Option<Opening> {
        self.finish();
        host.locale_refused = self.locale_refused && !self.is_announced;
        let announced = self.startup.announced;
        let failure = announced.proxy_failure.as_ref().map(|failure| failure.sentence.clone());
        host.said = failure.map_or(self.said, |sentence| vec![sentence]);
        self.noise.fake |= announced.early_output == EarlyOutput::Impostor;
        if !self.has_begun {
            host.ssh = match status {
                None => Ssh::TimedOut,
                Some(status) if plan.is_ssh_failure(status) => Ssh::Failed,
                Some(_) => Ssh::Diverted,
            };
            host.noise.fake = self.noise.fake;
            return None;
        }
        host.noise = self.noise;
        host.far = Some(self.far);
        let others = [announced.proxy_address.clone(), announced.server_address.clone()];
        if announced.lacks_program() {
            host.no_server_program = Some(Remedy::of(&options.host, announced.platform.as_ref()));
            return None;
        }
        let holds_ssh = status.is_none();
        let status = status.unwrap_or_default();
        match plan.judge(options, announced, status) {
            Ok((first, connect)) => {
                let (port, key) = (connect.port.parse().ok()?, Key::from_text(&connect.key).ok()?);
                host.server = Some(Server { port, pid: self.pid, holds_ssh });
                let addresses = iter::once(first.text).chain(others.into_iter().flatten());
                Some(Opening { addresses: addresses.collect(), port, key })
            }
            Err(error) => {
                host.port_refused = matches!(error, NoSession::NoPortRange);
                host.no_address = matches!(error, NoSession::NoAddress);
                if matches!(error, NoSession::SshFailed { .. }) {
                    host.ssh = Ssh::Failed;
                }
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;
