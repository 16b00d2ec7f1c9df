//! The user's configuration: a TOML file with settings for every host, and sections for particular hosts.
//!
//! Under the name `mosh`, rove does not read the file, because stock Mosh has none.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use rove_bootstrap::Resume;
use rove_bootstrap::ssh_config::without_uri;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::cli::config::file::Refusal;
use crate::cli::config::key::{Key, Shape};

pub(crate) mod command;
mod file;
mod key;
pub(super) mod pattern;

/// Most faults of the file that `rove config check` shows; it only counts others. Chosen: a few screens full.
const FAULTS_SHOWN_MAX: usize = 100;
/// The name of the table of sections for particular hosts.
const HOST_TABLE: &str = "host";

/// The checked settings of a configuration file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    defaults: Settings,
    /// The sections for particular hosts, in the order of the file. If several match a host, a later one prevails.
    sections: Vec<Section>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings(BTreeMap<&'static str, Setting>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    Text(String),
    Flag(bool),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Section {
    pattern: String,
    settings: Settings,
}

/// An error in a configuration file, and the index of the byte at which the error is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) sentence: String,
}

/// Why the user's configuration file is not used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// The file cannot be read, or is refused because another user can change or create it.
    #[error("{}{}", .0, .0.repair().map_or("", |_| "; `rove config check` tells what to do"))]
    Refused(Refusal),
    /// The file was refused as for `Refused`, and the message also says what to do about it.
    #[error("{}{}", .0, .0.repair().map_or(String::new(), |repair| format!("\n{repair}")))]
    ToRepair(Refusal),
    /// The file has faults. The sentences describe the first one (`load`), or up to [`FAULTS_SHOWN_MAX`] (`check`).
    #[error("{}", .0.join("\n"))]
    Faulty(Vec<String>),
}

impl Config {
    /// Reads the user's configuration file. A missing file has no settings. A file that others can change is refused.
    pub(crate) fn load() -> Result<Self, ConfigError> {
        match file::path() {
            Some(path) => Self::load_from(&path),
            None => Ok(Self::default()),
        }
    }

    fn load_from(path: &Path) -> Result<Self, ConfigError> {
        let shown = path.display();
        let read = file::read(path).map_err(ConfigError::Refused)?;
        let Some(bytes) = read else { return Ok(Self::default()) };
        let (config, faults) = Self::survey(&bytes);
        let Some(first) = faults.first() else { return Ok(config) };
        let more = match faults.len() - 1 {
            0 => String::new(),
            count => format!(" (`rove config check` tells of {count} more)"),
        };
        let sentence = format!("{shown}:{}: {}{more}", first.line(&bytes), first.sentence);
        Err(ConfigError::Faulty(vec![sentence]))
    }

    /// Checks the user's file. The error has up to [`FAULTS_SHOWN_MAX`] faults, and the number of all other faults.
    fn check(path: &Path) -> Result<(), ConfigError> {
        let shown = path.display();
        let read = file::read(path).map_err(ConfigError::ToRepair)?;
        let Some(bytes) = read else { return Ok(()) };
        let (_, faults) = Self::survey(&bytes);
        let mut lines: Vec<String> = faults
            .iter()
            .take(FAULTS_SHOWN_MAX)
            .map(|fault| format!("{shown}:{}: {}", fault.line(&bytes), fault.sentence))
            .collect();
        if faults.len() > lines.len() {
            lines.push(format!("{shown}: {} more", faults.len() - lines.len()));
        }
        if lines.is_empty() { Ok(()) } else { Err(ConfigError::Faulty(lines)) }
    }

    /// Parses the bytes of a file.
    ///
    /// # Errors
    ///
    /// Returns the first fault in the file.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let (config, faults) = Self::survey(bytes);
        faults.into_iter().next().map_or(Ok(config), Err)
    }

    /// Parses the bytes of a file as far as possible. Also returns a fault for each faulty line, in order.
    fn survey(bytes: &[u8]) -> (Self, Vec<Fault>) {
        let mut config = Self::default();
        let text = match str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let fault = Fault::new(error.valid_up_to(), "this is not UTF-8".to_owned());
                return (config, vec![fault]);
            }
        };
        let (document, errors) = DeTable::parse_recoverable(text);
        let mut faults: Vec<Fault> = errors
            .iter()
            .map(|error| {
                let at = error.span().map_or(0, |span| span.start.min(text.len()));
                let message = error.message().lines().next().unwrap_or_default();
                Fault::new(at, format!("this is not TOML: {}", message.escape_debug()))
            })
            .collect();
        for (key, value) in in_order(document.into_inner()) {
            if key.get_ref() == HOST_TABLE {
                config.sections.extend(sections(value, &mut faults));
            } else {
                faults.extend(config.defaults.take(&key, &value).err());
            }
        }
        // A syntax error takes precedence over other faults in its line, because the parser guesses what follows it.
        faults.sort_by_key(|fault| fault.at);
        let mut lines = BTreeMap::new();
        let (mut line, mut counted) = (0, 0);
        for (number, fault) in faults.into_iter().enumerate() {
            line += bytes[counted..fault.at].iter().filter(|byte| **byte == b'\n').count();
            counted = fault.at;
            let is_syntax = fault.sentence.starts_with("this is not TOML");
            let best = lines.entry(line).or_insert((!is_syntax, number, fault.clone()));
            if (!is_syntax, number) < (best.0, best.1) {
                *best = (!is_syntax, number, fault);
            }
        }
        (config, lines.into_values().map(|(_, _, fault)| fault).collect())
    }

    /// Returns the settings for a host. `host` is the user's own spelling, with `user@` if given, or a URI. Each key
    /// has the value of the last matching section that sets it, else the value outside of all sections.
    pub(crate) fn for_host(&self, host: &OsStr) -> Settings {
        let host = without_uri(&host.to_string_lossy());
        let mut settings = self.defaults.clone();
        for section in self.sections.iter().filter(|it| pattern::matches(&it.pattern, &host)) {
            settings.0.extend(section.settings.0.clone());
        }
        settings
    }
}

