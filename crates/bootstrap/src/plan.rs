//! Plans the start of a session: the command to run, and how to find the server's address.

use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, SocketAddr};
use std::process::{Command, ExitStatus};

use crate::challenge::Challenge;
use crate::no_session::NoSession;
use crate::options::{BindServer, HostOptions, WantedSession};
use crate::program_name::ProgramName;
use crate::sharing::Shared;
use crate::ssh_config::{self, SshConfig};
use crate::startup::{Announced, Connect, Rules, StockAddress};
use crate::{quote, remote, tunnel};

/// Returns an IP address in numeric form, with the IPv6 zone if it has one.
pub fn numeric(address: SocketAddr) -> String {
    match address {
        SocketAddr::V6(v6) if v6.scope_id() != 0 => format!("{}%{}", v6.ip(), v6.scope_id()),
        address => address.ip().to_string(),
    }
}

/// How ssh reaches the host, and how the host's address is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// ssh connects through rove's proxy command, which prints the address.
    Proxy(OsString),
    /// ssh connects by itself, and the host prints its address.
    Direct,
    /// ssh uses `ProxyCommand` or `ProxyJump`, in these words of its configuration. The host prints its address.
    Detour(String),
    /// ssh connects as configured, without rove's proxy command, perhaps through a shared connection. The host has
    /// these addresses, at least one.
    Known(Vec<String>),
    /// ssh connects directly to this address.
    Address(String),
    /// ssh connects as configured, and carries the whole session.
    Tunnel,
    /// No ssh is used. The server runs on this computer, at this address.
    Local(String),
}

/// The caller's findings and decisions, from which [`Plan::new`] makes the plan.
#[derive(Clone, Debug)]
pub struct Way {
    /// How ssh reaches the host.
    pub route: Route,
    /// The destination for ssh: `[user@]host`.
    pub destination: OsString,
    /// ssh's configuration for the host, if the program runs as `rove`.
    pub config: SshConfig,
    /// How ssh opens or shares the connection that this run of rove has for itself. `None` if the run has none.
    pub own: Option<Shared>,
}

/// The plan for the start of a session.
#[derive(Clone, Debug)]
pub struct Plan {
    name: ProgramName,
    route: Route,
    /// The destination for ssh: `[user@]host`.
    destination: OsString,
    /// The command that ssh, or the shell of this computer, runs.
    remote: OsString,
    /// The random word that rove's commands repeat in their lines.
    pub challenge: Challenge,
    /// ssh's configuration for the host, if the program runs as `rove`.
    pub config: SshConfig,
    /// How ssh opens or shares the connection that this run of rove has for itself. `None` if the run has none.
    own: Option<Shared>,
    /// Whether ssh refuses an unknown host key without asking the user.
    refuses_new_key: bool,
    /// Whether ssh carries datagrams after the server has started. Without a tunnel, this needs a rove server.
    pub carries: bool,
}

/// The address to which the client sends its datagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddress {
    /// The address in numeric form.
    pub text: String,
    /// A remark for the user about the origin of an address that the host stated. `None` for other addresses.
    pub note: Option<String>,
}

