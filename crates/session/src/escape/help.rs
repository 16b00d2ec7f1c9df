//! Texts for the user about the escape key: the help that follows it, and the hints at the end of notices.

use super::key::{CONTROL, is_control, is_pass_key, key_name, quoted};
use super::{CALLBACK, DISMISS, EscapeKey, LOCK, LOG_IN, STATUS, State, YES};
use crate::command_line::Purpose;

/// The first commands in the help if the client offers the status. They fit into 40 columns.
const FIRST: &str = ". quit, ^Z suspend, s status";

/// The commands that follow [`FIRST`] in a window of 80 columns, unless the escape key needs their keys.
const OTHERS: [(u8, &str); 4] = [
    (LOCK, "l lock"),
    (Purpose::Ports.key(), "f ports"),
    (Purpose::Files.key(), "p files"),
    (CALLBACK, "o login"),
];

/// The command that only a wider window names.
const LAST: (u8, &str) = (DISMISS, "e end others");

impl EscapeKey {
    /// Returns the line being typed for the client, or the escape key's help, from the longest version to the shortest.
    /// `None` if neither is shown. With the program's name, the help's last version fits 40 columns and the version
    /// before it 80.
    pub(crate) fn help(&self) -> Option<Vec<String>> {
        if let State::Line(line) = &self.state {
            return Some(line.shown());
        }
        let is_shown = matches!(self.state, State::Escaped { .. }) || self.help_until.is_some();
        let key = self.key.filter(|_| is_shown)?;
        let pass = if is_control(key) && key < 0x20 { key + CONTROL } else { key };
        if self.is_login_key(Some(LOG_IN)) {
            return Some(vec![
                "\"r\" logs in again, \".\" quits, Ctrl-Z suspends, \"s\" shows status".to_owned(),
                "\"r\" logs in again, \".\" quits".to_owned(),
            ]);
        }
        Some(if self.is_status_key(Some(STATUS)) {
            let is_named = |&(byte, _): &(u8, _)| !is_pass_key(self.key, Some(byte));
            // A blank, a comma and Backspace would not be understood in the list.
            let is_plain = pass.is_ascii_graphic() && pass != b',';
            let literal = is_plain.then(|| format!("{} literal", char::from(pass)));
            let others = OTHERS.into_iter().filter(is_named).map(|(_, words)| words);
            let most: Vec<&str> =
                [FIRST].into_iter().chain(others).chain(literal.as_deref()).collect();
            let last = Some(LAST).filter(is_named).map(|(_, words)| words);
            let all: Vec<&str> = most.iter().copied().chain(last).collect();
            vec![all.join(", "), most.join(", "), FIRST.to_owned()]
        } else {
            let (pass, key) = (quoted(pass), key_name(key));
            vec![
                format!("Commands: Ctrl-Z suspends, \".\" quits, {pass} gives literal {key}"),
                "\".\" quits, Ctrl-Z suspends".to_owned(),
            ]
        })
    }

    /// Returns the name of the escape key. `None` without an escape key.
    pub(crate) fn name(&self) -> Option<String> {
        self.key.map(key_name)
    }

    /// Returns the hint how to quit, for the end of a notice. `None` without an escape key.
    pub(crate) fn quit_hint(&self) -> Option<String> {
        self.key.map(|key| format!("[To quit: {} .]", key_name(key)))
    }

    /// Returns the hint how to say yes. The list is empty if the user has no key for yes.
    pub(crate) fn yes_hints(&self) -> Vec<String> {
        let key = self.key.filter(|_| self.is_yes_key(Some(YES)));
        key.map(|key| format!("[To allow it: {} y]", key_name(key))).into_iter().collect()
    }

    /// Returns the hints how to log in again and to quit, the longest first. The list is empty without a login key.
    pub(crate) fn login_hints(&self) -> Vec<String> {
        let Some(key) = self.key.filter(|_| self.is_login_key(Some(LOG_IN))) else {
            return Vec::new();
        };
        let key = key_name(key);
        vec![
            format!("[To log in again: {key} r] [To quit: {key} .]"),
            format!("[Log in: {key} r. Quit: {key} .]"),
        ]
    }
}
