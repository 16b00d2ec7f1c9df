//! `rove config`: prints where the configuration file is, whether it is correct, and the settings for a host.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;

use clap::{CommandFactory, FromArgMatches, Parser};
use rove_cli_docs::{Manual, Suggested, Words};

use crate::cli::config::file::path;
use crate::cli::config::{Config, ConfigError, Setting, Settings};
use crate::messages::escaped;
use crate::program::ROVE;

const ACTIONS: &[&str] = &["path", "check", "show"];

pub(crate) static MANUAL: Manual = Manual {
    word: "config",
    definition: ConfigArgs::command,
    words: Words::OneOfThenHost(ACTIONS, "show"),
    text: include_str!("../../../manuals/config.toml"),
    ..Manual::of(&ROVE)
};

/// Shows and checks the file of settings
#[derive(Debug, Parser)]
#[command(name = "rove config", override_usage = "rove config path|check|show [HOST]")]
struct ConfigArgs {
    #[arg(value_parser = Suggested(ACTIONS), hide = true)]
    action: String,
    #[arg(hide = true)]
    host: Option<OsString>,
    /// Print a JSON object: file and found, with show also host and settings
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigCall {
    action: Action,
    json: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    Path,
    Check,
    Show(OsString),
}

/// Reads the words after `config`.
///
/// # Errors
///
/// Returns clap's error, which may be a request for help.
pub(crate) fn parse(args: Vec<OsString>) -> Result<ConfigCall, clap::Error> {
    let args = ConfigArgs::from_arg_matches(&rove_cli_docs::matches(&MANUAL, args)?)?;
    let action = match (args.action.as_str(), args.host) {
        ("path", None) => Action::Path,
        ("check", None) => Action::Check,
        ("show", host) => Action::Show(host.unwrap_or_default()),
        (action, host) => {
            let message = fault(action, host.as_deref()) + "\n";
            return Err(clap::Error::raw(clap::error::ErrorKind::InvalidValue, message));
        }
    };
    Ok(ConfigCall { action, json: args.json })
}

/// Returns the error for an unknown action, or for a host after an action that takes no host.
fn fault(action: &str, host: Option<&OsStr>) -> String {
    if let Some(host) = host.filter(|_| ACTIONS.contains(&action)) {
        return format!(
            "{action} is about the whole file, and there is no place for \"{}\"",
            host.to_string_lossy().escape_debug()
        );
    }
    let advice = match rove_cli_docs::nearest(action, ACTIONS.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("there are {}", ACTIONS.join(", ")),
    };
    format!("there is no action \"{}\"; {advice}", action.escape_debug())
}

/// Returns the text that `rove config` prints, or the faults of the file for `check` and `show`.
pub(crate) fn run(call: &ConfigCall) -> Result<String, ConfigError> {
    let file = path().map(|path| path.display().to_string());
    let is_found = path().is_some_and(|path| path.exists());
    let settings = match &call.action {
        Action::Path => None,
        Action::Check => {
            path().map_or(Ok(()), |path| Config::check(&path))?;
            None
        }
        Action::Show(host) => Some(Config::load()?.for_host(host)),
    };
    if call.json {
        let mut object = serde_json::json!({ "file": file, "found": is_found });
        if let (Action::Show(host), Some(settings)) = (&call.action, &settings) {
            object["host"] = host.to_string_lossy().into();
            object["settings"] = settings.json();
        }
        return Ok(escaped(&object.to_string()));
    }
    let file = file.unwrap_or_else(|| "no file".to_owned());
    Ok(match (&call.action, settings) {
        (_, Some(settings)) => settings.text_form(),
        (Action::Check, _) if is_found => format!("{file}: nothing wrong"),
        (Action::Check, _) => format!("{file}: not there, so nothing is set"),
        _ => file,
    })
}

impl Settings {
    fn json(&self) -> serde_json::Value {
        let entries = self.0.iter().map(|(key, setting)| {
            let value = match setting {
                Setting::Text(text) => text.clone().into(),
                Setting::Flag(flag) => (*flag).into(),
            };
            ((*key).to_owned(), value)
        });
        serde_json::Value::Object(entries.collect())
    }

    /// Returns the settings as lines of a configuration file.
    fn text_form(&self) -> String {
        let mut text = String::new();
        for (key, setting) in &self.0 {
            let _ = match setting {
                // A JSON string is also a TOML string.
                Setting::Text(value) => writeln!(text, "{key} = {}", serde_json::json!(value)),
                Setting::Flag(value) => writeln!(text, "{key} = {value}"),
            };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::key::KEYS;

    #[test]
    fn the_help_names_every_setting() {
        for key in KEYS {
            let is_named = MANUAL.texts().notes[3..7].iter().any(|note| note.contains(key.name));
            assert!(is_named, "{}", key.name);
        }
    }

    #[test]
    fn shown_settings_can_be_read_again() {
        let config =
            Config::parse(b"ssh = 'ssh -p \"2\" \\x'\nport = 60_010\nstrict = true").unwrap();
        let settings = config.for_host("x".as_ref());
        let again = Config::parse(settings.text_form().as_bytes()).unwrap();
        assert_eq!(again.for_host("x".as_ref()), settings);
        assert_eq!(settings.json()["port"], "60010");
    }

    #[test]
    fn each_action_has_its_words() {
        let call = |line: &str| parse(line.split(' ').map(OsString::from).collect());
        assert_eq!(call("show me@h --json").unwrap().action, Action::Show("me@h".into()));
        assert_eq!(call("check").unwrap(), ConfigCall { action: Action::Check, json: false });
        for line in ["", "bogus", "path x", "check x", "show a b"] {
            assert!(call(line).is_err(), "{line}");
        }
        for (line, sentence) in [
            ("bogus", "there is no action \"bogus\"; there are path, check, show"),
            ("shwo host", "there is no action \"shwo\"; did you mean show?"),
            ("check x", "check is about the whole file, and there is no place for \"x\""),
        ] {
            let error = call(line).unwrap_err();
            assert_eq!(rove_cli_docs::sentence(&MANUAL, &error), sentence);
        }
    }
}