impl Plan {
    /// Creates the plan for a session. `challenge` is the random word of this run, and `args` are the server's
    /// arguments. The host first runs the shell text `preamble`, which is usually empty. `ourselves` is the path of
    /// this program, for a server on this computer.
    pub fn new(
        options: &HostOptions,
        way: Way,
        challenge: Challenge,
        args: &[OsString],
        preamble: &str,
        ourselves: &OsStr,
    ) -> Self {
        let Way { route, destination, config, own } = way;
        let waits = own.as_ref().is_some_and(|own| !own.is_open);
        // An open connection of this run ends with the run. So it cannot carry the session.
        let is_lasting = own.as_ref().is_none_or(|own| !own.is_open);
        let may_carry = options.carries_beside() && preamble.is_empty() && is_lasting;
        let carries = route == Route::Tunnel || may_carry;
        let remote = match (options.name, &options.server, &route) {
            (name, server, Route::Tunnel) => {
                let stock = (name == ProgramName::Mosh).then_some(OsStr::new("mosh-server"));
                remote::tunnel(server.as_deref().or(stock), &challenge, args, waits)
            }
            (ProgramName::Mosh, server, route) => {
                let server = server.as_deref().unwrap_or(OsStr::new("mosh-server"));
                remote::stock(server, args, *route == Route::Direct)
            }
            (ProgramName::Rove, Some(server), Route::Local(_)) => {
                let mut command = OsString::from(preamble);
                command.push(remote::stock(server, args, false));
                command
            }
            (ProgramName::Rove, Some(server), _) => {
                remote::named(server, preamble, &challenge, args)
            }
            (ProgramName::Rove, None, Route::Local(_)) => {
                let mut server = OsString::from(preamble);
                server.push(quote::bourne(ourselves));
                server.push(" server");
                remote::stock(&server, args, false)
            }
            (ProgramName::Rove, None, _) => {
                let is_open = options.bind_server == BindServer::Open;
                // Attaching to a session and naming a session require a rove server.
                let is_new = options.session == WantedSession::New;
                let bind = is_new.then_some(if is_open { "-s" } else { "" });
                remote::searching(preamble, &challenge, args, bind, waits, carries)
            }
        };
        let (name, refuses_new_key) = (options.name, false);
        Self { carries, name, route, destination, remote, challenge, config, own, refuses_new_key }
    }

    /// Returns this plan, changed so that ssh refuses an unknown host key without asking the user. That is for rove's
    /// proxy command, with which ssh's question would lack the host's address. Nothing changes for other routes, if ssh
    /// would not ask, or if rove cannot read ssh's messages.
    pub fn without_key_question(self, options: &HostOptions) -> Self {
        let is_hidden = matches!(self.route, Route::Proxy(_));
        let is_read = ssh_config::without_hush(&options.ssh).1.is_none();
        Self { refuses_new_key: is_hidden && is_read && self.config.asks_about_keys(), ..self }
    }

    /// Returns a plan with which ssh connects by itself, so that it can ask about the host key. `None` if this plan
    /// does not refuse unknown keys, or if no address of the host is known.
    pub fn with_key_question(&self, announced: &Announced) -> Option<Self> {
        let addresses = announced.addresses();
        let is_possible = self.refuses_new_key && !addresses.is_empty();
        is_possible.then(|| Self {
            route: Route::Known(addresses),
            refuses_new_key: false,
            ..self.clone()
        })
    }

    /// Returns this plan if the server's address is known. Otherwise returns a plan with which ssh carries the whole
    /// session. This requires a running ssh and a rove server.
    pub fn or_tunnel(self, options: &HostOptions, announced: &Announced) -> Self {
        debug_assert!(self.carries && !announced.is_stock);
        match self.address(options, announced) {
            Some(_) => self,
            None => Self { route: Route::Tunnel, ..self },
        }
    }

    /// Returns whether the host's command waits for a copy of rove if the host has no server program.
    pub fn waits(&self) -> bool {
        self.own.as_ref().is_some_and(|own| !own.is_open)
    }

    /// Returns whether ssh must outlive the user's terminal, because it carries the datagrams that end the session.
    pub fn outlives_terminal(&self) -> bool {
        self.carries
    }

    /// Returns a plan that runs this shell text on the host instead of a server, by the same route.
    pub fn for_script(&self, script: &str) -> Self {
        let remote = match self.route {
            Route::Local(_) => script.into(),
            _ => remote::script(script),
        };
        Self { remote, carries: false, ..self.clone() }
    }

    /// Returns the command for the shell of this computer. `None` if ssh runs the command.
    pub fn local_script(&self) -> Option<&OsStr> {
        matches!(self.route, Route::Local(_)).then_some(&*self.remote)
    }

    /// Returns the `ProxyCommand` or `ProxyJump` of [`Route::Detour`]. `None` for other routes.
    pub fn detour(&self) -> Option<&str> {
        match &self.route {
            Route::Detour(words) => Some(words),
            _ => None,
        }
    }

    /// Returns whether ssh carries all of the session's datagrams.
    pub fn is_tunnel(&self) -> bool {
        self.route == Route::Tunnel
    }

