//! Collects the facts that a plan of the login needs: ssh's configuration, the host's addresses, and this run's own
//! connection ([`Master`]).

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rove_bootstrap::ssh_config::SshConfig;
use rove_bootstrap::{
    BindServer, Challenge, HostOptions, Plan, ProgramName, RemoteIp, Route, Sharing, TunnelUse,
    Way, proxy_option, remote, tunnel,
};
use rove_platform::{termux, tty};
use rustix::stdio::stdout;

use crate::bootstrap::error::BootstrapError;
use crate::bootstrap::master::Master;
use crate::bootstrap::{Invocation, address, ssh_query};
use crate::locale;
use crate::stdio_forward::gates;

/// Port number passed to the resolver, which requires one. Only the resolved address is used.
const SSH_PORT: u16 = 22;

/// Decides how to start a session. `challenge` is this run's random word, and `preamble` is sh code that the host runs
/// first (usually empty). `master` is the run's own connection to the host, if any.
///
/// # Errors
///
/// Returns an error if the host's name must be resolved on this computer and has no address.
pub(crate) fn plan(
    options: &HostOptions,
    invocation: &Invocation,
    colors: u32,
    challenge: Challenge,
    preamble: &str,
    master: Option<&Master>,
) -> Result<Plan, BootstrapError> {
    let mut config = ssh_query::config(options);
    let (route, destination) = match master.map(Master::addresses) {
        _ if options.tunnel == TunnelUse::Always => (Route::Tunnel, options.host.clone()),
        Some(addresses @ [_, ..]) => (Route::Known(addresses.to_vec()), options.host.clone()),
        _ => route(options, invocation, &challenge, &config)?,
    };
    // A connection that the user's ssh configuration shares takes precedence over opening one for this run.
    let is_users = match route {
        Route::Proxy(_) => false,
        Route::Local(_) => true,
        Route::Tunnel => config.sharing.has_master(),
        _ => matches!(config.sharing, Sharing::Trusted { .. }),
    };
    let own = master.filter(|master| master.is_open() || !is_users).map(Master::shared);
    if let Route::Address(_) = route {
        // The host's address may match another section of ssh's configuration than its name.
        config.sharing = ssh_query::sharing(options, &destination);
    }
    let variables = variables(options, config.agent.is_some());
    let mut bound = options.clone();
    if route == Route::Tunnel {
        bound.bind_server = BindServer::Address(tunnel::SERVER.to_owned());
    }
    let args = remote::server_arguments(&bound, colors, variables);
    let ourselves = env::current_exe().unwrap_or_else(|_| "rove".into());
    let way = Way { route, destination, config, own };
    Ok(Plan::new(options, way, challenge, &args, preamble, ourselves.as_os_str()))
}

/// Returns the environment variables that the server is started with.
fn variables(options: &HostOptions, has_agent: bool) -> Vec<(String, String)> {
    let mut variables = locale::for_server(options.name);
    let window = tty::window_size(stdout()).filter(|_| options.starts_early());
    let words = window.map(|size| format!("{}x{}", size.columns(), size.rows()));
    variables.extend(words.map(|words| (remote::WINDOW_VARIABLE.to_owned(), words)));
    if options.forwards() && has_agent {
        variables.push((remote::AGENT_VARIABLE.to_owned(), "1".to_owned()));
    }
    variables
}

/// Returns the command that a plan runs; the caller redirects its output.
pub(crate) fn command(plan: &Plan, options: &HostOptions) -> Command {
    let mut command = plan.local_script().map_or_else(|| plan.ssh_command(options), local_command);
    command
        .env_remove("MOSH_PREDICTION_DISPLAY")
        .env_remove("MOSH_KEY")
        .envs(gates::variable(options))
        .env("MOSH_CLIENT_PID", std::process::id().to_string());
    // A plan that sets `SHELL` (for a proxy command) names the usual path, which Termux does not have. Also, `Match exec`
    // of ssh's configuration is written for the user's shell.
    if command.get_envs().any(|(name, _)| name == "SHELL") {
        let own = env::var_os("SHELL")
            .filter(|shell| options.name == ProgramName::Rove && runs_exec(shell));
        command.env("SHELL", own.unwrap_or_else(|| termux::shell().into()));
    }
    command
}

/// Returns whether this shell runs `exec` with quoted words, the form of rove's proxy command.
fn runs_exec(shell: &OsStr) -> bool {
    let name = Path::new(shell).file_name().and_then(OsStr::to_str).unwrap_or_default();
    ["ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "sh", "tcsh", "yash", "zsh"]
        .contains(&name)
}

fn local_command(script: &OsStr) -> Command {
    let mut command = Command::new(termux::shell());
    // In a separate process group, the server continues to run while the client is suspended.
    command.arg("-c").arg(script).env_remove("SSH_CONNECTION").process_group(0);
    if let Some(home) = env::var_os("HOME").filter(|home| Path::new(home).is_dir()) {
        command.current_dir(home);
    }
    command
}

fn route(
    options: &HostOptions,
    invocation: &Invocation,
    challenge: &Challenge,
    config: &SshConfig,
) -> Result<(Route, OsString), BootstrapError> {
    let host = options.host.clone();
    if options.local {
        return Ok((Route::Local(host.to_string_lossy().into_owned()), host));
    }
    let how = match (options.remote_ip, options.name) {
        (Some(how), _) => how,
        (None, ProgramName::Mosh) => connecting(config),
        (None, ProgramName::Rove) => {
            if let Some(words) = &config.detour {
                return Ok((Route::Detour(words.clone()), host));
            }
            let addresses = direct_addresses(options, config);
            if !addresses.is_empty() {
                return Ok((Route::Known(addresses), host));
            }
            connecting(config)
        }
    };
    match how {
        RemoteIp::Proxy => {
            let proxy = proxy_option(options, invocation.own_path(), challenge, config);
            Ok((Route::Proxy(proxy), host))
        }
        RemoteIp::Remote => Ok((Route::Direct, host)),
        RemoteIp::Local => {
            let host = host.to_string_lossy();
            let (user, name) = match host.rsplit_once('@') {
                Some((user, name)) => (Some(user), name),
                None => (None, &*host),
            };
            let name = config.host_name.as_deref().unwrap_or(name);
            let found = address::resolve(name, SSH_PORT, config.family(&options.family))?;
            let number = rove_bootstrap::numeric(*found.first().expect("there is an address"));
            let destination = match user {
                Some(user) => format!("{user}@{number}"),
                None => number.clone(),
            };
            Ok((Route::Address(number), destination.into()))
        }
    }
}

/// Returns how to learn the host's address if no option says how. If only ssh can resolve the name, ssh connects
/// without a proxy command. The host then reports the address at which ssh arrived.
fn connecting(config: &SshConfig) -> RemoteIp {
    let name = config.host_name.as_deref().unwrap_or_default();
    if address::is_found_here(name) { RemoteIp::Proxy } else { RemoteIp::Remote }
}

/// Returns the addresses, in the order to try, of a host to which rove's proxy command must not connect. For such a
/// host, ssh has an open connection, or must use a local address or interface of the user's choice. The list is empty
/// for other hosts. It is also empty if the name has no address. The login itself then reports why.
fn direct_addresses(options: &HostOptions, config: &SshConfig) -> Vec<String> {
    let is_direct = config.sharing.has_master() || config.connecting.is_bound;
    let Some(name) = config.host_name.as_deref().filter(|_| is_direct) else {
        return Vec::new();
    };
    let found = address::of_name(name, SSH_PORT, config.family(&options.family));
    found.into_iter().map(rove_bootstrap::numeric).collect()
}
