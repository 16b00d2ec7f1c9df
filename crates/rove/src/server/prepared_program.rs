//! Prepares a session's program and its pseudo-terminal while errors can still be shown to the user.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::Path;

use anyhow::Context;
use rove_bootstrap::{DetachedUse, ProgramName};
use rove_host::program::{Failure, Program, assignment};
use rove_host::pty::Pty;
use rove_platform::tty;
use rove_terminal::Size;
use rustix::process::Rlimit;
use rustix::stdio;

use crate::login::Login;
use crate::server::hold::Hold;
use crate::server::host::Hosted;
use crate::server::{ServerOptions, detached_use, warn, window};
use crate::{detached, getent, utmp};

/// The environment variable that names the agent's socket. Source: ssh-agent(1).
const AGENT_SOCKET: &str = "SSH_AUTH_SOCK";

pub(super) struct PreparedProgram {
    pty: Pty,
    pub(super) size: Size,
    /// Whether the program starts before the client's first datagram.
    starts_early: bool,
    program: Program,
    /// The user whose detached sessions are listed above the program's output. `None` to list no sessions.
    told_of_sessions: Option<OsString>,
}

impl PreparedProgram {
    /// Opens the pseudo-terminal and prepares the program. `word` is the random word for its variable `ROVE_SESSION`.
    ///
    /// # Errors
    ///
    /// Returns what failed, in a sentence for the user.
    pub(super) fn prepare(
        options: &ServerOptions,
        word: &str,
        core_limit: Rlimit,
    ) -> anyhow::Result<Self> {
        let window = window(options);
        let size = window.or_else(|| tty::window_size(stdio::stdin())).unwrap_or(Size::DEFAULT);
        let pty = Pty::open(size).context("cannot open a pseudo-terminal")?;
        let terminal = pty.terminal_name();
        let login = Login {
            word,
            command: &options.command,
            colors: options.colors,
            offered: &options.locale,
            user: getent::own_user(),
            terminal: terminal.as_deref(),
            core_limit,
        };
        if let Some(warning) = login.locale_warning(std::env::vars_os()) {
            warn(format!("{}: {warning}", options.name.as_str()));
        }
        Ok(Self {
            pty,
            size,
            starts_early: window.is_some(),
            program: login.program(std::env::vars_os()),
            told_of_sessions: login
                .told_of_sessions(std::env::var_os("HOME"), options.name == ProgramName::Mosh)
                .filter(|_| detached_use(options) != DetachedUse::Never),
        })
    }

    /// Shows `line` on the session's screen before all other output.
    pub(super) fn greet(&mut self, line: &str) {
        let rest = std::mem::take(&mut self.program.greeting);
        self.program.greeting = [line.as_bytes(), b"\n", &rest].concat();
    }

    /// Sets the program's `SSH_AUTH_SOCK` to this path, if there is one.
    pub(super) fn lead_to(&mut self, agent: Option<&Path>) {
        let variable = agent.and_then(|path| assignment(AGENT_SOCKET.as_ref(), path.as_ref()));
        let Some(variable) = variable else { return };
        let name = format!("{AGENT_SOCKET}=");
        self.program.environment.retain(|it| !it.as_bytes().starts_with(name.as_bytes()));
        self.program.environment.push(variable);
    }

    /// Returns the path of the terminal's device, or an empty text if it is unknown.
    pub(super) fn terminal(&self) -> String {
        self.pty.terminal_name().unwrap_or_default()
    }

    /// Returns the words of the command.
    pub(super) fn command(&self) -> Vec<String> {
        let words = self.program.arguments.iter();
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// Forks the program's process, which waits for the client unless the program starts early. If the session is
    /// listed, also adds a login to utmp, and shows the notice about detached sessions.
    ///
    /// # Errors
    ///
    /// Returns an error if the system creates no process.
    pub(super) fn start(
        mut self,
        is_listed: bool,
    ) -> anyhow::Result<(Hosted, Hold, Option<utmp::Entry>)> {
        // The notice is made here, after the announcement of the server, which the notice must not delay.
        if is_listed && let Some(user) = &self.told_of_sessions {
            let notice = detached::notice(user, usize::from(self.size.columns()));
            self.program.greeting.extend(notice.into_bytes());
        }
        let (master, mut child) =
            self.pty.spawn(&self.program).context("cannot fork the session")?;
        if self.starts_early {
            child.release(Failure::Ends);
        }
        let entry = is_listed.then(|| utmp::Entry::add(master.as_fd())).flatten();
        Ok((Hosted { master, child }, Hold::new(self.starts_early), entry))
    }
}
