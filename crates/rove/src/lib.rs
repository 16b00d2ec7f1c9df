//! The program rove as a library: what moves bytes between the session machines and this computer.
//!
//! [`client`] and [`server`] are two pumps, one loop each: inputs, session machine, outputs.
//! They stand on [`event_loop`] (waiting), [`socket`] (datagrams), [`pty`] (the host's programs),
//! [`tty`] (the user's terminal) and [`clock`] (the only clock). [`demo`] runs both on one computer,
//! joined by a [`relay`]. [`cli`] reads command lines and calls these; for a host, `bootstrap` starts the
//! server there over ssh and turns the process into the client.

mod alarm;
mod bootstrap;
pub mod cli;
pub mod client;
pub mod clock;
mod colors;
pub mod demo;
mod entropy;
pub mod event_loop;
mod locale;
mod logging;
mod login;
mod program;
pub mod pty;
pub mod relay;
pub mod server;
pub mod socket;
mod sys;
pub mod tty;
mod utmp;

pub use program::ProgramName;
