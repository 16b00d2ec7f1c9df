//! The program rove as a library: what moves bytes between the session machines and this computer.
//!
//! `client` and `server` are two pumps, one loop each: inputs, session machine, outputs.
//! They stand on `event_loop` (waiting), `socket` (datagrams), `pty` (the host's programs),
//! `tty` and `terminal_type` (the user's terminal) and `clock` (the only clock). `demo` runs both on one computer,
//! joined by a [`relay`]. A server is found and ended through its `control` socket, by `sessions`.
//! `doctor` goes a session's way and says which leg of it fails. [`cli`] reads command lines and calls these; for a host, `bootstrap` starts the
//! server there over ssh and turns the process into the client.

mod alarm;
mod bootstrap;
pub mod cli;
mod client;
mod clock;
mod colors;
mod control;
mod demo;
mod detached;
mod doctor;
mod entropy;
mod event_loop;
#[doc(hidden)]
pub mod fuzzing;
mod locale;
mod logging;
mod login;
mod program;
mod pty;
pub mod relay;
mod server;
mod sessions;
mod socket;
mod sys;
mod terminal_type;
#[cfg(test)]
mod test_scripts;
mod tty;
mod utmp;
