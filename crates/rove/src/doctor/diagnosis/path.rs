//! Derives the results of the legs (steps of a session) after the server's announcement. They tell whether the server
//! runs, and whether datagrams pass in both directions. Large datagrams and a new port have their own legs.

use std::net::IpAddr;

use rove_bootstrap::{Forwards, Permitted, Place, RemoteForward, TunnelUse};
use rove_udp::Refusal;

use super::{Diagnosis, Finding, INSTALL, note, ok, problem, unchecked};
use crate::doctor::facts::{Aftermath, Far, Host, Large, Logout, Path, Server, Sessions};
use crate::server::policy::{Policy, is_loopback, ports};

/// The remedy that lets rove keep sessions even if systemd-logind ends the processes of a login.
const LINGER: &str =
    "`loginctl enable-linger` there (as the user, or by root with the user's name)";
/// The remedy that keeps the processes of all programs after a logout.
const SETTING: &str = "KillUserProcesses=no in logind.conf";

/// Checks the legs after the server's announcement, and adds the results to `diagnosis`.
pub(super) fn check(host: &Host, diagnosis: &mut Diagnosis) {
    let legs = ["server-alive", "udp-out", "udp-back"];
    let later = ["address", "datagram-size", "rebinding"];
    let (Some(server), Some(path)) = (&host.server, &host.path) else {
        for leg in legs.into_iter().chain(later).chain(["tunnel", "forwarding"]) {
            diagnosis.push(leg, unchecked("no server has started"));
        }
        return;
    };
    check_path(host, server, path, diagnosis);
    diagnosis.push("tunnel", tunnel(host, path));
    diagnosis.push("forwarding", forwarding(host, path));
}

/// Returns the finding about forwarding. A server that cannot forward is a problem only for options that forward any.
fn forwarding(host: &Host, path: &Path) -> Finding {
    match path.forwards {
        None => unchecked("no answer says whether the server forwards connections"),
        Some(true) => refused(host).unwrap_or_else(|| {
            ok("-L, -R and -D carry connections; -R listens on the host's loopback")
        }),
        Some(false) => {
            let (reason, remedy) = lack(host);
            let seen = format!("-L, -R and -D carry nothing: {reason}");
            let is_asked = host.far.as_ref().is_some_and(|far| !far.forwards.is_empty());
            if is_asked { problem(seen, remedy) } else { note(seen) }
        }
    }
}

/// Returns why a server that answers cannot forward connections, and the remedy.
pub(super) fn lack(host: &Host) -> (&'static str, &'static str) {
    if host.far.as_ref().is_some_and(|far| far.version.starts_with("rove ")) {
        (
            "the host's rove is too old, or its /etc/rove/server.toml forbids streams",
            "rove install copies this rove to the host; streams = true in that file permits them",
        )
    } else {
        ("they need rove on the host, and no rove has answered", INSTALL)
    }
}

/// Returns a finding about the first forward of the user's options that does not work with this host.
fn refused(host: &Host) -> Option<Finding> {
    let Far { forwards, sessions, .. } = host.far.as_ref()?;
    let rules = match sessions {
        Sessions::Listed(listing) => listing.rules(),
        Sessions::Unknown | Sessions::Unreadable => None,
    };
    let rules = rules.as_ref();
    let unopened = forwards.remote.iter().find_map(|it| unopened(it, rules));
    let unlisted = || unlisted(forwards, rules?);
    unopened.or_else(unlisted).or_else(|| unreached(forwards, rules))
}

/// Returns why the host does not listen for `-R`.
fn unopened(forward: &RemoteForward, rules: Option<&Policy>) -> Option<Finding> {
    let Place::Port(host, _) = &forward.listen else { return None };
    let place = Policy::PATH;
    match is_loopback(host.as_deref()) {
        None => Some(problem(
            format!("{forward} opens no port, because a host listens at an address, not at a name"),
            "give the address in place of the name",
        )),
        Some(false) if rules.is_some_and(|rules| !rules.gateway_ports) => Some(problem(
            format!(
                "{forward} opens no port, because the host's {place} does not say gateway-ports = true"
            ),
            "have that added there, or let -R listen on the host's loopback",
        )),
        Some(_) => None,
    }
}

