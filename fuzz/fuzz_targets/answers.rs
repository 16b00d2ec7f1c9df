//! Answers of the user's terminal to the client's queries.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("answers", data));
