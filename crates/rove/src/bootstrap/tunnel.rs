//! Makes the command lines of further ssh processes. Such an ssh forwards the user's agent, or starts a forwarder (a
//! relay of datagrams) on a jump host. It may also carry a session's datagrams in place of UDP or of the first ssh.

use std::env;
use std::ffi::{OsStr, OsString};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use rove_bootstrap::ssh_config::{JumpHost, SshConfig};
use rove_bootstrap::tunnel::{FORWARD, standby};
use rove_bootstrap::{HostOptions, OWN_CONNECTION, Plan, remote, ssh_config};

use crate::bootstrap::{address, ssh_query};
use crate::client::agent::{self, AgentCall};
use crate::tunnel::inherited::{ASKS_NOTHING, Again, JumpCall, TELLS, texts};

/// Returns how a later ssh logs in to carry the datagrams of the session at this port. `asks_nothing` says that the
/// first login asked the user nothing.
pub(super) fn again(options: &HostOptions, plan: &Plan, port: &str, asks_nothing: bool) -> Again {
    let remote = remote::tunnel_again(port, &plan.challenge);
    // A terminal on the host would change bytes of the datagrams.
    let pty = options.ssh_pty.then_some("-T");
    let own: Vec<&str> = pty.into_iter().chain(options.family_word()).collect();
    let tells = tells(&plan.config).filter(|_| !plan.is_tunnel());
    let own: Vec<&str> = tells.into_iter().chain(own).collect();
    let words = ssh_words(&options.ssh, &plan.config, &own, &options.host, remote);
    let shares = plan.config.sharing.is_configured();
    if plan.is_tunnel() {
        let words = ssh_config::is_ssh(&options.ssh).then_some(&*words);
        return Again { shares, ..Again::new(words, &plan.challenge, None) };
    }
    let guard = touch_guard(&plan.config);
    Again { shares, guard, ..Again::new(Some(&words), &plan.challenge, Some(asks_nothing)) }
}

/// Returns how an ssh forwards the user's agent to the plan's host. `None` if the session forwards no agent.
pub(super) fn agent_call(options: &HostOptions, plan: &Plan) -> Option<AgentCall> {
    let agent = plan.config.agent.clone().filter(|_| options.forwards())?;
    // This ssh gets no terminal, and shares no connection.
    let own: Vec<&str> = ["-T"].into_iter().chain(OWN_CONNECTION).collect();
    let remote = remote::agent(&plan.challenge);
    let words = ssh_words(&options.ssh, &plan.config, &own, &options.host, remote);
    let mark = format!("{} {}", remote::AGENT, plan.challenge);
    let (words, known_hosts) = (texts(&words)?, plan.config.known_hosts.clone());
    Some(AgentCall { words, mark, agent, how: options.agent, known_hosts })
}

/// A lookup of a jump host's addresses and ssh options, which a thread makes while ssh logs in.
pub(super) struct JumpQuestion(Option<Receiver<Option<JumpCall>>>);

impl JumpQuestion {
    /// Starts the lookup if ssh can carry the session's datagrams and connects through a jump host.
    pub(super) fn ask(options: &HostOptions, plan: &Plan) -> Self {
        let jump = plan.config.jump.clone().filter(|_| plan.carries && !plan.is_tunnel());
        let remote = remote::tunnel_again(FORWARD, &plan.challenge);
        let (ssh, family) = (options.ssh.clone(), options.family.clone());
        Self(jump.map(|jump| {
            let (answer, answers) = mpsc::sync_channel(1);
            // If the lookup takes too long, its thread ends when this process becomes the client by exec.
            thread::spawn(move || answer.send(jump_call(&jump, &ssh, &family, remote)));
            answers
        }))
    }

    /// Waits for the lookup's result, which usually arrives before the login ends, as both ask the same name servers.
    /// `None` if no jump host can have a forwarder, or if the result is late. The session then tries no forwarder.
    pub(super) fn answer(self) -> Option<JumpCall> {
        self.0?.recv_timeout(address::RESOLVER_PATIENCE).ok().flatten()
    }
}

/// Returns how ssh starts a forwarder on the plan's jump host. `None` if there is no such host.
pub(crate) fn jump_of(options: &HostOptions, plan: &Plan) -> Option<JumpCall> {
    let remote = remote::tunnel_again(FORWARD, &plan.challenge);
    jump_call(plan.config.jump.as_ref()?, &options.ssh, &options.family, remote)
}

/// Returns how ssh starts a forwarder on a jump host by the command `remote`. `None` if `ssh` is another program.
fn jump_call(jump: &JumpHost, ssh: &[String], family: &str, remote: OsString) -> Option<JumpCall> {
    let (ssh, host) = (jump.words(ssh)?, OsStr::new(&jump.destination));
    let config = ssh_query::ask(&ssh, host);
    // A jump host behind a proxy command may have no address here. Then only the address that its sshd reports is left.
    let name = config.host_name.as_deref().filter(|_| config.detour.is_none());
    let addresses = name
        .and_then(|name| address::resolve(name, 0, config.family(family)).ok())
        .unwrap_or_default();
    let own: Vec<&str> = tells(&config).into_iter().chain(["-T"]).collect();
    let words = ssh_words(&ssh, &config, &own, host, remote);
    let words = [touch_guard(&config), texts(&words)?].concat();
    Some(JumpCall { words, addresses: addresses.iter().map(|address| address.ip()).collect() })
}

