//! A whole session with all events that can happen to it.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("session", data));
