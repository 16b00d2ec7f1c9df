//! How a session will be started: what to run, and how its address will be known.

use std::env;
use std::ffi::{OsStr, OsString};
use std::net::IpAddr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus};

use rove_bootstrap::account::Account;
use rove_bootstrap::challenge::Challenge;
use rove_bootstrap::options::{BindServer, HostOptions, RemoteIp};
use rove_bootstrap::sharing::Sharing;
use rove_bootstrap::ssh_config::SshConfig;
use rove_bootstrap::startup::{Announced, Connect, Rules, StockAddress};
use rove_bootstrap::{quote, remote, ssh_config};

use crate::bootstrap::error::BootstrapError;
use crate::bootstrap::master::{Master, Shared};
use crate::bootstrap::{Invocation, address, proxy, ssh_query};
use crate::locale;
use crate::program::ProgramName;

/// How ssh gets to the host, and what that tells about the host's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// ssh connects through our proxy command, which tells the address.
    Proxy(OsString),
    /// ssh connects by itself; the host tells the address.
    Direct,
    /// ssh connects as its configuration says, in these words; the host tells the address.
    Detour(String),
    /// ssh connects as it is told to, without a proxy command of ours, maybe through a connection that is open already;
    /// the host has these addresses, never none.
    Known(Vec<String>),
    /// ssh connects to this address.
    Address(String),
    /// There is no ssh; the server runs on this computer, under this address.
    Local(String),
}

/// How a session will be started.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    name: ProgramName,
    route: Route,
    /// `[user@]host` for ssh.
    destination: OsString,
    /// What ssh, or the shell here, runs.
    remote: OsString,
    /// What the commands of ours repeat.
    challenge: Challenge,
    /// ssh's configuration for the host, for `rove`.
    config: SshConfig,
    /// How ssh is to share the run's own connection, if there is one.
    own: Option<Shared>,
    /// Whether ssh refuses a host key that it does not know, without a question to the user.
    refuses_new_key: bool,
}

/// Where to send datagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerAddress {
    /// The numeric address.
    pub(crate) text: String,
    /// What the user should know about it.
    pub(crate) note: Option<String>,
}

impl Plan {
    /// Decides how to start a session. `challenge` was drawn for this run; `preamble` is a piece of sh for the
    /// host to run first; usually there is none. `master` is the run's own connection to the host, if it is to have one.
    ///
    /// # Errors
    ///
    /// Returns an error if the host's name is to be resolved here and leads nowhere.
    pub(crate) fn new(
        options: &HostOptions,
        invocation: &Invocation,
        colors: u32,
        challenge: Challenge,
        preamble: &str,
        master: Option<&Master>,
    ) -> Result<Self, BootstrapError> {
        let mut config = match options.name {
            _ if options.local => SshConfig::default(),
            ProgramName::Rove => ssh_query::ask(&options.ssh, &options.host),
            ProgramName::Mosh => ssh_query::for_mosh(options),
        };
        let (route, destination) = match master.map(Master::addresses) {
            Some(addresses @ [_, ..]) => (Route::Known(addresses.to_vec()), options.host.clone()),
            _ => route(options, invocation, &challenge, &config)?,
        };
        // A connection that the user's ssh shares is shared as ever.
        let is_users = match route {
            Route::Proxy(_) => false,
            Route::Local(_) => true,
            _ => matches!(config.sharing, Sharing::Trusted { .. }),
        };
        let own = master.filter(|master| master.is_open() || !is_users).map(Master::shared);
        let waits = own.as_ref().is_some_and(Shared::is_opened_by_this);
        if let Route::Address(_) = route {
            // By its address the host may have another section.
            config.sharing = ssh_query::sharing(options, &destination);
        }
        let mut variables = locale::from_environment();
        if options.name == ProgramName::Rove {
            variables = locale::as_utf8(variables);
            variables.extend(locale::colorterm_from_environment());
        }
        let args = remote::server_arguments(options, colors, variables);
        let remote = match (options.name, &options.server, &route) {
            (ProgramName::Mosh, server, route) => {
                let server = server.as_deref().unwrap_or(OsStr::new("mosh-server"));
                remote::stock(server, &args, *route == Route::Direct)
            }
            (ProgramName::Rove, Some(server), Route::Local(_)) => {
                let mut command = OsString::from(preamble);
                command.push(remote::stock(server, &args, false));
                command
            }
            (ProgramName::Rove, Some(server), _) => {
                remote::named(server, preamble, &challenge, &args)
            }
            (ProgramName::Rove, None, Route::Local(_)) => {
                let ourselves = env::current_exe().unwrap_or_else(|_| "rove".into());
                let mut server = OsString::from(preamble);
                server.push(quote::bourne(ourselves.as_os_str()));
                server.push(" server");
                remote::stock(&server, &args, false)
            }
            (ProgramName::Rove, None, _) => {
                let is_open = options.bind_server == BindServer::Open;
                let bind = if is_open { "-s" } else { "" };
                remote::searching(preamble, &challenge, &args, bind, waits)
            }
        };
        let (name, refuses_new_key) = (options.name, false);
        Ok(Self { name, route, destination, remote, challenge, config, own, refuses_new_key })
    }

