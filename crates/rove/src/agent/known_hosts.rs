//! Finds the name of a host by its key in the user's `known_hosts` files (sshd(8)).
//!
//! The data that an agent signs for a login may contain the key of the host that the login goes to. No other host
//! accepts such a signature.

use std::fmt::{self, Display};
use std::fs::{self, File};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::filter::shown;
use crate::bounded;

/// Most bytes of a `known_hosts` file that are read. The rest is ignored. Chosen: ten thousand hosts.
const FILE_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// Most `known_hosts` files that are read. Further files are ignored. Chosen: twice as many as ssh reads by default.
const FILES_MAX: usize = 8;

/// The entry of the `known_hosts` files for a host's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KnownHost {
    Named(String),
    /// The files have the key, with a hash in place of the host's name.
    Hashed,
    /// The files mark the key as revoked.
    Revoked,
    /// No entry for a host has the key.
    Unknown,
}

impl KnownHost {
    /// Looks a key up in these `known_hosts` files. A file that cannot be read counts as empty.
    pub(crate) fn find(files: &[String], key: &[u8]) -> Self {
        let texts: Vec<String> = files.iter().take(FILES_MAX).filter_map(|it| read(it)).collect();
        Self::find_in(texts.iter().flat_map(|text| text.lines()), key)
    }

    fn find_in<'a>(lines: impl Iterator<Item = &'a str>, key: &[u8]) -> Self {
        let key = STANDARD.encode(key);
        let mut found = Self::Unknown;
        for line in lines {
            let mut words = line.split_ascii_whitespace().peekable();
            let marker = words.next_if(|word| word.starts_with('@'));
            let (names, found_key) = (words.next().unwrap_or_default(), words.nth(1));
            if found_key != Some(&*key) || names.starts_with('#') {
                continue;
            }
            let name = names.split(',').find(|name| !name.starts_with(['|', '!']));
            match (marker, name, &found) {
                (Some("@revoked"), ..) => return Self::Revoked,
                (None, Some(name), Self::Unknown | Self::Hashed) => {
                    found = Self::Named(shown(name.as_bytes()));
                }
                (None, None, Self::Unknown) => found = Self::Hashed,
                _ => {}
            }
        }
        found
    }
}

impl Display for KnownHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Hashed => f.write_str("a host that known_hosts has without a name"),
            Self::Revoked => f.write_str("a host whose key known_hosts revokes"),
            Self::Unknown => f.write_str("a host that known_hosts lacks"),
        }
    }
}

/// Reads the first [`FILE_BYTES_MAX`] bytes of a regular file. `None` if it cannot be read.
fn read(path: &str) -> Option<String> {
    // Only a regular file is opened, because opening a pipe would wait for its writer.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let bytes = bounded::read(File::open(path).ok()?, FILE_BYTES_MAX).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use rove_rig::scratch::Scratch;

    use super::*;

    #[test]
    fn a_host_is_named_as_the_files_name_its_key() {
        let key = STANDARD.encode(b"key");
        let other = STANDARD.encode(b"other");
        let named = |name: &str| KnownHost::Named(name.to_owned());
        for (text, host) in [
            (String::new(), KnownHost::Unknown),
            (format!("a ssh-ed25519 {other}\n"), KnownHost::Unknown),
            (format!("a,10.0.0.1 ssh-ed25519 {key} comment\n"), named("a")),
            (format!("[a]:2222 ssh-ed25519 {key}\r\n"), named("[a]:2222")),
            (format!("|1|c2FsdA==|aGFzaA== ssh-ed25519 {key}\n"), KnownHost::Hashed),
            (format!("|1|x|y ssh-ed25519 {key}\nb ssh-ed25519 {key}\n"), named("b")),
            (format!("a ssh-ed25519 {key}\n@revoked * ssh-ed25519 {key}\n"), KnownHost::Revoked),
            (format!("@cert-authority *.example ssh-ed25519 {key}\n"), KnownHost::Unknown),
            (format!("#a ssh-ed25519 {key}\n"), KnownHost::Unknown),
            (format!("a ssh-ed25519 {}\n", &key[..3]), KnownHost::Unknown),
            (format!("\u{1b}[2Ja\u{202e} ssh-ed25519 {key}\n"), named("[2Ja")),
        ] {
            assert_eq!(KnownHost::find_in(text.lines(), b"key"), host, "{text}");
        }
    }

    #[test]
    fn each_file_is_read_up_to_its_bound_and_one_that_is_no_file_is_passed_over() {
        let scratch = Scratch::new();
        let line = format!("a ssh-ed25519 {}\n", STANDARD.encode(b"key"));
        let bound = usize::try_from(FILE_BYTES_MAX).unwrap();
        let at = |len: usize| " ".repeat(len - line.len()) + &line;
        let files = [
            scratch.folder().to_owned(),
            scratch.path("nowhere"),
            scratch.write("longer", &at(bound + line.len())),
            scratch.write("long", &at(bound)),
        ];
        let files = files.map(|it| it.to_str().unwrap().to_owned());
        assert_eq!(KnownHost::find(&files[..3], b"key"), KnownHost::Unknown);
        assert_eq!(KnownHost::find(&files, b"key"), KnownHost::Named("a".to_owned()));
        let empty = vec![files[0].clone(); FILES_MAX];
        let last = [&empty[1..], &files[3..]].concat();
        assert_eq!(KnownHost::find(&last, b"key"), KnownHost::Named("a".to_owned()));
        let beyond = [&empty[..], &files[3..]].concat();
        assert_eq!(KnownHost::find(&beyond, b"key"), KnownHost::Unknown);
    }
}
