//! A tmux that serves a single test as a terminal. It answers questions and keeps the lines that scroll off.

use std::path::{Path, PathBuf};

use super::invocation::{Invocation, require};
use rove_rig::scratch::Scratch;

/// A tmux with one session, whose socket and configuration are in a scratch folder.
#[derive(Clone, Debug)]
pub(crate) struct Tmux {
    program: PathBuf,
    socket: PathBuf,
    config: PathBuf,
}

impl Tmux {
    /// Prepares a tmux with this configuration, but does not start it.
    pub(crate) fn new(scratch: &Scratch, config: &str) -> Self {
        Self {
            program: require("tmux", "tmux"),
            socket: scratch.path("socket"),
            config: scratch.write("tmux.conf", config),
        }
    }

    /// Returns the words that run a program in this tmux.
    pub(crate) fn words(&self) -> Vec<String> {
        let text = |path: &Path| path.to_str().expect("paths are text").to_owned();
        let option = |name: &str, path| [name.to_owned(), text(path)];
        let mut words = vec![text(&self.program)];
        words.extend(option("-S", &self.socket));
        words.extend(option("-f", &self.config));
        words.push("new-session".to_owned());
        words
    }

    /// Returns the call as it must be made to run in this tmux.
    pub(crate) fn around(&self, call: Invocation) -> Invocation {
        let words = self.words();
        call.behind(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Returns the lines of tmux's only pane, as `capture-pane` prints them with these options.
    pub(crate) fn lines(&self, options: &[&str]) -> Vec<String> {
        let call = Invocation::new(&self.program).arg("-S").arg(&self.socket);
        let call = call.args(["capture-pane", "-p"]).args(options);
        let output = call.command().output().expect("tmux starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect()
    }
}