    /// Returns the plan with which ssh asks nobody about a host key that it does not know. Behind our proxy command it
    /// could not say at which address it found the key.
    pub(crate) fn without_key_question(self) -> Self {
        let is_hidden = matches!(self.route, Route::Proxy(_));
        Self { refuses_new_key: is_hidden && self.config.asks_about_keys(), ..self }
    }

    /// Returns the plan with which ssh may ask about the key of a host that has these addresses: it connects by itself.
    pub(crate) fn with_key_question(&self, announced: &Announced) -> Option<Self> {
        let addresses = announced.addresses();
        let is_possible = self.refuses_new_key && !addresses.is_empty();
        is_possible.then(|| Self {
            route: Route::Known(addresses),
            refuses_new_key: false,
            ..self.clone()
        })
    }

    /// Returns whether the host's command waits where there is no server.
    pub(crate) fn waits(&self) -> bool {
        self.own.as_ref().is_some_and(Shared::is_opened_by_this)
    }

    /// Returns what ssh's configuration says of the host.
    pub(crate) const fn config(&self) -> &SshConfig {
        &self.config
    }

    /// Returns a plan to run this piece of sh on the host instead, by the same way.
    pub(crate) fn for_script(&self, script: &str) -> Self {
        let remote = match self.route {
            Route::Local(_) => script.into(),
            _ => remote::script(script),
        };
        Self { remote, ..self.clone() }
    }

    /// Returns the word that was drawn for this run.
    pub(crate) const fn challenge(&self) -> &Challenge {
        &self.challenge
    }

    /// Returns the user on the host as ssh knows them; `None` where ssh does not say.
    pub(crate) fn account(&self) -> Option<Account> {
        self.config.account()
    }

    /// Returns what the user should know of ssh's configuration, each in a line.
    pub(crate) fn notes(&self, options: &HostOptions) -> Vec<String> {
        self.config.notes(&options.host)
    }

    /// Returns the way around a direct connection, in ssh's words.
    pub(crate) fn detour(&self) -> Option<&str> {
        match &self.route {
            Route::Detour(words) => Some(words),
            _ => None,
        }
    }

    /// Returns the command to run, without its output.
    pub(crate) fn command(&self, options: &HostOptions) -> Command {
        let mut command = match &self.route {
            Route::Local(_) => self.local_command(),
            _ => self.ssh_command(options),
        };
        command
            .env_remove("MOSH_PREDICTION_DISPLAY")
            .env_remove("MOSH_KEY")
            .env("MOSH_CLIENT_PID", std::process::id().to_string());
        command
    }

    /// Returns how the output is to be read.
    pub(crate) fn rules(&self) -> Rules {
        match self.name {
            ProgramName::Mosh => Rules::Stock(match self.route {
                Route::Proxy(_) => StockAddress::Proxy,
                Route::Direct | Route::Detour(_) | Route::Known(_) => StockAddress::Host,
                Route::Address(_) | Route::Local(_) => StockAddress::Known,
            }),
            ProgramName::Rove => Rules::Tolerant {
                challenge: self.challenge.clone(),
                proxy: matches!(self.route, Route::Proxy(_)),
                start: !matches!(self.route, Route::Local(_)),
            },
        }
    }

