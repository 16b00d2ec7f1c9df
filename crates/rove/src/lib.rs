//! The program rove as a library. It moves bytes between the sessions' state machines (`rove-session`) and this
//! computer.
//!
//! # Modules, from the bottom up
//!
//! Access to this computer that only this program needs:
//!
//! - `sys` has the only unsafe code. `threads` says whether this process may fork, and recognises emulators that add
//!   threads. `entropy` draws random keys and seeds.
//! - `terminal_type` describes the user's terminal by its entry in `terminfo` and its number of `colors`.
//! - `answer` runs a program and returns its output. `getent` and `login_records` replace C library functions that musl
//!   lacks. `locale` chooses locale variables, `xdg` finds the user's folders, and `logging` starts the log.
//! - `hardening` keeps the session key from other programs. `exposure` finds out who else can change a file, and
//!   `own_file` makes files that nobody else can read. `bounded` reads a file or a pipe up to a limit.
//! - `messages` prints sentences for the user, `question` asks the user, and `syslog` writes to the system's log.
//!   `ssh_process` is an ssh during a session. `ssh_reaper` ends it, even from a fork (`child_process`).
//!
//! A session:
//!
//! - `client` and `server` are the two ends. Each has an event loop (`pump`) that moves bytes between the session's
//!   state machine, the terminal and the datagrams' `wire`. In the server, `hold` delays the output of a shell that
//!   starts before its client. `linger` keeps the server after the session's end, and `scope` after the logout.
//! - `session_call` passes a session's options to the client that this program becomes by exec. `escape_key` reads the
//!   key that starts a command to the client.
//! - `login` makes the environment of the host's program, and `scrub` removes variables of other terminals from it.
//!   `piped` makes the environment of a program without a terminal. `utmp` adds the session to the list of logged-in
//!   users, and `detached` tells a login about other sessions.
//! - `sessions` is `rove list` and `rove kill`. `attach` gets the key of a session's next client, and `announcement`
//!   prints port and key.
//! - `splice` copies bytes between a stream and a socket or pipes. `packet_queue` limits the stream packets in the
//!   kernel's queue. `listeners` accepts connections to forward, and `socks` reads the target that a program names. An
//!   `opening` is a stream that waits for the peer's answer, and `connect` makes the connection at the peer. `lookups`
//!   finds the addresses of names, and `errand` runs such slow work in a thread.
//! - `drop_folder` keeps files that are copied to the host.
//! - `agent` has the parts that forward the user's ssh agent: a private socket, joined connections and a filter.
//! - `tunnel` carries datagrams through ssh: `near` is the client's end, and `far` the host's.
//! - `prompt_store` keeps prompts from one session to the next, and `forget` deletes them.
//! - `resume` keeps a record by which another client can go on with a session, and `resume_command` is `rove resume`.
//!
//! The start of a session:
//!
//! - `bootstrap` starts the server over ssh. `ssh_query` asks ssh for its configuration, and `launch` runs ssh.
//! - `stdio_forward` is `rove -W` and `rove exec`: it connects standard input and output with a port or a program. By
//!   `share`, such a call uses the session of a client that is already running.
//! - `install` copies rove to a host: `far` is the script there, and `build` the program that is copied.
//!
//! Commands:
//!
//! - `cli` reads command lines, with one file for each command; `config` reads the user's file. `program` describes
//!   rove for its manual pages.
//! - `doctor` takes a session's steps one by one, collects `facts`, and names the step that fails (`diagnosis`).
//! - `demo` runs both ends on this computer, connected by the emulated links of `rove-relay`.
//!
//! `fuzzing` has the properties that hold for any input from outside. `tests::muxes` makes the streams of tests.
//!
//! On Windows this library is empty, because `rove-windows` is the program there.

#![cfg(unix)]

mod agent;
mod announcement;
mod answer;
mod attach;
mod bootstrap;
mod bounded;
mod child_process;
pub mod cli;
mod client;
mod colors;
mod connect;
mod demo;
mod detached;
mod doctor;
mod drop_folder;
mod entropy;
mod errand;
mod escape_key;
mod exposure;
mod forget;
#[doc(hidden)]
pub mod fuzzing;
mod getent;
mod hardening;
mod install;
mod listeners;
mod locale;
mod logging;
mod login;
mod login_records;
mod lookups;
mod messages;
mod opening;
mod own_file;
mod packet_queue;
mod program;
mod prompt_store;
mod question;
mod resume;
mod resume_command;
mod server;
mod session_call;
mod sessions;
mod share;
mod socks;
mod splice;
mod ssh_process;
mod ssh_reaper;
mod stdio_forward;
mod sys;
mod syslog;
mod terminal_type;
mod terminfo;
mod threads;
mod tunnel;
mod utmp;
mod xdg;

pub use rove_relay as relay;

#[cfg(test)]
mod tests {
    pub(crate) mod clients;
    pub(crate) mod muxes;
}
