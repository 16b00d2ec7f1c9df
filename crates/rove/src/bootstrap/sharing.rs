//! Decides whether a new ssh may use an open connection of ssh (`ControlMaster`).
//!
//! ssh does not check who owns the control socket. It sends the commands to any process that listens there, and prints
//! the answers. Each ssh that rove starts therefore gets its sharing options from this module.
//!
//! A socket is trusted if it belongs to the user and no other user can change the path to it. A new ssh then finds the
//! socket that was checked. If there is no socket, no other user can create one. The sockets for a jump host
//! (`ProxyJump`) need no check. A false connection there carries only ciphertext, as any network does, and nobody but
//! the host can decrypt it.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rove_bootstrap::Sharing;
use rustix::process::geteuid;

use crate::exposure;

/// Beginning of the message that ssh may not use the socket of an open connection.
const NOT_USED: &str = "ssh's open connection to the host is not used";

/// Decides whether ssh may use the socket at this path, which ssh has expanded.
pub(crate) fn judge(control_path: &str) -> Sharing {
    let home = exposure::home().ok().flatten();
    judge_with(control_path, home.as_deref(), geteuid().as_raw())
}

fn judge_with(control_path: &str, home: Option<&Path>, user: u32) -> Sharing {
    let refused = |reason: String| Sharing::Refused(format!("{NOT_USED}: {reason}"));
    let path = Path::new(control_path);
    // ssh may use another path than the checked one if the path has a token to expand, or is not UTF-8.
    let is_final = !control_path.contains(['%', '$', char::REPLACEMENT_CHARACTER]);
    if !path.is_absolute() || !is_final {
        return refused(format!("{path:?} is no plain path from the root"));
    }
    let end = match exposure::way(path, home) {
        Ok(end) => end,
        Err(error) if error.is_absence() => return Sharing::Trusted { is_open: false },
        Err(error) => return refused(error.to_string()),
    };
    match end.symlink_metadata() {
        Ok(found) if found.uid() == user => {
            Sharing::Trusted { is_open: found.file_type().is_socket() }
        }
        Ok(found) => refused(format!("{end:?} belongs to user {}", found.uid())),
        // The socket has disappeared since `exposure::way` looked, and no other user can create a new one.
        Err(_) => Sharing::Trusted { is_open: false },
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    /// Makes a socket's file, which stays after its listener was closed.
    fn bind(path: &Path) {
        drop(UnixListener::bind(path).unwrap());
    }

    #[test]
    fn a_connection_is_shared_only_at_a_socket_of_the_users_own() {
        let base = std::env::temp_dir().join(format!("rove-sharing-{}", std::process::id()));
        let folder = |name: &str, mode| {
            let path = base.join(name);
            fs::create_dir_all(&path).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        };
        let (own, open, sticky) =
            (folder("own", 0o700), folder("open", 0o777), folder("s", 0o1777));
        let within = folder("open/own", 0o700);
        for folder in [&own, &open, &sticky, &within] {
            bind(&folder.join("socket"));
        }
        fs::write(own.join("file"), "").unwrap();
        symlink(open.join("socket"), own.join("to_open")).unwrap();
        symlink(own.join("socket"), own.join("to_own")).unwrap();
        symlink(own.join("none"), own.join("to_none")).unwrap();
        symlink(own.join("socket"), open.join("to_own")).unwrap();
        symlink(&own, sticky.join("folder")).unwrap();
        let user = geteuid().as_raw();
        let master = Some(Sharing::Trusted { is_open: true });
        let none_yet = Some(Sharing::Trusted { is_open: false });
        for (path, verdict) in [
            (own.join("socket"), master.clone()),
            (own.join("to_own"), master),
            (own.join("file"), none_yet.clone()),
            (own.join("none"), none_yet.clone()),
            (own.join("to_none"), none_yet.clone()),
            (own.join("none/socket"), none_yet),
            (open.join("socket"), None),
            (open.join("none"), None),
            (within.join("socket"), None),
            (own.join("../open/socket"), None),
            (own.join("to_open"), None),
            (open.join("to_own"), None),
            (sticky.join("socket"), None),
            (sticky.join("none"), None),
            (sticky.join("folder/socket"), None),
            (sticky.join("none/socket"), None),
            (own.join("%h"), None),
            (own.join("${HOME}"), None),
            (own.join("\u{fffd}"), None),
            ("socket".into(), None),
            ("~/socket".into(), None),
        ] {
            let found = judge_with(path.to_str().unwrap(), None, user);
            let is_refused = matches!(found, Sharing::Refused(_));
            assert_eq!(found.has_master(), verdict == Some(Sharing::Trusted { is_open: true }));
            assert_eq!(found.words() == ["-S", "none"], is_refused, "{path:?}");
            assert_eq!((!is_refused).then_some(found), verdict, "{path:?}");
        }
        // The socket of another user, even of root, is refused.
        let socket = own.join("socket");
        let other = judge_with(socket.to_str().unwrap(), Some(&own), user + 1);
        assert!(matches!(other, Sharing::Refused(_)), "{other:?}");
        assert_eq!(Sharing::Unknown.words(), ["-S", "none"]);
        assert!(Sharing::Unconfigured.words().is_empty());
        fs::remove_dir_all(base).unwrap();
    }
}
