//! The start of a session whose datagrams go through ssh: the same login starts the server and carries the datagrams,
//! so that the user is asked once.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};

use rove_bootstrap::last_words::LastWords;
use rove_bootstrap::ssh_config::SshConfig;
use rove_bootstrap::startup::{Announced, Connect, Progress, Rules, Startup, Stream};
use rove_bootstrap::tunnel::standby;
use rove_bootstrap::{
    Account, BindServer, Challenge, HostOptions, NoSession, Plan, ProgramName, SSH_FAILURE, remote,
    ssh_config,
};
use rustix::event::{PollFd, PollFlags, poll};

use crate::bootstrap::command::is_waiting;
use crate::bootstrap::error::BootstrapError;
use crate::bootstrap::screen::{Screen, tell, tell_running};
use crate::bootstrap::ssh_query;
use crate::install::remedy::Remedy;
use crate::locale;
use crate::sys;
use crate::tunnel::inherited::{Again, Descriptors, Inherited};
use crate::tunnel::login::ASKS_NOTHING;

/// The address where the server listens: only ssh's end on the host sends to it.
pub(crate) const SERVER: &str = "127.0.0.1";

/// A session that waits for its client, behind a running ssh.
pub(crate) struct Started {
    pub(crate) connect: Connect,
    pub(crate) tunnel: Inherited,
    /// The user's account on the host by ssh's configuration. `None` if ssh does not say.
    pub(crate) account: Option<Account>,
}

/// Logs in and starts the server. `challenge` was drawn for this run.
///
/// # Errors
///
/// Returns why there is no session.
pub(crate) fn start(
    options: &HostOptions,
    colors: u32,
    challenge: Challenge,
) -> Result<Started, BootstrapError> {
    let config = ssh_query::config(options);
    for note in config.notes(&options.host).iter().filter(|_| !options.quiet) {
        tell(options.name.as_str(), note);
    }
    let command_line = |remote: OsString, asks| ssh_words(options, &config, remote, asks);
    let words = command_line(remote_command(options, colors, &challenge), true);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env_remove("MOSH_PREDICTION_DISPLAY").env_remove("MOSH_KEY");
    tell_running(options, &command);
    // A hangup of the terminal must not end the ssh that carries the session's shutdown. The client has its own
    // handlers.
    let refused = |what| move |error| BootstrapError::Local { what, error };
    sys::ignore_signal(libc::SIGHUP).map_err(refused("ignoring SIGHUP"))?;
    let spawned =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = spawned
        .map_err(|error| BootstrapError::ssh_missing(options.name, command.get_program(), error))?;
    let word = challenge.clone();
    let rules = Rules::Tolerant { challenge, proxy: false, start: true };
    let mut last_words = LastWords::new(&options.host, &config, options.verbose);
    let announced = listen(&mut child, options.name, rules, &mut last_words);
    let announced = announced.map_err(refused("the output of ssh"))?;
    let Some(connect) = announced.connect.clone() else {
        // There is nothing more to read or to write.
        child.stdin = None;
        let status = child.wait().map_err(refused("the end of ssh"))?;
        let error = failure(options, &announced, status);
        let has_failed = matches!(error, BootstrapError::NoSession(NoSession::SshFailed { .. }));
        let (refusal, held) = last_words.conclude(has_failed);
        Screen::new(options.name).show(Stream::Errors, &held);
        return Err(refusal.map_or(error, Into::into));
    };
    let again = ssh_config::is_ssh(&options.ssh)
        .then(|| command_line(remote::tunnel_again(&connect.port, &word), false));
    let pipes = || io::Error::from(io::ErrorKind::BrokenPipe);
    let descriptors =
        Descriptors::of(&mut child).ok_or_else(pipes).map_err(refused("a pipe to ssh"))?;
    let again = Again::new(again.as_deref(), &word, None);
    let tunnel = descriptors.bequeath(&child, again);
    let tunnel = tunnel.map_err(|errno| refused("a pipe to ssh")(errno.into()))?;
    // The client now owns the descriptors.
    core::mem::forget(descriptors);
    Ok(Started { connect, tunnel, account: config.account() })
}

/// Returns how an ssh logs in beside UDP, once more for the session at this port, where the first login `asks_nothing`.
pub(super) fn again_beside(
    options: &HostOptions,
    plan: &Plan,
    port: &str,
    asks_nothing: bool,
) -> Again {
    let remote = remote::tunnel_again(port, &plan.challenge);
    let words = ssh_words(options, &plan.config, remote, false);
    let words = standby::without_touch(&words, &key_files(&plan.config));
    Again::new(Some(&words), &plan.challenge, Some(asks_nothing))
}

