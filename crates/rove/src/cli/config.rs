//! The user's configuration: a TOML file with settings for every host, and sections for some.
//!
//! Only `rove` reads it. Under Mosh's names nothing is read that stock Mosh would not read.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::cli::config::key::{Key, Shape};

pub(crate) mod command;
mod key;
mod pattern;

/// Names another file; empty for none.
const FILE_VARIABLE: &str = "ROVE_CONFIG";
/// The file's place in the folder for configuration.
const FILE_NAME: &str = "rove/config.toml";
/// Largest file that is read. Chosen: a thousand hosts with ten settings each.
const FILE_BYTES_MAX: usize = 1_048_576;
/// The table of the sections for some hosts.
const HOST_TABLE: &str = "host";

/// A file of settings, read and checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    defaults: Settings,
    /// The sections, in the order of the file.
    sections: Vec<Section>,
}

/// Settings by their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings(BTreeMap<&'static str, Setting>);

/// What a key is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Setting {
    Text(String),
    Flag(bool),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Section {
    pattern: String,
    settings: Settings,
}

/// What is wrong, and at which byte of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    at: usize,
    sentence: String,
}

impl Config {
    /// Reads the user's file; one that is not there has no settings.
    ///
    /// # Errors
    ///
    /// Returns a sentence with the file, the line if there is one, and what is wrong.
    pub(crate) fn load() -> Result<Self, String> {
        match path() {
            Some(path) => Self::load_from(&path),
            None => Ok(Self::default()),
        }
    }

    fn load_from(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let bytes = match read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(format!("cannot read the configuration {shown}: {error}")),
        };
        Self::parse(&bytes).map_err(|fault| {
            let line = 1 + bytes[..fault.at].iter().filter(|byte| **byte == b'\n').count();
            format!("{shown}:{line}: {}", fault.sentence)
        })
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    ///
    /// Returns the first thing that is wrong.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let text = str::from_utf8(bytes)
            .map_err(|error| Fault::new(error.valid_up_to(), "this is not UTF-8".to_owned()))?;
        let document = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start.min(text.len()));
            let message = error.message().lines().next().unwrap_or_default();
            Fault::new(at, format!("this is not TOML: {}", message.escape_debug()))
        })?;
        let mut config = Self::default();
        // Where several things are wrong, the first in the file is told of.
        let mut entries: Vec<_> = document.into_inner().into_iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            if key.get_ref() == HOST_TABLE {
                config.sections.extend(sections(value)?);
            } else {
                config.defaults.take(&key, &value)?;
            }
        }
        Ok(config)
    }

    /// Returns the settings for a host as the user wrote it, `user@` included. Each key has the value
    /// of the last section that matches and sets it.
    pub(crate) fn for_host(&self, host: &OsStr) -> Settings {
        let host = host.to_string_lossy();
        let mut settings = self.defaults.clone();
        for section in self.sections.iter().filter(|it| pattern::matches(&it.pattern, &host)) {
            settings.0.extend(section.settings.0.clone());
        }
        settings
    }
}

impl Settings {
    /// Returns what a key is set to, if it is; a flag that is on or off is no text.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.0.get(key)? {
            Setting::Text(text) => Some(text),
            Setting::Flag(_) => None,
        }
    }

    /// Returns whether a flag is set, and on or off.
    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        match self.0.get(key)? {
            Setting::Flag(flag) => Some(*flag),
            Setting::Text(_) => None,
        }
    }

    /// Takes an entry of the file.
    fn take(
        &mut self,
        name: &Spanned<toml::de::DeString<'_>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), Fault> {
        let key = Key::named(name.get_ref()).ok_or_else(|| {
            let known = key::KEYS.map(|key| key.name).join(", ");
            Fault::new(
                name.span().start,
                format!(
                    "there is no setting \"{}\"; there are {known}, and sections [host.\"name\"]",
                    name.get_ref().escape_debug()
                ),
            )
        })?;
        let wrong = |sentence| Fault::new(value.span().start, sentence);
        let setting = match (key.shape, value.get_ref()) {
            (Shape::Flag, DeValue::Boolean(flag)) => Setting::Flag(*flag),
            (Shape::Flag, _) => return Err(wrong(format!("{} is true or false", key.name))),
            (Shape::Text(check) | Shape::TextOrNumber(check), DeValue::String(text)) => {
                let text = text.to_string();
                check(&text).map_err(|reason| wrong(format!("{}: {reason}", key.name)))?;
                Setting::Text(text)
            }
            (Shape::TextOrNumber(check), DeValue::Integer(number)) if number.radix() == 10 => {
                let text = number.as_str().replace('_', "");
                check(&text).map_err(|reason| wrong(format!("{}: {reason}", key.name)))?;
                Setting::Text(text)
            }
            (Shape::Text(_) | Shape::TextOrNumber(_), _) => {
                return Err(wrong(format!("{} is text, in quotes", key.name)));
            }
        };
        self.0.insert(key.name, setting);
        Ok(())
    }
}

impl Fault {
    /// Returns at which byte of the file it is.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    fn new(at: usize, sentence: String) -> Self {
        Self { at, sentence }
    }
}

/// Reads the table of sections, in the order of the file.
fn sections(table: Spanned<DeValue<'_>>) -> Result<Vec<Section>, Fault> {
    let wrong = |at| Fault::new(at, "settings for a host stand under [host.\"name\"]".to_owned());
    let at = table.span().start;
    let DeValue::Table(table) = table.into_inner() else { return Err(wrong(at)) };
    let mut entries: Vec<_> = table.into_iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let mut sections = Vec::new();
    for (pattern, value) in entries {
        let at = pattern.span().start;
        let DeValue::Table(table) = value.into_inner() else { return Err(wrong(at)) };
        let mut settings = Settings::default();
        let mut entries: Vec<_> = table.into_iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            settings.take(&key, &value)?;
        }
        sections.push(Section { pattern: pattern.into_inner().into_owned(), settings });
    }
    Ok(sections)
}

/// Returns where the user's file would be; `None` if there is no place for it or the user wants none.
pub(crate) fn path() -> Option<PathBuf> {
    path_from(|name| env::var_os(name))
}

fn path_from(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(path) = variable(FILE_VARIABLE) {
        return (!path.is_empty()).then(|| path.into());
    }
    // A relative folder is to be ignored (XDG Base Directory Specification 0.8).
    let folder = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(folder.join(FILE_NAME))
}

/// Reads a file that is not too large. A pipe without a writer does not hold us up.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let nonblocking = OFlags::NONBLOCK.bits().try_into().expect("a flag of open");
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    let limit = u64::try_from(FILE_BYTES_MAX + 1).expect("a small number");
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    if bytes.len() > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it is larger than {FILE_BYTES_MAX} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
