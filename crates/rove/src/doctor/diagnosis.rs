//! The decision tree: it derives from the observations which steps work, which fail, and the user's remedy.
//!
//! Each step (leg) on the way to a session has one check, in the order in which a session takes the steps. A step that
//! needs a failed step is not checked, so the first problem is the verdict.

use crate::doctor::facts::{Facts, Here, Host, Loan, Noise, Server, Sessions, Ssh};
use crate::doctor::survey::printable;
use crate::locale;
use crate::server::policy::Policy;

mod path;
mod ssh_words;

pub(crate) use path::no_answer;

/// The remedy for a host that lacks this version of rove.
const INSTALL: &str = "rove install copies this rove to the host";

/// The result of the check of a step (leg) on the way to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    /// The leg works, with a remark for the user.
    Note,
    Problem,
    Unchecked,
}

impl Status {
    /// Returns the word for this status in reports.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
            Self::Unchecked => "unchecked",
        }
    }
}

/// A step (leg) on the way to a session, with the result of its check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    /// The name of the leg, such as `udp-back`, which scripts may rely on.
    pub(crate) leg: &'static str,
    pub(crate) status: Status,
    /// The observation, as a clause that follows the leg's name.
    pub(crate) detail: String,
    /// The user's next step. `None` if the leg has no problem.
    pub(crate) remedy: Option<String>,
}

/// The results of all checks of one examination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diagnosis {
    /// The checks of the legs, in the order in which a session takes them.
    pub(crate) checks: Vec<Check>,
    /// The clause that sessions work despite the problem. `None` without a problem, or if it may stop them.
    pub(crate) meanwhile: Option<String>,
}

impl Diagnosis {
    /// Returns the first leg with a problem, which is the verdict. `None` if no leg has a problem.
    pub(crate) fn problem(&self) -> Option<&Check> {
        self.checks.iter().find(|check| check.status == Status::Problem)
    }

    fn push(&mut self, leg: &'static str, (status, detail, remedy): Finding) {
        self.checks.push(Check { leg, status, detail, remedy });
    }
}

type Finding = (Status, String, Option<String>);

fn ok(detail: impl Into<String>) -> Finding {
    (Status::Ok, detail.into(), None)
}

fn note(detail: impl Into<String>) -> Finding {
    (Status::Note, detail.into(), None)
}

fn problem(detail: impl Into<String>, remedy: impl Into<String>) -> Finding {
    (Status::Problem, detail.into(), Some(remedy.into()))
}

fn unchecked(why: impl Into<String>) -> Finding {
    (Status::Unchecked, why.into(), None)
}

/// Derives the result of each leg from the observations.
pub(crate) fn diagnose(facts: &Facts) -> Diagnosis {
    let mut diagnosis = Diagnosis { checks: Vec::new(), meanwhile: None };
    here(&facts.here, &mut diagnosis);
    if let Some(host) = &facts.host {
        let here_works = facts.here.no_socket.is_none();
        login(host, &mut diagnosis);
        start(host, &mut diagnosis);
        if let Some(finding) = agent(host) {
            diagnosis.push("agent", finding);
        }
        if let Some(finding) = rules(host) {
            diagnosis.push("host-rules", finding);
        }
        if here_works {
            path::check(host, &mut diagnosis);
            diagnosis.meanwhile = path::meanwhile(host);
        }
    }
    diagnosis
}

fn here(here: &Here, diagnosis: &mut Diagnosis) {
    diagnosis.push("local-locale", local_locale(here));
    diagnosis.push(
        "local-terminal",
        here.terminal_type.as_ref().map_or_else(|| ok("TERM names a known terminal"), note),
    );
    let udp = match &here.no_socket {
        Some(error) => problem(
            format!("this computer opens no UDP socket: {error}"),
            "sessions need UDP: look for a sandbox or a security profile that forbids it to rove",
        ),
        None if here.loopback_works => ok("this computer sends and receives UDP datagrams"),
        None => problem(
            "a datagram from this computer to itself got lost",
            "a firewall on this computer drops UDP: look at `nft list ruleset` or the firewall's \
             settings, and let outgoing UDP and its answers pass",
        ),
    };
    diagnosis.push("local-udp", udp);
}

