//! Queries the system's name services for a static program. musl asks only `/etc/passwd`, `/etc/hosts` and DNS. The
//! system's program `getent` also asks other services in nsswitch.conf. Examples are user directories and names on the
//! local network.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use nix::errno::Errno;

use crate::answer;

/// Most bytes of an answer of `getent` that are read. Chosen: a thousand addresses.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;

/// Whether this program is statically linked with musl, so that it must ask getent.
pub(crate) const IS_NEEDED: bool = cfg!(all(target_os = "linux", target_env = "musl"));

/// The record of a user in the name services.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: OsString,
    pub(crate) home: PathBuf,
    pub(crate) shell: PathBuf,
}

/// Returns the user of this process. `None` if neither the C library nor getent knows the user. Later calls return the
/// first answer; after an error, they ask again. A server makes the first call before its event loop, which a slow user
/// directory would stop.
pub(crate) fn own_user() -> Option<User> {
    static OWN: OnceLock<Option<User>> = OnceLock::new();
    let uid = nix::unistd::getuid();
    answered(&OWN, || match nix::unistd::User::from_uid(uid) {
        Ok(Some(user)) => {
            Ok(Some(User { name: user.name.into(), home: user.dir, shell: user.shell }))
        }
        // `getent` fails in the same way for an unknown user and for services that do not answer.
        _ if IS_NEEDED => self::user(uid.as_raw()).map(Some).ok_or(Errno::ENOENT),
        other => other.map(|_| None),
    })
}

/// Returns the first answer of `find`, which `known` keeps, or `None` after an error.
fn answered(
    known: &OnceLock<Option<User>>,
    find: impl FnOnce() -> Result<Option<User>, Errno>,
) -> Option<User> {
    match known.get() {
        Some(answer) => answer.clone(),
        None => find().ok().and_then(|answer| known.get_or_init(|| answer).clone()),
    }
}

fn user(number: u32) -> Option<User> {
    parse_user(&lookup("passwd", &number.to_string())?)
}

/// Returns a host's addresses, in the order of the name services; empty if there are none.
pub(crate) fn addresses(host: &str) -> Vec<IpAddr> {
    // A text that begins like an option is not a host name.
    let answer =
        Some(host).filter(|host| !host.starts_with('-')).and_then(|it| lookup("ahosts", it));
    answer.map_or_else(Vec::new, |answer| parse_addresses(&answer))
}

/// Asks getent for one entry of a database. Returns the lines of the answer, or `None` if getent finds none.
pub(crate) fn lookup(database: &str, key: &str) -> Option<String> {
    let answer = answer::of(Command::new("getent").args([database, key]), ANSWER_BYTES_MAX)?;
    String::from_utf8(answer).ok()
}

fn parse_user(answer: &str) -> Option<User> {
    let fields: Vec<&str> = answer.lines().next()?.split(':').collect();
    let &[name, _, _, _, _, home, shell] = fields.as_slice() else { return None };
    Some(User { name: name.into(), home: home.into(), shell: shell.into() })
}

fn parse_addresses(answer: &str) -> Vec<IpAddr> {
    let words = answer.lines().filter_map(|line| line.split_ascii_whitespace().next());
    words.filter_map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_broken_ones_are_none() {
        let record = parse_user("me:x:1000:1000:Me,,,:/home/me:/bin/zsh\n").unwrap();
        let user = User { name: "me".into(), home: "/home/me".into(), shell: "/bin/zsh".into() };
        assert_eq!(record, user);
        for answer in ["", "\n", "me:x:1000", "a:b:c:d:e:f:g:h"] {
            assert_eq!(parse_user(answer), None, "{answer:?}");
        }
        let answer =
            "192.0.2.7 STREAM pi.local\n192.0.2.7 DGRAM \n2001:db8::7 STREAM\nfe80::1%x y\n\n";
        let shown: Vec<_> = parse_addresses(answer).iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["192.0.2.7", "192.0.2.7", "2001:db8::7"]);
    }

    #[test]
    fn a_user_is_asked_for_again_after_an_error_and_not_after_an_answer() {
        let user = parse_user("me:x:1000:1000:Me,,,:/home/me:/bin/zsh\n");
        for answer in [user, None] {
            let known = OnceLock::new();
            assert_eq!(answered(&known, || Err(Errno::EIO)), None);
            assert_eq!(answered(&known, || Ok(answer.clone())), answer);
            assert_eq!(answered(&known, || panic!("the answer is known")), answer);
        }
    }

    #[test]
    fn the_system_knows_its_administrator_and_itself() {
        if Command::new("getent").arg("--version").output().is_err() {
            return;
        }
        assert_eq!(user(0).unwrap().name, "root");
        assert_eq!(user(4_000_000_000), None);
        assert!(addresses("localhost").iter().all(IpAddr::is_loopback));
        assert!(addresses("--help").is_empty());
    }
}