    /// Returns the session that the output announced, unless ssh has failed: then nobody knows whose words
    /// they were.
    ///
    /// # Errors
    ///
    /// Returns why there is none.
    pub(crate) fn judge(
        &self,
        options: &HostOptions,
        announced: Announced,
        status: ExitStatus,
    ) -> Result<(ServerAddress, Connect), BootstrapError> {
        let host = || options.host.clone();
        let address = self.address(options, &announced);
        let is_failure = self.is_ssh_failure(status);
        match (address, announced.connect) {
            (Some(address), Some(connect)) if !is_failure => Ok((address, connect)),
            (_, Some(_)) if is_failure => Err(BootstrapError::ssh_failed(options)),
            (_, None) if announced.no_server_program => {
                Err(BootstrapError::no_server(options, announced.platform))
            }
            (None, None) if self.name == ProgramName::Mosh => Err(BootstrapError::NoAddress),
            (_, None) if announced.port_refused && is_range(options) => {
                Err(BootstrapError::NoPortRange)
            }
            (_, None) if is_failure && self.name == ProgramName::Rove => {
                Err(match announced.proxy_failure {
                    Some(failure) => BootstrapError::NotConnected { failure },
                    None => BootstrapError::ssh_failed(options),
                })
            }
            (_, None) if announced.has_impostor => Err(BootstrapError::Diverted { host: host() }),
            (_, None) if self.name == ProgramName::Mosh => {
                Err(BootstrapError::NoAnnouncement { host: host(), status })
            }
            (_, None) if announced.has_started => {
                Err(BootstrapError::ServerFailed { host: host(), status })
            }
            (_, None) => Err(BootstrapError::NotRun { host: host(), status }),
            (_, Some(_)) => Err(BootstrapError::NoAddress),
        }
    }

    /// Returns where else the session that the output announced may be: the host's other addresses, in the
    /// order to try them. There are none where the user has said how to find the one.
    pub(crate) fn other_addresses(
        &self,
        options: &HostOptions,
        announced: &Announced,
    ) -> Vec<String> {
        let is_open = options.remote_ip.is_none() && self.name == ProgramName::Rove;
        let first = self.address(options, announced);
        let Some(first) = first.filter(|_| is_open && !options.local) else { return Vec::new() };
        let is_of_family = |address: &IpAddr| match options.family.as_str() {
            "inet" => address.is_ipv4(),
            "inet6" => address.is_ipv6(),
            _ => true,
        };
        // A host that sees itself as loopback sees a forwarder, but where ssh went there, too.
        let here = first.text.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        let mut others: Vec<String> = Vec::new();
        let resolved = match &self.route {
            Route::Known(addresses) => &addresses[..],
            _ => &announced.other_addresses,
        };
        for text in announced.server_address.iter().chain(resolved) {
            let address = text.parse::<IpAddr>().map(|address| address.to_canonical());
            let Some(address) = address.ok().filter(is_of_family) else { continue };
            let text = address.to_string();
            let is_new = text != first.text && !others.contains(&text);
            if is_new && !address.is_unspecified() && (here || !address.is_loopback()) {
                others.push(text);
            }
        }
        others
    }

    fn address(&self, options: &HostOptions, announced: &Announced) -> Option<ServerAddress> {
        if let Route::Address(text) | Route::Local(text) = &self.route {
            return Some(ServerAddress { text: text.clone(), note: None });
        }
        if let Route::Known(addresses) = &self.route {
            let text = addresses.first().expect("there is an address").clone();
            return Some(ServerAddress { text, note: None });
        }
        if let Some(text) = &announced.proxy_address {
            return Some(ServerAddress { text: text.clone(), note: None });
        }
        let text = announced.server_address.clone()?;
        let host = options.host.display();
        let note = match &self.route {
            Route::Detour(words) => format!(
                "ssh reaches {host} by {words}; datagrams go straight to {text}, the address that \
                 its sshd sees"
            ),
            _ => format!("Using remote IP address {text} from $SSH_CONNECTION for hostname {host}"),
        };
        Some(ServerAddress { text, note: Some(note) })
    }

    /// Returns whether ssh itself has failed, which it says by 255, or was killed. Stock never looks at it.
    pub(crate) fn is_ssh_failure(&self, status: ExitStatus) -> bool {
        let is_ssh = !matches!(self.route, Route::Local(_));
        is_ssh && status.code().is_none_or(|code| code == SSH_FAILURE)
    }