fn local_locale(here: &Here) -> Finding {
    match &here.locale {
        Some((name, value)) if locale::is_utf8(value) => ok(format!("{name}={value}")),
        Some((name, value)) => note(format!(
            "{name}={value} does not promise UTF-8; rove uses UTF-8 anyway, stock Mosh refuses to run: \
             export LANG=C.UTF-8"
        )),
        None => note(
            "no locale is set; rove uses UTF-8 anyway, stock Mosh refuses to run: export LANG=C.UTF-8",
        ),
    }
}

fn login(host: &Host, diagnosis: &mut Diagnosis) {
    diagnosis.push("ssh", ssh(host));
    let reached = matches!(host.ssh, Ssh::Reached | Ssh::Diverted);
    diagnosis.push(
        "login-output",
        if reached { login_output(&host.noise) } else { unchecked("nobody has logged in") },
    );
}

fn ssh(host: &Host) -> Finding {
    let name = &host.name;
    match &host.ssh {
        Ssh::Reached => ok(match &host.detour {
            Some(words) => format!("logs in to {name} without a question, by {words}"),
            None => format!("logs in to {name} and runs commands"),
        }),
        Ssh::Missing(error) => {
            problem(error, "install OpenSSH's client, or name one with --ssh=COMMAND")
        }
        Ssh::NoAddress(error) => problem(error, "check the name, and the network here"),
        Ssh::TimedOut => problem(
            "ssh neither logged in nor gave up",
            format!(
                "run `ssh {name} true`: if it asks a question, answer it there once or set up a key; \
                 if it hangs, a firewall drops ssh or a start-up file on the host waits for input"
            ),
        ),
        Ssh::Failed => {
            let (line, remedy) = ssh_words::explain(&host.said, name);
            problem(after("ssh did not log in", line), remedy)
        }
        Ssh::Diverted => problem(
            after(
                "the login works, but the command given to ssh was not run",
                host.said.last().map(String::as_str),
            ),
            format!(
                "try `ssh {name} echo works`: a start-up file that ends the shell or starts another \
                 program (exec), a ForceCommand, or a shell such as nologin is in the way"
            ),
        ),
    }
}

/// Returns the observation `seen`, followed by the error message `said`, or by the remark that nothing was said.
fn after(seen: &str, said: Option<&str>) -> String {
    said.map_or_else(|| format!("{seen}, and nothing was said"), |line| format!("{seen}: {line}"))
}

fn login_output(noise: &Noise) -> Finding {
    let files = "~/.bashrc, ~/.zshenv, ~/.cshrc or config.fish on the host";
    if noise.fake {
        return note(format!(
            "a start-up file prints a line like a server's own (MOSH CONNECT or MOSH IP); rove passes \
             over it, stock mosh believes it and fails: take it out of {files}"
        ));
    }
    match (noise.lines, noise.escapes) {
        (0, false) => ok("start-up files on the host print nothing"),
        (lines, escapes) => note(format!(
            "start-up files or a banner print {lines} lines{}, first {:?}; rove reads on, but other \
             programs over ssh (scp, rsync) may not: print only where the shell is interactive, in {files}",
            if escapes { " with escape sequences" } else { "" },
            noise.sample
        )),
    }
}

fn start(host: &Host, diagnosis: &mut Diagnosis) {
    let ran = matches!(host.ssh, Ssh::Reached);
    if !ran {
        for leg in ["server-program", "server-locale", "server-start"] {
            diagnosis.push(leg, unchecked("no command has run on the host"));
        }
        return;
    }
    diagnosis.push("server-program", server_program(host));
    diagnosis.push("server-locale", server_locale(host));
    diagnosis.push("server-start", server_start(host));
}

/// Checks the agent that a session forwards to the host. `None` without agent forwarding or without the host's answer.
fn agent(host: &Host) -> Option<Finding> {
    let far = host.far.as_ref()?;
    Some(match far.loan? {
        Loan::Silent => problem(
            "no agent answers on this computer, so -A lends none",
            "start one and give it your key: eval \"$(ssh-agent)\"; ssh-add",
        ),
        Loan::Answers if far.agent.is_empty() => problem(
            "the host's sshd forwards no agent, so -A lends none",
            "have AllowAgentForwarding and DisableForwarding changed in its sshd_config",
        ),
        Loan::Answers if !far.version.is_empty() && !far.version.starts_with("rove ") => {
            problem(format!("a session with {} lends no agent", far.version), INSTALL)
        }
        Loan::Answers if host.path.as_ref().is_some_and(|path| path.forwards == Some(false)) => {
            let (reason, remedy) = path::lack(host);
            problem(format!("-A lends no agent: {reason}"), remedy)
        }
        Loan::Answers => ok(
            "sshd forwards the agent, which a session lends by ssh, or by a relay where ssh would ask",
        ),
    })
}

