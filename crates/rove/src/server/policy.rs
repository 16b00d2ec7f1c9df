//! The administrator's rules for the streams of all sessions on this host (`/etc/rove/server.toml`).

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::Deserialize;

/// Most bytes of the file that are read. Chosen: many times the length of all its keys.
const FILE_BYTES_MAX: u64 = 65_536;

/// The mode bits by which a group or everybody may write.
const OTHERS_WRITE: u32 = 0o022;

/// The rules. Without the file, the defaults apply.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Policy {
    /// Whether sessions may carry streams.
    pub(crate) streams: bool,
    /// Whether listeners of `-R` may be at other addresses than the loopback.
    pub(crate) gateway_ports: bool,
}

/// Why the file is ignored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PolicyError {
    #[error("{error}")]
    Io {
        #[from]
        error: io::Error,
    },
    #[error("it is not root's, or others may write it or its folder")]
    Exposed,
    #[error("{}", error.message())]
    Toml {
        #[from]
        error: toml::de::Error,
    },
}

impl Default for Policy {
    fn default() -> Self {
        Self { streams: true, gateway_ports: false }
    }
}

impl Policy {
    /// The path of the file with the rules.
    pub(crate) const PATH: &str = "/etc/rove/server.toml";

    /// Reads the rules of this host. A file with a fault is ignored, and the log says why.
    pub(crate) fn read() -> Self {
        Self::find().unwrap_or_else(|error| {
            tracing::warn!(path = Self::PATH, %error, "the host's rules are ignored");
            Self::default()
        })
    }

    /// Reads the rules of this host.
    ///
    /// # Errors
    ///
    /// Returns the fault for which the file must be ignored.
    pub(crate) fn find() -> Result<Self, PolicyError> {
        Self::at(Path::new(Self::PATH), 0)
    }

    /// Reads the file at a path. The file and its folder must belong to `owner`, and nobody else may write them.
    fn at(path: &Path, owner: u32) -> Result<Self, PolicyError> {
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            opened => opened?,
        };
        let folder = path.parent().map(std::fs::metadata).transpose()?;
        let found = file.metadata()?;
        let is_safe = |it: &std::fs::Metadata| it.uid() == owner && it.mode() & OTHERS_WRITE == 0;
        if !found.is_file() || !is_safe(&found) || !folder.is_none_or(|it| is_safe(&it)) {
            return Err(PolicyError::Exposed);
        }
        let mut text = String::new();
        file.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
        Ok(toml::from_str(&text)?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

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
            let rules = Policy { streams: false, gateway_ports: true };
            assert_eq!(read().ok(), counts.then_some(rules), "{folder_mode:o} {file_mode:o}");
        }
        allow(&path, 0o644).unwrap();
        assert!(matches!(Policy::at(&path, user + 1), Err(PolicyError::Exposed)));
        fs::write(&path, "gateway-ports = 1").unwrap();
        assert!(matches!(read(), Err(PolicyError::Toml { .. })));
    }
}
