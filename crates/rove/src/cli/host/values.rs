//! Reads the values of a session's options from command line, configuration and environment, and refuses wrong ones.

use std::ffi::{OsStr, OsString};
use std::net::IpAddr;
use std::str::FromStr;

use clap::{Arg, ArgAction};
use rove_bootstrap::ssh_config::is_ssh;
use rove_bootstrap::{
    BindServer, HANDS_OVER, Place, ProgramName, RemoteIp, SessionLabel, TunnelUse, WantedSession,
};
use rove_cli_docs::Suggested;
use rove_session::{Preference, StreamController};

use super::{HostArgs, HostCall, UsageError};
use crate::bootstrap::proxy::ProxyCall;
use crate::cli::option_values::{
    self, ADDRESS_FAMILIES, MODES, REMOTE_IPS, check_own_port, ssh_words, udp_ports,
};
use crate::cli::ssh_letters;
use crate::stdio_forward::target;

/// The ids in clap of the options `-W`, `--controller`, `-N` and `-f`.
pub(super) const TARGET: &str = "target";
pub(super) const CONTROLLER: &str = "controller";
pub(super) const NO_PROGRAM: &str = "no_program";
pub(super) const BACKGROUND: &str = "background";
/// The error about `-W`, for a command that has the other options of a session.
pub(crate) const NO_TARGET: &str =
    "-W: this command carries no connection; `rove -W HOST:PORT host` does";

/// Returns the option `-W`, which only `rove` without a command has.
pub(super) fn target_option() -> Arg {
    Arg::new(TARGET).short('W').value_name("HOST:PORT").help(
        "Join standard input and output with this TCP port, or a socket's /path, as the host reaches it; no session starts",
    )
}

/// Returns the option `-N`, which only `rove` without a command has.
pub(super) fn no_program_option() -> Arg {
    Arg::new(NO_PROGRAM).short('N').action(ArgAction::SetTrue).help(
        "Run no program at the host, and forward connections until Ctrl-C; the host needs rove",
    )
}

/// Returns the option `-f`, which only `rove` without a command has, and which needs `-N`.
pub(super) fn background_option() -> Arg {
    Arg::new(BACKGROUND)
        .short('f')
        .action(ArgAction::SetTrue)
        .help("With -N: go to the background once the login is done and all listeners are there")
}

/// Returns an option without a value.
pub(crate) fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// Returns the option `--controller`, for each command that can forward connections, run programs or copy files.
pub(crate) fn controller_option() -> Arg {
    Arg::new(CONTROLLER)
        .long("controller")
        .value_name("NAME")
        .value_parser(Suggested(StreamController::NAMES))
        .hide_possible_values(true)
        .help(
            "Congestion controller of forwarded connections and copies, both ways: low-delay, ledbat, cubic, new-reno or \
             sprout-ack [default: low-delay]",
        )
}

/// Returns the option `--controller` that a command was called with, as a word for a session. `None` without it.
pub(crate) fn controller_words(matches: &clap::ArgMatches) -> Option<OsString> {
    let name = matches.get_one::<String>(CONTROLLER)?;
    Some(format!("--{CONTROLLER}={name}").into())
}

/// Refuses options and a command that do not go with `-N`, and `-f` without `-N`.
fn check_no_program(args: &HostArgs, command: &[OsString]) -> Result<(), UsageError> {
    if args.background && !args.no_program {
        let text = "-f: a session with a program stays in the foreground; add -N, or use ssh -f";
        return Err(UsageError::without_usage(text.to_owned()));
    }
    let reason = match () {
        () if !args.no_program => return Ok(()),
        () if args.strict => "stock Mosh runs a program always, and --strict speaks nothing else",
        () if args.client.is_some() => "no client but rove's own forwards connections",
        () if args.session.is_some() => "a session that runs no program has no name",
        () if args.target.is_some() && args.background => "-W starts no session",
        () if !command.is_empty() => "no command runs with it",
        () => return Ok(()),
    };
    Err(UsageError::without_usage(format!("-N: {reason}; leave one of them out")))
}

pub(super) fn prediction(
    name: ProgramName,
    args: &HostArgs,
    environment: Option<&OsStr>,
) -> Result<Preference, UsageError> {
    if args.always {
        return Ok(Preference::Always);
    }
    if args.never {
        return Ok(Preference::Never);
    }
    let (mode, from) = match (&args.predict, environment) {
        (Some(mode), _) => (mode.clone(), ""),
        (None, Some(mode)) => {
            (mode.to_string_lossy().into_owned(), " (MOSH_PREDICTION_DISPLAY in environment)")
        }
        (None, None) => return Ok(Preference::default()),
    };
    Preference::from_name(&mode).ok_or_else(|| match name {
        ProgramName::Rove => {
            let source = if from.is_empty() { "--predict" } else { "MOSH_PREDICTION_DISPLAY" };
            none_of(source, MODES, &mode)
        }
        ProgramName::Mosh => UsageError::without_usage(format!(
            "Unknown mode \"{mode}\"{from}: know adaptive, always, never and experimental"
        )),
    })
}