    fn ssh_command(&self, options: &HostOptions) -> Command {
        let mut first = self.own.as_ref().map_or(Vec::new(), Shared::first_words);
        if self.refuses_new_key {
            first.extend(["-o", "StrictHostKeyChecking=yes"]);
        }
        let ssh = ssh_config::with_options(&options.ssh, &first);
        let (program, args) = ssh.split_first().expect("an ssh command has a program");
        let mut command = Command::new(program);
        command.args(args).args(self.config.overrides()).arg("-n");
        if options.ssh_pty {
            command.arg("-tt");
        }
        // Stock leaves ssh to its own where it does not connect itself.
        let is_told = self.name == ProgramName::Rove || self.route == Route::Direct;
        match options.family.as_str() {
            "inet" if is_told => command.arg("-4"),
            "inet6" if is_told => command.arg("-6"),
            _ => &mut command,
        };
        match (&self.own, &self.route) {
            (Some(own), _) => command.args(own.last_words()),
            // A shared connection would never run the proxy command.
            (None, Route::Proxy(_)) => command.args(["-S", "none"]),
            // Should it be gone by now, ours is not to become one that others depend on.
            (None, Route::Known(_)) => {
                command.args(self.config.sharing.words()).args(["-o", "ControlMaster=no"])
            }
            _ => command.args(self.config.sharing.words()),
        };
        if let Route::Proxy(proxy) = &self.route {
            // ssh runs it with the user's shell, and it is written for sh.
            command.arg("-o").arg(proxy).env("SHELL", "/bin/sh");
            if hands_over(options) {
                command.args(["-o", "ProxyUseFdpass=yes"]);
            }
        }
        command.arg(&self.destination).arg("--").arg(&self.remote);
        command
    }

    fn local_command(&self) -> Command {
        let mut command = Command::new("/bin/sh");
        // In a process group of its own the server keeps running while the client is suspended.
        command.arg("-c").arg(&self.remote).env_remove("SSH_CONNECTION").process_group(0);
        if let Some(home) = env::var_os("HOME").filter(|home| Path::new(home).is_dir()) {
            command.current_dir(home);
        }
        command
    }
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
        (None, ProgramName::Mosh) => RemoteIp::Proxy,
        (None, ProgramName::Rove) => {
            if let Some(words) = &config.detour {
                return Ok((Route::Detour(words.clone()), host));
            }
            let addresses = master_addresses(options, config);
            if !addresses.is_empty() {
                return Ok((Route::Known(addresses), host));
            }
            RemoteIp::Proxy
        }
    };
    match how {
        RemoteIp::Proxy => {
            let proxy = proxy_option(invocation, &options.family, challenge, hands_over(options));
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
            let found = address::resolve(name, SSH_PORT, &options.family)?;
            let number = address::numeric(*found.first().expect("there is an address"));
            let destination = match user {
                Some(user) => format!("{user}@{number}"),
                None => number.clone(),
            };
            Ok((Route::Address(number), destination.into()))
        }
    }
}

/// Returns the addresses of a host to which a connection is open already, in the order to try; none where there is no
/// such connection, or the name leads nowhere: then the usual way says why.
fn master_addresses(options: &HostOptions, config: &SshConfig) -> Vec<String> {
    let Some(name) = config.host_name.as_deref().filter(|_| config.sharing.has_master()) else {
        return Vec::new();
    };
    let found = address::resolve(name, SSH_PORT, &options.family).unwrap_or_default();
    found.into_iter().map(address::numeric).collect()
}

/// The exit status by which ssh says that it has failed itself. Source: ssh(1).
pub(crate) const SSH_FAILURE: i32 = 255;

/// The port given to the resolver, which wants one; only the address is used.
const SSH_PORT: u16 = 22;

/// Returns whether ssh is to get the connection from our proxy command: `rove` asks that of OpenSSH's alone.
fn hands_over(options: &HostOptions) -> bool {
    options.name == ProgramName::Rove && ssh_config::is_ssh(&options.ssh)
}

/// Returns the option by which ssh connects through this program: as `mosh`, it is stock's to the byte.
fn proxy_option(
    invocation: &Invocation,
    family: &str,
    challenge: &Challenge,
    hands_over: bool,
) -> OsString {
    let mut option = OsString::from("ProxyCommand=");
    for word in [invocation.own_path(), format!("--family={family}").into()] {
        option.push(without_tokens(&quote::bourne(&word)));
        option.push(" ");
    }
    option.push("--fake-proxy -- %h %p");
    if invocation.name == ProgramName::Rove {
        option.push(format!(" {challenge}"));
    }
    if hands_over {
        option.push(format!(" {}", proxy::HANDS_OVER));
    }
    option
}