/// Returns why the user's programs that speak SOCKS reach no place, or only places in a list.
fn unreached(forwards: &Forwards, rules: Option<&Policy>) -> Option<Finding> {
    let place = Policy::PATH;
    let from_host = forwards.remote.iter().find(|it| it.target.is_none());
    if let Some(option) = from_host
        && forwards.permitted == Permitted::Only(Vec::new())
    {
        let seen =
            format!("{option} reaches nothing, because PermitRemoteOpen here permits nothing");
        return Some(problem(seen, format!("change PermitRemoteOpen, or leave {option} out")));
    }
    let option = forwards.all.iter().find(|it| it.target.is_none())?;
    match ports(rules?.permit_open.as_ref()?) {
        Permitted::Only(places) if places.is_empty() => Some(problem(
            format!(
                "{option} reaches nothing, because permit-open in the host's {place} has no port"
            ),
            format!("have permit-open there changed, or leave {option} out"),
        )),
        Permitted::Only(places) if !places.contains(&(None, None)) => {
            let list = format!("permit-open in the host's {place}");
            Some(note(format!("{option} reaches only the ports of {list}")))
        }
        _ => None,
    }
}

/// Returns a finding about the first forward of the user's options that the host's administrator does not permit.
fn unlisted(forwards: &Forwards, rules: &Policy) -> Option<Finding> {
    let open = forwards.all.iter().filter_map(|it| {
        let is_refused = !rules.permits_open(it.target.as_ref()?);
        is_refused.then(|| (it.to_string(), "permit-open"))
    });
    let listen = forwards.remote.iter().filter(|it| !rules.permits_listen(&it.listen));
    let listen = listen.map(|it| (it.to_string(), "permit-listen"));
    let (option, rule) = open.chain(listen).next()?;
    let place = Policy::PATH;
    Some(problem(
        format!("the host's {place} does not permit {option} ({rule})"),
        format!("have {rule} there changed, or leave {option} out"),
    ))
}

/// Returns whether UDP or ssh carries a session at present and why, and whether the host supports sessions through ssh.
fn tunnel(host: &Host, path: &Path) -> Finding {
    match has_rove(host) {
        Some(true) => ok(match (host.tunnel, path.answered) {
            (Some(TunnelUse::Always), _) => "a session goes through ssh, as --tunnel asks",
            (Some(_), Some(_)) => {
                "a session goes by UDP, which is answered, and through ssh while it is not"
            }
            (Some(_), None) if path.by_jump_host => {
                "after a login that asks nothing, a session goes as UDP by jump host, as the host itself does not \
                 answer UDP from here"
            }
            (Some(_), None) => "a session goes through ssh, as UDP is not answered",
            (None, Some(_)) => {
                "a session goes by UDP; where no UDP passes, --tunnel carries a session through ssh"
            }
            (None, None) => "where no UDP passes, --tunnel carries a session through ssh",
        }),
        Some(false) => note("where no UDP passes, --tunnel needs rove on the host, which it lacks"),
        None => unchecked("the host did not tell whether it has rove"),
    }
}

/// Returns the clause that sessions work although the server's UDP port is silent. `None` if nothing shows that.
pub(super) fn meanwhile(host: &Host) -> Option<String> {
    let is_silent = host.path.as_ref()?.answered.is_none();
    let is_carried = host.tunnel.is_some() && has_rove(host) == Some(true);
    let is_alive = has_ended(host.aftermath.as_ref()?) != Some(true);
    (is_silent && is_carried && is_alive)
        .then(|| format!("sessions with {} work through ssh", host.name))
}

/// Returns whether the host has rove. `None` if the host did not tell.
fn has_rove(host: &Host) -> Option<bool> {
    let Far { server, rove, version, .. } = host.far.as_ref()?;
    if server.is_empty() {
        // The user named the server, and its version says nothing about another program.
        return Some(!rove.is_empty());
    }
    (!version.is_empty()).then(|| version.starts_with("rove "))
}

fn check_path(host: &Host, server: &Server, path: &Path, diagnosis: &mut Diagnosis) {
    let legs = ["server-alive", "udp-out", "udp-back"];
    let later = ["address", "datagram-size", "rebinding"];
    if path.answered.is_none() {
        for (leg, finding) in legs.into_iter().zip(silence(host, server, path)) {
            diagnosis.push(leg, finding);
        }
        let tried = addresses(path);
        diagnosis.push("address", unchecked(format!("no answer came from {tried}")));
        for leg in &later[1..] {
            diagnosis.push(leg, unchecked("no datagram came back"));
        }
        return;
    }
    diagnosis.push("server-alive", alive(host));
    diagnosis
        .push("udp-out", ok(format!("the server hears this computer at port {}", server.port)));
    let back = "this computer hears the server";
    let time = path.round_trip.map(|time| format!("; round trip {time:.1?}")).unwrap_or_default();
    diagnosis.push("udp-back", ok(format!("{back}{time}")));
    diagnosis.push("address", address(host, path));
    diagnosis.push("datagram-size", datagram_size(path));
    diagnosis.push("rebinding", rebinding(path));
}

