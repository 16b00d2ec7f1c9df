//! The command line of `mosh` and of `rove` without a command. clap defines the options. [`getopt_long`] reads them in
//! the syntax of stock `mosh`, [`own_line`] in that of ssh, and [`HostCall`] is the result.

mod values;

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, ValueHint};
use rove_bootstrap::ssh_config::without_uri;
use rove_bootstrap::{
    AgentUse, Choices, DetachedUse, HostOptions, InstallPolicy, Place, ProgramName, TunnelUse,
};
use rove_cli_docs::{Manual, Suggested, Words};
use rove_session::Preference;

use self::values::{
    BACKGROUND, CONTROLLER, NO_PROGRAM, TARGET, background_option, bind_server, check_host,
    check_names, check_option_port, fake_proxy, family, no_host, no_program_option, prediction,
    remote_ip, ssh, target, target_option, tunnel_use, wanted_session,
};
use crate::bootstrap::proxy::ProxyCall;
use crate::cli::config::{Config, ConfigError, Settings};
use crate::cli::getopt_long::{self, Permutation};
use crate::cli::help;
use crate::cli::option_values::{self, ADDRESS_FAMILIES, MODES, REMOTE_IPS};
use crate::cli::own_line::{self, Complaint, Line, OptionsEnd};
use crate::cli::ssh_letters;
use crate::escape_key;
use crate::program::ROVE;
pub(crate) use values::{NO_TARGET, controller_option, controller_words, flag};

/// The manual of `rove` without a command, which starts a session.
pub(crate) static MANUAL: Manual = Manual {
    definition: || {
        let own = [target_option(), no_program_option(), background_option(), help::all()];
        definition().args(own).args(ssh_letters::forwarding())
    },
    words: Words::HostAndCommand,
    text: include_str!("../../manuals/rove.toml"),
    ..Manual::of(&ROVE)
};

/// The usage that `rove` prints after some errors; stock `mosh` prints the whole help instead.
const SHORT_USAGE: &str =
    "Usage: rove [options] [--] [user@]host [command...]\nrove --help explains the options.";

const MOSH_EXAMPLES: &str = "\
Examples:
  mosh me@example.org
  mosh example.org -- tmux new -A -s main
  mosh -p 60010 --ssh='ssh -p 2222' host

The command is run as it is, without a shell. This is rove called as mosh: see rove --help.";

