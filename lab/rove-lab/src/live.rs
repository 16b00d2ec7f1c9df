//! Real programs in real time: sessions of rove, stock Mosh and ssh on terminals of our own, and what they cost.
//!
//! `rove-lab compare` and `cargo xtask bench` both measure with these. [`place`] says where commands run, [`mod@system`]
//! which programs a system has; [`session`] is a server and its client, [`sshd`] an ssh server with keys of its own.
//! [`terminal`] is the user's pty, [`window`] one with a picture; [`process`] is what programs have used, [`scratch`] a
//! folder of a run's own, [`clock`] the clock of all of it. [`load`] and [`yes`] are floods of output, and Ctrl-C under one.

pub mod clock;
pub mod load;
pub mod place;
pub mod process;
pub mod scratch;
pub mod session;
pub mod sshd;
pub mod system;
pub mod terminal;
pub mod window;
pub mod yes;