    /// Returns whether the command on the host is rove's own. Otherwise the command equals stock Mosh's.
    fn is_ours(&self) -> bool {
        self.name == ProgramName::Rove || self.is_tunnel()
    }

    /// Returns the rules by which to recognise lines in the output of the plan's command.
    pub fn rules(&self) -> Rules {
        if self.is_ours() {
            return Rules::Tolerant {
                challenge: self.challenge.clone(),
                proxy: matches!(self.route, Route::Proxy(_)),
                start: !matches!(self.route, Route::Local(_)),
            };
        }
        Rules::Stock(match self.route {
            Route::Proxy(_) => StockAddress::Proxy,
            Route::Address(_) | Route::Local(_) => StockAddress::Known,
            _ => StockAddress::Host,
        })
    }

    /// Returns the server's address and announcement. If ssh has failed, their origin is unknown, which is an error.
    ///
    /// # Errors
    ///
    /// Returns why there is no session. The caller must first check [`Announced::lacks_program`].
    pub fn judge(
        &self,
        options: &HostOptions,
        mut announced: Announced,
        status: ExitStatus,
    ) -> Result<(ServerAddress, Connect), NoSession> {
        let address = self.address(options, &announced);
        let is_failure = self.is_ssh_failure(status);
        let is_here = |address: &ServerAddress| {
            address.text.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
        };
        match (address, announced.connect.take()) {
            (Some(address), Some(_))
                if !is_failure
                    && announced.attachment.is_loopback
                    && !self.carries
                    && !is_here(&address) =>
            {
                Err(NoSession::BehindTunnel { host: options.host.clone() })
            }
            (Some(address), Some(connect)) if !is_failure => Ok((address, connect)),
            (_, Some(_)) if is_failure => Err(NoSession::ssh_failed(options, &self.config)),
            (_, Some(_)) => Err(NoSession::NoAddress),
            (None, None) if !self.is_ours() => Err(NoSession::NoAddress),
            (_, None) if announced.port_refused && options.has_port_range() => {
                Err(NoSession::NoPortRange)
            }
            (_, None) if !self.is_ours() => {
                Err(NoSession::NoAnnouncement { host: options.host.clone(), status })
            }
            (address, None) => {
                let address = address.map(|it| it.text);
                Err(NoSession::of(options, &self.config, address, &announced, status, is_failure))
            }
        }
    }