/// A remote shell that survives the network
#[derive(Debug, Parser)]
#[command(
    name = "rove",
    disable_help_flag = true,
    disable_version_flag = true,
    args_override_self = true,
    override_usage = "rove [options] [--] [user@]host [command...]",
    help_template = "{usage-heading} {usage}\n\n{about}\n\n{options}{after-help}"
)]
struct HostArgs {
    /// Client to run on this computer [default: rove's own; as mosh: mosh-client]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::CommandName)]
    client: Option<OsString>,
    /// Server to run on the host, a piece of shell [default: rove, else mosh-server]
    #[arg(long, value_name = "COMMAND")]
    server: Option<OsString>,
    /// Show keys before the host does: adaptive, always, never or experimental [default: adaptive]
    #[arg(long, value_name = "MODE", value_parser = Suggested(MODES), hide_possible_values = true)]
    predict: Option<String>,
    /// Same as --predict=always
    #[arg(short = 'a', overrides_with_all = ["predict", "never"])]
    always: bool,
    /// Same as --predict=never
    #[arg(short = 'n', overrides_with_all = ["predict", "always"])]
    never: bool,
    /// Let predictions overwrite instead of insert
    #[arg(short = 'o', long, overrides_with = "no_predict_overwrite")]
    predict_overwrite: bool,
    #[arg(long, hide = true)]
    no_predict_overwrite: bool,
    /// inet, inet6, prefer-inet, prefer-inet6, all or auto [default: prefer-inet]
    #[arg(
        long,
        value_name = "FAMILY",
        value_parser = Suggested(ADDRESS_FAMILIES),
        hide_possible_values = true
    )]
    family: Option<String>,
    /// Same as --family=inet
    #[arg(short = '4', overrides_with_all = ["family", "inet6"])]
    inet: bool,
    /// Same as --family=inet6
    #[arg(short = '6', overrides_with_all = ["family", "inet"])]
    inet6: bool,
    /// UDP port, or range of them, that the server binds [default: 60001 to 60999]
    #[arg(short = 'p', long, value_name = "PORT[:PORT2]")]
    port: Option<String>,
    /// Address the server binds: ssh (where ssh arrived), any, or an IP [default: any; stock: ssh]
    #[arg(
        long,
        value_name = "ADDRESS",
        value_parser = Suggested(&["ssh", "any"]),
        hide_possible_values = true
    )]
    bind_server: Option<String>,
    /// ssh to run, with options: "ssh -p 2222" [default: ssh]
    #[arg(long, value_name = "COMMAND", value_hint = ValueHint::CommandString)]
    ssh: Option<String>,
    /// Do not ask ssh for a terminal (for Dropbear)
    #[arg(long, overrides_with = "ssh_pty")]
    no_ssh_pty: bool,
    #[arg(long, hide = true)]
    ssh_pty: bool,
    /// Window that decides a shared session's size: owner, typist, smallest or COLSxROWS [default: owner]
    #[arg(
        long,
        value_name = "RULE",
        value_parser = Suggested(option_values::SIZE_RULES),
        hide_possible_values = true
    )]
    size: Option<String>,
    /// Do not switch to the terminal's alternate screen
    #[arg(long, overrides_with = "init")]
    no_init: bool,
    #[arg(long, hide = true)]
    init: bool,
    /// Scroll what scrolls off at the host into the terminal's own history; implies --no-init
    #[arg(long, overrides_with = "no_scrollback")]
    scrollback: bool,
    #[arg(long, hide = true)]
    no_scrollback: bool,
    /// Start the server on this computer, without ssh; the host is a numeric local address
    #[arg(long)]
    local: bool,
    /// Carry the session through ssh: true (also without a value), false, or auto: while UDP is not answered; the host needs rove [default: auto]
    #[arg(
        long,
        value_name = "WHEN",
        overrides_with = "no_tunnel",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = Suggested(TunnelUse::NAMES),
        hide_possible_values = true
    )]
    tunnel: Option<String>,
    #[arg(long, hide = true)]
    no_tunnel: bool,
    /// Name of the session: goes on with the one that has it, or starts one; the host needs rove
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// How to learn the server's address: proxy, remote or local
    #[arg(
        long,
        value_name = "HOW",
        value_parser = Suggested(REMOTE_IPS),
        hide_possible_values = true
    )]
    experimental_remote_ip: Option<String>,
    /// Key that commands the client: ^X, C-X, a character, or none [default: ^^]
    #[arg(
        long,
        value_name = "KEY",
        value_parser = Suggested(&["^]", "^^", "none"]),
        hide_possible_values = true
    )]
    escape_key: Option<String>,
    /// Speak stock Mosh only, without rove's extensions
    #[arg(long, overrides_with = "no_strict")]
    strict: bool,
    #[arg(long, hide = true)]
    no_strict: bool,
    /// Say nothing but what is wrong; ssh still asks and says what it must
    #[arg(short = 'q', long, overrides_with = "verbose")]
    quiet: bool,
    /// Say which ssh is run and where the server is, and log every packet
    #[arg(long, overrides_with = "quiet")]
    verbose: bool,
    #[arg(long, hide = true)]
    fake_proxy: bool,
    /// Print this help
    #[arg(long, action = ArgAction::SetTrue)]
    help: bool,
    /// Print the version
    #[arg(long, action = ArgAction::SetTrue)]
    version: bool,
    #[arg(hide = true)]
    words: Vec<OsString>,
    // `rove` defines the options of these four fields outside of this struct, because `mosh` lacks them.
    #[arg(skip)]
    target: Option<String>,
    #[arg(skip)]
    no_program: bool,
    #[arg(skip)]
    background: bool,
    #[arg(skip)]
    controller: Option<String>,
}

