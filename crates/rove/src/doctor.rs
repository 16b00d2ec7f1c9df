//! The doctor (`rove doctor`): takes the steps that start a session one by one, and names the step (leg) that fails.
//!
//! The doctor runs the code that sessions use. [`login`] logs in and starts a server as a session does. [`survey`] is
//! the script that asks the host questions during that login. [`trial`] holds a short session with the server.
//! [`facts`] has the observations, [`diagnosis`] decides their meaning, and [`report`] formats the result.

use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rove_bootstrap::{HostOptions, TunnelUse};
use rove_platform::clock::Clock;
use rove_platform::event_loop::EventLoop;
use rove_udp::Refusal;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use crate::bootstrap::command::Stop;
use crate::bootstrap::{Invocation, address, ssh_query};
use crate::doctor::diagnosis::diagnose;
use crate::doctor::facts::{Aftermath, Facts, Here, Host, Path, Ssh};
use crate::doctor::trial::Trial;
use crate::messages::{columns, warn};
use crate::terminal_type::{self, RenderOptions};
use crate::{entropy, locale};

pub(crate) mod diagnosis;
pub(crate) mod facts;
mod login;
mod report;
mod survey;
pub(crate) mod trial;

/// Exit code if no problem was found.
const WELL: u8 = 0;
/// Exit code if a problem was found.
const PROBLEM: u8 = 1;
/// Exit code if the doctor itself failed, for example because it could not print the report.
const FAILED: u8 = 2;
/// Exit code if the user interrupted the doctor. Source: the status that shells give a command ended by SIGINT.
const INTERRUPTED: u8 = 130;

/// The signals that interrupt a wait of the doctor: three that ask it to end, and SIGCHLD at the end of a command.
const SIGNALS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGCHLD];

/// Longest wait for `ssh -G`. Chosen: a thousand times the usual time.
const CONFIGURATION_PATIENCE: Duration = Duration::from_secs(10);

#[derive(Clone, Debug)]
pub(crate) struct DoctorOptions {
    /// The host and options of the session to examine. `None` to examine this computer only.
    pub(crate) session: Option<Box<HostOptions>>,
    /// Whether to print the report as JSON, for programs.
    pub(crate) json: bool,
}

/// Examines the steps of a session or of this computer only, prints the report, and returns the exit code.
pub(crate) fn run(options: DoctorOptions, invocation: &Invocation) -> u8 {
    let facts = match examine(options.session, invocation) {
        Ok(facts) => facts,
        Err(stop) => {
            warn("rove doctor", &stop.to_string());
            return if matches!(stop, Stop::Interrupted) { INTERRUPTED } else { FAILED };
        }
    };
    let diagnosis = diagnose(&facts);
    let report = match options.json {
        true => report::json(&facts, &diagnosis),
        // A report that goes through a pipe (`rove doctor | cat`) may end on the terminal of standard error.
        false => {
            report::text(&facts, &diagnosis, columns(&io::stdout()).min(columns(&io::stderr())))
        }
    };
    let mut stdout = io::stdout();
    if stdout.write_all(report.as_bytes()).and_then(|()| stdout.flush()).is_err() {
        return FAILED;
    }
    if diagnosis.problem().is_some() { PROBLEM } else { WELL }
}

fn examine(session: Option<Box<HostOptions>>, invocation: &Invocation) -> Result<Facts, Stop> {
    let mut events = EventLoop::new(Clock::start(), &SIGNALS)?;
    let mut facts = Facts { here: look_here(&mut events), host: None };
    if let Some(options) = session {
        facts.host = Some(look_there(*options, invocation, &mut events)?);
    }
    Ok(facts)
}

fn look_here(events: &mut EventLoop) -> Here {
    let variables = locale::from_environment();
    let render_options = RenderOptions { init: true, ..RenderOptions::default() };
    let term = std::env::var("TERM").unwrap_or_default();
    let loopback = trial::loopback(events);
    Here {
        locale: locale::effective(&variables)
            .map(|(name, value)| (name.to_owned(), survey::printable(value))),
        terminal_type: terminal_type::capabilities(&term, render_options)
            .err()
            .map(|error| error.to_string()),
        loopback_works: matches!(loopback, Ok(true)),
        no_socket: loopback.err().map(|error| error.to_string()),
    }
}

