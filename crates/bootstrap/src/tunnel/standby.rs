//! Decides when ssh may log in automatically for a session whose UDP path fails, sans I/O.
//!
//! If the network fails often, the client must not log in often, because defences of the host count logins and
//! failures. An automatic login must also not ask the user questions.

use std::path::Path;

use rove_units::{Duration, Instant};

use crate::quote;
use crate::tunnel::connection::Connection;

/// Shortest time between the starts of two automatic logins. Chosen: hosts' defences (fail2ban, `MaxStartups`) count
/// several in a minute.
const PAUSE: Duration = Duration::from_secs(60);
/// How long an automatic login of ssh may take. Chosen: ten times the usual time. A longer login may wait for the user:
/// an ssh agent may ask for consent.
pub const LOGIN_MAX: Duration = Duration::from_secs(5);

/// The reason that the command of [`touch_guard`] prints if it does not run ssh.
pub const TOUCH: &str = "a security key may have to be touched";

/// The outcome of an automatic login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The login has succeeded, was not needed, or has failed for a reason that may pass.
    Passing,
    /// The login took too long, and no host answered: the network was silent.
    Unanswered,
    /// The login took too long, although a host answered: a question may wait for the user.
    Late,
    /// The host or a key requires an answer of the user.
    Refused,
}

/// Decides whether and when ssh may log in automatically, and whether it shares a connection.
#[derive(Clone, Copy, Debug)]
pub struct Standby {
    /// Whether the login by the user asked nothing, so that ssh can probably log in again without the user.
    may_log_in: bool,
    /// When the newest automatic login began. `None` if there was none.
    started_at: Option<Instant>,
    /// Whether an automatic login is under way.
    is_logging_in: bool,
    /// Whether the next login must wait for the user's request.
    waits_for_user: bool,
    connection: Connection,
}

impl Standby {
    /// Creates the state after a login by the user. `may_log_in` is true if that login asked nothing, and `shares` if
    /// ssh is configured to share an open connection.
    pub const fn new(may_log_in: bool, shares: bool) -> Self {
        Self {
            may_log_in,
            started_at: None,
            is_logging_in: false,
            waits_for_user: false,
            connection: Connection::new(shares),
        }
    }

    /// Returns when ssh may log in automatically, if a login is wanted from `wanted_at` on. `None` if a login is under
    /// way, or only the user may log in.
    pub fn start_at(&self, wanted_at: Instant) -> Option<Instant> {
        if self.needs_user() || self.is_logging_in {
            return None;
        }
        Some(self.started_at.map_or(wanted_at, |at| wanted_at.max(at + PAUSE)))
    }

    /// Returns whether only the user may log in.
    pub const fn needs_user(&self) -> bool {
        !self.may_log_in || self.waits_for_user
    }

    /// Records that a login begins. `is_beside` is true if the former ssh still runs, but is silent. Returns whether
    /// the login must make a new connection.
    pub fn handle_start(&mut self, now: Instant, is_beside: bool) -> bool {
        debug_assert!(self.start_at(now).is_some_and(|at| at <= now));
        (self.started_at, self.is_logging_in) = (Some(now), true);
        self.connection.handle_start(is_beside)
    }

    /// Returns whether the next login must make a new connection, even if the user starts it.
    pub fn avoids_shared(&self) -> bool {
        self.connection.is_own_next()
    }

    /// Returns the time after which the login under way counts as too long. `None` if no login is under way.
    pub fn give_up_at(&self) -> Option<Instant> {
        self.started_at.filter(|_| self.is_logging_in).map(|at| at + LOGIN_MAX)
    }

    /// Records that the login under way has ended.
    pub fn handle_end(&mut self, end: End) {
        self.is_logging_in = false;
        match end {
            End::Passing => {}
            End::Unanswered => self.connection.handle_silence(),
            End::Late => self.waits_for_user = true,
            End::Refused => self.waits_for_user = !self.connection.handle_refusal(),
        }
    }

