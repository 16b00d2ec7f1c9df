//! Starts a session. On the host, ssh starts a server, which prints port and key. This process becomes the client.
//!
//! [`prepare`] collects the facts that a plan of the login needs. [`launch`] runs the plan as a [`command`] with two
//! output streams. [`screen`] shows the user all output except the server's announcement. [`proxy`] is the proxy
//! command that learns the host's address while it connects for ssh. [`ssh_query`] asks ssh for its configuration, and
//! [`sharing`] decides which open connection ssh may use. [`master`] opens an ssh connection that only this run uses.
//! [`ssh_port`] explains `-p` after a failed login. [`choice`] asks which of several sessions the user means.
//! [`questions`] watches whether ssh asks the user anything. [`watch`] ends ssh if this process is killed. [`tunnel`]
//! makes the commands of more ssh processes: for datagrams, the agent or a forwarder. [`remote_command`] runs other
//! commands than a server on the host, such as `rove list host`. Source: Mosh 1.4.0 as observed.

use std::convert::Infallible;
use std::env;
use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use rove_bootstrap::last_words::Refusal;
use rove_bootstrap::ssh_config::SshConfig;
use rove_bootstrap::startup::Connect;
use rove_bootstrap::{
    Forwards, HostOptions, Plan, ProgramName, Resume, Resumed, TunnelUse, WantedSession,
};
use rove_platform::signals;
use rustix::fs::Access;

use crate::bootstrap::error::BootstrapError;
use crate::bootstrap::invocation::find_in_path;
use crate::bootstrap::launch::{End, Launch};
use crate::bootstrap::master::Master;
use crate::bootstrap::screen::tell;
use crate::bootstrap::tunnel::JumpQuestion;
use crate::install::{self, InstallOptions};
use crate::listeners::Listeners;
use crate::session_call::{self, SessionCall, StreamsCall};
use crate::share::{self, Gate};
use crate::stdio_forward::{gates, handed_command};
use crate::tunnel::inherited::Inherited;
use crate::{colors, entropy, escape_key, logging, resume};

pub(crate) mod address;
pub(crate) mod choice;
pub(crate) mod command;
pub(crate) mod error;
mod invocation;
mod launch;
pub(crate) mod master;
pub(crate) mod prepare;
pub(crate) mod proxy;
mod questions;
pub(crate) mod remote_command;
pub(crate) mod screen;
pub(crate) mod sharing;
pub(crate) mod ssh_port;
pub(crate) mod ssh_query;
pub(crate) mod tunnel;
mod watch;

pub(crate) use invocation::{EXEC_NAME, Invocation};

/// Message to the user about the features that are missing if the host has only mosh-server.
const STOCK_LACKS: &str = "has no rove, so its mosh-server serves: the exit status, links, underline styles, \
                           --scrollback and rove list are missing with it";

/// Starts a session. On success this process becomes the client, and the function does not return. If the host has no
/// server program, this offers to copy rove there, and then starts it. The error says why no session starts.
pub(crate) fn run(
    options: &HostOptions,
    invocation: &Invocation,
) -> Result<Infallible, BootstrapError> {
    let configured = options.configured(ssh_query::config(options));
    let options = &configured.ok_or(BootstrapError::TwoCommands)?;
    let mut master = Master::prepare(options);
    let Err(error) = start(options, invocation, &mut master);
    let (BootstrapError::NoServerProgram { platform: Some(platform), .. }
    | BootstrapError::NoTunnelProgram { platform: Some(platform), .. }) = &error
    else {
        return Err(error);
    };
    let copy = InstallOptions { session: options.clone(), build: None, force: false };
    if install::offer(&copy, options.install, platform, master.as_ref())? {
        return start(options, invocation, &mut master);
    }
    Err(error)
}

