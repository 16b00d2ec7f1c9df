//! The administrator's rules for the streams of all sessions on this host (`/etc/rove/server.toml`).

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rove_bootstrap::{Permitted, Place};
use serde::{Deserialize, Serialize};

use crate::exposure::{self, Exposure};
use crate::own_file;

/// Most bytes of the administrator's file; with more, sessions carry no streams. Chosen: many times a file of all keys.
const FILE_BYTES_MAX: u64 = 65_536;

/// The mode bits by which a group or everybody may write.
const OTHERS_WRITE: u32 = 0o022;

/// The administrator's rules. Without the file, the defaults apply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Policy {
    /// Whether sessions may carry streams.
    pub(crate) streams: bool,
    /// Whether listeners of `-R` may be at other addresses than the loopback.
    pub(crate) gateway_ports: bool,
    /// The places to which clients may connect: `host:port` as in sshd's `PermitOpen`, and paths of sockets. `None`
    /// permits all.
    pub(crate) permit_open: Option<Vec<String>>,
    /// The places at which clients may have listeners. `None` permits all. An entry with only a port fits any address.
    pub(crate) permit_listen: Option<Vec<String>>,
}

/// Why the rules of the file do not apply.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PolicyError {
    #[error("{error}")]
    Io {
        #[from]
        error: io::Error,
    },
    #[error("it is not root's, or others may write it or a folder on the way")]
    Exposed,
    #[error("it is longer than {FILE_BYTES_MAX} bytes")]
    Long,
    #[error("{}", error.message())]
    Toml {
        #[from]
        error: toml::de::Error,
    },
}

impl PolicyError {
    /// Returns the rules that apply instead of the file's rules. A file that others may write is ignored. A mistake in
    /// the file permits nothing, because sshd, too, does not start with a mistake in its file.
    pub(crate) fn rules(&self) -> Policy {
        match self {
            Self::Exposed => Policy::default(),
            Self::Io { .. } | Self::Long | Self::Toml { .. } => Policy {
                streams: false,
                permit_open: Some(Vec::new()),
                permit_listen: Some(Vec::new()),
                ..Policy::default()
            },
        }
    }

    /// Returns the fault and its consequence.
    pub(crate) fn sentence(&self) -> String {
        let so = match self.rules().streams {
            true => "the usual rules hold",
            false => "new sessions carry no forwards, agent or files",
        };
        format!("{self}, so {so}")
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self { streams: true, gateway_ports: false, permit_open: None, permit_listen: None }
    }
}

impl Policy {
    /// The path of the file with the rules.
    pub(crate) const PATH: &str = "/etc/rove/server.toml";

    /// Returns the rules in force on this host. If the rules of the file do not apply, logs why.
    pub(crate) fn read() -> Self {
        Self::find().unwrap_or_else(|error| {
            tracing::warn!(path = Self::PATH, %error, "the host's rules do not count");
            error.rules()
        })
    }

    /// Reads the file's rules.
    ///
    /// # Errors
    ///
    /// Returns why the file's rules do not apply.
    pub(crate) fn find() -> Result<Self, PolicyError> {
        Self::at(Path::new(Self::PATH), 0)
    }

    /// Returns whether a client's connection may lead to this place.
    pub(crate) fn permits_open(&self, place: &Place) -> bool {
        self.permit_open.as_ref().is_none_or(|list| is_listed(list, place))
    }

    /// Returns whether a client may have a listener at this place. A place without an address is at `localhost`. As
    /// with sshd, the rules do not limit sockets in the file system.
    pub(crate) fn permits_listen(&self, place: &Place) -> bool {
        let list = self.permit_listen.as_ref().filter(|_| matches!(place, Place::Port(..)));
        list.is_none_or(|list| is_listed(list, place))
    }

    /// Reads the file at a path. The file and its folder must belong to `owner`, and nobody else may write them. Nobody
    /// but `owner` and root may change a folder or link on the way.
    fn at(path: &Path, owner: u32) -> Result<Self, PolicyError> {
        if is_absent(path) {
            return Ok(Self::default());
        }
        // `end` has no links, so its parent is the folder that really holds the file.
        let end = exposure::way_of(owner, path, None).map_err(|exposure| match exposure {
            Exposure::Io { error, .. } => error.into(),
            _ => PolicyError::Exposed,
        })?;
        let is_safe = |it: &std::fs::Metadata| it.uid() == owner && it.mode() & OTHERS_WRITE == 0;
        for folder in [path.parent(), end.parent()].into_iter().flatten() {
            if !is_safe(&std::fs::metadata(folder)?) {
                return Err(PolicyError::Exposed);
            }
        }
        let file = own_file::open(&end, OpenOptions::new().read(true))?;
        let found = file.metadata()?;
        if !found.is_file() || !is_safe(&found) {
            return Err(PolicyError::Exposed);
        }
        if found.len() > FILE_BYTES_MAX {
            return Err(PolicyError::Long);
        }
        let mut text = String::new();
        file.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
        Ok(toml::from_str(&text)?)
    }
}