impl Setting {
    /// Returns the setting as a command-line option. `None` for a key such as `no-init` that is `false`.
    pub(super) fn word(&self, key: &str) -> Option<String> {
        match self {
            Self::Text(text) => Some(format!("--{key}={text}")),
            Self::Flag(true) => Some(format!("--{key}")),
            Self::Flag(false) if key.starts_with("no-") => None,
            Self::Flag(false) => Some(format!("--no-{key}")),
        }
    }
}

impl Settings {
    /// Returns each key that is set, with its setting.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &Setting)> {
        self.0.iter().map(|(key, setting)| (*key, setting))
    }

    /// Returns the text that a key is set to. `None` if the key is not set, or is set to `true` or `false`.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.0.get(key)? {
            Setting::Text(text) => Some(text),
            Setting::Flag(_) => None,
        }
    }

    /// Returns the flag that a key is set to. `None` if the key is not set, or is set to a text.
    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        match self.0.get(key)? {
            Setting::Flag(flag) => Some(*flag),
            Setting::Text(_) => None,
        }
    }

    /// Returns under which circumstances `rove resume` can go on with a session.
    pub(super) fn resume(&self) -> Resume {
        match (self.flag("resume"), self.text("resume")) {
            (_, Some(_)) => Resume::Reboot,
            (Some(true), None) => Resume::Closed,
            (Some(false), None) => Resume::Never,
            (None, None) => Resume::Killed,
        }
    }

    /// Adds the setting of one entry (`name = value`) of the file, or returns the entry's fault.
    fn take(
        &mut self,
        name: &Spanned<DeString<'_>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), Fault> {
        let key = Key::named(name.get_ref()).ok_or_else(|| {
            let known = key::KEYS.map(|key| key.name);
            let advice = match rove_cli_docs::nearest(name.get_ref(), known) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("there are {}, and sections [host.\"name\"]", known.join(", ")),
            };
            let written = name.get_ref().escape_debug();
            Fault::new(name.span().start, format!("there is no setting \"{written}\"; {advice}"))
        })?;
        let wrong = |sentence| Fault::new(value.span().start, sentence);
        let setting = match (key.shape, value.get_ref()) {
            (Shape::Flag | Shape::FlagOr(_), DeValue::Boolean(flag)) => Setting::Flag(*flag),
            (Shape::FlagOr(word), DeValue::String(text)) if text == word => {
                Setting::Text(text.to_string())
            }
            (Shape::FlagOr(word), _) => {
                return Err(wrong(format!("{} is true, false or \"{word}\"", key.name)));
            }
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
    /// Returns the number of the line with the fault, counted from 1. `bytes` is the file.
    fn line(&self, bytes: &[u8]) -> usize {
        1 + bytes[..self.at].iter().filter(|byte| **byte == b'\n').count()
    }

    fn new(at: usize, sentence: String) -> Self {
        Self { at, sentence }
    }
}

/// Reads the sections in `table`, in the order of the file, and adds their faults to `faults`.
fn sections(table: Spanned<DeValue<'_>>, faults: &mut Vec<Fault>) -> Vec<Section> {
    let wrong = |at| Fault::new(at, "settings for a host stand under [host.\"name\"]".to_owned());
    let at = table.span().start;
    let DeValue::Table(table) = table.into_inner() else {
        faults.push(wrong(at));
        return Vec::new();
    };
    let mut sections = Vec::new();
    for (pattern, value) in in_order(table) {
        let at = pattern.span().start;
        let DeValue::Table(table) = value.into_inner() else {
            faults.push(wrong(at));
            continue;
        };
        let mut settings = Settings::default();
        for (key, value) in in_order(table) {
            faults.extend(settings.take(&key, &value).err());
        }
        sections.push(Section { pattern: pattern.into_inner().into_owned(), settings });
    }
    sections
}

/// Returns the entries of a table in the order of the file.
fn in_order<'a>(table: DeTable<'a>) -> Vec<(Spanned<DeString<'a>>, Spanned<DeValue<'a>>)> {
    let mut entries: Vec<_> = table.into_iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

#[cfg(test)]
mod tests;
