//! Secrets typed into real programs over a slow path: no picture of the client's screen shows a letter of one.
//!
//! A [`Case`] is a program that asks for a secret, and what its user does. Each case is run by a rove client with a
//! rove server and with a stock one. Every byte of the client's output is drawn, and every picture is looked at, cell
//! by cell. A run passes only if the secret has also arrived at the program, and if predictions were shown in the
//! same session afterwards.
//!
//! The tests take every case at one round-trip time. These variables choose other runs:
//!
//! - `ROVE_SECRECY_RTT=40,100,300,800`: round-trip times in milliseconds; `all` is these four.
//! - `ROVE_SECRECY_CASE=fish`: only the cases with this text in their names.
//! - `ROVE_SECRECY_SERVER=stock`: only one server, `rove` or `stock`.
//! - `ROVE_SECRECY_TABLE=file`: a line for each run is added to this file.
//!
//! The complete matrix, and a single run:
//!
//! ```text
//! ROVE_SECRECY_RTT=all cargo test -p rove-shell --test e2e secrecy
//! ROVE_SECRECY_RTT=100 ROVE_SECRECY_CASE='fish read' ROVE_SECRECY_SERVER=rove \
//!     cargo test -p rove-shell --test e2e secrecy
//! ```

mod case;
mod driver;
mod kernel;
mod matrix;
mod picture;
mod shells;
mod toolkits;
mod windows;

use case::{Case, Step};

#[test]
fn shells_that_read_without_echo_show_nothing() {
    matrix::run(&shells::CASES);
}

#[test]
fn programs_that_turn_the_kernels_echo_off_show_nothing() {
    matrix::run(&kernel::CASES);
}

#[test]
fn programs_that_read_keys_by_themselves_show_nothing() {
    matrix::run(&toolkits::CASES);
}

#[test]
fn forms_and_windows_show_nothing() {
    matrix::run(&windows::CASES);
}