pub(super) fn remote_ip(text: &str) -> Result<RemoteIp, UsageError> {
    RemoteIp::from_name(text).ok_or_else(|| none_of("--experimental-remote-ip", REMOTE_IPS, text))
}

/// Returns the address family in lower case. `rove` refuses an unknown word. `mosh` accepts any word, because stock
/// `mosh` treats an unknown word as `auto`.
pub(super) fn family(name: ProgramName, args: &HostArgs) -> Result<String, UsageError> {
    let family = match &args.family {
        _ if args.inet => "inet".to_owned(),
        _ if args.inet6 => "inet6".to_owned(),
        Some(family) => family.to_lowercase(),
        None => "prefer-inet".to_owned(),
    };
    if name == ProgramName::Rove && !ADDRESS_FAMILIES.contains(&family.as_str()) {
        return Err(none_of("--family", ADDRESS_FAMILIES, &family));
    }
    Ok(family)
}

pub(super) fn check_option_port(name: ProgramName, text: Option<&str>) -> Result<(), UsageError> {
    match (name, text) {
        (_, None) => Ok(()),
        (ProgramName::Rove, Some(text)) => check_own_port(text)
            .map_err(|fault| UsageError::without_usage(format!("--port: {fault}"))),
        (ProgramName::Mosh, Some(text)) => {
            udp_ports(text).map(drop).map_err(UsageError::without_usage)
        }
    }
}

/// Returns the message for a line without a host. It is empty for `mosh`, because stock `mosh` prints only its usage.
pub(super) const fn no_host(name: ProgramName) -> &'static str {
    match name {
        ProgramName::Rove => "no host is named",
        ProgramName::Mosh => "",
    }
}

/// Refuses an empty host, and a host that ssh would read as an option, because no `--` precedes it on ssh's command
/// line. Under the name `rove`, also refuses `@host` and `user@`. With `user@`, ssh would run rove's proxy command
/// without a host. Under that name, the host may also contain no characters that a shell interprets. An ssh older than
/// OpenSSH 9.6 passes them to the shell that runs the proxy command.
pub(super) fn check_host(name: ProgramName, host: &OsStr) -> Result<(), UsageError> {
    let text = host.to_string_lossy();
    let lacks_part =
        text.rsplit_once('@').is_some_and(|(user, host)| user.is_empty() || host.is_empty());
    let host = text.rsplit_once('@').map_or(&*text, |(_, host)| host);
    let is_shell_text = host.contains(|c: char| {
        "'`\"$\\;&<>|(){}".contains(c) || c.is_ascii_whitespace() || c.is_ascii_control()
    });
    let is_option = text.len() > 1 && text.starts_with('-');
    let is_faulty = name == ProgramName::Rove && (lacks_part || is_shell_text);
    if text.is_empty() || is_option || is_faulty {
        let sentence = format!("\"{}\" is not a host name", text.escape_debug());
        return Err(UsageError::without_usage(sentence));
    }
    Ok(())
}

/// Returns when ssh carries the session. Fails if the value is unknown, or if other options rule a tunnel out.
pub(super) fn tunnel_use(name: ProgramName, args: &HostArgs) -> Result<TunnelUse, UsageError> {
    let word = args.tunnel.as_deref().or(args.no_tunnel.then_some("false"));
    let usual = if name == ProgramName::Rove { "auto" } else { "false" };
    let word = word.unwrap_or(usual);
    let tunnel = TunnelUse::from_name(word);
    let tunnel = tunnel.ok_or_else(|| none_of("--tunnel", TunnelUse::NAMES, word))?;
    check_tunnel(tunnel, args).map(|()| tunnel)
}

/// Refuses `--tunnel=true` together with `--local` or `--client`.
fn check_tunnel(tunnel: TunnelUse, args: &HostArgs) -> Result<(), UsageError> {
    match (tunnel == TunnelUse::Always, args.local, &args.client) {
        (true, true, _) => Err(UsageError::without_usage(
            "--tunnel goes through ssh and --local does without it: leave one of them out",
        )),
        (true, _, Some(_)) => Err(UsageError::without_usage(
            "--tunnel needs rove's own client: leave out --client, or the setting client",
        )),
        _ => Ok(()),
    }
}

/// Reads the address that the server binds. `rove` refuses an unknown word. `mosh` accepts any word, as stock `mosh`
/// does, and the server then binds any address.
pub(super) fn bind_server(name: ProgramName, text: Option<&str>) -> Result<BindServer, UsageError> {
    let Some(text) = text else {
        return Ok(match name {
            ProgramName::Rove => BindServer::Open,
            ProgramName::Mosh => BindServer::Ssh,
        });
    };
    match text.to_ascii_lowercase().as_str() {
        "ssh" => Ok(BindServer::Ssh),
        "any" => Ok(BindServer::Any),
        _ if name == ProgramName::Mosh || text.parse::<IpAddr>().is_ok() => {
            Ok(BindServer::Address(text.to_owned()))
        }
        _ => Err(UsageError::without_usage(format!(
            "--bind-server is ssh, any or a numeric IP address, not \"{}\"",
            text.escape_debug()
        ))),
    }
}