#[derive(Debug)]
pub(crate) enum HostCall {
    /// Print this text on standard output.
    Help(String),
    /// Print the help of all options and commands on standard output.
    HelpAll,
    Version,
    /// Act as the proxy command of the ssh that another `rove` started.
    FakeProxy(ProxyCall),
    /// Print ssh's configuration for the host.
    AskSsh {
        /// The words of the ssh command.
        ssh: Vec<String>,
        /// The destination, `[user@]host`.
        host: OsString,
    },
    /// Start a session, or attach to one (`rove attach`, `--session`).
    Connect(Box<HostOptions>),
    /// Connect standard input and output with a port or a socket that the host reaches (`-W`).
    Carry(Box<HostOptions>, Place),
}

/// Why a command line is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UsageError {
    /// The error message; empty to print only the usage.
    pub(crate) message: String,
    /// The usage to print after the message, if any.
    pub(crate) usage: Option<String>,
}

/// Reads the words after the program's name.
///
/// The order of the checks is that of stock `mosh`: options, help, version, prediction, family, port, host. The
/// settings from `load` apply where neither the line nor the environment sets an option. They never apply to a proxy
/// command, because rove itself wrote that command line.
///
/// # Errors
///
/// Returns the fault of the line or the configuration; the exit code is 255.
pub(crate) fn parse(
    name: ProgramName,
    args: Vec<OsString>,
    load: impl FnOnce() -> Result<Config, ConfigError>,
) -> Result<HostCall, UsageError> {
    let command = command(name);
    let usage = || match name {
        ProgramName::Rove => Some(SHORT_USAGE.to_owned()),
        ProgramName::Mosh => Some(command.clone().render_help().to_string()),
    };
    let Line { words, ssh: letters, asks_ssh } = read(name, &command, args, usage)?;
    let wants_all = words.iter().take_while(|word| *word != "--").any(|word| word == "--help-all");
    let args = HostArgs::take(name, &command, words.clone())?;
    if let Some(call) = question(name, command.clone(), &args, wants_all) {
        return Ok(call);
    }
    let settings = args.settings(&letters, load)?;
    let set = args.words_of(&settings, &command, |name| env::var_os(name).is_some());
    // clap obeys the last of options that exclude each other. So the line's words come after the settings' words.
    let args = HostArgs::take(name, &command, set.into_iter().chain(words).collect())?;
    let predict = prediction(name, &args, env::var_os("MOSH_PREDICTION_DISPLAY").as_deref())
        .map_err(|error| UsageError { usage: usage(), ..error })?;
    let family = family(name, &args)?;
    check_option_port(name, args.port.as_deref())?;
    let Some((host, command_words)) = args.words.split_first() else {
        return Err(UsageError { message: no_host(name).to_owned(), usage: usage() });
    };
    if args.fake_proxy {
        return fake_proxy(family, host, command_words);
    }
    check_host(name, host).and_then(|()| check_names(&args))?;
    let escape_key = args.escape_key.as_deref().map(escape_key::from_option).transpose();
    let ssh = ssh(&args, letters, settings.text("ssh"))?;
    if asks_ssh {
        return Ok(HostCall::AskSsh { ssh, host: host.clone() });
    }
    let target = target(&args, command_words)?;
    let options = Box::new(HostOptions {
        name,
        session: wanted_session(&args)?,
        choices: args.choices(&settings, predict),
        family,
        bind_server: bind_server(name, args.bind_server.as_deref())?,
        ssh,
        ssh_pty: !args.no_ssh_pty,
        local: args.local,
        tunnel: tunnel_use(name, &args)?,
        remote_ip: args.experimental_remote_ip.as_deref().map(remote_ip).transpose()?,
        escape_key: escape_key.map_err(UsageError::without_usage)?,
        quiet: args.quiet,
        verbose: args.verbose,
        agent: settings.text("agent").and_then(AgentUse::from_name).unwrap_or_default(),
        install: settings.text("install").and_then(InstallPolicy::from_name).unwrap_or_default(),
        detached: settings.text("attach").and_then(DetachedUse::from_name).unwrap_or_default(),
        config: None,
        prompt_memory: settings.flag("prompt-memory").unwrap_or(true),
        host: host.clone(),
        command: command_words.to_vec(),
        no_program: args.no_program,
        background: args.background,
        client: args.client,
        server: args.server,
        port: args.port,
    });
    Ok(match target {
        Some(target) => HostCall::Carry(options, target),
        None => HostCall::Connect(options),
    })
}