/// Returns the option with which ssh reports that the host has answered. `None` if ssh connects through the user's own
/// proxy command, which may ask the user before the host answers.
fn tells(config: &SshConfig) -> Option<&'static str> {
    (config.detour.is_none() || config.jump.is_some()).then_some(TELLS)
}

/// Returns words to put in front of an ssh command. They run the command only if no security token may need a touch.
fn touch_guard(config: &SshConfig) -> Vec<String> {
    let home = env::var("HOME").unwrap_or_default();
    // `ssh -G` prints these two beginnings unexpanded. Both mean the home directory.
    let path = |file: &String| match file.strip_prefix("~/").or(file.strip_prefix("%d/")) {
        Some(rest) => format!("{home}/{rest}"),
        None => file.clone(),
    };
    let mut files: Vec<String> = config.keys.files.iter().map(path).collect();
    let agent = config.keys.agent().as_ref().and_then(agent::path_of).unwrap_or_default();
    // Only ssh can expand a `%` in the agent's path. The guard treats such a path as the file of an unknown key.
    let agent_name = agent.to_string_lossy();
    files.extend(agent_name.contains('%').then(|| agent_name.to_string()));
    standby::touch_guard(&agent, &files)
}

/// Returns the command line of an ssh that runs `remote` on the host and asks the user nothing. `own` are more options.
fn ssh_words(
    ssh: &[String],
    config: &SshConfig,
    own: &[&str],
    host: &OsStr,
    remote: OsString,
) -> Vec<OsString> {
    // rove learns from ssh's messages that the host has refused the login, so ssh must not be silent.
    let mut first = config.overrides();
    if config.is_silent() {
        first.extend(["-o", "LogLevel=INFO"]);
    }
    let told = ssh_config::with_options(&ssh_config::without_hush(ssh).0, &first);
    let mut words: Vec<OsString> = told.into_iter().map(OsString::from).collect();
    words.extend(config.sharing.words().iter().map(OsString::from));
    if ssh_config::is_ssh(ssh) {
        // This ssh must not become the master of another session's ssh, which would then end with it.
        words.extend(["-o", "ControlMaster=no"].map(OsString::from));
    }
    words.extend(ASKS_NOTHING.map(OsString::from));
    words.extend(own.iter().map(OsString::from));
    words.extend([host.to_owned(), "--".into(), remote]);
    words
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rove_bootstrap::Sharing;

    use super::*;

    #[test]
    fn a_busy_computer_may_answer_about_a_jump_host_a_second_after_the_login() {
        let (answer, answers) = mpsc::sync_channel(1);
        thread::spawn(move || {
            let (_held, never) = mpsc::channel::<()>();
            let _ = never.recv_timeout(Duration::from_secs(1));
            answer.send(Some(JumpCall { words: Vec::new(), addresses: Vec::new() }))
        });
        assert!(JumpQuestion(Some(answers)).answer().is_some());
    }

    #[test]
    fn a_later_ssh_tells_rove_why_it_has_failed_whatever_the_user_told_the_first() {
        let ssh = ["ssh", "-E", "log", "-q", "-p", "2"].map(str::to_owned);
        let words = ssh_words(&ssh, &SshConfig::default(), &[], OsStr::new("far"), "x".into());
        let words = texts(&words).unwrap().join(" ");
        assert!(words.starts_with("ssh -p 2 "), "{words}");
    }

    #[test]
    fn the_ssh_to_a_jump_host_asks_nobody_and_uses_no_socket_of_somebody_elses() {
        let file = env::temp_dir().join(format!("rove-jump-{}", std::process::id()));
        let config =
            "Host bastion\nHostName 127.0.0.1\nIdentityFile /k\nControlPath /tmp/rove-false\n";
        std::fs::write(&file, config).unwrap();
        let ssh = ["ssh", "-i", "/other", "-F", file.to_str().unwrap()].map(str::to_owned);
        let answer = ssh_config::parse("proxyjump me@bastion\n", |_| Sharing::Unknown);
        let call = jump_call(&answer.jump.unwrap(), &ssh, "all", "remote words".into()).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(call.addresses, [[127, 0, 0, 1].into()] as [std::net::IpAddr; 1]);
        let words = call.words.join(" ");
        assert!(words.contains("for file in '/k'; do"), "{words}");
        let own =
            "-S none -o ControlMaster=no -o BatchMode=yes -v -T ssh://me@bastion -- remote words";
        let command = format!("rove ssh -F {} {own}", file.display());
        assert!(words.ends_with(&command), "{words}");
    }
}