/// Reads the value of `-W`, or returns `None` without that option. Refuses options that do not go with `-W` or `-N`.
pub(super) fn target(args: &HostArgs, command: &[OsString]) -> Result<Option<Place>, UsageError> {
    check_no_program(args, command)?;
    let Some(text) = &args.target else { return Ok(None) };
    let refused = |sentence: &str| Err(UsageError::without_usage(format!("-W: {sentence}")));
    if args.strict {
        return refused(
            "stock Mosh carries no connections, and --strict speaks nothing else; leave one of them out",
        );
    }
    if args.local || args.session.is_some() {
        return refused("no session starts; leave out --local and --session");
    }
    if !command.is_empty() {
        return refused("no command runs; leave it out");
    }
    target::parse(text).map(Some).map_err(|error| UsageError::without_usage(format!("-W: {error}")))
}

/// Returns the ssh command with ssh's options from the command line (`letters`). They prevail over the options of a
/// command from the configuration (`set`). Refuses forwardings that this session could not carry.
pub(super) fn ssh(
    args: &HostArgs,
    letters: Vec<String>,
    set: Option<&str>,
) -> Result<Vec<String>, UsageError> {
    let ssh = ssh_words(args.ssh.as_deref()).map_err(UsageError::without_usage)?;
    let ssh = match set.is_some() && set == args.ssh.as_deref() {
        true => ssh_letters::prevailing(&ssh, letters),
        false => [ssh, letters].concat(),
    };
    check_forwards(args, &ssh).map(|()| ssh)
}

/// Returns the session that `--session` names, or a new one without that option. Refuses an invalid name.
pub(super) fn wanted_session(args: &HostArgs) -> Result<WantedSession, UsageError> {
    let label = args.session.as_deref().map(SessionLabel::from_str).transpose();
    let label = label.map_err(UsageError::without_usage)?;
    Ok(label.map_or_else(WantedSession::default, WantedSession::Named))
}

/// Refuses an invalid value of `--size` (who decides a shared session's size) or `--controller`.
pub(super) fn check_names(args: &HostArgs) -> Result<(), UsageError> {
    let checked = args.size.as_deref().map_or(Ok(()), option_values::check_size_rule);
    checked.map_err(|error| UsageError::without_usage(format!("--size: {error}")))?;
    match &args.controller {
        Some(name) if StreamController::from_name(name).is_none() => {
            Err(none_of("--controller", StreamController::NAMES, name))
        }
        _ => Ok(()),
    }
}

/// Returns the error about a value that is not among the option's words.
fn none_of(option: &str, words: &[&str], value: &str) -> UsageError {
    let (words, value) = (words.join(", "), value.escape_debug());
    UsageError::without_usage(format!("{option} is one of {words}, not \"{value}\""))
}

/// Refuses `-A`, `-L`, `-R` and `-D` together with options that rule them out.
fn check_forwards(args: &HostArgs, ssh: &[String]) -> Result<(), UsageError> {
    let named = match (ssh_letters::forward(ssh), ssh_letters::lends_agent(ssh)) {
        (true, _) => "-L, -R, -D",
        (false, true) => "-A",
        (false, false) => return Ok(()),
    };
    if let Some(line) = ssh_letters::to_host_socks(ssh) {
        return Err(UsageError::without_usage(format!(
            "{line}: ssh -G prints a forward to a host of the name socks as -D, so rove cannot tell them apart; name \
             the host by its full name or its address"
        )));
    }
    let reason = match () {
        () if args.strict => "stock Mosh carries no connections, and --strict speaks nothing else",
        () if args.local => "no host connects with --local",
        () if args.client.is_some() => "no client but rove's own carries connections",
        () if !is_ssh(ssh) => "OpenSSH's ssh reads this option, and --ssh names another program",
        () => return Ok(()),
    };
    Err(UsageError::without_usage(format!("{named}: {reason}; leave one of them out")))
}

/// Reads the line of rove's own proxy command. `words` begin with the port. A random word, [`HANDS_OVER`] and the
/// longest time of a connection attempt, in seconds, may follow in this order.
pub(super) fn fake_proxy(
    family: String,
    host: &OsStr,
    words: &[OsString],
) -> Result<HostCall, UsageError> {
    let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    match (host.to_str(), words.as_deref()) {
        (
            Some(host),
            Some(words @ ([port] | [port, _] | [port, _, HANDS_OVER] | [port, _, HANDS_OVER, _])),
        ) => Ok(HostCall::FakeProxy(ProxyCall {
            family,
            host: host.to_owned(),
            port: (*port).to_owned(),
            word: words.get(1).map(|&word| word.to_owned()),
            hands_over: words.len() >= 3,
            seconds_max: words.get(3).and_then(|seconds| seconds.parse().ok()),
        })),
        _ => Err(UsageError::without_usage("--fake-proxy needs HOST and PORT".to_owned())),
    }
}