    /// Returns further addresses of the host at which the server may be reached, in the order to try them. There are
    /// none for stock Mosh, a tunnel or a local server. There are also none if the user chose how to find the address.
    pub fn other_addresses(&self, options: &HostOptions, announced: &Announced) -> Vec<String> {
        let is_open = options.remote_ip.is_none() && self.is_ours() && !self.is_tunnel();
        let first = self.address(options, announced);
        let Some(first) = first.filter(|_| is_open && !options.local) else { return Vec::new() };
        let is_of_family = |address: &IpAddr| match self.config.family(&options.family) {
            "inet" => address.is_ipv4(),
            "inet6" => address.is_ipv6(),
            _ => true,
        };
        // A loopback address from the host belongs to a relay of ssh's connection, unless ssh connected to loopback.
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
        let told = match &self.route {
            Route::Address(text) | Route::Local(text) => Some(text.as_str()),
            Route::Known(addresses) => Some(&**addresses.first().expect("there is an address")),
            Route::Tunnel => Some(tunnel::SERVER),
            _ => announced.proxy_address.as_deref(),
        };
        if let Some(text) = told {
            return Some(ServerAddress { text: text.to_owned(), note: None });
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

    /// Returns whether ssh itself has failed: it exits with 255, or a signal ended it. Stock Mosh never checks this.
    pub fn is_ssh_failure(&self, status: ExitStatus) -> bool {
        let is_ssh = !matches!(self.route, Route::Local(_));
        is_ssh && status.code().is_none_or(|code| code == SSH_FAILURE)
    }

    /// Returns the ssh command to run.
    pub fn ssh_command(&self, options: &HostOptions) -> Command {
        let mut first = self.own.as_ref().map_or(Vec::new(), Shared::first_words);
        if self.refuses_new_key {
            first.extend(["-o", "StrictHostKeyChecking=yes"]);
        }
        first.extend(self.config.overrides());
        // If ssh runs a proxy command, ssh completes the host's name only with the value `always`. If the user's
        // configuration has a proxy command, ssh without rove would not complete the name.
        let completes = self.config.connecting.completes_name && self.config.detour.is_none();
        if completes && matches!(self.route, Route::Proxy(_)) {
            first.extend(["-o", "CanonicalizeHostname=always"]);
        }
        let ssh = ssh_config::with_options(&options.ssh, &first);
        let (program, args) = ssh.split_first().expect("an ssh command has a program");
        let mut command = Command::new(program);
        command.args(args);
        match (self.carries, options.ssh_pty) {
            (true, false) if self.is_tunnel() => &mut command,
            // sshd may refuse a pseudo-terminal. A pseudo-terminal may also change bytes, because a server that the
            // user named may leave it in such a mode.
            (true, true) if self.is_tunnel() || !options.has_program() => command.arg("-T"),
            // A stock server needs a terminal as usual. The tunnel's end on the host then makes the terminal raw.
            (true, true) => command.args(["-tt", "-e", "none"]),
            (true, false) => command.arg("-T"),
            (false, true) if options.has_program() => command.args(["-n", "-tt"]),
            (false, true) => command.args(["-n", "-T"]),
            (false, false) => command.arg("-n"),
        };
        // Stock Mosh passes the address family only if ssh connects directly.
        let is_told = self.is_ours() || self.route == Route::Direct;
        command.args(options.family_word().filter(|_| is_told));
        match (&self.own, &self.route) {
            (Some(own), _) => command.args(own.last_words()),
            // Over a shared connection, ssh would not run the proxy command.
            (None, Route::Proxy(_)) => command.args(["-S", "none"]),
            // If the shared connection has ended, this ssh must not become the master of other ssh processes.
            (None, Route::Known(_)) => {
                command.args(self.config.sharing.words()).args(["-o", "ControlMaster=no"])
            }
            _ => command.args(self.config.sharing.words()),
        };
        if self.carries && self.own.is_none() && ssh_config::is_ssh(&options.ssh) {
            // If this ssh became a master, other ssh processes would end with it, or this ssh would wait for their end.
            command.args(["-o", "ControlMaster=no"]);
        }
        if let Route::Proxy(proxy) = &self.route {
            // ssh runs the proxy command with the user's shell, but stock Mosh writes the command for sh.
            command.arg("-o").arg(proxy).env("SHELL", "/bin/sh");
            if hands_over(options) {
                command.args(["-o", "ProxyUseFdpass=yes"]);
            }
        }
        command.arg(&self.destination).arg("--").arg(&self.remote);
        command
    }
}

/// The exit status by which ssh reports its own failure. Source: ssh(1).
pub const SSH_FAILURE: i32 = 255;

/// The argument that tells rove's proxy command to pass the connected socket to ssh.
pub const HANDS_OVER: &str = "hand-over";

/// Returns whether rove's proxy command passes its connected socket to OpenSSH. This requires a call as `rove`.
fn hands_over(options: &HostOptions) -> bool {
    options.name == ProgramName::Rove && ssh_config::is_ssh(&options.ssh)
}

/// Returns the ssh option that makes `program`, which is rove, the proxy command. If the user called rove as `mosh`,
/// the option equals that of stock Mosh byte for byte.
pub fn proxy_option(
    options: &HostOptions,
    program: OsString,
    challenge: &Challenge,
    config: &SshConfig,
) -> OsString {
    let mut option = OsString::from("ProxyCommand=");
    let quoted = match options.name {
        ProgramName::Mosh => quote::bourne,
        ProgramName::Rove => quote::any_shell,
    };
    for word in [program, format!("--family={}", config.family(&options.family)).into()] {
        option.push(without_tokens(&quoted(&word)));
        option.push(" ");
    }
    option.push("--fake-proxy -- %h %p");
    if options.name == ProgramName::Rove {
        option.push(format!(" {challenge}"));
    }
    if hands_over(options) {
        option.push(format!(" {HANDS_OVER}"));
        let seconds = config.connecting.seconds_max;
        option.push(seconds.map_or(String::new(), |seconds| format!(" {seconds}")));
    }
    option
}

/// Doubles the percent signs in a word, because ssh expands tokens that begin with them.
fn without_tokens(word: &OsStr) -> OsString {
    let doubled = word.as_encoded_bytes().iter().flat_map(|byte| {
        let copies = if *byte == b'%' { 2 } else { 1 };
        core::iter::repeat_n(*byte, copies)
    });
    quote::from_bytes(doubled.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{RemoteIp, TunnelUse};

    #[test]
    fn the_proxy_command_survives_spaces_quotes_and_percent_signs() {
        let program = || OsString::from("/a b/50%/it's/rove");
        let options = |name, ssh: &str| HostOptions {
            name,
            family: "inet".to_owned(),
            ssh: vec![ssh.to_owned()],
            ..HostOptions::default()
        };
        let wanted = r"ProxyCommand='/a b/50%%/it'\''s/rove' '--family=inet' --fake-proxy -- %h %p";
        let challenge = Challenge::from_bytes([0xab; 16]);
        let word = "ab".repeat(16);
        for (name, ssh, answer, end) in [
            (ProgramName::Rove, "myssh", "", format!(" {word}")),
            (ProgramName::Rove, "ssh", "", format!(" {word} hand-over")),
            (ProgramName::Rove, "ssh", "connecttimeout 5\n", format!(" {word} hand-over 5")),
            (ProgramName::Rove, "myssh", "addressfamily inet6\n", format!(" {word}")),
            (ProgramName::Mosh, "ssh", "", String::new()),
        ] {
            let config = ssh_config::parse(answer, |_| crate::Sharing::Unknown);
            let option = proxy_option(&options(name, ssh), program(), &challenge, &config);
            assert_eq!(option, *format!("{wanted}{end}"));
        }
    }

    #[test]
    fn a_host_is_looked_for_at_its_other_addresses_where_the_user_leaves_that_open() {
        let of = |asked: &str, route: Route, proxy: &str, server: &str, name: &[&str]| {
            let options = HostOptions {
                family: asked.to_owned(),
                remote_ip: (asked == "proxy").then_some(RemoteIp::Proxy),
                local: asked == "local",
                ..HostOptions::default()
            };
            let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let announced = Announced {
                proxy_address: text(proxy),
                server_address: text(server),
                other_addresses: name.iter().map(|it| (*it).to_owned()).collect(),
                ..Announced::default()
            };
            let (destination, config) = (OsString::new(), SshConfig::default());
            let way = Way { route, destination, config, own: None };
            let challenge = Challenge::from_bytes([0; 16]);
            let plan = Plan::new(&options, way, challenge, &[], "", OsStr::new(""));
            plan.other_addresses(&options, &announced).join(" ")
        };
        const V4: &str = "192.0.2.7";
        const V6: &str = "2001:db8::7";
        let proxy = || Route::Proxy(OsString::new());
        for (asked, server, others) in [
            ("", "10.0.0.7", "10.0.0.7 2001:db8::7"),
            ("", V4, V6),
            ("", "::ffff:192.0.2.7", V6),
            ("", "127.0.0.1", V6),
            ("", "0.0.0.0", V6),
            ("inet", V4, ""),
            ("inet6", "10.0.0.7", V6),
            ("proxy", "10.0.0.7", ""),
        ] {
            assert_eq!(of(asked, proxy(), V4, server, &[V4, V6]), others, "{asked} {server}");
        }
        // If ssh itself connected to loopback, datagrams may go there too.
        assert_eq!(of("", proxy(), "127.0.0.1", "127.0.0.2", &["::1"]), "127.0.0.2 ::1");
        // With a detour, only the host states an address.
        assert_eq!(of("", Route::Detour(String::new()), "", V4, &[]), "");
        // The address of an open connection is unknown, but the resolver returns all addresses of the host.
        let master = || Route::Known([V4, V6].map(str::to_owned).to_vec());
        assert_eq!(of("", master(), "", "10.0.0.7", &[]), "10.0.0.7 2001:db8::7");
        assert_eq!(of("local", Route::Local(V4.to_owned()), "", V6, &[]), "");
    }

    #[test]
    fn a_name_that_ssh_completes_by_itself_is_completed_with_the_proxy_command_too() {
        for (answer, is_proxy, is_told) in [
            ("canonicalizehostname true\n", true, true),
            ("canonicalizehostname yes\n", true, true),
            ("canonicalizehostname always\n", true, false),
            ("canonicalizehostname false\n", true, false),
            ("canonicalizehostname true\n", false, false),
            ("canonicalizehostname true\nproxyjump gate\n", true, false),
        ] {
            let ssh = ["ssh", "-o", "CanonicalizeHostname=yes"].map(str::to_owned).to_vec();
            let options = HostOptions { ssh, ..HostOptions::default() };
            let proxy = || Route::Proxy("ProxyCommand=x".into());
            let route = if is_proxy { proxy() } else { Route::Direct };
            let config = ssh_config::parse(answer, |_| crate::Sharing::Unknown);
            let way = Way { route, destination: "far".into(), config, own: None };
            let challenge = Challenge::from_bytes([0; 16]);
            let plan = Plan::new(&options, way, challenge, &[], "", OsStr::new(""));
            let command = plan.ssh_command(&options);
            // ssh obeys the first option of a kind.
            let mut told = command.get_args().filter_map(OsStr::to_str);
            let first = told.find_map(|word| word.strip_prefix("CanonicalizeHostname="));
            assert_eq!(first == Some("always"), is_told, "{answer}");
        }
    }

    #[test]
    fn an_unknown_key_is_refused_only_if_rove_reads_of_it() {
        for (ssh, is_refused) in [("ssh", true), ("ssh -E log", false), ("ssh -y", false)] {
            let ssh = ssh.split(' ').map(str::to_owned).collect();
            let options = HostOptions { ssh, ..HostOptions::default() };
            let route = Route::Proxy("ProxyCommand=x".into());
            let answer = "stricthostkeychecking ask\n";
            let config = ssh_config::parse(answer, |_| crate::Sharing::Unknown);
            let way = Way { route, destination: "far".into(), config, own: None };
            let challenge = Challenge::from_bytes([0; 16]);
            let plan = Plan::new(&options, way, challenge, &[], "", OsStr::new(""));
            let command = plan.without_key_question(&options).ssh_command(&options);
            let found = command.get_args().any(|word| word == "StrictHostKeyChecking=yes");
            assert_eq!(found, is_refused, "{:?}", options.ssh);
        }
    }

    #[test]
    fn a_session_on_the_loopback_of_another_host_needs_an_ssh_that_carries_it() {
        for (tunnel, address, is_loopback, is_refused) in [
            (TunnelUse::Never, "192.0.2.7", true, true),
            (TunnelUse::Never, "192.0.2.7", false, false),
            (TunnelUse::Never, "127.0.0.1", true, false),
            (TunnelUse::Never, "::1", true, false),
            (TunnelUse::Auto, "192.0.2.7", true, false),
        ] {
            let (ssh, name) = (vec!["ssh".to_owned()], ProgramName::Rove);
            let options = HostOptions { tunnel, ssh, name, ..HostOptions::default() };
            let route = Route::Known(vec![address.to_owned()]);
            let way = Way {
                route,
                destination: OsString::new(),
                config: SshConfig::default(),
                own: None,
            };
            let challenge = Challenge::from_bytes([0; 16]);
            let plan = Plan::new(&options, way, challenge, &[], "", OsStr::new(""));
            let mut startup = crate::startup::Startup::new(plan.rules());
            let loopback = if is_loopback { "ROVE LOOPBACK\n" } else { "" };
            let lines = format!(
                "{}\n{loopback}MOSH CONNECT 60001 {}\n",
                remote::first_line(&plan.challenge),
                "k".repeat(22)
            );
            let stream = crate::startup::Stream::Output;
            let mut text = Vec::new();
            startup.read(stream, lines.as_bytes(), &mut text).unwrap();
            assert!(text.is_empty(), "the lines are rove's");
            let judged = plan.judge(&options, startup.announced, ExitStatus::default());
            let found = matches!(&judged, Err(NoSession::BehindTunnel { .. }));
            assert_eq!((found, judged.is_err()), (is_refused, is_refused), "{tunnel:?} {address}");
        }
    }
}