fn look_there(
    options: HostOptions,
    invocation: &Invocation,
    events: &mut EventLoop,
) -> Result<Host, Stop> {
    let name = survey::printable(&options.host.to_string_lossy());
    let tunnel = Some(options.tunnel)
        .filter(|&tunnel| tunnel == TunnelUse::Always || options.carries_beside());
    let mut host = Host { name, tunnel, ..Host::default() };
    match addresses(&options) {
        Some(addresses) => host.addresses = addresses,
        None => {
            host.ssh = Ssh::TimedOut;
            return Ok(host);
        }
    }
    let number = entropy::seed().map_err(io::Error::other)?;
    let nonce = number.stream("doctor.mark").at(0).below(u64::MAX);
    let mark = format!("rove-doctor-{nonce:016x}");
    progress(&format!("logging in to {}", host.name));
    let opened =
        login::open(options, invocation, survey::session_command(&mark), events, &mut host)?;
    let (Some((opening, door)), Some(server)) = (opened, host.server.clone()) else {
        return Ok(host);
    };
    progress(&format!("trying a session at UDP port {}", server.port));
    let mut trial = Trial::new(&opening, events)?;
    trial.run(events)?;
    if trial.path.answered.is_none()
        && host.tunnel == Some(TunnelUse::Auto)
        && let Some((call, first_line)) = door.jump()
    {
        progress("nothing came back; trying the jump host");
        trial.run_by_jump(&call, &first_line, events)?;
    }
    if trial.path.answered.is_none() {
        progress("nothing came back; logging in again to see why");
        let found = login::look_again(&door, &mark, &server, events);
        if !matches!(found, Ok(Some(Aftermath { alive: Some(_), .. }))) {
            // The script of the second login has not run, or did not know the number of the server's process. If the
            // server receives the doctor's datagrams, it ends at this message.
            trial.say_goodbye(events);
        }
        host.aftermath = found?;
    }
    host.path = Some(trial.path);
    Ok(host)
}

/// Returns the host's addresses for the report. The list is empty if they are not found in time, or if only ssh can
/// resolve the name. Returns `None` if `ssh -G` does not answer in time.
fn addresses(options: &HostOptions) -> Option<Vec<String>> {
    let (ssh, host) = (options.ssh.clone(), options.host.clone());
    let (names, name) = mpsc::channel();
    let (found, addresses) = mpsc::channel();
    // A thread does this, because the resolver and the commands in ssh's configuration may take any time.
    thread::spawn(move || {
        let text = host.to_string_lossy().into_owned();
        let plain = text.rsplit_once('@').map_or(text.as_str(), |(_, name)| name);
        let name = ssh_query::ask(&ssh, &host).host_name.unwrap_or_else(|| plain.to_owned());
        let _ = names.send(());
        let all = address::of_name(&name, 0, "all");
        let _ = found.send(all.into_iter().map(rove_bootstrap::numeric).collect());
    });
    name.recv_timeout(CONFIGURATION_PATIENCE).ok()?;
    Some(addresses.recv_timeout(address::RESOLVER_PATIENCE).unwrap_or_default())
}

/// If standard error is a terminal, prints there the step `what` that the doctor takes.
fn progress(what: &str) {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        let _ = writeln!(stderr, "rove doctor: {what} ...");
    }
}

/// Returns, in one line for the user, why the server did not answer at the addresses `tried`, and what to do. `host` is
/// the host as the user wrote it. `attached_by` is the command that led to a running session, such as `rove attach`.
pub(crate) fn one_line(
    tried: Vec<SocketAddr>,
    refusal: Option<&Refusal>,
    host: Option<&str>,
    attached_by: Option<&str>,
) -> String {
    let port = tried.first().map_or(0, SocketAddr::port);
    let path = Path { tried, ..Path::default() };
    let (seen, remedy) = diagnosis::no_answer(refusal, &path, port, None);
    // Without a host, the user started `rove client` directly, and may have reused a key.
    let key = match (host, refusal) {
        (None, None) => {
            " A key serves one client: if this one has been used before, its session answers nobody else; \
             start another with `rove`."
        }
        _ => "",
    };
    let again = attached_by.filter(|_| refusal.is_none()).map(|by| log_in_again(by, host));
    let again = again.unwrap_or_default();
    let host = host.unwrap_or("HOST").escape_debug().to_string();
    format!(
        "{seen}. What to do: {again}{remedy}.{key} `rove doctor {host}` names the leg that fails."
    )
}

/// Returns the advice to log in again, as a later login or the session's own client may have ended this login. The
/// caller appends more advice.
fn log_in_again(attached_by: &str, host: Option<&str>) -> String {
    let host = host.unwrap_or("HOST").escape_debug();
    format!(
        "repeat `{attached_by} {host}`, because a later login to the same session, or the session's own client, may \
         have ended this login. If that stays silent, "
    )
}

/// Returns, in one line for the user, why the server of a session through ssh did not answer, and what to do. `reason`
/// says why ssh ended; it is empty if ssh is running. `attached_by` and `host` have the meaning of [`one_line`].
pub(crate) fn tunnel_line(
    port: u16,
    refusal: Option<&Refusal>,
    reason: &str,
    (attached_by, host): (Option<&str>, Option<&str>),
) -> String {
    if refusal.is_some() {
        return format!(
            "the host refuses what comes through the ssh tunnel: the server at its UDP port {port} has \
             ended. Start the session again."
        );
    }
    let trial =
        format!("try `ssh -T HOST rove tunnel {port}`, which should say ROVE TUNNEL and wait");
    if !reason.is_empty() {
        return format!("the ssh tunnel has ended: {reason}. What to do: {trial}.");
    }
    let again = attached_by.map(|by| log_in_again(by, host)).unwrap_or_default();
    format!(
        "nothing comes back through the ssh tunnel. What to do: {again}{trial}; rove on the host may be too old, or its \
         shell print without end."
    )
}
