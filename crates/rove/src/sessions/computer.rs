//! Names the computer that sessions run on, in messages.

use std::env;

use rove_bootstrap::remote::ASKED_AS_VARIABLE;

/// Most characters of a computer's name in a message. Source: a host name has up to 255 bytes (POSIX.1-2024,
/// HOST_NAME_MAX), and a user name may precede it.
const NAME_CHARS_MAX: usize = 512;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Computer {
    /// The host's name as the user wrote it. `None` for the user's own computer.
    host: Option<String>,
}

impl Computer {
    /// Returns this computer. If another computer's rove asks over ssh, the result has the name that its user wrote.
    pub(crate) fn ours() -> Self {
        let host = env::var_os(ASKED_AS_VARIABLE).filter(|host| !host.is_empty());
        host.map_or_else(Self::default, |host| Self::host(&host.to_string_lossy()))
    }

    /// Returns the computer `name`, which is asked over ssh.
    pub(crate) fn host(name: &str) -> Self {
        Self { host: Some(name.escape_debug().take(NAME_CHARS_MAX).collect()) }
    }

    pub(crate) fn name(&self) -> &str {
        self.host.as_deref().unwrap_or("this computer")
    }

    /// Returns the end of a clause, such as ` on example.org`. Empty for the user's own computer.
    pub(crate) fn on(&self) -> String {
        self.host.as_ref().map_or_else(String::new, |host| format!(" on {host}"))
    }

    /// Returns a sentence that tells the user to run `command` where the sessions are.
    pub(crate) fn command(&self, purpose: &str, command: &str) -> String {
        match &self.host {
            Some(host) => format!("{purpose}, on {host}: {command}"),
            None => format!("{purpose}: {command}"),
        }
    }

    /// Returns the `rove list` command for this computer.
    pub(crate) fn list_command(&self) -> String {
        let host = self.host.as_ref().map(|host| format!(" {host}"));
        format!("rove list{}", host.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_in_every_sentence_and_this_computer_in_none() {
        let here = Computer::default();
        assert_eq!((here.name(), here.on().as_str()), ("this computer", ""));
        assert_eq!(here.command("To insist", "kill 5"), "To insist: kill 5");
        assert_eq!(here.list_command(), "rove list");
        let far = Computer::host("me@far");
        assert_eq!((far.name(), far.on().as_str()), ("me@far", " on me@far"));
        assert_eq!(far.command("To insist", "kill 5"), "To insist, on me@far: kill 5");
        assert_eq!(far.list_command(), "rove list me@far");
    }

    #[test]
    fn a_name_commands_no_terminal_and_has_a_bound() {
        assert_eq!(Computer::host("a\u{1b}[2Jb").name(), "a\\u{1b}[2Jb");
        assert_eq!(Computer::host(&"x".repeat(NAME_CHARS_MAX + 1)).name().len(), NAME_CHARS_MAX);
    }
}
