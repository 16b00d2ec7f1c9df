//! Requests to a user's ssh agent, and the agent's answers.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("agent", data));