/// Starts a server and becomes its client. If the host has no server program, `master` keeps ssh's connection open.
fn start(
    options: &HostOptions,
    invocation: &Invocation,
    master: &mut Option<Master>,
) -> Result<Infallible, BootstrapError> {
    let (mut plan, question, Launch { announced, end }) =
        match master.as_mut().and_then(Master::take_waiting) {
            Some(waiting) => {
                let (plan, launch) = waiting.search(options)?;
                let question = JumpQuestion::ask(options, &plan);
                (plan, question, launch)
            }
            None => first_login(options, invocation, master.as_ref())?,
        };
    let mut carrier = None;
    let status = match end {
        End::Ended(status) => status,
        End::Carries { ssh, asks_nothing } => {
            (carrier, plan) = (Some((ssh, asks_nothing)), plan.or_tunnel(options, &announced));
            master.iter().for_each(Master::abandon);
            ExitStatus::default()
        }
        End::Refused(refusal) => return Err(refusal.into()),
        End::Waits(waiting) => {
            if let Some(master) = master {
                master.keep(waiting);
            }
            return Err(BootstrapError::no_program(options, announced));
        }
    };
    // The master's connection ends here, because the client that replaces this process would not close it.
    *master = None;
    if announced.lacks_program() {
        return Err(BootstrapError::no_program(options, announced));
    }
    outlive_terminal(options, &plan)?;
    let (is_stock, taken) = (announced.is_stock, announced.attachment.taken);
    let others = plan.other_addresses(options, &announced);
    let (server, connect) = plan.judge(options, announced, status)?;
    if let Some(note) = server.note.as_ref().filter(|_| !options.quiet) {
        tell(&invocation.speaker(), note);
    }
    if is_stock && !options.quiet {
        let host = options.host.to_string_lossy();
        tell(&invocation.speaker(), &format!("{} {STOCK_LACKS}", host.escape_debug()));
    }
    if options.verbose {
        tell(
            &invocation.speaker(),
            &server_place(options, &plan, &server.text, &connect.port, &others),
        );
    }
    let resumed = match &options.session {
        WantedSession::Resumed(_, resumed) => {
            let kept = resume::keep_lock(resumed.lock);
            kept.map_err(|error| BootstrapError::Local { what: "the lock of the record", error })?;
            Some(Resumed { taken, ..resumed.clone() })
        }
        _ => None,
    };
    let tunnel = carrier.map(|(ssh, asks_nothing)| {
        let mut again = tunnel::again(options, &plan, &connect.port, asks_nothing);
        again.jump = question.answer().filter(|_| asks_nothing);
        ssh.bequeath(again)
    });
    let local = |error| BootstrapError::Local { what: "a pipe to ssh", error };
    let tunnel = tunnel.transpose().map_err(local)?;
    let call = SessionCall { others, tunnel, resumed, ..session_call(options, &plan, is_stock) };
    Err(become_client(options, invocation, &server.text, &connect, &call))
}

/// Ignores SIGHUP if ssh outlives the terminal, until the client handles SIGHUP. Returns the system's error.
fn outlive_terminal(options: &HostOptions, plan: &Plan) -> Result<(), BootstrapError> {
    // ssh ends its ProxyCommand (`rove -W`) by SIGHUP. A service manager may end a session without program and terminal
    // by this signal. Such processes must still obey it.
    let obeys_hangup = matches!(options.session, WantedSession::Streams(_))
        || options.no_program && !options.background && missing_terminal().is_some();
    if plan.outlives_terminal() && !obeys_hangup {
        let local = |error| BootstrapError::Local { what: "ignoring SIGHUP", error };
        signals::set_ignored(libc::SIGHUP, true).map_err(local)?;
    }
    Ok(())
}

/// Returns the message to the user about the address of the session's server.
fn server_place(
    options: &HostOptions,
    plan: &Plan,
    server: &str,
    port: &str,
    others: &[String],
) -> String {
    if plan.is_tunnel() {
        return format!(
            "the server is at UDP port {port} of {}, through ssh",
            options.host.display()
        );
    }
    let mut place = format!("the server is at {server}, UDP port {port}");
    if !others.is_empty() {
        place.push_str(&format!(", or at {}", others.join(" or ")));
    }
    place
}

/// Checks the terminal, the client program, the log and the ports of this computer, then lets ssh log in. Returns the
/// plan used, the lookup of the jump host's addresses, and ssh's result. The error is why there is no login.
fn first_login(
    options: &HostOptions,
    invocation: &Invocation,
    master: Option<&Master>,
) -> Result<(Plan, JumpQuestion, Launch), BootstrapError> {
    check_terminal(options)?;
    check_client(options)?;
    if options.name == ProgramName::Rove && options.client.is_none() {
        // The client that this process becomes opens the log again.
        logging::open().map_err(BootstrapError::Log)?;
    }
    if let Some(hint) = options.port_hint().filter(|_| !options.quiet) {
        tell(&invocation.speaker(), &hint);
    }
    let colors = color_count(options)?;
    let challenge = entropy::challenge()?;
    let plan = prepare::plan(options, invocation, colors, challenge, "", master)?;
    let plan = plan.without_key_question(options);
    let notes = plan.config.notes(&options.host, options.forwards(), options.has_program());
    for note in notes.iter().filter(|_| !options.quiet) {
        tell(&invocation.speaker(), note);
    }
    // A required port that is taken on this computer fails the login before anything starts on the host.
    Listeners::check(forwards(options, &plan.config))?;
    let question = JumpQuestion::ask(options, &plan);
    let (plan, launch) = log_in(options, plan)?;
    Ok((plan, question, launch))
}

