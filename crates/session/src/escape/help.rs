//! Texts about the escape key for the user: the help after it, and the hints at the end of notices.

use super::key::{CONTROL, is_control, is_pass_key, key_name, quoted};
use super::{DISMISS, EscapeKey, FORWARD, LOCK, LOG_IN, STATUS, State, YES};

impl EscapeKey {
    /// Returns the help to show while the escape key waits for its command, from the longest version to the shortest.
    /// `None` if no help is shown. With the program's name, the first fits 80 columns and the last 40.
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
        let pass = quoted(pass);
        let (full, short) = if self.is_status_key(Some(STATUS)) {
            let others = [
                (LOCK, "\"l\" locks, "),
                (DISMISS, "\"e\" ends others, "),
                (FORWARD, "\"f\" ports, "),
            ];
            let is_named = |&(byte, _): &(u8, _)| !is_pass_key(self.key, Some(byte));
            let others: String =
                others.into_iter().filter(is_named).map(|(_, words)| words).collect();
            let others = others.trim_end_matches(", ");
            (
                format!("\".\" quits, ^Z suspends, \"s\" status, {others}"),
                "\".\" quits, \"s\" shows status",
            )
        } else {
            let key = key_name(key);
            (
                format!("Commands: Ctrl-Z suspends, \".\" quits, {pass} gives literal {key}"),
                "\".\" quits, Ctrl-Z suspends",
            )
        };
        Some(vec![full, short.to_owned()])
    }

    /// Returns the name of the escape key. `None` if there is none.
    pub(crate) fn name(&self) -> Option<String> {
        self.key.map(key_name)
    }

    /// Returns the hint how to quit, for the end of a notice. `None` without an escape key.
    pub(crate) fn quit_hint(&self) -> Option<String> {
        self.key.map(|key| format!("[To quit: {} .]", key_name(key)))
    }

    /// Returns the hint how to say yes. The list is empty if that cannot be said.
    pub(crate) fn yes_hints(&self) -> Vec<String> {
        let key = self.key.filter(|_| self.is_yes_key(Some(YES)));
        key.map(|key| format!("[To allow it: {} y]", key_name(key))).into_iter().collect()
    }

    /// Returns the hints how to log in again and to quit, the longest first. The list is empty if no login is offered.
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