    /// Records that the user has tried to log in. Unless the login succeeded (`stands`), its connection may be dead.
    pub fn handle_user(&mut self, stands: bool) {
        self.waits_for_user = false;
        if !stands {
            self.connection.handle_start(false);
            self.connection.handle_silence();
        }
    }
}

/// Returns words to put in front of an ssh command. They run it, unless ssh might offer the key of a security token.
/// They search the agent with the socket `agent` (empty for no agent), and `key_files` with their public keys. A file's
/// name with `%` or `$` counts as a token's key, because only ssh knows the real name.
pub fn touch_guard(agent: &Path, key_files: &[String]) -> Vec<String> {
    let agent = bourne(&agent.to_string_lossy());
    let files = key_files.iter().map(|file| bourne(file)).collect::<Vec<_>>().join(" ");
    let script = format!(
        "if {{ SSH_AUTH_SOCK={agent} ssh-add -L </dev/null | grep '^sk-'; \
         for file in {files}; do case $file in *[%$]*) echo sk- ;; esac; \
         grep '^sk-' \"$file.pub\"; ssh-keygen -l -f \"$file\" </dev/null | grep -e '-SK)$'; done; \
         }} 2>/dev/null | grep -q .; then echo '{TOUCH}' >&2; exit 255; fi; exec \"$@\""
    );
    ["sh", "-c", &script, "rove"].map(str::to_owned).into()
}