/// Doubles the percent signs, with which ssh's own tokens begin.
fn without_tokens(word: &OsStr) -> OsString {
    let doubled = word.as_bytes().iter().flat_map(|byte| {
        let copies = if *byte == b'%' { 2 } else { 1 };
        core::iter::repeat_n(*byte, copies)
    });
    OsString::from_vec(doubled.collect())
}

fn is_range(options: &HostOptions) -> bool {
    options.port.as_ref().is_some_and(|port| port.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::Config;
    use crate::cli::host::{self, HostCall};

    #[test]
    fn the_proxy_command_survives_spaces_quotes_and_percent_signs() {
        let invocation = Invocation {
            name: ProgramName::Rove,
            program: "/a b/50%/it's/rove".into(),
            args: Vec::new(),
        };
        let wanted = r"ProxyCommand='/a b/50%%/it'\''s/rove' '--family=inet' --fake-proxy -- %h %p";
        let challenge = Challenge::from_bytes([0xab; 16]);
        let with_word = format!("{wanted} {}", "ab".repeat(16));
        assert_eq!(proxy_option(&invocation, "inet", &challenge, false), *with_word);
        let handing = format!("{with_word} hand-over");
        assert_eq!(proxy_option(&invocation, "inet", &challenge, true), *handing);
        let mosh = Invocation { name: ProgramName::Mosh, ..invocation };
        assert_eq!(proxy_option(&mosh, "inet", &challenge, false), wanted);
    }

    #[test]
    fn a_host_is_looked_for_at_its_other_addresses_where_the_user_leaves_that_open() {
        let of = |words: &str, route: Route, proxy: &str, server: &str, name: &[&str]| {
            let words = words.split_whitespace().map(OsString::from).collect();
            let call = host::parse(ProgramName::Rove, words, || Ok(Config::default()));
            let Ok(HostCall::Connect(options)) = call else { panic!() };
            let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let announced = Announced {
                proxy_address: text(proxy),
                server_address: text(server),
                other_addresses: name.iter().map(|it| (*it).to_owned()).collect(),
                ..Announced::default()
            };
            let (name, empty) = (ProgramName::Rove, OsString::new);
            let challenge = Challenge::from_bytes([0; 16]);
            let (destination, remote, config) = (empty(), empty(), SshConfig::default());
            let (own, refuses_new_key) = (None, false);
            let plan =
                Plan { name, route, destination, remote, challenge, config, own, refuses_new_key };
            plan.other_addresses(&options, &announced).join(" ")
        };
        const V4: &str = "192.0.2.7";
        const V6: &str = "2001:db8::7";
        let proxy = || Route::Proxy(OsString::new());
        for (words, server, others) in [
            ("h", "10.0.0.7", "10.0.0.7 2001:db8::7"),
            ("h", V4, V6),
            ("h", "::ffff:192.0.2.7", V6),
            ("h", "127.0.0.1", V6),
            ("h", "0.0.0.0", V6),
            ("-4 h", V4, ""),
            ("-6 h", "10.0.0.7", V6),
            ("--experimental-remote-ip=proxy h", "10.0.0.7", ""),
        ] {
            assert_eq!(of(words, proxy(), V4, server, &[V4, V6]), others, "{words} {server}");
        }
        // Where ssh itself goes to loopback, so may datagrams.
        assert_eq!(of("h", proxy(), "127.0.0.1", "127.0.0.2", &["::1"]), "127.0.0.2 ::1");
        // Behind a detour, the host's own word is all there is.
        assert_eq!(of("h", Route::Detour(String::new()), "", V4, &[]), "");
        // Through an open connection nobody tells by which address it goes, but the resolver tells all.
        let master = || Route::Known([V4, V6].map(str::to_owned).to_vec());
        assert_eq!(of("h", master(), "", "10.0.0.7", &[]), "10.0.0.7 2001:db8::7");
        assert_eq!(of("--local h", Route::Local(V4.to_owned()), "", V6, &[]), "");
    }
}