/// Returns the call for help or version if the line asks for one of them, else `None`.
fn question(
    name: ProgramName,
    mut command: clap::Command,
    args: &HostArgs,
    wants_all: bool,
) -> Option<HostCall> {
    if args.help || wants_all {
        return Some(match name {
            ProgramName::Rove if wants_all => HostCall::HelpAll,
            ProgramName::Rove => HostCall::Help(help::BRIEF.to_owned()),
            ProgramName::Mosh => HostCall::Help(command.render_help().to_string()),
        });
    }
    args.version.then_some(HostCall::Version)
}

/// Sorts the words after the program's name into options and other words, in the syntax of `rove` or of stock `mosh`.
/// Returns one error about all wrong words.
fn read(
    name: ProgramName,
    command: &clap::Command,
    args: Vec<OsString>,
    usage: impl Fn() -> Option<String>,
) -> Result<Line, UsageError> {
    let is_posix = env::var_os("POSIXLY_CORRECT").is_some();
    match name {
        ProgramName::Rove => {
            let end = if is_posix { OptionsEnd::Host } else { OptionsEnd::RemoteCommand };
            own_line::read(command, args, end)
                .map_err(|complaints| UsageError::from_complaints(complaints, usage))
        }
        ProgramName::Mosh => {
            let permutation = if is_posix { Permutation::None } else { Permutation::Throughout };
            let words = getopt_long::canonical(command, args, permutation)
                .map_err(|lines| UsageError { message: lines.join("\n"), usage: usage() })?;
            Ok(Line { words, ..Line::default() })
        }
    }
}

/// Returns `host` in the form that the configuration's patterns match. As with ssh, the user of the first `-l` in
/// `letters` replaces a user in `host`.
fn with_user(host: &OsStr, letters: &[String]) -> OsString {
    let user = letters.iter().position(|word| word == "-l").and_then(|at| letters.get(at + 1));
    let Some(user) = user else { return host.to_owned() };
    let plain = host.to_str().map(without_uri);
    let bytes = plain.as_ref().map_or(host.as_bytes(), |it| it.as_bytes());
    let name = bytes.iter().rposition(|&byte| byte == b'@').map_or(bytes, |at| &bytes[at + 1..]);
    let mut full = OsString::from(format!("{user}@"));
    full.push(OsStr::from_bytes(name));
    full
}

/// Returns the definition of a session's options, for `rove` and for commands that also have these options.
pub(crate) fn definition() -> clap::Command {
    HostArgs::command()
        // `-o` is ssh's own option, and `-h` and `-V` are usual for help and version.
        .mut_arg("predict_overwrite", |arg| arg.short(None))
        .mut_arg("help", |arg| arg.short('h'))
        .mut_arg("version", |arg| arg.short('V'))
        .mut_arg("quiet", |arg| {
            arg.help("Say nothing but what is wrong; -q is handed to ssh as well")
        })
        .arg(controller_option())
        .args(ssh_letters::args())
}

/// Returns clap's definition of the command line, with all that the help of `mosh` shows. The help of `rove` is elsewhere.
fn command(name: ProgramName) -> clap::Command {
    match name {
        ProgramName::Rove => (MANUAL.definition)(),
        ProgramName::Mosh => HostArgs::command()
            // Stock `mosh` has no `-q`.
            .mut_arg("quiet", |arg| arg.short(None))
            .name("mosh")
            .override_usage("mosh [options] [--] [user@]host [command...]")
            .after_help(MOSH_EXAMPLES),
    }
}

