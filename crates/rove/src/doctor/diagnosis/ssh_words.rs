//! Explains ssh's error messages, with advice for the user. Source: messages of OpenSSH and of rove's proxy command.

/// Parts of ssh's error messages, each with its advice. In the advice, `{}` stands for the host.
const REMEDIES: [(&[&str], &str); 10] = [
    (
        &["Permission denied"],
        "the host wants other credentials: `ssh {}` must log in first; check the user's name, and the \
         key with `ssh-add -l` (or `ssh-copy-id {}`)",
    ),
    (
        &["Too many authentication failures"],
        "the agent offers too many keys: set IdentitiesOnly and IdentityFile for {} in ~/.ssh/config",
    ),
    (
        &["Host key verification failed"],
        "the host's key is unknown or has changed: `ssh {}` shows it; if it is right, accept it there \
         (`ssh-keygen -R HOST` forgets an old one)",
    ),
    (
        &["REMOTE HOST IDENTIFICATION HAS CHANGED"],
        "the host's key has changed: if that is right, `ssh-keygen -R HOST` and accept the new one",
    ),
    (
        &["Could not resolve hostname", "cannot find the address of"],
        "the name {} is not known: check it, the network here, and ~/.ssh/config",
    ),
    (
        &["has no address of the family"],
        "the name {} has no such address: leave out -4, -6 or --family",
    ),
    (
        &["Connection refused"],
        "nobody listens at ssh's port there: check the port (--ssh=\"ssh -p PORT\", or Port in \
         ~/.ssh/config) and that sshd runs",
    ),
    (
        &["timed out"],
        "the host does not answer: it is off, the address is wrong, or a firewall drops ssh's port",
    ),
    (
        &["No route to host", "unreachable"],
        "there is no way to the host from this network: check the address, a VPN, the network here",
    ),
    (
        &["closed by"],
        "sshd, or something before it, hung up: see sshd's log on the host (MaxStartups, fail2ban, \
         AllowUsers)",
    ),
];

/// The advice for messages of ssh that are not in [`REMEDIES`].
const UNKNOWN: &str = "`ssh -v {} true` says more; it must work before a session can";

/// Returns the first known line of ssh's messages, or else the last line, and advice for the user.
pub(super) fn explain<'a>(said: &'a [String], host: &str) -> (Option<&'a str>, String) {
    // The first known line is the cause, and later lines are its consequences.
    let known = said.iter().find_map(|line| {
        let remedy =
            REMEDIES.iter().find(|(parts, _)| parts.iter().any(|part| line.contains(part)));
        remedy.map(|(_, remedy)| (line.as_str(), *remedy))
    });
    let (line, remedy) = match known {
        Some((line, remedy)) => (Some(line), remedy),
        None => (said.last().map(String::as_str), UNKNOWN),
    };
    (line, remedy.replace("{}", host))
}