/// Returns whether the address of a client's listener is a loopback address. `None` for a name, which is no address.
pub(crate) fn is_loopback(host: Option<&str>) -> Option<bool> {
    match host {
        None | Some("localhost") => Some(true),
        Some("" | "*") => Some(false),
        Some(text) => text.parse::<IpAddr>().ok().map(|it| it.is_loopback()),
    }
}

/// Returns whether there is no file. A link to nowhere, as to a disk that is not mounted, counts as a file.
fn is_absent(path: &Path) -> bool {
    let found = path.symlink_metadata();
    found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        && path.ancestors().all(|it| it.exists() || !it.is_symlink())
}

/// Returns whether a list contains a place. An entry that is only a port, or `*`, fits every address.
fn is_listed(list: &[String], place: &Place) -> bool {
    match place {
        Place::Socket(path) => list.contains(path),
        Place::Port(host, port) => {
            ports(list).find(host.as_deref().unwrap_or("localhost"), *port).is_some()
        }
    }
}

/// Returns the hosts and ports in a list. A port alone is at any host.
pub(crate) fn ports(list: &[String]) -> Permitted {
    let any = |it: &String| it.parse::<u16>().is_ok() || it == "*";
    let places = list.iter().map(|it| if any(it) { format!("*:{it}") } else { it.clone() });
    Permitted::parse(&places.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    use rove_rig::scratch::Scratch;

    use super::*;

    #[test]
    fn only_a_file_that_its_owner_alone_may_write_counts() {
        let scratch = Scratch::new();
        let folder = scratch.path("rove");
        fs::create_dir(&folder).unwrap();
        let path = folder.join("server.toml");
        let user = rustix::process::geteuid().as_raw();
        assert_eq!(Policy::at(&path, user).unwrap(), Policy::default());
        fs::write(&path, "gateway-ports = true\nstreams = false\n").unwrap();
        let allow = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
        let read = || Policy::at(&path, user);
        for (folder_mode, file_mode, counts) in [
            (0o755, 0o644, true),
            (0o755, 0o664, false),
            (0o757, 0o644, false),
            (0o755, 0o646, false),
        ] {
            allow(&folder, folder_mode).unwrap();
            allow(&path, file_mode).unwrap();
            let rules = Policy { streams: false, gateway_ports: true, ..Policy::default() };
            assert_eq!(read().ok(), counts.then_some(rules), "{folder_mode:o} {file_mode:o}");
        }
        allow(&path, 0o644).unwrap();
        assert!(matches!(Policy::at(&path, user + 1), Err(PolicyError::Exposed)));
        fs::write(&path, "gateway-ports = 1").unwrap();
        assert!(matches!(read(), Err(PolicyError::Toml { .. })));
        // A rule after the limit of bytes must not be ignored without an error.
        let long = "# rules of this host\n".repeat(4_000) + "streams = false\n";
        fs::write(&path, long).unwrap();
        assert!(matches!(read(), Err(PolicyError::Long)));
    }

    #[test]
    fn a_mistake_in_the_rules_permits_no_streams_and_a_file_of_others_changes_nothing() {
        let scratch = Scratch::new();
        let path = scratch.path("server.toml");
        let user = rustix::process::geteuid().as_raw();
        for mistake in
            ["gateway-ports = 1", "permit_open = []", "streams = fals", &"#".repeat(70_000)]
        {
            fs::write(&path, mistake).unwrap();
            let fault = Policy::at(&path, user).expect_err("a mistake");
            let rules = fault.rules();
            // A running session checks only `permit_open` and `permit_listen`.
            let place = Place::Port(None, 80);
            let is_permitted = rules.permits_open(&place) || rules.permits_listen(&place);
            assert!(!rules.streams && !is_permitted, "{mistake:.20}: {fault}");
            assert!(fault.sentence().ends_with("carry no forwards, agent or files"), "{fault}");
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let exposed = Policy::at(&path, user + 1).expect_err("another user's");
        assert_eq!(exposed.rules(), Policy::default());
    }

    #[test]
    fn no_link_leads_the_rules_to_where_another_user_decides() {
        if !rustix::process::geteuid().is_root() {
            return; // only root can give files to another user
        }
        let (scratch, other) = (Scratch::new(), Some(12_345));
        let [folder, theirs] = ["rove", "theirs"].map(|name| scratch.path(name));
        fs::create_dir(&folder).unwrap();
        fs::create_dir(&theirs).unwrap();
        let path = folder.join("server.toml");
        let file = theirs.join("server.toml");
        fs::write(&file, "gateway-ports = true\n").unwrap();
        symlink(&file, &path).unwrap();
        assert!(Policy::at(&path, 0).unwrap().gateway_ports, "all of it is root's");
        // The file is still root's, but the owner of its folder may put another file there.
        chown(&theirs, other, None).unwrap();
        assert!(matches!(Policy::at(&path, 0), Err(PolicyError::Exposed)));
        chown(&theirs, Some(0), None).unwrap();
        chown(&file, other, None).unwrap();
        assert!(matches!(Policy::at(&path, 0), Err(PolicyError::Exposed)));
        // The link is another user's, and the file is root's.
        chown(&file, Some(0), None).unwrap();
        chown(&folder, other, None).unwrap();
        std::os::unix::fs::lchown(&path, other, None).unwrap();
        assert!(matches!(Policy::at(&path, 0), Err(PolicyError::Exposed)));
        // The first link leads to a link that another user may replace or remove.
        chown(&folder, Some(0), None).unwrap();
        let link = scratch.path("bobs").join("link");
        fs::create_dir(scratch.path("bobs")).unwrap();
        symlink(&file, &link).unwrap();
        fs::remove_file(&path).unwrap();
        symlink(&link, &path).unwrap();
        assert!(Policy::at(&path, 0).unwrap().gateway_ports, "all of it is root's");
        chown(scratch.path("bobs"), other, None).unwrap();
        assert!(matches!(Policy::at(&path, 0), Err(PolicyError::Exposed)));
        fs::remove_file(&link).unwrap();
        assert!(matches!(Policy::at(&path, 0), Err(PolicyError::Exposed)));
        // A folder of root's within another user's can be replaced, too.
        fs::create_dir(&link).unwrap();
        fs::rename(&file, link.join("server.toml")).unwrap();
        fs::remove_file(&path).unwrap();
        symlink(link.join("server.toml"), &path).unwrap();
        assert!(matches!(Policy::at(&path, 0), Err(PolicyError::Exposed)));
        // If the path leads to a pipe, the server must not wait for the pipe's writer.
        fs::remove_file(&path).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).unwrap();
        assert!(matches!(Policy::at(&path, 0), Err(PolicyError::Exposed)));
    }

    #[test]
    fn a_link_to_nowhere_permits_no_streams() {
        let (scratch, user) = (Scratch::new(), rustix::process::geteuid().as_raw());
        for (link, path) in [("server.toml", "server.toml"), ("rove", "rove/server.toml")] {
            symlink(scratch.path("not mounted"), scratch.path(link)).unwrap();
            let fault = Policy::at(&scratch.path(path), user).expect_err("a mistake");
            assert!(!fault.rules().streams, "{link}: {fault}");
        }
    }

    #[test]
    fn a_list_permits_what_it_names_and_no_list_permits_all() {
        let port = |host: &str, port| Place::Port(Some(host.to_owned()), port);
        let socket = Place::Socket("/run/db".to_owned());
        let all = [
            port("db", 5432),
            port("db", 5433),
            port("::1", 80),
            port("localhost", 8080),
            Place::Port(None, 8080),
            socket,
        ];
        for (list, listed) in [
            ("", [false; 6]),
            ("'db:5432', 'DB:5433'", [true, false, false, false, false, false]),
            ("'db:*', '[::1]:80'", [true, true, true, false, false, false]),
            ("'*:8080'", [false, false, false, true, true, false]),
            ("'8080', '127.0.0.1:80'", [false, false, false, true, true, false]),
            ("'*'", [true, true, true, true, true, false]),
            ("'/run/db', 'nonsense', 'db:x'", [false, false, false, false, false, true]),
        ] {
            let rules = format!("permit-open = [{list}]\npermit-listen = [{list}]\n");
            let rules: Policy = toml::from_str(&rules).unwrap();
            assert_eq!(all.each_ref().map(|place| rules.permits_open(place)), listed, "{list}");
            let [ports @ .., _] = listed;
            let listens = all.each_ref().map(|place| rules.permits_listen(place));
            assert_eq!((&listens[..5], listens[5]), (&ports[..], true), "{list}");
            assert!(all.iter().all(|place| Policy::default().permits_open(place)));
            assert!(all.iter().all(|place| Policy::default().permits_listen(place)));
        }
    }
}