/// Returns why the host administrator's rules do not apply. `None` if they apply, or the host reports nothing.
fn rules(host: &Host) -> Option<Finding> {
    let Sessions::Listed(listing) = &host.far.as_ref()?.sessions else { return None };
    let reason = printable(listing.rules_ignored.as_ref()?);
    Some(note(format!("the host's {} does not count: {reason}", Policy::PATH)))
}

fn server_program(host: &Host) -> Finding {
    let path = host.far.as_ref().map_or("", |far| far.path.as_str());
    if let Some(remedy) = &host.no_server_program {
        return problem(
            format!("neither rove nor mosh-server found; ssh's PATH there is {path}"),
            remedy.or_stock(),
        );
    }
    let Some(far) = &host.far else {
        return unchecked("the host did not tell which program it runs");
    };
    let version = match far.version.as_str() {
        "" => "it does not tell its version",
        version => version,
    };
    match far.server.as_str() {
        "" if host.server.is_some() => ok(format!("the one asked for runs: {version}")),
        "" => unchecked("the one asked for has not started"),
        server => ok(format!("{server}: {version}")),
    }
}

fn server_locale(host: &Host) -> Finding {
    let charset = host.far.as_ref().map_or("", |far| far.charset.as_str());
    let name = host.far.as_ref().map_or("", |far| far.locale.as_str());
    if host.locale_refused {
        return problem(
            format!("the server refuses the host's locale ({})", locale_words(name, charset)),
            "mosh-server needs a UTF-8 locale that is installed there: see `locale -a`, set \
             LANG=C.UTF-8 in a start-up file, or generate one (locale-gen, dpkg-reconfigure locales); \
             rove on the host needs none",
        );
    }
    if host.far.is_none() || (charset.is_empty() && name.is_empty()) {
        return unchecked("the host does not tell its locale; a session gets UTF-8 all the same");
    }
    if locale::is_utf8(name) || charset.eq_ignore_ascii_case("UTF-8") {
        ok(locale_words(name, charset))
    } else {
        note(format!(
            "a login without a terminal has {}; the session gets the locale of this computer, or \
             {}",
            locale_words(name, charset),
            locale::FALLBACK
        ))
    }
}

fn locale_words(name: &str, charset: &str) -> String {
    match (name, charset) {
        ("", "") => "none".to_owned(),
        ("", charset) => format!("none set, character set {charset}"),
        (name, "") => name.to_owned(),
        (name, charset) => format!("{name}, character set {charset}"),
    }
}

fn server_start(host: &Host) -> Finding {
    match &host.server {
        Some(Server { port, holds_ssh: true, .. }) => note(format!(
            "the server announced UDP port {port}, but ssh did not end: something keeps its output \
             open (a server with -v, or a start-up file's background program)"
        )),
        Some(Server { port, .. }) => ok(format!("the server announced UDP port {port}")),
        None if host.no_server_program.is_some() || host.locale_refused => {
            unchecked("there is no server to start")
        }
        None if host.port_refused => problem(
            "the server refuses the UDP ports asked for",
            "give -p a single port, or a range with a free one: old servers know no range",
        ),
        None if host.no_address => problem(
            "a server stands, but nobody told its address: SSH_CONNECTION on the host has none",
            "use --tunnel, with rove on the host, or --experimental-remote-ip=local where the name here leads to the \
             host",
        ),
        None => problem(
            after("the server did not start", host.said.first().map(String::as_str)),
            "run the server by hand over ssh (`rove server new` or `mosh-server new`) and see what it \
             says: no free UDP port in the range, no pseudo-terminal and a full disk are the usual causes",
        ),
    }
}

#[cfg(test)]
mod tests;