/// Returns the forwards of ssh's configuration. `None` if there are none, or if the session forwards nothing.
pub(crate) fn forwards<'a>(options: &HostOptions, config: &'a SshConfig) -> Option<&'a Forwards> {
    Some(&config.forwards).filter(|it| options.forwards() && !it.is_empty())
}

/// Lets ssh log in. If ssh refuses an unknown host key, lets it log in again and ask the user about the key. Returns
/// the plan and the result of the last login.
fn log_in(options: &HostOptions, plan: Plan) -> Result<(Plan, Launch), BootstrapError> {
    let start = |plan| launch::start_server(options, plan, prepare::command(plan, options));
    let launch = start(&plan)?;
    if let End::Refused(Refusal::UnknownKey { .. }) = launch.end
        && let Some(asking) = plan.with_key_question(&launch.announced)
    {
        let launch = start(&asking)?;
        return Ok((asking, launch));
    }
    Ok((plan, launch))
}

/// Turns this process into an ssh that prints its configuration for the host. If that fails, returns the error.
pub(crate) fn ask_ssh(ssh: &[String], host: &OsStr) -> BootstrapError {
    let (program, args) = ssh.split_first().expect("an ssh command has a program");
    let error = Command::new(program).args(args).arg("-G").arg(host).exec();
    BootstrapError::ssh_missing(ProgramName::Rove, OsStr::new(program), error)
}

/// Turns this process into the client. Returns only if the client cannot be run, with the error.
fn become_client(
    options: &HostOptions,
    invocation: &Invocation,
    address: &str,
    connect: &Connect,
    call: &SessionCall,
) -> BootstrapError {
    let mut client = client_command(options);
    client.arg(invocation.tag());
    if options.verbose {
        client.arg("-v");
    }
    let text = serde_json::to_string(call).expect("a call is text and numbers");
    let error = client
        .arg(address)
        .arg(&connect.port)
        .env(&*session_call::VARIABLE.to_string_lossy(), text)
        .env("MOSH_KEY", &connect.key)
        .envs(gates::variable(options))
        .envs(handed_command::variable(call.streams.joined.as_ref()))
        .env("MOSH_CLIENT_PID", std::process::id().to_string())
        .exec();
    call.tunnel.iter().for_each(Inherited::end);
    BootstrapError::ClientMissing { program: client.get_program().to_owned(), error }
}

/// Returns how many colours the terminal has. Under the name `mosh`, this asks the client program, which may fail.
fn color_count(options: &HostOptions) -> Result<u32, BootstrapError> {
    if options.name == ProgramName::Rove {
        return Ok(colors::of_terminal_or_guess());
    }
    let mut client = client_program(options);
    let output =
        client.arg("-c").stdin(Stdio::inherit()).stderr(Stdio::inherit()).output().map_err(
            |error| BootstrapError::ClientMissing {
                program: client.get_program().to_owned(),
                error,
            },
        )?;
    if !output.status.success() {
        let program = client.get_program().to_owned();
        return Err(BootstrapError::NoColors { program, status: output.status });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.strip_suffix('\n').unwrap_or(&text).parse().unwrap_or(0))
}

/// Returns the name of a standard stream that is no terminal. `None` if input and output are a terminal, which a
/// session with a program needs.
pub(crate) fn missing_terminal() -> Option<&'static str> {
    match (io::stdin().is_terminal(), io::stdout().is_terminal()) {
        (false, _) => Some("standard input"),
        (true, false) => Some("standard output"),
        (true, true) => None,
    }
}

/// Returns an error if rove's own client needs a terminal and has none.
fn check_terminal(options: &HostOptions) -> Result<(), BootstrapError> {
    let needs_none = matches!(options.session, WantedSession::Streams(_)) || options.no_program;
    if options.name == ProgramName::Mosh || options.client.is_some() || needs_none {
        return Ok(());
    }
    missing_terminal().map_or(Ok(()), |stream| Err(BootstrapError::no_terminal(options, stream)))
}

