//! Requests to a user's agent, and its answers.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("agent", data));