fn bourne(word: &str) -> String {
    quote::bourne(word.as_ref()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use rove_units::Seed;

    use super::*;

    const fn at(seconds: u64) -> Instant {
        Instant::from_millis(seconds * 1000)
    }

    #[test]
    fn the_first_login_is_at_once_and_the_next_a_minute_after_it() {
        let mut standby = Standby::new(true, false);
        assert_eq!(standby.start_at(at(7)), Some(at(7)));
        standby.handle_start(at(7), false);
        assert_eq!((standby.start_at(at(8)), standby.give_up_at()), (None, Some(at(12))));
        standby.handle_end(End::Passing);
        assert_eq!((standby.start_at(at(8)), standby.give_up_at()), (Some(at(67)), None));
        assert_eq!(standby.start_at(at(99)), Some(at(99)));
    }

    #[test]
    fn a_login_that_asked_is_never_made_alone_and_one_that_is_late_not_before_the_user_asks() {
        let mut asked = Standby::new(false, false);
        assert!(asked.needs_user() && asked.start_at(at(9)).is_none());
        asked.handle_user(true);
        assert!(asked.needs_user() && asked.start_at(at(9)).is_none());

        for end in [End::Late, End::Refused] {
            let mut late = Standby::new(true, false);
            late.handle_start(at(1), false);
            late.handle_end(end);
            assert!(late.needs_user() && late.start_at(at(1_000)).is_none());
            late.handle_user(true);
            assert_eq!((late.needs_user(), late.start_at(at(20))), (false, Some(at(61))));
        }
    }

    #[test]
    fn a_silent_network_and_a_dead_shared_connection_need_no_user() {
        // A row has whether ssh shares a connection, the ends of its logins, and whether each made its own connection.
        let (silent, refused) = (End::Unanswered, End::Refused);
        for (shares, ends, own) in [
            (false, &[silent, silent, silent][..], &[false, false, false][..]),
            (true, &[silent, silent, silent], &[false, true, false]),
            (true, &[silent, refused, silent, silent], &[false, true, false, false]),
            (true, &[End::Passing, silent], &[false, false]),
        ] {
            let mut standby = Standby::new(true, shares);
            let made: Vec<bool> = (1..)
                .zip(ends)
                .map(|(minute, end)| {
                    let is_own = standby.handle_start(at(60 * minute), false);
                    standby.handle_end(*end);
                    assert!(!standby.needs_user());
                    is_own
                })
                .collect();
            assert_eq!(made, own);
        }
        for shares in [true, false] {
            let mut standby = Standby::new(true, shares);
            assert_eq!(standby.handle_start(at(1), true), shares, "beside one that may share");
            standby.handle_end(End::Passing);
            assert_eq!(standby.avoids_shared(), shares, "the user's login after it");
            for was_own in [shares, false] {
                assert_eq!(standby.avoids_shared(), was_own);
                standby.handle_user(false);
            }
            assert_eq!(standby.avoids_shared(), shares, "the user tries again");
        }
    }

    #[test]
    fn whatever_happens_no_two_logins_are_within_a_minute() {
        for seed in 0..200 {
            let draws = Seed::new(seed).stream("standby");
            let mut standby = Standby::new(true, seed % 2 == 0);
            let mut last: Option<Instant> = None;
            for second in 0..1_000 {
                let now = at(second);
                match draws.at(second).below(4) {
                    0 => standby.handle_end(match draws.at(second + 5_000).below(9) {
                        0 => End::Late,
                        1 => End::Refused,
                        2 | 3 => End::Unanswered,
                        _ => End::Passing,
                    }),
                    1 => standby.handle_user(draws.at(second + 6_000).below(2) == 0),
                    _ if standby.start_at(now).is_some_and(|due| due <= now) => {
                        assert!(last.is_none_or(|last| now >= last + PAUSE), "{seed} {second}");
                        standby.handle_start(now, second % 3 == 0);
                        last = Some(now);
                    }
                    _ => {}
                }
            }
            assert!(last.is_some());
        }
    }

    /// The private file of a security key that ssh can use without its `.pub`.
    const LONE_KEY: &str = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAASgAAABpzay1zc2
gtZWQyNTUxOUBvcGVuc3NoLmNvbQAAACAAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRob
HB0eHwAAAARzc2g6AAAAaAAAAAEAAAABAAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY2
9tAAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fAAAABHNzaDoBAAAABmhh
bmRsZQAAAAAAAAACbWUB";

    #[test]
    fn a_security_key_of_the_agent_or_in_a_file_of_ssh_keeps_it_from_logging_in() {
        let folder = std::env::temp_dir().join(format!("rove-touch-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
        std::fs::write(file("it's plain.pub"), "ssh-ed25519 AAAA me\n").unwrap();
        std::fs::write(file("no final line end.pub"), "ssh-ed25519 AAAA me").unwrap();
        std::fs::write(file("touched.pub"), "sk-ssh-ed25519@openssh.com AAAA me\n").unwrap();
        let kind = "OPENSSH PRIVATE KEY";
        let lone = format!("-----BEGIN {kind}-----\n{LONE_KEY}\n-----END {kind}-----\n");
        std::fs::write(file("lone"), lone).unwrap();
        std::fs::set_permissions(file("lone"), Permissions::from_mode(0o600)).unwrap();
        let agent = folder.join("ssh-add");
        let script = "#!/bin/sh\n[ \"$SSH_AUTH_SOCK\" = \"/run/ssh's own\" ] && printf \"$KEYS\"\n";
        std::fs::write(&agent, script).unwrap();
        std::fs::set_permissions(&agent, Permissions::from_mode(0o700)).unwrap();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        let plain = "ssh-ed25519 AAAA sk-me\n";
        for (keys, files, logs_in) in [
            ("", &[][..], true),
            (plain, &["it's plain", "missing"], true),
            (plain, &["it's plain", "touched"], false),
            (plain, &["no final line end", "touched"], false),
            (plain, &["lone"], false),
            (plain, &["no final line end", "it's %u"], false),
            // ssh itself replaces these parts of a name.
            (plain, &["it's %u"], false),
            (plain, &["it's ${X}"], false),
            (&format!("{plain}sk-ssh-ed25519@openssh.com AAAA me\n"), &["it's plain"], false),
        ] {
            let files: Vec<String> = files.iter().map(|name| file(name)).collect();
            let words = touch_guard(Path::new("/run/ssh's own"), &files);
            let output = Command::new(&words[0])
                .args(&words[1..])
                .args(["echo", "logs in"])
                .env("PATH", &path)
                .env("KEYS", keys)
                .output()
                .unwrap();
            assert_eq!(output.stdout == b"logs in\n", logs_in, "{output:?}");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(said.trim_end(), if logs_in { "" } else { TOUCH });
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