/// Returns the findings about three legs when no answer came: the server, the path to it, and the path back.
fn silence(host: &Host, server: &Server, path: &Path) -> [Finding; 3] {
    let unknown = Aftermath::default();
    let aftermath = host.aftermath.as_ref().unwrap_or(&unknown);
    let later = || unchecked("the server is gone");
    let alive = has_ended(aftermath).map(|has_ended| !has_ended);
    // A datagram that the server received through the jump host says nothing about UDP from here.
    match (alive, aftermath.heard.filter(|_| !path.by_jump_host)) {
        (Some(false), _) => [gone(host), later(), later()],
        (alive, Some(true)) => [
            alive_or_unknown(alive),
            ok(format!("the server heard this computer at port {}", server.port)),
            problem(
                format!(
                    "the server's answers do not come back ({} datagrams sent, none received)",
                    path.sent
                ),
                "something lets UDP out and not in: a firewall on this computer or in its router that \
                 keeps no state for UDP, a NAT without room, or a VPN that answers another way; try \
                 another network, --bind-server=any if the host has several addresses, or --tunnel, by \
                 which rove on the host carries the session through ssh",
            ),
        ],
        (alive, heard) => {
            let (seen, remedy) = no_answer(path.refusal.as_ref(), path, server.port, alive);
            let back = match heard {
                Some(_) => "the server has heard nothing to answer",
                None => "whether the way out or the way back fails cannot be told from here",
            };
            [alive_or_unknown(alive), problem(seen, remedy), unchecked(back)]
        }
    }
}

/// Returns whether the server has ended. `None` if unknown.
fn has_ended(aftermath: &Aftermath) -> Option<bool> {
    // If the process number is unknown, an unbound port tells that the server has ended.
    let alive = aftermath.alive.or(aftermath.bound.filter(|bound| !bound));
    alive.map(|alive| !alive)
}

/// Returns the finding about a server that answers after its ssh has ended. A shared ssh connection may have kept the
/// login alive, so that the host's logout rule has not taken effect yet.
fn alive(host: &Host) -> Finding {
    match logout(host) {
        Some(Logout::Ends) => note(format!(
            "the server outlives the ssh connection, but systemd-logind on {} ends sessions at logout: \
             {LINGER} lets rove keep them",
            host.name
        )),
        _ => ok("the server outlives the ssh connection"),
    }
}

fn alive_or_unknown(alive: Option<bool>) -> Finding {
    match alive {
        Some(_) => ok("the server outlives the ssh connection"),
        None => unchecked("a second login could not look for the server"),
    }
}

fn gone(host: &Host) -> Finding {
    let seen = "the server ran, but is gone since ssh has ended";
    let logind = format!("{seen}: systemd-logind ends what users of {} leave behind", host.name);
    match logout(host) {
        Some(Logout::Ends) => problem(
            logind,
            format!(
                "{LINGER}, which lets rove on the host keep sessions; or {SETTING}, for mosh-server too"
            ),
        ),
        Some(Logout::EndsThoughLingering) => problem(
            logind,
            format!(
                "the user lingers there, so rove on the host keeps sessions where the user has a bus (package \
                 dbus-user-session); mosh-server needs {SETTING}"
            ),
        ),
        Some(Logout::Leaves) | None => problem(
            seen,
            format!(
                "something on the host ends what a login leaves behind. With systemd-logind: {LINGER}, or \
                 {SETTING}; else look for job limits, a container that ends with its session, or a crash in the log"
            ),
        ),
    }
}

fn logout(host: &Host) -> Option<Logout> {
    host.far.as_ref().and_then(|far| far.logout)
}