/// Returns an error if the client program that the user names is not executable. No server is started before this
/// check. Under the name `mosh`, [`color_count`] runs the client and so finds the fault.
fn check_client(options: &HostOptions) -> Result<(), BootstrapError> {
    let Some(client) = options.client.as_ref().filter(|_| options.name == ProgramName::Rove) else {
        return Ok(());
    };
    let path = if client.as_encoded_bytes().contains(&b'/') {
        PathBuf::from(client)
    } else {
        find_in_path(client).unwrap_or_else(|| client.into())
    };
    let access = rustix::fs::access(&path, Access::EXEC_OK).map_err(io::Error::from);
    let checked = access.and_then(|()| match path.is_file() {
        true => Ok(()),
        false => Err(io::ErrorKind::PermissionDenied.into()),
    });
    checked.map_err(|error| BootstrapError::ClientMissing { program: client.clone(), error })
}

/// Returns the command of the client program, with the environment variables that a stock mosh-client reads.
fn client_command(options: &HostOptions) -> Command {
    let mut client = client_program(options);
    client.env("MOSH_PREDICTION_DISPLAY", options.choices.predict.name());
    if options.choices.predict_overwrite {
        client.env("MOSH_PREDICTION_OVERWRITE", "yes");
    }
    if !options.choices.init {
        client.env("MOSH_NO_TERM_INIT", "1");
    }
    if let Some(escape_key) = options.escape_key {
        let bytes = escape_key.map(|key| char::from(key).to_string());
        client.env("MOSH_ESCAPE_KEY", bytes.unwrap_or_default());
    }
    if !options.choices.title_prefix {
        client.env("MOSH_TITLE_NOPREFIX", "1");
    }
    client
}

/// Returns the facts and options for the client process. `is_stock` says whether the server is mosh-server.
fn session_call(options: &HostOptions, plan: &Plan, is_stock: bool) -> SessionCall {
    let command = || shell_words::join(options.command.iter().map(|word| word.to_string_lossy()));
    let is_rove = options.name == ProgramName::Rove;
    let controller = options.choices.controller.as_deref();
    let gate = Gate::of(&options.host, &plan.config).map(|gate| gate.following(controller));
    let mut choices = session_call::with_environment(options.choices.clone());
    if matches!(options.session, WantedSession::Attached(_, Some(_))) {
        // Resuming takes the session over, which a joined client must not do.
        choices.resume = Resume::Never;
    }
    SessionCall {
        choices,
        escape_key: options.escape_key.unwrap_or_else(escape_key::from_environment),
        quiet: is_rove && options.quiet || session_call::is_quiet(options.name),
        // The client's message about a silent server names the host.
        host: options.host.to_str().map(str::to_owned),
        command: is_rove.then(command),
        account: plan
            .config
            .account()
            .filter(|_| options.prompt_memory && !options.no_program)
            .map(|it| it.to_string()),
        ssh: options.ssh.clone(),
        way: options.way_words(),
        no_program: options.no_program,
        background: options.background,
        // A stock server has no `rove attach`.
        attached_by: options.attached_by().filter(|_| !is_stock),
        streams: StreamsCall {
            forwards: forwards(options, &plan.config).cloned(),
            agent: tunnel::agent_call(options, plan),
            joined: match &options.session {
                WantedSession::Streams(passage) => Some(passage.joined.clone()),
                _ => None,
            },
            gate: gate.filter(|_| share::may_share(options)),
        },
        ..SessionCall::default()
    }
}

/// Returns the client program that the user named. The default is rove, or for `mosh` an installed `mosh-client`.
fn client_program(options: &HostOptions) -> Command {
    if let Some(client) = &options.client {
        return Command::new(client);
    }
    // Only rove's client can use a tunnel.
    let may_be_stock = options.name == ProgramName::Mosh && options.tunnel != TunnelUse::Always;
    if may_be_stock && find_in_path("mosh-client".as_ref()).is_some() {
        return Command::new("mosh-client");
    }
    let mut client = Command::new(env::current_exe().unwrap_or_else(|_| "rove".into()));
    match options.name {
        ProgramName::Rove => client.arg0("rove").arg("client"),
        ProgramName::Mosh => client.arg0("mosh-client"),
    };
    client
}
