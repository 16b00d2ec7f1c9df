//! Copies of old datagrams between the fragments of a session.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rove_fuzz::run("replay", data));
