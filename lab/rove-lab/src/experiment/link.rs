//! A link of a scenario: a path, and where its files are.

use std::path::Path as FilePath;

use anyhow::{Result, anyhow};
use rove_flows::path::Path;
use serde::Deserialize;
use toml::Spanned;

use crate::experiment::traffic::with_value;

/// A path with its name.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Link {
    /// The link's name in the figure.
    pub(crate) name: String,
    /// The path, as `rove-lab replay --link` reads it, with `{value}` for the varied value. Its files are beside the
    /// scenario.
    pub(crate) path: Option<Spanned<String>>,
    /// A file of steps (JSON) in place of the path, beside the scenario's file.
    pub(crate) schedule: Option<Spanned<String>>,
    /// NAME of two recordings of opportunities, NAME.up and NAME.down, in the `--traces` directory.
    pub(crate) cellular: Option<String>,
    /// How many packets each recorded opportunity carries; one where it is left out.
    pub(crate) packets: Option<u64>,
    /// The direction of the link that a flow takes.
    #[serde(default)]
    pub(crate) direction: Direction,
    /// The second at which a recording starts again from its beginning. Runs never reach the part after it.
    pub(crate) until: Option<u64>,
    /// How many seconds of the recording a flow runs; all of them where it is left out.
    pub(crate) seconds: Option<u64>,
    /// How many seconds a flow runs with `--full`; as many as `seconds` where it is left out.
    #[serde(rename = "full-seconds")]
    pub(crate) full_seconds: Option<u64>,
    /// Whether averages of all links leave this link out.
    #[serde(default)]
    pub(crate) apart: bool,
}

/// The direction of a recorded link from a flow's sender to its receiver.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Direction {
    /// The path's own direction: from near to far is the recording's uplink.
    #[default]
    Up,
    /// The reverse direction: from near to far is the recording's downlink.
    Down,
}

impl Link {
    /// Returns whether the link has recorded opportunities.
    pub(crate) fn is_recorded(&self) -> bool {
        let has_file = |path: &Spanned<String>| {
            ["uplink=", "trace="].iter().any(|word| path.get_ref().contains(word))
        };
        self.cellular.is_some() || self.path.as_ref().is_some_and(has_file)
    }

    /// Returns the link's part of a picture's file name.
    pub(crate) fn picture(&self) -> String {
        let letter =
            |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { '-' };
        self.name.chars().map(letter).collect()
    }

    /// Returns the path with `value` in its place, and with its files in `folder`. Cellular links have no files there.
    ///
    /// # Errors
    ///
    /// Returns a sentence on the first part that is wrong.
    pub(crate) fn path(&self, folder: &FilePath, value: Option<f64>) -> Result<Path> {
        // A comma ends a part of a path, but a file's name may contain one. So the text has a placeholder for the name.
        let mut text = match (&self.path, &self.schedule) {
            (Some(path), _) => with_value(path.get_ref(), value),
            (None, Some(_)) => "schedule=FILE".to_owned(),
            (None, None) => String::new(),
        };
        if self.cellular.is_some() {
            text.push_str(",uplink=FILE,downlink=FILE");
        }
        let mut path: Path = text.parse().map_err(|sentence: String| anyhow!(sentence))?;
        let schedule = self.schedule.as_ref().map(|schedule| FilePath::new(schedule.get_ref()));
        for file in path.files_mut() {
            *file = folder.join(schedule.unwrap_or(file));
        }
        Ok(path)
    }
}
