//! Secrets that are typed into real programs over a slow path: the client's screen never shows a letter of a secret.
//!
//! A [`Case`] is a program that asks for a secret, and the actions of its user. A rove client runs each case with a
//! rove server and with a stock server. The test draws the client's output byte by byte, and searches all cells of each
//! picture. A run passes only if, in addition, the program has received the secret, and a later line of the session
//! shows predictions.
//!
//! The tests run every case at a single round-trip time. Tests that call [`matrix::sample`] use a single server for
//! each case, and round-trip times that differ by case. These variables choose other runs:
//!
//! - `ROVE_SECRECY_RTT=40,100,300,800`: round-trip times in milliseconds. `all` means these four.
//! - `ROVE_SECRECY_LOSS=0.29`: the share of datagrams that is lost each way, in place of the case's own share.
//! - `ROVE_SECRECY_CASE=fish`: only the cases whose names contain this text. `|` separates several texts.
//! - `ROVE_SECRECY_SERVER=stock`: only this server, `rove` or `stock`.
//! - `ROVE_SECRECY_CLIENT=stock`: a stock client, for comparison.
//! - `ROVE_SECRECY_PREDICT=never`: no predictions. A letter that is seen then comes from the program, and the case is
//!   wrong. Each new case is run so once. `always`: predictions with fewer proofs, at all round-trip times.
//! - `ROVE_SECRECY_TABLE=file`: a line for each run is added to this file: server, time, letters, case, fault, with
//!   tabs between them. Letters that are excused stand in brackets.
//!
//! The complete matrix, and a single run:
//!
//! ```text
//! ROVE_SECRECY_RTT=all cargo test -p rove-shell --test e2e secrecy
//! ROVE_SECRECY_RTT=100 ROVE_SECRECY_CASE='fish read' ROVE_SECRECY_SERVER=rove \
//!     cargo test -p rove-shell --test e2e secrecy
//! ```

mod asking;
mod boxes;
mod case;
mod driver;
mod forms;
mod found;
mod kernel;
mod matrix;
mod modes;
mod own;
mod panes;
mod picture;
mod programs;
mod prompts;
mod shells;
mod signs;
mod toolkits;
mod traps;
mod widgets;

use case::{Case, Step};
pub(crate) use driver::pause;

use crate::support::Maker;

/// The servers for [`matrix::sample`], which alternate from case to case.
const BOTH: &[Maker] = &[Maker::Stock, Maker::Rove];

#[test]
fn bash_that_reads_without_echo_shows_nothing() {
    matrix::run(shells::BASH);
}

#[test]
fn other_shells_that_read_without_echo_show_nothing() {
    matrix::run(shells::OTHERS);
}

#[test]
fn a_secret_near_a_shells_prompt_is_not_shown() {
    matrix::run(prompts::CASES);
}

#[test]
fn programs_that_turn_the_kernels_echo_off_show_nothing() {
    matrix::run(kernel::CASES);
}

#[test]
fn programs_with_line_editors_show_nothing() {
    matrix::run(toolkits::EDITORS);
}

#[test]
fn programs_that_read_keys_by_themselves_show_nothing() {
    matrix::run(toolkits::RAW_MODE);
}

#[test]
fn a_secret_that_looks_like_its_echo_is_not_shown() {
    matrix::run(traps::CASES);
}

#[test]
fn forms_on_the_whole_screen_show_nothing() {
    matrix::run(forms::CASES);
}

#[test]
fn programs_that_draw_a_cursor_of_their_own_show_nothing() {
    matrix::run(boxes::CASES);
}

#[test]
fn programs_within_programs_show_nothing() {
    matrix::run(panes::CASES);
}

#[test]
fn programs_that_ask_for_passphrases_show_nothing() {
    matrix::run(programs::PASSPHRASES);
}

#[test]
fn editors_that_ask_for_secrets_show_nothing() {
    matrix::run(programs::EDITORS);
}

#[test]
fn a_secret_at_the_prompt_of_another_program_is_not_shown() {
    matrix::run(programs::PROMPTS);
}

#[test]
fn no_attack_that_once_succeeded_sees_a_secret_again() {
    matrix::run(found::CASES);
}

#[test]
fn a_shells_key_that_asks_without_a_word_shows_nothing() {
    matrix::sample(widgets::ZSH, BOTH);
}

#[test]
fn another_shells_key_that_asks_without_a_word_shows_nothing() {
    matrix::sample(widgets::OTHERS, BOTH);
}

#[test]
fn a_shells_hook_that_asks_without_a_word_shows_little() {
    matrix::sample(widgets::HOOKS, BOTH);
}

#[test]
fn a_mode_that_another_pane_shows_permits_nothing() {
    matrix::sample(modes::PANES, BOTH);
}

#[test]
fn an_editor_that_takes_keys_for_others_than_its_text_shows_nothing() {
    matrix::sample(modes::EDITORS, BOTH);
}

#[test]
fn an_editor_in_which_something_else_takes_the_keys_by_itself_shows_little() {
    matrix::sample(modes::BY_ITSELF, BOTH);
}

#[test]
fn a_prompt_with_a_shells_sign_is_no_shells() {
    matrix::sample(signs::CASES, &[Maker::Stock]);
}

#[test]
fn a_prompt_that_looks_like_a_shells_in_all_shows_little() {
    matrix::sample(signs::SHELLS, &[Maker::Stock]);
}

#[test]
fn a_line_that_stops_to_echo_shows_little() {
    matrix::sample(signs::LINES, BOTH);
}

#[test]
fn more_programs_that_ask_for_passphrases_show_nothing() {
    matrix::sample(asking::CASES, BOTH);
}

#[test]
fn the_sessions_own_shell_that_does_not_wait_for_a_line_shows_nothing() {
    matrix::sample(own::CASES, &[Maker::Rove]);
}

#[test]
fn a_program_of_the_sessions_own_shell_that_asks_with_its_prompt_shows_nothing() {
    matrix::sample(own::PROGRAMS, &[Maker::Rove]);
}

#[test]
fn the_sessions_own_shell_that_asks_with_its_prompt_shows_little() {
    matrix::sample(own::SHELLS, BOTH);
}
