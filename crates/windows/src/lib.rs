//! The program rove on Windows: the client of a session on another computer.
//!
//! # Modules
//!
//! - `cli` reads the command line, and `messages` prints sentences.
//! - `host` starts a session by an ssh process, which `ssh` runs.
//! - `client` prepares a session and prints how it ended (`ending`). `pump` loops over keys, datagrams and frames.
//!
//! On other systems only `ending` and `ssh` are compiled, for their tests.

#![forbid(unsafe_code)]

#[cfg(windows)]
mod cli;
#[cfg(windows)]
mod client;
#[cfg(any(test, windows))]
mod ending;
#[cfg(windows)]
mod host;
#[cfg(windows)]
mod messages;
#[cfg(windows)]
mod pump;
#[cfg(any(test, windows))]
mod ssh;

#[cfg(windows)]
pub use cli::run;

#[cfg(test)]
mod tests {
    use rove_cli_docs::{Manual, Program};

    #[test]
    fn the_texts_of_each_manual_can_be_read() {
        static PROGRAM: Program = Program { name: "rove", about: "", version: "", see_also: &[] };
        for text in [
            include_str!("../manuals/client.toml"),
            include_str!("../manuals/demo.toml"),
            include_str!("../manuals/rove.toml"),
        ] {
            assert!(!Manual { text, ..Manual::of(&PROGRAM) }.texts().exit_status.is_empty());
        }
    }
}
