//! The text of a session key.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("key", data));