/// Returns the observation and the advice for a server that should run and does not answer.
///
/// The client prints this text too, if a session never began.
pub(crate) fn no_answer(
    refusal: Option<&Refusal>,
    path: &Path,
    port: u16,
    alive: Option<bool>,
) -> (String, String) {
    let tried = addresses(path);
    let firewall = format!(
        "let UDP in at the host's firewall (`ufw allow 60001:60999/udp`, or `firewall-cmd \
         --add-port=60001-60999/udp`) and in its provider's security group; -p PORT uses another port \
         than {port}, and --tunnel, with rove on the host, carries the session through ssh"
    );
    match refusal {
        Some(Refusal::Port) if alive == Some(true) => (
            format!("{tried} refuses UDP port {port}, though the server runs"),
            format!(
                "the address belongs to something else than the host (a router, a load balancer, a \
                 container's host): forward UDP port {port} there, or try \
                 --experimental-remote-ip=remote; a firewall that rejects instead of dropping looks the \
                 same: {firewall}"
            ),
        ),
        Some(Refusal::Port) => (
            format!("{tried} refuses UDP port {port}: nobody listens there"),
            "either the server has ended, or the address is another computer's (a router, a load \
             balancer): forward the port there, or try --experimental-remote-ip=remote"
                .to_owned(),
        ),
        Some(Refusal::Host) => (
            format!("a router says that {tried} cannot be reached with UDP"),
            format!("a route is missing, or a firewall rejects: {firewall}"),
        ),
        Some(Refusal::Network) => (
            format!("there is no route from here to {tried}"),
            "the address is not reachable from this network: try the other family (-4 or -6), a VPN, or \
             --experimental-remote-ip=remote"
                .to_owned(),
        ),
        Some(Refusal::Here) => (
            format!("this computer does not let datagrams out to {tried}"),
            "look at the firewall of this computer (`nft list ruleset`): it forbids outgoing UDP; --tunnel, \
             with rove on the host, does without"
                .to_owned(),
        ),
        Some(Refusal::Other(error)) => (
            format!("datagrams to {tried} fail: {error}"),
            "see what the network here has to say; try another one".to_owned(),
        ),
        None if path.foreign > 0 => (
            format!("what answers at {tried} has another session's key"),
            "something between here and the host answers in its place, or a start-up file printed an \
             old key; start again with -p and another port"
                .to_owned(),
        ),
        None => (
            format!("nothing comes back from {tried}, not even a refusal"),
            format!("datagrams are dropped on the way, by a firewall as a rule: {firewall}"),
        ),
    }
}

fn addresses(path: &Path) -> String {
    let tried: Vec<String> = path.tried.iter().map(|address| address.ip().to_string()).collect();
    tried.join(" and ")
}

fn address(host: &Host, path: &Path) -> Finding {
    let answered = path.answered.and_then(|index| path.tried.get(index));
    let first = path.tried.first();
    let (Some(answered), Some(first)) = (answered, first) else {
        return unchecked("no answer came");
    };
    if answered != first {
        return problem(
            format!("{} does not answer, but {} does", first.ip(), answered.ip()),
            "the address by which ssh arrives is not the host's own (a NAT, a container, a load \
             balancer): use --experimental-remote-ip=remote",
        );
    }
    let family = match answered.ip() {
        IpAddr::V4(_) => "IPv4",
        IpAddr::V6(_) => "IPv6",
    };
    let text = answered.ip().to_string();
    let others: Vec<&str> =
        host.addresses.iter().map(String::as_str).filter(|other| *other != text).collect();
    ok(match others.as_slice() {
        [] => format!("{family}, {text}"),
        others => format!("{family}, {text}; the name also has {}", others.join(", ")),
    })
}

fn datagram_size(path: &Path) -> Finding {
    let lower = "a link on the way takes only smaller packets and tells nobody (a tunnel or a VPN as a \
                 rule): lower the MTU of the interface (`ip link set dev NAME mtu 1280`), or let ICMP \
                 pass so that fragments are made";
    match (path.up, path.down) {
        (Large::Only { refused, passed }, _) => problem(
            format!("to the host, datagrams of {refused} bytes are lost; {passed} bytes pass"),
            lower,
        ),
        (Large::Stuck(Some(size)), _) => {
            problem(format!("to the host, datagrams of {size} bytes are lost"), lower)
        }
        (_, Large::Only { refused, passed }) => problem(
            format!("from the host, datagrams of {refused} bytes are lost; {passed} bytes pass"),
            lower,
        ),
        (_, Large::Stuck(_)) => {
            problem("from the host, large datagrams are lost; small ones pass", lower)
        }
        (Large::Pass(up), Large::Pass(down)) => {
            ok(format!("up to {up} bytes pass to the host, {down} back"))
        }
        _ => unchecked("no large datagram was sent"),
    }
}

fn rebinding(path: &Path) -> Finding {
    match path.rebinding {
        Some(true) => ok("the session goes on from another local port, as after roaming"),
        Some(false) => problem(
            "a second local port gets no answer",
            "a firewall or NAT on the way lets only the first flow pass: after sleep or a change of \
             network sessions will not come back; ask whoever runs it to let UDP flows begin anew",
        ),
        None => unchecked("the session did not get that far"),
    }
}
