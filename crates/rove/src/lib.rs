//! The program rove as a library: what moves bytes between the session machines and this computer.
//!
//! `client` and `server` are two pumps, one loop each: inputs, session machine, outputs.
//! They stand on `rove_machine` (waiting, the clock, the host's programs, the user's terminal), `socket` (datagrams) and
//! `terminal_type` (what the user's terminal can do). `demo` runs both on one computer,
//! joined by a [`relay`]. Where no UDP passes, `tunnel` carries datagrams through ssh. A server is found and ended through its `control` socket, by `sessions`.
//! `doctor` goes a session's way and says which leg of it fails. [`cli`] reads command lines and calls these; for a host, `bootstrap` starts the
//! server there over ssh and turns the process into the client. `install` copies this program to a host. `prompt_store` keeps prompts from one session to the next, until `forget`.

mod ancillary;
mod bootstrap;
pub mod cli;
mod client;
mod colors;
mod control;
mod demo;
mod detached;
mod doctor;
mod entropy;
mod exposure;
mod farewell;
mod forget;
#[doc(hidden)]
pub mod fuzzing;
mod getent;
mod hardening;
mod install;
mod locale;
mod logging;
mod login;
mod login_records;
mod program;
mod prompt_store;
mod question;
pub mod relay;
mod server;
mod sessions;
mod socket;
mod speech;
mod sys;
mod terminal_type;
mod terminfo;
#[cfg(test)]
mod test_scripts;
mod tunnel;
mod utmp;
mod xdg;
