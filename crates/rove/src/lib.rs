//! The program rove as a library: it moves bytes between the session machines and this computer.
//!
//! # Modules, from the bottom up
//!
//! The machine, where only this program needs it:
//!
//! - `sys` is the only unsafe code. `threads` says whether this process may be split in two, also under an emulator.
//!   `entropy` is randomness.
//! - `terminal_type` says what the user's terminal can do, by its entry in `terminfo` and its `colors`.
//! - `answer` runs a program and returns its output. `getent` and `login_records` tell a static program what musl does not. `locale` chooses locale
//!   variables, `xdg` finds the user's folders, and `logging` starts the log.
//! - `hardening` keeps the session key from other programs. `exposure` finds out who else can change a file, and
//!   `own_file` has files that nobody else can read.
//! - `messages` writes sentences for the user, `question` asks for an answer, and `syslog` tells the system's log. `ssh_reaper` ends an ssh that may have
//!   changed the terminal.
//!
//! A session:
//!
//! - `client` and `server` are two pumps, each a loop over inputs, session machine and outputs (`pump`, over a `wire`).
//!   `hold` keeps the output of a shell that starts before its client, `linger` lets a server stay after its client, and `scope` takes a server out of its login. `session_call`
//!   describes a session to the client that this program turns into, and `escape_key` is the key that commands it.
//! - `login` is the environment of the host's program, which `scrub` cleans of other terminals' variables, and `piped` that of a program without one. `utmp` adds the session to the list of who
//!   is logged in, and `detached` tells a login of other sessions.
//! - `sessions` is `rove list` and `rove kill`. `attach` gets the key of a session's next client. `announcement` prints port and key.
//! - `splice` joins a stream with a socket or with pipes, and `packet_queue` lets few packets of streams wait in the system.
//!   `listeners` accepts connections to forward, some of which say by `socks` where they lead. An `opening` is a stream
//!   whose answer has not come, and `connect` makes the connection at its other end. An `errand` is work in a thread.
//! - `drop_folder` keeps files that are copied to the host.
//! - `agent` lends the user's agent to the host: a private socket, joined connections, and the filter of what passes.
//! - `tunnel` carries datagrams through ssh: `near` and `far` are its ends.
//! - `prompt_store` keeps prompts from one session to the next, and `forget` deletes them.
//! - `resume` keeps what another client needs to go on with a session, and `resume_command` goes on with one.
//!
//! The start of a session:
//!
//! - `bootstrap` starts the server over ssh. `ssh_query` asks ssh for its configuration, and `launch` runs it.
//! - `stdio_forward` is `rove -W` and `rove exec`. They join the standard descriptors with a port or a program. By `share`
//!   they borrow the streams of a client that runs.
//! - `install` copies rove to a host: `far` runs there, and `build` is what is copied.
//!
//! Commands:
//!
//! - `cli` reads command lines, with one file for each command, and `config` is the user's file. `program` is rove
//!   as its pages describe it.
//! - `doctor` goes a session's way, collects `facts`, and names the step that fails (`diagnosis`).
//! - `demo` runs both ends on this computer, joined by the emulated links of `rove-relay`.
//!
//! `fuzzing` states what must hold whatever comes from outside. `muxes` is both ends of streams in a test.
//!
//! On Windows this library is empty: there the program is that of `rove-windows`.

#![cfg(unix)]

mod agent;
mod announcement;
mod answer;
mod attach;
mod bootstrap;
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
mod messages;
#[cfg(test)]
mod muxes;
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