impl HostArgs {
    /// Returns the options for the client, from the command line and from settings that no option can set.
    fn choices(&self, settings: &Settings, predict: Preference) -> Choices {
        Choices {
            predict,
            predict_overwrite: self.predict_overwrite,
            init: !self.no_init && !self.scrollback,
            scrollback: (self.scrollback || self.no_scrollback).then_some(self.scrollback),
            title_prefix: settings.flag("title-prefix").unwrap_or(true),
            query: settings.flag("terminal-query").unwrap_or(true),
            read_copied: settings.flag("read-copied").unwrap_or(false),
            share: settings.flag("share").unwrap_or(true),
            size: self.size.clone(),
            controller: self.controller.clone(),
            resume: settings.resume(),
            strict: self.strict,
        }
    }

    /// Parses with clap the words that [`read`] has sorted.
    fn take(
        name: ProgramName,
        command: &clap::Command,
        words: Vec<OsString>,
    ) -> Result<Self, UsageError> {
        let matches = command.clone().no_binary_name(true).try_get_matches_from(words);
        let taken = matches.and_then(|matches| {
            let text = |id| matches.try_get_one::<String>(id).ok().flatten().cloned();
            let is_set = |id| matches.try_get_one::<bool>(id).ok().flatten() == Some(&true);
            let (no_program, background) = (is_set(NO_PROGRAM), is_set(BACKGROUND));
            let (target, args) = (text(TARGET), Self::from_arg_matches(&matches)?);
            Ok(Self { target, no_program, background, controller: text(CONTROLLER), ..args })
        });
        taken.map_err(|error| {
            UsageError::without_usage(match name {
                ProgramName::Rove => rove_cli_docs::sentence(&MANUAL, &error),
                ProgramName::Mosh => error.to_string(),
            })
        })
    }

    /// Returns the user's settings for the host, or the fault of the file. A proxy command or a missing host has none.
    fn settings(
        &self,
        letters: &[String],
        load: impl FnOnce() -> Result<Config, ConfigError>,
    ) -> Result<Settings, UsageError> {
        let Some(host) = self.words.first().filter(|_| !self.fake_proxy) else {
            return Ok(Settings::default());
        };
        let config = load().map_err(UsageError::without_usage)?;
        Ok(config.for_host(&with_user(host, letters)))
    }

    /// Returns the settings of the file as options to put in front of the command line. Leaves out settings that have
    /// no option, or that the environment or `--init` overrides. `is_set` says whether a variable is set.
    fn words_of(
        &self,
        settings: &Settings,
        command: &clap::Command,
        is_set: impl Fn(&str) -> bool,
    ) -> Vec<OsString> {
        let is_option = |name: &str| command.get_arguments().any(|it| it.get_long() == Some(name));
        let is_overridden = |key: &str| match key {
            "predict" => is_set("MOSH_PREDICTION_DISPLAY"),
            "escape-key" => is_set("MOSH_ESCAPE_KEY"),
            // `--init` asks for the alternate screen, of which terminals keep no history.
            "scrollback" => self.init,
            _ => false,
        };
        let words = settings.iter().filter(|(key, _)| is_option(key) && !is_overridden(key));
        words.filter_map(|(key, setting)| setting.word(key)).map(OsString::from).collect()
    }
}

impl UsageError {
    /// Joins the complaints into one error, with the usage if a complaint asks for it.
    pub(super) fn from_complaints(
        complaints: Vec<Complaint>,
        usage: impl FnOnce() -> Option<String>,
    ) -> Self {
        let wants_usage = complaints.iter().any(|complaint| complaint.wants_usage);
        let lines: Vec<String> = complaints.into_iter().map(|it| it.sentence).collect();
        Self { message: lines.join("\n"), usage: usage().filter(|_| wants_usage) }
    }

    pub(super) fn without_usage(message: impl ToString) -> Self {
        Self { message: message.to_string(), usage: None }
    }
}

#[cfg(test)]
mod tests;