/// Returns the files of the keys that ssh may offer. `ssh -G` leaves a tilde as it is.
fn key_files(config: &SshConfig) -> Vec<String> {
    let home = env::var("HOME").unwrap_or_default();
    let path = |file: &String| match file.strip_prefix("~/") {
        Some(rest) => format!("{home}/{rest}"),
        None => file.clone(),
    };
    config.key_files.iter().map(path).collect()
}

fn remote_command(options: &HostOptions, colors: u32, challenge: &Challenge) -> OsString {
    let variables = locale::for_server(options.name);
    let bound =
        HostOptions { bind_server: BindServer::Address(SERVER.to_owned()), ..options.clone() };
    let args = remote::server_arguments(&bound, colors, variables);
    let server = options.server.as_deref();
    let stock = (options.name == ProgramName::Mosh).then_some(OsStr::new("mosh-server"));
    remote::tunnel(server.or(stock), challenge, &args)
}

/// Returns the command line of an ssh without a terminal on the host. Unless it `asks` the user, ssh fails.
fn ssh_words(
    options: &HostOptions,
    config: &SshConfig,
    remote: OsString,
    asks: bool,
) -> Vec<OsString> {
    let mut words: Vec<OsString> = options.ssh.iter().map(OsString::from).collect();
    words.extend(config.overrides().into_iter().map(OsString::from));
    words.extend(config.sharing.words().iter().map(OsString::from));
    if ssh_config::is_ssh(&options.ssh) {
        // Other sessions must be able to end with their ssh while this one continues, and the other way round.
        words.extend(["-o", "ControlMaster=no"].map(OsString::from));
    }
    if !asks {
        words.extend(ASKS_NOTHING.map(OsString::from));
    }
    if options.ssh_pty {
        // Only without a terminal do bytes arrive unchanged.
        words.push("-T".into());
    }
    words.extend(options.family_word().map(OsString::from));
    words.extend([options.host.clone(), "--".into(), remote]);
    words
}

/// Reads the output of ssh and the host until the server has announced itself or ssh has ended. The bytes after the
/// announcement belong to the tunnel and are not read here.
fn listen(
    child: &mut Child,
    name: ProgramName,
    rules: Rules,
    last_words: &mut LastWords,
) -> io::Result<Announced> {
    let (Some(output), Some(errors)) = (&mut child.stdout, &mut child.stderr) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let mut startup = Startup::new(rules);
    let mut screen = Screen::new(name);
    let mut are_errors_open = true;
    loop {
        let mut fds =
            [output.as_fd(), errors.as_fd()].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        let count = if are_errors_open { 2 } else { 1 };
        rustix::io::retry_on_intr(|| poll(&mut fds[..count], None))?;
        let [has_output, has_errors] = fds.map(|fd| !fd.revents().is_empty());
        if has_errors && are_errors_open {
            are_errors_open = show(errors, &mut screen, last_words)?;
        }
        if !has_output {
            continue;
        }
        let (mut byte, mut text) = ([0], Vec::new());
        let len = output.read(&mut byte)?;
        // Only stock's rules refuse a line.
        let progress = match len {
            0 => startup.finish(Stream::Output, &mut text).map(|()| Progress::Reading),
            _ => startup.read(Stream::Output, &byte, &mut text),
        };
        screen.show(Stream::Output, &text);
        if len == 0 {
            // ssh has ended, and another process may hold its pipe open.
            while are_errors_open && is_waiting(Some(&*errors))? {
                are_errors_open = show(errors, &mut screen, last_words)?;
            }
        }
        if len == 0 || progress.is_ok_and(|progress| progress == Progress::Announced) {
            return Ok(startup.announced);
        }
    }
}

/// Shows what ssh prints on its error stream. Returns whether it may print more.
fn show(
    errors: &mut ChildStderr,
    screen: &mut Screen,
    last_words: &mut LastWords,
) -> io::Result<bool> {
    let mut buffer = [0; 4096];
    let read = errors.read(&mut buffer)?;
    screen.show(Stream::Errors, &last_words.filter(&buffer[..read]));
    Ok(read > 0)
}

fn failure(options: &HostOptions, announced: &Announced, status: ExitStatus) -> BootstrapError {
    let host = options.host.clone();
    if announced.no_tunnel_program {
        let platform = announced.platform.clone();
        let remedy = Remedy::of(&host, platform.as_ref());
        BootstrapError::NoTunnelProgram { host, platform, remedy }
    } else {
        NoSession::of(options, announced, status, status.code() == Some(SSH_FAILURE)).into()
    }
}
