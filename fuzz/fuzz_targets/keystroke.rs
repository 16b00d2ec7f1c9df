//! The user's bytes, split into keys.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("keystroke", data));
