//! The command of another ssh that carries a session's datagrams, in place of the login's or beside UDP.

use std::env;
use std::ffi::OsString;

use rove_bootstrap::ssh_config::SshConfig;
use rove_bootstrap::tunnel::standby;
use rove_bootstrap::{HostOptions, Plan, remote, ssh_config};

use crate::tunnel::inherited::Again;
use crate::tunnel::login::ASKS_NOTHING;

/// Returns how an ssh logs in once more for the session at this port, where the first login `asks_nothing`.
pub(super) fn again(options: &HostOptions, plan: &Plan, port: &str, asks_nothing: bool) -> Again {
    let remote = remote::tunnel_again(port, &plan.challenge);
    let words = ssh_words(options, &plan.config, remote);
    if plan.is_tunnel() {
        let words = ssh_config::is_ssh(&options.ssh).then_some(&*words);
        return Again::new(words, &plan.challenge, None);
    }
    let words = standby::without_touch(&words, &key_files(&plan.config));
    Again::new(Some(&words), &plan.challenge, Some(asks_nothing))
}

/// Returns the files of the keys that ssh may offer. `ssh -G` leaves a tilde as it is.
fn key_files(config: &SshConfig) -> Vec<String> {
    let home = env::var("HOME").unwrap_or_default();
    let path = |file: &String| match file.strip_prefix("~/") {
        Some(rest) => format!("{home}/{rest}"),
        None => file.clone(),
    };
    config.key_files.iter().map(path).collect()
}

/// Returns the command line of an ssh without a terminal on the host, which asks the user nothing.
fn ssh_words(options: &HostOptions, config: &SshConfig, remote: OsString) -> Vec<OsString> {
    let mut words: Vec<OsString> = options.ssh.iter().map(OsString::from).collect();
    words.extend(config.overrides().into_iter().map(OsString::from));
    words.extend(config.sharing.words().iter().map(OsString::from));
    if ssh_config::is_ssh(&options.ssh) {
        // Other sessions must be able to end with their ssh while this one continues, and the other way round.
        words.extend(["-o", "ControlMaster=no"].map(OsString::from));
    }
    words.extend(ASKS_NOTHING.map(OsString::from));
    if options.ssh_pty {
        // Only without a terminal do bytes arrive unchanged.
        words.push("-T".into());
    }
    words.extend(options.family_word().map(OsString::from));
    words.extend([options.host.clone(), "--".into(), remote]);
    words
}
