//! The two output streams of ssh and the server before a session, and ssh's exit.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("bootstrap", data));
